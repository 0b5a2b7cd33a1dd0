/* SPDX-License-Identifier: Apache-2.0 */
/* The device kernel of the bilateral filter for small windows, by pairs of pixels.
 *
 * As w(p,q) = w(q,p), each weight serves both pixels where one thread has both: a thread has a few
 * columns and walks down the rows, pairing each pixel with those to its right and below, whose sums
 * wait in registers. A warp has a strip of its own, whose rows on the way lie in shared memory. */
#ifndef TAMIS_BILATERAL_PAIRS_CUH
#define TAMIS_BILATERAL_PAIRS_CUH

#include "bilateral_device.cuh"

namespace
{

enum { WARP = 32, NEAR = 5 };

/* The same within 1e-4, without the unit that powers and conversions share. */
static __device__ __forceinline__ float rough_power(float t)
{
    t = fmaxf(t, -126);
    float rounded = __fadd_rn(t, 12582912.f); /* 1.5 * 2^23: the lowest bits are the integer */
    float f = __fsub_rn(t, __fsub_rn(rounded, 12582912.f));
    float v = fmaf(fmaf(fmaf(0.05517167f, f, 0.24261113f), f, 0.693261f), f, 0.99992806f);
    return __uint_as_float(__float_as_uint(v) + (__float_as_uint(rounded) << 23));
}

template <typename T, int N_, int R_, int W_> struct shape {
    typedef T type;
    enum {
        N = N_,
        R = R_,
        W = W_, /* columns of a thread */
        COLUMNS = W * WARP,
        READ = (W + 2 * R + 3) / 4 * 4,             /* of a row by a thread */
        PITCH = (COLUMNS - W + READ + 3) / 4 * 4,   /* of a row in shared memory */
        FILL = (COLUMNS + 2 * R + WARP - 1) / WARP, /* by a thread */
        ROWS = R + 2,                               /* on the way */
        RING = ROWS * N * PITCH,                    /* floats of a warp in shared memory */
        /* Warps of a block, which go down their rows together: as many as registers are there for,
         * once or twice. */
        WIDE = (N == 1 && R == 5) || (N == 3 && R == 3),
        WARPS = WIDE ? 12 : 8,
        BLOCKS = WIDE || R == 5 ? 1 : 2,
        SCALED = sizeof(T) < 4, /* samples are in units in which D^2 is the exponent */
        ROUGH = sizeof(T) == 1 && N == 1 && R >= 3 /* some weights may be, to balance units */
    };
};

/* What kernels for pairs have in common: the pictures, and how warps share out the part. */
struct pair_args {
    struct picture src;
    int w, h;
    tamis_border border;
    int shift_x, shift_y;
    tamis_output out;
    int64_t strips, count; /* strips beside each other, and all of them */
    int rows;              /* of a strip */
};

struct near_args : pair_args {
    bool vectors;             /* whether a thread's columns are aligned as a vector */
    float range, unit, scale; /* unit: what SCALED samples are multiplied by; scale = 1 / unit */
    float space[(NEAR + 1) * (NEAR + 1)]; /* at dy * (NEAR + 1) + |dx| */
};

/* A warp's strip. Rows count in the output, columns and rows that are read in the input. */
struct pair_strip {
    bool any;      /* whether there is one */
    int x0, y0;    /* of its first output */
    int y1;        /* the row behind its last; no row is before it where there is no strip */
    int left, top; /* where what it reads begins */
    int end;       /* the column behind what it needs */

    __device__ __forceinline__ pair_strip(const struct pair_args &a, int columns, int radius)
    {
        int64_t i = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
        any = i < a.count;
        x0 = a.out.x + (int)(i % a.strips) * columns;
        y0 = a.out.y + (int)(i / a.strips) * a.rows;
        y1 = any ? min(y0 + a.rows, a.out.y + a.out.h) : y0 - radius;
        left = x0 + a.shift_x - radius;
        top = y0 + a.shift_y - radius;
        end = min(x0 + columns, a.out.x + a.out.w) + a.shift_x + radius;
    }
};

/* The image's columns that a warp reads: that which stands for each, -1 for the border's value and
 * where nothing is needed. */
template <typename S>
static __device__ __forceinline__ void strip_columns(const struct pair_args &a,
                                                     const struct pair_strip &strip, int *columns)
{
#pragma unroll 1
    for (int i = (int)threadIdx.x % WARP; i < S::SPAN; i += WARP) {
        int x = strip.left + i;
        columns[i] = x < strip.end ? tamis_index(a.border, x, a.w) : -1;
    }
    __syncwarp();
}

template <typename T> static __device__ __forceinline__ float widen(T v)
{
    return (float)v;
}
/* By way of the bits of 2^23 + v, as conversions are slow. */
template <> __device__ __forceinline__ float widen(uint8_t v)
{
    return __fsub_rn(__uint_as_float(0x4B000000 | v), 8388608.f);
}
template <> __device__ __forceinline__ float widen(uint16_t v)
{
    return __fsub_rn(__uint_as_float(0x4B000000 | v), 8388608.f);
}

/* And back, by way of the bits of 2^23 + v, of means of samples. */
template <typename T> static __device__ __forceinline__ T narrow(float v)
{
    return tamis_sample<T>::of(v);
}
template <> __device__ __forceinline__ uint8_t narrow(float v)
{
    return (uint8_t)__float_as_uint(__fadd_rn(v, 8388608.f));
}
template <> __device__ __forceinline__ uint16_t narrow(float v)
{
    return (uint16_t)__float_as_uint(__fadd_rn(v, 8388608.f));
}

/* A row of the strip on its way from the image to shared memory: every 32nd sample, from a thread's
 * lane on. */
template <typename S> struct carried {
    typedef typename S::type T;
    T v[S::N][S::FILL];

    /* Where all that is read lies in the image. */
    __device__ __forceinline__ void load(const struct near_args &a, int left, int y)
    {
#pragma unroll
        for (int p = 0; p < S::N; p++) {
            const char *row = tamis_picture(a.src.data[p], a.src.next) + y * a.src.stride[p];
            const T *from =
                (const T *)row + (int64_t)(left + (int)threadIdx.x % WARP) * a.src.pitch;
#pragma unroll
            for (int i = 0; i < S::FILL; i++)
                v[p][i] = from[WARP * i * a.src.pitch];
        }
    }

    __device__ __forceinline__ void store(const struct near_args &a, float *row) const
    {
        int lane = threadIdx.x % WARP;
#pragma unroll
        for (int p = 0; p < S::N; p++)
#pragma unroll
            for (int i = 0; i < S::FILL; i++)
                if (i < S::FILL - 1 || lane + WARP * i < S::PITCH)
                    row[p * S::PITCH + lane + WARP * i] = scaled(a, widen<T>(v[p][i]));
    }

    static __device__ __forceinline__ float scaled(const struct near_args &a, float v)
    {
        return S::SCALED ? __fmul_rn(v, a.unit) : v;
    }

    /* At once, at any place; no columns from end on. */
    static __device__ __forceinline__ void bring(const struct near_args &a, int left, int y,
                                                 int end, float *row)
    {
        int at = tamis_index(a.border, y, a.h);
#pragma unroll 1
        for (int p = 0; p < S::N; p++)
#pragma unroll 1
            for (int i = (int)threadIdx.x % WARP; i < S::PITCH && left + i < end; i += WARP) {
                int column = tamis_index(a.border, left + i, a.w);
                float v = a.src.outside[p];
                if (at >= 0 && column >= 0)
                    v = sample<T>(a.src, p, column, at);
                row[p * S::PITCH + i] = scaled(a, v);
            }
    }
};

/* What a thread sees of a row. */
template <typename S> struct seen {
    float v[S::N][S::READ];

    __device__ __forceinline__ seen(const float *row)
    {
#pragma unroll
        for (int p = 0; p < S::N; p++)
#pragma unroll
            for (int i = 0; i < S::READ; i += 4) {
                float4 q = *(const float4 *)(row + p * S::PITCH + threadIdx.x % WARP * S::W + i);
                v[p][i] = q.x;
                v[p][i + 1] = q.y;
                v[p][i + 2] = q.z;
                v[p][i + 3] = q.w;
            }
    }
};

/* Sums of weights times differences from the pixel, and of weights. */
template <typename S> struct sums {
    float delta[S::W][S::N], weight[S::W];

    __device__ __forceinline__ void begin()
    {
#pragma unroll
        for (int c = 0; c < S::W; c++) {
            weight[c] = 1; /* the pixel itself */
            for (int p = 0; p < S::N; p++)
                delta[c][p] = 0;
        }
    }
};

/* All pairs of pixels of row p and of row q, dy rows below. Each pixel takes its pairs in the order
 * of the image. */
template <typename S>
static __device__ __forceinline__ void pair_rows(const struct near_args &a, const seen<S> &p,
                                                 const seen<S> &q, int dy, sums<S> &of_p,
                                                 sums<S> &of_q)
{
    const int R = S::R, W = S::W;
#pragma unroll
    for (int i = 0; i < W + 2 * R; i++)
#pragma unroll
        for (int j = 0; j < W + 2 * R; j++) {
            int dx = j - i;
            bool p_mine = i >= R && i < R + W, q_mine = j >= R && j < R + W;
            if (dx > R || dx < (dy ? -R : 1) || (!p_mine && !q_mine))
                continue;
            float d[S::N], t = a.space[dy * (NEAR + 1) + (dx < 0 ? -dx : dx)];
#pragma unroll
            for (int c = 0; c < S::N; c++) {
                d[c] = __fsub_rn(q.v[c][j], p.v[c][i]);
                t = fmaf(S::SCALED ? -d[c] : __fmul_rn(d[c], -a.range), d[c], t);
            }
            bool rough = S::ROUGH && dx == -R && (dy % 2 || R > 3);
            float w = rough ? rough_power(t) : tamis_rough_exp2(t);
            if (p_mine) {
                of_p.weight[i - R] = __fadd_rn(of_p.weight[i - R], w);
#pragma unroll
                for (int c = 0; c < S::N; c++)
                    of_p.delta[i - R][c] = fmaf(w, d[c], of_p.delta[i - R][c]);
            }
            if (q_mine) {
                of_q.weight[j - R] = __fadd_rn(of_q.weight[j - R], w);
#pragma unroll
                for (int c = 0; c < S::N; c++)
                    of_q.delta[j - R][c] = fmaf(-w, d[c], of_q.delta[j - R][c]);
            }
        }
}

template <typename S>
static __device__ __forceinline__ void store_row(const struct near_args &a, const seen<S> &own,
                                                 const sums<S> &s, int x0, int y)
{
    typedef typename S::type T;
    struct __align__(S::W * sizeof(T)) vector
    {
        T v[S::W];
    };
    int x = x0 + (int)threadIdx.x % WARP * S::W, end = a.out.x + a.out.w;
    float scale[S::W], weight[S::W];
#pragma unroll
    for (int c = 0; c < S::W; c++) {
        weight[c] = s.weight[c];
        scale[c] = S::SCALED ? tamis_rough_reciprocal(weight[c]) : 1;
        for (int p = 0; p < S::N && S::N > 1 && !S::SCALED; p++)
            weight[c] = fmaf(s.delta[c][p], 0, weight[c]); /* not finite: then of all planes */
    }
#pragma unroll
    for (int p = 0; p < S::N; p++) {
        struct vector q;
#pragma unroll
        for (int c = 0; c < S::W; c++) {
            float center = own.v[p][S::R + c], v;
            if (S::SCALED)
                v = __fmul_rn(fmaf(s.delta[c][p], scale[c], center), a.scale);
            else
                v = __fadd_rn(center, __fdiv_rn(s.delta[c][p], weight[c]));
            q.v[c] = narrow<T>(v);
        }
        T *to = tamis_row<T>(a.out, p, y) + (int64_t)x * a.out.pitch;
        if (a.vectors && x + S::W <= end) {
            *(struct vector *)to = q;
            continue;
        }
#pragma unroll
        for (int c = 0; c < S::W; c++)
            if (x + c < end)
                to[c * a.out.pitch] = q.v[c];
    }
}

template <typename S>
__global__ void __launch_bounds__(S::WARPS *WARP, S::BLOCKS) near(const struct near_args a)
{
    TAMIS_SHARED_BYTES(shared);
    const int line = S::N * S::PITCH;
    const struct pair_strip strip(a, S::COLUMNS, S::R);
    const int left = strip.left, end = strip.end;
    float *ring = (float *)shared + threadIdx.x / WARP * S::RING;
    bool inside = left >= 0 && left + S::FILL * WARP <= a.w && strip.top >= 0 &&
                  strip.y1 + a.shift_y + S::R <= a.h;
    carried<S> next;
    sums<S> s[S::R + 1]; /* of rows y .. y + R */
    if (strip.any)
        for (int r = 0; r <= S::R; r++)
            carried<S>::bring(a, left, strip.top + r, end, ring + r * line);
#pragma unroll
    for (int r = 0; r <= S::R; r++)
        s[r].begin();
    int slot = 0; /* of row y */
    for (int i = 0; i < a.rows + S::R; i++) {
        int y = strip.y0 - S::R + i;
        __syncthreads(); /* so that warps run through the same instructions together, too */
        if (y >= strip.y1)
            continue;
        float *free = ring + (slot ? slot - 1 : S::ROWS - 1) * line;
        bool more = y + 1 < strip.y1;
        if (more && inside)
            next.load(a, left, y + a.shift_y + S::R + 1);
        seen<S> p(ring + slot * line);
        pair_rows<S>(a, p, p, 0, s[0], s[0]);
#pragma unroll
        for (int dy = 1; dy <= S::R; dy++) {
            int at = slot + dy < S::ROWS ? slot + dy : slot + dy - S::ROWS;
            seen<S> q(ring + at * line);
            pair_rows<S>(a, p, q, dy, s[0], s[dy]);
        }
        if (y >= strip.y0)
            store_row<S>(a, p, s[0], strip.x0, y);
#pragma unroll
        for (int r = 0; r < S::R; r++)
            s[r] = s[r + 1];
        s[S::R].begin();
        if (more && inside)
            next.store(a, free);
        else if (more)
            carried<S>::bring(a, left, y + a.shift_y + S::R + 1, end, free);
        slot = slot + 1 < S::ROWS ? slot + 1 : 0;
    }
}

} // namespace

#endif
