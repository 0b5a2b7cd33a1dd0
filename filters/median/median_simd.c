/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the median filter's vector rows. */
#include "median_simd.h"

const tamis_kernel TAMIS_FN(median_kernels)[] = {
    {"sort", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_median_sort_u8), 0},
    {"sort", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_median_sort_u16), 0},
    {"sort", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_median_sort_s16), 0},
    {"sort", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_median_sort_f32), 0},
    {"rank", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_median_rank_u8), 0},
    {"rank", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_median_rank_u16), 0},
    {"rank", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_median_rank_s16), 0},
    {"rank", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_median_rank_f32), 0},
    {NULL},
};
