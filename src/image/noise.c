/* SPDX-License-Identifier: Apache-2.0 */
/* How much noise is in a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/estimate.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "image/convert.h"

#define BLOCK 16
#define SIDE  (BLOCK + 2) /* with the neighbors that differences need */
/* The tenth percentile of a block's root mean square for white noise of deviation 1, measured on
 * 2048 x 2048 normal samples. */
#define PERCENTILE      0.1
#define OF_WHITE_NOISE  0.892
#define CLIPPED_AT_MOST 0.02

/* A block that does not count. */
#define NO_LEVEL (-1.0)

struct block {
    double level;   /* root mean square of the second difference */
    double clipped; /* share of samples at the ends of the range */
};

struct job {
    const tamis_image *image;
    const tamis_convert *loops;
    struct block *blocks; /* of one channel: down rows of across */
    int64_t across, down;
    int channel;
    double lowest, highest;
};

/* The samples of one channel from (x, y) on, n of them. */
static void load(const struct job *job, int64_t x, int32_t y, int n, float *out)
{
    tamis_format f = job->image->format;
    float pixels[SIDE * TAMIS_MAX_CHANNELS];
    size_t size = tamis_type_size(f.type);
    if (f.layout == TAMIS_PLANAR) {
        const char *row = tamis_image_row(job->image, job->channel, y);
        job->loops->convert(out, TAMIS_F32, row + (size_t)x * size, f.type, (size_t)n);
        return;
    }
    const char *row = tamis_image_row(job->image, 0, y);
    job->loops->convert(pixels, TAMIS_F32, row + (size_t)x * size * (size_t)f.channels, f.type,
                        (size_t)(n * f.channels));
    for (int i = 0; i < n; i++)
        out[i] = pixels[i * f.channels + job->channel];
}

static double second_difference(float v[SIDE][SIDE], int y, int x)
{
    double corners = (double)v[y][x] + v[y][x + 2] + v[y + 2][x] + v[y + 2][x + 2];
    double sides = (double)v[y][x + 1] + v[y + 1][x] + v[y + 1][x + 2] + v[y + 2][x + 1];
    return (corners - 2 * sides + 4 * (double)v[y + 1][x + 1]) / 6;
}

static struct block measure(const struct job *job, int64_t x, int32_t y, int w, int h)
{
    float v[SIDE][SIDE];
    double squares = 0;
    int clipped = 0;
    for (int i = 0; i < h + 2; i++)
        load(job, x, y + i, w + 2, v[i]);
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            double d = second_difference(v, i, j), center = v[i + 1][j + 1];
            squares += d * d;
            clipped += center <= job->lowest || center >= job->highest;
        }
    if (!isfinite(squares))
        return (struct block){NO_LEVEL, 1};
    return (struct block){sqrt(squares / (w * h)), (double)clipped / (w * h)};
}

static void measure_row(void *user, int64_t index)
{
    const struct job *job = user;
    int32_t inner_w = job->image->w - 2, inner_h = job->image->h - 2;
    int32_t y = (int32_t)index * BLOCK;
    int h = inner_h - y < BLOCK ? inner_h - y : BLOCK;
    for (int64_t i = 0; i < job->across; i++) {
        int64_t x = i * BLOCK;
        int w = inner_w - x < BLOCK ? (int)(inner_w - x) : BLOCK;
        job->blocks[index * job->across + i] = measure(job, x, y, w, h);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Packs the levels of the blocks that count to the front of the array, as plain numbers. */
static int64_t gather(const struct job *job, double clipped_at_most, double *levels)
{
    int64_t n = 0;
    for (int64_t i = 0; i < job->across * job->down; i++) {
        struct block b = job->blocks[i];
        if (b.level != NO_LEVEL && b.clipped <= clipped_at_most)
            levels[n++] = b.level;
    }
    return n;
}

static double percentile(const struct job *job, double *levels)
{
    int64_t n = gather(job, CLIPPED_AT_MOST, levels);
    if (n == 0)
        n = gather(job, 1, levels);
    if (n == 0)
        return 0;
    qsort(levels, (size_t)n, sizeof *levels, compare);
    double at = PERCENTILE * (double)(n - 1);
    int64_t i = (int64_t)at;
    double next = levels[i + 1 < n ? i + 1 : i];
    return levels[i] + (at - (double)i) * (next - levels[i]);
}

/* Where samples stop; floats have no ends. */
static void set_ends(struct job *job)
{
    tamis_type type = job->image->format.type;
    int is_float = type == TAMIS_F32 || type == TAMIS_F16;
    job->lowest = is_float ? -HUGE_VAL : type == TAMIS_S16 ? -32768 : 0;
    job->highest = is_float ? HUGE_VAL : job->lowest + tamis_type_range(type);
}

static void estimate(tamis_ctx *ctx, struct job *job, double *levels, double *sigma)
{
    tamis_format f = job->image->format;
    for (int c = 0; c < f.channels - (f.alpha != TAMIS_ALPHA_NONE); c++) {
        job->channel = c;
        tamis_priv_pool_each(ctx->pool, job->down, measure_row, job);
        sigma[c] = percentile(job, levels) / OF_WHITE_NOISE;
    }
}

tamis_status tamis_noise_estimate(tamis_ctx *ctx, const tamis_image *image,
                                  double sigma[TAMIS_MAX_CHANNELS])
{
    TAMIS_TRY(tamis_image_check(ctx, image));
    TAMIS_REQUIRE(ctx, sigma);
    memset(sigma, 0, TAMIS_MAX_CHANNELS * sizeof *sigma);
    if (image->w < 3 || image->h < 3)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "noise: an image of %dx%d is too small, 3x3 is the least", image->w,
                               image->h);
    struct job job = {.image = image, .loops = tamis_priv_convert_for(ctx->cpu)};
    job.across = (image->w - 2 + BLOCK - 1) / BLOCK;
    job.down = (image->h - 2 + BLOCK - 1) / BLOCK;
    set_ends(&job);
    size_t count = tamis_priv_size_mul((size_t)job.across, (size_t)job.down);
    double *levels = tamis_priv_mem_alloc(ctx, tamis_priv_size_mul(count, sizeof *levels));
    job.blocks = tamis_priv_mem_alloc(ctx, tamis_priv_size_mul(count, sizeof *job.blocks));
    int enough = levels && job.blocks;
    if (enough)
        estimate(ctx, &job, levels, sigma);
    tamis_priv_mem_free(ctx, job.blocks);
    tamis_priv_mem_free(ctx, levels);
    return enough ? TAMIS_OK : tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "noise: no memory");
}
