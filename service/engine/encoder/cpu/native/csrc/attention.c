/* Attention within the borders of a packed row, for x86 processors that multiply bfloat16 pairs (AVX512-BF16) and quads
 * of bytes (VNNI).
 *
 * For each sequence and head: keys and values are laid out once for the product, then six queries at a time go through
 * scores, softmax and mix while everything they touch stays in the cache. Threads take
 * sequences and heads. No Python in here: it is loaded as a plain shared library.
 */
#include "attention.h"

#ifdef GLEANER_SIMD

/* query, key, value: [total, heads, size] bfloat16 with contiguous heads; strides in elements between tokens.
 * out: [total, heads, size], contiguous. size is a multiple of 32. Returns 0, or -1 when memory ran out. */
int gleaner_attention(const uint16_t *query, const uint16_t *key, const uint16_t *value, uint16_t *out,
                      int64_t query_stride, int64_t key_stride, int64_t value_stride, const int64_t *borders,
                      int32_t sequences, int32_t heads, int32_t size, float scale, int32_t int8, int32_t threads) {
    int64_t longest = 0, out_stride = (int64_t)heads * size;
    for (int32_t i = 0; i < sequences; i++)
        if (borders[i + 1] - borders[i] > longest) longest = borders[i + 1] - borders[i];
    size_t needed = (int8 ? bytes_arena_size : pairs_arena_size)(padded_to((int)longest, LANES), size);
    int failed = 0;
#pragma omp parallel num_threads(threads) reduction(| : failed) if (threads > 1)
    {
        void *arena = aligned_alloc(LINE, needed); /* A multiple of LINE. */
        failed = !arena;
#pragma omp for collapse(2) schedule(dynamic)
        for (int32_t i = 0; i < sequences; i++)
            for (int32_t number = 0; number < heads; number++) {
                if (failed) continue;
                int64_t begin = borders[i], at = (int64_t)number * size;
                head one = {
                    .queries = {query + begin * query_stride + at, query_stride},
                    .keys = {key + begin * key_stride + at, key_stride},
                    .values = {value + begin * value_stride + at, value_stride},
                    .out = out + begin * out_stride + at,
                    .out_stride = out_stride,
                    .length = (int)(borders[i + 1] - begin),
                    .size = size,
                    .scale = scale,
                };
                (int8 ? attend_in_bytes : attend_in_pairs)(&one, arena);
            }
        free(arena);
    }
    return failed ? -1 : 0;
}

#endif
