/* SPDX-License-Identifier: Apache-2.0 */
/* What the device kernels of non-local means share: their arguments, samples anywhere, weights. */
#ifndef TAMIS_NLMEANS_DEVICE_CUH
#define TAMIS_NLMEANS_DEVICE_CUH

#include "kernel.cuh"

#include "nlmeans_kernel.h"

namespace
{

enum {
    THREADS = 64,
    COLUMNS = 2 * THREADS, /* of a block */
    TOGETHER = 3,          /* offsets side by side */
    LEFT_ROWS = 8          /* of a warp's strip in the kernel for the rest */
};

/* Planes that share a weight, in one frame. */
struct picture {
    const char *data[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) */
    int64_t stride[TAMIS_MAX_CHANNELS];
};

struct args {
    struct picture frame[2 * TAMIS_MAX_FRAMES + 1]; /* the current one first */
    int frames;
    int64_t next; /* bytes to the next picture */
    tamis_type type;
    int planes, luma; /* planes 0 .. 2 are red, green, blue, and their luma decides */
    int pitch, w, h;
    tamis_border border;
    float outside[TAMIS_MAX_CHANNELS];
    int shift_x, shift_y;
    int sx, sy, px, py;
    float scale, bias; /* weight = 2^min(0, bias - scale * sum of squares) */
    tamis_output out;
    int first;      /* column of the first strip */
    int64_t strips; /* in a row */
    int tile_pitch;
    int band, search_pitch, tiles; /* of products: rows that are in shared memory at once */
};

/* Input columns and rows that the part depends on; no others may be read. */
struct bounds {
    int x0, x1, y0, y1;
};

static __device__ __forceinline__ struct bounds needed(const struct args &a)
{
    struct bounds b;
    b.x0 = a.out.x + a.shift_x - a.sx - a.px;
    b.x1 = a.out.x + a.out.w + a.shift_x + a.sx + a.px;
    b.y0 = a.out.y + a.shift_y - a.sy - a.py;
    b.y1 = a.out.y + a.out.h + a.shift_y + a.sy + a.py;
    return b;
}

static __device__ __forceinline__ float load(tamis_type type, const char *row, int64_t i)
{
    switch (type) {
    case TAMIS_U8:
        return (float)((const uint8_t *)row)[i];
    case TAMIS_U16:
        return (float)((const uint16_t *)row)[i];
    case TAMIS_S16:
        return (float)((const int16_t *)row)[i];
    default:
        return ((const float *)row)[i];
    }
}

static __device__ __forceinline__ void store(tamis_type type, char *row, int64_t i, float v)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = tamis_sample<uint8_t>::of(v);
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = tamis_sample<uint16_t>::of(v);
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = tamis_sample<int16_t>::of(v);
        break;
    default:
        ((float *)row)[i] = v;
    }
}

static __device__ __forceinline__ const char *row_of(const struct args &a, const struct picture &f,
                                                     int p, int y)
{
    return tamis_picture(f.data[p], a.next) + y * f.stride[p];
}

/* The sample at any place. */
static __device__ __forceinline__ float sample(const struct args &a, const struct picture &f, int p,
                                               int x, int y)
{
    int u = tamis_index(a.border, x, a.w), v = tamis_index(a.border, y, a.h);
    if (u < 0 || v < 0)
        return a.outside[p];
    return load(a.type, row_of(a, f, p, v), (int64_t)u * a.pitch);
}

/* Likewise; 0 where nobody needs it. */
static __device__ __forceinline__ float needed_sample(const struct args &a, const struct picture &f,
                                                      const struct bounds &b, int p, int x, int y)
{
    bool is = x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1;
    return is ? sample(a, f, p, x, y) : 0;
}

static __device__ __forceinline__ float luma_of(float r, float g, float b)
{
    return fmaf(0.114f, b, fmaf(0.587f, g, __fmul_rn(0.299f, r)));
}

} // namespace

#endif
