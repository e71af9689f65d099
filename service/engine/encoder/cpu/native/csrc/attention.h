/* Attention, and one head of one sequence as both of its kinds go through it: ROWS queries at a time against all keys. */
#ifndef GLEANER_ATTENTION_H
#define GLEANER_ATTENTION_H

#include "arena.h"
#include "simd.h"

#ifdef GLEANER_SIMD

enum { ROWS = 6, MOST_BLOCKS = 4 };
#define LEAST -1e30f /* The score of keys past the end. */

typedef struct {
    const uint16_t *first;
    int64_t stride; /* elements from one token to the next */
} tokens;

typedef struct {
    tokens queries, keys, values;
    uint16_t *out;
    int64_t out_stride;
    int length, size;
    float scale;
} head;

/* A kind of attention: the size of its arena for one head of up to `padded` tokens, and its computation there. */
typedef size_t arena_size(int64_t padded, int size);
typedef void attend(const head *it, void *arena);

arena_size pairs_arena_size, bytes_arena_size;
attend attend_in_pairs, attend_in_bytes;

/* See attention.c. */
int gleaner_attention(const uint16_t *query, const uint16_t *key, const uint16_t *value, uint16_t *out,
                      int64_t query_stride, int64_t key_stride, int64_t value_stride, const int64_t *borders,
                      int32_t sequences, int32_t heads, int32_t size, float scale, int32_t int8, int32_t threads);

static inline int padded_to(int length, int unit) { return (length + unit - 1) / unit * unit; }

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

/* 16 keys' pairs of features from `at` on: a vector for each pair, a lane for each key; zeros for keys past the end. */
INLINE void pairs_of_keys(__m512i pairs[LANES], const head *it, int key, int at) {
    EACH(i, LANES) {
        int there = key + i < it->length;
        pairs[i] = there ? words_at(it->keys.first + (key + i) * it->keys.stride + at) : _mm512_setzero_si512();
    }
    transpose(pairs);
}

/* Prefetches the destination of one token's results, the next rows' queries, and the next head's keys and values. */
INLINE void fetch_ahead(const head *it, int64_t token) {
    for (int at = 0; at < it->size; at += PAIRED) {
        __builtin_prefetch(it->out + token * it->out_stride + at, 1);
        __builtin_prefetch(it->queries.first + (token + ROWS) * it->queries.stride + at);
        __builtin_prefetch(it->keys.first + token * it->keys.stride + it->size + at);
        __builtin_prefetch(it->values.first + token * it->values.stride + it->size + at);
    }
}

/* Adds [ROWS] rows × [blocks × 16] columns of a product; `step` is the distance between words of the right side. */
INLINE void add_tile(const char *const left[ROWS], const uint32_t *right, int64_t block_step, int64_t step, int words,
                     int blocks, int bytes, __m512i sums[ROWS][MOST_BLOCKS]) {
    EACH(row, ROWS) EACH(block, blocks) STAY_IN_REGISTERS(sums[row][block]);
    for (int word = 0; word < words; word++) {
        __m512i columns[MOST_BLOCKS];
        EACH(block, blocks) columns[block] = words_at(right + block * block_step + word * step);
        EACH(row, ROWS) {
            __m512i one = word_everywhere(left[row] + 4 * (int64_t)word);
            EACH(block, blocks) sums[row][block] = add_product(sums[row][block], one, columns[block], bytes);
        }
    }
    EACH(row, ROWS) EACH(block, blocks) STAY_IN_REGISTERS(sums[row][block]);
}

INLINE void clear(__m512i sums[ROWS][MOST_BLOCKS], int blocks) {
    EACH(row, ROWS) EACH(block, blocks) sums[row][block] = _mm512_setzero_si512();
}

/* `body` for `count` blocks, a constant up to MOST_BLOCKS, from block `first` on, until all `blocks` are done. */
#define IN_BLOCKS(blocks, body)                                            \
    for (int first = 0; first < (blocks); first += MOST_BLOCKS)            \
        switch ((blocks) - first) {                                        \
        case 1: { enum { count = 1 }; body break; }                        \
        case 2: { enum { count = 2 }; body break; }                        \
        case 3: { enum { count = 3 }; body break; }                        \
        default: { enum { count = MOST_BLOCKS }; body }                    \
        }

/* 2^x by a polynomial on [-1/2, 1/2], 7.5e-5 off at most. */
INLINE __m512 exp2_of(__m512 x) {
    __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 rest = _mm512_sub_ps(x, whole), sum = _mm512_set1_ps(5.51716663e-02f);
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(2.42611122e-01f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(6.93260986e-01f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(9.99928074e-01f));
    return _mm512_scalef_ps(sum, whole);
}

#define LOG2_E 1.44269504f

#endif
#endif
