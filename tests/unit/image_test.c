/* SPDX-License-Identifier: Apache-2.0 */
/* Types, formats, borders, images and views. */
#include "support/picture.h"
#include "unit.h"

/* Walks from i towards the picture by the border's picture in image.h. */
static int64_t walk(tamis_border border, int64_t i, int64_t n)
{
    while (i < 0 || i >= n)
        switch (border) {
        case TAMIS_BORDER_REFLECT101:
            i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
            break;
        case TAMIS_BORDER_REFLECT:
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
            break;
        case TAMIS_BORDER_REPLICATE:
            i = i < 0 ? 0 : n - 1;
            break;
        case TAMIS_BORDER_WRAP:
            i += i < 0 ? n : -n;
            break;
        default:
            return -1;
        }
    return i;
}

static void borders_near_and_far(void **state)
{
    (void)state;
    for (int b = 0; b < TAMIS_BORDER_COUNT; b++)
        for (int64_t n = 1; n <= 7; n++) {
            for (int64_t i = -40; i <= 40; i++)
                assert_int_equal(tamis_border_index((tamis_border)b, i, n),
                                 walk((tamis_border)b, i, n));
            int64_t far = tamis_border_index((tamis_border)b, INT64_C(1) << 40, n);
            int64_t before = tamis_border_index((tamis_border)b, -(INT64_C(1) << 40), n);
            int outside = b == TAMIS_BORDER_CONSTANT || b == TAMIS_BORDER_VALID;
            assert_true(outside ? far == -1 && before == -1
                                : far >= 0 && far < n && before >= 0 && before < n);
        }
}

static void types_and_formats_print(void **state)
{
    char buf[64];
    (void)state;
    assert_int_equal(tamis_type_size(TAMIS_U8), 1);
    assert_int_equal(tamis_type_size(TAMIS_F16), 2);
    assert_int_equal(tamis_type_size(TAMIS_F32), 4);
    assert_string_equal(tamis_type_name(TAMIS_S16), "s16");
    assert_true(tamis_type_range(TAMIS_S16) == 65535 && tamis_type_range(TAMIS_F16) == 1);
    tamis_format f = {TAMIS_U16, 4, TAMIS_PLANAR, TAMIS_ALPHA_STRAIGHT}, g = f;
    assert_string_equal(tamis_format_print(f, buf, sizeof buf), "u16x4 planar straight-alpha");
    assert_true(tamis_format_equal(f, g));
    g.alpha = TAMIS_ALPHA_NONE;
    assert_false(tamis_format_equal(f, g));
    memset(buf, '#', sizeof buf);
    tamis_format_print(f, buf, 6);
    assert_string_equal(buf, "u16x4");
    assert_int_equal(buf[6], '#');
}

static void images_are_aligned_and_counted(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    size_t before = tamis_ctx_bytes(ctx);
    tamis_image image, other;

    (void)state;
    for (int layout = 0; layout < 2; layout++)
        for (int channels = 1; channels <= 4; channels++) {
            tamis_format f = {TAMIS_U16, channels, (tamis_layout)layout, TAMIS_ALPHA_NONE};
            assert_int_equal(tamis_image_create(ctx, f, 37, 11, &image), TAMIS_OK);
            assert_int_equal(tamis_image_planes(&image), layout ? channels : 1);
            for (int p = 0; p < tamis_image_planes(&image); p++)
                for (int y = 0; y < 11; y++) {
                    void *row = tamis_image_row(&image, p, y);
                    assert_int_equal((uintptr_t)row % 64, 0);
                    memset(row, 1, 37 * 2 * (size_t)(layout ? 1 : channels));
                }
            other = image;
            tamis_image_ref(&other);
            tamis_image_unref(&image);
            assert_null(image.data[0]);
            assert_true(tamis_ctx_bytes(ctx) > before);
            tamis_image_unref(&other);
            assert_int_equal(tamis_ctx_bytes(ctx), before);
        }
    assert_true(tamis_ctx_peak_bytes(ctx) >= before + 37 * 2 * 4 * 11);
    tamis_image_unref(NULL);
    tamis_ctx_free(&ctx);
}

/* A picture of short rows is at most twice as large in memory as its samples. */
static void short_rows_lie_close(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    size_t before = tamis_ctx_bytes(ctx);
    tamis_image image;

    (void)state;
    for (int w = 1; w <= 80; w++)
        for (int channels = 1; channels <= 3; channels++) {
            tamis_format f = {TAMIS_F32, channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
            size_t row = (size_t)(4 * channels * w), lies = 1;
            assert_int_equal(tamis_image_create(ctx, f, w, 1000, &image), TAMIS_OK);
            assert_true(tamis_ctx_bytes(ctx) - before < 2000 * row + 4096);
            while (lies < row && lies < 64)
                lies *= 2;
            for (int y = 0; y < 3; y++)
                assert_int_equal((uintptr_t)tamis_image_row(&image, 0, y) % lies, 0);
            tamis_image_unref(&image);
        }
    tamis_ctx_free(&ctx);
}

static void create_refuses(tamis_ctx *ctx, tamis_format f, int32_t w, int32_t h,
                           tamis_status status)
{
    tamis_image image;
    size_t before = tamis_ctx_bytes(ctx);
    assert_int_equal(tamis_image_create(ctx, f, w, h, &image), status);
    assert_null(image.data[0]);
    assert_null(image.buffer);
    assert_int_equal(tamis_ctx_bytes(ctx), before);
}

static void bad_images_are_refused(void **state)
{
    tamis_ctx *ctx = unit_ctx(1), *small;
    tamis_ctx_options options = {.threads = 1, .max_bytes = 1 << 20};
    tamis_format u8 = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE}, f = u8;
    tamis_image image = {.format = u8, .w = 4, .h = 4};

    (void)state;
    create_refuses(ctx, u8, 0, 5, TAMIS_ERR_ARGUMENT);
    create_refuses(ctx, u8, 5, -1, TAMIS_ERR_ARGUMENT);
    f.channels = 0;
    create_refuses(ctx, f, 5, 5, TAMIS_ERR_ARGUMENT);
    f.channels = 5;
    create_refuses(ctx, f, 5, 5, TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "5");
    f = u8;
    f.type = (tamis_type)9;
    create_refuses(ctx, f, 5, 5, TAMIS_ERR_ARGUMENT);
    f = u8;
    f.layout = (tamis_layout)2;
    create_refuses(ctx, f, 5, 5, TAMIS_ERR_ARGUMENT);
    f = u8;
    f.alpha = TAMIS_ALPHA_STRAIGHT; /* one channel cannot be color and alpha */
    create_refuses(ctx, f, 5, 5, TAMIS_ERR_ARGUMENT);
    f = (tamis_format){TAMIS_F32, 4, TAMIS_PLANAR, TAMIS_ALPHA_NONE}; /* 2^66 bytes */
    create_refuses(ctx, f, INT32_MAX, INT32_MAX, TAMIS_ERR_LIMIT);
    assert_int_equal(tamis_image_check(ctx, &image), TAMIS_ERR_ARGUMENT); /* no memory */
    assert_int_equal(tamis_image_check(ctx, NULL), TAMIS_ERR_ARGUMENT);

    assert_int_equal(tamis_ctx_create(&options, &small), TAMIS_OK);
    create_refuses(small, u8, 2000, 2000, TAMIS_ERR_LIMIT);
    unit_message_has(small, "limit");
    assert_int_equal(tamis_image_create(small, u8, 200, 200, &image), TAMIS_OK);
    tamis_image_unref(&image);
    tamis_ctx_free(&small);
    tamis_ctx_free(&ctx);
}

static void views_share_memory(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    static const tamis_rect bad[] = {
        {0, 0, 0, 1}, {0, 0, 1, 0},  {-1, 0, 2, 2}, {0, -1, 2, 2},        {8, 0, 3, 1},
        {0, 5, 1, 3}, {0, 0, 11, 1}, {10, 0, 1, 1}, {1, 1, INT32_MAX, 1}, {INT32_MAX, 0, 1, 1}};
    test_picture picture;
    tamis_image view;

    (void)state;
    for (int rows = 0; rows < TEST_ROWS_COUNT; rows++)
        for (int layout = 0; layout < 2; layout++) {
            tamis_format f = {TAMIS_S16, 3, (tamis_layout)layout, TAMIS_ALPHA_NONE};
            test_picture_make(&picture, f, 10, 7, (test_rows)rows);
            test_picture_fill(&picture.image, TEST_FILL_NOISE, 1);
            assert_int_equal(tamis_image_view(ctx, &picture.image, (tamis_rect){4, 3, 6, 4}, &view),
                             TAMIS_OK);
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 6; x++)
                    for (int c = 0; c < 3; c++)
                        assert_true(test_sample_get(&view, x, y, c) ==
                                    test_sample_get(&picture.image, x + 4, y + 3, c));
            for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                assert_int_equal(tamis_image_view(ctx, &picture.image, bad[i], &view),
                                 TAMIS_ERR_ARGUMENT);
            test_picture_free(&picture);
        }
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_near_and_far),           cmocka_unit_test(types_and_formats_print),
        cmocka_unit_test(images_are_aligned_and_counted), cmocka_unit_test(short_rows_lie_close),
        cmocka_unit_test(bad_images_are_refused),         cmocka_unit_test(views_share_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
