/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the bilateral filter need, made once by its plan function. */
#ifndef TAMIS_BILATERAL_KERNEL_H
#define TAMIS_BILATERAL_KERNEL_H

#include "cpu/kernel.h"

typedef struct bilateral_coef {
    int rx, ry;      /* radius of the window */
    const int *half; /* row dy of the window has the columns -half[|dy|] .. half[|dy|] */
    int colors;      /* the planes that make up a pixel's color; each further one is alone */
    int planes;      /* that a tile may have */
    int guided;      /* D comes from the guide */
    int l1;          /* D is the sum of absolute differences, else Euclidean */
    int alpha;       /* luma: plane 3 is the alpha by which planes 0 .. 2 are multiplied */

    /* The reference: spatial weights at [|dy| * (rx + 1) + |dx|], and 1 / (2 sigma_color^2). */
    const double *space;
    double range;

    /* Vector rows: the same as powers of two, weight = 2^(log2_space - D^2 log2_range). */
    const float *log2_space;
    float log2_range;

    int float_planes; /* that vector rows make in scratch */
} bilateral_coef;

/* Scratch of vector rows: for each of float_planes planes the addresses of its rows, then the rows
 * with their margins, as floats. Loads and stores of whole vectors may run over a row's end. */
static inline size_t bilateral_row_floats(const bilateral_coef *k, int w, int step)
{
    return (((size_t)w + 2 * (size_t)k->rx) * (size_t)step + 64 + 15) / 16 * 16;
}

static inline size_t bilateral_rows(const bilateral_coef *k, int h)
{
    return (size_t)h + 2 * (size_t)k->ry;
}

/* Bytes of the addresses of all planes' rows; a multiple of 64. */
static inline size_t bilateral_address_bytes(const bilateral_coef *k, int h)
{
    return (bilateral_rows(k, h) * (size_t)k->float_planes * sizeof(void *) + 63) / 64 * 64;
}

#endif
