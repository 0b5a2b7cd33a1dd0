/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the bilateral filter need, made once by its plan function. */
#ifndef TAMIS_BILATERAL_KERNEL_H
#define TAMIS_BILATERAL_KERNEL_H

#include "cpu/kernel.h"

/* Four places of a window that a quarter turn maps onto each other, so that all have the same
 * spatial weight. */
typedef struct bilateral_quad {
    int16_t dx[4], dy[4];
    int32_t table;     /* where its table starts in bilateral_coef.tables */
    uint16_t exponent; /* its spatial weight for bilateral_squares */
} bilateral_quad;

/* Bytes of one table: the high, then the low bytes of 16-bit weights of D = 0 .. 255. */
#define BILATERAL_TABLE 512
/* Taps, center included, with which sums of 16-bit weights times samples fit 32 bits and the error
 * of rounding weights to 16 bits is below half a level, whatever the picture. */
#define BILATERAL_TABLE_TAPS 255
/* The weight of the center in tables. */
#define BILATERAL_TABLE_ONE 65535

/* Which D have weights in tables other than 0. */
typedef enum bilateral_reach {
    BILATERAL_REACH_HALF, /* those below 128 */
    BILATERAL_REACH_TAIL, /* all, but from 128 on only the low bytes */
    BILATERAL_REACH_FULL
} bilateral_reach;

/* Weights of squared distances D^2 in 16 bits: 65536 / 2^(t / 2048), where t is
 * (min(D^2, limit) << shift) * factor / 65536 + the quad's exponent. What has D^2 >= limit has no
 * weight. */
typedef struct bilateral_squares {
    uint16_t shift, limit, factor;
    /* 65535 / 2^(i / 64) for i = 0 .. 63, then 65536 / 2^(i / 2048), at most 65535, for 0 .. 31. */
    const uint16_t *powers; /* NULL where squares do not apply */
} bilateral_squares;

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

    /* Vector rows: weight = 2^(log2_space - D^2 log2_range); see bilateral_log2_space(). */
    const float *log2_space;
    float log2_range;

    int float_planes; /* that vector rows make in scratch */

    /* 8 bit with weights of 16 bits; NULL where they do not apply. */
    const bilateral_quad *quads;
    int quad_count;
    const uint8_t *tables;
    bilateral_reach reach;
    bilateral_squares squares; /* for Euclidean distances of several planes */
} bilateral_coef;

/* The spatial weights of row dy, indexed by dx. */
static inline const float *bilateral_log2_space(const bilateral_coef *k, int dy)
{
    return k->log2_space + (dy < 0 ? -dy : dy) * (2 * k->rx + 1) + k->rx;
}

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

/* Scratch of the rows that use tables: copies of the planes' rows, and the weights of one block of
 * 64 samples for each quad. */
#define BILATERAL_QUAD_WEIGHTS 512

static inline size_t bilateral_row_bytes(const bilateral_coef *k, int w, int step)
{
    return (((size_t)w + 2 * (size_t)k->rx) * (size_t)step + 128 + 63) / 64 * 64;
}

#endif
