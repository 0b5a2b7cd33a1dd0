/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that published tables of CPU and GPU times are about, which users compare with. */
#include <stdio.h>

#include "bench.h"

#define VIDEO "1080p RGB; a frame has 16.7 at 60 a second"

/* Milliseconds as published; 0 = no figure. */
typedef struct published {
    const char *what;
    const char *chain;
    tamis_type type;
    int channels;
    int32_t w, h;
    double cpu_one, cpu_all, gpu, gpu_transfers;
    const char *note;
} published;

static const published rows[] = {
    {"Gaussian 11x11, 1080p gray", "gaussian=ksize=11", TAMIS_U8, 1, 1920, 1080, 420, 85, 3.2, 0,
     "GPU of 1536 cores"},
    {"Gaussian 5x5, 1080p float", "gaussian=ksize=5", TAMIS_F32, 1, 1920, 1080, 12, 0, 0.3, 2, ""},
    {"bilateral 7x7, 1080p gray", "bilateral=ksize=7", TAMIS_U8, 1, 1920, 1080, 3800, 620, 18.5, 0,
     ""},
    {"median 5x5, 8000x4000 gray", "median=ksize=5", TAMIS_U8, 1, 8000, 4000, 3000, 0, 15, 0,
     "satellite scene, window not stated"},
    {"non-local means 21/7, 512x512", "nlmeans=h=20:search=21:patch=7", TAMIS_U8, 1, 512, 512, 2450,
     0, 22, 0, "RTX 4080, tuned; 85 plain"},
    {"non-local means 21/7, 1024x1024", "nlmeans=h=20:search=21:patch=7", TAMIS_U8, 1, 1024, 1024,
     15230, 0, 78, 0, "RTX 4080, tuned; 345 plain"},
    {"rotate and scale, 1024x1024", "affine=angle=30:scale=0.8", TAMIS_U8, 1, 1024, 1024, 10, 0, 0,
     0, "bilinear; CPU: over 10; GPU 20 to 40 times faster"},
    {"video frame, Gaussian 5x5", "gaussian=ksize=5", TAMIS_U8, 3, 1920, 1080, 0, 0, 0, 0, VIDEO},
    {"video frame, sharpen", "sharpen", TAMIS_U8, 3, 1920, 1080, 0, 0, 0, 0, VIDEO},
    {"video frame, Sobel", "sobel", TAMIS_U8, 3, 1920, 1080, 0, 0, 0, 0, VIDEO},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static json_t *json_figure(double ms)
{
    return ms > 0 ? json_real(ms) : json_null();
}

/* Ways that are measured: the first of them, up to here. */
static int way_count(const tool_bench *b)
{
    return b->has_gpu ? TOOL_WAYS : TOOL_ALL_THREADS + 1;
}

static json_t *json_row(const tool_bench *b, const published *row, const tool_timing *t)
{
    json_t *o = json_object(), *p = json_object();
    json_object_set_new(p, "cpu_one_thread_ms", json_figure(row->cpu_one));
    json_object_set_new(p, "cpu_all_threads_ms", json_figure(row->cpu_all));
    json_object_set_new(p, "gpu_ms", json_figure(row->gpu));
    json_object_set_new(p, "gpu_with_transfers_ms", json_figure(row->gpu_transfers));
    json_object_set_new(p, "note", tool_json_text(row->note));
    json_object_set_new(o, "what", tool_json_text(row->what));
    json_object_set_new(o, "chain", tool_json_text(row->chain));
    json_object_set_new(o, "picture", tool_json_shape(b->w, b->h, b->format));
    json_object_set_new(o, "published", p);
    for (int way = 0; way < way_count(b); way++)
        tool_bench_json(b, (tool_way)way, &t[way], o);
    return o;
}

static void print_figure(double ms)
{
    if (ms > 0)
        printf(" %8.4g", ms);
    else
        printf(" %8s", "-");
}

static void print_row(const tool_bench *b, const published *row, const tool_timing *t)
{
    printf("%-31s", row->what);
    print_figure(row->cpu_one);
    print_figure(row->cpu_all);
    print_figure(row->gpu);
    print_figure(row->gpu_transfers);
    for (int way = 0; way < way_count(b); way++)
        print_figure(1e3 * t[way].best);
    for (int way = TOOL_ALL_THREADS; way < way_count(b); way++)
        printf(" %6.3gx", t[TOOL_ONE_THREAD].best / t[way].best);
    printf("  %s\n", row->note);
    fflush(stdout);
}

static int print_head(const tool_bench *b)
{
    static const char *const names[] = {"1 thread", "all", "GPU", "+copies"};
    tamis_ctx *cpu = b->ctx[TOOL_ALL_THREADS];
    int threads = tamis_ctx_threads(cpu), count = way_count(b);
    printf("Milliseconds as published, and of this machine: %s, %d thread%s", tamis_ctx_cpu(cpu),
           threads, threads == 1 ? "" : "s");
    if (b->has_gpu) {
        tamis_device_info info;
        tamis_status status = tamis_device_describe(b->tool->ctx, b->gpu, &info);
        if (status)
            return tool_fail(b->tool, status);
        printf("; %s", info.name);
    }
    printf("; best of %d\n%-31s %35s %*s %*s\n%-31s %8s %8s %8s %8s", b->tool->options.repeat, "",
           "published", 9 * count - 1, "tamis", 8 * (count - 1) - 1, "times faster", "", "1 thread",
           "CPU all", "GPU", "+copies");
    for (int way = 0; way < count; way++)
        printf(" %8s", names[way]);
    for (int way = 1; way < count; way++)
        printf(" %7s", names[way]);
    printf("\n");
    return TOOL_OK;
}

/* Before minutes are spent on the rows above a wrong one. */
static int check_chains(const tool_bench *b)
{
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < ROWS && !status; i++) {
        tamis_graph *graph = NULL;
        status = tamis_graph_parse(b->tool->ctx, rows[i].chain, &graph);
        tamis_graph_free(&graph);
    }
    return status ? tool_fail(b->tool, status) : TOOL_OK;
}

int tool_bench_published(tool_bench *b)
{
    int code = check_chains(b), json = b->tool->options.json;
    if (!code && !json)
        code = print_head(b);
    for (int i = 0; i < ROWS && !code; i++) {
        tool_timing t[TOOL_WAYS];
        b->format = (tamis_format){.type = rows[i].type, .channels = rows[i].channels};
        b->w = rows[i].w;
        b->h = rows[i].h;
        for (int way = 0; way < way_count(b) && !code; way++)
            code = tool_bench_measure(b, rows[i].chain, (tool_way)way, &t[way]);
        if (code)
            break;
        json_array_append_new(b->results, json_row(b, &rows[i], t));
        if (!json)
            print_row(b, &rows[i], t);
    }
    return code;
}
