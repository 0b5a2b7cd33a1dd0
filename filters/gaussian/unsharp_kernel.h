/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNSHARP_KERNEL_H
#define UNSHARP_KERNEL_H

#include <math.h>
#include <string.h>

#include "cpu/kernel.h"
#include "gaussian_kernel.h"

/* For Gaussians on a grid; direct sums have gaussian_coef. */
typedef struct unsharp_coef {
    const void *gaussian; /* the coef of its f32 kernels */
    size_t (*gaussian_scratch)(const void *coef, int w, int h, int step);
    float amount, threshold;
} unsharp_coef;

/* The formula, for the references; d: the sample less the smoothed one. */
static inline float unsharp_sample(const struct gaussian_sharpen *s, float in, float d)
{
    float small = d > s->threshold ? s->threshold : d < -s->threshold ? -s->threshold : d;
    return fmaf(s->amount, d - small, in);
}

/* Samples from one row of the smoothed tile to the next. */
static inline size_t unsharp_stride(int w, int step)
{
    return ((size_t)w * (size_t)step + 15) / 16 * 16;
}

/* Smooths the tile by the matching row of a table of the Gaussian's kernels, into the scratch,
 * where the smoothed tile is at the start. */
static inline const float *unsharp_smooth(const tamis_tile *t, const unsharp_coef *k,
                                          const tamis_kernel *gaussian, void *scratch)
{
    float *smooth = (float *)scratch;
    size_t stride = unsharp_stride(t->w, t->step);
    tamis_tile inner = *t;
    inner.dst[0] = smooth;
    inner.dst_stride[0] = (ptrdiff_t)(stride * sizeof(float));
    while (gaussian->type != TAMIS_F32 || strcmp(gaussian->stage, "grid") != 0)
        gaussian++;
    gaussian->fn(&inner, k->gaussian, smooth + stride * (size_t)t->h);
    return smooth;
}

#endif
