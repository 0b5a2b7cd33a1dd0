/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of bare samples, as PGM, PFM, NPY and raw files have them. */
#ifndef TAMIS_IO_PLAIN_H
#define TAMIS_IO_PLAIN_H

#include "reader.h"
#include "writer.h"

typedef struct tamis_plain {
    int big_endian;
    int bottom_up; /* the last row comes first */
} tamis_plain;

/* Fills a packed image with the part rect of the w x h pixels that begin at offset. Errors: READ.
 */
tamis_status tamis_priv_plain_read(tamis_reader *reader, uint64_t offset, tamis_plain order,
                                   int32_t w, int32_t h, tamis_rect rect, const tamis_image *into);
/* Writes all rows. Errors: WRITE, MEMORY. */
tamis_status tamis_priv_plain_write(tamis_writer *writer, tamis_plain order,
                                    const tamis_image *image);

#endif
