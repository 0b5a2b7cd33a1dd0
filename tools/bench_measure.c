/* SPDX-License-Identifier: Apache-2.0 */
/* Timing one chain in one way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "random.h"
#include "rows.h"

/* Slow filters are not run again once they have taken this long. */
#define ENOUGH_SECONDS 5.0

/* On a device: what is measured at once takes this long at least, and its pictures together more
 * memory than caches hold. */
#define SPAN_SECONDS 0.02
#define SPREAD_BYTES ((size_t)512 << 20)
enum { MIN_PAIRS = 2, MAX_PAIRS = 64, MIN_FRAMES = 2, MAX_FRAMES = 4096 };

/* ---- pictures */

/* A smooth picture with noise, as cameras give: filters whose cost depends on the content get
 * neither their best case nor their worst. */
static void fill(const tamis_image *image)
{
    double range = tamis_type_range(image->format.type);
    double low = image->format.type == TAMIS_S16 ? -32768 : 0;
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    for (int c = 0; c < image->format.channels; c++) {
        for (int32_t y = 0; y < image->h; y++) {
            for (int32_t x = 0; x < image->w; x++) {
                uint64_t n = ((uint64_t)y * (uint64_t)image->w + (uint64_t)x) * 4 + (uint64_t)c;
                double smooth = 0.5 + 0.3 * sin(0.013 * x + c) * cos(0.011 * y);
                row[x] = low + range * (smooth + 0.15 * (tool_random_uniform(7, n) - 0.5));
            }
            tool_row_write(image, c, y, row);
        }
    }
    free(row);
}

static size_t bytes_of(tamis_format format, int32_t w, int32_t h)
{
    return (size_t)w * (size_t)h * (size_t)format.channels * tamis_type_size(format.type);
}

/* ---- runs */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What is timed; *seconds is what it took for one picture. */
typedef tamis_status run_once(void *user, double *seconds);

static tamis_status repeat(const tool_bench *b, run_once *run, void *user, tool_timing *out)
{
    int most = b->tool->options.repeat;
    double *seconds = tool_alloc((size_t)most * sizeof(*seconds)), start = tool_now();
    tamis_status status = run(user, seconds);                    /* warms caches and threads */
    out->runs = !status && tool_now() - start >= ENOUGH_SECONDS; /* which no longer matters */
    while (!status && out->runs < most && tool_now() - start < ENOUGH_SECONDS)
        status = run(user, &seconds[out->runs++]);
    if (!status && out->runs) {
        qsort(seconds, (size_t)out->runs, sizeof(*seconds), by_value);
        out->best = seconds[0];
        out->median = seconds[out->runs / 2];
    }
    free(seconds);
    return status;
}

/* ---- one picture at a time */

typedef struct single {
    const tamis_plan *plan;
    tamis_image src, dst;
} single;

static tamis_status run_single(void *user, double *seconds)
{
    const single *s = user;
    tamis_run_options options = {.cancel = tool_cancel_flag()};
    double start = tool_now();
    tamis_status status = tamis_plan_run(s->plan, &s->src, &s->dst, &options);
    *seconds = tool_now() - start;
    return status;
}

static tamis_status measure_single(const tool_bench *b, tamis_ctx *ctx, const tamis_plan *plan,
                                   tool_way way, tool_timing *out)
{
    tamis_status (*create)(tamis_ctx *, tamis_format, int32_t, int32_t, tamis_image *) =
        way == TOOL_WITH_COPIES ? tamis_image_create_pinned : tamis_image_create;
    single s = {.plan = plan};
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    tamis_status status = create(ctx, b->format, b->w, b->h, &s.src);
    if (!status)
        status = create(ctx, tamis_plan_format(plan), w, h, &s.dst);
    if (!status) {
        fill(&s.src);
        status = repeat(b, run_single, &s, out);
    }
    tamis_image_unref(&s.dst);
    tamis_image_unref(&s.src);
    return status;
}

/* ---- pictures on a device */

typedef struct sequence {
    tamis_ctx *ctx;
    tamis_stream *stream;
    tamis_image src[MAX_PAIRS], dst[MAX_PAIRS];
    int pairs, frames;
} sequence;

/* Takes results that are there, or with `all` waits for all. */
static tamis_status take(sequence *s, int all)
{
    tamis_stream_result result;
    tamis_status status;
    for (;;) {
        status =
            all ? tamis_stream_wait(s->stream, -1, &result) : tamis_stream_poll(s->stream, &result);
        if (status)
            return status == TAMIS_ERR_AGAIN ? TAMIS_OK : status;
        if (result.status)
            return result.status;
    }
}

static tamis_status run_sequence(void *user, double *seconds)
{
    sequence *s = user;
    tamis_status status = TAMIS_OK;
    double start = tool_now();
    for (int i = 0; i < s->frames && !status; i++) {
        int pair = i % s->pairs;
        if (tool_canceled())
            return tamis_ctx_fail(s->ctx, TAMIS_ERR_CANCELED, "bench: canceled");
        status = tamis_stream_submit(s->stream, &s->src[pair], &s->dst[pair], NULL, 0);
        if (!status)
            status = take(s, 0);
    }
    if (!status)
        status = take(s, 1);
    *seconds = (tool_now() - start) / s->frames;
    return status;
}

/* The number of the plan's i-th device; they take turns. Its name is such as "cuda:0,2". */
static int device_at(const tamis_plan *plan, int i)
{
    const char *first = strchr(tamis_plan_device(plan), ':') + 1, *at = first;
    while (i-- > 0) {
        const char *comma = strchr(at, ',');
        at = comma ? comma + 1 : first;
    }
    return atoi(at);
}

static int wanted_pairs(const tool_bench *b, const tamis_plan *plan)
{
    tamis_format format = tamis_plan_format(plan);
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    size_t pair = bytes_of(b->format, b->w, b->h) + bytes_of(format, w, h);
    size_t pairs = SPREAD_BYTES / pair + 1;
    return pairs < MIN_PAIRS ? MIN_PAIRS : pairs > MAX_PAIRS ? MAX_PAIRS : (int)pairs;
}

static tamis_status make_pairs(const tool_bench *b, const tamis_plan *plan, int wanted, sequence *s)
{
    tamis_image filled = {0};
    tamis_format format = tamis_plan_format(plan);
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    tamis_status status = tamis_image_create(s->ctx, b->format, b->w, b->h, &filled);
    if (!status)
        fill(&filled);
    while (!status && s->pairs < wanted) {
        int i = s->pairs++, device = device_at(plan, i);
        status = tamis_image_create_on_device(s->ctx, device, b->format, b->w, b->h, &s->src[i]);
        if (!status)
            status = tamis_image_create_on_device(s->ctx, device, format, w, h, &s->dst[i]);
        if (!status)
            status = tamis_image_transfer(s->ctx, &filled, &s->src[i]);
    }
    tamis_image_unref(&filled);
    return status;
}

/* No more frames under way than there are results for them. */
static tamis_status make_stream(const tamis_plan *plan, sequence *s)
{
    tamis_stream_options few = {.depth = s->pairs};
    tamis_status status = tamis_stream_create(plan, NULL, &s->stream);
    if (status || tamis_stream_depth(s->stream) <= s->pairs)
        return status;
    tamis_stream_free(&s->stream);
    return tamis_stream_create(plan, &few, &s->stream);
}

static tamis_status measure_pairs(const tool_bench *b, tamis_ctx *ctx, const tamis_plan *plan,
                                  int pairs, tool_timing *out)
{
    double seconds = 0;
    sequence *s = tool_alloc(sizeof(*s));
    *s = (sequence){.ctx = ctx};
    tamis_status status = make_pairs(b, plan, pairs, s);
    if (!status)
        status = make_stream(plan, s);
    s->frames = s->pairs;
    if (!status)
        status = run_sequence(s, &seconds);
    if (!status) {
        double frames = SPAN_SECONDS / seconds;
        s->frames = frames < MIN_FRAMES   ? MIN_FRAMES
                    : frames > MAX_FRAMES ? MAX_FRAMES
                                          : (int)frames;
        status = repeat(b, run_sequence, s, out);
    }
    tamis_stream_free(&s->stream);
    for (int i = 0; i < s->pairs; i++) {
        tamis_image_unref(&s->src[i]);
        tamis_image_unref(&s->dst[i]);
    }
    free(s);
    return status;
}

/* With fewer pictures where the device's memory does not hold them and what the filter needs. */
static tamis_status measure_sequence(const tool_bench *b, tamis_ctx *ctx, const tamis_plan *plan,
                                     tool_timing *out)
{
    int pairs = wanted_pairs(b, plan);
    tamis_status status = measure_pairs(b, ctx, plan, pairs, out);
    while (status == TAMIS_ERR_MEMORY && pairs > 1)
        status = measure_pairs(b, ctx, plan, pairs /= 2, out);
    return status;
}

/* ---- a chain */

/* The chain with what it leaves to the picture. */
static tamis_status choose(const tool_bench *b, tamis_ctx *ctx, tamis_graph **graph,
                           tool_timing *out)
{
    tamis_run_options options = {.cancel = tool_cancel_flag()};
    tamis_image image = {0};
    tamis_graph *chosen = NULL;
    if (!tamis_graph_is_open(*graph))
        return TAMIS_OK;
    tamis_status status = tamis_image_create(ctx, b->format, b->w, b->h, &image);
    if (status)
        return status;
    fill(&image);
    double start = tool_now();
    status = tamis_graph_resolve(ctx, *graph, &image, &options, &chosen);
    out->choosing = tool_now() - start;
    tamis_image_unref(&image);
    if (status)
        return status;
    tamis_graph_free(graph);
    *graph = chosen;
    tamis_graph_print(chosen, out->chosen, sizeof(out->chosen));
    return TAMIS_OK;
}

int tool_bench_measure(tool_bench *b, const char *chain, tool_way way, tool_timing *out)
{
    tamis_ctx *ctx = b->ctx[way];
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    *out = (tool_timing){.threads = tamis_ctx_threads(ctx)};
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);
    if (!status)
        status = choose(b, ctx, &graph, out);
    if (!status)
        status = tamis_plan_create(ctx, graph, b->format, b->w, b->h, NULL, &plan);
    snprintf(out->device, sizeof(out->device), "%s", tamis_plan_device(plan));
    if (!status)
        status = way == TOOL_ON_DEVICE ? measure_sequence(b, ctx, plan, out)
                                       : measure_single(b, ctx, plan, way, out);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status ? tool_fail(b->tool, status) : TOOL_OK;
}

void tool_bench_json(const tool_bench *b, tool_way way, const tool_timing *t, json_t *object)
{
    static const char *const names[TOOL_WAYS] = {"one_thread", "all_threads", "on_device",
                                                 "with_copies"};
    double pixels = (double)b->w * b->h;
    json_t *o = json_object();
    json_object_set_new(o, "threads", json_integer(t->threads));
    json_object_set_new(o, "runs", json_integer(t->runs));
    json_object_set_new(o, "best_seconds", json_real(t->best));
    json_object_set_new(o, "median_seconds", json_real(t->median));
    json_object_set_new(o, "ns_per_pixel", json_real(1e9 * t->best / pixels));
    json_object_set_new(o, "mpix_per_second", json_real(1e-6 * pixels / t->best));
    if (*t->chosen) {
        json_object_set_new(o, "choose_seconds", json_real(t->choosing));
        json_object_set_new(object, "chosen", tool_json_text(t->chosen));
    }
    json_object_set_new(object, names[way], o);
    json_object_set_new(object, "device", json_string(t->device));
}
