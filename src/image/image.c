/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <tamis/image.h>

#include "core/mem.h"
#include "core/number.h"
#include "core/status.h"
#include "image/image.h"

#define ROW_ALIGNMENT 64

struct tamis_buffer {
    tamis_ctx *ctx;
    atomic_int refs;
    void *data;
    tamis_image_memory memory;
};

static tamis_status check_format(tamis_ctx *ctx, tamis_format f, int32_t w, int32_t h)
{
    if ((unsigned)f.type >= TAMIS_TYPE_COUNT)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "image: unknown sample type %d",
                               (int)f.type);
    if (f.channels < 1 || f.channels > TAMIS_MAX_CHANNELS)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "image: channels = %d is outside 1 .. %d",
                               f.channels, TAMIS_MAX_CHANNELS);
    if ((unsigned)f.layout > TAMIS_PLANAR || (unsigned)f.alpha > TAMIS_ALPHA_PREMULTIPLIED)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "image: unknown layout or alpha");
    if (f.alpha != TAMIS_ALPHA_NONE && f.channels < 2)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "image: an alpha channel needs at least 2 channels, not %d",
                               f.channels);
    if (w < 1 || h < 1)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "image: size %dx%d is empty", w, h);
    return TAMIS_OK;
}

int tamis_image_planes(const tamis_image *image)
{
    if (!image)
        return 0;
    return image->format.layout == TAMIS_PLANAR ? image->format.channels : 1;
}

void *tamis_image_row(const tamis_image *image, int plane, int32_t y)
{
    return image ? (char *)image->data[plane] + y * image->stride[plane] : NULL;
}

tamis_status tamis_image_check(tamis_ctx *ctx, const tamis_image *image)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, image);
    TAMIS_TRY(check_format(ctx, image->format, image->w, image->h));
    for (int p = 0; p < tamis_image_planes(image); p++)
        if (!image->data[p])
            return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "image: data[%d] is NULL", p);
    return TAMIS_OK;
}

tamis_status tamis_priv_shape_check(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h)
{
    char sample = 0; /* an image without memory of its own */
    tamis_image probe = {.format = format, .w = w, .h = h};
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        probe.data[p] = &sample;
    return tamis_image_check(ctx, &probe);
}

static tamis_status host_alloc(tamis_ctx *ctx, void *user, size_t size, void **out)
{
    (void)user;
    *out = tamis_priv_mem_alloc(ctx, size);
    return *out ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static void host_free(tamis_ctx *ctx, void *user, void *data)
{
    (void)user;
    tamis_priv_mem_free(ctx, data);
}

tamis_status tamis_image_create(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                tamis_image *out)
{
    static const tamis_image_memory host = {host_alloc, host_free, NULL, ROW_ALIGNMENT, 1, ""};
    TAMIS_REQUIRE(ctx, out);
    *out = (tamis_image){0};
    TAMIS_REQUIRE(ctx, ctx);
    return tamis_priv_image_create(ctx, &host, format, w, h, out);
}

/* Narrow rows lie closer, or a high picture of them would be many times its size. */
static size_t row_alignment(const tamis_image_memory *memory, size_t row)
{
    size_t alignment = memory->alignment;
    while (alignment > memory->least_alignment && alignment / 2 >= row)
        alignment /= 2;
    return alignment;
}

tamis_status tamis_priv_image_create(tamis_ctx *ctx, const tamis_image_memory *memory,
                                     tamis_format format, int32_t w, int32_t h, tamis_image *out)
{
    TAMIS_TRY(check_format(ctx, format, w, h));
    tamis_image image = {.format = format, .w = w, .h = h};
    int planes = tamis_image_planes(&image);
    size_t samples = format.layout == TAMIS_PLANAR ? 1 : (size_t)format.channels;
    size_t row = tamis_priv_size_mul((size_t)w, samples * tamis_type_size(format.type));
    size_t alignment = row_alignment(memory, row);
    row = tamis_priv_size_add(row, alignment - 1) / alignment * alignment;
    size_t plane = tamis_priv_size_mul(row, (size_t)h);
    size_t total = tamis_priv_size_mul(plane, (size_t)planes);
    if (total > PTRDIFF_MAX)
        return tamis_priv_fail(ctx, TAMIS_ERR_LIMIT, "image: %dx%d is too large for this machine",
                               w, h);
    TAMIS_TRY(tamis_priv_mem_check(ctx, total, "image"));

    tamis_buffer *buffer = tamis_priv_mem_alloc(ctx, sizeof *buffer);
    void *data = NULL;
    tamis_status status =
        buffer ? memory->alloc(ctx, memory->user, total, &data) : TAMIS_ERR_MEMORY;
    if (status != TAMIS_OK) {
        char need[TAMIS_BYTES_TEXT];
        tamis_priv_mem_free(ctx, buffer);
        if (status != TAMIS_ERR_MEMORY)
            return status;
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "image: no %smemory for %dx%d (%s)",
                               memory->name, w, h, tamis_priv_bytes_print(total, need));
    }
    *buffer = (tamis_buffer){.ctx = ctx, .data = data, .memory = *memory};
    atomic_init(&buffer->refs, 1);
    image.buffer = buffer;
    for (int p = 0; p < planes; p++) {
        image.data[p] = (char *)data + (size_t)p * plane;
        image.stride[p] = (ptrdiff_t)row;
    }
    *out = image;
    return TAMIS_OK;
}

void tamis_image_ref(const tamis_image *image)
{
    if (image && image->buffer)
        atomic_fetch_add(&image->buffer->refs, 1);
}

void tamis_image_unref(tamis_image *image)
{
    if (!image)
        return;
    tamis_buffer *buffer = image->buffer;
    if (buffer && atomic_fetch_sub(&buffer->refs, 1) == 1) {
        tamis_ctx *ctx = buffer->ctx;
        buffer->memory.free(ctx, buffer->memory.user, buffer->data);
        tamis_priv_mem_free(ctx, buffer);
    }
    *image = (tamis_image){0};
}

tamis_status tamis_image_view(tamis_ctx *ctx, const tamis_image *image, tamis_rect rect,
                              tamis_image *out)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, image);
    TAMIS_REQUIRE(ctx, out);
    if (rect.w < 1 || rect.h < 1 || rect.x < 0 || rect.y < 0 || rect.x > image->w - rect.w ||
        rect.y > image->h - rect.h)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "view: %dx%d at (%d, %d) leaves the image of %dx%d", rect.w, rect.h,
                               rect.x, rect.y, image->w, image->h);
    size_t samples = image->format.layout == TAMIS_PLANAR ? 1 : (size_t)image->format.channels;
    size_t x_bytes = (size_t)rect.x * samples * tamis_type_size(image->format.type);
    *out = *image;
    out->w = rect.w;
    out->h = rect.h;
    out->buffer = NULL; /* a view holds no reference */
    for (int p = 0; p < tamis_image_planes(image); p++)
        out->data[p] = (char *)tamis_image_row(image, p, rect.y) + x_bytes;
    return TAMIS_OK;
}
