/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF pages as they are stored, and the pieces that their pixels are read by. */
#ifndef TAMIS_IO_TIFF_READ_H
#define TAMIS_IO_TIFF_READ_H

#include "tiff_open.h"

/* A directory as libtiff sees it. */
typedef struct tiff_page {
    uint32_t w, h, tile_w, tile_h; /* tile_w is 0 for strips */
    uint16_t bits, samples, kind, photometric, planar, compression, orientation;
    uint16_t extra_count, extra; /* number of extra samples, meaning of the last */
    const uint16_t *map[3];      /* the palette */
    int map_shift;               /* from its values to 8 bit */
    int reduced;                 /* a smaller copy of another page */
    tamis_format format;

    int planes;                /* that are stored apart */
    uint32_t block_w, block_h; /* pixels of a tile or strip */
    size_t row_bytes;          /* of a block, one plane; 0 when libtiff would expand to others */
    size_t block_bytes;
    int by_rows; /* strips too large to be held */
} tiff_page;

/* One thread's way into the file. */
typedef struct tiff_lane {
    tamis_source source; /* of all lanes but the first, which has the reader's */
    tamis_tiff tiff;
    int page;     /* that libtiff is at; -1 = none */
    uint32_t row; /* that it comes to next, when it expands row by row */
    uint8_t *raw;
    size_t raw_bytes;
} tiff_lane;

enum { TAMIS_TIFF_LANES = 16, TAMIS_TIFF_KEPT = 2 };

/* Blocks of one row of blocks, expanded for one part and kept for the one below. */
typedef struct tiff_kept {
    int page; /* -1 = none */
    uint32_t y;
    uint8_t **blocks; /* by plane, then from left to right; NULL where nothing is kept */
    size_t count, block_bytes;
    unsigned used; /* by which part; the row used longer ago makes room */
} tiff_kept;

typedef struct tiff_state {
    uint64_t *offsets; /* of the directories */
    tiff_lane lanes[TAMIS_TIFF_LANES];
    tiff_page page; /* the one that the first lane is at */
    tiff_kept kept[TAMIS_TIFF_KEPT];
    size_t kept_bytes;
    unsigned parts; /* read so far */
} tiff_state;

/* Prepares the lanes; errors are those of tamis_priv_tiff_lane(). */
void tamis_priv_tiff_lanes_init(tiff_state *s);
/* Opens a lane where it is not yet. Errors: READ, MEMORY. */
tamis_status tamis_priv_tiff_lane(tamis_reader *reader, int lane);
void tamis_priv_tiff_lanes_close(tiff_state *s);

/* Fails with what libtiff has said on that lane. */
tamis_status tamis_priv_tiff_fail(tamis_reader *reader, int lane);

/* Reads a part of the page that the first lane is at. Errors: READ, MEMORY. */
tamis_status tamis_priv_tiff_part(tamis_reader *reader, tamis_rect rect, const tamis_image *into);

#endif
