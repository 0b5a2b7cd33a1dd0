/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

/* Runs body for every instruction set this CPU has. */
#define FOR_EACH_CPU(ctx)                                                                          \
    for (int cpu_ = 0; cpu_ < CASE_CPUS; cpu_++)                                                   \
        for (tamis_ctx *ctx = case_ctx[cpu_]; ctx; ctx = NULL)

static const char *const continuing_borders[] = {"reflect101", "reflect", "replicate", "wrap"};

static void constant_small(const char *chain, int w, int h)
{
    for (int b = 0; b < 4; b++)
        FOR_EACH_CPU(ctx)
        {
            test_picture src, out;
            char text[128];
            snprintf(text, sizeof text, "%s:border=%s", chain, continuing_borders[b]);
            case_constant(&src, test_format(TAMIS_U8, 1), w, h, 128);
            if (case_run_ok("G01", ctx, text, &src.image, &out) == 0)
                case_check(case_all(&out.image, 128), "G01", "%s changes a constant %dx%d", text, w,
                           h);
            test_picture_free(&out);
            test_picture_free(&src);
        }
}

void case_borders(void)
{
    static const char *const chains[] = {"gaussian=sigma=1.5:ksize=7", "median=ksize=7",
                                         "bilateral=sigma_space=2:sigma_color=20:ksize=7",
                                         "nlmeans=search=7", "box=ksize=7"};
    static const int sizes[][2] = {{1, 1}, {2, 2}, {5, 1}, {1, 5}, {3, 3}};

    for (int i = 0; i < 5; i++)
        for (int s = 0; s < 5 && case_has("G01", chains[i]); s++)
            constant_small(chains[i], sizes[s][0], sizes[s][1]);
}

static double full_range(int x, int y, int c)
{
    (void)c;
    if (x + y == 0)
        return 65535;
    return x == 15 && y == 15 ? 0 : (x * 4001 + y * 257 + x * y * 31) % 65536;
}

static double full_range_8(int x, int y, int c)
{
    return floor(full_range(x, y, c) / 256);
}

static double impulse_9(int x, int y, int c)
{
    (void)c;
    return x == 4 && y == 4 ? 255 : 0;
}

/* G04: a tiny sigma copies (the neighbor's weight is e^-50), sigma 0 copies or is refused alike
 * everywhere, a negative one is refused. */
static void tiny_sigma(tamis_ctx *ctx)
{
    static const case_formula formulas[] = {full_range_8, full_range};
    test_picture src, out;
    int refused = -1;

    for (int type = 0; type < 2; type++) {
        case_picture(&src, test_format(type ? TAMIS_U16 : TAMIS_U8, 1), 16, 16, formulas[type]);
        for (int k = 3; k <= 9; k += 2) {
            char chain[64];
            snprintf(chain, sizeof chain, "gaussian=sigma=0.1:ksize=%d", k);
            if (case_run_ok("G04", ctx, chain, &src.image, &out) == 0)
                case_check(test_same(&src.image, &out.image), "G04", "%s is no copy", chain);
            test_picture_free(&out);
        }
        if (case_run(ctx, "gaussian=sigma=0", &src.image, &out) == TAMIS_OK) {
            case_check(refused != 1 && test_same(&src.image, &out.image), "G04", "sigma 0");
            refused = 0;
        } else {
            case_check(refused != 0 && case_refused(ctx, "gaussian=sigma=0", &src.image), "G04",
                       "sigma 0 is refused for one type only, or without a message");
            refused = 1;
        }
        test_picture_free(&out);
        case_check(case_refused(ctx, "gaussian=sigma=-1", &src.image), "G04", "sigma -1");
        test_picture_free(&src);
    }
}

/* A size alone gives sigma = 0.3 * ((5 - 1) / 2 - 1) + 0.8 = 1.1, or sigma may be asked for. */
static void sigma_from_size(tamis_ctx *ctx, double *middle)
{
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 9, 9, impulse_9);
    if (case_run(ctx, "gaussian=ksize=5:sigma=0", &src.image, &out) == TAMIS_OK ||
        case_run(ctx, "gaussian=ksize=5", &src.image, &out) == TAMIS_OK) {
        double v = test_sample_get(&out.image, 4, 4, 0);
        case_check(isnan(*middle) || v == *middle, "G04", "sigma from size differs: %g, %g", v,
                   *middle);
        *middle = v;
    }
    test_picture_free(&out);
    test_picture_free(&src);
}

static double blocks(int x, int y, int c)
{
    (void)c;
    return y / 64 * 16 + x / 64;
}

/* G05: the middle of each flat block keeps its level. */
static void flat_blocks(tamis_ctx *ctx, const test_picture *src, const char *chain)
{
    test_picture out;
    int wrong = 0;

    if (case_run_ok("G05", ctx, chain, &src->image, &out) == 0) {
        for (int y = 0; y < 1024; y++)
            for (int x = 0; x < 1024; x++)
                if (x % 64 >= 27 && x % 64 <= 36 && y % 64 >= 27 && y % 64 <= 36)
                    wrong += test_sample_get(&out.image, x, y, 0) != blocks(x, y, 0);
        case_check(wrong == 0, "G05", "%s: %d pixels of flat areas changed", chain, wrong);
    }
    test_picture_free(&out);
}

static void flat_levels(void)
{
    static const char *const chains[] = {"gaussian=sigma=1:ksize=9",  "gaussian=sigma=3:ksize=25",
                                         "gaussian=sigma=5:ksize=41", "gaussian=sigma=6:ksize=49",
                                         "gaussian=sigma=8:ksize=5",  "gaussian=sigma=9:ksize=5",
                                         "gaussian=sigma=10:ksize=5"};
    test_picture src;

    case_picture(&src, test_format(TAMIS_U8, 1), 1024, 1024, blocks);
    for (int i = 0; i < 7; i++) {
        /* The C row once; the others in turn, since the harness compares them all. */
        flat_blocks(case_ctx[0], &src, chains[i]);
        if (case_ctx[1 + i % 3])
            flat_blocks(case_ctx[1 + i % 3], &src, chains[i]);
    }
    test_picture_free(&src);
}

/* G06: the upper half of 16 bit. */
static void range_16(tamis_ctx *ctx)
{
    static const double levels[] = {65535, 40000, 32768, 32767};
    static const double want[][3] = {
        {16, 16, 3661.910}, {17, 16, 3080.138}, {17, 17, 2590.793}, {12, 12, 14.431}};
    const char *chain = "gaussian=sigma=1.7:ksize=9";
    test_picture src, out;

    for (int i = 0; i < 4; i++) {
        case_constant(&src, test_format(TAMIS_U16, 1), 100, 100, levels[i]);
        if (case_run_ok("G06", ctx, chain, &src.image, &out) == 0)
            case_check(case_all(&out.image, levels[i]), "G06", "constant %g", levels[i]);
        test_picture_free(&out);
        test_picture_free(&src);
    }
    case_constant(&src, test_format(TAMIS_U16, 1), 33, 33, 0);
    test_sample_set(&src.image, 16, 16, 0, 65535);
    if (case_run_ok("G06", ctx, chain, &src.image, &out) == 0)
        for (int i = 0; i < 4; i++) {
            double v = test_sample_get(&out.image, (int)want[i][0], (int)want[i][1], 0);
            case_check(fabs(v - nearbyint(want[i][2])) <= 1, "G06", "impulse at %g,%g: %g, not %g",
                       want[i][0], want[i][1], v, want[i][2]);
        }
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_gaussian(void)
{
    double middle = (double)NAN;

    if (!case_has("G04 G05 G06", "gaussian"))
        return;
    FOR_EACH_CPU(ctx)
    {
        tiny_sigma(ctx);
        sigma_from_size(ctx, &middle);
        range_16(ctx);
    }
    case_check(middle == 36 || middle == 35, "G04", "the kernel of size 5 has middle %g", middle);
    flat_levels();
}

static double step_5(int x, int y, int c)
{
    (void)y, (void)c;
    return x < 2 ? 0 : 0.1;
}

/* G10 a, b: flat pictures of any sign; sigma 0 copies or is refused, negative is refused. */
static void bilateral_edges(tamis_ctx *ctx)
{
    static const double flats[] = {0, 0.5, -3.25};
    static const char *const zeros[] = {"bilateral=sigma_space=100:sigma_color=0:ksize=5",
                                        "bilateral=sigma_space=0:sigma_color=1:ksize=5"};
    test_picture src, out;

    for (int i = 0; i < 3; i++) {
        case_constant(&src, test_format(TAMIS_F32, 1), 10, 10, flats[i]);
        if (case_run_ok("G10", ctx, "bilateral=sigma_space=15:sigma_color=0.05:ksize=7", &src.image,
                        &out) == 0)
            case_check(case_all(&out.image, flats[i]), "G10", "flat %g changes", flats[i]);
        test_picture_free(&out);
        test_picture_free(&src);
    }
    case_picture(&src, test_format(TAMIS_F32, 1), 5, 1, step_5);
    for (int i = 0; i < 2; i++) {
        if (case_run(ctx, zeros[i], &src.image, &out) == TAMIS_OK)
            case_check(test_same(&src.image, &out.image), "G10", "%s changes the step", zeros[i]);
        else
            case_check(case_refused(ctx, zeros[i], &src.image), "G10", "%s: unclean", zeros[i]);
        test_picture_free(&out);
    }
    case_check(case_refused(ctx, "bilateral=sigma_color=-1", &src.image), "G10",
               "a negative sigma_color is accepted");
    test_picture_free(&src);
}

static double five(int x, int y, int c)
{
    static const int values[5][5] = {{10, 12, 11, 90, 92},
                                     {11, 13, 10, 91, 93},
                                     {12, 50, 12, 89, 94},
                                     {13, 11, 14, 92, 90},
                                     {10, 12, 13, 95, 91}};
    (void)c;
    return values[y][x];
}

static void expect_five(tamis_ctx *ctx, const char *chain, tamis_type type, const double *want)
{
    static const int places[4][2] = {{0, 0}, {1, 2}, {2, 2}, {4, 4}};
    test_picture src, out;

    case_picture(&src, test_format(type, 1), 5, 5, five);
    if (case_run_ok("G10", ctx, chain, &src.image, &out) == 0)
        for (int i = 0; i < 4; i++) {
            double v = test_sample_get(&out.image, places[i][0], places[i][1], 0);
            double tolerance = type == TAMIS_F32 ? 1e-5 * fmax(1, want[i]) : 0.5 + 1.0 / 16;
            case_check(fabs(v - want[i]) <= tolerance, "G10", "%s at %d,%d: %.6f, not %.6f", chain,
                       places[i][0], places[i][1], v, want[i]);
        }
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_bilateral(void)
{
    static const double square[] = {10.893914, 49.757641, 11.904708, 91.729094};
    static const double disc[] = {10.877355, 49.801473, 12.004387, 91.725871};
    const char *chain = "bilateral=sigma_space=1.5:sigma_color=10:ksize=5:border=replicate";
    const char *cv =
        "bilateral=sigma_space=1.5:sigma_color=10:ksize=5:border=replicate:compat=opencv";

    if (!case_has("G10", chain))
        return;
    FOR_EACH_CPU(ctx)
    {
        bilateral_edges(ctx);
        expect_five(ctx, chain, TAMIS_F32, square);
        expect_five(ctx, chain, TAMIS_U8, square);
        expect_five(ctx, chain, TAMIS_U16, square);
        expect_five(ctx, cv, TAMIS_F32, disc);
        expect_five(ctx, cv, TAMIS_U8, disc);
    }
}

/* G12: the color of fully clear pixels may not reach visible ones; a pixel that ends up clear has
 * none. */
static void alpha_type(tamis_ctx *ctx, const char *chain, tamis_layout layout, tamis_type type)
{
    tamis_format format = {type, 4, layout, TAMIS_ALPHA_STRAIGHT};
    double full = test_type_max(type), visible = 0;
    test_picture src, out;

    case_constant(&src, format, 5, 5, 0);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            test_sample_set(&src.image, x, y, 0, full);
    for (int c = 1; c < 4; c++)
        test_sample_set(&src.image, 2, 2, c, full);
    if (case_run_ok("G12", ctx, chain, &src.image, &out) == 0)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++)
                for (int c = 0; c < 3; c++) {
                    double v = test_sample_get(&out.image, x, y, c);
                    int clear = test_sample_get(&out.image, x, y, 3) == 0;
                    visible += !clear;
                    case_check(clear               ? v == 0
                               : type == TAMIS_F32 ? fabs(v - 1) < 1e-5
                                                   : v == full,
                               "G12", "%s %s: color %d at %d,%d is %g", chain,
                               tamis_type_name(type), c, x, y, v);
                }
    case_check(visible > 3 * 9, "G12", "%s: alpha did not spread", chain);
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_alpha(void)
{
    static const char *const chains[] = {"gaussian=sigma=1",
                                         "gaussian=sigma=1:border=constant:border_value=0"};

    for (int i = 0; i < 2 && case_has("G12", chains[0]); i++)
        FOR_EACH_CPU(ctx)
        {
            alpha_type(ctx, chains[i], TAMIS_PACKED, TAMIS_U8);
            alpha_type(ctx, chains[i], TAMIS_PLANAR, TAMIS_U8);
            alpha_type(ctx, chains[i], TAMIS_PACKED, TAMIS_U16);
            alpha_type(ctx, chains[i], TAMIS_PACKED, TAMIS_F32);
        }
}
