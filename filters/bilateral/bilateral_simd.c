/* SPDX-License-Identifier: Apache-2.0 */
/* Vector rows of the bilateral filter in float arithmetic.
 *
 * The weight of a tap is 2^t with t = log2_space - D^2 log2_range: a power by a polynomial, not a
 * table, so that all sample types keep their precision and no lane waits for a gather. What
 * is summed is w * (in(q) - in(p)), whose rounding errors shrink with the differences; the center
 * adds 0 to that sum and 1 to the sum of weights. */
#include <stdlib.h>

#include "bilateral_simd.h"
#include "cpu/simd_f32.h"

/* Floats in a vector, vectors side by side in a block, floats in a block. A block may be loaded
 * where one sample is left: 63 floats are within what may be read beyond a row. */
enum { L = TV_FLOATS, N = 4, B = L * N };

TAMIS_INLINE tv_f32 load(const void *row, ptrdiff_t i)
{
    return tv_load_f32((const float *)row + i);
}

/* What a block's sums are made of. */
typedef struct sums {
    tv_f32 center[TAMIS_MAX_CHANNELS][N];
    tv_f32 delta[TAMIS_MAX_CHANNELS][N]; /* sum of w * (in(q) - in(p)); in the end the mean */
    tv_f32 weight[N];
} sums;

/* A block of samples: row y, from i on. */
typedef struct block {
    int y, step;
    ptrdiff_t i;
} block;

/* D^2, or D for the sum of absolute differences, grown by one more plane's difference. */
TAMIS_INLINE tv_f32 add_distance(tv_f32 sum, tv_f32 d, int l1)
{
    return l1 ? sum + (tv_f32)((tv_s32)d & 0x7fffffff) : tv_muladd_f32(d, d, sum);
}

/* The guide's distance; *check becomes NaN where a difference is not finite. */
TAMIS_INLINE tv_f32 guide_distance(const bilateral_view *guide, block b, int dy, ptrdiff_t j, int n,
                                   int l1, tv_f32 *check)
{
    tv_f32 sum = {0};
    for (int p = 0; p < guide->count; p++) {
        tv_f32 d = load(guide->rows[p][b.y + dy], j) - load(guide->rows[p][b.y], b.i + n * L);
        sum = add_distance(sum, d, l1);
        *check = tv_muladd_f32(d, (tv_f32){0}, *check);
    }
    return sum;
}

/* Adds one tap. guide is NULL where D comes from the planes themselves. */
TAMIS_INLINE void add_tap(sums *s, const void *const *rows, const bilateral_view *guide, block b,
                          int dy, ptrdiff_t dx, float log2_space, tv_f32 log2_range, int planes,
                          int l1, int fine)
{
    for (int n = 0; n < N; n++) {
        tv_f32 d[TAMIS_MAX_CHANNELS], distance = {0}, check = {0};
        ptrdiff_t j = b.i + dx * b.step + n * L;
        for (int p = 0; p < planes; p++) {
            d[p] = load(rows[p], j) - s->center[p][n];
            if (!guide)
                distance = p == 0 && !l1 ? d[p] * d[p] : add_distance(distance, d[p], l1);
        }
        if (guide)
            distance = guide_distance(guide, b, dy, j, n, l1, &check);
        if (l1)
            distance *= distance;
        tv_f32 w = tv_exp2_f32(
            tv_muladd_f32(distance, log2_range, tv_splat_f32(log2_space * TV_EXP2_UNIT)), fine);
        if (guide)
            w += check;
        for (int p = 0; p < planes; p++)
            s->delta[p][n] = tv_muladd_f32(w, d[p], s->delta[p][n]);
        s->weight[n] += w;
    }
}

/* The mean differences of a block from its centers. */
TAMIS_INLINE void average(sums *s, const bilateral_coef *k, const bilateral_view *view,
                          const bilateral_view *guide, block b, int planes, int l1, int fine)
{
    for (int n = 0; n < N; n++) {
        for (int p = 0; p < planes; p++) {
            s->center[p][n] = load(view->rows[p][b.y], b.i + n * L);
            s->delta[p][n] = (tv_f32){0};
        }
        s->weight[n] = tv_splat_f32(1);
    }
    const tv_f32 log2_range = tv_splat_f32(-k->log2_range * TV_EXP2_UNIT);
    for (int dy = -k->ry; dy <= k->ry; dy++) {
        const void *rows[TAMIS_MAX_CHANNELS];
        for (int p = 0; p < planes; p++)
            rows[p] = view->rows[p][b.y + dy];
        const float *log2_space = bilateral_log2_space(k, dy);
        int half = k->half[abs(dy)];
        /* The inner loop runs once for a row, but twice where it has to leave out the center. */
        for (int dx = -half; dx <= half; dx++)
            for (int end = dy != 0 || dx > 0 ? half : -1; dx <= end; dx++)
                add_tap(s, rows, guide, b, dy, dx, log2_space[dx], log2_range, planes, l1, fine);
    }
    for (int n = 0; n < N; n++) {
        /* A plane whose sum is not finite makes NaN of all planes, if it is in their weights. */
        for (int p = 0; p < planes && planes > 1 && !guide; p++)
            s->weight[n] = tv_muladd_f32(s->delta[p][n], (tv_f32){0}, s->weight[n]);
        for (int p = 0; p < planes; p++) {
            tv_f32 sum = s->delta[p][n];
            s->delta[p][n] = sum / s->weight[n];
            if (guide)
                s->delta[p][n] = tv_muladd_f32(sum, (tv_f32){0}, s->delta[p][n]);
        }
    }
}

/* Stores the first count samples of a block; count may exceed the block. */
TAMIS_INLINE void store(tamis_type type, void *row, ptrdiff_t i, ptrdiff_t count, const tv_f32 *v)
{
    for (int n = 0; n < N; n++)
        tv_store_samples(type, row, i + n * L, count - n * L, v[n]);
}

TAMIS_INLINE void *dst_row(const tamis_tile *t, int plane, int y)
{
    return (char *)t->dst[plane] + y * t->dst_stride[plane];
}

/* What is to be filtered with one weight: the planes of view, which are the tile's from first on.
 * D comes from guide, or from the view where that is NULL. */
typedef struct group {
    const tamis_tile *tile;
    const bilateral_coef *coef;
    tamis_type type;
    bilateral_view view;
    const bilateral_view *guide;
    int first;
} group;

TAMIS_INLINE void filter(const group *g, const bilateral_view *guide, int planes, int l1, int fine)
{
    const tamis_tile *t = g->tile;
    ptrdiff_t count = (ptrdiff_t)t->w * t->step;
    for (int y = 0; y < t->h; y++) {
        for (ptrdiff_t i = 0; i < count && !tamis_tile_canceled(t); i += B) {
            sums s;
            average(&s, g->coef, &g->view, guide, (block){y, t->step, i}, planes, l1, fine);
            for (int p = 0; p < planes; p++) {
                for (int n = 0; n < N; n++)
                    s.delta[p][n] = tv_move_f32(g->type, s.center[p][n], s.delta[p][n]);
                store(g->type, dst_row(t, g->first + p, y), i, count - i, s.delta[p]);
            }
        }
    }
}

TAMIS_INLINE void filter_planes(const group *g, const bilateral_view *guide, int l1, int fine)
{
    switch (g->view.count) {
    case 1: /* |d|^2 is d^2 */
        filter(g, guide, 1, guide ? l1 : 0, fine);
        break;
    case 2:
        filter(g, guide, 2, l1, fine);
        break;
    case 3:
        filter(g, guide, 3, l1, fine);
        break;
    default:
        filter(g, guide, 4, l1, fine);
    }
}

/* Each combination that is worth code of its own. */
static void filter_guided(const group *g)
{
    if (g->coef->l1)
        filter_planes(g, g->guide, 1, 1);
    else
        filter_planes(g, g->guide, 0, 1);
}

static void filter_coarse(const group *g)
{
    if (g->coef->l1)
        filter_planes(g, NULL, 1, 0);
    else
        filter_planes(g, NULL, 0, 0);
}

static void filter_fine(const group *g)
{
    if (g->coef->l1)
        filter_planes(g, NULL, 1, 1);
    else
        filter_planes(g, NULL, 0, 1);
}

static void filter_group(const group *g)
{
    if (g->guide)
        filter_guided(g);
    else if (g->type == TAMIS_U8)
        filter_coarse(g);
    else
        filter_fine(g);
}

/* Scratch: rows of floats with their margins. */

typedef struct floats {
    const bilateral_coef *coef;
    const tamis_tile *tile;
    const void **rows; /* next unused addresses */
    float *samples;    /* next unused row */
} floats;

static floats floats_begin(const tamis_tile *t, const bilateral_coef *k, void *scratch)
{
    return (floats){k, t, scratch, (float *)((char *)scratch + bilateral_address_bytes(k, t->h))};
}

/* Takes the rows of one plane. The result and *first, where its row 0 has column 0, are indexed
 * from -ry on. */
static const void *const *floats_take(floats *f, float **first, ptrdiff_t *stride)
{
    const bilateral_coef *k = f->coef;
    size_t rows = bilateral_rows(k, f->tile->h);
    *stride = (ptrdiff_t)bilateral_row_floats(k, f->tile->w, f->tile->step);
    *first = f->samples + k->ry * *stride + k->rx * f->tile->step;
    const void **list = f->rows + k->ry;
    for (int y = -k->ry; y < f->tile->h + k->ry; y++)
        list[y] = *first + y * *stride;
    f->rows += rows;
    f->samples += (ptrdiff_t)rows * *stride;
    return list;
}

/* The planes' rows as floats: copies, or the rows themselves where they are floats. */
TAMIS_INLINE bilateral_view widen_planes(floats *f, tamis_type type, const void *const *const *src,
                                         int planes)
{
    bilateral_view view = {.count = planes};
    const bilateral_coef *k = f->coef;
    ptrdiff_t margin = (ptrdiff_t)k->rx * f->tile->step, stride;
    ptrdiff_t end = (ptrdiff_t)f->tile->w * f->tile->step + margin;
    for (int p = 0; p < planes; p++) {
        view.rows[p] = src[p];
        if (type == TAMIS_F32)
            continue;
        float *to;
        view.rows[p] = floats_take(f, &to, &stride);
        for (int y = -k->ry; y < f->tile->h + k->ry; y++)
            for (ptrdiff_t i = -margin; i < end; i += L)
                tv_store_f32(to + y * stride + i, tv_widen_f32(type, src[p][y], i));
    }
    return view;
}

/* Color modes joint and separate: the first planes are one vector, further ones are alone. */
TAMIS_INLINE void vector_rows(const tamis_tile *t, const bilateral_coef *k, void *scratch,
                              tamis_type type)
{
#if defined(TAMIS_AVX512)
    if (k->quads) {
        TAMIS_FN(bilateral_quads)(t, k, scratch);
        return;
    }
#endif
    floats f = floats_begin(t, k, scratch);
    bilateral_view all = widen_planes(&f, type, t->src, t->planes);
    bilateral_view guide = {.count = 0};
    if (k->guided)
        guide = widen_planes(&f, type, t->guide, t->guide_planes);
    int together = k->guided ? t->planes : k->colors;
    for (int first = 0; first < t->planes; first += together, together = 1) {
        group g = {t, k, type, {.count = together}, k->guided ? &guide : NULL, first};
        for (int p = 0; p < together; p++)
            g.view.rows[p] = all.rows[first + p];
        filter_group(&g);
    }
}

/* Color mode luma. */

/* The planes Y, R-Y, B-Y and, where there is alpha, alpha. */
TAMIS_INLINE bilateral_view split_luma(floats *f, const tamis_tile *t, tamis_type type)
{
    bilateral_view view = {.count = t->planes};
    const bilateral_coef *k = f->coef;
    float *to[TAMIS_MAX_CHANNELS];
    ptrdiff_t stride = 0;
    for (int p = 0; p < t->planes; p++)
        view.rows[p] = floats_take(f, &to[p], &stride);
    for (int y = -k->ry; y < t->h + k->ry; y++) {
        for (ptrdiff_t i = -k->rx; i < t->w + k->rx; i += L) {
            tv_f32 red = tv_widen_f32(type, t->src[0][y], i);
            tv_f32 blue = tv_widen_f32(type, t->src[2][y], i);
            tv_f32 luma =
                red * 0.299f + tv_widen_f32(type, t->src[1][y], i) * 0.587f + blue * 0.114f;
            tv_store_f32(to[0] + y * stride + i, luma);
            tv_store_f32(to[1] + y * stride + i, red - luma);
            tv_store_f32(to[2] + y * stride + i, blue - luma);
            if (t->planes > 3)
                tv_store_f32(to[3] + y * stride + i, tv_widen_f32(type, t->src[3][y], i));
        }
    }
    return view;
}

/* Plane 2 of the chroma is alpha, where there is one. Below 0 it counts as 0, so that it does not
 * cancel out. */
TAMIS_INLINE tv_f32 load_chroma(const bilateral_view *view, int p, int y, ptrdiff_t i)
{
    tv_f32 v = load(view->rows[p][y], i);
    return p == 2 ? tv_max_f32((tv_f32){0}, v) : v;
}

/* The mean differences of a block from its centers, by the spatial weights alone. Where chroma is
 * to be divided by alpha, from 0, as what is left of a large center would be inexact. */
TAMIS_INLINE void blur(sums *s, const bilateral_coef *k, const bilateral_view *view, block b)
{
    for (int n = 0; n < N; n++) {
        for (int p = 0; p < view->count; p++) {
            s->center[p][n] = (tv_f32){0};
            if (!k->alpha)
                s->center[p][n] = load_chroma(view, p, b.y, b.i + n * L);
            s->delta[p][n] = (tv_f32){0};
        }
        s->weight[n] = (tv_f32){0};
    }
    for (int dy = -k->ry; dy <= k->ry; dy++) {
        const double *space = k->space + abs(dy) * (k->rx + 1);
        int half = k->half[abs(dy)];
        for (int dx = -half; dx <= half; dx++) {
            tv_f32 w = tv_splat_f32((float)space[abs(dx)]);
            for (int n = 0; n < N; n++) {
                for (int p = 0; p < view->count; p++) {
                    tv_f32 d = load_chroma(view, p, b.y + dy, b.i + dx + n * L) - s->center[p][n];
                    s->delta[p][n] = tv_muladd_f32(w, d, s->delta[p][n]);
                }
                s->weight[n] += w;
            }
        }
    }
    for (int n = 0; n < N; n++)
        for (int p = 0; p < view->count; p++)
            s->delta[p][n] /= s->weight[n];
}

/* A block's red, green and blue from the changes of luma and chroma: by differences, so that what
 * is flat stays as it is. */
TAMIS_INLINE void join_plain(const tamis_tile *t, tamis_type type, block b, const tv_f32 *luma,
                             const sums *chroma, tv_f32 rgb[3][N])
{
    for (int n = 0; n < N; n++) {
        ptrdiff_t i = b.i + n * L;
        tv_f32 red = chroma->delta[0][n], blue = chroma->delta[1][n];
        tv_f32 green = (red * 0.299f + blue * 0.114f) * (-1 / 0.587f);
        rgb[0][n] = tv_move_f32(type, tv_widen_f32(type, t->src[0][b.y], i), luma[n] + red);
        rgb[1][n] = tv_move_f32(type, tv_widen_f32(type, t->src[1][b.y], i), luma[n] + green);
        rgb[2][n] = tv_move_f32(type, tv_widen_f32(type, t->src[2][b.y], i), luma[n] + blue);
    }
}

/* v between -limit and limit; NaN stays. */
TAMIS_INLINE tv_f32 within(tv_f32 v, tv_f32 limit)
{
    return tv_max_f32(-limit, tv_min_f32(limit, v));
}

/* The same where colors are multiplied by alpha: the blurred chroma has the blurred alpha and is
 * given the alpha of the result. */
TAMIS_INLINE void join_alpha(tamis_type type, const sums *luma, const sums *chroma,
                             tv_f32 rgb[3][N])
{
    const tv_f32 zero = {0};
    for (int n = 0; n < N; n++) {
        tv_f32 y = luma->center[0][n] + luma->delta[0][n];
        tv_f32 alpha = tv_max_f32(zero, luma->center[1][n] + luma->delta[1][n]);
        tv_f32 blurred = chroma->center[2][n] + chroma->delta[2][n];
        tv_f32 ratio = (tv_f32)((tv_s32)(alpha / blurred) & (blurred != 0));
        tv_f32 red = within(chroma->center[0][n] + chroma->delta[0][n], blurred) * ratio;
        tv_f32 blue = within(chroma->center[1][n] + chroma->delta[1][n], blurred) * ratio;
        rgb[0][n] = tv_move_f32(type, zero, y + red);
        rgb[1][n] = tv_move_f32(type, zero, y + (red * 0.299f + blue * 0.114f) * (-1 / 0.587f));
        rgb[2][n] = tv_move_f32(type, zero, y + blue);
    }
}

TAMIS_INLINE void luma_block(const tamis_tile *t, const bilateral_coef *k, tamis_type type,
                             const bilateral_view *split, const bilateral_view *guide, block b)
{
    bilateral_view y = {{split->rows[0], split->rows[3]}, k->alpha ? 2 : 1};
    bilateral_view c = {{split->rows[1], split->rows[2], split->rows[3]}, k->alpha ? 3 : 2};
    sums luma, chroma;
    tv_f32 rgb[3][N];
    blur(&chroma, k, &c, b);
    if (k->guided && k->l1)
        average(&luma, k, &y, guide, b, k->alpha ? 2 : 1, 1, 1);
    else
        average(&luma, k, &y, guide, b, k->alpha ? 2 : 1, 0, 1);
    if (k->alpha) {
        join_alpha(type, &luma, &chroma, rgb);
        for (int n = 0; n < N; n++)
            luma.delta[1][n] = tv_move_f32(type, luma.center[1][n], luma.delta[1][n]);
        store(type, dst_row(t, 3, b.y), b.i, t->w - b.i, luma.delta[1]);
    } else {
        join_plain(t, type, b, luma.delta[0], &chroma, rgb);
    }
    for (int p = 0; p < 3; p++)
        store(type, dst_row(t, p, b.y), b.i, t->w - b.i, rgb[p]);
}

TAMIS_INLINE void luma_rows(const tamis_tile *t, const bilateral_coef *k, void *scratch,
                            tamis_type type)
{
    floats f = floats_begin(t, k, scratch);
    bilateral_view split = split_luma(&f, t, type);
    bilateral_view guide = {{split.rows[0]}, 1};
    if (k->guided)
        guide = widen_planes(&f, type, t->guide, t->guide_planes);
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w && !tamis_tile_canceled(t); x += B)
            luma_block(t, k, type, &split, &guide, (block){y, 1, x});
    if (t->planes > 3 && !k->alpha) {
        group g = {t, k, type, {{split.rows[3]}, 1}, k->guided ? &guide : NULL, 3};
        filter_group(&g);
    }
}

#define ROWS(type, suffix)                                                                         \
    static void vector_##suffix(const tamis_tile *tile, const void *coef, void *scratch)           \
    {                                                                                              \
        vector_rows(tile, coef, scratch, type);                                                    \
    }                                                                                              \
    static void luma_##suffix(const tamis_tile *tile, const void *coef, void *scratch)             \
    {                                                                                              \
        luma_rows(tile, coef, scratch, type);                                                      \
    }
ROWS(TAMIS_U8, u8)
ROWS(TAMIS_U16, u16)
ROWS(TAMIS_S16, s16)
ROWS(TAMIS_F32, f32)
#undef ROWS

/* Integers may be one level off the reference where its weighted mean lies near the middle between
 * two levels: weights here have 16 bits or a polynomial's 22, there 53. */
extern const tamis_kernel TAMIS_FN(bilateral_kernels)[];
const tamis_kernel TAMIS_FN(bilateral_kernels)[] = {
    {"vector", TAMIS_U8, TV_CPU, vector_u8, 1},
    {"vector", TAMIS_U16, TV_CPU, vector_u16, 1},
    {"vector", TAMIS_S16, TV_CPU, vector_s16, 1},
    {"vector", TAMIS_F32, TV_CPU, vector_f32, 1e-5},
    {"luma", TAMIS_U8, TV_CPU, luma_u8, 1},
    {"luma", TAMIS_U16, TV_CPU, luma_u16, 1},
    {"luma", TAMIS_S16, TV_CPU, luma_s16, 1},
    {"luma", TAMIS_F32, TV_CPU, luma_f32, 1e-5},
    {NULL},
};
