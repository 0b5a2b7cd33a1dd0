/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "cases.h"

static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};
enum { TYPES = 4 };

/* G24 a: the kernel lies on the picture as it is written; flip=on turns it. */
static void orientation(tamis_ctx *ctx, tamis_type type)
{
    static const char *const chains[] = {
        "convolve=kernel=1 2 3; 4 5 6; 7 8 9:divisor=1",
        "convolve=kernel=1,2,3;4,5,6;7,8,9:divisor=1:flip=on",
    };
    test_picture src, out;

    for (int flip = 0; flip < 2; flip++) {
        case_constant(&src, test_format(type, 1), 5, 5, 0);
        test_sample_set(&src.image, 2, 2, 0, 1);
        if (case_run_ok("G24", ctx, chains[flip], &src.image, &out) == 0)
            for (int y = 0; y < 5; y++)
                for (int x = 0; x < 5; x++) {
                    int i = (y - 1) * 3 + (x - 1), inside = x > 0 && x < 4 && y > 0 && y < 4;
                    double want = !inside ? 0 : flip ? 1 + i : 9 - i;
                    double v = test_sample_get(&out.image, x, y, 0);
                    case_check(v == want, "G24", "%s %s at %d,%d: %g, not %g", chains[flip],
                               tamis_type_name(type), x, y, v, want);
                }
        test_picture_free(&out);
        test_picture_free(&src);
    }
}

static double step(int x, int y, int c)
{
    (void)y, (void)c;
    return x < 8 ? 50 : 200;
}

/* G24 b: overshoot ends at the range's ends: 50 - 150, 200 + 150. */
static void overshoot(tamis_ctx *ctx, const char *chain)
{
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 16, 4, step);
    if (case_run_ok("G24", ctx, chain, &src.image, &out) == 0)
        for (int x = 0; x < 16; x++) {
            double want = x == 7 ? 0 : x == 8 ? 255 : step(x, 0, 0);
            double v = test_sample_get(&out.image, x, 1, 0);
            case_check(v == want, "G24", "%s at %d: %g, not %g", chain, x, v, want);
        }
    test_picture_free(&out);
    test_picture_free(&src);
}

/* G24 b: the unsharp mask of the same step, from sums in double precision. */
static void unsharp_row(tamis_ctx *ctx)
{
    static const double want[16] = {50,  50,  50,  50,  50,  49,  32,  0,
                                    255, 218, 201, 200, 200, 200, 200, 200};
    const char *chain = "unsharp=sigma=1:amount=2:border=replicate";
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 16, 4, step);
    if (case_run_ok("G24", ctx, chain, &src.image, &out) == 0)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 16; x++) {
                double v = test_sample_get(&out.image, x, y, 0);
                case_check(v == want[x], "G24", "%s at %d,%d: %g, not %g", chain, x, y, v, want[x]);
            }
    test_picture_free(&out);
    test_picture_free(&src);
}

static double rise(int x, int y, int c)
{
    (void)y, (void)c;
    return x >= 6 ? 255 : 0;
}

static double fall(int x, int y, int c)
{
    (void)y, (void)c;
    return x < 6 ? 255 : 0;
}

/* G23: slopes of both signs, in types that hold them; Laplacians of an impulse; nothing on flat. */
static void derivatives(tamis_ctx *ctx)
{
    const char *sobel = "convolve=kernel=-1 0 1;-2 0 2;-1 0 1:border=replicate";
    test_picture src, out;

    for (int down = 0; down < 2; down++)
        for (int t = 2; t < TYPES; t++) {
            case_picture(&src, test_format(types[t], 1), 12, 9, down ? fall : rise);
            if (case_run_ok("G23", ctx, sobel, &src.image, &out) == 0)
                for (int x = 0; x < 12; x++) {
                    double want = x == 5 || x == 6 ? (down ? -1020 : 1020) : 0;
                    double v = test_sample_get(&out.image, x, 4, 0);
                    case_check(v == want, "G23", "%s %s at %d: %g", sobel,
                               tamis_type_name(types[t]), x, v);
                }
            test_picture_free(&out);
            test_picture_free(&src);
        }
    for (int eight = 0; eight < 2; eight++) {
        const char *chain =
            eight ? "convolve=kernel=1 1 1;1 -8 1;1 1 1" : "convolve=kernel=laplacian";
        case_constant(&src, test_format(TAMIS_S16, 1), 7, 7, 0);
        test_sample_set(&src.image, 3, 3, 0, 255);
        if (case_run_ok("G23", ctx, chain, &src.image, &out) == 0) {
            case_check(test_sample_get(&out.image, 3, 3, 0) == (eight ? -2040 : -1020), "G23",
                       "%s: the middle", chain);
            case_check(test_sample_get(&out.image, 2, 3, 0) == 255, "G23", "%s: a side", chain);
            case_check(test_sample_get(&out.image, 2, 2, 0) == (eight ? 255 : 0), "G23",
                       "%s: a corner", chain);
        }
        test_picture_free(&out);
        test_picture_free(&src);
        case_constant(&src, test_format(TAMIS_U8, 1), 7, 7, 77);
        if (case_run_ok("G23", ctx, chain, &src.image, &out) == 0)
            case_check(case_all(&out.image, 0), "G23", "%s of a flat picture", chain);
        test_picture_free(&out);
        test_picture_free(&src);
    }
}

/* What sums to one keeps constants, at any level of any type. */
static void flat_levels(tamis_ctx *ctx, const char *chain)
{
    for (int t = 0; t < TYPES; t++)
        for (int i = 0; i < 9; i++) {
            double v = types[t] == TAMIS_F32   ? i * 0.125
                       : types[t] == TAMIS_S16 ? -32768 + i * 8191.0
                                               : floor(i * test_type_max(types[t]) / 8);
            test_picture src, out;
            case_constant(&src, test_format(types[t], 1), 9, 9, v);
            if (case_run_ok("G05", ctx, chain, &src.image, &out) == 0)
                for (int x = 0; x < 9; x++) {
                    double got = test_sample_get(&out.image, x, 4, 0);
                    case_check(types[t] == TAMIS_F32 ? fabs(got - v) <= 1e-6 * v : got == v, "G05",
                               "%s %s: %g becomes %g", chain, tamis_type_name(types[t]), v, got);
                }
            test_picture_free(&out);
            test_picture_free(&src);
        }
}

/* Kernels that change no sample, of any type, -0 and NaN included. */
static void identities(tamis_ctx *ctx)
{
    static const char *const chains[] = {"convolve", "convolve=kernel=7",
                                         "convolve=kernel=0 0 0; 0 2 0; 0 0 0",
                                         "convolve=kernel=0,1,0x0,3,0:separable=off"};

    for (int i = 0; i < 4; i++)
        for (int t = 0; t < TYPES; t++) {
            test_picture src, out;
            test_picture_make(&src, test_format(types[t], 3), 21, 9, TEST_ROWS_ODD);
            test_picture_fill(&src.image,
                              types[t] == TAMIS_F32 ? TEST_FILL_SPECIALS : TEST_FILL_NOISE, 3);
            if (case_run_ok("no-op", ctx, chains[i], &src.image, &out) == 0)
                for (int y = 0; y < 9; y++)
                    for (int x = 0; x < 63; x++) {
                        double u = test_sample_get(&src.image, x / 3, y, x % 3);
                        double v = test_sample_get(&out.image, x / 3, y, x % 3);
                        case_check((isnan(u) && isnan(v)) || (u == v && signbit(u) == signbit(v)),
                                   "no-op", "%s %s changes %g into %g", chains[i],
                                   tamis_type_name(types[t]), u, v);
                    }
            test_picture_free(&out);
            test_picture_free(&src);
        }
}

/* A kernel's own matrix, in C: the struct is copied, so the caller's may go. */
static void in_c(tamis_ctx *ctx)
{
    const tamis_filter *filter = tamis_filter_find("convolve");
    const char *want = "convolve=kernel=0,0.5;-1.25,3:divisor=2";
    static double params[(1 << 20) / sizeof(double)];
    test_picture src, a, b;
    tamis_status status = TAMIS_OK;

    tamis_filter_defaults(filter, params);
    status = tamis_filter_set(ctx, filter, params, "kernel", "0 0.5; -1.25 3");
    case_check(status == TAMIS_OK, "C", "kernel is refused");
    status = tamis_filter_set(ctx, filter, params, "divisor", "2");
    test_picture_make(&src, test_format(TAMIS_U8, 1), 31, 7, TEST_ROWS_TIGHT);
    test_picture_make(&b, test_format(TAMIS_U8, 1), 31, 7, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 5);
    if (case_run_ok("C", ctx, want, &src.image, &a) == 0)
        case_check(status == TAMIS_OK &&
                       tamis_filter_run(ctx, filter, params, &src.image, &b.image) == TAMIS_OK &&
                       test_same(&a.image, &b.image),
                   "C", "%s differs from the same in C", want);
    test_picture_free(&a);
    test_picture_free(&b);
    test_picture_free(&src);
}

static void refusals(tamis_ctx *ctx)
{
    static const char *const bad[] = {
        "convolve=kernel=1 2;3",     "convolve=kernel=1,,2",
        "convolve=kernel=blur",      "convolve=kernel=1 2x",
        "convolve=kernel=;1",        "convolve=kernel=1 2:anchor_x=2",
        "convolve=kernel=1 2;3 4x5", "convolve=kernel=nan",
        "convolve=kernel=1e10",      "convolve=kernel=1:divisor=0",
        "convolve=kernel=@none.txt",
    };
    test_picture src;

    case_constant(&src, test_format(TAMIS_U8, 1), 5, 5, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        case_check(case_refused(ctx, bad[i], &src.image), "refusal", "%s", bad[i]);
    test_picture_free(&src);
}

void case_convolve(void)
{
    if (!case_has("G23 G24", "convolve"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++) {
        tamis_ctx *ctx = case_ctx[cpu];
        if (!ctx)
            continue;
        for (int t = 0; t < TYPES; t++)
            orientation(ctx, types[t]);
        overshoot(ctx, "convolve=kernel=sharpen:border=replicate");
        if (case_has("G24", "unsharp"))
            unsharp_row(ctx);
        overshoot(ctx, "convolve=kernel=0 -1.1 0;-1.1 5.4 -1.1;0 -1.1 0:border=replicate");
        derivatives(ctx);
        flat_levels(ctx, "convolve=kernel=gauss5");
        flat_levels(ctx, "convolve=kernel=box5");
        flat_levels(ctx, "convolve=kernel=sharpen8");
        flat_levels(ctx, "convolve=kernel=1,4,6,4,1x1,4,6,4,1");
        identities(ctx);
        in_c(ctx);
        refusals(ctx);
    }
}
