/* SPDX-License-Identifier: Apache-2.0 */
/* What the vector rows of color share. */
#ifndef COLOR_SIMD_H
#define COLOR_SIMD_H

#include "color_kernel.h"
#include "cpu/simd_f32.h"

TAMIS_INLINE tv_f32 color_mix(const color_coef *k, int p, const tv_f32 *in, int inputs,
                              enum tv_sums sums)
{
    tv_f32 v = tv_splat_f32(k->offset[p]);
    for (int c = 0; c < inputs; c++)
        v = tv_fma_by_f32(k->m[p][c], in[c], v, sums);
    return v;
}

/* A row of each plane; kept apart from the tile, so that no store can be thought to change it. */
struct color_row {
    const void *src[3];
    void *dst[3];
};

TAMIS_INLINE struct color_row color_row_of(const tamis_tile *t, const color_coef *k, int y)
{
    struct color_row row;
    for (int c = 0; c < k->inputs; c++)
        row.src[c] = t->src[c][y];
    for (int p = 0; p < k->outputs; p++)
        row.dst[p] = (char *)t->dst[p] + y * t->dst_stride[p];
    return row;
}

/* Stores n pixels from x on; integers to nearest, ties to even. */
TAMIS_INLINE void color_store(tamis_type type, void *row, int x, int n, tv_f32 v)
{
    if (type == TAMIS_F32) {
        tv_store_samples(type, row, x, n, v);
        return;
    }
    v = tv_min_f32(tv_max_f32(v, (tv_f32){0}), tv_splat_f32(type == TAMIS_U8 ? 255 : 65535));
    tv_s32 level = tv_round_f32(v);
    union {
        tv_u16h u16;
        tv_u8q u8;
    } out;
    if (type == TAMIS_U8)
        out.u8 = __builtin_convertvector(level, tv_u8q);
    else
        out.u16 = __builtin_convertvector(level, tv_u16h);
    size_t size = type == TAMIS_U8 ? 1 : 2;
    memcpy((char *)row + (size_t)x * size, &out, (size_t)n * size);
}

/* Calls f(&row, ..., x, n) for pixels x .. x+n-1 of each row: whole vectors, where the compiler
 * knows n, then what is left. */
#define COLOR_EACH(t, k, f, ...)                                                                   \
    for (int y = 0; y < (t)->h; y++) {                                                             \
        const struct color_row row = color_row_of(t, k, y);                                        \
        const int w = (t)->w;                                                                      \
        int x = 0;                                                                                 \
        for (; x + TV_FLOATS <= w; x += TV_FLOATS)                                                 \
            f(&row, k, __VA_ARGS__, x, TV_FLOATS);                                                 \
        if (x < w)                                                                                 \
            f(&row, k, __VA_ARGS__, x, w - x);                                                     \
    }

#endif
