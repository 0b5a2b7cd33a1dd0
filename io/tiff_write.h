/* SPDX-License-Identifier: Apache-2.0 */
/* A TIFF page on its way into a file, in strips or tiles. */
#ifndef TAMIS_IO_TIFF_WRITE_H
#define TAMIS_IO_TIFF_WRITE_H

#include <tamis/graph.h>

#include "tiff_open.h"

enum { TAMIS_TIFF_ENCODERS = 16 };

/* One thread's means of compressing: a libtiff handle like the file's, but in memory. */
typedef struct tiff_encoder {
    tamis_tiff tiff;
    uint8_t *block;
} tiff_encoder;

/* A smaller copy of the page, on its way into a scratch file. */
typedef struct tiff_level {
    int fd; /* -1 = there is none */
    int32_t w, h;
    uint8_t *odd; /* a row whose partner has not come yet */
    int has_odd;
    tamis_plan *plan; /* from plan_w x plan_h pixels to half of that */
    int32_t plan_w, plan_h;
} tiff_level;

typedef struct tiff_output {
    tamis_tiff tiff;
    int big, orientation;
    tiff_level level;
    int32_t block_w, block_h; /* of the page: pixels of a tile or strip */
    size_t row_bytes, block_bytes;
    int lanes; /* encoders in use */
    tiff_encoder encoders[TAMIS_TIFF_ENCODERS];
    tamis_piece *pieces; /* compressed blocks of a batch */
    int piece_count;
    /* Rows of the page that fill no row of blocks yet, from carry_y on. */
    uint8_t *carry;
    int32_t carry_y, carry_rows;
} tiff_output;

/* Sets the tags that say how the page is stored. */
void tamis_priv_tiff_set_fields(const tamis_writer *writer, TIFF *tif);

/* Fails with what libtiff has said. */
tamis_status tamis_priv_tiff_write_fail(tamis_writer *writer, const tamis_tiff *t);

/* Prepares for the blocks of writer->page; writes those that a part completes; gives back what the
 * page needed. Errors: WRITE, MEMORY. */
tamis_status tamis_priv_tiff_blocks_begin(tamis_writer *writer);
tamis_status tamis_priv_tiff_blocks_part(tamis_writer *writer, tamis_rect rect,
                                         const tamis_image *image);
void tamis_priv_tiff_blocks_end(tiff_output *s);

/* The page's smaller copy: begins one where the page is larger than a tile and a pyramid is wanted,
 * and takes the same parts. Errors: WRITE, MEMORY, LIMIT. */
tamis_status tamis_priv_tiff_level_begin(tamis_writer *writer);
tamis_status tamis_priv_tiff_level_part(tamis_writer *writer, tamis_rect rect,
                                        const tamis_image *image);
/* Reads rows of a copy from y on. Errors: WRITE. */
tamis_status tamis_priv_tiff_level_rows(tamis_writer *writer, const tiff_level *level, int32_t y,
                                        const tamis_image *into);
void tamis_priv_tiff_level_close(tiff_level *level);

#endif
