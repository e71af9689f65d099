/* A linear layer as it is laid out, with what follows it in an encoder's layer; and what it is multiplied with. */
#ifndef GLEANER_LINEAR_H
#define GLEANER_LINEAR_H

#include "bytes.h"

#ifdef GLEANER_SIMD

typedef struct {
    const uint32_t *weights;     /* [panels][words of a row][64]; a word is two bfloat16 or four bytes */
    const float *bias;           /* [panels][64], as all arrays over outputs */
    const float *scales;         /* NULL: weights are bfloat16 */
    const int32_t *offsets;      /* with scales */
    const float *normal_weight;  /* [outputs]; NULL: no normalisation */
    const float *normal_bias;    /* [outputs] */
    float epsilon;
    int32_t inputs, outputs, gelu;
} linear;

/* [count, inputs] bfloat16, or bytes around 128 with a scale for each row. */
typedef struct {
    const char *rows;
    const float *scales; /* [count]; NULL: bfloat16 */
    int64_t row_bytes, count;
} left_side;

/* One part of the rows in 8 bits. */
typedef struct {
    uint8_t *bytes; /* [count, inputs] */
    float *scales;  /* [count] */
} quantised_rows;

static inline int64_t smaller(int64_t one, int64_t other) { return one < other ? one : other; }

/* Rows in one part of a layer's inputs, as measured (PART_BYTES, MOST_ROWS). */
int64_t part_of(const linear *layer);

/* One part of the rows in the layer's format; in 8 bits they are written to `arena`, by all threads of the team. */
left_side left_for(const linear *layer, const uint16_t *rows, int64_t count, const quantised_rows *arena);

/* rows × weights + bias, then GELU, or residual (NULL: none) and normalisation, by all threads of the team. */
void multiply(const linear *layer, const left_side *left, const uint16_t *residual, uint16_t *out);

#endif
#endif
