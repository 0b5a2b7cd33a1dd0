/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

tamis_ctx *case_ctx[CASE_CPUS];
const char *const case_cpus[CASE_CPUS] = {"c", "base", "avx2", "avx512"};
static long passed, failed, skipped;

void case_check(int holds, const char *id, const char *format, ...)
{
    va_list args;

    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s: ", id);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

tamis_status case_run(tamis_ctx *ctx, const char *chain, const tamis_image *src, test_picture *out)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);
    int32_t w, h;

    *out = (test_picture){0};
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK) {
        tamis_plan_size(plan, &w, &h);
        test_picture_make(out, tamis_plan_format(plan), w, h, TEST_ROWS_WIDE);
        status = tamis_plan_run(plan, src, &out->image, NULL);
        case_check(test_picture_intact(out), "all", "%s wrote outside its result", chain);
        if (status != TAMIS_OK)
            test_picture_free(out);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

int case_run_ok(const char *id, tamis_ctx *ctx, const char *chain, const tamis_image *src,
                test_picture *out)
{
    char message[400];
    tamis_status status = case_run(ctx, chain, src, out);

    case_check(status == TAMIS_OK, id, "%s: %s", chain,
               tamis_ctx_last_message(ctx, message, sizeof message));
    return status == TAMIS_OK ? 0 : -1;
}

int case_refused(tamis_ctx *ctx, const char *chain, const tamis_image *src)
{
    char message[400];
    test_picture out;
    tamis_status status = case_run(ctx, chain, src, &out);

    test_picture_free(&out);
    tamis_ctx_last_message(ctx, message, sizeof message);
    return (status == TAMIS_ERR_ARGUMENT || status == TAMIS_ERR_UNSUPPORTED) && message[0] != 0;
}

int case_has(const char *id, const char *chain)
{
    char name[64];

    if (sscanf(chain, "%63[^=]", name) == 1 && tamis_filter_find(name))
        return 1;
    printf("skipped: %s: this build has no filter for '%s'\n", id, chain);
    skipped++;
    return 0;
}

void case_picture(test_picture *out, tamis_format format, int w, int h, case_formula formula)
{
    test_picture_make(out, format, w, h, TEST_ROWS_TIGHT);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++)
                test_sample_set(&out->image, x, y, c, formula(x, y, c));
}

void case_constant(test_picture *out, tamis_format format, int w, int h, double value)
{
    test_picture_make(out, format, w, h, TEST_ROWS_TIGHT);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++)
                test_sample_set(&out->image, x, y, c, value);
}

void case_row(test_picture *out, tamis_type type, const double *values, int n)
{
    test_picture_make(out, test_format(type, 1), n, 1, TEST_ROWS_TIGHT);
    for (int x = 0; x < n; x++)
        test_sample_set(&out->image, x, 0, 0, values[x]);
}

int case_all(const tamis_image *image, double value)
{
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            for (int c = 0; c < image->format.channels; c++)
                if (test_sample_get(image, x, y, c) != value)
                    return 0;
    return 1;
}

int main(void)
{
    for (int cpu = 0; cpu < CASE_CPUS; cpu++) {
        tamis_ctx_options o = {.threads = 2, .cpu = case_cpus[cpu]};
        if (tamis_ctx_create(&o, &case_ctx[cpu]) != TAMIS_OK) {
            printf("skipped: this CPU has no %s\n", case_cpus[cpu]);
            skipped++;
        }
    }
    case_borders();
    case_seams();
    case_gaussian();
    case_views();
    case_median_nan();
    case_bilateral();
    case_nlmeans();
    case_alpha();
    case_box();
    case_convolve();
    case_halves();
    case_turns();
    case_matrices();
    case_wide();
    case_precision();
    case_shifts();
    case_slopes();
    case_canny();
    case_threads();
    case_locality();
    for (int cpu = 0; cpu < CASE_CPUS; cpu++)
        tamis_ctx_free(&case_ctx[cpu]);
    printf("%ld passed, %ld failed, %ld skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
