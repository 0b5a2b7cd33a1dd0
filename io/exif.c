/* SPDX-License-Identifier: Apache-2.0 */
#include "exif.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

typedef struct exif_block {
    uint8_t *data;
    size_t size;
    int big_endian;
} exif_block;

static uint32_t get16(const exif_block *b, size_t at)
{
    if (at + 2 > b->size)
        return 0;
    return b->big_endian ? tamis_priv_be16(b->data + at) : tamis_priv_le16(b->data + at);
}

static uint32_t get32(const exif_block *b, size_t at)
{
    if (at + 4 > b->size)
        return 0;
    return b->big_endian ? tamis_priv_be32(b->data + at) : tamis_priv_le32(b->data + at);
}

static void put16(exif_block *b, size_t at, uint32_t v)
{
    if (b->big_endian)
        tamis_priv_put_be16(b->data + at, (uint16_t)v);
    else
        tamis_priv_put_le16(b->data + at, (uint16_t)v);
}

static void put32(exif_block *b, size_t at, uint32_t v)
{
    if (b->big_endian)
        tamis_priv_put_be32(b->data + at, v);
    else
        tamis_priv_put_le32(b->data + at, v);
}

/* Offset of the main directory, or 0. */
static size_t open_block(const uint8_t *exif, size_t size, exif_block *out)
{
    *out = (exif_block){(uint8_t *)exif, size, 0};
    if (size < 14 || exif[0] != exif[1] || (exif[0] != 'I' && exif[0] != 'M'))
        return 0;
    out->big_endian = exif[0] == 'M';
    uint32_t ifd = get32(out, 4);
    return get16(out, 2) == 42 && ifd >= 8 && ifd <= size - 6 ? ifd : 0;
}

/* Offset of the 12 bytes of a tag, or 0. */
static size_t find_tag(const exif_block *b, size_t ifd, unsigned tag)
{
    unsigned count = get16(b, ifd);
    for (unsigned i = 0; ifd && i < count; i++) {
        size_t at = ifd + 2 + 12 * (size_t)i;
        if (at + 12 > b->size)
            return 0;
        if (get16(b, at) == tag)
            return at;
    }
    return 0;
}

static size_t find_sub(const exif_block *b, size_t ifd, unsigned tag)
{
    size_t at = find_tag(b, ifd, tag);
    size_t sub = at ? get32(b, at + 8) : 0;
    return sub >= 8 && sub <= b->size ? sub : 0;
}

int tamis_priv_exif_orientation(const uint8_t *exif, size_t size)
{
    exif_block b;
    size_t at = find_tag(&b, open_block(exif, size, &b), TAMIS_TAG_ORIENTATION);
    if (!at || get16(&b, at + 2) != TAMIS_IFD_SHORT)
        return 0;
    unsigned v = get16(&b, at + 8);
    return v >= 1 && v <= 8 ? (int)v : 0;
}

static double get_rational(const exif_block *b, size_t tag_at)
{
    if (!tag_at || get16(b, tag_at + 2) != TAMIS_IFD_RATIONAL)
        return 0;
    size_t at = get32(b, tag_at + 8);
    double den = get32(b, at + 4);
    return den > 0 ? get32(b, at) / den : 0;
}

void tamis_priv_exif_resolution(const uint8_t *exif, size_t size, double *dpi_x, double *dpi_y)
{
    exif_block b;
    size_t ifd = open_block(exif, size, &b);
    double x = get_rational(&b, find_tag(&b, ifd, 0x011A));
    double y = get_rational(&b, find_tag(&b, ifd, 0x011B));
    size_t unit_at = find_tag(&b, ifd, 0x0128);
    unsigned unit = unit_at ? get16(&b, unit_at + 8) : 2;
    if (x <= 0 || y <= 0 || (unit != 2 && unit != 3))
        return;
    *dpi_x = unit == 3 ? x * 2.54 : x;
    *dpi_y = unit == 3 ? y * 2.54 : y;
}

void tamis_priv_exif_set_orientation(uint8_t *exif, size_t size, int orientation)
{
    exif_block b;
    size_t at = find_tag(&b, open_block(exif, size, &b), TAMIS_TAG_ORIENTATION);
    if (at && get16(&b, at + 2) == TAMIS_IFD_SHORT)
        put16(&b, at + 8, (uint32_t)orientation);
}

static void set_number(exif_block *b, size_t at, uint32_t v)
{
    if (at && get16(b, at + 2) == TAMIS_IFD_LONG)
        put32(b, at + 8, v);
    else if (at && get16(b, at + 2) == TAMIS_IFD_SHORT && v <= 65535)
        put16(b, at + 8, v);
}

void tamis_priv_exif_set_size(uint8_t *exif, size_t size, uint32_t w, uint32_t h)
{
    exif_block b;
    size_t sub = find_sub(&b, open_block(exif, size, &b), TAMIS_TAG_EXIF_IFD);
    set_number(&b, find_tag(&b, sub, TAMIS_TAG_PIXEL_WIDTH), w);
    set_number(&b, find_tag(&b, sub, TAMIS_TAG_PIXEL_HEIGHT), h);
}

void tamis_priv_exif_drop_thumbnail(uint8_t *exif, size_t size)
{
    exif_block b;
    size_t ifd = open_block(exif, size, &b);
    size_t link = ifd + 2 + 12 * (size_t)get16(&b, ifd);
    if (ifd && link + 4 <= size)
        put32(&b, link, 0);
}

void tamis_priv_xmp_set_orientation(uint8_t *xmp, size_t size, int orientation)
{
    static const char name[] = "tiff:Orientation";
    const size_t length = sizeof name - 1;
    for (size_t i = 0; i + length + 3 < size; i++) {
        if (memcmp(xmp + i, name, length) != 0)
            continue;
        /* tiff:Orientation="6" or <tiff:Orientation>6<; white space as XML allows it */
        size_t at = i + length;
        while (at < size && strchr(" \t\r\n=\"'>", xmp[at]) && xmp[at])
            at++;
        if (at + 1 < size && xmp[at] >= '1' && xmp[at] <= '8' && strchr("\"'< \t\r\n", xmp[at + 1]))
            xmp[at] = (uint8_t)('0' + orientation);
    }
}

static size_t read_block(void *user, uint64_t offset, void *buf, size_t size)
{
    const exif_block *b = user;
    if (offset >= b->size)
        return 0;
    if (size > b->size - offset)
        size = b->size - (size_t)offset;
    memcpy(buf, b->data + offset, size);
    return size;
}

int tamis_priv_exif_parse(const uint8_t *exif, size_t size, tamis_ifd *out)
{
    exif_block b;
    *out = (tamis_ifd){0};
    if (!open_block(exif, size, &b))
        return 0;
    tamis_ifd_input input = {.read = read_block, .user = &b, .budget = 4 * (uint64_t)size};
    uint64_t offset = tamis_priv_ifd_header(&input);
    return offset && tamis_priv_ifd_parse(&input, offset, out);
}

uint8_t *tamis_priv_exif_build(const tamis_ifd *ifd, size_t *size)
{
    *size = 8 + tamis_priv_ifd_bytes(ifd, 0);
    uint8_t *exif = malloc(*size);
    if (!exif)
        return NULL;
    const uint16_t magic = 42;
    const uint32_t first = 8;
    memcpy(exif, tamis_priv_host_is_big() ? "MM" : "II", 2);
    memcpy(exif + 2, &magic, 2);
    memcpy(exif + 4, &first, 4);
    tamis_priv_ifd_write(ifd, 0, 8, exif + 8);
    return exif;
}
