/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of interp=cubic and lanczos3: u8 cubic in fixed point, a vector of pixels at a time;
 * all else in binary32, a pixel at a time. */
#include "warp_lanes.h"

/* ---- weights */

/* Of the four samples, as in the reference. */
TAMIS_INLINE void cubic_weights(float slope, tv_f32 t, tv_f32 w[4])
{
    tv_f32 a = (tv_f32){0} + slope;
    w[0] = t * (a + t * (a * t - 2 * a));
    w[1] = 1 + t * t * ((a + 2) * t - (a + 3));
    w[2] = t * (t * ((2 * a + 3) - (a + 2) * t) - a);
    w[3] = t * t * (a - a * t);
}

TAMIS_INLINE tv_u32 two_halves(tv_s32 low, tv_s32 high)
{
    return ((tv_u32)low & 0xffff) | (tv_u32)high << 16;
}

/* In multiples of 2^-14: those of samples 0 and 1, and of 2 and 3. */
TAMIS_INLINE void cubic_weights_u8(float slope, const uint32_t *fraction, uint32_t *first,
                                   uint32_t *second)
{
    tv_f32 w[4];
    tv_s32 f = (tv_s32)(tv_load_u32(fraction) >> 18);
    cubic_weights(slope, __builtin_convertvector(f, tv_f32) * 0x1p-14f, w);
    tv_s32 a = tv_round_f32(w[0] * 16384), c = tv_round_f32(w[2] * 16384);
    tv_s32 d = tv_round_f32(w[3] * 16384);
    tv_store_u32(first, two_halves(a, 16384 - a - c - d));
    tv_store_u32(second, two_halves(c, d));
}

static void set_weights_u8(const struct warp_job *k, int i, int end)
{
    struct warp_block *b = k->b;
    for (; i < end; i += LANES) {
        cubic_weights_u8(k->c->cubic_a, b->fx + i, b->weights[0] + i, b->weights[1] + i);
        cubic_weights_u8(k->c->cubic_a, b->fy + i, b->weights[2] + i, b->weights[3] + i);
    }
}

TAMIS_INLINE void cubic_axis(float slope, const uint32_t *fraction, float (*out)[8], int n)
{
    float lanes[4][LANES];
    tv_f32 w[4];
    tv_s32 f = (tv_s32)(tv_load_u32(fraction) >> 8);
    cubic_weights(slope, __builtin_convertvector(f, tv_f32) * 0x1p-24f, w);
    memcpy(lanes, w, sizeof lanes);
    for (int l = 0; l < n; l++)
        for (int m = 0; m < 4; m++)
            out[l][m] = lanes[m][l];
}

typedef float w_eight __attribute__((vector_size(32)));

TAMIS_INLINE void lanczos_axis(const float *table, uint32_t fraction, float *out)
{
    const float *from = table + (fraction >> 22) * WARP_TABLE_TAPS;
    w_eight a, b;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + WARP_TABLE_TAPS, sizeof b);
    a += (b - a) * ((float)(int32_t)(fraction >> 8 & 16383) * 0x1p-14f);
    memcpy(out, &a, sizeof a);
}

static void set_weights(const struct warp_job *k, int i, int end)
{
    struct warp_block *b = k->b;
    if (k->c->interp == TAMIS_INTERP_CUBIC) {
        for (; i < end; i += LANES) {
            int n = end - i < LANES ? end - i : LANES;
            cubic_axis(k->c->cubic_a, b->fx + i, b->across + i, n);
            cubic_axis(k->c->cubic_a, b->fy + i, b->down + i, n);
        }
        return;
    }
    for (; i < end; i++) {
        lanczos_axis(k->c->lanczos, b->fx[i], b->across[i]);
        lanczos_axis(k->c->lanczos, b->fy[i], b->down[i]);
    }
}

/* ---- u8 cubic */

TAMIS_INLINE tv_s32 row_sum(tv_s16 first, tv_s16 second, tv_s16 w0, tv_s16 w1)
{
    tv_s32 half = (tv_s32){0} + (1 << 7);
    return tv_dot_s16(tv_dot_s16(half, first, w0), second, w1) >> 8;
}

TAMIS_INLINE tv_s32 last_sum(const tv_s32 rows[4], tv_s16 w0, tv_s16 w1)
{
    tv_s32 half = (tv_s32){0} + (1 << 19);
    tv_s16 first = (tv_s16)two_halves(rows[0], rows[1]);
    tv_s16 second = (tv_s16)two_halves(rows[2], rows[3]);
    tv_s32 v = tv_dot_s16(tv_dot_s16(half, first, w0), second, w1) >> 20;
    return tv_max_s32(tv_min_s32(v, (tv_s32){0} + 255), (tv_s32){0});
}

static void span_u8_1(const struct warp_job *k, const char *base, uint32_t skip, int i, int end,
                      char *out)
{
    struct warp_block *b = k->b;
    uint32_t *samples = (uint32_t *)(void *)b->samples; /* WARP_ROOM of each row */
    warp_store_offsets(k, skip, i, end, 1);
    set_weights_u8(k, i, end);
    ptrdiff_t stride = k->stride;
    base -= stride + 1;
    for (int l = i; l < end; l++) {
        const char *p = base + b->at[l];
        for (int r = 0; r < 4; r++)
            memcpy(samples + r * WARP_ROOM + l, p + r * stride, 4);
    }
    for (; i < end; i += LANES, out += LANES) {
        tv_s16 x0 = (tv_s16)tv_load_u32(b->weights[0] + i);
        tv_s16 x1 = (tv_s16)tv_load_u32(b->weights[1] + i);
        tv_s32 rows[4];
        for (int r = 0; r < 4; r++) {
            tv_u32 v = tv_load_u32(samples + r * WARP_ROOM + i);
            rows[r] = row_sum(warp_two_bytes(v, 0), warp_two_bytes(v, 1), x0, x1);
        }
        warp_store_bytes(out, last_sum(rows, (tv_s16)tv_load_u32(b->weights[2] + i),
                                       (tv_s16)tv_load_u32(b->weights[3] + i)));
    }
}

TAMIS_INLINE void span_u8_packed(const struct warp_job *k, const char *base, uint32_t skip, int i,
                                 int end, char *out, int step)
{
    struct warp_block *b = k->b;
    char *samples = (char *)b->samples; /* WARP_ROOM times 16 bytes of each row */
    warp_store_offsets(k, skip, i, end, (uint32_t)step);
    set_weights_u8(k, i, end);
    ptrdiff_t stride = k->stride;
    base -= stride + step;
    for (int l = i; l < end; l++) {
        const char *p = base + b->at[l];
        for (int r = 0; r < 4; r++)
            memcpy(samples + 16 * (r * WARP_ROOM + l), p + r * stride, 16);
    }
    for (; i < end; i += PIXELS, out += PIXELS * step) {
        tv_s16 x0 = warp_spread(b->weights[0] + i), x1 = warp_spread(b->weights[1] + i);
        tv_s32 rows[4];
        for (int r = 0; r < 4; r++) {
            tv_u8 v = tv_load_u8(samples + 16 * (r * WARP_ROOM + i));
            rows[r] = row_sum(warp_pairs(v, step, 0), warp_pairs(v, step, 2 * step), x0, x1);
        }
        tv_s32 v = last_sum(rows, warp_spread(b->weights[2] + i), warp_spread(b->weights[3] + i));
        warp_store_pixels(out, v, step);
    }
}

/* ---- a pixel near the edge: its window is copied out first */

enum { PATCH = 8 * 16 + 32 }; /* bytes of a row: 8 pixels of up to 16, and what vectors read more */

static void make_patch(const struct warp_job *k, int i, int taps, tamis_type type,
                       char patch[6][PATCH])
{
    size_t pixel = (size_t)k->t->step * warp_size(type);
    int64_t x = (int64_t)k->b->x[i] - (taps / 2 - 1), y = (int64_t)k->b->y[i] - (taps / 2 - 1);
    int64_t columns[6];
    for (int c = 0; c < taps; c++)
        columns[c] = warp_index(k->c->border, x + c, k->w);
    for (int r = 0; r < taps; r++) {
        int64_t row = warp_index(k->c->border, y + r, k->h);
        memset(patch[r], 0, PATCH);
        for (int c = 0; c < taps; c++) {
            char *to = patch[r] + (size_t)c * pixel;
            if (row >= 0 && columns[c] >= 0)
                memcpy(to, k->data + row * k->stride + columns[c] * (ptrdiff_t)pixel, pixel);
            else
                warp_fill(k, type, 1, to);
        }
    }
}

static int32_t half_of(const struct warp_block *b, int axis, int m, int i)
{
    return (int16_t)(b->weights[2 * axis + m / 2][i] >> 16 * (m % 2));
}

static void one_u8(const struct warp_job *k, int i, void *out)
{
    char patch[6][PATCH];
    const struct warp_block *b = k->b;
    int step = k->t->step;
    make_patch(k, i, 4, TAMIS_U8, patch);
    set_weights_u8(k, i, i + 1);
    for (int c = 0; c < step; c++) {
        int32_t sum = 1 << 19;
        for (int r = 0; r < 4; r++) {
            int32_t row = 1 << 7;
            for (int m = 0; m < 4; m++)
                row += half_of(b, 0, m, i) * (uint8_t)patch[r][m * step + c];
            sum += half_of(b, 1, r, i) * (row >> 8);
        }
        sum >>= 20;
        ((uint8_t *)out)[c] = (uint8_t)(sum < 0 ? 0 : sum < 255 ? sum : 255);
    }
}

/* ---- binary32 */

TAMIS_INLINE void store_value(void *out, int i, float v, tamis_type type)
{
    float r = type == TAMIS_F32 ? v : __builtin_nearbyintf(v);
    if (type == TAMIS_U8)
        ((uint8_t *)out)[i] = (uint8_t)(r < 0 ? 0 : r < 255 ? r : 255);
    else if (type == TAMIS_U16)
        ((uint16_t *)out)[i] = (uint16_t)(r < 0 ? 0 : r < 65535 ? r : 65535);
    else if (type == TAMIS_S16)
        ((int16_t *)out)[i] = (int16_t)(r < -32768 ? -32768 : r < 32767 ? r : 32767);
    else
        ((float *)out)[i] = v;
}

/* The row's sum of weighted columns, in the reference's order. */
#define ROW_SUM(v, taps)                                                                           \
    ((taps) == 4 ? (v[0] + v[2]) + (v[1] + v[3]) : ((v[0] + v[4]) + v[2]) + ((v[1] + v[5]) + v[3]))

/* One channel: a lane per column of the window, whose first sample is p. */
TAMIS_INLINE void pixel_1(const char *p, ptrdiff_t stride, const float *across, const float *down,
                          void *out, tamis_type type, int taps)
{
    ptrdiff_t four = 4 * (ptrdiff_t)warp_size(type);
    w_f32 a = warp_load_f32(p, type) * down[0], b = {0}, w;
    float v[8];
    if (taps > 4)
        b = warp_load_f32(p + four, type) * down[0];
    for (int r = 1; r < taps; r++) {
        a += warp_load_f32(p + r * stride, type) * down[r];
        if (taps > 4)
            b += warp_load_f32(p + r * stride + four, type) * down[r];
    }
    memcpy(&w, across, sizeof w);
    a *= w;
    memcpy(v, &a, sizeof a);
    memcpy(&w, across + 4, sizeof w);
    b *= w;
    memcpy(v + 4, &b, sizeof b);
    store_value(out, 0, ROW_SUM(v, taps), type);
}

/* Packed channels: a lane per channel. */
TAMIS_INLINE void pixel_packed(const char *p, ptrdiff_t stride, const float *across,
                               const float *down, void *out, tamis_type type, int taps, int step)
{
    ptrdiff_t pixel = step * (ptrdiff_t)warp_size(type);
    w_f32 v[6];
    for (int c = 0; c < taps; c++) {
        w_f32 column = warp_load_f32(p + c * pixel, type) * down[0];
        for (int r = 1; r < taps; r++)
            column += warp_load_f32(p + c * pixel + r * stride, type) * down[r];
        v[c] = across[c] * column;
    }
    w_f32 sum = ROW_SUM(v, taps);
    for (int c = 0; c < step; c++)
        store_value(out, c, sum[c], type);
}
/* One column of a window, as pixel_1() has it; alone: nothing but its middle sample. */
static float down_exactly(const char *p, ptrdiff_t stride, const float *down, int taps, int alone)
{
    float v, sum;
    memcpy(&sum, p + (alone ? (taps / 2 - 1) * stride : 0), sizeof sum);
    if (alone)
        return sum;
    sum *= down[0];
    for (int r = 1; r < taps; r++) {
        memcpy(&v, p + r * stride, sizeof v);
        sum += v * down[r];
    }
    return sum;
}

/* Floats where a fraction is 0: NaN and infinity beside what lies there must not matter, so they
 * are not multiplied by 0. */
static void pixel_exactly(const struct warp_job *k, const char *p, ptrdiff_t stride, int i,
                          void *out, int taps, int step)
{
    const float *across = k->b->across[i], *down = k->b->down[i];
    int alone_x = k->b->fx[i] >> 8 == 0, alone_y = k->b->fy[i] >> 8 == 0;
    for (int c = 0; c < step; c++) {
        float v[6] = {0};
        for (int m = 0; m < taps; m++) {
            const char *from = p + (size_t)(m * step + c) * sizeof(float);
            if (!alone_x)
                v[m] = across[m] * down_exactly(from, stride, down, taps, alone_y);
            else if (m == taps / 2 - 1)
                v[m] = down_exactly(from, stride, down, taps, alone_y);
        }
        ((float *)out)[c] = alone_x ? v[taps / 2 - 1] : ROW_SUM(v, taps);
    }
}

TAMIS_INLINE void pixel_any(const struct warp_job *k, const char *p, ptrdiff_t stride, int i,
                            void *out, tamis_type type, int taps, int step)
{
    const float *across = k->b->across[i], *down = k->b->down[i];
    if (type == TAMIS_F32 && (k->b->fx[i] >> 8 == 0 || k->b->fy[i] >> 8 == 0))
        pixel_exactly(k, p, stride, i, out, taps, step);
    else if (step == 1)
        pixel_1(p, stride, across, down, out, type, taps);
    else
        pixel_packed(p, stride, across, down, out, type, taps, step);
}

#undef ROW_SUM

TAMIS_INLINE void span_float(const struct warp_job *k, const char *base, uint32_t skip, int i,
                             int end, char *out, tamis_type type, int taps, int step)
{
    size_t pixel = (size_t)step * warp_size(type);
    ptrdiff_t back = (taps / 2 - 1) * (k->stride + (ptrdiff_t)pixel);
    warp_store_offsets(k, skip, i, end, (uint32_t)pixel);
    set_weights(k, i, end);
    for (; i < end; i++, out += pixel)
        pixel_any(k, base + k->b->at[i] - back, k->stride, i, out, type, taps, step);
}

TAMIS_INLINE void one_float(const struct warp_job *k, int i, void *out, tamis_type type, int taps)
{
    char patch[6][PATCH];
    int step = k->t->step;
    make_patch(k, i, taps, type, patch);
    set_weights(k, i, i + 1);
    if (step == 1)
        pixel_any(k, patch[0], PATCH, i, out, type, taps, 1);
    else
        pixel_any(k, patch[0], PATCH, i, out, type, taps, step);
}

/* ---- rows */

typedef uint8_t u8_sample;
typedef uint16_t u16_sample;
typedef int16_t s16_sample;
typedef float f32_sample;

/* Vectors read four samples from any of the window's columns on, one channel eight in all. */
#define SPAN(NAME, T, TYPE, TAPS, STEP)                                                            \
    static void span_##NAME##_##T##_##STEP(const struct warp_job *k, const char *base,             \
                                           uint32_t skip, int i, int end, char *out)               \
    {                                                                                              \
        span_float(k, base, skip, i, end, out, TYPE, TAPS, STEP);                                  \
    }
#define WAY(NAME, T, TYPE, TAPS, STEP, BEHIND)                                                     \
    {                                                                                              \
        TYPE, 24, TAPS / 2 - 1, TAPS / 2 + BEHIND, TAPS / 2 + 1, STEP * sizeof(T##_sample),        \
            span_##NAME##_##T##_##STEP, one_##NAME##_##T, 1                                        \
    }
#define ROWS(NAME, T, TYPE, TAPS, BEHIND)                                                          \
    SPAN(NAME, T, TYPE, TAPS, 1)                                                                   \
    SPAN(NAME, T, TYPE, TAPS, 2)                                                                   \
    SPAN(NAME, T, TYPE, TAPS, 3)                                                                   \
    SPAN(NAME, T, TYPE, TAPS, 4)                                                                   \
    static void one_##NAME##_##T(const struct warp_job *k, int i, void *out)                       \
    {                                                                                              \
        one_float(k, i, out, TYPE, TAPS);                                                          \
    }                                                                                              \
    void TAMIS_FN(tamis_priv_warp_##NAME##_##T)(const tamis_tile *t, const void *coef,             \
                                                void *scratch)                                     \
    {                                                                                              \
        static const struct warp_way ways[4] = {                                                   \
            WAY(NAME, T, TYPE, TAPS, 1, BEHIND), WAY(NAME, T, TYPE, TAPS, 2, 2),                   \
            WAY(NAME, T, TYPE, TAPS, 3, 2), WAY(NAME, T, TYPE, TAPS, 4, 1)};                       \
        TAMIS_FN(tamis_priv_warp_tile)(t, coef, scratch, &ways[t->step - 1]);                      \
    }
ROWS(cubic, u16, TAMIS_U16, 4, 1)
ROWS(cubic, s16, TAMIS_S16, 4, 1)
ROWS(cubic, f32, TAMIS_F32, 4, 1)
ROWS(lanczos3, u8, TAMIS_U8, 6, 3)
ROWS(lanczos3, u16, TAMIS_U16, 6, 3)
ROWS(lanczos3, s16, TAMIS_S16, 6, 3)
ROWS(lanczos3, f32, TAMIS_F32, 6, 3)
#undef ROWS
#undef WAY
#undef SPAN

#define SPAN_U8(STEP)                                                                              \
    static void span_u8_##STEP(const struct warp_job *k, const char *base, uint32_t skip, int i,   \
                               int end, char *out)                                                 \
    {                                                                                              \
        span_u8_packed(k, base, skip, i, end, out, STEP);                                          \
    }
SPAN_U8(2)
SPAN_U8(3)
SPAN_U8(4)
#undef SPAN_U8

/* Packed windows are read as 16 bytes. */
void TAMIS_FN(tamis_priv_warp_cubic_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    static const struct warp_way ways[4] = {{TAMIS_U8, 14, 1, 3, 3, 1, span_u8_1, one_u8, 1},
                                            {TAMIS_U8, 14, 1, 7, 3, 2, span_u8_2, one_u8},
                                            {TAMIS_U8, 14, 1, 5, 3, 3, span_u8_3, one_u8},
                                            {TAMIS_U8, 14, 1, 3, 3, 4, span_u8_4, one_u8}};
    TAMIS_FN(tamis_priv_warp_tile)(t, coef, scratch, &ways[t->step - 1]);
}
