/* SPDX-License-Identifier: Apache-2.0 */
/* Four neighboring outputs and the samples under their windows, in registers, and where such
 * outputs go. Channels that lie side by side are one row of samples, whose taps stand STEP samples
 * apart. */
#ifndef TAMIS_CONVOLVE_WINDOW_CUH
#define TAMIS_CONVOLVE_WINDOW_CUH

#include <math.h>

#include "pixels.cuh"

#include "convolve_finish.cuh"

/* Outputs of a thread beside each other, and rows of them. */
enum { P = 4, Q = 4 };

static __device__ __forceinline__ int add_product(int a, int b, int sum)
{
    return a * b + sum;
}

static __device__ __forceinline__ float add_product(float a, float b, float sum)
{
    return fmaf(a, b, sum);
}

/* In which numbers sums are. */
template <typename S> struct numbers;
template <> struct numbers<int> {
    enum { WHOLE = 1 };
};
template <> struct numbers<float> {
    enum { WHOLE = 0 };
};

/* Four numbers that are loaded at once. */
template <typename S> struct __align__(16) quad
{
    S v[4];
};

static __device__ __forceinline__ quad<float> quad_of(const float *p)
{
    float4 q = *(const float4 *)p;
    return quad<float>{{q.x, q.y, q.z, q.w}};
}

static __device__ __forceinline__ quad<int> quad_of(const int *p)
{
    int4 q = *(const int4 *)p;
    return quad<int>{{q.x, q.y, q.z, q.w}};
}

/* Samples of a line in shared memory that four taps' products with P outputs take. */
template <typename S, int STEP> struct window {
    S v[P + 4 * STEP];
    const S *next;

    __device__ __forceinline__ void put(int i)
    {
        const quad<S> q = quad_of(next);
        next += 4;
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[i + k] = q.v[k];
    }
    __device__ __forceinline__ void begin(const S *line)
    {
        next = line;
        put(0);
    }
    /* Brings what four more taps need. */
    __device__ __forceinline__ void extend()
    {
#pragma unroll
        for (int s = 0; s < STEP; s++)
            put(P + 4 * s);
    }
    __device__ __forceinline__ void advance()
    {
#pragma unroll
        for (int k = 0; k < P; k++)
            v[k] = v[k + 4 * STEP];
    }
};

template <typename T, typename S>
static __device__ __forceinline__ void store(const tamis_output &out, int step, int x, int y,
                                             bool aligned, const finish_args &f, S (&sum)[Q][P])
{
    int begin = out.x * step, end = (out.x + out.w) * step;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        if (y + q >= out.y + out.h)
            continue;
        T *row = tamis_row<T>(out, blockIdx.y, y + q) + x;
        T v[P];
#pragma unroll
        for (int p = 0; p < P; p++)
            v[p] = finish<T, S>::of(f, sum[q][p]);
        if (aligned && x >= begin && x + P <= end) {
            tamis_vector_store<T>((char *)row, 0, v);
            continue;
        }
#pragma unroll
        for (int p = 0; p < P; p++)
            if (x + p >= begin && x + p < end)
                row[p] = v[p];
    }
}

#endif
