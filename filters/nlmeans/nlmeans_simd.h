/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the vector rows of non-local means. */
#ifndef TAMIS_NLMEANS_SIMD_H
#define TAMIS_NLMEANS_SIMD_H

#include "cpu/simd_f32.h"
#include "nlmeans_kernel.h"

/* The planes from first on that share a weight, of 8 bit, in 16-bit integers; where coef->levels
 * applies. */
void TAMIS_FN(nlmeans_levels)(const tamis_tile *tile, const nlmeans_coef *coef, void *scratch,
                              int first);

/* Planes of floats whose columns are dealt to the lanes of a vector in runs: vector i of a row has
 * column i of every run. */
typedef struct nlmeans_view {
    const tv_f32 *planes[TAMIS_MAX_CHANNELS + 1]; /* row 0, column 0 of each run */
    int count;
} nlmeans_view;

/* The planes of a tile that share a weight, and memory. A run has the columns of the tile and as
 * many more to each side as the search window reaches. */
typedef struct nlmeans_field {
    const nlmeans_coef *coef;
    const tamis_tile *tile;
    int h, run;
    int finite;            /* no sample is so large that a weight or a difference overflows */
    ptrdiff_t row;         /* vectors in a row of samples */
    nlmeans_view distance; /* what d2 is made from */
    nlmeans_view values;   /* what is averaged */
    /* The same of the frame that is searched: of this one, or another. */
    nlmeans_view other_distance, other_values;

    /* Of column i of row y, at [(y * run + i) * (values + 1)]: sums of w * difference for each
     * plane, then of w; of all offsets, and of those not yet added to these, lest long sums lose
     * precision. */
    tv_f32 *totals, *sums;
    tv_f32 *kept[NLMEANS_TOGETHER];    /* as many rows as the patch is high */
    tv_f32 *weights[NLMEANS_TOGETHER]; /* one row each, with the search window's margin */
    tv_f32 *squares;                   /* one row, longer by the patch */
} nlmeans_field;

/* Adds to the totals what the offsets of the search window contribute. */
void TAMIS_FN(nlmeans_search)(const nlmeans_field *field, int same_frame);

#endif
