/* SPDX-License-Identifier: Apache-2.0 */
/* gaussian: smooths with a Gaussian window.
 *
 * Formula. out(x, y) = sum over i, j of wx(i) wy(j) in(x+i, y+j), where w(i) is proportional to
 * exp(-i^2 / (2 sigma^2)) for |i| <= r = (ksize-1)/2 and the taps of each axis sum to exactly one,
 * so that brightness never drifts and a constant picture stays as it is in every sample type.
 *
 * Size. ksize = 0 takes r = ceil(3 sigma), a window of about 6 sigma + 1. sigma = auto follows
 * from ksize, sigma = 0.3 ((ksize-1)/2 - 1) + 0.8, or is 1.5 when ksize is not given either.
 * sigma_x, sigma_y and a ksize of WxH treat the axes differently. compat=opencv takes
 * OpenCV's size rule instead: ksize = round(6 sigma + 1) | 1 for u8, round(8 sigma + 1) | 1 for
 * the other types.
 *
 * Arithmetic; integers come out the same in every implementation. Columns are filtered first, then
 * rows.
 * u8: fixed point. Taps are multiples of 2^-16 (2^-15 or 2^-14 where a tap reaches 1/2), column
 * sums are rounded to 1/128 level, the final sum to the nearest level, halves up. The result is the
 * nearest level of the exact value except where that lies within 1/16 level of the middle between
 * two.
 * u16 and s16: binary32 with fused multiply-add, from the center tap outwards, rounded once at the
 * end, ties to even; off by at most one level from the nearest, hardly ever by any.
 * f32 (and f16): the reference sums in binary64 and rounds column sums to binary32; vector kernels
 * add weighted differences from the center sample in binary32, within 1e-6 of the largest sample.
 * Constants stay exactly what they are in both. No clipping.
 * A window of 1x1, or one whose outer taps are all zero, changes no sample.
 *
 * On a grid. Where both sigmas are at least 10 (u8) or 20 (other types), the window reaches 2.9
 * sigma or farther both ways, and border is not valid, time does not grow with the window. Samples
 * are brought down to a grid of every D-th pixel, where D is the greatest power of two up to sigma
 * / 4 (u8) or sigma / 10, with the weights of a quadratic B-spline, which are those of three boxes
 * of D pixels in turn; columns first, then rows. The grid is filtered, rows first, with taps for
 * which the whole comes nearest to the window above by least squares, and brought up with the same
 * spline. It begins at the picture's first pixel, so that results do not depend on tiles. Integers:
 * binary32 with fused multiply-add throughout, rounded at the end, ties to even. f32: as above.
 * Only the window's sudden end is not followed exactly: noise and edges are within 1e-4 of the
 * range of the samples (seen: 6e-5), stripes at random within 2e-4. So u8 is within 1/16 level of
 * the nearest as above, u16 and s16 within 4 levels for edges and 12 for such stripes.
 *
 * NaN and Inf: a NaN makes every pixel whose window holds it NaN and no other; an infinity likewise
 * infinite (NaN where both signs meet). Taps that are exactly zero do not count as holding it.
 *
 * Cost grows with ksize_w + ksize_h per pixel up to where the grid begins. It is bad at keeping
 * edges: see bilateral and median for that. */
#ifndef TAMIS_GAUSSIAN_H
#define TAMIS_GAUSSIAN_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_gaussian_compat {
    TAMIS_GAUSSIAN_COMPAT_NONE,
    TAMIS_GAUSSIAN_COMPAT_OPENCV
} tamis_gaussian_compat;

/* Parameters of "gaussian"; start from tamis_filter_defaults(). */
struct tamis_gaussian {
    double sigma;     /* standard deviation in pixels; -1 = auto */
    double sigma_x;   /* across; -1 = sigma */
    double sigma_y;   /* down; -1 = sigma */
    tamis_size ksize; /* window in pixels, odd; 0 = from sigma */
    unsigned compat;  /* tamis_gaussian_compat */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
