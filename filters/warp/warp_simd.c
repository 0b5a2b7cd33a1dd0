/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of the warps: positions and the nearest pixel. */
#include "warp_simd.h"

void TAMIS_FN(tamis_priv_warp_general)(const struct warp_job *k, int64_t bias)
{
    struct warp_block *b = k->b;
    const double *m = k->c->m;
    if (k->c->kind == WARP_MAP) {
        const float *map_x = k->t->guide[0][k->j], *map_y = k->t->guide[1][k->j];
        for (int i = 0; i < k->n; i++) {
            b->px[i] = (double)map_x[k->i + i];
            b->py[i] = (double)map_y[k->i + i];
        }
    } else {
        int32_t x = k->t->x + k->i, y = k->t->y + k->j;
        double sx = m[1] * y + m[2], sy = m[4] * y + m[5], sd = m[7] * y + m[8];
        for (int i = 0; i < k->n; i++) {
            double d = m[6] * (x + i) + sd;
            b->px[i] = (m[0] * (x + i) + sx) / d;
            b->py[i] = (m[3] * (x + i) + sy) / d;
        }
    }
    for (int i = k->n; i % 8; i++)
        b->px[i] = b->py[i] = 0;
    warp_round(b->px, k->n, bias, b->x, b->fx);
    warp_round(b->py, k->n, bias, b->y, b->fy);
}

/* ---- nearest: nothing but addresses and copies */

TAMIS_INLINE void copy_inside(const struct warp_job *k, const char *base, uint32_t skip, int i,
                              void *out, size_t pixel)
{
    const struct warp_block *b = k->b;
    tv_u32 at = tv_load_u32(b->y + i) * (uint32_t)k->stride +
                tv_load_u32(b->x + i) * (uint32_t)pixel - skip;
    int32_t offset[LANES];
    memcpy(offset, &at, sizeof offset);
    for (int l = 0; l < LANES; l++)
        memcpy((char *)out + (size_t)l * pixel, base + offset[l], pixel);
}

TAMIS_INLINE void copy_any(const struct warp_job *k, int i, void *out, size_t pixel,
                           tamis_type type)
{
    const char *from = warp_pixel(k, k->b->x[i], k->b->y[i], pixel);
    if (from)
        memcpy(out, from, pixel);
    else
        warp_fill(k, type, 1, out);
}

#define NEAREST(T, TYPE, STEP)                                                                     \
    static void copy_inside_##T##_##STEP(const struct warp_job *k, const char *base,               \
                                         uint32_t skip, int i, void *out)                          \
    {                                                                                              \
        copy_inside(k, base, skip, i, out, STEP * sizeof(T));                                      \
    }                                                                                              \
    static void copy_any_##T##_##STEP(const struct warp_job *k, int i, void *out)                  \
    {                                                                                              \
        copy_any(k, i, out, STEP * sizeof(T), TYPE);                                               \
    }                                                                                              \
    static void nearest_##T##_##STEP(const tamis_tile *t, const void *coef, void *scratch)         \
    {                                                                                              \
        static const struct warp_way way = {0, 0, 1, 1, LANES, STEP * sizeof(T)};                  \
        warp_tile(t, coef, scratch, &way, TYPE, copy_inside_##T##_##STEP, copy_any_##T##_##STEP);  \
    }
#define NEAREST_STEPS(T, TYPE)                                                                     \
    NEAREST(T, TYPE, 1)                                                                            \
    NEAREST(T, TYPE, 2)                                                                            \
    NEAREST(T, TYPE, 3)                                                                            \
    NEAREST(T, TYPE, 4)                                                                            \
    static void TAMIS_FN(nearest_##T)(const tamis_tile *t, const void *coef, void *scratch)        \
    {                                                                                              \
        if (t->step == 1)                                                                          \
            nearest_##T##_1(t, coef, scratch);                                                     \
        else if (t->step == 2)                                                                     \
            nearest_##T##_2(t, coef, scratch);                                                     \
        else if (t->step == 3)                                                                     \
            nearest_##T##_3(t, coef, scratch);                                                     \
        else                                                                                       \
            nearest_##T##_4(t, coef, scratch);                                                     \
    }
NEAREST_STEPS(uint8_t, TAMIS_U8)
NEAREST_STEPS(uint16_t, TAMIS_U16)
NEAREST_STEPS(int16_t, TAMIS_S16)
NEAREST_STEPS(float, TAMIS_F32)
#undef NEAREST_STEPS
#undef NEAREST

extern const tamis_kernel TAMIS_FN(warp_kernels)[];
const tamis_kernel TAMIS_FN(warp_kernels)[] = {
    {"nearest", TAMIS_U8, TV_CPU, TAMIS_FN(nearest_uint8_t), 0},
    {"nearest", TAMIS_U16, TV_CPU, TAMIS_FN(nearest_uint16_t), 0},
    {"nearest", TAMIS_S16, TV_CPU, TAMIS_FN(nearest_int16_t), 0},
    {"nearest", TAMIS_F32, TV_CPU, TAMIS_FN(nearest_float), 0},
    {"linear", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_u8), 0},
    {"linear", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_u16), 0},
    {"linear", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_s16), 0},
    {"linear", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_f32), 0},
    {.fn = NULL},
};
