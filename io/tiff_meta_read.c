/* SPDX-License-Identifier: Apache-2.0 */
/* Tags are read by our own directory parser rather than by libtiff, which knows them only by the
 * types that it expects. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "exif.h"
#include "ifd.h"
#include "meta.h"
#include "tiff_meta.h"

#define MAX_META_BYTES ((uint64_t)256 << 20)

static size_t read_source(void *user, uint64_t offset, void *buf, size_t size)
{
    return tamis_priv_source_read(user, offset, buf, size);
}

/* Tags about how pixels are stored, which a new file decides for itself; and those that repeat
 * pixels: sub-images, Photoshop layers, statistics. */
static int is_structural(uint16_t tag)
{
    static const uint16_t ranges[][2] = {
        {255, 259},     {262, 266},
        {273, 274},     {277, 284},
        {288, 293},     {296, 296},
        {300, 301},     {317, 317},
        {320, 330},     {332, 334},
        {338, 347},     {512, 521},
        {529, 532},     {559, 559},
        {32995, 32998}, {TAMIS_TAG_IMAGE_SOURCE_DATA, TAMIS_TAG_IMAGE_SOURCE_DATA},
        {50674, 50674},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (tag >= ranges[i][0] && tag <= ranges[i][1])
            return 1;
    return 0;
}

static int wants_tag(uint16_t tag)
{
    return !is_structural(tag);
}

tamis_status tamis_priv_tiff_directories(tamis_reader *reader, uint64_t **offsets, int *count)
{
    tamis_ifd_input input = {.read = read_source, .user = &reader->source};
    uint64_t at = tamis_priv_ifd_header(&input);
    uint64_t marked = 0; /* where we were at the newest power of two: meeting it again is a loop */
    size_t n = 0, capacity = 0;
    *offsets = NULL;
    while (at) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            uint64_t *larger = realloc(*offsets, capacity * sizeof **offsets);
            if (!larger)
                return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
            *offsets = larger;
        }
        if (at == marked || n == INT_MAX)
            return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF directories form a loop");
        (*offsets)[n++] = at;
        if ((n & (n - 1)) == 0)
            marked = at;
        if (!tamis_priv_ifd_next(&input, at, &at))
            return tamis_priv_reader_short(reader);
    }
    if (n == 0)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF without a directory");
    *count = (int)n;
    return TAMIS_OK;
}

int tamis_priv_tiff_is_descriptive(unsigned tag)
{
    static const uint16_t tags[] = {270,    271,    272,    305,    306,    315,    316,   33432,
                                    0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0x4746, 0x4749};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag)
            return 1;
    return 0;
}

/* The name of the block that a tag holds, or NULL. */
static const char *block_name(uint16_t tag)
{
    switch (tag) {
    case TIFFTAG_XMLPACKET:
        return "xmp";
    case TIFFTAG_ICCPROFILE:
        return "icc";
    case TIFFTAG_PHOTOSHOP:
        return "iptc";
    default:
        return NULL;
    }
}

static tamis_status keep_tag(tamis_meta *meta, const tamis_ifd_entry *entry)
{
    const char *block = block_name(entry->tag);
    if (block)
        return tamis_meta_set(meta, block, entry->data, entry->size);
    char name[16];
    snprintf(name, sizeof name, "tiff:%u", (unsigned)entry->tag);
    tamis_status status = tamis_meta_set(meta, name, entry->data, entry->size);
    if (status == TAMIS_OK) {
        meta->entries[meta->count - 1].tiff_type = entry->type;
        meta->entries[meta->count - 1].tiff_count = entry->count;
    }
    return status;
}

/* Without Photoshop's resources, the bare IPTC record is the "iptc" block. */
static tamis_status settle_iptc(tamis_meta *meta, const tamis_ifd *ifd, int swapped)
{
    const tamis_ifd_entry *record = tamis_priv_ifd_find(ifd, TIFFTAG_RICHTIFFIPTC);
    if (!record)
        return TAMIS_OK;
    if (tamis_meta_find(meta, "iptc"))
        return keep_tag(meta, record);
    /* By an old custom these bytes are declared as LONG values, which they are not. */
    if (record->type == TAMIS_IFD_LONG && swapped)
        tamis_priv_swap_samples(record->data, record->size / 4, 4);
    return tamis_meta_set(meta, "iptc", record->data, record->size);
}

/* Makes an EXIF block of the descriptive tags and the EXIF and GPS directories. */
static tamis_status keep_exif(tamis_meta *meta, tamis_ifd *ifd, int orientation)
{
    for (size_t i = ifd->count; i-- > 0;)
        if (!ifd->entries[i].sub && !tamis_priv_tiff_is_descriptive(ifd->entries[i].tag))
            tamis_priv_ifd_remove(ifd, ifd->entries[i].tag);
    if (ifd->count == 0)
        return TAMIS_OK;
    uint16_t value = (uint16_t)orientation;
    size_t size;
    if (!tamis_priv_ifd_set(ifd, TAMIS_TAG_ORIENTATION, TAMIS_IFD_SHORT, 1, &value))
        return TAMIS_ERR_MEMORY;
    uint8_t *exif = tamis_priv_exif_build(ifd, &size);
    return exif ? tamis_priv_meta_take(meta, "exif", exif, size) : TAMIS_ERR_MEMORY;
}

tamis_status tamis_priv_tiff_read_meta(tamis_reader *reader, uint64_t offset, int orientation,
                                       tamis_meta *meta)
{
    tamis_ifd_input input = {.read = read_source, .user = &reader->source, .want = wants_tag};
    input.budget = reader->source.size < MAX_META_BYTES ? reader->source.size : MAX_META_BYTES;
    tamis_ifd ifd;
    if (!tamis_priv_ifd_header(&input) || !tamis_priv_ifd_parse(&input, offset, &ifd))
        return TAMIS_OK;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < ifd.count && status == TAMIS_OK; i++)
        if (!ifd.entries[i].sub && ifd.entries[i].tag != TIFFTAG_RICHTIFFIPTC)
            status = keep_tag(meta, &ifd.entries[i]);
    if (status == TAMIS_OK)
        status = settle_iptc(meta, &ifd, input.big_endian != tamis_priv_host_is_big());
    if (status == TAMIS_OK)
        status = keep_exif(meta, &ifd, orientation);
    tamis_priv_ifd_clear(&ifd);
    if (status != TAMIS_OK)
        return tamis_priv_reader_fail(reader, status, "no memory");
    return TAMIS_OK;
}
