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

/* Four floats, rounded to levels. */
static __device__ __forceinline__ unsigned gaussian_levels(const float (&v)[4])
{
#ifdef TAMIS_EMULATE
    unsigned w = 0;
    for (int c = 0; c < 4; c++)
        w |= (unsigned)tamis_sample<uint8_t>::of(v[c]) << 8 * c;
    return w;
#else
    unsigned high, w; /* one instruction for two of them, with the conversion */
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
        : "=r"(high)
        : "r"(__float2int_rn(v[3])), "r"(__float2int_rn(v[2])));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(w)
        : "r"(__float2int_rn(v[1])), "r"(__float2int_rn(v[0])), "r"(high));
    return w;
#endif
}

/* Four samples of u8; the smoothed ones, in 1/128 level, are the higher halves of words. With the
 * bits of 65536 above them these are floats, of which all differences are exact. */
static __device__ __forceinline__ unsigned
gaussian_sharpened_levels(const gaussian_end &e, unsigned in, const unsigned (&smooth)[4])
{
    float v[4], d[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float bits = __uint_as_float(__byte_perm(in, 0x4b000000, 0x7440u + (unsigned)c));
        v[c] = __fsub_rn(bits, 8388608.f);
        d[c] = __fsub_rn(__fsub_rn(bits, 8388608.f - 65536.f),
                         __uint_as_float(__byte_perm(smooth[c], 0x4780, 0x5432)));
    }
    if (e.threshold != 0)
#pragma unroll
        for (int c = 0; c < 4; c++)
            d[c] = __fsub_rn(d[c], fminf(fmaxf(d[c], -e.threshold), e.threshold));
#pragma unroll
    for (int c = 0; c < 4; c++)
        v[c] = fmaf(e.amount, d[c], v[c]);
    return gaussian_levels(v);
}

/* u8, the smoothed sample in 1/128 level: less than the sample by so many levels. */
static __device__ __forceinline__ float gaussian_difference(int in, int smooth)
{
    return __fmul_rn((float)((in << GAUSSIAN_FRACTION) - smooth), 1.f / (1 << GAUSSIAN_FRACTION));
}

#endif
