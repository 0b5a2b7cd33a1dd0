/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/histogram.h"

#include <math.h>
#include <string.h>

#include "cpu/picture.h"

#define CHUNK 1024

static void add_values(struct tamis_histogram *h, const float *v, int n, int step, int skip)
{
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        if (step > 1 && i % step == skip)
            continue;
        memcpy(&bits, &v[i], sizeof bits);
        bits &= 0x7fffffff;
        if (bits == 0 || bits > 0x7f800000)
            continue;
        h->bins[bits >> TAMIS_HISTOGRAM_SHIFT]++;
        h->count++;
    }
}

static void add_row(struct tamis_histogram *h, const tamis_convert *loops, const tamis_image *image,
                    int plane, int32_t y)
{
    tamis_format f = image->format;
    int packed = f.layout == TAMIS_PACKED;
    int step = packed ? f.channels : 1;
    int skip = packed && f.alpha != TAMIS_ALPHA_NONE ? f.channels - 1 : -1;
    const char *row = tamis_image_row(image, plane, y);
    float values[CHUNK * TAMIS_MAX_CHANNELS];
    for (int32_t x = 0; x < image->w; x += CHUNK) {
        int n = (image->w - x < CHUNK ? image->w - x : CHUNK) * step;
        loops->convert(values, TAMIS_F32, row + (size_t)x * (size_t)step * tamis_type_size(f.type),
                       f.type, (size_t)n);
        add_values(h, values, n, step, skip);
    }
}

void tamis_priv_histogram_add(struct tamis_histogram *histogram, const tamis_convert *loops,
                              const tamis_image *image)
{
    tamis_format f = image->format;
    int planes = f.layout == TAMIS_PACKED ? 1 : f.channels - (f.alpha != TAMIS_ALPHA_NONE);
    for (int p = 0; p < planes; p++)
        for (int32_t y = 0; y < image->h; y++)
            add_row(histogram, loops, image, p, y);
}

double tamis_priv_histogram_quantile(const tamis_histogram *histogram, double share)
{
    if (!histogram || histogram->count == 0)
        return 0;
    double wanted = share * (double)histogram->count, sum = 0;
    uint32_t bin = 0;
    for (; bin < TAMIS_HISTOGRAM_BINS - 1; bin++) {
        sum += (double)histogram->bins[bin];
        if (sum >= wanted && sum > 0)
            break;
    }
    uint32_t bits = (bin << TAMIS_HISTOGRAM_SHIFT) | (1U << (TAMIS_HISTOGRAM_SHIFT - 1));
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? (double)value : 0;
}
