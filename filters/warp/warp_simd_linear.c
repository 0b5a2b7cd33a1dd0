/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of interp=linear. Pictures of one channel are sampled a vector of pixels at a time: one
 * gather brings both samples of a row. Packed channels are sampled a pixel at a time, one lane per
 * channel. */
#include "warp_linear.h"

/* ---- u8, one channel */

/* Samples are loaded one after the other, which is faster than gathering them. */
static void span_u8_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                      char *out)
{
    struct warp_block *b = k->b;
    const char *below = base + k->stride;
    char *quads = (char *)b->samples;
    warp_store_offsets(k, skip, i, end, 1);
    for (int l = i; l < end; l++) {
        memcpy(quads + 4 * l, base + b->at[l], 2);
        memcpy(quads + 4 * l + 2, below + b->at[l], 2);
    }
    for (; i < end; i += LANES, out += LANES) {
        tv_u32 v = tv_load_u32(quads + 4 * i);
        tv_s16 wx = warp_weights_u8(tv_load_u32(b->fx + i)),
               wy = warp_weights_u8(tv_load_u32(b->fy + i));
        warp_store_bytes(out, warp_blend_bytes(v, wx, wy));
    }
}

/* ---- binary32, one channel */

/* For means: not rounded. */
static void span_u8_mean(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                         char *out)
{
    struct warp_block *n = k->b;
    const char *below = base + k->stride;
    char *quads = (char *)n->samples;
    warp_store_offsets(k, skip, i, end, 1);
    for (int l = i; l < end; l++) {
        memcpy(quads + 4 * l, base + n->at[l], 2);
        memcpy(quads + 4 * l + 2, below + n->at[l], 2);
    }
    for (; i < end; i += LANES, out += sizeof(tv_f32)) {
        tv_f32 fx = warp_fractions(tv_load_u32(n->fx + i));
        tv_f32 fy = warp_fractions(tv_load_u32(n->fy + i));
        tv_u32 v = tv_load_u32(quads + 4 * i);
        tv_f32 four[4];
        for (int m = 0; m < 4; m++)
            four[m] = __builtin_convertvector((tv_s32)(v >> 8 * m & 255), tv_f32);
        tv_store_f32(out, warp_between(warp_between(four[0], four[1], fx, 0),
                                       warp_between(four[2], four[3], fx, 0), fy, 0));
    }
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
        tv_f32 fx = warp_fractions(tv_load_u32(n->fx + i)),
               fy = warp_fractions(tv_load_u32(n->fy + i)), a, b, c, d;
        load_floats(top + i, &a, &b);
        load_floats(bottom + i, &c, &d);
        tv_store_f32(out,
                     warp_between(warp_between(a, b, fx, 1), warp_between(c, d, fx, 1), fy, 1));
    }
}

TAMIS_INLINE void span_16_1(const struct warp_job *k, const char *base, uint32_t skip, int i,
                            int end, char *out, tamis_type type, int mean)
{
    struct warp_block *n = k->b;
    const char *below = base + k->stride;
    uint32_t *top = (uint32_t *)(void *)n->samples, *bottom = top + WARP_ROOM;
    warp_store_offsets(k, skip, i, end, 2);
    for (int l = i; l < end; l++) {
        memcpy(top + l, base + n->at[l], 4);
        memcpy(bottom + l, below + n->at[l], 4);
    }
    for (; i < end; i += LANES) {
        tv_f32 fx = warp_fractions(tv_load_u32(n->fx + i)), a, b, c, d;
        tv_f32 fy = warp_fractions(tv_load_u32(n->fy + i));
        warp_split_16(tv_load_u32(top + i), type, &a, &b);
        warp_split_16(tv_load_u32(bottom + i), type, &c, &d);
        tv_f32 v = warp_between(warp_between(a, b, fx, 0), warp_between(c, d, fx, 0), fy, 0);
        if (mean) {
            tv_store_f32(out, v);
            out += sizeof v;
            continue;
        }
        tv_s32 level = tv_round_f32(v);
        tv_u16 narrow = tv_narrow_s32(level, level);
        memcpy(out, &narrow, LANES * 2);
        out += LANES * 2;
    }
}

#define SPAN_16(NAME, TYPE, MEAN)                                                                  \
    static void span_##NAME(const struct warp_job *k, const char *base, uint32_t skip, int i,      \
                            int end, char *out)                                                    \
    {                                                                                              \
        span_16_1(k, base, skip, i, end, out, TYPE, MEAN);                                         \
    }
SPAN_16(u16_1, TAMIS_U16, 0)
SPAN_16(s16_1, TAMIS_S16, 0)
SPAN_16(u16_mean, TAMIS_U16, 1)
SPAN_16(s16_mean, TAMIS_S16, 1)
#undef SPAN_16

/* ---- u8, packed channels: a pixel in each 128 bits */

TAMIS_INLINE void span_u8_packed(const struct warp_job *k, const char *base, uint32_t skip, int i,
                                 int end, char *out, int step)
{
    struct warp_block *b = k->b;
    const char *below = base + k->stride;
    const tv_s32 half = (tv_s32){0} + 64, half_y = (tv_s32){0} + (1 << 20);
    warp_store_offsets(k, skip, i, end, (uint32_t)step);
    for (int l = i; l < end; l += LANES) {
        tv_store_s16(b->wx + l, warp_weights_u8(tv_load_u32(b->fx + l)));
        tv_store_s16(b->wy + l, warp_weights_u8(tv_load_u32(b->fy + l)));
    }
    for (int l = i; l < end; l++) {
        memcpy(&b->samples[2 * l], base + b->at[l], 8);
        memcpy(&b->samples[2 * l + 1], below + b->at[l], 8);
    }
    for (; i < end; i += PIXELS, out += PIXELS * step) {
        tv_u8 v = tv_load_u8(&b->samples[2 * i]);
        tv_s16 wx = warp_spread(b->wx + i), wy = warp_spread(b->wy + i);
        tv_s32 t = tv_dot_s16(half, warp_pairs(v, step, 0), wx) >> 7;
        tv_s32 u = tv_dot_s16(half, warp_pairs(v, step, 8), wx) >> 7;
        warp_store_pixels(out, tv_dot_s16(half_y, (tv_s16)(t | u << 16), wy) >> 21, step);
    }
}

/* ---- one pixel, a lane per channel */

TAMIS_INLINE w_s32 lerp_s32(w_s32 a, w_s32 b, int32_t f)
{
    return (a << 14) + (b - a) * f;
}

TAMIS_INLINE w_f32 lerp_f32(w_f32 a, w_f32 b, float f)
{
    return f == 0 ? a : a + (b - a) * f;
}

/* The pixel i of the block from its four neighbors; for means as floats. */
TAMIS_INLINE void blend(const struct warp_block *k, int i, const char *const at[4], void *out,
                        tamis_type type, int mean)
{
    if (type == TAMIS_U8 && !mean) {
        int32_t fx = (int32_t)(k->fx[i] >> 18), fy = (int32_t)(k->fy[i] >> 18);
        w_s32 t = (lerp_s32(warp_load_s32(at[0], type), warp_load_s32(at[1], type), fx) + 64) >> 7;
        w_s32 b = (lerp_s32(warp_load_s32(at[2], type), warp_load_s32(at[3], type), fx) + 64) >> 7;
        warp_store_lanes(out, (lerp_s32(t, b, fy) + (1 << 20)) >> 21, type);
        return;
    }
    float fx = (float)(int32_t)(k->fx[i] >> 8) * 0x1p-24f;
    float fy = (float)(int32_t)(k->fy[i] >> 8) * 0x1p-24f;
    w_f32 t = lerp_f32(warp_load_f32(at[0], type), warp_load_f32(at[1], type), fx);
    w_f32 b = lerp_f32(warp_load_f32(at[2], type), warp_load_f32(at[3], type), fx);
    w_f32 v = lerp_f32(t, b, fy);
    if (type == TAMIS_F32 || mean)
        memcpy(out, &v, sizeof v);
    else
        warp_store_lanes(out, warp_round_f32(v), type);
}

TAMIS_INLINE void span_packed(const struct warp_job *k, const char *base, uint32_t skip, int i,
                              int end, char *out, tamis_type type, int step, int mean)
{
    ptrdiff_t pixel = step * (ptrdiff_t)warp_size(type), result = mean ? 4 * step : pixel;
    warp_store_offsets(k, skip, i, end, (uint32_t)pixel);
    for (; i < end; i++, out += result) {
        const char *p = base + k->b->at[i], *q = p + k->stride;
        const char *const four[4] = {p, p + pixel, q, q + pixel};
        blend(k->b, i, four, out, type, mean);
    }
}

/* The four neighbors of a pixel near the edge, which may lie anywhere; those outside point at
 * `out`.
 */
TAMIS_INLINE void find_neighbors(const struct warp_job *k, int i, size_t pixel, const char *out,
                                 const char *at[4])
{
    int64_t x[2], y[2];
    for (int n = 0; n < 2; n++) {
        x[n] = warp_index(k->c->border, (int64_t)k->b->x[i] + n, k->w);
        y[n] = warp_index(k->c->border, (int64_t)k->b->y[i] + n, k->h);
    }
    for (int n = 0; n < 4; n++)
        at[n] = x[n % 2] < 0 || y[n / 2] < 0
                    ? out
                    : k->data + y[n / 2] * k->stride + x[n % 2] * (ptrdiff_t)pixel;
}

static void one_u8(const struct warp_job *k, int i, void *out)
{
    uint8_t outside[4];
    const char *at[4];
    int32_t fx = (int32_t)(k->b->fx[i] >> 18), fy = (int32_t)(k->b->fy[i] >> 18);
    warp_fill_samples(k, TAMIS_U8, 4, (char *)outside);
    find_neighbors(k, i, (size_t)k->t->step, (const char *)outside, at);
    for (int c = 0; c < k->t->step; c++) {
        int32_t v[4];
        for (int n = 0; n < 4; n++)
            v[n] = (uint8_t)at[n][c];
        int32_t top = ((v[0] << 14) + (v[1] - v[0]) * fx + 64) >> 7;
        int32_t bottom = ((v[2] << 14) + (v[3] - v[2]) * fx + 64) >> 7;
        ((uint8_t *)out)[c] = (uint8_t)(((top << 14) + (bottom - top) * fy + (1 << 20)) >> 21);
    }
}

/* The others are copied out, for vectors read more than a pixel. */
TAMIS_INLINE void edge_pixel(const struct warp_job *k, int i, void *out, tamis_type type, int mean)
{
    size_t size = (size_t)k->t->step * warp_size(type);
    char copies[4][16], outside[16], result[16];
    const char *at[4];
    warp_fill_samples(k, type, 4, outside);
    find_neighbors(k, i, size, outside, at);
    for (int n = 0; n < 4; n++) {
        memset(copies[n], 0, sizeof copies[n]);
        memcpy(copies[n], at[n], size);
        at[n] = copies[n];
    }
    blend(k->b, i, at, result, type, mean);
    memcpy(out, result, mean ? 4 * (size_t)k->t->step : size);
}

#define EDGE(NAME, TYPE, MEAN)                                                                     \
    static void one_##NAME(const struct warp_job *k, int i, void *out)                             \
    {                                                                                              \
        edge_pixel(k, i, out, TYPE, MEAN);                                                         \
    }
EDGE(u16, TAMIS_U16, 0)
EDGE(s16, TAMIS_S16, 0)
EDGE(f32, TAMIS_F32, 0)
EDGE(u8_mean, TAMIS_U8, 1)
EDGE(u16_mean, TAMIS_U16, 1)
EDGE(s16_mean, TAMIS_S16, 1)
#undef EDGE

/* ---- rows */

#if defined(TAMIS_AVX512)
#define SQUARES(T, STEP) TAMIS_FN(tamis_priv_warp_squares_##T##_##STEP)
#else
#define SQUARES(T, STEP) NULL
#endif
#define SPANS(T, STEP) NULL
/* BEHIND: how many pixels a span reads from the first on, at least. */
#define WAY(T, TYPE, STEP, BEHIND, BAND)                                                           \
    {                                                                                              \
        TYPE, (TYPE) == TAMIS_U8 ? 14 : 24, 0, BEHIND, 2, STEP * sizeof(T##_sample),               \
            span_##T##_##STEP, one_##T, (STEP) == 1, BAND                                          \
    }
#define SPAN(T, TYPE, STEP)                                                                        \
    static void span_##T##_##STEP(const struct warp_job *k, const char *base, uint32_t skip,       \
                                  int i, int end, char *out)                                       \
    {                                                                                              \
        if ((TYPE) == TAMIS_U8)                                                                    \
            span_u8_packed(k, base, skip, i, end, out, STEP);                                      \
        else                                                                                       \
            span_packed(k, base, skip, i, end, out, TYPE, STEP, 0);                                \
    }
#define LINEAR(T, TYPE, PACKED)                                                                    \
    SPAN(T, TYPE, 2)                                                                               \
    SPAN(T, TYPE, 3)                                                                               \
    SPAN(T, TYPE, 4)                                                                               \
    void TAMIS_FN(tamis_priv_warp_linear_##T)(const tamis_tile *t, const void *coef,               \
                                              void *scratch)                                       \
    {                                                                                              \
        static const struct warp_way ways[4] = {                                                   \
            WAY(T, TYPE, 1, 2, SQUARES(T, 1)), WAY(T, TYPE, 2, 4, PACKED(T, 2)),                   \
            WAY(T, TYPE, 3, 3, PACKED(T, 3)), WAY(T, TYPE, 4, 2, PACKED(T, 4))};                   \
        TAMIS_FN(tamis_priv_warp_tile)(t, coef, scratch, &ways[t->step - 1]);                      \
    }
typedef uint8_t u8_sample;
typedef uint16_t u16_sample;
typedef int16_t s16_sample;
typedef float f32_sample;
LINEAR(u8, TAMIS_U8, SQUARES)
LINEAR(u16, TAMIS_U16, SPANS)
LINEAR(s16, TAMIS_S16, SPANS)
LINEAR(f32, TAMIS_F32, SPANS)
#undef LINEAR
#undef SPANS
#undef SQUARES
#undef SPAN
#undef WAY

/* ---- area: the same samples as floats */

#define MEAN_SPAN(T, TYPE, STEP)                                                                   \
    static void mean_##T##_##STEP(const struct warp_job *k, const char *base, uint32_t skip,       \
                                  int i, int end, char *out)                                       \
    {                                                                                              \
        span_packed(k, base, skip, i, end, out, TYPE, STEP, 1);                                    \
    }
#define MEAN_WAY(T, STEP, BEHIND, SPAN, ONE)                                                       \
    {                                                                                              \
        TAMIS_F32, 24, 0, BEHIND, 2, STEP * sizeof(float), SPAN, ONE                               \
    }
#define MEAN(T, TYPE, SPAN, ONE)                                                                   \
    MEAN_SPAN(T, TYPE, 2)                                                                          \
    MEAN_SPAN(T, TYPE, 3)                                                                          \
    MEAN_SPAN(T, TYPE, 4)                                                                          \
    void TAMIS_FN(tamis_priv_warp_area_##T)(const tamis_tile *t, const void *coef, void *scratch)  \
    {                                                                                              \
        static const struct warp_way ways[4] = {                                                   \
            MEAN_WAY(T, 1, 2, SPAN, ONE), MEAN_WAY(T, 2, 4, mean_##T##_2, ONE),                    \
            MEAN_WAY(T, 3, 3, mean_##T##_3, ONE), MEAN_WAY(T, 4, 2, mean_##T##_4, ONE)};           \
        TAMIS_FN(tamis_priv_warp_mean)(t, coef, scratch, &ways[t->step - 1], TYPE);                \
    }
MEAN(u8, TAMIS_U8, span_u8_mean, one_u8_mean)
MEAN(u16, TAMIS_U16, span_u16_mean, one_u16_mean)
MEAN(s16, TAMIS_S16, span_s16_mean, one_s16_mean)
MEAN(f32, TAMIS_F32, span_f32_1, one_f32)
#undef MEAN
#undef MEAN_WAY
#undef MEAN_SPAN
