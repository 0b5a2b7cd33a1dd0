/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution with any kernel: parameters, plan and reference. */
#include <tamis/convolve.h>

#include <math.h>

#include "convolve_kernel.h"

#include "cpu/sample.h"

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
                .doc = "what the weighted sum is divided by; auto: the kernel's sum where that is "
                       "positive, else 1"),
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
                .doc = "columns first, then rows, where the kernel is a sum of few such products"),
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

static double weight(const tamis_matrix *m, int column, int row)
{
    if (m->w == 0)
        return named[m->name].v[row * named[m->name].side + column];
    return m->outer ? m->v[column] * m->v[m->w + row] : m->v[row * m->w + column];
}

/* Products of a row and a column may be many more numbers than were given. */
static tamis_status choose_size(tamis_node *node, const tamis_matrix *m, struct convolve_wish *k)
{
    k->w = m->w ? m->w : named[m->name].side;
    k->h = m->w ? m->h : named[m->name].side;
    if ((int64_t)k->w * k->h > CONVOLVE_MOST)
        return tamis_priv_fail(
            node->ctx, TAMIS_ERR_ARGUMENT,
            "convolve: kernel of %dx%d numbers; allowed: up to %d, columns times "
            "rows",
            k->w, k->h, CONVOLVE_MOST);
    return TAMIS_OK;
}

static tamis_status read_kernel(tamis_node *node, struct convolve_wish *k)
{
    const struct tamis_convolve *p = node->params;
    const tamis_matrix *m = &p->kernel;
    TAMIS_TRY(choose_size(node, m, k));
    double *v = tamis_priv_node_alloc(node, (size_t)k->w * (size_t)k->h * sizeof *v);
    if (!v)
        return tamis_priv_convolve_no_memory(node);
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
        k->divisor = k->sum > 1e-6 * magnitude ? k->sum : 1;
    k->bias = tamis_priv_node_value(node, p->bias);
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

/* ---- planning */

static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const struct convolve_coef *c = coef;
    (void)h;
    size_t row = ((size_t)w + (size_t)c->w) * (size_t)step + CONVOLVE_SLACK;
    size_t rows = (size_t)c->h + (2 + (size_t)c->term_count) * CONVOLVE_ROWS;
    return rows * (row * sizeof(float) + sizeof(void *));
}

/* How the kernel is computed: that is the stage. */
static tamis_status choose_stage(tamis_node *node, const struct convolve_wish *k,
                                 struct convolve_coef *c)
{
    const struct tamis_convolve *p = node->params;
    int separable = p->separable != TAMIS_CONVOLVE_SEPARABLE_OFF, whole, product = 0;
    TAMIS_TRY(tamis_priv_convolve_taps(node, k, c));
    TAMIS_TRY(tamis_priv_convolve_whole(node, k, c, &whole));
    if (whole && separable)
        TAMIS_TRY(tamis_priv_convolve_product(node, c, &product));
    if (product)
        c->narrow = 0;
    if (!whole && separable)
        TAMIS_TRY(tamis_priv_convolve_terms(node, k, c));
    node->stage = product              ? "whole_separable"
                  : whole              ? "whole"
                  : c->term_count == 1 ? "separable"
                  : c->term_count > 1  ? "low_rank"
                                       : "direct";
    return TAMIS_OK;
}

/* Halos of large windows want tiles that are large too, but with them hold 4 million samples at
 * most. */
static void choose_tile(tamis_node *node, const struct convolve_coef *c)
{
    int w = c->narrow ? 2048 : 1024; /* others copy the rows of a window and read them often */
    int h = c->h < 32 ? 128 : c->h < 256 ? 4 * c->h : 1024;
    while (((int64_t)w + c->w) * ((int64_t)h + c->h) > 1 << 22 && (w > 64 || h > 64))
        if (w > 64 && (c->h > c->w || h <= 64))
            w /= 2;
        else
            h /= 2;
    node->tile_w = w;
    node->tile_h = h;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_convolve *p = node->params;
    struct convolve_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    struct convolve_wish k = {0};
    if (!c)
        return tamis_priv_convolve_no_memory(node);
    TAMIS_TRY(read_kernel(node, &k));
    TAMIS_TRY(choose_anchor(node, p->anchor_x, k.w, "x", p->flip != 0, &c->left));
    TAMIS_TRY(choose_anchor(node, p->anchor_y, k.h, "y", p->flip != 0, &c->top));
    c->w = k.w;
    c->h = k.h;
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    /* What changes no sample must not change the color of a clear pixel either. */
    int is_identity = k.w * k.h == 1 && k.v[0] == k.divisor && k.bias == 0;
    node->alpha = is_identity ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    TAMIS_TRY(choose_stage(node, &k, c));
    node->coef = c;
    node->planar = !c->narrow; /* other kernels take neighboring samples of one channel */
    node->halo = (tamis_halo){c->left, c->w - 1 - c->left, c->top, c->h - 1 - c->top};
    node->scratch = scratch_bytes;
    choose_tile(node, c);
    return TAMIS_OK;
}

/* ---- the reference */

static float sample(const void *row, tamis_type type, int i)
{
    return (float)tamis_priv_sample_get(type, row, i);
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
                sum += (int64_t)tap->whole * (int64_t)tamis_priv_sample_get(type, row, column);
            }
            int64_t v = floor_divide(sum, c->divisor) - offset;
            tamis_priv_sample_put(type, (char *)t->dst[0] + y * t->dst_stride[0], x, (double)v);
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
            tamis_priv_sample_put(type, (char *)t->dst[0] + y * t->dst_stride[0], x,
                                  with_bias(c, sum));
        }
    }
}

/* Zeros of a kernel do not count as holding a NaN. */
static float column_sum(const tamis_tile *t, const struct convolve_coef *c, const float *column,
                        tamis_type type, int x, int y)
{
    float sum = -0.0f;
    for (int j = 0; j < c->h; j++)
        if (!c->gaps || column[j] != 0)
            sum = fmaf(column[j], sample(t->src[0][y - c->top + j], type, x), sum);
    return sum;
}

static float row_sum(const struct convolve_coef *c, const float *row, const float *columns,
                     float sum)
{
    for (int i = 0; i < c->w; i++)
        if (!c->gaps || row[i] != 0)
            sum = fmaf(row[i], columns[i], sum);
    return sum;
}

static void terms_plane(const tamis_tile *t, const struct convolve_coef *c, float *columns,
                        tamis_type type)
{
    int samples = t->w + c->w - 1;
    for (int y = 0; y < t->h; y++) {
        for (int k = 0; k < c->term_count; k++)
            for (int x = 0; x < samples; x++)
                columns[k * samples + x] =
                    column_sum(t, c, c->terms[k].column, type, x - c->left, y);
        for (int x = 0; x < t->w; x++) {
            float sum = -0.0f;
            for (int k = 0; k < c->term_count; k++)
                sum = row_sum(c, c->terms[k].row, columns + k * samples + x, sum);
            tamis_priv_sample_put(type, (char *)t->dst[0] + y * t->dst_stride[0], x,
                                  with_bias(c, sum));
        }
    }
}

enum stage { WHOLE, DIRECT, TERMS };

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
            terms_plane(&one, coef, scratch, type);
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
ROW(terms_u8_c, TERMS, TAMIS_U8)
ROW(terms_u16_c, TERMS, TAMIS_U16)
ROW(terms_s16_c, TERMS, TAMIS_S16)
ROW(terms_f32_c, TERMS, TAMIS_F32)
#undef ROW

static const tamis_kernel convolve_kernels_c[] = {
    {"whole", TAMIS_U8, TAMIS_CPU_C, whole_u8_c, 0},
    {"whole", TAMIS_U16, TAMIS_CPU_C, whole_u16_c, 0},
    {"whole", TAMIS_S16, TAMIS_CPU_C, whole_s16_c, 0},
    {"whole_separable", TAMIS_U8, TAMIS_CPU_C, whole_u8_c, 0},
    {"whole_separable", TAMIS_U16, TAMIS_CPU_C, whole_u16_c, 0},
    {"whole_separable", TAMIS_S16, TAMIS_CPU_C, whole_s16_c, 0},
    {"direct", TAMIS_U8, TAMIS_CPU_C, direct_u8_c, 0},
    {"direct", TAMIS_U16, TAMIS_CPU_C, direct_u16_c, 0},
    {"direct", TAMIS_S16, TAMIS_CPU_C, direct_s16_c, 0},
    {"direct", TAMIS_F32, TAMIS_CPU_C, direct_f32_c, 0},
    {"separable", TAMIS_U8, TAMIS_CPU_C, terms_u8_c, 0},
    {"separable", TAMIS_U16, TAMIS_CPU_C, terms_u16_c, 0},
    {"separable", TAMIS_S16, TAMIS_CPU_C, terms_s16_c, 0},
    {"separable", TAMIS_F32, TAMIS_CPU_C, terms_f32_c, 0},
    {"low_rank", TAMIS_U8, TAMIS_CPU_C, terms_u8_c, 0},
    {"low_rank", TAMIS_U16, TAMIS_CPU_C, terms_u16_c, 0},
    {"low_rank", TAMIS_S16, TAMIS_CPU_C, terms_s16_c, 0},
    {"low_rank", TAMIS_F32, TAMIS_CPU_C, terms_f32_c, 0},
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
