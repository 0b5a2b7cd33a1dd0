/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata: kept where the format has a place for it; orientation acted upon exactly once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_support.h"

static const tamis_format rgb8 = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};

/* Formats that keep metadata. */
static const char *const keepers[] = {"m.png", "m.tif", "m.jpg"};
#define KEEPER_COUNT (sizeof keepers / sizeof *keepers)

/* A small EXIF block: orientation, a camera name, and an EXIF directory with a picture width. */
typedef struct exif_block {
    uint8_t data[128];
    size_t size;
} exif_block;

static void put_number(uint8_t *p, uint32_t v, int bytes, int big)
{
    for (int i = 0; i < bytes; i++)
        p[big ? bytes - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

static void put_tag(uint8_t *p, int big, unsigned tag, unsigned type, uint32_t count,
                    uint32_t value)
{
    put_number(p, tag, 2, big);
    put_number(p + 2, type, 2, big);
    put_number(p + 4, count, 4, big);
    put_number(p + 8, value, type == 3 ? 2 : 4, big);
}

static exif_block make_exif(int orientation, int big)
{
    exif_block b = {.size = 80};
    memcpy(b.data, big ? "MM" : "II", 2);
    put_number(b.data + 2, 42, 2, big);
    put_number(b.data + 4, 8, 4, big);
    put_number(b.data + 8, 3, 2, big);
    put_tag(b.data + 10, big, 0x010F, 2, 6, 68); /* Make */
    put_tag(b.data + 22, big, 0x0112, 3, 1, (uint32_t)orientation);
    put_tag(b.data + 34, big, 0x8769, 4, 1, 50);
    put_number(b.data + 50, 1, 2, big);
    put_tag(b.data + 52, big, 0xA002, 3, 1, 999);
    memcpy(b.data + 68, "Tamis", 6);
    return b;
}

/* Value of a SHORT tag of the main or (sub) EXIF directory; -1 when absent. */
static int exif_value(const tamis_meta *meta, int sub, unsigned tag)
{
    const tamis_meta_entry *exif = tamis_meta_find(meta, "exif");
    if (!exif)
        return -1;
    int big = exif->data[0] == 'M';
    const uint8_t *d = exif->data;
#define AT16(p) (big ? (p)[0] << 8 | (p)[1] : (p)[1] << 8 | (p)[0])
#define AT32(p) (big ? AT16(p) << 16 | AT16((p) + 2) : AT16((p) + 2) << 16 | AT16(p))
    int at = AT32(d + 4);
    for (int level = 0; level <= sub; level++) {
        int count = AT16(d + at), next = -1;
        for (int i = 0; i < count; i++) {
            const uint8_t *p = d + at + 2 + 12 * i;
            if (level == sub && (unsigned)AT16(p) == tag)
                return AT16(p + 8);
            if ((unsigned)AT16(p) == 0x8769)
                next = AT32(p + 8);
        }
        if (next < 0)
            return -1;
        at = next;
    }
    return -1;
#undef AT16
#undef AT32
}

/* A profile is kept by its bytes; only its size and color model matter here. */
static void make_icc(uint8_t icc[300], const char *model)
{
    for (int i = 0; i < 300; i++)
        icc[i] = (uint8_t)(i * 7);
    memcpy(icc + 16, model, 4);
}

static const char xmp[] = "<?xpacket?><rdf tiff:Orientation=\"6\" x='1'/><?end?>";

static void fill(tamis_meta *meta, int orientation)
{
    uint8_t icc[300];
    exif_block exif = make_exif(orientation, orientation % 2);
    make_icc(icc, "RGB ");
    *meta = (tamis_meta){.dpi_x = 300, .dpi_y = 150, .orientation = 1};
    assert_ok(tamis_meta_set(meta, "icc", icc, sizeof icc));
    assert_ok(tamis_meta_set(meta, "exif", exif.data, exif.size));
    assert_ok(tamis_meta_set(meta, "xmp", xmp, sizeof xmp - 1));
    assert_ok(tamis_meta_set(meta, "iptc", "8BIM\4\4\0\0\0\0\0\4\x1c\2\5\0", 16));
    assert_ok(tamis_meta_set(meta, "text:Comment",
                             "gr\xc3\xbc\xc3\x9f"
                             "e",
                             7));
}

static void expect_entry(const tamis_meta *a, const tamis_meta *b, const char *name)
{
    const tamis_meta_entry *x = tamis_meta_find(a, name), *y = tamis_meta_find(b, name);
    if (!x || !y)
        fail_msg("no entry '%s'", name);
    assert_int_equal(x->size, y->size);
    assert_memory_equal(x->data, y->data, x->size);
}

static void set_find_clear(void **state)
{
    (void)state;
    tamis_meta meta = {0};
    assert_null(tamis_meta_find(&meta, "icc"));
    assert_ok(tamis_meta_set(&meta, "icc", "abc", 3));
    assert_ok(tamis_meta_set(&meta, "text:A", "", 0));
    assert_ok(tamis_meta_set(&meta, "icc", "defg", 4));
    assert_int_equal(meta.count, 2);
    assert_int_equal(tamis_meta_find(&meta, "icc")->size, 4);
    tamis_meta_clear(&meta);
    assert_int_equal(meta.count, 0);
}

static void blocks_survive(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 21, 13, 1), back;
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        tamis_meta meta, kept;
        fill(&meta, 1);
        assert_ok(tamis_image_save(io_ctx, io_path(keepers[i]), &image, &meta));
        assert_ok(tamis_image_load(io_ctx, io_path(keepers[i]), &back, &kept));
        expect_entry(&meta, &kept, "icc");
        if (strstr(keepers[i], ".tif"))
            assert_string_equal((const char *)tamis_meta_find(&kept, "tiff:270")->data,
                                "gr\xc3\xbc\xc3\x9f"
                                "e");
        else
            expect_entry(&meta, &kept, "text:Comment");
        assert_int_equal(tamis_meta_find(&kept, "xmp")->size, sizeof xmp - 1);
        assert_non_null(tamis_meta_find(&kept, "iptc"));
        assert_true(fabs(kept.dpi_x - 300) < 0.02);
        assert_true(fabs(kept.dpi_y - 150) < 0.02);
        assert_int_equal(kept.orientation, 1);
        assert_int_equal(exif_value(&kept, 0, 0x0112), 1);
        assert_int_equal(exif_value(&kept, 1, 0xA002), 21); /* the size is the picture's */
        tamis_meta_clear(&meta);
        tamis_meta_clear(&kept);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&image);
}

/* From any format that keeps metadata into any other. */
static void blocks_change_formats(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 21, 13, 1), first, second;
    for (size_t i = 0; i < KEEPER_COUNT; i++)
        for (size_t j = 0; j < KEEPER_COUNT; j++) {
            tamis_meta meta, kept, moved;
            char to[32];
            snprintf(to, sizeof to, "to-%s", keepers[j]);
            fill(&meta, 1);
            assert_ok(tamis_image_save(io_ctx, io_path(keepers[i]), &image, &meta));
            assert_ok(tamis_image_load(io_ctx, io_path(keepers[i]), &first, &kept));
            assert_ok(tamis_image_save(io_ctx, io_path(to), &first, &kept));
            assert_ok(tamis_image_load(io_ctx, io_path(to), &second, &moved));
            expect_entry(&kept, &moved, "icc");
            expect_entry(&kept, &moved, "xmp");
            expect_entry(&kept, &moved, "iptc");
            assert_int_equal(exif_value(&moved, 0, 0x0112), 1);
            assert_int_equal(exif_value(&moved, 1, 0xA002), 21);
            assert_true(fabs(moved.dpi_x - 300) < 0.02);
            tamis_meta_clear(&meta);
            tamis_meta_clear(&kept);
            tamis_meta_clear(&moved);
            tamis_image_unref(&first);
            tamis_image_unref(&second);
        }
    tamis_image_unref(&image);
}

/* Where the upright pixel (x, y) lies in a stored picture of sw x sh. */
static void stored_place(int orientation, int32_t x, int32_t y, int32_t sw, int32_t sh, int32_t *sx,
                         int32_t *sy)
{
    switch (orientation) {
    case 1:
        *sx = x, *sy = y;
        break;
    case 2:
        *sx = sw - 1 - x, *sy = y;
        break;
    case 3:
        *sx = sw - 1 - x, *sy = sh - 1 - y;
        break;
    case 4:
        *sx = x, *sy = sh - 1 - y;
        break;
    case 5:
        *sx = y, *sy = x;
        break;
    case 6:
        *sx = y, *sy = sh - 1 - x;
        break;
    case 7:
        *sx = sw - 1 - y, *sy = sh - 1 - x;
        break;
    default:
        *sx = sw - 1 - y, *sy = x;
        break;
    }
}

static void expect_upright(const tamis_image *stored, const tamis_image *upright, int orientation)
{
    int32_t w = orientation >= 5 ? stored->h : stored->w;
    assert_int_equal(upright->w, w);
    for (int32_t y = 0; y < upright->h; y++)
        for (int32_t x = 0; x < w; x++) {
            int32_t sx, sy;
            stored_place(orientation, x, y, stored->w, stored->h, &sx, &sy);
            assert_memory_equal((uint8_t *)tamis_image_row(upright, 0, y) + 3 * x,
                                (uint8_t *)tamis_image_row(stored, 0, sy) + 3 * sx, 3);
        }
}

static void orientation_once(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 67, 35, 1), back, again;
    for (size_t i = 0; i < KEEPER_COUNT; i++)
        for (int orientation = 1; orientation <= 8; orientation++) {
            const char *path = io_path(keepers[i]);
            tamis_meta meta, kept;
            fill(&meta, orientation);
            meta.orientation = orientation;
            assert_ok(tamis_image_save(io_ctx, path, &image, &meta));
            tamis_reader *reader;
            tamis_file_info info;
            assert_ok(tamis_reader_open(io_ctx, path, NULL, &reader));
            assert_ok(tamis_reader_info(reader, 0, &info));
            assert_int_equal(info.orientation, orientation);
            assert_ok(tamis_reader_read(reader, 0, &back, &kept));
            tamis_reader_close(&reader);
            assert_int_equal(info.w, back.w);
            assert_int_equal(kept.orientation, 1);
            assert_int_equal(exif_value(&kept, 0, 0x0112), 1);
            assert_true(fabs((orientation >= 5 ? kept.dpi_y : kept.dpi_x) - 300) < 0.02);
            const tamis_meta_entry *packet = tamis_meta_find(&kept, "xmp");
            char copy[sizeof xmp] = {0};
            memcpy(copy, packet->data, sizeof xmp - 1);
            assert_non_null(strstr(copy, "tiff:Orientation=\"1\""));
            if (!strstr(keepers[i], ".jpg"))
                expect_upright(&image, &back, orientation);
            /* Written again it must not turn a second time. */
            assert_ok(tamis_image_save(io_ctx, io_path("again.png"), &back, &kept));
            assert_ok(tamis_image_load(io_ctx, io_path("again.png"), &again, NULL));
            io_assert_same(&back, &again);
            tamis_image_unref(&again);
            tamis_image_unref(&back);
            tamis_meta_clear(&meta);
            tamis_meta_clear(&kept);
        }
    tamis_image_unref(&image);
}

static void orientation_kept_on_request(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 7, 5, 1), back;
    tamis_read_options options = {.keep_orientation = 1};
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        tamis_meta meta = {.orientation = 8}, kept; /* no EXIF block: one is made */
        assert_ok(tamis_image_save(io_ctx, io_path(keepers[i]), &image, &meta));
        tamis_reader *reader;
        assert_ok(tamis_reader_open(io_ctx, io_path(keepers[i]), &options, &reader));
        assert_ok(tamis_reader_read(reader, 0, &back, &kept));
        assert_int_equal(kept.orientation, 8);
        assert_int_equal(back.w, 7);
        tamis_image_unref(&back);
        tamis_meta_clear(&kept);
        tamis_reader_close(&reader);
    }
    tamis_image_unref(&image);
}

static void a_profile_of_another_color_model_is_left_out(void **state)
{
    (void)state;
    tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image image = io_picture(gray, 7, 5, 1), back;
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        tamis_meta meta = {0}, kept;
        uint8_t icc[300];
        make_icc(icc, "RGB ");
        assert_ok(tamis_meta_set(&meta, "icc", icc, sizeof icc));
        assert_ok(tamis_image_save(io_ctx, io_path(keepers[i]), &image, &meta));
        assert_ok(tamis_image_load(io_ctx, io_path(keepers[i]), &back, &kept));
        assert_null(tamis_meta_find(&kept, "icc"));
        tamis_meta_clear(&kept);
        tamis_image_unref(&back);
        make_icc(icc, "GRAY");
        assert_ok(tamis_meta_set(&meta, "icc", icc, sizeof icc));
        assert_ok(tamis_image_save(io_ctx, io_path(keepers[i]), &image, &meta));
        assert_ok(tamis_image_load(io_ctx, io_path(keepers[i]), &back, &kept));
        expect_entry(&meta, &kept, "icc");
        tamis_meta_clear(&kept);
        tamis_meta_clear(&meta);
        tamis_image_unref(&back);
    }
    tamis_image_unref(&image);
}

static void png_chunks_and_texts(void **state)
{
    (void)state;
    tamis_image image = io_picture(rgb8, 7, 5, 1), back;
    tamis_meta meta = {0}, kept;
    char text[3000];
    memset(text, 'x', sizeof text);
    assert_ok(tamis_meta_set(&meta, "png:gAMA", "\0\0\xb1\x8f", 4));
    assert_ok(tamis_meta_set(&meta, "png:cICP", "\x09\x10\0\1", 4));
    assert_ok(tamis_meta_set(&meta, "png:sRGB", "\1", 1));
    assert_ok(tamis_meta_set(&meta, "png:cHRM", text, 32));
    assert_ok(tamis_meta_set(&meta, "text:Title", "short", 5));
    assert_ok(tamis_meta_set(&meta, "text:Long", text, sizeof text));
    assert_ok(tamis_meta_set(&meta, "text:Nihongo", "\xe6\x97\xa5", 3));
    assert_ok(tamis_meta_set(&meta, "text:gr\xc3\xbc", "key in Latin-1", 14));
    assert_ok(tamis_image_save(io_ctx, io_path("c.png"), &image, &meta));
    assert_ok(tamis_image_load(io_ctx, io_path("c.png"), &back, &kept));
    assert_int_equal(kept.count, meta.count);
    for (size_t i = 0; i < meta.count; i++)
        expect_entry(&meta, &kept, meta.entries[i].name);
    tamis_meta_clear(&kept);
    tamis_meta_clear(&meta);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_find_clear),
        cmocka_unit_test(blocks_survive),
        cmocka_unit_test(blocks_change_formats),
        cmocka_unit_test(orientation_once),
        cmocka_unit_test(orientation_kept_on_request),
        cmocka_unit_test(a_profile_of_another_color_model_is_left_out),
        cmocka_unit_test(png_chunks_and_texts),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
