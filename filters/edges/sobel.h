/* SPDX-License-Identifier: Apache-2.0 */
/* sobel: slope of the picture across, down, its size or its direction.
 *
 * Formula. dx weights columns by the derivative (-1 0 1) and rows by the smoothing (1 2 1); dy the
 * other way round. ksize 5: (-1 -2 0 2 1) and (1 4 6 4 1); ksize 7: (-1 -4 -5 0 5 4 1) and
 * (1 6 15 20 15 6 1). Nothing is divided: a step of height 1 gives a slope of 4, 48, 640.
 * Sign: dx is right minus left, dy is below minus above, so a picture that gets brighter to the
 * right has positive dx.
 *
 * output. magnitude: norm=l2 sqrt(dx^2 + dy^2), norm=l1 |dx| + |dy|. dx, dy: signed.
 * direction: the angle of the slope, atan2(dy, dx) in radians above -pi up to pi; as y points
 * down, it grows clockwise; 0 where both are 0. The result is then multiplied by scale and delta is
 * added (not to a direction).
 *
 * type, the samples of the result. auto never loses a sign: dx and dy of u8 give s16 (f32 with
 * ksize 7, whose slopes reach 163200), of u16 and s16 f32; magnitude the picture's own type, where
 * it saturates: 255 in u8 means 255 or more; direction f32. same is the picture's type; integers
 * are rounded to nearest, ties to even, and saturated, so that unsigned ones turn negative slopes
 * into 0.
 *
 * Arithmetic, the same in every implementation: sums of integers are exact as long as they are
 * below 2^24, that is always but with ksize 7 on 16 bits. What follows is binary32: two squares,
 * their sum, the square root, scale, delta, each rounded; unscaled magnitudes of u8 are the
 * nearest level of the exact value. f32: differences, weights and sums in a fixed order, each
 * rounded; squares beyond 1.8e19 give infinity. Directions are within 1e-6 of the exact angle.
 *
 * Color. separate: each channel alone. luma: of 0.299 R + 0.587 G + 0.114 B; integers in units of
 * 1/32768 (9798, 19235, 3735), rounded to the nearest level, as OpenCV does.
 * Alpha: an edge has none, so the result does not either. premultiply weights color by alpha first,
 * so that what clear pixels hide makes no edges; ignore takes color as it is; straight treats alpha
 * as one more channel (color=separate).
 *
 * A flat picture gives 0 everywhere, border included. A NaN or infinite sample makes the slopes NaN
 * or infinite whose window holds it (dx does not look at its middle column, dy not at its middle
 * row), and no others; integers made from NaN are 0.
 *
 * Cost: a few operations per sample; writing the result takes the larger part. Bad at noise: smooth
 * first, or use ksize 5. */
#ifndef TAMIS_SOBEL_H
#define TAMIS_SOBEL_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_gradient_output {
    TAMIS_GRADIENT_MAGNITUDE,
    TAMIS_GRADIENT_DX,
    TAMIS_GRADIENT_DY,
    TAMIS_GRADIENT_DIRECTION
} tamis_gradient_output;

typedef enum tamis_gradient_norm { TAMIS_GRADIENT_L2, TAMIS_GRADIENT_L1 } tamis_gradient_norm;

/* Sample type of the result. */
typedef enum tamis_gradient_type {
    TAMIS_GRADIENT_AUTO,
    TAMIS_GRADIENT_SAME,
    TAMIS_GRADIENT_U8,
    TAMIS_GRADIENT_U16,
    TAMIS_GRADIENT_S16,
    TAMIS_GRADIENT_F32
} tamis_gradient_type;

typedef enum tamis_gradient_color {
    TAMIS_GRADIENT_SEPARATE,
    TAMIS_GRADIENT_LUMA
} tamis_gradient_color;

/* Parameters of "sobel"; start from tamis_filter_defaults(). */
struct tamis_sobel {
    unsigned output; /* tamis_gradient_output */
    int ksize;       /* 3, 5 or 7 */
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
