/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of tamis that lie in FFmpeg's memory. */
#ifndef TAMIS_VIDEO_FRAME_H
#define TAMIS_VIDEO_FRAME_H

#include "av.h"
#include "video_ops.h"

/* Makes *frame of a viewable AVFrame, which it takes over, also when it fails. Returns 0 when there
 * is no memory. */
int tamis_priv_av_frame_wrap(AVFrame *av, tamis_video_model model, double time,
                             tamis_video_frame *frame);
/* What lies behind a frame, or NULL when it is not of this kind. */
AVFrame *tamis_priv_av_frame_of(const tamis_video_frame *frame);

/* Memory for frames of one size, used again: fresh pages cost as much as a small filter. Any
 * thread may take frames. */
typedef struct tamis_av_pool {
    AVBufferPool *pool;
    enum AVPixelFormat pixels;
    int w, h;
    tamis_ctx *ctx; /* with TAMIS_AV_PINNED and devices */
    int place;
} tamis_av_pool;

/* Where a pool's memory is: in the host's, there so that devices copy it at full speed as far as
 * there is such memory, or 1 + a device's number. */
enum { TAMIS_AV_PINNED = -1, TAMIS_AV_HOST = 0 };

/* Returns 0 when there is no memory. */
int tamis_priv_av_pool_open(tamis_av_pool *pool, enum AVPixelFormat pixels, int w, int h);
/* The same elsewhere. The pool must stay where it is while frames of it do. */
int tamis_priv_av_pool_open_at(tamis_av_pool *pool, tamis_ctx *ctx, int place,
                               enum AVPixelFormat pixels, int w, int h);
/* A frame with undefined samples, or NULL. */
AVFrame *tamis_priv_av_pool_take(const tamis_av_pool *pool);
void tamis_priv_av_pool_close(tamis_av_pool *pool);

#endif
