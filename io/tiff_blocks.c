/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of TIFF pages. What is compressed is expanded block by block on several threads, each with
 * a libtiff handle of its own. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/threads.h>

#include "bytes.h"
#include "tiff_read.h"

#define MAX_LANE_BYTES ((size_t)32 << 20) /* for the blocks of all threads together */

static void forget_row(tiff_state *s, tiff_kept *row)
{
    for (size_t i = 0; i < row->count; i++)
        if (row->blocks[i]) {
            free(row->blocks[i]);
            s->kept_bytes -= row->block_bytes;
        }
    free(row->blocks);
    *row = (tiff_kept){.page = -1};
}

void tamis_priv_tiff_lanes_init(tiff_state *s)
{
    for (int i = 0; i < TAMIS_TIFF_LANES; i++)
        s->lanes[i] = (tiff_lane){.source.fd = -1, .page = -1};
    for (int i = 0; i < TAMIS_TIFF_KEPT; i++)
        s->kept[i] = (tiff_kept){.page = -1};
}

tamis_status tamis_priv_tiff_fail(tamis_reader *reader, int lane)
{
    const tiff_state *s = reader->state;
    const tamis_tiff *t = &s->lanes[lane].tiff;
    if (t->source && t->source->error)
        reader->source.error = t->source->error;
    if (reader->source.error)
        return tamis_priv_reader_short(reader);
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "TIFF: %s",
                                  *t->message ? t->message : "broken data");
}

tamis_status tamis_priv_tiff_lane(tamis_reader *reader, int lane)
{
    tiff_state *s = reader->state;
    tiff_lane *l = &s->lanes[lane];
    if (l->tiff.tif)
        return TAMIS_OK;
    if (lane > 0 && !l->tiff.source) {
        tamis_status status = tamis_priv_source_share(&reader->source, &l->source);
        if (status != TAMIS_OK)
            return status;
    }
    l->tiff.ctx = reader->ctx;
    l->tiff.name = reader->name;
    l->tiff.source = lane > 0 ? &l->source : &reader->source;
    /* What libtiff needs at once is a piece of the file, or small. */
    size_t max_piece = ((size_t)64 << 20) + 2 * (size_t)reader->source.size;
    return tamis_priv_tiff_open(&l->tiff, "rmh", max_piece) ? TAMIS_OK
                                                            : tamis_priv_tiff_fail(reader, lane);
}

/* Brings a lane to the first one's page, with room for a block. */
static tamis_status go_along(tamis_reader *reader, int lane)
{
    tiff_state *s = reader->state;
    tiff_lane *l = &s->lanes[lane];
    tamis_status status = tamis_priv_tiff_lane(reader, lane);
    if (status != TAMIS_OK)
        return status;
    l->tiff.message[0] = 0;
    l->tiff.damaged = 0;
    int page = s->lanes[0].page;
    if (l->page != page) {
        l->page = -1;
        if (!TIFFSetSubDirectory(l->tiff.tif, s->offsets[page]))
            return tamis_priv_tiff_fail(reader, lane);
        if (s->page.photometric == PHOTOMETRIC_YCBCR)
            TIFFSetField(l->tiff.tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        l->page = page;
        l->row = 0;
    }
    if (l->raw_bytes >= s->page.block_bytes)
        return TAMIS_OK;
    free(l->raw);
    l->raw = malloc(s->page.block_bytes);
    l->raw_bytes = l->raw ? s->page.block_bytes : 0;
    return l->raw ? TAMIS_OK : tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
}

void tamis_priv_tiff_lanes_close(tiff_state *s)
{
    for (int i = 0; i < TAMIS_TIFF_KEPT; i++)
        forget_row(s, &s->kept[i]);
    for (int i = 0; i < TAMIS_TIFF_LANES; i++) {
        tamis_priv_tiff_close(&s->lanes[i].tiff);
        tamis_priv_source_close(&s->lanes[i].source);
        free(s->lanes[i].raw);
    }
}

/* Samples of up to 8 bit, from the first one of a row on, as palette colors or scaled to 0 .. 255.
 */
static void unpack_narrow(const tiff_page *p, const uint8_t *raw, uint32_t first, uint32_t n,
                          uint8_t *dst)
{
    unsigned max = (1u << p->bits) - 1, per_byte = 8u / p->bits;
    for (uint32_t i = first; i < first + n; i++) {
        unsigned shift = 8 - p->bits * (i % per_byte + 1);
        unsigned v = raw[i / per_byte] >> shift & max;
        if (p->photometric == PHOTOMETRIC_PALETTE) {
            for (int c = 0; c < 3; c++)
                *dst++ = (uint8_t)(p->map[c][v] >> p->map_shift);
        } else {
            *dst++ = (uint8_t)(v * 255 / max);
        }
    }
}

/* Turns "0 is white" around; alpha stays. */
static void invert(const tiff_page *p, uint8_t *row, uint32_t n)
{
    size_t size = tamis_type_size(p->format.type);
    int colors = p->format.channels - (p->format.alpha != TAMIS_ALPHA_NONE);
    for (uint32_t x = 0; x < n; x++)
        for (size_t i = 0; i < size * (size_t)colors; i++)
            row[size * (size_t)p->format.channels * x + i] ^= 0xFF;
}

/* Puts n pixels of a raw row, of one plane or all, at dst. */
static void place(const tiff_page *p, const uint8_t *raw, uint32_t first, uint32_t n, int plane,
                  uint8_t *dst)
{
    size_t size = tamis_type_size(p->format.type);
    size_t pixel = size * (size_t)p->format.channels;
    if (p->bits < 8 || p->photometric == PHOTOMETRIC_PALETTE) {
        unpack_narrow(p, raw, first, n, dst);
    } else if (p->planar == PLANARCONFIG_CONTIG || p->samples == 1) {
        memcpy(dst, raw + pixel * first, pixel * n);
    } else {
        raw += size * first;
        dst += size * (size_t)plane;
        for (uint32_t x = 0; x < n; x++)
            memcpy(dst + pixel * x, raw + size * x, size);
    }
}

/* A part on its way. Threads take blocks by their number: the rows of blocks from above, in each
 * the planes, in each the blocks from the left. */
typedef struct part_job {
    tamis_reader *reader;
    tamis_rect rect;
    const tamis_image *into;
    uint32_t x0, y0, nx, ny, all_x; /* blocks that the part touches; blocks of a whole row */
    int lanes;
    atomic_ullong next;
    atomic_int failed;
    atomic_size_t kept_bytes;
    int refused[TAMIS_TIFF_LANES];
} part_job;

typedef struct block {
    uint32_t x, y; /* in blocks */
    int plane;
} block;

/* Where an expanded block is kept, if its row is one of those. */
static uint8_t **kept_slot(tiff_state *s, const part_job *job, block b)
{
    for (int i = 0; i < TAMIS_TIFF_KEPT; i++)
        if (s->kept[i].page == s->lanes[0].page && s->kept[i].y == b.y)
            return &s->kept[i].blocks[(size_t)b.plane * job->all_x + b.x];
    return NULL;
}

static int expand(const tiff_lane *lane, const tiff_page *p, block b, uint8_t *raw)
{
    TIFF *tif = lane->tiff.tif;
    uint32_t y = b.y * p->block_h;
    if (p->tile_w) {
        uint32_t tile = TIFFComputeTile(tif, b.x * p->block_w, y, 0, (uint16_t)b.plane);
        return TIFFReadEncodedTile(tif, tile, raw, (tmsize_t)p->block_bytes) ==
               (tmsize_t)p->block_bytes;
    }
    uint32_t rows = p->h - y < p->block_h ? p->h - y : p->block_h;
    tmsize_t size = (tmsize_t)(p->row_bytes * rows);
    uint32_t strip = TIFFComputeStrip(tif, y, (uint16_t)b.plane);
    return TIFFReadEncodedStrip(tif, strip, raw, size) == size;
}

/* Copies what of a block lies within the part. Returns whether the rest of the picture has no more
 * use for it, when parts go from left to right and from above. */
static int place_block(const part_job *job, const tiff_page *p, block b, const uint8_t *raw)
{
    int64_t bx = (int64_t)b.x * p->block_w, by = (int64_t)b.y * p->block_h;
    int64_t right = bx + p->block_w, bottom = by + p->block_h;
    int64_t part_right = job->rect.x + (int64_t)job->rect.w;
    int64_t part_bottom = job->rect.y + (int64_t)job->rect.h;
    int64_t x0 = bx > job->rect.x ? bx : job->rect.x, y0 = by > job->rect.y ? by : job->rect.y;
    int64_t x1 = right < part_right ? right : part_right;
    int64_t y1 = bottom < part_bottom ? bottom : part_bottom;
    size_t pixel = tamis_priv_row_bytes(job->into->format, 1);
    for (int64_t y = y0; y < y1; y++) {
        uint8_t *row = tamis_image_row(job->into, 0, (int32_t)(y - job->rect.y));
        place(p, raw + p->row_bytes * (size_t)(y - by), (uint32_t)(x0 - bx), (uint32_t)(x1 - x0),
              b.plane, row + pixel * (size_t)(x0 - job->rect.x));
    }
    return (right <= part_right || part_right == p->w) &&
           (bottom <= part_bottom || part_bottom == p->h);
}

/* Memory to expand a block into that is kept, while there may be more of it; else NULL. */
static uint8_t *take_kept(part_job *job, size_t bytes)
{
    if (atomic_fetch_add(&job->kept_bytes, bytes) + bytes <= job->reader->cache_bytes) {
        uint8_t *raw = malloc(bytes);
        if (raw)
            return raw;
    }
    atomic_fetch_sub(&job->kept_bytes, bytes);
    return NULL;
}

static void drop_kept(part_job *job, uint8_t **slot, size_t bytes)
{
    free(*slot);
    *slot = NULL;
    atomic_fetch_sub(&job->kept_bytes, bytes);
}

/* Returns 0 when libtiff has refused; what it said stays with the lane, for the caller's thread to
 * report. */
static int do_block(part_job *job, int lane, block b)
{
    tiff_state *s = job->reader->state;
    const tiff_page *p = &s->page;
    uint8_t **slot = kept_slot(s, job, b);
    const uint8_t *raw = slot ? *slot : NULL;
    if (!raw) {
        if (slot)
            *slot = take_kept(job, p->block_bytes);
        uint8_t *out = slot && *slot ? *slot : s->lanes[lane].raw;
        if (!expand(&s->lanes[lane], p, b, out)) {
            if (slot && *slot)
                drop_kept(job, slot, p->block_bytes);
            return 0;
        }
        raw = out;
    }
    if (place_block(job, p, b, raw) && slot && *slot)
        drop_kept(job, slot, p->block_bytes);
    return 1;
}

static void do_blocks(void *user, int64_t lane)
{
    part_job *job = user;
    uint64_t planes = (uint64_t)((tiff_state *)job->reader->state)->page.planes;
    uint64_t per_row = job->nx * planes, count = job->ny * per_row;
    for (;;) {
        uint64_t i = atomic_fetch_add(&job->next, 1);
        if (i >= count || atomic_load(&job->failed))
            return;
        block b = {job->x0 + (uint32_t)(i % job->nx), job->y0 + (uint32_t)(i / per_row),
                   (int)(i % per_row / job->nx)};
        job->refused[lane] = !do_block(job, (int)lane, b);
        if (job->refused[lane])
            atomic_store(&job->failed, 1);
    }
}

/* Makes room to keep the blocks that the part leaves unfinished at its lower edge. */
static void keep_last_row(tiff_state *s, const part_job *job)
{
    const tiff_page *p = &s->page;
    int page = s->lanes[0].page;
    uint32_t y = job->y0 + job->ny - 1;
    int64_t part_bottom = job->rect.y + (int64_t)job->rect.h;
    tiff_kept *oldest = &s->kept[0];
    s->parts++;
    for (int i = 0; i < TAMIS_TIFF_KEPT; i++) {
        tiff_kept *row = &s->kept[i];
        if (row->page != page)
            forget_row(s, row);
        else if (row->y >= job->y0 && row->y <= y)
            row->used = s->parts;
        if (row->page == page && row->y == y)
            return;
        if (s->parts - row->used > s->parts - oldest->used)
            oldest = row;
    }
    if (part_bottom == p->h || ((int64_t)y + 1) * p->block_h <= part_bottom)
        return;
    forget_row(s, oldest);
    size_t count = (size_t)job->all_x * (size_t)p->planes;
    oldest->blocks = calloc(count, sizeof *oldest->blocks);
    if (oldest->blocks) /* else nothing is kept */
        *oldest = (tiff_kept){page, y, oldest->blocks, count, p->block_bytes, s->parts};
}

static tamis_status read_blocks(tamis_reader *reader, tamis_rect rect, const tamis_image *into)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    part_job job = {.reader = reader, .rect = rect, .into = into, .lanes = 1};
    job.x0 = (uint32_t)rect.x / p->block_w;
    job.y0 = (uint32_t)rect.y / p->block_h;
    job.nx = (uint32_t)(rect.x + rect.w - 1) / p->block_w - job.x0 + 1;
    job.ny = (uint32_t)(rect.y + rect.h - 1) / p->block_h - job.y0 + 1;
    job.all_x = (p->w - 1) / p->block_w + 1;
    if (p->compression != COMPRESSION_NONE) { /* others are read as fast as they are copied */
        uint64_t blocks = (uint64_t)job.nx * job.ny * (uint64_t)p->planes;
        int lanes = tamis_ctx_threads(reader->ctx);
        lanes = lanes < TAMIS_TIFF_LANES ? lanes : TAMIS_TIFF_LANES;
        job.lanes = blocks < (uint64_t)lanes ? (int)blocks : lanes;
        while (job.lanes > 1 && (size_t)job.lanes > MAX_LANE_BYTES / p->block_bytes)
            job.lanes--;
        keep_last_row(s, &job);
    }
    for (int i = 0; i < job.lanes; i++) {
        tamis_status status = go_along(reader, i);
        if (status != TAMIS_OK)
            return status;
    }
    atomic_init(&job.next, 0);
    atomic_init(&job.failed, 0);
    atomic_init(&job.kept_bytes, s->kept_bytes);
    if (job.lanes > 1)
        tamis_ctx_each(reader->ctx, job.lanes, do_blocks, &job);
    else
        do_blocks(&job, 0);
    s->kept_bytes = atomic_load(&job.kept_bytes);
    for (int i = 0; i < job.lanes; i++)
        if (job.refused[i] || s->lanes[i].tiff.damaged)
            return tamis_priv_tiff_fail(reader, i);
    return TAMIS_OK;
}

/* A row of a strip that lies in the file as it is. */
static tamis_status read_plain_row(tamis_reader *reader, uint32_t y, int plane)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    tiff_lane *lane = &s->lanes[0];
    TIFF *tif = lane->tiff.tif;
    uint64_t at = TIFFGetStrileOffset(tif, TIFFComputeStrip(tif, y, (uint16_t)plane));
    if (at == 0)
        return tamis_priv_tiff_fail(reader, 0);
    at += (uint64_t)(y % p->block_h) * p->row_bytes;
    tamis_status status = tamis_priv_reader_bytes_apart(reader, at, lane->raw, p->row_bytes);
    if (status == TAMIS_OK && TIFFIsByteSwapped(tif) && p->bits > 8)
        tamis_priv_swap_samples(lane->raw, p->row_bytes / (p->bits / 8u), p->bits / 8u);
    return status;
}

/* A row of a strip that must be expanded from its start: from where the lane is, if that is above
 * it in the same strip. */
static tamis_status read_next_row(tamis_reader *reader, uint32_t y, int plane)
{
    tiff_state *s = reader->state;
    tiff_lane *lane = &s->lanes[plane];
    uint32_t start = y - y % s->page.block_h;
    if (lane->row > y || lane->row < start)
        lane->row = start;
    for (; lane->row <= y; lane->row++)
        if (TIFFReadScanline(lane->tiff.tif, lane->raw, lane->row, (uint16_t)plane) != 1)
            return tamis_priv_tiff_fail(reader, plane);
    return TAMIS_OK;
}

/* Row by row, for strips that are too large to be held. Each plane has a lane, which goes on where
 * the part before has ended. */
static tamis_status read_rows(tamis_reader *reader, tamis_rect rect, const tamis_image *into)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    uint16_t fill_order = FILLORDER_MSB2LSB;
    tamis_status status = TAMIS_OK;
    for (int plane = 0; plane < p->planes && status == TAMIS_OK; plane++) {
        status = go_along(reader, plane);
        if (status != TAMIS_OK)
            return status;
        tiff_lane *lane = &s->lanes[plane];
        TIFFGetFieldDefaulted(lane->tiff.tif, TIFFTAG_FILLORDER, &fill_order);
        int plain = p->compression == COMPRESSION_NONE && fill_order == FILLORDER_MSB2LSB;
        for (int32_t i = 0; i < rect.h && status == TAMIS_OK; i++) {
            uint32_t y = (uint32_t)(rect.y + i);
            status = plain ? read_plain_row(reader, y, plane) : read_next_row(reader, y, plane);
            if (status == TAMIS_OK)
                place(p, plain ? s->lanes[0].raw : lane->raw, (uint32_t)rect.x, (uint32_t)rect.w,
                      plane, tamis_image_row(into, 0, i));
        }
        if (status == TAMIS_OK && lane->tiff.damaged)
            status = tamis_priv_tiff_fail(reader, plane);
    }
    return status;
}

tamis_status tamis_priv_tiff_part(tamis_reader *reader, tamis_rect rect, const tamis_image *into)
{
    tiff_state *s = reader->state;
    const tiff_page *p = &s->page;
    s->lanes[0].tiff.message[0] = 0;
    if (p->block_bytes == 0)
        return tamis_priv_tiff_fail(reader, 0);
    tamis_status status =
        p->by_rows ? read_rows(reader, rect, into) : read_blocks(reader, rect, into);
    if (status == TAMIS_OK && p->photometric == PHOTOMETRIC_MINISWHITE)
        for (int32_t y = 0; y < into->h; y++)
            invert(p, tamis_image_row(into, 0, y), (uint32_t)into->w);
    return status;
}
