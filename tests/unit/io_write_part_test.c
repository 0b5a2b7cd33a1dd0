/* SPDX-License-Identifier: Apache-2.0 */
/* Pages written by parts: the same files as whole pages give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_support.h"

static const tamis_format gray8 = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};

static void put(tamis_writer *writer, const tamis_image *image, tamis_rect r)
{
    tamis_image part;
    assert_ok(tamis_image_view(io_ctx, image, r, &part));
    assert_ok(tamis_writer_part(writer, r, &part));
}

/* Bands of full width, of any height. */
static void write_bands(const char *path, const tamis_write_options *options,
                        const tamis_image *image, const tamis_meta *meta, uint32_t seed)
{
    tamis_writer *writer;
    assert_ok(tamis_writer_open(io_ctx, path, options, &writer));
    assert_ok(tamis_writer_begin(writer, image->format, image->w, image->h, meta));
    for (int32_t y = 0, h; y < image->h; y += h) {
        h = 1 + (int32_t)(io_random(&seed) % 40);
        h = h < image->h - y ? h : image->h - y;
        put(writer, image, (tamis_rect){0, y, image->w, h});
    }
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
}

/* Parts of w x h blocks. */
static void write_blocks(const char *path, const tamis_write_options *options,
                         const tamis_image *image, int w, int h)
{
    tamis_writer *writer;
    int32_t block_w, block_h;
    assert_ok(tamis_writer_open(io_ctx, path, options, &writer));
    assert_ok(tamis_writer_block(writer, image->format, image->w, image->h, &block_w, &block_h));
    assert_true(block_w > 0 && block_w < image->w);
    w *= block_w;
    h *= block_h;
    assert_ok(tamis_writer_begin(writer, image->format, image->w, image->h, NULL));
    for (int32_t y = 0; y < image->h; y += h)
        for (int32_t x = 0; x < image->w; x += w)
            put(writer, image,
                (tamis_rect){x, y, w < image->w - x ? w : image->w - x,
                             h < image->h - y ? h : image->h - y});
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
}

static void same_files(const char *a, const char *b)
{
    io_bytes one = io_load(a), other = io_load(b);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
    free(one.data);
    free(other.data);
}

static tamis_meta some_meta(void)
{
    tamis_meta meta = {.dpi_x = 300, .dpi_y = 150, .orientation = 1};
    assert_ok(tamis_meta_set(&meta, "xmp", "<x/>", 4));
    return meta;
}

static void bands_give_the_same_bytes(void **state)
{
    (void)state;
    tamis_meta meta = some_meta();
    for (int i = 0; i < io_format_count; i++)
        for (int k = 0; k < TAMIS_TYPE_COUNT * 4 * 2; k++) {
            const io_format *f = &io_formats[i];
            int type = k / 8, channels = k / 2 % 4 + 1;
            tamis_format format = {(tamis_type)type, channels, (tamis_layout)(k % 2),
                                   f->alpha && channels == 4 ? TAMIS_ALPHA_PREMULTIPLIED
                                                             : TAMIS_ALPHA_NONE};
            if (!(f->types & 1u << type) || !(f->channels & 1u << channels) || f->lossy ||
                strcmp(f->name, "png") == 0)
                continue;
            tamis_image image = io_picture(format, 83, 91, 7);
            tamis_write_options options = {.overwrite = 1, .format = f->name};
            assert_ok(io_write(io_path("whole"), &options, &image, &meta));
            write_bands(io_path("bands"), &options, &image, &meta, (uint32_t)k + 1);
            same_files(io_path("whole"), io_path("bands"));
            tamis_image_unref(&image);
        }
    tamis_meta_clear(&meta);
}

static void tiff_bands(void **state)
{
    (void)state;
    static const char *const compressions[] = {"none", "deflate", "lzw"};
    for (int i = 0; i < 3 * 3 * 2; i++) {
        tamis_format format = {i < 9 ? TAMIS_U16 : TAMIS_F32, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
        /* Wide enough for several strips; the tiles are larger than the bands, or smaller. */
        tamis_image image = io_picture(format, 1500, 117, 3), back;
        tamis_write_options options = {
            .overwrite = 1, .compression = compressions[i % 3], .tile = i / 3 % 3 * 32};
        assert_ok(io_write(io_path("whole.tif"), &options, &image, NULL));
        write_bands(io_path("bands.tif"), &options, &image, NULL, (uint32_t)i + 1);
        same_files(io_path("whole.tif"), io_path("bands.tif"));
        assert_ok(tamis_image_load(io_ctx, io_path("bands.tif"), &back, NULL));
        io_assert_same(&image, &back);
        tamis_image_unref(&back);
        tamis_image_unref(&image);
    }
}

static void tiff_blocks(void **state)
{
    (void)state;
    static const char *const compressions[] = {"none", "deflate", "lzw"};
    tamis_format format = {TAMIS_U8, 3, TAMIS_PLANAR, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(format, 205, 117, 3), back;
    for (int i = 0; i < 3 * 4; i++) {
        tamis_write_options options = {
            .overwrite = 1, .compression = compressions[i % 3], .tile = 16};
        write_blocks(io_path("blocks.tif"), &options, &image, 1 + i / 3 % 2 * 4, 1 + i / 6);
        assert_ok(tamis_image_load(io_ctx, io_path("blocks.tif"), &back, NULL));
        io_assert_same(&image, &back);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&image);
}

static void plain_blocks(void **state)
{
    (void)state;
    static const char *const names[] = {"p.pfm", "p.npy", "p.raw", "p.pam", "p.ppm", "p.pbm"};
    for (int i = 0; i < 6; i++) {
        tamis_format format = {i < 3    ? TAMIS_F32
                               : i == 3 ? TAMIS_U16
                                        : TAMIS_U8,
                               i < 5 ? 3 : 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
        tamis_image image = io_picture(format, 53, 41, 3);
        for (int32_t y = 0; i == 5 && y < image.h; y++)
            for (int32_t x = 0; x < image.w; x++) {
                uint8_t *p = (uint8_t *)tamis_image_row(&image, 0, y) + x;
                *p = *p & 1 ? 255 : 0;
            }
        tamis_write_options options = {.overwrite = 1};
        char whole[16];
        snprintf(whole, sizeof whole, "w%s", names[i] + 1);
        assert_ok(io_write(io_path(whole), &options, &image, NULL));
        write_blocks(io_path(names[i]), &options, &image, i == 5 ? 2 : 17, 11);
        same_files(io_path(whole), io_path(names[i]));
        tamis_image_unref(&image);
    }
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    tamis_format format = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(format, 700, 300, 3);
    tamis_ctx *shared = io_ctx;
    for (int i = 0; i < 4; i++) {
        tamis_write_options options = {
            .overwrite = 1, .compression = i % 2 ? "lzw" : "deflate", .tile = i / 2 * 64};
        for (int threads = 1; threads <= 7; threads += 6) {
            tamis_ctx_options o = {.threads = threads};
            assert_int_equal(tamis_ctx_create(&o, &io_ctx), TAMIS_OK);
            assert_ok(
                io_write(io_path(threads == 1 ? "one.tif" : "more.tif"), &options, &image, NULL));
            tamis_ctx_free(&io_ctx);
            io_ctx = shared;
        }
        same_files(io_path("one.tif"), io_path("more.tif"));
    }
    tamis_image_unref(&image);
}

static void pages_by_parts_and_whole(void **state)
{
    (void)state;
    tamis_write_options options = {.overwrite = 1, .pages = 3};
    tamis_writer *writer;
    tamis_image image = io_picture(gray8, 50, 40, 1), other = io_picture(gray8, 31, 90, 2), back;
    assert_ok(tamis_writer_open(io_ctx, io_path("mixed.tif"), &options, &writer));
    assert_ok(tamis_writer_begin(writer, gray8, 50, 40, NULL));
    put(writer, &image, (tamis_rect){0, 0, 50, 30});
    assert_int_equal(tamis_writer_write(writer, &image, NULL), TAMIS_ERR_ARGUMENT);
    assert_message_has("lacks 500 pixels");
    put(writer, &image, (tamis_rect){0, 30, 50, 10});
    assert_ok(tamis_writer_write(writer, &other, NULL));
    assert_ok(tamis_writer_begin(writer, gray8, 50, 40, NULL));
    put(writer, &image, (tamis_rect){0, 0, 50, 40});
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
    tamis_reader *reader;
    assert_ok(tamis_reader_open(io_ctx, io_path("mixed.tif"), NULL, &reader));
    for (int page = 0; page < 3; page++) {
        assert_ok(tamis_reader_read(reader, page, &back, NULL));
        io_assert_same(page == 1 ? &other : &image, &back);
        tamis_image_unref(&back);
    }
    tamis_reader_close(&reader);
    tamis_image_unref(&image);
    tamis_image_unref(&other);
}

static void wrong_parts_are_refused(void **state)
{
    (void)state;
    static const tamis_rect bad[] = {{0, 1, 64, 16}, {16, 0, 16, 16}, {0, 0, 65, 16},
                                     {0, 0, 64, 65}, {0, 0, 0, 16},   {0, 0, 64, INT32_MAX},
                                     {0, 0, 8, 16},  {0, 0, 16, 8}};
    tamis_image image = io_picture(gray8, 64, 64, 1), part;
    tamis_write_options options = {.overwrite = 1, .tile = 16};
    tamis_writer *writer;
    assert_ok(tamis_writer_open(io_ctx, io_path("refused.tif"), &options, &writer));
    assert_int_equal(tamis_writer_part(writer, (tamis_rect){0, 0, 64, 64}, &image),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("without a page");
    assert_int_equal(tamis_writer_begin(writer, gray8, 0, 4, NULL), TAMIS_ERR_ARGUMENT);
    assert_ok(tamis_writer_begin(writer, gray8, 64, 64, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        part = image;
        part.w = bad[i].w;
        part.h = bad[i].h;
        assert_int_equal(tamis_writer_part(writer, bad[i], &part), TAMIS_ERR_ARGUMENT);
    }
    assert_int_equal(tamis_writer_part(writer, (tamis_rect){0, 0, 64, 16}, &image),
                     TAMIS_ERR_ARGUMENT);
    assert_ok(tamis_image_view(io_ctx, &image, (tamis_rect){0, 0, 16, 16}, &part));
    part.device = 1;
    assert_int_equal(tamis_writer_part(writer, (tamis_rect){0, 0, 16, 16}, &part),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("a device's memory");
    put(writer, &image, (tamis_rect){0, 0, 16, 16});
    assert_ok(tamis_image_view(io_ctx, &image, (tamis_rect){16, 0, 16, 32}, &part));
    assert_int_equal(tamis_writer_part(writer, (tamis_rect){16, 0, 16, 32}, &part),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("16,0 whose turn it is");
    assert_int_equal(tamis_writer_finish(writer), TAMIS_ERR_WRITE);
    tamis_writer_close(&writer);
    part.device = 1;
    assert_int_equal(tamis_image_save(io_ctx, io_path("there.pgm"), &part, NULL),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("a device's memory");
    assert_int_equal(io_file_count(), 0);
    tamis_image_unref(&image);
}

static void strips_and_pipes_want_whole_rows(void **state)
{
    (void)state;
    tamis_format gray_f32 = {TAMIS_F32, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    static const char *const formats[] = {"tiff", "npy", "pgm"};
    tamis_writer *writer;
    int32_t w, h;
    tamis_image image = io_picture(gray8, 30, 20, 1), part;
    assert_ok(tamis_image_view(io_ctx, &image, (tamis_rect){0, 0, 16, 16}, &part));
    for (int i = 0; i < 3; i++) {
        tamis_write_options options = {.format = formats[i], .overwrite = 1};
        const char *path = i ? "/dev/null" : io_path("strips.tif");
        assert_ok(tamis_writer_open(io_ctx, path, &options, &writer));
        assert_ok(tamis_writer_block(writer, gray8, 30, 20, &w, &h));
        assert_int_equal(w, 30);
        assert_ok(tamis_writer_begin(writer, gray8, 30, 20, NULL));
        assert_int_equal(tamis_writer_part(writer, (tamis_rect){0, 0, 16, 16}, &part),
                         TAMIS_ERR_ARGUMENT);
        assert_message_has("full width");
        put(writer, &image, (tamis_rect){0, 0, 30, 7});
        put(writer, &image, (tamis_rect){0, 7, 30, 13});
        assert_ok(tamis_writer_finish(writer));
        tamis_writer_close(&writer);
    }
    tamis_write_options pfm = {.format = "pfm"};
    assert_ok(tamis_writer_open(io_ctx, "/dev/null", &pfm, &writer));
    assert_int_equal(tamis_writer_begin(writer, gray_f32, 30, 20, NULL), TAMIS_ERR_UNSUPPORTED);
    assert_message_has("pipe");
    tamis_writer_close(&writer);
    static const char *const whole[] = {"a.png", "a.jpg"};
    for (int i = 0; i < 2; i++) {
        assert_ok(tamis_writer_open(io_ctx, io_path(whole[i]), NULL, &writer));
        assert_ok(tamis_writer_block(writer, gray8, 30, 20, &w, &h));
        assert_int_equal(w, 0);
        assert_int_equal(tamis_writer_begin(writer, gray8, 30, 20, NULL), TAMIS_ERR_UNSUPPORTED);
        assert_message_has("whole");
        assert_ok(tamis_writer_write(writer, &image, NULL)); /* which it still takes */
        assert_ok(tamis_writer_finish(writer));
        tamis_writer_close(&writer);
    }
    tamis_image_unref(&image);
    io_remove_all();
}

static void a_full_disk_is_named(void **state)
{
    (void)state;
    static const char *const formats[] = {"npy", "raw", "pgm"};
    tamis_image image = io_picture(gray8, 1000, 1000, 1);
    for (int i = 0; i < 3; i++) {
        tamis_write_options options = {.format = formats[i]};
        tamis_writer *writer;
        assert_ok(tamis_writer_open(io_ctx, "/dev/full", &options, &writer));
        assert_ok(tamis_writer_begin(writer, gray8, 1000, 1000, NULL));
        assert_int_equal(tamis_writer_part(writer, (tamis_rect){0, 0, 1000, 1000}, &image),
                         TAMIS_ERR_WRITE);
        assert_message_has("No space left");
        tamis_writer_close(&writer);
    }
    tamis_image_unref(&image);
}

static int sample(const tamis_image *image, int32_t x, int32_t y, int c)
{
    x = x < image->w ? x : image->w - 1;
    y = y < image->h ? y : image->h - 1;
    return ((uint8_t *)tamis_image_row(image, 0, y))[x * image->format.channels + c];
}

/* Each sample is the mean of the four above it, to nearest. */
static void is_half(const tamis_image *a, const tamis_image *b)
{
    assert_int_equal(b->w, (a->w + 1) / 2);
    assert_int_equal(b->h, (a->h + 1) / 2);
    for (int32_t y = 0; y < b->h; y++)
        for (int32_t x = 0; x < b->w; x++)
            for (int c = 0; c < b->format.channels; c++) {
                int sum = 0;
                for (int i = 0; i < 4; i++)
                    sum += sample(a, 2 * x + i % 2, 2 * y + i / 2, c);
                assert_in_range(4 * sample(b, x, y, c) - sum + 2, 0, 4);
            }
}

static void check_pyramid(const char *path, const tamis_image *image)
{
    tamis_reader *reader;
    tamis_file_info info;
    tamis_image above, page;
    assert_ok(tamis_reader_open(io_ctx, path, NULL, &reader));
    assert_ok(tamis_reader_info(reader, 0, &info));
    assert_int_equal(info.pages, 5); /* 205 and 117, then ... 103, 52, 26, 13 wide */
    assert_false(info.reduced);
    assert_ok(tamis_reader_read(reader, 0, &above, NULL));
    io_assert_same(image, &above);
    for (int i = 1; i < info.pages; i++) {
        assert_ok(tamis_reader_info(reader, i, &info));
        assert_true(info.reduced);
        assert_int_equal(info.block_w, 16);
        assert_ok(tamis_reader_read(reader, i, &page, NULL));
        is_half(&above, &page);
        tamis_image_unref(&above);
        above = page;
    }
    assert_true(above.w <= 16 && above.h <= 16);
    tamis_image_unref(&above);
    tamis_reader_close(&reader);
}

static void pyramids(void **state)
{
    (void)state;
    tamis_format format = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(format, 205, 117, 3);
    tamis_write_options options = {.overwrite = 1, .tile = 16, .pyramid = 1};
    assert_ok(io_write(io_path("whole.tif"), &options, &image, NULL));
    check_pyramid(io_path("whole.tif"), &image);
    for (uint32_t seed = 1; seed < 6; seed++) {
        write_bands(io_path("bands.tif"), &options, &image, NULL, seed);
        same_files(io_path("whole.tif"), io_path("bands.tif"));
    }
    write_blocks(io_path("blocks.tif"), &options, &image, 2, 3);
    check_pyramid(io_path("blocks.tif"), &image);
    io_remove_all();
    assert_ok(io_write(io_path("whole.tif"), &options, &image, NULL));
    assert_int_equal(io_file_count(), 1); /* and no scratch file */
    tamis_image_unref(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_and_pipes_want_whole_rows),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(bands_give_the_same_bytes),
        cmocka_unit_test(tiff_bands),
        cmocka_unit_test(tiff_blocks),
        cmocka_unit_test(plain_blocks),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(pages_by_parts_and_whole),
        cmocka_unit_test(pyramids),
        cmocka_unit_test(a_full_disk_is_named),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
