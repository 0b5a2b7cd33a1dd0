/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "cases.h"

/* G09 a: NaN spreads to the windows that hold it, and nowhere else. */
static void nan_row(tamis_ctx *ctx)
{
    static const double in[] = {(double)NAN, 2, 3, 4, 10, 6, 7, (double)NAN, 9, 10, 11};
    static const double want[] = {(double)NAN, (double)NAN, (double)NAN, 4,
                                  6,           (double)NAN, (double)NAN, (double)NAN,
                                  (double)NAN, (double)NAN, 11};
    test_picture src, out;

    case_row(&src, TAMIS_F32, in, 11);
    if (case_run_ok("G09", ctx, "median=ksize=5x1:border=replicate", &src.image, &out) == 0)
        for (int x = 0; x < 11; x++) {
            double v = test_sample_get(&out.image, x, 0, 0);
            case_check(isnan(want[x]) ? isnan(v) : v == want[x], "G09", "column %d is %g, not %g",
                       x, v, want[x]);
        }
    test_picture_free(&out);
    test_picture_free(&src);
}

static double nine(int x, int y, int c)
{
    static const int values[3][3] = {{1000, 40000, 300}, {65535, 32768, 2}, {50000, 45000, 12345}};
    (void)c;
    return values[y][x];
}

static double u16_picture(int x, int y, int c)
{
    (void)c;
    return (977 * x * x + 613 * y * y + 401 * x * y + 31 * x + 7 * y) % 65536;
}

/* G09 b, c: 16 bit by all its bits. */
static void sixteen_bit(tamis_ctx *ctx)
{
    const tamis_rect inner = {2, 2, 76, 60};
    tamis_image interior;
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U16, 1), 3, 3, nine);
    if (case_run_ok("G09", ctx, "median=ksize=3", &src.image, &out) == 0)
        case_check(test_sample_get(&out.image, 1, 1, 0) == 32768, "G09", "the middle is %g",
                   test_sample_get(&out.image, 1, 1, 0));
    test_picture_free(&out);
    test_picture_free(&src);

    case_picture(&src, test_format(TAMIS_U16, 1), 80, 64, u16_picture);
    if (case_run_ok("G09", ctx, "median=ksize=5", &src.image, &out) == 0)
        case_check(tamis_image_view(ctx, &out.image, inner, &interior) == TAMIS_OK &&
                       test_crc(&interior) == 0xa76e93a7,
                   "G09", "checksum of the interior");
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_median_nan(void)
{
    if (!case_has("G09", "median"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++)
        if (case_ctx[cpu]) {
            nan_row(case_ctx[cpu]);
            sixteen_bit(case_ctx[cpu]);
        }
}
