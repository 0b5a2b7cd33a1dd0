/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "tiff_meta.h"
#include "tiff_write.h"

#define STRIP_BYTES ((size_t)256 << 10)
/* Beyond this a classic TIFF might run out of offsets: 4 GiB with some room for directories. */
#define CLASSIC_BYTES ((uint64_t)4000 << 20)

tamis_status tamis_priv_tiff_write_fail(tamis_writer *writer, const tamis_tiff *t)
{
    if (writer->sink.error)
        return tamis_priv_writer_sink_failed(writer);
    if (!*t->message)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "TIFF: %s", t->message);
}

/* Opens the file with the first page, when its size can be told. */
static tamis_status open_file(tamis_writer *writer)
{
    tiff_output *s = calloc(1, sizeof *s);
    if (!s)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    writer->state = s;
    s->tiff.ctx = writer->ctx;
    s->tiff.name = writer->name;
    s->tiff.sink = &writer->sink;
    s->level.fd = -1;
    uint64_t pages = writer->expected_pages > 1 ? (uint64_t)writer->expected_pages : 1;
    const tamis_page *p = &writer->page;
    uint64_t page = tamis_priv_row_bytes(p->format, p->w) * (uint64_t)p->h;
    s->big = page > CLASSIC_BYTES / pages / (writer->pyramid ? 2 : 1);
    return tamis_priv_tiff_open(&s->tiff, s->big ? "w8" : "w4", 0)
               ? TAMIS_OK
               : tamis_priv_tiff_write_fail(writer, &s->tiff);
}

static uint16_t sample_kind(tamis_type type)
{
    if (type == TAMIS_F16 || type == TAMIS_F32)
        return SAMPLEFORMAT_IEEEFP;
    return type == TAMIS_S16 ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

static void set_compression(const tamis_writer *writer, TIFF *tif, tamis_type type)
{
    if (strcmp(writer->compression, "none") == 0) {
        TIFFSetField(tif, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
        return;
    }
    int deflate = strcmp(writer->compression, "deflate") == 0;
    TIFFSetField(tif, TIFFTAG_COMPRESSION, deflate ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_LZW);
    TIFFSetField(tif, TIFFTAG_PREDICTOR,
                 sample_kind(type) == SAMPLEFORMAT_IEEEFP ? PREDICTOR_FLOATINGPOINT
                                                          : PREDICTOR_HORIZONTAL);
    if (deflate)
        TIFFSetField(tif, TIFFTAG_ZIPQUALITY, writer->level ? writer->level : 6);
}

static void set_channels(TIFF *tif, tamis_format format)
{
    int rgb = format.channels >= 3;
    uint16_t extra = EXTRASAMPLE_UNSPECIFIED;
    if (format.alpha == TAMIS_ALPHA_STRAIGHT)
        extra = EXTRASAMPLE_UNASSALPHA;
    if (format.alpha == TAMIS_ALPHA_PREMULTIPLIED)
        extra = EXTRASAMPLE_ASSOCALPHA;
    /* Three channels of which one is alpha are gray, something, alpha. */
    if (format.channels == 3 && format.alpha != TAMIS_ALPHA_NONE)
        rgb = 0;
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, format.channels);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    int extras = format.channels - (rgb ? 3 : 1);
    uint16_t kinds[2] = {extra, extra};
    if (extras == 2)
        kinds[0] = EXTRASAMPLE_UNSPECIFIED;
    if (extras > 0)
        TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, extras, kinds);
}

static void tiff_block(const tamis_writer *writer, const tamis_page *page, int32_t *w, int32_t *h)
{
    size_t row = tamis_priv_row_bytes(page->format, page->w);
    size_t rows = row < STRIP_BYTES ? STRIP_BYTES / row : 1;
    *w = writer->tile ? writer->tile : page->w;
    *h = writer->tile ? writer->tile : rows < (size_t)page->h ? (int32_t)rows : page->h;
}

void tamis_priv_tiff_set_fields(const tamis_writer *writer, TIFF *tif)
{
    const tamis_page *page = &writer->page;
    tamis_format format = page->format;
    int32_t block_w, block_h;
    tiff_block(writer, page, &block_w, &block_h);
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)page->w);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, (uint32_t)page->h);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, (int)(8 * tamis_type_size(format.type)));
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, sample_kind(format.type));
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set_channels(tif, format);
    set_compression(writer, tif, format.type);
    if (writer->tile) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, (uint32_t)block_w);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, (uint32_t)block_h);
    } else {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, (uint32_t)block_h);
    }
}

static void set_resolution(TIFF *tif, const tamis_meta *meta)
{
    if (meta->dpi_x > 0 && meta->dpi_y > 0) {
        TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
        TIFFSetField(tif, TIFFTAG_XRESOLUTION, meta->dpi_x);
        TIFFSetField(tif, TIFFTAG_YRESOLUTION, meta->dpi_y);
    }
}

/* The page that writer->page describes, once its tags are set. */
static tamis_status begin_blocks(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    tiff_block(writer, &writer->page, &s->block_w, &s->block_h);
    s->row_bytes = tamis_priv_row_bytes(writer->page.format, s->block_w);
    s->block_bytes = s->row_bytes * (size_t)s->block_h;
    tamis_priv_tiff_set_fields(writer, s->tiff.tif);
    TIFFSetField(s->tiff.tif, TIFFTAG_ORIENTATION, s->orientation);
    tamis_status status = tamis_priv_tiff_blocks_begin(writer);
    return status == TAMIS_OK ? tamis_priv_tiff_level_begin(writer) : status;
}

static tamis_status tiff_begin(tamis_writer *writer, const tamis_meta *meta)
{
    tamis_status status = writer->state ? TAMIS_OK : open_file(writer);
    if (status != TAMIS_OK)
        return status;
    tiff_output *s = writer->state;
    int known = meta->orientation >= 1 && meta->orientation <= 8;
    s->orientation = known ? meta->orientation : ORIENTATION_TOPLEFT;
    status = begin_blocks(writer);
    if (status == TAMIS_OK)
        set_resolution(s->tiff.tif, meta);
    return status == TAMIS_OK ? tamis_priv_tiff_write_meta(writer, &s->tiff, s->big, meta) : status;
}

static tamis_status tiff_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    tamis_status status = tamis_priv_tiff_blocks_part(writer, rect, image);
    return status == TAMIS_OK ? tamis_priv_tiff_level_part(writer, rect, image) : status;
}

static tamis_status end_blocks(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    tamis_priv_tiff_blocks_end(s);
    if (!TIFFWriteDirectory(s->tiff.tif) || writer->sink.error)
        return tamis_priv_tiff_write_fail(writer, &s->tiff);
    return TAMIS_OK;
}

/* Writes a smaller copy as a page, from which the next one is made. */
static tamis_status write_level(tamis_writer *writer, const tiff_level *level)
{
    tiff_output *s = writer->state;
    tamis_page *page = &writer->page;
    page->w = level->w;
    page->h = level->h;
    page->format.layout = TAMIS_PACKED;
    tamis_image band;
    TIFFSetField(s->tiff.tif, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    tamis_status status = begin_blocks(writer);
    for (int32_t y = 0, h; y < page->h && status == TAMIS_OK; y += h) {
        h = page->h - y < s->block_h ? page->h - y : s->block_h;
        status = tamis_image_create(writer->ctx, page->format, page->w, h, &band);
        if (status == TAMIS_OK)
            status = tamis_priv_tiff_level_rows(writer, level, y, &band);
        if (status == TAMIS_OK)
            status = tiff_part(writer, (tamis_rect){0, y, page->w, h}, &band);
        tamis_image_unref(&band);
    }
    return status == TAMIS_OK ? end_blocks(writer) : status;
}

static tamis_status tiff_end(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    tamis_status status = end_blocks(writer);
    while (status == TAMIS_OK && s->level.fd >= 0) {
        tiff_level level = s->level;
        s->level = (tiff_level){.fd = -1};
        status = write_level(writer, &level);
        tamis_priv_tiff_level_close(&level);
    }
    return status;
}

static tamis_status tiff_finish(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    tamis_priv_tiff_close(&s->tiff);
    return writer->sink.error ? tamis_priv_writer_sink_failed(writer) : TAMIS_OK;
}

static void tiff_close(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    if (!s)
        return;
    tamis_priv_tiff_blocks_end(s);
    tamis_priv_tiff_level_close(&s->level);
    tamis_priv_tiff_close(&s->tiff);
    free(s);
}

const tamis_encoder tamis_priv_encoder_tiff = {
    .name = "tiff",
    .extensions = "tif tiff btf tf8",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16) | TAMIS_TYPE_BIT(TAMIS_S16) |
             TAMIS_TYPE_BIT(TAMIS_F16) | TAMIS_TYPE_BIT(TAMIS_F32),
    .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
    .holds_alpha = 1,
    .multi_page = 1,
    .seeks = 1,
    .begin = tiff_begin,
    .part = tiff_part,
    .end = tiff_end,
    .block = tiff_block,
    .finish = tiff_finish,
    .close = tiff_close,
};
