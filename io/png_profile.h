/* SPDX-License-Identifier: Apache-2.0 */
/* "Raw profile type X" texts: the custom, begun by ImageMagick, of keeping blocks that PNG has no
 * chunk for (IPTC; in old files EXIF, XMP and ICC too) as hexadecimal text. */
#ifndef TAMIS_IO_PNG_PROFILE_H
#define TAMIS_IO_PNG_PROFILE_H

#include <tamis/io.h>

/* Stores the block when key and text are such a profile and meta has none yet; returns whether the
 * text was one. */
int tamis_priv_png_profile_read(tamis_meta *meta, const char *key, const uint8_t *text,
                                size_t size);

/* The text of a block, to be freed; NULL when there is no memory. */
uint8_t *tamis_priv_png_profile_make(const char *name, const uint8_t *data, size_t size,
                                     size_t *out_size);

#endif
