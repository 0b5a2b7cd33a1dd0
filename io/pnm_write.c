/* SPDX-License-Identifier: Apache-2.0 */
/* PGM, PPM, PBM (when all samples are 0 or 255) and PAM, with maxval 255 or 65535. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

static int is_bits(const tamis_writer *writer, tamis_format format)
{
    return strcmp(writer->extension, "pbm") == 0 && strcmp(writer->encoder->name, "pnm") == 0 &&
           format.channels == 1 && format.type == TAMIS_U8;
}

static tamis_status write_bits(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    size_t row_bytes = ((size_t)writer->page.w + 7) / 8;
    size_t bytes = ((size_t)rect.w + 7) / 8;
    uint8_t *bits = malloc(bytes);
    if (!bits)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = TAMIS_OK;
    for (int32_t y = 0; y < image->h && status == TAMIS_OK; y++) {
        const uint8_t *row = tamis_image_row(image, 0, y);
        memset(bits, 0, bytes);
        for (int32_t x = 0; x < image->w && status == TAMIS_OK; x++) {
            if (row[x] != 0 && row[x] != 255)
                status = tamis_priv_writer_fail(
                    writer, TAMIS_ERR_UNSUPPORTED,
                    "pbm cannot hold sample %d, only 0 and 255 (pgm and png can)", row[x]);
            bits[x / 8] |= (uint8_t)((row[x] == 0) << (7 - x % 8)); /* 1 is black */
        }
        if (status == TAMIS_OK)
            status = tamis_priv_plain_seek(writer, rect.y + y, row_bytes, (size_t)rect.x / 8);
        if (status == TAMIS_OK)
            status = tamis_priv_writer_bytes(writer, bits, bytes);
    }
    free(bits);
    return status;
}

static int max_value(tamis_type type)
{
    return type == TAMIS_U16 ? 65535 : 255;
}

static tamis_status pnm_begin(tamis_writer *writer, const tamis_meta *meta)
{
    const char *extension = writer->extension;
    tamis_format f = writer->page.format;
    char header[64];
    int n;
    (void)meta;
    const char *wanted = f.channels == 1 ? "pgm" : "ppm";
    int named = strcmp(extension, "pbm") == 0 || strcmp(extension, "pgm") == 0 ||
                strcmp(extension, "ppm") == 0;
    if (is_bits(writer, f))
        n = snprintf(header, sizeof header, "P4\n%d %d\n", writer->page.w, writer->page.h);
    else if (named && strcmp(extension, wanted) != 0)
        return tamis_priv_writer_fail(
            writer, TAMIS_ERR_UNSUPPORTED, "%s cannot hold %s samples in %d channel%s (%s can)",
            extension, tamis_type_name(f.type), f.channels, f.channels > 1 ? "s" : "", wanted);
    else
        n = snprintf(header, sizeof header, "P%c\n%d %d\n%d\n", f.channels == 1 ? '5' : '6',
                     writer->page.w, writer->page.h, max_value(f.type));
    return tamis_priv_plain_header(writer, header, (size_t)n);
}

static tamis_status pam_begin(tamis_writer *writer, const tamis_meta *meta)
{
    tamis_format f = writer->page.format;
    (void)meta;
    const char *tuple = "";
    if (f.alpha != TAMIS_ALPHA_NONE && f.channels != 3)
        tuple = f.channels == 2 ? "TUPLTYPE GRAYSCALE_ALPHA\n" : "TUPLTYPE RGB_ALPHA\n";
    else if (f.channels == 1 || f.channels == 3)
        tuple = f.channels == 1 ? "TUPLTYPE GRAYSCALE\n" : "TUPLTYPE RGB\n";
    char header[160];
    int n =
        snprintf(header, sizeof header, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\n%sENDHDR\n",
                 writer->page.w, writer->page.h, f.channels, max_value(f.type), tuple);
    return tamis_priv_plain_header(writer, header, (size_t)n);
}

static tamis_status pnm_write_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    if (is_bits(writer, image->format))
        return write_bits(writer, rect, image);
    return tamis_priv_plain_write(writer, (tamis_plain){.big_endian = 1}, rect, image);
}

static void pnm_block(const tamis_writer *writer, const tamis_page *page, int32_t *w, int32_t *h)
{
    tamis_priv_plain_block(writer, page, w, h);
    if (is_bits(writer, page->format) && *w == 1)
        *w = page->w > 8 ? 8 : page->w;
}

const tamis_encoder tamis_priv_encoder_pnm = {
    .name = "pnm",
    .extensions = "pnm pgm ppm pbm",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16),
    .channels = 1u << 1 | 1u << 3,
    .begin = pnm_begin,
    .part = pnm_write_part,
    .block = pnm_block,
};

const tamis_encoder tamis_priv_encoder_pam = {
    .name = "pam",
    .extensions = "pam",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16),
    .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
    .holds_alpha = 1,
    .straight_alpha = 1,
    .begin = pam_begin,
    .part = pnm_write_part,
    .block = pnm_block,
};
