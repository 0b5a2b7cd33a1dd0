/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of rows for threads that march down one plane, borders included. Where columns come from
 * is found once for all rows, so that their loads do not wait for each other. */
#ifndef TAMIS_CONVOLVE_COLUMNS_CUH
#define TAMIS_CONVOLVE_COLUMNS_CUH

#include "kernel.cuh"

enum { MARCH_THREADS = 128, MARCH_SAMPLES = 16 };

/* COUNT samples from sample i on. */
template <typename T, int COUNT> struct march_columns {
    const tamis_input<T> &in;
    int i;
    bool together; /* all are in memory and may be loaded at once */
    int *from;     /* else: what stands for each, -1: the border's value; MARCH_THREADS apart */

    __device__ __forceinline__ march_columns(const tamis_input<T> &input, int first, bool aligned,
                                             int (*room)[MARCH_THREADS])
        : in(input), i(first), from(&room[0][threadIdx.x])
    {
        static_assert(COUNT <= MARCH_SAMPLES, "");
        together = aligned && i >= in.left && i + COUNT <= in.right + 1;
        if (together)
            return;
#pragma unroll 1
        for (int n = 0; n < COUNT; n++) {
            int u = tamis_index(in.border, i + n, in.w);
            from[n * MARCH_THREADS] = u < 0 ? -1 : min(max(u, in.left), in.right);
        }
    }

    /* The row of the image that stands for row y; below 0: the border's value. */
    __device__ __forceinline__ int row_of(int y) const
    {
        int v = tamis_index(in.border, y, in.h);
        return v < 0 ? v : min(max(v, in.top), in.bottom);
    }

    /* One of a row from row_of(); only where they may not be loaded together, or in no row. */
    __device__ __forceinline__ T get(int row, int n) const
    {
        int at = row < 0 ? -1 : from[n * MARCH_THREADS];
        return at < 0 ? (T)in.outside[0] : in.row(row)[at];
    }
};

#endif
