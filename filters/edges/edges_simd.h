/* SPDX-License-Identifier: Apache-2.0 */
/* What the vector rows of slopes and of Canny share: slopes of a block of samples, and luma. */
#ifndef TAMIS_EDGES_SIMD_H
#define TAMIS_EDGES_SIMD_H

#include "edges_kernel.h"

#include "cpu/simd.h"

enum { N16 = TV_BYTES / 2, N32 = TV_BYTES / 4 };
enum { WANT_DX = 1, WANT_DY = 2 };
enum { LINES_MAX = EDGES_ROWS + 2 * EDGES_MAX_RADIUS }; /* source rows of a block */

/* 16-bit lanes hold the slopes of u8 up to ksize 5: at most 48 * 255. */
TAMIS_INLINE tv_s16 load_16(const void *row, ptrdiff_t i)
{
    return tv_load_widen_u8((const uint8_t *)row + i);
}

TAMIS_INLINE tv_f32 load_32(tamis_type type, const void *row, ptrdiff_t i)
{
    typedef uint8_t quarter __attribute__((vector_size(TV_BYTES / 4)));
    quarter bytes;
    switch (type) {
    case TAMIS_U8:
        memcpy(&bytes, (const uint8_t *)row + i, sizeof bytes);
        return __builtin_convertvector(bytes, tv_f32);
    case TAMIS_U16:
        return __builtin_convertvector(tv_load_widen_u16((const uint16_t *)row + i), tv_f32);
    case TAMIS_S16:
        return __builtin_convertvector(tv_load_widen_s16((const int16_t *)row + i), tv_f32);
    default:
        return tv_load_f32((const float *)row + i);
    }
}

#define V                  tv_s16
#define T                  int16_t
#define N                  N16
#define LOAD(type, row, i) ((void)(type), load_16(row, i))
#define SLOPES             vectors_16
#define LINES              lines_16
#define LAPLACE            laplace_16
#include "edges_lines.h"

#define V                  tv_f32
#define T                  float
#define N                  N32
#define LOAD(type, row, i) load_32(type, row, i)
#define SLOPES             vectors_32
#define LINES              lines_32
#define LAPLACE            laplace_32
#include "edges_lines.h"

/* Slopes of u8, in 16 bits; kind is a constant. */
TAMIS_INLINE void slopes_u8(edges_kind kind, unsigned want, const void *const *rows, int last,
                            ptrdiff_t at, int step, int n, int16_t *gx, int16_t *gy)
{
    static const int16_t smooth[][3] = {{2, 1}, {1, 1}, {10, 3}, {6, 4, 1}};
    static const int16_t derivative[][3] = {{0, 1}, {0, 1}, {0, 1}, {0, 2, 1}};
    lines_16(rows, last, TAMIS_U8, at, step, n, kind == EDGES_SOBEL5 ? 2 : 1, derivative[kind],
             smooth[kind], want, gx, gy);
}

/* Slopes in binary32; type, radius and want are constants. */
TAMIS_INLINE void slopes_f32(const edges_taps *k, int radius, tamis_type type, unsigned want,
                             const void *const *rows, int last, ptrdiff_t at, int step, int n,
                             float *gx, float *gy)
{
    lines_32(rows, last, type, at, step, n, radius, k->derivative, k->smooth, want, gx, gy);
}

/* edges_simd_luma.c: rows -radius .. h-1+radius of the luma of a tile, in scratch. Returns rows as
 * tile.src[0] has them. */
const void *const *TAMIS_FN(tamis_priv_edges_luma)(const tamis_tile *t, tamis_type type, int radius,
                                                   void *scratch);

#endif
