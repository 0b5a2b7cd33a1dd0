/* SPDX-License-Identifier: Apache-2.0 */
/* The Gaussian on a grid, with the arithmetic of gaussian_grid.c for integers and of its vector
 * kernels for f32: weighted sums of differences, of halves where a difference may be beyond
 * binary32.
 *
 * Columns go down to the grid, then rows; the grid, which lies in scratch memory, is filtered along
 * rows and columns; columns of the result are made from it with their rows raised on the way. NaN
 * and Inf count as 0 there; only where there are any, windows are searched for them. */
#include "gaussian_grid.cuh"

#include "gaussian_kernel.h"
#include "gaussian_sharpen.cuh"
#include "pixels.cuh"

enum { THREADS = 128, SIDE = 4 /* samples of a thread */, RAISED = 32 /* rows */ };

struct grid_axis {
    int step, radius;
    const float *down, *up;
    const float *f;
    const double *d;
    int window; /* radius of the Gaussian, in samples */
};

struct grid_state {
    struct grid_axis x, y;
};

/* A part's grid, all planes of it: rows of floats in scratch memory. */
struct grid_args {
    tamis_output out;
    struct grid_axis x, y;
    int channels;
    int columns, rows;    /* of the grid, with what the Gaussian there reads */
    int first_x, first_y; /* sample and row of the source where its first weight stands */
    int lead;             /* samples before that, which make loads aligned */
    int group;            /* rows of the grid that a thread makes */
    int phase_x, phase_y; /* of the part's first pixel in its cell */
    int shift_x, shift_y;
    bool aligned;
    float *lines; /* columns gone down; from the first row that the grid needs */
    int line;     /* floats of a row of that */
    float *grid, *across;
    int stride; /* floats of a row of the grid */
    int64_t lines_plane, grid_plane;
    int64_t next;         /* bytes to the same of the next picture */
    unsigned char *masks; /* f32: what rows beside a row hold of NaN and Inf */
    int mask;             /* bytes of a row of that */
    int64_t mask_plane;
    int *special; /* whether there are any */
    int64_t across_tiles;
};

template <typename T> struct grid_source {
    tamis_inputs<T> in;
};

template <typename T> struct grid_is_float {
    enum { YES = 0 };
};
template <> struct grid_is_float<float> {
    enum { YES = 1 };
};

/* ---- down */

/* A sum that begins with each step: of weighted samples, or of differences of halves from that in
 * the middle. */
template <typename T> struct falling {
    float sum, middle; /* minus half of it */

    __device__ __forceinline__ void begin(float m)
    {
        sum = 0;
        middle = grid_is_float<T>::YES ? m * -0.5f : 0;
    }
    __device__ __forceinline__ void add(float weight, float v)
    {
        sum = fmaf(weight, grid_is_float<T>::YES ? fmaf(v, 0.5f, middle) : v, sum);
    }
    __device__ __forceinline__ float value() const
    {
        return grid_is_float<T>::YES ? (sum - middle) * 2 : sum;
    }
};

template <typename T>
static __device__ __forceinline__ void load_samples(const tamis_input<T> &in, int i, int y,
                                                    bool inside, bool aligned, float (&v)[SIDE],
                                                    bool *special)
{
    T raw[SIDE];
    if (inside && aligned) {
        tamis_vector_load<T>((const char *)(in.row(y) + i), 0, raw);
    } else {
        for (int k = 0; k < SIDE; k++)
            raw[k] = inside ? in.row(y)[i + k] : in.sample(i + k, y);
    }
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        v[k] = (float)raw[k];
        if (grid_is_float<T>::YES && !isfinite(v[k])) {
            v[k] = 0;
            *special = true;
        }
    }
}

/* Four samples side by side as words, so that what is on its way stays one register each. */
template <typename T> struct grid_words {
    unsigned w[sizeof(T)];

    __device__ __forceinline__ void load(const char *p)
    {
        if constexpr (sizeof(T) == 1) {
            w[0] = *(const unsigned *)p;
        } else if constexpr (sizeof(T) == 2) {
            uint2 q = *(const uint2 *)p;
            w[0] = q.x;
            w[1] = q.y;
        } else {
            uint4 q = *(const uint4 *)p;
            w[0] = q.x;
            w[1] = q.y;
            w[2] = q.z;
            w[3] = q.w;
        }
    }
    /* With the bits of 2^23 above them, whole numbers are floats. */
    __device__ __forceinline__ float sample(int k) const
    {
        if constexpr (sizeof(T) == 4)
            return __uint_as_float(w[k]);
        if constexpr (sizeof(T) == 1)
            return __fsub_rn(__uint_as_float(__byte_perm(w[0], 0x4b000000, 0x7440u + (unsigned)k)),
                             8388608.f);
        unsigned flip = (T)-1 < 0 ? 0x80008000u : 0; /* the sign, to count from -32768 on */
        return __fsub_rn(__uint_as_float(__byte_perm(w[k / 2 % sizeof(T)] ^ flip, 0x4b000000,
                                                     k % 2 ? 0x7432 : 0x7410)),
                         8388608.f + ((T)-1 < 0 ? 32768 : 0));
    }
};

/* The same where all samples are there and aligned, N rows at a time, which divides a step; those
 * that come next are on their way. */
template <typename T, int N>
static __device__ __forceinline__ bool
down_fast(const char *from, int64_t stride, const grid_axis &axis, int last, float *to, int line)
{
    grid_words<T> now[N], next[N] = {};
    falling<T> s[3][SIDE] = {};
    bool special = false;
    int left = last * axis.step;
#pragma unroll
    for (int k = 0; k < N; k++)
        now[k].load(from + k * stride);
    for (int g = 0; g < last; g++) {
        grid_words<T> middle = {};
        if (grid_is_float<T>::YES && g + 2 < last)
            middle.load(from + (3 * axis.step / 2 - 1) * stride);
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            float m = grid_is_float<T>::YES ? middle.sample(k) : 0;
            s[2][k] = s[1][k];
            s[1][k] = s[0][k];
            s[0][k].begin(isfinite(m) ? m : 0);
        }
#pragma unroll 1
        for (int j = 0; j < axis.step; j += N) {
            from += N * stride;
            left -= N;
            if (left > 0)
#pragma unroll
                for (int k = 0; k < N; k++)
                    next[k].load(from + k * stride);
#pragma unroll
            for (int k = 0; k < N; k++) {
                float weight[3];
#pragma unroll
                for (int t = 0; t < 3; t++)
                    weight[t] = __ldg(axis.down + t * axis.step + j + k);
#pragma unroll
                for (int c = 0; c < SIDE; c++) {
                    float v = now[k].sample(c);
                    if (grid_is_float<T>::YES && !isfinite(v)) {
                        v = 0;
                        special = true;
                    }
#pragma unroll
                    for (int t = 0; t < 3; t++)
                        s[t][c].add(weight[t], v);
                }
            }
#pragma unroll
            for (int k = 0; k < N; k++)
                now[k] = next[k];
        }
        if (g < 2)
            continue;
        *(float4 *)to =
            make_float4(s[2][0].value(), s[2][1].value(), s[2][2].value(), s[2][3].value());
        to += line;
    }
    return special;
}

/* A thread has four columns and goes down `group` rows of the grid, and two more before them whose
 * weights it shares. */
template <typename T>
__global__ void __launch_bounds__(THREADS) down_columns(grid_source<T> source, grid_args a)
{
    const tamis_input<T> &in = source.in.plane[blockIdx.y];
    int column = ((int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x) * SIDE;
    int row = (int)(blockIdx.x / a.across_tiles) * a.group;
    int i = a.first_x - a.lead + column, step = a.y.step;
    int y = a.first_y + row * step, last = min(a.group, a.rows - row) + 2;
    if (column >= a.line)
        return;
    bool inside = i >= 0 && (int64_t)i + SIDE <= (int64_t)in.w * in.pitch && y >= 0 &&
                  y + last * step <= in.h;
    bool special = false;
    float *to = tamis_picture(a.lines, a.next) + blockIdx.y * a.lines_plane +
                (int64_t)row * a.line + column;
    if (inside && a.aligned) {
        const char *from = (const char *)(in.row(y) + i);
        special = step == 2   ? down_fast<T, 2>(from, in.stride, a.y, last, to, a.line)
                  : step == 4 ? down_fast<T, 4>(from, in.stride, a.y, last, to, a.line)
                              : down_fast<T, 8>(from, in.stride, a.y, last, to, a.line);
        if (special)
            *tamis_picture(a.special, a.next) = 1;
        return;
    }
    falling<T> s[3][SIDE] = {};
    for (int g = 0; g < last; g++, y += step) {
        float v[SIDE] = {};
        if (grid_is_float<T>::YES && g + 2 < last)
            load_samples<T>(in, i, y + 3 * step / 2 - 1, inside, a.aligned, v, &special);
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            s[2][k] = s[1][k];
            s[1][k] = s[0][k];
            s[0][k].begin(v[k]);
        }
        for (int j = 0; j < step; j += 2) { /* steps are powers of two */
            float rows[2][SIDE];
#pragma unroll
            for (int k = 0; k < 2; k++)
                load_samples<T>(in, i, y + j + k, inside, a.aligned, rows[k], &special);
#pragma unroll
            for (int t = 0; t < 6; t++) {
                float weight = __ldg(a.y.down + t / 2 * step + j + t % 2);
#pragma unroll
                for (int k = 0; k < SIDE; k++)
                    s[t / 2][k].add(weight, rows[t % 2][k]);
            }
        }
        if (g < 2)
            continue;
        *(float4 *)to =
            make_float4(s[2][0].value(), s[2][1].value(), s[2][2].value(), s[2][3].value());
        to += a.line;
    }
    if (special)
        *tamis_picture(a.special, a.next) = 1;
}

template <typename T> __global__ void __launch_bounds__(THREADS) down_rows(grid_args a)
{
    int i = (int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x;
    int row = (int)(blockIdx.x / a.across_tiles), step = a.x.step, channels = a.channels;
    if (i >= a.columns * channels)
        return;
    int q = i / channels, c = i - q * channels;
    const float *at = tamis_picture(a.lines, a.next) + blockIdx.y * a.lines_plane +
                      (int64_t)row * a.line + a.lead + q * step * channels + c;
    falling<T> s;
    s.begin(at[(3 * step / 2 - 1) * channels]);
    for (int k = 0; k < 3 * step; k++)
        s.add(__ldg(a.x.down + k), at[k * channels]);
    tamis_picture(a.grid, a.next)[blockIdx.y * a.grid_plane + (int64_t)row * a.stride + i] =
        s.value();
}

/* ---- the Gaussian there */

static __device__ __noinline__ float exact_smooth(const float *at, int64_t next,
                                                  const struct grid_axis &g)
{
    double sum = g.d[0] * at[0];
    for (int j = 1; j <= g.radius; j++)
        sum += g.d[j] * ((double)at[-j * next] + at[j * next]);
    return (float)sum;
}

/* Four outputs, `next` floats apart; count of them are wanted. Each sample that is loaded serves
 * all four. */
static __device__ __forceinline__ void smooth(const float *at, int64_t next,
                                              const struct grid_axis &g, int count, float *to,
                                              int64_t to_next)
{
    float up[SIDE], down[SIDE], twice[SIDE], sum[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        sum[k] = up[k] = down[k] = k < count + g.radius ? at[k * next] : 0;
        twice[k] = sum[k] + sum[k];
    }
    for (int j = 1; j <= g.radius; j++) {
        float tap = __ldg(g.f + j);
#pragma unroll
        for (int k = SIDE - 1; k > 0; k--)
            up[k] = up[k - 1];
        up[0] = at[-j * next];
#pragma unroll
        for (int k = 0; k < SIDE - 1; k++)
            down[k] = down[k + 1];
        down[SIDE - 1] = j + SIDE - 1 < count + g.radius ? at[(j + SIDE - 1) * next] : 0;
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            sum[k] = fmaf(tap, (up[k] + down[k]) - twice[k], sum[k]);
    }
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        if (k < count)
            to[k * to_next] = isfinite(sum[k]) ? sum[k] : exact_smooth(at + k * next, next, g);
}

/* Pixels of the result of the first come one after another. */
__global__ void __launch_bounds__(THREADS) smooth_rows(grid_args a)
{
    int t = (int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x;
    int row = (int)(blockIdx.x / a.across_tiles);
    int q = t / a.channels * SIDE, c = t % a.channels, count = a.columns - 2 * a.x.radius - q;
    if (count <= 0)
        return;
    int64_t at = blockIdx.y * a.grid_plane + (int64_t)row * a.stride + q * a.channels + c;
    smooth(tamis_picture(a.grid, a.next) + at + a.x.radius * a.channels, a.channels, a.x, count,
           tamis_picture(a.across, a.next) + at, a.channels);
}

__global__ void __launch_bounds__(THREADS) smooth_columns(grid_args a)
{
    int i = (int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x;
    int row = (int)(blockIdx.x / a.across_tiles) * SIDE, count = a.rows - 2 * a.y.radius - row;
    if (i >= (a.columns - 2 * a.x.radius) * a.channels)
        return;
    int64_t at = blockIdx.y * a.grid_plane + (int64_t)row * a.stride + i;
    smooth(tamis_picture(a.across, a.next) + at + (int64_t)a.y.radius * a.stride, a.stride, a.y,
           count, tamis_picture(a.grid, a.next) + at, a.stride);
}

/* ---- up */

/* Three samples of a grid, and what lies between: b + before (a - b) + after (c - b), of halves
 * where differences may be beyond binary32. */
template <typename T> struct spline {
    float to_a, to_c, b;

    __device__ __forceinline__ spline()
    {
    }
    __device__ __forceinline__ spline(float a, float middle, float c)
    {
        b = grid_is_float<T>::YES ? middle * -0.5f : middle;
        to_a = grid_is_float<T>::YES ? fmaf(a, 0.5f, b) : a - b;
        to_c = grid_is_float<T>::YES ? fmaf(c, 0.5f, b) : c - b;
    }
    __device__ __forceinline__ float at(float before, float after) const
    {
        if (!grid_is_float<T>::YES)
            return fmaf(after, to_c, fmaf(before, to_a, b));
        return (fmaf(after, to_c, before * to_a) - b) * 2;
    }
};

/* Those of four samples from begin to end - 1. */
template <typename T>
static __device__ __forceinline__ void put_samples(T *to, const float (&v)[SIDE], bool all,
                                                   int begin, int end)
{
    if constexpr (sizeof(T) == 1) {
        if (all) {
            *(unsigned *)to = gaussian_levels(v);
            return;
        }
    }
    T out[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        out[k] = tamis_sample<T>::of(v[k]);
    if (all) {
        tamis_vector_store<T>((char *)to, 0, out);
        return;
    }
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        if (k >= begin && k < end)
            to[k] = out[k];
}

/* A thread has four columns, whose samples lie beside each other, and RAISED rows. */
template <typename T> __global__ void __launch_bounds__(THREADS) raise(grid_args a)
{
    int begin = a.out.x * a.channels, end = (a.out.x + a.out.w) * a.channels;
    int x = begin / SIDE * SIDE +
            ((int)(blockIdx.x % a.across_tiles) * THREADS + (int)threadIdx.x) * SIDE;
    int y = (int)(blockIdx.x / a.across_tiles) * RAISED, last = min(y + RAISED, a.out.h);
    if (x >= end)
        return;
    const float *grid = tamis_picture(a.grid, a.next) + blockIdx.y * a.grid_plane;
    int at[SIDE], step_x = a.x.step, step_y = a.y.step;
    float before[SIDE], after[SIDE], row[3][SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        int i = min(max(x + k, begin), end - 1) - begin, pixel = i / a.channels;
        int u = a.phase_x + pixel, phase = u % step_x;
        at[k] = u / step_x * a.channels + i - pixel * a.channels;
        before[k] = __ldg(a.x.up + 2 * step_x + phase);
        after[k] = __ldg(a.x.up + phase);
    }
    bool all = a.aligned && x >= begin && x + SIDE <= end;
    int v = (a.phase_y + y) / step_y, phase = (a.phase_y + y) - v * step_y, known = 0;
    T *to = tamis_row<T>(a.out, blockIdx.y, a.out.y + y) + x;
    for (; y < last; v++, phase = 0, known = 2) {
        spline<T> down[SIDE];
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
#pragma unroll
            for (int r = 0; r < 3; r++) {
                const float *line = grid + (int64_t)(v + r) * a.stride + at[k];
                row[r][k] = r < known ? row[(r + 1) % 3][k]
                                      : spline<T>(line[0], line[a.channels], line[2 * a.channels])
                                            .at(before[k], after[k]);
            }
            down[k] = spline<T>(row[0][k], row[1][k], row[2][k]);
        }
        for (; phase < step_y && y < last; phase++, y++) {
            float wa = __ldg(a.y.up + 2 * step_y + phase), wc = __ldg(a.y.up + phase);
            float out[SIDE];
#pragma unroll
            for (int k = 0; k < SIDE; k++)
                out[k] = down[k].at(wa, wc);
            put_samples(to, out, all, begin - x, end - x);
            to = (T *)((char *)to + a.out.stride[blockIdx.y]);
        }
    }
}

/* ---- NaN and Inf */

/* What a window holds, as bits: 1 for Inf, 2 for -Inf; both together make NaN, as it does itself.
 */
static __device__ __forceinline__ unsigned special_bits(float v)
{
    return isfinite(v) ? 0 : v > 0 ? 1 : v < 0 ? 2 : 3;
}

__global__ void clear_special(grid_args a)
{
    *tamis_picture(a.special, a.next) = 0;
}

__global__ void __launch_bounds__(THREADS) mark_columns(grid_source<float> source, grid_args a)
{
    int i = (int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x;
    int y = (int)(blockIdx.x / a.across_tiles);
    unsigned bits = 0;
    if (!*tamis_picture(a.special, a.next) || i >= a.mask)
        return;
    for (int j = -a.y.window; j <= a.y.window; j++)
        bits |= special_bits(source.in.plane[blockIdx.y].sample(
            (a.out.x - a.x.window) * a.channels + a.shift_x + i, a.out.y + a.shift_y + y + j));
    tamis_picture(a.masks, a.next)[blockIdx.y * a.mask_plane + (int64_t)y * a.mask + i] =
        (unsigned char)bits;
}

__global__ void __launch_bounds__(THREADS) put_specials(grid_args a)
{
    int i = (int)(blockIdx.x % a.across_tiles) * THREADS + threadIdx.x;
    int y = (int)(blockIdx.x / a.across_tiles);
    unsigned bits = 0;
    if (!*tamis_picture(a.special, a.next) || i >= a.out.w * a.channels)
        return;
    const unsigned char *row =
        tamis_picture(a.masks, a.next) + blockIdx.y * a.mask_plane + (int64_t)y * a.mask + i;
    for (int j = 0; j <= 2 * a.x.window; j++)
        bits |= row[j * a.channels];
    if (bits)
        tamis_row<float>(a.out, blockIdx.y, a.out.y + y)[a.out.x * a.channels + i] =
            bits == 3   ? __uint_as_float(0x7fc00000)
            : bits == 1 ? __uint_as_float(0x7f800000)
                        : __uint_as_float(0xff800000);
}

/* ---- memory */

/* Of one plane; sizes in floats are multiples of four. */
struct grid_sizes {
    int line, stride, mask;
    int64_t lines_plane, grid_plane, mask_plane;
};

static struct grid_sizes sizes_of(const struct grid_state *s, int columns, int rows, int channels,
                                  int32_t w, int32_t h, tamis_type type)
{
    struct grid_sizes z;
    z.line = ((columns + 2) * s->x.step * channels + SIDE - 1 + SIDE - 1) / SIDE * SIDE;
    z.stride = (columns * channels + SIDE - 1) / SIDE * SIDE;
    z.mask = type == TAMIS_F32 ? (w + 2 * s->x.window) * channels : 0;
    z.lines_plane = (int64_t)z.line * rows;
    z.grid_plane = (int64_t)z.stride * rows;
    z.mask_plane = ((int64_t)z.mask * h + 15) / 16 * 16;
    return z;
}

/* As gaussian_grid_count(). */
static int count_of(const struct grid_axis *g, int phase, int n)
{
    return (phase + n - 1) / g->step + 3 + 2 * g->radius;
}

size_t tamis_cuda_gaussian_grid_scratch(const tamis_node *node, const void *state, int32_t w,
                                        int32_t h)
{
    const struct grid_state *s = (const struct grid_state *)state;
    int packed = node->in.layout == TAMIS_PACKED;
    int channels = packed ? node->in.channels : 1, planes = packed ? 1 : node->in.channels;
    struct grid_sizes z = sizes_of(s, count_of(&s->x, s->x.step, w), count_of(&s->y, s->y.step, h),
                                   channels, w, h, node->work);
    int64_t floats = z.lines_plane + 2 * z.grid_plane;
    return (size_t)(planes * (floats * (int64_t)sizeof(float) + z.mask_plane)) + 16;
}

/* ---- launches */

static grid_args make_args(const tamis_gpu_work *w, const struct grid_state *s, tamis_type type)
{
    grid_args a;
    a.out = tamis_output_of(w);
    a.x = s->x;
    a.y = s->y;
    a.channels = w->step;
    a.phase_x = w->part.x % s->x.step;
    a.phase_y = w->part.y % s->y.step;
    a.columns = count_of(&s->x, a.phase_x, w->part.w);
    a.rows = count_of(&s->y, a.phase_y, w->part.h);
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.first_x = (w->part.x - a.phase_x - (2 + s->x.radius) * s->x.step) * w->step + a.shift_x;
    a.first_y = w->part.y - a.phase_y - (2 + s->y.radius) * s->y.step + a.shift_y;
    a.lead = a.first_x & (SIDE - 1);
    int size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
    a.aligned = w->aligned >= SIDE * size;
    struct grid_sizes z = sizes_of(s, a.columns, a.rows, w->step, w->part.w, w->part.h, type);
    a.line = z.line;
    a.stride = z.stride;
    a.mask = z.mask;
    a.lines_plane = z.lines_plane;
    a.grid_plane = z.grid_plane;
    a.mask_plane = z.mask_plane;
    a.next = w->scratch_next;
    a.special = (int *)w->scratch;
    a.lines = (float *)((char *)w->scratch + 16);
    a.grid = a.lines + w->planes * a.lines_plane;
    a.across = a.grid + w->planes * a.grid_plane;
    a.masks = (unsigned char *)(a.across + w->planes * a.grid_plane);
    /* Long ways down read little twice; short ones keep the device busy. */
    a.group = 16;
    while (a.group > 1 && (int64_t)a.line / SIDE * a.rows / a.group * w->planes * w->count < 300000)
        a.group /= 2;
    return a;
}

/* A launch of blocks that have `across` things beside each other, for all planes. */
#define GRID_LAUNCH(kernel, across, down, ...)                                                     \
    do {                                                                                           \
        a.across_tiles = tamis_tiles(across, THREADS);                                             \
        TAMIS_LAUNCH((kernel), tamis_grid(w, a.across_tiles, down, w->planes), THREADS, 0,         \
                     w->stream, __VA_ARGS__);                                                      \
    } while (0)

template <typename T> static void launch_all(const tamis_gpu_work *w, grid_args a)
{
    grid_source<T> source = {tamis_inputs_of<T>(w)};
    int wide = (a.columns - 2 * a.x.radius) * a.channels;
    GRID_LAUNCH(down_columns<T>, a.line / SIDE, tamis_tiles(a.rows, a.group), source, a);
    GRID_LAUNCH(down_rows<T>, (int64_t)a.columns * a.channels, a.rows, a);
    GRID_LAUNCH(smooth_rows, tamis_tiles(a.columns - 2 * a.x.radius, SIDE) * a.channels, a.rows, a);
    GRID_LAUNCH(smooth_columns, wide, tamis_tiles(a.rows - 2 * a.y.radius, SIDE), a);
    int64_t samples = (int64_t)a.out.w * a.channels;
    GRID_LAUNCH(raise<T>, tamis_tiles(samples + SIDE - 1, SIDE), tamis_tiles(a.out.h, RAISED), a);
}

static void launch_f32(const tamis_gpu_work *w, grid_args a)
{
    grid_source<float> source = {tamis_inputs_of<float>(w)};
    TAMIS_LAUNCH(clear_special, tamis_grid(w, 1, 1, 1), 1, 0, w->stream, a);
    launch_all<float>(w, a);
    GRID_LAUNCH(mark_columns, a.mask, a.out.h, source, a);
    GRID_LAUNCH(put_specials, (int64_t)a.out.w * a.channels, a.out.h, a);
}

tamis_status tamis_cuda_gaussian_grid_launch(const tamis_gpu_work *w, const tamis_node *node,
                                             const void *state, tamis_gpu_fault *fault)
{
    grid_args a = make_args(w, (const struct grid_state *)state, node->work);
    if (node->work == TAMIS_U8)
        launch_all<uint8_t>(w, a);
    else if (node->work == TAMIS_U16)
        launch_all<uint16_t>(w, a);
    else if (node->work == TAMIS_S16)
        launch_all<int16_t>(w, a);
    else
        launch_f32(w, a);
    return tamis_cuda_launched("gaussian on a grid", fault);
}

static bool upload_axis(tamis_gpu_prep *prep, const struct gaussian_grid *g, int window,
                        struct grid_axis *a)
{
    size_t n = (size_t)g->smooth.radius + 1, spread = 3 * (size_t)g->step;
    a->step = g->step;
    a->radius = g->smooth.radius;
    a->window = window;
    a->down = (const float *)prep->upload(prep, g->down, spread * sizeof *g->down);
    a->up = (const float *)prep->upload(prep, g->up, spread * sizeof *g->up);
    a->f = (const float *)prep->upload(prep, g->smooth.f, n * sizeof *g->smooth.f);
    a->d = (const double *)prep->upload(prep, g->smooth.d, n * sizeof *g->smooth.d);
    return a->down && a->up && a->f && a->d;
}

tamis_status tamis_cuda_gaussian_grid_prepare(tamis_gpu_prep *prep)
{
    const struct gaussian_coef *c = (const struct gaussian_coef *)prep->node->coef;
    struct grid_state *s = (struct grid_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    return s && upload_axis(prep, &c->grid_x, c->x.radius, &s->x) &&
                   upload_axis(prep, &c->grid_y, c->y.radius, &s->y)
               ? TAMIS_OK
               : TAMIS_ERR_MEMORY;
}
