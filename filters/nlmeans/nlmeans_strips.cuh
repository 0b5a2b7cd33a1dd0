/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of non-local means for small patches.
 *
 * A thread has two columns of a strip of rows and keeps their sums in registers. For three offsets
 * of the search window at a time it walks down the strip: the squared differences over the width of
 * the patch, their sum with those of the rows above, the weight. */
#ifndef TAMIS_NLMEANS_STRIPS_CUH
#define TAMIS_NLMEANS_STRIPS_CUH

#include "nlmeans_tiles.cuh"

namespace
{

/* Sums of a thread: of each pixel's values times weights, then of the weights. */
template <typename P> struct sums {
    float v[P::H][2][P::N + 1];

    __device__ __forceinline__ void clear()
    {
        for (int y = 0; y < P::H; y++)
            for (int c = 0; c < 2; c++)
                for (int i = 0; i <= P::N; i++)
                    v[y][c][i] = 0;
    }
    __device__ __forceinline__ void add(const sums &o)
    {
        for (int y = 0; y < P::H; y++)
            for (int c = 0; c < 2; c++)
                for (int i = 0; i <= P::N; i++)
                    v[y][c][i] = __fadd_rn(v[y][c][i], o.v[y][c][i]);
    }
};

/* Takes the row of pixels whose sums of squares are complete: differences from the pixel. */
template <typename P>
static __device__ __forceinline__ void
add_row(float s[2][P::N + 1], const float squares[TOGETHER][2], const view &p, const view &q,
        int plane, float scale, const float bias[TOGETHER])
{
    float v[TOGETHER + 1][P::N];
    P::values(q, plane, v);
#pragma unroll
    for (int g = 0; g < TOGETHER; g++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            float w = tamis_rough_exp2(P::exponent(squares[g][c], scale, bias[g]));
            s[c][P::N] = __fadd_rn(s[c][P::N], w);
#pragma unroll
            for (int i = 0; i < P::N; i++) {
                float d = __fsub_rn(v[g + c][i], p.at(P::R + c, i * plane));
                s[c][i] = w > 0 ? fmaf(w, d, s[c][i]) : s[c][i];
            }
        }
}

/* TOGETHER offsets from p to q on, down the strip. p and q are at the first row of the patches. */
template <typename P>
static __device__ __forceinline__ void walk(sums<P> &s, view p, view q, int pitch, int plane,
                                            float scale, const float bias[TOGETHER])
{
    pairs<P::R> h[TOGETHER][2] = {{0, 0}, {0, 0}, {0, 0}};
    view center = q, itself = p;
    for (int r = 0; r < P::R; r++) {
        center.step(pitch);
        itself.step(pitch);
    }
#pragma unroll
    for (int j = 0; j < P::H + 2 * P::R; j++) {
        float row[TOGETHER][2];
#pragma unroll
        for (int g = 0; g < TOGETHER; g++) {
            P::squares(p, q, g, plane, row[g]);
            row[g][0] = h[g][0].add(j, row[g][0]);
            row[g][1] = h[g][1].add(j, row[g][1]);
        }
        p.step(pitch);
        q.step(pitch);
        if (j < 2 * P::R)
            continue;
        add_row<P>(s.v[j - 2 * P::R], row, itself, center, plane, scale, bias);
        center.step(pitch);
        itself.step(pitch);
    }
}

template <typename P>
static __device__ __forceinline__ void finish(const struct args &a, const sums<P> &s, int x0,
                                              int y0)
{
#pragma unroll
    for (int r = 0; r < P::H; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            int x = x0 + c, y = y0 + r;
            if (x < a.out.x || x >= a.out.x + a.out.w || y >= a.out.y + a.out.h)
                continue;
            float weight = s.v[r][c][P::N];
            for (int i = 0; i < P::N && i < a.planes; i++) {
                float v = sample(a, a.frame[0], i, x + a.shift_x, y + a.shift_y);
                if (weight > 0)
                    v = __fadd_rn(v, __fdiv_rn(s.v[r][c][i], weight));
                store(a.type, tamis_row<char>(a.out, i, y), (int64_t)x * a.out.pitch, v);
            }
        }
}

template <typename P> __global__ void __launch_bounds__(THREADS) strips(const struct args a)
{
    TAMIS_SHARED_BYTES(shared);
    const int rows = P::H + 2 * (a.sy + P::R), columns = COLUMNS + 2 * (a.sx + P::R);
    const int pitch = a.tile_pitch, half = pitch / 2, plane = rows * pitch;
    const int t = threadIdx.x;
    float *tile = (float *)shared, *own = tile + P::PLANES * plane;
    int x0 = a.first + (int)(blockIdx.x % a.strips) * COLUMNS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * P::H;
    int left = x0 + a.shift_x - a.sx - P::R, top = y0 + a.shift_y - P::R;
    sums<P> s, total;
    s.clear();
    total.clear();
    if (a.frames > 1) /* planes are as far from each other as the tile's */
        stage<P>(a, a.frame[0], left, top, columns, P::H + 2 * P::R, own, plane);
    for (int f = 0; f < a.frames; f++) {
        __syncthreads();
        stage<P>(a, a.frame[f], left, top - a.sy, columns, rows, tile, plane);
        __syncthreads();
        const float *here = a.frames > 1 ? own : tile + a.sy * pitch;
        for (int dy = 0; dy <= 2 * a.sy; dy++) {
            for (int dx = 0; dx <= 2 * a.sx; dx += TOGETHER) {
                float bias[TOGETHER];
                for (int g = 0; g < TOGETHER; g++)
                    bias[g] = dx + g <= 2 * a.sx ? a.bias : -INFINITY;
                walk<P>(s, view(here, half, t, a.sx), view(tile + dy * pitch, half, t, dx), pitch,
                        plane, a.scale, bias);
            }
            total.add(s); /* long sums lose precision */
            s.clear();
        }
    }
    finish<P>(a, total, x0 + 2 * t, y0);
}

} // namespace

#endif
