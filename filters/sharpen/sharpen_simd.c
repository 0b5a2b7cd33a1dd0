/* SPDX-License-Identifier: Apache-2.0 */
/* sharpen, a vector at a time: 8 bit by a whole amount in 16-bit lanes, all else in binary32. */
#include <math.h>

#include "sharpen_kernel.h"

#include "cpu/kernel.h"
#include "cpu/simd_f32.h"

/* ---- whole amounts of 8 bit */

#define HALF (TV_BYTES / 2)

/* The difference from the neighbors. */
TAMIS_INLINE tv_s16 difference(const uint8_t *const *rows, tv_s16 center, ptrdiff_t i,
                               ptrdiff_t step, int corners)
{
    tv_s16 sum = tv_load_widen_u8(rows[0] + i) + tv_load_widen_u8(rows[2] + i) +
                 tv_load_widen_u8(rows[1] + i - step) + tv_load_widen_u8(rows[1] + i + step);
    if (corners)
        sum += tv_load_widen_u8(rows[0] + i - step) + tv_load_widen_u8(rows[0] + i + step) +
               tv_load_widen_u8(rows[2] + i - step) + tv_load_widen_u8(rows[2] + i + step);
    return (tv_s16)(center << (corners ? 3 : 2)) - sum;
}

TAMIS_INLINE tv_s16 whole_block(const uint8_t *const *rows, ptrdiff_t i, ptrdiff_t step,
                                int corners, int amount)
{
    tv_s16 center = tv_load_widen_u8(rows[1] + i);
    tv_s16 d = difference(rows, center, i, step, corners);
    tv_s16 v = amount == 1 ? center + d : center + d * (int16_t)amount;
    return tv_min_s16(tv_max_s16(v, (tv_s16){0}), (tv_s16){0} + 255);
}

TAMIS_INLINE void whole_row(const uint8_t *const *rows, uint8_t *dst, int n, ptrdiff_t step,
                            int corners, int amount)
{
    for (int i = 0; i < n; i += TV_BYTES) {
        tv_s16 low = whole_block(rows, i, step, corners, amount);
        tv_s16 high = whole_block(rows, i + HALF, step, corners, amount);
        tv_u8 v = tv_narrow_u16((tv_u16)low, (tv_u16)high);
        if (n - i >= TV_BYTES)
            tv_store_u8(dst + i, v);
        else
            tv_store_first(dst + i, v, (size_t)(n - i));
    }
}

static void whole_u8(const tamis_tile *t, const void *coef, void *scratch)
{
    const sharpen_coef *k = coef;
    int n = t->w * t->step;
    (void)scratch;
    for (int y = 0; y < t->h; y++) {
        const uint8_t *const rows[3] = {t->src[0][y - 1], t->src[0][y], t->src[0][y + 1]};
        uint8_t *dst = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        if (k->whole == 1 && !k->corners)
            whole_row(rows, dst, n, t->step, 0, 1);
        else if (k->whole == 1)
            whole_row(rows, dst, n, t->step, 1, 1);
        else
            whole_row(rows, dst, n, t->step, k->corners, k->whole);
    }
}

/* ---- all else */

#define LANES (TV_BYTES / 4)

/* Differences are up to 16 times the range of samples. */
TAMIS_INLINE enum tv_sums sums_of(tamis_type type, float amount)
{
    return tv_sums_of(type, tv_last_bit(amount), 16 * fabsf(amount) + 1);
}

TAMIS_INLINE tv_f32 load(tamis_type type, const char *row, ptrdiff_t i)
{
    if (type == TAMIS_F32)
        return tv_load_f32((const float *)(const void *)row + i);
    if (type == TAMIS_U16)
        return __builtin_convertvector(tv_load_widen_u16(row + 2 * i), tv_f32);
    return __builtin_convertvector(tv_load_widen_s16(row + 2 * i), tv_f32);
}

TAMIS_INLINE tv_f32 sharpened(tamis_type type, const char *const *rows, ptrdiff_t i, ptrdiff_t step,
                              int corners, float amount, enum tv_sums sums)
{
    tv_f32 center = load(type, rows[1], i);
    tv_f32 sides = (load(type, rows[0], i) + load(type, rows[2], i)) +
                   (load(type, rows[1], i - step) + load(type, rows[1], i + step));
    tv_f32 d = 4.0f * center - sides;
    if (corners) {
        tv_f32 more = (load(type, rows[0], i - step) + load(type, rows[0], i + step)) +
                      (load(type, rows[2], i - step) + load(type, rows[2], i + step));
        d = 8.0f * center - (sides + more);
    }
    return tv_fma_by_f32(amount, d, center, sums);
}

/* Clipped before it is rounded, which any amount can make large. */
TAMIS_INLINE tv_s32 level(tamis_type type, tv_f32 v)
{
    tv_f32 lo = (tv_f32){0} + (type == TAMIS_S16 ? -32768.0f : 0.0f);
    return tv_round_f32(tv_min_f32(tv_max_f32(v, lo), lo + 65535.0f));
}

TAMIS_INLINE void any_row(tamis_type type, const char *const *rows, char *dst, int n,
                          ptrdiff_t step, int corners, float amount, enum tv_sums sums)
{
    int size = (int)tamis_type_size(type), at_once = TV_BYTES / size;
    for (int i = 0; i < n; i += at_once) {
        tv_u8 v;
        tv_f32 low = sharpened(type, rows, i, step, corners, amount, sums);
        if (type == TAMIS_F32) {
            v = (tv_u8)low;
        } else {
            tv_f32 high = sharpened(type, rows, i + LANES, step, corners, amount, sums);
            v = (tv_u8)tv_narrow_s32(level(type, low), level(type, high));
        }
        if (n - i >= at_once)
            tv_store_u8(dst + (size_t)i * (size_t)size, v);
        else
            tv_store_first(dst + (size_t)i * (size_t)size, v, (size_t)((n - i) * size));
    }
}

TAMIS_INLINE void any_tile(tamis_type type, const tamis_tile *t, const sharpen_coef *k,
                           enum tv_sums sums)
{
    for (int y = 0; y < t->h; y++) {
        const char *const rows[3] = {t->src[0][y - 1], t->src[0][y], t->src[0][y + 1]};
        char *dst = (char *)t->dst[0] + y * t->dst_stride[0];
        if (k->corners)
            any_row(type, rows, dst, t->w * t->step, t->step, 1, k->amount, sums);
        else
            any_row(type, rows, dst, t->w * t->step, t->step, 0, k->amount, sums);
    }
}

TAMIS_INLINE void any(tamis_type type, const tamis_tile *t, const sharpen_coef *k)
{
    if (sums_of(type, k->amount) == TV_SUMS_FIT)
        any_tile(type, t, k, TV_SUMS_FIT);
    else
        any_tile(type, t, k, TV_SUMS_ANY);
}

/* 8 bit: the difference in 16-bit lanes, then half of them at a time. */
TAMIS_INLINE tv_s32 scaled(tv_s16h center, tv_s16h d, float amount, enum tv_sums sums)
{
    tv_f32 v = tv_fma_by_f32(amount, __builtin_convertvector(d, tv_f32),
                             __builtin_convertvector(center, tv_f32), sums);
    return tv_round_f32(tv_min_f32(tv_max_f32(v, (tv_f32){0}), (tv_f32){0} + 255.0f));
}

TAMIS_INLINE tv_u16 any_block_u8(const uint8_t *const *rows, ptrdiff_t i, const sharpen_coef *k,
                                 ptrdiff_t step, enum tv_sums sums)
{
    tv_s16h center[2], d[2];
    tv_s16 whole = tv_load_widen_u8(rows[1] + i),
           all = difference(rows, whole, i, step, k->corners);
    memcpy(center, &whole, sizeof center);
    memcpy(d, &all, sizeof d);
    return tv_narrow_s32(scaled(center[0], d[0], k->amount, sums),
                         scaled(center[1], d[1], k->amount, sums));
}

TAMIS_INLINE void any_tile_u8(const tamis_tile *t, const sharpen_coef *k, enum tv_sums sums)
{
    int n = t->w * t->step;
    for (int y = 0; y < t->h; y++) {
        const uint8_t *const rows[3] = {t->src[0][y - 1], t->src[0][y], t->src[0][y + 1]};
        uint8_t *dst = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        for (int i = 0; i < n; i += TV_BYTES) {
            tv_u8 v = tv_narrow_u16(any_block_u8(rows, i, k, t->step, sums),
                                    any_block_u8(rows, i + HALF, k, t->step, sums));
            tv_store_first(dst + i, v, n - i < TV_BYTES ? (size_t)(n - i) : TV_BYTES);
        }
    }
}

static void any_u8(const tamis_tile *t, const void *coef, void *scratch)
{
    const sharpen_coef *k = coef;
    (void)scratch;
    if (sums_of(TAMIS_U8, k->amount) == TV_SUMS_FIT)
        any_tile_u8(t, k, TV_SUMS_FIT);
    else
        any_tile_u8(t, k, TV_SUMS_ANY);
}

#define ROW(suffix, type)                                                                          \
    static void any_##suffix(const tamis_tile *t, const void *coef, void *scratch)                 \
    {                                                                                              \
        (void)scratch;                                                                             \
        any(type, t, coef);                                                                        \
    }
ROW(u16, TAMIS_U16)
ROW(s16, TAMIS_S16)
ROW(f32, TAMIS_F32)
#undef ROW

const tamis_kernel TAMIS_FN(sharpen_kernels)[] = {
    {"whole", TAMIS_U8, TV_CPU, whole_u8, 0}, {"any", TAMIS_U8, TV_CPU, any_u8, 0},
    {"any", TAMIS_U16, TV_CPU, any_u16, 0},   {"any", TAMIS_S16, TV_CPU, any_s16, 0},
    {"any", TAMIS_F32, TV_CPU, any_f32, 0},   {NULL},
};
