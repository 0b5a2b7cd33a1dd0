/* SPDX-License-Identifier: Apache-2.0 */
#include "plain.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

static int must_swap(tamis_plain order, tamis_format format)
{
    return tamis_type_size(format.type) > 1 && order.big_endian != tamis_priv_host_is_big();
}

tamis_status tamis_priv_plain_read(tamis_reader *reader, uint64_t offset, tamis_plain order,
                                   int32_t w, int32_t h, tamis_rect rect, const tamis_image *into)
{
    tamis_format format = into->format;
    size_t row_bytes = tamis_priv_row_bytes(format, w);
    size_t bytes = tamis_priv_row_bytes(format, rect.w);
    size_t size = tamis_type_size(format.type);
    offset += tamis_priv_row_bytes(format, rect.x);
    for (int32_t i = 0; i < rect.h; i++) {
        /* In the order of the file, which reads ahead. */
        int32_t y = order.bottom_up ? rect.h - 1 - i : i;
        int32_t stored = order.bottom_up ? h - 1 - rect.y - y : rect.y + y;
        uint64_t at = offset + (uint64_t)stored * row_bytes;
        void *row = tamis_image_row(into, 0, y);
        tamis_status status = rect.w == w ? tamis_priv_reader_bytes(reader, at, row, bytes)
                                          : tamis_priv_reader_bytes_apart(reader, at, row, bytes);
        if (status != TAMIS_OK)
            return status;
        if (must_swap(order, format))
            tamis_priv_swap_samples(row, bytes / size, size);
    }
    return TAMIS_OK;
}

tamis_status tamis_priv_plain_header(tamis_writer *writer, const void *header, size_t size)
{
    tamis_status status = tamis_priv_writer_bytes(writer, header, size);
    writer->data_at = size;
    return status;
}

tamis_status tamis_priv_plain_seek(tamis_writer *writer, int32_t row, size_t row_bytes,
                                   size_t offset)
{
    uint64_t at = writer->data_at + (uint64_t)row * row_bytes + offset;
    return tamis_priv_sink_seek(&writer->sink, at) ? TAMIS_OK
                                                   : tamis_priv_writer_sink_failed(writer);
}

void tamis_priv_plain_block(const tamis_writer *writer, const tamis_page *page, int32_t *w,
                            int32_t *h)
{
    *w = tamis_priv_writer_seeks(writer) ? 1 : page->w;
    *h = 1;
}

tamis_status tamis_priv_plain_write(tamis_writer *writer, tamis_plain order, tamis_rect rect,
                                    const tamis_image *image)
{
    const tamis_page *page = &writer->page;
    size_t size = tamis_type_size(image->format.type);
    size_t row_bytes = tamis_priv_row_bytes(image->format, page->w);
    size_t offset = tamis_priv_row_bytes(image->format, rect.x);
    tamis_rows rows;
    tamis_status status = tamis_priv_rows_open(writer, image, &rows);
    if (status != TAMIS_OK)
        return status;
    uint8_t *swapped = NULL;
    if (must_swap(order, image->format)) {
        swapped = malloc(rows.bytes);
        if (!swapped)
            status = tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    }
    for (int32_t i = 0; i < image->h && status == TAMIS_OK; i++) {
        /* In the order of the file, so that a whole page may go to a pipe. */
        int32_t y = order.bottom_up ? image->h - 1 - i : i;
        int32_t stored = order.bottom_up ? page->h - 1 - rect.y - y : rect.y + y;
        const void *row = tamis_priv_rows_get(&rows, y);
        if (swapped) {
            memcpy(swapped, row, rows.bytes);
            tamis_priv_swap_samples(swapped, rows.bytes / size, size);
            row = swapped;
        }
        status = tamis_priv_plain_seek(writer, stored, row_bytes, offset);
        if (status == TAMIS_OK)
            status = tamis_priv_writer_bytes(writer, row, rows.bytes);
    }
    free(swapped);
    tamis_priv_rows_close(&rows);
    return status;
}
