/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata blocks on their way from one file to another. */
#ifndef TAMIS_IO_META_H
#define TAMIS_IO_META_H

#include <tamis/io.h>

/* Adds or replaces an entry that takes data over, also on failure. */
tamis_status tamis_priv_meta_take(tamis_meta *meta, const char *name, uint8_t *data, size_t size);

/* The same, but next to an entry of that name: PNG may hold a text key twice. */
tamis_status tamis_priv_meta_append(tamis_meta *meta, const char *name, uint8_t *data, size_t size);

/* Whether bytes are UTF-8 without zero bytes. */
int tamis_priv_utf8_valid(const uint8_t *text, size_t size);
/* Latin-1 as UTF-8, to be freed by the caller; NULL when there is no memory. */
uint8_t *tamis_priv_latin1_to_utf8(const uint8_t *text, size_t size, size_t *out_size);

/* What a reader does after it has turned the pixels: the tags say so. */
void tamis_priv_meta_mark_upright(tamis_meta *meta);

/* A copy of meta (NULL: an empty one) that describes w x h pixels of the given format: orientation
 * and size agree in all blocks, and an ICC profile of another color model is left out. */
tamis_status tamis_priv_meta_for_file(const tamis_meta *meta, tamis_format format, int32_t w,
                                      int32_t h, tamis_meta *out);

/* The IPTC record (IIM) within an "iptc" entry, which may be a Photoshop resource block. */
const uint8_t *tamis_priv_iptc_record(const tamis_meta_entry *iptc, size_t *size);
/* Whether an "iptc" entry is a Photoshop resource block rather than a bare record. */
int tamis_priv_iptc_is_photoshop(const tamis_meta_entry *iptc);

#endif
