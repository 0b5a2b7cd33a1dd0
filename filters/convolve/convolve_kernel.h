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

/* A column and a row of numbers, whose products are a kernel or a part of one. */
struct convolve_term {
    const float *column, *row; /* the column is divided by the divisor */
};

/* The same in whole numbers. */
struct convolve_product {
    const int32_t *column, *row;
    const struct convolve_pair *pairs; /* of the row */
    int pair_count;
    int narrow;     /* u8: sums of a column less middle fit 16 bits */
    int32_t middle; /* of the sums of a column */
    int32_t total;  /* the sum of the row */
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
    /* u8, where taps have 8 bits: words of four taps side by side, quad_count for each row of the
     * kernel; else NULL. */
    const int32_t *quads;
    int quad_count;
    struct convolve_product product; /* in its stage */
    /* Floats. */
    float bias;
    const float *dense; /* w * h taps, where none is zero; else NULL */
    int term_count;     /* 0 = the kernel is no sum of few products */
    const struct convolve_term *terms;
    int gaps; /* the kernel has zeros: those of terms are passed over */
};

/* Output rows that vector kernels make together. */
enum { CONVOLVE_ROWS = 4 };

/* Numbers of a kernel, columns times rows. */
enum { CONVOLVE_MOST = 1 << 20 };

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

/* A kernel while it is planned. */
struct convolve_wish {
    int w, h;
    const double *v; /* w * h numbers */
    double divisor, sum, bias;
};

tamis_status tamis_priv_convolve_no_memory(tamis_node *node);
/* convolve_coef.c: taps, and whole numbers where they, and all sums, fit; *out tells whether. */
tamis_status tamis_priv_convolve_taps(tamis_node *node, const struct convolve_wish *k,
                                      struct convolve_coef *c);
tamis_status tamis_priv_convolve_whole(tamis_node *node, const struct convolve_wish *k,
                                       struct convolve_coef *c, int *out);
/* Pairs of a kernel of w x h whole numbers. */
tamis_status tamis_priv_convolve_pairs(tamis_node *node, const int32_t *v, int w, int h,
                                       const struct convolve_pair **out, int *count);
/* convolve_factor.c: kernels as products of columns and rows, or sums of some, where that is less
 * work. Whole ones are taken apart in whole numbers or not at all; *out tells whether. */
tamis_status tamis_priv_convolve_terms(tamis_node *node, const struct convolve_wish *k,
                                       struct convolve_coef *c);
tamis_status tamis_priv_convolve_product(tamis_node *node, struct convolve_coef *c, int *out);

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_convolve_u8)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_u16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_s16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_product_u8)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_convolve_product_u16)(const tamis_tile *t, const void *coef,
                                               void *scratch);
void TAMIS_FN(tamis_priv_convolve_product_s16)(const tamis_tile *t, const void *coef,
                                               void *scratch);
/* One plane of samples; needs quads. */
void TAMIS_FN(tamis_priv_convolve_quads)(const tamis_tile *t, const struct convolve_coef *c,
                                         void *scratch);
#endif

#endif
