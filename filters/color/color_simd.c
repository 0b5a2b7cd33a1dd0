/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps of color, a vector of pixels at a time. */
#include "color_kernel.h"

#include "cpu/kernel.h"
#include "cpu/simd.h"

#if defined(TAMIS_HAVE_FMA)

#define LANES (TV_BYTES / 4)

TAMIS_INLINE tv_f32 mix(const color_coef *k, int p, const tv_f32 *in, int inputs)
{
    tv_f32 v = (tv_f32){0} + k->offset[p];
    for (int c = 0; c < inputs; c++)
        v = tv_fma_f32((tv_f32){0} + k->m[p][c], in[c], v);
    return v;
}

/* Pixels x .. of a row: the reads may pass its end, the writes may not. */
TAMIS_INLINE void mix_block(const tamis_tile *t, const color_coef *k, int y, int x, int inputs)
{
    tv_f32 in[3];
    size_t bytes = t->w - x < LANES ? (size_t)(t->w - x) * sizeof(float) : TV_BYTES;
    for (int c = 0; c < inputs; c++)
        in[c] = tv_load_f32((const float *)t->src[c][y] + x);
    for (int p = 0; p < k->outputs; p++) {
        float *dst = (float *)(void *)((char *)t->dst[p] + y * t->dst_stride[p]) + x;
        tv_f32 v = mix(k, p, in, inputs);
        if (bytes == TV_BYTES)
            tv_store_f32(dst, v);
        else
            tv_store_first(dst, (tv_u8)v, bytes);
    }
}

static void matrix_f32(const tamis_tile *t, const void *coef, void *scratch)
{
    const color_coef *k = coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x += LANES) {
            if (k->inputs == 1)
                mix_block(t, k, y, x, 1);
            else
                mix_block(t, k, y, x, 3);
        }
}

const tamis_kernel TAMIS_FN(color_kernels)[] = {
    {"matrix", TAMIS_F32, TV_CPU, matrix_f32, 0},
    {.fn = NULL},
};

#else
const tamis_kernel TAMIS_FN(color_kernels)[] = {{.fn = NULL}};
#endif
