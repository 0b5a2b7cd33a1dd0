/* SPDX-License-Identifier: Apache-2.0 */
/* Strips and tiles of a TIFF page: several threads fill and compress a batch of them, which is then
 * written in order. libtiff compresses, so the bytes are its own, whatever the number of threads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/threads.h>

#include "bytes.h"
#include "tiff_write.h"

#define BATCH_BYTES    ((size_t)4 << 20) /* of pixels */
#define MAX_BATCH      256
#define MAX_LANE_BYTES ((size_t)32 << 20)

static tamis_status no_memory(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
}

static int is_plain(const tamis_writer *writer)
{
    return strcmp(writer->compression, "none") == 0;
}

static tamis_status open_encoder(tamis_writer *writer, tiff_encoder *e)
{
    const tiff_output *s = writer->state;
    e->tiff.ctx = writer->ctx;
    e->tiff.name = writer->name;
    e->block = malloc(s->block_bytes);
    if (!e->block)
        return no_memory(writer);
    if (!tamis_priv_tiff_open(&e->tiff, s->big ? "w8" : "w4", 0))
        return tamis_priv_tiff_write_fail(writer, &e->tiff);
    tamis_priv_tiff_set_fields(writer, e->tiff.tif);
    return TAMIS_OK;
}

tamis_status tamis_priv_tiff_blocks_begin(tamis_writer *writer)
{
    tiff_output *s = writer->state;
    int64_t across = (writer->page.w - 1) / s->block_w + 1;
    int64_t blocks = across * ((writer->page.h - 1) / s->block_h + 1);
    s->lanes = tamis_ctx_threads(writer->ctx);
    s->lanes = s->lanes < TAMIS_TIFF_ENCODERS ? s->lanes : TAMIS_TIFF_ENCODERS;
    while (s->lanes > 1 && (size_t)s->lanes > MAX_LANE_BYTES / s->block_bytes)
        s->lanes--;
    s->lanes = blocks < s->lanes ? (int)blocks : s->lanes;
    size_t batch = BATCH_BYTES / s->block_bytes;
    batch = batch < MAX_BATCH ? batch : MAX_BATCH;
    s->piece_count = (int)batch > s->lanes ? (int)batch : s->lanes;
    s->pieces = calloc((size_t)s->piece_count, sizeof *s->pieces);
    s->carry_rows = 0;
    if (!s->pieces)
        return no_memory(writer);
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < s->lanes && status == TAMIS_OK && !is_plain(writer); i++)
        status = open_encoder(writer, &s->encoders[i]);
    return status;
}

void tamis_priv_tiff_blocks_end(tiff_output *s)
{
    for (int i = 0; i < TAMIS_TIFF_ENCODERS; i++) {
        s->encoders[i].tiff.piece = NULL; /* what libtiff writes when it closes goes nowhere */
        tamis_priv_tiff_close(&s->encoders[i].tiff);
        free(s->encoders[i].block);
        s->encoders[i].block = NULL;
    }
    for (int i = 0; i < s->piece_count; i++)
        free(s->pieces[i].data);
    free(s->pieces);
    free(s->carry);
    s->pieces = NULL;
    s->carry = NULL;
    s->piece_count = 0;
}

/* Blocks that a part completes, numbered row by row. */
typedef struct blocks_job {
    tamis_writer *writer;
    tamis_rect rect;
    const tamis_image *image;
    int32_t x0, y0, nx, ny; /* in blocks */
    int64_t first;          /* of the batch */
    int count;
    atomic_int next, failed;
    int refused[TAMIS_TIFF_ENCODERS];
} blocks_job;

static void block_at(const blocks_job *job, int64_t i, int32_t *x, int32_t *y)
{
    const tiff_output *s = job->writer->state;
    *x = (job->x0 + (int32_t)(i % job->nx)) * s->block_w;
    *y = (job->y0 + (int32_t)(i / job->nx)) * s->block_h;
}

/* Bytes of the block whose rows begin at y: the last strip is as high as what is left. */
static size_t bytes_of(const tamis_writer *writer, int32_t y)
{
    const tiff_output *s = writer->state;
    int32_t left = writer->page.h - y;
    return writer->tile || left > s->block_h ? s->block_bytes : s->row_bytes * (size_t)left;
}

/* Gathers a block's pixels from the rows that are left of former parts and from this one. */
static void fill_block(const blocks_job *job, int32_t x, int32_t y0, uint8_t *block)
{
    const tiff_output *s = job->writer->state;
    const tamis_page *page = &job->writer->page;
    size_t pixel = tamis_priv_row_bytes(page->format, 1);
    size_t carry_bytes = tamis_priv_row_bytes(page->format, page->w);
    int32_t w = page->w - x < s->block_w ? page->w - x : s->block_w;
    int32_t h = page->h - y0 < s->block_h ? page->h - y0 : s->block_h;
    if (w < s->block_w || h < s->block_h)
        memset(block, 0, bytes_of(job->writer, y0));
    for (int32_t y = y0; y < y0 + h; y++, block += s->row_bytes) {
        if (y < job->rect.y)
            memcpy(block, s->carry + carry_bytes * (size_t)(y - s->carry_y) + pixel * (size_t)x,
                   pixel * (size_t)w);
        else
            tamis_priv_pack_span(job->image, x - job->rect.x, y - job->rect.y, w, block);
    }
}

/* Puts a compressed block into its piece of the batch. Returns 0 when that failed; what libtiff
 * said stays with the encoder, for the caller's thread to report. */
static int encode(const blocks_job *job, int lane, int32_t x, int32_t y, tamis_piece *piece)
{
    tamis_writer *writer = job->writer;
    tiff_output *s = writer->state;
    tiff_encoder *e = &s->encoders[lane];
    size_t bytes = bytes_of(writer, y);
    piece->used = 0;
    if (is_plain(writer)) {
        if (!tamis_priv_piece_reserve(piece, bytes))
            return 0;
        fill_block(job, x, y, piece->data);
        piece->used = bytes;
        return 1;
    }
    fill_block(job, x, y, e->block);
    /* libtiff opens the page with the first block. */
    TIFF *tif = e->tiff.tif;
    e->tiff.piece = piece;
    tmsize_t n =
        writer->tile
            ? TIFFWriteEncodedTile(tif, TIFFComputeTile(tif, (uint32_t)x, (uint32_t)y, 0, 0),
                                   e->block, (tmsize_t)bytes)
            : TIFFWriteEncodedStrip(tif, (uint32_t)(y / s->block_h), e->block, (tmsize_t)bytes);
    e->tiff.piece = NULL;
    return n == (tmsize_t)bytes;
}

static void encode_blocks(void *user, int64_t lane)
{
    blocks_job *job = user;
    const tiff_output *s = job->writer->state;
    for (;;) {
        int i = atomic_fetch_add(&job->next, 1);
        int32_t x, y;
        if (i >= job->count || atomic_load(&job->failed))
            return;
        block_at(job, job->first + i, &x, &y);
        job->refused[lane] = !encode(job, (int)lane, x, y, &s->pieces[i]);
        if (job->refused[lane])
            atomic_store(&job->failed, 1);
    }
}

static tamis_status write_piece(tamis_writer *writer, int32_t x, int32_t y,
                                const tamis_piece *piece)
{
    tiff_output *s = writer->state;
    TIFF *tif = s->tiff.tif;
    tmsize_t size = (tmsize_t)piece->used;
    tmsize_t n = writer->tile
                     ? TIFFWriteRawTile(tif, TIFFComputeTile(tif, (uint32_t)x, (uint32_t)y, 0, 0),
                                        piece->data, size)
                     : TIFFWriteRawStrip(tif, (uint32_t)(y / s->block_h), piece->data, size);
    return n == size && !writer->sink.error ? TAMIS_OK
                                            : tamis_priv_tiff_write_fail(writer, &s->tiff);
}

static tamis_status do_batch(blocks_job *job)
{
    const tiff_output *s = job->writer->state;
    atomic_init(&job->next, 0);
    int lanes = s->lanes < job->count ? s->lanes : job->count;
    if (lanes > 1)
        tamis_ctx_each(job->writer->ctx, lanes, encode_blocks, job);
    else
        encode_blocks(job, 0);
    for (int i = 0; i < lanes; i++)
        if (job->refused[i])
            return tamis_priv_tiff_write_fail(job->writer, &s->encoders[i].tiff);
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < job->count && status == TAMIS_OK; i++) {
        int32_t x, y;
        block_at(job, job->first + i, &x, &y);
        status = write_piece(job->writer, x, y, &s->pieces[i]);
    }
    return status;
}

/* Keeps the part's rows from y on for the next one. */
static tamis_status keep_rows(tamis_writer *writer, tamis_rect rect, const tamis_image *image,
                              int32_t y)
{
    tiff_output *s = writer->state;
    size_t bytes = tamis_priv_row_bytes(image->format, writer->page.w);
    if (!s->carry)
        s->carry = malloc(bytes * (size_t)s->block_h);
    if (!s->carry)
        return no_memory(writer);
    if (s->carry_rows == 0)
        s->carry_y = y;
    for (; y < rect.y + rect.h; y++, s->carry_rows++)
        tamis_priv_pack_span(image, 0, y - rect.y, rect.w,
                             s->carry + bytes * (size_t)s->carry_rows);
    return TAMIS_OK;
}

tamis_status tamis_priv_tiff_blocks_part(tamis_writer *writer, tamis_rect rect,
                                         const tamis_image *image)
{
    tiff_output *s = writer->state;
    int32_t top = s->carry_rows ? s->carry_y : rect.y, bottom = rect.y + rect.h;
    int32_t whole = bottom == writer->page.h ? bottom : bottom - bottom % s->block_h;
    blocks_job job = {.writer = writer, .rect = rect, .image = image};
    job.x0 = rect.x / s->block_w;
    job.nx = (rect.w - 1) / s->block_w + 1;
    job.y0 = top / s->block_h;
    job.ny = whole > top ? (whole - 1) / s->block_h + 1 - job.y0 : 0;
    atomic_init(&job.failed, 0);
    int64_t count = (int64_t)job.nx * job.ny;
    tamis_status status = TAMIS_OK;
    while (job.first < count && status == TAMIS_OK) {
        int64_t left = count - job.first;
        job.count = left < s->piece_count ? (int)left : s->piece_count;
        status = do_batch(&job);
        job.first += job.count;
    }
    if (job.ny > 0)
        s->carry_rows = 0;
    if (status == TAMIS_OK && whole < bottom)
        status = keep_rows(writer, rect, image, whole > rect.y ? whole : rect.y);
    return status;
}
