/* SPDX-License-Identifier: Apache-2.0 */
#include "video_cuts.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = TOOL_CUTS_GRID * TOOL_CUTS_GRID };
#define FACTOR 3

void tool_cuts_open(tool_cuts *cuts, double threshold, double range)
{
    *cuts = (tool_cuts){.threshold = threshold, .range = range};
}

static double sum_row(const tamis_image *luma, int32_t y, int32_t from, int32_t to)
{
    const void *row = tamis_image_row(luma, 0, y);
    int step = luma->format.layout == TAMIS_PACKED ? luma->format.channels : 1;
    double sum = 0;
    for (int32_t x = from; x < to; x++) {
        ptrdiff_t i = (ptrdiff_t)x * step;
        sum += luma->format.type == TAMIS_U8    ? ((const uint8_t *)row)[i]
               : luma->format.type == TAMIS_U16 ? ((const uint16_t *)row)[i]
                                                : (double)((const float *)row)[i];
    }
    return sum;
}

/* Of large pictures every so many rows are enough. */
static double block_mean(const tamis_image *luma, int column, int row)
{
    enum { ROWS = 16 };
    int32_t x0 = (int32_t)((int64_t)column * luma->w / TOOL_CUTS_GRID);
    int32_t x1 = (int32_t)((int64_t)(column + 1) * luma->w / TOOL_CUTS_GRID);
    int32_t y0 = (int32_t)((int64_t)row * luma->h / TOOL_CUTS_GRID);
    int32_t y1 = (int32_t)((int64_t)(row + 1) * luma->h / TOOL_CUTS_GRID);
    x1 = x1 > x0 ? x1 : x0 + 1; /* of pictures smaller than the grid a sample counts more often */
    y1 = y1 > y0 ? y1 : y0 + 1;
    int32_t step = (y1 - y0 + ROWS - 1) / ROWS, rows = 0;
    double sum = 0;
    for (int32_t y = y0; y < y1; y += step, rows++)
        sum += sum_row(luma, y, x0, x1);
    return sum / ((double)rows * (x1 - x0));
}

static double distance(const double *a, const double *b)
{
    double shift = 0, sum = 0;
    for (int i = 0; i < BLOCKS; i++)
        shift += (a[i] - b[i]) / BLOCKS;
    for (int i = 0; i < BLOCKS; i++)
        sum += fabs(a[i] - b[i] - shift) / BLOCKS;
    return sum;
}

/* The second largest: a cut among the frames before does not hide the next one, motion does. */
static double usual_distance(const tool_cuts *cuts)
{
    double most = 0, second = 0;
    for (int i = 0; i < TOOL_CUTS_MEMORY; i++) {
        double d = cuts->distances[i];
        second = d > most ? most : d > second ? d : second;
        most = d > most ? d : most;
    }
    return second;
}

int tool_cuts_step(tool_cuts *cuts, const tamis_image *luma)
{
    double means[BLOCKS];
    if (cuts->threshold <= 0)
        return 0;
    for (int i = 0; i < BLOCKS; i++)
        means[i] = block_mean(luma, i % TOOL_CUTS_GRID, i / TOOL_CUTS_GRID);
    double d = 100 * distance(means, cuts->means) / cuts->range;
    memcpy(cuts->means, means, sizeof(means));
    if (cuts->frames++ == 0)
        return 0;
    int cut = d > cuts->threshold && d > FACTOR * usual_distance(cuts);
    cuts->distances[cuts->frames % TOOL_CUTS_MEMORY] = d;
    return cut;
}
