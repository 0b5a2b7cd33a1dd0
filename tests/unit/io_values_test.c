/* SPDX-License-Identifier: Apache-2.0 */
/* Files given byte by byte, and the samples they mean. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io_support.h"

static tamis_image load_bytes(const char *name, const void *bytes, size_t size)
{
    tamis_image image;
    io_store(io_path(name), bytes, size);
    assert_ok(tamis_image_load(io_ctx, io_path(name), &image, NULL));
    return image;
}

static void expect_u8(const char *name, const char *text, size_t size, int channels, int32_t w,
                      const uint8_t *samples)
{
    tamis_image image = load_bytes(name, text, size);
    assert_int_equal(image.format.type, TAMIS_U8);
    assert_int_equal(image.format.channels, channels);
    assert_int_equal(image.w, w);
    size_t row = (size_t)(w * channels);
    for (int32_t y = 0; y < image.h; y++)
        assert_memory_equal(tamis_image_row(&image, 0, y), samples + row * (size_t)y, row);
    tamis_image_unref(&image);
}
#define EXPECT_U8(text, channels, w, ...)                                                          \
    expect_u8("values", text, sizeof(text) - 1, channels, w, (const uint8_t[]){__VA_ARGS__})

static void pnm_texts(void **state)
{
    (void)state;
    EXPECT_U8("P1\n# comment\n3 2\n101\n0 1 0", 1, 3, 0, 255, 0, 255, 0, 255);
    EXPECT_U8("P2 5 1 # five\n11\n0 3 7 11 5\n", 1, 5, 0, 70, 162, 255, 116);
    EXPECT_U8("P3\n1 2\n255\n1 2 3\n250 251 252", 3, 1, 1, 2, 3, 250, 251, 252);
    EXPECT_U8("P4\n10 1\n\xAA\x40", 1, 10, 0, 255, 0, 255, 0, 255, 0, 255, 255, 0);
    EXPECT_U8("P5\n3 1\n#c\n255\n\x01\x80\xFF", 1, 3, 1, 128, 255);
    EXPECT_U8("P6 1 1 1\n\x01\x00\x01", 3, 1, 255, 0, 255);
    EXPECT_U8("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 3\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n"
              "\x01\x03",
              2, 1, 85, 255);
    EXPECT_U8("P7\n# c\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nHEIGHT 1\nWIDTH 2\nDEPTH 1\nENDHDR\n"
              "\x01\x00",
              1, 2, 255, 0);
}

static void pnm_wide_maxval(void **state)
{
    (void)state;
    static const char text[] = "P5\n4 1\n4095\n\x00\x00\x00\x01\x08\x00\x0F\xFF";
    tamis_image image = load_bytes("wide.pgm", text, sizeof text - 1);
    assert_int_equal(image.format.type, TAMIS_U16);
    assert_memory_equal(image.data[0], ((const uint16_t[]){0, 16, 32776, 65535}), 8);
    tamis_image_unref(&image);
}

/* A PNG under construction. */
typedef struct png_text {
    uint8_t data[1 << 16];
    size_t size;
} png_text;

static void put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void png_chunk(png_text *png, const char *name, const void *data, size_t size)
{
    uint8_t *p = png->data + png->size;
    put_be32(p, (uint32_t)size);
    memcpy(p + 4, name, 4);
    if (size)
        memcpy(p + 8, data, size);
    put_be32(p + 8 + size, (uint32_t)crc32(0, p + 4, (uInt)size + 4));
    png->size += 12 + size;
}

static void png_begin(png_text *png, uint32_t w, uint32_t h, int depth, int color, int interlace)
{
    uint8_t header[13] = {0};
    memcpy(png->data, "\x89PNG\r\n\x1a\n", 8);
    png->size = 8;
    put_be32(header, w);
    put_be32(header + 4, h);
    header[8] = (uint8_t)depth;
    header[9] = (uint8_t)color;
    header[12] = (uint8_t)interlace;
    png_chunk(png, "IHDR", header, sizeof header);
}

static void png_end(png_text *png, const void *rows, size_t size)
{
    uint8_t packed[4096];
    uLongf n = sizeof packed;
    assert_int_equal(compress(packed, &n, rows, (uLong)size), Z_OK);
    png_chunk(png, "IDAT", packed, n);
    png_chunk(png, "IEND", NULL, 0);
}

static png_text png;
#define EXPECT_PNG(channels, w, ...)                                                               \
    expect_u8("values.png", (const char *)png.data, png.size, channels, w,                         \
              (const uint8_t[]){__VA_ARGS__})

static void png_below_8_bit(void **state)
{
    (void)state;
    png_begin(&png, 9, 1, 1, 0, 0);
    png_end(&png, "\0\xA5\x80", 3);
    EXPECT_PNG(1, 9, 255, 0, 255, 0, 0, 255, 0, 255, 255);
    png_begin(&png, 4, 1, 2, 0, 0);
    png_end(&png, "\0\x1B", 2);
    EXPECT_PNG(1, 4, 0, 85, 170, 255);
    png_begin(&png, 3, 1, 4, 0, 0);
    png_end(&png, "\0\x7F\x10", 3);
    EXPECT_PNG(1, 3, 119, 255, 17);
}

static void png_palettes(void **state)
{
    (void)state;
    static const uint8_t palette[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    png_begin(&png, 2, 2, 8, 3, 0);
    png_chunk(&png, "PLTE", palette, sizeof palette);
    png_chunk(&png, "tRNS", "\x00\x80\xFF", 3);
    png_end(&png, "\0\0\1\0\2\3", 6);
    EXPECT_PNG(4, 2, 255, 0, 0, 0, 0, 255, 0, 128, 0, 0, 255, 255, 255, 255, 255, 255);
    png_begin(&png, 4, 1, 2, 3, 0);
    png_chunk(&png, "PLTE", palette, sizeof palette);
    png_end(&png, "\0\x1B", 2);
    EXPECT_PNG(3, 4, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255);
}

static void png_key_colors(void **state)
{
    (void)state;
    png_begin(&png, 2, 1, 8, 0, 0);
    png_chunk(&png, "tRNS", "\0\x07", 2);
    png_end(&png, "\0\x07\x08", 3);
    EXPECT_PNG(2, 2, 7, 0, 8, 255);
}

static void png_interlaced(void **state)
{
    (void)state;
    /* 2x2: pass 1 holds (0,0), pass 6 (1,0), pass 7 the row below. */
    png_begin(&png, 2, 2, 8, 0, 1);
    png_end(&png, "\0\x0A\0\x14\0\x1E\x28", 7);
    EXPECT_PNG(1, 2, 10, 20, 30, 40);
}

static void png_16_bit_order(void **state)
{
    (void)state;
    png_begin(&png, 2, 1, 16, 0, 0);
    png_end(&png, "\0\x01\x02\xFF\xFE", 5);
    tamis_image image = load_bytes("deep.png", png.data, png.size);
    assert_memory_equal(image.data[0], ((const uint16_t[]){0x0102, 0xFFFE}), 4);
    tamis_image_unref(&image);
}

static void pfm_both_byte_orders(void **state)
{
    (void)state;
    static const char little[] = "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\x40";
    static const char big[] = "Pf 1 2 2.5\n\x3f\x80\0\0\x40\0\0\0";
    for (int i = 0; i < 2; i++) {
        tamis_image image =
            load_bytes("a.pfm", i ? big : little, (i ? sizeof big : sizeof little) - 1);
        assert_int_equal(image.format.type, TAMIS_F32);
        /* The first row of the file is the lowest. */
        assert_true(*(float *)tamis_image_row(&image, 0, 0) == 2);
        assert_true(*(float *)tamis_image_row(&image, 0, 1) == 1);
        tamis_image_unref(&image);
    }
}

#define EXPECT_NPY(channels, w, ...)                                                               \
    expect_u8("values.npy", (const char *)file, n, channels, w, (const uint8_t[]){__VA_ARGS__})

/* An NPY file with the given header text. */
static size_t make_npy(uint8_t *out, int version, const char *header, const void *data, size_t size)
{
    size_t n = strlen(header), at = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    memset(out + 7, 0, 5);
    out[8] = (uint8_t)n;
    memcpy(out + at, header, n);
    memcpy(out + at + n, data, size);
    return at + n + size;
}

static void npy_orders(void **state)
{
    (void)state;
    uint8_t file[256];
    size_t n = make_npy(file, 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1, 2), }\n",
                        "\1\2\3\4", 4);
    tamis_image image = load_bytes("a.npy", file, n);
    assert_memory_equal(image.data[0], ((const uint16_t[]){0x0102, 0x0304}), 4);
    tamis_image_unref(&image);
    n = make_npy(file, 2, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"|u1\"}", "adbecf",
                 6);
    EXPECT_NPY(1, 3, 'a', 'b', 'c', 'd', 'e', 'f');
    n = make_npy(file, 3, "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2, 3)}", "adbecf",
                 6);
    EXPECT_NPY(3, 2, 'a', 'b', 'c', 'd', 'e', 'f');
}

static void npy_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *header, *text;
        tamis_status status;
    } rows[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}", "<f8", TAMIS_ERR_UNSUPPORTED},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1)}", "record",
         TAMIS_ERR_UNSUPPORTED},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", "1 dimensions",
         TAMIS_ERR_UNSUPPORTED},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 5)}", "with 5",
         TAMIS_ERR_UNSUPPORTED},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1)}", "4 dimensions",
         TAMIS_ERR_UNSUPPORTED},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "header", TAMIS_ERR_READ},
        {"{'descr': '|u1', 'shape': (1, 1)}", "header", TAMIS_ERR_READ},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 0)}", "outside", TAMIS_ERR_READ},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (90000, 90000)}", "too early",
         TAMIS_ERR_READ},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999999, 1)}",
         "outside", TAMIS_ERR_READ},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[256];
        tamis_image image;
        io_store(io_path("bad.npy"), file, make_npy(file, 1, rows[i].header, "abcd", 4));
        assert_int_equal(tamis_image_load(io_ctx, io_path("bad.npy"), &image, NULL),
                         rows[i].status);
        assert_message_has(rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pnm_texts),        cmocka_unit_test(pnm_wide_maxval),
        cmocka_unit_test(png_below_8_bit),  cmocka_unit_test(png_palettes),
        cmocka_unit_test(png_key_colors),   cmocka_unit_test(png_interlaced),
        cmocka_unit_test(png_16_bit_order), cmocka_unit_test(pfm_both_byte_orders),
        cmocka_unit_test(npy_orders),       cmocka_unit_test(npy_refusals),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
