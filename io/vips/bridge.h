/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the module share. */
#ifndef TAMIS_IO_VIPS_BRIDGE_H
#define TAMIS_IO_VIPS_BRIDGE_H

/* GLib's headers say the wrong names for C11 in a few places. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <vips/vips.h>
#pragma GCC diagnostic pop

#include "vips_module.h"

/* Fails with "NAME: ", the text, and what libvips has to say, in one line. */
tamis_status tamis_priv_vips_fail(tamis_ctx *ctx, const char *name, tamis_status status,
                                  const char *what);

int tamis_priv_vips_knows(const void *head, size_t size);
tamis_status tamis_priv_vips_open(tamis_ctx *ctx, const char *name, const char *path,
                                  const void *bytes, size_t size, tamis_vips **out, int *foreign);
void tamis_priv_vips_info(const tamis_vips *picture, tamis_file_info *out);
tamis_status tamis_priv_vips_part(tamis_vips *picture, tamis_rect rect, const tamis_image *into);
tamis_status tamis_priv_vips_meta(tamis_vips *picture, tamis_meta *meta);
void tamis_priv_vips_close(tamis_vips *picture);

tamis_status tamis_priv_vips_encode(tamis_ctx *ctx, const char *name, const char *format,
                                    const tamis_image *image, const tamis_meta *meta, int quality,
                                    int lossless, void **bytes, size_t *size);

#endif
