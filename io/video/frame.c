/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <libavutil/imgutils.h>

#include <stdlib.h>

#include "pixels.h"

#define ALIGN 64

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

int tamis_priv_av_pool_open(tamis_av_pool *pool, enum AVPixelFormat pixels, int w, int h)
{
    int size = av_image_get_buffer_size(pixels, w, h, ALIGN);
    *pool = (tamis_av_pool){.pixels = pixels, .w = w, .h = h};
    /* Encoders may read a little beyond the end. */
    pool->pool = size > 0 ? av_buffer_pool_init((size_t)size + 4 * ALIGN, NULL) : NULL;
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
    if (!frame->buf[0] || av_image_fill_arrays(frame->data, frame->linesize, frame->buf[0]->data,
                                               pool->pixels, pool->w, pool->h, ALIGN) < 0)
        av_frame_free(&frame);
    return frame;
}

void tamis_priv_av_pool_close(tamis_av_pool *pool)
{
    av_buffer_pool_uninit(&pool->pool);
}
