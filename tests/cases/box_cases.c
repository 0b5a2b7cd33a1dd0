/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "cases.h"

/* G01 a, b: direct sums over the row as each border extends it. */
static void short_row(tamis_ctx *ctx)
{
    static const double in[5] = {10, 20, 40, 80, 160};
    static const struct {
        const char *border;
        double five[5], nine[5]; /* the latter times 9 */
    } want[] = {
        {"replicate", {18, 32, 62, 92, 120}, {350, 500, 650, 800, 950}},
        {"reflect", {20, 32, 62, 92, 104}, {460, 540, 580, 600, 610}},
        {"reflect101", {26, 34, 62, 76, 80}, {610, 530, 490, 470, 460}},
        {"wrap", {62, 62, 62, 62, 62}, {610, 600, 580, 540, 460}},
        {"constant", {14, 30, 62, 60, 56}, {310, 310, 310, 310, 310}},
    };
    test_picture src, out;

    case_row(&src, TAMIS_U8, in, 5);
    for (int b = 0; b < 5; b++)
        for (int k = 5; k <= 9; k += 4) {
            char chain[64];
            snprintf(chain, sizeof chain, "box=ksize=%dx1:border=%s", k, want[b].border);
            if (case_run_ok("G01", ctx, chain, &src.image, &out) == 0)
                for (int x = 0; x < 5; x++) {
                    double v = test_sample_get(&out.image, x, 0, 0);
                    double w = k == 5 ? want[b].five[x] : floor(want[b].nine[x] / 9 + 0.5);
                    case_check(v == w, "G01", "%s at %d: %g, not %g", chain, x, v, w);
                }
            test_picture_free(&out);
        }
    test_picture_free(&src);
}

static double run_27(int x, int y, int c)
{
    (void)y, (void)c;
    return x >= 9 && x < 18 ? 200 : 0;
}

/* G03: an even window reaches one farther to the left and up than to the right and down, and its
 * mean is rounded. The picture lies across or down. */
static void even_window(tamis_ctx *ctx, tamis_type type, int down)
{
    static const int want[14] = {33, 67, 100, 133, 167, 200, 200, 200, 200, 167, 133, 100, 67, 33};
    const char *chain = down ? "box=ksize=1x6:border=replicate" : "box=ksize=6x1:border=replicate";
    test_picture src, out;
    double sum = 0;

    test_picture_make(&src, test_format(type, 1), down ? 1 : 27, down ? 27 : 1, TEST_ROWS_TIGHT);
    for (int i = 0; i < 27; i++)
        test_sample_set(&src.image, down ? 0 : i, down ? i : 0, 0, run_27(i, 0, 0));
    if (case_run_ok("G03", ctx, chain, &src.image, &out) == 0)
        for (int i = 0; i < 27; i++) {
            double v = test_sample_get(&out.image, down ? 0 : i, down ? i : 0, 0);
            double w = i >= 7 && i < 21 ? want[i - 7] : 0;
            case_check(type == TAMIS_F32 ? fabs(v - w) < 0.5 : v == w, "G03", "%s %s at %d: %g",
                       chain, tamis_type_name(type), i, v);
            sum += v;
        }
    case_check(fabs(sum - 1800) < (type == TAMIS_F32 ? 1e-3 : 3), "G03", "%s %s: sum %g", chain,
               tamis_type_name(type), sum);
    test_picture_free(&out);
    case_check(case_refused(ctx, "box=ksize=0x1", &src.image), "G03", "width 0");
    case_check(case_refused(ctx, "box=ksize=-2x1", &src.image), "G03", "width -2");
    case_check(case_refused(ctx, "box=ksize=3:anchor_x=3", &src.image), "G03", "anchor outside");
    test_picture_free(&src);
}

static double blocks(int x, int y, int c)
{
    (void)c;
    return y / 64 * 16 + x / 64;
}

/* G05: the middle of each flat block keeps its level. */
static void flat_blocks(tamis_ctx *ctx, const char *chain)
{
    test_picture src, out;
    int wrong = 0;

    case_picture(&src, test_format(TAMIS_U8, 1), 1024, 1024, blocks);
    if (case_run_ok("G05", ctx, chain, &src.image, &out) == 0)
        for (int y = 0; y < 1024; y++)
            for (int x = 0; x < 1024; x++)
                if (x % 64 >= 27 && x % 64 <= 36 && y % 64 >= 27 && y % 64 <= 36)
                    wrong += test_sample_get(&out.image, x, y, 0) != blocks(x, y, 0);
    case_check(wrong == 0, "G05", "%s: %d samples changed", chain, wrong);
    test_picture_free(&out);
    test_picture_free(&src);
}

static double view_value(int x, int y, int c)
{
    (void)c;
    return (x * 29 + y * 53 + x * y) % 256;
}

static double noise(int x, int y, int c)
{
    (void)c;
    return (31 * x * x + 17 * y * y + 13 * x * y + 7 * x + 3 * y) % 251;
}

/* G07 a, G25 a: the bits of direct sums. */
static void checksums(tamis_ctx *ctx)
{
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 13, 7, view_value);
    if (case_run_ok("G07", ctx, "box=ksize=3", &src.image, &out) == 0)
        case_check(test_crc(&out.image) == 0xe742ce1a, "G07", "checksum %08x",
                   test_crc(&out.image));
    test_picture_free(&out);
    test_picture_free(&src);
    case_picture(&src, test_format(TAMIS_U8, 1), 64, 64, noise);
    if (case_run_ok("G25", ctx, "box=ksize=3:border=reflect", &src.image, &out) == 0)
        case_check(test_crc(&out.image) == 0x137dc944, "G25", "checksum %08x",
                   test_crc(&out.image));
    test_picture_free(&out);
    test_picture_free(&src);
}

static double slope(int x, int y, int c)
{
    (void)c;
    return 3 * x + y;
}

/* G08: only the windows that hold a NaN, an infinity or a huge value feel it. */
static void one_bad_sample(tamis_ctx *ctx, int k, double value)
{
    enum { X = 30, Y = 20 };
    char chain[64];
    test_picture src, clean, out;
    int wrong = 0, r = k / 2;

    snprintf(chain, sizeof chain, "box=ksize=%d:border=replicate", k);
    case_picture(&src, test_format(TAMIS_F32, 1), 64, 64, slope);
    if (case_run_ok("G08", ctx, chain, &src.image, &clean) == 0) {
        test_sample_set(&src.image, X, Y, 0, value);
        if (case_run_ok("G08", ctx, chain, &src.image, &out) == 0)
            for (int y = 0; y < 64; y++)
                for (int x = 0; x < 64; x++) {
                    double u = test_sample_get(&clean.image, x, y, 0);
                    double v = test_sample_get(&out.image, x, y, 0);
                    if (x < X - r || x > X + r || y < Y - r || y > Y + r)
                        wrong += v != u;
                    else if (isfinite(value))
                        wrong += v <= u;
                    else
                        wrong += isnan(value) ? !isnan(v) : v != value;
                }
        if (k == 5)
            case_check(test_sample_get(&out.image, 50, 40, 0) == 190 &&
                           test_sample_get(&out.image, 10, 63, 0) == (double)92.4f,
                       "G08", "a clean mean is wrong");
        test_picture_free(&out);
    }
    case_check(wrong == 0, "G08", "%s: %g: %d samples are wrong", chain, value, wrong);
    test_picture_free(&clean);
    test_picture_free(&src);
}

/* G12: color is weighted by alpha: 255/9 is alpha's share, the color stays. */
static void one_visible_pixel(tamis_ctx *ctx)
{
    tamis_format format = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    test_picture src, out;

    case_constant(&src, format, 5, 5, 0);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            test_sample_set(&src.image, x, y, 0, 255);
    for (int c = 1; c < 4; c++)
        test_sample_set(&src.image, 2, 2, c, 255);
    if (case_run_ok("G12", ctx, "box=ksize=3:border=constant", &src.image, &out) == 0)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++) {
                int seen = x >= 1 && x <= 3 && y >= 1 && y <= 3;
                double alpha = test_sample_get(&out.image, x, y, 3);
                case_check(alpha == (seen ? 28 : 0), "G12", "alpha at %d,%d is %g", x, y, alpha);
                for (int c = 0; c < 3 && seen; c++)
                    case_check(test_sample_get(&out.image, x, y, c) == 255, "G12",
                               "color %d at %d,%d", c, x, y);
            }
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_box(void)
{
    static const char *const flat[] = {"box=ksize=5", "box=ksize=9", "box=ksize=31"};

    if (!case_has("G01 G03 G05 G07 G08 G12 G25", "box"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++) {
        tamis_ctx *ctx = case_ctx[cpu];
        if (!ctx)
            continue;
        short_row(ctx);
        for (int type = 0; type < 4; type++)
            for (int down = 0; down < 2; down++)
                even_window(ctx, (tamis_type[]){TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32}[type],
                            down);
        for (int i = 0; i < 3; i++)
            flat_blocks(ctx, flat[i]);
        checksums(ctx);
        for (int k = 5; k <= 25; k += 20) {
            one_bad_sample(ctx, k, (double)NAN);
            one_bad_sample(ctx, k, (double)INFINITY);
            one_bad_sample(ctx, k, 3e38);
        }
        one_visible_pixel(ctx);
    }
}
