/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of Y4M and raw files: each lies in memory as in the file. Memory is used again, since
 * fresh pages cost as much as reading does. */
#ifndef TAMIS_IO_VIDEO_POOL_H
#define TAMIS_IO_VIDEO_POOL_H

#include <pthread.h>

#include "video_ops.h"
#include "video_pixels.h"
#include "y4m_header.h"

typedef struct tamis_plain_frame {
    tamis_video_owner head;
    struct tamis_video_pool *pool;
    struct tamis_plain_frame *next;
    tamis_image memory;
    uint8_t *data;
    char tags[TAMIS_Y4M_LINE_BYTES]; /* behind FRAME, with the blank before them */
} tamis_plain_frame;

typedef struct tamis_video_pool {
    tamis_ctx *ctx;
    tamis_video_layout layout;
    size_t bytes; /* of a frame */
    pthread_mutex_t mutex;
    tamis_plain_frame *free; /* guarded by the mutex */
    int pinned;              /* likewise; 1: memory that devices reach at full speed */
} tamis_video_pool;

void tamis_priv_video_pool_open(tamis_video_pool *pool, tamis_ctx *ctx,
                                const tamis_video_layout *layout, int pinned);
/* All frames must be back. */
void tamis_priv_video_pool_close(tamis_video_pool *pool);
/* A frame, whose samples are anything. Errors: MEMORY, LIMIT. */
tamis_status tamis_priv_video_pool_take(tamis_video_pool *pool, const char *name,
                                        tamis_video_frame *frame);
/* What is behind a frame, or NULL when it is not of this kind. */
tamis_plain_frame *tamis_priv_plain_frame(const tamis_video_frame *frame);

#endif
