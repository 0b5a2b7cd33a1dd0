/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of 8x8 samples and what they tell about noise. */
#ifndef TAMIS_IMAGE_NOISE_H
#define TAMIS_IMAGE_NOISE_H

#include <tamis/estimate.h>

#include "image/convert.h"

#define TAMIS_NOISE_SIDE 8
#define TAMIS_NOISE_AREA (TAMIS_NOISE_SIDE * TAMIS_NOISE_SIDE)
/* Blocks that lie side by side and are measured together. */
#define TAMIS_NOISE_RUN 32

/* One block of one channel. Energies are means of squared coefficients, each of which has the
 * variance of white noise. Samples at the ends of the range count in `at_low` and `at_high`; where
 * they are more than one, mean and energies are of the others, with their mean in the place of
 * those. A negative `quick` marks a block of which nothing is known. */
typedef struct tamis_noise_block {
    float mean, slow, quick;
    uint8_t at_low, at_high;
} tamis_noise_block;

/* Rows of samples of one channel, that many blocks side by side. */
typedef float tamis_noise_rows[TAMIS_NOISE_SIDE][TAMIS_NOISE_RUN * TAMIS_NOISE_SIDE];

/* Measures count blocks; rows are changed. */
void tamis_priv_noise_measure(tamis_noise_rows rows, int count, float low, float high,
                              tamis_noise_block *out);

/* Concludes from the blocks of a channel, which are put in another order. scratch has room for
 * count floats. */
void tamis_priv_noise_conclude(tamis_noise_block *blocks, int64_t count, double low, double high,
                               float *scratch, tamis_noise *out);

#endif
