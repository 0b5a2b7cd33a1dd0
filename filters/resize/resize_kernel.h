/* SPDX-License-Identifier: Apache-2.0 */
/* What the resizing kernels read: for each pixel of the result and axis, where its window begins
 * and the weights. */
#ifndef TAMIS_RESIZE_KERNEL_H
#define TAMIS_RESIZE_KERNEL_H

#include <stdint.h>

#include "cpu/kernel.h"

/* Windows of more samples than this are summed in binary32, u8 as well. */
enum { RESIZE_FIXED_TAPS = 16, RESIZE_FRACTION = 6 };

struct resize_axis {
    int taps;             /* the longest window */
    int pitch;            /* from one phase's weights to the next: taps, even; of 8 and more
                             multiples of 8 */
    int32_t in, out;      /* samples of the source and of the result */
    int down;             /* 1: from row to row */
    double ratio;         /* source pixels per pixel of the result */
    const int32_t *start; /* of each pixel: the first sample of its window, inside the source */
    const int32_t *phase; /* of each pixel: which weights; many have the same */
    int32_t phases;
    const int32_t *count; /* of each phase: samples */
    const float *f;       /* weights of each phase; NULL with q */
    const int16_t *q;     /* the same as multiples of 2^-bits, behind a window's own 0 */
    int bits;
};

/* The fixed-point weights across, arranged for kernels that pick samples of a row out of a table of
 * RESIZE_TABLE of them: for `pixels` neighbors in the result, all channels of each in a lane of its
 * own. The row of column sums is one of samples, packed as the picture is. */
enum { RESIZE_TABLE = 64, RESIZE_LANES = 16 };
struct resize_groups {
    int pixels;              /* 0: the windows of too few fit a table */
    int pairs;               /* of weights in each window */
    int step;                /* channels */
    const int32_t *first;    /* sample of the row where the group's table begins */
    const int16_t *index;    /* 2 per lane: where its first two samples are in the table */
    const uint32_t *weights; /* pair by pair, RESIZE_LANES each, the first in the low half */
};

/* How kernels compute. */
enum resize_way {
    RESIZE_BANDS,   /* all rows of a band across together */
    RESIZE_LONG,    /* floats, windows too long for that */
    RESIZE_HALVES,  /* every pixel is the mean of 2x2 */
    RESIZE_DOUBLES, /* one channel, twice as wide: windows of every other pixel lie side by side */
};

struct resize_coef {
    struct resize_axis x, y;
    struct resize_groups groups;
    enum resize_way way;
    int32_t first, end; /* pixels across whose windows no edge cuts, for RESIZE_DOUBLES */
};

static inline const float *resize_weights(const struct resize_axis *a, int32_t i)
{
    return a->f + (ptrdiff_t)a->phase[i] * a->pitch;
}

static inline const int16_t *resize_fixed_weights(const struct resize_axis *a, int32_t i)
{
    return a->q + (ptrdiff_t)a->phase[i] * a->pitch;
}

static inline int resize_count(const struct resize_axis *a, int32_t i)
{
    return a->count[a->phase[i]];
}

/* Planning, in this order: all of the axis, across (0) or down (1), but the weights; those, in
 * fixed point or as floats. */
tamis_status tamis_priv_resize_windows(tamis_node *node, int down, struct resize_axis *a);
tamis_status tamis_priv_resize_weights(tamis_node *node, int fixed, struct resize_axis *a);

tamis_status tamis_priv_resize_groups(tamis_node *node, const struct resize_axis *x, int step,
                                      struct resize_groups *g);

/* Vector kernels: samples that are transposed at a time, at least two windows; from one row of
 * column sums to the next, with room behind n for whole vectors, and so that rows do not share sets
 * of the cache. */
enum { RESIZE_CHUNK = 256 };
static inline ptrdiff_t resize_pitch(ptrdiff_t n)
{
    return (n + 63) / 64 * 64 + 224;
}

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_resize_fixed)(const tamis_tile *t, const void *coef, void *scratch);
void TAMIS_FN(tamis_priv_resize_halves)(const tamis_tile *t, const void *coef, void *scratch,
                                        tamis_type type);
#endif

#endif
