/* SPDX-License-Identifier: Apache-2.0 */
/* Float arithmetic on rows of any sample type: reading samples as floats, writing floats as
 * samples, and powers of two. For kernels whose arithmetic serves all types. */
#ifndef TAMIS_CPU_SIMD_F32_H
#define TAMIS_CPU_SIMD_F32_H

#include <tamis/image.h>

#include "cpu/simd.h"

/* Floats in a vector, and as many samples of other types. */
enum { TV_FLOATS = TV_BYTES / 4 };
typedef uint8_t tv_u8q __attribute__((vector_size(TV_FLOATS)));

TAMIS_INLINE tv_f32 tv_splat_f32(float v)
{
    return v - (tv_f32){0};
}

/* a * b + c, rounded once or twice as suits the machine. */
TAMIS_INLINE tv_f32 tv_muladd_f32(tv_f32 a, tv_f32 b, tv_f32 c)
{
#if defined(TAMIS_HAVE_FMA)
    return tv_fma_f32(a, b, c);
#else
    return a * b + c;
#endif
}

/* The exponent of the last 1 in a factor, 0 at most. */
TAMIS_INLINE int tv_last_bit(float factor)
{
    uint32_t bits;
    memcpy(&bits, &factor, sizeof bits);
    int exponent = (int)(bits >> 23 & 255);
    uint32_t significand = (bits & 0x7fffff) | (exponent ? 1u << 23 : 0);
    int last = significand ? (exponent ? exponent : 1) - 150 + __builtin_ctz(significand) : 0;
    return last < 0 ? last : 0;
}

/* What is known of sums of levels times factors with this last bit, as long as they stay within
 * the range of 16 bits times most. */
TAMIS_INLINE enum tv_sums tv_sums_of(tamis_type type, int last_bit, float most)
{
    int fit = last_bit > -64 && most < (float)(1ull << 37) / (float)(1ull << -last_bit);
    return TV_SUMS_MATTER && type != TAMIS_F32 && fit ? TV_SUMS_FIT : TV_SUMS_ANY;
}

/* A vector of samples from index i on, as floats. */
TAMIS_INLINE tv_f32 tv_widen_f32(tamis_type type, const void *row, ptrdiff_t i)
{
    switch (type) {
    case TAMIS_U8:
        return __builtin_convertvector(tv_load_widen_u8_s32((const uint8_t *)row + i), tv_f32);
    case TAMIS_U16:
        return __builtin_convertvector(tv_load_widen_u16((const uint16_t *)row + i), tv_f32);
    case TAMIS_S16:
        return __builtin_convertvector(tv_load_widen_s16((const int16_t *)row + i), tv_f32);
    default:
        return tv_load_f32((const float *)row + i);
    }
}

/* Samples moved by delta. Integers move by whole levels, to nearest: rounding the small delta
 * instead of the sum keeps its precision for 16-bit samples. */
TAMIS_INLINE tv_f32 tv_move_f32(tamis_type type, tv_f32 sample, tv_f32 delta)
{
    const float round = 12582912; /* 1.5 * 2^23: adding it rounds, ties to even */
    if (type != TAMIS_F32)
        delta = (delta + round) - round;
    return sample + delta;
}

/* Whole numbers, saturated. */
TAMIS_INLINE tv_s32 tv_saturate_f32(tv_f32 v, float lo, float hi)
{
    v = tv_min_f32(tv_max_f32(v, tv_splat_f32(lo)), tv_splat_f32(hi));
    return __builtin_convertvector(v, tv_s32);
}

/* Stores the first count samples, which may exceed the vector, from index i on. Values for integer
 * types must be whole; they are saturated. */
TAMIS_INLINE void tv_store_samples(tamis_type type, void *row, ptrdiff_t i, ptrdiff_t count,
                                   tv_f32 v)
{
    union {
        tv_f32 f32;
        tv_u16h u16;
        tv_s16h s16;
        tv_u8q u8;
    } out;
    size_t size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
    switch (type) {
    case TAMIS_U8:
        out.u8 = __builtin_convertvector(tv_saturate_f32(v, 0, 255), tv_u8q);
        break;
    case TAMIS_U16:
        out.u16 = __builtin_convertvector(tv_saturate_f32(v, 0, 65535), tv_u16h);
        break;
    case TAMIS_S16:
        out.s16 = __builtin_convertvector(tv_saturate_f32(v, -32768, 32767), tv_s16h);
        break;
    default:
        out.f32 = v;
    }
    if (count >= TV_FLOATS)
        memcpy((char *)row + (size_t)i * size, &out, TV_FLOATS * size);
    else if (count > 0)
        memcpy((char *)row + (size_t)i * size, &out, (size_t)count * size);
}

/* Exponents come in units of 1 / TV_EXP2_UNIT. The polynomials are those of least relative error,
 * 7.5e-5 (coarse) and 2.7e-6 (fine). */
#if defined(TAMIS_AVX512)
#define TV_EXP2_UNIT 1
/* 2^f for 0 <= f < 1. */
static const float tv_exp2_coarse[] = {0.999925219f, 0.69583354f, 0.226067155f, 0.0780245226f};
static const float tv_exp2_fine[] = {1.00000259f, 0.693003834f, 0.241442757f, 0.0520114606f,
                                     0.0135341679f};
#else
#define TV_EXP2_UNIT (1 << 23)
/* 2^(m-1) for 1 <= m < 2. */
static const float tv_exp2_coarse[] = {0.452134311f, 0.477772798f, -0.00800641249f, 0.0780245226f};
static const float tv_exp2_fine[] = {0.509964223f, 0.312016031f, 0.166613383f, -0.00212521105f,
                                     0.0135341679f};
#endif

TAMIS_INLINE tv_f32 tv_exp2_polynomial(tv_f32 x, int fine)
{
    const float *c = fine ? tv_exp2_fine : tv_exp2_coarse;
    const int degree = fine ? 4 : 3;
    tv_f32 v = tv_splat_f32(c[degree]);
    for (int i = degree - 1; i >= 0; i--)
        v = tv_muladd_f32(v, x, tv_splat_f32(c[i]));
    return v;
}

/* 0 in lanes below 0. */
TAMIS_INLINE tv_s32 tv_positive_s32(tv_s32 v)
{
#if defined(TAMIS_AVX2)
    return tv_max_s32(v, (tv_s32){0});
#else
    return v & ~(v >> 31);
#endif
}

/* 2^(t / TV_EXP2_UNIT) for t <= 0. 0 for t = -infinity, and perhaps for all powers below 2^-64,
 * which count for nothing beside 1; what it is for NaN depends on the machine. */
TAMIS_INLINE tv_f32 tv_exp2_f32(tv_f32 t, int fine)
{
#if defined(TAMIS_AVX512)
    tv_f32 f = (tv_f32)_mm512_reduce_ps((__m512)t, _MM_FROUND_TO_NEG_INF);
    /* Subnormal powers, and products of others near them, cost a hundred times as much as numbers.
     */
    __mmask16 counts = _mm512_cmp_ps_mask((__m512)t, _mm512_set1_ps(-64), _CMP_GE_OQ);
    return (tv_f32)_mm512_maskz_scalef_ps(counts, (__m512)tv_exp2_polynomial(f, fine), (__m512)t);
#else
    /* As an integer t is the exponent and the mantissa of a float, but for the mantissa's being
     * linear: the polynomial bends it. What is too small for a float comes out below 0, also where
     * t is no integer of 32 bits, for which there is -2^31. */
    tv_s32 i = tv_round_f32(t);
    tv_f32 m = (tv_f32)((i & 0x7fffff) | 0x3f800000);
    tv_s32 v = (tv_s32)tv_exp2_polynomial(m, fine) + (i & ~0x7fffff);
    return (tv_f32)tv_positive_s32(v);
#endif
}

#endif
