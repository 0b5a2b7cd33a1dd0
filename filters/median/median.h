/* SPDX-License-Identifier: Apache-2.0 */
/* Median and percentile (rank) filter.
 *
 * Each sample becomes an order statistic of its channel in a window of w x h pixels centered on it:
 * with the n = w * h samples sorted in ascending order, the one at index
 *
 *     floor(percentile / 100 * (n - 1) + 0.5)        counted from 0,
 *
 * so percentile 50 is the median, 0 the minimum and 100 the maximum. Outside the picture the window
 * holds the samples that the border gives; they count like all others. The result is always one of
 * the samples in the window, so nothing is rounded, in any sample type.
 *
 * ksize=auto goes by the share of impulses in the picture (tamis/estimate.h): below 0.1 % nothing
 * is done, from there on a window of 3, from 15 % on 5, from 35 % on 7, above 50 % 9.
 *
 * F32 and F16: a window that holds a NaN gives NaN, and no other window does. -0 counts as less
 * than +0.
 *
 * Order does not go with weighting, so alpha is a channel like the others unless asked otherwise:
 * the default is alpha=straight. With alpha=premultiply the colors are weighted, ranked and divided
 * again, which keeps the color of clear pixels out of visible ones but is no longer exact.
 *
 * Good at impulse noise (dead and hot pixels, salt and pepper, dust), keeps straight edges sharp.
 * Bad at thin lines and corners, which vanish once they fill less than half of the window, and at
 * Gaussian noise, where a mean of the same size leaves less.
 *
 * Cost: square medians from 3 to 13 (U8: 15) are sorting networks, which take a time that grows
 * with the size and with the bytes of a sample. Other windows and percentiles use histograms, which
 * take a time that hardly depends on the window, about four times as long for other types as for
 * U8. */
#ifndef TAMIS_MEDIAN_H
#define TAMIS_MEDIAN_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tamis_median {
    tamis_size ksize;         /* width and height of the window in pixels, odd */
    double percentile;        /* which sample of the sorted window: 0 .. 100 */
    tamis_border border;      /* how the picture continues outside itself */
    tamis_value border_value; /* sample outside the picture for TAMIS_BORDER_CONSTANT */
    tamis_alpha_mode alpha;   /* default TAMIS_ALPHA_MODE_STRAIGHT */
};

#ifdef __cplusplus
}
#endif

#endif
