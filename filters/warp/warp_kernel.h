/* SPDX-License-Identifier: Apache-2.0 */
/* What affine, rotate, perspective and remap share: a map from output to source, sampled.
 *
 * Positions. Each output pixel has one position in the source, (x, y) with pixel centers at whole
 * numbers, in units of 2^-32 pixel:
 *     affine       Computed in binary64 at every column that is a multiple of WARP_BLOCK, rounded,
 *                  then stepped by the rounded difference from one column to the next; so the error
 *                  is below 2^-25 pixel, and every implementation and tile sees the same position.
 *     perspective  x = (m0 c + (m1 r + m2)) q, likewise y, q = 1 / (m6 c + (m7 r + m8)), at column
 *                  c, row r, in binary64 as written, then rounded.
 *     map          The map's numbers, rounded.
 * Positions beyond WARP_FAR count as that far away, NaN as far to the left or top.
 *
 * Interpolation. Fractions are rounded to the step that the arithmetic uses, halves upwards, before
 * the pixel to the left and above is taken. Columns c and rows r of the neighborhood; each product
 * and sum rounds once, in the order written.
 *     nearest  The position rounded, halves upwards (right and down).
 *     linear   u8: fractions of 2^-14; rows first, (a (2^14 - f) + b f + 2^6) >> 7 in 1/128 level,
 *              then (top (2^14 - f) + bottom f + 2^20) >> 21.
 *              other types, in binary32: fractions f of 2^-24; a + (b - a) f along both rows, then
 *              down. A sample whose weight is zero is not looked at.
 *     cubic    Weights by the polynomials in warp_weights_cubic() in binary32, fractions as above.
 *              u8: weights times 2^14, rounded to nearest, ties to even, but that of the left of
 *              the two inner samples, which takes the rest to 2^14; rows first,
 *              (sum + 2^7) >> 8, then (sum + 2^19) >> 20, clipped.
 *              other types: columns first, ((w0 s0 + w1 s1) + w2 s2) + w3 s3, then the row,
 *              (w0 s0 + w2 s2) + (w1 s1 + w3 s3).
 *     lanczos3 Weights between two entries of a table of 1024 steps. All types in binary32: columns
 *              first, from the top, then the row,
 *              ((w0 s0 + w4 s4) + w2 s2) + ((w1 s1 + w5 s5) + w3 s3).
 *     area     The mean of samples spread evenly over the pixel, those of column i of n at
 *              u = (i + 1/2) / n - 1/2 from its middle, likewise down: linear in binary32 where the
 *              formulas above, with c + u and r + v for c and r, but in the second term of an
 * affine step, say. Summed from the left, those sums from the top, then divided. How many there are
 * is decided by tamis_priv_warp_grid(). A window with no sample in the picture gives
 * border=constant's value itself. Integers are rounded to nearest, ties to even (upwards where the
 * formula above is in integers), and saturate. */
#ifndef TAMIS_WARP_KERNEL_H
#define TAMIS_WARP_KERNEL_H

#include <math.h>
#include <stdint.h>

#include "cpu/kernel.h"

enum { WARP_BLOCK = 64 };

/* Bytes of scratch: positions, weights and results of one block. */
enum { WARP_SCRATCH = 32768 };

#define WARP_FAR 0x1.ep30

/* Beyond this shrinking a step of WARP_BLOCK columns could overflow. */
#define WARP_SLOPE_MAX 0x1p20

typedef enum warp_kind { WARP_AFFINE, WARP_PERSPECTIVE, WARP_MAP } warp_kind;

enum { WARP_TABLE = 1024, WARP_TABLE_TAPS = 8 };

struct warp_coef {
    warp_kind kind;
    double m[9];            /* output to source, row by row */
    int64_t step_x, step_y; /* affine: from one column to the next */
    tamis_interp interp;
    tamis_border border;
    int32_t w, h;         /* of the source */
    int grid_w, grid_h;   /* area, affine */
    float cubic_a;        /* cubic */
    const float *lanczos; /* (WARP_TABLE + 1) x WARP_TABLE_TAPS, the last two taps 0 */
};

/* What a filter asks of warp_plan.c. */
struct warp_wish {
    const char *name; /* of the filter, for messages */
    warp_kind kind;
    double forward[9]; /* source to output */
    int inverse;       /* 1: forward is output to source instead */
    tamis_size size;   /* WARP_SAME, WARP_FIT or pixels */
    tamis_interp interp;
    double cubic_a;
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};
enum { WARP_SAME = -1, WARP_FIT = -2 };

/* Refuses a matrix that has no inverse. */
tamis_status tamis_priv_warp_check(tamis_node *node, const struct warp_wish *wish);
tamis_status tamis_priv_warp_plan(tamis_node *node, const struct warp_wish *wish);

/* out = a b, 3x3. */
void tamis_priv_warp_multiply(double out[9], const double a[9], const double b[9]);
/* The inverse of m; 0 when there is none: the determinant is zero but for the rounding of its
 * terms.
 */
int tamis_priv_warp_invert(double out[9], const double m[9]);
/* The matrix that turns by degrees about a center, counter-clockwise as seen. Exact at quarter
 * turns. */
void tamis_priv_warp_turn(double out[9], double degrees);
/* out = move by (x, y), m, move back. */
void tamis_priv_warp_about(double out[9], const double m[9], double x, double y);

/* interp=area: how many samples across and down the pixels of row y take whose columns are in the
 * block that begins at first, a multiple of WARP_BLOCK. As many as source pixels lie along a side
 * of an output pixel's area, but 64 at most. For a perspective the larger of what both ends of the
 * block need, 64 where the horizon runs through. */
void tamis_priv_warp_grid(const struct warp_coef *c, int32_t first, int32_t y, int grid[2]);

extern const char *const tamis_priv_warp_sizes[];  /* "same", "fit" */
extern const char *const tamis_priv_warp_alphas[]; /* alpha cannot stay while color moves */
extern const tamis_kernel *const tamis_priv_warp_kernels[]; /* all but area */
extern const tamis_kernel *const tamis_priv_warp_kernels_all[];

/* The rows of a parameter table that all warps have; S has the fields size, interp, cubic_a,
 * border, border_value and alpha. */
#define WARP_PARAM_SIZE(S)                                                                         \
    TAMIS_PARAM(S, size, .def = WARP_SAME, .min = 1, .max = 50000000, .unit = "px",                \
                .words = tamis_priv_warp_sizes,                                                    \
                .doc = "size of the result; fit: what holds the whole picture")
#define WARP_PARAMS(S) WARP_PARAMS_INTERP(S, tamis_priv_interp_names, TAMIS_INTERP_COUNT - 1)
/* With names of interp up to last. */
#define WARP_PARAMS_INTERP(S, names, last)                                                         \
    TAMIS_PARAM(S, interp, .def = TAMIS_INTERP_LINEAR, .max = (last), .choices = (names),          \
                .unit = "", .doc = "how values between pixels are found"),                         \
        TAMIS_PARAM(S, cubic_a, .def = -0.5, .min = -1, .max = 0, .unit = "",                      \
                    .doc = "slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV"),       \
        TAMIS_PARAM_BORDER(S),                                                                     \
        TAMIS_PARAM(S, alpha, .def = TAMIS_ALPHA_MODE_PREMULTIPLY,                                 \
                    .max = TAMIS_ALPHA_MODE_STRAIGHT, .choices = tamis_priv_warp_alphas,           \
                    .unit = "", .doc = "alpha channel: weight color by it, or move it like color")

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
#define WARP_KERNEL(name)                                                                          \
    void TAMIS_FN(tamis_priv_warp_##name)(const tamis_tile *t, const void *coef, void *scratch)
WARP_KERNEL(linear_u8);
WARP_KERNEL(linear_u16);
WARP_KERNEL(linear_s16);
WARP_KERNEL(linear_f32);
WARP_KERNEL(cubic_u8);
WARP_KERNEL(cubic_u16);
WARP_KERNEL(cubic_s16);
WARP_KERNEL(cubic_f32);
WARP_KERNEL(lanczos3_u8);
WARP_KERNEL(lanczos3_u16);
WARP_KERNEL(lanczos3_s16);
WARP_KERNEL(lanczos3_f32);
WARP_KERNEL(area_u8);
WARP_KERNEL(area_u16);
WARP_KERNEL(area_s16);
WARP_KERNEL(area_f32);
#undef WARP_KERNEL
#endif

#endif
