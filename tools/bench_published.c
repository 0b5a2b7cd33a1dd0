/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that published tables of CPU and GPU times are about, which users compare with. */
#include <stdio.h>

#include "bench.h"

/* Milliseconds as published; 0 = no figure. */
typedef struct published {
    const char *what;
    const char *chain;
    tamis_type type;
    int32_t w, h;
    double cpu_one, cpu_all, gpu, gpu_transfers;
    const char *note;
} published;

static const published rows[] = {
    {"Gaussian 11x11, 1080p gray", "gaussian=ksize=11", TAMIS_U8, 1920, 1080, 420, 85, 3.2, 0,
     "GPU of 1536 cores"},
    {"Gaussian 5x5, 1080p float", "gaussian=ksize=5", TAMIS_F32, 1920, 1080, 12, 0, 0.3, 2, ""},
    {"bilateral 7x7, 1080p gray", "bilateral=ksize=7", TAMIS_U8, 1920, 1080, 3800, 620, 18.5, 0,
     ""},
    {"median 5x5, 8000x4000 gray", "median=ksize=5", TAMIS_U8, 8000, 4000, 3000, 0, 15, 0,
     "satellite scene, window not stated"},
    {"non-local means 21/7, 512x512", "nlmeans=h=20:search=21:patch=7", TAMIS_U8, 512, 512, 2450, 0,
     22, 0, "RTX 4080, tuned; 85 plain"},
    {"non-local means 21/7, 1024x1024", "nlmeans=h=20:search=21:patch=7", TAMIS_U8, 1024, 1024,
     15230, 0, 78, 0, "RTX 4080, tuned; 345 plain"},
    {"rotate and scale, 1024x1024", "affine=angle=30:scale=0.8", TAMIS_U8, 1024, 1024, 10, 0, 0, 0,
     "bilinear; CPU: over 10; GPU 20 to 40 times faster"},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static json_t *json_figure(double ms)
{
    return ms > 0 ? json_real(ms) : json_null();
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
    tool_bench_json(b, t, o);
    return o;
}

static void print_figure(double ms)
{
    if (ms > 0)
        printf(" %9.4g", ms);
    else
        printf(" %9s", "-");
}

static void print_row(const published *row, const tool_timing *t)
{
    char place[128];
    printf("%-32s", row->what);
    print_figure(row->cpu_one);
    print_figure(row->cpu_all);
    print_figure(row->gpu);
    print_figure(row->gpu_transfers);
    print_figure(1e3 * t[0].best);
    print_figure(1e3 * t[1].best);
    printf("  %s%s\n", row->note, tool_bench_place(t, place, sizeof(place)));
    fflush(stdout);
}

static void print_head(const tool_bench *b)
{
    printf("Milliseconds as published, and of this machine: %s, %d thread%s, best of %d\n",
           tamis_ctx_cpu(b->ctx[1]), tamis_ctx_threads(b->ctx[1]),
           tamis_ctx_threads(b->ctx[1]) == 1 ? "" : "s", b->tool->options.repeat);
    printf("%-32s %39s %19s\n%-32s %9s %9s %9s %9s %9s %9s\n", "", "published", "tamis", "",
           "1 thread", "CPU all", "GPU", "+copies", "1 thread", "all");
}

/* Before minutes are spent on the rows above a wrong one. */
static int check_chains(const tool_bench *b)
{
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < ROWS && !status; i++) {
        tamis_graph *graph = NULL;
        status = tamis_graph_parse(b->ctx[0], rows[i].chain, &graph);
        tamis_graph_free(&graph);
    }
    return status ? tool_fail(b->tool, status) : TOOL_OK;
}

int tool_bench_published(tool_bench *b)
{
    int code = check_chains(b), json = b->tool->options.json;
    if (!code && !json)
        print_head(b);
    for (int i = 0; i < ROWS && !code; i++) {
        tool_timing t[2];
        b->format = (tamis_format){.type = rows[i].type, .channels = 1};
        b->w = rows[i].w;
        b->h = rows[i].h;
        code = tool_bench_measure(b, rows[i].chain, t);
        if (code)
            break;
        json_array_append_new(b->results, json_row(b, &rows[i], t));
        if (!json)
            print_row(&rows[i], t);
    }
    return code;
}
