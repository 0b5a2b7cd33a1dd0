/* SPDX-License-Identifier: Apache-2.0 */
/* The bilateral filter on a device.
 *
 * As w(p,q) = w(q,p), each weight serves both pixels where one thread has both: in small windows a
 * thread has a few columns and walks down the rows, pairing each pixel with those to its right and
 * below, whose sums wait in registers. A block is one warp, whose rows on the way lie in shared
 * memory. All other windows, guides and the mode luma read the image tap by tap. */
#include "kernel.cuh"

#include "bilateral_kernel.h"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

enum { WARP = 32, TAP_WIDTH = 32, TAP_HEIGHT = 4, NEAR = 5 };

struct picture {
    const char *data[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) */
    int64_t stride[TAMIS_MAX_CHANNELS];
    float outside[TAMIS_MAX_CHANNELS];
    int planes, pitch;
};

struct args {
    struct picture src, guide; /* no planes: none */
    int w, h;
    tamis_border border;
    int shift_x, shift_y;
    tamis_output out;
    int64_t strips;
    int rx, ry, l1, alpha;
    float range;        /* weight = 2^(space - D^2 range) */
    const int *half;    /* as bilateral_coef has them, on the device */
    const float *space; /* likewise log2_space */
};

static __device__ __forceinline__ float power(float t)
{
#ifdef TAMIS_EMULATE
    return exp2f(t);
#else
    float w;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(t));
    return w;
#endif
}

/* The same within 1e-4, without the unit that powers and conversions share. */
static __device__ __forceinline__ float rough_power(float t)
{
    t = fmaxf(t, -126);
    float rounded = __fadd_rn(t, 12582912.f); /* 1.5 * 2^23: the lowest bits are the integer */
    float f = __fsub_rn(t, __fsub_rn(rounded, 12582912.f));
    float v = fmaf(fmaf(fmaf(0.05517167f, f, 0.24261113f), f, 0.693261f), f, 0.99992806f);
    return __uint_as_float(__float_as_uint(v) + (__float_as_uint(rounded) << 23));
}

template <typename T>
static __device__ __forceinline__ float sample(const struct picture &f, int p, int x, int y)
{
    return (float)((const T *)(f.data[p] + y * f.stride[p]))[(int64_t)x * f.pitch];
}

/* At any place. */
template <typename T>
static __device__ __forceinline__ float sample_at(const struct args &a, const struct picture &f,
                                                  int p, int x, int y)
{
    int u = tamis_index(a.border, x, a.w), v = tamis_index(a.border, y, a.h);
    return u < 0 || v < 0 ? f.outside[p] : sample<T>(f, p, u, v);
}

/* ---- small windows: N planes of windows of radius R, in pairs */

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
        SCALED = sizeof(T) < 4, /* samples are in units in which D^2 is the exponent */
        ROUGH = sizeof(T) == 1 && N == 1 && R >= 3 /* some weights may be, to balance units */
    };
};

struct near_args {
    struct picture src;
    int w, h;
    tamis_border border;
    int shift_x, shift_y;
    tamis_output out;
    int64_t strips;
    int rows;                 /* of a strip */
    float range, unit, scale; /* unit: what SCALED samples are multiplied by; scale = 1 / unit */
    float space[(NEAR + 1) * (NEAR + 1)]; /* at dy * (NEAR + 1) + |dx| */
};

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

/* And back, by way of the bits of 2^23 + v. */
template <typename T> static __device__ __forceinline__ T narrow(float v)
{
    return tamis_sample<T>::of(v);
}
template <> __device__ __forceinline__ uint8_t narrow(float v)
{
    return (uint8_t)__float_as_uint(__fadd_rn(fminf(fmaxf(v, 0), 255), 8388608.f));
}
template <> __device__ __forceinline__ uint16_t narrow(float v)
{
    return (uint16_t)__float_as_uint(__fadd_rn(fminf(fmaxf(v, 0), 65535), 8388608.f));
}

/* A row of the strip on its way from the image to shared memory: every 32nd sample, from a thread's
 * lane on. */
template <typename S> struct carried {
    float v[S::N][S::FILL];

    __device__ __forceinline__ void load(const struct near_args &a, bool inside, int x0, int y)
    {
        typedef typename S::type T;
        int lane = threadIdx.x;
        int end = min(x0 + S::COLUMNS, a.out.x + a.out.w) + a.shift_x + S::R;
        int row = inside ? y : tamis_index(a.border, y, a.h);
#pragma unroll
        for (int p = 0; p < S::N; p++) {
            const T *from = (const T *)(a.src.data[p] + row * a.src.stride[p]);
#pragma unroll
            for (int i = 0; i < S::FILL; i++) {
                int x = x0 + a.shift_x - S::R + lane + WARP * i;
                v[p][i] = 0;
                if (x >= end)
                    continue;
                int column = inside ? x : tamis_index(a.border, x, a.w);
                if (inside || (row >= 0 && column >= 0))
                    v[p][i] = widen<T>(from[(int64_t)column * a.src.pitch]);
                else
                    v[p][i] = a.src.outside[p];
            }
        }
    }

    __device__ __forceinline__ void store(const struct near_args &a, float *row)
    {
#pragma unroll
        for (int p = 0; p < S::N; p++)
#pragma unroll
            for (int i = 0; i < S::FILL; i++)
                if (i < S::FILL - 1 || threadIdx.x + WARP * i < S::PITCH)
                    row[p * S::PITCH + threadIdx.x + WARP * i] =
                        S::SCALED ? __fmul_rn(v[p][i], a.unit) : v[p][i];
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
                float4 q = *(const float4 *)(row + p * S::PITCH + threadIdx.x * S::W + i);
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
            float w = rough ? rough_power(t) : power(t);
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
    int x = x0 + threadIdx.x * S::W;
#pragma unroll
    for (int c = 0; c < S::W; c++) {
        if (x + c >= a.out.x + a.out.w)
            break;
        float weight = s.weight[c], scale = __fdividef(1, weight);
        for (int p = 0; p < S::N && S::N > 1; p++) /* not finite: then of all planes */
            weight = fmaf(s.delta[c][p], 0, weight);
#pragma unroll
        for (int p = 0; p < S::N; p++) {
            float center = own.v[p][S::R + c], v;
            if (S::SCALED)
                v = __fmul_rn(fmaf(s.delta[c][p], scale, center), a.scale);
            else
                v = __fadd_rn(center, __fdiv_rn(s.delta[c][p], weight));
            tamis_row<T>(a.out, p, y)[(int64_t)(x + c) * a.out.pitch] = narrow<T>(v);
        }
    }
}

template <typename S> __global__ void __launch_bounds__(WARP) near(const struct near_args a)
{
    __shared__ __align__(16) float ring[S::ROWS * S::N * S::PITCH];
    const int line = S::N * S::PITCH;
    int x0 = a.out.x + (int)(blockIdx.x % a.strips) * S::COLUMNS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * a.rows;
    int y1 = min(y0 + a.rows, a.out.y + a.out.h);
    int left = x0 + a.shift_x - S::R, top = y0 + a.shift_y - S::R;
    int right = min(x0 + S::COLUMNS, a.out.x + a.out.w) + a.shift_x + S::R;
    bool inside = left >= 0 && right <= a.w && top >= 0 && y1 + a.shift_y + S::R <= a.h;
    carried<S> next;
    sums<S> s[S::R + 1]; /* of rows y .. y + R */
    for (int r = 0; r <= S::R; r++) {
        next.load(a, inside, x0, top + r);
        next.store(a, ring + r * line);
    }
#pragma unroll
    for (int r = 0; r <= S::R; r++)
        s[r].begin();
    __syncwarp();
    int slot = 0; /* of row y */
    for (int y = y0 - S::R; y < y1; y++) {
        int free = slot ? slot - 1 : S::ROWS - 1;
        bool more = y + 1 < y1;
        if (more)
            next.load(a, inside, x0, y + a.shift_y + S::R + 1);
        seen<S> p(ring + slot * line);
        pair_rows<S>(a, p, p, 0, s[0], s[0]);
#pragma unroll
        for (int dy = 1; dy <= S::R; dy++) {
            int at = slot + dy < S::ROWS ? slot + dy : slot + dy - S::ROWS;
            seen<S> q(ring + at * line);
            pair_rows<S>(a, p, q, dy, s[0], s[dy]);
        }
        if (y >= y0)
            store_row<S>(a, p, s[0], x0, y);
#pragma unroll
        for (int r = 0; r < S::R; r++)
            s[r] = s[r + 1];
        s[S::R].begin();
        if (more)
            next.store(a, ring + free * line);
        __syncwarp();
        slot = slot + 1 < S::ROWS ? slot + 1 : 0;
    }
}

/* ---- all else, tap by tap */

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
        float d[TAMIS_MAX_CHANNELS], check = 0;
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
        return power(fmaf(square, -a.range, space(dx, dy)));
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
            float d = __fsub_rn(c.y, center.y), space = power(win.space(dx, dy));
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

/* ---- launches */

struct bilateral_state {
    const int *half;
    const float *space;
};

static struct picture picture_of(const tamis_gpu_planes *planes, int first, int count, int pitch,
                                 size_t skip)
{
    struct picture f = {};
    f.planes = count;
    f.pitch = pitch;
    for (int p = 0; p < count; p++) {
        f.data[p] = planes->data[first + p] + skip;
        f.stride[p] = planes->stride[first + p];
    }
    return f;
}

template <typename T>
static struct args make_args(const tamis_gpu_work *w, const tamis_node *node,
                             const struct bilateral_state *s, int first, int count, int c)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = {};
    size_t skip = (size_t)c * sizeof(T);
    a.src = picture_of(&w->src, first, count, w->src_pitch, skip);
    if (k->guided)
        a.guide = picture_of(&w->guide, 0, w->guide_planes, w->guide_pitch, 0);
    for (int p = 0; p < count; p++)
        a.src.outside[p] = w->outside[first + p + c];
    float value = fminf(fmaxf((float)node->border_value, -1e30f), 1e30f);
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        a.guide.outside[p] = sizeof(T) == 4            ? value
                             : sizeof(T) == 1          ? fminf(fmaxf(rintf(value), 0), 255)
                             : node->work == TAMIS_U16 ? fminf(fmaxf(rintf(value), 0), 65535)
                                                       : fminf(fmaxf(rintf(value), -32768), 32767);
    a.w = w->w;
    a.h = w->h;
    a.border = w->border;
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.out = tamis_output_of(w);
    for (int p = 0; p < count; p++) {
        a.out.first[p] = w->dst.data[first + p] + skip;
        a.out.stride[p] = w->dst.stride[first + p];
    }
    a.rx = k->rx;
    a.ry = k->ry;
    a.l1 = k->l1;
    a.alpha = k->alpha;
    a.range = k->log2_range;
    a.half = s->half;
    a.space = s->space;
    return a;
}

template <typename S>
static tamis_status launch_near(const tamis_gpu_work *w, const struct args *a,
                                const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    struct near_args n = {};
    n.src = a->src;
    n.w = a->w;
    n.h = a->h;
    n.border = a->border;
    n.shift_x = a->shift_x;
    n.shift_y = a->shift_y;
    n.out = a->out;
    n.range = a->range;
    n.unit = sqrtf(a->range);
    n.scale = 1 / n.unit;
    for (int dy = 0; dy <= S::R; dy++)
        for (int dx = 0; dx <= S::R; dx++)
            n.space[dy * (NEAR + 1) + dx] =
                dx <= k->half[dy] ? bilateral_log2_space(k, dy)[dx] : -INFINITY;
    n.strips = tamis_tiles(w->part.w, S::COLUMNS);
    /* Long strips, but some thousand. */
    int64_t rows = n.strips * w->part.h / 4096;
    n.rows = (int)(rows < 16 ? 16 : rows > 64 ? 64 : rows);
    TAMIS_LAUNCH(near<S>, tamis_grid(w, n.strips, tamis_tiles(w->part.h, n.rows), 1), WARP, 0,
                 w->stream, n);
    return tamis_cuda_launched("bilateral", fault);
}

/* Whether the kernel for pairs serves. Floats outside a disc may be NaN. */
static bool is_near(const struct args *a, const struct bilateral_coef *k, tamis_type type)
{
    int n = a->src.planes, disc = k->half[k->ry] < k->rx;
    return k->rx == k->ry && k->rx > 0 && (k->rx <= 3 || k->rx == 5) && !k->guided &&
           (n == 1 || (n == 3 && !k->l1)) && !(type == TAMIS_F32 && disc);
}

template <typename T, int N>
static tamis_status launch_radius(const tamis_gpu_work *w, const struct args *a,
                                  const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    switch (k->rx) {
    case 1:
        return launch_near<shape<T, N, 1, 4>>(w, a, k, fault);
    case 2:
        return launch_near<shape<T, N, 2, N == 1 ? 8 : 4>>(w, a, k, fault);
    case 3:
        return launch_near<shape<T, N, 3, N == 1 ? 8 : 4>>(w, a, k, fault);
    default:
        return launch_near<shape<T, N, 5, N == 1 ? 8 : 4>>(w, a, k, fault);
    }
}

/* The planes first .. first + count - 1, of which sample c of each pixel. */
template <typename T>
static tamis_status launch_group(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 int first, int count, int c, tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = make_args<T>(w, node, (const struct bilateral_state *)state, first, count, c);
    if (is_near(&a, k, node->work))
        return count == 1 ? launch_radius<T, 1>(w, &a, k, fault)
                          : launch_radius<T, 3>(w, &a, k, fault);
    a.strips = tamis_tiles(w->part.w, TAP_WIDTH);
    TAMIS_LAUNCH(taps<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, TAP_HEIGHT), 1),
                 TAP_WIDTH * TAP_HEIGHT, 0, w->stream, a);
    return tamis_cuda_launched("bilateral", fault);
}

template <typename T>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    /* With a guide all planes have its weights. */
    int count = k->guided || k->colors > w->planes ? w->planes : k->colors;
    tamis_status status = TAMIS_OK;
    for (int first = 0; first < w->planes && status == TAMIS_OK; first += count, count = 1)
        for (int c = 0; c < w->step && status == TAMIS_OK; c++)
            status = launch_group<T>(w, node, state, first, count, c, fault);
    return status;
}

template <typename T>
static tamis_status launch_luma(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = make_args<T>(w, node, (const struct bilateral_state *)state, 0, w->planes, 0);
    a.strips = tamis_tiles(w->part.w, TAP_WIDTH);
    TAMIS_LAUNCH(luma_taps<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, TAP_HEIGHT), 1),
                 TAP_WIDTH * TAP_HEIGHT, 0, w->stream, a);
    tamis_status status = tamis_cuda_launched("bilateral luma", fault);
    if (status != TAMIS_OK || w->planes <= 3 || k->alpha)
        return status;
    return launch_group<T>(w, node, state, 3, 1, 0, fault);
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)prep->node->coef;
    struct bilateral_state *s = (struct bilateral_state *)prep->alloc(prep, sizeof *s);
    size_t rows = (size_t)k->ry + 1, width = 2 * (size_t)k->rx + 1;
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->half = (const int *)prep->upload(prep, k->half, rows * sizeof *s->half);
    s->space = (const float *)prep->upload(prep, k->log2_space, rows * width * sizeof *s->space);
    return s->half && s->space ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

} // namespace

TAMIS_CUDA_KERNELS(bilateral) = {
    {"vector", TAMIS_U8, 1, prepare, NULL, launch<uint8_t>, NULL, 1},
    {"vector", TAMIS_U16, 1, prepare, NULL, launch<uint16_t>, NULL, 1},
    {"vector", TAMIS_S16, 1, prepare, NULL, launch<int16_t>, NULL, 1},
    {"vector", TAMIS_F32, 1e-5, prepare, NULL, launch<float>, NULL, 1},
    {"luma", TAMIS_U8, 1, prepare, NULL, launch_luma<uint8_t>, NULL, 1},
    {"luma", TAMIS_U16, 1, prepare, NULL, launch_luma<uint16_t>, NULL, 1},
    {"luma", TAMIS_S16, 1, prepare, NULL, launch_luma<int16_t>, NULL, 1},
    {"luma", TAMIS_F32, 1e-5, prepare, NULL, launch_luma<float>, NULL, 1},
    {},
};
