/* SPDX-License-Identifier: Apache-2.0 */
/* Times each row against the C row on one thread, at several window sizes. */
#include <string.h>
#include <time.h>

#include "check.h"

enum { BENCH_W = 1024, BENCH_H = 256 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The best of several runs, in ns per pixel; runs that are slow are repeated less. */
static double time_plan(const tamis_plan *plan, const tamis_image *src, const tamis_image *dst)
{
    double best = 1e300, begin = now_ns();

    for (int i = 0; i < 15 && (i < 2 || now_ns() - begin < 2e8); i++) {
        double start = now_ns(), t;
        tamis_plan_run(plan, src, dst, NULL);
        t = now_ns() - start;
        best = t < best ? t : best;
    }
    return best / ((double)src->w * src->h);
}

static void bench_plan(check_machine *machine, const tamis_filter *filter, const void *params,
                       const char *text, tamis_format format)
{
    test_picture src, dst;
    tamis_graph *graph = NULL;
    double reference = 0;

    test_picture_make(&src, format, BENCH_W, BENCH_H, TEST_ROWS_WIDE);
    test_picture_make(&dst, format, BENCH_W, BENCH_H, TEST_ROWS_WIDE);
    test_picture_fill(&src.image, TEST_FILL_SMOOTH, 1);
    for (int cpu = 0; cpu < CHECK_CPUS; cpu++) {
        tamis_ctx *ctx = machine->ctx[cpu][0];
        tamis_plan_options options = {.kernel = check_cpu_names[cpu]};
        tamis_plan *plan = NULL;
        char name[64];
        double t;

        if (!ctx || tamis_graph_create(ctx, &graph) != TAMIS_OK)
            continue;
        if (tamis_graph_add(graph, filter, params) == TAMIS_OK &&
            tamis_plan_create(ctx, graph, format, BENCH_W, BENCH_H, &options, &plan) == TAMIS_OK) {
            t = time_plan(plan, &src.image, &dst.image);
            reference = cpu == 0 ? t : reference;
            printf("%-10s %-14s %-12s %-7s %9.3f ns/pixel  c %9.3f  ratio %6.2f\n", filter->name,
                   text, tamis_format_print(format, name, sizeof name), check_cpu_names[cpu], t,
                   reference, reference / t);
            fflush(stdout);
        }
        tamis_plan_free(&plan);
        tamis_graph_free(&graph);
    }
    test_picture_free(&src);
    test_picture_free(&dst);
}

static int has_param(const tamis_filter *filter, const char *name)
{
    for (int i = 0; i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, name) == 0)
            return 1;
    return 0;
}

static void bench_filter(check_machine *machine, const tamis_filter *filter)
{
    static const char *const sizes[] = {"3", "5", "7", "11", "31"};
    int count = has_param(filter, "ksize") ? 5 : 1;
    double params[CHECK_MAX_PARAMS / sizeof(double)];

    for (int i = 0; i < count; i++)
        for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
            for (int channels = 1; channels <= 3; channels += 2) {
                char text[32] = "";
                tamis_filter_defaults(filter, params);
                if (count > 1 && tamis_filter_set(machine->ctx[0][0], filter, params, "ksize",
                                                  sizes[i]) == TAMIS_OK)
                    snprintf(text, sizeof text, "ksize=%s", sizes[i]);
                bench_plan(machine, filter, params, text, test_format((tamis_type)type, channels));
            }
}

void check_bench(check_machine *machine)
{
    const check_options *o = machine->options;

    for (int i = 0; tamis_priv_filters[i]; i++)
        if (!o->filter || strcmp(o->filter, tamis_priv_filters[i]->name) == 0)
            bench_filter(machine, tamis_priv_filters[i]);
}
