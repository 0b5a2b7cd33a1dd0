/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of planar nodes that read no neighbors: a thread has all planes of a run of four pixels,
 * which lie side by side in memory or in planes of their own, and come and go as whole vectors. */
#ifndef TAMIS_CUDA_PIXELS_CUH
#define TAMIS_CUDA_PIXELS_CUH

#include "kernel.cuh"

/* Pixels of a run; blocks of so many threads have a tile of one run for each. */
enum { TAMIS_RUN = 4, TAMIS_RUNS_X = 32, TAMIS_RUNS_Y = 8 };

struct tamis_pixels {
    char *first[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) of the first picture */
    int64_t next, stride[TAMIS_MAX_CHANNELS];
    int pitch; /* more than one: planes lie side by side, and maybe a channel that is hidden */

    __device__ __forceinline__ char *row(int plane, int y) const
    {
        return tamis_picture(first[plane], next) + y * stride[plane];
    }
};

struct tamis_pixelwise {
    tamis_pixels src, dst;
    int x, y, w, h;     /* the part */
    int first, tiles_x; /* where the first run begins, tiles beside each other */
    bool vectors;       /* whether runs are aligned as vectors */
};

static inline tamis_pixels tamis_pixels_of(const tamis_gpu_planes &planes, int64_t next, int pitch)
{
    tamis_pixels p;
    for (int c = 0; c < TAMIS_MAX_CHANNELS; c++) {
        p.first[c] = planes.data[c];
        p.stride[c] = planes.stride[c];
    }
    p.next = next;
    p.pitch = pitch;
    return p;
}

/* grid becomes what a launch needs, block is TAMIS_RUNS_X x TAMIS_RUNS_Y. */
static inline tamis_pixelwise tamis_pixelwise_of(const tamis_gpu_work *w, size_t sample, dim3 *grid)
{
    tamis_pixelwise p;
    p.src = tamis_pixels_of(w->src, w->src_next, w->src_pitch);
    p.dst = tamis_pixels_of(w->dst, w->dst_next, w->dst_pitch);
    p.x = w->part.x;
    p.y = w->part.y;
    p.w = w->part.w;
    p.h = w->part.h;
    p.first = w->part.x / TAMIS_RUN * TAMIS_RUN;
    int64_t tiles_x =
        tamis_tiles((int64_t)w->part.x + w->part.w - p.first, TAMIS_RUN * TAMIS_RUNS_X);
    p.tiles_x = (int)tiles_x;
    p.vectors = w->aligned >= (int)(TAMIS_RUN * sample);
    *grid = tamis_grid(w, tiles_x, tamis_tiles(w->part.h, TAMIS_RUNS_Y), 1);
    return p;
}

/* ---- vectors of four samples */

template <typename T> struct tamis_vector;
template <> struct tamis_vector<uint8_t> {
    typedef uchar4 type;
};
template <> struct tamis_vector<uint16_t> {
    typedef ushort4 type;
};
template <> struct tamis_vector<int16_t> {
    typedef short4 type;
};
template <> struct tamis_vector<float> {
    typedef float4 type;
};

template <typename T>
static __device__ __forceinline__ void tamis_vector_load(const char *at, int k, T v[4])
{
    typename tamis_vector<T>::type q = ((const typename tamis_vector<T>::type *)at)[k];
    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}

template <typename T>
static __device__ __forceinline__ void tamis_vector_store(char *at, int k, const T v[4])
{
    typename tamis_vector<T>::type q;
    q.x = v[0];
    q.y = v[1];
    q.z = v[2];
    q.w = v[3];
    ((typename tamis_vector<T>::type *)at)[k] = q;
}

/* ---- runs */

/* The thread's run. */
struct tamis_run {
    int x, y;
    int from, to; /* which of its pixels belong to the part; from >= to: none */
    bool whole;   /* all do, and vectors may be used */
};

static __device__ __forceinline__ tamis_run tamis_run_of(const tamis_pixelwise &p)
{
    unsigned row = blockIdx.x / (unsigned)p.tiles_x, column = blockIdx.x % (unsigned)p.tiles_x;
    tamis_run r;
    r.x = p.first + (int)(column * TAMIS_RUNS_X + threadIdx.x) * TAMIS_RUN;
    r.y = p.y + (int)(row * TAMIS_RUNS_Y + threadIdx.y);
    r.from = max(p.x - r.x, 0);
    r.to = r.y < p.y + p.h ? min(p.x + p.w - r.x, (int)TAMIS_RUN) : 0;
    r.whole = p.vectors && r.from == 0 && r.to == TAMIS_RUN;
    return r;
}

template <typename T, int PITCH>
static __device__ __forceinline__ void tamis_run_unpack(const char *at,
                                                        T (&v)[TAMIS_MAX_CHANNELS][TAMIS_RUN])
{
    T q[PITCH][4];
#pragma unroll
    for (int k = 0; k < PITCH; k++)
        tamis_vector_load<T>(at, k, q[k]);
#pragma unroll
    for (int c = 0; c < PITCH; c++)
#pragma unroll
        for (int i = 0; i < TAMIS_RUN; i++)
            v[c][i] = q[(i * PITCH + c) / 4][(i * PITCH + c) % 4];
}

template <typename T, int PITCH>
static __device__ __forceinline__ void tamis_run_pack(char *at,
                                                      const T (&v)[TAMIS_MAX_CHANNELS][TAMIS_RUN])
{
    T q[PITCH][4];
#pragma unroll
    for (int c = 0; c < PITCH; c++)
#pragma unroll
        for (int i = 0; i < TAMIS_RUN; i++)
            q[(i * PITCH + c) / 4][(i * PITCH + c) % 4] = v[c][i];
#pragma unroll
    for (int k = 0; k < PITCH; k++)
        tamis_vector_store<T>(at, k, q[k]);
}

/* Brings samples of each pixel to v: those of the planes, of which there are `planes`, and, where
 * planes lie side by side, what is hidden after them; others become 0. */
template <typename T>
static __device__ __forceinline__ void tamis_run_load(const tamis_pixels &p, const tamis_run &r,
                                                      int planes,
                                                      T (&v)[TAMIS_MAX_CHANNELS][TAMIS_RUN])
{
#pragma unroll
    for (int c = 0; c < TAMIS_MAX_CHANNELS; c++)
#pragma unroll
        for (int i = 0; i < TAMIS_RUN; i++)
            v[c][i] = 0;
    const char *at = p.row(0, r.y) + (int64_t)r.x * p.pitch * sizeof(T);
    if (!r.whole) {
#pragma unroll
        for (int c = 0; c < TAMIS_MAX_CHANNELS; c++) {
            if (c >= planes && c >= p.pitch)
                continue;
            const char *row = c < planes ? p.row(c, r.y) : at;
            const T *sample =
                c < planes ? (const T *)row + (int64_t)r.x * p.pitch : (const T *)at + c;
#pragma unroll
            for (int i = 0; i < TAMIS_RUN; i++)
                if (i >= r.from && i < r.to)
                    v[c][i] = sample[i * p.pitch];
        }
        return;
    }
    switch (p.pitch) {
    case 1:
#pragma unroll
        for (int c = 0; c < TAMIS_MAX_CHANNELS; c++)
            if (c < planes)
                tamis_vector_load<T>(p.row(c, r.y) + (int64_t)r.x * sizeof(T), 0, v[c]);
        break;
    case 2:
        tamis_run_unpack<T, 2>(at, v);
        break;
    case 3:
        tamis_run_unpack<T, 3>(at, v);
        break;
    default:
        tamis_run_unpack<T, 4>(at, v);
    }
}

/* Stores `planes` samples of each pixel. What is hidden after them becomes v[planes]. */
template <typename T>
static __device__ __forceinline__ void tamis_run_store(const tamis_pixels &p, const tamis_run &r,
                                                       int planes,
                                                       const T (&v)[TAMIS_MAX_CHANNELS][TAMIS_RUN])
{
    char *at = p.row(0, r.y) + (int64_t)r.x * p.pitch * sizeof(T);
    if (!r.whole) {
#pragma unroll
        for (int c = 0; c < TAMIS_MAX_CHANNELS; c++) {
            if (c >= planes)
                continue;
            T *sample = (T *)p.row(c, r.y) + (int64_t)r.x * p.pitch;
#pragma unroll
            for (int i = 0; i < TAMIS_RUN; i++)
                if (i >= r.from && i < r.to)
                    sample[i * p.pitch] = v[c][i];
        }
        return;
    }
    switch (p.pitch) {
    case 1:
#pragma unroll
        for (int c = 0; c < TAMIS_MAX_CHANNELS; c++)
            if (c < planes)
                tamis_vector_store<T>(p.row(c, r.y) + (int64_t)r.x * sizeof(T), 0, v[c]);
        break;
    case 2:
        tamis_run_pack<T, 2>(at, v);
        break;
    case 3:
        tamis_run_pack<T, 3>(at, v);
        break;
    default:
        tamis_run_pack<T, 4>(at, v);
    }
}

#endif
