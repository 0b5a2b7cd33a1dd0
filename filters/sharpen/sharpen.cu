/* SPDX-License-Identifier: Apache-2.0 */
/* Sharpening on a device. Threads go down strips of a few samples; the last three rows are in
 * registers, and the next is on its way. */
#include "kernel.cuh"

#include "sharpen_kernel.h"

enum { STRIP_WARPS = 4, STRIP_ROWS = 16 };

template <typename T> struct args {
    tamis_inputs<T> in;
    tamis_output out;
    int shift_x, shift_y; /* samples, rows */
    int aligned;
    int64_t strips; /* in a row */
    sharpen_coef k;
    /* For whole amounts: center * center_up + sum * sum_up less center * center_down + sum *
     * sum_down, all at least 0. */
    unsigned center_up, sum_up, center_down, sum_down;
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
    int center = 1 + k->whole * (k->corners ? 8 : 4), sum = -k->whole;
    a.center_up = (unsigned)(center > 0 ? center : 0);
    a.center_down = (unsigned)(center < 0 ? -center : 0);
    a.sum_up = (unsigned)(sum > 0 ? sum : 0);
    a.sum_down = (unsigned)(sum < 0 ? -sum : 0);
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

enum { WHOLE_SAMPLES = 8 };

/* Eight samples, two in a word, and the sums of their neighbors in the row: of the first four
 * samples those with even numbers, those with odd ones, then of the last four. */
struct lanes {
    unsigned center[4], beside[4];
};

static __device__ __noinline__ unsigned gather(const tamis_input<uint8_t> *in, int left, int right,
                                               int i, int y)
{
    unsigned w = 0;
#pragma unroll 1
    for (int n = 0; n < 4; n++)
        w |= (unsigned)in->sample(min(max(i + n, left), right), y) << 8 * n;
    return w;
}

/* The four samples from i on. */
static __device__ __forceinline__ unsigned word(const place<uint8_t> &p, int i, int y,
                                                bool row_inside, int width)
{
    bool here = row_inside && p.aligned && i >= max(p.left, 0) && i + 3 <= min(p.right, width - 1);
    return here ? *(const unsigned *)(p.in.row(y) + i) : gather(&p.in, p.left, p.right, i, y);
}

static __device__ __forceinline__ unsigned even_of(unsigned w)
{
    return w & 0x00ff00ffu;
}

static __device__ __forceinline__ unsigned odd_of(unsigned w)
{
    return __byte_perm(w, 0, 0x4341);
}

/* Eight samples and four on either side of them. */
struct words {
    unsigned w[4];
};

template <int STEP>
static __device__ __forceinline__ words load_words(const place<uint8_t> &p, int y)
{
    words r;
    if (p.inside) {
        const unsigned *row = (const unsigned *)(p.base + y * p.stride);
        uint2 both = *(const uint2 *)row;
        r.w[0] = row[-1];
        r.w[1] = both.x;
        r.w[2] = both.y;
        r.w[3] = row[2];
        return r;
    }
    int width = p.in.w * STEP;
    y = min(max(y, p.top), p.bottom);
    bool row_inside = (unsigned)y < (unsigned)p.in.h;
#pragma unroll
    for (int n = 0; n < 4; n++)
        r.w[n] = word(p, p.i + 4 * (n - 1), y, row_inside, width);
    return r;
}

template <int STEP> static __device__ __forceinline__ lanes lanes_of(const words &s)
{
    const unsigned *w = s.w;
    lanes r;
#pragma unroll
    for (int n = 0; n < 2; n++) {
        unsigned before = __byte_perm(w[n], w[n + 1], 0x7654 - 0x1111 * STEP);
        unsigned after = __byte_perm(w[n + 1], w[n + 2], 0x3210 + 0x1111 * STEP);
        r.center[2 * n] = even_of(w[n + 1]);
        r.center[2 * n + 1] = odd_of(w[n + 1]);
        r.beside[2 * n] = even_of(before) + even_of(after);
        r.beside[2 * n + 1] = odd_of(before) + odd_of(after);
    }
    return r;
}

template <int STEP>
__global__ void __launch_bounds__(32 * STRIP_WARPS)
    sharpen_whole(const __grid_constant__ args<uint8_t> a)
{
    int begin = a.out.x * STEP, end = (a.out.x + a.out.w) * STEP, bottom = a.out.y + a.out.h;
    int64_t i = (begin + a.shift_x) / WHOLE_SAMPLES * WHOLE_SAMPLES +
                ((int64_t)(blockIdx.x % a.strips) * 32 + threadIdx.x) * WHOLE_SAMPLES;
    int64_t top =
        a.out.y + ((int64_t)(blockIdx.x / a.strips) * STRIP_WARPS + threadIdx.y) * STRIP_ROWS;
    if (top >= bottom || i >= end + a.shift_x)
        return;
    int x = (int)i - a.shift_x, y = (int)top, stop = min(bottom, y + (int)STRIP_ROWS);
    place<uint8_t> p = place_of<uint8_t, STEP>(a, (int)i, y, stop, WHOLE_SAMPLES, 4);
    lanes up = lanes_of<STEP>(load_words<STEP>(p, y + a.shift_y - 1));
    lanes here = lanes_of<STEP>(load_words<STEP>(p, y + a.shift_y));
    words ahead = load_words<STEP>(p, y + a.shift_y + 1);
    for (; y < stop; y++) {
        lanes down = lanes_of<STEP>(ahead);
        ahead = load_words<STEP>(p, y + a.shift_y + 2);
        unsigned v[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            unsigned center = here.center[n];
            unsigned sum = up.center[n] + down.center[n] + here.beside[n];
            if (a.k.corners)
                sum += up.beside[n] + down.beside[n];
            unsigned more = center * a.center_up + sum * a.sum_up;
            unsigned less = center * a.center_down + sum * a.sum_down;
            v[n] = __vminu2(__vmaxu2(more, less) - less, 0x00ff00ffu);
        }
        uint8_t *row = tamis_row<uint8_t>(a.out, blockIdx.y, y);
        unsigned w[2] = {v[0] | v[1] << 8, v[2] | v[3] << 8};
        if (p.aligned && x % WHOLE_SAMPLES == 0 && x >= begin && x + WHOLE_SAMPLES <= end) {
            *(uint2 *)(row + x) = make_uint2(w[0], w[1]);
        } else {
#pragma unroll
            for (int n = 0; n < WHOLE_SAMPLES; n++)
                if (x + n >= begin && x + n < end)
                    row[x + n] = (uint8_t)(w[n / 4] >> n % 4 * 8);
        }
        up = here;
        here = down;
    }
}

/* ---- launches */

template <typename T, int STEP>
static tamis_status launch(const tamis_gpu_work *w, const sharpen_coef *k, bool whole,
                           tamis_gpu_fault *fault)
{
    args<T> a = make_args<T>(w, k);
    int samples = whole ? WHOLE_SAMPLES : 4;
    a.strips = tamis_tiles((int64_t)w->part.w * STEP + samples - 1, 32 * samples);
    dim3 grid =
        tamis_grid(w, a.strips, tamis_tiles(w->part.h, STRIP_WARPS * STRIP_ROWS), w->planes);
    dim3 block(32, STRIP_WARPS);
    if constexpr (sizeof(T) == 1) {
        if (whole)
            TAMIS_LAUNCH(sharpen_whole<STEP>, grid, block, 0, w->stream, a);
        else
            TAMIS_LAUNCH((sharpen_any<T, STEP>), grid, block, 0, w->stream, a);
    } else {
        TAMIS_LAUNCH((sharpen_any<T, STEP>), grid, block, 0, w->stream, a);
    }
    return tamis_cuda_launched("sharpen", fault);
}

template <typename T, bool WHOLE>
static tamis_status launch_steps(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const sharpen_coef *k = (const sharpen_coef *)node->coef;
    (void)state;
    switch (w->step) {
    case 1:
        return launch<T, 1>(w, k, WHOLE, fault);
    case 2:
        return launch<T, 2>(w, k, WHOLE, fault);
    case 3:
        return launch<T, 3>(w, k, WHOLE, fault);
    default:
        return launch<T, 4>(w, k, WHOLE, fault);
    }
}

TAMIS_CUDA_KERNELS(sharpen) = {
    {"whole", TAMIS_U8, 0, NULL, NULL, launch_steps<uint8_t, true>},
    {"any", TAMIS_U8, 0, NULL, NULL, launch_steps<uint8_t, false>},
    {"any", TAMIS_U16, 0, NULL, NULL, launch_steps<uint16_t, false>},
    {"any", TAMIS_S16, 0, NULL, NULL, launch_steps<int16_t, false>},
    {"any", TAMIS_F32, 0, NULL, NULL, launch_steps<float, false>},
    {},
};
