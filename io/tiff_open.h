/* SPDX-License-Identifier: Apache-2.0 */
/* A libtiff handle on our bytes, whose errors and warnings come to us instead of standard error. */
#ifndef TAMIS_IO_TIFF_OPEN_H
#define TAMIS_IO_TIFF_OPEN_H

#include <tiffio.h>

#include "reader.h"
#include "writer.h"

/* TIFF tags that tiff.h does not name. */
enum { TAMIS_TAG_DNG_VERSION = 50706, TAMIS_TAG_IMAGE_SOURCE_DATA = 37724 };

/* Bytes that were written into memory. */
typedef struct tamis_piece {
    uint8_t *data;
    size_t used, capacity;
} tamis_piece;

typedef struct tamis_tiff {
    TIFF *tif;
    tamis_ctx *ctx;
    const char *name;
    tamis_source *source; /* of a reader, else NULL */
    tamis_sink *sink;     /* of a writer, else NULL */
    tamis_piece *piece;   /* without source and sink: where what is written goes; NULL = nowhere */
    uint64_t pos;         /* in the source */
    char message[256];    /* of the newest error */
    int damaged;          /* JPEG data was damaged, which libtiff calls a warning */
} tamis_tiff;

/* Makes room for at least so many bytes in all. Returns 0 when there is no memory. */
int tamis_priv_piece_reserve(tamis_piece *piece, size_t size);

/* Opens t->tif on t->source (mode "r") or t->sink ("w4", "w8"; without a sink, each call of libtiff
 * that writes a strip or tile appends it to t->piece), allowing libtiff single pieces of
 * memory up to max_piece bytes. Returns 0 on failure. */
int tamis_priv_tiff_open(tamis_tiff *t, const char *mode, size_t max_piece);
void tamis_priv_tiff_close(tamis_tiff *t);

#endif
