/* SPDX-License-Identifier: Apache-2.0 */
/* How often values of each size occur, whatever their range: bins are a sixty-fourth of their
 * value wide. */
#ifndef TAMIS_GRAPH_HISTOGRAM_H
#define TAMIS_GRAPH_HISTOGRAM_H

#include <stdint.h>
#include <tamis/image.h>

#include "image/convert.h"

/* A float's exponent and the first 6 bits of its fraction. */
#define TAMIS_HISTOGRAM_BINS  16384
#define TAMIS_HISTOGRAM_SHIFT 17

struct tamis_histogram {
    uint64_t count; /* of values other than 0 and NaN */
    uint64_t bins[TAMIS_HISTOGRAM_BINS];
};

/* Counts the sizes of an image's samples, alpha excepted. */
void tamis_priv_histogram_add(struct tamis_histogram *histogram, const tamis_convert *loops,
                              const tamis_image *image);

#endif
