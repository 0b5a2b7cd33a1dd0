/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures into formats that libvips writes. */
#include <string.h>

#include "bridge.h"

static VipsBandFormat band_format(tamis_type type)
{
    return type == TAMIS_U8 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT; /* no encoder takes others */
}

static VipsInterpretation interpretation(tamis_format format)
{
    if (format.type == TAMIS_U16)
        return format.channels > 2 ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_GREY16;
    return format.channels > 2 ? VIPS_INTERPRETATION_sRGB : VIPS_INTERPRETATION_B_W;
}

static void set_blob(VipsImage *image, const tamis_meta *meta, const char *name, const char *field)
{
    const tamis_meta_entry *entry = meta ? tamis_meta_find(meta, name) : NULL;
    if (!entry || entry->size == 0)
        return;
    size_t head = strcmp(name, "exif") == 0 ? 6 : 0;
    uint8_t *data = g_malloc(head + entry->size);
    memcpy(data, "Exif\0\0", head);
    memcpy(data + head, entry->data, entry->size);
    vips_image_set_blob(image, field, (VipsCallbackFn)vips_area_free_cb, data, head + entry->size);
}

/* The caller's samples with what belongs to them. */
static VipsImage *wrap(const tamis_image *image, const tamis_meta *meta)
{
    VipsImage *raw = vips_image_new_from_memory(
        image->data[0], (size_t)image->stride[0] * (size_t)image->h, image->w, image->h,
        image->format.channels, band_format(image->format.type));
    VipsImage *out = NULL;
    double x = meta && meta->dpi_x > 0 ? meta->dpi_x / 25.4 : 1;
    double y = meta && meta->dpi_y > 0 ? meta->dpi_y / 25.4 : 1;
    if (raw && vips_copy(raw, &out, "interpretation", interpretation(image->format), "xres", x,
                         "yres", y, NULL))
        out = NULL;
    if (raw)
        g_object_unref(raw);
    if (!out)
        return NULL;
    set_blob(out, meta, "icc", VIPS_META_ICC_NAME);
    set_blob(out, meta, "exif", VIPS_META_EXIF_NAME);
    set_blob(out, meta, "xmp", VIPS_META_XMP_NAME);
    set_blob(out, meta, "iptc", VIPS_META_IPTC_NAME);
    return out;
}

static int save(VipsImage *image, const char *format, int quality, int lossless, void **bytes,
                size_t *size)
{
    if (strcmp(format, "webp") == 0)
        return vips_webpsave_buffer(image, bytes, size, "Q", quality, "lossless", lossless, NULL);
    if (strcmp(format, "jxl") == 0)
        return vips_jxlsave_buffer(image, bytes, size, "Q", quality, "lossless", lossless, NULL);
    if (strcmp(format, "jp2") == 0)
        return vips_jp2ksave_buffer(image, bytes, size, "Q", quality, "lossless", lossless, NULL);
    VipsForeignHeifCompression codec = strcmp(format, "avif") == 0
                                           ? VIPS_FOREIGN_HEIF_COMPRESSION_AV1
                                           : VIPS_FOREIGN_HEIF_COMPRESSION_HEVC;
    return vips_heifsave_buffer(image, bytes, size, "Q", quality, "lossless", lossless,
                                "compression", codec, NULL);
}

tamis_status tamis_priv_vips_encode(tamis_ctx *ctx, const char *name, const char *format,
                                    const tamis_image *image, const tamis_meta *meta, int quality,
                                    int lossless, void **bytes, size_t *size)
{
    VipsImage *picture = wrap(image, meta);
    int bad = !picture || save(picture, format, quality, lossless, bytes, size);
    if (picture)
        g_object_unref(picture);
    return bad ? tamis_priv_vips_fail(ctx, name, TAMIS_ERR_WRITE, "libvips") : TAMIS_OK;
}
