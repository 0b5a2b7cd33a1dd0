/* SPDX-License-Identifier: Apache-2.0 */
/* unsharp by its formula, from the smoothed picture that "gaussian" makes of the same samples in
 * f32. */
#include <math.h>
#include <stdio.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { W = 61, H = 33 };
static long passed, failed;

static int run(tamis_ctx *ctx, const char *chain, const tamis_image *src, const tamis_image *dst)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    int good =
        tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan) == TAMIS_OK &&
        tamis_plan_run(plan, src, dst, NULL) == TAMIS_OK;

    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return good;
}

static double formula(double in, double smooth, double amount, double threshold)
{
    double d = in - smooth;
    return in + amount * (d - fmin(fmax(d, -threshold), threshold));
}

static void compare(const tamis_image *src, const tamis_image *smooth, const tamis_image *got,
                    const char *chain, double amount, double threshold)
{
    tamis_type type = src->format.type;
    double range = tamis_type_range(type), tolerance = 3e-5 * range + (type < TAMIS_F16 ? 0.5 : 0);

    if (type == TAMIS_U8) /* the smoothed picture in 1/128 level */
        tolerance = 0.5 + 0.03 * fabs(amount);

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double want = formula(test_sample_get(src, x, y, 0), test_sample_get(smooth, x, y, 0),
                                  amount, threshold);
            double v = test_sample_get(got, x, y, 0);
            if (type < TAMIS_F16)
                want = fmin(fmax(want, test_type_min(type)), test_type_max(type));
            if (fabs(v - want) <= tolerance) {
                passed++;
                continue;
            }
            failed++;
            printf("FAIL %s %s at %d, %d: %.9g, not %.9g\n", chain, tamis_type_name(type), x, y, v,
                   want);
            return;
        }
}

static void one(tamis_ctx *ctx, tamis_type type, double sigma, double amount, double percent)
{
    char chain[160], smooth_chain[80];
    test_picture src, wide, smooth, dst;
    double threshold = percent / 100 * tamis_type_range(type);

    snprintf(chain, sizeof chain, "unsharp=sigma=%g:amount=%g:threshold=%g%%:border=reflect", sigma,
             amount, percent);
    snprintf(smooth_chain, sizeof smooth_chain, "gaussian=sigma=%g:border=reflect", sigma);
    test_picture_make(&src, test_format(type, 1), W, H, TEST_ROWS_ODD);
    test_picture_make(&dst, test_format(type, 1), W, H, TEST_ROWS_ODD);
    test_picture_make(&wide, test_format(TAMIS_F32, 1), W, H, TEST_ROWS_WIDE);
    test_picture_make(&smooth, test_format(TAMIS_F32, 1), W, H, TEST_ROWS_WIDE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 7);
    if (tamis_image_copy(ctx, &src.image, &wide.image) == TAMIS_OK &&
        run(ctx, smooth_chain, &wide.image, &smooth.image) &&
        run(ctx, chain, &src.image, &dst.image)) {
        compare(&src.image, &smooth.image, &dst.image, chain, amount, threshold);
    } else {
        failed++;
        printf("FAIL %s does not run\n", chain);
    }
    test_picture_free(&src);
    test_picture_free(&wide);
    test_picture_free(&smooth);
    test_picture_free(&dst);
}

int main(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};
    static const double amounts[] = {1, 0.5, 0, -1, 3};
    tamis_ctx *ctx = NULL;

    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK)
        return 1;
    for (int t = 0; t < 4; t++)
        for (int a = 0; a < 5; a++) {
            one(ctx, types[t], 0.8, amounts[a], 0);
            one(ctx, types[t], 2, amounts[a], 4);
            one(ctx, types[t], 25, amounts[a], 1);
        }
    tamis_ctx_free(&ctx);
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
