/* SPDX-License-Identifier: Apache-2.0 */
/* The vector rows of the median filter. */
#ifndef TAMIS_MEDIAN_SIMD_H
#define TAMIS_MEDIAN_SIMD_H

#include "cpu/simd.h"

#include "median_kernel.h"

/* Square medians up to MEDIAN_MAX_SORT by sorting networks. */
void TAMIS_FN(tamis_priv_median_sort_u8)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_sort_u16)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_sort_s16)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_sort_f32)(const tamis_tile *tile, const void *coef, void *scratch);

/* The same where all samples of the tile and its halo are plain, that is, neither negative nor NaN.
 * Else it returns 0, and has written anything. */
int TAMIS_FN(tamis_priv_median_plain)(const tamis_tile *tile, const void *coef, void *scratch);

/* Any rank of any window, on planes. */
void TAMIS_FN(tamis_priv_median_rank_u8)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_rank_u16)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_rank_s16)(const tamis_tile *tile, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_median_rank_f32)(const tamis_tile *tile, const void *coef, void *scratch);

#endif
