/* SPDX-License-Identifier: Apache-2.0 */
/* The few facts of EXIF and XMP blocks that depend on how pixels lie in memory. */
#ifndef TAMIS_IO_EXIF_H
#define TAMIS_IO_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "ifd.h"

/* The orientation, 1 .. 8; 0 when the block has none. */
int tamis_priv_exif_orientation(const uint8_t *exif, size_t size);
/* Resolution in pixels per inch; left alone when the block has none. */
void tamis_priv_exif_resolution(const uint8_t *exif, size_t size, double *dpi_x, double *dpi_y);

/* Changes in place what is there: the orientation, and the picture's size. */
void tamis_priv_exif_set_orientation(uint8_t *exif, size_t size, int orientation);
void tamis_priv_exif_set_size(uint8_t *exif, size_t size, uint32_t w, uint32_t h);
/* Unlinks the thumbnail, which does not turn with the picture. */
void tamis_priv_exif_drop_thumbnail(uint8_t *exif, size_t size);
/* Changes tiff:Orientation of an XMP packet in place. */
void tamis_priv_xmp_set_orientation(uint8_t *xmp, size_t size, int orientation);

/* Everything but the thumbnail as tags. Returns 0 when the block is not readable. */
int tamis_priv_exif_parse(const uint8_t *exif, size_t size, tamis_ifd *out);
/* An EXIF block made of tags, to be freed by the caller; NULL when there is no memory. */
uint8_t *tamis_priv_exif_build(const tamis_ifd *ifd, size_t *size);

#endif
