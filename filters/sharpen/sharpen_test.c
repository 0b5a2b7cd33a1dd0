/* SPDX-License-Identifier: Apache-2.0 */
/* The formula in binary64, with the border by hand. */
#include <math.h>
#include <stdio.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static long passed, failed;

static double at(const tamis_image *image, int x, int y)
{
    return test_sample_get(image, (int)tamis_border_index(TAMIS_BORDER_REFLECT101, x, image->w),
                           (int)tamis_border_index(TAMIS_BORDER_REFLECT101, y, image->h), 0);
}

static double formula(const tamis_image *src, int x, int y, double amount, int corners)
{
    double sum = 0, center = at(src, x, y);
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (corners || i == 0 || j == 0)
                sum += center - at(src, x + i, y + j);
    return center + amount * sum;
}

static double clipped(tamis_type type, double v)
{
    return type >= TAMIS_F16 ? v : fmin(fmax(v, test_type_min(type)), test_type_max(type));
}

static void compare(const tamis_image *src, const tamis_image *got, const char *chain,
                    double amount, int corners)
{
    tamis_type type = src->format.type;
    double tolerance = type == TAMIS_F32 ? 1e-6 * (1 + 16 * fabs(amount))
                       : amount == nearbyint(amount)
                           ? 0
                           : 0.5001; /* rounded once, half a level either way */
    for (int y = 0; y < src->h; y++)
        for (int x = 0; x < src->w; x++) {
            double want = clipped(type, formula(src, x, y, amount, corners));
            double v = test_sample_get(got, x, y, 0);
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

static void run(tamis_ctx *ctx, tamis_type type, test_fill fill, double amount, int corners)
{
    char chain[100];
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture src, dst;

    snprintf(chain, sizeof chain, "sharpen=amount=%g:neighbors=%d", amount, corners ? 8 : 4);
    test_picture_make(&src, test_format(type, 1), 37, 19, TEST_ROWS_ODD);
    test_picture_make(&dst, test_format(type, 1), 37, 19, TEST_ROWS_ODD);
    test_picture_fill(&src.image, fill, 3);
    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, src.image.format, 37, 19, NULL, &plan) == TAMIS_OK &&
        tamis_plan_run(plan, &src.image, &dst.image, NULL) == TAMIS_OK)
        compare(&src.image, &dst.image, chain, amount, corners);
    else
        failed++;
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    test_picture_free(&src);
    test_picture_free(&dst);
}

int main(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};
    static const double amounts[] = {1, 0, -1, 2, 15, 16, 0.3, 7.77};
    tamis_ctx *ctx = NULL;

    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK)
        return 1;
    for (int t = 0; t < 4; t++)
        for (int a = 0; a < 8; a++)
            for (int corners = 0; corners < 2; corners++) {
                run(ctx, types[t], TEST_FILL_NOISE, amounts[a], corners);
                run(ctx, types[t], TEST_FILL_EXTREMES, amounts[a], corners);
            }
    tamis_ctx_free(&ctx);
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
