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

/* The bits that stand for a NaN result, the same in every row. */
#define MEDIAN_NAN_BITS 0x7fc00000

/* Floats as integers that sort alike; its own inverse. A NaN gets some number or other. */
static inline int32_t median_key(int32_t bits)
{
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

#endif
