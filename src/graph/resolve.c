/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing what a chain leaves to the picture. */
#include <math.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "cpu/kernel.h"
#include "cpu/picture.h"
#include "graph/graph.h"
#include "graph/histogram.h"
#include "graph/param.h"
#include "graph/risk.h"
#include "image/image.h"

/* Of pictures with more pixels, some rows are counted in histograms. */
#define PIXELS_COUNTED ((int64_t)1 << 24)
#define BAND_ROWS      64
#define CHAIN_MAX      1024

/* The picture that comes to a filter: what the filters before it make of the source. It is whole,
 * or comes by parts. */
typedef struct arriving {
    tamis_ctx *ctx;
    const tamis_run_options *options;
    tamis_format format; /* of the source */
    int32_t w, h;
    const tamis_image *image;        /* the source, whole; NULL: by parts */
    const tamis_part_source *source; /* the source, by parts */
    size_t max_bytes;
    tamis_graph *before; /* the filters before, with everything chosen */
} arriving;

static int is_open(const tamis_filter *filter, const void *params)
{
    for (int i = 0; i < filter->param_count; i++)
        if (tamis_priv_param_unresolved(&filter->params[i], params))
            return 1;
    return filter->expand != NULL;
}

int tamis_graph_is_open(const tamis_graph *graph)
{
    for (int i = 0; i < tamis_graph_size(graph); i++)
        if (is_open(tamis_graph_filter(graph, i), tamis_graph_params(graph, i)))
            return 1;
    return 0;
}

/* ---- filters before */

static tamis_status append(tamis_graph *to, const tamis_graph *from)
{
    for (int i = 0; i < tamis_graph_size(from); i++)
        TAMIS_TRY(tamis_graph_add(to, tamis_graph_filter(from, i), tamis_graph_params(from, i)));
    return TAMIS_OK;
}

/* The guide, where the first filter before takes one. */
static const tamis_image *guide_of(const arriving *a)
{
    int takes = tamis_filter_max_inputs(tamis_graph_filter(a->before, 0)) > 1;
    return a->options && takes ? a->options->guide : NULL;
}

/* The plan of the filters before, and of more if there are any. */
static tamis_status make_plan(const arriving *a, const tamis_graph *more, tamis_plan **out)
{
    const tamis_image *guide = guide_of(a);
    tamis_plan_options options = {.whole_bytes = a->image ? 0 : a->max_bytes};
    tamis_graph *graph;
    *out = NULL;
    TAMIS_TRY(tamis_graph_create(a->ctx, &graph));
    tamis_status status = append(graph, a->before);
    if (status == TAMIS_OK && more)
        status = append(graph, more);
    if (guide) {
        options.guide = &guide->format;
        options.guide_w = guide->w;
        options.guide_h = guide->h;
    }
    if (status == TAMIS_OK)
        status = tamis_plan_create(a->ctx, graph, a->format, a->w, a->h, &options, out);
    tamis_graph_free(&graph);
    return status;
}

/* A part of what a plan makes of the source. */
typedef struct pulled {
    const arriving *from;
    const tamis_plan *plan;
} pulled;

static tamis_status pull(void *user, tamis_rect part, const tamis_image *into)
{
    const pulled *p = user;
    const arriving *a = p->from;
    tamis_run_options run = {.guide = guide_of(a),
                             .cancel = a->options ? a->options->cancel : NULL};
    tamis_rect need;
    tamis_image read = {0};
    if (a->image)
        return tamis_plan_run_region(p->plan, a->image, part, into, &run);
    TAMIS_TRY(tamis_plan_need(p->plan, part, &need));
    TAMIS_TRY(tamis_image_create(a->ctx, a->format, need.w, need.h, &read));
    tamis_status status = a->source->read(a->source->user, need, &read);
    run.window = &need;
    if (status == TAMIS_OK)
        status = tamis_plan_run_region(p->plan, &read, part, into, &run);
    tamis_image_unref(&read);
    return status;
}

static int is_canceled(const arriving *a)
{
    return a->options && a->options->cancel &&
           __atomic_load_n(a->options->cancel, __ATOMIC_RELAXED);
}

/* ---- measuring */

static tamis_status measure_noise(const arriving *a, tamis_picture *out)
{
    tamis_plan *plan;
    if (tamis_graph_size(a->before) == 0 && a->image)
        return tamis_noise_estimate(a->ctx, a->image, out->noise);
    if (tamis_graph_size(a->before) == 0)
        return tamis_noise_estimate_parts(a->ctx, a->format, a->w, a->h, a->source, a->max_bytes,
                                          out->noise);
    TAMIS_TRY(make_plan(a, NULL, &plan));
    pulled p = {a, plan};
    tamis_part_source source = {pull, &p, 0, 0};
    tamis_image whole = {0};
    tamis_status status;
    if (a->image) {
        status = tamis_image_create(a->ctx, out->format, out->w, out->h, &whole);
        if (status == TAMIS_OK)
            status = pull(&p, (tamis_rect){0, 0, out->w, out->h}, &whole);
        if (status == TAMIS_OK)
            status = tamis_noise_estimate(a->ctx, &whole, out->noise);
        tamis_image_unref(&whole);
    } else {
        status = tamis_noise_estimate_parts(a->ctx, out->format, out->w, out->h, &source,
                                            a->max_bytes, out->noise);
    }
    tamis_plan_free(&plan);
    return status;
}

/* The rows to count at a time, and how far the next ones begin below them. */
static void choose_bands(const arriving *a, int32_t w, int32_t h, int32_t *rows, int64_t *every)
{
    int64_t bands = ((int64_t)h + BAND_ROWS - 1) / BAND_ROWS;
    int64_t counted = PIXELS_COUNTED / ((int64_t)w * BAND_ROWS);
    counted = counted < 1 ? 1 : counted;
    *rows = a->image ? h : BAND_ROWS;
    *every = a->image || bands <= counted ? *rows : (bands + counted - 1) / counted * BAND_ROWS;
}

static tamis_status count_values(const arriving *a, const tamis_plan *plan,
                                 tamis_histogram *histogram)
{
    const tamis_convert *loops = tamis_priv_convert_for(a->ctx->cpu);
    int32_t w, h, rows;
    int64_t every;
    tamis_plan_size(plan, &w, &h);
    choose_bands(a, w, h, &rows, &every);
    tamis_image band;
    pulled p = {a, plan};
    TAMIS_TRY(tamis_image_create(a->ctx, tamis_plan_format(plan), w, rows < h ? rows : h, &band));
    tamis_status status = TAMIS_OK;
    for (int64_t y = 0; y < h && status == TAMIS_OK; y += every) {
        tamis_rect part = {0, (int32_t)y, w, h - y < rows ? (int32_t)(h - y) : rows};
        tamis_image view;
        status = is_canceled(a)
                     ? TAMIS_ERR_CANCELED
                     : tamis_image_view(a->ctx, &band, (tamis_rect){0, 0, w, part.h}, &view);
        if (status == TAMIS_OK)
            status = pull(&p, part, &view);
        if (status == TAMIS_OK)
            tamis_priv_histogram_add(histogram, loops, &view);
    }
    tamis_image_unref(&band);
    return status;
}

static tamis_status measure_chain(const arriving *a, const char *chain, tamis_picture *out,
                                  tamis_histogram *histogram)
{
    tamis_graph *more;
    tamis_plan *plan = NULL;
    TAMIS_TRY(tamis_graph_parse(a->ctx, chain, &more));
    tamis_status status = make_plan(a, more, &plan);
    if (status == TAMIS_OK)
        status = count_values(a, plan, histogram);
    out->histogram = histogram;
    tamis_plan_free(&plan);
    tamis_graph_free(&more);
    return status;
}

static tamis_status describe(const arriving *a, tamis_picture *out)
{
    tamis_plan *plan;
    *out = (tamis_picture){.format = a->format, .w = a->w, .h = a->h};
    if (tamis_graph_size(a->before) > 0) {
        TAMIS_TRY(make_plan(a, NULL, &plan));
        out->format = tamis_plan_format(plan);
        tamis_plan_size(plan, &out->w, &out->h);
        tamis_plan_free(&plan);
    }
    out->colors = out->format.channels - (out->format.alpha != TAMIS_ALPHA_NONE);
    return TAMIS_OK;
}

/* ---- choosing */

static tamis_status choose(const arriving *a, const tamis_filter *filter, const void *params,
                           const tamis_picture *picture)
{
    void *chosen = tamis_priv_mem_alloc(a->ctx, filter->params_size);
    if (!chosen)
        return tamis_priv_fail(a->ctx, TAMIS_ERR_MEMORY, "resolve: no memory");
    memcpy(chosen, params, filter->params_size);
    filter->choose(picture, chosen);
    tamis_status status = tamis_graph_add(a->before, filter, chosen);
    tamis_priv_mem_free(a->ctx, chosen);
    return status;
}

static tamis_status measure(const arriving *a, const tamis_filter *filter, const void *params,
                            tamis_picture *picture, tamis_histogram *histogram)
{
    char chain[CHAIN_MAX];
    TAMIS_TRY(describe(a, picture));
    if (!filter->measure)
        return measure_noise(a, picture);
    filter->measure(params, chain, sizeof chain);
    return measure_chain(a, chain, picture, histogram);
}

static tamis_status add_filter(const arriving *a, const tamis_filter *filter, const void *params);

/* The chain that a filter stands for; it may try others on the picture before. */
static tamis_status ask_chain(const arriving *a, const tamis_filter *filter, const void *params,
                              tamis_picture *picture, char *chain, size_t size)
{
    tamis_plan *plan;
    TAMIS_TRY(make_plan(a, NULL, &plan));
    pulled p = {a, plan};
    tamis_part_source source = {pull, &p, 0, 0};
    tamis_risk risk = {.ctx = a->ctx,
                       .format = picture->format,
                       .w = picture->w,
                       .h = picture->h,
                       .colors = picture->colors,
                       .noise = picture->noise,
                       .source = &source,
                       .max_bytes = a->image ? SIZE_MAX : a->max_bytes,
                       .cancel = a->options ? a->options->cancel : NULL};
    picture->risk = &risk;
    filter->expand(picture, params, chain, size);
    picture->risk = NULL;
    tamis_priv_risk_free(&risk);
    tamis_plan_free(&plan);
    return risk.status;
}

/* Puts the filters that another stands for in its place. */
static tamis_status expand(const arriving *a, const tamis_filter *filter, const void *params,
                           tamis_picture *picture)
{
    char chain[CHAIN_MAX];
    tamis_graph *graph;
    TAMIS_TRY(ask_chain(a, filter, params, picture, chain, sizeof chain));
    TAMIS_TRY(tamis_graph_parse(a->ctx, chain, &graph));
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < tamis_graph_size(graph) && status == TAMIS_OK; i++)
        status = add_filter(a, tamis_graph_filter(graph, i), tamis_graph_params(graph, i));
    tamis_graph_free(&graph);
    return status;
}

static tamis_status resolve_filter(const arriving *a, const tamis_filter *filter,
                                   const void *params)
{
    tamis_picture picture;
    tamis_histogram *histogram = tamis_priv_mem_zalloc(a->ctx, sizeof *histogram);
    if (!histogram)
        return tamis_priv_fail(a->ctx, TAMIS_ERR_MEMORY, "resolve: no memory");
    tamis_status status = measure(a, filter, params, &picture, histogram);
    if (status == TAMIS_OK && is_canceled(a))
        status = TAMIS_ERR_CANCELED;
    if (status == TAMIS_OK)
        status = filter->expand ? expand(a, filter, params, &picture)
                                : choose(a, filter, params, &picture);
    tamis_priv_mem_free(a->ctx, histogram);
    return status;
}

static tamis_status add_filter(const arriving *a, const tamis_filter *filter, const void *params)
{
    return is_open(filter, params) ? resolve_filter(a, filter, params)
                                   : tamis_graph_add(a->before, filter, params);
}

static tamis_status resolve(arriving *a, const tamis_graph *graph, tamis_graph **out)
{
    TAMIS_TRY(tamis_graph_create(a->ctx, &a->before));
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < tamis_graph_size(graph) && status == TAMIS_OK; i++)
        status = add_filter(a, tamis_graph_filter(graph, i), tamis_graph_params(graph, i));
    if (status != TAMIS_OK)
        tamis_graph_free(&a->before);
    *out = a->before;
    return status;
}

tamis_status tamis_graph_resolve(tamis_ctx *ctx, const tamis_graph *graph, const tamis_image *image,
                                 const tamis_run_options *options, tamis_graph **out)
{
    TAMIS_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, graph);
    TAMIS_TRY(tamis_image_check(ctx, image));
    if (image->device && tamis_graph_is_open(graph))
        return tamis_priv_fail(ctx, TAMIS_ERR_UNSUPPORTED,
                               "resolve: the picture must be in host memory");
    arriving a = {.ctx = ctx,
                  .options = options,
                  .format = image->format,
                  .w = image->w,
                  .h = image->h,
                  .image = image};
    return resolve(&a, graph, out);
}

tamis_status tamis_graph_resolve_parts(tamis_ctx *ctx, const tamis_graph *graph,
                                       tamis_format format, int32_t w, int32_t h,
                                       const tamis_part_source *source, size_t max_bytes,
                                       const tamis_run_options *options, tamis_graph **out)
{
    TAMIS_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, graph);
    TAMIS_REQUIRE(ctx, source);
    TAMIS_REQUIRE(ctx, source->read);
    TAMIS_TRY(tamis_priv_shape_check(ctx, format, w, h));
    arriving a = {.ctx = ctx,
                  .options = options,
                  .format = format,
                  .w = w,
                  .h = h,
                  .source = source,
                  .max_bytes = max_bytes ? max_bytes : (size_t)64 << 20};
    return resolve(&a, graph, out);
}

/* ---- what filters ask about the noise */

double tamis_priv_picture_sigma(const tamis_picture *picture)
{
    double sum = 0;
    for (int c = 0; c < picture->colors; c++)
        sum += picture->noise[c].sigma * picture->noise[c].sigma;
    return sqrt(sum / picture->colors);
}

double tamis_priv_picture_luma_sigma(const tamis_picture *picture)
{
    static const double weights[] = {0.299, 0.587, 0.114};
    double sum = 0;
    if (picture->colors != 3)
        return tamis_priv_picture_sigma(picture);
    for (int c = 0; c < 3; c++)
        sum += weights[c] * weights[c] * picture->noise[c].sigma * picture->noise[c].sigma;
    return sqrt(sum);
}

double tamis_priv_picture_impulses(const tamis_picture *picture)
{
    double most = 0;
    for (int c = 0; c < picture->colors; c++)
        most = fmax(most, picture->noise[c].impulses);
    return most;
}

double tamis_priv_picture_round(double v)
{
    char text[32];
    tamis_priv_number_print(text, sizeof text, "%.4g", v);
    return tamis_priv_number_read(text, NULL);
}
