/* SPDX-License-Identifier: Apache-2.0 */
/* From a convolution's sums to samples, on devices. */
#ifndef TAMIS_CONVOLVE_FINISH_CUH
#define TAMIS_CONVOLVE_FINISH_CUH

#include "kernel.cuh"

struct finish_args {
    bool whole; /* numbers, be their sums floats or not */
    int32_t divisor;
    int shift;
    float inverse;
    int32_t offset;
    float bias; /* others */
};

template <typename T, typename S> struct finish;
template <typename T> struct finish<T, int> {
    static __device__ __forceinline__ T of(const finish_args &f, int sum)
    {
        if (f.shift >= 0)
            return tamis_sample<T>::of_int((sum >> f.shift) - f.offset);
        /* One off at most where the level is not clipped anyway. */
        int level = __float2int_rd((float)sum * f.inverse);
        int64_t rest = sum - (int64_t)level * f.divisor;
        level += (rest >= f.divisor) - (rest < 0);
        return tamis_sample<T>::of_int(level - f.offset);
    }
};
template <typename T> struct finish<T, float> {
    static __device__ __forceinline__ T of(const finish_args &f, float sum)
    {
        if (f.whole)
            return finish<T, int>::of(f, __float2int_rz(sum));
        return tamis_sample<T>::of(f.bias != 0 ? sum + f.bias : sum);
    }
};

#endif
