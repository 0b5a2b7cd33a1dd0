/* SPDX-License-Identifier: Apache-2.0 */
/* Turning pixels upright. EXIF orientations, as "where the stored top row and left column go":
 *   1 top left (upright)   2 top right      3 bottom right   4 bottom left
 *   5 left top             6 right top      7 right bottom   8 left bottom */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader.h"

static void mirror_row(uint8_t *row, int32_t w, size_t pixel)
{
    uint8_t t[16];
    for (int32_t a = 0, b = w - 1; a < b; a++, b--) {
        uint8_t *p = row + pixel * (size_t)a;
        uint8_t *q = row + pixel * (size_t)b;
        memcpy(t, p, pixel);
        memcpy(p, q, pixel);
        memcpy(q, t, pixel);
    }
}

static void mirror(const tamis_image *image, size_t pixel)
{
    for (int32_t y = 0; y < image->h; y++)
        mirror_row(tamis_image_row(image, 0, y), image->w, pixel);
}

static tamis_status flip(tamis_ctx *ctx, const tamis_image *image, size_t pixel)
{
    size_t bytes = pixel * (size_t)image->w;
    uint8_t *t = malloc(bytes);
    if (!t)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "turning: no memory");
    for (int32_t a = 0, b = image->h - 1; a < b; a++, b--) {
        void *p = tamis_image_row(image, 0, a);
        void *q = tamis_image_row(image, 0, b);
        memcpy(t, p, bytes);
        memcpy(p, q, bytes);
        memcpy(q, t, bytes);
    }
    free(t);
    return TAMIS_OK;
}

static void copy_pixel(uint8_t *dst, const uint8_t *src, size_t pixel)
{
    switch (pixel) {
    case 1:
        *dst = *src;
        break;
    case 3:
        memcpy(dst, src, 3);
        break;
    case 4:
        memcpy(dst, src, 4);
        break;
    default:
        memcpy(dst, src, pixel);
    }
}

/* dst(x, y) = src(y, x), in squares that stay in the cache. */
static void transpose(const tamis_image *src, const tamis_image *dst, size_t pixel)
{
    enum { SIDE = 32 };
    for (int32_t y0 = 0; y0 < dst->h; y0 += SIDE)
        for (int32_t x0 = 0; x0 < dst->w; x0 += SIDE)
            for (int32_t y = y0; y < dst->h && y < y0 + SIDE; y++) {
                uint8_t *d = tamis_image_row(dst, 0, y);
                for (int32_t x = x0; x < dst->w && x < x0 + SIDE; x++)
                    copy_pixel(d + pixel * (size_t)x,
                               (uint8_t *)tamis_image_row(src, 0, x) + pixel * (size_t)y, pixel);
            }
}

static int is_mirrored(int orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}

static int is_flipped(int orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

tamis_rect tamis_priv_rect_stored(tamis_rect rect, int32_t w, int32_t h, int orientation)
{
    if (is_mirrored(orientation))
        rect.x = w - rect.x - rect.w;
    if (is_flipped(orientation))
        rect.y = h - rect.y - rect.h;
    return orientation < 5 ? rect : (tamis_rect){rect.y, rect.x, rect.h, rect.w};
}

tamis_status tamis_priv_image_turn(tamis_ctx *ctx, tamis_image *image, int orientation)
{
    size_t pixel = tamis_priv_row_bytes(image->format, 1);
    if (orientation >= 5) {
        tamis_image turned;
        tamis_status status = tamis_image_create(ctx, image->format, image->h, image->w, &turned);
        if (status != TAMIS_OK)
            return status;
        transpose(image, &turned, pixel);
        tamis_image_unref(image);
        *image = turned;
    }
    if (is_mirrored(orientation))
        mirror(image, pixel);
    if (is_flipped(orientation))
        return flip(ctx, image, pixel);
    return TAMIS_OK;
}
