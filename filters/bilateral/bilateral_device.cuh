/* SPDX-License-Identifier: Apache-2.0 */
/* What the device kernels of the bilateral filter share: pictures, samples anywhere, weights. */
#ifndef TAMIS_BILATERAL_DEVICE_CUH
#define TAMIS_BILATERAL_DEVICE_CUH

#include "kernel.cuh"

#include "bilateral_kernel.h"

namespace
{

struct picture {
    const char *data[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) */
    int64_t stride[TAMIS_MAX_CHANNELS];
    int64_t next; /* bytes to the next picture */
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

template <typename T>
static __device__ __forceinline__ float sample(const struct picture &f, int p, int x, int y)
{
    const char *row = tamis_picture(f.data[p], f.next) + y * f.stride[p];
    return (float)((const T *)row)[(int64_t)x * f.pitch];
}

/* At any place. */
template <typename T>
static __device__ __forceinline__ float sample_at(const struct args &a, const struct picture &f,
                                                  int p, int x, int y)
{
    int u = tamis_index(a.border, x, a.w), v = tamis_index(a.border, y, a.h);
    return u < 0 || v < 0 ? f.outside[p] : sample<T>(f, p, u, v);
}

} // namespace

#endif
