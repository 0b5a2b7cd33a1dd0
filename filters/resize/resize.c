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

/* The size of the picture's result. */
static tamis_status choose_picture(tamis_node *node, const struct tamis_resize *p)
{
    if (p->size.w > 0) {
        node->picture_out_w = p->size.w;
        node->picture_out_h = p->size.h;
        return TAMIS_OK;
    }
    double sx = p->scale.count ? p->scale.v[0] : 1;
    double sy = p->scale.count > 1 ? p->scale.v[1] : sx;
    TAMIS_TRY(wanted(node, "width", node->picture_w, sx, &node->picture_out_w));
    return wanted(node, "height", node->picture_h, sy, &node->picture_out_h);
}

static tamis_status choose_size(tamis_node *node, const struct tamis_resize *p)
{
    TAMIS_TRY(choose_picture(node, p));
    node->out_w = tamis_priv_node_sampled(node, 0, node->picture_out_w);
    node->out_h = tamis_priv_node_sampled(node, 1, node->picture_out_h);
    return TAMIS_OK;
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

/* The buffers of a band of up to 16 rows (resize_turn.h), or a row of sums. */
static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const struct resize_coef *c = coef;
    size_t sums = (size_t)resize_pitch((ptrdiff_t)span(&c->x, w) * step);
    (void)h;
    if (c->way != RESIZE_BANDS)
        return sums * sizeof(float);
    return (RESIZE_CHUNK + 64 * (size_t)step) * 64 +
           16 * sums * (c->x.q ? sizeof(int16_t) : sizeof(float));
}

/* About as much of the source as other filters read at a time; whole bands of any vector kernel. */
static int tile_side(double ratio, int size)
{
    int n = (int)(size / (ratio > 1 ? ratio : 1));
    return n < 16 ? 16 : (n + 15) / 16 * 16;
}

/* Finds the pixels across whose windows no edge cuts; returns whether every other one of them has
 * the same weights. */
static int finds_middle(struct resize_coef *c)
{
    const struct resize_axis *a = &c->x;
    c->first = 0;
    c->end = a->out;
    while (c->first < c->end && resize_count(a, c->first) < a->taps)
        c->first++;
    while (c->end > c->first && resize_count(a, c->end - 1) < a->taps)
        c->end--;
    return c->end - c->first > 2 && a->phase[c->first + 2] == a->phase[c->first];
}

static void choose_way(const tamis_node *node, struct resize_coef *c, int fixed, int step)
{
    int plain = !node->plane; /* the windows of a plane may lie between its samples */
    int halves = plain && c->x.taps == 2 && c->y.taps == 2 && node->w == 2 * (int64_t)node->out_w &&
                 node->h == 2 * (int64_t)node->out_h;
    int doubles = plain && step == 1 && (fixed || node->work != TAMIS_U8) && c->x.taps <= 6 &&
                  (c->x.taps == 1 || c->x.taps % 2 == 0) && node->out_w == 2 * (int64_t)node->w;
    if (halves)
        c->way = RESIZE_HALVES;
    else if (!fixed && c->x.taps > RESIZE_CHUNK / 2 / step)
        c->way = RESIZE_LONG;
    else if (doubles && finds_middle(c))
        c->way = RESIZE_DOUBLES;
    else
        c->way = RESIZE_BANDS;
}

enum { LONG_TILE = 8192 };

static tamis_status make_weights(tamis_node *node, struct resize_coef *c)
{
    int step = node->in.layout == TAMIS_PACKED ? node->in.channels : 1;
    int fixed = strcmp(node->stage, "fixed") == 0;
    choose_way(node, c, fixed, step);
    if (c->way == RESIZE_HALVES || c->way == RESIZE_DOUBLES)
        node->tile_w = LONG_TILE; /* memory is read and written fastest in long rows */
    TAMIS_TRY(tamis_priv_resize_weights(node, fixed, &c->x));
    TAMIS_TRY(tamis_priv_resize_weights(node, fixed, &c->y));
    return fixed && c->way == RESIZE_BANDS ? tamis_priv_resize_groups(node, &c->x, step, &c->groups)
                                           : TAMIS_OK;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_resize *p = node->params;
    struct resize_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    if (!c)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "resize: no memory for the plan");
    TAMIS_TRY(choose_size(node, p));
    TAMIS_TRY(check_bytes(node));
    TAMIS_TRY(tamis_priv_resize_windows(node, 0, &c->x));
    TAMIS_TRY(tamis_priv_resize_windows(node, 1, &c->y));
    int copies = c->x.taps == 1 && c->y.taps == 1;
    node->coef = c;
    node->scratch = scratch_bytes;
    node->need = need;
    node->border = TAMIS_BORDER_REPLICATE; /* what is read outside has no weight */
    node->alpha = copies ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    int fixed =
        node->work == TAMIS_U8 && c->x.taps <= RESIZE_FIXED_TAPS && c->y.taps <= RESIZE_FIXED_TAPS;
    node->stage = copies ? "nearest" : fixed ? "fixed" : "float";
    node->tile_w = tile_side(c->x.ratio, 2048);
    node->tile_h = tile_side(c->y.ratio, 64);
    return copies ? TAMIS_OK : make_weights(node, c);
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
    const int16_t *wx = resize_fixed_weights(ax, p->x), *wy = resize_fixed_weights(ay, p->y);
    int shift = ay->bits - RESIZE_FRACTION, last = ax->bits + RESIZE_FRACTION;
    int32_t sum = 1 << (last - 1);
    for (int k = 0; k < resize_count(ax, p->x); k++) {
        int32_t column = 1 << (shift - 1);
        for (int m = 0; m < resize_count(ay, p->y); m++)
            column += wy[m] * (int32_t)sample(p, TAMIS_U8, k, m);
        sum += wx[k] * (column >> shift);
    }
    return sum >> last;
}

static double in_floats(const struct place *p, tamis_type type)
{
    const struct resize_axis *ax = &p->c->x, *ay = &p->c->y;
    const float *wx = resize_weights(ax, p->x), *wy = resize_weights(ay, p->y);
    float s[8] = {0};
    for (int k = 0; k < resize_count(ax, p->x); k++) {
        float column = 0;
        for (int m = 0; m < resize_count(ay, p->y); m++)
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
    .traits = TAMIS_TRAIT_GEOMETRY,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
