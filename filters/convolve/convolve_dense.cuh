/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution number by number: a thread has groups of four neighboring samples of four rows. */
#ifndef TAMIS_CONVOLVE_DENSE_CUH
#define TAMIS_CONVOLVE_DENSE_CUH

#include "convolve_window.cuh"

/* Groups of a thread; threads of a block; its tile; bytes of shared memory it may take. */
enum { GROUPS = 2, ACROSS = 32, DOWN = 8, THREADS = ACROSS * DOWN };
enum { GROUP_W = P * ACROSS, TILE_W = GROUPS * GROUP_W, TILE_H = Q * DOWN };
enum { SHARED = 46 * 1024 };

template <typename T, typename S> struct dense_args {
    tamis_inputs<T> in;
    tamis_output out;
    finish_args finish;
    /* For each source row from the first that Q output rows read, kernel_h + Q - 1 of them, and
     * each column of the kernel: the taps over it for those rows, 0 where there is none. */
    const quad<S> *taps;
    int kernel_w, kernel_h;
    bool gaps; /* taps of 0 are to be passed over */
    S start;
    int shift_x, shift_y; /* from an output to the first sample of its window, in samples, rows */
    int first, tiles_x;   /* the first tile's first sample; tiles beside each other */
    int columns, rows;    /* of the kernel and of the source that are done together */
    int tile_pitch;
    bool aligned;
};

/* One tap of each of the rows FROM .. TO, that over sample k * STEP of the windows; with CHECK,
 * those of 0 are passed over. */
template <typename S, int STEP, int FROM, int TO, bool CHECK>
static __device__ __forceinline__ void
add_taps(S (&sum)[GROUPS][Q][P], const window<S, STEP> (&w)[GROUPS], const quad<S> *taps, int k)
{
    const quad<S> tap = quad_of(taps->v);
#pragma unroll
    for (int q = FROM; q <= TO; q++) {
        if (CHECK && tap.v[q] == 0)
            continue;
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[g][q][p] = add_product(tap.v[q], w[g].v[p + k * STEP], sum[g][q][p]);
    }
}

/* A source row with all taps over it. */
template <typename S, int STEP, int FROM, int TO, bool CHECK = false>
static __device__ __forceinline__ void add_line(S (&sum)[GROUPS][Q][P], const S *line,
                                                const quad<S> *taps, int columns)
{
    window<S, STEP> w[GROUPS];
    int i = 0;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        w[g].begin(line + g * GROUP_W);
#pragma unroll(FROM == 0 && TO == Q - 1 && !CHECK ? 2 : 1)
    for (; i + 4 <= columns; i += 4) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            w[g].extend();
#pragma unroll
        for (int k = 0; k < 4; k++)
            add_taps<S, STEP, FROM, TO, CHECK>(sum, w, taps + i + k, k);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            w[g].advance();
    }
    if (i == columns)
        return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        w[g].extend();
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (i + k < columns)
            add_taps<S, STEP, FROM, TO, CHECK>(sum, w, taps + i + k, k);
}

/* The source row `row` of those that Q rows of outputs read: the kernel's row row - q lies over it
 * for output row q. Where that is no row of the kernel, its taps are 0. */
template <typename S, int STEP>
static __device__ __forceinline__ void add_row_of(S (&sum)[GROUPS][Q][P], const S *line,
                                                  const quad<S> *taps, int columns, int row, int h,
                                                  bool gaps)
{
    if (numbers<S>::WHOLE)
        add_line<S, STEP, 0, 3>(sum, line, taps, columns); /* times 0 is as well */
    else if (gaps || h < Q - 1)
        add_line<S, STEP, 0, 3, true>(sum, line, taps, columns);
    else if (row >= Q - 1 && row < h)
        add_line<S, STEP, 0, 3>(sum, line, taps, columns);
    else if (row == 0)
        add_line<S, STEP, 0, 0>(sum, line, taps, columns);
    else if (row == 1)
        add_line<S, STEP, 0, 1>(sum, line, taps, columns);
    else if (row == 2)
        add_line<S, STEP, 0, 2>(sum, line, taps, columns);
    else if (row == h)
        add_line<S, STEP, 1, 3>(sum, line, taps, columns);
    else if (row == h + 1)
        add_line<S, STEP, 2, 3>(sum, line, taps, columns);
    else
        add_line<S, STEP, 3, 3>(sum, line, taps, columns);
}

template <typename T, typename S, int STEP>
__global__ void __launch_bounds__(THREADS) dense(dense_args<T, S> a)
{
    TAMIS_SHARED_BYTES(shared);
    quad<S> *taps = (quad<S> *)shared;
    S *tile = (S *)(taps + a.rows * a.columns);
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    int x = a.first + (int)(blockIdx.x % (unsigned)a.tiles_x) * TILE_W;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x) * TILE_H;
    S sum[GROUPS][Q][P];
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
        for (int q = 0; q < Q; q++)
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[g][q][p] = a.start;
    for (int j = 0; j < a.kernel_h + Q - 1; j += a.rows) {
        int rows = min(a.rows, a.kernel_h + Q - 1 - j);
        for (int i = 0; i < a.kernel_w; i += a.columns) {
            int columns = min(a.columns, a.kernel_w - i);
            tamis_stage<S>(in, x + a.shift_x + i * STEP, y + a.shift_y + j,
                           TILE_W + (columns - 1) * STEP, TILE_H - Q + rows, tile, a.tile_pitch);
            for (int k = threadIdx.x; k < rows * columns; k += THREADS)
                taps[k] = a.taps[(int64_t)(j + k / columns) * a.kernel_w + i + k % columns];
            __syncthreads();
            for (int r = 0; r < rows; r++) {
                const S *line = tile + (ty * Q + r) * a.tile_pitch + tx * P;
                add_row_of<S, STEP>(sum, line, taps + r * columns, columns, j + r, a.kernel_h,
                                    a.gaps);
            }
            __syncthreads();
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        store<T, S>(a.out, STEP, x + g * GROUP_W + tx * P, y + ty * Q, a.aligned, a.finish, sum[g]);
}

#endif
