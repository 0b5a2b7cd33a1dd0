/* SPDX-License-Identifier: Apache-2.0 */
/* Two binary16 numbers in a word, the first one in the lower bits. */
#ifndef TAMIS_BILATERAL_HALVES_CUH
#define TAMIS_BILATERAL_HALVES_CUH

#include "bilateral_device.cuh"
#include "halves.cuh"

namespace
{

static __device__ __forceinline__ float half_at(unsigned pair, int i)
{
#ifdef TAMIS_EMULATE
    return __half2float(__half{(unsigned short)(pair >> 16 * i)});
#else
    __half2 both = *(__half2 *)&pair;
    return i ? __high2float(both) : __low2float(both);
#endif
}

/* a * b + c */
static __device__ __forceinline__ unsigned fma_halves(unsigned a, unsigned b, unsigned c)
{
#ifdef TAMIS_EMULATE
    return emulate_fma_f16x2(a, b, c);
#else
    unsigned r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
#endif
}

static __device__ __forceinline__ unsigned add_halves(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return emulate_fma_f16x2(a, 0x3C003C00, b);
#else
    unsigned r;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#endif
}

static __device__ __forceinline__ unsigned subtract_halves(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return emulate_fma_f16x2(b, 0xBC00BC00, a);
#else
    unsigned r;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#endif
}

static __device__ __forceinline__ unsigned multiply_halves(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return emulate_fma_f16x2(a, b, 0x80008000);
#else
    unsigned r;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#endif
}

/* Of an instruction's operand, for nothing. */
static __device__ __forceinline__ unsigned minus_halves(unsigned a)
{
#ifdef TAMIS_EMULATE
    return a ^ 0x80008000;
#else
    unsigned r;
    asm("neg.f16x2 %0, %1;" : "=r"(r) : "r"(a));
    return r;
#endif
}

/* 2^v, within 2^-9.9. */
static __device__ __forceinline__ unsigned power_halves(unsigned v)
{
#ifdef TAMIS_EMULATE
    return tamis_halves(exp2f(half_at(v, 0)), exp2f(half_at(v, 1)));
#elif __CUDA_ARCH__ >= 750
    unsigned r;
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(r) : "r"(v));
    return r;
#else
    return tamis_halves(tamis_rough_exp2(half_at(v, 0)), tamis_rough_exp2(half_at(v, 1)));
#endif
}

} // namespace

#endif
