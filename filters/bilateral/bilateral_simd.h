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

#if defined(TAMIS_AVX512)
/* Color modes joint and separate for 8 bit where coef has quads. */
void TAMIS_FN(bilateral_quads)(const tamis_tile *tile, const bilateral_coef *coef, void *scratch);
#endif

#endif
