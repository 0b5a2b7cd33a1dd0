/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of unsigned 16-bit integers: what C's operators do not express. */
#ifndef TAMIS_NLMEANS_WORDS_H
#define TAMIS_NLMEANS_WORDS_H

#include "nlmeans_simd.h"

enum { NLMEANS_LANES = TV_BYTES / 2 };

TAMIS_INLINE tv_u16 words_all(uint16_t v)
{
    return v - (tv_u16){0};
}

TAMIS_INLINE tv_u16 words_add_saturated(tv_u16 a, tv_u16 b)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_adds_epu16((__m512i)a, (__m512i)b);
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_adds_epu16((__m256i)a, (__m256i)b);
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_adds_epu16((__m128i)a, (__m128i)b);
#elif defined(TAMIS_NEON)
    return (tv_u16)vqaddq_u16((uint16x8_t)a, (uint16x8_t)b);
#endif
}

TAMIS_INLINE tv_u16 words_subtract_saturated(tv_u16 a, tv_u16 b)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_subs_epu16((__m512i)a, (__m512i)b);
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_subs_epu16((__m256i)a, (__m256i)b);
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_subs_epu16((__m128i)a, (__m128i)b);
#elif defined(TAMIS_NEON)
    return (tv_u16)vqsubq_u16((uint16x8_t)a, (uint16x8_t)b);
#endif
}

/* The upper half of each product. */
TAMIS_INLINE tv_u16 words_multiply_high(tv_u16 a, tv_u16 b)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_mulhi_epu16((__m512i)a, (__m512i)b);
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
#elif defined(TAMIS_NEON)
    uint16x8_t x = (uint16x8_t)a, y = (uint16x8_t)b;
    uint32x4_t low = vmull_u16(vget_low_u16(x), vget_low_u16(y));
    uint32x4_t high = vmull_high_u16(x, y);
    return (tv_u16)vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
#endif
}

/* By one count for all lanes, in a register that does not have to be made anew. */
TAMIS_INLINE tv_u16 words_shift_right(tv_u16 v, int count)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_srl_epi16((__m512i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_srl_epi16((__m256i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_srl_epi16((__m128i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_NEON)
    return (tv_u16)vshlq_u16((uint16x8_t)v, vdupq_n_s16((int16_t)-count));
#endif
}

TAMIS_INLINE tv_u16 words_shift_left(tv_u16 v, int count)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_sll_epi16((__m512i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_sll_epi16((__m256i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_sll_epi16((__m128i)v, _mm_cvtsi32_si128(count));
#elif defined(TAMIS_NEON)
    return (tv_u16)vshlq_u16((uint16x8_t)v, vdupq_n_s16((int16_t)count));
#endif
}

/* Where lane l of the runs is in a vector: so that interleaving to 32 bits brings lanes in order.
 */
TAMIS_INLINE int words_place(int l)
{
    const int half = NLMEANS_LANES / 2;
    return l < half ? l / 4 * 8 + l % 4 : (l - half) / 4 * 8 + 4 + l % 4;
}

/* Moves the value of each lane but the first to the lane before. */
TAMIS_INLINE tv_u16 words_next_lane(tv_u16 v)
{
#if defined(TAMIS_AVX512)
    return __builtin_shufflevector(v, v, 1, 2, 3, 8, 5, 6, 7, 12, 9, 10, 11, 16, 13, 14, 15, 20, 17,
                                   18, 19, 24, 21, 22, 23, 28, 25, 26, 27, 4, 29, 30, 31, 31);
#elif defined(TAMIS_AVX2)
    return __builtin_shufflevector(v, v, 1, 2, 3, 8, 5, 6, 7, 12, 9, 10, 11, 4, 13, 14, 15, 15);
#else
    return __builtin_shufflevector(v, v, 1, 2, 3, 4, 5, 6, 7, 7);
#endif
}

#endif
