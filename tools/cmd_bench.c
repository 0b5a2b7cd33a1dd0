/* SPDX-License-Identifier: Apache-2.0 */
/* tamis bench: how fast the filters are, with one thread and with all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "page.h"
#include "random.h"
#include "rows.h"

/* Slow filters are not run again once they have taken this long. */
#define ENOUGH_SECONDS 5.0

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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static tamis_status measure(const tool_bench *b, const tamis_plan *plan, const tamis_image *src,
                            const tamis_image *dst, tool_timing *out)
{
    int repeat = b->tool->options.repeat;
    double *seconds = tool_alloc((size_t)repeat * sizeof(*seconds)), total = 0;
    tamis_run_options options = {.cancel = tool_cancel_flag()};
    tamis_status status = tamis_plan_run(plan, src, dst, &options); /* warms caches and threads */
    while (!status && out->runs < repeat && total < ENOUGH_SECONDS) {
        double start = tool_now();
        status = tamis_plan_run(plan, src, dst, &options);
        seconds[out->runs] = tool_now() - start;
        total += seconds[out->runs++];
    }
    if (out->runs) {
        qsort(seconds, (size_t)out->runs, sizeof(*seconds), by_value);
        out->best = seconds[0];
        out->median = seconds[out->runs / 2];
    }
    free(seconds);
    return status;
}

static int on_device(const tool_timing *t)
{
    return strcmp(t->device, "cpu") != 0;
}

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

static tamis_status bench_on(const tool_bench *b, tamis_ctx *ctx, const char *chain,
                             tool_timing *out)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_image src = {0}, dst = {0};
    tamis_status (*create)(tamis_ctx *, tamis_format, int32_t, int32_t, tamis_image *) =
        tamis_image_create;
    *out = (tool_timing){.threads = tamis_ctx_threads(ctx)};
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);
    if (!status)
        status = choose(b, ctx, &graph, out);
    if (!status)
        status = tamis_plan_create(ctx, graph, b->format, b->w, b->h, NULL, &plan);
    snprintf(out->device, sizeof(out->device), "%s", tamis_plan_device(plan));
    if (!status && on_device(out) && ctx == b->ctx[1])
        create = tamis_image_create_pinned;
    if (!status)
        status = create(ctx, b->format, b->w, b->h, &src);
    if (!status) {
        int32_t w, h;
        tamis_plan_size(plan, &w, &h);
        fill(&src);
        status = create(ctx, tamis_plan_format(plan), w, h, &dst);
    }
    if (!status)
        status = measure(b, plan, &src, &dst, out);
    tamis_image_unref(&dst);
    tamis_image_unref(&src);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

static double pixels(const tool_bench *b)
{
    return (double)b->w * b->h;
}

static json_t *json_timing(const tool_bench *b, const tool_timing *t)
{
    json_t *o = json_object();
    json_object_set_new(o, "threads", json_integer(t->threads));
    json_object_set_new(o, "runs", json_integer(t->runs));
    json_object_set_new(o, "best_seconds", json_real(t->best));
    json_object_set_new(o, "median_seconds", json_real(t->median));
    json_object_set_new(o, "ns_per_pixel", json_real(1e9 * t->best / pixels(b)));
    json_object_set_new(o, "mpix_per_second", json_real(1e-6 * pixels(b) / t->best));
    if (*t->chosen)
        json_object_set_new(o, "choose_seconds", json_real(t->choosing));
    return o;
}

void tool_bench_json(const tool_bench *b, const tool_timing t[2], json_t *object)
{
    int gpu = on_device(t);
    json_object_set_new(object, "device", json_string(t->device));
    if (*t->chosen)
        json_object_set_new(object, "chosen", tool_json_text(t->chosen));
    json_object_set_new(object, gpu ? "ordinary_memory" : "one_thread", json_timing(b, &t[0]));
    json_object_set_new(object, gpu ? "pinned_memory" : "all_threads", json_timing(b, &t[1]));
}

const char *tool_bench_place(const tool_timing *t, char *buf, size_t size)
{
    *buf = '\0';
    if (on_device(t))
        snprintf(buf, size, "  on %s, ordinary and pinned memory", t->device);
    return buf;
}

/* Before the first row. */
static void print_head(const tool_bench *b)
{
    char format[16];
    tool_format_name(b->format, format, sizeof(format));
    printf("%s %dx%d, %s, best of %d\n%-24s %28s %28s\n%-24s %9s %8s %9s %9s %8s %9s %8s\n", format,
           b->w, b->h, tamis_ctx_cpu(b->ctx[0]), b->tool->options.repeat, "", "1 thread",
           "all threads", "filter", "ms", "ns/pix", "Mpix/s", "ms", "ns/pix", "Mpix/s", "speed-up");
}

static void report(tool_bench *b, const char *chain, const tool_timing *t)
{
    char place[128];
    int is_first = json_array_size(b->results) == 0;
    json_t *o = json_object();
    json_object_set_new(o, "chain", tool_json_text(chain));
    tool_bench_json(b, t, o);
    json_object_set_new(o, "speedup", json_real(t[0].best / t[1].best));
    json_array_append_new(b->results, o);
    if (b->tool->options.json)
        return;
    if (is_first)
        print_head(b);
    printf("%-24s", chain);
    for (int i = 0; i < 2; i++)
        printf(" %9.2f %8.2f %9.1f", 1e3 * t[i].best, 1e9 * t[i].best / pixels(b),
               1e-6 * pixels(b) / t[i].best);
    printf(" %7.2fx%s\n", t[0].best / t[1].best, tool_bench_place(t, place, sizeof(place)));
    if (*t->chosen)
        printf("%-24s %9.2f ms to choose  %9.2f ms to choose   %s\n", "", 1e3 * t[0].choosing,
               1e3 * t[1].choosing, t->chosen);
    fflush(stdout);
}

int tool_bench_measure(tool_bench *b, const char *chain, tool_timing t[2])
{
    for (int i = 0; i < 2; i++) {
        tamis_status status = bench_on(b, b->ctx[i], chain, &t[i]);
        if (status)
            return tool_fail(b->tool, status);
    }
    return TOOL_OK;
}

static int bench_chain(tool_bench *b, const char *chain)
{
    tool_timing t[2];
    int code = tool_bench_measure(b, chain, t);
    if (!code)
        report(b, chain, t);
    return code;
}

/* Whether the filter takes such pictures by itself: some want color, or a second picture. */
static int applies(const tool_bench *b, const char *chain)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_parse(b->ctx[0], chain, &graph);
    if (!status && !tamis_graph_is_open(graph))
        status = tamis_plan_create(b->ctx[0], graph, b->format, b->w, b->h, NULL, &plan);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status != TAMIS_ERR_ARGUMENT && status != TAMIS_ERR_UNSUPPORTED;
}

static int bench_all(tool_bench *b)
{
    tool *t = b->tool;
    if (t->options.table == TOOL_TABLE_PUBLISHED)
        return tool_bench_published(b);
    if (t->options.filter)
        return bench_chain(b, t->options.filter);
    int code = TOOL_OK;
    for (int i = 0; i < tamis_filter_count() && !code; i++) {
        const char *name = tamis_filter_name(tamis_filter_at(i));
        if (applies(b, name))
            code = bench_chain(b, name);
    }
    return code;
}

/* On standard output with --json, as a page with --report. */
static int put_results(tool_bench *b)
{
    tool *t = b->tool;
    json_t *o = tool_json_new(t);
    if (b->tool->options.table != TOOL_TABLE_PUBLISHED)
        json_object_set_new(o, "picture", tool_json_shape(b->w, b->h, b->format));
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(b->ctx[0])));
    json_object_set(o, "results", b->results);
    int code = TOOL_OK;
    if (t->options.report)
        code = tool_page_write(t, t->options.report, "bench.html", "tamis bench", o);
    if (t->options.json) {
        int bad = tool_json_print(t, json_incref(o));
        code = code ? code : bad;
    }
    json_decref(o);
    return code;
}

static int set_up(tool_bench *b)
{
    tool *t = b->tool;
    if (t->options.table == TOOL_TABLE_PUBLISHED &&
        (t->options.filter || t->options.type || t->options.size.w))
        return tool_usage_error(t, "--table: its rows have filters, types and sizes of their own");
    const char *type = t->options.type ? t->options.type : "u8x3";
    if (!tool_format_parse(type, &b->format) || b->format.type == TAMIS_F16)
        return tool_usage_error(t, "--type: '%s' is not a type such as u8, u8x3, u16x4 or f32",
                                type);
    tamis_size size = t->options.size;
    b->w = size.w ? size.w : 1920;
    b->h = size.w ? size.h : 1080;
    int code = t->options.report ? tool_page_check(t, t->options.report) : TOOL_OK;
    if (!code)
        code = tool_context(t);
    if (!code)
        code = tool_context_make(t, 1, &b->ctx[0]);
    b->ctx[1] = t->ctx;
    return code;
}

int cmd_bench(tool *t)
{
    tool_bench b = {.tool = t, .results = json_array()};
    int code = set_up(&b);
    if (!code)
        code = bench_all(&b);
    if (!code && (t->options.json || t->options.report))
        code = put_results(&b);
    tamis_ctx_free(&b.ctx[0]);
    json_decref(b.results);
    return code;
}
