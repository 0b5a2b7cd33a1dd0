/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs: frames to the encoder, packets to the container. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "module.h"
#include "mux.h"
#include "pixels.h"

typedef struct av_writer {
    tamis_av_encode encode;
    tamis_av_mux mux;
    AVPacket *packet;
    int64_t frames; /* given times by number or by the first one's */
    double begin;   /* the first one's time */
} av_writer;

static tamis_status no_memory(const tamis_video_writer *writer)
{
    return tamis_ctx_fail(writer->ctx, TAMIS_ERR_MEMORY, "%s: no memory", writer->name);
}

/* ---- frames */

/* Chroma that lies unused between gray and alpha is neutral, should an encoder take it. */
static void fill_unused(const tamis_video_format *f, AVFrame *frame)
{
    if (f->model != TAMIS_VIDEO_GRAY || !f->alpha)
        return;
    for (int plane = 1; plane <= 2; plane++)
        for (int y = 0; y < frame->height; y++) {
            uint8_t *row = frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane];
            for (int x = 0; x < frame->width; x++) {
                if (f->bits == 8)
                    row[x] = 128;
                else
                    ((uint16_t *)(void *)row)[x] = 32768;
            }
        }
}

/* Whether a frame's channels lie side by side, as far as it has several in a part. */
static int is_packed(const tamis_video_frame *like)
{
    for (int i = 0; like && i < TAMIS_VIDEO_PARTS; i++)
        if (like->part[i].format.channels > 1)
            return like->part[i].format.layout == TAMIS_PACKED;
    return 0;
}

/* Of a frame that FFmpeg did not read. */
static void set_plain_facts(const tamis_video_writer *writer, AVFrame *av)
{
    const av_writer *w = writer->state;
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    av->pts = AV_NOPTS_VALUE; /* the frame's time counts when it is written */
    av->sample_aspect_ratio = w->encode.codec->sample_aspect_ratio;
    if (info)
        tamis_priv_av_set_fields(av, info->interlaced != 0, info->interlaced == 1);
}

static tamis_status make_frame(tamis_video_writer *writer, const tamis_video_frame *like,
                               tamis_video_frame *frame)
{
    av_writer *w = writer->state;
    const tamis_av_encode *e = &w->encode;
    const AVFrame *from = tamis_priv_av_frame_of(like);
    const tamis_av_pool *pool = is_packed(like) && e->packed.pool ? &e->packed : &e->frames;
    AVFrame *av = tamis_priv_av_pool_take(pool);
    double time = like ? like->time : 0;
    if (!av || (from && av_frame_copy_props(av, from) < 0)) {
        av_frame_free(&av);
        return no_memory(writer);
    }
    if (!from)
        set_plain_facts(writer, av);
    fill_unused(&writer->format, av);
    return tamis_priv_av_frame_wrap(av, writer->format.model, time, frame) ? TAMIS_OK
                                                                           : no_memory(writer);
}

/* Moves what the encoder has ready into the container. */
static tamis_status drain(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    tamis_status status = TAMIS_OK;
    while (status == TAMIS_OK) {
        int error = avcodec_receive_packet(w->encode.codec, w->packet);
        if (error == AVERROR(EAGAIN) || error == AVERROR_EOF)
            return TAMIS_OK;
        if (error < 0)
            return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: the encoder failed",
                                  writer->name);
        int64_t duration = tamis_priv_av_encode_duration(&w->encode, w->packet->pts);
        if (duration > 0)
            w->packet->duration = duration;
        status = tamis_priv_av_mux_video(writer, &w->mux, w->packet);
    }
    return status;
}

static tamis_status give(tamis_video_writer *writer, AVFrame *frame)
{
    av_writer *w = writer->state;
    tamis_status status = tamis_priv_av_encode_send(writer, &w->encode, frame);
    return status == TAMIS_OK ? drain(writer) : status;
}

/* The time of a frame that FFmpeg did not read, in the encoder's base. What Y4M and raw frames are
 * cut from does not count, and without a rate they have no times but their number. */
static int64_t plain_time(const tamis_video_writer *writer, av_writer *w, double time)
{
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    int is_plain = info && !tamis_priv_av_reader_of(writer->source);
    if (is_plain && info->rate <= 0)
        return w->frames++;
    if (is_plain && w->frames++ == 0)
        w->begin = time;
    double ticks = floor((time - w->begin) / av_q2d(w->encode.base) + 0.5);
    double most = (double)TAMIS_AV_TIME_MOST; /* NaN becomes it, too */
    return ticks < -most ? -TAMIS_AV_TIME_MOST : ticks < most ? (int64_t)ticks : TAMIS_AV_TIME_MOST;
}

static tamis_status take_frame(tamis_video_writer *writer, const tamis_video_frame *frame)
{
    av_writer *w = writer->state;
    AVFrame *behind = tamis_priv_av_frame_of(frame);
    if (!behind)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: a frame that tamis_video_writer_frame() did not give",
                              writer->name);
    AVFrame *av = av_frame_clone(behind);
    if (!av)
        return no_memory(writer);
    if (av->pts == AV_NOPTS_VALUE)
        av->pts = plain_time(writer, w, frame->time);
    return give(writer, av);
}

/* The place is closed where a frame is not taken: the reader must not write to it any more. */
static tamis_status stop_unless(tamis_video_writer *writer, tamis_status status)
{
    av_writer *w = writer->state;
    if (status != TAMIS_OK)
        tamis_priv_av_mux_stop(&w->mux);
    return status;
}

static tamis_status write_frame(tamis_video_writer *writer, tamis_video_frame *frame)
{
    return stop_unless(writer, take_frame(writer, frame));
}

/* ---- the end */

static tamis_status finish(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    tamis_status status = give(writer, NULL);
    if (status == TAMIS_OK)
        status = tamis_priv_av_mux_finish(writer, &w->mux);
    return stop_unless(writer, status);
}

static void close_writer(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    if (!w)
        return;
    tamis_priv_av_mux_close(&w->mux);
    tamis_priv_av_encode_close(&w->encode);
    av_packet_free(&w->packet);
    free(w);
    writer->state = NULL;
}

static const char *dropped(const tamis_video_writer *writer)
{
    const av_writer *w = writer->state;
    return w->mux.dropped.str ? w->mux.dropped.str : "";
}

static const char *detail(const tamis_video_writer *writer)
{
    const av_writer *w = writer->state;
    return w->encode.detail;
}

static const tamis_video_writer_ops ops = {make_frame, write_frame, dropped,
                                           detail,     finish,      close_writer};

tamis_status tamis_priv_av_writer_open(tamis_video_writer *writer,
                                       const tamis_video_write_options *options)
{
    av_writer *w = calloc(1, sizeof *w);
    const AVOutputFormat *container = tamis_priv_av_container(options->format);
    writer->ops = &ops;
    writer->state = w;
    if (w)
        w->packet = av_packet_alloc();
    if (!w || !w->packet)
        return no_memory(writer);
    if (!container)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: '%.32s' is not a container of video", writer->name,
                              options->format);
    tamis_status status = tamis_priv_av_encode_open(writer, &w->encode, container, options);
    if (status == TAMIS_OK)
        status =
            tamis_priv_av_mux_open(writer, &w->mux, container, w->encode.codec, options->strip);
    return status;
}
