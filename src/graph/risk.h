/* SPDX-License-Identifier: Apache-2.0 */
/* How far from the clean picture a chain would leave a noisy one, of which only its noise is known.
 *
 * Stein's unbiased estimate of the risk (C. Stein 1981). For y = x + n with independent normal
 * noise of variance v, the mean squared error of f(y) is expected to be
 *
 *     mean of (f(y) - y)^2 - v + 2 v df(y)/dy
 *
 * and the derivative of each sample by itself is what f does with y + e b, b of random signs:
 * the mean of b (f(y + e b) - f(y)) / e (S. Ramani, T. Blu, M. Unser 2008). Where y stands at an
 * end of its type's range it has no derivative by the noise, for that was cut off there.
 *
 * Colors may have part of their noise in common, as JPEG leaves it. Signs then have as well, since
 * what counts is how f follows the noise that there is. */
#ifndef TAMIS_GRAPH_RISK_H
#define TAMIS_GRAPH_RISK_H

#include <tamis/estimate.h>

#include "image/box.h"

/* Pieces of a picture that chains are tried on, of one size; of each the part `inside` counts. */
#define TAMIS_RISK_PIECES 20

typedef struct tamis_risk_piece {
    tamis_image noisy, moved; /* y and y + e b, as planes of F32 */
} tamis_risk_piece;

typedef struct tamis_risk {
    /* Given. */
    tamis_ctx *ctx;
    tamis_format format;
    int32_t w, h;             /* of the picture */
    int colors;               /* channels without alpha */
    const tamis_noise *noise; /* of each of them */
    const tamis_part_source *source;
    size_t max_bytes; /* for what is read at once */
    const volatile int *cancel;

    /* Made when a chain is tried for the first time. */
    double step;        /* e */
    tamis_format tried; /* the picture's, or one of F32 */
    double ends;        /* share of the samples that stand at an end of the type's range */
    double alone;       /* and of those that their neighbors are far from */
    double shared;      /* correlation of the colors' noise */
    int count;
    int32_t piece_w, piece_h;
    tamis_rect inside;
    tamis_risk_piece pieces[TAMIS_RISK_PIECES];
    /* y and y + e b of each in turn, in the format that is tried, what the chain makes of them, and
     * that of one piece as planes of F32. */
    tamis_image tries[2 * TAMIS_RISK_PIECES], results[2 * TAMIS_RISK_PIECES], values[2];

    tamis_status status; /* the first that was not OK */
} tamis_risk;

/* Finds the shares of samples at the ends, once the pieces are read. */
void tamis_priv_risk_ends(tamis_risk *risk);

/* Finds these, the step and what the colors have in common, and makes all of the pieces but
 * `noisy`, which is there, and what is tried of them. */
tamis_status tamis_priv_risk_move(tamis_risk *risk);

/* Frees what has been made. */
void tamis_priv_risk_free(tamis_risk *risk);

#endif
