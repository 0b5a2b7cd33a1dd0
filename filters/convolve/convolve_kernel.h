/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of convolve read. */
#ifndef TAMIS_CONVOLVE_KERNEL_H
#define TAMIS_CONVOLVE_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* A number of the kernel that is not zero. */
struct convolve_tap {
    int row, column;
    int32_t whole; /* integers: brought to a whole number */
    float f;       /* floats: divided by the divisor */
};

/* Two 16-bit taps beside each other, as they stand over columns 2i, 2i+1 of a source row for the
 * output in column 0, and for the one in column 1. */
struct convolve_pair {
    int row, column;
    int32_t even, odd;
};

struct convolve_coef {
    int w, h;      /* the window */
    int left, top; /* its columns and rows before the pixel */
    int count;
    const struct convolve_tap *taps; /* row by row */
    /* Integers: the level is floor((sum + add) / divisor). */
    int32_t add, divisor;
    int32_t total; /* the sum of the taps */
    int shift;     /* divisor = 2^shift; -1 = it is no power of two */
    float inverse; /* 1 / divisor, a little too great, or where inexact is set too small */
    int inexact;
    int narrow; /* u8: sums fit 16 bits and the divisor is a power of two */
    int pair_count;
    const struct convolve_pair *pairs;
    /* Floats. */
    float bias;
    const float *dense;        /* w * h taps, where none is zero; else NULL */
    const float *row, *column; /* where they are products of these; the column is divided */
};

/* Output rows that vector kernels make together. */
enum { CONVOLVE_ROWS = 4 };

/* Room in scratch beyond the samples of a row. */
#define CONVOLVE_SLACK 256

/* Plane p of a tile, as a tile of one plane. */
static inline tamis_tile convolve_plane(const tamis_tile *t, int p)
{
    tamis_tile one = *t;
    one.planes = 1;
    one.src[0] = t->src[p];
    one.dst[0] = t->dst[p];
    one.dst_stride[0] = t->dst_stride[p];
    return one;
}

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_convolve_u8)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_u16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_s16)(const tamis_tile *t, const void *coef, void *scratch);
#endif

#endif
