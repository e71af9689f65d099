/* Attention within the borders of a packed row, for x86 processors that multiply bfloat16 pairs (AVX512-BF16).
 *
 * For each sequence and head: keys and values are laid out once for the pair product, then six queries at a time go
 * through scores, softmax and mix while everything they touch stays in the cache. Scores and sums are float32 all along;
 * only the weights are rounded to bfloat16, for the second product. exp2 is a polynomial of degree 3 on [-1/2, 1/2],
 * 7.5e-5 off at most, where that rounding is 2e-3.
 *
 * Sequences and heads are shared out over threads. No Python in here: it is loaded as a plain shared library.
 */
#include "simd.h"

#ifdef GLEANER_SIMD

enum { ROWS = 6, MOST_BLOCKS = 4, LINE = 64 };
#define LEAST -1e30f /* The score of a key that is not there. */

typedef struct {
    const uint16_t *first;
    int64_t stride; /* elements from one token to the next */
} tokens;

typedef struct {
    uint32_t *keys;   /* [blocks of 16 keys][head_size / 2][16] pairs of a key's neighbouring features */
    uint32_t *values; /* [pairs of keys][head_size] pairs of a feature's neighbouring keys */
    float *scores;    /* [ROWS][padded length] */
    uint16_t *weights; /* the same, rounded */
} workspace;

/* Rows of 16 words become columns. */
INLINE void transpose(__m512i rows[LANES]) {
    __m512i other[LANES];
    EACH(i, LANES / 2) {
        other[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
        other[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
    }
    EACH(i, LANES / 4) {
        rows[4 * i] = _mm512_unpacklo_epi64(other[4 * i], other[4 * i + 2]);
        rows[4 * i + 1] = _mm512_unpackhi_epi64(other[4 * i], other[4 * i + 2]);
        rows[4 * i + 2] = _mm512_unpacklo_epi64(other[4 * i + 1], other[4 * i + 3]);
        rows[4 * i + 3] = _mm512_unpackhi_epi64(other[4 * i + 1], other[4 * i + 3]);
    }
    EACH(i, 4) { /* Each quarter of rows[4 × j + i] is a column of four rows; quarters and rows change places. */
        __m512i low = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x44);
        __m512i high = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xEE);
        __m512i next_low = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0x44);
        __m512i next_high = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0xEE);
        other[i] = _mm512_shuffle_i32x4(low, next_low, 0x88);
        other[i + 4] = _mm512_shuffle_i32x4(low, next_low, 0xDD);
        other[i + 8] = _mm512_shuffle_i32x4(high, next_high, 0x88);
        other[i + 12] = _mm512_shuffle_i32x4(high, next_high, 0xDD);
    }
    EACH(i, LANES) rows[i] = other[i];
}

FAST static void lay_out_keys(uint32_t *out, tokens keys, int length, int size) {
    for (int key = 0; key < length; key += LANES)
        for (int at = 0; at < size; at += 2 * LANES, out += LANES * LANES) {
            __m512i rows[LANES];
            EACH(i, LANES)
                rows[i] = key + i < length ? words_at(keys.first + (key + i) * keys.stride + at) : _mm512_setzero_si512();
            transpose(rows);
            EACH(i, LANES) _mm512_store_si512(out + i * LANES, rows[i]);
        }
}

FAST static void lay_out_values(uint32_t *out, tokens values, int length, int size) {
    for (int key = 0; key < (length + LANES - 1) / LANES * LANES; key += 2) {
        for (int at = 0; at < size; at += LANES) {
            __m256i none = _mm256_setzero_si256();
            const uint16_t *row = values.first + key * values.stride + at;
            __m256i even = key < length ? _mm256_loadu_si256((const __m256i *)row) : none;
            __m256i odd = key + 1 < length ? _mm256_loadu_si256((const __m256i *)(row + values.stride)) : none;
            __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16);
            _mm512_store_si512(out + (int64_t)key / 2 * size + at, _mm512_or_si512(_mm512_cvtepu16_epi32(even), high));
        }
    }
}

/* [ROWS] rows × [blocks × 16] columns of a product over pairs; `step` is the distance between pairs of the right side. */
INLINE void product(const uint16_t *const left[ROWS], const uint32_t *right, int64_t block_step, int64_t step,
                    int pairs, int blocks, __m512 sums[ROWS][MOST_BLOCKS]) {
    EACH(row, ROWS) EACH(block, blocks) {
        sums[row][block] = _mm512_setzero_ps();
        STAY_IN_REGISTERS(sums[row][block]);
    }
    for (int pair = 0; pair < pairs; pair++) {
        __m512bh columns[MOST_BLOCKS];
        EACH(block, blocks) columns[block] = (__m512bh)words_at(right + block * block_step + pair * step);
        EACH(row, ROWS) {
            __m512bh one = (__m512bh)word_everywhere(left[row] + 2 * pair);
            EACH(block, blocks) sums[row][block] = _mm512_dpbf16_ps(sums[row][block], one, columns[block]);
        }
    }
    EACH(row, ROWS) EACH(block, blocks) STAY_IN_REGISTERS(sums[row][block]);
}

/* Scores of `blocks` blocks of keys, of which `length` are left from the first one on; `peaks` are those of the rows. */
INLINE void scores_of(const uint16_t *const queries[ROWS], const uint32_t *keys, int pairs, int blocks, int length,
                      float *scores, int padded, __m512 peaks[ROWS]) {
    __m512 sums[ROWS][MOST_BLOCKS];
    product(queries, keys, (int64_t)pairs * LANES, LANES, pairs, blocks, sums);
    __mmask16 there = lanes(length - (blocks - 1) * LANES);
    EACH(row, ROWS) {
        sums[row][blocks - 1] = _mm512_mask_mov_ps(_mm512_set1_ps(LEAST), there, sums[row][blocks - 1]);
        EACH(block, blocks) {
            peaks[row] = _mm512_max_ps(peaks[row], sums[row][block]);
            _mm512_store_ps(scores + (int64_t)row * padded + block * LANES, sums[row][block]);
        }
    }
}

INLINE void mix(const uint16_t *const weights[ROWS], const uint32_t *values, int pairs, int size, int blocks,
                const float factors[ROWS], uint16_t *const out[ROWS]) {
    __m512 sums[ROWS][MOST_BLOCKS];
    product(weights, values, LANES, size, pairs, blocks, sums);
    EACH(row, ROWS) EACH(block, blocks) {
        __m512 mean = _mm512_mul_ps(sums[row][block], _mm512_set1_ps(factors[row]));
        _mm256_storeu_si256((__m256i *)(out[row] + block * LANES), (__m256i)_mm512_cvtneps_pbh(mean));
    }
}

INLINE __m512 exp2_of(__m512 x) { /* x <= 0 */
    __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 rest = _mm512_sub_ps(x, whole), sum = _mm512_set1_ps(5.51716663e-02f);
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(2.42611122e-01f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(6.93260986e-01f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(9.99928074e-01f));
    return _mm512_scalef_ps(sum, whole);
}

/* Scores → unnormalised weights; returns 1 / their sum. */
INLINE float soften(const float *scores, uint16_t *weights, int padded, __m512 peaks, float scale) {
    __m512 factor = _mm512_set1_ps(scale * 1.44269504f), sum = _mm512_setzero_ps();
    __m512 peak = _mm512_mul_ps(_mm512_set1_ps(_mm512_reduce_max_ps(peaks)), factor);
    for (int at = 0; at < padded; at += LANES) {
        __m512 weight = exp2_of(_mm512_fmsub_ps(_mm512_load_ps(scores + at), factor, peak));
        sum = _mm512_add_ps(sum, weight);
        _mm256_store_si256((__m256i *)(weights + at), (__m256i)_mm512_cvtneps_pbh(weight));
    }
    return 1.0f / _mm512_reduce_add_ps(sum);
}

FAST static void rows_of_head(tokens queries, uint16_t *out, int64_t out_stride, int start, int length, int size,
                              float scale, const workspace *space) {
    int padded = (length + LANES - 1) / LANES * LANES, pairs = size / 2, blocks = padded / LANES;
    const uint16_t *left[ROWS], *weights[ROWS];
    uint16_t *to[ROWS];
    float factors[ROWS];
    __m512 peaks[ROWS];
    EACH(row, ROWS) { /* Rows past the end repeat the last one, and are written over it. */
        int64_t token = start + row < length ? start + row : length - 1;
        left[row] = queries.first + token * queries.stride;
        to[row] = out + token * out_stride;
        weights[row] = space->weights + (int64_t)row * padded;
        peaks[row] = _mm512_set1_ps(LEAST);
    }
    for (int block = 0; block < blocks; block += MOST_BLOCKS) {
        const uint32_t *keys = space->keys + (int64_t)block * pairs * LANES;
        float *scores = space->scores + block * LANES;
        int there = length - block * LANES;
        switch (blocks - block) {
        case 1: scores_of(left, keys, pairs, 1, there, scores, padded, peaks); break;
        case 2: scores_of(left, keys, pairs, 2, there, scores, padded, peaks); break;
        case 3: scores_of(left, keys, pairs, 3, there, scores, padded, peaks); break;
        default: scores_of(left, keys, pairs, 4, there, scores, padded, peaks);
        }
    }
    for (int row = 0; row < ROWS; row++)
        factors[row] = soften(space->scores + (int64_t)row * padded, (uint16_t *)weights[row], padded, peaks[row], scale);
    for (int at = 0; at < size; at += MOST_BLOCKS * LANES) {
        if (size - at >= MOST_BLOCKS * LANES)
            mix(weights, space->values + at, (length + 1) / 2, size, 4, factors, to);
        else
            mix(weights, space->values + at, (length + 1) / 2, size, 2, factors, to);
        EACH(row, ROWS) to[row] += MOST_BLOCKS * LANES;
    }
}

static void *room(size_t bytes) { return aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE); }

/* query, key, value: [total, heads, size] bfloat16 with contiguous heads; strides in elements between tokens.
 * out: [total, heads, size], contiguous. size is a multiple of 32. Returns 0, or -1 when memory ran out. */
int gleaner_attention(const uint16_t *query, const uint16_t *key, const uint16_t *value, uint16_t *out,
                      int64_t query_stride, int64_t key_stride, int64_t value_stride, const int64_t *borders,
                      int32_t sequences, int32_t heads, int32_t size, float scale, int32_t threads) {
    int64_t longest = 0, out_stride = (int64_t)heads * size;
    for (int32_t i = 0; i < sequences; i++)
        if (borders[i + 1] - borders[i] > longest) longest = borders[i + 1] - borders[i];
    int64_t padded = (longest + LANES - 1) / LANES * LANES;
    int failed = 0;
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        workspace space = {
            .keys = room((size_t)padded * size * 2),
            .values = room((size_t)padded * size * 2),
            .scores = room((size_t)padded * ROWS * sizeof(float)),
            .weights = room((size_t)padded * ROWS * sizeof(uint16_t)),
        };
        failed = !space.keys || !space.values || !space.scores || !space.weights;
#pragma omp for collapse(2) schedule(dynamic)
        for (int32_t i = 0; i < sequences; i++)
            for (int32_t head = 0; head < heads; head++) {
                if (failed) continue;
                int64_t begin = borders[i], at = (int64_t)head * size;
                int length = (int)(borders[i + 1] - begin);
                tokens queries = {query + begin * query_stride + at, query_stride};
                lay_out_keys(space.keys, (tokens){key + begin * key_stride + at, key_stride}, length, size);
                lay_out_values(space.values, (tokens){value + begin * value_stride + at, value_stride}, length, size);
                for (int start = 0; start < length; start += ROWS)
                    rows_of_head(queries, out + begin * out_stride + at, out_stride, start, length, size, scale, &space);
            }
        free(space.keys);
        free(space.values);
        free(space.scores);
        free(space.weights);
    }
    return failed ? -1 : 0;
}

#endif
