/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps of color, a vector of pixels at a time, and the table of vector rows. */
#include <math.h>

#include "color_kernel.h"

#include "color_simd.h"

TAMIS_INLINE void mix_block(const struct color_row *row, const color_coef *k, tamis_type type,
                            enum tv_sums sums, int inputs, int outputs, int x, int n)
{
    tv_f32 in[3];
    for (int c = 0; c < inputs; c++)
        in[c] = tv_widen_f32(type, row->src[c], x);
    for (int p = 0; p < outputs; p++)
        color_store(type, row->dst[p], x, n, color_mix(k, p, in, inputs, sums));
}

TAMIS_INLINE enum tv_sums sums_of(tamis_type type, const color_coef *k)
{
    int last = 0;
    float most = 0;
    for (int p = 0; p < k->outputs; p++) {
        float sum = fabsf(k->offset[p]) / 65536;
        int bit = tv_last_bit(k->offset[p]);
        last = bit < last ? bit : last;
        for (int c = 0; c < k->inputs; c++) {
            bit = tv_last_bit(k->m[p][c]);
            last = bit < last ? bit : last;
            sum += 2 * fabsf(k->m[p][c]);
        }
        most = sum > most ? sum : most;
    }
    return tv_sums_of(type, last, most);
}

/* With the numbers of channels known to the compiler. */
TAMIS_INLINE void matrix_of(const tamis_tile *t, const color_coef *k, tamis_type type,
                            enum tv_sums sums)
{
    if (k->inputs == 1) {
        COLOR_EACH(t, k, mix_block, type, sums, 1, k->outputs)
    } else if (k->outputs == 1) {
        COLOR_EACH(t, k, mix_block, type, sums, 3, 1)
    } else {
        COLOR_EACH(t, k, mix_block, type, sums, 3, 3)
    }
}

TAMIS_INLINE void matrix(const tamis_tile *t, const void *coef, tamis_type type)
{
    const color_coef copy = *(const color_coef *)coef;
    if (sums_of(type, &copy) == TV_SUMS_FIT)
        matrix_of(t, &copy, type, TV_SUMS_FIT);
    else
        matrix_of(t, &copy, type, TV_SUMS_ANY);
}

#define KERNEL(stage, fn, suffix, type)                                                            \
    static void stage##_##suffix(const tamis_tile *t, const void *coef, void *scratch)             \
    {                                                                                              \
        (void)scratch;                                                                             \
        fn(t, coef, type);                                                                         \
    }
#define KERNELS(stage, fn)                                                                         \
    KERNEL(stage, fn, u8, TAMIS_U8)                                                                \
    KERNEL(stage, fn, u16, TAMIS_U16)                                                              \
    KERNEL(stage, fn, f32, TAMIS_F32)
KERNELS(matrix, matrix)
KERNELS(to_lab, TAMIS_FN(tamis_priv_color_to_lab))
KERNELS(from_lab, TAMIS_FN(tamis_priv_color_from_lab))

/* Lab is computed in binary32 where the reference uses binary64. Its three cube roots are within
 * 3e-7 of their size, and 500 times the difference of two is stored: 3e-4 at worst, in colors far
 * from gray. Back, red is 3.2 x - 1.5 y - 0.5 z, which near black is multiplied by 12.92. Integers
 * come out as the nearest level or, where the exact value lies beside a tie, one off. */
const tamis_kernel TAMIS_FN(color_kernels)[] = {
    {"matrix", TAMIS_U8, TV_CPU, matrix_u8, 0},
    {"matrix", TAMIS_U16, TV_CPU, matrix_u16, 0},
    {"matrix", TAMIS_F32, TV_CPU, matrix_f32, 0},
    {"to_lab", TAMIS_U8, TV_CPU, to_lab_u8, 1},
    {"to_lab", TAMIS_U16, TV_CPU, to_lab_u16, 1},
    {"to_lab", TAMIS_F32, TV_CPU, to_lab_f32, 3e-4},
    {"from_lab", TAMIS_U8, TV_CPU, from_lab_u8, 1},
    {"from_lab", TAMIS_U16, TV_CPU, from_lab_u16, 1},
    {"from_lab", TAMIS_F32, TV_CPU, from_lab_f32, 1e-5},
    {.fn = NULL},
};
