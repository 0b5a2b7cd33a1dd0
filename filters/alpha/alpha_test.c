/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static long passed, failed;

static void check(int holds, const char *what)
{
    passed += holds;
    failed += !holds;
    if (!holds)
        printf("FAIL %s\n", what);
}

/* Runs a chain on a picture; 0 when it worked. */
static int run(tamis_ctx *ctx, const char *chain, const tamis_image *src, test_picture *out)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);

    *out = (test_picture){0};
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK) {
        test_picture_make(out, tamis_plan_format(plan), src->w, src->h, TEST_ROWS_ODD);
        status = tamis_plan_run(plan, src, &out->image, NULL);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status == TAMIS_OK ? 0 : -1;
}

/* Every pair of color and alpha of u8. */
static void every_pair(tamis_ctx *ctx)
{
    tamis_format format = {TAMIS_U8, 2, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    test_picture src, out, back;
    int good = 1;

    test_picture_make(&src, format, 256, 256, TEST_ROWS_WIDE);
    for (int a = 0; a < 256; a++)
        for (int v = 0; v < 256; v++) {
            test_sample_set(&src.image, v, a, 0, v);
            test_sample_set(&src.image, v, a, 1, a);
        }
    check(run(ctx, "alpha=to=premultiplied", &src.image, &out) == 0, "alpha");
    check(run(ctx, "alpha=to=straight", &out.image, &back) == 0, "alpha=to=straight");
    check(out.image.format.alpha == TAMIS_ALPHA_PREMULTIPLIED, "the format is premultiplied");
    check(back.image.format.alpha == TAMIS_ALPHA_STRAIGHT, "the format is straight");
    for (int a = 0; a < 256; a++)
        for (int v = 0; v < 256; v++) {
            double p = test_sample_get(&out.image, v, a, 0), exact = v * a / 255.0;
            double s = test_sample_get(&back.image, v, a, 0);
            good &= p - exact <= 0.5 && exact - p <= 0.5;
            good &= a == 0 ? s == 0 : s - v <= 127.5 / a + 0.5 && v - s <= 127.5 / a + 0.5;
            good &= test_sample_get(&out.image, v, a, 1) == a;
        }
    check(good, "all pairs of color and alpha");
    test_picture_free(&src);
    test_picture_free(&out);
    test_picture_free(&back);
}

/* Dropping what was added gives the picture back. */
static void added_and_dropped(tamis_ctx *ctx)
{
    test_picture src, out, back;

    for (int t = 0; t < TAMIS_TYPE_COUNT; t++)
        for (int channels = 1; channels <= 3; channels++) {
            test_picture_make(&src, test_format((tamis_type)t, channels), 37, 5, TEST_ROWS_ODD);
            test_picture_fill(&src.image, TEST_FILL_NOISE, 3);
            check(run(ctx, "alpha=to=opaque", &src.image, &out) == 0, "alpha=to=opaque");
            check(out.image.format.channels == channels + 1, "a channel more");
            check(test_sample_get(&out.image, 5, 2, channels) == test_type_max((tamis_type)t),
                  "the highest level");
            check(run(ctx, "alpha=to=none", &out.image, &back) == 0 &&
                      test_same(&src.image, &back.image),
                  "added and dropped");
            test_picture_free(&src);
            test_picture_free(&out);
            test_picture_free(&back);
        }
}

static void refused(tamis_ctx *ctx)
{
    test_picture src, out;

    test_picture_make(&src, test_format(TAMIS_U8, 3), 3, 3, TEST_ROWS_TIGHT);
    check(run(ctx, "alpha=to=premultiplied", &src.image, &out) != 0, "no alpha to multiply by");
    src.image.format.channels = 4;
    src.image.w = 2;
    check(run(ctx, "alpha=to=opaque", &src.image, &out) != 0, "no room for alpha");
    test_picture_free(&src);
}

int main(void)
{
    tamis_ctx *ctx = NULL;

    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK)
        return 1;
    every_pair(ctx);
    added_and_dropped(ctx);
    refused(ctx);
    tamis_ctx_free(&ctx);
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
