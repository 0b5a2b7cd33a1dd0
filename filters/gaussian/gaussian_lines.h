/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted sums of lines of binary32 samples, of columns and of rows alike, for the vector kernels.
 * To be included where kernels are compiled. */
#ifndef TAMIS_GAUSSIAN_LINES_H
#define TAMIS_GAUSSIAN_LINES_H

#include <math.h>

#include "gaussian_kernel.h"

#include "cpu/simd.h"

/* Samples in a vector. */
enum { N32 = TV_BYTES / 4 };

TAMIS_INLINE tv_f32 splat(float v)
{
    return v - (tv_f32){0};
}

/* Output rows whose column sums are made together. */
enum { ROWS = 4 };

/* Floats from one row of sums to the next, with room for whole vectors. */
TAMIS_INLINE size_t row_of_sums(int count)
{
    return ((size_t)count + N32 - 1) / N32 * N32 + 4 * N32;
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

/* ---- the filter, of columns and rows alike: ROWS outputs beside each other */

/* Lines of samples that lie one window apart: source rows, where rows is given, or lines of sums,
 * step floats apart. */
struct lines {
    const void *const *rows; /* the last one that exists is rows[last] */
    int last;
    tamis_type type;
    ptrdiff_t at; /* sample in the rows */
    const float *sums;
    ptrdiff_t step;
};

TAMIS_INLINE tv_f32 load_line(const struct lines *l, int i)
{
    if (!l->rows)
        return tv_load_f32(l->sums + i * l->step);
    const char *row = l->rows[i < l->last ? i : l->last];
    if (l->type == TAMIS_F32)
        return tv_load_f32(row + l->at * 4);
    row += l->at * 2;
    return __builtin_convertvector(
        l->type == TAMIS_U16 ? tv_load_widen_u16(row) : tv_load_widen_s16(row), tv_f32);
}

/* What is summed, by taps in units of 2^-24: 16-bit samples, in at most 42 bits; sums of such, in
 * units of 2^-48; differences from the sample in the middle, of those and of f32. */
enum terms { SAMPLES, SUMS, FUSED_DIFFERENCES, DIFFERENCES };

/* Lines -j .. 3-j and j .. 3+j, which outputs 0 .. 3 meet at tap j; from one tap to the next they
 * move to another output. After k turns, output y has up[y - k] and down[y + k], modulo ROWS. */
struct window {
    tv_f32 up[ROWS], down[ROWS], twice[ROWS], sum[ROWS];
};

TAMIS_INLINE void add_tap(struct window *w, const struct lines *l, float tap, int j, int k,
                          enum terms terms)
{
    enum tv_sums sums = terms == DIFFERENCES ? TV_SUMS_ROUGH
                        : terms == SAMPLES   ? TV_SUMS_FIT
                                             : TV_SUMS_NORMAL;
    w->up[-k & 3] = load_line(l, -j);
    w->down[(3 + k) & 3] = load_line(l, 3 + j);
    for (int y = 0; y < ROWS; y++) {
        tv_f32 both = w->up[(y - k) & 3] + w->down[(y + k) & 3];
        if (terms >= FUSED_DIFFERENCES)
            both -= w->twice[y];
        w->sum[y] = tv_fma_sum_f32(splat(tap), both, w->sum[y], sums);
    }
}

TAMIS_INLINE void filter_block(struct window *w, const struct lines *l,
                               const struct gaussian_axis *a, int radius, enum terms terms)
{
    for (int y = 0; y < ROWS; y++) {
        tv_f32 v = load_line(l, y);
        w->up[y] = w->down[y] = v;
        w->twice[y] = v + v;
        w->sum[y] = terms >= FUSED_DIFFERENCES ? v : splat(a->f[0]) * v;
    }
    int j = 1;
    for (; j + 3 <= radius; j += 4) {
        add_tap(w, l, a->f[j], j, 1, terms);
        add_tap(w, l, a->f[j + 1], j + 1, 2, terms);
        add_tap(w, l, a->f[j + 2], j + 2, 3, terms);
        add_tap(w, l, a->f[j + 3], j + 3, 4, terms);
    }
    if (j <= radius)
        add_tap(w, l, a->f[j], j, 1, terms);
    if (j + 1 <= radius)
        add_tap(w, l, a->f[j + 1], j + 1, 2, terms);
    if (j + 2 <= radius)
        add_tap(w, l, a->f[j + 2], j + 2, 3, terms);
}

/* Where column sums are not finite, returns 0. */
TAMIS_INLINE int columns_block(const struct lines *l, const struct gaussian_axis *a, int radius,
                               enum terms terms, float *out, size_t stride)
{
    struct window w;
    filter_block(&w, l, a, radius, terms);
    for (int y = 0; y < ROWS; y++)
        tv_store_f32(out + (size_t)y * stride, w.sum[y]);
    return terms != DIFFERENCES ||
           all_finite((w.sum[0] + w.sum[1]) * 0 + (w.sum[2] + w.sum[3]) * 0);
}

/* Sums of samples first .. first+count-1 for ROWS output rows; rows[last] is the last source row.
 */
TAMIS_INLINE void columns(const void *const *rows, int last, const struct gaussian_axis *a,
                          int radius, tamis_type type, enum terms terms, ptrdiff_t first, int count,
                          float *sums, size_t stride)
{
    for (int x = 0; x < count; x += N32) {
        struct lines l = {.rows = rows, .last = last, .type = type, .at = first + x};
        if (columns_block(&l, a, radius, terms, sums + x, stride))
            continue;
        for (int y = 0; y < ROWS && y + radius <= last; y++)
            for (int i = x; i < count && i < x + N32; i++)
                if (!isfinite(sums[(size_t)y * stride + i]))
                    sums[(size_t)y * stride + i] =
                        exact_column((const float *const *)rows + y, a, first + i);
    }
}

/* ---- rows across a band: one output row in each lane */

/* Where windows are wide, the sums of N32 rows are transposed, so that a line holds one sample of
 * all rows and neighbors are whole lines: loads are aligned, and outputs beside each other share
 * them as output rows share source rows. */
enum { BAND_RADIUS = 8 }; /* from which radius on that pays */

#if TV_BYTES == 64
#define ZIP_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif TV_BYTES == 32
#define ZIP_LOW  0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define ZIP_LOW  0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#endif

/* v[i][k] becomes v[k][i]: as many times as the lanes' numbers have bits, the bits of row and lane
 * turn by one. */
TAMIS_INLINE void transpose(tv_f32 v[N32])
{
    for (int bit = 1; bit < N32; bit *= 2) {
        tv_f32 t[N32];
        for (int i = 0; i < N32 / 2; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + N32 / 2], ZIP_LOW);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + N32 / 2], ZIP_HIGH);
        }
        for (int i = 0; i < N32; i++)
            v[i] = t[i];
    }
}

/* v with what is not finite in the first rows lanes computed as in the reference. */
static tv_f32 exact_lanes(tv_f32 v, const float *center, const struct gaussian_axis *a, int step,
                          int rows)
{
    for (int i = 0; i < rows; i++)
        if (!isfinite(v[i]))
            v[i] = exact_row(center + i, a, step);
    return v;
}

/* Filters n lines in place: line i holds sample i - radius * step before and output i after. */
TAMIS_INLINE void filter_lines(float *lines, const struct gaussian_axis *a, int radius, int step,
                               int n, int rows, enum terms terms)
{
    ptrdiff_t next = (ptrdiff_t)step * N32;
    for (int x = 0; x < n; x += ROWS * step) {
        for (int c = 0; c < step; c++) {
            float *out = lines + (ptrdiff_t)(x + c) * N32, *center = out + radius * next;
            struct lines l = {.sums = center, .step = next};
            struct window w;
            filter_block(&w, &l, a, radius, terms);
            if (terms == DIFFERENCES &&
                !all_finite((w.sum[0] + w.sum[1]) * 0 + (w.sum[2] + w.sum[3]) * 0))
                for (int y = 0; y < ROWS && x + c + y * step < n; y++)
                    w.sum[y] = exact_lanes(w.sum[y], center + y * next, a, (int)next, rows);
            for (int y = 0; y < ROWS; y++)
                tv_store_f32(out + y * next, w.sum[y]);
        }
    }
}

TAMIS_INLINE void transpose_from(const float *sums, size_t stride, int count, float *lines)
{
    for (int x = 0; x < count; x += N32) {
        tv_f32 v[N32];
        for (int i = 0; i < N32; i++)
            v[i] = tv_load_f32(sums + (size_t)i * stride + x);
        transpose(v);
        for (int i = 0; i < N32; i++)
            tv_store_f32(lines + (size_t)(x + i) * N32, v[i]);
    }
}

#endif
