/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a PNG file around its pixels. libpng decodes and encodes the pixels; everything
 * else is read and written here, byte for byte. */
#ifndef TAMIS_IO_PNG_CHUNKS_H
#define TAMIS_IO_PNG_CHUNKS_H

#include "reader.h"

enum { TAMIS_PNG_GRAY = 0, TAMIS_PNG_RGB = 2, TAMIS_PNG_PALETTE = 3, TAMIS_PNG_ALPHA_BIT = 4 };

typedef struct tamis_png_facts {
    uint32_t w, h;
    uint8_t depth, color, interlace;
    int has_transparency; /* a tRNS chunk */
    int animated;
    int orientation; /* of an eXIf chunk, else 1 */
    uint64_t idat_bytes;
} tamis_png_facts;

/* Walks through all chunks up to IEND. Errors: READ, MEMORY. */
tamis_status tamis_priv_png_scan(tamis_reader *reader, tamis_png_facts *out);

/* Collects the metadata chunks. Errors: READ, MEMORY. */
tamis_status tamis_priv_png_meta(tamis_reader *reader, tamis_meta *meta);

/* zlib: all that data expands to, at most 64 MiB; NULL when it is broken, larger or memory lacks.
 * The caller frees it. */
uint8_t *tamis_priv_inflate(const uint8_t *data, size_t size, size_t *out_size);

/* Emits metadata as chunks that must lie between IHDR and IDAT. */
typedef void (*tamis_png_emit)(void *user, const char *name, const uint8_t *data, size_t size);
tamis_status tamis_priv_png_emit_meta(const tamis_meta *meta, tamis_png_emit emit, void *user);

#endif
