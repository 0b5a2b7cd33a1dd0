/* SPDX-License-Identifier: Apache-2.0 */
/* sharpen: adds the Laplacian's difference from the neighbors, in 3x3 pixels.
 *
 * Formula. With the n = 4 or 8 nearest neighbors and amount a,
 *     out(x, y) = in(x, y) + a (n in(x, y) - sum of the neighbors of (x, y)).
 * a = 1 is the kernel 0 -1 0 / -1 5 -1 / 0 -1 0 for 4 neighbors, -1 -1 -1 / -1 9 -1 / -1 -1 -1
 * for 8. Negative a smooths.
 *
 * Arithmetic. The difference is exact in integers; a times it plus the sample is one fused
 * multiply-add in binary32, rounded to the nearest level, ties to even, and clipped to the type's
 * range, so that overshoot never wraps around. Where a is a whole number, integers are exact. f32
 * and f16 are computed in binary32 and not clipped. A flat picture stays as it is.
 *
 * NaN reaches the 3x3 pixels around it (4 neighbors: the cross); so does an infinity, which leaves
 * infinities and NaN there. Alpha is kept as it is by default: sharpening it would eat into edges.
 *
 * It knows no threshold and no width, so noise grows with it: see unsharp, or denoise first. */
#ifndef TAMIS_SHARPEN_H
#define TAMIS_SHARPEN_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_sharpen_neighbors { TAMIS_SHARPEN_4, TAMIS_SHARPEN_8 } tamis_sharpen_neighbors;

/* Parameters of "sharpen"; start from tamis_filter_defaults(). */
struct tamis_sharpen {
    double amount;
    unsigned neighbors; /* tamis_sharpen_neighbors */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
