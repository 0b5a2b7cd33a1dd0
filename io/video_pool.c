/* SPDX-License-Identifier: Apache-2.0 */
#include "video_pool.h"

#include <stdlib.h>

#include <tamis/device.h>

#define ROW_BYTES ((size_t)1 << 20) /* a multiple of an image's row alignment: no gaps */

void tamis_priv_video_pool_open(tamis_video_pool *pool, tamis_ctx *ctx,
                                const tamis_video_layout *layout, int pinned)
{
    *pool = (tamis_video_pool){.ctx = ctx, .layout = *layout, .pinned = pinned};
    pool->bytes = (size_t)tamis_priv_video_frame_bytes(layout);
    pthread_mutex_init(&pool->mutex, NULL);
}

void tamis_priv_video_pool_close(tamis_video_pool *pool)
{
    while (pool->free) {
        tamis_plain_frame *frame = pool->free;
        pool->free = frame->next;
        tamis_image_unref(&frame->memory);
        free(frame);
    }
    pthread_mutex_destroy(&pool->mutex);
}

static void release(tamis_video_frame *frame)
{
    tamis_plain_frame *own = frame->owner;
    tamis_video_pool *pool = own->pool;
    pthread_mutex_lock(&pool->mutex);
    own->next = pool->free;
    pool->free = own;
    pthread_mutex_unlock(&pool->mutex);
}

static int is_pinned(tamis_video_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    int pinned = pool->pinned;
    pthread_mutex_unlock(&pool->mutex);
    return pinned;
}

/* When no more can be pinned the rest is ordinary memory. */
static tamis_status make_memory(tamis_video_pool *pool, int32_t w, int32_t h, tamis_image *out)
{
    tamis_format bytes = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    if (is_pinned(pool)) {
        if (tamis_image_create_pinned(pool->ctx, bytes, w, h, out) == TAMIS_OK)
            return TAMIS_OK;
        pthread_mutex_lock(&pool->mutex);
        pool->pinned = 0;
        pthread_mutex_unlock(&pool->mutex);
    }
    return tamis_image_create(pool->ctx, bytes, w, h, out);
}

static tamis_plain_frame *make_frame(tamis_video_pool *pool, const char *name, tamis_status *status)
{
    tamis_plain_frame *frame = calloc(1, sizeof *frame);
    size_t w = pool->bytes < ROW_BYTES ? pool->bytes : ROW_BYTES;
    size_t h = (pool->bytes + w - 1) / w;
    if (!frame) {
        *status = tamis_ctx_fail(pool->ctx, TAMIS_ERR_MEMORY, "%s: no memory", name);
        return NULL;
    }
    *status = make_memory(pool, (int32_t)w, (int32_t)h, &frame->memory);
    if (*status != TAMIS_OK) {
        free(frame);
        return NULL;
    }
    frame->head.release = release;
    frame->pool = pool;
    frame->data = frame->memory.data[0];
    return frame;
}

tamis_status tamis_priv_video_pool_take(tamis_video_pool *pool, const char *name,
                                        tamis_video_frame *frame)
{
    tamis_status status = TAMIS_OK;
    pthread_mutex_lock(&pool->mutex);
    tamis_plain_frame *own = pool->free;
    if (own)
        pool->free = own->next;
    pthread_mutex_unlock(&pool->mutex);
    *frame = (tamis_video_frame){0};
    if (!own)
        own = make_frame(pool, name, &status);
    if (!own)
        return status;
    own->tags[0] = '\0';
    frame->owner = own;
    tamis_priv_video_frame_map(&pool->layout, own->data, frame);
    return TAMIS_OK;
}

tamis_plain_frame *tamis_priv_plain_frame(const tamis_video_frame *frame)
{
    tamis_plain_frame *own = frame ? frame->owner : NULL;
    return own && own->head.release == release ? own : NULL;
}
