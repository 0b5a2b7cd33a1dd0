/* SPDX-License-Identifier: Apache-2.0 */
/* How much noise is in a picture: its blocks, from memory or part by part. */
#include <math.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "image/image.h"
#include "image/noise.h"

#define SIDE TAMIS_NOISE_SIDE
#define RUN  TAMIS_NOISE_RUN
/* Blocks of a channel that are looked at. */
#define BLOCKS_AT_MOST ((int64_t)1 << 18)
/* Bytes of rows that are read at a time, and the bound where the caller says nothing. */
#define BAND_BYTES   ((size_t)2 << 20)
#define MEMORY_BYTES ((size_t)64 << 20)

/* A picture that is measured. The block in column i, row j of those looked at begins at the pixel
 * (x0 + i * SIDE * every, y0 + j * SIDE * every). */
struct job {
    tamis_ctx *ctx;
    tamis_format format;
    int32_t w, h;
    int channels; /* that are measured */
    const tamis_convert *loops;
    float low, high; /* ends of the range */
    int32_t x0, y0;
    int64_t every, across, down;
    tamis_noise_block *blocks; /* of each channel: down rows of across */
    /* The band that is there. */
    const tamis_image *band;
    int32_t top;   /* the picture's row that it begins with */
    int64_t first; /* row of blocks that the work begins with */
};

/* n pixels of row y of the band, from x on, as planes. */
static void load_row(const struct job *job, int32_t x, int32_t y, int n, float *const *planes)
{
    tamis_format f = job->format;
    size_t at = (size_t)x * tamis_type_size(f.type);
    if (f.layout == TAMIS_PACKED && f.channels > 1) {
        const char *row = (const char *)tamis_image_row(job->band, 0, y);
        job->loops->split((void *const *)planes, TAMIS_F32, row + at * (size_t)f.channels, f.type,
                          f.channels, (size_t)n);
        return;
    }
    for (int c = 0; c < job->channels; c++)
        job->loops->convert(planes[c], TAMIS_F32,
                            (const char *)tamis_image_row(job->band, c, y) + at, f.type, (size_t)n);
}

/* Pictures smaller than a block are continued. */
static int32_t mirrored(int64_t i, int32_t n)
{
    return (int32_t)tamis_border_index(TAMIS_BORDER_REFLECT101, i, n);
}

/* SIDE rows from pixel (x, y) of the picture on, of count blocks. */
static void load(const struct job *job, int64_t x, int64_t y, int count, tamis_noise_rows *out)
{
    int wanted = count * SIDE, n = wanted < job->w ? wanted : job->w;
    for (int i = 0; i < SIDE; i++) {
        float *planes[TAMIS_MAX_CHANNELS];
        for (int c = 0; c < job->format.channels; c++)
            planes[c] = out[c][i];
        load_row(job, (int32_t)x, mirrored(y + i, job->h) - job->top, n, planes);
        for (int c = 0; c < job->channels; c++)
            for (int k = n; k < wanted; k++)
                planes[c][k] = planes[c][mirrored(k, job->w)];
    }
}

/* A row of blocks; index counts from the first of the work. */
static void measure_row(void *user, int64_t index)
{
    const struct job *job = user;
    tamis_noise_rows rows[TAMIS_MAX_CHANNELS];
    int64_t j = job->first + index, y = job->y0 + j * SIDE * job->every;
    int run = job->every == 1 ? RUN : 1;
    for (int64_t i = 0; i < job->across; i += run) {
        int count = job->across - i < run ? (int)(job->across - i) : run;
        load(job, job->x0 + i * SIDE * job->every, y, count, rows);
        for (int c = 0; c < job->channels; c++)
            tamis_priv_noise_measure(rows[c], count, job->low, job->high,
                                     job->blocks + (c * job->down + j) * job->across + i);
    }
}

/* Measures rows of blocks that lie in a band. */
static void measure_band(struct job *job, const tamis_image *band, int32_t top, int64_t first,
                         int64_t rows)
{
    job->band = band;
    job->top = top;
    job->first = first;
    tamis_priv_pool_each(job->ctx->pool, rows, measure_row, job);
}

/* ---- one picture */

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "noise: no memory");
}

/* Across JPEG's blocks, where there is room. */
static void choose_blocks(struct job *job)
{
    int32_t w = job->w < SIDE ? SIDE : job->w, h = job->h < SIDE ? SIDE : job->h;
    job->x0 = w >= SIDE + SIDE / 2 ? SIDE / 2 : 0;
    job->y0 = h >= SIDE + SIDE / 2 ? SIDE / 2 : 0;
    int64_t across = (w - job->x0) / SIDE, down = (h - job->y0) / SIDE;
    job->every = 0;
    do {
        job->every++;
        job->across = (across + job->every - 1) / job->every;
        job->down = (down + job->every - 1) / job->every;
    } while (job->across * job->down > BLOCKS_AT_MOST);
}

static tamis_status begin(struct job *job, tamis_noise *noise)
{
    tamis_type type = job->format.type;
    memset(noise, 0, TAMIS_MAX_CHANNELS * sizeof *noise);
    job->channels = job->format.channels - (job->format.alpha != TAMIS_ALPHA_NONE);
    job->loops = tamis_priv_convert_for(job->ctx->cpu);
    job->low = type == TAMIS_S16 ? -32768 : 0;
    job->high = job->low + (float)tamis_type_range(type);
    choose_blocks(job);
    size_t count = (size_t)(job->across * job->down * job->channels);
    job->blocks = tamis_priv_mem_alloc(job->ctx, count * sizeof *job->blocks);
    return job->blocks ? TAMIS_OK : no_memory(job->ctx);
}

static tamis_status conclude(const struct job *job, tamis_noise *noise)
{
    int64_t count = job->across * job->down;
    float *scratch = tamis_priv_mem_alloc(job->ctx, (size_t)count * sizeof *scratch);
    if (!scratch)
        return no_memory(job->ctx);
    for (int c = 0; c < job->channels; c++)
        tamis_priv_noise_conclude(job->blocks + c * count, count, (double)job->low,
                                  (double)job->high, scratch, &noise[c]);
    tamis_priv_mem_free(job->ctx, scratch);
    return TAMIS_OK;
}

tamis_status tamis_noise_estimate(tamis_ctx *ctx, const tamis_image *image,
                                  tamis_noise noise[TAMIS_MAX_CHANNELS])
{
    TAMIS_TRY(tamis_image_check(ctx, image));
    TAMIS_REQUIRE(ctx, noise);
    if (image->device)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "noise: a picture in a device's memory cannot be measured");
    struct job job = {.ctx = ctx, .format = image->format, .w = image->w, .h = image->h};
    TAMIS_TRY(begin(&job, noise));
    measure_band(&job, image, 0, 0, job.down);
    tamis_status status = conclude(&job, noise);
    tamis_priv_mem_free(ctx, job.blocks);
    return status;
}

/* ---- part by part */

/* Rows of blocks to read at a time: one, where others lie between. */
static int64_t rows_at_a_time(const struct job *job, size_t max_bytes)
{
    size_t row = (size_t)job->w * (size_t)job->format.channels * tamis_type_size(job->format.type);
    size_t bytes = max_bytes < BAND_BYTES ? max_bytes : BAND_BYTES;
    int64_t rows = job->every == 1 ? (int64_t)(bytes / row) / SIDE : 1;
    rows = rows < job->down ? rows : job->down;
    return rows < 1 ? 1 : rows;
}

static tamis_status measure_parts(struct job *job, const tamis_part_source *source,
                                  const tamis_image *band, int64_t rows)
{
    for (int64_t j = 0; j < job->down; j += rows) {
        int64_t count = job->down - j < rows ? job->down - j : rows;
        int64_t top = job->y0 + j * SIDE * job->every, height = count * SIDE;
        height = height < job->h - top ? height : job->h - top;
        tamis_rect part = {0, (int32_t)top, job->w, (int32_t)height};
        tamis_image view;
        TAMIS_TRY(tamis_image_view(job->ctx, band, (tamis_rect){0, 0, part.w, part.h}, &view));
        TAMIS_TRY(source->read(source->user, part, &view));
        measure_band(job, &view, part.y, j, count);
    }
    return TAMIS_OK;
}

static tamis_status run_parts(struct job *job, const tamis_part_source *source, size_t max_bytes)
{
    tamis_image band;
    int64_t rows = rows_at_a_time(job, max_bytes);
    int64_t height = rows * SIDE < job->h ? rows * SIDE : job->h;
    TAMIS_TRY(tamis_image_create(job->ctx, job->format, job->w, (int32_t)height, &band));
    tamis_status status = measure_parts(job, source, &band, rows);
    tamis_image_unref(&band);
    return status;
}

tamis_status tamis_noise_estimate_parts(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                        const tamis_part_source *source, size_t max_bytes,
                                        tamis_noise noise[TAMIS_MAX_CHANNELS])
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, source);
    TAMIS_REQUIRE(ctx, source->read);
    TAMIS_REQUIRE(ctx, noise);
    TAMIS_TRY(tamis_priv_shape_check(ctx, format, w, h));
    struct job job = {.ctx = ctx, .format = format, .w = w, .h = h};
    TAMIS_TRY(begin(&job, noise));
    tamis_status status = run_parts(&job, source, max_bytes ? max_bytes : MEMORY_BYTES);
    if (status == TAMIS_OK)
        status = conclude(&job, noise);
    tamis_priv_mem_free(ctx, job.blocks);
    return status;
}
