/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of pictures: the same samples as in a whole read, however the file is laid out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "io_support.h"

static void same_there(const tamis_image *whole, tamis_rect r, const tamis_image *part)
{
    size_t pixel = tamis_type_size(whole->format.type) * (size_t)whole->format.channels;
    for (int32_t y = 0; y < r.h; y++)
        if (memcmp((char *)tamis_image_row(whole, 0, r.y + y) + pixel * (size_t)r.x,
                   tamis_image_row(part, 0, y), pixel * (size_t)r.w) != 0)
            fail_msg("row %d of the part %dx%d at %d,%d differs", y, r.w, r.h, r.x, r.y);
}

static void read_one(tamis_reader *reader, int page, const tamis_image *whole, tamis_rect r)
{
    tamis_image part;
    assert_ok(tamis_image_create(io_ctx, whole->format, r.w, r.h, &part));
    assert_ok(tamis_reader_read_part(reader, page, r, &part));
    same_there(whole, r, &part);
    tamis_image_unref(&part);
}

/* Bands of a height that fits no block, parts all over, and single pixels at the corners. */
static void parts_of(tamis_reader *reader, int page)
{
    tamis_image whole;
    tamis_file_info info;
    uint32_t seed = 7;
    assert_ok(tamis_reader_info(reader, page, &info));
    assert_true(info.block_w > 0 && info.block_h > 0);
    assert_ok(tamis_reader_read(reader, page, &whole, NULL));
    int32_t w = whole.w, h = whole.h;
    for (int32_t y = 0; y < h; y += 11)
        read_one(reader, page, &whole, (tamis_rect){0, y, w, h - y < 11 ? h - y : 11});
    for (int32_t y = 0; y < h; y += 21)
        for (int32_t x = 0; x < w; x += 19)
            read_one(reader, page, &whole,
                     (tamis_rect){x, y, w - x < 19 ? w - x : 19, h - y < 21 ? h - y : 21});
    for (int i = 0; i < 20; i++) {
        int32_t x = (int32_t)(io_random(&seed) % (uint32_t)w);
        int32_t y = (int32_t)(io_random(&seed) % (uint32_t)h);
        tamis_rect r = {x, y, 1 + (int32_t)(io_random(&seed) % (uint32_t)(w - x)),
                        1 + (int32_t)(io_random(&seed) % (uint32_t)(h - y))};
        read_one(reader, page, &whole, r);
    }
    read_one(reader, page, &whole, (tamis_rect){w - 1, h - 1, 1, 1});
    read_one(reader, page, &whole, (tamis_rect){0, 0, 1, 1});
    read_one(reader, page, &whole, (tamis_rect){0, 0, w, h});
    tamis_image_unref(&whole);
}

static void parts_of_file(const char *path, const tamis_read_options *options)
{
    tamis_reader *reader;
    assert_ok(tamis_reader_open(io_ctx, path, options, &reader));
    parts_of(reader, 0);
    tamis_reader_close(&reader);
}

/* What a TIFF made by libtiff is like. */
typedef struct layout {
    const char *mode;
    int bits, samples, photometric, planar, compression, tile, orientation;
} layout;

enum { W = 75, H = 58 };

static void fill(uint8_t *data, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i % 7 ? i / 3 : io_random(&seed) >> 8);
}

static void set_fields(TIFF *tif, const layout *l)
{
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, W);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, H);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, l->bits);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, l->samples);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, l->photometric);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, l->planar ? l->planar : PLANARCONFIG_CONTIG);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, l->compression ? l->compression : COMPRESSION_NONE);
    TIFFSetField(tif, TIFFTAG_ORIENTATION, l->orientation ? l->orientation : 1);
    if (l->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (l->photometric == PHOTOMETRIC_PALETTE) {
        uint16_t map[3][256];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 256; i++)
                map[c][i] = (uint16_t)(i * 257 ^ c * 4096);
        TIFFSetField(tif, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
    }
}

static void make(const layout *l)
{
    uint8_t data[64 * 64 * 8];
    TIFF *tif = TIFFOpen(io_path("made.tif"), l->mode ? l->mode : "w");
    assert_non_null(tif);
    set_fields(tif, l);
    if (l->tile) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, l->tile);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, l->tile);
    } else {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 16);
    }
    uint32_t count = l->tile ? TIFFNumberOfTiles(tif) : TIFFNumberOfStrips(tif);
    for (uint32_t i = 0; i < count; i++) {
        tmsize_t size = l->tile ? TIFFTileSize(tif) : TIFFStripSize(tif);
        assert_true(size > 0 && size <= (tmsize_t)sizeof data);
        fill(data, sizeof data, i + 1);
        if (!l->tile && i % ((H + 15) / 16) == (H - 1) / 16)
            size = TIFFVStripSize(tif, H % 16);
        assert_true((l->tile ? TIFFWriteEncodedTile(tif, i, data, size)
                             : TIFFWriteEncodedStrip(tif, i, data, size)) == size);
    }
    TIFFClose(tif);
}

static void tiff_layouts(void **state)
{
    (void)state;
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_PACKBITS};
    static const layout kinds[] = {
        {"wl", 8, 1, PHOTOMETRIC_MINISBLACK},
        {"wb", 16, 3, PHOTOMETRIC_RGB},
        {"wl8", 16, 3, PHOTOMETRIC_RGB, PLANARCONFIG_SEPARATE},
        {"wb8", 8, 1, PHOTOMETRIC_MINISWHITE},
        {"w", 1, 1, PHOTOMETRIC_MINISWHITE},
        {"w", 2, 1, PHOTOMETRIC_MINISBLACK},
        {"w", 4, 1, PHOTOMETRIC_PALETTE},
        {"w", 8, 1, PHOTOMETRIC_PALETTE},
        {"w", 8, 4, PHOTOMETRIC_RGB, PLANARCONFIG_SEPARATE},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int c = 0; c < 4; c++)
            for (int tile = 0; tile <= 32; tile += 16) {
                layout l = kinds[i];
                l.compression = compressions[c];
                l.tile = tile;
                make(&l);
                parts_of_file(io_path("made.tif"), NULL);
            }
    make(&(layout){"w", 8, 3, PHOTOMETRIC_YCBCR, 0, COMPRESSION_JPEG, 32});
    parts_of_file(io_path("made.tif"), NULL);
    make(&(layout){"w", 8, 3, PHOTOMETRIC_YCBCR, 0, COMPRESSION_JPEG, 0});
    parts_of_file(io_path("made.tif"), NULL);
}

/* With no room to keep anything, and with room for a block or two. */
static void caches_make_no_difference(void **state)
{
    (void)state;
    make(&(layout){"w", 16, 3, PHOTOMETRIC_RGB, 0, COMPRESSION_ADOBE_DEFLATE, 16});
    for (size_t bytes = 1; bytes < 9000; bytes += 1800)
        parts_of_file(io_path("made.tif"), &(tamis_read_options){.cache_bytes = bytes});
}

static void turned_pictures(void **state)
{
    (void)state;
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int tile = 0; tile <= 16; tile += 16) {
            make(&(layout){"w", 8, 3, PHOTOMETRIC_RGB, 0, COMPRESSION_LZW, tile, orientation});
            tamis_reader *reader;
            tamis_file_info info;
            assert_ok(tamis_reader_open(io_ctx, io_path("made.tif"), NULL, &reader));
            assert_ok(tamis_reader_info(reader, 0, &info));
            /* A strip on its side is a column: not worth it. */
            assert_int_equal(info.block_w > 0, tile || orientation < 5);
            if (info.block_w > 0)
                parts_of(reader, 0);
            tamis_reader_close(&reader);
            parts_of_file(io_path("made.tif"), &(tamis_read_options){.keep_orientation = 1});
        }
}

static void pages_of_different_sizes(void **state)
{
    (void)state;
    tamis_write_options options = {.overwrite = 1, .pages = 3, .tile = 16};
    tamis_writer *writer;
    tamis_reader *reader;
    assert_ok(tamis_writer_open(io_ctx, io_path("pages.tif"), &options, &writer));
    for (int page = 0; page < 3; page++) {
        tamis_format format = {(tamis_type)page, page + 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
        tamis_image image = io_picture(format, 70 + 9 * page, 50 - page, (uint32_t)page);
        assert_ok(tamis_writer_write(writer, &image, NULL));
        tamis_image_unref(&image);
    }
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
    assert_ok(tamis_reader_open(io_ctx, io_path("pages.tif"), NULL, &reader));
    for (int i = 0; i < 6; i++) { /* what is kept of one page is of no use to another */
        tamis_image whole;
        assert_ok(tamis_reader_read(reader, i % 3, &whole, NULL));
        read_one(reader, i % 3, &whole, (tamis_rect){0, 3 * i, 60, 7});
        read_one(reader, i % 3, &whole, (tamis_rect){0, 3 * i + 7, 60, 5});
        tamis_image_unref(&whole);
    }
    parts_of(reader, 2);
    parts_of(reader, 1);
    tamis_reader_close(&reader);
}

/* Strips of more than can be held at once. */
static void large_strips(void **state)
{
    (void)state;
    enum { SIDE = 4160 };
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW};
    uint8_t *data = malloc((size_t)SIDE * SIDE);
    assert_non_null(data);
    for (int i = 0; i < 4; i++) {
        int planes = i < 2 ? 1 : 2;
        TIFF *tif = TIFFOpen(io_path("large.tif"), i % 2 ? "wb" : "wl");
        TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, SIDE);
        TIFFSetField(tif, TIFFTAG_IMAGELENGTH, SIDE);
        TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, planes);
        TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE);
        TIFFSetField(tif, TIFFTAG_COMPRESSION, compressions[i % 2]);
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, SIDE);
        for (int plane = 0; plane < planes; plane++) {
            for (size_t k = 0; k < (size_t)SIDE * SIDE; k++)
                data[k] = (uint8_t)(k / 1000 + (k % SIDE) / 64 + (size_t)plane);
            assert_true(TIFFWriteEncodedStrip(tif, (uint32_t)plane, data, SIDE * SIDE) > 0);
        }
        assert_true(TIFFWriteDirectory(tif)); /* a small page after it */
        TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, 8);
        TIFFSetField(tif, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        assert_true(TIFFWriteEncodedStrip(tif, 0, data, 8) > 0);
        TIFFClose(tif);
        tamis_reader *reader;
        tamis_image whole;
        tamis_file_info info;
        assert_ok(tamis_reader_open(io_ctx, io_path("large.tif"), NULL, &reader));
        assert_ok(tamis_reader_read(reader, 0, &whole, NULL));
        for (int32_t y = 0; y < SIDE; y += 1500)
            read_one(reader, 0, &whole,
                     (tamis_rect){y / 3, y, SIDE - y / 3, SIDE - y < 1500 ? SIDE - y : 1500});
        read_one(reader, 0, &whole, (tamis_rect){17, 100, 900, 50});
        assert_ok(tamis_reader_info(reader, 1, &info)); /* in the middle of a strip */
        assert_int_equal(info.w, 8);
        read_one(reader, 0, &whole, (tamis_rect){17, 150, 900, 50});
        tamis_image_unref(&whole);
        tamis_reader_close(&reader);
    }
    remove(io_path("large.tif"));
    free(data);
}

static void store_text(const char *name, const char *header, size_t bytes)
{
    size_t n = strlen(header);
    uint8_t *data = malloc(n + bytes);
    assert_non_null(data);
    memcpy(data, header, n);
    fill(data + n, bytes, 3);
    io_store(io_path(name), data, n + bytes);
    free(data);
}

static void plain_formats(void **state)
{
    (void)state;
    store_text("a.pbm", "P4 75 58 ", 10 * 58);
    parts_of_file(io_path("a.pbm"), NULL);
    store_text("a.pgm", "P5 75 58 255 ", 75 * 58);
    parts_of_file(io_path("a.pgm"), NULL);
    store_text("a.pgm", "P5 75 58 65535 ", 2 * 75 * 58);
    parts_of_file(io_path("a.pgm"), NULL);
    for (int i = 0; i < io_format_count; i++) {
        const io_format *f = &io_formats[i];
        char name[16];
        snprintf(name, sizeof name, "b%s", f->extension);
        for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
            tamis_format format = {(tamis_type)type, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
            tamis_image image;
            if (!(f->types & 1u << type) || f->lossy || strcmp(f->name, "png") == 0)
                continue;
            image = io_picture(format, 67, 41, 5);
            assert_ok(tamis_image_save(io_ctx, io_path(name), &image, NULL));
            parts_of_file(io_path(name), NULL);
            tamis_image_unref(&image);
        }
    }
    store_text("c.raw", "xyz", 2 * 2 * 31 * 47);
    parts_of_file(io_path("c.raw"), &(tamis_read_options){.raw = "31x47:s16:2:3"});
}

static void some_are_read_whole_only(void **state)
{
    (void)state;
    static const char *const names[] = {"w.png", "w.jpg", "w.pgm"};
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 5, 4, 1);
    for (int i = 0; i < 3; i++) {
        tamis_reader *reader;
        tamis_file_info info;
        tamis_meta meta;
        if (i < 2)
            assert_ok(tamis_image_save(io_ctx, io_path(names[i]), &image, NULL));
        else
            io_store(io_path(names[i]), "P2 2 1 9 3 4", 12);
        assert_ok(tamis_reader_open(io_ctx, io_path(names[i]), NULL, &reader));
        assert_ok(tamis_reader_info(reader, 0, &info));
        assert_int_equal(info.block_w, 0);
        assert_int_equal(info.block_h, 0);
        assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 1, 1}, &image),
                         TAMIS_ERR_UNSUPPORTED);
        assert_message_has("whole only");
        assert_ok(tamis_reader_meta(reader, 0, &meta));
        assert_int_equal(meta.orientation, 1);
        tamis_meta_clear(&meta);
        tamis_reader_close(&reader);
    }
    tamis_image_unref(&image);
}

static void bad_parts_are_refused(void **state)
{
    (void)state;
    static const tamis_rect bad[] = {{-1, 0, 4, 4}, {0, -1, 4, 4},        {72, 0, 4, 4},
                                     {0, 55, 4, 4}, {INT32_MAX, 0, 4, 4}, {0, 0, 76, 4},
                                     {0, 0, 0, 4},  {0, 0, 4, INT32_MAX}};
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 4, 4, 1);
    tamis_reader *reader;
    make(&(layout){"w", 8, 1, PHOTOMETRIC_MINISBLACK});
    assert_ok(tamis_reader_open(io_ctx, io_path("made.tif"), NULL, &reader));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_reader_read_part(reader, 0, bad[i], &image), TAMIS_ERR_ARGUMENT);
        assert_message_has("75x58");
    }
    assert_int_equal(tamis_reader_read_part(reader, 1, (tamis_rect){0, 0, 4, 4}, &image),
                     TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 4, 5}, &image),
                     TAMIS_ERR_ARGUMENT);
    image.device = 1;
    assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 4, 4}, &image),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("a device's memory");
    image.device = 0;
    image.format.channels = 2;
    assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 4, 4}, &image),
                     TAMIS_ERR_ARGUMENT);
    assert_message_has("u8x2");
    assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 4, 4}, NULL),
                     TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_reader_meta(reader, 0, NULL), TAMIS_ERR_ARGUMENT);
    tamis_image_unref(&image);
    tamis_reader_close(&reader);
}

/* A block in the middle is damaged: its part fails, those around it do not. */
static void damage_stays_where_it_is(void **state)
{
    (void)state;
    make(&(layout){"w", 8, 1, PHOTOMETRIC_MINISBLACK, 0, COMPRESSION_ADOBE_DEFLATE, 16});
    TIFF *tif = TIFFOpen(io_path("made.tif"), "r");
    uint64_t at = TIFFGetStrileOffset(tif, 6), size = TIFFGetStrileByteCount(tif, 6);
    TIFFClose(tif);
    io_bytes file = io_load(io_path("made.tif"));
    memset(file.data + at, 0xFF, size);
    io_store(io_path("made.tif"), file.data, file.size);
    free(file.data);
    tamis_reader *reader;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 75, 16, 1);
    assert_ok(tamis_reader_open(io_ctx, io_path("made.tif"), NULL, &reader));
    for (int i = 0; i < 2; i++) {
        assert_ok(tamis_reader_read_part(reader, 0, (tamis_rect){0, 0, 75, 16}, &image));
        assert_int_equal(tamis_reader_read_part(reader, 0, (tamis_rect){0, 8, 75, 16}, &image),
                         TAMIS_ERR_READ);
        assert_message_has("made.tif: TIFF: ");
        assert_ok(tamis_reader_read_part(reader, 0, (tamis_rect){0, 32, 75, 16}, &image));
    }
    tamis_image_unref(&image);
    tamis_reader_close(&reader);
}

int main(void)
{
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandler(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiff_layouts),
        cmocka_unit_test(caches_make_no_difference),
        cmocka_unit_test(turned_pictures),
        cmocka_unit_test(pages_of_different_sizes),
        cmocka_unit_test(large_strips),
        cmocka_unit_test(plain_formats),
        cmocka_unit_test(some_are_read_whole_only),
        cmocka_unit_test(bad_parts_are_refused),
        cmocka_unit_test(damage_stays_where_it_is),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
