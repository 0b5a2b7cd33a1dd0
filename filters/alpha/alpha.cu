/* SPDX-License-Identifier: Apache-2.0 */
#include "pixels.cuh"

#include "alpha_kernel.h"

struct alpha_args {
    tamis_pixelwise p;
    alpha_coef k;
};

static __device__ __forceinline__ float change(const alpha_coef &k, float color, float alpha)
{
    if (k.way == ALPHA_MULTIPLY)
        return __fdiv_rn(__fmul_rn(color, alpha), k.range);
    if (k.way == ALPHA_DIVIDE)
        return alpha > 0 ? __fdiv_rn(__fmul_rn(color, k.range), alpha) : 0;
    return color;
}

/* Alpha, where there is any, is the channel after the colors. */
template <int COLORS>
__global__ void __launch_bounds__(TAMIS_RUNS_X *TAMIS_RUNS_Y)
    change_pixels(const __grid_constant__ alpha_args a)
{
    enum { LAST = COLORS < TAMIS_MAX_CHANNELS ? COLORS : COLORS - 1 };
    tamis_run r = tamis_run_of(a.p);
    float v[TAMIS_MAX_CHANNELS][TAMIS_RUN];
    if (r.from >= r.to)
        return;
    tamis_run_load<float>(a.p.src, r, COLORS + a.k.has_alpha, v);
#pragma unroll
    for (int i = 0; i < TAMIS_RUN; i++) {
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            v[c][i] = change(a.k, v[c][i], v[LAST][i]);
        if (LAST == COLORS && a.k.opaque)
            v[LAST][i] = a.k.highest;
    }
    tamis_run_store<float>(a.p.dst, r, COLORS + a.k.writes_alpha, v);
}

static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    dim3 grid(1, 1, 1), block(TAMIS_RUNS_X, TAMIS_RUNS_Y, 1);
    alpha_args a = {tamis_pixelwise_of(w, sizeof(float), &grid), *(const alpha_coef *)node->coef};
    (void)state;
    auto kernel = a.k.colors == 1   ? change_pixels<1>
                  : a.k.colors == 2 ? change_pixels<2>
                  : a.k.colors == 3 ? change_pixels<3>
                                    : change_pixels<4>;
    TAMIS_LAUNCH(kernel, grid, block, 0, w->stream, a);
    return tamis_cuda_launched("alpha", fault);
}

TAMIS_CUDA_KERNELS(alpha) = {
    {"change", TAMIS_F32, 0, nullptr, nullptr, launch},
    {},
};
