/* SPDX-License-Identifier: Apache-2.0 */
/* Half-size copies of TIFF pages. A copy is made while the parts of its page pass by and waits in a
 * scratch file until the page is complete; then it is written as a page of its own, from which the
 * next copy is made. So memory holds some rows, whatever the size of the picture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "target.h"
#include "tiff_write.h"

#define ROWS_BYTES ((size_t)2 << 20) /* of the page, halved at a time */

static tamis_status fail_errno(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "scratch file for a smaller copy: %s",
                                  strerror(errno));
}

tamis_status tamis_priv_tiff_level_begin(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    const tamis_page *page = &writer->page;
    s->level = (tiff_level){.fd = -1};
    if (!writer->pyramid || (page->w <= writer->tile && page->h <= writer->tile))
        return TAMIS_OK;
    s->level.w = page->w / 2 + page->w % 2;
    s->level.h = page->h / 2 + page->h % 2;
    s->level.odd = malloc(tamis_priv_row_bytes(page->format, page->w));
    if (!s->level.odd)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    s->level.fd = tamis_priv_target_scratch(writer);
    return s->level.fd < 0 ? fail_errno(writer) : TAMIS_OK;
}

void tamis_priv_tiff_level_close(tiff_level *level)
{
    if (level->fd >= 0)
        close(level->fd);
    free(level->odd);
    tamis_plan_free(&level->plan);
    *level = (tiff_level){.fd = -1};
}

/* The plan that halves w x h pixels. Alpha weights color as everywhere. */
static tamis_status find_plan(tamis_writer *writer, int32_t w, int32_t h)
{
    tiff_level *level = &((tiff_output *)writer->state)->level;
    tamis_format format = writer->page.format;
    tamis_graph *graph = NULL;
    char text[96];
    if (level->plan && level->plan_w == w && level->plan_h == h)
        return TAMIS_OK;
    tamis_plan_free(&level->plan);
    format.layout = TAMIS_PACKED;
    snprintf(text, sizeof text, "resize=size=%dx%d:interp=area", w / 2, h / 2);
    tamis_status status = tamis_graph_parse(writer->ctx, text, &graph);
    if (status == TAMIS_OK)
        status = tamis_plan_create(writer->ctx, graph, format, w, h, NULL, &level->plan);
    tamis_graph_free(&graph);
    level->plan_w = w;
    level->plan_h = h;
    return status;
}

static tamis_status write_rows(tamis_writer *writer, int32_t x, int32_t y, const tamis_image *half)
{
    const tiff_level *level = &((tiff_output *)writer->state)->level;
    size_t pixel = tamis_priv_row_bytes(half->format, 1);
    size_t bytes = pixel * (size_t)half->w;
    for (int32_t i = 0; i < half->h; i++) {
        const char *row = tamis_image_row(half, 0, i);
        off_t at = (off_t)(pixel * ((size_t)(y + i) * (size_t)level->w + (size_t)x));
        for (size_t done = 0; done < bytes;) {
            ssize_t n = pwrite(level->fd, row + done, bytes - done, at + (off_t)done);
            if (n < 0 && errno != EINTR)
                return fail_errno(writer);
            done += n > 0 ? (size_t)n : 0;
        }
    }
    return TAMIS_OK;
}

tamis_status tamis_priv_tiff_level_rows(tamis_writer *writer, const tiff_level *level, int32_t y,
                                        const tamis_image *into)
{
    size_t bytes = tamis_priv_row_bytes(into->format, into->w);
    for (int32_t i = 0; i < into->h; i++) {
        char *row = tamis_image_row(into, 0, i);
        off_t at = (off_t)((size_t)(y + i) * bytes);
        for (size_t done = 0; done < bytes;) {
            ssize_t n = pread(level->fd, row + done, bytes - done, at + (off_t)done);
            if (n == 0)
                errno = EIO;
            if (n == 0 || (n < 0 && errno != EINTR))
                return fail_errno(writer);
            done += n > 0 ? (size_t)n : 0;
        }
    }
    return TAMIS_OK;
}

/* Rows of the page from y on as an even number of rows and columns: at the right and lower edge of
 * a page of odd size, the last ones stand twice. */
static void gather(const tamis_writer *writer, tamis_rect rect, const tamis_image *image, int32_t y,
                   const tamis_image *even)
{
    const tiff_level *level = &((const tiff_output *)writer->state)->level;
    size_t pixel = tamis_priv_row_bytes(even->format, 1);
    size_t bytes = pixel * (size_t)rect.w;
    int32_t last = rect.y + rect.h - 1;
    for (int32_t i = 0; i < even->h; i++) {
        uint8_t *row = tamis_image_row(even, 0, i);
        int32_t from = y + i < last ? y + i : last;
        if (from < rect.y)
            memcpy(row, level->odd, bytes);
        else
            tamis_priv_pack_span(image, 0, from - rect.y, rect.w, row);
        if (even->w > rect.w)
            memcpy(row + bytes, row + bytes - pixel, pixel);
    }
}

/* Halves 2 * n rows of the part from y on. */
static tamis_status halve(tamis_writer *writer, tamis_rect rect, const tamis_image *image,
                          int32_t y, int32_t n)
{
    tiff_level *level = &((tiff_output *)writer->state)->level;
    tamis_format format = writer->page.format;
    int32_t w = rect.w / 2 + rect.w % 2;
    tamis_image even = {0}, half = {0};
    format.layout = TAMIS_PACKED;
    tamis_status status = tamis_image_create(writer->ctx, format, 2 * w, 2 * n, &even);
    if (status == TAMIS_OK)
        status = tamis_image_create(writer->ctx, format, w, n, &half);
    if (status == TAMIS_OK)
        status = find_plan(writer, 2 * w, 2 * n);
    if (status == TAMIS_OK) {
        gather(writer, rect, image, y, &even);
        status = tamis_plan_run(level->plan, &even, &half, NULL);
    }
    if (status == TAMIS_OK)
        status = write_rows(writer, rect.x / 2, y / 2, &half);
    tamis_image_unref(&even);
    tamis_image_unref(&half);
    return status;
}

tamis_status tamis_priv_tiff_level_part(tamis_writer *writer, tamis_rect rect,
                                        const tamis_image *image)
{
    tiff_level *level = &((tiff_output *)writer->state)->level;
    if (level->fd < 0)
        return TAMIS_OK;
    int32_t y = rect.y - level->has_odd, bottom = rect.y + rect.h;
    int32_t end = bottom == writer->page.h ? bottom : bottom - bottom % 2;
    size_t most = ROWS_BYTES / 2 / tamis_priv_row_bytes(image->format, rect.w);
    tamis_status status = TAMIS_OK;
    while (y < end && status == TAMIS_OK) {
        int32_t left = (end - y + 1) / 2;
        int32_t n = most < 1 ? 1 : most < (size_t)left ? (int32_t)most : left;
        status = halve(writer, rect, image, y, n);
        y += 2 * n;
    }
    level->has_odd = end < bottom;
    if (level->has_odd)
        tamis_priv_pack_span(image, 0, rect.h - 1, rect.w, level->odd);
    return status;
}
