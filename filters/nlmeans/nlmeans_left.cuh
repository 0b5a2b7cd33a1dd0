/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of non-local means for what others leave: patches, search windows and planes of any
 * size and number. A warp has 32 columns and keeps all but the pixels in shared memory; sums are
 * compensated for their rounding. */
#ifndef TAMIS_NLMEANS_LEFT_CUH
#define TAMIS_NLMEANS_LEFT_CUH

#include <float.h>

#include "nlmeans_device.cuh"

namespace
{

static __device__ __forceinline__ float squared(const struct args &a, const struct picture &f,
                                                int x, int y, int dx, int dy)
{
    float d[TAMIS_MAX_CHANNELS] = {0}, sum = 0;
    for (int p = 0; p < TAMIS_MAX_CHANNELS && p < a.planes; p++) {
        d[p] = __fsub_rn(sample(a, f, p, x + dx, y + dy), sample(a, a.frame[0], p, x, y));
        sum = fmaf(d[p], d[p], sum);
    }
    if (!a.luma)
        return sum;
    float l = luma_of(d[0], d[1], d[2]);
    return sum <= FLT_MAX ? __fmul_rn(l, l) : NAN;
}

/* Adds v to s[0], whose error so far is s[behind]. */
static __device__ __forceinline__ void add_exactly(float *s, int behind, float v)
{
    float y = __fsub_rn(v, s[behind]), t = __fadd_rn(s[0], y);
    s[behind] = __fsub_rn(__fsub_rn(t, s[0]), y);
    s[0] = t;
}

static size_t left_floats(const struct args *a)
{
    return (size_t)32 + 2 * a->px + 32 * (2 * a->py + 1) + 32 * LEFT_ROWS * 2 * (a->planes + 1);
}

/* One offset, for the rows y0 .. of a strip. */
static __device__ __forceinline__ void left_offset(const struct args &a, int frame, int dx, int dy,
                                                   int x0, int y0, int rows, float *row,
                                                   float *kept, float *acc)
{
    const struct picture &f = a.frame[frame];
    int lane = threadIdx.x % 32, width = 2 * a.px + 1, height = 2 * a.py + 1;
    int end = min(x0 + 32, a.out.x + a.out.w), behind = 32 * LEFT_ROWS * (a.planes + 1);
    for (int j = 0; j < rows + 2 * a.py; j++) {
        for (int i = lane; i < 32 + 2 * a.px; i += 32)
            if (x0 + i < end + 2 * a.px)
                row[i] =
                    squared(a, f, x0 + i - a.px + a.shift_x, y0 + j - a.py + a.shift_y, dx, dy);
        __syncwarp();
        float sum = 0;
        for (int i = 0; i < width && x0 + lane < end; i++)
            sum = __fadd_rn(sum, row[lane + i]);
        kept[j % height * 32 + lane] = sum;
        __syncwarp();
        if (j < 2 * a.py || x0 + lane >= end)
            continue;
        sum = 0;
        for (int i = 1; i <= height; i++)
            sum = __fadd_rn(sum, kept[(j + i) % height * 32 + lane]);
        float w = sum <= FLT_MAX ? tamis_rough_exp2(fminf(fmaf(sum, -a.scale, a.bias), 0)) : 0;
        if (!(w > 0))
            continue;
        int y = j - 2 * a.py, x = x0 + lane + a.shift_x, v = y0 + y + a.shift_y;
        float *s = acc + y * (a.planes + 1) * 32 + lane;
        for (int p = 0; p < a.planes; p++)
            add_exactly(s + 32 * p, behind,
                        __fmul_rn(w, __fsub_rn(sample(a, f, p, x + dx, v + dy),
                                               sample(a, a.frame[0], p, x, v))));
        add_exactly(s + 32 * a.planes, behind, w);
    }
}

__global__ void __launch_bounds__(THREADS) left(const struct args a, int64_t count, int floats)
{
    TAMIS_SHARED_BYTES(shared);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t strip = (int64_t)blockIdx.x * (THREADS / 32) + warp;
    float *row = (float *)shared + warp * floats, *kept = row + 32 + 2 * a.px;
    float *acc = kept + 32 * (2 * a.py + 1);
    if (strip >= count)
        return;
    int x0 = a.out.x + (int)(strip % a.strips) * 32;
    int y0 = a.out.y + (int)(strip / a.strips) * LEFT_ROWS;
    int rows = min((int)LEFT_ROWS, a.out.y + a.out.h - y0);
    for (int i = lane; i < 32 * LEFT_ROWS * 2 * (a.planes + 1); i += 32)
        acc[i] = 0;
    __syncwarp();
    for (int f = 0; f < a.frames; f++)
        for (int dy = -a.sy; dy <= a.sy; dy++)
            for (int dx = -a.sx; dx <= a.sx; dx++)
                left_offset(a, f, dx, dy, x0, y0, rows, row, kept, acc);
    int x = x0 + lane;
    for (int r = 0; r < rows && x < a.out.x + a.out.w; r++) {
        const float *s = acc + r * (a.planes + 1) * 32 + lane;
        for (int p = 0; p < a.planes; p++) {
            float v = sample(a, a.frame[0], p, x + a.shift_x, y0 + r + a.shift_y);
            if (s[32 * a.planes] > 0)
                v = __fadd_rn(v, __fdiv_rn(s[32 * p], s[32 * a.planes]));
            store(a.type, tamis_row<char>(a.out, p, y0 + r), (int64_t)x * a.out.pitch, v);
        }
    }
}

} // namespace

#endif
