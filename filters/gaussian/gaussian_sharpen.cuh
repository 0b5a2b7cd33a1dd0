/* SPDX-License-Identifier: Apache-2.0 */
/* How "unsharp" ends, for the Gaussian's kernels of direct sums. */
#ifndef TAMIS_GAUSSIAN_SHARPEN_CUH
#define TAMIS_GAUSSIAN_SHARPEN_CUH

#include "gaussian_kernel.h"
#include "kernel.cuh"

/* As a part of a launch's constants. */
struct gaussian_end {
    bool sharpens; /* false: the smoothed samples are the result */
    float amount, threshold;
};

static inline gaussian_end gaussian_end_of(const struct gaussian_coef *c)
{
    return c->sharpen ? gaussian_end{true, c->sharpen->amount, c->sharpen->threshold}
                      : gaussian_end{false, 0, 0};
}

/* d: the sample less the smoothed one. */
static __device__ __forceinline__ float gaussian_sharpened(const gaussian_end &e, float in, float d)
{
    float small = d > e.threshold ? e.threshold : d < -e.threshold ? -e.threshold : d;
    return fmaf(e.amount, d - small, in);
}

/* u8, the smoothed sample in 1/128 level: less than the sample by so many levels. */
static __device__ __forceinline__ float gaussian_difference(int in, int smooth)
{
    return __fmul_rn((float)((in << GAUSSIAN_FRACTION) - smooth), 1.f / (1 << GAUSSIAN_FRACTION));
}

#endif
