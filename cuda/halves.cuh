/* SPDX-License-Identifier: Apache-2.0 */
/* binary16 by its bits, and two of them in a word, the first one in the lower bits. */
#ifndef TAMIS_CUDA_HALVES_CUH
#define TAMIS_CUDA_HALVES_CUH

#include "platform.cuh"

static __host__ __device__ __forceinline__ unsigned tamis_half_bits(float v)
{
#ifdef TAMIS_EMULATE
    return __float2half_rn(v).bits;
#else
    return __half_as_ushort(__float2half_rn(v));
#endif
}

static __device__ __forceinline__ unsigned tamis_halves(float first, float second)
{
#ifdef TAMIS_EMULATE
    return tamis_half_bits(first) | tamis_half_bits(second) << 16;
#else
    __half2 both = __floats2half2_rn(first, second);
    return *(unsigned *)&both;
#endif
}

#endif
