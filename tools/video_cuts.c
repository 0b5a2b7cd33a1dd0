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

/* 16-bit samples whose sum 32 bits hold: such sums the compiler makes many at a time. */
enum { SUM_MOST = 65536 };

static uint32_t sum_u8(const uint8_t *row, int32_t n, int step)
{
    uint32_t sum = 0;
    for (int32_t x = 0; x < n; x++)
        sum += row[(ptrdiff_t)x * step];
    return sum;
}

static uint32_t sum_u16(const uint16_t *row, int32_t n, int step)
{
    uint32_t sum = 0;
    for (int32_t x = 0; x < n; x++)
        sum += row[(ptrdiff_t)x * step];
    return sum;
}

static double sum_f32(const float *row, int32_t n, int step)
{
    double sum = 0;
    for (int32_t x = 0; x < n; x++)
        sum += (double)row[(ptrdiff_t)x * step];
    return sum;
}

static double sum_run(const tamis_image *luma, const void *row, ptrdiff_t at, int32_t n, int step)
{
    if (luma->format.type == TAMIS_F32)
        return sum_f32((const float *)row + at, n, step);
    if (luma->format.type == TAMIS_U16)
        return step == 1 ? sum_u16((const uint16_t *)row + at, n, 1)
                         : sum_u16((const uint16_t *)row + at, n, step);
    return step == 1 ? sum_u8((const uint8_t *)row + at, n, 1)
                     : sum_u8((const uint8_t *)row + at, n, step);
}

static double sum_row(const tamis_image *luma, int32_t y, int32_t from, int32_t to)
{
    const void *row = tamis_image_row(luma, 0, y);
    int step = luma->format.layout == TAMIS_PACKED ? luma->format.channels : 1;
    double sum = 0;
    for (int32_t x = from, n; x < to; x += n) {
        n = to - x < SUM_MOST ? to - x : SUM_MOST;
        sum += sum_run(luma, row, (ptrdiff_t)x * step, n, step);
    }
    return sum;
}

tamis_image tool_cuts_rows(const tamis_image *luma)
{
    enum { ROWS = 16 * TOOL_CUTS_GRID };
    int32_t step = (luma->h + ROWS - 1) / ROWS;
    tamis_image rows = *luma;
    rows.h = (luma->h + step - 1) / step;
    for (int p = 0; p < tamis_image_planes(luma); p++)
        rows.stride[p] *= step;
    return rows;
}

static double block_mean(const tamis_image *luma, int column, int row)
{
    int32_t x0 = (int32_t)((int64_t)column * luma->w / TOOL_CUTS_GRID);
    int32_t x1 = (int32_t)((int64_t)(column + 1) * luma->w / TOOL_CUTS_GRID);
    int32_t y0 = (int32_t)((int64_t)row * luma->h / TOOL_CUTS_GRID);
    int32_t y1 = (int32_t)((int64_t)(row + 1) * luma->h / TOOL_CUTS_GRID);
    x1 = x1 > x0 ? x1 : x0 + 1; /* of pictures smaller than the grid a sample counts more often */
    y1 = y1 > y0 ? y1 : y0 + 1;
    double sum = 0;
    for (int32_t y = y0; y < y1; y++)
        sum += sum_row(luma, y, x0, x1);
    return sum / ((double)(y1 - y0) * (x1 - x0));
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

int tool_cuts_step(tool_cuts *cuts, const tamis_image *rows)
{
    double means[BLOCKS];
    if (cuts->threshold <= 0)
        return 0;
    for (int i = 0; i < BLOCKS; i++)
        means[i] = block_mean(rows, i % TOOL_CUTS_GRID, i / TOOL_CUTS_GRID);
    double d = 100 * distance(means, cuts->means) / cuts->range;
    memcpy(cuts->means, means, sizeof(means));
    if (cuts->frames++ == 0)
        return 0;
    int cut = d > cuts->threshold && d > FACTOR * usual_distance(cuts);
    cuts->distances[cuts->frames % TOOL_CUTS_MEMORY] = d;
    return cut;
}
