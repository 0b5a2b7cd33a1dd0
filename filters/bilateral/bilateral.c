/* SPDX-License-Identifier: Apache-2.0 */
/* Bilateral filter: parameters, plan and reference. */
#include <math.h>
#include <stdlib.h>
#include <tamis/bilateral.h>

#include "bilateral_kernel.h"
#include "cpu/picture.h"
#include "cpu/sample.h"

/* The reference: plain loops in double precision. A picture is seen as planes of samples; the
 * pixel at x of plane p has its sample at x * step. */

static void put(tamis_type type, const tamis_tile *t, int p, int y, ptrdiff_t i, double v)
{
    tamis_priv_sample_put(type, (char *)t->dst[p] + y * t->dst_stride[p], i, v);
}

/* The planes that D is taken from. */
typedef struct pixels {
    const void *const *const *rows; /* rows[p][y] */
    int first, count;
    int luma; /* count is 3 and only the luma counts */
} pixels;

static double luma(double r, double g, double b)
{
    return 0.299 * r + 0.587 * g + 0.114 * b;
}

/* exp(-D^2 / (2 sigma_color^2)) of the samples i of row y and j of row v. */
static double range_weight(const bilateral_coef *k, tamis_type type, const pixels *px, int y,
                           ptrdiff_t i, int v, ptrdiff_t j)
{
    double d[TAMIS_MAX_CHANNELS] = {0}, squares = 0, sum = 0;
    for (int p = 0; p < px->count; p++) {
        const void *const *rows = px->rows[px->first + p];
        d[p] = tamis_priv_sample_get(type, rows[v], j) - tamis_priv_sample_get(type, rows[y], i);
        squares += d[p] * d[p];
        sum += fabs(d[p]);
    }
    if (px->luma)
        sum = luma(d[0], d[1], d[2]);
    if (!isfinite(squares))
        return NAN; /* rather than 0 for the other channels of an infinite sample */
    return exp(-(k->l1 || px->luma ? sum * sum : squares) * k->range);
}

static double space_weight(const bilateral_coef *k, int dx, int dy)
{
    return k->space[abs(dy) * (k->rx + 1) + abs(dx)];
}

/* The filter for sample i of row y in plane p. */
static double mean(const tamis_tile *t, const bilateral_coef *k, tamis_type type, const pixels *px,
                   int p, int y, ptrdiff_t i)
{
    double sum = 0, weights = 0;
    if (k->rx == 0 && k->ry == 0)
        return tamis_priv_sample_get(type, t->src[p][y], i); /* infinite ones too */
    for (int dy = -k->ry; dy <= k->ry; dy++) {
        for (int dx = -k->half[abs(dy)]; dx <= k->half[abs(dy)]; dx++) {
            ptrdiff_t j = i + (ptrdiff_t)dx * t->step;
            double w = space_weight(k, dx, dy) * range_weight(k, type, px, y, i, y + dy, j);
            double v = tamis_priv_sample_get(type, t->src[p][y + dy], j);
            sum += isfinite(v) ? w * v : NAN;
            weights += w;
        }
    }
    return sum / weights;
}

/* Color modes joint and separate: the first planes are one vector, further ones are alone. */
static void vector_c(const tamis_tile *t, const bilateral_coef *k, tamis_type type)
{
    for (int p = 0; p < t->planes; p++) {
        pixels px = {t->src, p, 1, 0};
        if (p < k->colors)
            px = (pixels){t->src, 0, k->colors, 0};
        if (k->guided)
            px = (pixels){t->guide, 0, t->guide_planes, 0};
        for (int y = 0; y < t->h; y++)
            for (ptrdiff_t i = 0; i < (ptrdiff_t)t->w * t->step && !tamis_tile_canceled(t); i++)
                put(type, t, p, y, i, mean(t, k, type, &px, p, y, i));
    }
}

/* R-Y and B-Y of pixel x of row y, and the alpha that weights them. */
typedef struct chroma {
    double r, b, alpha;
} chroma;

/* 0 for negative numbers; NaN stays. */
static double positive(double v)
{
    return v < 0 ? 0 : v;
}

/* v between -limit and limit; NaN stays. */
static double within(double v, double limit)
{
    return v < -limit ? -limit : v > limit ? limit : v;
}

static double get_luma(const tamis_tile *t, tamis_type type, int y, ptrdiff_t x)
{
    return luma(tamis_priv_sample_get(type, t->src[0][y], x),
                tamis_priv_sample_get(type, t->src[1][y], x),
                tamis_priv_sample_get(type, t->src[2][y], x));
}

static chroma mean_chroma(const tamis_tile *t, const bilateral_coef *k, tamis_type type, int y,
                          int x)
{
    chroma c = {0, 0, 0};
    double weights = 0;
    for (int dy = -k->ry; dy <= k->ry; dy++) {
        for (int dx = -k->half[abs(dy)]; dx <= k->half[abs(dy)]; dx++) {
            double w = space_weight(k, dx, dy);
            double l = get_luma(t, type, y + dy, x + dx);
            c.r += w * (tamis_priv_sample_get(type, t->src[0][y + dy], x + dx) - l);
            c.b += w * (tamis_priv_sample_get(type, t->src[2][y + dy], x + dx) - l);
            c.alpha +=
                w *
                (k->alpha ? positive(tamis_priv_sample_get(type, t->src[3][y + dy], x + dx)) : 0);
            weights += w;
        }
    }
    return (chroma){c.r / weights, c.b / weights, c.alpha / weights};
}

/* Color mode luma. As it is linear, the mean of the luma is the luma of the means. Where colors
 * are multiplied by alpha, the chroma has the Gaussian's alpha and is given the luma's. As no color
 * should be below 0 or above its alpha, alpha below 0 counts as 0 there, and chroma beyond alpha as
 * alpha: else the quotient would be without bounds. */
static void luma_c(const tamis_tile *t, const bilateral_coef *k, tamis_type type)
{
    pixels px = {t->src, 0, 3, 1};
    pixels alone = {t->src, 3, 1, 0};
    if (k->guided)
        px = alone = (pixels){t->guide, 0, t->guide_planes, 0};
    for (int y = 0; y < t->h; y++) {
        for (int x = 0; x < t->w && !tamis_tile_canceled(t); x++) {
            double l = luma(mean(t, k, type, &px, 0, y, x), mean(t, k, type, &px, 1, y, x),
                            mean(t, k, type, &px, 2, y, x));
            chroma c = mean_chroma(t, k, type, y, x);
            if (t->planes > 3) {
                double a = mean(t, k, type, k->alpha ? &px : &alone, 3, y, x);
                put(type, t, 3, y, x, a);
                if (k->alpha) {
                    double ratio = c.alpha == 0 ? 0 : positive(a) / c.alpha;
                    c.r = within(c.r, c.alpha) * ratio;
                    c.b = within(c.b, c.alpha) * ratio;
                }
            }
            put(type, t, 0, y, x, l + c.r);
            put(type, t, 1, y, x, l - (0.299 * c.r + 0.114 * c.b) / 0.587);
            put(type, t, 2, y, x, l + c.b);
        }
    }
}

#define ROWS(type, suffix)                                                                         \
    static void vector_##suffix##_c(const tamis_tile *tile, const void *coef, void *scratch)       \
    {                                                                                              \
        (void)scratch;                                                                             \
        vector_c(tile, coef, type);                                                                \
    }                                                                                              \
    static void luma_##suffix##_c(const tamis_tile *tile, const void *coef, void *scratch)         \
    {                                                                                              \
        (void)scratch;                                                                             \
        luma_c(tile, coef, type);                                                                  \
    }
ROWS(TAMIS_U8, u8)
ROWS(TAMIS_U16, u16)
ROWS(TAMIS_S16, s16)
ROWS(TAMIS_F32, f32)
#undef ROWS

TAMIS_KERNEL_DECLARE(bilateral);
static const tamis_kernel bilateral_kernels_c[] = {
    {"vector", TAMIS_U8, TAMIS_CPU_C, vector_u8_c, 0},
    {"vector", TAMIS_U16, TAMIS_CPU_C, vector_u16_c, 0},
    {"vector", TAMIS_S16, TAMIS_CPU_C, vector_s16_c, 0},
    {"vector", TAMIS_F32, TAMIS_CPU_C, vector_f32_c, 0},
    {"luma", TAMIS_U8, TAMIS_CPU_C, luma_u8_c, 0},
    {"luma", TAMIS_U16, TAMIS_CPU_C, luma_u16_c, 0},
    {"luma", TAMIS_S16, TAMIS_CPU_C, luma_s16_c, 0},
    {"luma", TAMIS_F32, TAMIS_CPU_C, luma_f32_c, 0},
    {NULL},
};

static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(bilateral);

/* Parameters. */

typedef struct tamis_bilateral bilateral;

static const char *const color_names[] = {"joint", "separate", "luma", NULL};
static const char *const window_names[] = {"square", "disc", NULL};
static const char *const compat_names[] = {"none", "opencv", NULL};

/* The widest window: 2 * ceil(2 * the largest sigma_space) + 1. */
#define MAX_SIGMA   128
#define MAX_KSIZE   513
#define LEAST_SIGMA 1e-9
/* sigma_color = auto, by the noise. */
#define BY_NOISE 2.0

static const tamis_param params[] = {
    TAMIS_PARAM(bilateral, sigma_space, .def = 3, .min = 0.1, .max = MAX_SIGMA,
                .scales = TAMIS_SCALES_BOTH, .unit = "px",
                .doc = "standard deviation of the Gaussian of the distance in the picture"),
    TAMIS_PARAM(bilateral, sigma_color, .def = 100 * 30 / 255.0, .min = LEAST_SIGMA, .max = 1e9,
                .automatic = 1, .percent = 1, .unit = "levels",
                .doc = "standard deviation of the Gaussian of the difference in value; two to "
                       "three times that of the noise; auto: by the noise of the picture"),
    TAMIS_PARAM(bilateral, ksize, .def = 0, .min = 0, .max = MAX_KSIZE, .scales = TAMIS_SCALES_BOTH,
                .unit = "px", .odd = 1,
                .doc = "width and height of the window; 0 = 2 * ceil(2 * sigma_space) + 1"),
    TAMIS_PARAM(bilateral, color, .def = TAMIS_BILATERAL_JOINT, .max = TAMIS_BILATERAL_LUMA,
                .choices = color_names, .unit = "",
                .doc = "one weight for all channels, each channel alone, or luma with these "
                       "weights and chroma by a Gaussian"),
    TAMIS_PARAM(bilateral, window, .def = TAMIS_BILATERAL_SQUARE, .max = TAMIS_BILATERAL_DISC,
                .choices = window_names, .unit = "", .doc = "shape of the window"),
    TAMIS_PARAM(bilateral, compat, .def = TAMIS_BILATERAL_COMPAT_NONE,
                .max = TAMIS_BILATERAL_COMPAT_OPENCV, .choices = compat_names, .unit = "",
                .doc = "opencv: disc, sum of absolute differences as color distance, radius "
                       "round(1.5 * sigma_space)"),
    TAMIS_PARAM_BORDER(bilateral),
    TAMIS_PARAM_ALPHA(bilateral),
};

/* Plan. */

static int radius(const bilateral *b, int ksize)
{
    if (ksize > 0)
        return ksize / 2;
    if (b->compat == TAMIS_BILATERAL_COMPAT_OPENCV)
        return (int)fmax(1, rint(1.5 * b->sigma_space));
    return (int)ceil(2 * b->sigma_space);
}

/* Half the width of row dy of the ellipse with the radii rx and ry. */
static int disc_half(int rx, int ry, int dy)
{
    int dx = rx;
    while (ry > 0 &&
           (int64_t)dx * dx * ry * ry + (int64_t)dy * dy * rx * rx > (int64_t)rx * rx * ry * ry)
        dx--;
    return dx;
}

static tamis_status plan_window(tamis_node *node, const bilateral *b, bilateral_coef *k)
{
    k->rx = radius(b, b->ksize.w);
    k->ry = radius(b, b->ksize.h);
    int columns = k->rx + 1, width = 2 * k->rx + 1;
    size_t rows = (size_t)k->ry + 1;
    int *half = tamis_priv_node_alloc(node, rows * sizeof *half);
    double *space = tamis_priv_node_alloc(node, rows * (size_t)columns * sizeof *space);
    float *log2_space = tamis_priv_node_alloc(node, rows * (size_t)width * sizeof *log2_space);
    if (!half || !space || !log2_space)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "bilateral: out of memory");

    int disc = b->window == TAMIS_BILATERAL_DISC || b->compat == TAMIS_BILATERAL_COMPAT_OPENCV;
    double scale = -0.5 / (b->sigma_space * b->sigma_space);
    for (int dy = 0; dy <= k->ry; dy++) {
        half[dy] = disc ? disc_half(k->rx, k->ry, dy) : k->rx;
        for (int dx = 0; dx <= k->rx; dx++) {
            double e = scale * ((double)dx * dx + (double)dy * dy);
            float *middle = log2_space + dy * width + k->rx;
            middle[dx] = middle[-dx] = (float)(e / log(2));
            space[dy * columns + dx] = exp(e);
        }
    }
    k->half = half;
    k->space = space;
    k->log2_space = log2_space;
    return TAMIS_OK;
}

static int count_taps(const bilateral_coef *k)
{
    int taps = 0;
    for (int dy = -k->ry; dy <= k->ry; dy++)
        taps += 2 * k->half[abs(dy)] + 1;
    return taps;
}

/* 16-bit weights serve where D is a whole number below 256, or where those of 256 and more are 0.
 */
static int quads_apply(const tamis_node *node, const bilateral_coef *k)
{
    int whole = k->colors == 1 || (k->l1 && k->range * 255 * 255 > log(4.0 * BILATERAL_TABLE_ONE));
    return node->work == TAMIS_U8 && node->stage[0] == 'v' && !k->guided && k->rx == k->ry &&
           (whole || k->squares.powers) && count_taps(k) <= BILATERAL_TABLE_TAPS;
}

static tamis_status plan_squares(tamis_node *node, bilateral_coef *k)
{
    bilateral_squares *s = &k->squares;
    double step = k->range / log(2) * 2048; /* t of D^2 = 1 */
    int shift = 0;
    while (step >= 1) {
        step /= 2;
        shift++;
    }
    if (shift > 15) /* so narrow a range that no shift of 16 bits serves */
        return TAMIS_OK;
    s->shift = (uint16_t)shift;
    s->limit = (uint16_t)(65535 >> shift);
    s->factor = (uint16_t)(step * 65536);
    /* The weight at the limit must be 0: t / 2048 >= 16. */
    if (node->work != TAMIS_U8 || k->colors == 1 || k->l1 ||
        (uint32_t)(s->limit << shift) * s->factor >> 16 < 16 * 2048)
        return TAMIS_OK;
    uint16_t *powers = tamis_priv_node_alloc(node, (64 + 32) * sizeof *powers);
    if (!powers)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "bilateral: out of memory");
    for (int i = 0; i < 64; i++)
        powers[i] = (uint16_t)rint(65535 * pow(2, -i / 64.0));
    for (int i = 0; i < 32; i++)
        powers[64 + i] = (uint16_t)fmin(65535, rint(65536 * pow(2, -i / 2048.0)));
    s->powers = powers;
    return TAMIS_OK;
}

static int table_weight(const bilateral_coef *k, double space, int d)
{
    return (int)rint(BILATERAL_TABLE_ONE * space * exp(-k->range * d * d));
}

static void fill_table(const bilateral_coef *k, double space, uint8_t *table)
{
    for (int d = 0; d < 256; d++) {
        int w = table_weight(k, space, d);
        table[d] = (uint8_t)(w >> 8);
        table[256 + d] = (uint8_t)w;
    }
}

/* The four turns of a place. */
static bilateral_quad turns(const bilateral_coef *k, int dx, int dy, int table)
{
    /* Half a step makes up for t's being rounded down. */
    double t = rint(0.5 - 2048 * bilateral_log2_space(k, dy)[dx]);
    int16_t x = (int16_t)dx, y = (int16_t)dy, mx = (int16_t)-dx, my = (int16_t)-dy;
    return (bilateral_quad){.dx = {x, my, mx, y},
                            .dy = {y, x, my, mx},
                            .table = table,
                            .exponent = (uint16_t)fmin(t, 65535)};
}

/* Quads by distance from the center, so that those with the same table follow each other. */
static tamis_status plan_quads(tamis_node *node, bilateral_coef *k)
{
    int r = k->rx, quads = 0, end = 0;
    size_t count = (size_t)count_taps(k) / 4 + 1;
    bilateral_quad *quad = tamis_priv_node_alloc(node, count * sizeof *quad);
    uint8_t *table = tamis_priv_node_alloc(node, count * BILATERAL_TABLE);
    if (!quad || !table)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "bilateral: out of memory");
    for (int distance = 1; distance <= 2 * r * r; distance++) {
        int start = end;
        /* One of the four turns of each place has dx > 0 and dy >= 0. */
        for (int dy = 0; dy <= r; dy++)
            for (int dx = 1; dx <= k->half[dy]; dx++)
                if (dx * dx + dy * dy == distance) {
                    fill_table(k, k->space[dy * (r + 1) + dx], table + start);
                    quad[quads++] = turns(k, dx, dy, start);
                    end = start + BILATERAL_TABLE;
                }
    }
    k->tables = table;
    k->quads = quad;
    k->quad_count = quads;
    int tail = table_weight(k, 1, 128);
    k->reach = tail > 255 ? BILATERAL_REACH_FULL
               : tail > 0 ? BILATERAL_REACH_TAIL
                          : BILATERAL_REACH_HALF;
    return TAMIS_OK;
}

static size_t scratch(const void *coef, int w, int h, int step)
{
    const bilateral_coef *k = coef;
    size_t planes = (size_t)k->float_planes, rows = bilateral_rows(k, h);
    size_t floats = bilateral_address_bytes(k, h) +
                    planes * rows * bilateral_row_floats(k, w, step) * sizeof(float);
    if (!k->quads)
        return floats;
    size_t bytes = planes * rows * bilateral_row_bytes(k, w, step) +
                   (size_t)k->quad_count * BILATERAL_QUAD_WEIGHTS;
    return bytes > floats ? bytes : floats;
}

/* Vector rows work on floats: they widen other samples, and make luma and chroma. */
static int float_planes(const tamis_node *node, const bilateral_coef *k)
{
    int guide = node->has_guide ? node->guide.channels : 0; /* at most */
    if (node->stage[0] == 'l')
        return 4 + guide;
    return node->work == TAMIS_F32 ? 0 : k->planes + guide;
}

static tamis_status plan_color(tamis_node *node, const bilateral *b, bilateral_coef *k)
{
    int alpha = node->in.alpha != TAMIS_ALPHA_NONE;
    int colors = node->in.channels - alpha;
    int whole =
        alpha && node->alpha == TAMIS_ALPHA_MODE_PREMULTIPLY; /* alpha is part of the pixel */
    int separate = b->color == TAMIS_BILATERAL_SEPARATE && !node->has_guide;
    if (b->color == TAMIS_BILATERAL_LUMA && colors != 1 && colors != 3)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "bilateral: color=luma needs 3 color channels, the image has %d",
                               colors);
    int luma = b->color == TAMIS_BILATERAL_LUMA && colors == 3;
    /* One pixel stays as it is, which the way to luma and back would not grant infinite ones. */
    node->stage = luma && k->rx + k->ry > 0 ? "luma" : "vector";
    node->planar = !separate && (node->in.channels > 1 || node->has_guide);
    k->planes = node->planar ? node->in.channels : 1;
    k->colors = node->planar ? colors + whole : 1;
    k->alpha = whole;
    k->guided = node->has_guide;
    k->l1 = b->compat == TAMIS_BILATERAL_COMPAT_OPENCV;
    return TAMIS_OK;
}

static tamis_status plan(tamis_node *node)
{
    const bilateral *b = node->params;
    bilateral_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "bilateral: out of memory");
    node->border = b->border;
    TAMIS_TRY(plan_window(node, b, k));
    node->border_value = tamis_priv_node_value(node, b->border_value);
    /* A window of one pixel must change none, not even the color of a clear one. */
    node->alpha = k->rx + k->ry == 0 ? TAMIS_ALPHA_MODE_STRAIGHT : b->alpha;
    node->work = tamis_priv_node_work(node);
    TAMIS_TRY(plan_color(node, b, k));

    double sigma = tamis_priv_node_value(node, b->sigma_color);
    k->range = 0.5 / (sigma * sigma);
    k->log2_range = (float)(k->range / log(2));
    node->tile_w = 512;
    node->halo = (tamis_halo){k->rx, k->rx, k->ry, k->ry};
    k->float_planes = float_planes(node, k);
    TAMIS_TRY(plan_squares(node, k));
    if (quads_apply(node, k))
        TAMIS_TRY(plan_quads(node, k));
    node->coef = k;
    node->scratch = scratch;
    return TAMIS_OK;
}

/* The factors are the best of a search on real pictures: bench/denoise.py. */
static void choose(const tamis_picture *picture, void *open)
{
    bilateral *b = open;
    double noise = b->color == TAMIS_BILATERAL_LUMA ? tamis_priv_picture_luma_sigma(picture)
                                                    : tamis_priv_picture_sigma(picture);
    /* The distance of two colors grows with their number. */
    int more = b->color == TAMIS_BILATERAL_JOINT ? picture->colors - 1 : 0;
    b->sigma_color.percent = 0;
    b->sigma_color.value =
        fmax(LEAST_SIGMA, tamis_priv_picture_round(BY_NOISE * (1 + 0.15 * more) * noise));
}

const tamis_filter tamis_priv_filter_bilateral = {
    .name = "bilateral",
    .brief = "smooths noise and keeps edges, averaging what is near and alike",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .params_size = sizeof(bilateral),
    .max_inputs = 2,
    .plan = plan,
    .kernels = kernels,
    .choose = choose,
};
