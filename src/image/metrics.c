/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>
#include <tamis/metrics.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "image/convert.h"

enum { WINDOW = 11, RADIUS = WINDOW / 2, MOMENTS = 5 };

/* A pair of pictures at work. For SSIM: vertically weighted sums of a, b, a*a, b*b and a*b over the
 * WINDOW rows that end at the current one; the rows are kept in a ring. */
struct job {
    const tamis_convert *loops;
    const tamis_image *image[2];
    size_t w;
    int fits; /* SSIM is wanted and a window fits */
    double c1, c2;
    double weight[WINDOW];
    double *row[2];         /* of the current channel */
    double *ring;           /* WINDOW rows of MOMENTS planes of w, where it fits */
    double *columns;        /* MOMENTS planes of w, too */
    float *samples;         /* a row of all channels */
    const tamis_image *map; /* of SSIM, where it is wanted */
};

/* One row of one channel; every sample type is exact in binary32. */
static void load(const struct job *job, int which, int channel, int32_t y)
{
    const tamis_image *image = job->image[which];
    tamis_format f = image->format;
    int planar = f.layout == TAMIS_PLANAR;
    size_t step = planar ? 1 : (size_t)f.channels, first = planar ? 0 : (size_t)channel;
    job->loops->convert(job->samples, TAMIS_F32, tamis_image_row(image, planar ? channel : 0, y),
                        f.type, job->w * step);
    for (size_t x = 0; x < job->w; x++)
        job->row[which][x] = job->samples[x * step + first];
}

static void add_differences(const struct job *job, tamis_metrics *m, int channel, int32_t y,
                            int page)
{
    const double *a = job->row[0], *b = job->row[1];
    for (size_t x = 0; x < job->w; x++) {
        if (a[x] == b[x] || (isnan(a[x]) && isnan(b[x])))
            continue;
        m->different++;
        double d = fabs(a[x] - b[x]);
        if (isnan(d)) {
            m->unordered++;
            continue;
        }
        m->sum_abs += d;
        m->sum_squares += d * d;
        if (d > m->max_abs) {
            m->max_abs = d;
            m->x = (int32_t)x;
            m->y = y;
            m->channel = channel;
            m->page = page;
        }
    }
}

static void make_weights(double *weight)
{
    double sum = 0;
    for (int i = 0; i < WINDOW; i++)
        sum += weight[i] = exp(-(i - RADIUS) * (i - RADIUS) / (2 * 1.5 * 1.5));
    for (int i = 0; i < WINDOW; i++)
        weight[i] /= sum;
}

static void push_row(const struct job *job, int32_t y)
{
    size_t w = job->w;
    const double *a = job->row[0], *b = job->row[1];
    double *slot = job->ring + (size_t)(y % WINDOW) * MOMENTS * w;
    for (size_t x = 0; x < w; x++) {
        slot[x] = a[x];
        slot[w + x] = b[x];
        slot[2 * w + x] = a[x] * a[x];
        slot[3 * w + x] = b[x] * b[x];
        slot[4 * w + x] = a[x] * b[x];
    }
}

static void sum_columns(const struct job *job, int32_t y)
{
    size_t n = job->w * MOMENTS;
    memset(job->columns, 0, n * sizeof *job->columns);
    for (int i = 0; i < WINDOW; i++) {
        const double *row = job->ring + (size_t)((y - i) % WINDOW) * n;
        double weight = job->weight[i];
        for (size_t x = 0; x < n; x++)
            job->columns[x] += weight * row[x];
    }
}

/* out, unless NULL, gets each window's share of the mean over channels; it may lie anywhere. */
static double sum_row_of_windows(const struct job *job, char *out)
{
    float share = 1.0f / (float)job->image[0]->format.channels;
    double total = 0;
    for (size_t x = 0; x + WINDOW <= job->w; x++) {
        double m[MOMENTS] = {0};
        for (int k = 0; k < MOMENTS; k++) {
            const double *column = job->columns + (size_t)k * job->w + x;
            for (int i = 0; i < WINDOW; i++)
                m[k] += job->weight[i] * column[i];
        }
        double mean_a2 = m[0] * m[0], mean_b2 = m[1] * m[1], mean_ab = m[0] * m[1];
        double var_a = m[2] - mean_a2, var_b = m[3] - mean_b2, cov = m[4] - mean_ab;
        double ssim = (2 * mean_ab + job->c1) * (2 * cov + job->c2) /
                      ((mean_a2 + mean_b2 + job->c1) * (var_a + var_b + job->c2));
        total += ssim;
        if (out) {
            float sum;
            memcpy(&sum, out + x * sizeof sum, sizeof sum);
            sum += share * (float)ssim;
            memcpy(out + x * sizeof sum, &sum, sizeof sum);
        }
    }
    return total;
}

/* SSIM is the mean over the windows that lie inside the picture. */
static void add_channel(const struct job *job, tamis_metrics *m, int channel, int page)
{
    int32_t h = job->image[0]->h;
    double ssim = 0;
    for (int32_t y = 0; y < h; y++) {
        load(job, 0, channel, y);
        load(job, 1, channel, y);
        add_differences(job, m, channel, y, page);
        if (!job->fits)
            continue;
        push_row(job, y);
        if (y >= WINDOW - 1) {
            char *out = job->map ? tamis_image_row(job->map, 0, y - (WINDOW - 1)) : NULL;
            sum_columns(job, y);
            ssim += sum_row_of_windows(job, out) / (double)(job->w - WINDOW + 1);
        }
    }
    m->samples += (uint64_t)job->w * (uint64_t)h;
    if (job->fits) {
        m->ssim_sum += ssim / (h - WINDOW + 1);
        m->ssim_count++;
    }
}

static tamis_status check_pair(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b)
{
    TAMIS_TRY(tamis_image_check(ctx, a));
    TAMIS_TRY(tamis_image_check(ctx, b));
    if (a->device || b->device)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "metrics: pictures in a device's memory cannot be compared");
    if (a->w == b->w && a->h == b->h && a->format.channels == b->format.channels)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                           "metrics: %dx%d with %d channels and %dx%d with %d cannot be compared",
                           a->w, a->h, a->format.channels, b->w, b->h, b->format.channels);
}

static tamis_status measure(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b, int page,
                            double peak, tamis_metrics *metrics, const tamis_image *map)
{
    struct job job = {.loops = tamis_priv_convert_for(ctx->cpu), .image = {a, b}, .map = map};
    job.w = (size_t)a->w;
    job.fits = peak > 0 && a->w >= WINDOW && a->h >= WINDOW;
    job.c1 = 0.01 * peak * 0.01 * peak;
    job.c2 = 0.03 * peak * 0.03 * peak;
    make_weights(job.weight);
    size_t rows = 2 + (job.fits ? (WINDOW + 1) * MOMENTS : 0);
    size_t doubles = tamis_priv_size_mul(job.w, rows * sizeof(double));
    size_t floats = tamis_priv_size_mul(job.w, (size_t)a->format.channels * sizeof(float));
    void *memory = tamis_priv_mem_alloc(ctx, tamis_priv_size_add(doubles, floats));
    if (!memory)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "metrics: no memory");
    job.row[0] = memory;
    job.row[1] = job.row[0] + job.w;
    if (job.fits) {
        job.ring = job.row[1] + job.w;
        job.columns = job.ring + WINDOW * MOMENTS * job.w;
    }
    job.samples = (float *)((char *)memory + doubles);
    for (int c = 0; c < a->format.channels; c++)
        add_channel(&job, metrics, c, page);
    tamis_priv_mem_free(ctx, memory);
    return TAMIS_OK;
}

tamis_status tamis_metrics_add(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b, int page,
                               double peak, tamis_metrics *metrics)
{
    TAMIS_TRY(check_pair(ctx, a, b));
    TAMIS_REQUIRE(ctx, metrics);
    return measure(ctx, a, b, page, peak, metrics, NULL);
}

tamis_status tamis_metrics_map(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b,
                               double peak, const tamis_image *map)
{
    TAMIS_TRY(check_pair(ctx, a, b));
    TAMIS_TRY(tamis_image_check(ctx, map));
    if (!(peak > 0) || a->w < WINDOW || a->h < WINDOW)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "metrics: no map of SSIM for %dx%d pixels with a data range of %g; "
                               "at least %dx%d, more than 0",
                               a->w, a->h, peak, WINDOW, WINDOW);
    if (map->device || map->format.type != TAMIS_F32 || map->format.channels != 1 ||
        map->w != a->w - (WINDOW - 1) || map->h != a->h - (WINDOW - 1))
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "metrics: the map of SSIM is one channel of f32 of %dx%d in host "
                               "memory, not %d of %s of %dx%d",
                               a->w - (WINDOW - 1), a->h - (WINDOW - 1), map->format.channels,
                               tamis_type_name(map->format.type), map->w, map->h);
    for (int32_t y = 0; y < map->h; y++)
        memset(tamis_image_row(map, 0, y), 0, (size_t)map->w * sizeof(float));
    tamis_metrics sums = {0};
    return measure(ctx, a, b, 0, peak, &sums, map);
}

double tamis_metrics_mse(const tamis_metrics *m)
{
    uint64_t n = m ? m->samples - m->unordered : 0;
    return n ? m->sum_squares / (double)n : NAN;
}

double tamis_metrics_mae(const tamis_metrics *m)
{
    uint64_t n = m ? m->samples - m->unordered : 0;
    return n ? m->sum_abs / (double)n : NAN;
}

double tamis_metrics_psnr(const tamis_metrics *m, double peak)
{
    return 10 * log10(peak * peak / tamis_metrics_mse(m));
}

double tamis_metrics_ssim(const tamis_metrics *m)
{
    return m && m->ssim_count ? m->ssim_sum / m->ssim_count : NAN;
}
