/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_IMAGE_BOX_H
#define TAMIS_IMAGE_BOX_H

#include <stdint.h>

/* A part of an image's plane of pixels; may leave the image on any side. (struct tamis_box is the
 * parameters of the filter of that name.) */
typedef struct tamis_priv_box {
    int64_t x, y;
    int w, h;
} tamis_box;

#endif
