/* SPDX-License-Identifier: Apache-2.0 */
/* The device kernels of the bilateral filter for windows of any size, guides and the mode luma: a
 * thread reads the image tap by tap. */
#ifndef TAMIS_BILATERAL_TAPS_CUH
#define TAMIS_BILATERAL_TAPS_CUH

#include "bilateral_device.cuh"

namespace
{

enum { TAP_WIDTH = 32, TAP_HEIGHT = 4 };

static __device__ __forceinline__ float luma_of(float r, float g, float b)
{
    return fmaf(0.114f, b, fmaf(0.587f, g, __fmul_rn(0.299f, r)));
}

/* sum / weight; NaN where the sum is not finite. */
static __device__ __forceinline__ float quotient(float sum, float weight)
{
    return fmaf(sum, 0, __fdiv_rn(sum, weight));
}

/* D^2 from the differences of n planes. */
static __device__ __forceinline__ float square(const float *d, int n, int l1)
{
    float sum = 0;
#pragma unroll
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        if (p < n)
            sum = l1 ? __fadd_rn(sum, fabsf(d[p])) : fmaf(d[p], d[p], sum);
    return l1 ? __fmul_rn(sum, sum) : sum;
}

/* A thread's pixel and the taps around it. */
template <typename T> struct window {
    const struct args &a;
    int x, y; /* of the output */
    bool writes, inside;
    float guide[TAMIS_MAX_CHANNELS];

    __device__ __forceinline__ window(const struct args &args) : a(args)
    {
        int x0 = a.out.x + (int)(blockIdx.x % a.strips) * TAP_WIDTH;
        int y0 = a.out.y + (int)(blockIdx.x / a.strips) * TAP_HEIGHT;
        x = x0 + threadIdx.x % TAP_WIDTH;
        y = y0 + threadIdx.x / TAP_WIDTH;
        writes = x < a.out.x + a.out.w && y < a.out.y + a.out.h;
        x0 += a.shift_x;
        y0 += a.shift_y;
        inside = x0 - a.rx >= 0 && x0 + TAP_WIDTH + a.rx <= a.w && y0 - a.ry >= 0 &&
                 y0 + TAP_HEIGHT + a.ry <= a.h;
        for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
            guide[p] = writes && p < a.guide.planes ? get(a.guide, p, 0, 0) : 0;
    }
    __device__ __forceinline__ float get(const struct picture &f, int p, int dx, int dy) const
    {
        int u = x + a.shift_x + dx, v = y + a.shift_y + dy;
        return inside ? sample<T>(f, p, u, v) : sample_at<T>(a, f, p, u, v);
    }
    /* The square of the guide's distance; NaN where it is not finite. */
    __device__ __forceinline__ float guide_square(int dx, int dy) const
    {
        float d[TAMIS_MAX_CHANNELS] = {0}, check = 0;
#pragma unroll
        for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
            if (p < a.guide.planes) {
                d[p] = __fsub_rn(get(a.guide, p, dx, dy), guide[p]);
                check = fmaf(d[p], 0, check);
            }
        return __fadd_rn(square(d, a.guide.planes, a.l1), check);
    }
    __device__ __forceinline__ float space(int dx, int dy) const
    {
        return a.space[(dy < 0 ? -dy : dy) * (2 * a.rx + 1) + a.rx + dx];
    }
    __device__ __forceinline__ float weight(int dx, int dy, float square) const
    {
        return tamis_rough_exp2(fmaf(square, -a.range, space(dx, dy)));
    }
    __device__ __forceinline__ void put(int p, float v) const
    {
        tamis_row<T>(a.out, p, y)[(int64_t)x * a.out.pitch] = tamis_sample<T>::of(v);
    }
};

/* Color modes joint and separate. */
template <typename T>
__global__ void __launch_bounds__(TAP_WIDTH *TAP_HEIGHT) taps(const struct args a)
{
    window<T> win(a);
    if (!win.writes)
        return;
    const int n = a.src.planes;
    float center[TAMIS_MAX_CHANNELS], d[TAMIS_MAX_CHANNELS], delta[TAMIS_MAX_CHANNELS], weight = 1;
#pragma unroll
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++) {
        center[p] = p < n ? win.get(a.src, p, 0, 0) : 0;
        d[p] = delta[p] = 0;
    }
    for (int dy = -a.ry; dy <= a.ry; dy++) {
        int half = a.half[dy < 0 ? -dy : dy];
        for (int dx = -half; dx <= half; dx++) {
            if (dx == 0 && dy == 0)
                continue;
#pragma unroll
            for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
                if (p < n)
                    d[p] = __fsub_rn(win.get(a.src, p, dx, dy), center[p]);
            float w =
                win.weight(dx, dy, a.guide.planes ? win.guide_square(dx, dy) : square(d, n, a.l1));
            weight = __fadd_rn(weight, w);
#pragma unroll
            for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
                delta[p] = fmaf(w, d[p], delta[p]);
        }
    }
    if (n > 1 && !a.guide.planes) /* not finite in one plane: NaN in all */
        for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
            weight = fmaf(delta[p], 0, weight);
#pragma unroll
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        if (p < n)
            win.put(p, __fadd_rn(center[p], quotient(delta[p], weight)));
}

/* v between -limit and limit; NaN stays. */
static __device__ __forceinline__ float within(float v, float limit)
{
    return v < -limit ? -limit : v > limit ? limit : v;
}

static __device__ __forceinline__ float positive(float v)
{
    return v < 0 ? 0 : v;
}

/* What luma mode takes from a pixel. */
struct colors {
    float y, r, b, alpha; /* luma, R-Y, B-Y */
};

template <typename T>
static __device__ __forceinline__ struct colors split(const window<T> &win, int dx, int dy)
{
    const struct args &a = win.a;
    float r = win.get(a.src, 0, dx, dy), b = win.get(a.src, 2, dx, dy);
    struct colors c;
    c.y = luma_of(r, win.get(a.src, 1, dx, dy), b);
    c.r = __fsub_rn(r, c.y);
    c.b = __fsub_rn(b, c.y);
    c.alpha = a.alpha ? win.get(a.src, 3, dx, dy) : 0;
    return c;
}

/* Sums of differences: of luma and alpha by weights, of chroma and alpha by the Gaussian; where
 * there is alpha, chroma counts from 0, as what is left of a large center would be inexact. */
struct luma_sums {
    float y, alpha, weight, r, b, blurred, space;
};

template <typename T>
static __device__ __forceinline__ struct luma_sums
sum_luma(const window<T> &win, const struct colors &center, const struct colors &zero)
{
    const struct args &a = win.a;
    struct luma_sums s = {0, 0, 0, 0, 0, 0, 0};
    for (int dy = -a.ry; dy <= a.ry; dy++) {
        int half = a.half[dy < 0 ? -dy : dy];
        for (int dx = -half; dx <= half; dx++) {
            struct colors c = split<T>(win, dx, dy);
            float d = __fsub_rn(c.y, center.y), space = tamis_rough_exp2(win.space(dx, dy));
            /* NaN where the difference is not finite. */
            float square = a.guide.planes ? win.guide_square(dx, dy) : fmaf(d, d, __fmul_rn(d, 0));
            float w = win.weight(dx, dy, square);
            s.y = fmaf(w, d, s.y);
            s.alpha = fmaf(w, __fsub_rn(c.alpha, center.alpha), s.alpha);
            s.weight = __fadd_rn(s.weight, w);
            s.r = fmaf(space, __fsub_rn(c.r, zero.r), s.r);
            s.b = fmaf(space, __fsub_rn(c.b, zero.b), s.b);
            s.blurred = fmaf(space, positive(c.alpha), s.blurred);
            s.space = __fadd_rn(s.space, space);
        }
    }
    return s;
}

template <typename T>
__global__ void __launch_bounds__(TAP_WIDTH *TAP_HEIGHT) luma_taps(const struct args a)
{
    window<T> win(a);
    if (!win.writes)
        return;
    struct colors center = split<T>(win, 0, 0), zero = center;
    if (a.alpha)
        zero.r = zero.b = 0;
    struct luma_sums s = sum_luma<T>(win, center, zero);
    float y = quotient(s.y, s.weight), r = __fdiv_rn(s.r, s.space), b = __fdiv_rn(s.b, s.space);
    float red = 0, green = 0, blue = 0; /* what is added to */
    if (a.alpha) {
        float alpha = __fadd_rn(center.alpha, quotient(s.alpha, s.weight));
        float blurred = __fdiv_rn(s.blurred, s.space);
        float ratio = blurred == 0 ? 0 : __fdiv_rn(positive(alpha), blurred);
        win.put(3, alpha);
        y = __fadd_rn(y, center.y);
        r = __fmul_rn(within(r, blurred), ratio);
        b = __fmul_rn(within(b, blurred), ratio);
    } else {
        red = win.get(a.src, 0, 0, 0);
        green = win.get(a.src, 1, 0, 0);
        blue = win.get(a.src, 2, 0, 0);
    }
    float g = __fmul_rn(fmaf(0.299f, r, __fmul_rn(0.114f, b)), -1 / 0.587f);
    win.put(0, __fadd_rn(red, __fadd_rn(y, r)));
    win.put(1, __fadd_rn(green, __fadd_rn(y, g)));
    win.put(2, __fadd_rn(blue, __fadd_rn(y, b)));
}

} // namespace

#endif
