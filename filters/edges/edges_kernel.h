/* SPDX-License-Identifier: Apache-2.0 */
/* What sobel, prewitt, scharr and laplacian share: one plan and one set of kernels. Canny begins
 * with the same slopes. */
#ifndef TAMIS_EDGES_KERNEL_H
#define TAMIS_EDGES_KERNEL_H

#include <tamis/sobel.h>

#include "cpu/kernel.h"

typedef enum edges_kind {
    EDGES_SOBEL3,
    EDGES_PREWITT,
    EDGES_SCHARR,
    EDGES_SOBEL5,
    EDGES_SOBEL7,
    EDGES_LAPLACIAN4,
    EDGES_LAPLACIAN8
} edges_kind;
#define EDGES_MAX_RADIUS 3

/* The window of a first derivative: derivative[i] weights what lies i after the middle, and with
 * the other sign what lies as far before it; smooth[i] both. */
typedef struct edges_taps {
    int radius;
    float derivative[EDGES_MAX_RADIUS + 1], smooth[EDGES_MAX_RADIUS + 1];
} edges_taps;
extern const edges_taps tamis_priv_edges_taps[EDGES_SOBEL7 + 1];

/* Weights of R, G and B in the luma of integers, in 1/32768. */
#define EDGES_LUMA_R 9798
#define EDGES_LUMA_G 19235
#define EDGES_LUMA_B 3735

typedef struct edges_coef {
    edges_kind kind;
    edges_taps taps; /* of first derivatives */
    int radius;
    unsigned output; /* tamis_gradient_output; DX for the Laplacians */
    unsigned norm;   /* tamis_gradient_norm */
    int luma;        /* one plane is made of the first three */
    tamis_type type; /* of the samples read */
    tamis_type result;
    float scale, delta;
} edges_coef;

/* What the users of the four filters say. */
typedef struct edges_wish {
    const char *name; /* of the filter */
    edges_kind kind;
    unsigned output, norm, type;
    double scale, delta;
    unsigned color;
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
} edges_wish;

/* The plan function of the four filters. */
tamis_status tamis_priv_edges_plan(tamis_node *node, const edges_wish *wish);

/* How color and alpha come to the kernels: sets node->alpha, work, planar and out's channels.
 * *luma receives whether one plane is made of three. */
tamis_status tamis_priv_edges_channels(tamis_node *node, const char *name, unsigned color,
                                       tamis_alpha_mode alpha, int *luma);

/* The reference's view of a tile: sample i of row y in plane p, or the luma, as binary32. */
float tamis_priv_edges_sample(const tamis_tile *t, tamis_type type, int luma, int p, int y,
                              ptrdiff_t i);
/* ... and the slopes there. */
float tamis_priv_edges_dx(const tamis_tile *t, const edges_taps *k, tamis_type type, int luma,
                          int p, int y, ptrdiff_t i);
float tamis_priv_edges_dy(const tamis_tile *t, const edges_taps *k, tamis_type type, int luma,
                          int p, int y, ptrdiff_t i);

/* Scratch of the vector rows: source rows of luma for a tile. */
size_t tamis_priv_edges_luma_bytes(tamis_type type, int radius, int w, int h);

/* Samples of a row and rows that vector kernels work on at a time, and the bytes of two such blocks
 * in 32 bits. */
#define EDGES_CHUNK        512
#define EDGES_ROWS         4
#define EDGES_STRIDE       (EDGES_CHUNK + 64)
#define EDGES_BLOCK_BYTES  ((size_t)EDGES_ROWS * EDGES_STRIDE * 4)
#define EDGES_SLOPES_BYTES (2 * EDGES_BLOCK_BYTES)

extern const tamis_kernel *const tamis_priv_edges_gradients[];
extern const tamis_kernel *const tamis_priv_edges_laplacians[];

/* The rows of parameter tables that the filters share. */
extern const char *const tamis_priv_edges_output_names[];
extern const char *const tamis_priv_edges_norm_names[];
extern const char *const tamis_priv_edges_type_names[];
extern const char *const tamis_priv_edges_color_names[];
#define EDGES_PARAM_OUTPUT(S)                                                                      \
    TAMIS_PARAM(S, output, .def = TAMIS_GRADIENT_MAGNITUDE, .max = TAMIS_GRADIENT_DIRECTION,       \
                .choices = tamis_priv_edges_output_names, .unit = "",                              \
                .doc = "size of the slope, slope across, slope down, or its angle")
#define EDGES_PARAM_NORM(S)                                                                        \
    TAMIS_PARAM(S, norm, .def = TAMIS_GRADIENT_L2, .max = TAMIS_GRADIENT_L1,                       \
                .choices = tamis_priv_edges_norm_names, .unit = "",                                \
                .doc = "size of the slope: root of the squares' sum, or sum of absolute values")
#define EDGES_PARAM_TYPE(S)                                                                        \
    TAMIS_PARAM(S, type, .def = TAMIS_GRADIENT_AUTO, .max = TAMIS_GRADIENT_F32,                    \
                .choices = tamis_priv_edges_type_names, .unit = "",                                \
                .doc = "sample type of the result; auto keeps signs")
#define EDGES_PARAM_SCALE(S)                                                                       \
    TAMIS_PARAM(S, scale, .def = 1, .min = -1e6, .max = 1e6, .unit = "",                           \
                .doc = "factor of the result"),                                                    \
        TAMIS_PARAM(S, delta, .def = 0, .min = -1e6, .max = 1e6, .unit = "levels",                 \
                    .doc = "added to the scaled result")
#define EDGES_PARAM_COLOR(S)                                                                       \
    TAMIS_PARAM(S, color, .def = TAMIS_GRADIENT_SEPARATE, .max = TAMIS_GRADIENT_LUMA,              \
                .choices = tamis_priv_edges_color_names, .unit = "",                               \
                .doc = "each channel alone, or the luma of RGB")

/* What of the slopes becomes the result. */
enum { FROM_DX, FROM_DY, FROM_L1, FROM_L2, FROM_ANGLE };

static inline int tamis_priv_edges_from(const edges_coef *k)
{
    switch (k->output) {
    case TAMIS_GRADIENT_DX:
        return FROM_DX;
    case TAMIS_GRADIENT_DY:
        return FROM_DY;
    case TAMIS_GRADIENT_MAGNITUDE:
        return k->norm == TAMIS_GRADIENT_L1 ? FROM_L1 : FROM_L2;
    default:
        return FROM_ANGLE;
    }
}

#endif
