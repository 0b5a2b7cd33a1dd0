/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that kernels treat in ways of their own and that random ones seldom hit: halves, whole
 * ratios, widths around whole vectors, windows longer than a vector kernel transposes. Every
 * instruction set gives the reference's bits. */
#include <stdio.h>
#include <string.h>

#include <tamis/tamis.h>

#include "support/picture.h"

/* From, to, and how. */
struct size {
    int w, h, out_w, out_h;
    const char *interp;
};
static const struct size sizes[] = {
    {2, 2, 1, 1, "linear:antialias=0"},
    {62, 18, 31, 9, "area"},
    {134, 34, 67, 17, "linear:antialias=0"},
    {258, 6, 129, 3, "area"},
    {800, 10, 400, 5, "area"},
    {390, 60, 130, 20, "area"},
    {516, 40, 129, 10, "linear"},
    {65, 19, 130, 38, "linear"},
    {1, 3, 2, 7, "linear"},
    {2, 4, 4, 8, "lanczos3"},
    {65, 19, 130, 20, "cubic"},
    {130, 19, 260, 38, "lanczos3"},
    {300, 9, 600, 18, "area"},
    {1200, 9, 2400, 18, "cubic"},
    {65, 19, 260, 57, "cubic"},
    {300, 20, 290, 37, "lanczos3"},
    {900, 90, 11, 7, "lanczos3"},
    {3000, 12, 1, 5, "linear"},
    {700, 12, 4, 12, "area"},
    {40, 300, 41, 2, "cubic"},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int failed;

static void run(tamis_ctx *ctx, const struct size *s, const tamis_image *src, test_picture *out)
{
    char chain[80], message[400];
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    snprintf(chain, sizeof chain, "resize=size=%dx%d:alpha=straight:interp=%s", s->out_w, s->out_h,
             s->interp);
    test_picture_make(out, src->format, s->out_w, s->out_h, TEST_ROWS_WIDE);
    if (tamis_graph_parse(ctx, chain, &graph) != TAMIS_OK ||
        tamis_plan_create(ctx, graph, src->format, s->w, s->h, NULL, &plan) != TAMIS_OK ||
        tamis_plan_run(plan, src, &out->image, NULL) != TAMIS_OK) {
        printf("FAIL %s: %s\n", chain, tamis_ctx_last_message(ctx, message, sizeof message));
        failed = 1;
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
}

static void compare(tamis_ctx *reference, tamis_ctx *ctx, const struct size *s, tamis_format format,
                    test_fill fill)
{
    test_picture src, want, got;
    test_picture_make(&src, format, s->w, s->h, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, fill, 7);
    run(reference, s, &src.image, &want);
    run(ctx, s, &src.image, &got);
    if (!test_same(&want.image, &got.image)) {
        printf("FAIL %dx%d to %dx%d %s, %s of %d channels, %s: other bits than the reference\n",
               s->w, s->h, s->out_w, s->out_h, s->interp, tamis_type_name(format.type),
               format.channels, tamis_ctx_cpu(ctx));
        failed = 1;
    }
    if (!test_picture_intact(&got)) {
        printf("FAIL %dx%d to %dx%d: wrote outside\n", s->w, s->h, s->out_w, s->out_h);
        failed = 1;
    }
    test_picture_free(&src);
    test_picture_free(&want);
    test_picture_free(&got);
}

static void compare_types(tamis_ctx *reference, tamis_ctx *ctx, const struct size *s)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};
    for (int t = 0; t < 4; t++)
        for (int channels = 1; channels <= TAMIS_MAX_CHANNELS; channels++) {
            tamis_format format = test_format(types[t], channels);
            compare(reference, ctx, s, format, TEST_FILL_NOISE);
            compare(reference, ctx, s, format, TEST_FILL_EXTREMES);
            if (types[t] == TAMIS_F32)
                compare(reference, ctx, s, format, TEST_FILL_SPECIALS);
        }
}

int main(void)
{
    static const char *const cpus[] = {"base", "avx2", "avx512"};
    tamis_ctx_options plain = {.threads = 1, .cpu = "c"};
    tamis_ctx *reference = NULL;
    if (tamis_ctx_create(&plain, &reference) != TAMIS_OK)
        return 1;
    for (int cpu = 0; cpu < 3; cpu++) {
        tamis_ctx_options options = {.threads = 1, .cpu = cpus[cpu]};
        tamis_ctx *ctx = NULL;
        if (tamis_ctx_create(&options, &ctx) != TAMIS_OK) {
            printf("skipped: this CPU has no %s\n", cpus[cpu]);
            continue;
        }
        for (int i = 0; i < SIZES; i++)
            compare_types(reference, ctx, &sizes[i]);
        tamis_ctx_free(&ctx);
    }
    tamis_ctx_free(&reference);
    puts(failed ? "failed" : "passed");
    return failed;
}
