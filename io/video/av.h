/* SPDX-License-Identifier: Apache-2.0 */
/* FFmpeg's libraries, and what differs between their versions 5.1 to 7. */
#ifndef TAMIS_VIDEO_AV_H
#define TAMIS_VIDEO_AV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

/* Where a track's side data lies: with its parameters since 6.1. */
#define TAMIS_AV_SIDE_IN_PARAMETERS (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102))
/* Fields or flags of frames. */
#define TAMIS_AV_FRAME_FLAGS (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100))

/* Times of files may be any number; so far from the ends, sums and differences are numbers, too. */
#define TAMIS_AV_TIME_MOST ((int64_t)1 << 61)

/* A time within these bounds. */
static inline int64_t tamis_priv_av_clip(int64_t time)
{
    return time < -TAMIS_AV_TIME_MOST  ? -TAMIS_AV_TIME_MOST
           : time > TAMIS_AV_TIME_MOST ? TAMIS_AV_TIME_MOST
                                       : time;
}

/* The same where it may be AV_NOPTS_VALUE, which stays. */
static inline int64_t tamis_priv_av_bound(int64_t time)
{
    return time == AV_NOPTS_VALUE ? time : tamis_priv_av_clip(time);
}

static inline void tamis_priv_av_bound_packet(AVPacket *packet)
{
    packet->pts = tamis_priv_av_bound(packet->pts);
    packet->dts = tamis_priv_av_bound(packet->dts);
    packet->duration = packet->duration < 0 ? 0 : tamis_priv_av_clip(packet->duration);
}

/* A time in another base, where there is always one. */
static inline int64_t tamis_priv_av_rescale(int64_t time, AVRational from, AVRational to)
{
    int64_t out = av_rescale_q(time, from, to);
    if (out == INT64_MIN) /* it overflows */
        out = time < 0 ? -TAMIS_AV_TIME_MOST : TAMIS_AV_TIME_MOST;
    return tamis_priv_av_clip(out);
}

/* How long a frame is shown, in its time base; 0 = unknown. */
static inline int64_t tamis_priv_av_duration(const AVFrame *frame)
{
#if LIBAVUTIL_VERSION_MAJOR >= 58
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

static inline void tamis_priv_av_set_duration(AVFrame *frame, int64_t duration)
{
#if LIBAVUTIL_VERSION_MAJOR >= 58
    frame->duration = duration;
#else
    frame->pkt_duration = duration;
#endif
}

static inline int tamis_priv_av_interlaced(const AVFrame *frame)
{
#if TAMIS_AV_FRAME_FLAGS
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

static inline int tamis_priv_av_top_first(const AVFrame *frame)
{
#if TAMIS_AV_FRAME_FLAGS
    return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
    return frame->top_field_first;
#endif
}

static inline void tamis_priv_av_set_fields(AVFrame *frame, int interlaced, int top_first)
{
#if TAMIS_AV_FRAME_FLAGS
    frame->flags |= (interlaced ? AV_FRAME_FLAG_INTERLACED : 0) |
                    (top_first ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0);
#else
    frame->interlaced_frame = interlaced != 0;
    frame->top_field_first = top_first;
#endif
}

/* Pixel formats that an encoder takes, ended by AV_PIX_FMT_NONE; NULL = any. */
static inline const enum AVPixelFormat *tamis_priv_av_encoder_pixels(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *list = NULL;
    avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &list, NULL);
    return list;
#else
    return codec->pix_fmts;
#endif
}

/* Whether an encoder takes some frame rates only. */
static inline int tamis_priv_av_fixed_rates(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *list = NULL;
    avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_FRAME_RATE, 0, &list, NULL);
    return list != NULL;
#else
    return codec->supported_framerates != NULL;
#endif
}

#endif
