/* SPDX-License-Identifier: Apache-2.0 */
/* canny: edges as lines one pixel wide: 255 on an edge, 0 elsewhere, in u8.
 *
 * 1. Optional smoothing with a Gaussian of sigma (0: none), window 2 ceil(3 sigma) + 1, in binary32
 *    and not rounded to levels.
 * 2. Slopes dx, dy as sobel gives them (ksize 3, 5 or 7; right minus left, below minus above) and
 *    their size m: norm=l2 sqrt(dx^2 + dy^2), norm=l1 |dx| + |dy|.
 * 3. A pixel is kept where m is greater than low and greatest across the edge. With
 *    t = 13573/32768, the tangent of 22.5 degrees: where |dy| < t |dx|, m must exceed that of the
 *    left neighbor and reach that of the right one; where |dy| > (2 + t) |dx|, likewise above and
 *    below; else it must exceed those of both neighbors on the diagonal that the slope follows.
 * 4. Kept pixels with m greater than high are edges, and so is every kept pixel that is connected
 *    to one through kept pixels, over sides and corners, however long the way. This is exact over
 *    the whole picture: tiles and threads change nothing.
 * (J. Canny, A computational approach to edge detection, 1986.)
 *
 * low and high are in levels of the picture, or per cent of its range, and count slopes as they
 * come: a step of height h has m = 4 h with ksize 3, 48 h with 5, 640 h with 7.
 *
 * high=auto is the size of slope that four fifths of the picture's slopes other than 0 do not
 * exceed, but at least three times their median, above which noise alone has next to none; low=auto
 * is 0.4 of high. Slopes are counted with the filter's own sigma, ksize, norm and color.
 *
 * The border rule continues the picture, and slopes outside are those of the continued picture, so
 * a flat picture has no edges, its frame included.
 *
 * Arithmetic. u8 with ksize 3 or 5 and no smoothing: integers, exact. All else: binary32 in a fixed
 * order, each operation rounded; the same result in every implementation. A slope that is NaN
 * counts as 0.
 *
 * color=luma: of 0.299 R + 0.587 G + 0.114 B, one channel; separate: each channel alone. Alpha:
 * premultiply weights color by alpha first, so that what clear pixels hide makes no edges;
 * straight treats it as one more channel; ignore and luma leave it out. The result has no alpha.
 *
 * compat=opencv: the result of OpenCV's Canny bit for bit, for u8 without sigma: the border is
 * replicate whatever border says, m is 0 outside the picture, and with ksize 7 slopes and
 * thresholds are divided by 16 and slopes rounded. OpenCV's own default is norm=l1, and for color
 * pictures it takes the strongest channel, which this does not.
 *
 * Cost: about as much as three magnitudes, and the whole result is held until it is done. Bad at
 * corners, where lines break, and at noise when sigma is small. */
#ifndef TAMIS_CANNY_H
#define TAMIS_CANNY_H

#include <tamis/sobel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_canny_compat {
    TAMIS_CANNY_COMPAT_NONE,
    TAMIS_CANNY_COMPAT_OPENCV
} tamis_canny_compat;

/* Parameters of "canny"; start from tamis_filter_defaults(). */
struct tamis_canny {
    tamis_value low, high;
    double sigma;    /* of the smoothing, in pixels; 0 = none */
    int ksize;       /* of the slopes: 3, 5 or 7 */
    unsigned norm;   /* tamis_gradient_norm */
    unsigned color;  /* tamis_gradient_color */
    unsigned compat; /* tamis_canny_compat */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
