/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution with any kernel: parameters, plan and reference. */
#include <tamis/convolve.h>

#include <math.h>
#include <string.h>

#include "convolve_kernel.h"

static const char *const kernel_names[] = {"identity",  "sharpen", "sharpen8", "edge",
                                           "laplacian", "emboss",  "gauss3",   "gauss5",
                                           "box3",      "box5",    NULL};
static const char *const flip_names[] = {"off", "on", NULL};
static const char *const separable_names[] = {"auto", "off", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_convolve, kernel, .def = TAMIS_CONVOLVE_IDENTITY, .min = -1e9,
                .max = 1e9, .words = kernel_names, .unit = "",
                .doc = "weights a,b,..;c,d,.. row after row, ROWxCOLUMN, @FILE, or a name"),
    TAMIS_PARAM(struct tamis_convolve, divisor, .def = -1, .min = 0.0001, .max = 1e9, .unit = "",
                .doc = "what the weighted sum is divided by; auto: the kernel's sum, or 1"),
    TAMIS_PARAM(struct tamis_convolve, bias, .def = 0, .min = -1e9, .max = 1e9, .unit = "levels",
                .doc = "added to the result"),
    TAMIS_PARAM(struct tamis_convolve, anchor_x, .def = -1, .min = 0, .max = TAMIS_MAX_MATRIX - 1,
                .unit = "px", .doc = "column of the kernel on the pixel; auto: half its width"),
    TAMIS_PARAM(struct tamis_convolve, anchor_y, .def = -1, .min = 0, .max = TAMIS_MAX_MATRIX - 1,
                .unit = "px", .doc = "row of the kernel on the pixel; auto: half its height"),
    TAMIS_PARAM(struct tamis_convolve, flip, .def = 0, .max = 1, .choices = flip_names, .unit = "",
                .doc = "turn the kernel by half a turn: convolution instead of correlation"),
    TAMIS_PARAM(struct tamis_convolve, separable, .def = TAMIS_CONVOLVE_SEPARABLE_AUTO,
                .max = TAMIS_CONVOLVE_SEPARABLE_OFF, .choices = separable_names, .unit = "",
                .doc = "columns first, then rows, where the kernel is their product"),
    TAMIS_PARAM_BORDER(struct tamis_convolve),
    TAMIS_PARAM_ALPHA(struct tamis_convolve),
};

/* ---- the kernel, turned as asked for */

struct named_kernel {
    int side;
    signed char v[25];
};

static const struct named_kernel named[] = {
    {1, {1}},
    {3, {0, -1, 0, -1, 5, -1, 0, -1, 0}},
    {3, {-1, -1, -1, -1, 9, -1, -1, -1, -1}},
    {3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}},
    {3, {0, 1, 0, 1, -4, 1, 0, 1, 0}},
    {3, {-2, -1, 0, -1, 1, 1, 0, 1, 2}},
    {3, {1, 2, 1, 2, 4, 2, 1, 2, 1}},
    {5, {1, 4, 7, 4, 1, 4, 16, 26, 16, 4, 7, 26, 41, 26, 7, 4, 16, 26, 16, 4, 1, 4, 7, 4, 1}},
    {3, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {5, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
};

/* While it is planned. */
struct wish {
    int w, h;
    const double *v;            /* w * h numbers */
    const double *row, *column; /* or NULL */
    double divisor, sum, bias;
};

static tamis_status no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "convolve: no memory for the kernel");
}

static double weight(const tamis_matrix *m, int column, int row)
{
    if (m->w == 0)
        return named[m->name].v[row * named[m->name].side + column];
    return m->outer ? m->v[column] * m->v[m->w + row] : m->v[row * m->w + column];
}

static tamis_status read_kernel(tamis_node *node, struct wish *k)
{
    const struct tamis_convolve *p = node->params;
    const tamis_matrix *m = &p->kernel;
    k->w = m->w ? m->w : named[m->name].side;
    k->h = m->w ? m->h : named[m->name].side;
    double *v = tamis_priv_node_alloc(node, (size_t)k->w * (size_t)k->h * sizeof *v);
    if (!v)
        return no_memory(node);
    double magnitude = 0;
    for (int i = 0; i < k->w * k->h; i++) {
        int x = i % k->w, y = i / k->w;
        v[i] = p->flip ? weight(m, k->w - 1 - x, k->h - 1 - y) : weight(m, x, y);
        k->sum += v[i];
        magnitude += fabs(v[i]);
    }
    k->v = v;
    k->divisor = p->divisor;
    if (k->divisor < 0) /* a sum of decimals that is meant to be 0 is not quite */
        k->divisor = fabs(k->sum) > 1e-9 * magnitude ? k->sum : 1;
    k->bias = tamis_value_resolve(p->bias, node->in.type);
    return TAMIS_OK;
}

static tamis_status choose_anchor(tamis_node *node, int anchor, int side, const char *axis,
                                  int flip, int *out)
{
    if (anchor >= side)
        return tamis_priv_fail(
            node->ctx, TAMIS_ERR_ARGUMENT,
            "convolve: anchor_%s = %d lies outside the kernel; allowed: 0 .. %d, "
            "or auto",
            axis, anchor, side - 1);
    *out = anchor < 0 ? side / 2 : anchor;
    if (flip)
        *out = side - 1 - *out;
    return TAMIS_OK;
}

static tamis_status make_taps(tamis_node *node, const struct wish *k, struct convolve_coef *c)
{
    int all = k->w * k->h;
    struct convolve_tap *taps = tamis_priv_node_alloc(node, (size_t)all * sizeof *taps);
    float *dense = tamis_priv_node_alloc(node, (size_t)all * sizeof *dense);
    if (!taps || !dense)
        return no_memory(node);
    for (int i = 0; i < all; i++) {
        dense[i] = (float)(k->v[i] / k->divisor);
        if (k->v[i] != 0)
            taps[c->count++] =
                (struct convolve_tap){.row = i / k->w, .column = i % k->w, .f = dense[i]};
    }
    c->taps = taps;
    c->dense = c->count == all ? dense : NULL;
    c->bias = (float)k->bias;
    return TAMIS_OK;
}

/* ---- whole numbers */

static int is_whole(double v)
{
    return fabs(v) < 0x1p30 && v == floor(v);
}

/* The power of two that makes kernel and divisor whole numbers and the bias whole when it is
 * multiplied by the divisor; 0 when none up to 2^14 does. */
static double common_factor(const struct wish *k)
{
    for (double factor = 1; factor <= 0x1p14; factor *= 2) {
        int whole = is_whole(k->divisor * factor) && is_whole(k->bias * k->divisor * factor);
        for (int i = 0; whole && i < k->w * k->h; i++)
            whole = is_whole(k->v[i] * factor);
        if (whole)
            return factor;
    }
    return 0;
}

/* 1 / divisor for a multiplication whose truncated product is the quotient or, where it is inexact,
 * one less: as for u8 with divisors up to 16384, where numbers up to 2^24 are exact and multiples
 * of 1 / divisor lie farther apart than errors are wide. */
static void make_inverse(struct convolve_coef *c, tamis_type type)
{
    double exact = 1.0 / c->divisor;
    c->shift = -1;
    for (int s = 0; s < 31; s++)
        if (c->divisor == 1 << s)
            c->shift = s;
    c->inexact = type != TAMIS_U8 || c->divisor > 16384;
    c->inverse = (float)exact;
    if (c->inexact)
        c->inverse = (float)(exact * (1 - 0x1p-21));
    else if ((double)c->inverse * c->divisor < 1)
        c->inverse = nextafterf(c->inverse, 2);
}

/* Two taps in the lanes of a multiply-add. */
static int32_t pair(int low, int high)
{
    return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16);
}

static int at(const double *v, int w, int i, double factor)
{
    return i >= 0 && i < w ? (int)(v[i] * factor) : 0;
}

static tamis_status make_pairs(tamis_node *node, const struct wish *k, double factor,
                               struct convolve_coef *c)
{
    size_t most = ((size_t)k->w / 2 + 1) * (size_t)k->h;
    struct convolve_pair *pairs = tamis_priv_node_alloc(node, most * sizeof *pairs);
    if (!pairs)
        return no_memory(node);
    for (int y = 0; y < k->h; y++) {
        const double *v = k->v + y * k->w;
        for (int x = 0; x <= k->w; x += 2) {
            int before = at(v, k->w, x - 1, factor), here = at(v, k->w, x, factor);
            int32_t even = pair(here, at(v, k->w, x + 1, factor)), odd = pair(before, here);
            if (even || odd)
                pairs[c->pair_count++] = (struct convolve_pair){y, x, even, odd};
        }
    }
    c->pairs = pairs;
    return TAMIS_OK;
}

/* Tries whole numbers; *out tells whether they and all sums fit. */
static tamis_status make_whole(tamis_node *node, const struct wish *k, struct convolve_coef *c,
                               int *out)
{
    double factor = common_factor(k), magnitude = 0, greatest = 0;
    double levels = node->work == TAMIS_U8 ? 256 : 65536;
    *out = 0;
    if (factor == 0 || node->work == TAMIS_F32)
        return TAMIS_OK;
    if (k->divisor < 0)
        factor = -factor;
    for (int i = 0; i < k->w * k->h; i++) {
        double tap = fabs(k->v[i] * factor);
        magnitude += tap;
        greatest = fmax(greatest, tap);
    }
    double divisor = k->divisor * factor, add = k->bias * divisor + floor(divisor / 2);
    if (node->work == TAMIS_S16) /* levels are counted from -32768 on while they are made */
        add += 32768 * divisor;
    if (greatest > 32767 || levels * (magnitude + divisor) + fabs(add) >= 0x1p31)
        return TAMIS_OK;
    struct convolve_tap *taps = (struct convolve_tap *)(uintptr_t)c->taps;
    for (int i = 0; i < c->count; i++) {
        taps[i].whole = (int32_t)(k->v[taps[i].row * k->w + taps[i].column] * factor);
        c->total += taps[i].whole;
    }
    c->divisor = (int32_t)divisor;
    c->add = (int32_t)add;
    make_inverse(c, node->work);
    c->narrow = node->work == TAMIS_U8 && c->shift >= 0 && 255 * magnitude + fabs(add) < 32767;
    *out = 1;
    return make_pairs(node, k, factor, c);
}

/* ---- columns and rows */

/* A kernel is the product of a column and a row when all its rows are multiples of one, that with
 * the greatest number. */
static tamis_status split_kernel(tamis_node *node, const struct wish *k, struct convolve_coef *c)
{
    const struct tamis_convolve *p = node->params;
    int best = 0;
    if (p->separable == TAMIS_CONVOLVE_SEPARABLE_OFF || c->count <= k->w + k->h + 4 || !c->dense)
        return TAMIS_OK;
    for (int i = 0; i < k->w * k->h; i++)
        if (fabs(k->v[i]) > fabs(k->v[best]))
            best = i;
    int bx = best % k->w, by = best / k->w;
    for (int i = 0; i < k->w * k->h; i++) {
        double product = k->v[by * k->w + i % k->w] * k->v[i / k->w * k->w + bx] / k->v[best];
        if (fabs(product - k->v[i]) > 1e-7 * fabs(k->v[best]))
            return TAMIS_OK;
    }
    float *row = tamis_priv_node_alloc(node, (size_t)k->w * sizeof *row);
    float *column = tamis_priv_node_alloc(node, (size_t)k->h * sizeof *column);
    if (!row || !column)
        return no_memory(node);
    for (int x = 0; x < k->w; x++)
        row[x] = (float)(k->v[by * k->w + x] / k->v[best]);
    for (int y = 0; y < k->h; y++)
        column[y] = (float)(k->v[y * k->w + bx] / k->divisor);
    c->row = row;
    c->column = column;
    return TAMIS_OK;
}

/* ---- planning */

static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const struct convolve_coef *c = coef;
    (void)h;
    size_t row = ((size_t)w + (size_t)c->w) * (size_t)step + CONVOLVE_SLACK;
    size_t rows = (size_t)c->h + 2 * CONVOLVE_ROWS;
    return rows * (row * sizeof(float) + sizeof(void *));
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_convolve *p = node->params;
    struct convolve_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    struct wish k = {0};
    int whole;
    if (!c)
        return no_memory(node);
    TAMIS_TRY(read_kernel(node, &k));
    TAMIS_TRY(choose_anchor(node, p->anchor_x, k.w, "x", p->flip != 0, &c->left));
    TAMIS_TRY(choose_anchor(node, p->anchor_y, k.h, "y", p->flip != 0, &c->top));
    TAMIS_TRY(make_taps(node, &k, c));
    c->w = k.w;
    c->h = k.h;
    node->border = p->border;
    node->border_value = tamis_value_resolve(p->border_value, node->in.type);
    /* What changes no sample must not change the color of a clear pixel either. */
    int is_identity = k.w * k.h == 1 && k.v[0] == k.divisor && k.bias == 0;
    node->alpha = is_identity ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    TAMIS_TRY(make_whole(node, &k, c, &whole));
    if (!whole)
        TAMIS_TRY(split_kernel(node, &k, c));
    node->stage = whole ? "whole" : c->row ? "separable" : "direct";
    node->coef = c;
    node->planar = !c->narrow; /* other kernels take neighboring samples of one channel */
    node->halo = (tamis_halo){c->left, c->w - 1 - c->left, c->top, c->h - 1 - c->top};
    node->scratch = scratch_bytes;
    node->tile_w =
        c->narrow ? 2048 : 1024; /* others copy the rows of a window and read them often */
    node->tile_h = c->h < 32 ? 128 : 4 * c->h;
    return TAMIS_OK;
}

/* ---- the reference */

static int level(const void *row, tamis_type type, int i)
{
    return type == TAMIS_U8    ? ((const uint8_t *)row)[i]
           : type == TAMIS_U16 ? ((const uint16_t *)row)[i]
                               : ((const int16_t *)row)[i];
}

static float sample(const void *row, tamis_type type, int i)
{
    return type == TAMIS_F32 ? ((const float *)row)[i] : (float)level(row, type, i);
}

static int lowest(tamis_type type)
{
    return type == TAMIS_S16 ? -32768 : 0;
}

static int highest(tamis_type type)
{
    return type == TAMIS_U8 ? 255 : type == TAMIS_U16 ? 65535 : 32767;
}

static void store_level(void *row, tamis_type type, int i, int v)
{
    if (type == TAMIS_U8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else if (type == TAMIS_U16)
        ((uint16_t *)row)[i] = (uint16_t)v;
    else
        ((int16_t *)row)[i] = (int16_t)v;
}

static void store_sample(void *row, tamis_type type, int i, float v)
{
    if (type == TAMIS_F32) {
        ((float *)row)[i] = v;
        return;
    }
    v = fminf(fmaxf(v, (float)lowest(type)), (float)highest(type));
    store_level(row, type, i, (int)nearbyintf(v));
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void whole_plane(const tamis_tile *t, const struct convolve_coef *c, tamis_type type)
{
    int64_t offset = type == TAMIS_S16 ? 32768 : 0; /* which add holds times divisor */
    for (int y = 0; y < t->h; y++) {
        for (int x = 0; x < t->w * t->step; x++) {
            int64_t sum = c->add;
            for (int i = 0; i < c->count; i++) {
                const struct convolve_tap *tap = &c->taps[i];
                const void *row = t->src[0][y - c->top + tap->row];
                int column = x + (tap->column - c->left) * t->step;
                sum += (int64_t)tap->whole * level(row, type, column);
            }
            int64_t v = floor_divide(sum, c->divisor) - offset;
            v = v < lowest(type) ? lowest(type) : v > highest(type) ? highest(type) : v;
            store_level((char *)t->dst[0] + y * t->dst_stride[0], type, x, (int)v);
        }
    }
}

static float with_bias(const struct convolve_coef *c, float v)
{
    return c->bias != 0 ? v + c->bias : v;
}

/* Sums begin with -0, to which any number can be added without a change. */
static void direct_plane(const tamis_tile *t, const struct convolve_coef *c, tamis_type type)
{
    for (int y = 0; y < t->h; y++) {
        for (int x = 0; x < t->w; x++) {
            float sum = c->count ? -0.0f : 0;
            for (int i = 0; i < c->count; i++) {
                const struct convolve_tap *tap = &c->taps[i];
                const void *row = t->src[0][y - c->top + tap->row];
                sum = fmaf(tap->f, sample(row, type, x - c->left + tap->column), sum);
            }
            store_sample((char *)t->dst[0] + y * t->dst_stride[0], type, x, with_bias(c, sum));
        }
    }
}

static void separable_plane(const tamis_tile *t, const struct convolve_coef *c, float *sums,
                            tamis_type type)
{
    for (int y = 0; y < t->h; y++) {
        for (int x = 0; x < t->w + c->w - 1; x++) {
            sums[x] = -0.0f;
            for (int j = 0; j < c->h; j++)
                sums[x] = fmaf(c->column[j], sample(t->src[0][y - c->top + j], type, x - c->left),
                               sums[x]);
        }
        for (int x = 0; x < t->w; x++) {
            float sum = -0.0f;
            for (int i = 0; i < c->w; i++)
                sum = fmaf(c->row[i], sums[x + i], sum);
            store_sample((char *)t->dst[0] + y * t->dst_stride[0], type, x, with_bias(c, sum));
        }
    }
}

enum stage { WHOLE, DIRECT, SEPARABLE };

static void all_planes(const tamis_tile *t, const void *coef, void *scratch, enum stage stage,
                       tamis_type type)
{
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = convolve_plane(t, p);
        if (stage == WHOLE)
            whole_plane(&one, coef, type);
        else if (stage == DIRECT)
            direct_plane(&one, coef, type);
        else
            separable_plane(&one, coef, scratch, type);
    }
}

#define ROW(name, stage, type)                                                                     \
    static void name(const tamis_tile *t, const void *coef, void *scratch)                         \
    {                                                                                              \
        all_planes(t, coef, scratch, stage, type);                                                 \
    }
ROW(whole_u8_c, WHOLE, TAMIS_U8)
ROW(whole_u16_c, WHOLE, TAMIS_U16)
ROW(whole_s16_c, WHOLE, TAMIS_S16)
ROW(direct_u8_c, DIRECT, TAMIS_U8)
ROW(direct_u16_c, DIRECT, TAMIS_U16)
ROW(direct_s16_c, DIRECT, TAMIS_S16)
ROW(direct_f32_c, DIRECT, TAMIS_F32)
ROW(separable_u8_c, SEPARABLE, TAMIS_U8)
ROW(separable_u16_c, SEPARABLE, TAMIS_U16)
ROW(separable_s16_c, SEPARABLE, TAMIS_S16)
ROW(separable_f32_c, SEPARABLE, TAMIS_F32)
#undef ROW

static const tamis_kernel convolve_kernels_c[] = {
    {"whole", TAMIS_U8, TAMIS_CPU_C, whole_u8_c, 0},
    {"whole", TAMIS_U16, TAMIS_CPU_C, whole_u16_c, 0},
    {"whole", TAMIS_S16, TAMIS_CPU_C, whole_s16_c, 0},
    {"direct", TAMIS_U8, TAMIS_CPU_C, direct_u8_c, 0},
    {"direct", TAMIS_U16, TAMIS_CPU_C, direct_u16_c, 0},
    {"direct", TAMIS_S16, TAMIS_CPU_C, direct_s16_c, 0},
    {"direct", TAMIS_F32, TAMIS_CPU_C, direct_f32_c, 0},
    {"separable", TAMIS_U8, TAMIS_CPU_C, separable_u8_c, 0},
    {"separable", TAMIS_U16, TAMIS_CPU_C, separable_u16_c, 0},
    {"separable", TAMIS_S16, TAMIS_CPU_C, separable_s16_c, 0},
    {"separable", TAMIS_F32, TAMIS_CPU_C, separable_f32_c, 0},
    {NULL},
};

TAMIS_KERNEL_DECLARE(convolve);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(convolve);

extern const tamis_filter tamis_priv_filter_convolve;
const tamis_filter tamis_priv_filter_convolve = {
    .name = "convolve",
    .brief = "weighted sum of a window with any kernel: correlation or convolution",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_convolve),
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
