/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the vector rows of the bilateral filter. */
#ifndef TAMIS_BILATERAL_SIMD_H
#define TAMIS_BILATERAL_SIMD_H

#include "bilateral_kernel.h"
#include "cpu/simd.h"

/* Planes whose sample i of row y is at rows[p][y] + i samples. */
typedef struct bilateral_view {
    const void *const *rows[TAMIS_MAX_CHANNELS];
    int count;
} bilateral_view;

#endif
