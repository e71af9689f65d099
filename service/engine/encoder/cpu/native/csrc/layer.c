/* A layer of BERT's encoder in one call: attention, feed-forward network, and what each adds to its rows.
 *
 * Beside its parts called one by one, query, key and value share what their rows are in 8 bits, and what the network has
 * in between is there for some rows at a time only and so stays in the cache.
 */
#include "attention.h"
#include "linear.h"

#ifdef GLEANER_SIMD

typedef struct {
    linear query, key, value, out, up, down;
    int32_t heads;
    float scale; /* of scores */
} encoder_layer;

/* What one call needs. */
typedef struct {
    uint16_t *query, *key, *value; /* [count, hidden] bfloat16 */
    uint16_t *attended;            /* [part, hidden] bfloat16 */
    uint16_t *inner;               /* [part, inner] bfloat16 */
    room_for_bytes bytes;
} layer_room;

/* As many rows as suit all layers after the attention. */
static int64_t rows_at_once(const encoder_layer *it) {
    return smaller(part_of(&it->out), smaller(part_of(&it->up), part_of(&it->down)));
}

static layer_room lay_out(const encoder_layer *it, int64_t count, uintptr_t *room) {
    size_t hidden = it->query.outputs, inner = it->up.outputs, widest = inner > hidden ? inner : hidden;
    size_t most = part_of(&it->query), part = rows_at_once(it);
    layer_room found = {
        .query = take(room, 2 * count * hidden),
        .key = take(room, 2 * count * hidden),
        .value = take(room, 2 * count * hidden),
        .attended = take(room, 2 * part * hidden),
        .inner = take(room, 2 * part * inner),
    };
    if (part > most) most = part;
    found.bytes.bytes = take(room, most * widest);
    found.bytes.scales = take(room, most * sizeof(float));
    return found;
}

static void project(const encoder_layer *it, const uint16_t *rows, int64_t count, const layer_room *room) {
    int64_t hidden = it->query.outputs, most = part_of(&it->query);
    for (int64_t row = 0; row < count; row += most) {
        left_side left = left_for(&it->query, rows + row * it->query.inputs, smaller(most, count - row), &room->bytes);
        multiply(&it->query, &left, NULL, room->query + row * hidden);
        multiply(&it->key, &left, NULL, room->key + row * hidden);
        multiply(&it->value, &left, NULL, room->value + row * hidden);
    }
}

/* Attention's results, which lie in `out`, become the layer's. */
static void feed_forward(const encoder_layer *it, const uint16_t *rows, uint16_t *out, int64_t count,
                         const layer_room *room) {
    int64_t hidden = it->query.outputs, most = rows_at_once(it);
    for (int64_t row = 0; row < count; row += most) {
        int64_t part = smaller(most, count - row), at = row * hidden;
        left_side left = left_for(&it->out, out + at, part, &room->bytes);
        multiply(&it->out, &left, rows + at, room->attended);
        left = left_for(&it->up, room->attended, part, &room->bytes);
        multiply(&it->up, &left, NULL, room->inner);
        left = left_for(&it->down, room->inner, part, &room->bytes);
        multiply(&it->down, &left, room->attended, out + at);
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
    const layer_room room = lay_out(it, count, &place);
    int32_t hidden = it->query.outputs;
#pragma omp parallel num_threads(threads) if (threads > 1)
    project(it, rows, count, &room);
    int failed = gleaner_attention(room.query, room.key, room.value, out, hidden, hidden, hidden, borders, sequences,
                                   it->heads, hidden / it->heads, it->scale, int8, threads);
    if (!failed) {
#pragma omp parallel num_threads(threads) if (threads > 1)
        feed_forward(it, rows, out, count, &room);
    }
    free(memory);
    return failed;
}

#endif
