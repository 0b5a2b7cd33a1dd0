/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs: frames to the encoder, packets to the container. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "journal.h"
#include "module.h"
#include "mux.h"
#include "pixels.h"

typedef struct av_writer {
    tamis_av_encode encode;
    tamis_av_mux mux;
    AVPacket *packet;
    int64_t frames; /* given times by number or by the first one's */
    double begin;   /* the first one's time */
    /* With a journal, encoders follow each other. */
    tamis_av_journal journal;
    const AVOutputFormat *container;
    tamis_video_write_options options; /* as far as encoders after the first one need them */
    char *preset;
    int64_t given;    /* frames written or skipped */
    int64_t last_dts; /* of the newest packet; AV_NOPTS_VALUE before */
    int spent;        /* the encoder has been told of its end */
} av_writer;

/* Frames of a segment: as far apart as encoders set key frames. */
enum { SEGMENT = 250 };

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
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    av->pts = AV_NOPTS_VALUE; /* the frame's time counts when it is written */
    if (info && info->aspect_num > 0 && info->aspect_den > 0)
        av->sample_aspect_ratio = (AVRational){info->aspect_num, info->aspect_den};
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

/* Packets of an encoder may begin before those of the one before it end. */
static void keep(av_writer *w, AVPacket *packet)
{
    if (w->journal.fd < 0)
        return;
    if (packet->dts != AV_NOPTS_VALUE && w->last_dts != AV_NOPTS_VALUE &&
        packet->dts <= w->last_dts)
        packet->dts = w->last_dts + 1;
    w->last_dts = packet->dts;
    tamis_priv_av_journal_put(&w->journal, packet);
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
        keep(w, w->packet);
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
    w->given++;
    tamis_status status = TAMIS_OK;
    if (w->spent)
        status = tamis_priv_av_encode_restart(writer, &w->encode, w->container, &w->options);
    w->spent = 0;
    if (status == TAMIS_OK)
        return give(writer, av);
    av_frame_free(&av);
    return status;
}

/* All that was given is in the journal then. */
static tamis_status end_segment(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    tamis_status status = give(writer, NULL);
    w->spent = 1;
    if (status != TAMIS_OK)
        return status;
    tamis_priv_av_journal_end(&w->journal, w->given);
    if (w->journal.error)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: cannot write: %s", w->journal.path,
                              strerror(w->journal.error));
    return TAMIS_OK;
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
    const av_writer *w = writer->state;
    tamis_status status = take_frame(writer, frame);
    if (status == TAMIS_OK && w->journal.fd >= 0 && w->given % SEGMENT == 0)
        status = end_segment(writer);
    return stop_unless(writer, status);
}

/* ---- what was kept */

static int64_t kept(const tamis_video_writer *writer)
{
    const av_writer *w = writer->state;
    return w->journal.fd < 0 ? 0 : w->journal.kept;
}

/* Puts the packets of a segment into the container. */
static tamis_status replay(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    tamis_status status = TAMIS_OK;
    int more;
    while (status == TAMIS_OK && (more = tamis_priv_av_journal_next(&w->journal, w->packet)) != 0) {
        if (more < 0)
            return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: cannot be read any more",
                                  w->journal.path);
        w->last_dts = w->packet->dts;
        status = tamis_priv_av_mux_video(writer, &w->mux, w->packet);
    }
    return status;
}

static tamis_status pass(tamis_video_writer *writer, const tamis_video_frame *like)
{
    av_writer *w = writer->state;
    const AVFrame *behind = tamis_priv_av_frame_of(like);
    AVFrame *av = w->given < kept(writer) ? av_frame_alloc() : NULL;
    if (!av || (behind && av_frame_copy_props(av, behind) < 0)) {
        int is_room = w->given < kept(writer);
        av_frame_free(&av);
        return is_room ? no_memory(writer)
                       : tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT,
                                        "%s: no more frames were kept", writer->name);
    }
    if (!behind || av->pts == AV_NOPTS_VALUE)
        av->pts = plain_time(writer, w, like->time);
    tamis_status status = tamis_priv_av_encode_pass(writer, &w->encode, av);
    av_frame_free(&av);
    if (status == TAMIS_OK && ++w->given == w->journal.end)
        status = replay(writer);
    return status;
}

static tamis_status skip(tamis_video_writer *writer, const tamis_video_frame *like)
{
    return stop_unless(writer, pass(writer, like));
}

/* ---- the end */

static tamis_status finish(tamis_video_writer *writer)
{
    av_writer *w = writer->state;
    int all_kept = w->given > 0 && w->given == kept(writer); /* the encoder has nothing */
    tamis_status status = w->spent || all_kept ? TAMIS_OK : give(writer, NULL);
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
    tamis_priv_av_journal_close(&w->journal, writer->finished && !writer->failed);
    free(w->preset);
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

static const tamis_video_writer_ops ops = {.frame = make_frame,
                                           .write = write_frame,
                                           .kept = kept,
                                           .skip = skip,
                                           .dropped = dropped,
                                           .detail = detail,
                                           .finish = finish,
                                           .close = close_writer};

/* What packets of a journal must have been made with, besides the caller's recipe. */
static char *full_recipe(const tamis_video_writer *writer, const av_writer *w, const char *recipe)
{
    const AVCodecContext *c = w->encode.codec;
    size_t headers = (size_t)(c->extradata_size > 0 ? c->extradata_size : 0);
    uint32_t extra = tamis_priv_av_journal_check(0, c->extradata, headers);
    char frames[96];
    tamis_video_format_print(&writer->format, frames, sizeof frames);
    size_t size = strlen(recipe) + sizeof w->encode.detail + sizeof frames + 200;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s\n%s, %s, %d threads, time base %d/%d, headers %08x, %s, %u, %u\n",
                 recipe, w->encode.detail, frames, c->thread_count, c->time_base.num,
                 c->time_base.den, (unsigned)extra, w->container->name, avcodec_version(),
                 avformat_version());
    return text;
}

static tamis_status open_journal(const tamis_video_writer *writer, av_writer *w,
                                 const tamis_video_write_options *options)
{
    if (!options->journal || !writer->seekable)
        return TAMIS_OK;
    w->options = *options;
    w->preset = options->preset ? strdup(options->preset) : NULL;
    w->options.preset = w->preset;
    w->options.codec = w->options.pixels = w->options.format = NULL; /* the caller's */
    w->options.journal = w->options.recipe = NULL;
    char *text = full_recipe(writer, w, options->recipe ? options->recipe : "");
    int error = text && (w->preset || !options->preset)
                    ? tamis_priv_av_journal_open(&w->journal, options->journal, text)
                    : ENOMEM;
    free(text);
    if (!error)
        return TAMIS_OK;
    tamis_status status = tamis_ctx_fail(
        writer->ctx, error == ENOMEM ? TAMIS_ERR_MEMORY : TAMIS_ERR_WRITE,
        error == EWOULDBLOCK ? "%s: another run is writing it" : "%s: cannot be used: %s",
        options->journal, strerror(error));
    tamis_priv_av_journal_close(&w->journal, 0);
    return status;
}

tamis_status tamis_priv_av_writer_open(tamis_video_writer *writer,
                                       const tamis_video_write_options *options)
{
    av_writer *w = calloc(1, sizeof *w);
    const AVOutputFormat *container = tamis_priv_av_container(options->format);
    writer->ops = &ops;
    writer->state = w;
    if (w) {
        w->journal.fd = -1;
        w->last_dts = AV_NOPTS_VALUE;
        w->container = container;
        w->packet = av_packet_alloc();
    }
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
    if (status == TAMIS_OK)
        status = open_journal(writer, w, options);
    return status;
}
