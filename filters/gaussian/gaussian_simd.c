/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for u16, s16 and f32. As in the reference, each output row is made in two steps
 * that stay in the first cache: columns into a row of sums, then the row. Loops run over whole
 * vectors; what they compute beyond a row's end lands in scratch memory or is not stored. */
#include "gaussian_lines.h"
#include "gaussian_sharpen.h"

static int columns_of(const tamis_tile *t, const struct gaussian_coef *c)
{
    return (t->w + 2 * c->x.radius) * t->step;
}

/* ---- u16 and s16: binary32, fused */

/* unsharp: the row's own samples and the smoothed ones. */
TAMIS_INLINE tv_f32 sharpened_16(const struct gaussian_sharpen *s, const void *row, int x,
                                 tamis_type type, tv_f32 smooth)
{
    const char *at = (const char *)row + 2 * (ptrdiff_t)x;
    tv_f32 in = __builtin_convertvector(
        type == TAMIS_U16 ? tv_load_widen_u16(at) : tv_load_widen_s16(at), tv_f32);
    return sharpened_in_range(s, in, in - smooth, type == TAMIS_U16 ? 0 : -32768,
                              type == TAMIS_U16 ? 65535 : 32767);
}

/* sums points at the sum of the first output sample, src at the sample there. */
TAMIS_INLINE void row_16(const float *sums, const struct gaussian_axis *a, int radius, int step,
                         int n, const struct gaussian_sharpen *sharpen, const void *src,
                         tamis_type type, uint16_t *dst)
{
    enum { UNROLL = 4 };
    for (int x = 0; x < n; x += UNROLL * N32) {
        tv_f32 sum[UNROLL];
        for (int u = 0; u < UNROLL; u++)
            sum[u] = splat(a->f[0]) * tv_load_f32(sums + x + u * N32);
        for (int j = 1; j <= radius; j++) {
            for (int u = 0; u < UNROLL; u++) {
                const float *at = sums + x + u * N32;
                sum[u] = tv_fma_sum_f32(splat(a->f[j]),
                                        tv_load_f32(at - j * step) + tv_load_f32(at + j * step),
                                        sum[u], TV_SUMS_NORMAL);
            }
        }
        for (int u = 0; sharpen && u < UNROLL && x + u * N32 < n; u++)
            sum[u] = sharpened_16(sharpen, src, x + u * N32, type, sum[u]);
        for (int u = 0; u < UNROLL && x + u * N32 < n; u += 2) {
            tv_u16 v = tv_narrow_s32(tv_round_f32(sum[u]), tv_round_f32(sum[u + 1]));
            size_t rest = (size_t)(n - x - u * N32) * 2;
            tv_store_first(dst + x + u * N32, (tv_u8)v, rest < TV_BYTES ? rest : TV_BYTES);
        }
    }
}

TAMIS_INLINE void tile_16(const tamis_tile *t, const struct gaussian_coef *c, float *sums, int rx,
                          int ry, const struct gaussian_sharpen *sharpen, tamis_type type)
{
    int n = t->w * t->step, count = columns_of(t, c);
    size_t stride = row_of_sums(count);
    for (int y = 0; y < t->h; y += ROWS) {
        columns(t->src[0] + y, t->h - 1 - y + ry, &c->y, ry, type, SAMPLES,
                -(ptrdiff_t)rx * t->step, count, sums, stride);
        for (int i = 0; i < ROWS && y + i < t->h; i++)
            row_16(sums + (size_t)i * stride + rx * t->step, &c->x, rx, t->step, n, sharpen,
                   t->src[0][y + i], type,
                   (uint16_t *)(void *)((char *)t->dst[0] + (y + i) * t->dst_stride[0]));
    }
}

/* ---- f32 */

/* The reference sums in binary64. In binary32, half as wide, rounding would make constant pictures
 * drift by a few units in the last place; adding weighted differences from the center sample
 * instead keeps them, and is the more accurate the smoother the picture is:
 * out = center + sum over j of w_j ((a_j + b_j) - 2 center).
 * Where that is not finite (infinities, NaN, sums beyond binary32) the sample is computed again as
 * the reference does. */

enum { UNROLL_F32 = 4, BLOCK_F32 = UNROLL_F32 * N32 };

TAMIS_INLINE int row_block(const float *at, const struct gaussian_axis *a, int radius, int step,
                           float *out)
{
    tv_f32 sum[UNROLL_F32], twice[UNROLL_F32], all = {0};
    for (int u = 0; u < UNROLL_F32; u++) {
        sum[u] = tv_load_f32(at + u * N32);
        twice[u] = sum[u] + sum[u];
    }
    for (int j = 1; j <= radius; j++) {
        for (int u = 0; u < UNROLL_F32; u++) {
            const float *p = at + u * N32;
            tv_f32 both = tv_load_f32(p - j * step) + tv_load_f32(p + j * step);
            sum[u] = tv_fma_sum_f32(splat(a->f[j]), both - twice[u], sum[u], TV_SUMS_ROUGH);
        }
    }
    for (int u = 0; u < UNROLL_F32; u++) {
        tv_store_f32(out + u * N32, sum[u]);
        all += sum[u] * 0;
    }
    return all_finite(all);
}

TAMIS_INLINE void row_f32(const float *sums, const struct gaussian_axis *a, int radius, int step,
                          int n, const struct gaussian_sharpen *sharpen, const float *src,
                          float *dst)
{
    float block[BLOCK_F32];
    for (int x = 0; x < n; x += BLOCK_F32) {
        int m = n - x < BLOCK_F32 ? n - x : BLOCK_F32;
        float *out = m < BLOCK_F32 || sharpen ? block : dst + x;
        if (!row_block(sums + x, a, radius, step, out))
            for (int i = 0; i < m; i++)
                if (!isfinite(out[i]))
                    out[i] = exact_row(sums + x + i, a, step);
        for (int i = 0; sharpen && i < m; i += N32)
            tv_store_f32(block + i, sharpened_f32(sharpen, src + x + i, tv_load_f32(block + i)));
        if (out == block)
            memcpy(dst + x, block, (size_t)m * sizeof *dst);
    }
}

TAMIS_INLINE void tile_f32(const tamis_tile *t, const struct gaussian_coef *c, float *sums, int rx,
                           int ry, const struct gaussian_sharpen *sharpen)
{
    int count = columns_of(t, c);
    size_t stride = row_of_sums(count);
    for (int y = 0; y < t->h; y += ROWS) {
        columns(t->src[0] + y, t->h - 1 - y + ry, &c->y, ry, TAMIS_F32, DIFFERENCES,
                -(ptrdiff_t)rx * t->step, count, sums, stride);
        for (int i = 0; i < ROWS && y + i < t->h; i++)
            row_f32(sums + (size_t)i * stride + rx * t->step, &c->x, rx, t->step, t->w * t->step,
                    sharpen, t->src[0][y + i],
                    (float *)(void *)((char *)t->dst[0] + (y + i) * t->dst_stride[0]));
    }
}

/* ---- bands: columns as above, a part of the width at a time; rows across */

enum { CHUNK = 64, CHUNK_STRIDE = CHUNK + 16 };

TAMIS_INLINE void band_columns(const tamis_tile *t, const struct gaussian_coef *c, int y, int rows,
                               tamis_type type, int x, int count, float *sums)
{
    int ry = c->y.radius;
    ptrdiff_t first = x - (ptrdiff_t)c->x.radius * t->step;
    for (int i = 0; i < rows; i += ROWS) {
        const void *const *src = t->src[0] + y + i;
        int last = t->h - 1 - y - i + ry;
        float *out = sums + i * CHUNK_STRIDE;
        columns(src, last, &c->y, ry, type, type == TAMIS_F32 ? DIFFERENCES : SAMPLES, first, count,
                out, CHUNK_STRIDE);
    }
}

/* Output lines to rows of the tile. */
TAMIS_INLINE void store_lines(const tamis_tile *t, int y, int rows, tamis_type type,
                              const struct gaussian_sharpen *sharpen, const float *lines)
{
    int n = t->w * t->step;
    for (int x = 0; x < n; x += N32) {
        tv_f32 v[N32];
        for (int i = 0; i < N32; i++)
            v[i] = tv_load_f32(lines + (size_t)(x + i) * N32);
        transpose(v);
        int m = n - x < N32 ? n - x : N32;
        for (int i = 0; i < rows; i++) {
            size_t size = type == TAMIS_F32 ? 4 : 2;
            char *dst = (char *)t->dst[0] + (y + i) * t->dst_stride[0] + (size_t)x * size;
            tv_f32 out = v[i];
            if (sharpen && type == TAMIS_F32)
                out = sharpened_f32(sharpen, (const float *)t->src[0][y + i] + x, out);
            else if (sharpen)
                out = sharpened_16(sharpen, t->src[0][y + i], x, type, out);
            if (type != TAMIS_F32) {
                tv_s32 level = tv_round_f32(out);
                out = (tv_f32)tv_narrow_s32(level, level);
            }
            if (m == N32)
                memcpy(dst, &out, N32 * size);
            else
                memcpy(dst, &out, (size_t)m * size);
        }
    }
}

TAMIS_INLINE void tile_bands(const tamis_tile *t, const struct gaussian_coef *c, float *scratch,
                             tamis_type type)
{
    int n = t->w * t->step, count = columns_of(t, c);
    float *lines = scratch + N32 * CHUNK_STRIDE;
    for (int y = 0; y < t->h; y += N32) {
        int rows = t->h - y < N32 ? t->h - y : N32;
        for (int x = 0; x < count; x += CHUNK) {
            int m = count - x < CHUNK ? count - x : CHUNK;
            band_columns(t, c, y, rows, type, x, m, scratch);
            transpose_from(scratch, CHUNK_STRIDE, m, lines + (size_t)x * N32);
        }
        filter_lines(lines, &c->x, c->x.radius, t->step, n, rows,
                     type == TAMIS_F32 ? DIFFERENCES : SUMS);
        store_lines(t, y, rows, type, c->sharpen, lines);
    }
}

/* ---- kernels */

TAMIS_INLINE void any_16(const tamis_tile *t, const struct gaussian_coef *c, void *scratch,
                         tamis_type type)
{
    int rx = c->x.radius, ry = c->y.radius;
    if (rx >= BAND_RADIUS)
        tile_bands(t, c, scratch, type);
    else if (c->sharpen)
        tile_16(t, c, scratch, rx, ry, c->sharpen, type);
    else if (rx == 2 && ry == 2)
        tile_16(t, c, scratch, 2, 2, NULL, type);
    else
        tile_16(t, c, scratch, rx, ry, NULL, type);
}

void TAMIS_FN(tamis_priv_gaussian_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_U16);
}

void TAMIS_FN(tamis_priv_gaussian_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_S16);
}

void TAMIS_FN(tamis_priv_gaussian_f32)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int rx = c->x.radius, ry = c->y.radius;
    if (rx >= BAND_RADIUS)
        tile_bands(t, c, scratch, TAMIS_F32);
    else if (c->sharpen)
        tile_f32(t, c, scratch, rx, ry, c->sharpen);
    else if (rx == 2 && ry == 2)
        tile_f32(t, c, scratch, 2, 2, NULL);
    else
        tile_f32(t, c, scratch, rx, ry, NULL);
}

extern const tamis_kernel TAMIS_FN(gaussian_kernels)[];
const tamis_kernel TAMIS_FN(gaussian_kernels)[] = {
    {"separable", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_gaussian_u8), 0},
    {"grid", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_gaussian_grid_u8), 0},
    {"grid", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_grid_u16), 0},
    {"grid", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_grid_s16), 0},
    /* Six sums that each round like 2^-24. */
    {"grid", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_gaussian_grid_f32), 1e-6},
    {"separable", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_u16), 0},
    {"separable", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_gaussian_s16), 0},
    /* Two passes of sums that each round like 2^-24 of their differences from the center. */
    {"separable", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_gaussian_f32), 1e-6},
    {NULL},
};
