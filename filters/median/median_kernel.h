/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan of the median filter tells its kernels. */
#ifndef TAMIS_MEDIAN_KERNEL_H
#define TAMIS_MEDIAN_KERNEL_H

#include "cpu/kernel.h"

#define MEDIAN_MAX_SIDE 255

typedef struct median_coef {
    int w, h; /* of the window, odd */
    int rank; /* index of the result in the sorted window, 0 .. w * h - 1 */
} median_coef;

/* Side of the largest square median that is done by a sorting network. */
#define MEDIAN_MAX_SORT 15

/* Networks keep sorted columns and what is merged from them in rows of this many bytes; a row
 * holds a chunk of the tile and the columns that windows at its end need. */
#define MEDIAN_CHUNK(k) ((k) <= 7 ? 1024 : 512)
#define MEDIAN_PITCH(k) (MEDIAN_CHUNK(k) + ((k)-1) * TAMIS_MAX_CHANNELS * 4 + 2 * 64)
/* Columns merged into a group on the way to a half, and into a half of the window. */
#define MEDIAN_GROUP(k) ((k) < 9 ? 1 : (k) < 13 ? 2 : 3)
#define MEDIAN_HALF(k)  (((k)-1) / 2)
/* Rows of that size: columns, groups and halves of the k - 1 rows that two windows share and of
 * the two rows that they do not. */
#define MEDIAN_LISTS(k) (((k) + 1) * (1 + MEDIAN_GROUP(k) + MEDIAN_HALF(k)))

/* The bits that stand for a NaN result, the same in every row. */
#define MEDIAN_NAN_BITS 0x7fc00000

/* Floats as integers that sort alike; its own inverse. A NaN gets some number or other. */
static inline int32_t median_key(int32_t bits)
{
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

#endif
