/* SPDX-License-Identifier: Apache-2.0 */
/* Means of any window on a device, floats and what is too large for box_strips.cuh.
 *
 * Every window is cut by one line of a grid of its own spacing into a part before and a part
 * behind; the sums of such parts run to and from the grid's lines (van Herk 1992 and Gil and Werman
 * 1993 do so for minima), first down columns, then along rows. No sample outside of a window takes
 * part in its sum, and the cost does not depend on its size. Small windows of floats are summed
 * directly. */
#ifndef TAMIS_BOX_PARTS_CUH
#define TAMIS_BOX_PARTS_CUH

#include "box_kernel.h"
#include "kernel.cuh"

/* Samples of one channel are a plane here, whatever the layout: `pitch` samples apart. */
template <typename T> struct box_args {
    tamis_inputs<T> in;
    tamis_output out;
    int planes;
    int dx, dy; /* where the window of output (0, 0) begins in the input */
    int kw, kh;
    int64_t n;
    int aligned;
    int64_t strips; /* in a row */
    int halves;     /* 1: those at the sides come as two */
    int height;     /* of a strip */
    int inner;      /* results in a row of a strip */
    int lead;       /* columns before the first window's, for alignment */
    /* box_strips: the mean is (sum + half) * magic >> 32 >> shift */
    unsigned half, magic;
    int shift;
    /* box_parts: sums of columns, and of parts of rows; [plane][row][column] */
    char *columns, *parts;
    int64_t next; /* bytes to those of the next picture */
};

template <typename T>
static box_args<T> box_args_of(const tamis_gpu_work *w, const struct box_coef *c)
{
    box_args<T> a;
    a.planes = w->planes * w->step;
    a.out = tamis_output_of(w);
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++) {
        int q = p < a.planes ? p : 0, plane = w->step > 1 ? 0 : q, sample = w->step > 1 ? q : 0;
        a.in.plane[p] = tamis_input_of<T>(w, plane);
        a.in.plane[p].first += sample * (int)sizeof(T);
        a.in.plane[p].outside[0] = a.in.plane[p].outside[sample];
        a.out.first[p] = w->dst.data[plane] + sample * (int)sizeof(T);
        a.out.stride[p] = w->dst.stride[plane];
    }
    a.dx = w->shift_x - c->left;
    a.dy = w->shift_y - c->top;
    a.kw = c->w;
    a.kh = c->h;
    a.n = c->n;
    a.aligned = w->aligned;
    a.strips = 0;
    a.halves = 0;
    a.height = a.inner = a.lead = 0;
    a.half = a.magic = 0;
    a.shift = 0;
    a.columns = a.parts = NULL;
    a.next = w->scratch_next;
    return a;
}

/* How samples are summed. Integers are not negative: s16 is moved up. */
template <typename T> struct box_sum;
template <> struct box_sum<float> {
    typedef double type;
    static __device__ __forceinline__ double zero()
    {
        return -0.0; /* to which any number can be added without a change, its sign included */
    }
    static __device__ __forceinline__ double of(float v)
    {
        return v;
    }
    static __device__ __forceinline__ float mean(double sum, int64_t n)
    {
        return (float)(sum / (double)n);
    }
};
template <typename T, int MOVE> struct box_sum_levels {
    typedef int64_t type;
    static __device__ __forceinline__ int64_t zero()
    {
        return 0;
    }
    static __device__ __forceinline__ int64_t of(T v)
    {
        return v + MOVE;
    }
    static __device__ __forceinline__ T mean(int64_t sum, int64_t n)
    {
        return (T)(((uint64_t)sum + (uint64_t)n / 2) / (uint64_t)n - MOVE);
    }
};
template <> struct box_sum<uint8_t> : box_sum_levels<uint8_t, 0> {
};
template <> struct box_sum<uint16_t> : box_sum_levels<uint16_t, 0> {
};
template <> struct box_sum<int16_t> : box_sum_levels<int16_t, 32768> {
};

enum { PARTS_THREADS = 128, DIRECT_MAX = 16, DIRECT_ROWS = 8 };

template <typename T>
static __device__ __forceinline__ typename box_sum<T>::type *box_row(const box_args<T> &a,
                                                                     char *sums, int plane, int y)
{
    return (typename box_sum<T>::type *)tamis_picture(sums, a.next) +
           ((int64_t)plane * a.out.h + y) * ((int64_t)a.out.w + a.kw - 1);
}

/* The grid's lines are those of the image, so that sums do not depend on the part: begin, counted
 * from the part's first row or column, of the index-th piece of the grid in it; how many there are.
 */
static __host__ __device__ inline int box_piece(int first, int side, int64_t index)
{
    return (int)((first / side + index) * side - first);
}

static inline int64_t box_pieces(int first, int count, int side)
{
    return (int64_t)(first + count - 1) / side - first / side + 1;
}

/* Down columns, for the outputs between two lines of the grid. */
template <typename T> __global__ void __launch_bounds__(PARTS_THREADS) box_parts_down(box_args<T> a)
{
    typedef box_sum<T> S;
    typedef typename S::type sum;
    int x = (int)(blockIdx.x % a.strips) * PARTS_THREADS + threadIdx.x;
    int begin = box_piece(a.out.y, a.kh, blockIdx.x / a.strips);
    int end = min(begin + a.kh, a.out.h);
    if (x >= a.out.w + a.kw - 1)
        return;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int column = a.out.x + a.dx + x, row = a.out.y + a.dy;
    sum s = S::zero();
    for (int y = begin + a.kh - 1; y >= max(begin, 0); y--) {
        s += S::of(in.at(column, row + y, 0));
        if (y < end)
            box_row(a, a.columns, blockIdx.y, y)[x] = s;
    }
    s = S::zero();
    for (int y = begin + 1; y < end; y++) {
        s += S::of(in.at(column, row + y + a.kh - 1, 0));
        if (y >= 0)
            box_row(a, a.columns, blockIdx.y, y)[x] += s;
    }
}

/* The sum of the warp's values from the first lane to this one. */
template <typename S> static __device__ __forceinline__ S box_scan(S v)
{
    int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        S other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += other;
    }
    return v;
}

/* Along rows, a warp for the outputs between two lines of the grid. */
template <typename T>
__global__ void __launch_bounds__(PARTS_THREADS) box_parts_across(box_args<T> a)
{
    typedef box_sum<T> S;
    typedef typename S::type sum;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64_t piece = blockIdx.x % a.strips * (PARTS_THREADS / 32) + warp;
    int y = (int)(blockIdx.x / a.strips);
    if ((a.out.x / a.kw + piece) * a.kw >= (int64_t)a.out.x + a.out.w)
        return;
    int begin = box_piece(a.out.x, a.kw, piece), end = min(begin + a.kw, a.out.w);
    const sum *columns = box_row(a, a.columns, blockIdx.y, y);
    sum *parts = box_row(a, a.parts, blockIdx.y, y);
    T *dst = tamis_row<T>(a.out, blockIdx.y, a.out.y + y) + (int64_t)a.out.x * a.out.pitch;
    sum carry = S::zero();
    for (int x = begin + a.kw - 1 - lane; x + lane >= max(begin, 0); x -= 32) {
        sum s = box_scan(x >= max(begin, 0) ? columns[x] : S::zero());
        s += carry;
        if (x >= max(begin, 0) && x < end)
            parts[x] = s;
        carry = __shfl_sync(0xffffffffu, s, 31);
    }
    __syncwarp();
    carry = S::zero();
    for (int x = begin + lane; x - lane < end; x += 32) {
        bool behind = x > begin && x < end;
        sum s = box_scan(behind ? columns[x + a.kw - 1] : S::zero());
        s += carry;
        if (x >= 0 && x < end)
            dst[(int64_t)x * a.out.pitch] = S::mean(parts[x] + s, a.n);
        carry = __shfl_sync(0xffffffffu, s, 31);
    }
}

/* A strip of columns' sums in shared memory, then along rows. */
template <typename T> __global__ void __launch_bounds__(PARTS_THREADS) box_direct(box_args<T> a)
{
    typedef box_sum<T> S;
    typedef typename S::type sum;
    __shared__ sum sums[DIRECT_ROWS][PARTS_THREADS];
    int inner = PARTS_THREADS - (a.kw - 1);
    int x = (int)(blockIdx.x % a.strips) * inner + threadIdx.x;
    int y = (int)(blockIdx.x / a.strips) * DIRECT_ROWS;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int column = a.out.x + a.dx + min(x, a.out.w + a.kw - 2), row = a.out.y + a.dy;
    bool inside = (unsigned)column < (unsigned)in.w;
    int rows = min((int)DIRECT_ROWS, a.out.h - y);
    for (int v = 0; v < rows; v++) {
        sum s = S::zero();
        for (int j = 0; j < a.kh; j++) {
            int r = row + y + v + j;
            s +=
                S::of(inside && (unsigned)r < (unsigned)in.h ? in.row(r)[(int64_t)column * in.pitch]
                                                             : in.at(column, r, 0));
        }
        sums[v][threadIdx.x] = s;
    }
    __syncthreads();
    if ((int)threadIdx.x >= inner || x >= a.out.w)
        return;
    for (int v = 0; v < rows; v++) {
        sum s = S::zero();
        for (int j = 0; j < a.kw; j++)
            s += sums[v][threadIdx.x + j];
        tamis_row<T>(a.out, blockIdx.y, a.out.y + y + v)[(int64_t)(a.out.x + x) * a.out.pitch] =
            S::mean(s, a.n);
    }
}

template <typename T>
static tamis_status launch_direct(box_args<T> a, const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    a.strips = tamis_tiles(w->part.w, PARTS_THREADS - (a.kw - 1));
    TAMIS_LAUNCH(box_direct<T>,
                 tamis_grid(w, a.strips, tamis_tiles(w->part.h, DIRECT_ROWS), a.planes),
                 PARTS_THREADS, 0, w->stream, a);
    return tamis_cuda_launched("box", fault);
}

static size_t box_parts_bytes(const struct box_coef *c, int planes, int32_t w, int32_t h)
{
    return ((size_t)w + (size_t)c->w - 1) * (size_t)h * (size_t)planes * sizeof(int64_t);
}

template <typename T>
static tamis_status launch_parts(box_args<T> a, const tamis_gpu_work *w, const struct box_coef *c,
                                 tamis_gpu_fault *fault)
{
    a.columns = (char *)w->scratch;
    a.parts = a.columns + box_parts_bytes(c, a.planes, w->part.w, w->part.h);
    a.strips = tamis_tiles((int64_t)w->part.w + a.kw - 1, PARTS_THREADS);
    TAMIS_LAUNCH(box_parts_down<T>,
                 tamis_grid(w, a.strips, box_pieces(w->part.y, w->part.h, a.kh), a.planes),
                 PARTS_THREADS, 0, w->stream, a);
    tamis_status status = tamis_cuda_launched("box columns", fault);
    if (status != TAMIS_OK)
        return status;
    a.strips = tamis_tiles(box_pieces(w->part.x, w->part.w, a.kw), PARTS_THREADS / 32);
    TAMIS_LAUNCH(box_parts_across<T>, tamis_grid(w, a.strips, w->part.h, a.planes), PARTS_THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("box rows", fault);
}

#endif
