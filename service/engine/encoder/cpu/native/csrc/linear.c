/* Linear layers of an encoder, for x86 processors that multiply pairs of bfloat16 (AVX512-BF16) and quads of bytes
 * (VNNI): product, bias, and its epilogue in an encoder's layer: GELU, or the residual and its normalisation.
 *
 * Weights are laid out once in panels of 64 outputs whose words (two bfloat16 or four bytes along the inputs) lie in the
 * order of use. A tile of 6 rows × 64 outputs stays in registers over all inputs, while its panel stays in the
 * second-level cache. Each sum runs over the inputs in their order, whatever else is in the batch.
 *
 * 8 bits: a row of activations gets a scale of its own (its largest magnitude is 127), an output's weights theirs.
 * Activations are unsigned for the instruction's sake: 128 stands for 0, and `offsets`, 128 × the sum of an output's
 * weights, is subtracted.
 *
 * Rows are computed in parts that are still in the second or third level's cache when they are normalised. GELU is at
 * most 7e-5 off, below a bfloat16's rounding of results of 0.04 and more. No Python in here, and no kernel that
 * depends on the number of rows.
 */
#include "linear.h"

#ifdef GLEANER_SIMD

enum { ROWS = 6, BLOCKS = 4, PANEL = BLOCKS * LANES, MOST_ROWS = 192, PART_BYTES = 1 << 20 };
enum { NOTHING = 0, GELU = 1, RESIDUAL = 2 };
enum { DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC };

/* One use of a layer. */
typedef struct {
    linear layer;
    left_side left;
    const uint16_t *residual; /* [count, outputs] bfloat16, added to the product, or NULL */
    uint16_t *out;            /* [count, outputs] bfloat16 */
    int32_t words;            /* of a row: pairs or quads */
} product;

/* max(0, x) - |x| × Φ(-|x|), of which NaN passes the first; the latter by a parabola for each quarter of [0, 4]. */
INLINE __m512 gelu(__m512 x) {
    static const float parabolas[3][LANES] __attribute__((aligned(64))) = {
        {1.62078122e-05f, 3.40993516e-03f, 2.42822170e-02f, 7.82948434e-02f, 1.67556837e-01f, 2.74492592e-01f,
         3.68978471e-01f, 4.23238695e-01f, 4.24446166e-01f, 3.78195167e-01f, 3.02797884e-01f, 2.19620615e-01f,
         1.45187944e-01f, 8.78945366e-02f, 4.89065498e-02f, 2.60858405e-02f},
        {4.99038726e-01f, 4.74026799e-01f, 3.91937405e-01f, 2.48376235e-01f, 6.95090294e-02f, -1.02428734e-01f,
         -2.29379073e-01f, -2.92205185e-01f, -2.93940067e-01f, -2.53067285e-01f, -1.92781717e-01f, -1.32211864e-01f,
         -8.24804530e-02f, -4.71249521e-02f, -2.47756205e-02f, -1.22941593e-02f},
        {-3.91498923e-01f, -3.44792932e-01f, -2.63688505e-01f, -1.68078288e-01f, -7.83576742e-02f, -9.18901712e-03f,
         3.34756561e-02f, 5.16666695e-02f, 5.22326343e-02f, 4.32007499e-02f, 3.11476365e-02f, 2.01190077e-02f,
         1.18109621e-02f, 6.35589659e-03f, 3.15271877e-03f, 1.44697283e-03f}};
    __m512 far = _mm512_range_ps(x, _mm512_set1_ps(3.9999998f), 0xA); /* The smaller magnitude of the two. */
    __m512i quarter = (__m512i)_mm512_add_round_ps(far, _mm512_set1_ps(0x1.8p21f), DOWN); /* In its lowest bits. */
    __m512 terms[3];
    EACH(i, 3) terms[i] = _mm512_permutexvar_ps(quarter, _mm512_load_ps(parabolas[i]));
    __m512 missing = _mm512_fmadd_ps(_mm512_fmadd_ps(terms[2], far, terms[1]), far, terms[0]);
    return _mm512_sub_ps(_mm512_max_ps(_mm512_setzero_ps(), x), missing);
}

/* Epilogue and store of one row of a tile. */
INLINE void finish(const product *it, int64_t row, int first, const __m512i sums[BLOCKS], int bytes, int after,
                   int whole) {
    uint16_t *out = it->out + row * it->layer.outputs + first;
    __m512 values[BLOCKS], row_scale = bytes ? _mm512_set1_ps(it->left.scales[row]) : _mm512_setzero_ps();
    EACH(block, BLOCKS) {
        int column = first + block * LANES;
        __mmask16 there = whole ? ALL : lanes(it->layer.outputs - column);
        __m512 value = (__m512)sums[block];
        if (bytes) {
            __m512 scale = _mm512_mul_ps(_mm512_loadu_ps(it->layer.scales + column), row_scale);
            value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[block]), scale, _mm512_loadu_ps(it->layer.bias + column));
        }
        if (after == GELU) value = gelu(value);
        if (after == RESIDUAL)
            value = _mm512_add_ps(value, from_bfloat16(there, it->residual + row * it->layer.outputs + column));
        values[block] = value;
        if (!whole) to_bfloat16(out + block * LANES, there, value);
    }
    if (whole) EACH(pair, BLOCKS / 2) { /* One cache line at a time. */
        __m512bh line = _mm512_cvtne2ps_pbh(values[2 * pair + 1], values[2 * pair]);
        _mm512_storeu_si512(out + 2 * pair * LANES, (__m512i)line);
    }
}

/* ROWS × PANEL outputs, from `row` and `first` on. Rows past the end repeat the last one, and are stored over it. */
INLINE void tile(const product *it, int64_t row, int first, int bytes, int after, int whole) {
    const char *left[ROWS];
    int64_t to[ROWS];
    EACH(i, ROWS) {
        to[i] = row + i < it->left.count ? row + i : it->left.count - 1;
        left[i] = it->left.rows + to[i] * it->left.row_bytes;
        EACH(line, 2) { /* Prefetches the destination and the residual while the product runs. */
            int64_t place = to[i] * it->layer.outputs + first + line * PANEL / 2;
            __builtin_prefetch(it->out + place, 1);
            if (after == RESIDUAL) __builtin_prefetch(it->residual + place);
        }
    }
    __m512i sums[ROWS][BLOCKS];
    EACH(block, BLOCKS) {
        __m512i start = bytes ? _mm512_sub_epi32(_mm512_setzero_si512(), words_at(it->layer.offsets + first + block * LANES))
                              : words_at(it->layer.bias + first + block * LANES);
        EACH(i, ROWS) sums[i][block] = start;
    }
    EACH(i, ROWS) EACH(block, BLOCKS) STAY_IN_REGISTERS(sums[i][block]);
    const uint32_t *panel = it->layer.weights + (int64_t)first * it->words;
    for (int word = 0; word < it->words; word++, panel += PANEL) {
        __m512i columns[BLOCKS];
        EACH(block, BLOCKS) columns[block] = words_at(panel + block * LANES);
        EACH(i, ROWS) {
            __m512i one = word_everywhere(left[i] + 4 * (int64_t)word);
            EACH(block, BLOCKS) sums[i][block] = add_product(sums[i][block], one, columns[block], bytes);
        }
    }
    EACH(i, ROWS) EACH(block, BLOCKS) STAY_IN_REGISTERS(sums[i][block]);
    EACH(i, ROWS) finish(it, to[i], first, sums[i], bytes, after, whole);
}

#define TILES(name, bytes, after, whole)                                                      \
    FAST static void name(const product *it, int first) {                                     \
        for (int64_t row = 0; row < it->left.count; row += ROWS) tile(it, row, first, bytes, after, whole); \
    }
TILES(pairs, 0, NOTHING, 1)
TILES(pairs_gelu, 0, GELU, 1)
TILES(pairs_residual, 0, RESIDUAL, 1)
TILES(quads, 1, NOTHING, 1)
TILES(quads_gelu, 1, GELU, 1)
TILES(quads_residual, 1, RESIDUAL, 1)
TILES(last_pairs, 0, NOTHING, 0)
TILES(last_pairs_gelu, 0, GELU, 0)
TILES(last_pairs_residual, 0, RESIDUAL, 0)
TILES(last_quads, 1, NOTHING, 0)
TILES(last_quads_gelu, 1, GELU, 0)
TILES(last_quads_residual, 1, RESIDUAL, 0)

typedef void tiles(const product *it, int first);
static tiles *const TILES_OF[2][2][3] = {
    {{last_pairs, last_pairs_gelu, last_pairs_residual}, {pairs, pairs_gelu, pairs_residual}},
    {{last_quads, last_quads_gelu, last_quads_residual}, {quads, quads_gelu, quads_residual}},
};

enum { ACCUMULATORS = 4 };

/* `body` for each vector of a row: at `at`, with valid lanes `there`; neighbours use different accumulators. */
#define FOR_EACH_VECTOR(features, body)                                     \
    do {                                                                    \
        int at = 0;                                                         \
        for (; at + ACCUMULATORS * LANES <= (features);)                    \
            EACH(accumulator, ACCUMULATORS) {                               \
                const __mmask16 there = ALL;                                \
                body                                                        \
                at += LANES;                                                \
            }                                                               \
        for (; at < (features); at += LANES) {                              \
            const __mmask16 there = lanes((features) - at);                 \
            enum { accumulator = 0 };                                       \
            body                                                            \
        }                                                                   \
    } while (0)

INLINE float total_of(const __m512 parts[ACCUMULATORS]) {
    __m512 half = _mm512_add_ps(parts[0], parts[1]), other = _mm512_add_ps(parts[2], parts[3]);
    return _mm512_reduce_add_ps(_mm512_add_ps(half, other));
}

/* A row becomes (value - mean) / √(variance + epsilon) × weight + bias, in place. */
FAST static void normalise(uint16_t *row, int features, const float *weight, const float *bias, float epsilon) {
    __m512 sums[ACCUMULATORS], squares[ACCUMULATORS];
    EACH(i, ACCUMULATORS) sums[i] = squares[i] = _mm512_setzero_ps();
    FOR_EACH_VECTOR(features, {
        sums[accumulator] = _mm512_add_ps(sums[accumulator], from_bfloat16(there, row + at));
    });
    __m512 mean = _mm512_set1_ps(total_of(sums) / (float)features);
    FOR_EACH_VECTOR(features, {
        __m512 apart = _mm512_maskz_sub_ps(there, from_bfloat16(there, row + at), mean);
        squares[accumulator] = _mm512_fmadd_ps(apart, apart, squares[accumulator]);
    });
    __m512 variance = _mm512_set1_ps(total_of(squares) / (float)features + epsilon);
    __m512 factor = _mm512_div_ps(_mm512_set1_ps(1.0f), _mm512_sqrt_ps(variance));
    FOR_EACH_VECTOR(features, {
        __m512 value = _mm512_mul_ps(_mm512_sub_ps(from_bfloat16(there, row + at), mean), factor);
        to_bfloat16(row + at, there, _mm512_fmadd_ps(value, floats_at(there, weight + at), floats_at(there, bias + at)));
    });
}

INLINE __m512i bfloat16_pairs(const uint16_t *row, int at, int features) {
    if (at + PAIRED <= features) return words_at(row + at);
    return _mm512_maskz_loadu_epi16((__mmask32)(~0u >> (PAIRED - (features - at))), row + at);
}

/* bfloat16 → bytes around 128, and the row's scale. */
FAST static float quantise(const uint16_t *row, uint8_t *out, int features) {
    __m512i peaks = _mm512_setzero_si512();
    for (int at = 0; at < features; at += PAIRED) peaks = larger_of(peaks, bfloat16_pairs(row, at, features));
    __m512 scale = scale_of(_mm512_set1_ps(largest_of(peaks))), factor = inverse_of(scale);
    for (int at = 0; at < features; at += PAIRED) {
        __m256i bytes = left_bytes(bfloat16_pairs(row, at, features), factor);
        if (at + PAIRED <= features)
            _mm256_storeu_si256((__m256i *)(out + at), bytes);
        else
            _mm256_mask_storeu_epi8(out + at, (__mmask32)(~0u >> (PAIRED - (features - at))), bytes);
    }
    return _mm512_cvtss_f32(scale);
}

int64_t part_of(const linear *layer) {
    int64_t rows = PART_BYTES / (layer->scales ? layer->inputs : 2 * layer->inputs) / ROWS * ROWS;
    return rows < ROWS ? ROWS : smaller(rows, MOST_ROWS);
}

left_side left_for(const linear *layer, const uint16_t *rows, int64_t count, const quantised_rows *arena) {
    int64_t inputs = layer->inputs;
    if (!layer->scales) return (left_side){(const char *)rows, NULL, 2 * inputs, count};
#pragma omp for schedule(static)
    for (int64_t row = 0; row < count; row++)
        arena->scales[row] = quantise(rows + row * inputs, arena->bytes + row * inputs, layer->inputs);
    return (left_side){(const char *)arena->bytes, arena->scales, inputs, count};
}

void multiply(const linear *layer, const left_side *left, const uint16_t *residual, uint16_t *out) {
    int bytes = layer->scales != NULL, after = residual ? RESIDUAL : layer->gelu ? GELU : NOTHING;
    product it = {*layer, *left, residual, out, layer->inputs / (bytes ? 4 : 2)};
#pragma omp for schedule(static)
    for (int32_t first = 0; first < layer->outputs; first += PANEL)
        TILES_OF[bytes][first + PANEL <= layer->outputs][after](&it, first);
    if (!layer->normal_weight) return;
#pragma omp for schedule(static)
    for (int64_t row = 0; row < left->count; row++)
        normalise(out + row * layer->outputs, layer->outputs, layer->normal_weight, layer->normal_bias, layer->epsilon);
}

/* All rows of one layer, everything contiguous. */
void gleaner_linear(const linear *layer, const uint16_t *rows, const uint16_t *residual, uint16_t *out, int64_t count,
                    uint8_t *bytes, float *scales, int32_t threads) {
    int64_t most = part_of(layer), inputs = layer->inputs, outputs = layer->outputs;
#pragma omp parallel num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < count; row += most) {
        quantised_rows arena = {NULL, NULL};
        if (layer->scales) arena = (quantised_rows){bytes + row * inputs, scales + row};
        left_side left = left_for(layer, rows + row * inputs, smaller(most, count - row), &arena);
        multiply(layer, &left, residual ? residual + row * outputs : NULL, out + row * outputs);
    }
}

#endif
