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
#elif defined(__aarch64__)
#define TAMIS_NEON 1
#include <arm_neon.h>
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

/* a * b + c with one rounding where the instruction set has it; only for kernels whose arithmetic
 * is written with it, so that every row gives the same bits. */
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
#endif

#endif
