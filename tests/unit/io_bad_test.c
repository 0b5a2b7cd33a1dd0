/* SPDX-License-Identifier: Apache-2.0 */
/* Broken, boastful and hostile files: a clear error, quickly, with little memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_support.h"

/* Reads everything of a file that may be anything; it must only not crash. */
static tamis_status read_all(const char *path)
{
    tamis_reader *reader;
    tamis_read_options options = {.max_pixels = 1 << 22};
    tamis_status status = tamis_reader_open(io_ctx, path, &options, &reader);
    int pages = 1;
    for (int page = 0; status == TAMIS_OK && page < pages && page < 4; page++) {
        tamis_file_info info;
        tamis_image image;
        tamis_meta meta;
        status = tamis_reader_info(reader, page, &info);
        pages = info.pages;
        if (status == TAMIS_OK)
            status = tamis_reader_read(reader, page, &image, &meta);
        if (status == TAMIS_OK) {
            tamis_image_unref(&image);
            tamis_meta_clear(&meta);
        }
    }
    tamis_reader_close(&reader);
    return status;
}

static void expect_bad(const char *name, const void *data, size_t size, const char *message)
{
    tamis_image image;
    io_store(io_path(name), data, size);
    assert_int_equal(tamis_image_load(io_ctx, io_path(name), &image, NULL), TAMIS_ERR_READ);
    assert_message_has(name);
    assert_message_has(message);
    assert_int_equal(io_bytes_held(), 0);
}

static void no_picture_at_all(void **state)
{
    (void)state;
    expect_bad("empty.png", "", 0, "empty");
    expect_bad("text.png", "this is not a picture\n", 22, "not a picture");
    assert_int_equal(read_all(io_path("missing.png")), TAMIS_ERR_READ);
    assert_message_has("No such file");
    assert_int_equal(read_all("/tmp"), TAMIS_ERR_READ);
    assert_message_has("directory");
    assert_int_equal(read_all("/dev/zero"), TAMIS_ERR_READ);
    assert_int_equal(read_all("/dev/null"), TAMIS_ERR_READ);
}

static void content_counts_not_the_name(void **state)
{
    (void)state;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 5, 5, 1), back;
    assert_ok(tamis_image_save(io_ctx, io_path("a.png"), &image, NULL));
    assert_int_equal(rename(io_path("a.png"), io_path("a.jpg")), 0);
    assert_ok(tamis_image_load(io_ctx, io_path("a.jpg"), &back, NULL));
    io_assert_same(&image, &back);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

static void boastful_headers(void **state)
{
    (void)state;
    static const uint8_t ihdr_tail[] = {8, 6, 0, 0, 0, 0, 0, 0, 0};
    uint8_t png[90] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    memcpy(png + 24, ihdr_tail, sizeof ihdr_tail);
    static const uint8_t tail[] =
        "\0\0\0\4IDAT\x78\x9c\x63\x00\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82";
    memcpy(png + 33, tail, sizeof tail - 1);
    size_t size = 33 + sizeof tail - 1;
    memset(png + 16, 0xFF, 8);
    png[16] = png[20] = 0x7F; /* 2147483647 squared */
    io_store(io_path("huge.png"), png, size);
    tamis_image image;
    assert_int_equal(tamis_image_load(io_ctx, io_path("huge.png"), &image, NULL), TAMIS_ERR_READ);
    assert_message_has("cannot hold");
    memcpy(png + 16, "\0\0\xEA\x60\0\0\xEA\x60", 8); /* 60000 squared */
    io_store(io_path("huge.png"), png, size);
    assert_int_equal(tamis_image_load(io_ctx, io_path("huge.png"), &image, NULL), TAMIS_ERR_READ);
    assert_message_has("cannot hold");
    expect_bad("huge.pgm", "P5\n2000 2000\n255\nabc", 20, "too early");
    expect_bad("huge.ppm", "P3\n2000 2000\n255\n1 2 3", 22, "too early");
    expect_bad("zero.pgm", "P5\n0 5\n255\nabc", 14, "header");
    expect_bad("deep.pgm", "P5\n1 1\n70000\nabc", 16, "header");
    expect_bad("over.pgm", "P5\n2 1\n3\n\1\4", 11, "above maxval");
    expect_bad("wide.pgm", "P5\n99999999999 1\n255\n", 21, "header");
    static const uint8_t sof[] = "\xFF\xD8\xFF\xC0\0\x0B\x08\xFF\xDC\xFF\xDC\1\1\x11\0"
                                 "\xFF\xDA\0\x08\1\1\0\0\x3F\0\0\0\0";
    expect_bad("huge.jpg", sof, sizeof sof - 1, "cannot hold");
    static const uint8_t tiff[] = "II*\0\x08\0\0\0\x06\0"
                                  "\0\1\4\0\1\0\0\0\x60\xEA\0\0"
                                  "\1\1\4\0\1\0\0\0\x60\xEA\0\0"
                                  "\2\1\3\0\1\0\0\0\x10\0\0\0"
                                  "\3\1\3\0\1\0\0\0\x08\0\0\0"
                                  "\x11\1\4\0\1\0\0\0\x08\0\0\0"
                                  "\x17\1\4\0\1\0\0\0\x08\0\0\0\0\0\0";
    expect_bad("huge.tif", tiff, sizeof tiff, "cannot hold");
    expect_bad("huge.pfm", "Pf\n60000 60000\n-1\nabcd", 22, "too early");
    assert_true(tamis_ctx_peak_bytes(io_ctx) < (size_t)64 << 20);
}

static void limits(void **state)
{
    (void)state;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 100, 100, 1);
    assert_ok(tamis_image_save(io_ctx, io_path("a.png"), &image, NULL));
    tamis_image_unref(&image);
    tamis_read_options options = {.max_pixels = 9999};
    tamis_reader *reader;
    assert_int_equal(tamis_reader_open(io_ctx, io_path("a.png"), &options, &reader),
                     TAMIS_ERR_LIMIT);
    assert_message_has("9999");
    tamis_ctx_options small = {.max_bytes = 5000, .threads = 1};
    tamis_ctx *ctx;
    assert_ok(tamis_ctx_create(&small, &ctx));
    assert_int_equal(tamis_image_load(ctx, io_path("a.png"), &image, NULL), TAMIS_ERR_LIMIT);
    tamis_ctx_free(&ctx);
}

/* A picture of every format, with metadata where it has any; which: 0 .. VARIANTS - 1. */
enum { VARIANTS = 4 };
static io_bytes sample_file(const io_format *f, int which)
{
    static const char *const compressions[] = {"deflate", "none", "lzw", "deflate"};
    char name[32];
    snprintf(name, sizeof name, "sample%s", f->extension);
    tamis_format format = {TAMIS_U8, which % 2 ? 3 : 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    if (which >= 2)
        format.type = TAMIS_U16;
    while (!(f->types & 1u << format.type))
        format.type = (tamis_type)((format.type + 1) % TAMIS_TYPE_COUNT);
    tamis_image image = io_picture(format, 23, 17, (uint32_t)which + 1);
    tamis_meta meta = {.dpi_x = 72, .dpi_y = 72, .orientation = 6};
    uint8_t icc[200] = {0};
    memcpy(icc + 16, which % 2 ? "RGB " : "GRAY", 4);
    assert_ok(tamis_meta_set(&meta, "icc", icc, sizeof icc));
    assert_ok(tamis_meta_set(&meta, "xmp", "<x tiff:Orientation=\"6\"/>", 25));
    assert_ok(tamis_meta_set(&meta, "text:Comment", "hello", 5));
    assert_ok(tamis_meta_set(&meta, "iptc", "8BIM\4\4\0\0\0\0\0\4\x1c\2\5\0", 16));
    tamis_write_options options = {.overwrite = 1,
                                   .compression = compressions[which],
                                   .tile = which == 2 ? 16 : 0,
                                   .pages = which == 3 ? 1 << 30 : 1};
    tamis_writer *writer;
    assert_ok(tamis_writer_open(io_ctx, io_path(name), &options, &writer));
    for (int page = 0; page < (strcmp(f->name, "tiff") == 0 ? 2 : 1); page++)
        assert_ok(tamis_writer_write(writer, &image, &meta));
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
    tamis_meta_clear(&meta);
    tamis_image_unref(&image);
    return io_load(io_path(name));
}

/* A shorter file is refused, unless only metadata is missing: then the pixels must be right. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (int i = 0; i < io_format_count; i++)
        for (int which = 0; which < VARIANTS; which++) {
            io_bytes file = sample_file(&io_formats[i], which);
            tamis_image whole, part;
            io_store(io_path("cut"), file.data, file.size);
            assert_ok(tamis_image_load(io_ctx, io_path("cut"), &whole, NULL));
            size_t held = io_bytes_held();
            for (size_t size = 0; size < file.size; size++) {
                io_store(io_path("cut"), file.data, size);
                if (tamis_image_load(io_ctx, io_path("cut"), &part, NULL) == TAMIS_OK) {
                    if (strcmp(io_formats[i].name, "tiff") != 0)
                        fail_msg("%s cut from %zu to %zu bytes was read", io_formats[i].name,
                                 file.size, size);
                    io_assert_same(&whole, &part);
                    tamis_image_unref(&part);
                }
                assert_int_equal(io_bytes_held(), held);
            }
            tamis_image_unref(&whole);
            free(file.data);
        }
}

static void flipped_anywhere(void **state)
{
    (void)state;
    enum { ROUNDS = 600 };
    uint32_t random = 12345;
    for (int i = 0; i < io_format_count; i++)
        for (int which = 0; which < VARIANTS; which++) {
            io_bytes file = sample_file(&io_formats[i], which);
            uint8_t *copy = malloc(file.size);
            for (int round = 0; round < ROUNDS; round++) {
                memcpy(copy, file.data, file.size);
                int changes = 1 + (int)(io_random(&random) % 4);
                for (int c = 0; c < changes; c++) {
                    /* Half of the changes go to the first bytes, where headers are. */
                    size_t range = io_random(&random) % 2 && file.size > 160 ? 160 : file.size;
                    copy[io_random(&random) % range] ^= (uint8_t)(1u << io_random(&random) % 8);
                    if (io_random(&random) % 4 == 0)
                        copy[io_random(&random) % range] = (uint8_t)io_random(&random);
                }
                io_store(io_path("flipped"), copy, file.size);
                (void)read_all(io_path("flipped"));
                assert_int_equal(io_bytes_held(), 0);
            }
            free(copy);
            free(file.data);
        }
}

static void broken_headers_say_where(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"P5\nabc 5\n255\n", "PNM header: the width is 'abc'"},
        {"P5\n0 5\n255\n", "PNM header: the width is '0'"},
        {"P5\n5 -1\n255\n", "PNM header: the height is '-1'"},
        {"P5\n5 99999999999999999999999999999999\n255\n",
         "the height is '99999999999999999999999'"},
        {"P6\n5 2147483648 255\n", "the height is '2147483648'"},
        {"P6\n5 5 # and nothing\n", "PNM header: it ends before the maxval"},
        {"P6\n5 5\n65536\n", "the maxval is '65536'"},
        {"P6\n5 5\n2\x01\n", "the maxval is '2?'"},
        {"P5\n5 5\n255", "it ends before the byte after the header"},
        {"P4\n5 5#", "the byte after the header is '#'"},
        {"P1\n5", "it ends before the height"},
        {"P7\nWIDTH x\n", "PNM header: WIDTH is 'x'"},
        {"P7\nWIDTH 3\nHEIGHT 4\nDEPTH 1\nENDHDR\n", "PNM header: there is no MAXVAL"},
        {"P7\nWIDTH 3\nCOLOR 4\n", "PNM header: a keyword is 'COLOR'"},
        {"P7\nWIDTH 3\n", "it ends before ENDHDR"},
        {"P7\nWIDTH 3\nHEIGHT 4\nDEPTH 1\nMAXVAL 1\nENDHDR", "before the newline after ENDHDR"},
        {"Pf\n5 y\n-1\n", "PFM header: the height is 'y'"},
        {"Pf\n5 5\nlittle\n", "PFM header: the scale is 'little'"},
        {"PF\n5 5\n0\n", "PFM header: the scale is '0'"},
        {"PF\n5 5\n", "PFM header: it ends before the scale"},
        {"\x93NUMPY\4\1\2\1\1\1", "NPY header: version 4"},
        {"\x93NUMPY\2\1\xFF\xFF\xFF\x01", "NPY header: its length is 33554431"},
        {"\x93NUMPY\1\1\x10\1{'descr':'<u2'}", "too early"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_bad("broken", rows[i].text, strlen(rows[i].text), rows[i].message);
    static const struct {
        const char *dictionary, *message;
    } npy[] = {
        {"{'descr':'<u2','shape':(1,2)}", "NPY header: no fortran_order"},
        {"{'descr':'<u2','fortran_order':1,'shape':(1,2)}", "fortran_order is neither"},
        {"{'descr':'<u2','fortran_order':False}", "NPY header: no shape"},
        {"{'descr':'<u2','fortran_order':False,'shape':[1]}", "NPY header: no shape"},
    };
    for (size_t i = 0; i < sizeof npy / sizeof *npy; i++) {
        uint8_t file[128] = "\x93NUMPY\1";
        size_t size = strlen(npy[i].dictionary);
        file[8] = (uint8_t)size;
        memcpy(file + 10, npy[i].dictionary, size);
        expect_bad("broken.npy", file, 10 + size, npy[i].message);
    }
}

#define refused(call, argument)                                                                    \
    do {                                                                                           \
        assert_int_equal(call, TAMIS_ERR_ARGUMENT);                                                \
        assert_message_has(argument " is NULL");                                                   \
    } while (0)

static void null_is_refused(void **state)
{
    (void)state;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 5, 5, 1), back;
    const char *path = io_path("null.png");
    tamis_file_info info;
    tamis_meta meta;
    tamis_reader *reader = NULL;
    tamis_writer *writer = NULL;
    assert_int_equal(tamis_image_save(NULL, path, &image, NULL), TAMIS_ERR_ARGUMENT);
    refused(tamis_image_save(io_ctx, NULL, &image, NULL), "path");
    refused(tamis_image_save(io_ctx, path, NULL, NULL), "image");
    assert_int_equal(tamis_writer_open(NULL, path, NULL, &writer), TAMIS_ERR_ARGUMENT);
    refused(tamis_writer_open(io_ctx, NULL, NULL, &writer), "path");
    refused(tamis_writer_open(io_ctx, path, NULL, NULL), "out");
    refused(tamis_write_options_check(io_ctx, NULL), "options");
    assert_int_equal(tamis_writer_write(NULL, &image, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_writer_finish(NULL), TAMIS_ERR_ARGUMENT);
    tamis_writer_close(NULL);
    assert_int_equal(io_file_count(), 0);

    assert_ok(tamis_image_save(io_ctx, path, &image, NULL));
    assert_int_equal(tamis_image_load(NULL, path, &back, NULL), TAMIS_ERR_ARGUMENT);
    refused(tamis_image_load(io_ctx, NULL, &back, NULL), "path");
    refused(tamis_image_load(io_ctx, path, NULL, NULL), "image");
    assert_int_equal(tamis_reader_open(NULL, path, NULL, &reader), TAMIS_ERR_ARGUMENT);
    refused(tamis_reader_open(io_ctx, NULL, NULL, &reader), "path");
    refused(tamis_reader_open(io_ctx, path, NULL, NULL), "out");
    assert_int_equal(tamis_reader_info(NULL, 0, &info), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_reader_read(NULL, 0, &back, &meta), TAMIS_ERR_ARGUMENT);
    assert_null(meta.entries);
    assert_ok(tamis_reader_open(io_ctx, path, NULL, &reader));
    refused(tamis_reader_info(reader, 0, NULL), "out");
    refused(tamis_reader_read(reader, 0, NULL, &meta), "image");
    tamis_reader_close(&reader);
    tamis_reader_close(NULL);

    tamis_meta_clear(NULL);
    assert_null(tamis_meta_find(NULL, "icc"));
    assert_null(tamis_meta_find(&meta, NULL));
    assert_int_equal(tamis_meta_set(NULL, "icc", "x", 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_meta_set(&meta, NULL, "x", 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_meta_set(&meta, "icc", NULL, 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(meta.count, 0);
    assert_ok(tamis_meta_set(&meta, "icc", NULL, 0));
    tamis_meta_clear(&meta);
    tamis_image_unref(&image);
    io_remove_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_refused),   cmocka_unit_test(broken_headers_say_where),
        cmocka_unit_test(no_picture_at_all), cmocka_unit_test(content_counts_not_the_name),
        cmocka_unit_test(boastful_headers),  cmocka_unit_test(limits),
        cmocka_unit_test(cut_anywhere),      cmocka_unit_test(flipped_anywhere),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
