/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between sample types, layouts and strides. */
#include <math.h>

#include "support/picture.h"
#include "unit.h"

/* All 65536 bit patterns of binary16, on every instruction set, against arithmetic. */
static void half_to_float_and_back(tamis_ctx *ctx)
{
    test_picture half, wide, again;

    test_picture_make(&half, test_format(TAMIS_F16, 1), 256, 256, TEST_ROWS_TIGHT);
    test_picture_make(&wide, test_format(TAMIS_F32, 1), 256, 256, TEST_ROWS_ODD);
    test_picture_make(&again, test_format(TAMIS_F16, 1), 256, 256, TEST_ROWS_ODD);
    for (int i = 0; i < 65536; i++)
        memcpy((char *)tamis_image_row(&half.image, 0, i / 256) + i % 256 * 2,
               &(uint16_t){(uint16_t)i}, 2);
    assert_int_equal(tamis_image_copy(ctx, &half.image, &wide.image), TAMIS_OK);
    assert_int_equal(tamis_image_copy(ctx, &wide.image, &again.image), TAMIS_OK);
    for (int i = 0; i < 65536; i++) {
        double want = test_half_to_double((uint16_t)i);
        double got = test_sample_get(&wide.image, i % 256, i / 256, 0);
        if (isnan(want) ? !isnan(got) : want != got || signbit(want) != signbit(got))
            fail_msg("%04x gives %g, not %g", (unsigned)i, got, want);
    }
    assert_true(test_same(&half.image, &again.image));
    assert_true(test_picture_intact(&wide) && test_picture_intact(&again));
    test_picture_free(&half);
    test_picture_free(&wide);
    test_picture_free(&again);
}

/* Floats at, just below and just above the middle between neighbors of binary16. */
static void float_to_half_rounds(tamis_ctx *ctx)
{
    test_picture src, dst;

    test_picture_make(&src, test_format(TAMIS_F32, 1), 3, 63487, TEST_ROWS_TIGHT);
    test_picture_make(&dst, test_format(TAMIS_F16, 1), 3, 63487, TEST_ROWS_TIGHT);
    for (int i = 0; i < 63487; i++) {
        uint16_t bits = (uint16_t)(i < 31744 ? i : i - 31744 + 0x8000);
        double a = test_half_to_double(bits), b = test_half_to_double((uint16_t)(bits + 1));
        float middle = (float)(isinf(b) ? (signbit(b) ? -65520.0 : 65520.0) : (a + b) / 2);
        test_sample_set(&src.image, 0, i, 0, (double)nextafterf(middle, -1e9f));
        test_sample_set(&src.image, 1, i, 0, (double)middle);
        test_sample_set(&src.image, 2, i, 0, (double)nextafterf(middle, 1e9f));
    }
    assert_int_equal(tamis_image_copy(ctx, &src.image, &dst.image), TAMIS_OK);
    for (int i = 0; i < 63487; i++)
        for (int x = 0; x < 3; x++) {
            double v = test_sample_get(&src.image, x, i, 0);
            double want = test_half_to_double(test_half_from_double(v));
            double got = test_sample_get(&dst.image, x, i, 0);
            if (want != got)
                fail_msg("%.9g gives %.9g, not %.9g", v, got, want);
        }
    test_picture_free(&src);
    test_picture_free(&dst);
}

static void half_on_every_cpu(void **state)
{
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        tamis_ctx_options options = {.threads = 1, .cpu = cpus[i]};
        tamis_ctx *ctx;
        if (tamis_ctx_create(&options, &ctx) != TAMIS_OK)
            continue;
        half_to_float_and_back(ctx);
        float_to_half_rounds(ctx);
        tamis_ctx_free(&ctx);
    }
}

static double convert(double v, tamis_type type)
{
    double lo = test_type_min(type), hi = test_type_max(type);
    if (type == TAMIS_F32)
        return (double)(float)v;
    if (type == TAMIS_F16)
        return test_half_to_double(test_half_from_double(v));
    if (isnan(v))
        return 0;
    return v < lo ? lo : v > hi ? hi : nearbyint(v);
}

static void copy_pair(tamis_ctx *ctx, tamis_format from, tamis_format to, test_rows rows)
{
    static const double odd[] = {0.5,
                                 1.5,
                                 2.5,
                                 -0.5,
                                 -1.5,
                                 254.5,
                                 255.5,
                                 -32768.5,
                                 32767.5,
                                 65534.5,
                                 65535.5,
                                 1e30,
                                 -1e30,
                                 (double)NAN,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 -0.0,
                                 1e-40,
                                 127.49999};
    enum { W = 67, H = 5 };
    test_picture src, dst;

    test_picture_make(&src, from, W, H, rows);
    test_picture_make(&dst, to, W, H, (test_rows)((rows + 1) % TEST_ROWS_COUNT));
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    if (from.type == TAMIS_F32 || from.type == TAMIS_F16)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < from.channels; c++) {
                test_sample_set(&src.image, x, 0, c,
                                odd[(x + c) % (int)(sizeof odd / sizeof *odd)]);
                test_sample_set(&src.image, x, 1, c, x * 1000.25 - 33000);
            }
    assert_int_equal(tamis_image_copy(ctx, &src.image, &dst.image), TAMIS_OK);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < from.channels; c++) {
                double v = test_sample_get(&src.image, x, y, c), want = convert(v, to.type);
                double got = test_sample_get(&dst.image, x, y, c);
                if (isnan(want) ? !isnan(got) : want != got)
                    fail_msg("%s %.9g to %s gives %.9g, not %.9g", tamis_type_name(from.type), v,
                             tamis_type_name(to.type), got, want);
            }
    assert_true(test_picture_intact(&dst));
    test_picture_free(&src);
    test_picture_free(&dst);
}

static void copies_between_all_formats(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    int rows = 0;

    (void)state;
    for (int a = 0; a < TAMIS_TYPE_COUNT; a++)
        for (int b = 0; b < TAMIS_TYPE_COUNT; b++)
            for (int channels = 1; channels <= 4; channels++)
                for (int layouts = 0; layouts < 4; layouts++) {
                    tamis_format from = {(tamis_type)a, channels, (tamis_layout)(layouts & 1),
                                         TAMIS_ALPHA_NONE};
                    tamis_format to = {(tamis_type)b, channels, (tamis_layout)(layouts >> 1),
                                       TAMIS_ALPHA_NONE};
                    copy_pair(ctx, from, to, (test_rows)(rows++ % TEST_ROWS_COUNT));
                }
    tamis_ctx_free(&ctx);
}

static void copies_that_do_not_fit_are_refused(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    test_picture a, b;

    (void)state;
    test_picture_make(&a, test_format(TAMIS_U8, 1), 4, 4, TEST_ROWS_TIGHT);
    test_picture_make(&b, test_format(TAMIS_U8, 1), 4, 5, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_image_copy(ctx, &a.image, &b.image), TAMIS_ERR_ARGUMENT);
    test_picture_free(&b);
    test_picture_make(&b, test_format(TAMIS_U8, 2), 4, 4, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_image_copy(ctx, &a.image, &b.image), TAMIS_ERR_ARGUMENT);
    b.image.data[0] = NULL;
    assert_int_equal(tamis_image_copy(ctx, &b.image, &b.image), TAMIS_ERR_ARGUMENT);
    test_picture_free(&b);
    test_picture_free(&a);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_on_every_cpu),
        cmocka_unit_test(copies_between_all_formats),
        cmocka_unit_test(copies_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
