/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan of the median filter tells its kernels. */
#ifndef TAMIS_MEDIAN_KERNEL_H
#define TAMIS_MEDIAN_KERNEL_H

#include "cpu/kernel.h"

#define MEDIAN_MAX_SIDE 255

typedef struct median_coef {
    int w, h;  /* of the window, odd */
    int rank;  /* index of the result in the sorted window, 0 .. w * h - 1 */
    int sorts; /* whether there is a network for it */
    /* Of the strips that ranks are found in, the windows of the last column included; and rows of
     * outputs in the blocks that get levels of their own, 0 for u8. */
    int columns, block_h;
} median_coef;

/* Bytes of the histograms of such a strip. */
static inline size_t median_strip_bytes(const median_coef *k)
{
    return 272 * (size_t)k->columns;
}

/* Samples that a block takes in, and bytes of all that is kept of it. */
static inline size_t median_level_samples(const median_coef *k)
{
    return (size_t)k->columns * (size_t)(k->block_h + k->h);
}

static inline size_t median_levels_bytes(const median_coef *k)
{
    return median_strip_bytes(k) + median_level_samples(k) * (8 + 8 + 2 + 2 + 1) +
           (size_t)(k->block_h + k->h) * sizeof(void *) + 5 * (size_t)k->columns + 512;
}

/* Side of the largest square median that is done by a sorting network: 15 for u8, 13 else. */
#define MEDIAN_MAX_SORT 15

/* Bytes of a row in the strips that the networks for 5 x 5 go down in. */
#define MEDIAN_STRIP_5 512
/* Bytes of what networks keep: 64 * k vectors; for k = 5 25 vectors for each in a strip. */
#define MEDIAN_SORT_BYTES(k) ((k) == 5 ? 25 * MEDIAN_STRIP_5 : 64 * 64 * (size_t)(k))

/* The bits that stand for a NaN result, the same in every row. */
#define MEDIAN_NAN_BITS 0x7fc00000

/* Floats as integers that sort alike; its own inverse. A NaN gets some number or other. */
static inline int32_t median_key(int32_t bits)
{
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

#endif
