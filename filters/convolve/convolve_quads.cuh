/* SPDX-License-Identifier: Apache-2.0 */
/* Small kernels of u8 with taps of 8 bits: threads march down the image, each with the sums of four
 * neighboring samples for as many rows as the kernel has. Four products go into one instruction. */
#ifndef TAMIS_CONVOLVE_QUADS_CUH
#define TAMIS_CONVOLVE_QUADS_CUH

#include "pixels.cuh"

#include "convolve_columns.cuh"
#include "convolve_finish.cuh"
#include "convolve_kernel.h"

enum { MARCH_SIDE = 7, MARCH_WORDS = 2 };

struct march_args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    int taps[MARCH_SIDE][MARCH_WORDS]; /* of rows of the kernel, 0 beyond its columns */
    finish_args finish;
    int start;                /* of sums */
    int shift_x, shift_y;     /* from an output to the first sample of its window */
    int first, tiles_x, rows; /* rows that a thread makes */
    bool aligned;
};

/* Words of a row that is not inside, or not all of it. */
template <int COUNT>
static __device__ __forceinline__ void march_gather(const march_columns<uint8_t, 4 * COUNT> &from,
                                                    int row, unsigned (&w)[COUNT])
{
    if (row >= 0 && from.together) {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            w[k] = ((const unsigned *)(from.in.row(row) + from.i))[k];
        return;
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        w[k] = 0;
#pragma unroll
        for (int c = 0; c < 4; c++)
            w[k] |= (unsigned)from.get(row, 4 * k + c) << 8 * c;
    }
}

/* COUNT words of H rows, y the first; rows after the last are as that. */
template <int H, int COUNT>
static __device__ __forceinline__ void march_load(const march_columns<uint8_t, 4 * COUNT> &from,
                                                  int y, int last, bool inside,
                                                  unsigned (&w)[H][COUNT])
{
    if (inside) {
        const char *row = from.in.data() + y * from.in.stride + from.i;
#pragma unroll
        for (int s = 0; s < H; s++) {
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                w[s][k] = ((const unsigned *)row)[k];
            row += y + s < last ? from.in.stride : 0;
        }
        return;
    }
    int row[H];
#pragma unroll
    for (int s = 0; s < H; s++)
        row[s] = from.row_of(min(y + s, last));
#pragma unroll
    for (int s = 0; s < H; s++)
        march_gather<COUNT>(from, row[s], w[s]);
}

/* Four sums become samples. */
static __device__ __forceinline__ void march_finish(const finish_args &f, const int (&sum)[4],
                                                    uint8_t (&out)[4])
{
    if (f.shift >= 0) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            out[c] = tamis_sample<uint8_t>::of_int(sum[c] >> f.shift);
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        out[c] = finish<uint8_t, int>::of(f, sum[c]);
}

/* Kernels of H rows and up to 4 * WORDS columns. */
template <int H, int WORDS>
__global__ void __launch_bounds__(MARCH_THREADS) march_quads(const __grid_constant__ march_args a)
{
    const int COUNT = WORDS + 2; /* words that hold the windows of four outputs */
    __shared__ int room[MARCH_SAMPLES][MARCH_THREADS];
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    int x =
        a.first + ((int)(blockIdx.x % (unsigned)a.tiles_x) * MARCH_THREADS + (int)threadIdx.x) * 4;
    int begin = a.out.x, end = a.out.x + a.out.w;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x) * a.rows;
    int last = min(y + a.rows, a.out.y + a.out.h);
    int i = x + a.shift_x, lead = (i & 3) * 8;
    i &= ~3;
    if (x >= end)
        return;
    int last_source = last - 1 + a.shift_y + H - 1;
    march_columns<uint8_t, 4 * COUNT> from(in, i, a.aligned, room);
    bool inside = from.together && y + a.shift_y >= in.top && last_source <= in.bottom;
    bool whole = a.aligned && x >= begin && x + 4 <= end;
    int64_t stride = a.out.stride[blockIdx.y];
    uint8_t *to = tamis_row<uint8_t>(a.out, blockIdx.y, y) + x;
    int sum[H][4];
#pragma unroll
    for (int j = 0; j < H; j++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[j][c] = a.start;
    /* Output row `top` has its sums in sum[s]; the source row that completes it is the kernel's row
     * j for output row top + H - 1 - j. */
    for (int first = y + 1 - H; first < last; first += H) {
        unsigned rows[H][COUNT];
        march_load<H, COUNT>(from, first + a.shift_y + H - 1, last_source, inside, rows);
#pragma unroll
        for (int s = 0; s < H; s++) {
            int top = first + s;
            unsigned w[COUNT - 1], v[WORDS];
            if (top >= last)
                break;
                /* Shifted so that the first window begins the first word; less 128, as signed
                 * bytes. */
#pragma unroll
            for (int k = 0; k < COUNT - 1; k++)
                w[k] = __funnelshift_r(rows[s][k], rows[s][k + 1], lead) ^ 0x80808080;
#pragma unroll
            for (int c = 0; c < 4; c++) {
#pragma unroll
                for (int k = 0; k < WORDS; k++)
                    v[k] = c ? __funnelshift_r(w[k], w[k + 1], 8 * c) : w[k];
#pragma unroll
                for (int j = 0; j < H; j++)
#pragma unroll
                    for (int k = 0; k < WORDS; k++)
                        sum[(s + H - 1 - j) % H][c] =
                            __dp4a((int)v[k], a.taps[j][k], sum[(s + H - 1 - j) % H][c]);
            }
            uint8_t out[4];
            march_finish(a.finish, sum[s], out);
#pragma unroll
            for (int c = 0; c < 4; c++)
                sum[s][c] = a.start;
            if (top < y)
                continue;
            if (whole) {
                tamis_vector_store<uint8_t>((char *)to, 0, out);
            } else {
#pragma unroll
                for (int c = 0; c < 4; c++)
                    if (x + c >= begin && x + c < end)
                        to[c] = out[c];
            }
            to += stride;
        }
    }
}

#endif
