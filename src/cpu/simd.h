/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of the instruction set being compiled for.
 *
 * A file <name>_simd.c is compiled once per instruction set; here are the vector types of its
 * width and the few operations that C's vector arithmetic (+ - * & | ^ << >> and comparisons, which
 * GCC and Clang offer on these types) does not express. Where a kernel gains from an instruction
 * of one set only, it tests TAMIS_AVX512, TAMIS_AVX2, TAMIS_SSE2 or TAMIS_NEON and uses the
 * intrinsic. */
#ifndef TAMIS_CPU_SIMD_H
#define TAMIS_CPU_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512BW__)
#define TAMIS_AVX512 1
#define TV_BYTES     64
#elif defined(__AVX2__)
#define TV_BYTES 32
#else
#define TV_BYTES 16
#endif
#if defined(__AVX2__)
#define TAMIS_AVX2 1
#endif
#if defined(__SSE2__)
#define TAMIS_SSE2 1
#include <immintrin.h>
#if !defined(TAMIS_AVX2)
#include "cpu/simd_fma.h"
#endif
#elif defined(__aarch64__)
#define TAMIS_NEON 1
#include <arm_neon.h>
#endif

/* The TAMIS_CPU_* flag that the kernel rows of this compilation need. */
#if defined(TAMIS_AVX512)
#define TV_CPU TAMIS_CPU_AVX512
#elif defined(TAMIS_AVX2)
#define TV_CPU TAMIS_CPU_AVX2
#else
#define TV_CPU TAMIS_CPU_BASE
#endif

#define TAMIS_INLINE static inline __attribute__((always_inline, unused))

typedef uint8_t tv_u8 __attribute__((vector_size(TV_BYTES)));
typedef int8_t tv_s8 __attribute__((vector_size(TV_BYTES)));
typedef uint16_t tv_u16 __attribute__((vector_size(TV_BYTES)));
typedef int16_t tv_s16 __attribute__((vector_size(TV_BYTES)));
typedef uint32_t tv_u32 __attribute__((vector_size(TV_BYTES)));
typedef int32_t tv_s32 __attribute__((vector_size(TV_BYTES)));
typedef float tv_f32 __attribute__((vector_size(TV_BYTES)));
typedef double tv_f64 __attribute__((vector_size(TV_BYTES)));

/* Unaligned load and store of a whole vector. */
#define TV_LOAD_STORE(T)                                                                           \
    TAMIS_INLINE tv_##T tv_load_##T(const void *p)                                                 \
    {                                                                                              \
        tv_##T v;                                                                                  \
        memcpy(&v, p, sizeof v);                                                                   \
        return v;                                                                                  \
    }                                                                                              \
    TAMIS_INLINE void tv_store_##T(void *p, tv_##T v)                                              \
    {                                                                                              \
        memcpy(p, &v, sizeof v);                                                                   \
    }
TV_LOAD_STORE(u8)
TV_LOAD_STORE(u16)
TV_LOAD_STORE(s16)
TV_LOAD_STORE(u32)
TV_LOAD_STORE(s32)
TV_LOAD_STORE(f32)
TV_LOAD_STORE(f64)
#undef TV_LOAD_STORE

/* Stores only the first n bytes, 0 <= n <= TV_BYTES. */
TAMIS_INLINE void tv_store_first(void *p, tv_u8 v, size_t n)
{
#if defined(TAMIS_AVX512)
    _mm512_mask_storeu_epi8(p, n >= 64 ? ~0ull : (1ull << n) - 1, (__m512i)v);
#else
    uint8_t tmp[TV_BYTES];
    memcpy(tmp, &v, sizeof tmp);
    memcpy(p, tmp, n);
#endif
}

/* Minimum and maximum, lane by lane. On floats they are the hardware's: callers deal with NaN. */
#if defined(TAMIS_AVX512)
#define TV_MINMAX(T, C, F) TV_MINMAX_DEF(T, C, _mm512_min_##F, _mm512_max_##F)
#define TV_INT             __m512i
#define TV_FLT             __m512
#elif defined(TAMIS_AVX2)
#define TV_MINMAX(T, C, F) TV_MINMAX_DEF(T, C, _mm256_min_##F, _mm256_max_##F)
#define TV_INT             __m256i
#define TV_FLT             __m256
#endif
#if defined(TAMIS_AVX2)
#define TV_MINMAX_DEF(T, C, MIN, MAX)                                                              \
    TAMIS_INLINE tv_##T tv_min_##T(tv_##T a, tv_##T b)                                             \
    {                                                                                              \
        return (tv_##T)MIN((C)a, (C)b);                                                            \
    }                                                                                              \
    TAMIS_INLINE tv_##T tv_max_##T(tv_##T a, tv_##T b)                                             \
    {                                                                                              \
        return (tv_##T)MAX((C)a, (C)b);                                                            \
    }
TV_MINMAX(u8, TV_INT, epu8)
TV_MINMAX(u16, TV_INT, epu16)
TV_MINMAX(s16, TV_INT, epi16)
TV_MINMAX(u32, TV_INT, epu32)
TV_MINMAX(s32, TV_INT, epi32)
TV_MINMAX(f32, TV_FLT, ps)
#undef TV_MINMAX_DEF
#undef TV_MINMAX
#undef TV_INT
#undef TV_FLT
#else
/* Masks of a comparison are all ones or all zeros; compilers turn this into min and max where the
 * instruction set has them. */
#define TV_MINMAX_DEF(T, M)                                                                        \
    TAMIS_INLINE tv_##T tv_min_##T(tv_##T a, tv_##T b)                                             \
    {                                                                                              \
        tv_##M m = (tv_##M)(a < b);                                                                \
        return (tv_##T)(((tv_##M)a & m) | ((tv_##M)b & ~m));                                       \
    }                                                                                              \
    TAMIS_INLINE tv_##T tv_max_##T(tv_##T a, tv_##T b)                                             \
    {                                                                                              \
        tv_##M m = (tv_##M)(a > b);                                                                \
        return (tv_##T)(((tv_##M)a & m) | ((tv_##M)b & ~m));                                       \
    }
#if defined(TAMIS_SSE2)
TAMIS_INLINE tv_u8 tv_min_u8(tv_u8 a, tv_u8 b)
{
    return (tv_u8)_mm_min_epu8((__m128i)a, (__m128i)b);
}
TAMIS_INLINE tv_u8 tv_max_u8(tv_u8 a, tv_u8 b)
{
    return (tv_u8)_mm_max_epu8((__m128i)a, (__m128i)b);
}
TAMIS_INLINE tv_s16 tv_min_s16(tv_s16 a, tv_s16 b)
{
    return (tv_s16)_mm_min_epi16((__m128i)a, (__m128i)b);
}
TAMIS_INLINE tv_s16 tv_max_s16(tv_s16 a, tv_s16 b)
{
    return (tv_s16)_mm_max_epi16((__m128i)a, (__m128i)b);
}
/* SSE2 has no unsigned 16-bit minimum, but a saturating subtraction gives one. */
TAMIS_INLINE tv_u16 tv_min_u16(tv_u16 a, tv_u16 b)
{
    return a - (tv_u16)_mm_subs_epu16((__m128i)a, (__m128i)b);
}
TAMIS_INLINE tv_u16 tv_max_u16(tv_u16 a, tv_u16 b)
{
    return b + (tv_u16)_mm_subs_epu16((__m128i)a, (__m128i)b);
}
TAMIS_INLINE tv_f32 tv_min_f32(tv_f32 a, tv_f32 b)
{
    return (tv_f32)_mm_min_ps((__m128)a, (__m128)b);
}
TAMIS_INLINE tv_f32 tv_max_f32(tv_f32 a, tv_f32 b)
{
    return (tv_f32)_mm_max_ps((__m128)a, (__m128)b);
}
#else
TV_MINMAX_DEF(u8, u8)
TV_MINMAX_DEF(u16, u16)
TV_MINMAX_DEF(s16, s16)
TV_MINMAX_DEF(f32, u32)
#endif
TV_MINMAX_DEF(u32, u32)
TV_MINMAX_DEF(s32, s32)
#undef TV_MINMAX_DEF
#endif

/* a * b + c with one rounding, for kernels whose arithmetic is written with it, so that every row
 * gives the same bits. Without TAMIS_HAVE_FMA it costs some 30 instructions. */
#if defined(TAMIS_AVX512)
TAMIS_INLINE tv_f32 tv_fma_f32(tv_f32 a, tv_f32 b, tv_f32 c)
{
    return (tv_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#define TAMIS_HAVE_FMA 1
#elif defined(TAMIS_AVX2)
TAMIS_INLINE tv_f32 tv_fma_f32(tv_f32 a, tv_f32 b, tv_f32 c)
{
    return (tv_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#define TAMIS_HAVE_FMA 1
#elif defined(TAMIS_NEON)
TAMIS_INLINE tv_f32 tv_fma_f32(tv_f32 a, tv_f32 b, tv_f32 c)
{
    return (tv_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
#define TAMIS_HAVE_FMA 1
#else
TAMIS_INLINE tv_f32 tv_fma_f32(tv_f32 a, tv_f32 b, tv_f32 c)
{
    return (tv_f32)tv_fma_quick((__m128)a, (__m128)b, (__m128)c, 0);
}
#endif

/* What may be known of sums; machines without the instruction gain by it. */
#if defined(TAMIS_HAVE_FMA)
enum { TV_SUMS_MATTER = 0 };
#else
enum { TV_SUMS_MATTER = 1 };
#endif
enum tv_sums {
    TV_SUMS_ANY,
    TV_SUMS_NORMAL, /* 0 or at least 2^-126 */
    TV_SUMS_FIT,    /* have 53 bits at most */
    TV_SUMS_ROUGH   /* may be rounded twice: there is a tolerance, or nothing to be rounded */
};

TAMIS_INLINE tv_f32 tv_fma_sum_f32(tv_f32 a, tv_f32 b, tv_f32 c, enum tv_sums sums)
{
#if !defined(TAMIS_HAVE_FMA)
    if (sums == TV_SUMS_ROUGH)
        return a * b + c;
    if (sums == TV_SUMS_FIT)
        return (tv_f32)tv_narrow_fma(tv_sum_fma((__m128)a, (__m128)b, (__m128)c));
    if (sums == TV_SUMS_NORMAL)
        return (tv_f32)tv_fma_quick((__m128)a, (__m128)b, (__m128)c, 1);
#else
    (void)sums;
#endif
    return tv_fma_f32(a, b, c);
}

/* The same by one factor for all lanes. One of few bits makes sums fall in the middle between two
 * floats so often that machines without the instruction take another way. */
TAMIS_INLINE tv_f32 tv_fma_by_f32(float a, tv_f32 b, tv_f32 c, enum tv_sums sums)
{
    tv_f32 all = a - (tv_f32){0};
#if !defined(TAMIS_HAVE_FMA)
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    if (sums == TV_SUMS_ANY && (bits & 0x7fffffff) == 0x3f800000) /* 1 or -1 */
        return all * b + c;
    if (sums == TV_SUMS_ANY && (bits & 0xffff) == 0)
        return (tv_f32)tv_fma_steady((__m128)all, (__m128)b, (__m128)c);
#endif
    return tv_fma_sum_f32(all, b, c, sums);
}

/* Half and quarter vectors, for widening. */
typedef uint8_t tv_u8q __attribute__((vector_size(TV_BYTES / 4)));
typedef uint8_t tv_u8h __attribute__((vector_size(TV_BYTES / 2)));
typedef uint16_t tv_u16h __attribute__((vector_size(TV_BYTES / 2)));
typedef int16_t tv_s16h __attribute__((vector_size(TV_BYTES / 2)));
typedef float tv_f32h __attribute__((vector_size(TV_BYTES / 2)));

/* TV_BYTES / 2 bytes as 16-bit lanes. */
TAMIS_INLINE tv_s16 tv_load_widen_u8(const void *p)
{
    tv_u8h h;
    memcpy(&h, p, sizeof h);
#if defined(TAMIS_AVX512)
    return (tv_s16)_mm512_cvtepu8_epi16((__m256i)h);
#elif defined(TAMIS_AVX2)
    return (tv_s16)_mm256_cvtepu8_epi16((__m128i)h);
#else
    return __builtin_convertvector(h, tv_s16);
#endif
}

/* TV_BYTES / 4 bytes as 32-bit lanes. */
TAMIS_INLINE tv_s32 tv_load_widen_u8_s32(const void *p)
{
    tv_u8q q;
    memcpy(&q, p, sizeof q);
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_cvtepu8_epi32((__m128i)q);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
#elif defined(TAMIS_SSE2)
    __m128i bytes = _mm_cvtsi32_si128(
                (int)(q[0] | (uint32_t)q[1] << 8 | (uint32_t)q[2] << 16 | (uint32_t)q[3] << 24)),
            zero = _mm_setzero_si128();
    return (tv_s32)_mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero);
#else
    return __builtin_convertvector(q, tv_s32);
#endif
}

/* TV_BYTES / 2 bytes of 16-bit samples as 32-bit lanes. */
TAMIS_INLINE tv_s32 tv_load_widen_u16(const void *p)
{
    tv_u16h h;
    memcpy(&h, p, sizeof h);
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_cvtepu16_epi32((__m256i)h);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_cvtepu16_epi32((__m128i)h);
#else
    return __builtin_convertvector(h, tv_s32);
#endif
}
TAMIS_INLINE tv_s32 tv_load_widen_s16(const void *p)
{
    tv_s16h h;
    memcpy(&h, p, sizeof h);
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_cvtepi16_epi32((__m256i)h);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_cvtepi16_epi32((__m128i)h);
#else
    return __builtin_convertvector(h, tv_s32);
#endif
}

/* acc + a[2i] * b[2i] + a[2i+1] * b[2i+1] in each 32-bit lane i. */
TAMIS_INLINE tv_s32 tv_dot_s16(tv_s32 acc, tv_s16 a, tv_s16 b)
{
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_dpwssd_epi32((__m512i)acc, (__m512i)a, (__m512i)b);
#elif defined(TAMIS_AVX2)
    return acc + (tv_s32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(TAMIS_SSE2)
    return acc + (tv_s32)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    tv_s32 low_a = (tv_s32)a << 16 >> 16, low_b = (tv_s32)b << 16 >> 16;
    return acc + low_a * low_b + ((tv_s32)a >> 16) * ((tv_s32)b >> 16);
#endif
}

/* Lanes of a and b side by side, a first: low gets those of the first half of each 128-bit part,
 * high those of the second. tv_pack_s32() puts what was so spread back in order. */
TAMIS_INLINE void tv_interleave_s16(tv_s16 a, tv_s16 b, tv_s16 *low, tv_s16 *high)
{
#if defined(TAMIS_AVX512)
    *low = (tv_s16)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b);
    *high = (tv_s16)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b);
#elif defined(TAMIS_AVX2)
    *low = (tv_s16)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b);
    *high = (tv_s16)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b);
#elif defined(TAMIS_SSE2)
    *low = (tv_s16)_mm_unpacklo_epi16((__m128i)a, (__m128i)b);
    *high = (tv_s16)_mm_unpackhi_epi16((__m128i)a, (__m128i)b);
#elif defined(TAMIS_NEON)
    *low = (tv_s16)vzip1q_s16((int16x8_t)a, (int16x8_t)b);
    *high = (tv_s16)vzip2q_s16((int16x8_t)a, (int16x8_t)b);
#endif
}

/* 32-bit lanes to 16, saturating; the inverse of the order that tv_interleave_s16() makes. */
TAMIS_INLINE tv_s16 tv_pack_s32(tv_s32 low, tv_s32 high)
{
#if defined(TAMIS_AVX512)
    return (tv_s16)_mm512_packs_epi32((__m512i)low, (__m512i)high);
#elif defined(TAMIS_AVX2)
    return (tv_s16)_mm256_packs_epi32((__m256i)low, (__m256i)high);
#elif defined(TAMIS_SSE2)
    return (tv_s16)_mm_packs_epi32((__m128i)low, (__m128i)high);
#elif defined(TAMIS_NEON)
    return (tv_s16)vcombine_s16(vqmovn_s32((int32x4_t)low), vqmovn_s32((int32x4_t)high));
#endif
}

/* 16-bit lanes with values 0 .. 255 to bytes in order: those of a, then those of b. */
TAMIS_INLINE tv_u8 tv_narrow_u16(tv_u16 a, tv_u16 b)
{
#if defined(TAMIS_AVX512)
    __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return (tv_u8)_mm512_permutexvar_epi64(order, _mm512_packus_epi16((__m512i)a, (__m512i)b));
#elif defined(TAMIS_AVX2)
    return (tv_u8)_mm256_permute4x64_epi64(_mm256_packus_epi16((__m256i)a, (__m256i)b), 0xd8);
#elif defined(TAMIS_SSE2)
    return (tv_u8)_mm_packus_epi16((__m128i)a, (__m128i)b);
#elif defined(TAMIS_NEON)
    return (tv_u8)vcombine_u8(vmovn_u16((uint16x8_t)a), vmovn_u16((uint16x8_t)b));
#endif
}

/* 32-bit lanes with values 0 .. 65535 to 16-bit lanes in order: those of a, then those of b.
 * Signed values come out as their low 16 bits. */
TAMIS_INLINE tv_u16 tv_narrow_s32(tv_s32 a, tv_s32 b)
{
#if defined(TAMIS_AVX512)
    __m512i v = _mm512_castsi256_si512(_mm512_cvtepi32_epi16((__m512i)a));
    return (tv_u16)_mm512_inserti64x4(v, _mm512_cvtepi32_epi16((__m512i)b), 1);
#elif defined(TAMIS_AVX2)
    __m256i mask = _mm256_set1_epi32(0xffff);
    __m256i v =
        _mm256_packus_epi32(_mm256_and_si256((__m256i)a, mask), _mm256_and_si256((__m256i)b, mask));
    return (tv_u16)_mm256_permute4x64_epi64(v, 0xd8);
#elif defined(TAMIS_SSE2)
    /* Sign-extending the low halves makes the signed pack keep them. */
    return (tv_u16)_mm_packs_epi32(_mm_srai_epi32(_mm_slli_epi32((__m128i)a, 16), 16),
                                   _mm_srai_epi32(_mm_slli_epi32((__m128i)b, 16), 16));
#elif defined(TAMIS_NEON)
    return (tv_u16)vcombine_u16(vmovn_u32((uint32x4_t)a), vmovn_u32((uint32x4_t)b));
#endif
}

/* To the nearest integer, ties to even; values must fit. */
TAMIS_INLINE tv_s32 tv_round_f32(tv_f32 v)
{
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_cvtps_epi32((__m512)v);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_cvtps_epi32((__m256)v);
#elif defined(TAMIS_SSE2)
    return (tv_s32)_mm_cvtps_epi32((__m128)v);
#elif defined(TAMIS_NEON)
    return (tv_s32)vcvtnq_s32_f32((float32x4_t)v);
#endif
}

#endif
