/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of box read. */
#ifndef TAMIS_BOX_KERNEL_H
#define TAMIS_BOX_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* How vector kernels sum windows. */
enum box_way {
    BOX_DIRECT, /* few columns, added one by one; for u8, windows whose sums fit 16 bits */
    BOX_PREFIX, /* other integers: sums with half of n fit 31 bits */
    BOX_HUGE,   /* or do not */
    BOX_PARTS   /* other floats */
};

struct box_coef {
    int w, h;             /* the window */
    int left, top;        /* its columns and rows before the pixel */
    int32_t out_w, out_h; /* size of the result, where floats of a wrapped tile begin anew */
    int32_t n;            /* w * h */
    enum box_way way;
    /* u8, BOX_DIRECT: (sum + n/2) * magic >> 16 >> shift is the level. */
    uint16_t magic;
    int shift;
    /* Else, but for BOX_HUGE: (sum + n/2) * inverse, truncated, is the level; where inexact is set
     * it is that or one less. */
    float inverse;
    int inexact;
    double inverse_64; /* 1 / n */
};

/* Windows of u8 up to this height have column sums of 16 bits. */
#define BOX_NARROW 128
/* Up to this one, differences of column sums of u8 pairs fit a signed 16-bit lane. */
#define BOX_LOW 64

/* f32: columns that are summed at a time. */
#define BOX_PART 640

/* Room in scratch beyond the sums of a row, in samples, that vector loops may read and write. */
#define BOX_SLACK 256

/* Plane p of a tile, as a tile of one plane. */
static inline tamis_tile box_plane(const tamis_tile *t, int p)
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
void TAMIS_FN(tamis_priv_box_f32)(const tamis_tile *t, const void *coef, void *scratch);
/* Returns 0, and does nothing, for windows that others are better at. */
int TAMIS_FN(tamis_priv_box_small)(const tamis_tile *t, const void *coef, tamis_type type);
#endif

#endif
