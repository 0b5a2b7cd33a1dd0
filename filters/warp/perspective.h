/* SPDX-License-Identifier: Apache-2.0 */
/* perspective: looks at a picture from another side.
 *
 * A point (x, y) of the picture goes to
 *
 *     x' = (a x + b y + c) / (g x + h y + i)
 *     y' = (d x + e y + f) / (g x + h y + i)        matrix = a,b,c,d,e,f,g,h,i
 *
 * Pixel centers lie at whole numbers, as in affine. Six numbers leave g,h,i at 0,0,1. With
 * inverse=1 the matrix takes points of the result to the picture instead. A matrix that cannot be
 * inverted is refused. Where the plane of the picture passes behind the eye (the denominator is
 * negative) it is mapped by the same formula; on the horizon itself positions are infinitely far
 * away and show the border.
 *
 * size, interp, cubic_a, border, alpha and the arithmetic are as in affine, but for two things:
 * size=fit is refused where a part of the picture goes to infinity, and interp=area, whose samples
 * are spread over the pixel and mapped one by one, takes as many as the first or the last pixel
 * needs, whichever are more, of each 64 in a row that begin at a multiple of 64; 64x64 where the
 * horizon runs through them. */
#ifndef TAMIS_PERSPECTIVE_H
#define TAMIS_PERSPECTIVE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "perspective"; start from tamis_filter_defaults(). */
struct tamis_perspective {
    tamis_numbers matrix; /* none = 1,0,0,0,1,0,0,0,1 */
    int inverse;          /* 1: matrix maps the result to the picture */
    tamis_size size;      /* -1 = same, -2 = fit */
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
