/* SPDX-License-Identifier: Apache-2.0 */
/* What the Gaussian's kernels read: one set of taps per axis, in the arithmetic of each type. */
#ifndef TAMIS_GAUSSIAN_KERNEL_H
#define TAMIS_GAUSSIAN_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* Taps are symmetric: index i = 0 .. radius holds the tap at distance i. */
struct gaussian_axis {
    int radius;
    int bits;         /* u8: taps are multiples of 2^-bits, 14 .. 16 */
    const int16_t *q; /* u8 */
    const float *f;   /* u16, s16 */
    const double *d;  /* f32 */
    /* The fixed-point taps in radius+1 pairs for multiply-add instructions, as they stand over the
     * samples -r .. r+1 for the outputs at 0: (q[-r], q[1-r]), ..., (q[r], 0); and at 1:
     * (0, q[-r]), ..., (q[r-1], q[r]). */
    const int32_t *even, *odd;
    /* Likewise for sums of mirrored samples: (q[0], q[1]), (q[2], q[3]), ... */
    const int32_t *folded;
};

/* Wide windows: see "On a grid" in gaussian.h. */
struct gaussian_grid {
    int step;                    /* pixels from one sample of the grid to the next, D */
    const float *down, *up;      /* 3 D weights of a quadratic B-spline; sums 1 and D */
    struct gaussian_axis smooth; /* taps between samples of the grid, as f and d */
};

/* What "unsharp" does with samples that a direct sum has smoothed: see unsharp.h. */
struct gaussian_sharpen {
    float amount, threshold; /* levels */
};

struct gaussian_coef {
    struct gaussian_axis x, y;
    const struct gaussian_sharpen *sharpen; /* NULL: the smoothed samples are the result */
    struct gaussian_grid grid_x, grid_y;
    /* The grid begins anew after so many pixels: the picture's size where it repeats itself. */
    int32_t period_w, period_h;
};

/* A part of a tile that lies in one period: its place in the tile, and where its first pixel lies
 * in the cell of the grid. */
struct gaussian_part {
    int x, y, w, h;
    int phase_x, phase_y;
};

/* Column sums of u8 are kept in 1/128 level, which leaves a sign bit in 16. */
#define GAUSSIAN_FRACTION 7

/* Taps on a grid of 2^-bits that sum to exactly one; exact ones sum to nearly one. */
void tamis_priv_gaussian_round_taps(const double *exact, double *grid, int radius, int bits);
/* How many pixels a grid for this Gaussian may skip; 1: it needs a direct sum. */
int tamis_priv_gaussian_grid_step(double sigma, int radius, tamis_type type);
tamis_status tamis_priv_gaussian_make_grid(tamis_node *node, struct gaussian_grid *g,
                                           const struct gaussian_axis *axis, int step);
size_t tamis_priv_gaussian_grid_scratch(const void *coef, int w, int h, int step);
void tamis_priv_gaussian_grid_u8_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_grid_u16_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_grid_s16_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_grid_f32_c(const tamis_tile *t, const void *coef, void *scratch);

/* Pixels that a grid reads beside an output pixel. */
static inline int gaussian_grid_halo(const struct gaussian_grid *g)
{
    return (g->smooth.radius + 3) * g->step - 1;
}

/* Samples of the grid that n pixels read, from phase on. */
static inline int gaussian_grid_count(const struct gaussian_grid *g, int phase, int n)
{
    return (phase + n - 1) / g->step + 3 + 2 * g->smooth.radius;
}

static inline int gaussian_smaller(int a, int b)
{
    return a < b ? a : b;
}

/* From one part of a tile to the next, row by row; p begins as zeros. 0 after the last. */
static inline int gaussian_next_part(const tamis_tile *t, const struct gaussian_coef *c,
                                     struct gaussian_part *p)
{
    p->x += p->w;
    if (p->x == t->w || p->h == 0) {
        p->x = 0;
        p->y += p->h;
    }
    if (p->y == t->h)
        return 0;
    int x = (t->x + p->x) % c->period_w, y = (t->y + p->y) % c->period_h;
    p->w = gaussian_smaller(t->w - p->x, c->period_w - x);
    p->h = gaussian_smaller(t->h - p->y, c->period_h - y);
    p->phase_x = x % c->grid_x.step;
    p->phase_y = y % c->grid_y.step;
    return 1;
}

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_gaussian_u8)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_u16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_s16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_f32)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_grid_u8)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_grid_u16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_grid_s16)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_gaussian_grid_f32)(const tamis_tile *t, const void *coef, void *scratch);
#endif

void tamis_priv_gaussian_u8_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_u16_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_s16_c(const tamis_tile *t, const void *coef, void *scratch);
void tamis_priv_gaussian_f32_c(const tamis_tile *t, const void *coef, void *scratch);

/* For filters of this folder that smooth on their way. */
extern const tamis_filter tamis_priv_filter_gaussian;

#endif
