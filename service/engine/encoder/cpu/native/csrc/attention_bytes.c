/* Attention in 8-bit integers, at twice the rate of bfloat16. A query and a key have a scale for each head, a value's
 * feature has one over its sequence, and the largest weight of a row is 255.
 *
 * A weight is truncated to an integer after a threshold between 0 and 1 was added; neighbouring keys have different
 * thresholds (ordered dithering). So small weights, each of which rounding would make 0, keep their sum. Weights are
 * divided by the sum of the integers.
 */
#include "attention.h"
#include "bytes.h"

#ifdef GLEANER_SIMD

enum { QUAD = 4 };

typedef struct {
    uint32_t *keys;        /* [blocks of 16 keys][size / 4][16] quads of a key's neighbouring features */
    float *key_scales;     /* [padded] */
    int32_t *key_offsets;  /* [padded] 128 × the sum of a key */
    uint32_t *values;      /* [quads of keys][size] quads of a feature's neighbouring keys; features as in `value_scales` */
    float *value_scales;   /* [size / 32][the 16 even ones, then the 16 odd ones of 32 features] */
    uint8_t *queries;      /* [ROWS][size] around 128 */
    float *scores;         /* [ROWS][padded] */
    uint8_t *weights;      /* [ROWS][padded] */
    uint32_t *pairs;       /* [size / 2][16]: a block of keys before it is rounded */
    float poison;          /* 0, or NaN if any key is non-finite; added to the scale of every score, so that NaN
                            * propagates */
} workspace;

/* Cuts the arena into the workspace's arrays; returns its end. */
static uintptr_t lay_out(workspace *space, uintptr_t arena, int64_t padded, int size) {
    space->keys = take(&arena, (size_t)padded * size);
    space->key_scales = take(&arena, (size_t)padded * sizeof(float));
    space->key_offsets = take(&arena, (size_t)padded * sizeof(int32_t));
    space->values = take(&arena, (size_t)padded * size);
    space->value_scales = take(&arena, (size_t)size * sizeof(float));
    space->queries = take(&arena, (size_t)size * ROWS);
    space->scores = take(&arena, (size_t)padded * ROWS * sizeof(float));
    space->weights = take(&arena, (size_t)padded * ROWS);
    space->pairs = take(&arena, (size_t)size * LANES * sizeof(uint16_t));
    return arena;
}

size_t bytes_arena_size(int64_t padded, int size) { return lay_out(&(workspace){0}, 0, padded, size); }

FAST static void lay_out_keys(const head *it, workspace *space) {
    uint32_t *out = space->keys;
    __m512 poison = _mm512_setzero_ps();
    for (int key = 0; key < it->length; key += LANES) {
        __m512i peaks = _mm512_setzero_si512(), sums = _mm512_setzero_si512();
        for (int at = 0; at < it->size; at += PAIRED) {
            __m512i pairs[LANES];
            pairs_of_keys(pairs, it, key, at);
            EACH(i, LANES) {
                peaks = larger_of(peaks, pairs[i]);
                _mm512_store_si512(space->pairs + (at / 2 + i) * LANES, pairs[i]);
            }
        }
        __m512 scale = scale_of((__m512)larger_magnitudes(peaks));
        __m512 factor = inverse_of(scale);
        for (int at = 0; at < it->size; at += QUAD, out += LANES) {
            __m512i low = words_at(space->pairs + at / 2 * LANES), high = words_at(space->pairs + (at / 2 + 1) * LANES);
            __m512i quad = quad_of(byte_of(even_of(low), factor), byte_of(odd_of(low), factor),
                                   byte_of(even_of(high), factor), byte_of(odd_of(high), factor));
            sums = add_product(sums, _mm512_set1_epi8((char)128), quad, 1);
            _mm512_store_si512(out, quad);
        }
        _mm512_store_ps(space->key_scales + key, scale);
        _mm512_store_si512(space->key_offsets + key, sums);
        poison = _mm512_fmadd_ps(scale, _mm512_setzero_ps(), poison);
    }
    space->poison = _mm512_reduce_add_ps(poison);
}

FAST static void lay_out_values(const head *it, const workspace *space) {
    for (int at = 0; at < it->size; at += PAIRED) {
        const uint16_t *row = it->values.first + at;
        __m512i peaks = _mm512_setzero_si512();
        for (int key = 0; key < it->length; key++) peaks = larger_of(peaks, words_at(row + key * it->values.stride));
        __m512 even_scale = scale_of(even_of(peaks)), odd_scale = scale_of(odd_of(peaks));
        __m512 even = inverse_of(even_scale), odd = inverse_of(odd_scale);
        _mm512_store_ps(space->value_scales + at, even_scale);
        _mm512_store_ps(space->value_scales + at + LANES, odd_scale);
        for (int key = 0; key < it->length; key += QUAD) {
            __m512i pairs[QUAD];
            EACH(i, QUAD) {
                int there = key + i < it->length;
                pairs[i] = there ? words_at(row + (key + i) * it->values.stride) : _mm512_setzero_si512();
            }
            uint32_t *out = space->values + (int64_t)key / QUAD * it->size + at;
            _mm512_store_si512(out, quad_of(byte_of(even_of(pairs[0]), even), byte_of(even_of(pairs[1]), even),
                                            byte_of(even_of(pairs[2]), even), byte_of(even_of(pairs[3]), even)));
            _mm512_store_si512(out + LANES, quad_of(byte_of(odd_of(pairs[0]), odd), byte_of(odd_of(pairs[1]), odd),
                                                    byte_of(odd_of(pairs[2]), odd), byte_of(odd_of(pairs[3]), odd)));
        }
    }
}

/* [ROWS][size] bytes of ROWS queries; multiplies `factors` by their scales. Rows side by side hide the latency of each
 * step; the first features stand before the loop, whose start has latency as well (3 % of attention). */
INLINE void round_queries(const uint16_t *const queries[ROWS], uint8_t *out, int size, float factors[ROWS]) {
    __m512i peaks[ROWS];
    __m512 inverse[ROWS];
    EACH(row, ROWS) peaks[row] = larger_of(_mm512_setzero_si512(), words_at(queries[row]));
    for (int at = PAIRED; at < size; at += PAIRED)
        EACH(row, ROWS) peaks[row] = larger_of(peaks[row], words_at(queries[row] + at));
    EACH(row, ROWS) {
        __m512 scale = scale_of(_mm512_set1_ps(largest_of(peaks[row])));
        inverse[row] = inverse_of(scale);
        factors[row] *= _mm512_cvtss_f32(scale);
    }
    for (int at = 0; at < size; at += PAIRED) EACH(row, ROWS) {
            __m256i bytes = left_bytes(words_at(queries[row] + at), inverse[row]);
            _mm256_store_si256((__m256i *)(out + row * size + at), bytes);
        }
}

/* Scores, but for the query's scale, of `blocks` blocks of keys from `key` on; `peaks` are those of the rows. */
INLINE void scores_of(const head *it, const workspace *space, const char *const queries[ROWS], int key, int blocks,
                      int padded, __m512 peaks[ROWS]) {
    int words = it->size / QUAD;
    __m512i sums[ROWS][MOST_BLOCKS];
    EACH(block, blocks) {
        __m512i offset = words_at(space->key_offsets + key + block * LANES);
        EACH(row, ROWS) sums[row][block] = _mm512_sub_epi32(_mm512_setzero_si512(), offset);
    }
    add_tile(queries, space->keys + (int64_t)key * words, (int64_t)words * LANES, LANES, words, blocks, 1, sums);
    EACH(block, blocks) {
        int first = key + block * LANES;
        __m512 scale = _mm512_load_ps(space->key_scales + first);
        __mmask16 there = lanes(it->length - first);
        EACH(row, ROWS) {
            __m512 score = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[row][block]), scale);
            if (block == blocks - 1) score = _mm512_mask_mov_ps(_mm512_set1_ps(LEAST), there, score);
            peaks[row] = _mm512_max_ps(peaks[row], score);
            _mm512_store_ps(space->scores + (int64_t)row * padded + first, score);
        }
    }
}

/* Scores → weights; returns 1 / their sum, or NaN if `scale` is NaN. */
INLINE float softmax(const float *scores, uint8_t *weights, int padded, __m512 peaks, float scale) {
    static const float thresholds[LANES] __attribute__((aligned(64))) = {
        0.5f / 16, 8.5f / 16, 4.5f / 16, 12.5f / 16, 2.5f / 16, 10.5f / 16, 6.5f / 16, 14.5f / 16,
        1.5f / 16, 9.5f / 16, 5.5f / 16, 13.5f / 16, 3.5f / 16, 11.5f / 16, 7.5f / 16, 15.5f / 16};
    __m512 factor = _mm512_set1_ps(scale * LOG2_E), threshold = _mm512_load_ps(thresholds);
    __m512 peak = _mm512_mul_ps(_mm512_set1_ps(_mm512_reduce_max_ps(peaks)), factor);
    __m512i sum = _mm512_setzero_si512();
    peak = _mm512_sub_ps(peak, _mm512_set1_ps(7.99435344f)); /* log2(255) */
    for (int at = 0; at < padded; at += LANES) {
        __m512 weight = exp2_of(_mm512_fmsub_ps(_mm512_load_ps(scores + at), factor, peak));
        __m512i whole = _mm512_cvttps_epi32(_mm512_add_ps(weight, threshold));
        sum = _mm512_add_epi32(sum, whole);
        _mm_store_si128((__m128i *)(weights + at), _mm512_cvtusepi32_epi8(whole)); /* Large scores round 255 up. */
    }
    return 1.0f / (float)_mm512_reduce_add_epi32(sum) + 0.0f * scale;
}

/* Interleaves even and odd features again. */
INLINE void store_features(uint16_t *out, __m512 even, __m512 odd) {
    static const uint16_t order[PAIRED] __attribute__((aligned(64))) = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                        21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                        11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);
    _mm512_storeu_si512(out, _mm512_permutexvar_epi16(_mm512_load_si512(order), both));
}

INLINE void mix(const head *it, const workspace *space, const char *const weights[ROWS], int at, int blocks,
                const float factors[ROWS], uint16_t *const out[ROWS]) {
    __m512i sums[ROWS][MOST_BLOCKS];
    clear(sums, blocks);
    add_tile(weights, space->values + at, LANES, it->size, padded_to(it->length, QUAD) / QUAD, blocks, 1, sums);
    EACH(row, ROWS) {
        __m512 means[MOST_BLOCKS], factor = _mm512_set1_ps(factors[row]);
        EACH(block, blocks) {
            __m512 scale = _mm512_mul_ps(_mm512_load_ps(space->value_scales + at + block * LANES), factor);
            means[block] = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[row][block]), scale);
        }
        EACH(pair, blocks / 2) store_features(out[row] + at + pair * PAIRED, means[2 * pair], means[2 * pair + 1]);
    }
}

FAST static void mix_rows(const head *it, int start, const workspace *space) {
    int padded = padded_to(it->length, LANES), blocks = padded / LANES, size = it->size;
    const uint16_t *queries[ROWS];
    const char *left[ROWS], *weights[ROWS];
    uint16_t *to[ROWS];
    float factors[ROWS];
    __m512 peaks[ROWS];
    EACH(row, ROWS) { /* Rows past the end repeat the last one, and are written over it. */
        int64_t token = start + row < it->length ? start + row : it->length - 1;
        fetch_ahead(it, token);
        queries[row] = it->queries.first + token * it->queries.stride;
        left[row] = (const char *)(space->queries + (int64_t)row * size);
        to[row] = it->out + token * it->out_stride;
        weights[row] = (const char *)(space->weights + (int64_t)row * padded);
        peaks[row] = _mm512_set1_ps(LEAST);
        factors[row] = it->scale + space->poison;
    }
    round_queries(queries, space->queries, size, factors);
    IN_BLOCKS(blocks, scores_of(it, space, left, first * LANES, count, padded, peaks);)
    for (int row = 0; row < ROWS; row++) {
        int64_t first = (int64_t)row * padded;
        factors[row] = softmax(space->scores + first, space->weights + first, padded, peaks[row], factors[row]);
    }
    for (int at = 0; at < size; at += MOST_BLOCKS * LANES) {
        if (size - at >= MOST_BLOCKS * LANES)
            mix(it, space, weights, at, 4, factors, to);
        else
            mix(it, space, weights, at, 2, factors, to);
    }
}

void attend_in_bytes(const head *it, void *arena) {
    workspace space;
    lay_out(&space, (uintptr_t)arena, padded_to(it->length, LANES), it->size);
    lay_out_keys(it, &space);
    lay_out_values(it, &space);
    for (int start = 0; start < it->length; start += ROWS) mix_rows(it, start, &space);
}

#endif
