/* SPDX-License-Identifier: Apache-2.0 */
/* The separable Gaussian on a device, with the arithmetic that gaussian.c states for each type.
 *
 * Bytes: gaussian_rows.cuh for small windows, gaussian_products.cuh for larger ones. Small windows
 * of other types: gaussian_march.cuh. For others, a
 * block makes column sums for a strip of the image, a few rows at a time, each thread those of four
 * samples side by side, leaves them in shared memory and sums across: the image is read once and
 * written once. Windows too wide for a strip go through device memory. */
#include "kernel.cuh"

#include "gaussian_grid.cuh"
#include "gaussian_kernel.h"
#include "gaussian_march.cuh"
#include "gaussian_products.cuh"
#include "gaussian_rows.cuh"
#include "gaussian_sharpen.cuh"

namespace /* other filters have kernels of these names */
{

enum { THREADS = 128, STRIP = 4 * THREADS, MAX_SIDE = STRIP / 4 };

/* Taps as gaussian_axis has them. */
struct taps {
    int radius, bits;
    const int32_t *even, *odd; /* u8 columns */
    const int16_t *q;          /* u8 rows */
    const float *f;            /* the other types */
    const double *d;           /* f32, where binary32 is not enough */
};

struct gaussian_state {
    struct taps x, y;
    gaussian_end end;
    struct march_taps march;
    struct gaussian_rows_taps rows; /* u8 */
    gaussian_products_taps products;
};

template <typename T> struct args {
    tamis_inputs<T> in;
    tamis_output out;
    struct taps x, y;
    gaussian_end end;
    int step, side;       /* columns beside an output that a strip reads, a multiple of 4 */
    int shift_x, shift_y; /* samples, rows */
    int first;            /* first sample of the first strip's output, a multiple of 4 */
    int aligned;          /* four samples may be loaded and stored at once */
    int64_t strips;       /* in a row */
    char *sums;           /* windows beyond a strip: column sums in device memory */
    int64_t sums_stride, sums_plane, sums_next;
};

/* ---- four samples side by side */

template <typename T> struct four {
    T v[4];
};

template <typename T> static __device__ __forceinline__ four<T> load_aligned(const T *p);
template <> __device__ __forceinline__ four<uint8_t> load_aligned(const uint8_t *p)
{
    uchar4 q = *(const uchar4 *)p;
    return four<uint8_t>{{q.x, q.y, q.z, q.w}};
}
template <> __device__ __forceinline__ four<uint16_t> load_aligned(const uint16_t *p)
{
    ushort4 q = *(const ushort4 *)p;
    return four<uint16_t>{{q.x, q.y, q.z, q.w}};
}
template <> __device__ __forceinline__ four<int16_t> load_aligned(const int16_t *p)
{
    short4 q = *(const short4 *)p;
    return four<int16_t>{{q.x, q.y, q.z, q.w}};
}
template <> __device__ __forceinline__ four<float> load_aligned(const float *p)
{
    float4 q = *(const float4 *)p;
    return four<float>{{q.x, q.y, q.z, q.w}};
}

/* Samples i .. i+3 of rows, wherever they are. */
template <typename T> struct columns_of {
    const tamis_input<T> *in;
    int i;
    bool inside, aligned;

    __device__ __forceinline__ four<T> get(int y) const
    {
        four<T> r;
        if (inside) {
            const T *p = in->row(y) + i;
            if (aligned)
                return load_aligned<T>(p);
            for (int c = 0; c < 4; c++)
                r.v[c] = p[c];
            return r;
        }
        for (int c = 0; c < 4; c++)
            r.v[c] = in->sample(i + c, y);
        return r;
    }
};

/* ---- the arithmetic of each type. `rows` rows of column sums, from row y of the input on. */

struct fixed { /* u8 */
    typedef uint8_t sample;
    typedef uint16_t sum; /* in 1/128 level */
    typedef int total;
    enum { ROWS = 8 };

    static __device__ __forceinline__ unsigned pack(four<uint8_t> q)
    {
        return q.v[0] | q.v[1] << 8 | q.v[2] << 16 | (unsigned)q.v[3] << 24;
    }

    /* Two rows at a time: their samples lie side by side for a multiply-add of two. */
    static __device__ __forceinline__ void columns(const columns_of<uint8_t> &in, int y,
                                                   const struct taps &t, sum (*out)[4])
    {
        int acc[ROWS][4];
        int r = t.radius;
        for (int v = 0; v < ROWS; v++)
            for (int c = 0; c < 4; c++)
                acc[v][c] = 1 << (t.bits - GAUSSIAN_FRACTION - 1);
        for (int m = 0; m < r + ROWS / 2; m++) {
            unsigned a = pack(in.get(y - r + 2 * m)), b = pack(in.get(y - r + 2 * m + 1));
            unsigned low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362);
#pragma unroll
            for (int v = 0; v < ROWS; v++) {
                int i = m - v / 2;
                if (i < 0 || i > r)
                    continue;
                /* Taps are not negative and below 2^15. */
                unsigned w = (unsigned)(v % 2 ? t.odd[i] : t.even[i]);
                acc[v][0] = (int)__dp2a_lo(w, low, (unsigned)acc[v][0]);
                acc[v][1] = (int)__dp2a_hi(w, low, (unsigned)acc[v][1]);
                acc[v][2] = (int)__dp2a_lo(w, high, (unsigned)acc[v][2]);
                acc[v][3] = (int)__dp2a_hi(w, high, (unsigned)acc[v][3]);
            }
        }
        for (int v = 0; v < ROWS; v++)
            for (int c = 0; c < 4; c++)
                out[v][c] = (sum)(acc[v][c] >> (t.bits - GAUSSIAN_FRACTION));
    }

    static __device__ __forceinline__ int row(const sum *s, int step, const struct taps &t)
    {
        int total = t.q[0] * s[0];
        for (int j = 1; j <= t.radius; j++)
            total += t.q[j] * (s[-j * step] + s[j * step]);
        return total;
    }

    static __device__ __forceinline__ int rounded(int total, int bits)
    {
        return (total + (1 << (bits - 1))) >> bits;
    }
    static __device__ __forceinline__ uint8_t result(int total, const struct taps &t)
    {
        return (uint8_t)rounded(total, t.bits + GAUSSIAN_FRACTION);
    }
    static __device__ __forceinline__ float difference(uint8_t in, int total, const struct taps &t)
    {
        return gaussian_difference(in, rounded(total, t.bits));
    }
};

template <typename T> struct single { /* u16, s16 */
    typedef T sample;
    typedef float sum, total;
    enum { ROWS = 4 };

    static __device__ __forceinline__ void columns(const columns_of<T> &in, int y,
                                                   const struct taps &t, sum (*out)[4])
    {
        for (int v = 0; v < ROWS; v++) {
            four<T> a = in.get(y + v), b;
            for (int c = 0; c < 4; c++)
                out[v][c] = __fmul_rn(t.f[0], (float)a.v[c]);
            for (int j = 1; j <= t.radius; j++) {
                a = in.get(y + v - j);
                b = in.get(y + v + j);
                for (int c = 0; c < 4; c++)
                    out[v][c] = fmaf(t.f[j], __fadd_rn((float)a.v[c], (float)b.v[c]), out[v][c]);
            }
        }
    }

    static __device__ __forceinline__ float row(const sum *s, int step, const struct taps &t)
    {
        float total = __fmul_rn(t.f[0], s[0]);
        for (int j = 1; j <= t.radius; j++)
            total = fmaf(t.f[j], __fadd_rn(s[-j * step], s[j * step]), total);
        return total;
    }

    static __device__ __forceinline__ T result(float total, const struct taps &)
    {
        return tamis_sample<T>::of(total);
    }
    static __device__ __forceinline__ float difference(T in, float total, const struct taps &)
    {
        return __fsub_rn((float)in, total);
    }
};

/* Differences from the center, in which rounding errors are as small as they are; where that is not
 * finite, plain sums. */
struct centered { /* f32 */
    typedef float sample, sum, total;
    enum { ROWS = 4 };

    static __device__ __forceinline__ void columns(const columns_of<float> &in, int y,
                                                   const struct taps &t, sum (*out)[4])
    {
        for (int v = 0; v < ROWS; v++) {
            four<float> center = in.get(y + v), a, b;
            float total[4];
            double plain[4];
            bool finite = true;
            for (int c = 0; c < 4; c++)
                total[c] = center.v[c];
            for (int j = 1; j <= t.radius; j++) {
                a = in.get(y + v - j);
                b = in.get(y + v + j);
                for (int c = 0; c < 4; c++)
                    total[c] = fmaf(
                        t.f[j],
                        __fsub_rn(__fadd_rn(a.v[c], b.v[c]), __fadd_rn(center.v[c], center.v[c])),
                        total[c]);
            }
            for (int c = 0; c < 4; c++) {
                out[v][c] = total[c];
                finite = finite && isfinite(total[c]);
            }
            if (finite)
                continue;
            for (int c = 0; c < 4; c++)
                plain[c] = t.d[0] * center.v[c];
            for (int j = 1; j <= t.radius; j++) {
                a = in.get(y + v - j);
                b = in.get(y + v + j);
                for (int c = 0; c < 4; c++)
                    plain[c] += t.d[j] * ((double)a.v[c] + b.v[c]);
            }
            for (int c = 0; c < 4; c++)
                if (!isfinite(total[c]))
                    out[v][c] = (float)plain[c];
        }
    }

    static __device__ __forceinline__ float row(const sum *s, int step, const struct taps &t)
    {
        float total = s[0];
        for (int j = 1; j <= t.radius; j++)
            total =
                fmaf(t.f[j], __fsub_rn(__fadd_rn(s[-j * step], s[j * step]), __fadd_rn(s[0], s[0])),
                     total);
        if (isfinite(total))
            return total;
        double plain = t.d[0] * s[0];
        for (int j = 1; j <= t.radius; j++)
            plain += t.d[j] * ((double)s[-j * step] + s[j * step]);
        return (float)plain;
    }

    static __device__ __forceinline__ float result(float total, const struct taps &)
    {
        return total;
    }
    static __device__ __forceinline__ float difference(float in, float total, const struct taps &)
    {
        return __fsub_rn(in, total);
    }
};

/* ---- kernels */

/* The result at sample i of row y. */
template <typename P>
static __device__ __forceinline__ typename P::sample finished(const args<typename P::sample> &a,
                                                              typename P::total total, int i, int y)
{
    if (!a.end.sharpens)
        return P::result(total, a.x);
    typename P::sample in = a.in.plane[blockIdx.y].row(y + a.shift_y)[i + a.shift_x];
    float out = gaussian_sharpened(a.end, (float)in, P::difference(in, total, a.x));
    return tamis_sample<typename P::sample>::of(out);
}

template <typename P>
static __device__ __forceinline__ columns_of<typename P::sample>
strip_columns(const args<typename P::sample> &a, int i, int y)
{
    const tamis_input<typename P::sample> &in = a.in.plane[blockIdx.y];
    int r = a.y.radius;
    columns_of<typename P::sample> c;
    c.in = &in;
    c.i = i;
    /* One row more than the window: two are loaded at a time. */
    c.inside = i >= 0 && (int64_t)i + 4 <= (int64_t)in.w * in.pitch && y - r >= 0 &&
               y + P::ROWS + r < in.h;
    c.aligned = a.aligned && i % 4 == 0;
    return c;
}

template <typename P>
__global__ void __launch_bounds__(THREADS)
    strips(const __grid_constant__ args<typename P::sample> a)
{
    typedef typename P::sum sum;
    __shared__ sum sums[P::ROWS][STRIP];
    int inner = STRIP - 2 * a.side;
    int64_t strip = blockIdx.x % a.strips;
    int x = a.first + (int)strip * inner; /* of the result, in samples */
    int y = a.out.y + (int)(blockIdx.x / a.strips) * P::ROWS;
    int begin = a.out.x * a.step, end = (a.out.x + a.out.w) * a.step;

    int column = threadIdx.x * 4;
    columns_of<typename P::sample> in =
        strip_columns<P>(a, x - a.side + column + a.shift_x, y + a.shift_y);
    sum mine[P::ROWS][4];
    P::columns(in, y + a.shift_y, a.y, mine);
    for (int v = 0; v < P::ROWS; v++)
        for (int c = 0; c < 4; c++)
            sums[v][column + c] = mine[v][c];
    __syncthreads();
    for (int v = 0; v < P::ROWS && y + v < a.out.y + a.out.h; v++) {
        typename P::sample *row = tamis_row<typename P::sample>(a.out, blockIdx.y, y + v);
        for (int i = threadIdx.x; i < inner; i += THREADS)
            if (x + i >= begin && x + i < end)
                row[x + i] =
                    finished<P>(a, P::row(&sums[v][a.side + i], a.step, a.x), x + i, y + v);
    }
}

/* Column sums of all samples that the part's rows need. */
template <typename P>
__global__ void __launch_bounds__(THREADS)
    columns_to_memory(const __grid_constant__ args<typename P::sample> a)
{
    typedef typename P::sum sum;
    int count = a.out.w * a.step + 2 * a.side;
    int column = (int)(blockIdx.x % a.strips) * STRIP + threadIdx.x * 4;
    int v0 = (int)(blockIdx.x / a.strips) * P::ROWS, y = a.out.y + v0;
    columns_of<typename P::sample> in =
        strip_columns<P>(a, a.out.x * a.step - a.side + column + a.shift_x, y + a.shift_y);
    sum mine[P::ROWS][4];
    P::columns(in, y + a.shift_y, a.y, mine);
    for (int v = 0; v < P::ROWS && v0 + v < a.out.h; v++) {
        sum *row = (sum *)(tamis_picture(a.sums, a.sums_next) + blockIdx.y * a.sums_plane +
                           (v0 + v) * a.sums_stride);
        for (int c = 0; c < 4 && column + c < count; c++)
            row[column + c] = mine[v][c];
    }
}

template <typename P>
__global__ void __launch_bounds__(THREADS)
    rows_from_memory(const __grid_constant__ args<typename P::sample> a)
{
    typedef typename P::sum sum;
    int i = (int)(blockIdx.x % a.strips) * THREADS + threadIdx.x;
    int v = (int)(blockIdx.x / a.strips);
    if (i >= a.out.w * a.step)
        return;
    const sum *row = (const sum *)(tamis_picture(a.sums, a.sums_next) + blockIdx.y * a.sums_plane +
                                   v * a.sums_stride);
    int x = a.out.x * a.step + i, y = a.out.y + v;
    tamis_row<typename P::sample>(a.out, blockIdx.y, y)[x] =
        finished<P>(a, P::row(row + a.side + i, a.step, a.x), x, y);
}

/* ---- launches */

/* Samples from pixel to pixel. */
static int step_of(const tamis_node *node)
{
    return node->in.layout == TAMIS_PACKED ? node->in.channels : 1;
}

static int side_of(const struct gaussian_coef *c, int step)
{
    return (c->x.radius * step + 3) / 4 * 4;
}

template <typename P>
static args<typename P::sample> make_args(const tamis_gpu_work *w, const struct gaussian_state *s)
{
    args<typename P::sample> a;
    a.in = tamis_inputs_of<typename P::sample>(w);
    a.out = tamis_output_of(w);
    a.x = s->x;
    a.y = s->y;
    a.end = s->end;
    a.step = w->step;
    a.side = (s->x.radius * w->step + 3) / 4 * 4;
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.first = w->part.x * w->step / 4 * 4;
    a.aligned = w->aligned >= (int)(4 * sizeof(typename P::sample));
    return a;
}

template <typename P>
static tamis_status launch_wide(const tamis_gpu_work *w, args<typename P::sample> a,
                                tamis_gpu_fault *fault)
{
    int64_t count = (int64_t)w->part.w * w->step + 2 * a.side;
    a.sums = (char *)w->scratch;
    a.sums_stride = (count * (int64_t)sizeof(typename P::sum) + 15) / 16 * 16;
    a.sums_plane = a.sums_stride * w->part.h;
    a.sums_next = w->scratch_next;
    a.strips = tamis_tiles(count, STRIP);
    TAMIS_LAUNCH(columns_to_memory<P>,
                 tamis_grid(w, a.strips, tamis_tiles(w->part.h, P::ROWS), w->planes), THREADS, 0,
                 w->stream, a);
    tamis_status status = tamis_cuda_launched("gaussian columns", fault);
    if (status != TAMIS_OK)
        return status;
    a.strips = tamis_tiles((int64_t)w->part.w * w->step, THREADS);
    TAMIS_LAUNCH(rows_from_memory<P>, tamis_grid(w, a.strips, w->part.h, w->planes), THREADS, 0,
                 w->stream, a);
    return tamis_cuda_launched("gaussian rows", fault);
}

/* ---- small windows */

/* Blocks enough for any device, and rows enough for the window above to cost little. */
static int march_rows(int64_t strips, int64_t planes, int32_t h, int radius)
{
    int rows = radius < 4 ? 32 : 64;
    while (rows > 8 && rows > 2 * radius && strips * planes * tamis_tiles(h, rows) < 8000)
        rows /= 2;
    return rows;
}

template <typename P, int R, int STEP>
static tamis_status launch_march(const tamis_gpu_work *w, const struct gaussian_state *s,
                                 tamis_gpu_fault *fault)
{
    typedef typename P::sample T;
    march_args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.taps = s->march;
    a.end = s->end;
    a.shift_x = w->shift_x * STEP;
    a.shift_y = w->shift_y;
    a.first = w->part.x * STEP / 4 * 4;
    int64_t width = (int64_t)(w->part.x + w->part.w) * STEP - a.first;
    a.strips = tamis_tiles(width, MARCH_INNER(R * STEP));
    a.rows = march_rows(a.strips, (int64_t)w->planes * w->count, w->part.h, R);
    TAMIS_LAUNCH((march<P, R, STEP>),
                 tamis_grid(w, a.strips, tamis_tiles(w->part.h, a.rows), w->planes), 32, 0,
                 w->stream, a);
    return tamis_cuda_launched("gaussian", fault);
}

/* The kernel for a radius; NULL: there is none. */
typedef tamis_status (*march_launch)(const tamis_gpu_work *, const struct gaussian_state *,
                                     tamis_gpu_fault *);

template <typename P> static march_launch find_march(int radius, int step)
{
    static const march_launch plain[] = {launch_march<P, 1, 1>, launch_march<P, 2, 1>,
                                         launch_march<P, 3, 1>, launch_march<P, 4, 1>,
                                         launch_march<P, 5, 1>, launch_march<P, 7, 1>};
    static const march_launch color[] = {launch_march<P, 1, 3>, launch_march<P, 2, 3>,
                                         launch_march<P, 3, 3>};
    if (step == 1 && radius >= 1 && radius <= 5)
        return plain[radius - 1];
    if (step == 1 && radius == 7)
        return plain[5];
    return step == 3 && radius >= 1 && radius <= 3 ? color[radius - 1] : NULL;
}

/* It loads and stores four samples at once. */
template <typename M>
static march_launch find_small(const tamis_gpu_work *w, const struct gaussian_state *s)
{
    bool aligned =
        w->aligned >= (int)(4 * sizeof(typename M::sample)) && w->shift_x * w->step % 4 == 0;
    return aligned && s->x.radius == s->y.radius ? find_march<M>(s->x.radius, w->step) : NULL;
}

template <typename P>
static tamis_status launch_strips(const tamis_gpu_work *w, const struct gaussian_state *s,
                                  tamis_gpu_fault *fault)
{
    args<typename P::sample> a = make_args<P>(w, s);
    if (a.side > MAX_SIDE)
        return launch_wide<P>(w, a, fault);
    int64_t width = (int64_t)(w->part.x + w->part.w) * w->step - a.first;
    a.strips = tamis_tiles(width, STRIP - 2 * a.side);
    TAMIS_LAUNCH(strips<P>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, P::ROWS), w->planes),
                 THREADS, 0, w->stream, a);
    return tamis_cuda_launched("gaussian", fault);
}

static tamis_status launch_bytes(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const struct gaussian_state *s = (const struct gaussian_state *)state;
    tamis_status status;
    (void)node;
    bool square = s->x.radius == s->y.radius;
    if (square && s->x.radius < PRODUCTS_FROM &&
        launch_rows(w, s->x.radius, s->rows, fault, &status))
        return status;
    if (launch_products(w, s->products, fault, &status))
        return status;
    if (square && launch_rows(w, s->x.radius, s->rows, fault, &status))
        return status;
    return launch_strips<fixed>(w, s, fault);
}

template <typename P, typename M>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const struct gaussian_state *s = (const struct gaussian_state *)state;
    (void)node;
    march_launch small = find_small<M>(w, s);
    return small ? small(w, s, fault) : launch_strips<P>(w, s, fault);
}

template <typename P>
static size_t scratch(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    (void)state;
    const struct gaussian_coef *c = (const struct gaussian_coef *)node->coef;
    int packed = node->in.layout == TAMIS_PACKED;
    int step = packed ? node->in.channels : 1, planes = packed ? 1 : node->in.channels;
    int side = side_of(c, step);
    if (side <= MAX_SIDE)
        return 0;
    size_t row = ((size_t)w * step + 2 * (size_t)side) * sizeof(typename P::sum);
    return (row + 15) / 16 * 16 * (size_t)h * planes;
}

static bool upload_axis(tamis_gpu_prep *prep, const struct gaussian_axis *a, struct taps *t)
{
    size_t n = (size_t)a->radius + 1;
    t->radius = a->radius;
    t->bits = a->bits;
    t->even = (const int32_t *)prep->upload(prep, a->even, n * sizeof *a->even);
    t->odd = (const int32_t *)prep->upload(prep, a->odd, n * sizeof *a->odd);
    t->q = (const int16_t *)prep->upload(prep, a->q, n * sizeof *a->q);
    t->f = (const float *)prep->upload(prep, a->f, n * sizeof *a->f);
    t->d = (const double *)prep->upload(prep, a->d, n * sizeof *a->d);
    return t->even && t->odd && t->q && t->f && t->d;
}

static void fill_march(const struct gaussian_coef *c, struct march_taps *t)
{
    if (c->x.radius > MARCH_MAX_RADIUS || c->y.radius > MARCH_MAX_RADIUS)
        return;
    for (int i = 0; i <= c->x.radius; i++) {
        t->across[i] = c->x.f[i];
        t->d_across[i] = c->x.d[i];
    }
    for (int i = 0; i <= c->y.radius; i++) {
        t->down[i] = c->y.f[i];
        t->d_down[i] = c->y.d[i];
    }
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct gaussian_coef *c = (const struct gaussian_coef *)prep->node->coef;
    struct gaussian_state *s = (struct gaussian_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->end = gaussian_end_of(c);
    if (prep->node->work == TAMIS_U8) {
        fill_rows(c, &s->rows);
        if (fill_products(prep, c, step_of(prep->node), &s->products) != TAMIS_OK)
            return TAMIS_ERR_MEMORY;
    } else {
        fill_march(c, &s->march);
    }
    return upload_axis(prep, &c->x, &s->x) && upload_axis(prep, &c->y, &s->y) ? TAMIS_OK
                                                                              : TAMIS_ERR_MEMORY;
}

#define GRID_ROW(type, tolerance)                                                                  \
    {                                                                                              \
        "grid", type, tolerance, tamis_cuda_gaussian_grid_prepare,                                 \
            tamis_cuda_gaussian_grid_scratch, tamis_cuda_gaussian_grid_launch                      \
    }
} // namespace

TAMIS_CUDA_KERNELS(gaussian) = {
    {"separable", TAMIS_U8, 0, prepare, scratch<fixed>, launch_bytes},
    {"separable", TAMIS_U16, 0, prepare, scratch<single<uint16_t>>,
     launch<single<uint16_t>, march_single<uint16_t>>},
    {"separable", TAMIS_S16, 0, prepare, scratch<single<int16_t>>,
     launch<single<int16_t>, march_single<int16_t>>},
    {"separable", TAMIS_F32, 1e-6, prepare, scratch<centered>, launch<centered, march_centered>},
    GRID_ROW(TAMIS_U8, 0),
    GRID_ROW(TAMIS_U16, 0),
    GRID_ROW(TAMIS_S16, 0),
    GRID_ROW(TAMIS_F32, 1e-6),
    {},
};
