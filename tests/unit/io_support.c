/* SPDX-License-Identifier: Apache-2.0 */
#include "io_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tamis_ctx *io_ctx;
static char folder[64];
static size_t idle_bytes; /* what the context holds by itself */

const io_format io_formats[] = {
    {"png", ".png", 1u << TAMIS_U8 | 1u << TAMIS_U16, 0x1E, 1, 0},
    {"jpeg", ".jpg", 1u << TAMIS_U8, 0x0A, 0, 1},
    {"tiff", ".tif", 0x1F, 0x1E, 1, 0},
    {"pfm", ".pfm", 1u << TAMIS_F32, 0x0A, 0, 0},
    {"npy", ".npy", 0x1F, 0x1E, 0, 0},
    {"pnm", ".pnm", 1u << TAMIS_U8 | 1u << TAMIS_U16, 0x0A, 0, 0},
    {"pam", ".pam", 1u << TAMIS_U8 | 1u << TAMIS_U16, 0x1E, 1, 0},
};
const int io_format_count = sizeof io_formats / sizeof *io_formats;

int io_setup(void **state)
{
    (void)state;
    /* In memory where possible: some tests write tens of thousands of files. */
    if (!mkdtemp(strcpy(folder, "/dev/shm/tamis-io-test-XXXXXX")) &&
        !mkdtemp(strcpy(folder, "/tmp/tamis-io-test-XXXXXX")))
        return -1;
    if (tamis_ctx_create(NULL, &io_ctx) != TAMIS_OK)
        return -1;
    idle_bytes = tamis_ctx_bytes(io_ctx);
    return 0;
}

int io_teardown(void **state)
{
    (void)state;
    io_remove_all();
    int left = io_bytes_held() != 0;
    tamis_ctx_free(&io_ctx);
    return rmdir(folder) != 0 || left ? -1 : 0;
}

size_t io_bytes_held(void)
{
    return tamis_ctx_bytes(io_ctx) - idle_bytes;
}

const char *io_path(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int each_file(int remove_them)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        count++;
        if (remove_them)
            remove(io_path(e->d_name));
    }
    if (dir)
        closedir(dir);
    return count;
}

int io_file_count(void)
{
    return each_file(0);
}

void io_remove_all(void)
{
    each_file(1);
}

io_bytes io_load(const char *path)
{
    io_bytes out = {0};
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    out.size = (size_t)ftell(f);
    rewind(f);
    out.data = malloc(out.size + 1);
    assert_non_null(out.data);
    assert_int_equal(fread(out.data, 1, out.size, f), out.size);
    fclose(f);
    return out;
}

void io_store(const char *path, const void *data, size_t size)
{
    remove(path); /* ext4 waits for the disk when a file is cut and written anew */
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

const char *io_message(void)
{
    static char text[1024];
    return tamis_ctx_last_message(io_ctx, text, sizeof text);
}

uint32_t io_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void put_sample(uint8_t *p, tamis_type type, uint32_t r)
{
    uint16_t v16 = (uint16_t)(r >> 8);
    float f = (float)((int32_t)r / 65536.0);
    if (type == TAMIS_F16)
        v16 &= 0xBBFF; /* no infinity, no NaN */
    if (type == TAMIS_U8)
        *p = (uint8_t)(r >> 8);
    else if (type == TAMIS_F32)
        memcpy(p, &f, 4);
    else
        memcpy(p, &v16, 2);
}

tamis_image io_picture(tamis_format format, int32_t w, int32_t h, uint32_t seed)
{
    tamis_image image;
    assert_ok(tamis_image_create(io_ctx, format, w, h, &image));
    uint32_t state = seed * 2654435761u + 1;
    size_t size = tamis_type_size(format.type);
    int planes = tamis_image_planes(&image);
    int samples = w * (planes > 1 ? 1 : format.channels);
    if (format.layout == TAMIS_PLANAR)
        samples = w;
    for (int p = 0; p < planes; p++)
        for (int32_t y = 0; y < h; y++)
            for (int i = 0; i < samples; i++)
                put_sample((uint8_t *)tamis_image_row(&image, p, y) + size * (size_t)i, format.type,
                           io_random(&state));
    return image;
}

static const uint8_t *sample_at(const tamis_image *image, int32_t x, int32_t y, int c)
{
    size_t size = tamis_type_size(image->format.type);
    if (image->format.layout == TAMIS_PLANAR)
        return (uint8_t *)tamis_image_row(image, c, y) + size * (size_t)x;
    return (uint8_t *)tamis_image_row(image, 0, y) +
           size * (size_t)(x * image->format.channels + c);
}

void io_assert_same(const tamis_image *a, const tamis_image *b)
{
    assert_int_equal(a->w, b->w);
    assert_int_equal(a->h, b->h);
    assert_int_equal(a->format.type, b->format.type);
    assert_int_equal(a->format.channels, b->format.channels);
    size_t size = tamis_type_size(a->format.type);
    for (int32_t y = 0; y < a->h; y++)
        for (int32_t x = 0; x < a->w; x++)
            for (int c = 0; c < a->format.channels; c++)
                if (memcmp(sample_at(a, x, y, c), sample_at(b, x, y, c), size) != 0)
                    fail_msg("first difference at x = %d, y = %d, channel %d", x, y, c);
}

tamis_status io_write(const char *path, const tamis_write_options *options,
                      const tamis_image *image, const tamis_meta *meta)
{
    tamis_writer *writer;
    tamis_status status = tamis_writer_open(io_ctx, path, options, &writer);
    if (status == TAMIS_OK)
        status = tamis_writer_write(writer, image, meta);
    if (status == TAMIS_OK)
        status = tamis_writer_finish(writer);
    tamis_writer_close(&writer);
    return status;
}
