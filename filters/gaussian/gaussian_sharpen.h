/* SPDX-License-Identifier: Apache-2.0 */
/* How "unsharp" ends, for the vector kernels. To be included where kernels are compiled. */
#ifndef TAMIS_GAUSSIAN_SHARPEN_H
#define TAMIS_GAUSSIAN_SHARPEN_H

#include "gaussian_kernel.h"

#include "cpu/simd.h"

/* d: the sample less the smoothed one. */
TAMIS_INLINE tv_f32 sharpened(const struct gaussian_sharpen *s, tv_f32 in, tv_f32 d,
                              enum tv_sums sums)
{
    tv_f32 zero = {0}, limit = zero + s->threshold;
    tv_f32 small = tv_max_f32(tv_min_f32(d, limit), -limit); /* not NaN; d keeps that */
    return tv_fma_sum_f32(zero + s->amount, d - small, in, sums);
}

/* f32: there is a tolerance. */
TAMIS_INLINE tv_f32 sharpened_f32(const struct gaussian_sharpen *s, const float *in, tv_f32 smooth)
{
    tv_f32 v = tv_load_f32(in);
    return sharpened(s, v, v - smooth, TV_SUMS_ROUGH);
}

/* Integers, in their range but still to be rounded. */
TAMIS_INLINE tv_f32 sharpened_in_range(const struct gaussian_sharpen *s, tv_f32 in, tv_f32 d,
                                       float least, float most)
{
    tv_f32 zero = {0}, out = sharpened(s, in, d, TV_SUMS_NORMAL);
    return tv_max_f32(tv_min_f32(out, zero + most), zero + least);
}

/* The new level of u8, the smoothed sample being in 1/128 level. */
TAMIS_INLINE tv_s32 sharpened_level(const struct gaussian_sharpen *s, tv_s32 in, tv_s32 smooth)
{
    tv_s32 d = (in << GAUSSIAN_FRACTION) - smooth;
    tv_f32 levels = __builtin_convertvector(d, tv_f32) * (1.f / (1 << GAUSSIAN_FRACTION));
    return tv_round_f32(sharpened_in_range(s, __builtin_convertvector(in, tv_f32), levels, 0, 255));
}

#endif
