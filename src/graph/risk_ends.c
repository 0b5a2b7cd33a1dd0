/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at the ends of their type's range: noise that was cut off there, or impulses. */
#include <math.h>

#include "cpu/picture.h"
#include "graph/risk.h"

/* An impulse stands out from its neighbors by this part of the range; what is cut off at black lies
 * among dark ones. */
#define STANDS_OUT 0.25

/* Of the eight around a sample, inside the piece, with four of them no larger. */
static float middle_neighbor(const tamis_image *values, int c, int32_t x, int32_t y)
{
    float sorted[8];
    int count = 0;
    for (int32_t j = y - 1; j <= y + 1; j++)
        for (int32_t i = x - 1; i <= x + 1; i++) {
            if ((i == x && j == y) || i < 0 || j < 0 || i >= values->w || j >= values->h)
                continue;
            float v = ((const float *)tamis_image_row(values, c, j))[i];
            int k = count++;
            for (; k > 0 && sorted[k - 1] > v; k--)
                sorted[k] = sorted[k - 1];
            sorted[k] = v;
        }
    return count ? sorted[count / 2] : 0;
}

/* Counts a piece's samples at the ends, and among them those that stand out. */
static void count(const tamis_risk *r, const tamis_image *values, int64_t *ends, int64_t *alone)
{
    float range = (float)tamis_type_range(r->format.type);
    float low = r->format.type == TAMIS_S16 ? -32768 : 0, high = low + range;
    for (int c = 0; c < r->colors; c++)
        for (int32_t y = 0; y < values->h; y++) {
            const float *row = tamis_image_row(values, c, y);
            for (int32_t x = 0; x < values->w; x++) {
                if (row[x] != low && row[x] != high)
                    continue;
                ++*ends;
                *alone +=
                    fabsf(middle_neighbor(values, c, x, y) - row[x]) > (float)STANDS_OUT * range;
            }
        }
}

void tamis_priv_risk_ends(tamis_risk *r)
{
    int64_t ends = 0, alone = 0;
    for (int i = 0; i < r->count; i++)
        count(r, &r->pieces[i].noisy, &ends, &alone);
    double all = (double)r->count * r->colors * r->piece_w * r->piece_h;
    r->ends = (double)ends / all;
    r->alone = (double)alone / all;
}
