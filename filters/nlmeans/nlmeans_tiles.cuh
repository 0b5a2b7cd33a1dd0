/* SPDX-License-Identifier: Apache-2.0 */
/* What strips of non-local means compare, as it lies in shared memory: planes of floats. */
#ifndef TAMIS_NLMEANS_TILES_CUH
#define TAMIS_NLMEANS_TILES_CUH

#include <float.h>

#include "nlmeans_device.cuh"

namespace
{

/* ---- tiles: entry i of a row is for column i, even ones before odd ones, so that threads with
 * every second column read side by side */

struct view {
    const float *even, *odd; /* entries 0 and 1 from some column on */

    __device__ __forceinline__ view(const float *row, int half, int thread, int k)
    {
        even = row + (k & 1) * half + thread + (k >> 1);
        odd = row + ((k + 1) & 1) * half + thread + ((k + 1) >> 1);
    }
    __device__ __forceinline__ float at(int i) const
    {
        return (i & 1 ? odd : even)[i >> 1];
    }
    __device__ __forceinline__ float at(int i, int ahead) const
    {
        return (i & 1 ? odd : even)[(i >> 1) + ahead];
    }
    __device__ __forceinline__ void step(int pitch)
    {
        even += pitch;
        odd += pitch;
    }
};

/* Fills `rows` rows of `columns` columns, from column x0 and row y0 of the input on. */
template <typename P>
static __device__ __forceinline__ void stage(const struct args &a, const struct picture &f, int x0,
                                             int y0, int columns, int rows, float *tile, int plane)
{
    struct bounds b = needed(a);
    int half = a.tile_pitch / 2;
    bool inside = x0 >= max(b.x0, 0) && x0 + columns + 3 <= min(b.x1, a.w) && y0 >= max(b.y0, 0) &&
                  y0 + rows <= min(b.y1, a.h);
    for (int r = threadIdx.x / 32; r < rows; r += THREADS / 32)
        for (int c = threadIdx.x % 32; c < columns; c += 32)
            P::make(a, f, b, inside, x0 + c, y0 + r,
                    tile + r * a.tile_pitch + (c & 1) * half + (c >> 1), plane);
}

/* Sums of squares over the height of the patch, row by row, by pairs of rows. */
template <int R> struct pairs {
    float last, kept[2 * R];

    __device__ __forceinline__ pairs(float start) : last(start)
    {
    }
    __device__ __forceinline__ float add(int j, float row)
    {
        float sum = row;
        if (j >= 2 * R) {
            sum = kept[(j + 1) % (2 * R)];
#pragma unroll
            for (int i = 3; i < 2 * R; i += 2)
                sum = __fadd_rn(sum, kept[(j + i) % (2 * R)]);
            sum = __fadd_rn(sum, row);
        }
        kept[j % (2 * R)] = __fadd_rn(last, row);
        last = row;
        return sum;
    }
};

/* Planes of floats, and a further one for their luma. */
template <int R_, int N_, int LUMA> struct floats {
    enum { R = R_, N = N_, H = N_ == 1 ? 12 : 8, PLANES = N + LUMA };
    static __device__ __forceinline__ void make(const struct args &a, const struct picture &f,
                                                const struct bounds &b, bool inside, int x, int y,
                                                float *to, int plane)
    {
        float v[N];
        for (int c = 0; c < N; c++) {
            v[c] = inside ? load(a.type, row_of(a, f, c, y), (int64_t)x * a.pitch)
                          : needed_sample(a, f, b, c, x, y);
            to[c * plane] = v[c];
        }
        if (LUMA)
            to[N * plane] = luma_of(v[0], v[1 % N], v[2 % N]);
    }

    static __device__ __forceinline__ float square(const view &p, const view &q, int i, int g,
                                                   int plane)
    {
        float d = 0, sum = 0;
        for (int c = LUMA ? N : 0; c < PLANES; c++) {
            d = __fsub_rn(q.at(i + g, c * plane), p.at(i, c * plane));
            sum = fmaf(d, d, sum);
        }
        return sum;
    }

    static __device__ __forceinline__ void squares(const view &p, const view &q, int g, int plane,
                                                   float out[2])
    {
        float both = square(p, q, 1, g, plane);
#pragma unroll
        for (int i = 2; i <= 2 * R; i++)
            both = __fadd_rn(both, square(p, q, i, g, plane));
        out[0] = __fadd_rn(both, square(p, q, 0, g, plane));
        out[1] = __fadd_rn(both, square(p, q, 2 * R + 1, g, plane));
    }

    /* No weight where the sum is not finite. */
    static __device__ __forceinline__ float exponent(float v, float scale, float bias)
    {
        return v <= FLT_MAX ? fminf(fmaf(v, -scale, bias), 0) : -INFINITY;
    }

    static __device__ __forceinline__ void values(const view &q, int plane,
                                                  float v[TOGETHER + 1][N])
    {
        for (int i = 0; i <= TOGETHER; i++)
            for (int c = 0; c < N; c++)
                v[i][c] = q.at(R + i, c * plane);
    }
};

} // namespace

#endif
