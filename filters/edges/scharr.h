/* SPDX-License-Identifier: Apache-2.0 */
/* scharr: slope of the picture whose size hardly depends on its direction.
 *
 * Formula. dx weights columns by the derivative (-1 0 1) and rows by the smoothing (3 10 3); dy the
 * other way round. Nothing is divided: a step of height 1 gives a slope of 16. Sign: dx is right
 * minus left, dy is below minus above.
 *
 * All else is as in sobel with ksize 3: output (magnitude, dx, dy, direction), norm, type, scale,
 * delta, color, alpha, arithmetic, NaN; dx and dy of u8 give s16, of u16 and s16 f32, magnitudes
 * saturate in the picture's own type. A flat picture gives 0 everywhere. */
#ifndef TAMIS_SCHARR_H
#define TAMIS_SCHARR_H

#include <tamis/sobel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "scharr"; start from tamis_filter_defaults(). */
struct tamis_scharr {
    unsigned output; /* tamis_gradient_output */
    unsigned norm;   /* tamis_gradient_norm */
    unsigned type;   /* tamis_gradient_type */
    double scale, delta;
    unsigned color; /* tamis_gradient_color */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
