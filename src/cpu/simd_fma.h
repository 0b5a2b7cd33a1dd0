/* SPDX-License-Identifier: Apache-2.0 */
/* Fused multiply-add of binary32 on machines that have none (plain x86-64), to the last bit.
 *
 * In binary64 the product of two binary32 is exact and the sum is rounded once; making it binary32
 * rounds again. That is the right result unless the first rounding lands in the middle between two
 * neighbors in binary32, since rounding carries nothing across a middle. So sums in the middle, and
 * the few where middles lie elsewhere because the result is subnormal, are made again, rounded "to
 * odd" at first: that is never a middle, unless it is exact (Boldo and Melquiond 2008). */
#ifndef TAMIS_CPU_SIMD_FMA_H
#define TAMIS_CPU_SIMD_FMA_H

#include <emmintrin.h>
#include <stdint.h>

/* Lanes 0, 1 and 2, 3 in binary64. */
struct tv_wide {
    __m128d low, high;
};

static inline __attribute__((always_inline)) struct tv_wide tv_widen_fma(__m128 v)
{
    return (struct tv_wide){_mm_cvtps_pd(v), _mm_cvtps_pd(_mm_movehl_ps(v, v))};
}

static inline __attribute__((always_inline)) __m128 tv_narrow_fma(struct tv_wide v)
{
    return _mm_movelh_ps(_mm_cvtpd_ps(v.low), _mm_cvtpd_ps(v.high));
}

/* p + c: where it is inexact, the neighbor whose last bit is 1. */
static inline __attribute__((always_inline)) __m128d tv_sum_to_odd(__m128d p, __m128d c)
{
    __m128d s = p + c, part = s - p, sign = _mm_set1_pd(-0.0);
    __m128d error = (p - (s - part)) + (c - part); /* exact, or NaN where s is not finite */
    __m128d inexact = _mm_cmplt_pd(_mm_setzero_pd(), _mm_andnot_pd(sign, error));
    /* Toward zero, which is a step down where the error has the other sign; then 1 is set. */
    __m128d beyond = _mm_and_pd(_mm_xor_pd(s, error), inexact);
    __m128i bits = _mm_sub_epi64(_mm_castpd_si128(s), _mm_srli_epi64(_mm_castpd_si128(beyond), 63));
    return _mm_castsi128_pd(_mm_or_si128(bits, _mm_srli_epi64(_mm_castpd_si128(inexact), 63)));
}

/* Never slower. */
static inline __attribute__((always_inline)) __m128 tv_fma_steady(__m128 a, __m128 b, __m128 c)
{
    struct tv_wide wa = tv_widen_fma(a), wb = tv_widen_fma(b), wc = tv_widen_fma(c);
    return tv_narrow_fma((struct tv_wide){tv_sum_to_odd(wa.low * wb.low, wc.low),
                                          tv_sum_to_odd(wa.high * wb.high, wc.high)});
}

static __attribute__((noinline, cold, unused)) __m128 tv_fma_rare(__m128 a, __m128 b, __m128 c)
{
    return tv_fma_steady(a, b, c);
}

/* Rounded twice. */
static inline __attribute__((always_inline)) struct tv_wide tv_sum_fma(__m128 a, __m128 b, __m128 c)
{
    struct tv_wide wa = tv_widen_fma(a), wb = tv_widen_fma(b), wc = tv_widen_fma(c);
    return (struct tv_wide){wa.low * wb.low + wc.low, wa.high * wb.high + wc.high};
}

/* Faster where sums are seldom in the middle; with normal, for results of 0 or from 2^-126 on. */
static inline __attribute__((always_inline)) __m128 tv_fma_quick(__m128 a, __m128 b, __m128 c,
                                                                 int normal)
{
    struct tv_wide sum = tv_sum_fma(a, b, c);
    __m128 low = _mm_castpd_ps(sum.low), high = _mm_castpd_ps(sum.high);
    /* In the middle: of the 29 bits that binary32 drops, the first alone is 1. */
    __m128i dropped = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
    __m128i doubt = _mm_cmpeq_epi32(_mm_slli_epi32(dropped, 3), _mm_set1_epi32(INT32_MIN));
    if (!normal) {
        /* From 2^-150 to 2^-126; exponents are in the upper half, compared without the sign. */
        __m128i upper = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));
        upper = _mm_sub_epi32(_mm_slli_epi32(upper, 1), _mm_set1_epi32(0x6d200000 + INT32_MIN));
        __m128i few = _mm_cmplt_epi32(upper, _mm_set1_epi32(INT32_MIN + 0x3000000));
        doubt = _mm_or_si128(doubt, few);
    }
    if (__builtin_expect(_mm_movemask_epi8(doubt) != 0, 0))
        return tv_fma_rare(a, b, c);
    return tv_narrow_fma(sum);
}

#endif
