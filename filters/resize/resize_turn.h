/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing across for the vector kernels. The column sums of as many rows as a vector has lanes are
 * transposed, a piece of the row at a time, so that a vector (a column) holds one sample of each
 * row. Then any window is a few whole vectors, wherever it begins and however long it is, and all
 * lanes share its weights. The results are transposed back, packed first where they are small.
 * To be included where kernels are compiled. */
#ifndef TAMIS_RESIZE_TURN_H
#define TAMIS_RESIZE_TURN_H

#include "cpu/simd.h"
#include "resize_kernel.h"

/* Rows that are resized together, and pixels between two stores: whole vectors of any sample. */
enum { LANES = TV_BYTES / 4, GROUP = TV_BYTES };

/* ---- transposing */

/* Lanes side by side in each 128-bit part, that of a first: those of the part's first half or of
 * its second, one by one (_32) or by twos (_64). */
#if defined(TAMIS_AVX512)
#define UNPACK(NAME, OP)                                                                           \
    TAMIS_INLINE tv_u32 NAME(tv_u32 a, tv_u32 b)                                                   \
    {                                                                                              \
        return (tv_u32)_mm512_##OP((__m512i)a, (__m512i)b);                                        \
    }
#elif defined(TAMIS_AVX2)
#define UNPACK(NAME, OP)                                                                           \
    TAMIS_INLINE tv_u32 NAME(tv_u32 a, tv_u32 b)                                                   \
    {                                                                                              \
        return (tv_u32)_mm256_##OP((__m256i)a, (__m256i)b);                                        \
    }
#endif
#if defined(TAMIS_AVX2)
UNPACK(low_32, unpacklo_epi32)
UNPACK(high_32, unpackhi_epi32)
UNPACK(low_64, unpacklo_epi64)
UNPACK(high_64, unpackhi_epi64)
#undef UNPACK
#else
TAMIS_INLINE tv_u32 low_32(tv_u32 a, tv_u32 b)
{
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
TAMIS_INLINE tv_u32 high_32(tv_u32 a, tv_u32 b)
{
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
TAMIS_INLINE tv_u32 low_64(tv_u32 a, tv_u32 b)
{
    return __builtin_shufflevector(a, b, 0, 1, 4, 5);
}
TAMIS_INLINE tv_u32 high_64(tv_u32 a, tv_u32 b)
{
    return __builtin_shufflevector(a, b, 2, 3, 6, 7);
}
#endif

/* Of columns c, c + 4, ... of four rows in part after part each, q[i] from rows 4i .. 4i+3, makes
 * one column of all rows in each vector. */
TAMIS_INLINE void turn_parts(const tv_u32 *q, tv_u32 *out)
{
#if defined(TAMIS_AVX512)
    __m512i a = _mm512_shuffle_i32x4((__m512i)q[0], (__m512i)q[1], 0x88);
    __m512i b = _mm512_shuffle_i32x4((__m512i)q[0], (__m512i)q[1], 0xdd);
    __m512i c = _mm512_shuffle_i32x4((__m512i)q[2], (__m512i)q[3], 0x88);
    __m512i d = _mm512_shuffle_i32x4((__m512i)q[2], (__m512i)q[3], 0xdd);
    out[0] = (tv_u32)_mm512_shuffle_i32x4(a, c, 0x88);
    out[4] = (tv_u32)_mm512_shuffle_i32x4(b, d, 0x88);
    out[8] = (tv_u32)_mm512_shuffle_i32x4(a, c, 0xdd);
    out[12] = (tv_u32)_mm512_shuffle_i32x4(b, d, 0xdd);
#elif defined(TAMIS_AVX2)
    out[0] = (tv_u32)_mm256_permute2x128_si256((__m256i)q[0], (__m256i)q[1], 0x20);
    out[4] = (tv_u32)_mm256_permute2x128_si256((__m256i)q[0], (__m256i)q[1], 0x31);
#else
    out[0] = q[0];
#endif
}

/* v[i][k] becomes v[k][i]. */
TAMIS_INLINE void turn(tv_u32 v[LANES])
{
    tv_u32 q[4][LANES / 4];
    for (int i = 0; i < LANES / 4; i++) {
        const tv_u32 *r = v + 4 * i;
        tv_u32 a = low_32(r[0], r[1]), b = high_32(r[0], r[1]);
        tv_u32 c = low_32(r[2], r[3]), d = high_32(r[2], r[3]);
        q[0][i] = low_64(a, c);
        q[1][i] = high_64(a, c);
        q[2][i] = low_64(b, d);
        q[3][i] = high_64(b, d);
    }
    for (int c = 0; c < 4; c++)
        turn_parts(q[c], v + c);
}

/* ---- a band of rows */

/* Up to LANES rows of a tile and the buffers they pass through. */
struct band {
    const tamis_tile *t;
    int j, count;            /* rows of the tile */
    int32_t limit;           /* samples of a row of sums that windows may reach */
    const char *rows[LANES]; /* of sums; the last again where there are less */
    int32_t first, end;      /* samples that stand in columns */
    tv_u32 *columns, *results;
};

/* Starts with row j of the tile; pitch is in bytes. */
TAMIS_INLINE void band_begin(struct band *b, int j, const char *sums, ptrdiff_t pitch)
{
    b->j = j;
    b->count = b->t->h - j < LANES ? b->t->h - j : LANES;
    b->first = b->end = 0;
    for (int y = 0; y < LANES; y++)
        b->rows[y] = sums + (y < b->count ? y : b->count - 1) * pitch;
}

/* Packs the results of four samples, 0 .. 255 or to be saturated, into the bytes of each lane. */
TAMIS_INLINE tv_u32 pack_bytes(const tv_u32 *r)
{
    tv_s16 a = tv_pack_s32((tv_s32)r[0], (tv_s32)r[1]), b = tv_pack_s32((tv_s32)r[2], (tv_s32)r[3]);
#if defined(TAMIS_AVX512)
    const __m512i order = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    return (tv_u32)_mm512_shuffle_epi8(_mm512_packus_epi16((__m512i)a, (__m512i)b), order);
#elif defined(TAMIS_AVX2)
    const __m256i order = _mm256_set_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400,
                                           0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    return (tv_u32)_mm256_shuffle_epi8(_mm256_packus_epi16((__m256i)a, (__m256i)b), order);
#else
    /* Samples 0 and 1 and then 2 and 3 beside each other, twice. */
    tv_u8 v = tv_narrow_u16((tv_u16)tv_min_s16(tv_max_s16(a, (tv_s16){0}), (tv_s16){0} + 255),
                            (tv_u16)tv_min_s16(tv_max_s16(b, (tv_s16){0}), (tv_s16){0} + 255));
    for (int i = 0; i < 2; i++) {
#if defined(TAMIS_SSE2)
        v = (tv_u8)_mm_unpacklo_epi8((__m128i)v, _mm_srli_si128((__m128i)v, 8));
#elif defined(TAMIS_NEON)
        v = (tv_u8)vzip1q_u8((uint8x16_t)v, vextq_u8((uint8x16_t)v, (uint8x16_t)v, 8));
#endif
    }
    return (tv_u32)v;
#endif
}

/* The same of two samples, saturated to 16 bits. */
TAMIS_INLINE tv_u32 pack_words(tv_s32 a, tv_s32 b, tamis_type type)
{
#if defined(TAMIS_AVX512)
    const __m512i order = _mm512_set4_epi32(0x0f0e0706, 0x0d0c0504, 0x0b0a0302, 0x09080100);
    __m512i v = type == TAMIS_S16 ? _mm512_packs_epi32((__m512i)a, (__m512i)b)
                                  : _mm512_packus_epi32((__m512i)a, (__m512i)b);
    return (tv_u32)_mm512_shuffle_epi8(v, order);
#elif defined(TAMIS_AVX2)
    const __m256i order = _mm256_set_epi32(0x0f0e0706, 0x0d0c0504, 0x0b0a0302, 0x09080100,
                                           0x0f0e0706, 0x0d0c0504, 0x0b0a0302, 0x09080100);
    __m256i v = type == TAMIS_S16 ? _mm256_packs_epi32((__m256i)a, (__m256i)b)
                                  : _mm256_packus_epi32((__m256i)a, (__m256i)b);
    return (tv_u32)_mm256_shuffle_epi8(v, order);
#else
    const int32_t down = type == TAMIS_S16 ? 0 : 32768;
    tv_s16 v = tv_pack_s32(a - down, b - down),
           w = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
    tv_s16 low, high;
    tv_interleave_s16(v, w, &low, &high);
    return (tv_u32)low ^ (uint32_t)down * 0x10001;
#endif
}

/* One result of each row, or the first of those that share its lanes: as samples of the type. */
TAMIS_INLINE tv_u32 pack_floats(const tv_u32 *r, tamis_type type)
{
    if (type == TAMIS_F32)
        return r[0];
    if (type != TAMIS_U8)
        return pack_words(tv_round_f32((tv_f32)r[0]), tv_round_f32((tv_f32)r[1]), type);
    tv_u32 v[4];
    for (int i = 0; i < 4; i++)
        v[i] = (tv_u32)tv_round_f32((tv_f32)r[i]);
    return pack_bytes(v);
}

/* Writes n results of each row from sample i on; integers are U8, others floats of any type. */
TAMIS_INLINE void band_store(const struct band *b, ptrdiff_t i, int n, tamis_type type, int floats)
{
    const int size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2, each = 4 / size;
    char *out = (char *)b->t->dst[0] + b->j * b->t->dst_stride[0] + i * size;
    for (int k = 0; k < n; k += LANES * each, out += TV_BYTES) {
        int left = (n - k) * size;
        tv_u32 v[LANES];
        for (int l = 0; l < LANES; l++) {
            const tv_u32 *r = b->results + k + each * l;
            v[l] = floats ? pack_floats(r, type) : pack_bytes(r);
        }
        turn(v);
        for (int y = 0; y < b->count; y++) {
            if (left >= TV_BYTES)
                tv_store_u32(out + y * b->t->dst_stride[0], v[y]);
            else
                tv_store_first(out + y * b->t->dst_stride[0], (tv_u8)v[y], (size_t)left);
        }
    }
}

#endif
