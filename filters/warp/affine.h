/* SPDX-License-Identifier: Apache-2.0 */
/* affine: moves, turns, scales and shears a picture.
 *
 * A point (x, y) of the picture goes to
 *
 *     x' = a x + b y + c
 *     y' = d x + e y + f        matrix = a,b,c,d,e,f
 *
 * Pixel centers lie at whole numbers: (0, 0) is the center of the first pixel, (w-1, h-1) that of
 * the last, and the middle of the picture is ((w-1)/2, (h-1)/2). There is no half-pixel shift
 * anywhere.
 *
 *      0   1   2   3  x
 *     +---+---+---+---+
 *   0 | . | . | . | . |     each dot is a pixel center; the pixel reaches half a
 *     +---+---+---+---+     pixel around it, so this picture covers -0.5 .. 3.5
 *   1 | . | . | . | . |     across and -0.5 .. 1.5 down
 *     +---+---+---+---+
 *   y
 *
 * Instead of a matrix the parts may be given: the picture is scaled, then sheared, then turned
 * about the center, then translated, M = T R H S on column vectors:
 *
 *     scale = s or sx,sy     S = | sx 0 |     shear = hx or hx,hy    H = | 1  hx |
 *                                | 0 sy |                                | hy 1  |
 *     angle = degrees, counter-clockwise as seen                         translate = x,y in pixels
 *
 * center is the middle of the picture when not given. Negative scales mirror. Where both a matrix
 * and parts are given, the matrix comes first. With inverse=1 matrix takes points of the result to
 * the picture instead. A matrix that flattens the picture is refused.
 *
 * size says how large the result is: same (as the picture), fit (the fewest whole pixels that hold
 * all of it, both centered alike), or WxH, whose pixel (0, 0) is point (0, 0) of the plane.
 *
 * Each pixel of the result is written once: its place in the picture is computed (in double
 * precision, to 2^-25 pixel) and the value there is found by interp: nearest, linear, cubic (Keys'
 * piecewise cubic; cubic_a = -0.5 is Catmull-Rom, -0.75 what OpenCV does), lanczos3 or area. When
 * every pixel falls on a pixel the values are copied, bit by bit.
 *
 * Shrinking: area is the interp that smooths as much as the picture shrinks, which is what avoids
 * moire; the others take the value at a point, as other programs' warps do, whatever lies between
 * points. area is the mean over what a pixel of the result covers, a parallelogram of the picture:
 * of n x m linear samples spread evenly over it, n and m being how many pixels its sides are long,
 * rounded up, at most 64. They are no farther apart than the picture's pixels are, so that each of
 * these counts (the box filter of the footprint, by the midpoint rule). Where nothing shrinks it is
 * linear.
 *
 * Beyond the picture it continues as border says; interpolation blends with what lies outside,
 * border_value for constant.
 *
 * Arithmetic; every implementation gives the same bits. u8, linear and cubic: fixed point, the
 * nearest level of the exact value except where that lies within 1/16 level of the middle between
 * two. All else is binary32: within one level for integers, 1e-5 for floats. Cubic and lanczos3
 * overshoot at edges; integers saturate.
 * NaN and infinities make NaN or infinite whose window of samples (1, 4, 16 or 36) holds them; but
 * where a place lies on a row or column of pixels, only that row or column belongs to the window.
 *
 * Cost per pixel grows with the window; that of area with the part of the picture that the result
 * shows. It is bad at shrinking with any interp but area, and without a turn or shear resize does
 * that faster and with any kernel. */
#ifndef TAMIS_AFFINE_H
#define TAMIS_AFFINE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "affine"; start from tamis_filter_defaults(). */
struct tamis_affine {
    tamis_numbers matrix;    /* a,b,c,d,e,f; none = from the parts */
    int inverse;             /* 1: matrix maps the result to the picture */
    tamis_numbers scale;     /* both, or across and down; none = 1 */
    tamis_numbers shear;     /* across, and down; none = 0 */
    double angle;            /* degrees, counter-clockwise as seen */
    tamis_numbers translate; /* pixels across and down; none = 0 */
    tamis_numbers center;    /* pixels; none = the middle */
    tamis_size size;         /* -1 = same, -2 = fit */
    tamis_interp interp;
    double cubic_a;
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
