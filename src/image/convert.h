/* SPDX-License-Identifier: Apache-2.0 */
/* Moving samples between types, strides and alpha conventions, a row at a time. */
#ifndef TAMIS_IMAGE_CONVERT_H
#define TAMIS_IMAGE_CONVERT_H

#include <stddef.h>
#include <tamis/image.h>

/* Copies n samples; dst_step and src_step count samples from one to the next. Values keep their
 * number, rounded to nearest with ties to even and saturated; NaN becomes 0 in integers. */
void tamis_priv_convert(void *dst, tamis_type dst_type, size_t dst_step, const void *src,
                        tamis_type src_type, size_t src_step, size_t n);

/* One number as a sample of the given type, under the same rules. */
void tamis_priv_convert_value(void *dst, tamis_type type, double value);

/* color[0..colors-1][i] *= alpha[i] / range, and back. Where alpha is not above 0 the way back
 * gives color 0: a clear pixel has none. */
void tamis_priv_premultiply(float *const *color, int colors, const float *alpha, size_t n,
                            float range);
void tamis_priv_unpremultiply(float *const *color, int colors, const float *alpha, size_t n,
                              float range);

#endif
