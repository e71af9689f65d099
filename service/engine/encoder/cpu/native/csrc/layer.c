/* A layer of BERT's encoder in one call: attention, feed-forward network, and what each adds to its rows.
 *
 * Compared with its parts called one by one, query, key and value share their rows in 8 bits, and the network's
 * intermediate results exist for one part of the rows at a time, so they stay in the cache.
 */
#include "attention.h"
#include "linear.h"

#ifdef GLEANER_SIMD

typedef struct {
    linear query, key, value, out, up, down;
    int32_t heads;
    float scale; /* of scores */
} encoder_layer;

/* The buffers of one call. */
typedef struct {
    uint16_t *query, *key, *value; /* [count, hidden] bfloat16 */
    uint16_t *attended;            /* [part, hidden] bfloat16 */
    uint16_t *inner;               /* [part, inner] bfloat16 */
    quantised_rows bytes;
} layer_buffers;

/* Rows of one part, for all linear layers after attention. */
static int64_t rows_at_once(const encoder_layer *it) {
    return smaller(part_of(&it->out), smaller(part_of(&it->up), part_of(&it->down)));
}

static layer_buffers lay_out(const encoder_layer *it, int64_t count, uintptr_t *arena) {
    size_t hidden = it->query.outputs, inner = it->up.outputs, widest = inner > hidden ? inner : hidden;
    size_t most = part_of(&it->query), part = rows_at_once(it);
    layer_buffers found = {
        .query = take(arena, 2 * count * hidden),
        .key = take(arena, 2 * count * hidden),
        .value = take(arena, 2 * count * hidden),
        .attended = take(arena, 2 * part * hidden),
        .inner = take(arena, 2 * part * inner),
    };
    if (part > most) most = part;
    found.bytes.bytes = take(arena, most * widest);
    found.bytes.scales = take(arena, most * sizeof(float));
    return found;
}

static void project(const encoder_layer *it, const uint16_t *rows, int64_t count, const layer_buffers *arena) {
    int64_t hidden = it->query.outputs, most = part_of(&it->query);
    for (int64_t row = 0; row < count; row += most) {
        left_side left = left_for(&it->query, rows + row * it->query.inputs, smaller(most, count - row), &arena->bytes);
        multiply(&it->query, &left, NULL, arena->query + row * hidden);
        multiply(&it->key, &left, NULL, arena->key + row * hidden);
        multiply(&it->value, &left, NULL, arena->value + row * hidden);
    }
}

/* Replaces attention's results in `out` by the layer's. */
static void feed_forward(const encoder_layer *it, const uint16_t *rows, uint16_t *out, int64_t count,
                         const layer_buffers *arena) {
    int64_t hidden = it->query.outputs, most = rows_at_once(it);
    for (int64_t row = 0; row < count; row += most) {
        int64_t part = smaller(most, count - row), at = row * hidden;
        left_side left = left_for(&it->out, out + at, part, &arena->bytes);
        multiply(&it->out, &left, rows + at, arena->attended);
        left = left_for(&it->up, arena->attended, part, &arena->bytes);
        multiply(&it->up, &left, NULL, arena->inner);
        left = left_for(&it->down, arena->inner, part, &arena->bytes);
        multiply(&it->down, &left, arena->attended, out + at);
    }
}

/* rows, out: [count, hidden] bfloat16, contiguous; borders as attention has them. Returns 0, or -1 when memory ran out. */
int gleaner_layer(const encoder_layer *it, const uint16_t *rows, uint16_t *out, int64_t count, const int64_t *borders,
                  int32_t sequences, int32_t int8, int32_t threads) {
    uintptr_t needed = 0;
    lay_out(it, count, &needed);
    void *memory = aligned_alloc(LINE, needed);
    if (!memory) return -1;
    uintptr_t place = (uintptr_t)memory;
    const layer_buffers arena = lay_out(it, count, &place);
    int32_t hidden = it->query.outputs;
#pragma omp parallel num_threads(threads) if (threads > 1)
    project(it, rows, count, &arena);
    int failed = gleaner_attention(arena.query, arena.key, arena.value, out, hidden, hidden, hidden, borders, sequences,
                                   it->heads, hidden / it->heads, it->scale, int8, threads);
    if (!failed) {
#pragma omp parallel num_threads(threads) if (threads > 1)
        feed_forward(it, rows, out, count, &arena);
    }
    free(memory);
    return failed;
}

#endif
