/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void *first_sample(const tamis_image *image, int channel, int32_t y, size_t *step)
{
    int planar = image->format.layout == TAMIS_PLANAR;
    *step = planar ? 1 : (size_t)image->format.channels;
    char *row = tamis_image_row(image, planar ? channel : 0, y);
    return planar ? row : row + (size_t)channel * tamis_type_size(image->format.type);
}

void tool_row_read(const tamis_image *image, int channel, int32_t y, double *out)
{
    size_t step;
    const void *row = first_sample(image, channel, y, &step);
    for (size_t x = 0; x < (size_t)image->w; x++) {
        switch (image->format.type) {
        case TAMIS_U8:
            out[x] = ((const uint8_t *)row)[x * step];
            break;
        case TAMIS_U16:
            out[x] = ((const uint16_t *)row)[x * step];
            break;
        case TAMIS_S16:
            out[x] = ((const int16_t *)row)[x * step];
            break;
        default:
            out[x] = ((const float *)row)[x * step];
        }
    }
}

static double round_to(double value, double low, double high)
{
    if (!(value > low)) /* NaN, too */
        return low;
    return value >= high ? high : nearbyint(value);
}

void tool_row_write(const tamis_image *image, int channel, int32_t y, const double *in)
{
    size_t step;
    void *row = first_sample(image, channel, y, &step);
    for (size_t x = 0; x < (size_t)image->w; x++) {
        switch (image->format.type) {
        case TAMIS_U8:
            ((uint8_t *)row)[x * step] = (uint8_t)round_to(in[x], 0, 255);
            break;
        case TAMIS_U16:
            ((uint16_t *)row)[x * step] = (uint16_t)round_to(in[x], 0, 65535);
            break;
        case TAMIS_S16:
            ((int16_t *)row)[x * step] = (int16_t)round_to(in[x], -32768, 32767);
            break;
        default:
            ((float *)row)[x * step] = (float)in[x];
        }
    }
}

static void add_row(tool_metrics *m, const double *a, const double *b, int32_t w, tool_spot spot)
{
    for (int32_t x = 0; x < w; x++) {
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
            m->spot = spot;
            m->spot.x = x;
        }
    }
}

enum { WINDOW = 11, RADIUS = WINDOW / 2, MOMENTS = 5 };

/* Vertically weighted sums of a, b, a*a, b*b and a*b over the WINDOW rows that end at row y; the
 * rows are kept in a ring. */
typedef struct ssim_state {
    int32_t w;
    double weight[WINDOW];
    double *ring;    /* WINDOW rows of MOMENTS planes of w */
    double *columns; /* MOMENTS planes of w */
} ssim_state;

static void make_weights(double *weight)
{
    double sum = 0;
    for (int i = 0; i < WINDOW; i++)
        sum += weight[i] = exp(-(i - RADIUS) * (i - RADIUS) / (2 * 1.5 * 1.5));
    for (int i = 0; i < WINDOW; i++)
        weight[i] /= sum;
}

static void push_row(ssim_state *s, int32_t y, const double *a, const double *b)
{
    size_t w = (size_t)s->w;
    double *slot = s->ring + (size_t)(y % WINDOW) * MOMENTS * w;
    for (size_t x = 0; x < w; x++) {
        slot[x] = a[x];
        slot[w + x] = b[x];
        slot[2 * w + x] = a[x] * a[x];
        slot[3 * w + x] = b[x] * b[x];
        slot[4 * w + x] = a[x] * b[x];
    }
}

static void sum_columns(ssim_state *s, int32_t y)
{
    size_t n = (size_t)s->w * MOMENTS;
    memset(s->columns, 0, n * sizeof(double));
    for (int i = 0; i < WINDOW; i++) {
        const double *row = s->ring + (size_t)((y - i) % WINDOW) * n;
        double weight = s->weight[i];
        for (size_t x = 0; x < n; x++)
            s->columns[x] += weight * row[x];
    }
}

static double sum_row_of_windows(const ssim_state *s, double c1, double c2)
{
    double total = 0;
    for (int32_t x = 0; x + WINDOW <= s->w; x++) {
        double m[MOMENTS] = {0};
        for (int k = 0; k < MOMENTS; k++) {
            const double *column = s->columns + (size_t)k * (size_t)s->w + x;
            for (int i = 0; i < WINDOW; i++)
                m[k] += s->weight[i] * column[i];
        }
        double mean_a2 = m[0] * m[0], mean_b2 = m[1] * m[1], mean_ab = m[0] * m[1];
        double var_a = m[2] - mean_a2, var_b = m[3] - mean_b2, cov = m[4] - mean_ab;
        total +=
            (2 * mean_ab + c1) * (2 * cov + c2) / ((mean_a2 + mean_b2 + c1) * (var_a + var_b + c2));
    }
    return total;
}

/* Mean SSIM over the windows that lie inside the picture. */
static double channel_ssim(ssim_state *s, int32_t y, double peak)
{
    double c1 = 0.01 * peak * 0.01 * peak, c2 = 0.03 * peak * 0.03 * peak;
    sum_columns(s, y);
    return sum_row_of_windows(s, c1, c2) / (s->w - WINDOW + 1);
}

static void add_channel(tool_metrics *m, const tamis_image *a, const tamis_image *b, tool_spot spot,
                        ssim_state *s, double peak)
{
    size_t w = (size_t)a->w;
    double *rows = tool_alloc(2 * w * sizeof(double)), ssim = 0;
    int fits = peak > 0 && a->w >= WINDOW && a->h >= WINDOW;
    for (int32_t y = 0; y < a->h; y++) {
        tool_row_read(a, spot.channel, y, rows);
        tool_row_read(b, spot.channel, y, rows + w);
        spot.y = y;
        add_row(m, rows, rows + w, a->w, spot);
        if (!fits)
            continue;
        push_row(s, y, rows, rows + w);
        if (y >= WINDOW - 1)
            ssim += channel_ssim(s, y, peak);
    }
    m->samples += w * (uint64_t)a->h;
    if (fits) {
        m->ssim_sum += ssim / (a->h - WINDOW + 1);
        m->ssim_count++;
    }
    free(rows);
}

void tool_metrics_add(tool_metrics *m, const tamis_image *a, const tamis_image *b, int page,
                      double peak)
{
    ssim_state s = {.w = a->w};
    make_weights(s.weight);
    size_t n = (size_t)a->w * MOMENTS;
    s.ring = tool_alloc((WINDOW + 1) * n * sizeof(double));
    s.columns = s.ring + WINDOW * n;
    for (int c = 0; c < a->format.channels; c++)
        add_channel(m, a, b, (tool_spot){.channel = c, .page = page}, &s, peak);
    free(s.ring);
}

double tool_metrics_mse(const tool_metrics *m)
{
    uint64_t n = m->samples - m->unordered;
    return n ? m->sum_squares / (double)n : NAN;
}

double tool_metrics_mae(const tool_metrics *m)
{
    uint64_t n = m->samples - m->unordered;
    return n ? m->sum_abs / (double)n : NAN;
}

double tool_metrics_psnr(const tool_metrics *m, double peak)
{
    return 10 * log10(peak * peak / tool_metrics_mse(m));
}

double tool_metrics_ssim(const tool_metrics *m)
{
    return m->ssim_count ? m->ssim_sum / m->ssim_count : NAN;
}
