/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the vector rows of non-local means. */
#ifndef TAMIS_NLMEANS_SIMD_H
#define TAMIS_NLMEANS_SIMD_H

#include "cpu/simd.h"
#include "nlmeans_kernel.h"

/* The planes from first on that share a weight, of 8 bit, in 16-bit integers; where coef->levels
 * applies. */
void TAMIS_FN(nlmeans_levels)(const tamis_tile *tile, const nlmeans_coef *coef, void *scratch,
                              int first);

#endif
