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
/* Writes a part of the page, whose samples begin at writer->data_at. Errors: WRITE, MEMORY. */
tamis_status tamis_priv_plain_write(tamis_writer *writer, tamis_plain order, tamis_rect rect,
                                    const tamis_image *image);
/* Writes a header, behind which the samples begin. Errors: WRITE. */
tamis_status tamis_priv_plain_header(tamis_writer *writer, const void *header, size_t size);
/* Goes to the bytes of pixel x of a row of so many bytes. Errors: WRITE. */
tamis_status tamis_priv_plain_seek(tamis_writer *writer, int32_t row, size_t row_bytes,
                                   size_t offset);
/* For tamis_encoder.block: any part where the file can be gone back to, else whole rows. */
void tamis_priv_plain_block(const tamis_writer *writer, const tamis_page *page, int32_t *w,
                            int32_t *h);

#endif
