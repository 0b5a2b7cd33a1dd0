/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of JPEG: EXIF and XMP in APP1, ICC in APP2, Photoshop resources in APP13, comments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "exif.h"
#include "jpeg_common.h"
#include "meta.h"

#define MAX_SEGMENT 65533

/* What segments begin with, their zero bytes included. */
static const char exif_head[] = "Exif\0";
static const char xmp_head[] = "http://ns.adobe.com/xap/1.0/";
static const char more_xmp_head[] = "http://ns.adobe.com/xmp/extension/";
static const char photoshop_head[] = "Photoshop 3.0";
enum { GUID_BYTES = 32, MORE_XMP_HEAD = sizeof more_xmp_head + GUID_BYTES + 8 };

void tamis_priv_jpeg_keep_segments(j_decompress_ptr cinfo)
{
    jpeg_save_markers(cinfo, JPEG_COM, 0xFFFF);
    jpeg_save_markers(cinfo, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(cinfo, JPEG_APP0 + 2, 0xFFFF);
    jpeg_save_markers(cinfo, JPEG_APP0 + 13, 0xFFFF);
}

static int begins_with(const struct jpeg_marker_struct *m, const char *head, size_t size)
{
    return m->data_length >= size && memcmp(m->data, head, size) == 0;
}

static tamis_status add_comment(tamis_meta *meta, const struct jpeg_marker_struct *m)
{
    size_t size = m->data_length;
    while (size > 0 && m->data[size - 1] == 0)
        size--;
    uint8_t *text;
    if (tamis_priv_utf8_valid(m->data, size)) {
        text = malloc(size ? size : 1);
        if (text && size)
            memcpy(text, m->data, size);
    } else {
        text = tamis_priv_latin1_to_utf8(m->data, size, &size);
    }
    return text ? tamis_priv_meta_append(meta, "text:Comment", text, size) : TAMIS_ERR_MEMORY;
}

/* Appends to an entry, or makes one. */
static tamis_status extend(tamis_meta *meta, const char *name, const uint8_t *data, size_t size)
{
    const tamis_meta_entry *old = tamis_meta_find(meta, name);
    size_t before = old ? old->size : 0;
    uint8_t *joined = malloc(before + size + 1);
    if (!joined)
        return TAMIS_ERR_MEMORY;
    if (before)
        memcpy(joined, old->data, before);
    memcpy(joined + before, data, size);
    return tamis_priv_meta_take(meta, name, joined, before + size);
}

/* The rest of a long XMP packet comes in pieces, in order as every program writes them; the entry
 * "xmp:more" is its GUID and then the text. */
static tamis_status add_more_xmp(tamis_meta *meta, const struct jpeg_marker_struct *m)
{
    const uint8_t *guid = m->data + sizeof more_xmp_head;
    const tamis_meta_entry *old = tamis_meta_find(meta, "xmp:more");
    size_t offset = tamis_priv_be32(guid + GUID_BYTES + 4);
    size_t size = m->data_length - MORE_XMP_HEAD;
    if (!old && offset == 0) {
        tamis_status status = extend(meta, "xmp:more", guid, GUID_BYTES);
        if (status != TAMIS_OK)
            return status;
    } else if (!old || memcmp(old->data, guid, GUID_BYTES) != 0 ||
               old->size - GUID_BYTES != offset) {
        return TAMIS_OK;
    }
    return extend(meta, "xmp:more", m->data + MORE_XMP_HEAD, size);
}

static tamis_status add_segment(tamis_meta *meta, const struct jpeg_marker_struct *m)
{
    int app = m->marker - JPEG_APP0;
    if (m->marker == JPEG_COM)
        return add_comment(meta, m);
    if (app == 1 && begins_with(m, exif_head, 5) && m->data_length > 6 &&
        !tamis_meta_find(meta, "exif"))
        return tamis_meta_set(meta, "exif", m->data + 6, m->data_length - 6);
    if (app == 1 && begins_with(m, xmp_head, sizeof xmp_head) && !tamis_meta_find(meta, "xmp"))
        return tamis_meta_set(meta, "xmp", m->data + sizeof xmp_head,
                              m->data_length - sizeof xmp_head);
    if (app == 1 && begins_with(m, more_xmp_head, sizeof more_xmp_head) &&
        m->data_length > MORE_XMP_HEAD)
        return add_more_xmp(meta, m);
    if (app == 13 && begins_with(m, photoshop_head, sizeof photoshop_head))
        return extend(meta, "iptc", m->data + sizeof photoshop_head,
                      m->data_length - sizeof photoshop_head);
    return TAMIS_OK;
}

/* ICC segments: "ICC_PROFILE\0", number from 1, count, data. An incomplete profile is none. */
static tamis_status add_icc(tamis_meta *meta, j_decompress_ptr cinfo)
{
    enum { HEAD = 14 };
    const struct jpeg_marker_struct *parts[256] = {0};
    size_t total = 0;
    int count = 0;
    for (const struct jpeg_marker_struct *m = cinfo->marker_list; m; m = m->next)
        if (m->marker == JPEG_APP0 + 2 && m->data_length >= HEAD &&
            memcmp(m->data, "ICC_PROFILE", 12) == 0 && !parts[m->data[12]]) {
            parts[m->data[12]] = m;
            count = m->data[13];
        }
    for (int i = 1; i <= count; i++) {
        if (!parts[i])
            return TAMIS_OK;
        total += parts[i]->data_length - HEAD;
    }
    if (total == 0)
        return TAMIS_OK;
    uint8_t *icc = malloc(total);
    if (!icc)
        return TAMIS_ERR_MEMORY;
    size_t at = 0;
    for (int i = 1; i <= count; i++) {
        memcpy(icc + at, parts[i]->data + HEAD, parts[i]->data_length - HEAD);
        at += parts[i]->data_length - HEAD;
    }
    return tamis_priv_meta_take(meta, "icc", icc, total);
}

static void add_density(tamis_meta *meta, j_decompress_ptr cinfo)
{
    const tamis_meta_entry *exif = tamis_meta_find(meta, "exif");
    double scale = cinfo->density_unit == 2 ? 2.54 : 1;
    if (cinfo->saw_JFIF_marker && (cinfo->density_unit == 1 || cinfo->density_unit == 2) &&
        cinfo->X_density > 0 && cinfo->Y_density > 0) {
        meta->dpi_x = cinfo->X_density * scale;
        meta->dpi_y = cinfo->Y_density * scale;
    } else if (exif) {
        tamis_priv_exif_resolution(exif->data, exif->size, &meta->dpi_x, &meta->dpi_y);
    }
}

tamis_status tamis_priv_jpeg_read_meta(j_decompress_ptr cinfo, tamis_meta *meta)
{
    tamis_status status = TAMIS_OK;
    for (const struct jpeg_marker_struct *m = cinfo->marker_list; m && status == TAMIS_OK;
         m = m->next)
        status = add_segment(meta, m);
    if (status == TAMIS_OK)
        status = add_icc(meta, cinfo);
    add_density(meta, cinfo);
    return status;
}

static int is_whole(double v)
{
    return v >= 0.5 && v <= 65535 && fabs(v - floor(v + 0.5)) < 1e-3;
}

void tamis_priv_jpeg_set_density(j_compress_ptr cinfo, const tamis_meta *meta)
{
    double x = meta->dpi_x, y = meta->dpi_y;
    if (!(x >= 0.5 && x <= 65535 && y >= 0.5 && y <= 65535))
        return;
    int metric = !(is_whole(x) && is_whole(y)) && is_whole(x / 2.54) && is_whole(y / 2.54);
    double scale = metric ? 2.54 : 1;
    cinfo->density_unit = metric ? 2 : 1;
    cinfo->X_density = (UINT16)(x / scale + 0.5);
    cinfo->Y_density = (UINT16)(y / scale + 0.5);
}

/* Writes a segment made of a head and of data. */
static void write_segment(j_compress_ptr cinfo, int marker, const void *head, size_t head_size,
                          const uint8_t *data, size_t size)
{
    jpeg_write_m_header(cinfo, marker, (unsigned)(head_size + size));
    for (size_t i = 0; i < head_size; i++)
        jpeg_write_m_byte(cinfo, ((const uint8_t *)head)[i]);
    for (size_t i = 0; i < size; i++)
        jpeg_write_m_byte(cinfo, data[i]);
}

static void write_photoshop(j_compress_ptr cinfo, const uint8_t *data, size_t size)
{
    const size_t room = MAX_SEGMENT - sizeof photoshop_head;
    while (size > 0) {
        size_t n = size < room ? size : room;
        write_segment(cinfo, JPEG_APP0 + 13, photoshop_head, sizeof photoshop_head, data, n);
        data += n;
        size -= n;
    }
}

/* A bare IPTC record is put into a resource of its own. */
static void write_iptc(j_compress_ptr cinfo, const tamis_meta_entry *iptc)
{
    uint8_t head[sizeof photoshop_head + 12] = {0};
    if (tamis_priv_iptc_is_photoshop(iptc)) {
        write_photoshop(cinfo, iptc->data, iptc->size);
    } else if (iptc->size + sizeof head < MAX_SEGMENT) {
        memcpy(head, photoshop_head, sizeof photoshop_head);
        memcpy(head + sizeof photoshop_head, "8BIM\4\4", 6);
        tamis_priv_put_be32(head + sizeof head - 4, (uint32_t)iptc->size);
        write_segment(cinfo, JPEG_APP0 + 13, head, sizeof head, iptc->data, iptc->size);
    }
}

static void write_more_xmp(j_compress_ptr cinfo, const tamis_meta_entry *more)
{
    const size_t room = 65000;
    uint8_t head[MORE_XMP_HEAD];
    size_t total = more->size - GUID_BYTES;
    memcpy(head, more_xmp_head, sizeof more_xmp_head);
    memcpy(head + sizeof more_xmp_head, more->data, GUID_BYTES);
    tamis_priv_put_be32(head + sizeof head - 8, (uint32_t)total);
    for (size_t at = 0; at < total; at += room) {
        size_t n = total - at < room ? total - at : room;
        tamis_priv_put_be32(head + sizeof head - 4, (uint32_t)at);
        write_segment(cinfo, JPEG_APP0 + 1, head, sizeof head, more->data + GUID_BYTES + at, n);
    }
}

void tamis_priv_jpeg_write_meta(j_compress_ptr cinfo, const tamis_meta *meta)
{
    /* EXIF readers want its segment before all others but JFIF's. */
    const tamis_meta_entry *exif = tamis_meta_find(meta, "exif");
    if (exif)
        write_segment(cinfo, JPEG_APP0 + 1, "Exif\0", 6, exif->data, exif->size);
    for (size_t i = 0; i < meta->count; i++) {
        const tamis_meta_entry *e = &meta->entries[i];
        if (strcmp(e->name, "xmp") == 0)
            write_segment(cinfo, JPEG_APP0 + 1, xmp_head, sizeof xmp_head, e->data, e->size);
        else if (strcmp(e->name, "xmp:more") == 0)
            write_more_xmp(cinfo, e);
        else if (strcmp(e->name, "icc") == 0)
            jpeg_write_icc_profile(cinfo, e->data, (unsigned)e->size);
        else if (strcmp(e->name, "iptc") == 0)
            write_iptc(cinfo, e);
        else if (strcmp(e->name, "text:Comment") == 0)
            write_segment(cinfo, JPEG_COM, "", 0, e->data, e->size);
    }
}

/* Bytes that an entry may have in JPEG; SIZE_MAX where it is split into segments. */
static size_t room_for(const char *name)
{
    if (strcmp(name, "exif") == 0)
        return MAX_SEGMENT - 6;
    if (strcmp(name, "xmp") == 0)
        return MAX_SEGMENT - sizeof xmp_head;
    if (strcmp(name, "text:Comment") == 0)
        return MAX_SEGMENT;
    if (strcmp(name, "icc") == 0)
        return (size_t)255 * 65519;
    return INT32_MAX;
}

/* Without its thumbnail an EXIF block is small. */
static tamis_status shrink_exif(tamis_meta *meta, const tamis_meta_entry *exif)
{
    tamis_ifd ifd;
    size_t size;
    if (!tamis_priv_exif_parse(exif->data, exif->size, &ifd))
        return TAMIS_OK;
    uint8_t *data = tamis_priv_exif_build(&ifd, &size);
    tamis_priv_ifd_clear(&ifd);
    return data ? tamis_priv_meta_take(meta, "exif", data, size) : TAMIS_ERR_MEMORY;
}

tamis_status tamis_priv_jpeg_fit_meta(tamis_ctx *ctx, const char *name, tamis_meta *meta)
{
    const tamis_meta_entry *exif = tamis_meta_find(meta, "exif");
    if (exif && exif->size > room_for("exif")) {
        tamis_status status = shrink_exif(meta, exif);
        if (status != TAMIS_OK)
            return status;
    }
    for (size_t i = 0; i < meta->count; i++) {
        tamis_meta_entry *e = &meta->entries[i];
        if (e->size <= room_for(e->name) &&
            (strcmp(e->name, "xmp:more") != 0 || e->size > GUID_BYTES))
            continue;
        tamis_ctx_log(ctx, TAMIS_LOG_WARNING,
                      "%s: the %s block of %zu bytes does not fit into JPEG", name, e->name,
                      e->size);
        e->name[0] = 0; /* no name that is written */
    }
    return TAMIS_OK;
}
