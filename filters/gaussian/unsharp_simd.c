/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian_sharpen.h"
#include "unsharp_kernel.h"

#include "cpu/simd.h"

#define LANES (TV_BYTES / 4)

extern const tamis_kernel TAMIS_FN(gaussian_kernels)[];

static void unsharp_f32(const tamis_tile *t, const void *coef, void *scratch)
{
    const unsharp_coef *k = coef;
    const struct gaussian_sharpen sharpen = {k->amount, k->threshold};
    const float *smooth = unsharp_smooth(t, k, TAMIS_FN(gaussian_kernels), scratch);
    size_t stride = unsharp_stride(t->w, t->step);
    int n = t->w * t->step, i;
    for (int y = 0; y < t->h; y++, smooth += stride) {
        const float *src = t->src[0][y];
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (i = 0; i <= n - LANES; i += LANES)
            tv_store_f32(dst + i, sharpened_f32(&sharpen, src + i, tv_load_f32(smooth + i)));
        if (i < n) /* rows of the smoothed tile are padded to whole vectors */
            tv_store_first(dst + i,
                           (tv_u8)sharpened_f32(&sharpen, src + i, tv_load_f32(smooth + i)),
                           (size_t)(n - i) * sizeof(float));
    }
}

/* The Gaussian's tolerance times one and the amount, which is 20 at most. */
const tamis_kernel TAMIS_FN(unsharp_kernels)[] = {
    {"separable", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_gaussian_u8), 0},
    {"separable", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_u16), 0},
    {"separable", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_s16), 0},
    {"separable", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_gaussian_f32), 2.5e-5},
    {"grid", TAMIS_F32, TV_CPU, unsharp_f32, 2.5e-5},
    {.fn = NULL},
};
