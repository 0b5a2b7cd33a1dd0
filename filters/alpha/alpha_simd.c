/* SPDX-License-Identifier: Apache-2.0 */
#include "alpha_kernel.h"

#include "cpu/kernel.h"
#include "cpu/simd.h"

#define LANES (TV_BYTES / 4)

TAMIS_INLINE tv_f32 change(const alpha_coef *k, tv_f32 color, tv_f32 alpha, alpha_way way)
{
    if (way == ALPHA_MULTIPLY)
        return color * alpha / k->range;
    if (way == ALPHA_DIVIDE)
        return (tv_f32)((tv_s32)(color * k->range / alpha) & (tv_s32)(alpha > 0));
    return color;
}

TAMIS_INLINE void change_row(const alpha_coef *k, const float *color, const float *alpha,
                             float *dst, int w, alpha_way way)
{
    int x = 0;
    for (; x <= w - LANES; x += LANES)
        tv_store_f32(dst + x, change(k, tv_load_f32(color + x), tv_load_f32(alpha + x), way));
    if (x < w)
        tv_store_first(dst + x,
                       (tv_u8)change(k, tv_load_f32(color + x), tv_load_f32(alpha + x), way),
                       (size_t)(w - x) * sizeof(float));
}

static float *out_row(const tamis_tile *t, int p, int y)
{
    return (float *)(void *)((char *)t->dst[p] + y * t->dst_stride[p]);
}

static void alpha_row(const tamis_tile *t, const alpha_coef *k, int y)
{
    float *dst = out_row(t, k->colors, y);
    if (!k->opaque)
        memcpy(dst, t->src[k->colors][y], (size_t)t->w * sizeof *dst);
    for (int x = 0; x < t->w && k->opaque; x++)
        dst[x] = k->highest;
}

static void change_f32(const tamis_tile *t, const void *coef, void *scratch)
{
    const alpha_coef *k = coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++) {
        for (int p = 0; p < k->colors; p++) {
            const float *color = t->src[p][y];
            if (k->way == ALPHA_MULTIPLY)
                change_row(k, color, t->src[k->colors][y], out_row(t, p, y), t->w, ALPHA_MULTIPLY);
            else if (k->way == ALPHA_DIVIDE)
                change_row(k, color, t->src[k->colors][y], out_row(t, p, y), t->w, ALPHA_DIVIDE);
            else
                memcpy(out_row(t, p, y), color, (size_t)t->w * sizeof *color);
        }
        if (k->writes_alpha)
            alpha_row(t, k, y);
    }
}

const tamis_kernel TAMIS_FN(alpha_kernels)[] = {
    {"change", TAMIS_F32, TV_CPU, change_f32, 0},
    {.fn = NULL},
};
