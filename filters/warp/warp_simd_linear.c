/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of interp=linear. Pictures of one channel are sampled a vector of pixels at a time: one
 * gather brings both samples of a row. Packed channels are sampled a pixel at a time, one lane per
 * channel. */
#include "warp_simd.h"

/* ---- fractions of a vector of pixels */

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

/* Bytes 2 n and 2 n + 1 of each lane as its halves. */
TAMIS_INLINE tv_s16 two_bytes(tv_u32 v, int n)
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

/* Samples are loaded one after the other, which is faster than gathering them. */
static void span_u8_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                      char *out)
{
    struct warp_block *b = k->b;
    const char *below = base + k->stride;
    char *quads = (char *)b->samples;
    const tv_s32 half = (tv_s32){0} + 64, half_y = (tv_s32){0} + (1 << 20);
    warp_store_offsets(k, skip, i, end, 1);
    for (int l = i; l < end; l++) {
        memcpy(quads + 4 * l, base + b->at[l], 2);
        memcpy(quads + 4 * l + 2, below + b->at[l], 2);
    }
    for (; i < end; i += LANES, out += LANES) {
        tv_u32 v = tv_load_u32(quads + 4 * i);
        tv_s16 wx = weights_u8(b->fx + i), wy = weights_u8(b->fy + i);
        tv_s32 t = tv_dot_s16(half, two_bytes(v, 0), wx) >> 7;
        tv_s32 u = tv_dot_s16(half, two_bytes(v, 1), wx) >> 7;
        store_bytes(out, tv_dot_s16(half_y, (tv_s16)(t | u << 16), wy) >> 21);
    }
}

/* ---- binary32, one channel */

/* a + (b - a) f; where f is 0, a whatever b is. */
TAMIS_INLINE tv_f32 between(tv_f32 a, tv_f32 b, tv_f32 f, int any_value)
{
    tv_f32 v = a + (b - a) * f;
    tv_s32 none = f == 0;
    return any_value ? (tv_f32)(((tv_s32)a & none) | ((tv_s32)v & ~none)) : v;
}

/* Pairs of floats, from the order of 64-bit lanes that warp_low_halves() takes. */
TAMIS_INLINE void load_floats(const uint64_t *pairs, tv_f32 *left, tv_f32 *right)
{
    tv_s64 a, b;
#if defined(TAMIS_AVX512)
    const __m512i even = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    __m512i low = _mm512_loadu_si512(pairs), high = _mm512_loadu_si512(pairs + 8);
    a = (tv_s64)_mm512_permutex2var_epi64(low, even, high);
    b = (tv_s64)_mm512_permutex2var_epi64(low, odd, high);
#elif defined(TAMIS_AVX2)
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)pairs);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(pairs + 4));
    a = (tv_s64)_mm256_permute2x128_si256(low, high, 0x20);
    b = (tv_s64)_mm256_permute2x128_si256(low, high, 0x31);
#else
    memcpy(&a, pairs, sizeof a);
    memcpy(&b, pairs + 2, sizeof b);
#endif
    *left = (tv_f32)warp_low_halves(a, b);
    *right = (tv_f32)warp_high_halves(a, b);
}

static void span_f32_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                       char *out)
{
    struct warp_block *n = k->b;
    const char *below = base + k->stride;
    uint64_t *top = n->samples, *bottom = n->samples + WARP_ROOM;
    warp_store_offsets(k, skip, i, end, 4);
    for (int l = i; l < end; l++) {
        memcpy(top + l, base + n->at[l], 8);
        memcpy(bottom + l, below + n->at[l], 8);
    }
    for (; i < end; i += LANES, out += sizeof(tv_f32)) {
        tv_f32 fx = fractions(n->fx + i), fy = fractions(n->fy + i), a, b, c, d;
        load_floats(top + i, &a, &b);
        load_floats(bottom + i, &c, &d);
        tv_store_f32(out, between(between(a, b, fx, 1), between(c, d, fx, 1), fy, 1));
    }
}

/* The two 16-bit samples of each lane. */
TAMIS_INLINE void split_16(tv_u32 v, tamis_type type, tv_f32 *a, tv_f32 *b)
{
    tv_s32 low = type == TAMIS_U16 ? (tv_s32)(v & 0xffff) : (tv_s32)(v << 16) >> 16;
    tv_s32 high = type == TAMIS_U16 ? (tv_s32)(v >> 16) : (tv_s32)v >> 16;
    *a = __builtin_convertvector(low, tv_f32);
    *b = __builtin_convertvector(high, tv_f32);
}

TAMIS_INLINE void span_16_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                            int end, char *out, tamis_type type)
{
    struct warp_block *n = k->b;
    const char *below = base + k->stride;
    uint32_t *top = (uint32_t *)(void *)n->samples, *bottom = top + WARP_ROOM;
    warp_store_offsets(k, skip, i, end, 2);
    for (int l = i; l < end; l++) {
        memcpy(top + l, base + n->at[l], 4);
        memcpy(bottom + l, below + n->at[l], 4);
    }
    for (; i < end; i += LANES, out += 2 * LANES) {
        tv_f32 fx = fractions(n->fx + i), fy = fractions(n->fy + i), a, b, c, d;
        split_16(tv_load_u32(top + i), type, &a, &b);
        split_16(tv_load_u32(bottom + i), type, &c, &d);
        tv_s32 v = tv_round_f32(between(between(a, b, fx, 0), between(c, d, fx, 0), fy, 0));
        tv_u16 narrow = tv_narrow_s32(v, v);
        memcpy(out, &narrow, LANES * 2);
    }
}

static void span_u16_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                       char *out)
{
    span_16_1(k, base, skip, i, end, out, TAMIS_U16);
}

static void span_s16_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                       char *out)
{
    span_16_1(k, base, skip, i, end, out, TAMIS_S16);
}

/* ---- u8, packed channels: a pixel in each 128 bits */

enum { PIXELS = TV_BYTES / 16 };

/* The samples of channel c of the left and the right pixel as the halves of lane c; row 1 is the
 * one below. */
TAMIS_INLINE tv_s16 channel_pairs(tv_u8 v, int step, int row)
{
#if defined(TAMIS_AVX2)
    char o = (char)(8 * row), s = (char)step, third = (char)(step > 2 ? o + 2 : -1),
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
    __m128i left = row ? _mm_srli_si128((__m128i)v, 8) : (__m128i)v;
    __m128i right = step == 2   ? _mm_srli_si128(left, 2)
                    : step == 3 ? _mm_srli_si128(left, 3)
                                : _mm_srli_si128(left, 4);
    return (tv_s16)_mm_unpacklo_epi8(_mm_unpacklo_epi8(left, right), _mm_setzero_si128());
#else
    tv_s16 w = {0};
    for (int c = 0; c < step; c++) {
        w[2 * c] = v[8 * row + c];
        w[2 * c + 1] = v[8 * row + c + step];
    }
    return w;
#endif
}

/* Weights of one pixel after the other, in all lanes of its 128 bits. */
TAMIS_INLINE tv_s16 spread(const uint32_t *weights)
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
TAMIS_INLINE void store_pixels(char *out, tv_s32 v, int step)
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

TAMIS_INLINE void span_u8_packed(const struct warp_job *k, const char *base, uint32_t skip, int i,
                                 int end, char *out, int step)
{
    struct warp_block *b = k->b;
    const char *below = base + k->stride;
    const tv_s32 half = (tv_s32){0} + 64, half_y = (tv_s32){0} + (1 << 20);
    warp_store_offsets(k, skip, i, end, (uint32_t)step);
    for (int l = i; l < end; l += LANES) {
        tv_store_s16(b->wx + l, weights_u8(b->fx + l));
        tv_store_s16(b->wy + l, weights_u8(b->fy + l));
    }
    for (int l = i; l < end; l++) {
        memcpy(&b->samples[2 * l], base + b->at[l], 8);
        memcpy(&b->samples[2 * l + 1], below + b->at[l], 8);
    }
    for (; i < end; i += PIXELS, out += PIXELS * step) {
        tv_u8 v = tv_load_u8(&b->samples[2 * i]);
        tv_s16 wx = spread(b->wx + i), wy = spread(b->wy + i);
        tv_s32 t = tv_dot_s16(half, channel_pairs(v, step, 0), wx) >> 7;
        tv_s32 u = tv_dot_s16(half, channel_pairs(v, step, 1), wx) >> 7;
        store_pixels(out, tv_dot_s16(half_y, (tv_s16)(t | u << 16), wy) >> 21, step);
    }
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
#if defined(TAMIS_AVX2)
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return (w_s32)(type == TAMIS_U16 ? _mm_cvtepu16_epi32(v) : _mm_cvtepi16_epi32(v));
#elif defined(TAMIS_SSE2)
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return (w_s32)(type == TAMIS_U16 ? _mm_unpacklo_epi16(v, _mm_setzero_si128())
                                     : _mm_srai_epi32(_mm_unpacklo_epi16(v, v), 16));
#else
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

TAMIS_INLINE void span_packed(const struct warp_job *k, const char *base, uint32_t skip, int i,
                              int end, char *out, tamis_type type, int step)
{
    ptrdiff_t pixel = step * (ptrdiff_t)warp_size(type);
    warp_store_offsets(k, skip, i, end, (uint32_t)pixel);
    for (; i < end; i++, out += pixel) {
        const char *p = base + k->b->at[i], *q = p + k->stride;
        const char *const four[4] = {p, p + pixel, q, q + pixel};
        blend(k->b, i, four, out, type);
    }
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

/* BEHIND: how many pixels a span reads from the first on, at least. */
#define WAY(T, TYPE, STEP, BEHIND)                                                                 \
    {                                                                                              \
        TYPE, (TYPE) == TAMIS_U8 ? 14 : 24, 0, BEHIND, 2, STEP * sizeof(T##_sample),               \
            span_##T##_##STEP, one_##T                                                             \
    }
#define SPAN(T, TYPE, STEP)                                                                        \
    static void span_##T##_##STEP(const struct warp_job *k, const char *base, uint32_t skip,       \
                                  int i, int end, char *out)                                       \
    {                                                                                              \
        if ((TYPE) == TAMIS_U8)                                                                    \
            span_u8_packed(k, base, skip, i, end, out, STEP);                                      \
        else                                                                                       \
            span_packed(k, base, skip, i, end, out, TYPE, STEP);                                   \
    }
#define LINEAR(T, TYPE, BEHIND)                                                                    \
    SPAN(T, TYPE, 2)                                                                               \
    SPAN(T, TYPE, 3)                                                                               \
    SPAN(T, TYPE, 4)                                                                               \
    static void one_##T(const struct warp_job *k, int i, void *out)                                \
    {                                                                                              \
        edge_pixel(k, i, out, TYPE);                                                               \
    }                                                                                              \
    void TAMIS_FN(tamis_priv_warp_linear_##T)(const tamis_tile *t, const void *coef,               \
                                              void *scratch)                                       \
    {                                                                                              \
        static const struct warp_way ways[4] = {WAY(T, TYPE, 1, BEHIND), WAY(T, TYPE, 2, 4),       \
                                                WAY(T, TYPE, 3, 3), WAY(T, TYPE, 4, 2)};           \
        TAMIS_FN(tamis_priv_warp_tile)(t, coef, scratch, &ways[t->step - 1]);                      \
    }
typedef uint8_t u8_sample;
typedef uint16_t u16_sample;
typedef int16_t s16_sample;
typedef float f32_sample;
LINEAR(u8, TAMIS_U8, 2)
LINEAR(u16, TAMIS_U16, 2)
LINEAR(s16, TAMIS_S16, 2)
LINEAR(f32, TAMIS_F32, 2)
#undef LINEAR
#undef SPAN
#undef WAY
