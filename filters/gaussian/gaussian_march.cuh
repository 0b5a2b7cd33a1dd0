/* SPDX-License-Identifier: Apache-2.0 */
/* The separable Gaussian of small windows, of all types but bytes: threads march down the image,
 * each with the last 2R+1 rows of four samples in registers. A row's column sums pass between the
 * lanes of a warp. R and the samples of a pixel are known to the compiler. */
#ifndef TAMIS_GAUSSIAN_MARCH_CUH
#define TAMIS_GAUSSIAN_MARCH_CUH

#include "gaussian_sharpen.cuh"
#include "kernel.cuh"

namespace
{

enum { MARCH_MAX_RADIUS = 7 };
/* Samples at each side of a warp's 128 that only lend their sums; and those between. */
#define MARCH_SIDE(reach)  (((reach) + 3) / 4 * 4)
#define MARCH_INNER(reach) (128 - 2 * MARCH_SIDE(reach))

/* Taps by distance, as constants of the launch. */
struct march_taps {
    float down[MARCH_MAX_RADIUS + 1], across[MARCH_MAX_RADIUS + 1];
    double d_down[MARCH_MAX_RADIUS + 1], d_across[MARCH_MAX_RADIUS + 1]; /* f32 */
};

template <typename T> struct march_args {
    tamis_inputs<T> in;
    tamis_output out;
    march_taps taps;
    gaussian_end end;
    int shift_x, shift_y; /* samples, rows */
    int first;            /* first sample of the first strip's output, a multiple of 4 */
    int rows;             /* that a block makes */
    int64_t strips;       /* in a row */
};

/* ---- four samples, as they come from memory and go there */

/* Words, so that one load stays one register until it is needed. */
template <typename T> struct march_raw {
    uint2 v;
};
template <> struct march_raw<float> {
    float4 v;
};

/* 2^23: adding it leaves a whole number below it in the low bits. */
#define MARCH_MAGIC 8388608.f

static __device__ __forceinline__ void march_floats(march_raw<uint16_t> r, float *v)
{
    const unsigned words[2] = {r.v.x, r.v.y};
    for (int c = 0; c < 4; c++)
        v[c] = __fsub_rn(
            __uint_as_float(__byte_perm(words[c / 2], 0x4b000000, c % 2 ? 0x7432 : 0x7410)),
            MARCH_MAGIC);
}

/* With the sign bit turned around, counted from 2^23 + 2^15. */
static __device__ __forceinline__ void march_floats(march_raw<int16_t> r, float *v)
{
    const unsigned words[2] = {r.v.x ^ 0x80008000, r.v.y ^ 0x80008000};
    for (int c = 0; c < 4; c++)
        v[c] = __fsub_rn(
            __uint_as_float(__byte_perm(words[c / 2], 0x4b000000, c % 2 ? 0x7432 : 0x7410)),
            MARCH_MAGIC + 32768);
}

static __device__ __forceinline__ void march_floats(march_raw<float> r, float *v)
{
    v[0] = r.v.x;
    v[1] = r.v.y;
    v[2] = r.v.z;
    v[3] = r.v.w;
}

/* ---- the arithmetic of each type. Rows are ring[(s + j) % K], j = 0 .. 2R; the window of a row of
 * sums has the four outputs' places at w[side] .. w[side+3]. */

template <typename T> struct march_single { /* u16, s16 */
    typedef T sample;

    template <int R>
    static __device__ __forceinline__ void column(const float (*ring)[4], int s, int c,
                                                  const march_taps &t, float *out)
    {
        const int K = 2 * R + 1;
        float sum = __fmul_rn(t.down[0], ring[(s + R) % K][c]);
        for (int j = 1; j <= R; j++)
            sum =
                fmaf(t.down[j], __fadd_rn(ring[(s + R - j) % K][c], ring[(s + R + j) % K][c]), sum);
        *out = sum;
    }

    template <int R, int STEP>
    static __device__ __forceinline__ void row(const float *w, const march_taps &t, float *out)
    {
        for (int c = 0; c < 4; c++) {
            float sum = __fmul_rn(t.across[0], w[c]);
            for (int j = 1; j <= R; j++)
                sum = fmaf(t.across[j], __fadd_rn(w[c - j * STEP], w[c + j * STEP]), sum);
            out[c] = sum;
        }
    }

    /* In the low 16 bits. */
    static __device__ __forceinline__ unsigned round(float v)
    {
        const float low = T(-1) < 0 ? -32768.f : 0.f, high = T(-1) < 0 ? 32767.f : 65535.f;
        v = fminf(fmaxf(v, low), high);
        return __float_as_uint(__fadd_rn(v, 12582912.f)); /* 1.5 * 2^23: ties to even */
    }

    static __device__ __forceinline__ march_raw<T> pack(const float *v)
    {
        return march_raw<T>{make_uint2(__byte_perm(round(v[0]), round(v[1]), 0x5410),
                                       __byte_perm(round(v[2]), round(v[3]), 0x5410))};
    }
};

/* Differences from the center, in which rounding errors are as small as they are; where that is not
 * finite, plain sums. */
struct march_centered { /* f32 */
    typedef float sample;

    static __device__ __noinline__ float plain(const float *v, int radius, const double *taps)
    {
        double sum = taps[0] * v[radius];
        for (int j = 1; j <= radius; j++)
            sum += taps[j] * ((double)v[radius - j] + v[radius + j]);
        return (float)sum;
    }

    template <int R>
    static __device__ __forceinline__ void column(const float (*ring)[4], int s, int c,
                                                  const march_taps &t, float *out)
    {
        const int K = 2 * R + 1;
        float center = ring[(s + R) % K][c], sum = center;
        for (int j = 1; j <= R; j++)
            sum = fmaf(t.down[j],
                       __fsub_rn(__fadd_rn(ring[(s + R - j) % K][c], ring[(s + R + j) % K][c]),
                                 __fadd_rn(center, center)),
                       sum);
        if (!isfinite(sum)) {
            float copy[K];
            for (int j = 0; j < K; j++)
                copy[j] = ring[(s + j) % K][c];
            sum = plain(copy, R, t.d_down);
        }
        *out = sum;
    }

    template <int R, int STEP>
    static __device__ __forceinline__ void row(const float *w, const march_taps &t, float *out)
    {
        for (int c = 0; c < 4; c++) {
            float center = w[c], sum = center;
            for (int j = 1; j <= R; j++)
                sum = fmaf(t.across[j],
                           __fsub_rn(__fadd_rn(w[c - j * STEP], w[c + j * STEP]),
                                     __fadd_rn(center, center)),
                           sum);
            if (!isfinite(sum)) {
                float copy[2 * R + 1];
                for (int j = 0; j <= 2 * R; j++)
                    copy[j] = w[c + (j - R) * STEP];
                sum = plain(copy, R, t.d_across);
            }
            out[c] = sum;
        }
    }

    static __device__ __forceinline__ march_raw<float> pack(const float *v)
    {
        return march_raw<float>{make_float4(v[0], v[1], v[2], v[3])};
    }
};

/* ---- the kernel */

/* The rows of a lane's four samples, from the top down. Where they come from across is found once,
 * since it is the same for all rows. */
template <typename T, int STEP> struct march_source {
    const char *data;
    int64_t stride;
    tamis_border border;
    int h, top, bottom;
    int i, y;           /* of the next row */
    int last;           /* row that may be read */
    bool inside;        /* all four columns are */
    int from[4];        /* where they are not: the samples that stand for them, -1: blank */
    march_raw<T> blank; /* the border's value */

    __device__ __forceinline__ void begin(const tamis_input<T> &in, int column, int row, int end)
    {
        data = in.data();
        stride = in.stride;
        border = in.border;
        h = in.h;
        top = in.top;
        bottom = in.bottom;
        i = column;
        y = row;
        last = end;
        inside = i >= 0 && (int64_t)i + 4 <= (int64_t)in.w * STEP;
        T values[4];
        for (int c = 0; c < 4; c++) {
            int x = tamis_pixel_of(i + c, STEP), channel = i + c - x * STEP;
            int u = tamis_index(border, x, in.w);
            from[c] = u < 0 ? -1 : min(max(u, in.left), in.right) * STEP + channel;
            values[c] = (T)in.outside[channel];
        }
        memcpy(&blank, values, sizeof blank);
    }

    __device__ __forceinline__ march_raw<T> next()
    {
        int v = tamis_index(border, y, h);
        y += y < last;
        if (v < 0)
            return blank;
        const T *row = (const T *)(data + min(max(v, top), bottom) * stride);
        if (inside)
            return *(const march_raw<T> *)(row + i);
        march_raw<T> r = blank;
        T values[4];
        memcpy(values, &r, sizeof values);
        for (int c = 0; c < 4; c++)
            if (from[c] >= 0)
                values[c] = row[from[c]];
        memcpy(&r, values, sizeof r);
        return r;
    }
};

/* At the ends of a row, where not all four are the part's. */
template <typename T>
static __device__ __forceinline__ void march_store_some(T *to, int begin, int end, march_raw<T> r)
{
    T v[4];
    memcpy(v, &r, sizeof v);
    for (int c = 0; c < 4; c++)
        if (c >= begin && c < end)
            to[c] = v[c];
}

/* The samples beside a lane's four, from the lanes beside it: w[i] is sample i of the warp's row,
 * counted from the lane's first. */
template <int REACH>
static __device__ __forceinline__ void march_window(const float *mine, float *w)
{
    const unsigned all = 0xffffffffu;
    for (int c = 0; c < 4; c++)
        w[c] = mine[c];
#pragma unroll
    for (int i = 1; i <= REACH; i++) {
        w[-i] = __shfl_up_sync(all, mine[(4 * REACH - i) % 4], (i + 3) / 4);
        w[3 + i] = __shfl_down_sync(all, mine[(i - 1) % 4], (i + 3) / 4);
    }
}

/* A block is one warp, so that none waits for another, and the compiler sees that its lanes stay
 * together. The next rows are on their way meanwhile: memory that answers after a thousand cycles
 * keeps busy only if asked for as much ahead. */
template <typename P, int R, int STEP>
__global__ void __launch_bounds__(32)
    march(const __grid_constant__ march_args<typename P::sample> a)
{
    typedef typename P::sample T;
    const int K = 2 * R + 1, ROUND = K < 5 ? 2 * K : K, REACH = R * STEP;
    const int AHEAD = sizeof(T) < 4 || K <= 5 ? ROUND : 1;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int lane = threadIdx.x;
    int x =
        a.first + (int)(blockIdx.x % a.strips) * MARCH_INNER(REACH) - MARCH_SIDE(REACH) + 4 * lane;
    int begin = a.out.x * STEP, end = (a.out.x + a.out.w) * STEP;
    int y = a.out.y + (int)(blockIdx.x / a.strips) * a.rows;
    int y_end = min(y + a.rows, a.out.y + a.out.h);
    bool mine = 4 * lane >= MARCH_SIDE(REACH) && 4 * lane < 128 - MARCH_SIDE(REACH);
    bool writes = mine && x + 4 > begin && x < end, whole = mine && x >= begin && x + 4 <= end;

    march_source<T, STEP> source;
    source.begin(in, x + a.shift_x, y + a.shift_y - R, y_end - 1 + a.shift_y + R);
    char *to = a.out.data(blockIdx.y) + y * a.out.stride[blockIdx.y] + x * (int64_t)sizeof(T);
    const int64_t to_stride = a.out.stride[blockIdx.y];

    float ring[K][4];
    march_raw<T> coming[AHEAD];
    for (int j = 0; j < 2 * R; j++)
        march_floats(source.next(), ring[j]);
    for (int j = 0; j < AHEAD; j++)
        coming[j] = source.next();
    while (y < y_end) {
#pragma unroll
        for (int s = 0; s < ROUND; s++) {
            if (y >= y_end)
                break;
            march_floats(coming[s % AHEAD], ring[(s + 2 * R) % K]);
            coming[s % AHEAD] = source.next();
            float sum[4], w[4 + 2 * REACH];
            for (int c = 0; c < 4; c++)
                P::template column<R>(ring, s % K, c, a.taps, &sum[c]);
            march_window<REACH>(sum, w + REACH);
            float out[4];
            P::template row<R, STEP>(w + REACH, a.taps, out);
            if (a.end.sharpens)
                for (int c = 0; c < 4; c++) {
                    float in = ring[(s + R) % K][c];
                    out[c] = gaussian_sharpened(a.end, in, __fsub_rn(in, out[c]));
                }
            march_raw<T> result = P::pack(out);
            if (whole)
                *(march_raw<T> *)to = result;
            else if (writes)
                march_store_some<T>((T *)to, begin - x, end - x, result);
            to += to_stride;
            y++;
        }
    }
}

} // namespace

#endif
