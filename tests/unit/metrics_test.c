/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of difference, against numbers that can be worked out by hand. */
#include <math.h>
#include <stdlib.h>

#include "support/picture.h"
#include "unit.h"

static void near_to(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("got %.17g, not %.17g", got, want);
}

static void flat(test_picture *out, tamis_format format, int w, int h, double level)
{
    test_picture_make(out, format, w, h, TEST_ROWS_ODD);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++)
                test_sample_set(&out->image, x, y, c, level);
}

static void test_flat_pictures(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b;
    tamis_metrics m = {0};
    tamis_format format = test_format(TAMIS_U8, 3), planar = test_format(TAMIS_F16, 3);
    planar.layout = TAMIS_PLANAR; /* another type and layout: numbers are compared */
    (void)state;
    flat(&a, format, 20, 13, 10);
    flat(&b, planar, 20, 13, 13);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 0, 255, &m), TAMIS_OK);
    assert_int_equal(m.samples, 20 * 13 * 3);
    assert_int_equal(m.different, m.samples);
    near_to(m.max_abs, 3);
    near_to(tamis_metrics_mse(&m), 9);
    near_to(tamis_metrics_mae(&m), 3);
    near_to(tamis_metrics_psnr(&m, 255), 10 * log10(255.0 * 255 / 9));
    double c1 = 0.01 * 255 * 0.01 * 255;
    assert_true(fabs(tamis_metrics_ssim(&m) - (260 + c1) / (269 + c1)) < 1e-9);
    test_picture_free(&a);
    test_picture_free(&b);
    tamis_ctx_free(&ctx);
}

static void test_place_and_pages(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b;
    tamis_metrics m = {0};
    (void)state;
    flat(&a, test_format(TAMIS_S16, 2), 9, 7, -5);
    flat(&b, test_format(TAMIS_S16, 2), 9, 7, -5);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 0, 65535, &m), TAMIS_OK);
    assert_int_equal(m.different, 0);
    assert_true(isinf(tamis_metrics_psnr(&m, 65535)));
    assert_true(isnan(tamis_metrics_ssim(&m))); /* smaller than the window */
    test_sample_set(&b.image, 4, 6, 1, 95);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 1, 65535, &m), TAMIS_OK);
    assert_int_equal(m.different, 1);
    near_to(m.max_abs, 100);
    assert_true(m.x == 4 && m.y == 6 && m.channel == 1 && m.page == 1);
    near_to(tamis_metrics_mse(&m), 100.0 * 100 / (2 * 2 * 9 * 7));
    test_picture_free(&a);
    test_picture_free(&b);
    tamis_ctx_free(&ctx);
}

static void test_no_numbers(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b;
    tamis_metrics m = {0};
    (void)state;
    flat(&a, test_format(TAMIS_F32, 1), 5, 1, NAN);
    flat(&b, test_format(TAMIS_F32, 1), 5, 1, NAN);
    test_sample_set(&a.image, 0, 0, 0, 2);
    test_sample_set(&a.image, 1, 0, 0, INFINITY);
    test_sample_set(&b.image, 1, 0, 0, INFINITY);
    test_sample_set(&a.image, 2, 0, 0, 3);
    test_sample_set(&b.image, 2, 0, 0, 5);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 0, 1, &m), TAMIS_OK);
    assert_int_equal(m.different, 2);
    assert_int_equal(m.unordered, 1);
    near_to(tamis_metrics_mse(&m), 1);
    test_picture_free(&a);
    test_picture_free(&b);
    tamis_ctx_free(&ctx);
}

/* The map's mean is the measure, and a change shows in the windows that see it only. */
static void test_map(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b, map;
    tamis_metrics m = {0};
    (void)state;
    flat(&a, test_format(TAMIS_U8, 3), 40, 30, 100);
    flat(&b, test_format(TAMIS_U8, 3), 40, 30, 100);
    flat(&map, test_format(TAMIS_F32, 1), 30, 20, -7);
    test_sample_set(&b.image, 25, 9, 1, 190);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 0, 255, &m), TAMIS_OK);
    assert_int_equal(tamis_metrics_map(ctx, &a.image, &b.image, 255, &map.image), TAMIS_OK);
    double sum = 0;
    for (int y = 0; y < 20; y++) {
        for (int x = 0; x < 30; x++) {
            double v = test_sample_get(&map.image, x, y, 0);
            int sees = abs(x + 5 - 25) <= 5 && abs(y + 5 - 9) <= 5;
            assert_true(sees ? v < 1 : fabs(v - 1) < 1e-6);
            sum += v;
        }
    }
    assert_true(fabs(sum / 600 - tamis_metrics_ssim(&m)) < 1e-6);
    assert_true(test_sample_get(&map.image, 20, 4, 0) < 0.9);
    assert_int_equal(tamis_metrics_map(ctx, &a.image, &b.image, 0, &map.image), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "data range of 0");
    map.image.w--;
    assert_int_equal(tamis_metrics_map(ctx, &a.image, &b.image, 255, &map.image),
                     TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "f32 of 30x20");
    map.image.w++;
    test_picture_free(&a);
    test_picture_free(&b);
    test_picture_free(&map);
    tamis_ctx_free(&ctx);
}

static void test_refused(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b;
    tamis_metrics m = {0};
    (void)state;
    flat(&a, test_format(TAMIS_U8, 1), 5, 4, 0);
    flat(&b, test_format(TAMIS_U8, 1), 4, 5, 0);
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &b.image, 0, 1, &m), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "5x4 with 1 channels and 4x5 with 1");
    tamis_image there = a.image;
    there.device = 1;
    assert_int_equal(tamis_metrics_add(ctx, &a.image, &there, 0, 1, &m), TAMIS_ERR_ARGUMENT);
    assert_int_equal(m.samples, 0);
    test_picture_free(&a);
    test_picture_free(&b);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_pictures), cmocka_unit_test(test_place_and_pages),
        cmocka_unit_test(test_no_numbers),    cmocka_unit_test(test_map),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
