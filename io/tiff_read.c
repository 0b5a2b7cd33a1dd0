/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "tiff_meta.h"
#include "tiff_open.h"

#define MAX_TILE_BYTES  ((uint64_t)1 << 30)
#define MAX_STRIP_BYTES ((uint64_t)16 << 20)

/* A directory as libtiff sees it. */
typedef struct tiff_page {
    uint32_t w, h, tile_w, tile_h; /* tile_w is 0 for strips */
    uint16_t bits, samples, kind, photometric, planar, compression, orientation;
    uint16_t extra_count, extra; /* number of extra samples, meaning of the last */
    const uint16_t *map[3];      /* the palette */
    int map_shift;               /* from its values to 8 bit */
    tamis_format format;
} tiff_page;

typedef struct tiff_state {
    tamis_tiff tiff;
    uint64_t *offsets;
    int current; /* page that libtiff is at */
    tiff_page page;
} tiff_state;

static int tiff_probe(const uint8_t *head, size_t size)
{
    if (size < 8)
        return 0;
    int little = memcmp(head, "II*\0", 4) == 0 || memcmp(head, "II+\0", 4) == 0;
    return little || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "MM\0+", 4) == 0;
}

static tamis_status fail_tiff(tamis_reader *reader)
{
    const tiff_state *s = reader->state;
    if (reader->source.error)
        return tamis_priv_reader_short(reader);
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF: %s",
                                  *s->tiff.message ? s->tiff.message : "broken data");
}

static tamis_status tiff_open(tamis_reader *reader)
{
    tiff_state *s = calloc(1, sizeof *s);
    reader->state = s;
    if (!s)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    s->current = -1;
    s->tiff.ctx = reader->ctx;
    s->tiff.name = reader->name;
    s->tiff.source = &reader->source;
    tamis_status status = tamis_priv_tiff_directories(reader, &s->offsets, &reader->pages);
    if (status != TAMIS_OK)
        return status;
    /* What libtiff needs at once is a piece of the file, or small. */
    size_t max_piece = ((size_t)64 << 20) + 2 * (size_t)reader->source.size;
    return tamis_priv_tiff_open(&s->tiff, "rmh", max_piece) ? TAMIS_OK : fail_tiff(reader);
}

static void tiff_close(tamis_reader *reader)
{
    tiff_state *s = reader->state;
    if (!s)
        return;
    tamis_priv_tiff_close(&s->tiff);
    free(s->offsets);
    free(s);
}

static void read_extras(TIFF *tif, tiff_page *p)
{
    uint16_t *extras = NULL;
    p->extra_count = 0;
    if (TIFFGetField(tif, TIFFTAG_EXTRASAMPLES, &p->extra_count, &extras) && p->extra_count)
        p->extra = extras[p->extra_count - 1];
}

/* Palettes have 16-bit values, but some programs have written 8-bit ones. */
static int map_shift(const tiff_page *p)
{
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 1 << p->bits; i++)
            if (p->map[c][i] > 255)
                return 8;
    return 0;
}

static void read_fields(TIFF *tif, tiff_page *p)
{
    *p = (tiff_page){.orientation = 1};
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &p->w);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &p->h);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &p->kind);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &p->planar);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &p->compression);
    TIFFGetFieldDefaulted(tif, TIFFTAG_ORIENTATION, &p->orientation);
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &p->photometric))
        p->photometric = p->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    if (p->orientation < 1 || p->orientation > 8)
        p->orientation = 1;
    read_extras(tif, p);
    if (TIFFIsTiled(tif)) {
        TIFFGetField(tif, TIFFTAG_TILEWIDTH, &p->tile_w);
        TIFFGetField(tif, TIFFTAG_TILELENGTH, &p->tile_h);
    }
    if (p->photometric == PHOTOMETRIC_PALETTE && p->bits <= 8 &&
        TIFFGetField(tif, TIFFTAG_COLORMAP, &p->map[0], &p->map[1], &p->map[2]))
        p->map_shift = map_shift(p);
}

static tamis_status unsupported(const tamis_reader *reader, const char *what)
{
    return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED, "TIFF with %s is not supported",
                                  what);
}

static tamis_status choose_type(const tamis_reader *reader, tiff_page *p)
{
    int is_unsigned = p->kind == SAMPLEFORMAT_UINT || p->kind == SAMPLEFORMAT_VOID;
    int is_float = p->kind == SAMPLEFORMAT_IEEEFP;
    int narrow = (p->bits == 1 || p->bits == 2 || p->bits == 4) && p->samples == 1;
    if (is_unsigned && (p->bits == 8 || narrow))
        p->format.type = TAMIS_U8;
    else if (is_unsigned && p->bits == 16)
        p->format.type = TAMIS_U16;
    else if (p->kind == SAMPLEFORMAT_INT && p->bits == 16)
        p->format.type = TAMIS_S16;
    else if (is_float && (p->bits == 16 || p->bits == 32))
        p->format.type = p->bits == 16 ? TAMIS_F16 : TAMIS_F32;
    else
        return tamis_priv_reader_fail(
            reader, TAMIS_ERR_UNSUPPORTED,
            "TIFF with %d-bit %s samples is not supported (8 or 16 unsigned, 16 signed, "
            "16 or 32 float are)",
            p->bits,
            is_unsigned ? "unsigned"
            : is_float  ? "float"
                        : "signed or complex");
    return TAMIS_OK;
}

static tamis_status choose_colors(const tamis_reader *reader, tiff_page *p)
{
    int colors = 0;
    switch (p->photometric) {
    case PHOTOMETRIC_MINISWHITE:
        if (p->kind == SAMPLEFORMAT_IEEEFP)
            return unsupported(reader, "float samples that are 0 for white");
        break;
    case PHOTOMETRIC_MINISBLACK:
        break;
    case PHOTOMETRIC_RGB:
        colors = 3;
        break;
    case PHOTOMETRIC_YCBCR:
        if (p->compression != COMPRESSION_JPEG || p->planar != PLANARCONFIG_CONTIG)
            return unsupported(reader, "YCbCr outside JPEG compression");
        colors = 3;
        break;
    case PHOTOMETRIC_PALETTE:
        if (p->samples != 1 || p->bits > 8 || !p->map[0])
            return unsupported(reader, "such a palette");
        p->format.channels = 3;
        return TAMIS_OK;
    case PHOTOMETRIC_SEPARATED:
        return unsupported(reader, "CMYK colors");
    case PHOTOMETRIC_CFA:
        return unsupported(reader, "raw sensor data");
    default:
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "TIFF with color model %d is not supported", p->photometric);
    }
    if (p->samples < 1 || p->samples > TAMIS_MAX_CHANNELS || p->samples < colors)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "TIFF with %d samples per pixel; 1 to %d are possible",
                                      p->samples, TAMIS_MAX_CHANNELS);
    p->format.channels = p->samples;
    if (p->samples > 1 && p->extra_count && p->extra == EXTRASAMPLE_ASSOCALPHA)
        p->format.alpha = TAMIS_ALPHA_PREMULTIPLIED;
    if (p->samples > 1 && p->extra_count && p->extra == EXTRASAMPLE_UNASSALPHA)
        p->format.alpha = TAMIS_ALPHA_STRAIGHT;
    return TAMIS_OK;
}

/* Best case of each compression: decoded bytes per stored byte. */
static uint64_t max_expansion(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE:
        return 1;
    case COMPRESSION_PACKBITS:
        return 64;
    case COMPRESSION_LZW:
        return 1500;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_JPEG:
        return 1040;
    default: /* fax codes and modern compressors make very little of an empty picture */
        return (uint64_t)1 << 20;
    }
}

static tamis_status check_storage(tamis_reader *reader, const tiff_page *p)
{
    tamis_status status = tamis_priv_reader_check_size(reader, p->w, p->h);
    if (status != TAMIS_OK)
        return status;
    if (p->compression == COMPRESSION_OJPEG || !TIFFIsCODECConfigured(p->compression))
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "TIFF with compression %d is not supported", p->compression);
    if (p->planar != PLANARCONFIG_CONTIG && p->planar != PLANARCONFIG_SEPARATE)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF with planar configuration %d",
                                      p->planar);
    uint64_t row = ((uint64_t)p->w * p->samples * p->bits + 7) / 8;
    uint64_t expansion = max_expansion(p->compression);
    status = tamis_priv_reader_check_data(reader, row, p->h, reader->source.size, expansion);
    if (status != TAMIS_OK || !p->tile_w)
        return status;
    uint64_t tile = (uint64_t)p->tile_w * p->tile_h;
    if (tile == 0 || tile > MAX_TILE_BYTES || tile * p->samples * p->bits / 8 > MAX_TILE_BYTES)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF tiles of %ux%u", p->tile_w,
                                      p->tile_h);
    return tamis_priv_reader_check_data(reader, tile * p->bits / 8, 1, reader->source.size,
                                        expansion);
}

/* Raw photos are TIFF files whose first directory is a small preview. */
static tamis_status refuse_raw_photo(const tamis_reader *reader, TIFF *tif, int page)
{
    uint32_t kind = 0;
    uint16_t count = 0;
    void *values;
    if (TIFFGetField(tif, TAMIS_TAG_DNG_VERSION, &values))
        return unsupported(reader, "raw photo data (DNG)");
    TIFFGetField(tif, TIFFTAG_SUBFILETYPE, &kind);
    if (page == 0 && (kind & FILETYPE_REDUCEDIMAGE) &&
        TIFFGetField(tif, TIFFTAG_SUBIFD, &count, &values))
        return unsupported(reader, "raw photo data");
    return TAMIS_OK;
}

/* Makes page the one that libtiff is at. */
static tamis_status go_to(tamis_reader *reader, int page)
{
    tiff_state *s = reader->state;
    TIFF *tif = s->tiff.tif;
    if (s->current == page)
        return TAMIS_OK;
    s->current = -1;
    s->tiff.message[0] = 0;
    if (!TIFFSetSubDirectory(tif, s->offsets[page]))
        return fail_tiff(reader);
    tiff_page *p = &s->page;
    read_fields(tif, p);
    tamis_status status = refuse_raw_photo(reader, tif, page);
    if (status == TAMIS_OK)
        status = check_storage(reader, p);
    if (status == TAMIS_OK)
        status = choose_type(reader, p);
    if (status == TAMIS_OK)
        status = choose_colors(reader, p);
    if (status != TAMIS_OK)
        return status;
    if (p->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    s->current = page;
    return TAMIS_OK;
}

static const char *compression_name(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE:
        return "uncompressed";
    case COMPRESSION_PACKBITS:
        return "packbits";
    case COMPRESSION_LZW:
        return "lzw";
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
        return "deflate";
    case COMPRESSION_JPEG:
        return "jpeg";
    default: {
        const TIFFCodec *codec = TIFFFindCODEC(compression);
        return codec ? codec->name : "other compression";
    }
    }
}

static tamis_status tiff_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const tiff_state *s = reader->state;
    tamis_status status = go_to(reader, page);
    if (status != TAMIS_OK)
        return status;
    const tiff_page *p = &s->page;
    char tiles[40] = "strips";
    if (p->tile_w)
        snprintf(tiles, sizeof tiles, "tiled %ux%u", (unsigned)p->tile_w, (unsigned)p->tile_h);
    snprintf(out->detail, sizeof out->detail, "%s%s, %s%s",
             TIFFIsBigTIFF(s->tiff.tif) ? "BigTIFF, " : "", tiles, compression_name(p->compression),
             p->planar == PLANARCONFIG_SEPARATE && p->samples > 1 ? ", separate planes" : "");
    out->image = p->format;
    out->w = (int32_t)p->w;
    out->h = (int32_t)p->h;
    out->file_bits = p->bits;
    out->orientation = p->orientation;
    out->palette = p->photometric == PHOTOMETRIC_PALETTE;
    return TAMIS_OK;
}

/* One row of samples below 8 bit as palette colors or scaled to 0 .. 255. */
static void unpack_narrow(const tiff_page *p, const uint8_t *raw, uint32_t n, uint8_t *dst)
{
    unsigned max = (1u << p->bits) - 1, per_byte = 8u / p->bits;
    for (uint32_t i = 0; i < n; i++) {
        unsigned shift = 8 - p->bits * (i % per_byte + 1);
        unsigned v = raw[i / per_byte] >> shift & max;
        if (p->photometric == PHOTOMETRIC_PALETTE) {
            for (int c = 0; c < 3; c++)
                *dst++ = (uint8_t)(p->map[c][v] >> p->map_shift);
        } else {
            *dst++ = (uint8_t)(v * 255 / max);
        }
    }
}

/* Turns "0 is white" around; alpha stays. */
static void invert(const tiff_page *p, uint8_t *row, uint32_t n)
{
    size_t size = tamis_type_size(p->format.type);
    int colors = p->format.channels - (p->format.alpha != TAMIS_ALPHA_NONE);
    for (uint32_t x = 0; x < n; x++)
        for (size_t i = 0; i < size * (size_t)colors; i++)
            row[size * (size_t)p->format.channels * x + i] ^= 0xFF;
}

/* Puts n pixels of raw, of one plane or all, at dst. */
static void place(const tiff_page *p, const uint8_t *raw, uint32_t n, int plane, uint8_t *dst)
{
    size_t size = tamis_type_size(p->format.type);
    size_t pixel = size * (size_t)p->format.channels;
    if (p->bits < 8 || p->photometric == PHOTOMETRIC_PALETTE) {
        unpack_narrow(p, raw, n, dst);
    } else if (p->planar == PLANARCONFIG_CONTIG || p->samples == 1) {
        memcpy(dst, raw, pixel * n);
    } else {
        dst += size * (size_t)plane;
        for (uint32_t x = 0; x < n; x++)
            memcpy(dst + pixel * x, raw + size * x, size);
    }
}

/* Row by row, for strips that are too large to be held. */
static tamis_status read_rows(tamis_reader *reader, const tamis_image *image, int planes,
                              uint8_t *raw)
{
    tiff_state *s = reader->state;
    for (int plane = 0; plane < planes; plane++)
        for (int32_t y = 0; y < image->h; y++) {
            if (TIFFReadScanline(s->tiff.tif, raw, (uint32_t)y, (uint16_t)plane) != 1)
                return fail_tiff(reader);
            place(&s->page, raw, s->page.w, plane, tamis_image_row(image, 0, y));
        }
    return TAMIS_OK;
}

/* Whole strips at a time, since libtiff then expands faster. */
static tamis_status read_whole_strips(tamis_reader *reader, const tamis_image *image, int planes,
                                      uint32_t per_strip, size_t row_bytes, uint8_t *raw)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    for (int plane = 0; plane < planes; plane++)
        for (uint32_t y = 0; y < p->h; y += per_strip) {
            uint32_t n = p->h - y < per_strip ? p->h - y : per_strip;
            uint32_t strip = TIFFComputeStrip(s->tiff.tif, y, (uint16_t)plane);
            tmsize_t size = (tmsize_t)(row_bytes * n);
            if (TIFFReadEncodedStrip(s->tiff.tif, strip, raw, size) != size)
                return fail_tiff(reader);
            for (uint32_t i = 0; i < n; i++)
                place(p, raw + row_bytes * i, p->w, plane,
                      tamis_image_row(image, 0, (int32_t)(y + i)));
        }
    return TAMIS_OK;
}

static tamis_status read_strips(tamis_reader *reader, const tamis_image *image, int planes)
{
    const tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    uint64_t row_bytes = TIFFScanlineSize64(s->tiff.tif);
    uint64_t expected = ((uint64_t)p->w * (planes > 1 ? 1 : p->samples) * p->bits + 7) / 8;
    uint32_t per_strip = p->h;
    TIFFGetField(s->tiff.tif, TIFFTAG_ROWSPERSTRIP, &per_strip);
    if (row_bytes != expected || per_strip == 0)
        return fail_tiff(reader);
    if (per_strip > p->h)
        per_strip = p->h;
    int whole = row_bytes * per_strip <= MAX_STRIP_BYTES;
    uint8_t *raw = malloc((size_t)row_bytes * (whole ? per_strip : 1));
    if (!raw)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status =
        whole ? read_whole_strips(reader, image, planes, per_strip, (size_t)row_bytes, raw)
              : read_rows(reader, image, planes, raw);
    free(raw);
    return status;
}

/* Copies what of a tile lies within the picture. */
static void place_tile(const tiff_page *p, const uint8_t *raw, uint32_t x0, uint32_t y0, int plane,
                       const tamis_image *image)
{
    size_t samples = p->planar == PLANARCONFIG_SEPARATE ? 1 : p->samples;
    size_t row_bytes = ((size_t)p->tile_w * samples * p->bits + 7) / 8;
    uint32_t w = p->w - x0 < p->tile_w ? p->w - x0 : p->tile_w;
    uint32_t h = p->h - y0 < p->tile_h ? p->h - y0 : p->tile_h;
    size_t pixel = tamis_priv_row_bytes(image->format, 1);
    for (uint32_t y = 0; y < h; y++) {
        uint8_t *dst = (uint8_t *)tamis_image_row(image, 0, (int32_t)(y0 + y)) + pixel * x0;
        place(p, raw + row_bytes * y, w, plane, dst);
    }
}

static tamis_status read_tiles(tamis_reader *reader, const tamis_image *image, int planes)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    TIFF *tif = s->tiff.tif;
    size_t samples = planes > 1 ? 1 : p->samples;
    size_t expected = ((size_t)p->tile_w * samples * p->bits + 7) / 8 * p->tile_h;
    tmsize_t tile_bytes = TIFFTileSize(tif);
    if (tile_bytes < 0 || (size_t)tile_bytes != expected)
        return fail_tiff(reader);
    uint8_t *raw = malloc(expected);
    if (!raw)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = TAMIS_OK;
    for (int plane = 0; plane < planes; plane++)
        for (uint64_t y = 0; y < p->h; y += p->tile_h)
            for (uint64_t x = 0; x < p->w && status == TAMIS_OK; x += p->tile_w) {
                uint32_t tile = TIFFComputeTile(tif, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
                if (TIFFReadEncodedTile(tif, tile, raw, tile_bytes) != tile_bytes)
                    status = fail_tiff(reader);
                else
                    place_tile(p, raw, (uint32_t)x, (uint32_t)y, plane, image);
            }
    free(raw);
    return status;
}

static void read_resolution(TIFF *tif, tamis_meta *meta)
{
    float x = 0, y = 0;
    uint16_t unit = RESUNIT_INCH;
    TIFFGetFieldDefaulted(tif, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!TIFFGetField(tif, TIFFTAG_XRESOLUTION, &x) ||
        !TIFFGetField(tif, TIFFTAG_YRESOLUTION, &y) || unit == RESUNIT_NONE || !(x > 0) || !(y > 0))
        return;
    double scale = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
    meta->dpi_x = x * scale;
    meta->dpi_y = y * scale;
}

static tamis_status tiff_pixels(tamis_reader *reader, int page, const tamis_image *image,
                                tamis_meta *meta)
{
    tiff_state *s = reader->state;
    tamis_status status = go_to(reader, page);
    if (status != TAMIS_OK)
        return status;
    const tiff_page *p = &s->page;
    int planes = p->planar == PLANARCONFIG_SEPARATE ? p->samples : 1;
    s->tiff.message[0] = 0;
    s->tiff.damaged = 0;
    status = p->tile_w ? read_tiles(reader, image, planes) : read_strips(reader, image, planes);
    if (status == TAMIS_OK && s->tiff.damaged)
        status = fail_tiff(reader);
    if (status != TAMIS_OK)
        return status;
    if (p->photometric == PHOTOMETRIC_MINISWHITE)
        for (int32_t y = 0; y < image->h; y++)
            invert(p, tamis_image_row(image, 0, y), p->w);
    read_resolution(s->tiff.tif, meta);
    return tamis_priv_tiff_read_meta(reader, s->offsets[page], p->orientation, meta);
}

const tamis_decoder tamis_priv_decoder_tiff = {
    .name = "tiff",
    .probe = tiff_probe,
    .open = tiff_open,
    .info = tiff_info,
    .pixels = tiff_pixels,
    .close = tiff_close,
};
