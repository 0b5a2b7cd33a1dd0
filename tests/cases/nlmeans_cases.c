/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "cases.h"

static const char *const windows[] = {"patch=3:search=5", "patch=7:search=15"};

/* G11 a: a flat picture stays as it is, up to its last row and column. Zeros around it are too
 * unlike a level above 100 to come in; around others the picture goes on at its own level. */
static void flat(tamis_ctx *ctx, tamis_type type, double level)
{
    static const char *const borders[] = {"reflect101", "reflect", "replicate",
                                          "wrap",       "valid",   "constant"};
    double outside = level > 100 ? 0 : level;
    test_picture src, out;

    case_constant(&src, test_format(type, 1), 48, 48, level);
    for (int w = 0; w < 2; w++)
        for (int b = 0; b < 7; b++) {
            char chain[128];
            snprintf(chain, sizeof chain, "nlmeans=h=10:%s:border=%s:border_value=%g", windows[w],
                     borders[b < 6 ? b : 5], b < 6 ? outside : level);
            if (case_run_ok("G11", ctx, chain, &src.image, &out) == 0)
                case_check(case_all(&out.image, level), "G11", "%s changes a flat %s picture",
                           chain, tamis_type_name(type));
            test_picture_free(&out);
        }
    test_picture_free(&src);
}

static double step_40_200(int x, int y, int c)
{
    (void)y, (void)c;
    return x < 12 ? 40 : 200;
}

/* G11 b: nothing of the other side comes over a high step. */
static void high_step(tamis_ctx *ctx, tamis_type type)
{
    static const char *const strengths[] = {"0", "1", "0:sigma=5"};
    test_picture src, out;

    case_picture(&src, test_format(type, 1), 24, 24, step_40_200);
    for (int i = 0; i < 3; i++) {
        char chain[64];
        snprintf(chain, sizeof chain, "nlmeans=h=%s", strengths[i]);
        if (case_run_ok("G11", ctx, chain, &src.image, &out) == 0)
            case_check(test_same(&src.image, &out.image), "G11", "%s changes a step of %s", chain,
                       tamis_type_name(type));
        test_picture_free(&out);
    }
    case_check(case_refused(ctx, "nlmeans=h=-1", &src.image), "G11", "a negative h is accepted");
    case_check(case_refused(ctx, "nlmeans=search=4", &src.image), "G11", "an even window");
    case_check(case_refused(ctx, "nlmeans=h=1:sigma=9", &src.image), "G11", "sigma beyond 8 h");
    test_picture_free(&src);
}

/* One wild pixel: all other weights are equal and tiny, but there are 392 of them, and 48 of pixels
 * whose patches hold the wild one as well. Rows may be a level off the nearest one. */
static void wild_pixel(tamis_ctx *ctx, double h)
{
    double w = exp(-255.0 * 255 / 49 / (h * h)), want = 255 / (1 + 392 * w + 48 * w * w), got;
    test_picture src, out;
    char chain[64];

    /* No larger than what the pixel in the middle sees. */
    case_constant(&src, test_format(TAMIS_U8, 1), 27, 27, 0);
    test_sample_set(&src.image, 13, 13, 0, 255);
    snprintf(chain, sizeof chain, "nlmeans=h=%g", h);
    if (case_run_ok("G11", ctx, chain, &src.image, &out) == 0) {
        got = test_sample_get(&out.image, 13, 13, 0);
        case_check(fabs(got - rint(want)) <= 1, "G11", "%s: a wild pixel becomes %g, not %g", chain,
                   got, want);
    }
    test_picture_free(&out);
    test_picture_free(&src);
}

/* A plane outside the color is filtered as if it were a picture. */
static void alpha_alone(tamis_ctx *ctx, const char *color)
{
    tamis_format format = {TAMIS_U8, 4, TAMIS_PLANAR, TAMIS_ALPHA_STRAIGHT};
    test_picture src, alone, out, want;
    char chain[64];
    int wrong = 0;

    test_picture_make(&src, format, 40, 20, TEST_ROWS_TIGHT);
    test_picture_make(&alone, test_format(TAMIS_U8, 1), 40, 20, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_SMOOTH, 2);
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 40; x++)
            test_sample_set(&alone.image, x, y, 0, test_sample_get(&src.image, x, y, 3));
    snprintf(chain, sizeof chain, "nlmeans=h=12:alpha=straight:color=%s", color);
    if (case_run_ok("G11", ctx, chain, &src.image, &out) == 0 &&
        case_run_ok("G11", ctx, "nlmeans=h=12", &alone.image, &want) == 0) {
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 40; x++)
                wrong += fabs(test_sample_get(&out.image, x, y, 3) -
                              test_sample_get(&want.image, x, y, 0)) > 1;
        test_picture_free(&want);
    }
    case_check(wrong == 0, "G11", "%s: %d samples of alpha are not as if alone", chain, wrong);
    test_picture_free(&out);
    test_picture_free(&alone);
    test_picture_free(&src);
}

void case_nlmeans(void)
{
    if (!case_has("G11", "nlmeans"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++) {
        tamis_ctx *ctx = case_ctx[cpu];
        if (!ctx)
            continue;
        flat(ctx, TAMIS_U8, 136);
        flat(ctx, TAMIS_U16, 34952);
        flat(ctx, TAMIS_F32, 0.75);
        high_step(ctx, TAMIS_U8);
        high_step(ctx, TAMIS_U16);
        high_step(ctx, TAMIS_F32);
        alpha_alone(ctx, "joint");
        alpha_alone(ctx, "luma");
        alpha_alone(ctx, "separate");
        for (double h = 8; h < 24; h *= 1.03)
            wild_pixel(ctx, h);
    }
}
