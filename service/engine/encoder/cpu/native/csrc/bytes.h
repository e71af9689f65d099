/* From bfloat16 to bytes and a scale: the largest magnitude becomes 127. */
#ifndef GLEANER_BYTES_H
#define GLEANER_BYTES_H

#include "simd.h"

#ifdef GLEANER_SIMD

INLINE __m512 even_of(__m512i pairs) { return (__m512)_mm512_slli_epi32(pairs, 16); }
INLINE __m512 odd_of(__m512i pairs) { return (__m512)_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xFFFF0000)); }

/* The larger magnitudes of bfloat16, which are in the order of their bits. */
INLINE __m512i larger_of(__m512i peaks, __m512i pairs) {
    return _mm512_max_epu16(peaks, _mm512_and_si512(pairs, _mm512_set1_epi16(0x7FFF)));
}

/* A non-finite peak makes the scale non-finite, and every result with it: a maximum returns its second operand if that
 * is NaN, and infinity times an inverse of 0 is NaN. */
INLINE __m512 scale_of(__m512 peak) {
    return _mm512_div_ps(_mm512_max_ps(_mm512_set1_ps(1e-12f), peak), _mm512_set1_ps(127.0f));
}

INLINE __m512 inverse_of(__m512 scale) { return _mm512_div_ps(_mm512_set1_ps(1.0f), scale); }

/* Integers from -127 to 127 in the lowest byte of each lane; its other bytes hold anything. */
INLINE __m512i byte_of(__m512 value, __m512 factor) {
    return _mm512_cvtps_epi32(_mm512_mul_ps(value, factor));
}

/* `low` where the mask has ones, `high` elsewhere. */
INLINE __m512i choose(int mask, __m512i low, __m512i high) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32(mask), low, high, 0xCA);
}

/* The lowest bytes of four lanes become a lane. */
INLINE __m512i quad_of(__m512i first, __m512i second, __m512i third, __m512i fourth) {
    __m512i low = choose(0xFF, first, _mm512_slli_epi32(second, 8));
    __m512i high = choose(0xFF, third, _mm512_slli_epi32(fourth, 8));
    return choose(0xFFFF, low, _mm512_slli_epi32(high, 16));
}

/* The larger magnitudes, by their bits as well: above infinity is NaN. */
INLINE __m512i larger_magnitudes(__m512i peaks) {
    return _mm512_max_epu32((__m512i)even_of(peaks), (__m512i)odd_of(peaks));
}

INLINE float largest_of(__m512i peaks) {
    uint32_t bits = _mm512_reduce_max_epu32(larger_magnitudes(peaks));
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

/* Bytes around 128, the format of a product's left side. */
INLINE __m256i left_bytes(__m512i pairs, __m512 factor) {
    __m512i even = byte_of(even_of(pairs), factor), odd = byte_of(odd_of(pairs), factor);
    __m256i bytes = _mm512_cvtepi32_epi16(choose(0xFF, even, _mm512_slli_epi32(odd, 8)));
    return _mm256_xor_si256(bytes, _mm256_set1_epi8((char)128));
}

#endif
#endif
