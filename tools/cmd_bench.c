/* SPDX-License-Identifier: Apache-2.0 */
/* tamis bench: how fast the filters are, with one thread and with all, or on a GPU, with copies and
 * without. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "page.h"

/* The two ways that are compared. */
static const tool_way *ways(const tool_bench *b)
{
    static const tool_way cpu[] = {TOOL_ONE_THREAD, TOOL_ALL_THREADS};
    static const tool_way gpu[] = {TOOL_WITH_COPIES, TOOL_ON_DEVICE};
    return b->has_gpu ? gpu : cpu;
}

/* Before the first row. */
static void print_head(const tool_bench *b, const tool_timing *t)
{
    char format[16];
    tool_format_name(b->format, format, sizeof(format));
    printf("%s %dx%d, %s, best of %d\n%-24s %28s %28s\n%-24s %9s %8s %9s %9s %8s %9s %8s\n", format,
           b->w, b->h, b->has_gpu ? t->device : tamis_ctx_cpu(b->ctx[TOOL_ONE_THREAD]),
           b->tool->options.repeat, "", b->has_gpu ? "to the GPU and back" : "1 thread",
           b->has_gpu ? "on the GPU" : "all threads", "filter", "ms", "ns/pix", "Mpix/s", "ms",
           "ns/pix", "Mpix/s", "speed-up");
}

static void print_row(const tool_bench *b, const char *chain, const tool_timing t[2])
{
    double pixels = (double)b->w * b->h;
    printf("%-24s", chain);
    for (int i = 0; i < 2; i++)
        printf(" %9.4g %8.3g %9.5g", 1e3 * t[i].best, 1e9 * t[i].best / pixels,
               1e-6 * pixels / t[i].best);
    printf(" %7.2fx\n", t[0].best / t[1].best);
    if (*t->chosen)
        printf("%-24s %9.2f ms to choose  %9.2f ms to choose   %s\n", "", 1e3 * t[0].choosing,
               1e3 * t[1].choosing, t->chosen);
    fflush(stdout);
}

static int bench_chain(tool_bench *b, const char *chain)
{
    const tool_way *way = ways(b);
    tool_timing t[2];
    int code = tool_bench_measure(b, chain, way[0], &t[0]);
    if (!code)
        code = tool_bench_measure(b, chain, way[1], &t[1]);
    if (code)
        return code;
    int is_first = json_array_size(b->results) == 0;
    json_t *o = json_object();
    json_object_set_new(o, "chain", tool_json_text(chain));
    for (int i = 0; i < 2; i++)
        tool_bench_json(b, way[i], &t[i], o);
    json_object_set_new(o, "speedup", json_real(t[0].best / t[1].best));
    json_array_append_new(b->results, o);
    if (b->tool->options.json)
        return TOOL_OK;
    if (is_first)
        print_head(b, t);
    print_row(b, chain, t);
    return TOOL_OK;
}

/* Whether the filter takes such pictures by itself: some want color, or a second picture. */
static int applies(const tool_bench *b, const char *chain)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_ctx *ctx = b->tool->ctx;
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);
    if (!status && !tamis_graph_is_open(graph))
        status = tamis_plan_create(ctx, graph, b->format, b->w, b->h, NULL, &plan);
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
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
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

/* Whether the tool's context plans for a GPU, and which is the first. */
static int find_gpu(tool_bench *b)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_format format = {.type = TAMIS_U8, .channels = 1};
    tamis_status status = tamis_graph_parse(b->tool->ctx, "gaussian", &graph);
    if (!status)
        status = tamis_plan_create(b->tool->ctx, graph, format, 64, 64, NULL, &plan);
    b->has_gpu = !status && sscanf(tamis_plan_device(plan), "cuda:%d", &b->gpu) == 1;
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status ? tool_fail(b->tool, status) : TOOL_OK;
}

/* The CPU is measured where there is no GPU, and for tables in any case. */
static int make_contexts(tool_bench *b)
{
    tool *t = b->tool;
    if (b->has_gpu)
        b->ctx[TOOL_ON_DEVICE] = b->ctx[TOOL_WITH_COPIES] = t->ctx;
    if (b->has_gpu && t->options.table != TOOL_TABLE_PUBLISHED)
        return TOOL_OK;
    int code = tool_context_make(t, 1, "cpu", &b->ctx[TOOL_ONE_THREAD]);
    if (!code)
        code = tool_context_make(t, t->options.threads, "cpu", &b->ctx[TOOL_ALL_THREADS]);
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
        code = find_gpu(b);
    if (!code)
        code = make_contexts(b);
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
    tamis_ctx_free(&b.ctx[TOOL_ALL_THREADS]);
    tamis_ctx_free(&b.ctx[TOOL_ONE_THREAD]);
    json_decref(b.results);
    return code;
}
