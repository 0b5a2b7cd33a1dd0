/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for u16, s16 and f32. As in the reference, each output row is made in two steps
 * that stay in the first cache: columns into a row of sums, then the row. Loops run over whole
 * vectors; what they compute beyond a row's end lands in scratch memory or is not stored. */
#include <math.h>

#include "gaussian_kernel.h"

#include "cpu/simd.h"

/* Samples in a vector. */
enum { N32 = TV_BYTES / 4 };

static int columns_of(const tamis_tile *t, const struct gaussian_coef *c)
{
    return (t->w + 2 * c->x.radius) * t->step;
}

TAMIS_INLINE tv_f32 splat(float v)
{
    return v - (tv_f32){0};
}

/* Output rows whose column sums are made together. */
enum { ROWS = 4 };

TAMIS_INLINE int at_most(int i, int last)
{
    return i < last ? i : last;
}

/* Floats from one row of sums to the next, with room for whole vectors. */
static size_t row_of_sums(int count)
{
    return ((size_t)count + N32 - 1) / N32 * N32 + 4 * N32;
}

/* ---- u16 and s16: binary32, fused */

#if defined(TAMIS_HAVE_FMA)

TAMIS_INLINE tv_s32 load_level(const void *row, tamis_type type, ptrdiff_t x)
{
    if (type == TAMIS_U16) {
        tv_u16h h;
        memcpy(&h, (const uint16_t *)row + x, sizeof h);
        return __builtin_convertvector(h, tv_s32);
    }
    tv_s16h h;
    memcpy(&h, (const int16_t *)row + x, sizeof h);
    return __builtin_convertvector(h, tv_s32);
}

TAMIS_INLINE tv_f32 load_float(const void *row, tamis_type type, ptrdiff_t x)
{
    return __builtin_convertvector(load_level(row, type, x), tv_f32);
}

/* Sums of samples first .. first+count-1 for ROWS output rows; rows[last] is the last source row.
 * Mirrored source rows move from one output row to the next as j grows, so that each is loaded
 * once. */
TAMIS_INLINE void columns_16(const void *const *rows, int last, const struct gaussian_axis *a,
                             int radius, tamis_type type, ptrdiff_t first, int count, float *sums,
                             size_t stride)
{
    for (int x = 0; x < count; x += N32) {
        ptrdiff_t at = first + x;
        tv_f32 up[ROWS], down[ROWS], sum[ROWS];
        for (int y = 0; y < ROWS; y++) {
            up[y] = down[y] = load_float(rows[at_most(y, last)], type, at);
            sum[y] = splat(a->f[0]) * up[y];
        }
        for (int j = 1; j <= radius; j++) {
            for (int y = 0; y < ROWS - 1; y++) {
                up[ROWS - 1 - y] = up[ROWS - 2 - y];
                down[y] = down[y + 1];
            }
            up[0] = load_float(rows[-j], type, at);
            down[ROWS - 1] = load_float(rows[at_most(ROWS - 1 + j, last)], type, at);
            for (int y = 0; y < ROWS; y++)
                sum[y] = tv_fma_f32(splat(a->f[j]), up[y] + down[y], sum[y]);
        }
        for (int y = 0; y < ROWS; y++)
            tv_store_f32(sums + (size_t)y * stride + x, sum[y]);
    }
}

/* sums points at the sum of the first output sample. */
TAMIS_INLINE void row_16(const float *sums, const struct gaussian_axis *a, int radius, int step,
                         int n, uint16_t *dst)
{
    enum { UNROLL = 4 };
    for (int x = 0; x < n; x += UNROLL * N32) {
        tv_f32 sum[UNROLL];
        for (int u = 0; u < UNROLL; u++)
            sum[u] = splat(a->f[0]) * tv_load_f32(sums + x + u * N32);
        for (int j = 1; j <= radius; j++) {
            for (int u = 0; u < UNROLL; u++) {
                const float *at = sums + x + u * N32;
                sum[u] =
                    tv_fma_f32(splat(a->f[j]),
                               tv_load_f32(at - j * step) + tv_load_f32(at + j * step), sum[u]);
            }
        }
        for (int u = 0; u < UNROLL && x + u * N32 < n; u += 2) {
            tv_u16 v = tv_narrow_s32(tv_round_f32(sum[u]), tv_round_f32(sum[u + 1]));
            size_t rest = (size_t)(n - x - u * N32) * 2;
            tv_store_first(dst + x + u * N32, (tv_u8)v, rest < TV_BYTES ? rest : TV_BYTES);
        }
    }
}

TAMIS_INLINE void tile_16(const tamis_tile *t, const struct gaussian_coef *c, float *sums, int rx,
                          int ry, tamis_type type)
{
    int n = t->w * t->step, count = columns_of(t, c);
    size_t stride = row_of_sums(count);
    for (int y = 0; y < t->h; y += ROWS) {
        columns_16(t->src[0] + y, t->h - 1 - y + ry, &c->y, ry, type, -(ptrdiff_t)rx * t->step,
                   count, sums, stride);
        for (int i = 0; i < ROWS && y + i < t->h; i++)
            row_16(sums + (size_t)i * stride + rx * t->step, &c->x, rx, t->step, n,
                   (uint16_t *)(void *)((char *)t->dst[0] + (y + i) * t->dst_stride[0]));
    }
}

TAMIS_INLINE void any_16(const tamis_tile *t, const struct gaussian_coef *c, void *scratch,
                         tamis_type type)
{
    int rx = c->x.radius, ry = c->y.radius;
    if (rx == 2 && ry == 2)
        tile_16(t, c, scratch, 2, 2, type);
    else
        tile_16(t, c, scratch, rx, ry, type);
}

static void TAMIS_FN(gaussian_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_U16);
}

static void TAMIS_FN(gaussian_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_S16);
}

#endif

/* ---- f32 */

/* The reference sums in binary64. In binary32, half as wide, rounding would make constant pictures
 * drift by a few units in the last place; adding weighted differences from the center sample
 * instead keeps them, and is the more accurate the smoother the picture is:
 * out = center + sum over j of w_j ((a_j + b_j) - 2 center).
 * Where that is not finite (infinities, NaN, sums beyond binary32) the sample is computed again as
 * the reference does. */

TAMIS_INLINE tv_f32 multiply_add(tv_f32 a, tv_f32 b, tv_f32 c)
{
#if defined(TAMIS_HAVE_FMA)
    return tv_fma_f32(a, b, c);
#else
    return a * b + c;
#endif
}

/* Whether all lanes are finite: then 0 times them is 0. */
TAMIS_INLINE int all_finite(tv_f32 any)
{
    tv_f32 zero = any * 0;
    tv_s32 bad = zero != zero;
#if defined(TAMIS_AVX512)
    return _mm512_test_epi32_mask((__m512i)bad, (__m512i)bad) == 0;
#elif defined(TAMIS_AVX2)
    return _mm256_testz_si256((__m256i)bad, (__m256i)bad);
#else
    int found = 0;
    for (int i = 0; i < N32; i++)
        found |= bad[i];
    return !found;
#endif
}

/* A sample as the reference computes it. */
static float exact_column(const float *const *rows, const struct gaussian_axis *a, ptrdiff_t x)
{
    double sum = a->d[0] * rows[0][x];
    for (int j = 1; j <= a->radius; j++)
        sum += a->d[j] * ((double)rows[-j][x] + rows[j][x]);
    return (float)sum;
}

static float exact_row(const float *at, const struct gaussian_axis *a, int step)
{
    double sum = a->d[0] * at[0];
    for (int j = 1; j <= a->radius; j++)
        sum += a->d[j] * ((double)at[-j * step] + at[j * step]);
    return (float)sum;
}

enum { UNROLL_F32 = 4, BLOCK_F32 = UNROLL_F32 * N32 };

/* Sums of N32 samples of ROWS output rows, as in columns_16(); returns whether all are finite. */
TAMIS_INLINE int columns_block(const float *const *rows, int last, const struct gaussian_axis *a,
                               int radius, ptrdiff_t x, float *out, size_t stride)
{
    tv_f32 up[ROWS], down[ROWS], sum[ROWS], twice[ROWS], all = {0};
    for (int y = 0; y < ROWS; y++) {
        sum[y] = up[y] = down[y] = tv_load_f32(rows[at_most(y, last)] + x);
        twice[y] = sum[y] + sum[y];
    }
    for (int j = 1; j <= radius; j++) {
        for (int y = 0; y < ROWS - 1; y++) {
            up[ROWS - 1 - y] = up[ROWS - 2 - y];
            down[y] = down[y + 1];
        }
        up[0] = tv_load_f32(rows[-j] + x);
        down[ROWS - 1] = tv_load_f32(rows[at_most(ROWS - 1 + j, last)] + x);
        for (int y = 0; y < ROWS; y++)
            sum[y] = multiply_add(splat(a->f[j]), up[y] + down[y] - twice[y], sum[y]);
    }
    for (int y = 0; y < ROWS; y++) {
        tv_store_f32(out + (size_t)y * stride, sum[y]);
        all += sum[y] * 0;
    }
    return all_finite(all);
}

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
            sum[u] = multiply_add(splat(a->f[j]), both - twice[u], sum[u]);
        }
    }
    for (int u = 0; u < UNROLL_F32; u++) {
        tv_store_f32(out + u * N32, sum[u]);
        all += sum[u] * 0;
    }
    return all_finite(all);
}

TAMIS_INLINE void columns_f32(const void *const *src, int last, const struct gaussian_axis *a,
                              int radius, ptrdiff_t first, int count, float *sums, size_t stride)
{
    const float *const *rows = (const float *const *)src;
    for (int x = 0; x < count; x += N32) {
        if (columns_block(rows, last, a, radius, first + x, sums + x, stride))
            continue;
        for (int y = 0; y < ROWS && y + radius <= last; y++)
            for (int i = x; i < count && i < x + N32; i++)
                if (!isfinite(sums[(size_t)y * stride + i]))
                    sums[(size_t)y * stride + i] = exact_column(rows + y, a, first + i);
    }
}

TAMIS_INLINE void row_f32(const float *sums, const struct gaussian_axis *a, int radius, int step,
                          int n, float *dst)
{
    float block[BLOCK_F32];
    for (int x = 0; x < n; x += BLOCK_F32) {
        int m = n - x < BLOCK_F32 ? n - x : BLOCK_F32;
        float *out = m < BLOCK_F32 ? block : dst + x;
        if (!row_block(sums + x, a, radius, step, out))
            for (int i = 0; i < m; i++)
                if (!isfinite(out[i]))
                    out[i] = exact_row(sums + x + i, a, step);
        if (out == block)
            memcpy(dst + x, block, (size_t)m * sizeof *dst);
    }
}

TAMIS_INLINE void tile_f32(const tamis_tile *t, const struct gaussian_coef *c, float *sums, int rx,
                           int ry)
{
    int count = columns_of(t, c);
    size_t stride = row_of_sums(count);
    for (int y = 0; y < t->h; y += ROWS) {
        columns_f32(t->src[0] + y, t->h - 1 - y + ry, &c->y, ry, -(ptrdiff_t)rx * t->step, count,
                    sums, stride);
        for (int i = 0; i < ROWS && y + i < t->h; i++)
            row_f32(sums + (size_t)i * stride + rx * t->step, &c->x, rx, t->step, t->w * t->step,
                    (float *)(void *)((char *)t->dst[0] + (y + i) * t->dst_stride[0]));
    }
}

static void TAMIS_FN(gaussian_f32)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int rx = c->x.radius, ry = c->y.radius;
    if (rx == 2 && ry == 2)
        tile_f32(t, c, scratch, 2, 2);
    else
        tile_f32(t, c, scratch, rx, ry);
}

#if defined(TAMIS_AVX512)
#define CPU TAMIS_CPU_AVX512
#elif defined(TAMIS_AVX2)
#define CPU TAMIS_CPU_AVX2
#else
#define CPU TAMIS_CPU_BASE
#endif

extern const tamis_kernel TAMIS_FN(gaussian_kernels)[];
const tamis_kernel TAMIS_FN(gaussian_kernels)[] = {
    {"separable", TAMIS_U8, CPU, TAMIS_FN(tamis_priv_gaussian_u8), 0},
#if defined(TAMIS_HAVE_FMA)
    {"separable", TAMIS_U16, CPU, TAMIS_FN(gaussian_u16), 0},
    {"separable", TAMIS_S16, CPU, TAMIS_FN(gaussian_s16), 0},
#endif
    /* Two passes of sums that each round like 2^-24 of their differences from the center. */
    {"separable", TAMIS_F32, CPU, TAMIS_FN(gaussian_f32), 1e-6},
    {NULL},
};
