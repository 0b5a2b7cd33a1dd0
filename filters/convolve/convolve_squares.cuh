/* SPDX-License-Identifier: Apache-2.0 */
/* Small square kernels of f32 without zeros: a warp goes down a strip of the image, each lane with
 * the sums of four neighboring samples for as many rows as the kernel has. Rows of the source come
 * to a ring in shared memory, which belongs to the warp alone, long before they are needed, and
 * taps are operands of multiply-adds. Rows and columns are added in the order that convolve.c
 * states. */
#ifndef TAMIS_CONVOLVE_SQUARES_CUH
#define TAMIS_CONVOLVE_SQUARES_CUH

#include <algorithm>
#include <string.h>

#include "async.cuh"
#include "kernel.cuh"

#include "convolve_kernel.h"

template <int N> struct square_args {
    tamis_inputs<float> in;
    tamis_output out;
    float taps[N][N];
    float start, bias;        /* of sums; added to them */
    int shift_x, shift_y;     /* from an output to the first sample of its window */
    int first, tiles_x, rows; /* rows that a warp makes */
    bool aligned;
};

/* Samples of a row that a warp needs are fours: one for each lane, and two behind those, since a
 * lane reads its window from its own four and the next two. */
enum { SQUARE_WARPS = 4, SQUARE_THREADS = 32 * SQUARE_WARPS, SQUARE_WIDTH = 4 * 32 };
enum { SQUARE_FOURS = 32 + 2, SQUARE_ROWS = 8, SQUARE_AHEAD = 6 };
enum { SQUARE_BLOCKS = 6, SQUARE_MOST = 72 }; /* of a multiprocessor; rows of a warp */

typedef float4 square_ring[SQUARE_ROWS][SQUARE_FOURS];

/* Where a lane's fours of rows come from: FAST: all samples of all rows are in memory. */
template <bool FAST> struct square_source {
    const tamis_input<float> &in;
    const char *at; /* FAST: the next row */
    int y, end;     /* that row, and the one behind the last */
    int i;          /* first sample */
    bool together;  /* the warp's samples are side by side in memory */
    int from[2][4]; /* else: what stands for each of two fours, -1: the border's value */

    __device__ __forceinline__ square_source(const tamis_input<float> &input, int sample, int first,
                                             int behind, bool aligned)
        : in(input), y(first), end(behind), i(sample)
    {
        int lane = threadIdx.x % 32, start = i - 4 * lane;
        at = (const char *)(in.row(y) + i);
        together = aligned && start >= in.left && start + 4 * SQUARE_FOURS <= in.right + 1;
        if (!FAST && !together) {
#pragma unroll
            for (int k = 0; k < 8; k++) {
                int u = tamis_index(in.border, i + k % 4 + (k < 4 ? 0 : SQUARE_WIDTH), in.w);
                from[k / 4][k % 4] = u < 0 ? -1 : min(max(u, in.left), in.right);
            }
        }
    }
    __device__ __forceinline__ bool is_inside() const
    {
        return together && y >= in.top && end <= in.bottom + 1;
    }

    /* Of a row, or below 0 of none. */
    __device__ __forceinline__ void gather(int row, int four, float4 *to) const
    {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = row < 0 || from[four][k] < 0 ? in.outside[0] : in.row(row)[from[four][k]];
        *to = make_float4(v[0], v[1], v[2], v[3]);
    }

    /* Lanes 0 and 1 bring the last two fours as well. */
    __device__ __forceinline__ void bring(float4 (&to)[SQUARE_FOURS])
    {
        int lane = threadIdx.x % 32;
        if (FAST) {
            if (y < end) {
                tamis_copy_start(to + lane, at);
                if (lane < 2)
                    tamis_copy_start(to + 32 + lane, at + 32 * sizeof(float4));
            }
            at += in.stride;
        } else if (y < end) {
            int v = tamis_index(in.border, y, in.h);
            v = v < 0 ? v : min(max(v, in.top), in.bottom);
            if (v >= 0 && together) {
                const char *row = (const char *)(in.row(v) + i);
                tamis_copy_start(to + lane, row);
                if (lane < 2)
                    tamis_copy_start(to + 32 + lane, row + 32 * sizeof(float4));
            } else {
                gather(v, 0, to + lane);
                if (lane < 2)
                    gather(v, 1, to + 32 + lane);
            }
        }
        y++;
        tamis_copy_group();
    }
};

/* What a lane makes of rows: where it goes, and the kernel's sums for N rows, of which the first is
 * the oldest. */
template <int N> struct square_sums {
    float sum[N][4];

    __device__ __forceinline__ explicit square_sums(float start)
    {
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                sum[j][c] = start;
    }
    /* Adds a source row, and takes what that completes. A sum's place moves with its row. */
    __device__ __forceinline__ void add(const square_args<N> &a, const float4 *fours,
                                        float (&out)[4])
    {
        float w[12];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            float4 v = fours[k];
            w[4 * k] = v.x;
            w[4 * k + 1] = v.y;
            w[4 * k + 2] = v.z;
            w[4 * k + 3] = v.w;
        }
#pragma unroll
        for (int j = 0; j < N; j++) {
            float now[4];
#pragma unroll
            for (int c = 0; c < 4; c++)
                now[c] = sum[j][c];
#pragma unroll
            for (int i = 0; i < N; i++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    now[c] = fmaf(a.taps[N - 1 - j][i], w[4 - N / 2 + i + c], now[c]);
#pragma unroll
            for (int c = 0; c < 4; c++)
                if (j == 0)
                    out[c] = now[c];
                else
                    sum[j - 1][c] = now[c];
        }
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[N - 1][c] = a.start;
    }
};

struct square_place {
    char *to;
    int64_t stride;
    int x, begin, end;
    bool whole;

    __device__ __forceinline__ void put(const float (&v)[4])
    {
        if (whole) {
            *(float4 *)(void *)to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
            for (int c = 0; c < 4; c++)
                if (x + c >= begin && x + c < end)
                    ((float *)(void *)to)[c] = v[c];
        }
        to += stride;
    }
};

template <int N, bool FAST>
static __device__ __forceinline__ void square_strip(const square_args<N> &a, square_ring &ring,
                                                    square_source<FAST> source, int rows,
                                                    square_place place)
{
    int lane = threadIdx.x % 32;
    square_sums<N> sums(a.start);
#pragma unroll 1
    for (int k = 0; k < SQUARE_AHEAD; k++)
        source.bring(ring[k]);
#pragma unroll 1
    for (int r = 0; r < rows + N - 1; r++) {
        float out[4];
        tamis_copy_wait<SQUARE_AHEAD - 1>();
        __syncwarp();
        sums.add(a, ring[r % SQUARE_ROWS] + lane, out);
        source.bring(ring[(r + SQUARE_AHEAD) % SQUARE_ROWS]);
        if (r < N - 1)
            continue;
        if (a.bias != 0)
#pragma unroll
            for (int c = 0; c < 4; c++)
                out[c] = __fadd_rn(out[c], a.bias);
        place.put(out);
    }
}

template <int N>
__global__ void __launch_bounds__(SQUARE_THREADS, SQUARE_BLOCKS)
    march_square(const __grid_constant__ square_args<N> a)
{
    __shared__ square_ring rings[SQUARE_WARPS];
    const tamis_input<float> &in = a.in.plane[blockIdx.y];
    unsigned tile_row = blockIdx.x / (unsigned)a.tiles_x, tile = blockIdx.x - tile_row * a.tiles_x;
    int warp = threadIdx.x / 32;
    int left = a.first + (int)(tile * SQUARE_WARPS + warp) * SQUARE_WIDTH;
    int x = left + 4 * (threadIdx.x % 32);
    int begin = a.out.x, end = a.out.x + a.out.w;
    int y = a.out.y + (int)tile_row * a.rows, rows = min(a.rows, a.out.y + a.out.h - y);
    if (left >= end)
        return;
    int i = x + a.shift_x + N / 2 - 4, top = y + a.shift_y, bottom = top + rows + N - 1;
    square_place place = {(char *)(tamis_row<float>(a.out, blockIdx.y, y) + x),
                          a.out.stride[blockIdx.y],
                          x,
                          begin,
                          end,
                          a.aligned && x >= begin && x + 4 <= end};
    square_source<true> fast(in, i, top, bottom, a.aligned);
    if (fast.is_inside())
        square_strip<N, true>(a, rings[warp], fast, rows, place);
    else
        square_strip<N, false>(a, rings[warp], square_source<false>(in, i, top, bottom, a.aligned),
                               rows, place);
}

/* So many that blocks just fill the device a whole number of times: what is left over would take as
 * long as one more. */
static int square_rows(int64_t strips, int32_t h, int processors)
{
    int64_t room = (int64_t)SQUARE_BLOCKS * processors;
    int64_t times = (strips * tamis_tiles(h, SQUARE_MOST) + room - 1) / room;
    int64_t tiles = std::min<int64_t>(times * room / strips, tamis_tiles(h, 8));
    return (int)((h + tiles - 1) / tiles);
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
    a.tiles_x =
        (int)tamis_tiles((int64_t)w->part.x + w->part.w - a.first, SQUARE_WIDTH * SQUARE_WARPS);
    a.aligned = w->aligned >= 16;
    a.start = -0.0f;
    a.bias = c->bias;
    memcpy(a.taps, c->dense, sizeof a.taps);
    int processors = 1;
    tamis_status status = tamis_cuda_processors(&processors, fault);
    if (status != TAMIS_OK)
        return status;
    a.rows = square_rows((int64_t)a.tiles_x * w->planes * w->count, w->part.h, processors);
    TAMIS_LAUNCH(march_square<N>,
                 tamis_grid(w, a.tiles_x, tamis_tiles(w->part.h, a.rows), w->planes),
                 SQUARE_THREADS, 0, w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

#endif
