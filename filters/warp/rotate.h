/* SPDX-License-Identifier: Apache-2.0 */
/* rotate: turns a picture.
 *
 * The picture is turned by angle degrees, counter-clockwise as seen, about center, which is its
 * middle ((w-1)/2, (h-1)/2) when not given; pixel centers lie at whole numbers. size says how large
 * the result is: same (as the picture), fit (the fewest whole pixels that hold all of it), or WxH,
 * the last two with the middles of both on one another.
 *
 * Quarter turns are exact: with size=fit, or where width and height are both even or both odd, each
 * pixel of the result is a pixel of the picture, bit by bit, and no border shows.
 *
 * Everything else is as in affine: interp, cubic_a, border, alpha and the arithmetic. Turning does
 * not shrink, so interp=area is the same as linear here. */
#ifndef TAMIS_ROTATE_H
#define TAMIS_ROTATE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "rotate"; start from tamis_filter_defaults(). */
struct tamis_rotate {
    double angle;         /* degrees, counter-clockwise as seen */
    tamis_numbers center; /* pixels; none = the middle */
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
