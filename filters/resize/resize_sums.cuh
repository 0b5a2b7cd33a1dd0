/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of windows on a device, for each type: down the columns of four samples at a time, and from
 * those across. */
#ifndef TAMIS_RESIZE_SUMS_CUH
#define TAMIS_RESIZE_SUMS_CUH

#include "kernel.cuh"

#include "resize_kernel.h"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

struct axis {
    const int32_t *start, *phase, *count; /* as in resize_axis */
    const float *f;
    const int16_t *q;
    int pitch, bits;

    __device__ __forceinline__ int taps(int i) const
    {
        return count[phase[i]];
    }
    __device__ __forceinline__ int64_t weights(int i) const
    {
        return (int64_t)phase[i] * pitch;
    }
};

/* ---- four samples side by side */

template <typename T> struct four {
    T v[4];
};

template <typename T> struct alignas(4 * sizeof(T)) vector_of {
    T v[4];
};

/* Four samples of a row from `at` on, of which the last is behind the row's end by `over`: the
 * row's last one again. whole: they may be loaded at once. */
template <typename T>
static __device__ __forceinline__ four<T> load_four(const T *at, int over, bool whole)
{
    four<T> r;
    if (whole) {
        vector_of<T> q = *(const vector_of<T> *)at;
        for (int c = 0; c < 4; c++)
            r.v[c] = q.v[c];
        return r;
    }
    for (int c = 0; c < 4; c++)
        r.v[c] = at[min(c, 3 - over)];
    return r;
}

/* The window of a row of the result. */
struct row_window {
    int from, taps;
    int64_t weights;
};

static __device__ __forceinline__ row_window window_of(const struct axis &a, int y)
{
    return row_window{a.start[y], a.taps(y), a.weights(y)};
}

/* Where column sums of four samples from i on are taken from. */
template <typename T> struct column {
    const tamis_input<T> *in;
    int i, over;
    bool whole;

    __device__ __forceinline__ column(const tamis_input<T> &input, int at, bool aligned)
        : in(&input), i(at)
    {
        over = max(at + 4 - input.w * input.pitch, 0);
        whole = aligned && over == 0;
    }
    __device__ __forceinline__ const T *row(int y) const
    {
        return in->row(y) + i;
    }
};

/* ---- the arithmetic of each stage: column sums of four samples for row y of the result, and from
 * them the sums across for several rows, which are `pitch` sums apart. */

struct fixed {
    typedef uint8_t sample;
    typedef int16_t sum; /* in 1/64 level */
    enum { ROWS = 8 };

    /* Samples less 128, so that they and the weights are signed; what that takes away is 128 times
     * the sum of the weights. Two rows at a time: they lie side by side for a multiply-add of two.
     */
    template <bool WHOLE>
    static __device__ __forceinline__ int load(const uint8_t *at, const column<uint8_t> &in)
    {
        if (WHOLE)
            return (int)(*(const unsigned *)at ^ 0x80808080u);
        four<uint8_t> q = load_four(at, in.over, false);
        return (int)((q.v[0] | q.v[1] << 8 | q.v[2] << 16 | (unsigned)q.v[3] << 24) ^ 0x80808080u);
    }

    static __device__ __forceinline__ void add(int p, int q, int pair, int (&acc)[4])
    {
        int low = (int)__byte_perm(p, q, 0x5140), high = (int)__byte_perm(p, q, 0x7362);
        acc[0] = __dp2a_lo(pair, low, acc[0]);
        acc[1] = __dp2a_hi(pair, low, acc[1]);
        acc[2] = __dp2a_lo(pair, high, acc[2]);
        acc[3] = __dp2a_hi(pair, high, acc[3]);
    }

    static __device__ __forceinline__ four<sum> rounded(const int (&acc)[4], int shift)
    {
        four<sum> r;
        for (int c = 0; c < 4; c++)
            r.v[c] = (sum)(acc[c] >> shift);
        return r;
    }

    /* Short windows: all loads at once. */
    template <int PAIRS>
    static __device__ __forceinline__ four<sum>
    short_columns(const column<uint8_t> &in, const row_window &y, const struct axis &a)
    {
        int shift = a.bits - RESIZE_FRACTION, first = (1 << (shift - 1)) + (128 << a.bits);
        int acc[4] = {first, first, first, first}, samples[2 * PAIRS], w[PAIRS];
        const uint8_t *at = in.row(y.from);
#pragma unroll
        for (int m = 0; m < 2 * PAIRS; m++) {
            samples[m] = load<true>(at, in);
            at += in.in->stride;
        }
#pragma unroll
        for (int m = 0; m < PAIRS; m++)
            w[m] = ((const int *)(a.q + y.weights))[m];
#pragma unroll
        for (int m = 0; m < PAIRS; m++)
            add(samples[2 * m], samples[2 * m + 1], w[m], acc);
        return rounded(acc, shift);
    }

    template <bool WHOLE>
    static __device__ __forceinline__ four<sum> columns(const column<uint8_t> &in,
                                                        const row_window &y, const struct axis &a)
    {
        if (WHOLE && y.taps == 2)
            return short_columns<1>(in, y, a);
        if (WHOLE && y.taps == 4)
            return short_columns<2>(in, y, a);
        if (WHOLE && y.taps == 6)
            return short_columns<3>(in, y, a);
        int shift = a.bits - RESIZE_FRACTION;
        const int *w = (const int *)(a.q + y.weights); /* in pairs */
        const uint8_t *at = in.row(y.from);
        const int64_t stride = in.in->stride;
        int first = (1 << (shift - 1)) + (128 << a.bits);
        int acc[4] = {first, first, first, first};
        for (int m = 0; m < y.taps; m += 2) {
            /* Behind the last is a weight of 0. */
            int p = load<WHOLE>(at, in);
            int q = load<WHOLE>(at + (m + 1 < y.taps ? stride : 0), in);
            add(p, q, w[m / 2], acc);
            at += 2 * stride;
        }
        return rounded(acc, shift);
    }

    template <int N>
    static __device__ __forceinline__ void across(const sum *s, int pitch, int step,
                                                  const struct axis &a, int x, uint8_t (&out)[N])
    {
        const int16_t *w = a.q + a.weights(x);
        int taps = a.taps(x), last = a.bits + RESIZE_FRACTION, total[N];
        for (int v = 0; v < N; v++)
            total[v] = 1 << (last - 1);
        for (int k = 0; k < taps; k++) {
            int weight = w[k];
#pragma unroll
            for (int v = 0; v < N; v++)
                total[v] += weight * s[v * pitch + k * step];
        }
        for (int v = 0; v < N; v++)
            out[v] = tamis_sample<uint8_t>::of_int(total[v] >> last);
    }

    /* The sum that lane k of eight begins, of every eighth sample. */
    static __device__ __forceinline__ uint8_t lanes(const sum *s, int step, const struct axis &a,
                                                    int x, int lane)
    {
        const int16_t *w = a.q + a.weights(x);
        int taps = a.taps(x), last = a.bits + RESIZE_FRACTION, total = 0;
        for (int k = lane; k < taps; k += 8)
            total += w[k] * s[(int64_t)k * step];
        for (int bit = 4; bit; bit /= 2)
            total += __shfl_xor_sync(0xffffffffu, total, bit);
        return tamis_sample<uint8_t>::of_int((total + (1 << (last - 1))) >> last);
    }
};

template <typename T> struct floating {
    typedef T sample;
    typedef float sum;
    enum { ROWS = 4 };

    template <bool WHOLE>
    static __device__ __forceinline__ four<float> columns(const column<T> &in, const row_window &y,
                                                          const struct axis &a)
    {
        const float *w = a.f + y.weights;
        const char *at = (const char *)in.row(y.from);
        four<float> r = {{0, 0, 0, 0}};
        for (int m = 0; m < y.taps; m++) {
            four<T> q = load_four((const T *)at, in.over, WHOLE);
            float weight = w[m];
            for (int c = 0; c < 4; c++)
                r.v[c] = __fadd_rn(r.v[c], __fmul_rn(weight, (float)q.v[c]));
            at += in.in->stride;
        }
        return r;
    }

    template <int N>
    static __device__ __forceinline__ void across(const float *s, int pitch, int step,
                                                  const struct axis &a, int x, T (&out)[N])
    {
        const float *w = a.f + a.weights(x);
        int taps = a.taps(x);
        float t[8][N];
        for (int u = 0; u < 8; u++)
            for (int v = 0; v < N; v++)
                t[u][v] = 0;
        for (int k = 0; k < taps; k += 8)
#pragma unroll
            for (int u = 0; u < 8; u++) {
                if (k + u >= taps)
                    continue;
                float weight = w[k + u];
#pragma unroll
                for (int v = 0; v < N; v++)
                    t[u][v] = __fadd_rn(t[u][v], __fmul_rn(weight, s[v * pitch + (k + u) * step]));
            }
        for (int v = 0; v < N; v++)
            out[v] = tamis_sample<T>::of(
                __fadd_rn(__fadd_rn(__fadd_rn(t[0][v], t[4][v]), __fadd_rn(t[2][v], t[6][v])),
                          __fadd_rn(__fadd_rn(t[1][v], t[5][v]), __fadd_rn(t[3][v], t[7][v]))));
    }

    static __device__ __forceinline__ T lanes(const float *s, int step, const struct axis &a, int x,
                                              int lane)
    {
        const float *w = a.f + a.weights(x);
        int taps = a.taps(x);
        float total = 0;
        for (int k = lane; k < taps; k += 8)
            total = __fadd_rn(total, __fmul_rn(w[k], s[(int64_t)k * step]));
        for (int bit = 4; bit; bit /= 2)
            total = __fadd_rn(total, __shfl_xor_sync(0xffffffffu, total, bit));
        return tamis_sample<T>::of(total);
    }
};

template <typename P>
static __device__ __forceinline__ four<typename P::sum>
columns_of_row(const column<typename P::sample> &in, const row_window &y, const struct axis &a)
{
    return in.whole ? P::template columns<true>(in, y, a) : P::template columns<false>(in, y, a);
}

} // namespace

#endif
