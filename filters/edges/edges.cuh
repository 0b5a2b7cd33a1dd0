/* SPDX-License-Identifier: Apache-2.0 */
/* What the device kernels of slopes and of Canny share: rows of samples around four that a thread
 * works on, as binary32. */
#ifndef TAMIS_EDGES_CUH
#define TAMIS_EDGES_CUH

#include "kernel.cuh"

#include "edges_kernel.h"

/* How a plane's samples lie. */
enum form {
    SIDE_BY_SIDE, /* one to a pixel */
    SPACED,       /* `step` to a pixel, all filtered: neighbors are step samples apart */
    APART         /* every pitch-th is a pixel's, or all are made from three planes */
};

/* Slopes are made of differences, in which what is added to all samples cancels. Bytes become
 * 32768 and themselves in one instruction, with bits to spare for exact sums of 64. */
#define BYTE_BIAS 32768

template <typename T, int F> struct bias_of {
    static const int value = F != APART && sizeof(T) == 1 ? BYTE_BIAS : 0;
};

static __device__ __forceinline__ float biased_byte(unsigned word, int c)
{
    return __uint_as_float(__byte_perm(word, 0x47000000, 0x7404 | c << 4));
}

/* Half a word as a float: 2^23 and it. */
static __device__ __forceinline__ float magic_half(unsigned word, int c)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, c ? 0x7632 : 0x7610));
}

/* ---- four samples from 4 * sizeof(T) bytes */

static __device__ __forceinline__ void unpack(unsigned word, float *out)
{
    for (int c = 0; c < 4; c++)
        out[c] = biased_byte(word, c);
}

template <typename T>
static __device__ __forceinline__ void unpack_halves(unsigned a, unsigned b, float *out)
{
    const bool negative = (T)-1 < (T)0;
    unsigned flip = negative ? 0x80008000u : 0;
    float away = negative ? 8388608.f + 32768.f : 8388608.f;
    for (int c = 0; c < 2; c++) {
        out[c] = magic_half(a ^ flip, c) - away;
        out[2 + c] = magic_half(b ^ flip, c) - away;
    }
}

/* From where they lie at a multiple of their size. */
static __device__ __forceinline__ void load_four(const uint8_t *p, float *out)
{
    unpack(__ldg((const unsigned *)(const void *)p), out);
}
template <typename T> static __device__ __forceinline__ void load_four(const T *p, float *out)
{
    uint2 v = __ldg((const uint2 *)(const void *)p);
    unpack_halves<T>(v.x, v.y, out);
}
static __device__ __forceinline__ void load_four(const float *p, float *out)
{
    float4 v = __ldg((const float4 *)(const void *)p);
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
    out[3] = v.w;
}

/* From sample i on of a row that starts at such a place; up to 7 samples more are read. */
static __device__ __forceinline__ void load_any(const uint8_t *row, int i, float *out)
{
    const unsigned *p = (const unsigned *)(const void *)row + (i >> 2);
    unpack(__funnelshift_r(__ldg(p), __ldg(p + 1), (i & 3) * 8), out);
}
template <typename T>
static __device__ __forceinline__ void load_any(const T *row, int i, float *out)
{
    const unsigned *p = (const unsigned *)(const void *)row + (i >> 1);
    unsigned a = __ldg(p), b = __ldg(p + 1), c = __ldg(p + 2), shift = (i & 1) * 16;
    unpack_halves<T>(__funnelshift_r(a, b, shift), __funnelshift_r(b, c, shift), out);
}
static __device__ __forceinline__ void load_any(const float *row, int i, float *out)
{
    for (int c = 0; c < 4; c++)
        out[c] = __ldg(row + i + c);
}

/* ---- windows */

/* Four samples of a row, and those up to R places before and after each. */
template <int R, int F> struct window {
    enum { COUNT = F == SPACED ? 4 * (2 * R + 1) : 4 + 2 * R };
    float v[COUNT];

    /* The sample j places after the c-th. */
    static __device__ __forceinline__ int place(int j, int c)
    {
        return F == SPACED ? 4 * (j + R) + c : R + j + c;
    }
    __device__ __forceinline__ float at(int j, int c) const
    {
        return v[place(j, c)];
    }
};

/* Where a kernel reads. */
template <typename T> struct edges_source {
    tamis_inputs<T> in;
    int step;             /* SPACED: samples to a pixel */
    int shift_x, shift_y; /* samples, rows */
    int aligned;          /* four samples may be loaded at once */
    int luma;             /* APART: made from three planes */
};

template <typename T> static edges_source<T> edges_source_of(const tamis_gpu_work *w, int luma)
{
    edges_source<T> s;
    s.in = tamis_inputs_of<T>(w);
    s.step = w->step;
    s.shift_x = w->shift_x * w->step;
    s.shift_y = w->shift_y;
    s.aligned = w->aligned >= (int)(4 * sizeof(T));
    s.luma = luma;
    return s;
}

/* Whether windows around samples i .. i+3 of `rows` rows from y on lie inside the image at places
 * where four samples may be loaded at once. */
template <typename T, int R, int F>
static __device__ __forceinline__ bool loads_whole(const edges_source<T> &s, int i, int y, int rows)
{
    const tamis_input<T> &in = s.in.plane[0];
    int step = F == SPACED ? s.step : 1;
    return (F == SIDE_BY_SIDE || F == SPACED) && s.aligned && i % 4 == 0 && i - R * step - 4 >= 0 &&
           i + R * step + 8 <= in.w * step && y >= 0 && y + rows <= in.h;
}

/* Reads such windows, of one row after the other. */
template <typename T, int R, int F> struct whole_reader {
    const char *row;
    int64_t stride;
    int i, step;

    __device__ __forceinline__ whole_reader(const edges_source<T> &s, int plane, int i_, int y)
        : row((const char *)s.in.plane[plane].row(y)), stride(s.in.plane[plane].stride), i(i_),
          step(s.step)
    {
        if (F == SIDE_BY_SIDE)
            row += (int64_t)i * (int)sizeof(T);
    }
    __device__ __forceinline__ window<R, F> next()
    {
        window<R, F> w;
        const T *now = (const T *)(const void *)row;
        row += stride;
        if (F == SPACED) {
#pragma unroll
            for (int j = -R; j <= R; j++)
                if (j == 0)
                    load_four(now + i, w.v + w.place(0, 0));
                else
                    load_any(now, i + j * step, w.v + w.place(j, 0));
            return w;
        }
        float around[12];
        load_four(now - 4, around);
        load_four(now, around + 4);
        load_four(now + 4, around + 8);
#pragma unroll
        for (int k = 0; k < w.COUNT; k++)
            w.v[k] = around[4 - R + k];
        return w;
    }
};

/* Reads any windows in any form, sample by sample, from places that are found once for all rows. */
template <typename T, int R, int F> struct single_reader {
    const edges_source<T> *s;
    const tamis_input<T> *in;
    int i, y;
    int at[window<R, F>::COUNT]; /* -1-c: the border's value of sample c */

    __device__ __forceinline__ single_reader(const edges_source<T> &source, int plane, int i_,
                                             int y_)
        : s(&source), in(&source.in.plane[plane]), i(i_), y(y_)
    {
#pragma unroll
        for (int k = 0; k < window<R, F>::COUNT; k++)
            at[k] = F == SPACED ? spaced_place(i + (k / 4 - R) * s->step + k % 4)
                                : pixel_place(i - R + k);
    }

    /* Some that are asked for nobody needs: what is there stands for them. */
    __device__ __forceinline__ int column_at(int x) const
    {
        int u = tamis_index(in->border, x, in->w);
        return u < 0 ? -1 : min(max(u, in->left), in->right);
    }
    __device__ __forceinline__ int pixel_place(int x) const
    {
        int u = column_at(x);
        return u < 0 ? -1 : F == SIDE_BY_SIDE ? u : u * in->pitch;
    }
    __device__ __forceinline__ int spaced_place(int n) const
    {
        int step = s->step, x = tamis_pixel_of(n, step), c = n - x * step;
        int u = column_at(x);
        return u < 0 ? -1 - c : u * step + c;
    }

    static __device__ __forceinline__ T sample(const tamis_input<T> &plane, const T *row, int k)
    {
        return row && k >= 0 ? __ldg(row + k) : (T)plane.outside[k < 0 ? -1 - k : 0];
    }
    static __device__ __forceinline__ const T *row_at(const tamis_input<T> &plane, int y)
    {
        int v = tamis_index(plane.border, y, plane.h);
        return v < 0 ? nullptr : plane.row(min(max(v, plane.top), plane.bottom));
    }

    static __device__ __forceinline__ float luma(T r, T g, T b)
    {
        if (sizeof(T) == sizeof(float)) {
            float rg = __fadd_rn(__fmul_rn(0.299f, (float)r), __fmul_rn(0.587f, (float)g));
            return __fadd_rn(rg, __fmul_rn(0.114f, (float)b));
        }
        /* In unsigned numbers, as samples of 16 bits without sign take all 32 bits. */
        unsigned sum = EDGES_LUMA_R * (unsigned)(int)r + EDGES_LUMA_G * (unsigned)(int)g +
                       EDGES_LUMA_B * (unsigned)(int)b + 16384u;
        return (T)-1 < (T)0 ? (float)((int)sum >> 15) : (float)(sum >> 15);
    }

    __device__ __forceinline__ window<R, F> next()
    {
        window<R, F> w;
        const tamis_input<T> *p = s->in.plane;
        if (F == APART && s->luma) {
            const T *r = row_at(p[0], y), *g = row_at(p[1], y), *b = row_at(p[2], y);
#pragma unroll
            for (int k = 0; k < w.COUNT; k++)
                w.v[k] =
                    luma(sample(p[0], r, at[k]), sample(p[1], g, at[k]), sample(p[2], b, at[k]));
            y++;
            return w;
        }
        const T *row = row_at(*in, y);
#pragma unroll
        for (int k = 0; k < w.COUNT; k++) {
            /* Each sample of a pixel has a value of its own beyond the border. */
            int place = F == SPACED && !row ? -1 - (i + k % 4) % s->step : at[k];
            w.v[k] = (float)sample(*in, row, place) + (float)bias_of<T, F>::value;
        }
        y++;
        return w;
    }
};

/* ---- slopes */

/* Taps of the plan, and those known to the compiler, which multiplies by none that is 1. */
struct plan_taps {
    static const bool known = false;
    edges_taps taps;
    __device__ __forceinline__ float derivative(int j) const
    {
        return taps.derivative[j];
    }
    __device__ __forceinline__ float smooth(int j) const
    {
        return taps.smooth[j];
    }
};
template <int MIDDLE, int SIDE> struct known_taps {
    static const bool known = true;
    __device__ __forceinline__ float derivative(int) const
    {
        return 1;
    }
    __device__ __forceinline__ float smooth(int j) const
    {
        return j == 0 ? MIDDLE : SIDE;
    }
};
/* Those of Sobel's windows. */
template <int R> struct sobel_taps {
    static const bool known = true;
    __device__ __forceinline__ float derivative(int j) const
    {
        return R == 1 ? 1 : R == 2 ? 3 - j : j == 1 ? 5 : j == 2 ? 4 : 1;
    }
    __device__ __forceinline__ float smooth(int j) const
    {
        return R == 1   ? 2 - j
               : R == 2 ? (j == 0   ? 6
                           : j == 1 ? 4
                                    : 1)
                        : (j == 0   ? 20
                           : j == 1 ? 15
                           : j == 2 ? 6
                                    : 1);
    }
};

/* Sums for type T and a window of radius R. Slopes of integers are whole numbers below 2^24, but
 * for the widest window on 16 bits: then order and fused roundings do not matter. Else they are
 * those of the reference. */
template <typename T, int R, typename Taps> struct sums {
    static const bool exact = sizeof(T) == 1 || (sizeof(T) == 2 && R < 3);

    static __device__ __forceinline__ float product(float tap, float v)
    {
        return Taps::known && tap == 1 ? v : __fmul_rn(tap, v);
    }
    static __device__ __forceinline__ float add(float tap, float v, float sum)
    {
        if (Taps::known && tap == 1)
            return __fadd_rn(sum, v);
        return exact ? fmaf(tap, v, sum) : __fadd_rn(sum, __fmul_rn(tap, v));
    }

    /* Of what lies after and before a middle: get(j), -R <= j <= R. */
    template <typename Get>
    static __device__ __forceinline__ float derivative(const Taps &t, const Get &get)
    {
        /* Sums begin with 0, which matters where the first term may be -0. */
        float sum = product(t.derivative(1), __fsub_rn(get(1), get(-1)));
        sum = sizeof(T) == 4 ? __fadd_rn(0, sum) : sum;
#pragma unroll
        for (int j = 2; j <= R; j++)
            sum = add(t.derivative(j), __fsub_rn(get(j), get(-j)), sum);
        return sum;
    }
    template <typename Get>
    static __device__ __forceinline__ float smooth(const Taps &t, const Get &get)
    {
        float sum =
            exact ? product(t.smooth(1), __fadd_rn(get(-1), get(1))) : product(t.smooth(0), get(0));
#pragma unroll
        for (int j = exact ? 2 : 1; j <= R; j++)
            sum = add(t.smooth(j), __fadd_rn(get(-j), get(j)), sum);
        return exact ? add(t.smooth(0), get(0), sum) : sum;
    }
};

/* A row's share of the slopes at place c. */
template <typename T, int R, typename Taps, typename W>
static __device__ __forceinline__ float across_at(const Taps &t, const W &w, int c)
{
    return sums<T, R, Taps>::derivative(t, [&](int j) { return w.at(j, c); });
}
template <typename T, int R, typename Taps, typename W>
static __device__ __forceinline__ float smoothed_at(const Taps &t, const W &w, int c)
{
    return sums<T, R, Taps>::smooth(t, [&](int j) { return w.at(j, c); });
}

/* Of 2 R + 1 rows' shares. */
template <typename T, int R, int N, typename Taps>
static __device__ __forceinline__ float down_dx(const Taps &t, const float (*across)[N], int c)
{
    return sums<T, R, Taps>::smooth(t, [&](int j) { return across[R + j][c]; });
}
template <typename T, int R, int N, typename Taps>
static __device__ __forceinline__ float down_dy(const Taps &t, const float (*smoothed)[N], int c)
{
    return sums<T, R, Taps>::derivative(t, [&](int j) { return smoothed[R + j][c]; });
}

/* The rows that a thread's next ones need, from the oldest on: makes room for another. */
template <int ROWS, int N> static __device__ __forceinline__ void move_up(float (*row)[N])
{
#pragma unroll
    for (int v = 0; v + 1 < ROWS; v++)
#pragma unroll
        for (int c = 0; c < N; c++)
            row[v][c] = row[v + 1][c];
}

#endif
