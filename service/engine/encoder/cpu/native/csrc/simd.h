/* Common to all kernels: the processors that they support, and vectors of pairs and quads of small numbers. */
#ifndef GLEANER_SIMD_H
#define GLEANER_SIMD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 10)
#define GLEANER_SIMD 1
#include <immintrin.h>

/* prfchw: every processor with the others has it. */
#define FAST __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni,prfchw")))
#define INLINE FAST static inline __attribute__((always_inline))

/* A loop whose turns are all written out, so that what it indexes can stay in registers. */
#define EACH(i, count) _Pragma("GCC unroll 32") for (int i = 0; i < (count); i++)

/* Ends one life of a vector and begins another: GCC need not find one place that suits a loop and what follows. */
#define STAY_IN_REGISTERS(vector) __asm__("" : "+v"(vector))

enum { LANES = 16, PAIRED = 2 * LANES, ALL = 0xFFFF };

INLINE __m512i words_at(const void *place) { return _mm512_loadu_si512(place); }

INLINE __m512i word_everywhere(const void *place) {
    int32_t word;
    memcpy(&word, place, sizeof word);
    return _mm512_set1_epi32(word);
}

/* The first `count` of 16 lanes; none and all beyond. */
INLINE __mmask16 lanes(int count) {
    return count >= LANES ? ALL : count <= 0 ? 0 : (__mmask16)(0xFFFFu >> (LANES - count));
}

INLINE __m512 floats_at(__mmask16 there, const float *place) { return _mm512_maskz_loadu_ps(there, place); }

/* Adds the products of pairs of bfloat16, or of unsigned with signed bytes in quads. */
INLINE __m512i add_product(__m512i sum, __m512i left, __m512i right, int bytes) {
    return bytes ? _mm512_dpbusd_epi32(sum, left, right)
                 : (__m512i)_mm512_dpbf16_ps((__m512)sum, (__m512bh)left, (__m512bh)right);
}

INLINE __m512 from_bfloat16(__mmask16 there, const uint16_t *place) {
    __m256i half = there == ALL ? _mm256_loadu_si256((const __m256i *)place) : _mm256_maskz_loadu_epi16(there, place);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

INLINE void to_bfloat16(uint16_t *place, __mmask16 there, __m512 value) {
    __m256i half = (__m256i)_mm512_cvtneps_pbh(value);
    if (there == ALL)
        _mm256_storeu_si256((__m256i *)place, half);
    else
        _mm256_mask_storeu_epi16(place, there, half);
}

#endif
#endif
