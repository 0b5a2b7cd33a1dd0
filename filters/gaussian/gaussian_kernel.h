/* SPDX-License-Identifier: Apache-2.0 */
/* What the Gaussian's kernels read: one set of taps per axis, in the arithmetic of each type. */
#ifndef TAMIS_GAUSSIAN_KERNEL_H
#define TAMIS_GAUSSIAN_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* Taps are symmetric: index i = 0 .. radius holds the tap at distance i. */
struct gaussian_axis {
    int radius;
    int bits;         /* u8: taps are multiples of 2^-bits, 14 .. 16 */
    const int16_t *q; /* u8 */
    const float *f;   /* u16, s16 */
    const double *d;  /* f32 */
    /* The fixed-point taps in pairs for multiply-add instructions: (q[-r], q[1-r]), (q[2-r], ...),
     * ... with a zero after the last; pair_count pairs in the order of growing coordinate. */
    const int32_t *pairs;
    int pair_count;
    /* Likewise for sums of mirrored samples: (q[0], q[1]), (q[2], q[3]), ... */
    const int32_t *folded;
    int folded_count;
};

struct gaussian_coef {
    struct gaussian_axis x, y;
};

/* Column sums of u8 are kept in 1/128 level, which leaves a sign bit in 16. */
#define GAUSSIAN_FRACTION 7

#endif
