/* SPDX-License-Identifier: Apache-2.0 */
/* laplacian: how much the neighbors are brighter than a pixel: the sum of second derivatives.
 *
 * Formula. neighbors=4: the sum of the pixels left, right, above and below minus 4 times the pixel
 * itself; neighbors=8: of all eight around it minus 8 times the pixel. A bright dot gives a
 * negative value.
 *
 * The result is multiplied by scale and delta is added; delta=128:type=u8 shows both signs. type,
 * the samples of the result: auto gives s16 for u8, f32 for u16 and s16; same is the picture's
 * type. Integers are rounded to nearest, ties to even, and saturated. Integer sums are exact; f32
 * adds in a fixed order, opposite pairs first: the same bits in every implementation. color and
 * alpha are as in sobel.
 *
 * A flat picture gives 0 everywhere, border included. A NaN or infinite sample touches the windows
 * that hold it and no others.
 *
 * Bad at noise, which it amplifies more than sobel does: smooth with gaussian first. */
#ifndef TAMIS_LAPLACIAN_H
#define TAMIS_LAPLACIAN_H

#include <tamis/sobel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_laplacian_neighbors {
    TAMIS_LAPLACIAN_4,
    TAMIS_LAPLACIAN_8
} tamis_laplacian_neighbors;

/* Parameters of "laplacian"; start from tamis_filter_defaults(). */
struct tamis_laplacian {
    unsigned neighbors; /* tamis_laplacian_neighbors */
    unsigned type;      /* tamis_gradient_type */
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
