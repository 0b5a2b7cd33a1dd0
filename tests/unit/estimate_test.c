/* SPDX-License-Identifier: Apache-2.0 */
/* The noise estimate: known noise on smooth and on textured pictures. */
#include <math.h>

#include "support/parts.h"
#include "support/picture.h"
#include "unit.h"

/* A normal deviate by the sum of twelve. */
static double normal(test_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += test_rng_unit(rng);
    return sum;
}

/* A slope with edges every 64 pixels and noise of the given deviation, in 8-bit levels. */
static void make(test_picture *out, tamis_format format, int w, int h, double sigma)
{
    test_rng rng = {11};
    double unit = tamis_type_range(format.type) / 255, base = format.type == TAMIS_S16 ? -32768 : 0;
    test_picture_make(out, format, w, h, TEST_ROWS_ODD);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++) {
                double v = 80 + 60.0 * x / w + (x / 64 + y / 64) % 2 * 40;
                test_sample_set(&out->image, x, y, c,
                                base + unit * (v + sigma * (c + 1) * normal(&rng)));
            }
}

static void test_known_noise(void **state)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F16, TAMIS_F32};
    static const double sigmas[] = {2, 5, 12};
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int t = 0; t < 5; t++)
        for (int s = 0; s < 3; s++)
            for (int layout = 0; layout < 2; layout++) {
                tamis_format format = {types[t], 2, (tamis_layout)layout, TAMIS_ALPHA_NONE};
                make(&picture, format, 400, 300, sigmas[s]);
                assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
                for (int c = 0; c < 2; c++) {
                    double want = sigmas[s] * (c + 1) * tamis_type_range(types[t]) / 255;
                    assert_true(fabs(got[c].sigma / want - 1) < 0.06);
                }
                assert_true(got[2].sigma == 0 && got[3].sigma == 0);
                test_picture_free(&picture);
            }
    tamis_ctx_free(&ctx);
}

/* Of any size and level, at the ends of the range too. */
static void test_flat_and_small(void **state)
{
    static const double values[] = {0, 1, 77, 200.5, 255};
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(1);
    test_picture picture;

    (void)state;
    for (int w = 1; w < 40; w += 2)
        for (int v = 0; v < 5; v++)
            for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
                tamis_format format = test_format((tamis_type)type, 1);
                test_picture_make(&picture, format, w, 41 - w, TEST_ROWS_TIGHT);
                for (int y = 0; y < 41 - w; y++)
                    for (int x = 0; x < w; x++)
                        test_sample_set(&picture.image, x, y, 0,
                                        values[v] * tamis_type_range(format.type) / 255);
                assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
                assert_true(got[0].sigma == 0 && got[0].slope == 0 && got[0].impulses == 0);
                assert_false(signbit(got[0].sigma));
                test_picture_free(&picture);
            }
    tamis_ctx_free(&ctx);
}

/* Noise of a few pixels is noise, though nobody can say how much. */
static void test_small_and_noisy(void **state)
{
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(1);
    test_picture picture;

    (void)state;
    for (int w = 4; w < 20; w++)
        for (int h = 4; h < 14; h += 3) {
            make(&picture, test_format(TAMIS_U8, 2), w, h, 4);
            assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
            assert_true(got[0].sigma > 0.5 && got[0].sigma < 20);
            test_picture_free(&picture);
        }
    tamis_ctx_free(&ctx);
}

/* Variance that is 0.5 times the level, and another channel with noise alone. */
static void test_noise_that_grows(void **state)
{
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;
    test_rng rng = {5};

    (void)state;
    test_picture_make(&picture, test_format(TAMIS_F32, 2), 640, 480, TEST_ROWS_ODD);
    for (int y = 0; y < 480; y++)
        for (int x = 0; x < 640; x++) {
            double v = 10 + 200.0 * x / 640;
            test_sample_set(&picture.image, x, y, 0, v + sqrt(0.5 * v) * normal(&rng));
            test_sample_set(&picture.image, x, y, 1, v + 3 * normal(&rng));
        }
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0].slope / 0.5 - 1) < 0.06 && fabs(got[0].offset) < 2);
    assert_true(fabs(got[0].sigma / sqrt(0.5 * 110) - 1) < 0.05);
    assert_true(got[1].slope == 0 && fabs(got[1].sigma / 3 - 1) < 0.05);
    assert_true(fabs(got[1].offset / (got[1].sigma * got[1].sigma) - 1) < 1e-12);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* Impulses are counted and do not pass for normal noise. */
static void test_impulses(void **state)
{
    static const double shares[] = {0, 0.005, 0.02, 0.1, 0.3};
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;
    test_rng rng = {9};

    (void)state;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int i = 0; i < 5; i++) {
            tamis_format format = test_format((tamis_type)type, 1);
            double end = test_type_max(format.type), range = tamis_type_range(format.type);
            if (format.type == TAMIS_F32 || format.type == TAMIS_F16)
                end = 1;
            make(&picture, format, 400, 300, 5);
            for (int y = 0; y < 300; y++)
                for (int x = 0; x < 400; x++)
                    if (test_rng_unit(&rng) < shares[i])
                        test_sample_set(&picture.image, x, y, 0,
                                        test_rng_unit(&rng) < 0.5 ? end - range : end);
            assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
            assert_true(fabs(got[0].impulses - shares[i]) < 0.001 + 0.05 * shares[i]);
            assert_true(fabs(got[0].sigma * 255 / range / 5 - 1) < 0.06);
            test_picture_free(&picture);
        }
    tamis_ctx_free(&ctx);
}

/* Of a large picture every other block is looked at, and no more rows than these are read. */
static void test_large(void **state)
{
    enum { W = 6000, H = 3000 };
    tamis_noise got[TAMIS_MAX_CHANNELS], parts[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 1), W, H, 6);
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0].sigma / 6 - 1) < 0.03);
    test_store store = {.ctx = ctx, .image = &picture.image};
    tamis_part_source source = {test_store_read, &store, 0, 0};
    assert_int_equal(tamis_noise_estimate_parts(ctx, picture.image.format, W, H, &source, 0, parts),
                     TAMIS_OK);
    assert_memory_equal(got, parts, sizeof got);
    assert_null(store.misused);
    assert_true(store.pixels < (int64_t)W * H * 6 / 10); /* every other row of blocks */
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* Alpha, clipped sky and broken samples do not count. */
static void test_what_does_not_count(void **state)
{
    tamis_format format = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(3);
    test_picture picture;

    (void)state;
    make(&picture, format, 400, 300, 5);
    test_sample_set(&picture.image, 100, 100, 0, (double)NAN);
    test_sample_set(&picture.image, 300, 200, 0, (double)INFINITY);
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0].sigma * 255 / 5 - 1) < 0.06);
    assert_true(got[1].sigma == 0);
    test_picture_free(&picture);

    make(&picture, test_format(TAMIS_U8, 1), 400, 300, 5);
    for (int y = 0; y < 200; y++) /* two thirds are overexposed */
        for (int x = 0; x < 400; x++)
            test_sample_set(&picture.image, x, y, 0, 255);
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0].sigma / 5 - 1) < 0.06);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

static void test_same_for_all_threads(void **state)
{
    tamis_noise want[TAMIS_MAX_CHANNELS], got[TAMIS_MAX_CHANNELS];
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_F32, 3), 301, 203, 9);
    for (int threads = 1; threads <= 8; threads *= 2) {
        tamis_ctx *ctx = unit_ctx(threads);
        size_t before = tamis_ctx_bytes(ctx);
        assert_int_equal(tamis_noise_estimate(ctx, &picture.image, threads == 1 ? want : got),
                         TAMIS_OK);
        if (threads > 1)
            assert_memory_equal(want, got, sizeof want);
        assert_int_equal(tamis_ctx_bytes(ctx), before);
        tamis_ctx_free(&ctx);
    }
    test_picture_free(&picture);
}

/* In parts of any height, with levels in a file or not: the same numbers, each row read once. */
static void test_same_in_parts(void **state)
{
    tamis_noise want[TAMIS_MAX_CHANNELS], got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int h = 1; h < 300; h = h * 3 / 2 + 1)
        for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
            tamis_format format = {(tamis_type)type, 2 + type % 2, (tamis_layout)(h % 2),
                                   (tamis_alpha)(type % 2)};
            make(&picture, format, 700, h, 5);
            for (int y = 0; y < h / 2; y++) /* clipped */
                for (int x = 0; x < 300; x++)
                    test_sample_set(&picture.image, x, y, 0, test_type_max(format.type));
            assert_int_equal(tamis_noise_estimate(ctx, &picture.image, want), TAMIS_OK);
            for (size_t bytes = 0; bytes < 3000000; bytes = bytes * 30 + 100) {
                static const int32_t blocks[] = {0, 1, 24, 100};
                test_store store = {.ctx = ctx, .image = &picture.image, .block_h = blocks[h % 4]};
                tamis_part_source source = {test_store_read, &store, 0, store.block_h};
                assert_int_equal(
                    tamis_noise_estimate_parts(ctx, format, 700, h, &source, bytes, got), TAMIS_OK);
                assert_memory_equal(want, got, sizeof want);
                assert_null(store.misused);
                assert_true(store.pixels <= (int64_t)700 * h);
            }
            test_picture_free(&picture);
        }
    test_store store = {.ctx = ctx, .image = &picture.image, .fail_at = 1};
    tamis_part_source source = {test_store_read, &store, 0, 0};
    make(&picture, test_format(TAMIS_U8, 1), 40, 40, 5);
    assert_int_equal(
        tamis_noise_estimate_parts(ctx, test_format(TAMIS_U8, 1), 40, 40, &source, 0, got),
        TAMIS_ERR_READ);
    assert_int_equal(
        tamis_noise_estimate_parts(ctx, test_format(TAMIS_U8, 9), 40, 40, &source, 0, got),
        TAMIS_ERR_ARGUMENT);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

static void test_of_a_device(void **state)
{
    tamis_noise got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(1);
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 1), 40, 40, 5);
    tamis_image there = picture.image;
    there.device = 1;
    assert_int_equal(tamis_noise_estimate(ctx, &there, got), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "device");
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_noise),
        cmocka_unit_test(test_flat_and_small),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_same_for_all_threads),
        cmocka_unit_test(test_same_in_parts),
        cmocka_unit_test(test_small_and_noisy),
        cmocka_unit_test(test_noise_that_grows),
        cmocka_unit_test(test_impulses),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_of_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
