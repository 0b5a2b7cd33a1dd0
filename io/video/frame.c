/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <libavutil/imgutils.h>
#include <tamis/device.h>

#include <stdlib.h>

#include "pixels.h"

#define ALIGN       64
#define ALIGN_THERE 256 /* on devices */
#define ROW_BYTES                                                                                  \
    (1 << 20) /* memory of such a place is an image; a multiple of its rows' alignment */

typedef struct av_owner {
    tamis_video_owner head;
    AVFrame *frame;
} av_owner;

static void release(tamis_video_frame *frame)
{
    av_owner *owner = frame->owner;
    av_frame_free(&owner->frame);
    free(owner);
}

int tamis_priv_av_frame_wrap(AVFrame *av, tamis_video_model model, double time,
                             tamis_video_frame *frame)
{
    *frame = (tamis_video_frame){.time = time};
    av_owner *owner = calloc(1, sizeof *owner);
    if (!owner) {
        av_frame_free(&av);
        return 0;
    }
    owner->head.release = release;
    owner->frame = av;
    frame->owner = owner;
    tamis_priv_av_pixels_view(av, model, frame->part);
    return 1;
}

AVFrame *tamis_priv_av_frame_of(const tamis_video_frame *frame)
{
    const av_owner *owner = frame ? frame->owner : NULL;
    return owner && owner->head.release == release ? owner->frame : NULL;
}

static void give_memory(void *opaque, uint8_t *data)
{
    (void)data;
    tamis_image_unref(opaque);
    free(opaque);
}

static AVBufferRef *take_memory(void *opaque, size_t size)
{
    const tamis_av_pool *pool = opaque;
    const tamis_format bytes = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    int32_t rows = (int32_t)((size + ROW_BYTES - 1) / ROW_BYTES);
    tamis_image *image = calloc(1, sizeof *image);
    tamis_status status = TAMIS_ERR_MEMORY;
    if (image && pool->place > 0)
        status =
            tamis_image_create_on_device(pool->ctx, pool->place - 1, bytes, ROW_BYTES, rows, image);
    else if (image)
        status = tamis_image_create_pinned(pool->ctx, bytes, ROW_BYTES, rows, image);
    AVBufferRef *ref =
        status == TAMIS_OK ? av_buffer_create(image->data[0], size, give_memory, image, 0) : NULL;
    if (!ref) {
        tamis_image_unref(image);
        free(image);
    }
    return ref || pool->place > 0 ? ref : av_buffer_alloc(size);
}

int tamis_priv_av_pool_open(tamis_av_pool *pool, enum AVPixelFormat pixels, int w, int h)
{
    return tamis_priv_av_pool_open_at(pool, NULL, TAMIS_AV_HOST, pixels, w, h);
}

int tamis_priv_av_pool_open_at(tamis_av_pool *pool, tamis_ctx *ctx, int place,
                               enum AVPixelFormat pixels, int w, int h)
{
    *pool = (tamis_av_pool){.pixels = pixels, .w = w, .h = h, .ctx = ctx, .place = place};
    int align = place > 0 ? ALIGN_THERE : ALIGN;
    int size = av_image_get_buffer_size(pixels, w, h, align);
    /* Encoders may read a little beyond the end. */
    size_t all = (size_t)size + 4 * ALIGN;
    if (size > 0)
        pool->pool = place == TAMIS_AV_HOST ? av_buffer_pool_init(all, NULL)
                                            : av_buffer_pool_init2(all, pool, take_memory, NULL);
    return pool->pool != NULL;
}

AVFrame *tamis_priv_av_pool_take(const tamis_av_pool *pool)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = pool->pixels;
    frame->width = pool->w;
    frame->height = pool->h;
    frame->buf[0] = av_buffer_pool_get(pool->pool);
    int align = pool->place > 0 ? ALIGN_THERE : ALIGN;
    if (!frame->buf[0] || av_image_fill_arrays(frame->data, frame->linesize, frame->buf[0]->data,
                                               pool->pixels, pool->w, pool->h, align) < 0)
        av_frame_free(&frame);
    return frame;
}

void tamis_priv_av_pool_close(tamis_av_pool *pool)
{
    av_buffer_pool_uninit(&pool->pool);
}
