/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <math.h>

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
