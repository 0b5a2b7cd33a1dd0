/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan of Canny tells its kernels, and how their result is finished. */
#ifndef TAMIS_CANNY_KERNEL_H
#define TAMIS_CANNY_KERNEL_H

#include "edges_kernel.h"

/* What kernels write for kept pixels: weak ones have bit 6, strong ones bit 7 too. */
#define CANNY_WEAK   64
#define CANNY_STRONG 255

/* The tangent of 22.5 degrees in 1/32768. */
#define CANNY_TAN 13573

typedef struct canny_coef {
    edges_kind kind;
    edges_taps taps;
    tamis_type type; /* of the samples read */
    int l1, luma;
    int exact;           /* slopes are integers of 16 bits, the rest exact */
    int sixteenth;       /* slopes are divided by 16 and rounded, ties to even */
    int nothing_beyond;  /* magnitudes outside the picture are 0 */
    int widens;          /* results are wanted as floats: color was multiplied by alpha */
    int32_t w, h;        /* of the picture */
    double low, high;    /* that the magnitude, for L2 its square, must exceed; exact in binary32 or
                            whole */
    int smooth_radius;   /* 0: no smoothing */
    const float *smooth; /* taps at the distances 0 .. smooth_radius */
} canny_coef;

/* Pixels around the tile that slopes are needed of, and that those need. */
static inline int canny_slope_halo(const canny_coef *k)
{
    return k->taps.radius + 1;
}
static inline int canny_halo(const canny_coef *k)
{
    return canny_slope_halo(k) + k->smooth_radius;
}

/* Scratch of the kernels: source rows as floats and smoothed ones, and the vector rows' own. */
#define CANNY_RING       8 /* rows of slopes and magnitudes */
#define CANNY_RING_BYTES ((size_t)CANNY_RING * EDGES_STRIDE * 4)
static inline size_t canny_row_floats(const canny_coef *k, int w)
{
    return ((size_t)w + 2 * (size_t)canny_halo(k) + 2 * 64 + 15) / 16 * 16;
}
static inline size_t canny_rows_bytes(const canny_coef *k, int w, int h)
{
    size_t rows = (size_t)h + 2 * (size_t)canny_halo(k);
    return (2 * rows + 1) * canny_row_floats(k, w) * sizeof(float) + 2 * rows * sizeof(void *) +
           128;
}

/* Turns the bytes at the front of a tile's rows into floats, where those are wanted. */
static inline void canny_widen(const tamis_tile *t, const canny_coef *k)
{
    for (int p = 0; k->widens && p < (k->luma ? 1 : t->planes); p++)
        for (int y = 0; y < t->h; y++) {
            const uint8_t *from = (const uint8_t *)t->dst[p] + y * t->dst_stride[p];
            float *to = (float *)(void *)((char *)t->dst[p] + y * t->dst_stride[p]);
            for (int x = t->w - 1; x >= 0; x--) /* from the end, as a float covers later bytes */
                to[x] = from[x];
        }
}

/* Turns weak pixels connected to strong ones into 255 and the others into 0. */
void tamis_priv_canny_finish(const tamis_result *result, const void *coef, void *scratch);
/* Bytes of scratch it needs. */
size_t tamis_priv_canny_finish_bytes(int32_t w, int32_t h);

#endif
