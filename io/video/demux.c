/* SPDX-License-Identifier: Apache-2.0 */
/* Containers: what is inside, and one packet after the other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

/* Larger frames are refused before memory is taken for them: 8 times those of 8K video. */
#define MOST_PIXELS ((int64_t)1 << 28)
/* Of larger ones a decoder has one in work, not one for each thread. */
#define LARGE_PIXELS ((int64_t)1 << 26)
/* Errors in a row after which nothing more is expected. */
#define MOST_ERRORS 64

static tamis_status fail(const tamis_video_reader *reader, tamis_status status, const char *what,
                         int error, tamis_av_note *note)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = "", said[160] = "";
    tamis_priv_av_note_read(note, said, sizeof said);
    av_strerror(error, text, sizeof text);
    return tamis_ctx_fail(reader->ctx, status, "%s: %s: %s%s%s%s", reader->name, what, text,
                          *said ? " (" : "", said, *said ? ")" : "");
}

/* Demuxers of still pictures and of text that someone might draw. */
static int is_no_video(const AVInputFormat *format)
{
    size_t n = strlen(format->name);
    return (n > 5 && strcmp(format->name + n - 5, "_pipe") == 0) ||
           strcmp(format->name, "tty") == 0 || strcmp(format->name, "image2") == 0 ||
           strcmp(format->name, "apng") == 0 || strcmp(format->name, "gif") == 0;
}

/* Some demuxers compute for long between reads. */
static int is_canceled(void *user)
{
    return tamis_priv_waiting_canceled(user);
}

static tamis_status open_container(tamis_video_reader *reader, const char *path)
{
    tamis_av_reader *r = reader->state;
    tamis_waiting waiting = {reader->ctx, &reader->stop};
    int error = tamis_priv_av_bytes_read(waiting, &r->bytes, path);
    if (error)
        return tamis_ctx_fail(reader->ctx, error == ENOMEM ? TAMIS_ERR_MEMORY : TAMIS_ERR_READ,
                              "%s: cannot read: %s", reader->name, strerror(error));
    r->format = avformat_alloc_context();
    if (!r->format)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_MEMORY, "%s: no memory", reader->name);
    r->format->pb = r->bytes.io;
    r->format->interrupt_callback = (AVIOInterruptCB){is_canceled, &r->bytes.waiting};
    r->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    tamis_priv_av_note_format(&r->demuxer, r->format);
    error = avformat_open_input(&r->format, path, NULL, NULL); /* which frees it when it fails */
    if (error < 0)
        return fail(reader, error == AVERROR(ENOMEM) ? TAMIS_ERR_MEMORY : TAMIS_ERR_READ,
                    "not a video, or broken", error, &r->demuxer);
    if (is_no_video(r->format->iformat))
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: not a video (%s)", reader->name,
                              r->format->iformat->long_name);
    return TAMIS_OK;
}

static int is_picture(const AVStream *stream)
{
    return (stream->disposition &
            (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0;
}

/* The video that players show: the default one, else the first. */
static AVStream *choose_stream(const AVFormatContext *format)
{
    AVStream *best = NULL;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *s = format->streams[i];
        if (s->codecpar->codec_type != AVMEDIA_TYPE_VIDEO || is_picture(s))
            continue;
        int is_better = (s->disposition & AV_DISPOSITION_DEFAULT) && best &&
                        !(best->disposition & AV_DISPOSITION_DEFAULT);
        if (!best || is_better)
            best = s;
    }
    return best;
}

/* Refuses sizes before decoders take memory for them. */
static tamis_status check_size(const tamis_video_reader *reader, const AVStream *stream)
{
    int64_t w = stream->codecpar->width, h = stream->codecpar->height;
    if (w * h <= MOST_PIXELS)
        return TAMIS_OK;
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_UNSUPPORTED,
                          "%s: frames of %lldx%lld pixels; at most %lld are read", reader->name,
                          (long long)w, (long long)h, (long long)MOST_PIXELS);
}

static tamis_status find_stream(tamis_video_reader *reader)
{
    tamis_av_reader *r = reader->state;
    for (unsigned i = 0; i < r->format->nb_streams; i++) {
        tamis_status status = check_size(reader, r->format->streams[i]);
        if (status != TAMIS_OK)
            return status;
    }
    int error = avformat_find_stream_info(r->format, NULL);
    r->stream = choose_stream(r->format);
    if (r->stream)
        return check_size(reader, r->stream);
    if (error < 0)
        return fail(reader, TAMIS_ERR_READ, "broken", error, &r->demuxer);
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: no video in it (%s)", reader->name,
                          r->format->iformat->long_name);
}

/* FFmpeg's own decoder of VP8 and VP9 leaves alpha out; libvpx's keeps it. */
static const AVCodec *find_decoder(const AVStream *stream)
{
    enum AVCodecID id = stream->codecpar->codec_id;
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    const AVCodec *codec = NULL;
    if (alpha && strcmp(alpha->value, "1") == 0) {
        if (id == AV_CODEC_ID_VP9)
            codec = avcodec_find_decoder_by_name("libvpx-vp9");
        else if (id == AV_CODEC_ID_VP8)
            codec = avcodec_find_decoder_by_name("libvpx");
    }
    return codec ? codec : avcodec_find_decoder(id);
}

static tamis_status open_decoder(tamis_video_reader *reader, int threads, int device)
{
    tamis_av_reader *r = reader->state;
    const AVCodec *codec = find_decoder(r->stream);
    if (!codec)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: nothing here decodes its video (%s)", reader->name,
                              avcodec_get_name(r->stream->codecpar->codec_id));
    r->codec = avcodec_alloc_context3(codec);
    if (!r->codec || avcodec_parameters_to_context(r->codec, r->stream->codecpar) < 0)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_MEMORY, "%s: no memory", reader->name);
    r->codec->pkt_timebase = r->stream->time_base;
    r->codec->max_pixels = MOST_PIXELS;
    r->codec->thread_count = threads;
    if ((int64_t)r->codec->width * r->codec->height > LARGE_PIXELS)
        r->codec->thread_type = FF_THREAD_SLICE;
    r->codec->err_recognition = AV_EF_CRCCHECK;
    /* Rows are cut exactly where the stream says, and may begin anywhere. */
    r->codec->flags |= AV_CODEC_FLAG_UNALIGNED;
    tamis_priv_av_note_codec(&r->decoder, r->codec);
    if (device)
        tamis_priv_av_device_attach(&r->device, device, r->codec);
    int error = avcodec_open2(r->codec, codec, NULL);
    if (error < 0)
        return fail(reader, error == AVERROR(ENOMEM) ? TAMIS_ERR_MEMORY : TAMIS_ERR_UNSUPPORTED,
                    "the decoder cannot be opened", error, &r->decoder);
    return TAMIS_OK;
}

/* Recordings of broadcasts begin at any time; elsewhere times are what they are. */
static void set_clock(tamis_av_reader *r)
{
    AVRational rate = r->stream->avg_frame_rate, base = r->stream->time_base;
    if (rate.num <= 0 || rate.den <= 0)
        rate = r->stream->r_frame_rate;
    r->step = rate.num > 0 && rate.den > 0 ? tamis_priv_av_rescale(1, av_inv_q(rate), base) : 0;
    if (r->step < 1)
        r->step = 1;
    if ((r->format->iformat->flags & AVFMT_TS_DISCONT) && r->format->start_time != AV_NOPTS_VALUE)
        r->zero = tamis_priv_av_rescale(r->format->start_time, AV_TIME_BASE_Q, base);
    r->tap.format = r->format;
    r->tap.base = base;
}

tamis_status tamis_priv_av_demux_open(tamis_video_reader *reader, const char *path, int threads,
                                      int device)
{
    tamis_av_reader *r = reader->state;
    tamis_status status = open_container(reader, path);
    if (status == TAMIS_OK)
        status = find_stream(reader);
    if (status == TAMIS_OK)
        status = open_decoder(reader, threads, device);
    if (status != TAMIS_OK)
        return status;
    set_clock(r);
    r->wants_others = 1;
    r->packet = av_packet_alloc();
    r->decoded = av_frame_alloc();
    return r->packet && r->decoded
               ? TAMIS_OK
               : tamis_ctx_fail(reader->ctx, TAMIS_ERR_MEMORY, "%s: no memory", reader->name);
}

/* ---- packets */

/* The next packet of any track: 1, or 0 when no more can be read. Demuxers find their way behind
 * some errors. */
static int read_any(tamis_av_reader *r)
{
    for (int errors = 0; errors < MOST_ERRORS && !r->drained; errors++) {
        int error = av_read_frame(r->format, r->packet);
        if (error >= 0) {
            tamis_priv_av_bound_packet(r->packet);
            return 1;
        }
        if (error == AVERROR_EOF || r->bytes.error)
            break;
        if (error != AVERROR(EAGAIN))
            r->broken = error;
    }
    r->drained = 1;
    return 0;
}

static void leave_others(tamis_av_reader *r)
{
    r->wants_others = 0;
    for (unsigned i = 0; i < r->format->nb_streams; i++)
        if (r->format->streams[i] != r->stream)
            r->format->streams[i]->discard = AVDISCARD_ALL;
}

/* Pictures that belong to the whole file are known from its header and come again as packets. */
static void give_other(tamis_av_reader *r)
{
    const AVStream *s = r->format->streams[r->packet->stream_index];
    if (!r->wants_others || (s->disposition & AV_DISPOSITION_ATTACHED_PIC)) {
        av_packet_unref(r->packet);
        return;
    }
    AVPacket *copy = av_packet_alloc();
    if (copy)
        av_packet_move_ref(copy, r->packet);
    int taken = copy ? tamis_priv_av_tap_put(&r->tap, copy) : -1;
    r->lacked |= taken < 0;
    if (taken <= 0)
        leave_others(r);
    av_packet_unref(r->packet);
}

int tamis_priv_av_demux_next(tamis_av_reader *r)
{
    while (read_any(r)) {
        if (r->packet->stream_index == r->stream->index)
            return 1;
        give_other(r);
    }
    return 0;
}

void tamis_priv_av_demux_rest(tamis_av_reader *r)
{
    int64_t sound = 0, passed = 0; /* tracks of sound, as bits; those that are past the end */
    for (unsigned i = 0; i < r->format->nb_streams && i < 63; i++)
        if (r->format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
            sound |= (int64_t)1 << i;
    av_packet_unref(r->packet);
    while (r->wants_others && (r->tap.until == INT64_MAX || passed != sound) && read_any(r)) {
        int i = r->packet->stream_index;
        if (i < 63 && r->packet->pts != AV_NOPTS_VALUE &&
            !tamis_priv_av_tap_keeps(&r->tap, r->packet))
            passed |= sound & (int64_t)1 << i;
        if (i == r->stream->index)
            av_packet_unref(r->packet);
        else
            give_other(r);
    }
    pthread_mutex_lock(&r->tap.mutex);
    r->tap.over = 1;
    pthread_mutex_unlock(&r->tap.mutex);
}

int tamis_priv_av_demux_seek(tamis_av_reader *r, int64_t time)
{
    /* Bare streams of a codec have no times: their frames are counted from the first. */
    if (r->stream->start_time == AV_NOPTS_VALUE || !(r->bytes.io->seekable & AVIO_SEEKABLE_NORMAL))
        return 0;
    int error = av_seek_frame(r->format, r->stream->index, time, AVSEEK_FLAG_BACKWARD);
    if (error < 0) /* looking for an index may have read all of it */
        av_seek_frame(r->format, -1, 0, AVSEEK_FLAG_BYTE);
    avcodec_flush_buffers(r->codec);
    tamis_priv_av_tap_clear(&r->tap);
    r->drained = r->ended = r->unfed = 0;
    av_packet_unref(r->packet);
    r->broken = 0;
    r->last = AV_NOPTS_VALUE;
    return error >= 0;
}
