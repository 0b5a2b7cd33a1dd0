/* SPDX-License-Identifier: Apache-2.0 */
#include "meta.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "exif.h"

void tamis_meta_clear(tamis_meta *meta)
{
    if (!meta)
        return;
    for (size_t i = 0; i < meta->count; i++) {
        free(meta->entries[i].name);
        free(meta->entries[i].data);
    }
    free(meta->entries);
    *meta = (tamis_meta){0};
}

static tamis_meta_entry *find(const tamis_meta *meta, const char *name)
{
    for (size_t i = 0; i < meta->count; i++)
        if (strcmp(meta->entries[i].name, name) == 0)
            return &meta->entries[i];
    return NULL;
}

const tamis_meta_entry *tamis_meta_find(const tamis_meta *meta, const char *name)
{
    return meta && name ? find(meta, name) : NULL;
}

/* A new entry with that name and no data, or NULL. */
static tamis_meta_entry *append(tamis_meta *meta, const char *name)
{
    tamis_meta_entry *entries = realloc(meta->entries, (meta->count + 1) * sizeof *entries);
    if (!entries)
        return NULL;
    meta->entries = entries;
    size_t length = strlen(name) + 1;
    char *copy = malloc(length);
    if (!copy)
        return NULL;
    memcpy(copy, name, length);
    entries[meta->count] = (tamis_meta_entry){.name = copy};
    return &entries[meta->count++];
}

/* Gives the entry, NULL when none could be made, its data. */
static tamis_status fill(tamis_meta_entry *entry, uint8_t *data, size_t size)
{
    if (!entry) {
        free(data);
        return TAMIS_ERR_MEMORY;
    }
    free(entry->data);
    entry->data = data;
    entry->size = size;
    return TAMIS_OK;
}

tamis_status tamis_priv_meta_take(tamis_meta *meta, const char *name, uint8_t *data, size_t size)
{
    tamis_meta_entry *entry = find(meta, name);
    return fill(entry ? entry : append(meta, name), data, size);
}

tamis_status tamis_priv_meta_append(tamis_meta *meta, const char *name, uint8_t *data, size_t size)
{
    return fill(append(meta, name), data, size);
}

tamis_status tamis_meta_set(tamis_meta *meta, const char *name, const void *data, size_t size)
{
    if (!meta || !name || (!data && size))
        return TAMIS_ERR_ARGUMENT;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return TAMIS_ERR_MEMORY;
    if (size)
        memcpy(copy, data, size);
    return tamis_priv_meta_take(meta, name, copy, size);
}

void tamis_priv_meta_mark_upright(tamis_meta *meta)
{
    tamis_meta_entry *exif = find(meta, "exif");
    tamis_meta_entry *xmp = find(meta, "xmp");
    if (exif) {
        tamis_priv_exif_set_orientation(exif->data, exif->size, 1);
        tamis_priv_exif_drop_thumbnail(exif->data, exif->size);
    }
    if (xmp)
        tamis_priv_xmp_set_orientation(xmp->data, xmp->size, 1);
    meta->orientation = 1;
}

static tamis_status copy_entry(const tamis_meta_entry *from, tamis_meta *out)
{
    uint8_t *data = malloc(from->size ? from->size : 1);
    if (!data)
        return TAMIS_ERR_MEMORY;
    if (from->size)
        memcpy(data, from->data, from->size);
    tamis_status status = tamis_priv_meta_append(out, from->name, data, from->size);
    if (status == TAMIS_OK) {
        out->entries[out->count - 1].tiff_type = from->tiff_type;
        out->entries[out->count - 1].tiff_count = from->tiff_count;
    }
    return status;
}

/* An ICC profile names its color model at byte 16. One that does not fit would make the file
 * invalid, say gray edges of a color photo with the photo's RGB profile. */
static int icc_fits(const tamis_meta_entry *icc, tamis_format format)
{
    int colors = format.channels - (format.alpha != TAMIS_ALPHA_NONE);
    if (icc->size < 128)
        return 0;
    if (memcmp(icc->data + 16, "GRAY", 4) == 0)
        return colors <= 2;
    return colors >= 3 && memcmp(icc->data + 16, "CMYK", 4) != 0;
}

/* Puts the orientation into an EXIF block that has none, or into a new one. */
static tamis_status add_orientation(tamis_meta *meta)
{
    const tamis_meta_entry *exif = find(meta, "exif");
    tamis_ifd ifd = {0};
    uint16_t value = (uint16_t)meta->orientation;
    if (exif)
        tamis_priv_exif_parse(exif->data, exif->size, &ifd);
    size_t size = 0;
    uint8_t *data = NULL;
    if (tamis_priv_ifd_set(&ifd, TAMIS_TAG_ORIENTATION, TAMIS_IFD_SHORT, 1, &value))
        data = tamis_priv_exif_build(&ifd, &size);
    tamis_priv_ifd_clear(&ifd);
    return data ? tamis_priv_meta_take(meta, "exif", data, size) : TAMIS_ERR_MEMORY;
}

static tamis_status agree(tamis_meta *meta, int32_t w, int32_t h)
{
    tamis_meta_entry *exif = find(meta, "exif");
    tamis_meta_entry *xmp = find(meta, "xmp");
    int known = meta->orientation >= 1 && meta->orientation <= 8;
    if (exif) {
        tamis_priv_exif_set_size(exif->data, exif->size, (uint32_t)w, (uint32_t)h);
        if (known)
            tamis_priv_exif_set_orientation(exif->data, exif->size, meta->orientation);
    }
    int stored = exif ? tamis_priv_exif_orientation(exif->data, exif->size) : 0;
    /* EXIF is the authority; a value that stands in XMP alone was not acted upon. */
    if (xmp && known && (stored || meta->orientation != 1))
        tamis_priv_xmp_set_orientation(xmp->data, xmp->size, meta->orientation);
    if (known && meta->orientation != 1 && stored != meta->orientation)
        return add_orientation(meta);
    return TAMIS_OK;
}

tamis_status tamis_priv_meta_for_file(const tamis_meta *meta, tamis_format format, int32_t w,
                                      int32_t h, tamis_meta *out)
{
    *out = (tamis_meta){0};
    if (!meta)
        return TAMIS_OK;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < meta->count && status == TAMIS_OK; i++) {
        const tamis_meta_entry *entry = &meta->entries[i];
        if (strcmp(entry->name, "icc") != 0 || icc_fits(entry, format))
            status = copy_entry(entry, out);
    }
    out->dpi_x = meta->dpi_x;
    out->dpi_y = meta->dpi_y;
    out->orientation = meta->orientation;
    if (status == TAMIS_OK)
        status = agree(out, w, h);
    if (status != TAMIS_OK)
        tamis_meta_clear(out);
    return status;
}

int tamis_priv_iptc_is_photoshop(const tamis_meta_entry *iptc)
{
    return iptc->size >= 4 && memcmp(iptc->data, "8BIM", 4) == 0;
}

/* Resources: "8BIM", number, Pascal string padded to even, length, data padded to even. */
const uint8_t *tamis_priv_iptc_record(const tamis_meta_entry *iptc, size_t *size)
{
    const uint8_t *p = iptc->data;
    size_t left = iptc->size;
    if (!tamis_priv_iptc_is_photoshop(iptc)) {
        *size = left;
        return p;
    }
    while (left >= 12 && memcmp(p, "8BIM", 4) == 0) {
        size_t head = 6 + ((size_t)p[6] + 2) / 2 * 2;
        if (head + 4 > left)
            break;
        size_t length = tamis_priv_be32(p + head);
        if (length > left - head - 4)
            break;
        if (tamis_priv_be16(p + 4) == 0x0404) {
            *size = length;
            return p + head + 4;
        }
        size_t step = head + 4 + length + length % 2;
        if (step > left)
            break;
        p += step;
        left -= step;
    }
    *size = 0;
    return NULL;
}

/* Length of the UTF-8 sequence at p, or 0 when it is not one. */
static size_t utf8_length(const uint8_t *p, size_t left)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (n == 0 || p[0] == 0 || p[0] > 0xF4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

int tamis_priv_utf8_valid(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t n = utf8_length(text + i, size - i);
        if (n == 0)
            return 0;
        i += n;
    }
    return 1;
}

uint8_t *tamis_priv_latin1_to_utf8(const uint8_t *text, size_t size, size_t *out_size)
{
    uint8_t *out = malloc(2 * size + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < size; i++) {
        if (text[i] >= 0x80)
            out[n++] = (uint8_t)(0xC0 | text[i] >> 6);
        out[n++] = text[i] >= 0x80 ? (uint8_t)(0x80 | (text[i] & 0x3F)) : text[i];
    }
    *out_size = n;
    return out;
}
