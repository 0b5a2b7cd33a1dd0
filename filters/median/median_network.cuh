/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of minima and maxima for square medians on a device: the method of median_network.h,
 * whose comment explains it, written as templates, so that all elements stay in registers and what
 * nothing uses goes away. */
#ifndef TAMIS_MEDIAN_NETWORK_CUH
#define TAMIS_MEDIAN_NETWORK_CUH

#include <type_traits>

#include "kernel.cuh"

/* What an element of a list is. Two lists of 16-bit numbers side by side: */
struct pairs {
    typedef unsigned value;
    enum { LANES = 2 };
    static __device__ __forceinline__ unsigned least(unsigned a, unsigned b)
    {
        return __vminu2(a, b);
    }
    static __device__ __forceinline__ unsigned greatest(unsigned a, unsigned b)
    {
        return __vmaxu2(a, b);
    }
};

/* One of 32-bit numbers: */
struct singles {
    typedef int value;
    enum { LANES = 1 };
    static __device__ __forceinline__ int least(int a, int b)
    {
        return min(a, b);
    }
    static __device__ __forceinline__ int greatest(int a, int b)
    {
        return max(a, b);
    }
};

template <typename P>
static __device__ __forceinline__ void order(typename P::value &a, typename P::value &b)
{
    typename P::value low = P::least(a, b);
    b = P::greatest(a, b);
    a = low;
}

template <typename P, int N>
static __device__ __forceinline__ void copy(typename P::value *to, const typename P::value *from)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = from[i];
}

/* One stage of a merge of N elements, of which element 0 stands at position FIRST in a network of
 * a power of two. */
template <typename P, int N, int FIRST, int DISTANCE>
static __device__ __forceinline__ void merge_stages(typename P::value *v)
{
#pragma unroll
    for (int i = 0; i + DISTANCE < N; i++)
        if ((i + FIRST) / DISTANCE % 2)
            order<P>(v[i], v[i + DISTANCE]);
    if constexpr (DISTANCE > 1)
        merge_stages<P, N, FIRST, DISTANCE / 2>(v);
}

/* The least power of two that is not less than n. */
static __host__ __device__ constexpr int power_above(int n)
{
    return n <= 1 ? 1 : 2 * power_above((n + 1) / 2);
}

/* Merges the sorted lists v[0 .. NA-1] and v[NA .. NA+NB-1] in place. */
template <typename P, int NA, int NB>
static __device__ __forceinline__ void merge(typename P::value *v)
{
    constexpr int n = NA + NB, p = power_above(NA > NB ? NA : NB);
#pragma unroll
    for (int i = 0; i < NA; i++)
        if (i + p < n)
            order<P>(v[i], v[i + p]);
    if constexpr (p > 1)
        merge_stages<P, n, p - NA, p / 2>(v);
}

template <typename P, int N, int RUN, int FIRST>
static __device__ __forceinline__ void sort_runs(typename P::value *v)
{
    if constexpr (FIRST + RUN < N) {
        merge<P, RUN, (N - FIRST - RUN < RUN ? N - FIRST - RUN : RUN)>(v + FIRST);
        sort_runs<P, N, RUN, FIRST + 2 * RUN>(v);
    }
}

template <typename P, int N, int RUN = 1>
static __device__ __forceinline__ void sort(typename P::value *v)
{
    if constexpr (RUN < N) {
        sort_runs<P, N, RUN, 0>(v);
        sort<P, N, 2 * RUN>(v);
    }
}

/* Parts of windows of K x K: of m sorted samples elements low .. high can be the median. */
template <int K> struct ranks {
    static constexpr int rank = K * K / 2;
    static __host__ __device__ constexpr int low(int m)
    {
        return m - 1 > rank ? m - 1 - rank : 0;
    }
    static __host__ __device__ constexpr int high(int m)
    {
        return m - 1 > rank ? rank : m - 1;
    }
    static __host__ __device__ constexpr int kept(int m)
    {
        return high(m) - low(m) + 1;
    }
};

/* Merges the part of A rows in v with the part of B rows that lies behind it; what is kept of both
 * then begins at v. */
template <typename P, int K, int A, int B>
static __device__ __forceinline__ void combine(typename P::value *v)
{
    typedef ranks<K> r;
    constexpr int a = A * K, b = B * K, first = r::low(a + b) - r::low(a) - r::low(b);
    merge<P, r::kept(a), r::kept(b)>(v);
    if constexpr (first > 0)
        copy<P, r::kept(a + b)>(v, v + first);
}

/* The median of a core's K + 1 and a row's K samples. */
template <typename P, int K>
static __device__ __forceinline__ typename P::value median_of(const typename P::value *core,
                                                              const typename P::value *row)
{
    typename P::value median = core[K];
#pragma unroll
    for (int i = 0; i < K; i++)
        median = P::least(median, P::greatest(core[i], row[K - 1 - i]));
    return median;
}

#endif
