/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "rows.h"

/* How far the windows of SSIM reach. */
#define SSIM_RADIUS 5

/* The largest difference of a pixel's color channels. NaN against a number counts as infinite. */
static void differences_of_row(const tamis_image *a, const tamis_image *b, int32_t y, double *rows,
                               float *out)
{
    size_t w = (size_t)a->w;
    int colors = a->format.channels - (a->format.alpha != TAMIS_ALPHA_NONE);
    memset(out, 0, w * sizeof(*out));
    for (int c = 0; c < colors; c++) {
        tool_row_read(a, c, y, rows);
        tool_row_read(b, c, y, rows + w);
        for (size_t x = 0; x < w; x++) {
            double d = fabs(rows[x] - rows[w + x]);
            if (isnan(d))
                d = isnan(rows[x]) && isnan(rows[w + x]) ? 0 : INFINITY;
            out[x] = d > out[x] ? (float)d : out[x];
        }
    }
}

static tamis_status make_differences(tool *t, const tamis_image *a, const tamis_image *b,
                                     tamis_image *out)
{
    tamis_format format = {.type = TAMIS_F32, .channels = 1};
    tamis_status status = tamis_image_create(t->ctx, format, a->w, a->h, out);
    if (status)
        return status;
    double *rows = tool_alloc(2 * (size_t)a->w * sizeof(*rows));
    for (int32_t y = 0; y < a->h; y++)
        differences_of_row(a, b, y, rows, tamis_image_row(out, 0, y));
    free(rows);
    return TAMIS_OK;
}

/* Pixels that are the center of no window get the value of the nearest that is. */
static void spread_edges(const tamis_image *inner, const tamis_image *out)
{
    for (int32_t y = 0; y < out->h; y++) {
        int32_t from = y - SSIM_RADIUS < 0           ? 0
                       : y - SSIM_RADIUS >= inner->h ? inner->h - 1
                                                     : y - SSIM_RADIUS;
        const float *in = tamis_image_row(inner, 0, from);
        float *row = tamis_image_row(out, 0, y);
        for (int32_t x = 0; x < out->w; x++) {
            int32_t at = x - SSIM_RADIUS;
            row[x] = in[at < 0 ? 0 : at >= inner->w ? inner->w - 1 : at];
        }
    }
}

static tamis_status make_ssim(tool *t, const tamis_image *a, const tamis_image *b, double peak,
                              tamis_image *out)
{
    tamis_image inner = {0};
    tamis_format format = {.type = TAMIS_F32, .channels = 1};
    int32_t w = a->w - 2 * SSIM_RADIUS, h = a->h - 2 * SSIM_RADIUS;
    tamis_status status = tamis_image_create(t->ctx, format, w, h, &inner);
    if (!status)
        status = tamis_metrics_map(t->ctx, a, b, peak, &inner);
    if (!status)
        status = tamis_image_create(t->ctx, format, a->w, a->h, out);
    if (!status)
        spread_edges(&inner, out);
    tamis_image_unref(&inner);
    return status;
}

tamis_status tool_map_make(tool *t, const tamis_image *a, const tamis_image *b, double peak,
                           tool_map *map)
{
    return map->is_ssim ? make_ssim(t, a, b, peak, &map->image)
                        : make_differences(t, a, b, &map->image);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

double tool_map_high(const tamis_image *image)
{
    enum { MOST = 1000000 };
    int32_t step = (int32_t)ceil(sqrt((double)image->w * image->h / MOST));
    size_t count = 0;
    float *values = tool_alloc(((size_t)(image->w / step) + 1) * ((size_t)(image->h / step) + 1) *
                               sizeof(*values));
    for (int32_t y = 0; y < image->h; y += step) {
        const float *row = tamis_image_row(image, 0, y);
        for (int32_t x = 0; x < image->w; x += step)
            values[count++] = row[x];
    }
    qsort(values, count, sizeof(*values), by_size);
    double high = values[count - 1 - count / 1000];
    free(values);
    return isfinite(high) ? high : 0;
}

tamis_status tool_map_shown(tool *t, const tool_map *map, const tamis_image *part, tamis_image *out)
{
    tamis_format format = {.type = TAMIS_U8, .channels = 1};
    tamis_status status = tamis_image_create(t->ctx, format, part->w, part->h, out);
    if (status)
        return status;
    double *row = tool_alloc((size_t)part->w * sizeof(*row));
    double scale = map->high > 0 ? 255 / map->high : 0;
    for (int32_t y = 0; y < part->h; y++) {
        tool_row_read(part, 0, y, row);
        for (int32_t x = 0; x < part->w; x++)
            row[x] = map->is_ssim ? 255 * (1 - row[x]) : scale > 0 ? row[x] * scale : 0;
        tool_row_write(out, 0, y, row);
    }
    free(row);
    return TAMIS_OK;
}

/* Sums of the rectangles from the corner to each pixel, a row and a column of zeros before them. */
static double *sum_corners(const tamis_image *image)
{
    size_t w = (size_t)image->w + 1;
    double *sums = tool_alloc(w * ((size_t)image->h + 1) * sizeof(*sums));
    for (int32_t y = 0; y < image->h; y++) {
        const float *row = tamis_image_row(image, 0, y);
        double *above = sums + (size_t)y * w, *now = above + w, sum = 0;
        for (int32_t x = 0; x < image->w; x++) {
            sum += isfinite(row[x]) ? row[x] : 0;
            now[x + 1] = above[x + 1] + sum;
        }
    }
    return sums;
}

void tool_map_peak(const tamis_image *image, int32_t w, int32_t h, int32_t *x, int32_t *y)
{
    size_t stride = (size_t)image->w + 1;
    double *sums = sum_corners(image), best = -1;
    for (int32_t v = 0; v + h <= image->h; v++) {
        const double *top = sums + (size_t)v * stride, *bottom = top + (size_t)h * stride;
        for (int32_t u = 0; u + w <= image->w; u++) {
            double sum = bottom[u + w] - bottom[u] - top[u + w] + top[u];
            if (sum <= best)
                continue;
            best = sum;
            *x = u;
            *y = v;
        }
    }
    free(sums);
}
