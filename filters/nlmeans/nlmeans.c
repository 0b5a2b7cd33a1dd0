/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means: parameters, plan and reference. */
#include <math.h>
#include <string.h>
#include <tamis/nlmeans.h>

#include "cpu/picture.h"
#include "cpu/sample.h"
#include "nlmeans_found.h"
#include "nlmeans_kernel.h"

/* The reference: plain loops in double precision. A picture is seen as planes of samples; the
 * pixel at x of plane p has its sample at x * step. */

/* The planes whose pixels share a weight. */
typedef struct group {
    const tamis_tile *tile;
    const nlmeans_coef *coef;
    tamis_type type;
    int first, count;
    int luma; /* count is at least 3, and only the luma of the first three has a say in d2 */
    const nlmeans_found *motion; /* NULL: frames as they are */
} group;

/* A place: row y, sample i, so many frames later. */
typedef struct place {
    int y;
    ptrdiff_t i;
    int frame;
} place;

/* The rows of plane p in another frame; NULL when the sequence has no such frame. */
static const void *const *rows_of(const group *g, int p, int frame)
{
    const tamis_tile *t = g->tile;
    if (frame == 0)
        return t->src[p];
    return t->frames->rows[TAMIS_MAX_FRAMES + frame][t->plane + p];
}

/* Where what would be there has been found in that frame. */
static place moved(const group *g, place q)
{
    const nlmeans_found *m = g->motion;
    int step = g->tile->step, x = (int)((q.i - m->channel) / step) + g->tile->x - m->blocks.x;
    int y = q.y + g->tile->y - m->blocks.y;
    nlmeans_vector v =
        m->vectors[TAMIS_MAX_FRAMES + q.frame]
                  [y / NLMEANS_BLOCK * (m->blocks.w / NLMEANS_BLOCK) + x / NLMEANS_BLOCK];
    return (place){q.y + v.y, q.i + (ptrdiff_t)v.x * step, q.frame};
}

static double at(const group *g, int p, place q)
{
    if (g->motion && q.frame)
        q = moved(g, q);
    return tamis_priv_sample_get(g->type, rows_of(g, g->first + p, q.frame)[q.y], q.i);
}

/* The squared difference of two pixels, averaged over the channels. */
static double difference(const group *g, place a, place b)
{
    double d[TAMIS_MAX_CHANNELS], sum = 0;
    for (int p = 0; p < g->count; p++) {
        d[p] = at(g, p, a) - at(g, p, b);
        sum += d[p] * d[p];
    }
    if (!g->luma)
        return sum / g->count;
    double y = 0.299 * d[0] + 0.587 * d[1] + 0.114 * d[2];
    return y * y + 0 * sum; /* NaN where the alpha is not finite */
}

static double patch_difference(const group *g, place a, place b)
{
    const nlmeans_coef *k = g->coef;
    double sum = 0;
    for (int dy = -k->py; dy <= k->py; dy++)
        for (int dx = -k->px; dx <= k->px; dx++) {
            ptrdiff_t shift = (ptrdiff_t)dx * g->tile->step;
            sum += difference(g, (place){a.y + dy, a.i + shift, a.frame},
                              (place){b.y + dy, b.i + shift, b.frame});
        }
    return sum / ((2 * k->px + 1) * (2 * k->py + 1));
}

static double weight(const group *g, place a, place b)
{
    double d2 = patch_difference(g, a, b);
    return isfinite(d2) ? exp(-fmax(d2 - g->coef->floor, 0) * g->coef->range) : 0;
}

/* Differences of a frame's pixels from the one at q, times their weights; then the weights. */
static void search_frame(const group *g, place q, int frame, double *sum, double *weights)
{
    const nlmeans_coef *k = g->coef;
    for (int dy = -k->sy; dy <= k->sy; dy++)
        for (int dx = -k->sx; dx <= k->sx; dx++) {
            place other = {q.y + dy, q.i + (ptrdiff_t)dx * g->tile->step, frame};
            int itself = dx == 0 && dy == 0 && frame == 0;
            double w = itself ? 0 : weight(g, q, other);
            for (int p = 0; p < g->count && w > 0; p++)
                sum[p] += w * (at(g, p, other) - at(g, p, q));
            *weights += w;
        }
}

/* The pixel at q and its mean difference from the others: flat surroundings add exact zeros. */
static void filter_pixel(const group *g, place q)
{
    double sum[TAMIS_MAX_CHANNELS] = {0}, weights = 1;
    for (int f = -g->coef->frames; f <= g->coef->frames; f++)
        if (rows_of(g, g->first, f))
            search_frame(g, q, f, sum, &weights);
    for (int p = 0; p < g->count; p++) {
        char *row = (char *)g->tile->dst[g->first + p] + q.y * g->tile->dst_stride[g->first + p];
        tamis_priv_sample_put(g->type, row, q.i, at(g, p, q) + sum[p] / weights);
    }
}

/* Sample channel of all pixels. */
static void filter_channel(const group *g, int channel, void *scratch)
{
    const tamis_tile *t = g->tile;
    nlmeans_found found = {.coef = g->coef,
                           .tile = t,
                           .type = g->type,
                           .first = g->first,
                           .count = g->count,
                           .channel = channel};
    group with = *g;
    if (g->coef->motion) {
        found_all(&found, scratch);
        with.motion = &found;
    }
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w && !tamis_tile_canceled(t); x++)
            filter_pixel(&with, (place){y, (ptrdiff_t)x * t->step + channel, 0});
}

static void filter_tile(const tamis_tile *t, const nlmeans_coef *k, tamis_type type, void *scratch)
{
    int count = k->colors;
    for (int first = 0; first < t->planes; first += count, count = 1) {
        group g = {t, k, type, first, count, first == 0 && k->luma, NULL};
        for (int c = 0; c < t->step; c++)
            filter_channel(&g, c, scratch);
    }
}

/* What strength 0 and a search window of one pixel do. */
static void copy_tile(const tamis_tile *t, size_t sample_size)
{
    for (int p = 0; p < t->planes; p++)
        for (int y = 0; y < t->h; y++)
            memcpy((char *)t->dst[p] + y * t->dst_stride[p], t->src[p][y],
                   (size_t)t->w * (size_t)t->step * sample_size);
}

#define ROWS(type, suffix)                                                                         \
    static void means_##suffix##_c(const tamis_tile *tile, const void *coef, void *scratch)        \
    {                                                                                              \
        filter_tile(tile, coef, type, scratch);                                                    \
    }                                                                                              \
    static void copy_##suffix##_c(const tamis_tile *tile, const void *coef, void *scratch)         \
    {                                                                                              \
        (void)coef, (void)scratch;                                                                 \
        copy_tile(tile, tamis_type_size(type));                                                    \
    }
ROWS(TAMIS_U8, u8)
ROWS(TAMIS_U16, u16)
ROWS(TAMIS_S16, s16)
ROWS(TAMIS_F32, f32)
#undef ROWS

TAMIS_KERNEL_DECLARE(nlmeans);
static const tamis_kernel nlmeans_kernels_c[] = {
    {"means", TAMIS_U8, TAMIS_CPU_C, means_u8_c, 0},
    {"means", TAMIS_U16, TAMIS_CPU_C, means_u16_c, 0},
    {"means", TAMIS_S16, TAMIS_CPU_C, means_s16_c, 0},
    {"means", TAMIS_F32, TAMIS_CPU_C, means_f32_c, 0},
    {"copy", TAMIS_U8, TAMIS_CPU_C, copy_u8_c, 0},
    {"copy", TAMIS_U16, TAMIS_CPU_C, copy_u16_c, 0},
    {"copy", TAMIS_S16, TAMIS_CPU_C, copy_s16_c, 0},
    {"copy", TAMIS_F32, TAMIS_CPU_C, copy_f32_c, 0},
    {NULL},
};

static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(nlmeans);

/* Parameters. */

typedef struct tamis_nlmeans nlmeans;

static const char *const color_names[] = {"joint", "luma", "separate", NULL};

#define MAX_PATCH  63
#define MAX_SEARCH 99
#define MAX_MOTION 128
/* The smallest strength but 0: its square and the differences of floats fit together in a float. */
#define MIN_H 1e-9
/* Of sigma to h: d2 - 2 sigma^2 is a difference of rounded numbers. */
#define MAX_SIGMA 8

static const tamis_param params[] = {
    TAMIS_PARAM(nlmeans, h, .def = 100 * 10 / 255.0, .min = 0, .max = 1e9, .percent = 1,
                .automatic = 1, .unit = "levels",
                .doc = "strength: about the standard deviation of the noise; 0 = no change; auto: "
                       "by the noise of the picture"),
    TAMIS_PARAM(nlmeans, patch, .def = 7, .min = 1, .max = MAX_PATCH, .unit = "px", .odd = 1,
                .doc = "width and height of the patches that are compared"),
    TAMIS_PARAM(nlmeans, search, .def = 21, .min = 1, .max = MAX_SEARCH,
                .scales = TAMIS_SCALES_BOTH, .unit = "px", .odd = 1,
                .doc = "width and height of the window in which like patches are sought"),
    TAMIS_PARAM(nlmeans, sigma, .def = 0, .min = 0, .max = 1e9, .automatic = 1, .unit = "levels",
                .doc = "standard deviation of the noise, whose part is taken off the distance of "
                       "patches; at most 8 h; auto: that of the picture"),
    TAMIS_PARAM(nlmeans, color, .def = TAMIS_NLMEANS_JOINT, .max = TAMIS_NLMEANS_SEPARATE,
                .choices = color_names, .unit = "",
                .doc = "one weight for all channels, from all of them or from luma, or each "
                       "channel alone"),
    TAMIS_PARAM(nlmeans, frames, .def = 0, .min = 0, .max = TAMIS_MAX_FRAMES, .unit = "frames",
                .doc = "frames before and after the current one in which like patches are sought "
                       "too: pages of the file"),
    TAMIS_PARAM(nlmeans, motion, .def = 0, .min = 0, .max = MAX_MOTION, .unit = "px",
                .doc =
                    "how far things may move from the current frame to each of the others, whose "
                    "blocks are then sought and put back; 0 = frames are taken as they are"),
    TAMIS_PARAM_BORDER(nlmeans),
    TAMIS_PARAM_ALPHA(nlmeans),
};

/* Plan. */

static tamis_status plan_strength(tamis_node *node, const nlmeans *n, nlmeans_coef *k)
{
    double h = tamis_priv_node_value(node, n->h);
    double sigma = tamis_priv_node_value(node, n->sigma);
    if (h == 0)
        return TAMIS_OK;
    if (h < MIN_H)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "nlmeans: h = %g levels is outside 0, %g .. 1e9", h, MIN_H);
    if (sigma > MAX_SIGMA * h)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "nlmeans: sigma = %g levels is outside 0 .. %g, %d times h", sigma,
                               MAX_SIGMA * h, MAX_SIGMA);
    k->floor = 2 * sigma * sigma;
    k->range = 1 / (h * h);
    return TAMIS_OK;
}

static tamis_status plan_color(tamis_node *node, const nlmeans *n, nlmeans_coef *k)
{
    int alpha = node->in.alpha != TAMIS_ALPHA_NONE;
    int colors = node->in.channels - alpha;
    int whole =
        alpha && node->alpha == TAMIS_ALPHA_MODE_PREMULTIPLY; /* alpha is part of the pixel */
    if (n->color == TAMIS_NLMEANS_LUMA && colors != 1 && colors != 3)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "nlmeans: color=luma needs 3 color channels, the image has %d",
                               colors);
    node->planar = n->color != TAMIS_NLMEANS_SEPARATE && node->in.channels > 1;
    k->luma = n->color == TAMIS_NLMEANS_LUMA && colors == 3;
    k->colors = node->planar ? colors + whole : 1;
    return TAMIS_OK;
}

/* Bits of i in reverse order, of as many as count phases. */
static int reverse(int i)
{
    int v = 0;
    for (int bit = 1; bit < NLMEANS_PHASES; bit *= 2)
        v = 2 * v + ((i & bit) != 0);
    return v;
}

static void fill_tables(nlmeans_tables *t, int octave)
{
    for (int i = 0; i < 64; i++)
        t->power[i] = (uint16_t)rint(65535 * exp2(-(i + 0.5) / 64));
    for (int i = 0; i < NLMEANS_PHASES; i++) {
        double part = (reverse(i) + 0.5) / NLMEANS_PHASES;
        for (int e = 0; e < 32; e++) {
            double unit = exp2(e + 1);
            double v = e <= 15 ? part * unit : fmax(0, 65536 - (1 - part) * unit);
            t->threshold[i][e] = (uint16_t)fmin(65535, v);
        }
        for (int e = 0; e < 8; e++)
            t->step[i][e] = (uint8_t)rint((1 - part) * exp2(e + 1));
        t->reach[i] = (uint16_t)((15 - log2(1 - part)) * exp2(octave));
    }
}

/* Sums that are t. Sums over the width of a patch must fit 16 bits, which decides about the
 * precision of t: rounding squares then moves no pixel by more than about 1/h levels. */
static int scale_levels(nlmeans_levels *v, double octave, double floor, double reach, double width)
{
    int bits = (int)fmin(11, log2(65535 / (65025 * octave * width)));
    double factor = 65536 * octave * exp2(bits);
    if (bits < 7 || exp2(bits) * (floor * octave + reach) > 65535)
        return 0;
    v->octave = (uint16_t)bits;
    v->factor = (uint16_t)rint(factor);
    v->round = (uint16_t)fmin(510, 32768 / fmax(1, factor)); /* 65025 + 510 is 16 bits long */
    v->floor = (uint16_t)rint(exp2(bits) * octave * floor);
    return 1;
}

/* Whole sums, where they hold all that has a weight. */
static int whole_levels(nlmeans_levels *v, double octave, double floor, double reach)
{
    double factor = 2048 * octave;
    if (floor + reach / octave > 65535)
        return 0;
    v->whole = 1;
    v->octave = 11;
    for (; factor >= 1 && v->shift < 15; v->shift++)
        factor /= 2;
    v->limit = (uint16_t)(65535 >> v->shift);
    v->factor = (uint16_t)fmin(65535, 65536 * factor);
    v->floor = (uint16_t)rint(floor);
    return 1;
}

/* Weights of 15 bits fit sums of 32 bits for 513 pixels beside the center; for twice that, weights
 * have 14. Sizes of patches for which there is code. */
static tamis_status plan_levels(tamis_node *node, nlmeans_coef *k)
{
    int others = (2 * k->sx + 1) * (2 * k->sy + 1) - 1;
    int summed = (2 * k->px + 1) * (2 * k->py + 1) * k->colors;
    if (node->work != TAMIS_U8 || k->frames || k->luma || (k->colors != 1 && k->colors != 3) ||
        k->px != k->py || k->px < 1 || k->px > 3 || k->sx < 1 || others > 1026)
        return TAMIS_OK;
    /* Together, what has less weight than 2^-reach moves no pixel by more than 1/4 level. */
    double reach = log2(4.0 * 255 * others);
    nlmeans_levels v = {0};
    double octave = k->range / (log(2) * summed), floor = k->floor * summed;
    if (!scale_levels(&v, octave, floor, reach, (2 * k->px + 1) * k->colors) &&
        !whole_levels(&v, octave, floor, reach))
        return TAMIS_OK;
    nlmeans_tables *t = tamis_priv_node_alloc(node, sizeof *t);
    if (!t)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "nlmeans: out of memory");
    fill_tables(t, v.octave);
    v.one = others > 513 ? 16384 : 32767;
    v.tables = t;
    k->levels = v;
    return TAMIS_OK;
}

static size_t levels_scratch(const nlmeans_coef *k, int w, int h, int lanes)
{
    size_t run = (size_t)nlmeans_run(k, w, lanes), colors = (size_t)k->colors;
    size_t sx = (size_t)k->sx, px = (size_t)k->px, source = nlmeans_source_rows(k, h);
    return 2 * (size_t)lanes *
           ((size_t)h * (run + 2 * sx) * 2 * (colors + 1) + NLMEANS_GROUP * (2 * px + 2) * run +
            (NLMEANS_GROUP + 1) * (run + 2 * NLMEANS_GROUP) +
            colors * source * (run + 2 * (sx + px)));
}

static size_t floats_scratch(const nlmeans_coef *k, int w, int h, int lanes)
{
    size_t run = (size_t)nlmeans_run(k, w, lanes), colors = (size_t)k->colors;
    size_t sx = (size_t)k->sx, px = (size_t)k->px, py = (size_t)k->py;
    size_t views = (colors + (k->luma ? 1 : 0)) * (k->frames ? 2 : 1); /* this frame's, another's */
    return sizeof(float) * (size_t)lanes *
           (views * nlmeans_source_rows(k, h) * (run + 2 * (sx + px)) +
            2 * (colors + 1) * (size_t)h * run +
            NLMEANS_TOGETHER * ((2 * py + 1) * run + run + 2 * sx) + run + 2 * px);
}

static size_t motion_scratch(const nlmeans_coef *k, int w, int h)
{
    tamis_box blocks = nlmeans_most_blocks(k, w, h), region = nlmeans_region(k, blocks);
    size_t across = (size_t)blocks.w / NLMEANS_BLOCK, down = (size_t)blocks.h / NLMEANS_BLOCK;
    size_t rows = nlmeans_source_rows(k, h), columns = (size_t)w + 2 * (size_t)(k->sx + k->px);
    size_t frame =
        nlmeans_room(rows * sizeof(void *)) + nlmeans_room(rows * columns * k->sample_bytes);
    size_t pyramid = nlmeans_room(nlmeans_pyramid_size(region) * sizeof(uint16_t));
    return nlmeans_room((4 * (size_t)region.w + 2) * sizeof(uint16_t)) +
           2 * nlmeans_room(across * down * sizeof(uint32_t)) +
           nlmeans_room(nlmeans_pairs(across) * sizeof(uint32_t)) +
           nlmeans_room((across + 3) * sizeof(uint32_t)) +
           nlmeans_room(4 * across * sizeof(uint32_t)) + (size_t)k->colors * (2 * pyramid + frame);
}

/* Enough for vectors of 16, 32 and 64 bytes, and for the reference. */
static size_t scratch(const void *coef, int w, int h, int step)
{
    const nlmeans_coef *k = coef;
    size_t most = 0, motion = k->motion ? motion_scratch(k, w, h) : 0;
    size_t found = k->motion ? found_scratch(k, w, h) : 0;
    (void)step; /* samples of a pixel take turns */
    for (int lanes = 4; lanes <= 16; lanes *= 2) {
        size_t floats = floats_scratch(k, w, h, lanes);
        size_t levels = k->levels.tables ? levels_scratch(k, w, h, 2 * lanes) : 0;
        most = most > floats ? most : floats;
        most = most > levels ? most : levels;
    }
    return motion + most > found ? motion + most : found;
}

/* One h is to be NLMEANS_NOISE of the numbers that are compared, unless an integer type's range has
 * too many then. */
static tamis_status plan_motion(tamis_node *node, const nlmeans *n, nlmeans_coef *k)
{
    double span = node->work == TAMIS_U8 ? 256 : node->work == TAMIS_F32 ? 0 : 65536;
    double scale = fmin(1e30, NLMEANS_NOISE * sqrt(k->range));
    k->motion = k->frames ? (n->motion + 7) / 8 : 0;
    if (!k->motion)
        return TAMIS_OK;
    if (node->border == TAMIS_BORDER_WRAP)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "nlmeans: motion cannot be had with border=wrap");
    k->motion_scale = (float)(span > 0 ? fmin(scale, NLMEANS_MOST / span) : scale);
    k->motion_offset = 0.5f + (node->work == TAMIS_S16 ? 32768 * k->motion_scale : 0);
    int beyond = nlmeans_reach(k) + NLMEANS_BLOCK;
    node->halo.left += beyond;
    node->halo.right += beyond;
    node->halo.top += beyond;
    node->halo.bottom += beyond;
    return TAMIS_OK;
}

static tamis_status plan(tamis_node *node)
{
    const nlmeans *n = node->params;
    nlmeans_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "nlmeans: out of memory");
    k->sx = n->search.w / 2;
    k->sy = n->search.h / 2;
    k->px = n->patch.w / 2;
    k->py = n->patch.h / 2;
    k->frames = n->frames;
    TAMIS_TRY(plan_strength(node, n, k));
    int copy = k->range == 0 || k->sx + k->sy + k->frames == 0;
    node->stage = copy ? "copy" : "means";
    node->border = n->border;
    node->border_value = tamis_priv_node_value(node, n->border_value);
    /* A copy must change no pixel, not even the color of a clear one. */
    node->alpha = copy ? TAMIS_ALPHA_MODE_STRAIGHT : n->alpha;
    node->work = tamis_priv_node_work(node);
    k->sample_bytes = tamis_type_size(node->work);
    TAMIS_TRY(plan_color(node, n, k));
    int summed = (2 * k->px + 1) * (2 * k->py + 1);
    k->log2_range = (float)(k->range / (log(2) * summed));
    k->log2_floor = (float)(k->floor * k->range / log(2));
    node->halo = (tamis_halo){k->sx + k->px, k->sx + k->px, k->sy + k->py, k->sy + k->py};
    TAMIS_TRY(plan_motion(node, n, k)); /* of a copy, too, whose size and errors are the same */
    if (!copy)
        TAMIS_TRY(plan_levels(node, k));
    /* Long runs have little beside them; rows are to stay in cache. */
    node->tile_w = 538 - 2 * (k->sx + k->px);
    node->tile_h = k->colors > 1 ? 48 : 96;
    if (k->motion) /* what is around a tile costs more than itself */
        node->tile_h = 192;
    if (k->levels.tables) {
        node->tile_w = (k->colors > 1 ? 17 : 14) * 32 - 2 * (k->sx + k->px);
        node->tile_h = k->colors > 1 ? 48 : 64;
        if (node->tile_w < 256)
            node->tile_w = 256;
    }
    node->frames = copy ? 0 : k->frames;
    node->coef = k;
    node->scratch = copy ? NULL : scratch;
    return TAMIS_OK;
}

/* h by the noise: the best of a search on real pictures (bench/denoise.py). Little noise wants more
 * than its share, for then most of what differs is picture, which the weights judge well. */
double tamis_priv_nlmeans_strength(double noise, double range, int told)
{
    double levels = noise / range * 255;
    double factor = told ? 0.7 - 0.01 * fmax(0, levels - 20) : 1.1 - 0.0075 * fmax(0, levels - 10);
    return noise * fmax(told ? 0.4 : 0.8, factor);
}

double tamis_priv_nlmeans_least(double h)
{
    return h < MIN_H ? 0 : h;
}

static void choose(const tamis_picture *picture, void *open)
{
    nlmeans *n = open;
    double noise = n->color == TAMIS_NLMEANS_LUMA ? tamis_priv_picture_luma_sigma(picture)
                                                  : tamis_priv_picture_sigma(picture);
    if (tamis_priv_value_is_auto(n->sigma))
        n->sigma = (tamis_value){.value = tamis_priv_picture_round(noise)};
    double told = tamis_value_resolve(n->sigma, picture->format.type);
    double least = told / MAX_SIGMA;
    if (tamis_priv_value_is_auto(n->h)) {
        double h = tamis_priv_picture_round(
            tamis_priv_nlmeans_strength(noise, tamis_type_range(picture->format.type), told > 0));
        n->h = (tamis_value){.value = tamis_priv_nlmeans_least(fmax(least, h))};
    }
}

extern const tamis_filter tamis_priv_filter_nlmeans;
const tamis_filter tamis_priv_filter_nlmeans = {
    .name = "nlmeans",
    .brief = "removes noise by averaging pixels whose surroundings look alike",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .params_size = sizeof(nlmeans),
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
    .choose = choose,
};
