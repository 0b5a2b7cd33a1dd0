/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exif.h"
#include "meta.h"
#include "tiff_meta.h"

/* Types that hold offsets into the old file, and those that only BigTIFF has. */
enum { TYPE_IFD = 13, TYPE_LONG8 = 16, TYPE_SLONG8 = 17, TYPE_IFD8 = 18 };

static tamis_status no_memory(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
}

/* A tag given by meta itself takes precedence over one derived from another block. */
static int has_tag(const tamis_meta *meta, unsigned tag)
{
    char name[16];
    snprintf(name, sizeof name, "tiff:%u", tag);
    return tamis_meta_find(meta, name) != NULL;
}

static tamis_status set_text(tamis_writer *writer, TIFF *tif, uint32_t tag, const void *data,
                             size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return no_memory(writer);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    TIFFSetField(tif, tag, text);
    free(text);
    return TAMIS_OK;
}

static void set_bytes(TIFF *tif, uint32_t tag, const uint8_t *data, size_t size)
{
    if (size > 0 && size <= INT32_MAX)
        TIFFSetField(tif, tag, (uint32_t)size, data);
}

/* Older libtiff wants an IPTC record counted, and so padded, in LONGs. */
static tamis_status set_iptc_record(tamis_writer *writer, TIFF *tif, const uint8_t *data,
                                    size_t size)
{
    const TIFFField *field = TIFFFindField(tif, TIFFTAG_RICHTIFFIPTC, TIFF_ANY);
    if (size == 0 || size > INT32_MAX)
        return TAMIS_OK;
    if (field && TIFFFieldDataType(field) != TIFF_LONG) {
        set_bytes(tif, TIFFTAG_RICHTIFFIPTC, data, size);
        return TAMIS_OK;
    }
    size_t count = (size + 3) / 4;
    uint32_t *padded = calloc(count, 4);
    if (!padded)
        return no_memory(writer);
    memcpy(padded, data, size);
    TIFFSetField(tif, TIFFTAG_RICHTIFFIPTC, (uint32_t)count, padded);
    free(padded);
    return TAMIS_OK;
}

static tamis_status set_iptc(tamis_writer *writer, TIFF *tif, const tamis_meta_entry *iptc,
                             int has_record)
{
    size_t size;
    const uint8_t *record = tamis_priv_iptc_record(iptc, &size);
    if (tamis_priv_iptc_is_photoshop(iptc))
        set_bytes(tif, TIFFTAG_PHOTOSHOP, iptc->data, iptc->size);
    return record && !has_record ? set_iptc_record(writer, tif, record, size) : TAMIS_OK;
}

static uint32_t get_scalar(const tamis_meta_entry *entry)
{
    uint16_t v16;
    uint32_t v32;
    if (entry->size >= 4 && entry->tiff_type == TAMIS_IFD_LONG) {
        memcpy(&v32, entry->data, 4);
        return v32;
    }
    if (entry->size < 2)
        return 0;
    memcpy(&v16, entry->data, 2);
    return v16;
}

/* Rationals as floats, the form in which libtiff takes them; to be freed. */
static float *get_floats(const tamis_meta_entry *entry)
{
    size_t count = entry->size / 8;
    float *out = malloc((count ? count : 1) * sizeof *out);
    for (size_t i = 0; out && i < count; i++) {
        uint32_t pair[2];
        memcpy(pair, entry->data + 8 * i, 8);
        double num = entry->tiff_type == TAMIS_IFD_RATIONAL ? pair[0] : (double)(int32_t)pair[0];
        double den = entry->tiff_type == TAMIS_IFD_RATIONAL ? pair[1] : (double)(int32_t)pair[1];
        out[i] = den != 0 ? (float)(num / den) : 0;
    }
    return out;
}

static int is_rational(const tamis_meta_entry *entry)
{
    return entry->tiff_type == TAMIS_IFD_RATIONAL || entry->tiff_type == 10;
}

/* Tags with a form of their own in libtiff: the few that say something about a page. */
static tamis_status set_known(tamis_writer *writer, TIFF *tif, const TIFFField *field, uint32_t tag,
                              const tamis_meta_entry *entry)
{
    if (TIFFFieldDataType(field) == TIFF_ASCII && !TIFFFieldPassCount(field))
        return set_text(writer, tif, tag, entry->data, entry->size);
    if (tag == TIFFTAG_RICHTIFFIPTC)
        return set_iptc_record(writer, tif, entry->data, entry->size);
    if (tag == TIFFTAG_SUBFILETYPE) {
        TIFFSetField(tif, tag, get_scalar(entry));
    } else if (tag == TIFFTAG_PAGENUMBER && entry->size == 4) {
        uint16_t pair[2];
        memcpy(pair, entry->data, 4);
        TIFFSetField(tif, tag, pair[0], pair[1]);
    } else if (is_rational(entry)) {
        float *values = get_floats(entry);
        if (!values)
            return no_memory(writer);
        if ((tag == TIFFTAG_XPOSITION || tag == TIFFTAG_YPOSITION) && entry->tiff_count == 1)
            TIFFSetField(tif, tag, (double)values[0]);
        else if ((tag == TIFFTAG_WHITEPOINT && entry->tiff_count == 2) ||
                 (tag == TIFFTAG_PRIMARYCHROMATICITIES && entry->tiff_count == 6))
            TIFFSetField(tif, tag, values);
        free(values);
    } else if (TIFFFieldPassCount(field) && TIFFFieldWriteCount(field) == TIFF_VARIABLE2 &&
               (int)TIFFFieldDataType(field) == entry->tiff_type) {
        TIFFSetField(tif, tag, (uint32_t)entry->tiff_count, entry->data);
    }
    return TAMIS_OK;
}

/* 8-byte integers as 4-byte ones, to be freed; NULL when one does not fit or memory lacks. */
static uint32_t *narrow(const tamis_meta_entry *entry)
{
    size_t count = entry->size / 8;
    uint32_t *out = malloc((count ? count : 1) * sizeof *out);
    for (size_t i = 0; out && i < count; i++) {
        uint64_t v;
        memcpy(&v, entry->data + 8 * i, 8);
        int64_t sv = (int64_t)v;
        int fits =
            entry->tiff_type == TYPE_SLONG8 ? sv >= INT32_MIN && sv <= INT32_MAX : v <= UINT32_MAX;
        if (!fits) {
            free(out);
            return NULL;
        }
        out[i] = (uint32_t)v;
    }
    return out;
}

static void declare(TIFF *tif, uint32_t tag, int type)
{
    static char name[] = "Tag";
    TIFFFieldInfo info = {
        tag, TIFF_VARIABLE2, TIFF_VARIABLE2, (TIFFDataType)type, FIELD_CUSTOM, 1, 1, name};
    TIFFMergeFieldInfo(tif, &info, 1);
}

static tamis_status set_unknown(tamis_writer *writer, TIFF *tif, int big, uint32_t tag,
                                const tamis_meta_entry *entry)
{
    int type = entry->tiff_type;
    void *converted = NULL;
    if (is_rational(entry)) {
        converted = get_floats(entry);
        if (!converted)
            return no_memory(writer);
    } else if (!big && (type == TYPE_LONG8 || type == TYPE_SLONG8)) {
        converted = narrow(entry);
        type = type == TYPE_LONG8 ? TIFF_LONG : TIFF_SLONG;
        if (!converted)
            return TAMIS_OK;
    }
    declare(tif, tag, type);
    TIFFSetField(tif, tag, (uint32_t)entry->tiff_count, converted ? converted : entry->data);
    free(converted);
    return TAMIS_OK;
}

static tamis_status set_tag(tamis_writer *writer, TIFF *tif, int big, const tamis_meta_entry *entry)
{
    unsigned long tag = strtoul(entry->name + 5, NULL, 10);
    size_t unit = tamis_priv_ifd_type_size((unsigned)entry->tiff_type);
    if (tag == 0 || tag > 65535 || unit == 0 || entry->tiff_count == 0 ||
        entry->tiff_count > INT32_MAX || entry->size != entry->tiff_count * unit ||
        entry->tiff_type == TYPE_IFD || entry->tiff_type == TYPE_IFD8)
        return TAMIS_OK;
    const TIFFField *field = TIFFFindField(tif, (uint32_t)tag, TIFF_ANY);
    if (field && TIFFFieldTag(field) == tag && strcmp(TIFFFieldName(field), "Tag") != 0)
        return set_known(writer, tif, field, (uint32_t)tag, entry);
    return set_unknown(writer, tif, big, (uint32_t)tag, entry);
}

/* Writes a directory of its own at the end of the file and lets tag point to it. libtiff goes to
 * the end by itself before it writes anything more. */
static tamis_status append_directory(tamis_writer *writer, tamis_tiff *t, int big, uint32_t tag,
                                     const tamis_ifd *ifd)
{
    size_t size = tamis_priv_ifd_bytes(ifd, big);
    uint64_t at;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return no_memory(writer);
    if (!tamis_priv_sink_seek_end(t->sink, &at)) {
        free(bytes);
        return tamis_priv_writer_sink_failed(writer);
    }
    size_t pad = (size_t)(at % 2); /* directories begin at even offsets */
    tamis_priv_ifd_write(ifd, big, at + pad, bytes);
    int ok = tamis_priv_sink_write(t->sink, "", pad) && tamis_priv_sink_write(t->sink, bytes, size);
    free(bytes);
    if (!ok)
        return tamis_priv_writer_sink_failed(writer);
    TIFFSetField(t->tif, tag, at + pad);
    return TAMIS_OK;
}

static tamis_status set_exif_tag(tamis_writer *writer, TIFF *tif, int big,
                                 const tamis_ifd_entry *entry)
{
    char name[16];
    snprintf(name, sizeof name, "tiff:%u", (unsigned)entry->tag);
    tamis_meta_entry as_meta = {name, entry->data, entry->size, entry->type, entry->count};
    return set_tag(writer, tif, big, &as_meta);
}

static tamis_status set_exif(tamis_writer *writer, tamis_tiff *t, int big, const tamis_meta *meta,
                             const tamis_meta_entry *exif)
{
    tamis_ifd ifd;
    if (!tamis_priv_exif_parse(exif->data, exif->size, &ifd))
        return TAMIS_OK;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < ifd.count && status == TAMIS_OK; i++) {
        const tamis_ifd_entry *entry = &ifd.entries[i];
        if (entry->sub && entry->sub->count > 0)
            status = append_directory(writer, t, big, entry->tag, entry->sub);
        else if (tamis_priv_tiff_is_descriptive(entry->tag) && !has_tag(meta, entry->tag))
            status = set_exif_tag(writer, t->tif, big, entry);
    }
    tamis_priv_ifd_clear(&ifd);
    return status;
}

static tamis_status set_named_text(tamis_writer *writer, TIFF *tif, const tamis_meta *meta,
                                   const tamis_meta_entry *entry)
{
    static const struct {
        const char *name;
        uint32_t tag;
    } names[] = {
        {"text:Comment", TIFFTAG_IMAGEDESCRIPTION}, {"text:Description", TIFFTAG_IMAGEDESCRIPTION},
        {"text:Title", TIFFTAG_DOCUMENTNAME},       {"text:Author", TIFFTAG_ARTIST},
        {"text:Copyright", TIFFTAG_COPYRIGHT},      {"text:Software", TIFFTAG_SOFTWARE},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(entry->name, names[i].name) == 0 && !has_tag(meta, names[i].tag))
            return set_text(writer, tif, names[i].tag, entry->data, entry->size);
    return TAMIS_OK;
}

tamis_status tamis_priv_tiff_write_meta(tamis_writer *writer, tamis_tiff *t, int big,
                                        const tamis_meta *meta)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < meta->count && status == TAMIS_OK; i++) {
        const tamis_meta_entry *entry = &meta->entries[i];
        if (strcmp(entry->name, "icc") == 0)
            set_bytes(t->tif, TIFFTAG_ICCPROFILE, entry->data, entry->size);
        else if (strcmp(entry->name, "xmp") == 0)
            set_bytes(t->tif, TIFFTAG_XMLPACKET, entry->data, entry->size);
        else if (strcmp(entry->name, "iptc") == 0)
            status = set_iptc(writer, t->tif, entry, has_tag(meta, TIFFTAG_RICHTIFFIPTC));
        else if (strcmp(entry->name, "exif") == 0)
            status = set_exif(writer, t, big, meta, entry);
        else if (strncmp(entry->name, "tiff:", 5) == 0)
            status = set_tag(writer, t->tif, big, entry);
        else if (strncmp(entry->name, "text:", 5) == 0)
            status = set_named_text(writer, t->tif, meta, entry);
    }
    return status;
}
