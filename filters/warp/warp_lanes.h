/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in vectors: bytes in fixed point, and the channels of one pixel in four lanes. */
#ifndef TAMIS_WARP_LANES_H
#define TAMIS_WARP_LANES_H

#include "warp_simd.h"

/* ---- bytes */

/* Bytes 2 n and 2 n + 1 of each lane as its halves. */
TAMIS_INLINE tv_s16 warp_two_bytes(tv_u32 v, int n)
{
#if defined(TAMIS_AVX2)
    char a = (char)(2 * n), b = (char)(2 * n + 1);
    __m128i order = _mm_setr_epi8(a, -1, b, -1, (char)(a + 4), -1, (char)(b + 4), -1, (char)(a + 8),
                                  -1, (char)(b + 8), -1, (char)(a + 12), -1, (char)(b + 12), -1);
#endif
#if defined(TAMIS_AVX512)
    return (tv_s16)_mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(order));
#elif defined(TAMIS_AVX2)
    return (tv_s16)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(order));
#else
    v = n ? v >> 16 : v;
    return (tv_s16)((v & 0xff) | (v << 8 & 0xff0000));
#endif
}

/* Lanes of 0 .. 255 to bytes. */
TAMIS_INLINE void warp_store_bytes(void *out, tv_s32 v)
{
#if defined(TAMIS_AVX512)
    _mm_storeu_si128(out, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined(TAMIS_AVX2)
    __m128i h = _mm_packus_epi32(_mm256_castsi256_si128((__m256i)v),
                                 _mm256_extracti128_si256((__m256i)v, 1));
    _mm_storel_epi64(out, _mm_packus_epi16(h, h));
#else
    for (int l = 0; l < LANES; l++)
        ((uint8_t *)out)[l] = (uint8_t)v[l];
#endif
}

enum { PIXELS = TV_BYTES / 16 };

#if defined(TAMIS_SSE2)
/* The bytes from n on; n is one of those that windows have. */
TAMIS_INLINE __m128i warp_behind(__m128i v, int n)
{
    switch (n) {
    case 2:
        return _mm_srli_si128(v, 2);
    case 3:
        return _mm_srli_si128(v, 3);
    case 4:
        return _mm_srli_si128(v, 4);
    case 6:
        return _mm_srli_si128(v, 6);
    case 8:
        return _mm_srli_si128(v, 8);
    default:
        return v;
    }
}
#endif

/* Bytes first + c and first + c + step of each 128 bits as the halves of their lane c. first and
 * step are constants. */
TAMIS_INLINE tv_s16 warp_pairs(tv_u8 v, int step, int first)
{
#if defined(TAMIS_AVX2)
    char o = (char)first, s = (char)step, third = (char)(step > 2 ? o + 2 : -1),
         third_right = (char)(step > 2 ? o + 2 + s : -1), last = (char)(step > 3 ? o + 3 : -1),
         last_right = (char)(step > 3 ? o + 3 + s : -1);
    __m128i order = _mm_setr_epi8(o, -1, (char)(o + s), -1, (char)(o + 1), -1, (char)(o + 1 + s),
                                  -1, third, -1, third_right, -1, last, -1, last_right, -1);
#endif
#if defined(TAMIS_AVX512)
    return (tv_s16)_mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(order));
#elif defined(TAMIS_AVX2)
    return (tv_s16)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(order));
#elif defined(TAMIS_SSE2)
    __m128i left = warp_behind((__m128i)v, first), right = warp_behind(left, step);
    return (tv_s16)_mm_unpacklo_epi8(_mm_unpacklo_epi8(left, right), _mm_setzero_si128());
#else
    tv_s16 w = {0};
    for (int c = 0; c < step; c++) {
        w[2 * c] = v[first + c];
        w[2 * c + 1] = v[first + c + step];
    }
    return w;
#endif
}

/* Weights of one pixel after the other, in all lanes of its 128 bits. */
TAMIS_INLINE tv_s16 warp_spread(const uint32_t *weights)
{
#if defined(TAMIS_AVX512)
    const __m512i order = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    __m128i four = _mm_loadu_si128((const __m128i *)(const void *)weights);
    return (tv_s16)_mm512_permutexvar_epi32(order, _mm512_castsi128_si512(four));
#elif defined(TAMIS_AVX2)
    const __m256i order = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    __m128i two = _mm_loadl_epi64((const __m128i *)(const void *)weights);
    return (tv_s16)_mm256_permutevar8x32_epi32(_mm256_castsi128_si256(two), order);
#else
    return (tv_s16)((tv_u32){0} + weights[0]);
#endif
}

/* The first step lanes of each 128 bits as bytes side by side; writes 16 bytes at most. */
TAMIS_INLINE void warp_store_pixels(char *out, tv_s32 v, int step)
{
#if defined(TAMIS_AVX2)
    const __m128i three = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m128i two = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
#if defined(TAMIS_AVX512)
    __m128i b = _mm512_cvtepi32_epi8((__m512i)v);
#else
    __m128i b = _mm_packus_epi32(_mm256_castsi256_si128((__m256i)v),
                                 _mm256_extracti128_si256((__m256i)v, 1));
    b = _mm_packus_epi16(b, b);
#endif
    b = step == 2 ? _mm_shuffle_epi8(b, two) : step == 3 ? _mm_shuffle_epi8(b, three) : b;
    _mm_storeu_si128((__m128i *)(void *)out, b);
#else
    for (int c = 0; c < step; c++)
        out[c] = (char)(uint8_t)v[c];
#endif
}

/* ---- one pixel, a lane per channel */

typedef uint8_t w_u8 __attribute__((vector_size(4)));
typedef uint16_t w_u16 __attribute__((vector_size(8)));
typedef int16_t w_s16 __attribute__((vector_size(8)));

TAMIS_INLINE w_s32 warp_load_s32(const char *p, tamis_type type)
{
#if defined(TAMIS_SSE2)
    if (type == TAMIS_U8) {
        int32_t four;
        memcpy(&four, p, sizeof four);
        __m128i v = _mm_cvtsi32_si128(four);
#if defined(TAMIS_AVX2)
        return (w_s32)_mm_cvtepu8_epi32(v);
#else
        v = _mm_unpacklo_epi8(v, _mm_setzero_si128());
        return (w_s32)_mm_unpacklo_epi16(v, _mm_setzero_si128());
#endif
    }
#endif
#if defined(TAMIS_AVX2)
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return (w_s32)(type == TAMIS_U16 ? _mm_cvtepu16_epi32(v) : _mm_cvtepi16_epi32(v));
#elif defined(TAMIS_SSE2)
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return (w_s32)(type == TAMIS_U16 ? _mm_unpacklo_epi16(v, _mm_setzero_si128())
                                     : _mm_srai_epi32(_mm_unpacklo_epi16(v, v), 16));
#else
    if (type == TAMIS_U8) {
        w_u8 v;
        memcpy(&v, p, sizeof v);
        return __builtin_convertvector(v, w_s32);
    }
    if (type == TAMIS_U16) {
        w_u16 v;
        memcpy(&v, p, sizeof v);
        return __builtin_convertvector(v, w_s32);
    }
    w_s16 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, w_s32);
#endif
}

TAMIS_INLINE w_f32 warp_load_f32(const char *p, tamis_type type)
{
    if (type != TAMIS_F32)
        return __builtin_convertvector(warp_load_s32(p, type), w_f32);
    w_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

TAMIS_INLINE w_s32 warp_round_f32(w_f32 v)
{
#if defined(TAMIS_SSE2)
    return (w_s32)_mm_cvtps_epi32((__m128)v);
#elif defined(TAMIS_NEON)
    return (w_s32)vcvtnq_s32_f32((float32x4_t)v);
#endif
}

/* Writes all four lanes; the next pixel overwrites those that are too many. */
TAMIS_INLINE void warp_store_lanes(void *out, w_s32 v, tamis_type type)
{
    if (type == TAMIS_U8) {
        w_u8 narrow = __builtin_convertvector(v, w_u8);
        memcpy(out, &narrow, sizeof narrow);
        return;
    }
#if defined(TAMIS_AVX2)
    __m128i narrow = type == TAMIS_U16 ? _mm_packus_epi32((__m128i)v, (__m128i)v)
                                       : _mm_packs_epi32((__m128i)v, (__m128i)v);
    _mm_storel_epi64((__m128i *)out, narrow);
#else
    w_u16 narrow = __builtin_convertvector(v, w_u16);
    memcpy(out, &narrow, sizeof narrow);
#endif
}

#endif
