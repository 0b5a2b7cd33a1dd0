/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a picture file: read or refused, within little memory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tamis/io.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reader takes names, so the bytes go through one file of this process. */
static const char *write_file(const uint8_t *data, size_t size)
{
    static char path[64];
    FILE *f;

    if (!path[0])
        snprintf(path, sizeof path, "/tmp/tamis_fuzz_%ld", (long)getpid());
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
    return path;
}

/* Reads every page's last byte, so that sanitizers see what was left unset or too short. */
static void touch(const tamis_image *image)
{
    unsigned sum = 0;
    size_t n = (size_t)image->w * tamis_type_size(image->format.type);

    if (image->format.layout == TAMIS_PACKED)
        n *= (size_t)image->format.channels;
    for (int p = 0; p < tamis_image_planes(image); p++)
        for (int y = 0; y < image->h; y++)
            sum += ((const uint8_t *)tamis_image_row(image, p, y))[n - 1];
    if (sum == 1) /* never mind: the sum must be wanted for something */
        fflush(stdout);
}

/* Bands of the first page, as far as there are any. */
static void read_bands(tamis_ctx *ctx, tamis_reader *reader, const tamis_file_info *info)
{
    int32_t h = info->h / 3 + 1;
    tamis_image band;

    if (tamis_image_create(ctx, info->image, info->w, h, &band) != TAMIS_OK)
        return;
    for (int32_t y = 0; y <= info->h - h; y += h) {
        tamis_rect rect = {0, y, info->w, h};
        if (tamis_reader_read_part(reader, 0, rect, &band) == TAMIS_OK)
            touch(&band);
    }
    tamis_image_unref(&band);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tamis_ctx *ctx;
    tamis_ctx_options options = {.threads = 1, .max_bytes = 64 << 20};
    tamis_read_options limits = {.max_pixels = 1 << 20};
    tamis_reader *reader;
    tamis_file_info info;

    if (!ctx && tamis_ctx_create(&options, &ctx) != TAMIS_OK)
        abort();
    if (tamis_reader_open(ctx, write_file(data, size), &limits, &reader) != TAMIS_OK)
        return 0;
    if (tamis_reader_info(reader, 0, &info) == TAMIS_OK) {
        tamis_image image = {0};
        tamis_meta meta = {0};
        if (tamis_reader_read(reader, info.pages > 1 ? info.pages - 1 : 0, &image, &meta) ==
            TAMIS_OK)
            touch(&image);
        tamis_image_unref(&image);
        tamis_meta_clear(&meta);
        read_bands(ctx, reader, &info);
    }
    tamis_reader_close(&reader);
    return 0;
}
