/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that libvips writes for us: pictures are encoded in memory and go the way of all files.
 */
#include <string.h>

#include "vips_module.h"
#include "writer.h"

static tamis_status need_module(const tamis_writer *writer, const tamis_vips_module **module)
{
    char why[256];
    *module = tamis_priv_vips_module(why, sizeof why);
    return *module
               ? TAMIS_OK
               : tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED,
                                        "%s is written by libvips: %s", writer->encoder->name, why);
}

static tamis_status vips_check(const tamis_writer *writer)
{
    const tamis_vips_module *module;
    return need_module(writer, &module);
}

/* As one piece of memory, alpha straight. */
static tamis_status pack(const tamis_writer *writer, const tamis_image *image, tamis_image *out)
{
    tamis_rows rows = {0};
    tamis_format format = image->format;
    format.layout = TAMIS_PACKED;
    *out = (tamis_image){0};
    tamis_status status = tamis_priv_rows_open(writer, image, &rows);
    size_t bytes = rows.bytes;
    if (status == TAMIS_OK)
        status = tamis_image_create(writer->ctx, format, image->w, image->h, out);
    if (status == TAMIS_OK)
        out->stride[0] = (ptrdiff_t)bytes; /* not more than rows of images take */
    for (int32_t y = 0; status == TAMIS_OK && y < image->h; y++)
        memcpy(tamis_image_row(out, 0, y), tamis_priv_rows_get(&rows, y), bytes);
    tamis_priv_rows_close(&rows);
    return status;
}

static tamis_status vips_write(tamis_writer *writer, const tamis_image *image,
                               const tamis_meta *meta)
{
    const tamis_vips_module *module;
    tamis_image packed = {0};
    void *bytes = NULL;
    size_t size = 0;
    tamis_status status = need_module(writer, &module);
    if (status == TAMIS_OK)
        status = pack(writer, image, &packed);
    if (status == TAMIS_OK)
        status = module->encode(writer->ctx, writer->name, writer->encoder->name, &packed, meta,
                                writer->quality, writer->lossless, &bytes, &size);
    if (status == TAMIS_OK)
        status = tamis_priv_writer_bytes(writer, bytes, size);
    if (bytes)
        module->release(bytes);
    tamis_image_unref(&packed);
    return status;
}

enum { GRAY_TO_RGBA = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 };

/* Other samples would be rescaled; floats in JPEG XL do not always come back. */
#define ENCODER(id, words, kinds)                                                                  \
    const tamis_encoder tamis_priv_encoder_##id = {.name = #id,                                    \
                                                   .extensions = words,                            \
                                                   .types = kinds,                                 \
                                                   .channels = GRAY_TO_RGBA,                       \
                                                   .holds_alpha = 1,                               \
                                                   .straight_alpha = 1,                            \
                                                   .check = vips_check,                            \
                                                   .write = vips_write}

ENCODER(webp, "webp", TAMIS_TYPE_BIT(TAMIS_U8));
ENCODER(avif, "avif", TAMIS_TYPE_BIT(TAMIS_U8));
ENCODER(heif, "heif heic", TAMIS_TYPE_BIT(TAMIS_U8));
ENCODER(jp2, "jp2 j2k", TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16));
ENCODER(jxl, "jxl", TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16));
