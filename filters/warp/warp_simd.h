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

struct warp_block {
    int32_t x[WARP_BLOCK], y[WARP_BLOCK];    /* the sample to the left and above */
    uint32_t fx[WARP_BLOCK], fy[WARP_BLOCK]; /* fractions, 2^-32 */
    double px[WARP_BLOCK], py[WARP_BLOCK];
    char out[WARP_BLOCK * 16 + 64];
};

/* One tile while it is warped. */
struct warp_job {
    const tamis_tile *t;
    const struct warp_coef *c;
    struct warp_block *b;
    const char *data;
    ptrdiff_t stride;
    int32_t w, h;
    int far_rows; /* offsets of rows from the first may not fit 32 bits */
    int i, j, n;  /* the block's first column and row in the tile, and its pixels */
};

/* What a way of sampling promises and does. Vectors may be taken where low <= x <= w - high_x, and
 * likewise y; they write `lanes` pixels from out on. */
struct warp_way {
    int bits; /* of fractions */
    int low, high_x, high_y;
    int lanes;
    size_t pixel; /* bytes of a result */
};

TAMIS_INLINE size_t warp_size(tamis_type type)
{
    return type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
}

/* ---- positions */

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

TAMIS_INLINE int64_t warp_fixed(double v)
{
    v = v >= -WARP_FAR ? v : -WARP_FAR;
    v = v <= WARP_FAR ? v : WARP_FAR;
    return (int64_t)__builtin_llrint(v * 0x1p32);
}

/* Positions first, first + step, ... of n pixels, rounded up to whole vectors. */
TAMIS_INLINE void warp_steps(int64_t first, int64_t step, int n, int32_t *whole, uint32_t *fraction)
{
    tv_s64 a, b, more = {0};
    for (int l = 0; l < LANES / 2; l++) {
        int lane = l / 2 * 4 + l % 2;
        a[l] = first + lane * step;
        b[l] = first + (lane + 2) * step;
        more[l] = LANES * step;
    }
    for (int i = 0; i < n; i += LANES) {
        tv_store_s32(whole + i, warp_high_halves(a, b));
        tv_store_s32(fraction + i, warp_low_halves(a, b));
        a += more;
        b += more;
    }
}

/* From positions in double precision. */
TAMIS_INLINE void warp_round(const double *p, int n, int64_t bias, int32_t *whole,
                             uint32_t *fraction)
{
    int i = 0;
#if defined(TAMIS_AVX512)
    const __m512d far = _mm512_set1_pd(WARP_FAR), scale = _mm512_set1_pd(0x1p32);
    for (; i < n; i += 8) {
        __m512d v = _mm512_max_pd(_mm512_loadu_pd(p + i), _mm512_sub_pd(_mm512_setzero_pd(), far));
        v = _mm512_mul_pd(_mm512_min_pd(v, far), scale);
        __m512i q = _mm512_add_epi64(_mm512_cvtpd_epi64(v), _mm512_set1_epi64(bias));
        _mm256_storeu_si256((__m256i *)(void *)(fraction + i), _mm512_cvtepi64_epi32(q));
        q = _mm512_srli_epi64(q, 32);
        _mm256_storeu_si256((__m256i *)(void *)(whole + i), _mm512_cvtepi64_epi32(q));
    }
#endif
    for (; i < n; i++) {
        int64_t q = warp_fixed(p[i]) + bias;
        whole[i] = (int32_t)(q >> 32);
        fraction[i] = (uint32_t)q;
    }
}

TAMIS_INLINE void warp_affine_block(const struct warp_job *k, int64_t bias)
{
    const double *m = k->c->m;
    int32_t x = k->t->x + k->i, y = k->t->y + k->j, first = x / WARP_BLOCK * WARP_BLOCK;
    int64_t px = warp_fixed(m[0] * first + (m[1] * y + m[2])) + (x - first) * k->c->step_x;
    int64_t py = warp_fixed(m[3] * first + (m[4] * y + m[5])) + (x - first) * k->c->step_y;
    warp_steps(px + bias, k->c->step_x, k->n, k->b->x, k->b->fx);
    warp_steps(py + bias, k->c->step_y, k->n, k->b->y, k->b->fy);
}

/* Not inlined into each kernel: it is the same for all. */
void TAMIS_FN(tamis_priv_warp_general)(const struct warp_job *k, int64_t bias);

TAMIS_INLINE void warp_positions(const struct warp_job *k, int bits)
{
    struct warp_block *b = k->b;
    int64_t bias = (int64_t)1 << (31 - bits);
    if (k->c->kind == WARP_AFFINE)
        warp_affine_block(k, bias);
    else
        TAMIS_FN(tamis_priv_warp_general)(k, bias);
    for (int i = k->n; i % LANES; i++) { /* whole vectors, all of them wanted pixels */
        b->x[i] = b->x[k->n - 1];
        b->y[i] = b->y[k->n - 1];
        b->fx[i] = b->fx[k->n - 1];
        b->fy[i] = b->fy[k->n - 1];
    }
}

/* ---- inside or not */

enum warp_where { WARP_INSIDE, WARP_MIXED, WARP_OUTSIDE };

/* Where pixels i .. i+n-1 of the block are, n a multiple of LANES. With reach samples around it, a
 * pixel that is outside has none in the source. */
TAMIS_INLINE enum warp_where warp_where(const struct warp_job *k, const struct warp_way *way, int i,
                                        int n)
{
    const struct warp_block *b = k->b;
    int64_t room_x = (int64_t)k->w - way->high_x - way->low;
    int64_t room_y = (int64_t)k->h - way->high_y - way->low;
    int reach = way->low + 1; /* samples to the right and below */
    tv_u32 over = {0}, touches = {0};
    tv_u32 low = (tv_u32){0} + (uint32_t)way->low, more = (tv_u32){0} + (uint32_t)reach;
    tv_u32 last_x = (tv_u32){0} + (uint32_t)room_x, last_y = (tv_u32){0} + (uint32_t)room_y;
    tv_u32 end_x = (tv_u32){0} + (uint32_t)k->w + (uint32_t)(reach + way->low);
    tv_u32 end_y = (tv_u32){0} + (uint32_t)k->h + (uint32_t)(reach + way->low);
    for (int l = 0; l < n; l += LANES) {
        tv_u32 x = tv_load_u32(b->x + i + l), y = tv_load_u32(b->y + i + l);
        over |= (tv_u32)(x - low > last_x) | (tv_u32)(y - low > last_y);
        touches |= (tv_u32)(x + more < end_x) & (tv_u32)(y + more < end_y);
    }
    int is_over = room_x < 0 || room_y < 0, is_touching = 0;
    for (int l = 0; l < LANES; l++) {
        is_over |= over[l] != 0;
        is_touching |= touches[l] != 0;
    }
    return !is_over ? WARP_INSIDE : is_touching ? WARP_MIXED : WARP_OUTSIDE;
}

/* ---- samples */

/* The row that offsets of the block count from, and its number times the stride, modulo 2^32. 0
 * when the block's rows are too far apart for that. */
TAMIS_INLINE int warp_origin(const struct warp_job *k, int n, const char **base, uint32_t *skip)
{
    *base = k->data;
    *skip = 0;
    if (!k->far_rows)
        return 1;
    int32_t low = k->b->y[0], high = low;
    for (int i = 1; i < n; i++) {
        low = k->b->y[i] < low ? k->b->y[i] : low;
        high = k->b->y[i] > high ? k->b->y[i] : high;
    }
    int64_t span = ((int64_t)high - low + 8) * (int64_t)k->stride;
    low = low < 0 ? 0 : low < k->h ? low : k->h - 1;
    *base = k->data + low * k->stride;
    *skip = (uint32_t)low * (uint32_t)k->stride;
    return span < 0x3fffffff && span > -0x3fffffff;
}

/* 32 bits at each offset. */
TAMIS_INLINE tv_u32 warp_gather(const char *base, tv_u32 at)
{
#if defined(TAMIS_AVX512)
    return (tv_u32)_mm512_i32gather_epi32((__m512i)at, base, 1);
#elif defined(TAMIS_AVX2)
    return (tv_u32)_mm256_i32gather_epi32((const int *)(const void *)base, (__m256i)at, 1);
#else
    tv_u32 v;
    for (int l = 0; l < LANES; l++) {
        uint32_t one;
        memcpy(&one, base + (int32_t)at[l], sizeof one);
        v[l] = one;
    }
    return v;
#endif
}

/* Two floats at each offset: the first of each in a, the second in b. */
TAMIS_INLINE void warp_gather_pair(const char *base, tv_u32 at, tv_f32 *a, tv_f32 *b)
{
#if defined(TAMIS_AVX512)
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i order = _mm512_permutexvar_epi64(even, (__m512i)at);
    __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(order), base, 1);
    __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(order, 1), base, 1);
#elif defined(TAMIS_AVX2)
    __m256i order = _mm256_permute4x64_epi64((__m256i)at, 0xd8);
    const long long *from = (const long long *)(const void *)base;
    __m256i low = _mm256_i32gather_epi64(from, _mm256_castsi256_si128(order), 1);
    __m256i high = _mm256_i32gather_epi64(from, _mm256_extracti128_si256(order, 1), 1);
#endif
#if defined(TAMIS_AVX2)
    *a = (tv_f32)warp_low_halves((tv_s64)low, (tv_s64)high);
    *b = (tv_f32)warp_high_halves((tv_s64)low, (tv_s64)high);
#else
    for (int l = 0; l < LANES; l++) {
        float two[2];
        memcpy(two, base + (int32_t)at[l], sizeof two);
        (*a)[l] = two[0];
        (*b)[l] = two[1];
    }
#endif
}

/* The pixel at (x, y), which may lie outside; NULL where the border's value stands there. */
TAMIS_INLINE const char *warp_pixel(const struct warp_job *k, int64_t x, int64_t y, size_t pixel)
{
    if (x < 0 || x >= k->w)
        x = tamis_border_index(k->c->border, x, k->w);
    if (y < 0 || y >= k->h)
        y = tamis_border_index(k->c->border, y, k->h);
    return x < 0 || y < 0 ? NULL : k->data + y * k->stride + x * (ptrdiff_t)pixel;
}

/* ---- the walk over a tile */

typedef void (*warp_vector_fn)(const struct warp_job *k, const char *base, uint32_t skip, int i,
                               void *out);
typedef void (*warp_pixel_fn)(const struct warp_job *k, int i, void *out);

/* Fills n pixels with what lies outside. */
TAMIS_INLINE void warp_fill(const struct warp_job *k, tamis_type type, size_t n, char *out)
{
    size_t size = warp_size(type);
    union {
        uint8_t u8;
        uint16_t u16;
        int16_t s16;
        float f32;
    } v;
    double value = k->t->whole->outside[0];
    if (type == TAMIS_U8)
        v.u8 = (uint8_t)value;
    else if (type == TAMIS_U16)
        v.u16 = (uint16_t)value;
    else if (type == TAMIS_S16)
        v.s16 = (int16_t)value;
    else
        v.f32 = (float)value;
    for (size_t i = 0; i < n * (size_t)k->t->step; i++)
        memcpy(out + i * size, &v, size);
}

TAMIS_INLINE void warp_sample_block(const struct warp_job *k, const struct warp_way *way,
                                    tamis_type type, warp_vector_fn vector, warp_pixel_fn pixel,
                                    char *out)
{
    int padded = (k->n + LANES - 1) / LANES * LANES;
    enum warp_where where = warp_where(k, way, 0, padded);
    const char *base;
    uint32_t skip;
    int constant = k->c->border == TAMIS_BORDER_CONSTANT;
    int near = warp_origin(k, k->n, &base, &skip);
    if (where == WARP_INSIDE && near) {
        for (int i = 0; i < k->n; i += way->lanes)
            vector(k, base, skip, i, out + (size_t)i * way->pixel);
        return;
    }
    if (where == WARP_OUTSIDE && constant) {
        warp_fill(k, type, (size_t)k->n, out);
        return;
    }
    for (int i = 0; i < k->n; i += LANES) {
        where = warp_where(k, way, i, LANES);
        if (where == WARP_INSIDE && near) {
            for (int l = 0; l < LANES && i + l < k->n; l += way->lanes)
                vector(k, base, skip, i + l, out + (size_t)(i + l) * way->pixel);
        } else if (where == WARP_OUTSIDE && constant) {
            warp_fill(k, type, LANES, out + (size_t)i * way->pixel);
        } else {
            for (int l = 0; l < LANES && i + l < k->n; l++)
                pixel(k, i + l, out + (size_t)(i + l) * way->pixel);
        }
    }
}

/* All of a tile; vector and pixel are constants where this is inlined. */
TAMIS_INLINE void warp_tile(const tamis_tile *t, const void *coef, void *scratch,
                            const struct warp_way *way, tamis_type type, warp_vector_fn vector,
                            warp_pixel_fn pixel)
{
    const tamis_whole *whole = t->whole;
    int64_t bytes = (int64_t)whole->stride[0] * whole->h;
    struct warp_job k = {.t = t,
                         .c = coef,
                         .b = scratch,
                         .data = whole->data[0],
                         .stride = whole->stride[0],
                         .w = whole->w,
                         .h = whole->h,
                         .far_rows = bytes > 0x3fffffff || bytes < -0x3fffffff};
    for (k.j = 0; k.j < t->h; k.j++) {
        char *row = (char *)t->dst[0] + k.j * t->dst_stride[0];
        for (k.i = 0; k.i < t->w; k.i += k.n) {
            int left = WARP_BLOCK - (t->x + k.i) % WARP_BLOCK;
            k.n = left < t->w - k.i ? left : t->w - k.i;
            warp_positions(&k, way->bits);
            warp_sample_block(&k, way, type, vector, pixel, k.b->out);
            memcpy(row + (size_t)k.i * way->pixel, k.b->out, (size_t)k.n * way->pixel);
        }
    }
}

#endif
