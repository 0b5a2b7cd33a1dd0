/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_IMAGE_BOX_H
#define TAMIS_IMAGE_BOX_H

#include <stdint.h>

/* A part of an image's plane of pixels; may leave the image on any side. */
typedef struct tamis_box {
    int64_t x, y;
    int w, h;
} tamis_box;

#endif
