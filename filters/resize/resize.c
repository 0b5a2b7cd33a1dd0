/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include <tamis/resize.h>

#include "resize_kernel.h"

static const char *const alpha_names[] = {"premultiply", "straight", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_resize, size, .def = -1, .min = 1, .max = 50000000, .unit = "px",
                .doc = "of the result; auto: by scale"),
    TAMIS_PARAM(struct tamis_resize, scale, .least = 1, .most = 2, .min = 1e-6, .max = 1e6,
                .unit = "", .doc = "larger by so much; across and down may differ; auto: 1"),
    TAMIS_PARAM(struct tamis_resize, interp, .def = TAMIS_INTERP_LINEAR,
                .max = TAMIS_INTERP_COUNT - 1, .choices = tamis_priv_interp_names, .unit = "",
                .doc = "how values between pixels are found"),
    TAMIS_PARAM(struct tamis_resize, antialias, .def = 1, .min = 0, .max = 1, .unit = "",
                .doc = "1: when shrinking, smooth as much"),
    TAMIS_PARAM(struct tamis_resize, cubic_a, .def = -0.5, .min = -1, .max = 0, .unit = "",
                .doc = "slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV"),
    TAMIS_PARAM(struct tamis_resize, alpha, .def = TAMIS_ALPHA_MODE_PREMULTIPLY,
                .max = TAMIS_ALPHA_MODE_STRAIGHT, .choices = alpha_names, .unit = "",
                .doc = "alpha channel: weight color by it, or resize it like color"),
};

/* ---- weights */

static double sinc(double t)
{
    t *= 3.14159265358979323846;
    return t == 0 ? 1 : sin(t) / t;
}

static double shape(const struct tamis_resize *p, double t)
{
    double a = p->cubic_a;
    t = fabs(t);
    switch (p->interp) {
    case TAMIS_INTERP_LINEAR:
        return t < 1 ? 1 - t : 0;
    case TAMIS_INTERP_CUBIC:
        if (t < 1)
            return ((a + 2) * t - (a + 3)) * t * t + 1;
        return t < 2 ? ((t - 5) * t + 8) * t * a - 4 * a : 0;
    case TAMIS_INTERP_LANCZOS3:
        return t < 3 && (t == 0 || t != floor(t)) ? sinc(t) * sinc(t / 3) : 0;
    default:
        return 0;
    }
}

/* How the window of one axis is made. */
struct window {
    const struct tamis_resize *p;
    tamis_interp interp; /* an axis that keeps its size is copied */
    int32_t in, out;
    double stretch, reach; /* f, and how far weights may differ from 0 */
};

static double center(const struct window *v, int32_t i)
{
    return (i + 0.5) * v->in / v->out - 0.5;
}

/* Before scaling. */
static double weight(const struct window *v, int32_t i, int64_t x)
{
    if (v->interp == TAMIS_INTERP_NEAREST)
        return 1;
    if (v->interp != TAMIS_INTERP_AREA)
        return shape(v->p, ((double)x - center(v, i)) / v->stretch);
    double low = fmax((double)i * v->in / v->out, (double)x);
    double high = fmin((double)(i + 1) * v->in / v->out, (double)x + 1);
    return high > low ? high - low : 0;
}

static struct window make_window(const struct tamis_resize *p, int32_t in, int32_t out)
{
    static const double reaches[] = {1, 1, 2, 3, 1};
    double ratio = (double)in / out;
    struct window v = {p, in == out ? TAMIS_INTERP_NEAREST : p->interp, in, out, 1, 0};
    if (ratio > 1 && (p->antialias || p->interp == TAMIS_INTERP_AREA))
        v.stretch = ratio;
    v.reach = reaches[v.interp] * v.stretch;
    return v;
}

/* The samples that pixel i's window holds, first .. last, where they lie in the source: those that
 * may have a weight. Both ends grow with i. */
static void bounds(const struct window *v, int32_t i, int32_t *first, int32_t *last)
{
    double c = center(v, i);
    double low = floor(c - v->reach) + 1, high = ceil(c + v->reach) - 1;
    if (v->interp == TAMIS_INTERP_NEAREST) {
        low = high = (double)((2 * (int64_t)i + 1) * v->in / (2 * (int64_t)v->out));
    } else if (v->interp == TAMIS_INTERP_AREA) {
        low = (double)((int64_t)i * v->in / v->out);
        high = (double)((((int64_t)i + 1) * v->in + v->out - 1) / v->out - 1);
    }
    *first = low > 0 ? (int32_t)low : 0;
    *last = high < v->in - 1 ? (int32_t)high : v->in - 1;
}

/* The weights of pixel i, scaled; returns how many, and where they begin. */
static int make_weights(const struct window *v, int32_t i, double *w, int32_t *first)
{
    double sum = 0;
    int32_t last;
    bounds(v, i, first, &last);
    for (int32_t x = *first; x <= last; x++)
        sum += w[x - *first] = weight(v, i, x);
    for (int32_t x = *first; x <= last; x++)
        w[x - *first] /= sum;
    return last - *first + 1;
}

/* Weights of one window in multiples of 2^-bits that sum to exactly one: rounded running sums
 * differ from the exact ones by half a step at most. */
static void make_fixed(const double *w, int taps, int bits, int16_t *q)
{
    double sum = 0, before = 0;
    for (int k = 0; k < taps; k++) {
        sum += w[k];
        double now = nearbyint(ldexp(sum, bits));
        q[k] = (int16_t)(now - before);
        before = now;
    }
}

static tamis_status no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "resize: no memory for the weights");
}

static tamis_status fill_axis(tamis_node *node, const struct window *v, double *w,
                              struct resize_axis *a)
{
    size_t count = (size_t)v->out * (size_t)a->pitch;
    int fixed = a->taps <= RESIZE_FIXED_TAPS && node->in.type == TAMIS_U8;
    int32_t *start = tamis_priv_node_alloc(node, (size_t)v->out * sizeof *start);
    int32_t *counts = tamis_priv_node_alloc(node, (size_t)v->out * sizeof *counts);
    float *f = tamis_priv_node_alloc(node, count * sizeof *f);
    int16_t *q = fixed ? tamis_priv_node_alloc(node, count * sizeof *q) : NULL;
    if (!start || !counts || !f || (fixed && !q))
        return no_memory(node);
    for (int32_t i = 0; i < v->out; i++) {
        size_t at = (size_t)i * (size_t)a->pitch;
        counts[i] = make_weights(v, i, w, &start[i]);
        for (int k = 0; k < counts[i]; k++)
            f[at + (size_t)k] = (float)w[k];
        if (q)
            make_fixed(w, counts[i], a->bits, q + at);
    }
    a->start = start;
    a->count = counts;
    a->f = f;
    a->q = q;
    return TAMIS_OK;
}

static tamis_status make_axis(tamis_node *node, const struct tamis_resize *p, int32_t in,
                              int32_t out, struct resize_axis *a)
{
    struct window v = make_window(p, in, out);
    double *w = tamis_priv_node_alloc(node, (size_t)(2 * v.reach + 4) * sizeof *w);
    if (!w)
        return no_memory(node);
    *a = (struct resize_axis){.in = in, .ratio = (double)in / out, .taps = 1, .bits = 15};
    for (int32_t i = 0; i < out; i++) {
        int32_t first;
        int n = make_weights(&v, i, w, &first);
        a->taps = n > a->taps ? n : a->taps;
        for (int k = 0; k < n; k++)
            a->bits = fabs(w[k]) > 0.9999 ? 14 : a->bits;
    }
    a->pitch = (a->taps + 7) / 8 * 8;
    return fill_axis(node, &v, w, a);
}

/* ---- groups */

/* Whether the windows of so many neighbors fit a table wherever they are. */
static int groups_fit(const struct resize_axis *a, int32_t out, int step, int pixels, int pairs)
{
    for (int32_t i = 0; i < out; i += pixels) {
        int32_t last = i + pixels < out ? i + pixels - 1 : out - 1;
        if (((int64_t)a->start[last] - a->start[i] + 2 * pairs) * step > RESIZE_TABLE)
            return 0;
    }
    return 1;
}

static void fill_group(const struct resize_axis *a, const struct resize_groups *g, int32_t i,
                       int32_t end, int16_t *index, uint32_t *weights)
{
    for (int lane = 0; lane < (end - i) * g->step; lane++) {
        int32_t x = i + lane / g->step;
        const int16_t *q = a->q + (ptrdiff_t)x * a->pitch;
        int at = (a->start[x] - a->start[i]) * g->step + lane % g->step;
        index[2 * lane] = (int16_t)at;
        index[2 * lane + 1] = (int16_t)(at + g->step);
        for (int k = 0; k < g->pairs; k++)
            weights[k * RESIZE_LANES + lane] = (uint16_t)q[2 * k] | (uint32_t)(uint16_t)q[2 * k + 1]
                                                                        << 16;
    }
}

static tamis_status make_groups(tamis_node *node, const struct resize_axis *a, int32_t out,
                                int step, struct resize_groups *g)
{
    *g = (struct resize_groups){.pixels = RESIZE_LANES / step, .step = step};
    g->pairs = (a->taps + 1) / 2;
    while (g->pixels > 0 && !groups_fit(a, out, step, g->pixels, g->pairs))
        g->pixels--;
    if (g->pixels * step < RESIZE_LANES / 4)
        g->pixels = 0; /* no gain */
    if (g->pixels == 0)
        return TAMIS_OK;
    size_t count = ((size_t)out + (size_t)g->pixels - 1) / (size_t)g->pixels;
    size_t lanes = count * RESIZE_LANES;
    int32_t *first = tamis_priv_node_alloc(node, count * sizeof *first);
    int16_t *index = tamis_priv_node_alloc(node, 2 * lanes * sizeof *index);
    uint32_t *weights = tamis_priv_node_alloc(node, lanes * (size_t)g->pairs * sizeof *weights);
    if (!first || !index || !weights)
        return no_memory(node);
    for (size_t n = 0; n < count; n++) {
        int32_t i = (int32_t)n * g->pixels, end = i + g->pixels < out ? i + g->pixels : out;
        first[n] = a->start[i];
        fill_group(a, g, i, end, index + 2 * n * RESIZE_LANES,
                   weights + n * (size_t)g->pairs * RESIZE_LANES);
    }
    g->first = first;
    g->index = index;
    g->weights = weights;
    return TAMIS_OK;
}

/* ---- planning */

#define MOST_BYTES 0x1p44

static tamis_status wanted(tamis_node *node, const char *side, int32_t n, double scale,
                           int32_t *out)
{
    double size = floor(n * scale + 0.5);
    if (!(size >= 1 && size <= 50000000))
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "resize: scale = %g makes the %s %.0f pixels of %d; allowed: 1 .. "
                               "50000000",
                               scale, side, size, n);
    *out = (int32_t)size;
    return TAMIS_OK;
}

static tamis_status choose_size(tamis_node *node, const struct tamis_resize *p)
{
    if (p->size.w > 0) {
        node->out_w = p->size.w;
        node->out_h = p->size.h;
        return TAMIS_OK;
    }
    double sx = p->scale.count ? p->scale.v[0] : 1;
    TAMIS_TRY(wanted(node, "width", node->w, sx, &node->out_w));
    return wanted(node, "height", node->h, p->scale.count > 1 ? p->scale.v[1] : sx, &node->out_h);
}

/* Planning takes memory and seconds for sides of millions: not for what no memory holds. */
static tamis_status check_bytes(tamis_node *node)
{
    double pixel = (double)tamis_type_size(node->out.type) * node->out.channels;
    double bytes = (double)node->out_w * node->out_h * pixel;
    if (bytes <= MOST_BYTES)
        return TAMIS_OK;
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY,
                           "resize: a picture of %dx%d takes %.0f TiB; allowed: up to %.0f TiB",
                           node->out_w, node->out_h, bytes * 0x1p-40, MOST_BYTES * 0x1p-40);
}

/* Samples under n pixels in a row: what windows, whose starts are rounded, can span at most. */
static int span(const struct resize_axis *a, int n)
{
    double most = ceil((n - 1) * a->ratio) + 2 + a->taps;
    return most < a->in ? (int)most : a->in;
}

/* At the right and lower edge the box ends with the source, so that its rows serve as they are. */
static tamis_box need(const void *coef, tamis_rect part)
{
    const struct resize_coef *c = coef;
    int32_t x = c->x.start[part.x], y = c->y.start[part.y];
    int w = span(&c->x, part.w), h = span(&c->y, part.h);
    return (tamis_box){x, y, w < c->x.in - x ? w : c->x.in - x, h < c->y.in - y ? h : c->y.in - y};
}

/* A row of column sums, in 16 or 32 bits, and room for whole vectors. */
static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const struct resize_coef *c = coef;
    (void)h;
    return ((size_t)span(&c->x, w) + 64) * (size_t)step * sizeof(float) + 2048;
}

/* About as much of the source as other filters read at a time. */
static int tile_side(double ratio, int size)
{
    int n = (int)(size / (ratio > 1 ? ratio : 1));
    return n < 16 ? 16 : n;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_resize *p = node->params;
    struct resize_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    if (!c)
        return no_memory(node);
    TAMIS_TRY(choose_size(node, p));
    TAMIS_TRY(check_bytes(node));
    TAMIS_TRY(make_axis(node, p, node->w, node->out_w, &c->x));
    TAMIS_TRY(make_axis(node, p, node->h, node->out_h, &c->y));
    int copies = c->x.taps == 1 && c->y.taps == 1;
    node->coef = c;
    node->scratch = scratch_bytes;
    node->need = need;
    node->border = TAMIS_BORDER_REPLICATE; /* what is read outside has no weight */
    node->alpha = copies ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    node->stage = copies                                       ? "nearest"
                  : c->x.q && c->y.q && node->work == TAMIS_U8 ? "fixed"
                                                               : "float";
    if (strcmp(node->stage, "fixed") == 0)
        TAMIS_TRY(make_groups(node, &c->x, node->out_w,
                              node->in.layout == TAMIS_PACKED ? node->in.channels : 1, &c->groups));
    c->halves = c->x.taps == 2 && c->y.taps == 2 && node->w == 2 * (int64_t)node->out_w &&
                node->h == 2 * (int64_t)node->out_h && c->x.f[0] == 0.5f && c->y.f[0] == 0.5f;
    node->tile_w = tile_side(c->x.ratio, 2048);
    node->tile_h = tile_side(c->y.ratio, 64);
    return TAMIS_OK;
}

/* ---- reference */

/* The tile's window for one sample of the result. */
struct place {
    const tamis_tile *t;
    const struct resize_coef *c;
    int32_t x, y; /* in the result */
    int channel;
};

static double sample(const struct place *p, tamis_type type, int k, int m)
{
    const tamis_tile *t = p->t;
    int64_t column = p->c->x.start[p->x] + k - t->from.x;
    const void *row = t->src[0][p->c->y.start[p->y] + m - t->from.y];
    int64_t at = column * t->step + p->channel;
    switch (type) {
    case TAMIS_U8:
        return ((const uint8_t *)row)[at];
    case TAMIS_U16:
        return ((const uint16_t *)row)[at];
    case TAMIS_S16:
        return ((const int16_t *)row)[at];
    default:
        return (double)((const float *)row)[at];
    }
}

static double fixed(const struct place *p)
{
    const struct resize_axis *ax = &p->c->x, *ay = &p->c->y;
    const int16_t *wx = ax->q + (ptrdiff_t)p->x * ax->pitch;
    const int16_t *wy = ay->q + (ptrdiff_t)p->y * ay->pitch;
    int shift = ay->bits - RESIZE_FRACTION, last = ax->bits + RESIZE_FRACTION;
    int32_t sum = 1 << (last - 1);
    for (int k = 0; k < ax->count[p->x]; k++) {
        int32_t column = 1 << (shift - 1);
        for (int m = 0; m < ay->count[p->y]; m++)
            column += wy[m] * (int32_t)sample(p, TAMIS_U8, k, m);
        sum += wx[k] * (column >> shift);
    }
    return sum >> last;
}

static double in_floats(const struct place *p, tamis_type type)
{
    const struct resize_axis *ax = &p->c->x, *ay = &p->c->y;
    const float *wx = ax->f + (ptrdiff_t)p->x * ax->pitch;
    const float *wy = ay->f + (ptrdiff_t)p->y * ay->pitch;
    float s[8] = {0};
    for (int k = 0; k < ax->count[p->x]; k++) {
        float column = 0;
        for (int m = 0; m < ay->count[p->y]; m++)
            column += wy[m] * (float)sample(p, type, k, m);
        s[k % 8] += wx[k] * column;
    }
    return (double)(((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
}

static void store(tamis_type type, void *row, int i, double v)
{
    double r = nearbyint(v);
    if (type == TAMIS_U8)
        ((uint8_t *)row)[i] = (uint8_t)(r < 0 ? 0 : r < 255 ? r : 255);
    else if (type == TAMIS_U16)
        ((uint16_t *)row)[i] = (uint16_t)(r < 0 ? 0 : r < 65535 ? r : 65535);
    else if (type == TAMIS_S16)
        ((int16_t *)row)[i] = (int16_t)(r < -32768 ? -32768 : r < 32767 ? r : 32767);
    else
        ((float *)row)[i] = (float)v;
}

enum way { COPY, FIXED, FLOAT };

static void resize(const tamis_tile *t, const void *coef, tamis_type type, enum way way)
{
    struct place p = {.t = t, .c = coef};
    for (int j = 0; j < t->h; j++) {
        void *row = (char *)t->dst[0] + j * t->dst_stride[0];
        p.y = t->y + j;
        for (int i = 0; i < t->w; i++) {
            p.x = t->x + i;
            for (p.channel = 0; p.channel < t->step; p.channel++)
                store(type, row, i * t->step + p.channel,
                      way == COPY    ? sample(&p, type, 0, 0)
                      : way == FIXED ? fixed(&p)
                                     : in_floats(&p, type));
        }
    }
}

#define ROW(NAME, TYPE, WAY)                                                                       \
    static void NAME(const tamis_tile *t, const void *coef, void *scratch)                         \
    {                                                                                              \
        (void)scratch;                                                                             \
        resize(t, coef, TYPE, WAY);                                                                \
    }
ROW(copy_u8_c, TAMIS_U8, COPY)
ROW(copy_u16_c, TAMIS_U16, COPY)
ROW(copy_s16_c, TAMIS_S16, COPY)
ROW(copy_f32_c, TAMIS_F32, COPY)
ROW(fixed_u8_c, TAMIS_U8, FIXED)
ROW(float_u8_c, TAMIS_U8, FLOAT)
ROW(float_u16_c, TAMIS_U16, FLOAT)
ROW(float_s16_c, TAMIS_S16, FLOAT)
ROW(float_f32_c, TAMIS_F32, FLOAT)
#undef ROW

extern const tamis_kernel resize_kernels_c[];
const tamis_kernel resize_kernels_c[] = {
    {"nearest", TAMIS_U8, TAMIS_CPU_C, copy_u8_c, 0},
    {"nearest", TAMIS_U16, TAMIS_CPU_C, copy_u16_c, 0},
    {"nearest", TAMIS_S16, TAMIS_CPU_C, copy_s16_c, 0},
    {"nearest", TAMIS_F32, TAMIS_CPU_C, copy_f32_c, 0},
    {"fixed", TAMIS_U8, TAMIS_CPU_C, fixed_u8_c, 0},
    {"float", TAMIS_U8, TAMIS_CPU_C, float_u8_c, 0},
    {"float", TAMIS_U16, TAMIS_CPU_C, float_u16_c, 0},
    {"float", TAMIS_S16, TAMIS_CPU_C, float_s16_c, 0},
    {"float", TAMIS_F32, TAMIS_CPU_C, float_f32_c, 0},
    {.fn = NULL},
};

TAMIS_KERNEL_DECLARE(resize);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(resize);

const tamis_filter tamis_priv_filter_resize = {
    .name = "resize",
    .brief = "make larger or smaller",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_resize),
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
