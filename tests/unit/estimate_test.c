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
    double got[TAMIS_MAX_CHANNELS];
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
                    assert_true(fabs(got[c] / want - 1) < 0.06);
                }
                assert_true(got[2] == 0 && got[3] == 0);
                test_picture_free(&picture);
            }
    tamis_ctx_free(&ctx);
}

static void test_flat_and_small(void **state)
{
    double got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(1);
    test_picture picture;

    (void)state;
    for (int w = 1; w < 40; w += 2) {
        test_picture_make(&picture, test_format(TAMIS_U8, 1), w, 5, TEST_ROWS_TIGHT);
        if (w < 3) {
            assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_ERR_ARGUMENT);
            unit_message_has(ctx, "too small");
        } else {
            assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
            assert_true(got[0] == 0);
        }
        test_picture_free(&picture);
    }
    tamis_ctx_free(&ctx);
}

/* Alpha, clipped sky and broken samples do not count. */
static void test_what_does_not_count(void **state)
{
    tamis_format format = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    double got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(3);
    test_picture picture;

    (void)state;
    make(&picture, format, 400, 300, 5);
    test_sample_set(&picture.image, 100, 100, 0, (double)NAN);
    test_sample_set(&picture.image, 300, 200, 0, (double)INFINITY);
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0] * 255 / 5 - 1) < 0.06);
    assert_true(got[1] == 0);
    test_picture_free(&picture);

    make(&picture, test_format(TAMIS_U8, 1), 400, 300, 5);
    for (int y = 0; y < 200; y++) /* two thirds are overexposed */
        for (int x = 0; x < 400; x++)
            test_sample_set(&picture.image, x, y, 0, 255);
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, got), TAMIS_OK);
    assert_true(fabs(got[0] / 5 - 1) < 0.06);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

static void test_same_for_all_threads(void **state)
{
    double want[TAMIS_MAX_CHANNELS], got[TAMIS_MAX_CHANNELS];
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_F32, 3), 301, 203, 9);
    for (int threads = 1; threads <= 8; threads *= 2) {
        tamis_ctx *ctx = unit_ctx(threads);
        assert_int_equal(tamis_noise_estimate(ctx, &picture.image, threads == 1 ? want : got),
                         TAMIS_OK);
        if (threads > 1)
            assert_memory_equal(want, got, sizeof want);
        assert_true(tamis_ctx_bytes(ctx) < 4096);
        tamis_ctx_free(&ctx);
    }
    test_picture_free(&picture);
}

/* In parts of any height, with levels in a file or not: the same numbers, each row read once. */
static void test_same_in_parts(void **state)
{
    double want[TAMIS_MAX_CHANNELS], got[TAMIS_MAX_CHANNELS];
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int h = 3; h < 300; h = h * 3 / 2 + 1)
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
                assert_int_equal(store.pixels, (int64_t)700 * h);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_noise),         cmocka_unit_test(test_flat_and_small),
        cmocka_unit_test(test_what_does_not_count), cmocka_unit_test(test_same_for_all_threads),
        cmocka_unit_test(test_same_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
