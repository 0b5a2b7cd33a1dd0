/* SPDX-License-Identifier: Apache-2.0 */
/* The temporal form: by its formula on small pictures, and what it is for on larger ones. */
#include <math.h>
#include <stdio.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { FRAMES = 5, NOW = 2 };
static long passed, failed;

static void check(int holds, const char *what, double got, double want)
{
    passed += holds;
    failed += !holds;
    if (!holds)
        printf("FAIL %s: %g, expected %g\n", what, got, want);
}

static tamis_status run(tamis_ctx *ctx, const char *chain, const tamis_image *const *frames,
                        const tamis_image *src, const tamis_image *dst)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_run_options options = {.frames = frames};
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);

    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK)
        status = tamis_plan_run(plan, src, dst, &options);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

static double at(const tamis_image *image, int x, int y)
{
    return test_sample_get(image, (int)tamis_border_index(TAMIS_BORDER_REFLECT101, x, image->w),
                           (int)tamis_border_index(TAMIS_BORDER_REFLECT101, y, image->h), 0);
}

/* search=5, patch=3. */
static double formula(const tamis_image *const *frames, int x, int y, double h)
{
    double sum = 0, weights = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int dy = -2; dy <= 2 && frames[f]; dy++)
            for (int dx = -2; dx <= 2; dx++) {
                double d2 = 0, w;
                for (int j = -1; j <= 1; j++)
                    for (int i = -1; i <= 1; i++) {
                        double d =
                            at(frames[NOW], x + i, y + j) - at(frames[f], x + dx + i, y + dy + j);
                        d2 += d * d / 9;
                    }
                w = exp(-d2 / (h * h));
                sum += w * at(frames[f], x + dx, y + dy);
                weights += w;
            }
    return sum / weights;
}

static void by_formula(tamis_ctx *ctx, tamis_type type, int first, int end)
{
    test_picture picture[FRAMES], dst;
    const tamis_image *frames[FRAMES] = {NULL};
    double range = tamis_type_range(type), worst = 0;
    char chain[80];

    snprintf(chain, sizeof chain, "nlmeans=h=20%%:search=5:patch=3:frames=%d", NOW);
    for (int f = 0; f < FRAMES; f++) {
        test_picture_make(&picture[f], test_format(type, 1), 13, 9, TEST_ROWS_ODD);
        test_picture_fill(&picture[f].image, TEST_FILL_SMOOTH, 5 + (uint64_t)f);
        if (f >= first && f < end)
            frames[f] = &picture[f].image;
    }
    test_picture_make(&dst, test_format(type, 1), 13, 9, TEST_ROWS_ODD);
    check(run(ctx, chain, frames, frames[NOW], &dst.image) == TAMIS_OK, chain, 0, 0);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 13; x++)
            worst = fmax(worst, fabs(formula(frames, x, y, 0.2 * range) -
                                     test_sample_get(&dst.image, x, y, 0)));
    check(worst <= (type == TAMIS_F32 ? 2e-5 : 0.51), tamis_type_name(type), worst, 0);
    for (int f = 0; f < FRAMES; f++)
        test_picture_free(&picture[f]);
    test_picture_free(&dst);
}

/* The mean squared error on a still scene under new noise in each frame. */
static double error_with(tamis_ctx *ctx, int around, const tamis_image *const *frames,
                         const tamis_image *clean, const tamis_image *dst)
{
    char chain[80];
    double sum = 0;

    snprintf(chain, sizeof chain, "nlmeans=h=16:search=7:patch=5:frames=%d", around);
    check(run(ctx, chain, frames + NOW - around, frames[NOW], dst) == TAMIS_OK, chain, 0, 0);
    for (int y = 0; y < clean->h; y++)
        for (int x = 0; x < clean->w; x++) {
            double d = test_sample_get(dst, x, y, 0) - test_sample_get(clean, x, y, 0);
            sum += d * d;
        }
    return sum / clean->w / clean->h;
}

static void more_frames_less_noise(tamis_ctx *ctx)
{
    test_picture clean, dst, picture[FRAMES];
    const tamis_image *frames[FRAMES];
    double alone, with_two, with_four;
    test_rng rng = {9};

    test_picture_make(&clean, test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
    test_picture_make(&dst, test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 96; x++)
            test_sample_set(&clean.image, x, y, 0, 60 + (x / 11 + y / 7) % 3 * 50 + x / 4);
    for (int f = 0; f < FRAMES; f++) {
        test_picture_make(&picture[f], test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
        frames[f] = &picture[f].image;
        for (int y = 0; y < 64; y++)
            for (int x = 0; x < 96; x++) {
                double n = -2;
                for (int i = 0; i < 4; i++)
                    n += test_rng_unit(&rng);
                test_sample_set(&picture[f].image, x, y, 0,
                                test_sample_get(&clean.image, x, y, 0) + 34 * n);
            }
    }
    alone = error_with(ctx, 0, frames, &clean.image, &dst.image);
    with_two = error_with(ctx, 1, frames, &clean.image, &dst.image);
    with_four = error_with(ctx, 2, frames, &clean.image, &dst.image);
    check(with_two < 0.7 * alone, "the error with two more frames", with_two, 0.7 * alone);
    check(with_four < 0.8 * with_two, "the error with four more frames", with_four, 0.8 * with_two);
    for (int f = 0; f < FRAMES; f++)
        test_picture_free(&picture[f]);
    test_picture_free(&clean);
    test_picture_free(&dst);
}

int main(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F32};
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};

    for (int c = 0; c < 4; c++) {
        tamis_ctx_options options = {.threads = 2, .cpu = cpus[c]};
        tamis_ctx *ctx = NULL;
        if (tamis_ctx_create(&options, &ctx) != TAMIS_OK)
            continue; /* this CPU lacks it */
        for (int t = 0; t < 3; t++) {
            by_formula(ctx, types[t], 0, FRAMES);
            by_formula(ctx, types[t], NOW, FRAMES);
            by_formula(ctx, types[t], 1, NOW + 1);
        }
        more_frames_less_noise(ctx);
        tamis_ctx_free(&ctx);
    }
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
