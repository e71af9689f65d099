/* Linear layers of an encoder, for x86 processors that multiply pairs of bfloat16 (AVX512-BF16) and quads of bytes
 * (VNNI): product, bias, and what follows it in an encoder's layer: GELU, or the residual and its normalisation.
 *
 * Weights are laid out once in panels of 64 outputs whose words (two bfloat16 or four bytes along the inputs) lie in the
 * order of use. A tile of 6 rows × 64 outputs stays in registers over all inputs, while its panel stays in the
 * second-level cache. Each sum runs over the inputs in their order, whatever else is in the batch.
 *
 * 8 bits: a row of activations gets a scale of its own (its largest magnitude is 127), an output's weights theirs.
 * Activations are unsigned for the instruction's sake: 128 stands for 0, and `offsets`, 128 × the sum of an output's
 * weights, is subtracted afterwards.
 *
 * GELU is x × Φ(x), Φ by an odd polynomial on [-4.2, 4.2], at most 6e-5 off: less than a bfloat16's rounding of what it
 * is multiplied with. No Python in here, and no kernel that depends on the number of rows.
 */
#include "simd.h"

#ifdef GLEANER_SIMD

enum { ROWS = 6, BLOCKS = 4, PANEL = BLOCKS * LANES, ROWS_AT_ONCE = 192 };
enum { NOTHING = 0, GELU = 1 };

typedef struct {
    const void *rows;         /* [count, inputs] bfloat16, or bytes around 128 */
    int64_t row_bytes;        /* from one row to the next */
    const uint32_t *weights;  /* [panels][words of a row][PANEL] */
    const float *bias;        /* [outputs] or NULL */
    const uint16_t *residual; /* [count, outputs] bfloat16, added to the product, or NULL */
    uint16_t *out;            /* [count, outputs] bfloat16 */
    const float *row_scales;  /* [count]; NULL: the numbers are bfloat16 */
    const float *scales;      /* [outputs] */
    const int32_t *offsets;   /* [outputs] */
    int64_t count;
    int32_t words; /* of a row: pairs or quads */
    int32_t outputs;
    int32_t activation;
} layer;

INLINE __m512 floats_at(__mmask16 there, const float *place) { return _mm512_maskz_loadu_ps(there, place); }

INLINE __m512i add_product(__m512i sum, __m512i left, __m512i right, int bytes) {
    return bytes ? _mm512_dpbusd_epi32(sum, left, right)
                 : (__m512i)_mm512_dpbf16_ps((__m512)sum, (__m512bh)left, (__m512bh)right);
}

INLINE __m512 gelu(__m512 x) {
    static const float terms[] = {5.06928215e-11f, -4.89427077e-9f, 2.09950059e-7f,  -5.3277613e-6f, 9.01286039e-5f,
                                  -1.08760595e-3f, 9.74267442e-3f,  -6.6221334e-2f,  3.98831964e-1f};
    __m512 y = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-4.2f)), _mm512_set1_ps(4.2f));
    __m512 square = _mm512_mul_ps(y, y), sum = _mm512_set1_ps(terms[0]);
    for (int i = 1; i < 9; i++) sum = _mm512_fmadd_ps(sum, square, _mm512_set1_ps(terms[i]));
    return _mm512_mul_ps(x, _mm512_fmadd_ps(y, sum, _mm512_set1_ps(0.5f)));
}

/* One row of a tile, from sums to what is stored. */
INLINE void finish(const layer *it, int64_t row, int first, const __m512i sums[BLOCKS], int bytes) {
    for (int block = 0; block < BLOCKS && first + block * LANES < it->outputs; block++) {
        int column = first + block * LANES, left = it->outputs - column;
        __mmask16 there = lanes(left < LANES ? left : LANES);
        __m512 value = (__m512)sums[block];
        if (bytes) {
            __m512i whole = _mm512_sub_epi32(sums[block], _mm512_maskz_loadu_epi32(there, it->offsets + column));
            __m512 scale = floats_at(there, it->scales + column);
            value = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_mul_ps(scale, _mm512_set1_ps(it->row_scales[row])));
        }
        if (it->bias) value = _mm512_add_ps(value, floats_at(there, it->bias + column));
        if (it->activation == GELU) value = gelu(value);
        if (it->residual) value = _mm512_add_ps(value, from_bfloat16(there, it->residual + row * it->outputs + column));
        to_bfloat16(it->out + row * it->outputs + column, there, value);
    }
}

INLINE void tile(const layer *it, int64_t row, int first, int bytes) {
    int rows = it->count - row < ROWS ? (int)(it->count - row) : ROWS;
    const char *left[ROWS]; /* Rows past the end repeat the last one and are not stored. */
    for (int i = 0; i < ROWS; i++)
        left[i] = (const char *)it->rows + (row + (i < rows ? i : rows - 1)) * it->row_bytes;
    __m512i sums[ROWS][BLOCKS], done[ROWS][BLOCKS]; /* Two, so that the first one never needs to lie in memory. */
    for (int i = 0; i < ROWS; i++)
        for (int block = 0; block < BLOCKS; block++) sums[i][block] = _mm512_setzero_si512();
    const uint32_t *panel = it->weights + (int64_t)first * it->words;
    for (int word = 0; word < it->words; word++, panel += PANEL) {
        __m512i columns[BLOCKS];
        for (int block = 0; block < BLOCKS; block++) columns[block] = words_at(panel + block * LANES);
        for (int i = 0; i < ROWS; i++) {
            __m512i one = word_everywhere(left[i] + 4 * (int64_t)word);
            for (int block = 0; block < BLOCKS; block++)
                sums[i][block] = add_product(sums[i][block], one, columns[block], bytes);
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int block = 0; block < BLOCKS; block++) done[i][block] = sums[i][block];
    for (int i = 0; i < rows; i++) finish(it, row + i, first, done[i], bytes);
}

FAST static void tiles_of_pairs(const layer *it, int first, int64_t from, int64_t to) {
    for (int64_t row = from; row < to; row += ROWS) tile(it, row, first, 0);
}

FAST static void tiles_of_quads(const layer *it, int first, int64_t from, int64_t to) {
    for (int64_t row = from; row < to; row += ROWS) tile(it, row, first, 1);
}

static void multiply(const layer *it, int threads) {
    int64_t panels = (it->outputs + PANEL - 1) / PANEL, parts = (it->count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t panel = 0; panel < panels; panel++)
        for (int64_t part = 0; part < parts; part++) {
            int64_t from = part * ROWS_AT_ONCE, to = from + ROWS_AT_ONCE < it->count ? from + ROWS_AT_ONCE : it->count;
            (it->row_scales ? tiles_of_quads : tiles_of_pairs)(it, (int)panel * PANEL, from, to);
        }
}

/* `body` for each vector of a row: at `at`, with the lanes that are `there`. */
#define FOR_EACH_VECTOR(features, body)                      \
    do {                                                     \
        int at = 0;                                          \
        for (; at + LANES <= (features); at += LANES) {      \
            const __mmask16 there = 0xFFFF;                  \
            body                                             \
        }                                                    \
        if (at < (features)) {                               \
            const __mmask16 there = lanes((features) - at);  \
            body                                             \
        }                                                    \
    } while (0)

/* A row becomes (value - mean) / √(variance + epsilon) × weight + bias, in place. */
FAST static void normalise(uint16_t *row, int features, const float *weight, const float *bias, float epsilon) {
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
    FOR_EACH_VECTOR(features, { sum = _mm512_add_ps(sum, from_bfloat16(there, row + at)); });
    __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)features);
    FOR_EACH_VECTOR(features, {
        __m512 apart = _mm512_maskz_sub_ps(there, from_bfloat16(there, row + at), mean);
        squares = _mm512_fmadd_ps(apart, apart, squares);
    });
    __m512 variance = _mm512_set1_ps(_mm512_reduce_add_ps(squares) / (float)features + epsilon);
    __m512 factor = _mm512_div_ps(_mm512_set1_ps(1.0f), _mm512_sqrt_ps(variance));
    FOR_EACH_VECTOR(features, {
        __m512 value = _mm512_mul_ps(_mm512_sub_ps(from_bfloat16(there, row + at), mean), factor);
        __m512 to = _mm512_fmadd_ps(value, floats_at(there, weight + at), floats_at(there, bias + at));
        to_bfloat16(row + at, there, to);
    });
}

/* bfloat16 → bytes around 128, and the row's scale. */
FAST static float quantise(const uint16_t *row, uint8_t *out, int features) {
    __m512 peaks = _mm512_setzero_ps();
    FOR_EACH_VECTOR(features, { peaks = _mm512_max_ps(peaks, _mm512_abs_ps(from_bfloat16(there, row + at))); });
    float peak = _mm512_reduce_max_ps(peaks);
    float scale = (peak > 1e-12f ? peak : 1e-12f) / 127.0f;
    __m512 factor = _mm512_set1_ps(1.0f / scale);
    FOR_EACH_VECTOR(features, {
        __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(from_bfloat16(there, row + at), factor));
        _mm_mask_storeu_epi8(out + at, there, _mm512_cvtepi32_epi8(_mm512_add_epi32(whole, _mm512_set1_epi32(128))));
    });
    return scale;
}

/* Everything contiguous; see `layer`. `normal_weight` NULL: no normalisation. */
void gleaner_linear(const uint16_t *rows, const uint32_t *weights, const float *bias, const uint16_t *residual,
                    const float *normal_weight, const float *normal_bias, float epsilon, uint16_t *out, int64_t count,
                    int32_t inputs, int32_t outputs, int32_t activation, uint8_t *bytes, float *row_scales,
                    const float *scales, const int32_t *offsets, int32_t threads) {
    layer it = {rows, 2 * (int64_t)inputs, weights, bias, residual, out, NULL, NULL, NULL, count, inputs / 2, outputs,
                activation};
    if (bytes) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int64_t row = 0; row < count; row++)
            row_scales[row] = quantise(rows + row * inputs, bytes + row * inputs, inputs);
        it.rows = bytes, it.row_bytes = inputs, it.words = inputs / 4;
        it.row_scales = row_scales, it.scales = scales, it.offsets = offsets;
    }
    multiply(&it, threads);
    if (normal_weight) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int64_t row = 0; row < count; row++)
            normalise(out + row * outputs, outputs, normal_weight, normal_bias, epsilon);
    }
}

#endif
