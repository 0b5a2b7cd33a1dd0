/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG beyond the round trip: long metadata, color models, damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "io_support.h"

static const tamis_format rgb8 = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};

static void expect_kept(const char *name, const uint8_t *data, size_t size)
{
    tamis_image image = io_picture(rgb8, 8, 8, 1), back;
    tamis_meta meta = {0}, kept;
    assert_ok(tamis_meta_set(&meta, name, data, size));
    assert_ok(tamis_image_save(io_ctx, io_path("long.jpg"), &image, &meta));
    assert_ok(tamis_image_load(io_ctx, io_path("long.jpg"), &back, &kept));
    const tamis_meta_entry *entry = tamis_meta_find(&kept, name);
    assert_non_null(entry);
    assert_int_equal(entry->size, size);
    assert_memory_equal(entry->data, data, size);
    tamis_meta_clear(&meta);
    tamis_meta_clear(&kept);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

static void blocks_longer_than_a_segment(void **state)
{
    (void)state;
    size_t size = 200000;
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * i >> 5);
    memcpy(data + 16, "RGB ", 4);
    expect_kept("icc", data, size);
    memcpy(data, "8BIM", 4);
    expect_kept("iptc", data, size);
    expect_kept("xmp:more", data, size);
    expect_kept("text:Comment", (const uint8_t *)"\xc3\xa9", 2);
    free(data);
}

/* A block that cannot be split is left out rather than the picture refused. */
static void a_block_that_does_not_fit(void **state)
{
    (void)state;
    uint8_t *data = calloc(1, 70000);
    tamis_image image = io_picture(rgb8, 8, 8, 1), back;
    tamis_meta meta = {0}, kept;
    assert_ok(tamis_meta_set(&meta, "xmp", data, 70000));
    assert_ok(tamis_meta_set(&meta, "exif", data, 70000));
    assert_ok(tamis_image_save(io_ctx, io_path("long.jpg"), &image, &meta));
    assert_ok(tamis_image_load(io_ctx, io_path("long.jpg"), &back, &kept));
    assert_int_equal(kept.count, 0);
    tamis_meta_clear(&meta);
    tamis_meta_clear(&kept);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
    free(data);
}

static void densities(void **state)
{
    (void)state;
    static const double dpi[] = {72, 300, 28 * 2.54, 1};
    tamis_image image = io_picture(rgb8, 8, 8, 1), back;
    for (size_t i = 0; i < sizeof dpi / sizeof *dpi; i++) {
        tamis_meta meta = {.dpi_x = dpi[i], .dpi_y = dpi[i]}, kept;
        assert_ok(tamis_image_save(io_ctx, io_path("d.jpg"), &image, &meta));
        assert_ok(tamis_image_load(io_ctx, io_path("d.jpg"), &back, &kept));
        assert_true(kept.dpi_x > dpi[i] - 1e-9 && kept.dpi_x < dpi[i] + 1e-9);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&image);
}

static void quality_changes_size_and_chroma(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 64, 64, 1);
    size_t last = 0;
    for (int quality = 10; quality <= 100; quality += 30) {
        tamis_write_options options = {.overwrite = 1, .quality = quality};
        tamis_reader *reader;
        tamis_file_info info;
        assert_ok(io_write(io_path("q.jpg"), &options, &image, NULL));
        io_bytes file = io_load(io_path("q.jpg"));
        assert_true(file.size > last);
        last = file.size;
        free(file.data);
        assert_ok(tamis_reader_open(io_ctx, io_path("q.jpg"), NULL, &reader));
        assert_ok(tamis_reader_info(reader, 0, &info));
        assert_non_null(strstr(info.detail, quality >= 90 ? "1x1" : "2x2"));
        tamis_reader_close(&reader);
    }
    tamis_image_unref(&image);
}

static void write_with_libjpeg(int components, J_COLOR_SPACE space, int progressive)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    JSAMPLE samples[4 * 32];
    JSAMPROW row = samples;
    FILE *file = fopen(io_path("made.jpg"), "wb");
    assert_non_null(file);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_stdio_dest(&cinfo, file);
    cinfo.image_width = cinfo.image_height = 32;
    cinfo.input_components = components;
    cinfo.in_color_space = space;
    jpeg_set_defaults(&cinfo);
    if (progressive)
        jpeg_simple_progression(&cinfo);
    jpeg_start_compress(&cinfo, TRUE);
    for (int y = 0; y < 32; y++) {
        for (int i = 0; i < components * 32; i++)
            samples[i] = (JSAMPLE)(y * 4 + i);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    fclose(file);
}

static void color_models(void **state)
{
    (void)state;
    tamis_image image;
    write_with_libjpeg(4, JCS_CMYK, 0);
    assert_int_equal(tamis_image_load(io_ctx, io_path("made.jpg"), &image, NULL),
                     TAMIS_ERR_UNSUPPORTED);
    assert_message_has("CMYK");
    write_with_libjpeg(2, JCS_UNKNOWN, 0);
    assert_int_equal(tamis_image_load(io_ctx, io_path("made.jpg"), &image, NULL),
                     TAMIS_ERR_UNSUPPORTED);
    write_with_libjpeg(3, JCS_RGB, 1);
    tamis_reader *reader;
    tamis_file_info info;
    assert_ok(tamis_reader_open(io_ctx, io_path("made.jpg"), NULL, &reader));
    assert_ok(tamis_reader_info(reader, 0, &info));
    assert_non_null(strstr(info.detail, "progressive"));
    assert_ok(tamis_reader_read(reader, 0, &image, NULL));
    tamis_image_unref(&image);
    tamis_reader_close(&reader);
}

static void damage_is_an_error(void **state)
{
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        tamis_image image;
        write_with_libjpeg(3, JCS_RGB, progressive);
        io_bytes file = io_load(io_path("made.jpg"));
        for (size_t size = file.size - 200; size < file.size; size++) {
            io_store(io_path("cut.jpg"), file.data, size);
            assert_int_equal(tamis_image_load(io_ctx, io_path("cut.jpg"), &image, NULL),
                             TAMIS_ERR_READ);
        }
        free(file.data);
    }
}

static void too_large_for_jpeg(void **state)
{
    (void)state;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 65501, 1, 1);
    assert_int_equal(tamis_image_save(io_ctx, io_path("wide.jpg"), &image, NULL),
                     TAMIS_ERR_UNSUPPORTED);
    assert_message_has("65501");
    assert_message_has("tiff");
    tamis_image_unref(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_longer_than_a_segment),
        cmocka_unit_test(a_block_that_does_not_fit),
        cmocka_unit_test(densities),
        cmocka_unit_test(quality_changes_size_and_chroma),
        cmocka_unit_test(color_models),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(too_large_for_jpeg),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
