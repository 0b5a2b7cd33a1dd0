/* SPDX-License-Identifier: Apache-2.0 */
/* box: the mean of a window.
 *
 * Formula. out(x, y) = sum over the window of in(x+i, y+j) / n, where the window covers
 * i = -anchor_x .. ksize_w-1-anchor_x and j = -anchor_y .. ksize_h-1-anchor_y, and
 * n = ksize_w * ksize_h.
 *
 * Window. Sides are odd or even. By default the anchor is at ksize/2 (rounded down), so an odd
 * window is centered on its pixel and an even one reaches one pixel farther to the left and up:
 * ksize=6 covers x-3 .. x+2. anchor_x and anchor_y put the pixel elsewhere in its window; to the
 * right and down is n-1-anchor.
 *
 * Integers (u8, u16, s16) are exact: the sum is that of whole numbers, divided and rounded once to
 * the nearest level, halves up (towards +infinity). Halves occur for even n only.
 * f32 (and f16): sums in binary64, rounded once to binary32. No sample outside the window takes
 * part in a sum, so nothing drifts and a huge value is felt by no pixel but those whose windows
 * hold it. A constant picture stays exactly what it is.
 * A window of 1x1 changes no sample.
 *
 * NaN and Inf: a NaN makes every pixel whose window holds it NaN and no other; an infinity likewise
 * infinite (NaN where both signs meet).
 *
 * Cost does not depend on the size of the window, in any type; small windows are faster yet.
 * It is bad at smoothing evenly in all directions and leaves traces of its corners: see gaussian.
 *
 * Method. 3x3, 5x5 and 7x7: row sums, the last of which stay in registers while a window goes
 * down a band of rows. Other integers: column sums that gain a row and lose a row, then prefix sums
 * along the row whose additions are exact. Other floats: every window is cut by one line of a grid
 * of its own spacing into a part before and a part behind, and such parts of all windows are
 * running sums (van Herk 1992 and Gil and Werman 1993 do so for minima). */
#ifndef TAMIS_BOX_H
#define TAMIS_BOX_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "box"; start from tamis_filter_defaults(). */
struct tamis_box {
    tamis_size ksize; /* window in pixels */
    int anchor_x;     /* column of the window that lies on the pixel, from 0; -1 = ksize.w / 2 */
    int anchor_y;     /* row of the window that lies on the pixel; -1 = ksize.h / 2 */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
