/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "tiff_meta.h"
#include "tiff_open.h"

#define STRIP_BYTES ((size_t)256 << 10)
/* Beyond this a classic TIFF might run out of offsets: 4 GiB with some room for directories. */
#define CLASSIC_BYTES ((uint64_t)4000 << 20)

typedef struct tiff_output {
    tamis_tiff tiff;
    int big;
} tiff_output;

static tamis_status fail_tiff(tamis_writer *writer)
{
    const tiff_output *s = writer->state;
    if (writer->sink.error)
        return tamis_priv_writer_sink_failed(writer);
    return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "TIFF: %s", s->tiff.message);
}

/* Opens the file with the first page, when its size can be told. */
static tamis_status begin(tamis_writer *writer, const tamis_image *image)
{
    tiff_output *s = calloc(1, sizeof *s);
    if (!s)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    writer->state = s;
    s->tiff.ctx = writer->ctx;
    s->tiff.name = writer->name;
    s->tiff.sink = &writer->sink;
    uint64_t pages = writer->expected_pages > 1 ? (uint64_t)writer->expected_pages : 1;
    uint64_t page = tamis_priv_row_bytes(image->format, image->w) * (uint64_t)image->h;
    s->big = page > CLASSIC_BYTES / pages;
    return tamis_priv_tiff_open(&s->tiff, s->big ? "w8" : "w4", 0) ? TAMIS_OK : fail_tiff(writer);
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

static void set_fields(const tamis_writer *writer, TIFF *tif, const tamis_image *image,
                       const tamis_meta *meta)
{
    tamis_format format = image->format;
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)image->w);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, (uint32_t)image->h);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, (int)(8 * tamis_type_size(format.type)));
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, sample_kind(format.type));
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set_channels(tif, format);
    set_compression(writer, tif, format.type);
    int known = meta->orientation >= 1 && meta->orientation <= 8;
    TIFFSetField(tif, TIFFTAG_ORIENTATION, known ? meta->orientation : ORIENTATION_TOPLEFT);
    if (meta->dpi_x > 0 && meta->dpi_y > 0) {
        TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
        TIFFSetField(tif, TIFFTAG_XRESOLUTION, meta->dpi_x);
        TIFFSetField(tif, TIFFTAG_YRESOLUTION, meta->dpi_y);
    }
    size_t row = tamis_priv_row_bytes(format, image->w);
    if (writer->tile) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, (uint32_t)writer->tile);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, (uint32_t)writer->tile);
    } else {
        uint32_t rows = row < STRIP_BYTES ? (uint32_t)(STRIP_BYTES / row) : 1;
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP,
                     rows < (uint32_t)image->h ? rows : (uint32_t)image->h);
    }
}

/* Whole strips at a time, since libtiff then compresses faster. */
static tamis_status write_strips(tamis_writer *writer, TIFF *tif, tamis_rows *rows)
{
    uint32_t per_strip = 1;
    TIFFGetField(tif, TIFFTAG_ROWSPERSTRIP, &per_strip);
    uint8_t *strip = malloc(rows->bytes * per_strip);
    if (!strip)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = TAMIS_OK;
    uint32_t h = (uint32_t)rows->image->h, index = 0;
    for (uint32_t y = 0; y < h && status == TAMIS_OK; y += per_strip, index++) {
        uint32_t n = h - y < per_strip ? h - y : per_strip;
        for (uint32_t i = 0; i < n; i++)
            memcpy(strip + rows->bytes * i, tamis_priv_rows_get(rows, (int32_t)(y + i)),
                   rows->bytes);
        tmsize_t size = (tmsize_t)(rows->bytes * n);
        if (TIFFWriteEncodedStrip(tif, index, strip, size) != size || writer->sink.error)
            status = fail_tiff(writer);
    }
    free(strip);
    return status;
}

static void fill_tile(tamis_rows *rows, int32_t x0, int32_t y0, int side, uint8_t *tile)
{
    size_t pixel = tamis_priv_row_bytes(rows->image->format, 1);
    int32_t w = rows->image->w - x0 < side ? rows->image->w - x0 : side;
    int32_t h = rows->image->h - y0 < side ? rows->image->h - y0 : side;
    memset(tile, 0, pixel * (size_t)side * (size_t)side);
    for (int32_t y = 0; y < h; y++) {
        const uint8_t *row = tamis_priv_rows_get(rows, y0 + y);
        memcpy(tile + pixel * (size_t)side * (size_t)y, row + pixel * (size_t)x0,
               pixel * (size_t)w);
    }
}

static tamis_status write_tiles(tamis_writer *writer, TIFF *tif, tamis_rows *rows)
{
    int side = writer->tile;
    tmsize_t bytes = TIFFTileSize(tif);
    uint8_t *tile = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (!tile)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = TAMIS_OK;
    for (int64_t y = 0; y < rows->image->h; y += side)
        for (int64_t x = 0; x < rows->image->w && status == TAMIS_OK; x += side) {
            fill_tile(rows, (int32_t)x, (int32_t)y, side, tile);
            uint32_t index = TIFFComputeTile(tif, (uint32_t)x, (uint32_t)y, 0, 0);
            if (TIFFWriteEncodedTile(tif, index, tile, bytes) != bytes || writer->sink.error)
                status = fail_tiff(writer);
        }
    free(tile);
    return status;
}

static tamis_status tiff_write(tamis_writer *writer, const tamis_image *image,
                               const tamis_meta *meta)
{
    tamis_status status = writer->state ? TAMIS_OK : begin(writer, image);
    if (status != TAMIS_OK)
        return status;
    tiff_output *s = writer->state;
    TIFF *tif = s->tiff.tif;
    set_fields(writer, tif, image, meta);
    status = tamis_priv_tiff_write_meta(writer, &s->tiff, s->big, meta);
    tamis_rows rows = {0};
    if (status == TAMIS_OK)
        status = tamis_priv_rows_open(writer, image, &rows);
    if (status == TAMIS_OK)
        status = writer->tile ? write_tiles(writer, tif, &rows) : write_strips(writer, tif, &rows);
    tamis_priv_rows_close(&rows);
    if (status == TAMIS_OK && (!TIFFWriteDirectory(tif) || writer->sink.error))
        status = fail_tiff(writer);
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
    if (s)
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
    .write = tiff_write,
    .finish = tiff_finish,
    .close = tiff_close,
};
