/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF beyond the round trip: pages, tiles, odd storage written by libtiff itself, tags. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "io_support.h"

static const tamis_format gray8 = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const tamis_format rgb16 = {TAMIS_U16, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};

/* What a directory made by libtiff holds. */
typedef struct plan {
    uint32_t w, h;
    int bits, samples, photometric, planar, compression, kind, tile, extra;
} plan;

static TIFF *begin(const char *mode, const plan *p)
{
    TIFF *tif = TIFFOpen(io_path("made.tif"), mode);
    assert_non_null(tif);
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, p->w);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, p->h);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, p->bits);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, p->samples);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, p->photometric);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, p->planar ? p->planar : PLANARCONFIG_CONTIG);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, p->compression ? p->compression : COMPRESSION_NONE);
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, p->kind ? p->kind : SAMPLEFORMAT_UINT);
    if (p->extra) {
        uint16_t extra = (uint16_t)p->extra;
        TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, 1, &extra);
    }
    if (p->tile) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, p->tile);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, p->tile);
    } else {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 2);
    }
    return tif;
}

static void put_row(TIFF *tif, uint32_t y, int plane, const void *row, size_t size)
{
    uint8_t copy[256];
    memcpy(copy, row, size);
    assert_int_equal(TIFFWriteScanline(tif, copy, y, (uint16_t)plane), 1);
}

static tamis_image load_made(void)
{
    tamis_image image;
    assert_ok(tamis_image_load(io_ctx, io_path("made.tif"), &image, NULL));
    return image;
}

static void expect_made(const void *samples, size_t size)
{
    tamis_image image = load_made();
    assert_memory_equal(image.data[0], samples, size);
    tamis_image_unref(&image);
}

static void bits_and_white_is_zero(void **state)
{
    (void)state;
    TIFF *tif = begin("w", &(plan){9, 1, 1, 1, PHOTOMETRIC_MINISBLACK});
    put_row(tif, 0, 0, "\xA5\x80", 2);
    TIFFClose(tif);
    expect_made("\xFF\0\xFF\0\0\xFF\0\xFF\xFF", 9);
    tif = begin("w", &(plan){4, 1, 2, 1, PHOTOMETRIC_MINISWHITE});
    put_row(tif, 0, 0, "\x1B", 1);
    TIFFClose(tif);
    expect_made("\xFF\xAA\x55\0", 4);
    tif = begin("w", &(plan){2, 1, 16, 1, PHOTOMETRIC_MINISWHITE});
    put_row(tif, 0, 0, (const uint16_t[]){0, 65534}, 4);
    TIFFClose(tif);
    expect_made((const uint16_t[]){65535, 1}, 4);
    tif = begin("w", &(plan){16, 1, 1, 1, PHOTOMETRIC_MINISWHITE, 0, COMPRESSION_CCITTFAX4});
    put_row(tif, 0, 0, "\x0F\xF0", 2);
    TIFFClose(tif);
    expect_made("\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF", 16);
}

static void palettes(void **state)
{
    (void)state;
    for (int old_style = 0; old_style < 2; old_style++) {
        uint16_t red[16] = {0}, green[16] = {0}, blue[16] = {0};
        red[1] = old_style ? 255 : 65535;
        green[2] = old_style ? 128 : 0x8080;
        blue[15] = old_style ? 7 : 0x0707;
        TIFF *tif = begin("w", &(plan){3, 1, 4, 1, PHOTOMETRIC_PALETTE});
        TIFFSetField(tif, TIFFTAG_COLORMAP, red, green, blue);
        put_row(tif, 0, 0, "\x12\xF0", 2);
        TIFFClose(tif);
        expect_made("\xFF\0\0\0\x80\0\0\0\x07", 9);
    }
}

/* Byte orders, file versions, planes, strips and tiles must all give the same picture. */
static void storage_makes_no_difference(void **state)
{
    (void)state;
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_PACKBITS};
    tamis_image image = io_picture(rgb16, 37, 35, 9);
    for (int i = 0; i < 4 * 4 * 2; i++) {
        int separate = i / 16;
        TIFF *tif =
            begin(modes[i % 4], &(plan){37, 35, 16, 3, PHOTOMETRIC_RGB,
                                        separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG,
                                        compressions[i / 4 % 4]});
        for (int plane = 0; plane < (separate ? 3 : 1); plane++)
            for (uint32_t y = 0; y < 35; y++) {
                const uint16_t *row = tamis_image_row(&image, 0, (int32_t)y);
                uint16_t samples[3 * 37];
                for (int x = 0; x < 37; x++)
                    samples[x] = row[3 * x + plane];
                put_row(tif, y, plane, separate ? samples : row, separate ? 74 : 222);
            }
        TIFFClose(tif);
        tamis_image back = load_made();
        io_assert_same(&image, &back);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&image);
}

static void tiles_and_compressions(void **state)
{
    (void)state;
    static const char *const compressions[] = {"none", "deflate", "lzw"};
    static const int tiles[] = {0, 16, 48};
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int i = 0; i < 9; i++) {
            tamis_format format = {(tamis_type)type, 3, TAMIS_PLANAR, TAMIS_ALPHA_NONE};
            tamis_image image = io_picture(format, 101, 67, 3), back;
            tamis_write_options options = {
                .overwrite = 1, .compression = compressions[i % 3], .tile = tiles[i / 3]};
            tamis_reader *reader;
            tamis_file_info info;
            assert_ok(io_write(io_path("t.tif"), &options, &image, NULL));
            assert_ok(tamis_reader_open(io_ctx, io_path("t.tif"), NULL, &reader));
            assert_ok(tamis_reader_info(reader, 0, &info));
            assert_non_null(strstr(info.detail, i % 3 ? compressions[i % 3] : "uncompressed"));
            assert_non_null(strstr(info.detail, i / 3 ? "tiled" : "strips"));
            assert_ok(tamis_reader_read(reader, 0, &back, NULL));
            io_assert_same(&image, &back);
            tamis_reader_close(&reader);
            tamis_image_unref(&back);
            tamis_image_unref(&image);
        }
}

static void alpha_has_two_kinds(void **state)
{
    (void)state;
    for (int alpha = 0; alpha < 3; alpha++)
        for (int channels = 2; channels <= 4; channels++) {
            tamis_format format = {TAMIS_U8, channels, TAMIS_PACKED, (tamis_alpha)alpha};
            tamis_image image = io_picture(format, 5, 4, 1), back;
            assert_ok(tamis_image_save(io_ctx, io_path("a.tif"), &image, NULL));
            assert_ok(tamis_image_load(io_ctx, io_path("a.tif"), &back, NULL));
            assert_int_equal(back.format.alpha, alpha);
            io_assert_same(&image, &back);
            tamis_image_unref(&back);
            tamis_image_unref(&image);
        }
}

static void pages(void **state)
{
    (void)state;
    enum { PAGES = 5 };
    for (int big = 0; big < 2; big++) {
        tamis_writer *writer;
        tamis_write_options options = {.overwrite = 1, .pages = big ? 1 << 30 : PAGES};
        assert_ok(tamis_writer_open(io_ctx, io_path("pages.tif"), &options, &writer));
        for (int page = 0; page < PAGES; page++) {
            tamis_format format = {(tamis_type)page, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
            tamis_image image = io_picture(format, 10 + page, 20 - page, (uint32_t)page);
            assert_ok(tamis_writer_write(writer, &image, NULL));
            tamis_image_unref(&image);
        }
        assert_ok(tamis_writer_finish(writer));
        tamis_writer_close(&writer);
        tamis_reader *reader;
        assert_ok(tamis_reader_open(io_ctx, io_path("pages.tif"), NULL, &reader));
        for (int i = 0; i < 2 * PAGES; i++) { /* in any order */
            int page = i * 3 % PAGES;
            tamis_format format = {(tamis_type)page, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
            tamis_image image = io_picture(format, 10 + page, 20 - page, (uint32_t)page), back;
            tamis_file_info info;
            assert_ok(tamis_reader_info(reader, page, &info));
            assert_int_equal(info.pages, PAGES);
            assert_int_equal(strstr(info.detail, "BigTIFF") != NULL, big);
            assert_ok(tamis_reader_read(reader, page, &back, NULL));
            io_assert_same(&image, &back);
            tamis_image_unref(&back);
            tamis_image_unref(&image);
        }
        tamis_file_info info;
        assert_int_equal(tamis_reader_info(reader, PAGES, &info), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_reader_info(reader, -1, &info), TAMIS_ERR_ARGUMENT);
        tamis_reader_close(&reader);
    }
}

static void only_tiff_has_pages(void **state)
{
    (void)state;
    tamis_image image = io_picture(gray8, 4, 4, 1);
    tamis_writer *writer;
    tamis_write_options options = {.overwrite = 1};
    assert_ok(tamis_writer_open(io_ctx, io_path("two.png"), &options, &writer));
    assert_ok(tamis_writer_write(writer, &image, NULL));
    assert_int_equal(tamis_writer_write(writer, &image, NULL), TAMIS_ERR_UNSUPPORTED);
    assert_message_has("tiff");
    assert_int_equal(tamis_writer_finish(writer), TAMIS_ERR_WRITE);
    tamis_writer_close(&writer);
    tamis_image_unref(&image);
}

static void what_is_not_supported_is_named(void **state)
{
    (void)state;
    static const struct {
        plan plan;
        const char *text;
    } rows[] = {
        {{2, 1, 32, 1, PHOTOMETRIC_MINISBLACK}, "32-bit unsigned"},
        {{2, 1, 64, 1, PHOTOMETRIC_MINISBLACK, 0, 0, SAMPLEFORMAT_IEEEFP}, "64-bit float"},
        {{2, 1, 8, 1, PHOTOMETRIC_MINISBLACK, 0, 0, SAMPLEFORMAT_INT}, "8-bit signed"},
        {{2, 1, 8, 4, PHOTOMETRIC_SEPARATED}, "CMYK"},
        {{2, 1, 8, 3, PHOTOMETRIC_CIELAB}, "color model 8"},
        {{2, 1, 8, 5, PHOTOMETRIC_MINISBLACK}, "5 samples"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TIFF *tif = begin("w", &rows[i].plan);
        put_row(tif, 0, 0, "0123456789abcdef", 16);
        TIFFClose(tif);
        tamis_image image;
        assert_int_equal(tamis_image_load(io_ctx, io_path("made.tif"), &image, NULL),
                         TAMIS_ERR_UNSUPPORTED);
        assert_message_has(rows[i].text);
    }
}

static void set_tag(tamis_meta *meta, const char *name, int type, uint64_t count, const void *data,
                    size_t size)
{
    assert_ok(tamis_meta_set(meta, name, data, size));
    meta->entries[meta->count - 1].tiff_type = type;
    meta->entries[meta->count - 1].tiff_count = count;
}

/* GeoTIFF, GDAL, ImageJ and unheard-of tags; page facts that libtiff knows by other means. */
static void foreign_tags_survive(void **state)
{
    (void)state;
    const double scale[] = {0.5, 0.5, 0};
    const uint16_t keys[] = {1, 1, 0, 1, 1024, 0, 1, 2};
    const uint32_t rational[] = {1, 4, 3, 2};
    const uint64_t wide = 12345;
    for (int big = 0; big < 2; big++) {
        tamis_image image = io_picture(gray8, 9, 9, 1), back;
        tamis_meta meta = {.dpi_x = 254, .dpi_y = 254, .orientation = 1}, kept;
        set_tag(&meta, "tiff:254", 4, 1, &(uint32_t){2}, 4);
        set_tag(&meta, "tiff:270", 2, 5, "text", 5);
        set_tag(&meta, "tiff:286", 5, 1, rational, 8);
        set_tag(&meta, "tiff:297", 3, 2, keys, 4);
        set_tag(&meta, "tiff:33550", 12, 3, scale, sizeof scale);
        set_tag(&meta, "tiff:34735", 3, 8, keys, sizeof keys);
        set_tag(&meta, "tiff:42112", 2, 4, "<a>", 4);
        set_tag(&meta, "tiff:50838", 4, 2, rational, 8);
        set_tag(&meta, "tiff:65001", 5, 2, rational, 16);
        set_tag(&meta, "tiff:65002", 16, 1, &wide, 8);
        set_tag(&meta, "tiff:65003", 7, 3, "\1\2\3", 3);
        tamis_write_options options = {.overwrite = 1, .pages = big ? 1 << 30 : 1};
        assert_ok(io_write(io_path("tags.tif"), &options, &image, &meta));
        assert_ok(tamis_image_load(io_ctx, io_path("tags.tif"), &back, &kept));
        for (size_t i = 0; i < meta.count; i++) {
            const tamis_meta_entry *a = &meta.entries[i], *b = tamis_meta_find(&kept, a->name);
            if (!b)
                fail_msg("%s is lost", a->name);
            if (strcmp(a->name, "tiff:65002") == 0 && !big) {
                assert_int_equal(b->tiff_type, 4); /* a classic TIFF has no 8-byte integers */
                assert_memory_equal(b->data, &(uint32_t){12345}, 4);
                continue;
            }
            assert_int_equal(a->tiff_type, b->tiff_type);
            assert_int_equal(a->tiff_count, b->tiff_count);
            assert_memory_equal(a->data, b->data, a->size);
        }
        assert_true(kept.dpi_x > 253.99 && kept.dpi_x < 254.01);
        tamis_meta_clear(&meta);
        tamis_meta_clear(&kept);
        tamis_image_unref(&back);
        tamis_image_unref(&image);
    }
}

/* Whatever stands in a tag's entry, writing must not crash. */
static void nonsense_tags_do_no_harm(void **state)
{
    (void)state;
    static const char *const names[] = {"tiff:256", "tiff:273", "tiff:0",     "tiff:99999",
                                        "tiff:x",   "tiff:338", "tiff:320",   "tiff:34665",
                                        "tiff:330", "tiff:700", "tiff:50706", "tiff:65000"};
    uint8_t data[64] = {1, 2, 3, 4, 5, 6, 7};
    tamis_image image = io_picture(gray8, 9, 9, 1), back;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int type = -1; type < 20; type++)
            for (int count = 0; count < 6; count++) {
                tamis_meta meta = {0};
                set_tag(&meta, names[i], type, (uint64_t)count, data, (size_t)count * 4);
                tamis_status status = tamis_image_save(io_ctx, io_path("n.tif"), &image, &meta);
                if (status == TAMIS_OK &&
                    tamis_image_load(io_ctx, io_path("n.tif"), &back, NULL) == TAMIS_OK)
                    tamis_image_unref(&back);
                tamis_meta_clear(&meta);
            }
    tamis_image_unref(&image);
}

static void a_loop_of_directories_is_an_error(void **state)
{
    (void)state;
    tamis_image image = io_picture(gray8, 4, 4, 1), back;
    assert_ok(tamis_image_save(io_ctx, io_path("loop.tif"), &image, NULL));
    tamis_image_unref(&image);
    io_bytes file = io_load(io_path("loop.tif"));
    uint32_t directory;
    memcpy(&directory, file.data + 4, 4);
    uint16_t count;
    memcpy(&count, file.data + directory, 2);
    memcpy(file.data + directory + 2 + 12 * (size_t)count, &directory, 4);
    io_store(io_path("loop.tif"), file.data, file.size);
    free(file.data);
    assert_int_equal(tamis_image_load(io_ctx, io_path("loop.tif"), &back, NULL), TAMIS_ERR_READ);
    assert_message_has("loop");
}

int main(void)
{
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandler(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_and_white_is_zero),
        cmocka_unit_test(palettes),
        cmocka_unit_test(storage_makes_no_difference),
        cmocka_unit_test(tiles_and_compressions),
        cmocka_unit_test(alpha_has_two_kinds),
        cmocka_unit_test(pages),
        cmocka_unit_test(only_tiff_has_pages),
        cmocka_unit_test(what_is_not_supported_is_named),
        cmocka_unit_test(foreign_tags_survive),
        cmocka_unit_test(nonsense_tags_do_no_harm),
        cmocka_unit_test(a_loop_of_directories_is_an_error),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
