/* SPDX-License-Identifier: Apache-2.0 */
/* The C reference of all warps: what warp_kernel.h says, sample by sample. */
#include <math.h>
#include <string.h>

#include "warp_kernel.h"

/* ---- positions */

struct position {
    int64_t x, y; /* 2^-32 pixel */
};

static int64_t fixed(double v)
{
    v = v >= -WARP_FAR ? v : -WARP_FAR; /* NaN as well */
    v = v <= WARP_FAR ? v : WARP_FAR;
    return (int64_t)nearbyint(v * 0x1p32);
}

/* Of what lies u to the right of column x and v below row y. */
static struct position affine_position(const struct warp_coef *c, int32_t x, int32_t y, double u,
                                       double v)
{
    const double *m = c->m;
    int32_t first = x / WARP_BLOCK * WARP_BLOCK;
    return (struct position){
        fixed(m[0] * (first + u) + (m[1] * (y + v) + m[2])) + (x - first) * c->step_x,
        fixed(m[3] * (first + u) + (m[4] * (y + v) + m[5])) + (x - first) * c->step_y,
    };
}

static struct position perspective_position(const struct warp_coef *c, double x, double y)
{
    const double *m = c->m;
    double q = 1 / (m[6] * x + (m[7] * y + m[8]));
    return (struct position){fixed((m[0] * x + (m[1] * y + m[2])) * q),
                             fixed((m[3] * x + (m[4] * y + m[5])) * q)};
}

/* A pixel of the result. */
struct place {
    const tamis_tile *t;
    int i, j; /* column and row in the tile */
};

/* Of what lies u to the right of the pixel's middle and v below; maps know the middle only. */
static struct position position_of(const struct warp_coef *c, struct place at, double u, double v)
{
    int32_t x = at.t->x + at.i, y = at.t->y + at.j;
    if (c->kind == WARP_AFFINE)
        return affine_position(c, x, y, u, v);
    if (c->kind == WARP_PERSPECTIVE)
        return perspective_position(c, x + u, y + v);
    const float *map_x = at.t->guide[0][at.j], *map_y = at.t->guide[1][at.j];
    return (struct position){fixed((double)map_x[at.i]), fixed((double)map_y[at.i])};
}

/* Splits into the sample before and the fraction, which is a multiple of 2^-bits. */
static int64_t before(int64_t position, int bits, int32_t *fraction)
{
    int64_t p = (position + ((int64_t)1 << (31 - bits))) >> (32 - bits);
    *fraction = (int32_t)(p & (((int64_t)1 << bits) - 1));
    return p >> bits;
}

/* ---- samples */

/* One plane or packed channel of the source; type says how samples lie. */
struct source {
    const tamis_whole *whole;
    tamis_border border;
    tamis_type type;
    int step, channel;
};

/* Samples of the source need not be aligned. */
static double level(tamis_type type, const char *at)
{
    uint16_t u;
    int16_t i;
    float f;
    switch (type) {
    case TAMIS_U8:
        return (uint8_t)*at;
    case TAMIS_U16:
        memcpy(&u, at, sizeof u);
        return u;
    case TAMIS_S16:
        memcpy(&i, at, sizeof i);
        return i;
    default:
        memcpy(&f, at, sizeof f);
        return (double)f;
    }
}

static double sample(const struct source *s, int64_t x, int64_t y)
{
    int64_t sx = tamis_border_index(s->border, x, s->whole->w);
    int64_t sy = tamis_border_index(s->border, y, s->whole->h);
    if (sx < 0 || sy < 0)
        return s->whole->outside[0];
    const char *row = (const char *)s->whole->data[0] + sy * s->whole->stride[0];
    size_t at = (size_t)sx * (size_t)s->step + (size_t)s->channel, size = tamis_type_size(s->type);
    return level(s->type, row + at * size);
}

/* Whether no sample of a window of taps x taps, around x and y, is in the picture. */
static int is_outside(const struct source *s, int64_t x, int64_t y, int taps)
{
    int64_t before_it = taps / 2 - 1, behind = taps / 2;
    return s->border == TAMIS_BORDER_CONSTANT && (x + behind < 0 || x - before_it >= s->whole->w ||
                                                  y + behind < 0 || y - before_it >= s->whole->h);
}

/* ---- interpolation */

static double nearest(const struct source *s, struct position p)
{
    int64_t half = (int64_t)1 << 31;
    return sample(s, (p.x + half) >> 32, (p.y + half) >> 32);
}

static double linear_u8(const struct source *s, struct position p)
{
    int32_t fx, fy, row[2];
    int64_t x = before(p.x, 14, &fx), y = before(p.y, 14, &fy);
    for (int j = 0; j < 2; j++) {
        int32_t a = (int32_t)sample(s, x, y + j), b = (int32_t)sample(s, x + 1, y + j);
        row[j] = (a * (16384 - fx) + b * fx + 64) >> 7;
    }
    return (row[0] * (16384 - fy) + row[1] * fy + (1 << 20)) >> 21;
}

static float between(float a, float b, float f)
{
    return f == 0 ? a : a + (b - a) * f;
}

static double linear_float(const struct source *s, struct position p)
{
    int32_t fx, fy;
    int64_t x = before(p.x, 24, &fx), y = before(p.y, 24, &fy);
    float row[2], f = (float)fx * 0x1p-24f;
    for (int j = 0; j < 2; j++)
        row[j] = between((float)sample(s, x, y + j), (float)sample(s, x + 1, y + j), f);
    return (double)between(row[0], row[1], (float)fy * 0x1p-24f);
}

/* Of the samples at -1, 0, 1, 2 for the fraction t. Keys' piecewise cubic with slope a at 1 (R.
 * Keys, "Cubic convolution interpolation for digital image processing", 1981). */
static void weights_cubic(float a, float t, float w[4])
{
    w[0] = t * (a + t * (a * t - 2 * a));
    w[1] = 1 + t * t * ((a + 2) * t - (a + 3));
    w[2] = t * (t * ((2 * a + 3) - (a + 2) * t) - a);
    w[3] = t * t * (a - a * t);
}

static void weights_cubic_u8(float a, int32_t fraction, int32_t w[4])
{
    float f[4];
    weights_cubic(a, (float)fraction * 0x1p-14f, f);
    for (int i = 0; i < 4; i++)
        w[i] = (int32_t)nearbyintf(f[i] * 16384);
    w[1] = 16384 - w[0] - w[2] - w[3];
}

static double cubic_u8(const struct warp_coef *c, const struct source *s, struct position p)
{
    int32_t fx, fy, wx[4], wy[4], sum = 1 << 19;
    int64_t x = before(p.x, 14, &fx), y = before(p.y, 14, &fy);
    weights_cubic_u8(c->cubic_a, fx, wx);
    weights_cubic_u8(c->cubic_a, fy, wy);
    for (int j = 0; j < 4; j++) {
        int32_t row = 1 << 7;
        for (int i = 0; i < 4; i++)
            row += wx[i] * (int32_t)sample(s, x + i - 1, y + j - 1);
        sum += wy[j] * (row >> 8);
    }
    return sum >> 20;
}

/* Where a fraction is 0 only what lies there is looked at along that axis. Column x of a window
 * whose weights w, taps of them, belong to row y: */
static float down(const struct source *s, int64_t x, int64_t y, int32_t fraction, const float *w,
                  int taps)
{
    int64_t top = y - (taps / 2 - 1);
    if (fraction == 0)
        return (float)sample(s, x, y);
    float column = w[0] * (float)sample(s, x, top);
    for (int j = 1; j < taps; j++)
        column += w[j] * (float)sample(s, x, top + j);
    return column;
}

static double cubic_float(const struct warp_coef *c, const struct source *s, struct position p)
{
    int32_t fx, fy;
    float wx[4], wy[4], v[4];
    int64_t x = before(p.x, 24, &fx), y = before(p.y, 24, &fy);
    if (is_outside(s, x, y, 4))
        return s->whole->outside[0];
    weights_cubic(c->cubic_a, (float)fx * 0x1p-24f, wx);
    weights_cubic(c->cubic_a, (float)fy * 0x1p-24f, wy);
    if (fx == 0)
        return (double)down(s, x, y, fy, wy, 4);
    for (int i = 0; i < 4; i++)
        v[i] = wx[i] * down(s, x + i - 1, y, fy, wy, 4);
    return (double)((v[0] + v[2]) + (v[1] + v[3]));
}

/* Of the samples at -2 .. 3. */
static void weights_lanczos(const struct warp_coef *c, int32_t fraction, float w[6])
{
    const float *a = c->lanczos + (fraction >> 14) * WARP_TABLE_TAPS, *b = a + WARP_TABLE_TAPS;
    float f = (float)(fraction & 16383) * 0x1p-14f;
    for (int i = 0; i < 6; i++)
        w[i] = a[i] + (b[i] - a[i]) * f;
}

static double lanczos3(const struct warp_coef *c, const struct source *s, struct position p)
{
    int32_t fx, fy;
    float wx[6], wy[6], v[6];
    int64_t x = before(p.x, 24, &fx), y = before(p.y, 24, &fy);
    if (is_outside(s, x, y, 6))
        return s->whole->outside[0];
    weights_lanczos(c, fx, wx);
    weights_lanczos(c, fy, wy);
    if (fx == 0)
        return (double)down(s, x, y, fy, wy, 6);
    for (int i = 0; i < 6; i++)
        v[i] = wx[i] * down(s, x + i - 2, y, fy, wy, 6);
    return (double)(((v[0] + v[4]) + v[2]) + ((v[1] + v[5]) + v[3]));
}

static double area(const struct warp_coef *c, const struct source *s, struct place at)
{
    float total = 0;
    int32_t x = at.t->x + at.i, y = at.t->y + at.j;
    int grid[2];
    tamis_priv_warp_grid(c, x / WARP_BLOCK * WARP_BLOCK, y, grid);
    for (int j = 0; j < grid[1]; j++) {
        float line = 0;
        for (int i = 0; i < grid[0]; i++) {
            double u = (i + 0.5) / grid[0] - 0.5, v = (j + 0.5) / grid[1] - 0.5;
            line += (float)linear_float(s, position_of(c, at, u, v));
        }
        total += line;
    }
    return (double)(total / (float)(grid[0] * grid[1]));
}

static double interpolate(const struct warp_coef *c, const struct source *s, struct place at)
{
    int u8 = s->type == TAMIS_U8;
    struct position p = position_of(c, at, 0, 0);
    switch (c->interp) {
    case TAMIS_INTERP_NEAREST:
        return nearest(s, p);
    case TAMIS_INTERP_LINEAR:
        return u8 ? linear_u8(s, p) : linear_float(s, p);
    case TAMIS_INTERP_CUBIC:
        return u8 ? cubic_u8(c, s, p) : cubic_float(c, s, p);
    case TAMIS_INTERP_LANCZOS3:
        return lanczos3(c, s, p);
    case TAMIS_INTERP_AREA:
        break;
    }
    return area(c, s, at);
}

/* ---- the kernels */

static double saturate(double v, double lo, double hi)
{
    v = nearbyint(v);
    return v < lo ? lo : v < hi ? v : hi;
}

static void store(tamis_type type, void *row, int i, double v)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = (uint8_t)saturate(v, 0, 255);
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = (uint16_t)saturate(v, 0, 65535);
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = (int16_t)saturate(v, -32768, 32767);
        break;
    default:
        ((float *)row)[i] = (float)v;
    }
}

static void warp(const tamis_tile *t, const struct warp_coef *c, tamis_type type)
{
    struct source s = {.whole = t->whole, .border = c->border, .type = type, .step = t->step};
    for (int j = 0; j < t->h; j++) {
        void *row = (char *)t->dst[0] + j * t->dst_stride[0];
        for (int i = 0; i < t->w && !tamis_tile_canceled(t); i++) {
            struct place at = {t, i, j};
            for (s.channel = 0; s.channel < t->step; s.channel++)
                store(type, row, i * t->step + s.channel, interpolate(c, &s, at));
        }
    }
}

static void warp_u8_c(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)scratch;
    warp(t, coef, TAMIS_U8);
}

static void warp_u16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)scratch;
    warp(t, coef, TAMIS_U16);
}

static void warp_s16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)scratch;
    warp(t, coef, TAMIS_S16);
}

static void warp_f32_c(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)scratch;
    warp(t, coef, TAMIS_F32);
}

#define ROWS(stage)                                                                                \
    {stage, TAMIS_U8, TAMIS_CPU_C, warp_u8_c, 0}, {stage, TAMIS_U16, TAMIS_CPU_C, warp_u16_c, 0},  \
        {stage, TAMIS_S16, TAMIS_CPU_C, warp_s16_c, 0},                                            \
    {                                                                                              \
        stage, TAMIS_F32, TAMIS_CPU_C, warp_f32_c, 0                                               \
    }

extern const tamis_kernel warp_kernels_c[], warp_area_kernels_c[];
const tamis_kernel warp_kernels_c[] = {
    ROWS("nearest"), ROWS("linear"), ROWS("cubic"), ROWS("lanczos3"), {.fn = NULL},
};
const tamis_kernel warp_area_kernels_c[] = {
    ROWS("area"),
    {.fn = NULL},
};
#undef ROWS

TAMIS_KERNEL_DECLARE(warp);
TAMIS_KERNEL_DECLARE(warp_area);
const tamis_kernel *const tamis_priv_warp_kernels[] = TAMIS_KERNEL_LIST(warp);
const tamis_kernel *const tamis_priv_warp_kernels_all[] = {TAMIS_KERNEL_TABLES(warp),
                                                           TAMIS_KERNEL_TABLES(warp_area), NULL};
