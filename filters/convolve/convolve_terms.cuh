/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution by one or more products of a column and a row: columns first, whose sums the block
 * shares, then rows. */
#ifndef TAMIS_CONVOLVE_TERMS_CUH
#define TAMIS_CONVOLVE_TERMS_CUH

#include "convolve_window.cuh"

enum { STRIP_THREADS = 128, STRIP = P * STRIP_THREADS, SUMS = 2 * STRIP };

template <typename T, typename S> struct terms_args {
    tamis_inputs<T> in;
    tamis_output out;
    finish_args finish;
    const S *columns, *rows; /* of all terms, kernel_h and kernel_w numbers each */
    int terms, kernel_w, kernel_h;
    bool gaps;
    S start, row_start; /* of sums of a column, and of all */
    int shift_x, shift_y, first, tiles_x;
    int chunk; /* columns of the kernel that are done together */
    bool aligned;
};

/* Four samples of a row, wherever they are. */
template <typename T, typename S>
static __device__ __forceinline__ quad<S> load(const tamis_input<T> &in, int i, int y, bool inside,
                                               bool aligned)
{
    quad<S> q;
    T v[4];
    if (inside && aligned) {
        tamis_vector_load<T>((const char *)(in.row(y) + i), 0, v);
    } else if (inside) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = in.row(y)[i + k];
    } else {
        for (int k = 0; k < 4; k++)
            v[k] = in.sample(i + k, y);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        q.v[k] = (S)v[k];
    return q;
}

/* Sums of four columns for Q rows from y on. */
template <typename T, typename S>
static __device__ __forceinline__ void sum_columns(const terms_args<T, S> &a,
                                                   const tamis_input<T> &in, const S *column, int i,
                                                   int y, quad<S> (&sum)[Q])
{
    bool inside = i >= 0 && (int64_t)i + 4 <= (int64_t)in.w * in.pitch && y >= 0 &&
                  y + a.kernel_h + Q - 1 <= in.h;
    bool aligned = a.aligned && i % 4 == 0;
    S taps[Q] = {};
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[q].v[k] = a.start;
    for (int j = 0; j < a.kernel_h + Q - 1; j++) {
        const quad<S> v = load<T, S>(in, i, y + j, inside, aligned);
        bool edge = a.gaps || j < Q - 1 || j >= a.kernel_h;
#pragma unroll
        for (int q = Q - 1; q > 0; q--)
            taps[q] = taps[q - 1];
        taps[0] = j < a.kernel_h ? __ldg(column + j) : 0;
#pragma unroll
        for (int q = 0; q < Q; q++) {
            if (edge && (j - q < 0 || j - q >= a.kernel_h || (a.gaps && taps[q] == 0)))
                continue;
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum[q].v[k] = add_product(taps[q], v.v[k], sum[q].v[k]);
        }
    }
}

template <typename S, int STEP>
static __device__ __forceinline__ void add_row(S (&sum)[P], const S *line, const S *row, int count,
                                               bool gaps)
{
    window<S, STEP> w;
    w.begin(line);
    for (int i = 0; i < count; i += 4) {
        w.extend();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (i + k >= count)
                break;
            S tap = row[i + k];
            if (gaps && tap == 0)
                continue;
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[p] = add_product(tap, w.v[p + k * STEP], sum[p]);
        }
        w.advance();
    }
}

template <typename T, typename S, int STEP>
__global__ void __launch_bounds__(STRIP_THREADS) terms(terms_args<T, S> a)
{
    __shared__ __align__(16) S sums[Q][SUMS + 4 * STEP + 4];
    __shared__ S row[SUMS - STRIP];
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int x = a.first + (int)(blockIdx.x % (unsigned)a.tiles_x) * STRIP;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x) * Q;
    S sum[Q][P];
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
        for (int p = 0; p < P; p++)
            sum[q][p] = a.row_start;
    for (int t = 0; t < a.terms; t++) {
        for (int i = 0; i < a.kernel_w; i += a.chunk) {
            int count = min(a.chunk, a.kernel_w - i);
            int left = (x + a.shift_x + i * STEP) & 3; /* so that loads are aligned */
            int from = x + a.shift_x + i * STEP - left;
            for (int c = threadIdx.x * 4; c < STRIP + (count - 1) * STEP + left;
                 c += STRIP_THREADS * 4) {
                quad<S> mine[Q];
                sum_columns<T, S>(a, in, a.columns + (int64_t)t * a.kernel_h, from + c,
                                  y + a.shift_y, mine);
#pragma unroll
                for (int q = 0; q < Q; q++)
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        if (c + k >= left)
                            sums[q][c + k - left] = mine[q].v[k];
            }
            for (int k = threadIdx.x; k < count; k += STRIP_THREADS)
                row[k] = a.rows[(int64_t)t * a.kernel_w + i + k];
            __syncthreads();
#pragma unroll
            for (int q = 0; q < Q; q++)
                add_row<S, STEP>(sum[q], &sums[q][threadIdx.x * P], row, count, a.gaps);
            __syncthreads();
        }
    }
    store<T, S>(a.out, STEP, x + threadIdx.x * P, y, a.aligned, a.finish, sum);
}

#endif
