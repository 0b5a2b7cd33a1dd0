/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a small picture in every format into a folder, for the reader's fuzzer to start from. */
#include <stdio.h>
#include <string.h>

#include <tamis/io.h>

static const struct {
    const char *name, *compression;
    tamis_type type;
    int channels, tile;
} seeds[] = {
    {"g8.png", NULL, TAMIS_U8, 1, 0},        {"rgba16.png", NULL, TAMIS_U16, 4, 0},
    {"rgb.jpg", NULL, TAMIS_U8, 3, 0},       {"g.jpg", NULL, TAMIS_U8, 1, 0},
    {"g16.pgm", NULL, TAMIS_U16, 1, 0},      {"rgb.ppm", NULL, TAMIS_U8, 3, 0},
    {"rgba.pam", NULL, TAMIS_U8, 4, 0},      {"rgb.pfm", NULL, TAMIS_F32, 3, 0},
    {"f16.npy", NULL, TAMIS_F16, 1, 0},      {"s16.npy", NULL, TAMIS_S16, 3, 0},
    {"u8.tif", "none", TAMIS_U8, 3, 0},      {"u16.tif", "lzw", TAMIS_U16, 1, 0},
    {"f32.tif", "deflate", TAMIS_F32, 1, 0}, {"tiled.tif", "none", TAMIS_U8, 4, 16},
};

static int write_seed(tamis_ctx *ctx, const char *folder, size_t i)
{
    tamis_write_options options = {
        .overwrite = 1, .compression = seeds[i].compression, .tile = seeds[i].tile};
    tamis_format format = {.type = seeds[i].type, .channels = seeds[i].channels};
    tamis_writer *writer;
    tamis_image image;
    char path[1024], message[400];

    if (seeds[i].channels == 4)
        format.alpha = TAMIS_ALPHA_STRAIGHT;
    snprintf(path, sizeof path, "%s/%s", folder, seeds[i].name);
    if (tamis_image_create(ctx, format, 9, 7, &image) != TAMIS_OK)
        return -1;
    for (int y = 0; y < 7; y++)
        memset(tamis_image_row(&image, 0, y), 20 + 7 * y,
               9 * (size_t)format.channels * tamis_type_size(format.type));
    tamis_status status = tamis_writer_open(ctx, path, &options, &writer);
    if (status == TAMIS_OK)
        status = tamis_writer_write(writer, &image, NULL);
    if (status == TAMIS_OK)
        status = tamis_writer_finish(writer);
    if (status != TAMIS_OK)
        fprintf(stderr, "%s: %s\n", path, tamis_ctx_last_message(ctx, message, sizeof message));
    tamis_writer_close(&writer);
    tamis_image_unref(&image);
    return status == TAMIS_OK ? 0 : -1;
}

int main(int argc, char **argv)
{
    tamis_ctx *ctx;
    int failed = 0;

    if (argc != 2 || tamis_ctx_create(NULL, &ctx) != TAMIS_OK) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        failed |= write_seed(ctx, argv[1], i);
    tamis_ctx_free(&ctx);
    return failed ? 1 : 0;
}
