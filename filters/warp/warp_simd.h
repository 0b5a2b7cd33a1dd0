/* SPDX-License-Identifier: Apache-2.0 */
/* What the fast rows share. A row of a tile is cut into blocks at columns that are multiples of
 * WARP_BLOCK. First the positions of a block are computed, for any kind of map; then its pixels are
 * sampled, by vectors where all samples of a vector lie inside the source, else one by one. */
#ifndef TAMIS_WARP_SIMD_H
#define TAMIS_WARP_SIMD_H

#include "cpu/simd.h"
#include "warp_kernel.h"

enum { LANES = TV_BYTES / 4 };

typedef int64_t tv_s64 __attribute__((vector_size(TV_BYTES)));

/* Vectors of one pixel's channels. */
typedef int32_t w_s32 __attribute__((vector_size(16)));
typedef float w_f32 __attribute__((vector_size(16)));

/* Vectors may start at any pixel of a block. */
enum { WARP_ROOM = WARP_BLOCK + 16 };

struct warp_block {
    int32_t x[WARP_ROOM], y[WARP_ROOM];    /* the sample to the left and above */
    uint32_t fx[WARP_ROOM], fy[WARP_ROOM]; /* fractions, 2^-32 */
    int64_t ramp_x[LANES], ramp_y[LANES];  /* affine: see steps() */
    uint32_t where[WARP_ROOM];             /* inside the source, or outside, or neither */
    /* What a span keeps for its pixels: offsets, weights, samples. */
    int32_t at[WARP_ROOM];
    uint32_t wx[WARP_ROOM], wy[WARP_ROOM];
    uint64_t samples[8 * WARP_ROOM];
    uint32_t weights[4][WARP_ROOM];
    float across[WARP_ROOM][8], down[WARP_ROOM][8];
    char out[WARP_BLOCK * 16 + 64];
    float total[WARP_BLOCK * 4], line[WARP_BLOCK * 4]; /* area */
};

/* One tile while it is warped. */
struct warp_job {
    const tamis_tile *t;
    const struct warp_coef *c;
    struct warp_block *b;
    const char *data;
    ptrdiff_t stride;
    int32_t w, h;
    int64_t row_bytes; /* of the source's pixels */
    int tame;          /* perspective: positions are near and known to grow in one direction */
    int corner[2];     /* then, of any 4x4 pixels, those least across and down, row by row */
    int far_rows;      /* offsets of rows from the first may not fit 32 bits */
    int i, j, n;       /* the block's first column and row in the tile, and its pixels */
    double u, v;       /* area: how far from the pixels' middles samples are */
};

/* Samples pixels i .. end-1 of the block, all of whose samples lie inside, to out, where pixel i
 * goes; it may write up to 64 bytes more. Rows count from base, less skip bytes. */
typedef void (*warp_span_fn)(const struct warp_job *k, const char *base, uint32_t skip, int i,
                             int end, char *out);
/* Samples pixel i, wherever its samples lie. */
typedef void (*warp_pixel_fn)(const struct warp_job *k, int i, void *out);

struct warp_way;
/* Samples four rows of k->n pixels, a multiple of 4, from k->i, k->j on, to where they go; 0 when
 * the map does not suit it. */
typedef int (*warp_band_fn)(const struct warp_job *k, const struct warp_way *way);

/* A way of sampling. Spans may be taken where low <= x <= w - high_x, and likewise y. */
struct warp_way {
    tamis_type type;
    int bits; /* of fractions */
    int low, high_x, high_y;
    size_t pixel; /* bytes of a result; where results are of the source's type, of its pixels too */
    warp_span_fn span;
    warp_pixel_fn one;
    int exact;         /* 1: a span of whole vectors writes nothing more */
    warp_band_fn band; /* NULL: there are only spans */
};

TAMIS_INLINE size_t warp_size(tamis_type type)
{
    return type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
}

/* The even and the odd 32-bit lanes of a, b, where a holds the 64-bit lanes 0, 1, 4, 5, ... and b
 * holds 2, 3, 6, 7, ... */
TAMIS_INLINE tv_s32 warp_low_halves(tv_s64 a, tv_s64 b)
{
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x88);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
#else
    return __builtin_shufflevector((tv_s32)a, (tv_s32)b, 0, 2, 4, 6);
#endif
}

TAMIS_INLINE tv_s32 warp_high_halves(tv_s64 a, tv_s64 b)
{
#if defined(TAMIS_AVX512)
    return (tv_s32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xdd);
#elif defined(TAMIS_AVX2)
    return (tv_s32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
#else
    return __builtin_shufflevector((tv_s32)a, (tv_s32)b, 1, 3, 5, 7);
#endif
}

/* ---- positions */

TAMIS_INLINE int64_t warp_fixed(double v)
{
    v = v >= -WARP_FAR ? v : -WARP_FAR;
    v = v <= WARP_FAR ? v : WARP_FAR;
    return (int64_t)__builtin_llrint(v * 0x1p32);
}

TAMIS_INLINE tv_s64 warp_fixed_vector(tv_f64 v)
{
#if defined(TAMIS_AVX512)
    const __m512d far = _mm512_set1_pd(WARP_FAR), scale = _mm512_set1_pd(0x1p32);
    __m512d w = _mm512_max_pd((__m512d)v, _mm512_sub_pd(_mm512_setzero_pd(), far));
    return (tv_s64)_mm512_cvtpd_epi64(_mm512_mul_pd(_mm512_min_pd(w, far), scale));
#else
    /* The nearest whole number and what is left, which is exact, are rounded by adding a number
     * whose last bit is 1. */
    const tv_f64 none = {0}, round = none + 0x1.8p52;
    const tv_f64 far = none + WARP_FAR, near = none - WARP_FAR;
    tv_s64 inside = v >= near;
    v = (tv_f64)(((tv_s64)v & inside) | ((tv_s64)near & ~inside));
    inside = v <= far;
    v = (tv_f64)(((tv_s64)v & inside) | ((tv_s64)far & ~inside));
    tv_f64 whole = v + round;
    tv_f64 rest = (v - (whole - round)) * 0x1p32 + round;
    return (((tv_s64)whole - (tv_s64)round) << 32) + ((tv_s64)rest - (tv_s64)round);
#endif
}

/* Near positions, below 2^19, are added to a number so large that their sum has units of 2^-32 and
 * holds them in its lower bits; the higher half of its bits is WARP_NEAR_WHOLE above the whole
 * part. bias is even: then it does not matter whether it is added before or after rounding. */
#define WARP_NEAR_WHOLE 0x41380000 /* of 1.5 * 2^20 */
TAMIS_INLINE tv_s64 warp_near_vector(tv_f64 v, int64_t bias)
{
    return (tv_s64)(v + (0x1.8p20 + (double)bias * 0x1p-32));
}

/* ---- samples */

/* Offsets of a vector of pixels. */
TAMIS_INLINE tv_u32 warp_offsets(const struct warp_job *k, uint32_t skip, int i, uint32_t pixel)
{
    const struct warp_block *b = k->b;
    return tv_load_u32(b->y + i) * (uint32_t)k->stride + tv_load_u32(b->x + i) * pixel - skip;
}

TAMIS_INLINE void warp_store_offsets(const struct warp_job *k, uint32_t skip, int i, int end,
                                     uint32_t pixel)
{
    for (; i < end; i += LANES)
        tv_store_u32(k->b->at + i, warp_offsets(k, skip, i, pixel));
}

/* As tamis_border_index(), quick near the picture. */
TAMIS_INLINE int64_t warp_index(tamis_border border, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (border == TAMIS_BORDER_REFLECT101) {
        int64_t mirrored = i < 0 ? -i : 2 * n - 2 - i;
        if (mirrored >= 0 && mirrored < n)
            return mirrored;
    }
    return tamis_border_index(border, i, n);
}

/* The pixel at (x, y), which may lie outside; NULL where the border's value stands there. */
TAMIS_INLINE const char *warp_pixel(const struct warp_job *k, int64_t x, int64_t y, size_t pixel)
{
    x = warp_index(k->c->border, x, k->w);
    y = warp_index(k->c->border, y, k->h);
    return x < 0 || y < 0 ? NULL : k->data + y * k->stride + x * (ptrdiff_t)pixel;
}

/* ---- the walk over a tile */

/* Writes n samples of what lies outside. */
TAMIS_INLINE void warp_fill_samples(const struct warp_job *k, tamis_type type, size_t n, char *out)
{
    double value = k->t->whole->outside[0];
    if (type == TAMIS_U8) {
        memset(out, (uint8_t)value, n);
    } else if (type == TAMIS_F32) {
        for (float v = (float)value; n; n--, out += sizeof v)
            memcpy(out, &v, sizeof v);
    } else { /* of 16 bits, with or without a sign */
        for (uint16_t v = (uint16_t)(int32_t)value; n; n--, out += sizeof v)
            memcpy(out, &v, sizeof v);
    }
}

TAMIS_INLINE void warp_fill(const struct warp_job *k, tamis_type type, size_t pixels, char *out)
{
    warp_fill_samples(k, type, pixels * (size_t)k->t->step, out);
}

/* The n pixels of the block's first positions, which may be anywhere, to the block's out. */
void TAMIS_FN(tamis_priv_warp_scattered)(const struct warp_job *k, const struct warp_way *way,
                                         int n);

/* All of a tile. */
void TAMIS_FN(tamis_priv_warp_tile)(const tamis_tile *t, const void *coef, void *scratch,
                                    const struct warp_way *way);

/* All of a tile for interp=area: the way's results are F32 of sources of this type. */
void TAMIS_FN(tamis_priv_warp_mean)(const tamis_tile *t, const void *coef, void *scratch,
                                    const struct warp_way *way, tamis_type type);

#if defined(TAMIS_AVX512)
#define WARP_SQUARES(T, STEP)                                                                      \
    int TAMIS_FN(tamis_priv_warp_squares_##T##_##STEP)(const struct warp_job *k,                   \
                                                       const struct warp_way *way)
WARP_SQUARES(u8, 1);
WARP_SQUARES(u8, 2);
WARP_SQUARES(u8, 3);
WARP_SQUARES(u8, 4);
WARP_SQUARES(u16, 1);
WARP_SQUARES(s16, 1);
WARP_SQUARES(f32, 1);
#undef WARP_SQUARES
#endif

#endif
