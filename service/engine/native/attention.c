/* Attention within the borders of a packed row, for x86 processors that multiply bfloat16 pairs (AVX512-BF16).
 *
 * For each sequence and head: keys and values are laid out once for the pair product, then six queries at a time go
 * through scores, softmax and mix while everything they touch stays in the cache. Scores and sums are float32 all along;
 * only the weights are rounded to bfloat16, for the second product. exp2 is a polynomial of degree 5 on [-1/2, 1/2],
 * whose error is below float32's own rounding of the weights.
 *
 * Sequences and heads are shared out over threads. No Python in here: it is loaded as a plain shared library.
 */
#include "simd.h"

#ifdef GLEANER_SIMD

enum { ROWS = 6, MOST_BLOCKS = 4, ALIGNMENT = 64 };

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

static void lay_out_keys(uint32_t *out, tokens keys, int length, int size) {
    int pairs = size / 2;
    for (int block = 0; block * LANES < length; block++) {
        uint32_t *to = out + (int64_t)block * pairs * LANES;
        for (int lane = 0; lane < LANES; lane++) {
            int key = block * LANES + lane;
            const uint16_t *row = keys.first + key * keys.stride;
            for (int pair = 0; pair < pairs; pair++) {
                uint32_t both = 0;
                if (key < length) memcpy(&both, row + 2 * pair, sizeof both);
                to[pair * LANES + lane] = both;
            }
        }
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

INLINE __m512bh pairs_at(const void *place) { return (__m512bh)_mm512_loadu_si512(place); }

INLINE __m512bh pair_everywhere(const uint16_t *place) {
    int32_t both;
    memcpy(&both, place, sizeof both);
    return (__m512bh)_mm512_set1_epi32(both);
}

/* [ROWS] rows × [blocks × 16] columns of a product over pairs; `step` is the distance between pairs of the right side. */
INLINE void product(const uint16_t *const left[ROWS], const uint32_t *right, int64_t block_step, int64_t step,
                    int pairs, int blocks, __m512 sums[ROWS][MOST_BLOCKS]) {
    for (int row = 0; row < ROWS; row++)
        for (int block = 0; block < blocks; block++) sums[row][block] = _mm512_setzero_ps();
    for (int pair = 0; pair < pairs; pair++) {
        __m512bh columns[MOST_BLOCKS];
        for (int block = 0; block < blocks; block++) columns[block] = pairs_at(right + block * block_step + pair * step);
        for (int row = 0; row < ROWS; row++) {
            __m512bh one = pair_everywhere(left[row] + 2 * pair);
            for (int block = 0; block < blocks; block++)
                sums[row][block] = _mm512_dpbf16_ps(sums[row][block], one, columns[block]);
        }
    }
}

INLINE void scores_of(const uint16_t *const queries[ROWS], const uint32_t *keys, int pairs, int blocks, float *scores,
                      int padded) {
    __m512 sums[ROWS][MOST_BLOCKS];
    product(queries, keys, (int64_t)pairs * LANES, LANES, pairs, blocks, sums);
    for (int row = 0; row < ROWS; row++)
        for (int block = 0; block < blocks; block++)
            _mm512_store_ps(scores + (int64_t)row * padded + block * LANES, sums[row][block]);
}

INLINE void mix(const uint16_t *const weights[ROWS], const uint32_t *values, int pairs, int size, int blocks,
                const float factors[ROWS], uint16_t *const out[ROWS], int rows) {
    __m512 sums[ROWS][MOST_BLOCKS];
    product(weights, values, LANES, size, pairs, blocks, sums);
    for (int row = 0; row < rows; row++)
        for (int block = 0; block < blocks; block++) {
            __m512 mean = _mm512_mul_ps(sums[row][block], _mm512_set1_ps(factors[row]));
            _mm256_storeu_si256((__m256i *)(out[row] + block * LANES), (__m256i)_mm512_cvtneps_pbh(mean));
        }
}

INLINE __m512 exp2_of(__m512 x) { /* x <= 0 */
    x = _mm512_max_ps(x, _mm512_set1_ps(-126.0f));
    __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 rest = _mm512_sub_ps(x, whole);
    __m512 sum = _mm512_set1_ps(1.33335581e-3f); /* ln(2)^n / n!, n = 5, 4, 3, 2, 1, 0 */
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(9.61812911e-3f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(5.55041087e-2f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(2.40226507e-1f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(6.93147181e-1f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(sum, whole);
}

/* Scores → unnormalised weights; returns 1 / their sum. Columns past `length` weigh nothing. */
FAST static float soften(const float *scores, uint16_t *weights, int length, float scale) {
    int last = (length - 1) / LANES * LANES;
    __mmask16 there = (__mmask16)(0xFFFFu >> (LANES - (length - last)));
    __m512 least = _mm512_set1_ps(-3.4e38f), peaks = _mm512_mask_loadu_ps(least, there, scores + last);
    for (int at = 0; at < last; at += LANES) peaks = _mm512_max_ps(peaks, _mm512_load_ps(scores + at));
    __m512 peak = _mm512_set1_ps(_mm512_reduce_max_ps(peaks)), sum = _mm512_setzero_ps();
    __m512 factor = _mm512_set1_ps(scale * 1.44269504f);
    for (int at = 0; at <= last; at += LANES) {
        __m512 power = _mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(scores + at), peak), factor);
        __m512 weight = _mm512_maskz_mov_ps(at < last ? 0xFFFF : there, exp2_of(power));
        sum = _mm512_add_ps(sum, weight);
        _mm256_store_si256((__m256i *)(weights + at), (__m256i)_mm512_cvtneps_pbh(weight));
    }
    return 1.0f / _mm512_reduce_add_ps(sum);
}

FAST static void rows_of_head(tokens queries, uint16_t *out, int64_t out_stride, int start, int length, int size,
                              float scale, const workspace *space) {
    int padded = (length + LANES - 1) / LANES * LANES, pairs = size / 2, blocks = padded / LANES;
    int rows = length - start < ROWS ? length - start : ROWS;
    const uint16_t *left[ROWS], *weights[ROWS];
    uint16_t *to[ROWS];
    float factors[ROWS];
    for (int row = 0; row < ROWS; row++) { /* Rows past the end repeat the last one and are not written. */
        int64_t token = start + (row < rows ? row : rows - 1);
        left[row] = queries.first + token * queries.stride;
        to[row] = out + token * out_stride;
        weights[row] = space->weights + (int64_t)row * padded;
    }
    for (int block = 0; block < blocks; block += MOST_BLOCKS) {
        const uint32_t *keys = space->keys + (int64_t)block * pairs * LANES;
        float *scores = space->scores + block * LANES;
        switch (blocks - block) {
        case 1: scores_of(left, keys, pairs, 1, scores, padded); break;
        case 2: scores_of(left, keys, pairs, 2, scores, padded); break;
        case 3: scores_of(left, keys, pairs, 3, scores, padded); break;
        default: scores_of(left, keys, pairs, 4, scores, padded);
        }
    }
    for (int row = 0; row < ROWS; row++)
        factors[row] = soften(space->scores + (int64_t)row * padded, (uint16_t *)weights[row], length, scale);
    for (int at = 0; at < size; at += MOST_BLOCKS * LANES) {
        uint16_t *part[ROWS];
        for (int row = 0; row < ROWS; row++) part[row] = to[row] + at;
        if (size - at >= MOST_BLOCKS * LANES)
            mix(weights, space->values + at, padded / 2, size, 4, factors, part, rows);
        else
            mix(weights, space->values + at, padded / 2, size, 2, factors, part, rows);
    }
}

static void *room(size_t bytes) { return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT); }

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
