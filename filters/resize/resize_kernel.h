/* SPDX-License-Identifier: Apache-2.0 */
/* What the resizing kernels read: for each pixel of the result and axis, where its window begins
 * and the weights. */
#ifndef TAMIS_RESIZE_KERNEL_H
#define TAMIS_RESIZE_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* Windows of more samples than this are summed in binary32, u8 as well. */
enum { RESIZE_FIXED_TAPS = 16, RESIZE_FRACTION = 6 };

struct resize_axis {
    int taps;             /* the longest window */
    int pitch;            /* from one pixel's weights to the next: taps rounded up to 8 */
    int32_t in;           /* samples of the source */
    double ratio;         /* source pixels per pixel of the result */
    const int32_t *start; /* the first sample of each window, inside the source */
    const int32_t *count; /* the samples of each */
    const float *f;       /* weights; behind a window's own, 0 */
    const int16_t *q;     /* the same as multiples of 2^-bits; NULL for long windows */
    int bits;
};

/* The fixed-point weights across, arranged for kernels that pick samples of a row out of a table of
 * RESIZE_TABLE of them: for `pixels` neighbors in the result, all channels of each in a lane of its
 * own. The row of column sums is one of samples, packed as the picture is. */
enum { RESIZE_TABLE = 64, RESIZE_LANES = 16 };
struct resize_groups {
    int pixels;              /* 0: the windows of too few fit a table */
    int pairs;               /* of weights in each window */
    int step;                /* channels */
    const int32_t *first;    /* sample of the row where the group's table begins */
    const int16_t *index;    /* 2 per lane: where its first two samples are in the table */
    const uint32_t *weights; /* pair by pair, RESIZE_LANES each, the first in the low half */
};

struct resize_coef {
    struct resize_axis x, y;
    struct resize_groups groups;
    int halves; /* 1: u8, every pixel is the mean of 2x2 */
};

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_resize_fixed)(const tamis_tile *t, const void *coef, void *scratch);
#endif

#endif
