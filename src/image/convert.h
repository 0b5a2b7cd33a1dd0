/* SPDX-License-Identifier: Apache-2.0 */
/* Moving samples between types, layouts and alpha conventions, a row at a time.
 *
 * Values keep their number, rounded to nearest with ties to even and saturated; NaN becomes 0 in
 * integers. All integer types and binary16 are exact in binary32, so two families of loops, to and
 * from float, serve every pair of types. */
#ifndef TAMIS_IMAGE_CONVERT_H
#define TAMIS_IMAGE_CONVERT_H

#include <stddef.h>
#include <tamis/image.h>

/* The loops of one instruction set. Memory of images may have any alignment; planes handed to split
 * and join, and rows of float, are aligned to their samples. */
typedef struct tamis_convert {
    /* n samples side by side. */
    void (*convert)(void *dst, tamis_type dst_type, const void *src, tamis_type src_type, size_t n);
    /* n packed pixels of an image to planes, and back. */
    void (*split)(void *const *planes, tamis_type type, const void *packed, tamis_type packed_type,
                  int channels, size_t n);
    void (*join)(void *packed, tamis_type packed_type, const void *const *planes, tamis_type type,
                 int channels, size_t n);
    /* color[i] *= alpha[i] / range, and back. Where alpha is not above clear the way back gives
     * color 0: a pixel whose alpha will be stored as 0 has none. */
    void (*premultiply)(float *color, const float *alpha, size_t n, float range);
    void (*unpremultiply)(float *color, const float *alpha, size_t n, float range, float clear);
} tamis_convert;

/* The best loops for TAMIS_CPU_* flags. */
const tamis_convert *tamis_priv_convert_for(unsigned cpu);

#endif
