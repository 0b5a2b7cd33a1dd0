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
    /* The fixed-point taps in radius+1 pairs for multiply-add instructions, as they stand over the
     * samples -r .. r+1 for the outputs at 0: (q[-r], q[1-r]), ..., (q[r], 0); and at 1:
     * (0, q[-r]), ..., (q[r-1], q[r]). */
    const int32_t *even, *odd;
    /* Likewise for sums of mirrored samples: (q[0], q[1]), (q[2], q[3]), ... */
    const int32_t *folded;
};

struct gaussian_coef {
    struct gaussian_axis x, y;
};

/* Column sums of u8 are kept in 1/128 level, which leaves a sign bit in 16. */
#define GAUSSIAN_FRACTION 7

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_gaussian_u8)(const tamis_tile *t, const void *coef, void *scratch);
#endif

#endif
