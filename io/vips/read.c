/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures from libvips, with the samples as they are there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

enum { STRIP_ROWS = 64 };

struct tamis_vips {
    tamis_ctx *ctx;
    char *name;
    VipsImage *image;
    int by_parts;       /* any part can be read by itself */
    double alpha_range; /* of floats, which are to have 1 */
    tamis_file_info info;
};

/* ---- which formats */

/* What drawings and tables look like as pixels is no property of theirs; pictures of our own
 * formats have been read by our own readers, or refused. */
typedef struct loader {
    const char *begin;  /* of the loader's name */
    const char *format; /* NULL: not this one */
    const char *why;
} loader;

static const loader loaders[] = {
    {"VipsForeignLoadSvg", NULL, "SVG: a drawing has no pixels yet; render it first"},
    {"VipsForeignLoadPdf", NULL, "PDF: a document has no pixels yet; render it first"},
    {"VipsForeignLoadCsv", NULL, ""},
    {"VipsForeignLoadMatrix", NULL, ""},
    {"VipsForeignLoadMat", NULL, ""},
    {"VipsForeignLoadRaw", NULL, ""},
    {"VipsForeignLoadWebp", "webp", NULL},
    {"VipsForeignLoadHeif", "heif", NULL},
    {"VipsForeignLoadJxl", "jxl", NULL},
    {"VipsForeignLoadJp2k", "jp2", NULL},
    {"VipsForeignLoadOpenexr", "exr", NULL},
    {"VipsForeignLoadFits", "fits", NULL},
    {"VipsForeignLoadNsgif", "gif", NULL},
    {"VipsForeignLoadGif", "gif", NULL},
    {"VipsForeignLoadRad", "hdr", NULL},
    {"VipsForeignLoadOpenslide", "openslide", NULL},
    {"VipsForeignLoadVips", "vips", NULL},
    {"VipsForeignLoadMagick", "magick", NULL},
};

static const loader *find_loader(const char *name)
{
    static const loader other = {"", "vips", NULL};
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        if (strncmp(name, loaders[i].begin, strlen(loaders[i].begin)) == 0)
            return &loaders[i];
    return &other;
}

/* ---- what a picture is */

static int type_of(VipsBandFormat format, tamis_type *type, int *bits)
{
    switch (format) {
    case VIPS_FORMAT_UCHAR:
        *type = TAMIS_U8;
        *bits = 8;
        return 1;
    case VIPS_FORMAT_USHORT:
        *type = TAMIS_U16;
        *bits = 16;
        return 1;
    case VIPS_FORMAT_CHAR: /* s16 has all its values */
        *type = TAMIS_S16;
        *bits = 8;
        return 1;
    case VIPS_FORMAT_SHORT:
        *type = TAMIS_S16;
        *bits = 16;
        return 1;
    case VIPS_FORMAT_FLOAT:
        *type = TAMIS_F32;
        *bits = 32;
        return 1;
    default:
        return 0;
    }
}

/* Packed floats, as Radiance has them, become floats, which hold them exactly. */
static tamis_status unpack(tamis_vips *p)
{
    VipsImage *floats = NULL;
    if (vips_image_get_coding(p->image) == VIPS_CODING_NONE)
        return TAMIS_OK;
    if (vips_image_get_coding(p->image) != VIPS_CODING_RAD)
        return tamis_ctx_fail(p->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: packed samples of a kind (%s) "
                              "that cannot be read",
                              p->name,
                              vips_enum_nick(VIPS_TYPE_CODING, vips_image_get_coding(p->image)));
    if (vips_rad2float(p->image, &floats, NULL))
        return tamis_priv_vips_fail(p->ctx, p->name, TAMIS_ERR_READ, "libvips");
    g_object_unref(p->image);
    p->image = floats;
    return TAMIS_OK;
}

/* OpenEXR's color is premultiplied, and comes as halves, whatever the file holds; libvips gave its
 * alpha a range of 255 before 8.15. Of other formats it is not certain. */
static int take_float_alpha(tamis_vips *p, const loader *l)
{
    int is_new = vips_version(0) > 8 || vips_version(1) >= 15;
    p->alpha_range = is_new ? 1 : 255;
    p->info.image.alpha = TAMIS_ALPHA_PREMULTIPLIED;
    p->info.file_bits = 16;
    return strcmp(l->format, "exr") == 0;
}

static tamis_status describe(tamis_vips *p, const loader *l)
{
    VipsImage *image = p->image;
    tamis_file_info *info = &p->info;
    int bands = vips_image_get_bands(image);
    VipsBandFormat format = vips_image_get_format(image);
    if (!type_of(format, &info->image.type, &info->file_bits))
        return tamis_ctx_fail(p->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: samples of type %s; u8, u16, s16 and f32 can be read", p->name,
                              vips_enum_nick(VIPS_TYPE_BAND_FORMAT, format));
    if (info->image.type == TAMIS_F32 && strcmp(l->format, "jxl") == 0)
        return tamis_ctx_fail(p->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: floats in JPEG XL, which libvips may scale", p->name);
    if (bands > TAMIS_MAX_CHANNELS)
        return tamis_ctx_fail(p->ctx, TAMIS_ERR_UNSUPPORTED, "%s: %d channels; at most %d can be",
                              p->name, bands, TAMIS_MAX_CHANNELS);
    int alpha = vips_image_hasalpha(image) && (bands == 2 || bands == 4);
    info->image.channels = bands;
    info->image.layout = TAMIS_PACKED;
    info->image.alpha = alpha ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE;
    if (alpha && info->image.type == TAMIS_F32 && !take_float_alpha(p, l))
        return tamis_ctx_fail(p->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: alpha in floats of this format cannot be read", p->name);
    info->w = vips_image_get_width(image);
    info->h = vips_image_get_height(image);
    info->pages = 1;
    info->orientation = vips_image_get_orientation(image);
    if (p->by_parts) {
        info->block_w = info->w;
        info->block_h = info->h < STRIP_ROWS ? info->h : STRIP_ROWS;
    }
    const char *nick = "";
    if (vips_image_get_typeof(image, VIPS_META_LOADER) &&
        vips_image_get_string(image, VIPS_META_LOADER, &nick))
        vips_error_clear();
    snprintf(info->format, sizeof info->format, "%s", l->format);
    snprintf(info->detail, sizeof info->detail, "libvips %.80s", nick);
    return TAMIS_OK;
}

/* The first picture of the file; nothing is decoded yet. Where it comes whole it is read once, from
 * the top down. */
static VipsImage *load(const char *path, const void *bytes, size_t size, const char *operation,
                       VipsAccess access)
{
    VipsImage *image = NULL;
    if (path) {
        if (vips_call(operation, path, &image, "access", access, NULL))
            return NULL;
        return image;
    }
    VipsBlob *blob = vips_blob_new(NULL, bytes, size);
    int bad = vips_call(operation, blob, &image, "access", access, NULL);
    vips_area_unref(VIPS_AREA(blob));
    return bad ? NULL : image;
}

static int is_magick(const char *class)
{
    return strncmp(class, "VipsForeignLoadMagick", 21) == 0;
}

/* ImageMagick takes anything for something, zeros without an end included. */
int tamis_priv_vips_knows(const void *head, size_t size)
{
    const char *class = vips_foreign_find_load_buffer(head, size);
    vips_error_clear();
    return class && !is_magick(class);
}

/* Some of its formats name other files, which it opens: it gets bitmaps alone. */
static int is_bitmap(const char *path)
{
    char head[2] = "";
    FILE *file = path ? fopen(path, "rb") : NULL;
    int is = file && fread(head, 1, sizeof head, file) == sizeof head && !memcmp(head, "BM", 2);
    if (file)
        fclose(file);
    return is;
}

tamis_status tamis_priv_vips_open(tamis_ctx *ctx, const char *name, const char *path,
                                  const void *bytes, size_t size, tamis_vips **out, int *foreign)
{
    *out = NULL;
    *foreign = 1;
    const char *class =
        path ? vips_foreign_find_load(path) : vips_foreign_find_load_buffer(bytes, size);
    vips_error_clear();
    const loader *l = class ? find_loader(class) : NULL;
    if (!l || (!l->format && !*l->why) || (is_magick(class) && !is_bitmap(path)))
        return TAMIS_OK;
    *foreign = 0;
    if (!l->format)
        return tamis_ctx_fail(ctx, TAMIS_ERR_UNSUPPORTED, "%s: %s", name, l->why);
    tamis_vips *p = calloc(1, sizeof *p);
    if (!p || !(p->name = strdup(name))) {
        free(p);
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", name);
    }
    p->ctx = ctx;
    p->by_parts = path && (vips_foreign_flags(class, path) & VIPS_FOREIGN_PARTIAL);
    p->image =
        load(path, bytes, size, class, p->by_parts ? VIPS_ACCESS_RANDOM : VIPS_ACCESS_SEQUENTIAL);
    tamis_status status =
        p->image ? unpack(p) : tamis_priv_vips_fail(ctx, name, TAMIS_ERR_READ, "libvips");
    if (status == TAMIS_OK)
        status = describe(p, l);
    if (status != TAMIS_OK) {
        tamis_priv_vips_close(p);
        return status;
    }
    *out = p;
    return TAMIS_OK;
}

void tamis_priv_vips_info(const tamis_vips *picture, tamis_file_info *out)
{
    *out = picture->info;
}

void tamis_priv_vips_close(tamis_vips *picture)
{
    if (!picture)
        return;
    if (picture->image)
        g_object_unref(picture->image);
    free(picture->name);
    free(picture);
}

/* ---- pixels */

/* A row of one channel's samples after the other, into an image of any layout. */
static void put_row(const tamis_vips *p, const VipsPel *from, const tamis_image *into, int32_t y)
{
    const tamis_format *f = &into->format;
    size_t sample = tamis_type_size(f->type), n = (size_t)into->w * (size_t)f->channels;
    if (vips_image_get_format(p->image) == VIPS_FORMAT_CHAR) {
        int16_t *row = tamis_image_row(into, 0, y);
        for (size_t i = 0; i < n; i++)
            row[i] = (int16_t) * (const signed char *)(from + i);
        return;
    }
    void *to = memcpy(tamis_image_row(into, 0, y), from, n * sample);
    float *row = to;
    for (size_t i = 3; p->alpha_range > 1 && i < n; i += 4)
        row[i] = (float)(row[i] / p->alpha_range);
}

static tamis_status read_strip(tamis_vips *p, VipsRegion *region, tamis_rect rect,
                               const tamis_image *into, int32_t y)
{
    int32_t rows = rect.h - y < STRIP_ROWS ? rect.h - y : STRIP_ROWS;
    VipsRect r = {rect.x, rect.y + y, rect.w, rows};
    if (vips_region_prepare(region, &r))
        return tamis_priv_vips_fail(p->ctx, p->name, TAMIS_ERR_READ, "libvips");
    for (int32_t i = 0; i < rows; i++)
        put_row(p, VIPS_REGION_ADDR(region, r.left, r.top + i), into, y + i);
    return TAMIS_OK;
}

tamis_status tamis_priv_vips_part(tamis_vips *picture, tamis_rect rect, const tamis_image *into)
{
    tamis_image packed = *into;
    tamis_format format = into->format;
    tamis_status status = TAMIS_OK;
    format.layout = TAMIS_PACKED;
    int other = into->format.layout != TAMIS_PACKED;
    if (other)
        status = tamis_image_create(picture->ctx, format, into->w, into->h, &packed);
    VipsRegion *region = status == TAMIS_OK ? vips_region_new(picture->image) : NULL;
    if (status == TAMIS_OK && !region)
        status = tamis_priv_vips_fail(picture->ctx, picture->name, TAMIS_ERR_MEMORY, "libvips");
    for (int32_t y = 0; status == TAMIS_OK && y < rect.h; y += STRIP_ROWS)
        status = read_strip(picture, region, rect, &packed, y);
    if (region)
        g_object_unref(region);
    if (other && status == TAMIS_OK)
        status = tamis_image_copy(picture->ctx, &packed, into);
    if (other)
        tamis_image_unref(&packed);
    return status;
}

/* ---- metadata */

static tamis_status take_blob(const tamis_vips *p, const char *field, const char *name,
                              tamis_meta *meta)
{
    const void *data;
    size_t size, skip = 0;
    if (!vips_image_get_typeof(p->image, field))
        return TAMIS_OK;
    if (vips_image_get_blob(p->image, field, &data, &size)) {
        vips_error_clear();
        return TAMIS_OK;
    }
    if (strcmp(name, "exif") == 0 && size > 6 && memcmp(data, "Exif\0\0", 6) == 0)
        skip = 6;
    return tamis_meta_set(meta, name, (const char *)data + skip, size - skip);
}

tamis_status tamis_priv_vips_meta(tamis_vips *picture, tamis_meta *meta)
{
    tamis_status status = take_blob(picture, VIPS_META_ICC_NAME, "icc", meta);
    if (status == TAMIS_OK)
        status = take_blob(picture, VIPS_META_EXIF_NAME, "exif", meta);
    if (status == TAMIS_OK)
        status = take_blob(picture, VIPS_META_XMP_NAME, "xmp", meta);
    if (status == TAMIS_OK)
        status = take_blob(picture, VIPS_META_IPTC_NAME, "iptc", meta);
    double x = vips_image_get_xres(picture->image), y = vips_image_get_yres(picture->image);
    if (x != 1 || y != 1) { /* in pixels per mm; 1 says that it is not known */
        meta->dpi_x = x * 25.4;
        meta->dpi_y = y * 25.4;
    }
    return status;
}
