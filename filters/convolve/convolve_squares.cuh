/* SPDX-License-Identifier: Apache-2.0 */
/* Small square kernels of f32 without zeros: threads march down the image, each with the sums of
 * four neighboring samples for as many rows as the kernel has. A row of the source is all that is
 * loaded for it, and taps are operands of multiply-adds. Rows and columns are added in the order
 * that convolve.c states. */
#ifndef TAMIS_CONVOLVE_SQUARES_CUH
#define TAMIS_CONVOLVE_SQUARES_CUH

#include <string.h>

#include "convolve_columns.cuh"
#include "convolve_kernel.h"

template <int N> struct square_args {
    tamis_inputs<float> in;
    tamis_output out;
    float taps[N][N];
    float start, bias;        /* of sums; added to them */
    int shift_x, shift_y;     /* from an output to the first sample of its window */
    int first, tiles_x, rows; /* rows that a thread makes */
    bool aligned;
};

/* The four samples of the outputs, four before and four behind them. */
enum { SQUARE_FOURS = 3, SQUARE_SAMPLES = 4 * SQUARE_FOURS };

/* Rows from row y on; behind the last one it is read again. */
template <int N> struct square_source {
    march_columns<float, SQUARE_SAMPLES> columns;
    int y, last;
    bool inside; /* all rows are in memory as well */
    const char *at;

    __device__ __forceinline__ square_source(const tamis_input<float> &in, int i, int first,
                                             int end, bool aligned, int (*room)[MARCH_THREADS])
        : columns(in, i, aligned, room), y(first), last(end)
    {
        inside = columns.together && y >= in.top && last <= in.bottom;
        at = (const char *)(in.row(y) + i);
    }

    __device__ __forceinline__ void load(const char *from, float4 (&v)[SQUARE_FOURS]) const
    {
#pragma unroll
        for (int k = 0; k < SQUARE_FOURS; k++)
            v[k] = ((const float4 *)from)[k];
    }

    __device__ __forceinline__ void gather(int row, float4 (&v)[SQUARE_FOURS]) const
    {
        float s[SQUARE_SAMPLES];
#pragma unroll
        for (int n = 0; n < SQUARE_SAMPLES; n++) {
            bool needed = n >= 4 - N / 2 && n < 8 + N / 2;
            s[n] = needed ? columns.get(row, n) : 0;
        }
#pragma unroll
        for (int k = 0; k < SQUARE_FOURS; k++)
            v[k] = make_float4(s[4 * k], s[4 * k + 1], s[4 * k + 2], s[4 * k + 3]);
    }

    __device__ __forceinline__ void next(float4 (&v)[SQUARE_FOURS])
    {
        if (inside) {
            load(at, v);
            at += y < last ? columns.in.stride : 0;
            y++;
            return;
        }
        int row = columns.row_of(min(y, last));
        y++;
        if (row >= 0 && columns.together)
            load((const char *)(columns.in.row(row) + columns.i), v);
        else
            gather(row, v);
    }
};

template <int N>
__global__ void __launch_bounds__(MARCH_THREADS, N == 7 ? 5 : 6)
    march_square(const __grid_constant__ square_args<N> a)
{
    __shared__ int room[MARCH_SAMPLES][MARCH_THREADS];
    const tamis_input<float> &in = a.in.plane[blockIdx.y];
    unsigned tile_row = blockIdx.x / (unsigned)a.tiles_x, tile = blockIdx.x - tile_row * a.tiles_x;
    int x = a.first + (int)(tile * MARCH_THREADS + threadIdx.x) * 4;
    int begin = a.out.x, end = a.out.x + a.out.w;
    int y = a.out.y + (int)tile_row * a.rows, last = min(y + a.rows, a.out.y + a.out.h);
    if (x >= end)
        return;
    square_source<N> source(in, x + a.shift_x + N / 2 - 4, y + a.shift_y,
                            last - 1 + a.shift_y + N - 1, a.aligned, room);
    bool whole = a.aligned && x >= begin && x + 4 <= end;
    int64_t stride = a.out.stride[blockIdx.y];
    float *to = tamis_row<float>(a.out, blockIdx.y, y) + x;
    float sum[N][4];
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[j][c] = a.start;
    float4 coming[SQUARE_FOURS];
    source.next(coming);
    /* Output row `top` has its sums in sum[s]; the source row that completes it is the kernel's row
     * j for output row top + N - 1 - j. */
    for (int first = y + 1 - N; first < last; first += N) {
#pragma unroll
        for (int s = 0; s < N; s++) {
            int top = first + s;
            if (top >= last)
                break;
            float w[SQUARE_SAMPLES];
#pragma unroll
            for (int k = 0; k < SQUARE_FOURS; k++) {
                w[4 * k] = coming[k].x;
                w[4 * k + 1] = coming[k].y;
                w[4 * k + 2] = coming[k].z;
                w[4 * k + 3] = coming[k].w;
            }
            source.next(coming);
#pragma unroll
            for (int i = 0; i < N; i++)
#pragma unroll
                for (int j = 0; j < N; j++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        sum[(s + N - 1 - j) % N][c] =
                            fmaf(a.taps[j][i], w[4 - N / 2 + i + c], sum[(s + N - 1 - j) % N][c]);
            float out[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                out[c] = a.bias != 0 ? __fadd_rn(sum[s][c], a.bias) : sum[s][c];
                sum[s][c] = a.start;
            }
            if (top < y)
                continue;
            if (whole) {
                *(float4 *)to = make_float4(out[0], out[1], out[2], out[3]);
            } else {
#pragma unroll
                for (int c = 0; c < 4; c++)
                    if (x + c >= begin && x + c < end)
                        to[c] = out[c];
            }
            to = (float *)((char *)to + stride);
        }
    }
}

template <int N>
static tamis_status launch_square(const tamis_gpu_work *w, const struct convolve_coef *c,
                                  tamis_gpu_fault *fault)
{
    square_args<N> a = {};
    a.in = tamis_inputs_of<float>(w);
    a.out = tamis_output_of(w);
    a.shift_x = w->shift_x - c->left;
    a.shift_y = w->shift_y - c->top;
    a.first = w->part.x / 4 * 4;
    a.tiles_x = (int)tamis_tiles((int64_t)w->part.x + w->part.w - a.first, 4 * MARCH_THREADS);
    a.aligned = w->aligned >= 16;
    a.start = -0.0f;
    a.bias = c->bias;
    memcpy(a.taps, c->dense, sizeof a.taps);
    a.rows = 64;
    while (a.rows > 8 && a.tiles_x * w->planes * w->count * tamis_tiles(w->part.h, a.rows) < 2000)
        a.rows /= 2;
    TAMIS_LAUNCH(march_square<N>,
                 tamis_grid(w, a.tiles_x, tamis_tiles(w->part.h, a.rows), w->planes), MARCH_THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

#endif
