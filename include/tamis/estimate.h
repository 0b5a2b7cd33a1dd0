/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring a picture to choose parameters by. */
#ifndef TAMIS_ESTIMATE_H
#define TAMIS_ESTIMATE_H

#include <tamis/parts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The standard deviation of the noise in each channel of a picture, in sample units, without a
 * clean original: sigma[c] for channel c, 0 for alpha.
 *
 * Method. A second difference across and down, [1 -2 1] by [1 -2 1] divided by 6, removes smooth
 * content and keeps the level of white noise (Immerkaer 1996). Its root mean square is taken in
 * blocks of 16x16 pixels; blocks where more than a fiftieth of the samples lie at the ends of the
 * type's range, or hold NaN or infinity, do not count unless there are none else. Most blocks of
 * most pictures hold texture too, so the tenth percentile of the blocks is taken, divided by what
 * it is for noise alone. Pictures that are texture all over are overestimated; noise that
 * neighboring pixels share (JPEG, demosaicing, scaling) is underestimated.
 *
 * Errors: ARGUMENT (an image smaller than 3x3), MEMORY. Thread-safe; the result does not depend on
 * the number of threads. */
TAMIS_API tamis_status tamis_noise_estimate(tamis_ctx *ctx, const tamis_image *image,
                                            double sigma[TAMIS_MAX_CHANNELS]);

/* The same of a picture that comes part by part, in bands from top to bottom that do not overlap;
 * the numbers are the same. max_bytes bounds the memory, of which a picture takes eight bytes for
 * every 256 samples; beyond it these lie in a temporary file, but 34 rows of the picture are in
 * memory in any case. 0 = 64 MB.
 * Errors: as above, WRITE (no room for the file), and those of the source. */
TAMIS_API tamis_status tamis_noise_estimate_parts(tamis_ctx *ctx, tamis_format format, int32_t w,
                                                  int32_t h, const tamis_part_source *source,
                                                  size_t max_bytes,
                                                  double sigma[TAMIS_MAX_CHANNELS]);

#ifdef __cplusplus
}
#endif

#endif
