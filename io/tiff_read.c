/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "tiff_meta.h"
#include "tiff_read.h"

#define MAX_TILE_BYTES  ((uint64_t)1 << 30)
#define MAX_STRIP_BYTES ((uint64_t)16 << 20)

static int tiff_probe(const uint8_t *head, size_t size)
{
    if (size < 8)
        return 0;
    int little = memcmp(head, "II*\0", 4) == 0 || memcmp(head, "II+\0", 4) == 0;
    return little || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "MM\0+", 4) == 0;
}

static tamis_status tiff_open(tamis_reader *reader)
{
    tiff_state *s = calloc(1, sizeof *s);
    reader->state = s;
    if (!s)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_priv_tiff_lanes_init(s);
    tamis_status status = tamis_priv_tiff_directories(reader, &s->offsets, &reader->pages);
    return status == TAMIS_OK ? tamis_priv_tiff_lane(reader, 0) : status;
}

static void tiff_close(tamis_reader *reader)
{
    tiff_state *s = reader->state;
    if (!s)
        return;
    tamis_priv_tiff_lanes_close(s);
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
    uint32_t subfile = 0;
    TIFFGetField(tif, TIFFTAG_SUBFILETYPE, &subfile);
    p->reduced = (subfile & FILETYPE_REDUCEDIMAGE) != 0;
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
static tamis_status refuse_raw_photo(const tamis_reader *reader, TIFF *tif, int page,
                                     const tiff_page *p)
{
    uint16_t count = 0;
    void *values;
    if (TIFFGetField(tif, TAMIS_TAG_DNG_VERSION, &values))
        return unsupported(reader, "raw photo data (DNG)");
    if (page == 0 && p->reduced && TIFFGetField(tif, TIFFTAG_SUBIFD, &count, &values))
        return unsupported(reader, "raw photo data");
    return TAMIS_OK;
}

/* How the pixels lie: what libtiff says must be what the tags say. */
static void read_blocks(TIFF *tif, tiff_page *p)
{
    p->planes = p->planar == PLANARCONFIG_SEPARATE ? p->samples : 1;
    uint64_t samples = p->planes > 1 ? 1 : p->samples;
    p->block_w = p->tile_w ? p->tile_w : p->w;
    p->block_h = p->tile_h;
    if (!p->tile_w)
        TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &p->block_h);
    if (!p->tile_w && p->block_h > p->h)
        p->block_h = p->h;
    uint64_t row_bytes = (p->block_w * samples * p->bits + 7) / 8;
    uint64_t found = p->tile_w ? TIFFTileRowSize64(tif) : TIFFScanlineSize64(tif);
    if (row_bytes != found || p->block_h == 0 ||
        (p->tile_w && TIFFTileSize64(tif) != row_bytes * p->block_h))
        return;
    p->by_rows = !p->tile_w && row_bytes * p->block_h > MAX_STRIP_BYTES;
    p->row_bytes = (size_t)row_bytes;
    p->block_bytes = p->row_bytes * (p->by_rows ? 1 : p->block_h);
}

/* Makes page the one that the first lane is at. */
static tamis_status go_to(tamis_reader *reader, int page)
{
    tiff_state *s = reader->state;
    tiff_lane *lane = &s->lanes[0];
    TIFF *tif = lane->tiff.tif;
    if (lane->page == page)
        return TAMIS_OK;
    lane->page = -1;
    lane->row = 0; /* the directory is read anew, and with it strips from their start */
    lane->tiff.message[0] = 0;
    if (!TIFFSetSubDirectory(tif, s->offsets[page]))
        return tamis_priv_tiff_fail(reader, 0);
    tiff_page *p = &s->page;
    read_fields(tif, p);
    tamis_status status = refuse_raw_photo(reader, tif, page, p);
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
    read_blocks(tif, p);
    lane->page = page;
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
             TIFFIsBigTIFF(s->lanes[0].tiff.tif) ? "BigTIFF, " : "", tiles,
             compression_name(p->compression),
             p->planar == PLANARCONFIG_SEPARATE && p->samples > 1 ? ", separate planes" : "");
    out->image = p->format;
    out->w = (int32_t)p->w;
    out->h = (int32_t)p->h;
    out->reduced = p->reduced;
    /* Rows of a strip that is expanded from its start cannot come from the bottom up. */
    int turned = p->by_rows && p->compression != COMPRESSION_NONE && p->orientation >= 3;
    if (!turned || reader->keep_orientation) {
        out->block_w = (int32_t)p->block_w;
        out->block_h = p->by_rows ? 1 : (int32_t)p->block_h;
    }
    out->file_bits = p->bits;
    out->orientation = p->orientation;
    out->palette = p->photometric == PHOTOMETRIC_PALETTE;
    return TAMIS_OK;
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

static tamis_status tiff_part(tamis_reader *reader, int page, tamis_rect rect,
                              const tamis_image *into)
{
    tamis_status status = go_to(reader, page);
    return status == TAMIS_OK ? tamis_priv_tiff_part(reader, rect, into) : status;
}

static tamis_status tiff_meta(tamis_reader *reader, int page, tamis_meta *meta)
{
    const tiff_state *s = reader->state;
    tamis_status status = go_to(reader, page);
    if (status != TAMIS_OK)
        return status;
    read_resolution(s->lanes[0].tiff.tif, meta);
    return tamis_priv_tiff_read_meta(reader, s->offsets[page], s->page.orientation, meta);
}

const tamis_decoder tamis_priv_decoder_tiff = {
    .name = "tiff",
    .probe = tiff_probe,
    .open = tiff_open,
    .info = tiff_info,
    .part = tiff_part,
    .meta = tiff_meta,
    .close = tiff_close,
};
