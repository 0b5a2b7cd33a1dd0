/* SPDX-License-Identifier: Apache-2.0 */
#include "pixels.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/avconfig.h>

#include "video_pixels.h"

#define ODD_KINDS (AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER)

static int colors_of(const AVPixFmtDescriptor *d)
{
    return d->nb_components - ((d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0);
}

/* Bits that hold every component: 8 where they have fewer, or different ones. */
static int bits_of(const AVPixFmtDescriptor *d)
{
    int bits = d->comp[0].depth;
    for (int i = 1; i < d->nb_components; i++)
        if (d->comp[i].depth != bits)
            bits = 8;
    return bits < 8 ? 8 : bits;
}

int tamis_priv_av_pixels_describe(enum AVPixelFormat pixels, tamis_video_format *out)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pixels);
    *out = (tamis_video_format){0};
    if (!d || (d->flags & ODD_KINDS) || pixels == AV_PIX_FMT_XYZ12LE ||
        pixels == AV_PIX_FMT_XYZ12BE)
        return 0;
    int is_rgb = (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
    int is_float = (d->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
    out->bits = bits_of(d);
    if (out->bits > (is_float ? 32 : 16) || (is_float && out->bits < 32))
        return 0;
    out->model = is_rgb ? TAMIS_VIDEO_RGB : colors_of(d) == 1 ? TAMIS_VIDEO_GRAY : TAMIS_VIDEO_YUV;
    out->type = is_float ? TAMIS_F32 : out->bits > 8 ? TAMIS_U16 : TAMIS_U8;
    if (out->model == TAMIS_VIDEO_YUV) {
        out->sub_x = d->log2_chroma_w;
        out->sub_y = d->log2_chroma_h;
    }
    out->alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    out->full_range = out->model != TAMIS_VIDEO_YUV || pixels == AV_PIX_FMT_YUVJ420P ||
                      pixels == AV_PIX_FMT_YUVJ422P || pixels == AV_PIX_FMT_YUVJ444P ||
                      pixels == AV_PIX_FMT_YUVJ440P || pixels == AV_PIX_FMT_YUVJ411P;
    return 1;
}

/* Components that lie in whole bytes of their own, in this machine's order. */
static int has_plain_samples(const AVPixFmtDescriptor *d, const tamis_video_format *f)
{
    if (d->flags & (AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL))
        return 0;
    if (f->bits > 8 && ((d->flags & AV_PIX_FMT_FLAG_BE) != 0) != AV_HAVE_BIGENDIAN)
        return 0;
    for (int i = 0; i < d->nb_components; i++)
        if (d->comp[i].shift != 0 || d->comp[i].depth != f->bits)
            return 0;
    return 1;
}

/* Whether components first .. first + n - 1 are planes (*packed = 0) or side by side in their
 * order, without others between them (*packed = 1). */
static int is_group(const AVPixFmtDescriptor *d, int first, int n, int bytes, int *packed)
{
    const AVComponentDescriptor *c = &d->comp[first];
    *packed = n > 1 && c[0].plane == c[1].plane;
    for (int i = 0; i < n; i++) {
        int offset = *packed ? i * bytes : 0;
        if (c[i].step != (*packed ? n * bytes : bytes) || c[i].offset != offset)
            return 0;
        for (int k = 0; k < d->nb_components; k++) {
            int inside = k >= first && k < first + n;
            if (k != first + i && d->comp[k].plane == c[i].plane && !(inside && *packed))
                return 0;
        }
    }
    return 1;
}

/* The groups of components that parts are; returns how many, 0 for formats without. */
static int groups_of(const tamis_video_format *f, int first[3], int count[3], int part[3])
{
    int n = 0, at = 0;
    first[n] = at, part[n] = TAMIS_VIDEO_MAIN;
    count[n] = f->model == TAMIS_VIDEO_RGB ? 3 : 1;
    at += count[n++];
    if (f->model == TAMIS_VIDEO_YUV) {
        first[n] = at, part[n] = TAMIS_VIDEO_CHROMA;
        count[n] = 2;
        at += count[n++];
    }
    if (f->alpha) {
        first[n] = at, part[n] = TAMIS_VIDEO_ALPHA;
        count[n++] = 1;
    }
    return n;
}

int tamis_priv_av_pixels_viewable(enum AVPixelFormat pixels)
{
    tamis_video_format f;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pixels);
    int first[3], count[3], part[3], packed;
    if (!tamis_priv_av_pixels_describe(pixels, &f) || !has_plain_samples(d, &f))
        return 0;
    int n = groups_of(&f, first, count, part);
    for (int i = 0; i < n; i++)
        if (!is_group(d, first[i], count[i], (int)tamis_type_size(f.type), &packed))
            return 0;
    return 1;
}

/* Planes only, and not one of those that only say that the range is full. */
static int is_planar(enum AVPixelFormat pixels, const AVPixFmtDescriptor *d,
                     const tamis_video_format *f)
{
    if (!tamis_priv_av_pixels_viewable(pixels) || (f->model == TAMIS_VIDEO_YUV && f->full_range))
        return 0;
    for (int i = 1; i < d->nb_components; i++)
        if (d->comp[i].plane == d->comp[i - 1].plane)
            return 0;
    return 1;
}

enum AVPixelFormat tamis_priv_av_pixels_planar(const tamis_video_format *format)
{
    /* There are no planes of gray and alpha: chroma lies unused between them. */
    if (format->model == TAMIS_VIDEO_GRAY && format->alpha)
        return format->bits == 8    ? AV_PIX_FMT_YUVA444P
               : format->bits == 16 ? AV_PIX_FMT_YUVA444P16
                                    : AV_PIX_FMT_NONE;
    for (const AVPixFmtDescriptor *d = NULL; (d = av_pix_fmt_desc_next(d));) {
        tamis_video_format f;
        enum AVPixelFormat pixels = av_pix_fmt_desc_get_id(d);
        if (tamis_priv_av_pixels_describe(pixels, &f) &&
            tamis_priv_video_pixels_alike(&f, format) && is_planar(pixels, d, &f))
            return pixels;
    }
    return AV_PIX_FMT_NONE;
}

static int32_t columns_of(const AVFrame *frame, const tamis_video_format *f, int is_chroma)
{
    return is_chroma ? AV_CEIL_RSHIFT(frame->width, f->sub_x) : frame->width;
}

static int32_t rows_of(const AVFrame *frame, const tamis_video_format *f, int is_chroma)
{
    return is_chroma ? AV_CEIL_RSHIFT(frame->height, f->sub_y) : frame->height;
}

void tamis_priv_av_pixels_view(const AVFrame *frame, tamis_video_model model,
                               tamis_image part[TAMIS_VIDEO_PARTS])
{
    tamis_video_format f;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    int first[3], count[3], which[3];
    tamis_priv_av_pixels_describe(frame->format, &f);
    int n = groups_of(&f, first, count, which);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        part[i] = (tamis_image){0};
    for (int i = 0; i < n; i++) {
        if (which[i] == TAMIS_VIDEO_CHROMA && model == TAMIS_VIDEO_GRAY)
            continue;
        tamis_image *image = &part[which[i]];
        const AVComponentDescriptor *c = &d->comp[first[i]];
        int packed = count[i] == 1 || c[0].plane == c[1].plane;
        image->format = (tamis_format){f.type, count[i], packed ? TAMIS_PACKED : TAMIS_PLANAR,
                                       TAMIS_ALPHA_NONE};
        image->w = columns_of(frame, &f, which[i] == TAMIS_VIDEO_CHROMA);
        image->h = rows_of(frame, &f, which[i] == TAMIS_VIDEO_CHROMA);
        for (int k = 0; k < (packed ? 1 : count[i]); k++) {
            image->data[k] = frame->data[c[k].plane];
            image->stride[k] = frame->linesize[c[k].plane];
        }
    }
}

/* ---- samples one by one */

/* A row of a component, as numbers. */
static void read_row(const AVFrame *frame, const AVPixFmtDescriptor *d, int component, int y, int n,
                     uint16_t *out)
{
    const AVComponentDescriptor c = d->comp[component];
    const uint8_t *p = frame->data[c.plane] + (ptrdiff_t)y * frame->linesize[c.plane] + c.offset;
    unsigned mask = (1u << c.depth) - 1;
    int big = (d->flags & AV_PIX_FMT_FLAG_BE) != 0;
    if (d->flags & AV_PIX_FMT_FLAG_BITSTREAM) {
        av_read_image_line2(out, (const uint8_t **)(uintptr_t)frame->data, frame->linesize, d, 0, y,
                            component, n, 0, 2);
        return;
    }
    if (c.shift + c.depth <= 8) {
        p += big; /* the low byte of a word */
        for (int x = 0; x < n; x++)
            out[x] = (uint16_t)(p[(ptrdiff_t)x * c.step] >> c.shift & mask);
        return;
    }
    for (int x = 0; x < n; x++, p += c.step) {
        unsigned word = big ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
        out[x] = (uint16_t)(word >> c.shift & mask);
    }
}

/* Palettes are words with alpha at the top. */
static void read_palette_row(const AVFrame *frame, int component, int y, int n, uint16_t *out)
{
    static const int shifts[4] = {16, 8, 0, 24};
    const uint8_t *p = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
    const uint32_t *palette = (const uint32_t *)(const void *)frame->data[1];
    for (int x = 0; x < n; x++)
        out[x] = (uint16_t)(palette[p[x]] >> shifts[component] & 255);
}

static void write_row(AVFrame *frame, const AVPixFmtDescriptor *d, int component, int y, int n,
                      const uint16_t *in)
{
    const AVComponentDescriptor c = d->comp[component];
    uint8_t *p = frame->data[c.plane] + (ptrdiff_t)y * frame->linesize[c.plane] + c.offset;
    if (c.depth <= 8) {
        for (int x = 0; x < n; x++)
            p[(ptrdiff_t)x * c.step] = (uint8_t)in[x];
        return;
    }
    int low = (d->flags & AV_PIX_FMT_FLAG_BE) != 0; /* the place of the low byte */
    for (int x = 0; x < n; x++, p += c.step) {
        unsigned word = (unsigned)in[x] << c.shift;
        p[low] = (uint8_t)word;
        p[1 - low] = (uint8_t)(word >> 8);
    }
}

/* Whether write_row() writes it: each component in one or two bytes of its own. */
static int is_writable(enum AVPixelFormat pixels, tamis_video_format *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pixels);
    if (!tamis_priv_av_pixels_describe(pixels, f) || f->type == TAMIS_F32 ||
        (d->flags & (AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL)))
        return 0;
    int bytes = (int)tamis_type_size(f->type);
    for (int i = 0; i < d->nb_components; i++) {
        const AVComponentDescriptor *c = &d->comp[i];
        if (c->depth != f->bits || (f->bits == 8 && c->shift != 0) ||
            (f->bits > 8 && c->step % 2 != 0))
            return 0;
        for (int k = 0; k < i; k++)
            if (d->comp[k].plane == c->plane && abs(d->comp[k].offset - c->offset) < bytes)
                return 0; /* several in one word */
    }
    return 1;
}

int tamis_priv_av_pixels_holds(enum AVPixelFormat pixels, const tamis_video_format *format)
{
    tamis_video_format f;
    int is_gray_alpha = format->model == TAMIS_VIDEO_GRAY && format->alpha;
    if (!is_gray_alpha && tamis_priv_av_pixels_planar(format) == pixels)
        return 1;
    return is_writable(pixels, &f) && tamis_priv_video_pixels_alike(&f, format);
}

int tamis_priv_av_pixels_holds_gray(enum AVPixelFormat pixels, const tamis_video_format *format)
{
    tamis_video_format f;
    return format->model == TAMIS_VIDEO_GRAY && is_writable(pixels, &f) &&
           f.model == TAMIS_VIDEO_YUV && f.bits == format->bits && f.alpha == format->alpha;
}

/* Numbers of fewer bits become those of 8: black and white stay black and white. */
static void widen(uint16_t *row, int n, int depth, int inverse)
{
    unsigned most = (1u << depth) - 1;
    for (int x = 0; x < n; x++) {
        unsigned value = (row[x] * 255u + most / 2) / most;
        row[x] = (uint16_t)(inverse ? 255 - value : value);
    }
}

static void fill_row(uint16_t *row, int n, unsigned value)
{
    for (int x = 0; x < n; x++)
        row[x] = (uint16_t)value;
}

/* The number of from's component for component i of to; -1 for neutral chroma. */
static int source_of(const tamis_video_format *from, const tamis_video_format *to, int i)
{
    if (from->model == TAMIS_VIDEO_GRAY && to->model == TAMIS_VIDEO_YUV)
        return i == 0 ? 0 : i == 3 ? 1 : -1;
    if (from->model == TAMIS_VIDEO_YUV && to->model == TAMIS_VIDEO_GRAY)
        return i == 0 ? 0 : 3;
    return i;
}

static void copy_component(const AVFrame *from, AVFrame *to, int component, uint16_t *row)
{
    const AVPixFmtDescriptor *in = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *out = av_pix_fmt_desc_get(to->format);
    tamis_video_format a, b;
    tamis_priv_av_pixels_describe(from->format, &a);
    tamis_priv_av_pixels_describe(to->format, &b);
    int is_chroma = b.model == TAMIS_VIDEO_YUV && (component == 1 || component == 2);
    int n = columns_of(to, &b, is_chroma), rows = rows_of(to, &b, is_chroma);
    int source = source_of(&a, &b, component), is_palette = (in->flags & AV_PIX_FMT_FLAG_PAL) != 0;
    for (int y = 0; y < rows; y++) {
        if (source < 0)
            fill_row(row, n, 1u << (b.bits - 1));
        else if (is_palette)
            read_palette_row(from, source, y, n, row);
        else
            read_row(from, in, source, y, n, row);
        if (source >= 0 && !is_palette && in->comp[source].depth < a.bits)
            widen(row, n, in->comp[source].depth, from->format == AV_PIX_FMT_MONOWHITE);
        write_row(to, out, component, y, n, row);
    }
}

int tamis_priv_av_pixels_copy(const AVFrame *from, AVFrame *to)
{
    uint16_t *row = av_malloc_array((size_t)to->width + 8, sizeof *row);
    if (!row)
        return 0;
    /* What belongs to no component, such as the fourth byte of RGB0, is always the same. */
    if (!(av_pix_fmt_desc_get(to->format)->flags & AV_PIX_FMT_FLAG_PLANAR))
        for (int y = 0; y < to->height; y++)
            memset(to->data[0] + (ptrdiff_t)y * to->linesize[0], 255, (size_t)abs(to->linesize[0]));
    int components = av_pix_fmt_desc_get(to->format)->nb_components;
    for (int i = 0; i < components; i++)
        copy_component(from, to, i, row);
    av_free(row);
    return 1;
}
