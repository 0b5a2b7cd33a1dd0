/* SPDX-License-Identifier: Apache-2.0 */
/* What filters' device kernels share: samples, borders, tiles, launches. The contract is in
 * gpu/backend.h. */
#ifndef TAMIS_CUDA_KERNEL_CUH
#define TAMIS_CUDA_KERNEL_CUH

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "gpu/backend.h"
#include "platform.cuh"

/* ---- host side */

/* Turns CUDA's error into a status and a sentence that says what was being done. */
tamis_status tamis_cuda_check(cudaError_t error, const char *what, tamis_gpu_fault *fault);

/* After a launch: whether it was accepted. */
static inline tamis_status tamis_cuda_launched(const char *kernel, tamis_gpu_fault *fault)
{
    return tamis_cuda_check(cudaGetLastError(), kernel, fault);
}

/* Bytes of shared memory that a block may have on the current device. */
tamis_status tamis_cuda_shared_limit(size_t *bytes, tamis_gpu_fault *fault);

/* Multiprocessors of the current device. */
tamis_status tamis_cuda_processors(int *count, tamis_gpu_fault *fault);

/* Lets blocks of a kernel, which has no shared memory of a fixed size, have all of it. What a
 * launch needs is not what to ask for: threads that launch one kernel at once would take it from
 * each other. */
template <typename K> static tamis_status tamis_cuda_allow_shared(K *kernel, tamis_gpu_fault *fault)
{
    size_t most;
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    return tamis_cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most),
        "shared memory of a kernel", fault);
}

static inline int64_t tamis_tiles(int64_t length, int tile)
{
    return (length + tile - 1) / tile;
}

/* A grid of one block for each tile of the part, in x, each plane, in y, and each picture, in z.
 * Of more tiles than a grid may have it is empty, and the launch is refused. */
static inline dim3 tamis_grid(const tamis_gpu_work *w, int64_t tiles_x, int64_t tiles_y, int planes)
{
    int64_t tiles = tiles_x * tiles_y;
    return dim3(tiles <= INT32_MAX ? (unsigned)tiles : 0, (unsigned)planes, (unsigned)w->count);
}

/* The rows of a filter, for the list that the build makes; the last is {0}. */
#define TAMIS_CUDA_KERNELS(name) extern "C" const tamis_gpu_kernel name##_kernels_cuda[]

/* ---- samples */

template <typename T> struct tamis_sample; /* float to T: nearest, ties to even, saturated, NaN 0 */
template <> struct tamis_sample<uint8_t> {
    static const tamis_type type = TAMIS_U8;
    static __device__ __forceinline__ uint8_t of(float v)
    {
        return (uint8_t)min(max(__float2int_rn(v), 0), 255);
    }
    static __device__ __forceinline__ uint8_t of_int(int v)
    {
        return (uint8_t)min(max(v, 0), 255);
    }
};
template <> struct tamis_sample<uint16_t> {
    static const tamis_type type = TAMIS_U16;
    static __device__ __forceinline__ uint16_t of(float v)
    {
        return (uint16_t)min(max(__float2int_rn(v), 0), 65535);
    }
    static __device__ __forceinline__ uint16_t of_int(int v)
    {
        return (uint16_t)min(max(v, 0), 65535);
    }
};
template <> struct tamis_sample<int16_t> {
    static const tamis_type type = TAMIS_S16;
    static __device__ __forceinline__ int16_t of(float v)
    {
        return (int16_t)min(max(__float2int_rn(v), -32768), 32767);
    }
    static __device__ __forceinline__ int16_t of_int(int v)
    {
        return (int16_t)min(max(v, -32768), 32767);
    }
};
template <> struct tamis_sample<float> {
    static const tamis_type type = TAMIS_F32;
    static __device__ __forceinline__ float of(float v)
    {
        return v;
    }
    static __device__ __forceinline__ float of_int(int v)
    {
        return (float)v;
    }
};

/* Has the compiler keep v in a register, rather than compute it anew wherever it is used. */
static __device__ __forceinline__ void tamis_keep(int &v)
{
#ifdef TAMIS_EMULATE
    (void)v;
#else
    asm volatile("" : "+r"(v));
#endif
}

/* ---- single instructions whose results are off by one or two units in the last place. Kernels
 * say why that suffices; where rows must agree to the bit, they do not use these. */

/* 2^v; 0 where that is subnormal. */
static __device__ __forceinline__ float tamis_rough_exp2(float v)
{
#ifdef TAMIS_EMULATE
    return exp2f(v);
#else
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
#endif
}

static __device__ __forceinline__ float tamis_rough_reciprocal(float v)
{
#ifdef TAMIS_EMULATE
    return 1 / v;
#else
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
#endif
}

static __device__ __forceinline__ float tamis_rough_root(float v)
{
#ifdef TAMIS_EMULATE
    return __fsqrt_rn(v);
#else
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
#endif
}

/* ---- borders */

/* The index inside 0 .. n-1 that stands for i; -1: the border's value. As tamis_border_index(). */
static __device__ __noinline__ int tamis_outside_index(tamis_border border, int i, int n)
{
    int64_t period, r;
    switch (border) {
    case TAMIS_BORDER_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case TAMIS_BORDER_WRAP:
        r = i % (int64_t)n;
        return (int)(r < 0 ? r + n : r);
    case TAMIS_BORDER_REFLECT:
        period = 2 * (int64_t)n;
        r = i % period;
        r = r < 0 ? r + period : r;
        return (int)(r < n ? r : period - 1 - r);
    case TAMIS_BORDER_REFLECT101:
        if (n == 1)
            return 0;
        period = 2 * (int64_t)n - 2;
        r = i % period;
        r = r < 0 ? r + period : r;
        return (int)(r < n ? r : period - r);
    default:
        return -1;
    }
}

static __device__ __forceinline__ int tamis_index(tamis_border border, int i, int n)
{
    return (unsigned)i < (unsigned)n ? i : tamis_outside_index(border, i, n);
}

/* The pixel that sample i of a row belongs to, where pixels have `step`, with rows of up to 2^31-1
 * samples and places before them: toward minus infinity. */
template <typename I> static __device__ __forceinline__ I tamis_pixel_of(I i, int step)
{
    I before = i < 0;
    return (i + before) / step - before;
}

/* ---- pictures */

/* From something of the launch's first picture to the same of the block's, for what has the same
 * number of bytes between pictures. Never by way of whole numbers: the compiler would no longer
 * know that it is device memory, and check each address. */
template <typename T> static __device__ __forceinline__ T *tamis_picture(T *first, int64_t next)
{
    return (T *)((char *)first + blockIdx.z * next);
}

/* ---- a plane of the input, for kernels. x counts pixels, c samples of a pixel. */

template <typename T> struct tamis_input {
    const char *first; /* pixel (0, 0) of the first picture */
    int64_t next, stride;
    int w, h, pitch; /* pitch: samples from pixel to pixel */
    tamis_border border;
    int left, top, right, bottom; /* of what is in memory; the last column and row are inside */
    float outside[TAMIS_MAX_CHANNELS]; /* for each sample of a pixel */

    /* Pixel (0, 0) of the block's picture. */
    __device__ __forceinline__ const char *data() const
    {
        return tamis_picture(first, next);
    }
    __device__ __forceinline__ const T *row(int y) const
    {
        return (const T *)(data() + y * stride);
    }
    /* For coordinates inside the image. */
    __device__ __forceinline__ T get(int x, int y, int c) const
    {
        return row(y)[(int64_t)x * pitch + c];
    }
    /* For any coordinates. Where a thread without work asks for what nobody needs, something that
     * is there. */
    __device__ __forceinline__ T at(int x, int y, int c) const
    {
        int u = tamis_index(border, x, w), v = tamis_index(border, y, h);
        return u < 0 || v < 0 ? (T)outside[c]
                              : get(min(max(u, left), right), min(max(v, top), bottom), c);
    }
    /* For any sample of a row of w * pitch samples, where all samples of a pixel are the plane's.
     */
    __device__ __forceinline__ T sample(int i, int y) const
    {
        if (pitch == 1)
            return at(i, y, 0);
        int x = tamis_pixel_of(i, pitch);
        return at(x, y, i - x * pitch);
    }
};

template <typename T> static tamis_input<T> tamis_input_of(const tamis_gpu_work *w, int plane)
{
    tamis_input<T> in;
    in.first = w->src.data[plane];
    in.next = w->src_next;
    in.stride = w->src.stride[plane];
    in.w = w->w;
    in.h = w->h;
    in.pitch = w->src_pitch;
    in.border = w->border;
    in.left = w->held.x;
    in.top = w->held.y;
    in.right = w->held.x + w->held.w - 1;
    in.bottom = w->held.y + w->held.h - 1;
    for (int c = 0; c < TAMIS_MAX_CHANNELS; c++)
        in.outside[c] = w->outside[w->step > 1 || plane + c >= TAMIS_MAX_CHANNELS ? c : plane + c];
    return in;
}

/* All planes at once, for kernels that choose theirs by blockIdx.y. */
template <typename T> struct tamis_inputs {
    tamis_input<T> plane[TAMIS_MAX_CHANNELS];
};

template <typename T> static tamis_inputs<T> tamis_inputs_of(const tamis_gpu_work *w)
{
    tamis_inputs<T> in;
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        in.plane[p] = tamis_input_of<T>(w, p < w->planes ? p : 0);
    return in;
}

/* The result, likewise: pixel (x, y) counts from the output image's corner. */
struct tamis_output {
    char *first[TAMIS_MAX_CHANNELS];
    int64_t next, stride[TAMIS_MAX_CHANNELS];
    int pitch;
    int x, y, w, h; /* the part */

    __device__ __forceinline__ char *data(int plane) const
    {
        return tamis_picture(first[plane], next);
    }
};

template <typename T>
static __device__ __forceinline__ T *tamis_row(const tamis_output &out, int plane, int y)
{
    return (T *)(out.data(plane) + y * out.stride[plane]);
}

static inline tamis_output tamis_output_of(const tamis_gpu_work *w)
{
    tamis_output out;
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++) {
        out.first[p] = w->dst.data[p];
        out.stride[p] = w->dst.stride[p];
    }
    out.next = w->dst_next;
    out.pitch = w->dst_pitch;
    out.x = w->part.x;
    out.y = w->part.y;
    out.w = w->part.w;
    out.h = w->part.h;
    return out;
}

/* ---- tiles in shared memory */

/* Brings the samples of columns i0 .. i0+cols-1 (counted in samples, as in sample()) and rows
 * y0 .. y0+rows-1 to tile, whose rows are `pitch` elements apart, as type S; all threads of the
 * block take part, and __syncthreads() is the caller's. Inside the image nothing asks for borders.
 */
template <typename S, typename T>
static __device__ __forceinline__ void tamis_stage(const tamis_input<T> &in, int i0, int y0,
                                                   int cols, int rows, S *tile, int pitch)
{
    int thread = threadIdx.x + blockDim.x * threadIdx.y, threads = blockDim.x * blockDim.y;
    int64_t width = (int64_t)in.w * in.pitch;
    bool inside = i0 >= 0 && y0 >= 0 && (int64_t)i0 + cols <= width && y0 <= in.h - rows;
    int tx = thread % 32, ty = thread / 32, step = threads / 32;
    if (inside) {
        for (int y = ty; y < rows; y += step) {
            const T *row = in.row(y0 + y) + i0;
            for (int x = tx; x < cols; x += 32)
                tile[y * pitch + x] = (S)row[x];
        }
        return;
    }
    for (int y = ty; y < rows; y += step)
        for (int x = tx; x < cols; x += 32)
            tile[y * pitch + x] = (S)in.sample(i0 + x, y0 + y);
}

#endif
