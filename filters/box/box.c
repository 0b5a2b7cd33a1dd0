/* SPDX-License-Identifier: Apache-2.0 */
/* Box filter: parameters, plan and reference. */
#include <tamis/box.h>

#include <math.h>

#include "box_kernel.h"

#define SIDE_MAX 32767
#define SUMS_MAX 0x1p25 /* bytes of column sums of floats that a thread may keep */

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_box, ksize, .def = 3, .min = 1, .max = SIDE_MAX,
                .scales = TAMIS_SCALES_BOTH, .unit = "px",
                .doc = "window, odd or even: one number, or width x height"),
    TAMIS_PARAM(struct tamis_box, anchor_x, .def = -1, .min = 0, .max = SIDE_MAX - 1,
                .scales = TAMIS_SCALES_X, .unit = "px",
                .doc = "column of the window that lies on the pixel; auto: half its width"),
    TAMIS_PARAM(struct tamis_box, anchor_y, .def = -1, .min = 0, .max = SIDE_MAX - 1,
                .scales = TAMIS_SCALES_Y, .unit = "px",
                .doc = "row of the window that lies on the pixel; auto: half its height"),
    TAMIS_PARAM_BORDER(struct tamis_box),
    TAMIS_PARAM_ALPHA(struct tamis_box),
};

/* ---- planning */

static tamis_status choose_anchor(tamis_node *node, int anchor, int side, const char *axis,
                                  int *out)
{
    if (anchor >= side)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "box: anchor_%s = %d lies outside the window; allowed: 0 .. %d, or "
                               "auto",
                               axis, anchor, side - 1);
    *out = anchor < 0 ? side / 2 : anchor;
    return TAMIS_OK;
}

/* Looks for a multiplication in 16 bits that divides exactly: with magic = (2^(16+shift) + e) / n,
 * the quotient of a number is too great by less than number * e / (n * 2^(16+shift)), which must
 * stay below the distance 1/n to the next whole quotient. */
static int find_magic(struct box_coef *c)
{
    uint64_t n = (uint64_t)c->n, greatest = 255 * n + n / 2;
    if (greatest > 65535 || n < 2)
        return 0;
    int shift = 0;
    while ((2ull << shift) < n)
        shift++;
    uint64_t one = 65536ull << shift, magic = (one + n - 1) / n;
    if (magic > 65535 || greatest * (magic * n - one) >= one)
        return 0;
    c->magic = (uint16_t)magic;
    c->shift = shift;
    return 1;
}

/* Sums up to 2^24 are exact in binary32. Multiplied by 1/n rounded up, they are too great by
 * less than 3/2 * 2^-23 of the quotient, and stay below the next whole one, at least 1/n away, for
 * n <= 16384 (u8), or n <= 64 (16 bits). Other sums are multiplied by a little less than 1/n, so
 * that the quotient, below 2^16, is never too great, and too small by less than 2^-4, so by one
 * after truncation at the most. */
static void make_inverse(struct box_coef *c, tamis_type type)
{
    double exact = 1.0 / c->n;
    c->inexact = c->n > (type == TAMIS_U8 ? 16384 : 64);
    c->inverse = (float)exact;
    if (c->inexact)
        c->inverse = (float)(exact * (1 - 0x1p-21));
    else if ((double)c->inverse * c->n < 1)
        c->inverse = nextafterf(c->inverse, 2);
}

static void choose_way(struct box_coef *c, tamis_type type)
{
    enum { FEW_COLUMNS = 16, FEW_FLOATS = 7 };
    if (type == TAMIS_F32) {
        c->way = c->w <= FEW_FLOATS && c->h <= FEW_FLOATS ? BOX_DIRECT : BOX_PARTS;
        return;
    }
    double levels = type == TAMIS_U8 ? 255.5 : 65535.5;
    make_inverse(c, type);
    c->way = levels * c->n < 0x1p31 ? BOX_PREFIX : BOX_HUGE;
    int direct = type == TAMIS_U8 ? c->h <= BOX_NARROW && find_magic(c) : c->way == BOX_PREFIX;
    if (direct && c->w <= FEW_COLUMNS)
        c->way = BOX_DIRECT;
}

static int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* A tile's first row needs the sum of a window's height of rows; its first sample that of a width
 * of columns. */
static void choose_tile(tamis_node *node, const struct box_coef *c)
{
    if (node->work == TAMIS_F32) { /* where there are parts, sums are kept for all of a tile */
        node->tile_w = clamp(2 * c->w, 512, 2048);
        double row = ((double)node->tile_w + c->w) * node->in.channels * sizeof(double);
        node->tile_h = clamp(2 * c->h, 64, 256);
        if (node->tile_h * row > SUMS_MAX)
            node->tile_h = (int)(SUMS_MAX / row) + 1;
        return;
    }
    node->tile_w = clamp(4 * c->w, 2048, 8192);
    node->tile_h = clamp(8 * c->h, 256, 2048);
}

/* Sums of columns: of all rows, and of parts of windows, BOX_PART columns wide or of 8 rows. */
static size_t scratch_tile(const void *coef, int w, int h, int step)
{
    const struct box_coef *c = coef;
    size_t row = ((size_t)w + (size_t)c->w) * (size_t)step + BOX_SLACK;
    size_t parts = (size_t)(h < c->h ? h : c->h) * BOX_PART;
    size_t lines = (size_t)(w < c->w ? w : c->w) * 8;
    return (row * ((size_t)h + 16) + (parts > lines ? parts : lines)) * sizeof(double);
}

/* Of one row, of 64 bits in the reference. */
static size_t scratch_row(const void *coef, int w, int h, int step)
{
    const struct box_coef *c = coef;
    (void)h;
    return (((size_t)w + (size_t)c->w) * (size_t)step + BOX_SLACK) * sizeof(int64_t);
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_box *p = node->params;
    struct box_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    if (!c)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "box: no memory");
    c->w = p->ksize.w;
    c->h = p->ksize.h;
    c->n = c->w * c->h;
    c->inverse_64 = 1.0 / c->n;
    TAMIS_TRY(choose_anchor(node, p->anchor_x, c->w, "x", &c->left));
    TAMIS_TRY(choose_anchor(node, p->anchor_y, c->h, "y", &c->top));
    c->out_w = node->w;
    c->out_h = node->h;

    node->stage = "mean";
    node->coef = c;
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    /* A window of one sample must change none, not even the color of a clear pixel. */
    node->alpha = c->n == 1 ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    node->halo = (tamis_halo){c->left, c->w - 1 - c->left, c->top, c->h - 1 - c->top};
    choose_way(c, node->work);
    node->scratch = c->way == BOX_PARTS ? scratch_tile : scratch_row;
    node->planar = c->way == BOX_PREFIX || c->way == BOX_HUGE;
    choose_tile(node, c);
    return TAMIS_OK;
}

/* ---- the reference */

static int64_t level(const void *row, tamis_type type, ptrdiff_t i)
{
    return type == TAMIS_U8    ? ((const uint8_t *)row)[i]
           : type == TAMIS_U16 ? ((const uint16_t *)row)[i]
                               : ((const int16_t *)row)[i];
}

static void store_level(void *row, tamis_type type, ptrdiff_t i, int64_t v)
{
    if (type == TAMIS_U8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else if (type == TAMIS_U16)
        ((uint16_t *)row)[i] = (uint16_t)v;
    else
        ((int16_t *)row)[i] = (int16_t)v;
}

/* The nearest whole number to sum / n, halves up: floor(sum / n + 1/2). */
static int64_t nearest(int64_t sum, int64_t n)
{
    int64_t doubled = 2 * sum + n;
    int64_t quotient = doubled / (2 * n);
    return doubled % (2 * n) < 0 ? quotient - 1 : quotient;
}

static void plane_of_levels(const tamis_tile *t, const struct box_coef *c, int64_t *sums,
                            tamis_type type)
{
    int n = t->w * t->step, before = c->left * t->step, count = n + (c->w - 1) * t->step;
    for (int y = 0; y < t->h; y++) {
        for (int i = 0; i < count; i++) {
            sums[i] = 0;
            for (int j = 0; j < c->h; j++)
                sums[i] += level(t->src[0][y - c->top + j], type, i - before);
        }
        char *dst = (char *)t->dst[0] + y * t->dst_stride[0];
        for (int i = 0; i < n; i++) {
            int64_t sum = 0;
            for (int j = 0; j < c->w; j++)
                sum += sums[i + j * t->step];
            store_level(dst, type, i, nearest(sum, c->n));
        }
    }
}

static void mean_of_levels(const tamis_tile *t, const void *coef, void *scratch, tamis_type type)
{
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = box_plane(t, p);
        plane_of_levels(&one, coef, scratch, type);
    }
}

static void box_u8_c(const tamis_tile *t, const void *coef, void *scratch)
{
    mean_of_levels(t, coef, scratch, TAMIS_U8);
}

static void box_u16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    mean_of_levels(t, coef, scratch, TAMIS_U16);
}

static void box_s16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    mean_of_levels(t, coef, scratch, TAMIS_S16);
}

/* Sums begin with -0, to which any number can be added without a change, its sign included. */
static void box_f32_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct box_coef *c = coef;
    int n = t->w * t->step, before = c->left * t->step, count = n + (c->w - 1) * t->step;
    double *sums = scratch;
    for (int y = 0; y < t->h; y++) {
        for (int i = 0; i < count; i++) {
            sums[i] = -0.0;
            for (int j = 0; j < c->h; j++)
                sums[i] += ((const float *)t->src[0][y - c->top + j])[i - before];
        }
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int i = 0; i < n; i++) {
            double sum = -0.0;
            for (int j = 0; j < c->w; j++)
                sum += sums[i + j * t->step];
            dst[i] = (float)(sum / c->n);
        }
    }
}

static const tamis_kernel box_kernels_c[] = {
    {"mean", TAMIS_U8, TAMIS_CPU_C, box_u8_c, 0},
    {"mean", TAMIS_U16, TAMIS_CPU_C, box_u16_c, 0},
    {"mean", TAMIS_S16, TAMIS_CPU_C, box_s16_c, 0},
    {"mean", TAMIS_F32, TAMIS_CPU_C, box_f32_c, 0},
    {NULL},
};

TAMIS_KERNEL_DECLARE(box);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(box);

extern const tamis_filter tamis_priv_filter_box;
const tamis_filter tamis_priv_filter_box = {
    .name = "box",
    .brief = "mean of a window of any size",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_box),
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
