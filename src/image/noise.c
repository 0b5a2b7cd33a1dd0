/* SPDX-License-Identifier: Apache-2.0 */
/* How much noise is in a picture. */
#include <math.h>
#include <string.h>
#include <tamis/estimate.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "core/spill.h"
#include "image/convert.h"
#include "image/image.h"

#define BLOCK 16
#define SIDE  (BLOCK + 2) /* with the neighbors that differences need */
/* The tenth percentile of a block's root mean square for white noise of deviation 1, measured on
 * 2048 x 2048 normal samples. */
#define PERCENTILE      0.1
#define OF_WHITE_NOISE  0.892
#define CLIPPED_AT_MOST 0.02

/* Bytes of rows that are read at a time, and of levels that are kept in memory, where the caller
 * says nothing. */
#define BAND_BYTES   ((size_t)2 << 20)
#define MEMORY_BYTES ((size_t)64 << 20)

/* A picture that is measured. The level of a block is the root mean square of its second
 * differences; it is stored as a negative number where too many samples lie at the ends of the
 * range, and as NaN where it is not finite. */
struct job {
    tamis_ctx *ctx;
    tamis_format format;
    int32_t w, h;
    int channels; /* that are measured */
    const tamis_convert *loops;
    double lowest, highest;
    int64_t across, down; /* blocks */
    double *levels;       /* of each channel: down rows of across */
    size_t mapped;        /* bytes of the temporary file that they lie in; 0: in memory */
    /* The band that is there. */
    const tamis_image *image;
    int64_t first; /* row of blocks that begins with its first row */
};

/* The samples of one channel from (x, y) on, n of them. */
static void load(const struct job *job, int channel, int64_t x, int32_t y, int n, float *out)
{
    tamis_format f = job->format;
    float pixels[SIDE * TAMIS_MAX_CHANNELS];
    size_t size = tamis_type_size(f.type);
    if (f.layout == TAMIS_PLANAR) {
        const char *row = tamis_image_row(job->image, channel, y);
        job->loops->convert(out, TAMIS_F32, row + (size_t)x * size, f.type, (size_t)n);
        return;
    }
    const char *row = tamis_image_row(job->image, 0, y);
    job->loops->convert(pixels, TAMIS_F32, row + (size_t)x * size * (size_t)f.channels, f.type,
                        (size_t)(n * f.channels));
    for (int i = 0; i < n; i++)
        out[i] = pixels[i * f.channels + channel];
}

static double second_difference(float v[SIDE][SIDE], int y, int x)
{
    double corners = (double)v[y][x] + v[y][x + 2] + v[y + 2][x] + v[y + 2][x + 2];
    double sides = (double)v[y][x + 1] + v[y + 1][x] + v[y + 1][x + 2] + v[y + 2][x + 1];
    return (corners - 2 * sides + 4 * (double)v[y + 1][x + 1]) / 6;
}

/* The block at (x, y) of the band. */
static double measure(const struct job *job, int channel, int64_t x, int32_t y, int w, int h)
{
    float v[SIDE][SIDE];
    double squares = 0;
    int clipped = 0;
    for (int i = 0; i < h + 2; i++)
        load(job, channel, x, y + i, w + 2, v[i]);
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            double d = second_difference(v, i, j), center = v[i + 1][j + 1];
            squares += d * d;
            clipped += center <= job->lowest || center >= job->highest;
        }
    if (!isfinite(squares))
        return NAN;
    double level = sqrt(squares / (w * h));
    return (double)clipped / (w * h) <= CLIPPED_AT_MOST ? level : -level;
}

/* A row of blocks; index counts from the band's first. */
static void measure_row(void *user, int64_t index)
{
    const struct job *job = user;
    int64_t row = job->first + index;
    int32_t inner_w = job->w - 2, inner_h = job->h - 2, y = (int32_t)row * BLOCK;
    int h = inner_h - y < BLOCK ? inner_h - y : BLOCK;
    for (int c = 0; c < job->channels; c++)
        for (int64_t i = 0; i < job->across; i++) {
            int64_t x = i * BLOCK;
            int w = inner_w - x < BLOCK ? (int)(inner_w - x) : BLOCK;
            job->levels[(c * job->down + row) * job->across + i] =
                measure(job, c, x, (int32_t)index * BLOCK, w, h);
        }
}

/* ---- the percentile */

/* Moves the levels that count to the front; returns how many. */
static int64_t keep_unclipped(double *levels, int64_t count)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (!signbit(levels[i]) && !isnan(levels[i]))
            levels[n++] = levels[i];
    return n;
}

static int64_t keep_finite(double *levels, int64_t count)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(levels[i]))
            levels[n++] = fabs(levels[i]);
    return n;
}

/* Puts the numbers in such order that none before index k is larger than the one there, and none
 * after it is smaller. */
static void select_kth(double *v, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = v[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                double t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

static double percentile(double *levels, int64_t count)
{
    int64_t n = keep_unclipped(levels, count);
    if (n == 0)
        n = keep_finite(levels, count);
    if (n == 0)
        return 0;
    double at = PERCENTILE * (double)(n - 1);
    int64_t k = (int64_t)at;
    select_kth(levels, n, k);
    double next = k + 1 < n ? levels[k + 1] : levels[k];
    for (int64_t i = k + 2; i < n; i++)
        next = levels[i] < next ? levels[i] : next;
    return levels[k] + (at - (double)k) * (next - levels[k]);
}

/* ---- one picture */

/* Where samples stop; floats have no ends. */
static void set_ends(struct job *job)
{
    tamis_type type = job->format.type;
    int is_float = type == TAMIS_F32 || type == TAMIS_F16;
    job->lowest = is_float ? -HUGE_VAL : type == TAMIS_S16 ? -32768 : 0;
    job->highest = is_float ? HUGE_VAL : job->lowest + tamis_type_range(type);
}

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "noise: no memory");
}

/* Levels beyond so many bytes go to a file; 0: never. */
static tamis_status begin(struct job *job, size_t max_bytes)
{
    if (job->w < 3 || job->h < 3)
        return tamis_priv_fail(job->ctx, TAMIS_ERR_ARGUMENT,
                               "noise: an image of %dx%d is too small, 3x3 is the least", job->w,
                               job->h);
    job->channels = job->format.channels - (job->format.alpha != TAMIS_ALPHA_NONE);
    job->loops = tamis_priv_convert_for(job->ctx->cpu);
    job->across = (job->w - 2 + BLOCK - 1) / BLOCK;
    job->down = (job->h - 2 + BLOCK - 1) / BLOCK;
    set_ends(job);
    size_t count = tamis_priv_size_mul((size_t)job->across, (size_t)job->down);
    size_t bytes = tamis_priv_size_mul(count, (size_t)job->channels * sizeof *job->levels);
    if (max_bytes && bytes > max_bytes) {
        void *data;
        TAMIS_TRY(tamis_priv_spill_map(job->ctx, "noise", bytes, &data));
        job->levels = data;
        job->mapped = bytes;
        return TAMIS_OK;
    }
    job->levels = tamis_priv_mem_alloc(job->ctx, bytes ? bytes : 1);
    return job->levels ? TAMIS_OK : no_memory(job->ctx);
}

static void end(struct job *job)
{
    if (job->mapped)
        tamis_priv_spill_unmap(job->levels, job->mapped);
    else
        tamis_priv_mem_free(job->ctx, job->levels);
}

/* Measures so many rows of blocks of a band. */
static void measure_band(struct job *job, const tamis_image *image, int64_t first, int64_t rows)
{
    job->image = image;
    job->first = first;
    tamis_priv_pool_each(job->ctx->pool, rows, measure_row, job);
}

static void conclude(const struct job *job, double *sigma)
{
    int64_t count = job->across * job->down;
    for (int c = 0; c < job->channels; c++)
        sigma[c] = percentile(job->levels + c * count, count) / OF_WHITE_NOISE;
}

tamis_status tamis_noise_estimate(tamis_ctx *ctx, const tamis_image *image,
                                  double sigma[TAMIS_MAX_CHANNELS])
{
    TAMIS_TRY(tamis_image_check(ctx, image));
    TAMIS_REQUIRE(ctx, sigma);
    memset(sigma, 0, TAMIS_MAX_CHANNELS * sizeof *sigma);
    struct job job = {.ctx = ctx, .format = image->format, .w = image->w, .h = image->h};
    TAMIS_TRY(begin(&job, 0));
    measure_band(&job, image, 0, job.down);
    conclude(&job, sigma);
    end(&job);
    return TAMIS_OK;
}

/* ---- part by part */

/* Rows at the top of a band that are those at the end of the one before. */
static tamis_status move_up(tamis_ctx *ctx, const tamis_image *band, int32_t from, int32_t rows)
{
    for (int32_t y = 0; y < rows; y++) { /* none lies in one still to come: they go upwards */
        tamis_image source, target;
        TAMIS_TRY(tamis_image_view(ctx, band, (tamis_rect){0, from + y, band->w, 1}, &source));
        TAMIS_TRY(tamis_image_view(ctx, band, (tamis_rect){0, y, band->w, 1}, &target));
        TAMIS_TRY(tamis_image_copy(ctx, &source, &target));
    }
    return TAMIS_OK;
}

/* Rows to read at a time: whole blocks of the source, whole rows of blocks of ours. */
static int32_t rows_at_a_time(const struct job *job, const tamis_part_source *source,
                              size_t max_bytes)
{
    size_t row = (size_t)job->w * (size_t)job->format.channels * tamis_type_size(job->format.type);
    size_t bytes = max_bytes / 2 < BAND_BYTES ? max_bytes / 2 : BAND_BYTES;
    int32_t rows = (int32_t)(bytes / row) / BLOCK * BLOCK, block = source->block_h;
    rows = rows < BLOCK ? BLOCK : rows;
    if (block > 1 && block <= 4 * (int64_t)rows)
        rows = (rows + block - 1) / block * block;
    return rows < job->h ? rows : job->h;
}

/* The band holds the rows top .. top + have-1 of the picture, top a multiple of BLOCK; as many more
 * are read as have room. */
static tamis_status measure_parts(struct job *job, const tamis_part_source *source,
                                  const tamis_image *band, int32_t rows)
{
    int32_t top = 0, have = 0;
    while (top < job->h - 2) {
        int32_t y = top + have, more = job->h - y < rows ? job->h - y : rows;
        tamis_image view;
        tamis_rect at = {0, have, job->w, more}, part = {0, y, job->w, more};
        TAMIS_TRY(tamis_image_view(job->ctx, band, at, &view));
        TAMIS_TRY(source->read(source->user, part, &view));
        have += more;
        int last = top + have == job->h;
        int64_t first = top / BLOCK, blocks = last ? job->down - first : (have - 2) / BLOCK;
        measure_band(job, band, first, blocks);
        if (last)
            break;
        int32_t done = (int32_t)blocks * BLOCK;
        top += done;
        have -= done;
        TAMIS_TRY(move_up(job->ctx, band, done, have));
    }
    return TAMIS_OK;
}

static tamis_status run_parts(struct job *job, const tamis_part_source *source, size_t max_bytes)
{
    tamis_image band;
    int32_t rows = rows_at_a_time(job, source, max_bytes);
    TAMIS_TRY(tamis_image_create(job->ctx, job->format, job->w, rows + BLOCK + 2, &band));
    tamis_status status = measure_parts(job, source, &band, rows);
    tamis_image_unref(&band);
    return status;
}

tamis_status tamis_noise_estimate_parts(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                        const tamis_part_source *source, size_t max_bytes,
                                        double sigma[TAMIS_MAX_CHANNELS])
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, source);
    TAMIS_REQUIRE(ctx, source->read);
    TAMIS_REQUIRE(ctx, sigma);
    TAMIS_TRY(tamis_priv_shape_check(ctx, format, w, h));
    memset(sigma, 0, TAMIS_MAX_CHANNELS * sizeof *sigma);
    struct job job = {.ctx = ctx, .format = format, .w = w, .h = h};
    max_bytes = max_bytes ? max_bytes : MEMORY_BYTES;
    TAMIS_TRY(begin(&job, max_bytes / 2));
    tamis_status status = run_parts(&job, source, max_bytes);
    if (status == TAMIS_OK)
        conclude(&job, sigma);
    end(&job);
    return status;
}
