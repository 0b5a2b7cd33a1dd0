/* SPDX-License-Identifier: Apache-2.0 */
/* Every format, sample type, number of channels and layout: written, read back, the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_support.h"

static const char *picture_path(const io_format *f)
{
    char name[32];
    snprintf(name, sizeof name, "picture%s", f->extension);
    return io_path(name);
}

/* In memory a picture has the bytes of its file. */
static void to_memory(const io_format *f, const tamis_image *image, const char *path)
{
    tamis_write_options options = {.format = f->extension + 1};
    tamis_writer *writer;
    size_t size = 1;
    assert_ok(tamis_writer_open_memory(io_ctx, &options, &writer));
    assert_ok(tamis_writer_write(writer, image, NULL));
    assert_null(tamis_writer_bytes(writer, &size));
    assert_int_equal(size, 0);
    assert_ok(tamis_writer_finish(writer));
    const void *bytes = tamis_writer_bytes(writer, &size);
    io_bytes file = io_load(path);
    assert_int_equal(size, file.size);
    assert_memory_equal(bytes, file.data, size);
    free(file.data);
    tamis_writer_close(&writer);
}

static void round_trip(const io_format *f, tamis_format format, int32_t w, int32_t h)
{
    const char *path = picture_path(f);
    tamis_image image = io_picture(format, w, h, (uint32_t)(w * 31 + h));
    assert_ok(tamis_image_save(io_ctx, path, &image, NULL));
    to_memory(f, &image, path);
    tamis_reader *reader;
    assert_ok(tamis_reader_open(io_ctx, path, NULL, &reader));
    tamis_file_info info;
    assert_ok(tamis_reader_info(reader, 0, &info));
    tamis_image back;
    tamis_meta meta;
    assert_ok(tamis_reader_read(reader, 0, &back, &meta));
    if (!f->lossy)
        io_assert_same(&image, &back);
    assert_true(tamis_format_equal(info.image, back.format));
    assert_int_equal(info.w, w);
    assert_int_equal(info.h, h);
    assert_int_equal(info.pages, 1);
    assert_int_equal(info.file_bits, 8 * (int)tamis_type_size(format.type));
    assert_int_equal(meta.orientation, 1);
    if (f->alpha)
        assert_int_equal(back.format.alpha, format.alpha);
    tamis_meta_clear(&meta);
    tamis_reader_close(&reader);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

static void every_format(void **state)
{
    (void)state;
    for (int i = 0; i < io_format_count; i++)
        for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
            for (int channels = 1; channels <= TAMIS_MAX_CHANNELS; channels++)
                for (int layout = 0; layout < 2; layout++) {
                    const io_format *f = &io_formats[i];
                    if (!(f->types & 1u << type) || !(f->channels & 1u << channels))
                        continue;
                    tamis_format format = {(tamis_type)type, channels, (tamis_layout)layout,
                                           f->alpha && channels % 2 == 0 ? TAMIS_ALPHA_STRAIGHT
                                                                         : TAMIS_ALPHA_NONE};
                    round_trip(f, format, 1, 1);
                    round_trip(f, format, 37, 19);
                    round_trip(f, format, 1, 300);
                    round_trip(f, format, 300, 1);
                }
}

static void what_a_format_cannot_hold_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < io_format_count; i++)
        for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
            for (int channels = 1; channels <= TAMIS_MAX_CHANNELS; channels++) {
                const io_format *f = &io_formats[i];
                if ((f->types & 1u << type) && (f->channels & 1u << channels))
                    continue;
                tamis_format format = {(tamis_type)type, channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
                tamis_image image = io_picture(format, 3, 2, 1);
                assert_int_equal(tamis_image_save(io_ctx, picture_path(f), &image, NULL),
                                 TAMIS_ERR_UNSUPPORTED);
                assert_message_has("cannot hold");
                assert_message_has("can)");
                assert_message_has(f->name);
                tamis_image_unref(&image);
            }
}

static void memory_needs_a_format(void **state)
{
    (void)state;
    tamis_writer *writer;
    assert_int_equal(tamis_writer_open_memory(io_ctx, NULL, &writer), TAMIS_ERR_UNSUPPORTED);
    assert_message_has("name the format");
    assert_null(writer);
    assert_null(tamis_writer_bytes(NULL, NULL));
}

/* A view into a larger picture, and one that runs bottom-up. */
static void strides_are_honored(void **state)
{
    (void)state;
    tamis_format format = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image parent = io_picture(format, 40, 24, 5), view, back;
    assert_ok(tamis_image_view(io_ctx, &parent, (tamis_rect){5, 3, 13, 7}, &view));
    view.data[0] = tamis_image_row(&view, 0, view.h - 1);
    view.stride[0] = -view.stride[0];
    for (int i = 0; i < io_format_count; i++) {
        if (!(io_formats[i].types & 1u << TAMIS_U8))
            continue;
        assert_ok(tamis_image_save(io_ctx, picture_path(&io_formats[i]), &view, NULL));
        assert_ok(tamis_image_load(io_ctx, picture_path(&io_formats[i]), &back, NULL));
        if (!io_formats[i].lossy)
            io_assert_same(&view, &back);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&parent);
}

static void alpha_is_divided_out_where_files_are_straight(void **state)
{
    (void)state;
    tamis_format format = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_PREMULTIPLIED};
    tamis_image image = io_picture(format, 3, 1, 1), back;
    const uint8_t in[] = {64, 32, 0, 128, 200, 100, 50, 255, 9, 9, 9, 0};
    const uint8_t out[] = {128, 64, 0, 128, 200, 100, 50, 255, 0, 0, 0, 0};
    memcpy(image.data[0], in, sizeof in);
    assert_ok(tamis_image_save(io_ctx, io_path("a.png"), &image, NULL));
    assert_ok(tamis_image_load(io_ctx, io_path("a.png"), &back, NULL));
    assert_int_equal(back.format.alpha, TAMIS_ALPHA_STRAIGHT);
    assert_memory_equal(back.data[0], out, sizeof out);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

/* A smooth picture must survive JPEG nearly unchanged, in gray and in color. */
static void jpeg_is_close(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2) {
        tamis_format format = {TAMIS_U8, channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
        tamis_image image = io_picture(format, 61, 47, 1), back;
        for (int32_t y = 0; y < image.h; y++)
            for (int32_t x = 0; x < image.w * channels; x++)
                ((uint8_t *)tamis_image_row(&image, 0, y))[x] =
                    (uint8_t)(2 * y + x / channels + 40 * (x % channels));
        assert_ok(tamis_image_save(io_ctx, io_path("close.jpg"), &image, NULL));
        assert_ok(tamis_image_load(io_ctx, io_path("close.jpg"), &back, NULL));
        for (int32_t y = 0; y < image.h; y++)
            for (int32_t x = 0; x < image.w * channels; x++)
                assert_in_range(((uint8_t *)tamis_image_row(&back, 0, y))[x] + 4 -
                                    ((uint8_t *)tamis_image_row(&image, 0, y))[x],
                                0, 8);
        tamis_image_unref(&back);
        tamis_image_unref(&image);
    }
}

/* As photos are: smooth, and the last bits noise. */
static tamis_image photo(int32_t w, int32_t h)
{
    tamis_format format = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(format, w, h, 3);
    for (int32_t y = 0; y < h; y++) {
        uint8_t *row = tamis_image_row(&image, 0, y);
        for (int32_t x = 0; x < w; x++)
            row[x] = (uint8_t)(40 + x / 4 + y / 3 + row[x] % 16);
    }
    return image;
}

static size_t png_size(const tamis_image *image, int level)
{
    tamis_write_options options = {.overwrite = 1, .level = level};
    assert_ok(io_write(io_path("level.png"), &options, image, NULL));
    io_bytes file = io_load(io_path("level.png"));
    free(file.data);
    return file.size;
}

/* Small ones, too: batches are made of them. */
static void png_noise_is_written_fast(void **state)
{
    (void)state;
    tamis_image small = photo(320, 240), least = photo(128, 128);
    assert_true(png_size(&small, 0) != png_size(&small, 6));
    assert_true(png_size(&small, 0) <= png_size(&small, 6) / 100 * 105);
    assert_true(png_size(&least, 0) != png_size(&least, 6));
    tamis_image_unref(&least);
    least = photo(100, 100);
    assert_int_equal(png_size(&least, 0), png_size(&least, 6));
    tamis_image_unref(&least);
    tamis_image_unref(&small);
}

/* Noise is written by run lengths, a pattern by repeated strings; both must come back. */
static void png_levels(void **state)
{
    (void)state;
    tamis_format format = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    for (int pattern = 0; pattern < 2; pattern++) {
        tamis_image image = io_picture(format, 601, 403, 1), back;
        for (int32_t y = 0; pattern && y < image.h; y++)
            for (int32_t x = 0; x < 3 * image.w; x++)
                ((uint8_t *)tamis_image_row(&image, 0, y))[x] = (uint8_t)(x * x % 251);
        for (int level = 0; level <= 9; level += 3) {
            tamis_write_options options = {.overwrite = 1, .level = level};
            assert_ok(io_write(io_path("level.png"), &options, &image, NULL));
            assert_ok(tamis_image_load(io_ctx, io_path("level.png"), &back, NULL));
            io_assert_same(&image, &back);
            tamis_image_unref(&back);
            io_bytes file = io_load(io_path("level.png"));
            free(file.data);
            if (pattern)
                assert_true(file.size < 601 * 403 / 10);
        }
        tamis_image_unref(&image);
    }
}

static void raw_samples(void **state)
{
    (void)state;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
        tamis_format format = {(tamis_type)type, 2, TAMIS_PLANAR, TAMIS_ALPHA_NONE};
        tamis_image image = io_picture(format, 31, 9, 1), back;
        assert_ok(tamis_image_save(io_ctx, io_path("plain.raw"), &image, NULL));
        char spec[32];
        snprintf(spec, sizeof spec, "31x9:%s:2", tamis_type_name(format.type));
        tamis_read_options options = {.raw = spec};
        tamis_reader *reader;
        assert_ok(tamis_reader_open(io_ctx, io_path("plain.raw"), &options, &reader));
        assert_ok(tamis_reader_read(reader, 0, &back, NULL));
        io_assert_same(&image, &back);
        tamis_image_unref(&back);
        tamis_reader_close(&reader);
        snprintf(spec, sizeof spec, "31x9:%s:2:1", tamis_type_name(format.type));
        assert_int_equal(tamis_reader_open(io_ctx, io_path("plain.raw"), &options, &reader),
                         TAMIS_ERR_READ);
        assert_message_has("needs");
        tamis_image_unref(&image);
    }
    static const char *const wrong[] = {"",
                                        "3",
                                        "3x",
                                        "3x4",
                                        "3x4:",
                                        "3x4:u9",
                                        "3x4:u8:0",
                                        "3x4:u8:5",
                                        "3x4:u8:1:-1",
                                        "3x4:u8:1:1x",
                                        "-3x4:u8",
                                        "3x4:u8:1:99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tamis_read_options options = {.raw = wrong[i]};
        tamis_reader *reader;
        tamis_status status = tamis_reader_open(io_ctx, io_path("plain.raw"), &options, &reader);
        if (status != TAMIS_ERR_ARGUMENT)
            fail_msg("'%s' was taken", wrong[i]);
        tamis_reader_close(&reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused),
        cmocka_unit_test(memory_needs_a_format),
        cmocka_unit_test(strides_are_honored),
        cmocka_unit_test(jpeg_is_close),
        cmocka_unit_test(png_levels),
        cmocka_unit_test(png_noise_is_written_fast),
        cmocka_unit_test(raw_samples),
        cmocka_unit_test(alpha_is_divided_out_where_files_are_straight),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
