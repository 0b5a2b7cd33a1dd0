/* SPDX-License-Identifier: Apache-2.0 */
/* Sharpening on a device. Threads go down strips of a few samples; the last three rows are in
 * registers, and the next is on its way. */
#include "rows.cuh"

#include "sharpen_kernel.h"

enum { STRIP_WARPS = 4, STRIP_ROWS = 16 };

template <typename T> struct args {
    tamis_inputs<T> in;
    tamis_output out;
    int shift_x, shift_y; /* samples, rows */
    int aligned;
    int64_t strips; /* in a row */
    sharpen_coef k;
};

template <typename T> static args<T> make_args(const tamis_gpu_work *w, const sharpen_coef *k)
{
    args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.aligned = w->aligned;
    a.strips = 0;
    a.k = *k;
    return a;
}

/* Where a thread's outputs come from. Samples outside of left .. right and rows outside of top ..
 * bottom may not be read. */
template <typename T> struct place {
    const tamis_input<T> &in;
    int i; /* sample of the input under the first output */
    int left, right, top, bottom;
    bool aligned;     /* the outputs' samples may be loaded at once, */
    bool inside;      /* and nothing that the strip reads is outside of anything */
    const char *base; /* sample i of row 0 */
    int64_t stride;
};

/* For a thread of `samples` outputs, from sample i of the input on, in rows y .. stop-1 of the
 * result; it loads `side` samples beside them, and a row more than it needs. */
template <typename T, int STEP>
static __device__ __forceinline__ place<T> place_of(const args<T> &a, int i, int y, int stop,
                                                    int samples, int side)
{
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int begin = a.out.x * STEP + a.shift_x, top = a.out.y + a.shift_y;
    place<T> p = {in,
                  i,
                  begin - STEP,
                  begin + (a.out.w + 1) * STEP - 1,
                  top - 1,
                  top + a.out.h,
                  a.aligned >= samples * (int)sizeof(T),
                  false,
                  in.data() + (int64_t)i * (int)sizeof(T),
                  in.stride};
    p.inside = p.aligned && i - side >= max(p.left, 0) &&
               i + samples - 1 + side <= min(p.right, in.w * STEP - 1) &&
               y + a.shift_y - 1 >= max(p.top, 0) &&
               stop + a.shift_y + 1 <= min(p.bottom, in.h - 1);
    return p;
}

template <typename T>
static __device__ __noinline__ T anywhere(const tamis_input<T> *in, int i, int y)
{
    return in->sample(i, y);
}

template <typename T>
static __device__ __forceinline__ T one(const place<T> &p, int i, int y, bool row_inside, int width)
{
    i = min(max(i, p.left), p.right);
    return row_inside && (unsigned)i < (unsigned)width ? p.in.row(y)[i] : anywhere(&p.in, i, y);
}

/* ---- any amount and type, in binary32 */

template <typename T> struct quad;
template <> struct quad<uint8_t> {
    typedef uchar4 type;
};
template <> struct quad<uint16_t> {
    typedef ushort4 type;
};
template <> struct quad<int16_t> {
    typedef short4 type;
};
template <> struct quad<float> {
    typedef float4 type;
};

/* Four samples and STEP on either side of them. */
template <typename T, int STEP> struct samples {
    T v[4 + 2 * STEP];
};

template <typename T, int STEP>
static __device__ __forceinline__ samples<T, STEP> load(const place<T> &p, int y)
{
    samples<T, STEP> n;
    if (p.inside) {
        const T *row = (const T *)(p.base + y * p.stride);
        typename quad<T>::type q = *(const typename quad<T>::type *)row;
        n.v[STEP] = q.x;
        n.v[STEP + 1] = q.y;
        n.v[STEP + 2] = q.z;
        n.v[STEP + 3] = q.w;
#pragma unroll
        for (int c = 0; c < STEP; c++) {
            n.v[c] = row[c - STEP];
            n.v[STEP + 4 + c] = row[4 + c];
        }
        return n;
    }
    int width = p.in.w * STEP;
    y = min(max(y, p.top), p.bottom);
    bool row_inside = (unsigned)y < (unsigned)p.in.h;
#pragma unroll
    for (int c = 0; c < 4 + 2 * STEP; c++)
        n.v[c] = one(p, p.i - STEP + c, y, row_inside, width);
    return n;
}

template <int STEP> struct neighborhood {
    float v[4 + 2 * STEP];
};

template <typename T, int STEP>
static __device__ __forceinline__ neighborhood<STEP> numbers(const samples<T, STEP> &s)
{
    neighborhood<STEP> n;
#pragma unroll
    for (int c = 0; c < 4 + 2 * STEP; c++)
        n.v[c] = (float)s.v[c];
    return n;
}

/* As difference() in sharpen.c. */
template <int STEP>
static __device__ __forceinline__ float
difference(const neighborhood<STEP> &up, const neighborhood<STEP> &here,
           const neighborhood<STEP> &down, int c, bool corners)
{
    float center = here.v[STEP + c];
    float sides = __fadd_rn(__fadd_rn(up.v[STEP + c], down.v[STEP + c]),
                            __fadd_rn(here.v[c], here.v[2 * STEP + c]));
    if (!corners)
        return __fsub_rn(__fmul_rn(4, center), sides);
    float others = __fadd_rn(__fadd_rn(up.v[c], up.v[2 * STEP + c]),
                             __fadd_rn(down.v[c], down.v[2 * STEP + c]));
    return __fsub_rn(__fmul_rn(8, center), __fadd_rn(sides, others));
}

template <typename T>
static __device__ __forceinline__ void store(T *row, int x, int begin, int end, bool aligned,
                                             const T *v)
{
    if (aligned && x >= begin && x + 4 <= end) {
        typename quad<T>::type q;
        q.x = v[0];
        q.y = v[1];
        q.z = v[2];
        q.w = v[3];
        *(typename quad<T>::type *)(row + x) = q;
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (x + c >= begin && x + c < end)
            row[x + c] = v[c];
}

template <typename T, int STEP>
__global__ void __launch_bounds__(32 * STRIP_WARPS) sharpen_any(const __grid_constant__ args<T> a)
{
    int begin = a.out.x * STEP, end = (a.out.x + a.out.w) * STEP, bottom = a.out.y + a.out.h;
    int64_t i =
        (begin + a.shift_x) / 4 * 4 + ((int64_t)(blockIdx.x % a.strips) * 32 + threadIdx.x) * 4;
    int64_t top =
        a.out.y + ((int64_t)(blockIdx.x / a.strips) * STRIP_WARPS + threadIdx.y) * STRIP_ROWS;
    if (top >= bottom || i >= end + a.shift_x)
        return;
    int x = (int)i - a.shift_x, y = (int)top, stop = min(bottom, y + (int)STRIP_ROWS);
    place<T> p = place_of<T, STEP>(a, (int)i, y, stop, 4, STEP);
    neighborhood<STEP> up = numbers(load<T, STEP>(p, y + a.shift_y - 1));
    neighborhood<STEP> here = numbers(load<T, STEP>(p, y + a.shift_y));
    samples<T, STEP> ahead = load<T, STEP>(p, y + a.shift_y + 1);
    for (; y < stop; y++) {
        neighborhood<STEP> down = numbers(ahead);
        ahead = load<T, STEP>(p, y + a.shift_y + 2);
        T v[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            v[c] = tamis_sample<T>::of(fmaf(
                a.k.amount, difference<STEP>(up, here, down, c, a.k.corners), here.v[STEP + c]));
        store(tamis_row<T>(a.out, blockIdx.y, y), x, begin, end, p.aligned && x % 4 == 0, v);
        up = here;
        here = down;
    }
}

/* ---- whole amounts of bytes, in 16-bit lanes */

/* center * center_up + sum * sum_up less center * center_down + sum * sum_down, sum being that of
 * the neighbors and all factors at least 0. */
struct whole_factors {
    unsigned center_up, sum_up, center_down, sum_down;
};

static whole_factors whole_factors_of(const sharpen_coef *k)
{
    int center = 1 + k->whole * (k->corners ? 8 : 4), sum = -k->whole;
    whole_factors f;
    f.center_up = (unsigned)(center > 0 ? center : 0);
    f.center_down = (unsigned)(center < 0 ? -center : 0);
    f.sum_up = (unsigned)(sum > 0 ? sum : 0);
    f.sum_down = (unsigned)(sum < 0 ? -sum : 0);
    return f;
}

template <int PIXEL, bool CORNERS> struct sharpen_rows {
    enum { R = 1, STEP = PIXEL, GROUP = 1, ROUND = 6, AHEAD = 12, BLOCKS = 28 };
    typedef uint8_t result;
    typedef whole_factors params;

    tamis_pairs_of_three rows;

    __device__ __forceinline__ void push(const uint2 *row)
    {
        rows.push(*row);
    }
    __device__ __forceinline__ void get(const params &f, tamis_rows_result<uint8_t> *out) const
    {
        tamis_pairs sum = rows.neighbors<STEP, CORNERS>();
#pragma unroll
        for (int k = 0; k < 2; k++)
            out->w[k] = value(rows.row[1].even[k], sum.even[k], f) |
                        value(rows.row[1].odd[k], sum.odd[k], f) << 8;
    }
    static __device__ __forceinline__ unsigned value(unsigned center, unsigned sum, const params &f)
    {
        unsigned more = center * f.center_up + sum * f.sum_up;
        unsigned less = center * f.center_down + sum * f.sum_down;
        return __vminu2(__vmaxu2(more, less) - less, 0x00ff00ffu);
    }
};

/* ---- launches */

template <typename T, int STEP>
static tamis_status launch(const tamis_gpu_work *w, const sharpen_coef *k, tamis_gpu_fault *fault)
{
    args<T> a = make_args<T>(w, k);
    a.strips = tamis_tiles((int64_t)w->part.w * STEP + 3, 32 * 4);
    dim3 grid =
        tamis_grid(w, a.strips, tamis_tiles(w->part.h, STRIP_WARPS * STRIP_ROWS), w->planes);
    TAMIS_LAUNCH((sharpen_any<T, STEP>), grid, dim3(32, STRIP_WARPS), 0, w->stream, a);
    return tamis_cuda_launched("sharpen", fault);
}

template <typename T>
static tamis_status launch_any(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                               tamis_gpu_fault *fault)
{
    const sharpen_coef *k = (const sharpen_coef *)node->coef;
    (void)state;
    switch (w->step) {
    case 1:
        return launch<T, 1>(w, k, fault);
    case 2:
        return launch<T, 2>(w, k, fault);
    case 3:
        return launch<T, 3>(w, k, fault);
    default:
        return launch<T, 4>(w, k, fault);
    }
}

template <int STEP>
static tamis_status launch_rows(const tamis_gpu_work *w, const sharpen_coef *k,
                                tamis_gpu_fault *fault)
{
    whole_factors f = whole_factors_of(k);
    return k->corners ? tamis_rows_launch<sharpen_rows<STEP, true>>("sharpen", w, f, fault)
                      : tamis_rows_launch<sharpen_rows<STEP, false>>("sharpen", w, f, fault);
}

/* In binary32 whole amounts are as exact. */
static tamis_status launch_whole(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const sharpen_coef *k = (const sharpen_coef *)node->coef;
    if (tamis_rows_fit<sharpen_rows<1, true>>(w))
        return launch_rows<1>(w, k, fault);
    if (tamis_rows_fit<sharpen_rows<3, true>>(w))
        return launch_rows<3>(w, k, fault);
    if (tamis_rows_fit<sharpen_rows<4, true>>(w))
        return launch_rows<4>(w, k, fault);
    return launch_any<uint8_t>(w, node, state, fault);
}

TAMIS_CUDA_KERNELS(sharpen) = {
    {"whole", TAMIS_U8, 0, NULL, NULL, launch_whole},
    {"any", TAMIS_U8, 0, NULL, NULL, launch_any<uint8_t>},
    {"any", TAMIS_U16, 0, NULL, NULL, launch_any<uint16_t>},
    {"any", TAMIS_S16, 0, NULL, NULL, launch_any<int16_t>},
    {"any", TAMIS_F32, 0, NULL, NULL, launch_any<float>},
    {},
};
