/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes and Laplacians on a device. A thread goes down a few rows with four samples side by side,
 * holding in registers what the last rows add to the slopes; all sums are those of edges.c, in the
 * same order where they are rounded. */
#include "edges.cuh"
#include "edges_rows.cuh"

enum { ACROSS = 32, DOWN = 4, ROWS = 8 }; /* threads of a block; rows of a thread */

/* What a kernel was made for. */
enum purpose {
    ANY,   /* all but angles */
    ANGLE, /* nothing but angles */
    SUMS,  /* of bytes: |dx| + |dy| in bytes, neither scaled nor shifted */
    ROOTS  /* likewise the root of the squares */
};

template <typename T> struct args {
    edges_source<T> source;
    tamis_output out;
    plan_taps taps;
    int from, corners; /* corners: of Laplacians */
    tamis_type result;
    float scale, delta;
    int first, begin, end; /* samples of a row: of the first thread, and those to write */
    int aligned;           /* four samples of the result may be stored at once */
    int pitch;             /* from one to the next */
    unsigned tiles;        /* in a row */
};

/* ---- values */

/* atan(v), 0 <= v <= 1, as v times a polynomial in v^2 of least greatest error, 1.5e-7. */
static __device__ __forceinline__ float atan_unit(float v)
{
    const float c[] = {0x1.ffffeap-1f, -0x1.554c3ap-2f, 0x1.988174p-3f, -0x1.1cd946p-3f,
                       0x1.8af1c0p-4f, -0x1.ca0898p-5f, 0x1.6633d0p-6f, -0x1.09b842p-8f};
    float t = v * v, sum = c[7];
#pragma unroll
    for (int i = 6; i >= 0; i--)
        sum = fmaf(sum, t, c[i]);
    return v * sum;
}

/* By the angle of the smaller to the larger side, which is then mirrored into its octant. */
static __device__ __forceinline__ float angle(float dx, float dy)
{
    float x = fabsf(dx), y = fabsf(dy), small = fminf(x, y), large = fmaxf(x, y);
    /* Equal ones may be 0 or infinite. */
    float ratio = small == large ? (small == 0 ? 0.f : 1.f) : __fdiv_rn(small, large);
    float a = atan_unit(ratio);
    a = y > x ? 0x1.921fb6p0f - a : a;
    a = dx < 0 ? 0x1.921fb6p1f - a : a;
    a = dy < 0 ? -a : a;
    return isnan(dx) || isnan(dy) ? dx + dy : a;
}

/* Of four slopes, before they are scaled. */
static __device__ __forceinline__ void values_of(int from, const float dx[4], const float dy[4],
                                                 float out[4])
{
    if (from == FROM_L1) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            out[c] = __fadd_rn(fabsf(dx[c]), fabsf(dy[c]));
    } else if (from == FROM_L2) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            out[c] = __fsqrt_rn(__fadd_rn(__fmul_rn(dx[c], dx[c]), __fmul_rn(dy[c], dy[c])));
    } else {
#pragma unroll
        for (int c = 0; c < 4; c++)
            out[c] = from == FROM_DX ? dx[c] : dy[c];
    }
}

/* ---- results */

static __device__ __forceinline__ unsigned pack_halves(unsigned a, unsigned b)
{
    return __byte_perm(a, b, 0x5410);
}

static __device__ __forceinline__ unsigned pack_bytes(unsigned a, unsigned b, unsigned c,
                                                      unsigned d)
{
    return pack_halves(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040));
}

/* Four samples of a row of the result from i on: all of them the part's and at aligned places, or
 * any. */
struct whole_place {
    char *row;
    int i, begin, end, pitch;

    __device__ __forceinline__ void put(const uint8_t v[4]) const
    {
        put_bytes(v[0], v[1], v[2], v[3]);
    }
    __device__ __forceinline__ void put_bytes(unsigned a, unsigned b, unsigned c, unsigned d) const
    {
        *(unsigned *)(void *)(row + i) = pack_bytes(a, b, c, d);
    }
    template <typename S> __device__ __forceinline__ void put(const S v[4]) const
    {
        *(uint2 *)(void *)((S *)row + i) = make_uint2(pack_halves((uint16_t)v[0], (uint16_t)v[1]),
                                                      pack_halves((uint16_t)v[2], (uint16_t)v[3]));
    }
    __device__ __forceinline__ void put(const float v[4]) const
    {
        *(float4 *)(void *)((float *)row + i) = make_float4(v[0], v[1], v[2], v[3]);
    }
};
struct single_place {
    char *row;
    int i, begin, end, pitch;

    template <typename S> __device__ __forceinline__ void put(const S v[4]) const
    {
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (i + c >= begin && i + c < end)
                ((S *)row)[(int64_t)(i + c) * pitch] = v[c];
    }
    __device__ __forceinline__ void put_bytes(unsigned a, unsigned b, unsigned c, unsigned d) const
    {
        const uint8_t v[4] = {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d};
        put(v);
    }
};

template <typename S, typename P>
static __device__ __forceinline__ void put_as(const P &p, const float v[4])
{
    S s[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        s[c] = tamis_sample<S>::of(v[c]);
    p.put(s);
}

template <typename P>
static __device__ __forceinline__ void put_any(tamis_type type, const P &p, const float v[4])
{
    switch (type) {
    case TAMIS_U8:
        put_as<uint8_t>(p, v);
        break;
    case TAMIS_U16:
        put_as<uint16_t>(p, v);
        break;
    case TAMIS_S16:
        put_as<int16_t>(p, v);
        break;
    default:
        p.put(v);
    }
}

/* Magnitudes as bytes: added to 2^23, a number up to 255 is rounded to its last bits. */
template <typename P> static __device__ __forceinline__ void put_bytes(const P &p, const float v[4])
{
    unsigned bits[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        bits[c] = __float_as_uint(v[c] + 8388608.f);
    p.put_bytes(bits[0], bits[1], bits[2], bits[3]);
}

/* ---- kernels */

/* Of a thread: its first sample and row, and where it writes. */
template <typename T> struct position {
    const args<T> *a;
    int i, y, plane;

    __device__ __forceinline__ position(const args<T> &a_) : a(&a_), plane(blockIdx.y)
    {
        unsigned row = blockIdx.x / a->tiles, tile = blockIdx.x - row * a->tiles;
        i = a->first + (int)(tile * ACROSS + threadIdx.x) * 4;
        y = a->out.y + (int)(row * DOWN + threadIdx.y) * ROWS;
    }
    __device__ __forceinline__ bool is_mine() const
    {
        return i < a->end && y < a->out.y + a->out.h;
    }
    /* Whether all can be stored at once. */
    __device__ __forceinline__ bool stores_whole() const
    {
        return a->aligned && i >= a->begin && i + 4 <= a->end && rows() == ROWS;
    }
    __device__ __forceinline__ int rows() const
    {
        return min(a->out.y + a->out.h - y, (int)ROWS);
    }
    /* Where the first row's are written, as P has it. */
    template <typename P> __device__ __forceinline__ P first() const
    {
        char *row = tamis_row<char>(a->out, plane, y);
        return P{row, i, a->begin, a->end, a->pitch};
    }
};

template <int U, typename T, typename P>
static __device__ __forceinline__ void finish(const args<T> &a, const P &p, const float dx[4],
                                              const float dy[4])
{
    float v[4];
    if (U == ANY)
        values_of(a.from, dx, dy, v);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (U == SUMS)
            v[c] = fminf(fabsf(dx[c]) + fabsf(dy[c]), 255.f);
        else if (U == ROOTS) /* of a whole number up to 255^2: the closest to a half between two
                                levels, 0.5 - 0.0005, is farther from it than the root is wrong */
            v[c] = tamis_rough_root(fminf(fmaf(dx[c], dx[c], dy[c] * dy[c]), 65025.f));
        else if (U == ANGLE)
            v[c] = angle(dx[c], dy[c]);
        else
            v[c] = __fadd_rn(__fmul_rn(v[c], a.scale), a.delta);
    }
    if (U == SUMS || U == ROOTS)
        put_bytes(p, v);
    else if (U == ANGLE)
        p.put(v);
    else
        put_any(a.result, p, v);
}

/* Reads windows and writes at places of the types Reader and P. */
template <typename T, int R, int F, int U, typename Reader, typename P, int UNROLL, typename Taps>
static __device__ __forceinline__ void go_down(const position<T> &at, const Taps &taps)
{
    const args<T> &a = *at.a;
    int y = at.y + a.source.shift_y - R, rows = at.rows();
    Reader in(a.source, at.plane, at.i + a.source.shift_x, y);
    P p = at.template first<P>();
    float across[2 * R + 1][4] = {}, smoothed[2 * R + 1][4] = {};
#pragma unroll UNROLL
    for (int v = 0; v < ROWS + 2 * R; v++) {
        if (UNROLL == 1 && v - 2 * R >= rows)
            break;
        window<R, F> w = in.next();
        move_up<2 * R + 1>(across);
        move_up<2 * R + 1>(smoothed);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            across[2 * R][c] = across_at<T, R>(taps, w, c);
            smoothed[2 * R][c] = smoothed_at<T, R>(taps, w, c);
        }
        if (v < 2 * R)
            continue;
        float dx[4], dy[4];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            dx[c] = down_dx<T, R>(taps, across, c);
            dy[c] = down_dy<T, R>(taps, smoothed, c);
        }
        finish<U>(a, p, dx, dy);
        p.row += a.out.stride[at.plane];
    }
}

template <typename T, int R, int F, int U, typename Taps>
static __device__ __forceinline__ void slopes_of(const args<T> &a, const Taps &taps)
{
    position<T> at(a);
    if (!at.is_mine())
        return;
    if constexpr (F == SIDE_BY_SIDE || (F == SPACED && R == 1)) {
        const int unroll = U == ANGLE ? 2 : U != ANY ? ROWS + 2 * R : R == 1 ? 5 : R == 2 ? 4 : 2;
        int i = at.i + a.source.shift_x, y = at.y + a.source.shift_y - R;
        if (loads_whole<T, R, F>(a.source, i, y, ROWS + 2 * R) && at.stores_whole()) {
            go_down<T, R, F, U, whole_reader<T, R, F>, whole_place, unroll>(at, taps);
            return;
        }
    }
    go_down<T, R, F, U, single_reader<T, R, F>, single_place, 1>(at, taps);
}

template <typename T, int R, int F, int U>
__global__ void __launch_bounds__(ACROSS *DOWN) slopes(args<T> a)
{
    slopes_of<T, R, F, U>(a, a.taps);
}

template <int F, int U, int MIDDLE, int SIDE>
__global__ void __launch_bounds__(ACROSS *DOWN) magnitudes(args<uint8_t> a)
{
    slopes_of<uint8_t, 1, F, U>(a, known_taps<MIDDLE, SIDE>());
}

template <int F>
static __device__ __forceinline__ float laplacian_at(const window<1, F> w[3], int corners, int c)
{
    float beside = __fadd_rn(__fadd_rn(w[0].at(0, c), w[2].at(0, c)),
                             __fadd_rn(w[1].at(-1, c), w[1].at(1, c)));
    if (!corners)
        return __fsub_rn(beside, __fmul_rn(4, w[1].at(0, c)));
    float around = __fadd_rn(__fadd_rn(w[0].at(-1, c), w[2].at(1, c)),
                             __fadd_rn(w[0].at(1, c), w[2].at(-1, c)));
    return __fsub_rn(__fadd_rn(beside, around), __fmul_rn(8, w[1].at(0, c)));
}

template <typename T, int F, typename Reader, typename P, int UNROLL>
static __device__ __forceinline__ void laplacians_down(const position<T> &at)
{
    const args<T> &a = *at.a;
    int y = at.y + a.source.shift_y - 1, rows = at.rows();
    Reader in(a.source, at.plane, at.i + a.source.shift_x, y);
    P p = at.template first<P>();
    window<1, F> w[3];
#pragma unroll UNROLL
    for (int v = 0; v < ROWS + 2; v++) {
        if (UNROLL == 1 && v - 2 >= rows)
            break;
        w[0] = w[1];
        w[1] = w[2];
        w[2] = in.next();
        if (v < 2)
            continue;
        float value[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            value[c] = __fadd_rn(__fmul_rn(laplacian_at<F>(w, a.corners, c), a.scale), a.delta);
        put_any(a.result, p, value);
        p.row += a.out.stride[at.plane];
    }
}

template <typename T, int F> __global__ void __launch_bounds__(ACROSS *DOWN) laplacians(args<T> a)
{
    position<T> at(a);
    if (!at.is_mine())
        return;
    if constexpr (F == SIDE_BY_SIDE || F == SPACED) {
        int i = at.i + a.source.shift_x, y = at.y + a.source.shift_y - 1;
        if (loads_whole<T, 1, F>(a.source, i, y, ROWS + 2) && at.stores_whole()) {
            laplacians_down<T, F, whole_reader<T, 1, F>, whole_place, ROWS + 2>(at);
            return;
        }
    }
    laplacians_down<T, F, single_reader<T, 1, F>, single_place, 1>(at);
}

/* ---- launches */

static int bytes_of(tamis_type type)
{
    return type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
}

template <typename T> static args<T> args_of(const tamis_gpu_work *w, const edges_coef *k)
{
    args<T> a;
    a.source = edges_source_of<T>(w, k->luma);
    a.out = tamis_output_of(w);
    a.taps.taps = k->taps;
    a.from = tamis_priv_edges_from(k);
    a.corners = k->kind == EDGES_LAPLACIAN8;
    a.result = k->result;
    a.scale = k->scale;
    a.delta = k->delta;
    a.begin = w->part.x * w->step;
    a.end = (w->part.x + w->part.w) * w->step;
    a.first = a.begin / 4 * 4;
    a.aligned = w->aligned >= 4 * bytes_of(k->result);
    a.pitch = w->step > 1 ? 1 : w->dst_pitch;
    a.tiles = (unsigned)tamis_tiles(a.end - a.first, 4 * ACROSS);
    return a;
}

template <typename T, typename K>
static tamis_status start(K kernel, const tamis_gpu_work *w, const args<T> &a,
                          tamis_gpu_fault *fault)
{
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, DOWN * ROWS), w->written),
                 dim3(ACROSS, DOWN), 0, w->stream, a);
    return tamis_cuda_launched("edges", fault);
}

template <int F, int P>
static tamis_status start_magnitudes(const tamis_gpu_work *w, const edges_coef *k,
                                     const args<uint8_t> &a, tamis_gpu_fault *fault)
{
    switch (k->kind) {
    case EDGES_SOBEL3:
        return start(magnitudes<F, P, 2, 1>, w, a, fault);
    case EDGES_PREWITT:
        return start(magnitudes<F, P, 1, 1>, w, a, fault);
    default:
        return start(magnitudes<F, P, 10, 3>, w, a, fault);
    }
}

static bool is_plain(const edges_coef *k)
{
    return k->kind <= EDGES_SCHARR && k->output == TAMIS_GRADIENT_MAGNITUDE &&
           k->result == TAMIS_U8 && k->scale == 1 && k->delta == 0;
}

/* Rows of bytes have kernels of their own for what is asked for most. */
template <int F, typename T>
static bool start_plain(const tamis_gpu_work *, const edges_coef *, const args<T> &,
                        tamis_gpu_fault *, tamis_status *)
{
    return false;
}
template <int F>
static bool start_plain(const tamis_gpu_work *w, const edges_coef *k, const args<uint8_t> &a,
                        tamis_gpu_fault *fault, tamis_status *status)
{
    if (!is_plain(k))
        return false;
    *status = k->norm == TAMIS_GRADIENT_L1 ? start_magnitudes<F, SUMS>(w, k, a, fault)
                                           : start_magnitudes<F, ROOTS>(w, k, a, fault);
    return true;
}

template <typename T, int F, int P>
static tamis_status start_slopes(const tamis_gpu_work *w, const edges_coef *k, const args<T> &a,
                                 tamis_gpu_fault *fault)
{
    switch (k->radius) {
    case 1:
        return start(slopes<T, 1, F, P>, w, a, fault);
    case 2:
        return start(slopes<T, 2, F, P>, w, a, fault);
    default:
        return start(slopes<T, 3, F, P>, w, a, fault);
    }
}

template <typename T, int F>
static tamis_status start_form(const tamis_gpu_work *w, const edges_coef *k, tamis_gpu_fault *fault)
{
    args<T> a = args_of<T>(w, k);
    if (k->kind >= EDGES_LAPLACIAN4)
        return start(laplacians<T, F>, w, a, fault);
    if (k->output == TAMIS_GRADIENT_DIRECTION)
        return start_slopes<T, F, ANGLE>(w, k, a, fault);
    tamis_status status;
    if constexpr (F != APART)
        if (start_plain<F>(w, k, a, fault, &status))
            return status;
    return start_slopes<T, F, ANY>(w, k, a, fault);
}

template <typename T>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *,
                           tamis_gpu_fault *fault)
{
    const edges_coef *k = (const edges_coef *)node->coef;
    tamis_status status;
    if (sizeof(T) == 1 && launch_rows(w, k, fault, &status))
        return status;
    if (k->luma)
        return start_form<T, APART>(w, k, fault);
    if (w->src_pitch > w->step)
        return start_form<T, APART>(w, k, fault);
    if (w->step > 1)
        return start_form<T, SPACED>(w, k, fault);
    return start_form<T, SIDE_BY_SIDE>(w, k, fault);
}

#define ROWS_OF(stage, tolerance)                                                                  \
    {stage, TAMIS_U8, tolerance, nullptr, nullptr, launch<uint8_t>, nullptr},                      \
        {stage, TAMIS_U16, tolerance, nullptr, nullptr, launch<uint16_t>, nullptr},                \
        {stage, TAMIS_S16, tolerance, nullptr, nullptr, launch<int16_t>, nullptr},                 \
    {                                                                                              \
        stage, TAMIS_F32, tolerance, nullptr, nullptr, launch<float>, nullptr                      \
    }
/* Directions: a polynomial and a few sums, each rounded to 24 bits, against the exact angle. */
#define GRADIENT_ROWS                                                                              \
    {                                                                                              \
        ROWS_OF("dx", 0), ROWS_OF("dy", 0), ROWS_OF("magnitude", 0), ROWS_OF("direction", 1e-6),   \
        {                                                                                          \
        }                                                                                          \
    }

TAMIS_CUDA_KERNELS(sobel) = GRADIENT_ROWS;
TAMIS_CUDA_KERNELS(prewitt) = GRADIENT_ROWS;
TAMIS_CUDA_KERNELS(scharr) = GRADIENT_ROWS;
TAMIS_CUDA_KERNELS(laplacian) = {ROWS_OF("laplacian", 0), {}};
