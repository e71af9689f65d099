/* Attention in bfloat16: scores and sums are float32 all along; only the weights are rounded to bfloat16, for the second
 * product. exp2 is 7.5e-5 off at most, where that rounding is 2e-3. */
#include "attention.h"

#ifdef GLEANER_SIMD

typedef struct {
    uint32_t *keys;    /* [blocks of 16 keys][size / 2][16] pairs of a key's neighbouring features */
    uint32_t *values;  /* [pairs of keys][size] pairs of a feature's neighbouring keys */
    float *scores;     /* [ROWS][padded] */
    uint16_t *weights; /* the same, rounded */
} workspace;

/* Cuts the arena into the workspace's arrays; returns its end. */
static uintptr_t lay_out(workspace *space, uintptr_t arena, int64_t padded, int size) {
    space->keys = take(&arena, (size_t)padded * size * 2);
    space->values = take(&arena, (size_t)padded * size * 2);
    space->scores = take(&arena, (size_t)padded * ROWS * sizeof(float));
    space->weights = take(&arena, (size_t)padded * ROWS * sizeof(uint16_t));
    return arena;
}

size_t pairs_arena_size(int64_t padded, int size) { return lay_out(&(workspace){0}, 0, padded, size); }

FAST static void lay_out_keys(const head *it, uint32_t *out) {
    for (int key = 0; key < it->length; key += LANES)
        for (int at = 0; at < it->size; at += PAIRED, out += LANES * LANES) {
            __m512i pairs[LANES];
            pairs_of_keys(pairs, it, key, at);
            EACH(i, LANES) _mm512_store_si512(out + i * LANES, pairs[i]);
        }
}

FAST static void lay_out_values(const head *it, uint32_t *out) {
    for (int key = 0; key < padded_to(it->length, LANES); key += 2) {
        for (int at = 0; at < it->size; at += LANES, out += LANES) {
            __m256i none = _mm256_setzero_si256();
            const uint16_t *row = it->values.first + key * it->values.stride + at;
            __m256i even = key < it->length ? _mm256_loadu_si256((const __m256i *)row) : none;
            __m256i odd = key + 1 < it->length ? _mm256_loadu_si256((const __m256i *)(row + it->values.stride)) : none;
            __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16);
            _mm512_store_si512(out, _mm512_or_si512(_mm512_cvtepu16_epi32(even), high));
        }
    }
}

/* Scores of `blocks` blocks of keys, of which `length` are left from the first one on; `peaks` are those of the rows. */
INLINE void scores_of(const char *const queries[ROWS], const uint32_t *keys, int pairs, int blocks, int length,
                      float *scores, int padded, __m512 peaks[ROWS]) {
    __m512i sums[ROWS][MOST_BLOCKS];
    clear(sums, blocks);
    add_tile(queries, keys, (int64_t)pairs * LANES, LANES, pairs, blocks, 0, sums);
    __mmask16 there = lanes(length - (blocks - 1) * LANES);
    EACH(row, ROWS) EACH(block, blocks) {
        __m512 score = (__m512)sums[row][block];
        if (block == blocks - 1) score = _mm512_mask_mov_ps(_mm512_set1_ps(LEAST), there, score);
        peaks[row] = _mm512_max_ps(peaks[row], score);
        _mm512_store_ps(scores + (int64_t)row * padded + block * LANES, score);
    }
}

INLINE void mix(const char *const weights[ROWS], const uint32_t *values, int pairs, int size, int blocks,
                const float factors[ROWS], uint16_t *const out[ROWS]) {
    __m512i sums[ROWS][MOST_BLOCKS];
    clear(sums, blocks);
    add_tile(weights, values, LANES, size, pairs, blocks, 0, sums);
    EACH(row, ROWS) EACH(block, blocks) {
        __m512 mean = _mm512_mul_ps((__m512)sums[row][block], _mm512_set1_ps(factors[row]));
        to_bfloat16(out[row] + block * LANES, ALL, mean);
    }
}

/* Scores → unnormalised weights; returns 1 / their sum. */
INLINE float softmax(const float *scores, uint16_t *weights, int padded, __m512 peaks, float scale) {
    __m512 factor = _mm512_set1_ps(scale * LOG2_E), sum = _mm512_setzero_ps();
    __m512 peak = _mm512_mul_ps(_mm512_set1_ps(_mm512_reduce_max_ps(peaks)), factor);
    for (int at = 0; at < padded; at += LANES) {
        __m512 weight = exp2_of(_mm512_fmsub_ps(_mm512_load_ps(scores + at), factor, peak));
        sum = _mm512_add_ps(sum, weight);
        to_bfloat16(weights + at, ALL, weight);
    }
    return 1.0f / _mm512_reduce_add_ps(sum);
}

FAST static void mix_rows(const head *it, int start, const workspace *space) {
    int padded = padded_to(it->length, LANES), size = it->size, pairs = size / 2, blocks = padded / LANES;
    const char *left[ROWS], *weights[ROWS];
    uint16_t *to[ROWS];
    float factors[ROWS];
    __m512 peaks[ROWS];
    EACH(row, ROWS) { /* Rows past the end repeat the last one, and are written over it. */
        int64_t token = start + row < it->length ? start + row : it->length - 1;
        fetch_ahead(it, token);
        left[row] = (const char *)(it->queries.first + token * it->queries.stride);
        to[row] = it->out + token * it->out_stride;
        weights[row] = (const char *)(space->weights + (int64_t)row * padded);
        peaks[row] = _mm512_set1_ps(LEAST);
    }
    IN_BLOCKS(blocks, {
        int key = first * LANES;
        const uint32_t *keys = space->keys + (int64_t)key * pairs;
        scores_of(left, keys, pairs, count, it->length - key, space->scores + key, padded, peaks);
    })
    for (int row = 0; row < ROWS; row++) {
        float *scores = space->scores + (int64_t)row * padded;
        factors[row] = softmax(scores, space->weights + (int64_t)row * padded, padded, peaks[row], it->scale);
    }
    for (int at = 0; at < size; at += MOST_BLOCKS * LANES) {
        if (size - at >= MOST_BLOCKS * LANES)
            mix(weights, space->values + at, padded_to(it->length, 2) / 2, size, 4, factors, to);
        else
            mix(weights, space->values + at, padded_to(it->length, 2) / 2, size, 2, factors, to);
        EACH(row, ROWS) to[row] += MOST_BLOCKS * LANES;
    }
}

void attend_in_pairs(const head *it, void *arena) {
    workspace space;
    lay_out(&space, (uintptr_t)arena, padded_to(it->length, LANES), it->size);
    lay_out_keys(it, space.keys);
    lay_out_values(it, space.values);
    for (int start = 0; start < it->length; start += ROWS) mix_rows(it, start, &space);
}

#endif
