/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of interp=linear. Pictures of one channel are sampled a vector of pixels at a time: one
 * gather brings both samples of a row. Packed channels are sampled a pixel at a time, one lane per
 * channel. */
#include "warp_simd.h"

/* ---- offsets and fractions of a vector of pixels */

TAMIS_INLINE tv_u32 offsets(const struct warp_job *k, uint32_t skip, int i, uint32_t pixel)
{
    const struct warp_block *b = k->b;
    return tv_load_u32(b->y + i) * (uint32_t)k->stride + tv_load_u32(b->x + i) * pixel - skip;
}

/* (2^14 - f, f) in the halves of each lane. */
TAMIS_INLINE tv_s16 weights_u8(const uint32_t *fraction)
{
    tv_u32 f = tv_load_u32(fraction) >> 18;
    return (tv_s16)((f << 16) - f + 16384);
}

TAMIS_INLINE tv_f32 fractions(const uint32_t *fraction)
{
    tv_s32 f = (tv_s32)(tv_load_u32(fraction) >> 8);
    return __builtin_convertvector(f, tv_f32) * 0x1p-24f;
}

/* ---- u8, one channel */

/* The first two bytes of each lane as its halves. */
TAMIS_INLINE tv_s16 two_bytes(tv_u32 v)
{
#if defined(TAMIS_AVX512)
    const __m512i order = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
    return (tv_s16)_mm512_shuffle_epi8((__m512i)v, order);
#elif defined(TAMIS_AVX2)
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
    return (tv_s16)_mm256_shuffle_epi8((__m256i)v, order);
#else
    return (tv_s16)((v & 0xff) | (v << 8 & 0xff0000));
#endif
}

/* Lanes of 0 .. 255 to bytes. */
TAMIS_INLINE void store_bytes(void *out, tv_s32 v)
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

static void vector_u8_1(const struct warp_job *k, const char *base, uint32_t skip, int i, void *out)
{
    tv_u32 at = offsets(k, skip, i, 1);
    tv_s16 top = two_bytes(warp_gather(base, at));
    tv_s16 bottom = two_bytes(warp_gather(base + k->stride, at));
    tv_s16 wx = weights_u8(k->b->fx + i), wy = weights_u8(k->b->fy + i);
    tv_s32 half = (tv_s32){0} + 64, half_y = (tv_s32){0} + (1 << 20);
    tv_s32 t = tv_dot_s16(half, top, wx) >> 7, b = tv_dot_s16(half, bottom, wx) >> 7;
    store_bytes(out, tv_dot_s16(half_y, (tv_s16)(t | b << 16), wy) >> 21);
}

/* ---- binary32, one channel */

/* a + (b - a) f; where f is 0, a whatever b is. */
TAMIS_INLINE tv_f32 between(tv_f32 a, tv_f32 b, tv_f32 f, int any_value)
{
    tv_f32 v = a + (b - a) * f;
    tv_s32 none = f == 0;
    return any_value ? (tv_f32)(((tv_s32)a & none) | ((tv_s32)v & ~none)) : v;
}

static void vector_f32_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                         void *out)
{
    tv_u32 at = offsets(k, skip, i, 4);
    tv_f32 fx = fractions(k->b->fx + i), fy = fractions(k->b->fy + i), a, b, c, d;
    warp_gather_pair(base, at, &a, &b);
    warp_gather_pair(base + k->stride, at, &c, &d);
    tv_store_f32(out, between(between(a, b, fx, 1), between(c, d, fx, 1), fy, 1));
}

/* The two 16-bit samples of each lane. */
TAMIS_INLINE void split_16(tv_u32 v, tamis_type type, tv_f32 *a, tv_f32 *b)
{
    tv_s32 low = type == TAMIS_U16 ? (tv_s32)(v & 0xffff) : (tv_s32)(v << 16) >> 16;
    tv_s32 high = type == TAMIS_U16 ? (tv_s32)(v >> 16) : (tv_s32)v >> 16;
    *a = __builtin_convertvector(low, tv_f32);
    *b = __builtin_convertvector(high, tv_f32);
}

TAMIS_INLINE void vector_16_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                              void *out, tamis_type type)
{
    tv_u32 at = offsets(k, skip, i, 2);
    tv_f32 fx = fractions(k->b->fx + i), fy = fractions(k->b->fy + i), a, b, c, d;
    split_16(warp_gather(base, at), type, &a, &b);
    split_16(warp_gather(base + k->stride, at), type, &c, &d);
    tv_s32 v = tv_round_f32(between(between(a, b, fx, 0), between(c, d, fx, 0), fy, 0));
    tv_u16 narrow = tv_narrow_s32(v, v);
    memcpy(out, &narrow, LANES * 2);
}

static void vector_u16_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                         void *out)
{
    vector_16_1(k, base, skip, i, out, TAMIS_U16);
}

static void vector_s16_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                         void *out)
{
    vector_16_1(k, base, skip, i, out, TAMIS_S16);
}

/* ---- one pixel, a lane per channel */

typedef uint8_t w_u8 __attribute__((vector_size(4)));
typedef uint16_t w_u16 __attribute__((vector_size(8)));
typedef int16_t w_s16 __attribute__((vector_size(8)));

TAMIS_INLINE w_s32 load_s32(const char *p, tamis_type type)
{
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
}

TAMIS_INLINE w_f32 load_f32(const char *p, tamis_type type)
{
    if (type != TAMIS_F32)
        return __builtin_convertvector(load_s32(p, type), w_f32);
    w_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

TAMIS_INLINE w_s32 lerp_s32(w_s32 a, w_s32 b, int32_t f)
{
    return (a << 14) + (b - a) * f;
}

TAMIS_INLINE w_f32 lerp_f32(w_f32 a, w_f32 b, float f)
{
    return f == 0 ? a : a + (b - a) * f;
}

TAMIS_INLINE w_s32 round_f32(w_f32 v)
{
#if defined(TAMIS_SSE2)
    return (w_s32)_mm_cvtps_epi32((__m128)v);
#elif defined(TAMIS_NEON)
    return (w_s32)vcvtnq_s32_f32((float32x4_t)v);
#endif
}

/* Writes all four lanes; the next pixel overwrites those that are too many. */
TAMIS_INLINE void store_lanes(void *out, w_s32 v, tamis_type type)
{
    if (type == TAMIS_U8) {
        w_u8 narrow = __builtin_convertvector(v, w_u8);
        memcpy(out, &narrow, sizeof narrow);
    } else {
        w_u16 narrow = __builtin_convertvector(v, w_u16);
        memcpy(out, &narrow, sizeof narrow);
    }
}

/* The pixel i of the block from its four neighbors. */
TAMIS_INLINE void blend(const struct warp_block *k, int i, const char *const at[4], void *out,
                        tamis_type type)
{
    if (type == TAMIS_U8) {
        int32_t fx = (int32_t)(k->fx[i] >> 18), fy = (int32_t)(k->fy[i] >> 18);
        w_s32 t = (lerp_s32(load_s32(at[0], type), load_s32(at[1], type), fx) + 64) >> 7;
        w_s32 b = (lerp_s32(load_s32(at[2], type), load_s32(at[3], type), fx) + 64) >> 7;
        store_lanes(out, (lerp_s32(t, b, fy) + (1 << 20)) >> 21, type);
        return;
    }
    float fx = (float)(int32_t)(k->fx[i] >> 8) * 0x1p-24f;
    float fy = (float)(int32_t)(k->fy[i] >> 8) * 0x1p-24f;
    w_f32 t = lerp_f32(load_f32(at[0], type), load_f32(at[1], type), fx);
    w_f32 b = lerp_f32(load_f32(at[2], type), load_f32(at[3], type), fx);
    w_f32 v = lerp_f32(t, b, fy);
    if (type == TAMIS_F32)
        memcpy(out, &v, sizeof v);
    else
        store_lanes(out, round_f32(v), type);
}

TAMIS_INLINE void inside_pixel(const struct warp_job *k, const char *base, uint32_t skip, int i,
                               void *out, tamis_type type, int step)
{
    ptrdiff_t pixel = step * (ptrdiff_t)warp_size(type);
    int32_t at = (int32_t)((uint32_t)k->b->y[i] * (uint32_t)k->stride +
                           (uint32_t)k->b->x[i] * (uint32_t)pixel - skip);
    const char *p = base + at, *q = p + k->stride;
    const char *const four[4] = {p, p + pixel, q, q + pixel};
    blend(k->b, i, four, out, type);
}

/* A pixel near the edge: its neighbors are copied out first, for they may lie anywhere. */
TAMIS_INLINE void edge_pixel(const struct warp_job *k, int i, void *out, tamis_type type)
{
    size_t size = (size_t)k->t->step * warp_size(type);
    char copies[4][16];
    const char *at[4];
    char result[16];
    for (int n = 0; n < 4; n++) {
        const char *from =
            warp_pixel(k, (int64_t)k->b->x[i] + n % 2, (int64_t)k->b->y[i] + n / 2, size);
        memset(copies[n], 0, sizeof copies[n]);
        if (from)
            memcpy(copies[n], from, size);
        else
            warp_fill(k, type, 1, copies[n]);
        at[n] = copies[n];
    }
    blend(k->b, i, at, result, type);
    memcpy(out, result, size);
}

/* ---- rows */

#define LINEAR_STEP(T, TYPE, STEP, BEHIND)                                                         \
    static void pixel_##T##_##STEP(const struct warp_job *k, const char *base, uint32_t skip,      \
                                   int i, void *out)                                               \
    {                                                                                              \
        inside_pixel(k, base, skip, i, out, TYPE, STEP);                                           \
    }                                                                                              \
    static void linear_##T##_##STEP(const tamis_tile *t, const void *coef, void *scratch)          \
    {                                                                                              \
        const struct warp_way way = {BITS(TYPE), 0, BEHIND, 2, 1, STEP * warp_size(TYPE)};         \
        warp_tile(t, coef, scratch, &way, TYPE, pixel_##T##_##STEP, edge_##T);                     \
    }
/* BEHIND: how many pixels a vector reads from the first on, at least. */
#define LINEAR(T, TYPE, BEHIND)                                                                    \
    static void edge_##T(const struct warp_job *k, int i, void *out)                               \
    {                                                                                              \
        edge_pixel(k, i, out, TYPE);                                                               \
    }                                                                                              \
    LINEAR_STEP(T, TYPE, 2, 3)                                                                     \
    LINEAR_STEP(T, TYPE, 3, 3)                                                                     \
    LINEAR_STEP(T, TYPE, 4, 2)                                                                     \
    void TAMIS_FN(tamis_priv_warp_linear_##T)(const tamis_tile *t, const void *coef,               \
                                              void *scratch)                                       \
    {                                                                                              \
        const struct warp_way way = {BITS(TYPE), 0, BEHIND, 2, LANES, warp_size(TYPE)};            \
        if (t->step == 1)                                                                          \
            warp_tile(t, coef, scratch, &way, TYPE, vector_##T##_1, edge_##T);                     \
        else if (t->step == 2)                                                                     \
            linear_##T##_2(t, coef, scratch);                                                      \
        else if (t->step == 3)                                                                     \
            linear_##T##_3(t, coef, scratch);                                                      \
        else                                                                                       \
            linear_##T##_4(t, coef, scratch);                                                      \
    }
#define BITS(TYPE) ((TYPE) == TAMIS_U8 ? 14 : 24)
LINEAR(u8, TAMIS_U8, 4)
LINEAR(u16, TAMIS_U16, 2)
LINEAR(s16, TAMIS_S16, 2)
LINEAR(f32, TAMIS_F32, 2)
#undef BITS
#undef LINEAR
#undef LINEAR_STEP
