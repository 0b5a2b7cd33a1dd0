/* SPDX-License-Identifier: Apache-2.0 */
/* Images in memory of any kind. */
#ifndef TAMIS_IMAGE_IMAGE_H
#define TAMIS_IMAGE_IMAGE_H

#include <tamis/image.h>

/* Where samples come from and go back to. alloc leaves no message for MEMORY, the caller knows what
 * for; for other failures it does. */
typedef struct tamis_image_memory {
    tamis_status (*alloc)(tamis_ctx *ctx, void *user, size_t size, void **out);
    void (*free)(tamis_ctx *ctx, void *user, void *data);
    void *user;
    size_t alignment, least_alignment; /* of rows that are that long, and of short ones */
    const char *name;                  /* for messages, such as "device "; "" for any memory */
} tamis_image_memory;

/* As tamis_image_create(), in such memory. */
tamis_status tamis_priv_image_create(tamis_ctx *ctx, const tamis_image_memory *memory,
                                     tamis_format format, int32_t w, int32_t h, tamis_image *out);

/* Whether there can be images of the format and size. Errors: ARGUMENT. */
tamis_status tamis_priv_shape_check(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h);

#endif
