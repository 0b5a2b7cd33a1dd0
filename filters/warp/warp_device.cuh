/* SPDX-License-Identifier: Apache-2.0 */
/* Positions on a device, as warp_kernel.h says; what warp.cu and warp_tiles.cu share. */
#ifndef TAMIS_WARP_DEVICE_CUH
#define TAMIS_WARP_DEVICE_CUH

#include "kernel.cuh"

#include "warp_kernel.h"

struct warp_state {
    const float *lanczos; /* on the device; NULL unless interp=lanczos3 */
};

/* Where output pixels lie in the source. */
struct warp_map {
    int kind; /* warp_kind */
    double m[9];
    int64_t step_x, step_y;
    const char *guide[2]; /* columns and rows, where the map is a picture */
    int64_t guide_stride[2];
    int guide_pitch;
};

static inline warp_map warp_map_of(const tamis_gpu_work *w, const struct warp_coef *c)
{
    warp_map map;
    map.kind = c->kind;
    for (int i = 0; i < 9; i++)
        map.m[i] = c->m[i];
    map.step_x = c->step_x;
    map.step_y = c->step_y;
    for (int i = 0; i < 2; i++) {
        map.guide[i] = w->guide.data[i];
        map.guide_stride[i] = w->guide.stride[i];
    }
    map.guide_pitch = w->guide_pitch;
    return map;
}

struct warp_position {
    int64_t x, y; /* 2^-32 pixel */
};

static __device__ __forceinline__ int64_t warp_fixed(double v)
{
    v = v >= -WARP_FAR ? v : -WARP_FAR; /* NaN as well */
    v = v <= WARP_FAR ? v : WARP_FAR;
    return (int64_t)__double2ll_rn(v * 0x1p32);
}

/* Of column first + u, row y + v of an affine map; from there on positions are steps. */
static __device__ __forceinline__ warp_position warp_affine(const warp_map &map, double x, double y)
{
    const double *m = map.m;
    return warp_position{warp_fixed(m[0] * x + (m[1] * y + m[2])),
                         warp_fixed(m[3] * x + (m[4] * y + m[5]))};
}

static __device__ __forceinline__ warp_position warp_perspective(const warp_map &map, double x,
                                                                 double y)
{
    const double *m = map.m;
    double q = 1 / (m[6] * x + (m[7] * y + m[8]));
    return warp_position{warp_fixed((m[0] * x + (m[1] * y + m[2])) * q),
                         warp_fixed((m[3] * x + (m[4] * y + m[5])) * q)};
}

/* Of a pixel; start is where an affine map takes the first pixel of its block in its row. */
static __device__ __forceinline__ warp_position warp_position_of(const warp_map &map, int x, int y,
                                                                 warp_position start)
{
    if (map.kind == WARP_AFFINE) {
        int64_t n = x % WARP_BLOCK;
        return warp_position{start.x + n * map.step_x, start.y + n * map.step_y};
    }
    if (map.kind == WARP_PERSPECTIVE)
        return warp_perspective(map, x, y);
    int64_t at = (int64_t)x * map.guide_pitch;
    const float *map_x = (const float *)(map.guide[0] + y * map.guide_stride[0]);
    const float *map_y = (const float *)(map.guide[1] + y * map.guide_stride[1]);
    return warp_position{warp_fixed((double)map_x[at]), warp_fixed((double)map_y[at])};
}

/* Splits into the sample before and the fraction, which is a multiple of 2^-BITS. Positions are
 * within 32 bits of pixels. */
template <int BITS>
static __device__ __forceinline__ int warp_before(int64_t position, int *fraction)
{
    int64_t p = position + ((int64_t)1 << (31 - BITS));
    *fraction = (int)((uint32_t)p >> (32 - BITS));
    return (int)(p >> 32);
}

/* warp_tiles.cu: linear and cubic of u8. */
tamis_status warp_launch_tiles(const tamis_gpu_work *w, const struct warp_coef *c,
                               tamis_gpu_fault *fault);

/* warp_pairs.cu: linear of u8 by affine maps that do not shrink much; whether a launch is that. */
bool warp_is_pairs(const tamis_gpu_work *w, const struct warp_coef *c);
tamis_status warp_launch_pairs(const tamis_gpu_work *w, const struct warp_coef *c,
                               tamis_gpu_fault *fault);

#endif
