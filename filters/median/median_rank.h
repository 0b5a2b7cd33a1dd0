/* SPDX-License-Identifier: Apache-2.0 */
/* Any rank of any window of bytes: running histograms.
 *
 * A strip of columns is walked from top to bottom. Each column keeps a histogram of its kh samples
 * in the window's rows in two tiers: how many have a high half-byte of at most i, and of those with
 * a high half-byte of b, how many have a low half-byte of at most i. Sixteen such numbers are a
 * vector, and a sample comes or goes by adding or subtracting a vector of zeros and ones. Since the
 * numbers are cumulative, so are sums over columns, and the place of a rank among sixteen is the
 * number of entries that do not exceed it: no sums over bins are ever formed.
 *
 * The window's first tier slides along the row with every pixel. Its second tier is needed for one
 * high half-byte only, often the same for a while; the one in use slides as well, and one that
 * comes into use again catches up or is made afresh, whichever is less. */
#ifndef TAMIS_MEDIAN_RANK_H
#define TAMIS_MEDIAN_RANK_H

#include "median_simd.h"

typedef struct rank_strip {
    const uint8_t *const *rows; /* rows of samples, from that of the first window on */
    ptrdiff_t x;                /* of the first window in it */
    int w;                      /* windows side by side */
    int kw, kh, rank;           /* the window */
    int columns;                /* that memory is laid out for: w + kw - 1 or more */
    uint8_t *high;              /* [column][16] */
    uint8_t *low;               /* [high half-byte][column][16] */
} rank_strip;

/* The strip with its memory in scratch, of which median_strip_bytes() are used. */
TAMIS_INLINE rank_strip rank_strip_in(void *scratch, const median_coef *k)
{
    rank_strip s = {.kw = k->w, .kh = k->h, .rank = k->rank, .columns = k->columns};
    s.high = scratch;
    s.low = s.high + 16 * s.columns;
    return s;
}

/* Takes in the rows of the first window. */
void TAMIS_FN(tamis_priv_median_begin)(rank_strip *s);
/* Goes down from the windows that begin in row y - 1 to those in row y. */
void TAMIS_FN(tamis_priv_median_down)(rank_strip *s, int y);
/* The level of each window of the row and, unless left is NULL, how many of the window's samples of
 * that level come before the rank. */
void TAMIS_FN(tamis_priv_median_across)(const rank_strip *s, uint8_t *level, uint16_t *left);

#endif
