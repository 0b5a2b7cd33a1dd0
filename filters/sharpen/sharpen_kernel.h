/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARPEN_KERNEL_H
#define SHARPEN_KERNEL_H

/* The largest whole amount for which 8 bit fits 16-bit lanes: 255 (1 + 8 * 15) < 2^15. */
#define SHARPEN_WHOLE_MAX 15

typedef struct sharpen_coef {
    int corners; /* 1: 8 neighbors */
    float amount;
    int whole; /* amount, for the stage of whole numbers */
} sharpen_coef;

#endif
