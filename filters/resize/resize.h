/* SPDX-License-Identifier: Apache-2.0 */
/* resize: makes a picture larger or smaller.
 *
 *     out(i, j) = sum over x, y of wx(i, x) wy(j, y) in(x, y)
 *     wx(i, x) proportional to k((x - c) / f),   c = (i + 1/2) w / out_w - 1/2
 *
 * so that the outer edges of both pictures agree, and the middle of each pixel of the result lies
 * where it belongs. k is what interp says: linear the triangle max(0, 1 - |t|), cubic Keys'
 * piecewise cubic (cubic_a = -0.5 is Catmull-Rom, -0.75 what OpenCV does), lanczos3
 * sinc(t) sinc(t/3) for |t| < 3. f is 1, or when shrinking w / out_w, which is what keeps fine
 * patterns from becoming coarse ones; antialias=0 keeps it 1. interp=area weights each pixel by how
 * much of it the pixel of the result covers, nearest takes the pixel floor((i + 1/2) w / out_w);
 * both know no antialias. Down the same with heights.
 *
 * At the edges the window is cut off and its weights scaled to sum to one: the result depends on no
 * border. Weights of each axis sum to exactly one, so flat pictures stay flat.
 *
 * size gives the result's width and height, or scale (one number, or across and down) how much
 * larger it is, rounded to whole pixels; size goes before scale, and neither keeps the size. Where
 * an axis keeps its size it is not touched.
 *
 * Arithmetic; every implementation gives the same bits. Columns first, then rows.
 * u8, windows up to 16x16: weights are multiples of 2^-15 (2^-14 where one reaches 1), column sums
 * are rounded to 1/64 level, the final sum to the nearest level, halves upwards; the result is the
 * nearest level of the exact value except where that lies within 1/16 level of the middle between
 * two.
 * All else is binary32: columns from the top; rows in eight partial sums, of the samples 0, 8, ...,
 * of 1, 9, ..., which are added in the order ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)). Off
 * by at most one level for integers, 1e-5 of the largest sample for floats.
 * NaN and infinities make NaN or infinite the pixels whose window holds them.
 *
 * Cost grows with the windows' sizes, that is when shrinking with the size of the source. Like all
 * linear methods it softens (linear, area) or overshoots (cubic, lanczos3) at edges. */
#ifndef TAMIS_RESIZE_H
#define TAMIS_RESIZE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "resize"; start from tamis_filter_defaults(). */
struct tamis_resize {
    tamis_size size;     /* pixels; -1 = by scale */
    tamis_numbers scale; /* both, or across and down; none = 1 */
    tamis_interp interp;
    int antialias; /* 1: when shrinking, smooth as much */
    double cubic_a;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
