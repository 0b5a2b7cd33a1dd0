/* SPDX-License-Identifier: Apache-2.0 */
#include "mux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Packets of other tracks that wait for the video; beyond that, the oldest goes out of turn. */
#define MOST_WAITING ((size_t)64 << 20)

const AVOutputFormat *tamis_priv_av_container(const char *name)
{
    static const char *const pictures[] = {"gif",  "apng", "webp",       "avif",
                                           "fits", "ico",  "singlejpeg", "image2"};
    char file[64] = "x.";
    if (strcmp(name, "m4v") == 0) /* else MPEG-4 video alone */
        name = "mp4";
    strncat(file, name, sizeof file - 3);
    const AVOutputFormat *found = av_guess_format(NULL, file, NULL);
    if (!found)
        found = av_guess_format(name, NULL, NULL);
    if (!found || found->video_codec == AV_CODEC_ID_NONE || (found->flags & AVFMT_NOFILE))
        return NULL;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (strcmp(found->name, pictures[i]) == 0)
            return NULL;
    return found;
}

static tamis_status fail(tamis_video_writer *writer, tamis_av_mux *m, int error)
{
    char said[160], text[AV_ERROR_MAX_STRING_SIZE] = "";
    if (m->bytes.error)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: cannot write: %s", writer->name,
                              strerror(m->bytes.error));
    tamis_priv_av_note_read(&m->note, said, sizeof said);
    av_strerror(error, text, sizeof text);
    return tamis_ctx_fail(
        writer->ctx, error == AVERROR(ENOMEM) ? TAMIS_ERR_MEMORY : TAMIS_ERR_WRITE,
        "%s: cannot write %s: %s", writer->name, m->format->oformat->name, *said ? said : text);
}

/* ---- packets of other tracks */

static int64_t order_of(const tamis_av_mux *m, const AVPacket *packet)
{
    int64_t at = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    return at == AV_NOPTS_VALUE
               ? INT64_MIN
               : av_rescale_q(at, m->format->streams[packet->stream_index]->time_base,
                              AV_TIME_BASE_Q);
}

/* What a packet takes of MOST_WAITING. */
static size_t cost_of(const AVPacket *packet)
{
    return sizeof *packet + (size_t)packet->size;
}

static int enqueue(tamis_av_mux *m, AVPacket *packet)
{
    if (m->waiting_count == m->waiting_room) {
        int room = m->waiting_room ? 2 * m->waiting_room : 64;
        AVPacket **more = av_realloc_array(m->waiting, (size_t)room, sizeof *more);
        if (!more)
            return 0;
        m->waiting = more;
        m->waiting_room = room;
    }
    int i = m->waiting_count++;
    int64_t at = order_of(m, packet);
    for (; i > 0 && order_of(m, m->waiting[i - 1]) > at; i--)
        m->waiting[i] = m->waiting[i - 1];
    m->waiting[i] = packet;
    m->waiting_bytes += cost_of(packet);
    return 1;
}

/* Writes the first n packets. */
static void release(tamis_av_mux *m, int n)
{
    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        AVPacket *packet = m->waiting[i];
        m->waiting_bytes -= cost_of(packet);
        int error = m->error ? 0 : av_write_frame(m->format, packet);
        if (error < 0)
            m->error = error;
        av_packet_free(&packet);
    }
    m->waiting_count -= n;
    memmove(m->waiting, m->waiting + n, (size_t)m->waiting_count * sizeof *m->waiting);
}

static void release_until(tamis_av_mux *m, int64_t time)
{
    int n = 0;
    size_t left = m->waiting_bytes;
    while (n < m->waiting_count && (left > MOST_WAITING || order_of(m, m->waiting[n]) <= time))
        left -= cost_of(m->waiting[n++]);
    release(m, n);
}

/* Sound that begins with samples to be thrown away: readers of Matroska count from behind them, and
 * so does the muxer from FFmpeg 6 on; for those before, it is done here. */
static int64_t lead_of(const tamis_av_mux *m, const tamis_av_track *track)
{
    const AVCodecParameters *par = track->out->codecpar;
    const char *name = m->format->oformat->name;
    if (par->codec_id != AV_CODEC_ID_OPUS || par->initial_padding <= 0 ||
        AV_VERSION_MAJOR(avformat_version()) >= 60 ||
        (strcmp(name, "matroska") != 0 && strcmp(name, "webm") != 0))
        return 0;
    return av_rescale_q(par->initial_padding, (AVRational){1, 48000}, track->out->time_base);
}

/* Times of the input become those of the output, which never go back. */
static void retime(tamis_av_mux *m, tamis_av_track *track, const AVStream *in, AVPacket *packet)
{
    AVRational to = track->out->time_base;
    int64_t shift = tamis_priv_av_rescale(m->source->origin, m->source->stream->time_base, to);
    shift -= lead_of(m, track);
    av_packet_rescale_ts(packet, in->time_base, to);
    tamis_priv_av_bound_packet(packet);
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts -= shift;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= shift;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = packet->pts != AV_NOPTS_VALUE   ? packet->pts
                      : track->last != AV_NOPTS_VALUE ? track->last + 1
                                                      : 0;
    if (track->last != AV_NOPTS_VALUE && packet->dts <= track->last)
        packet->dts = track->last + 1;
    if (packet->pts == AV_NOPTS_VALUE || packet->pts < packet->dts)
        packet->pts = packet->dts;
    track->last = packet->dts;
    packet->stream_index = track->out->index;
    packet->pos = -1;
}

/* Names streams that were found after the output was opened. */
static void note_late(tamis_av_mux *m, int newest)
{
    const AVFormatContext *format = m->source->format;
    for (; m->known <= newest; m->known++)
        tamis_priv_av_tracks_name(&m->late, format, format->streams[m->known]);
}

static void put(tamis_av_mux *m, const AVPacket *packet)
{
    tamis_av_track *track = &m->tracks[packet->stream_index];
    AVPacket *copy = av_packet_clone(packet);
    if (!copy) {
        m->error = AVERROR(ENOMEM);
        return;
    }
    if (track->make && !tamis_priv_av_subtitles_turn(track, copy)) {
        av_packet_free(&copy);
        return;
    }
    retime(m, track, m->source->format->streams[packet->stream_index], copy);
    if (!enqueue(m, copy)) {
        m->error = AVERROR(ENOMEM);
        av_packet_free(&copy);
    }
    release_until(m, m->reached);
}

/* Called by the reader, on its thread. */
static void take(void *user, const AVPacket *packet)
{
    tamis_av_mux *m = user;
    pthread_mutex_lock(&m->mutex);
    if (packet->stream_index >= m->track_count)
        note_late(m, packet->stream_index);
    else if (m->tracks[packet->stream_index].out && !m->closed && !m->error)
        put(m, packet);
    pthread_mutex_unlock(&m->mutex);
}

/* Pictures of the whole file are known from the beginning. */
static void put_pictures(tamis_av_mux *m)
{
    for (int i = 0; i < m->track_count; i++) {
        const AVStream *in = m->source->format->streams[i];
        if (!m->tracks[i].out || !(in->disposition & AV_DISPOSITION_ATTACHED_PIC))
            continue;
        AVPacket *copy = av_packet_clone(&in->attached_pic);
        if (!copy) {
            m->error = AVERROR(ENOMEM);
            return;
        }
        copy->pts = copy->dts = 0;
        copy->stream_index = m->tracks[i].out->index;
        copy->pos = -1;
        int error = av_write_frame(m->format, copy);
        if (error < 0 && !m->error)
            m->error = error;
        av_packet_free(&copy);
    }
}

/* ---- opening */

static tamis_status write_header(tamis_video_writer *writer, tamis_av_mux *m)
{
    AVDictionary *options = NULL;
    const char *name = m->format->oformat->name;
    if (!writer->seekable && (strcmp(name, "mp4") == 0 || strcmp(name, "mov") == 0))
        av_dict_set(&options, "movflags", "frag_keyframe+empty_moov+default_base_moof", 0);
    int error = avformat_write_header(m->format, &options);
    av_dict_free(&options);
    if (error >= 0)
        avio_flush(m->bytes.io);
    if (error < 0 || m->bytes.error)
        return fail(writer, m, error);
    return TAMIS_OK;
}

tamis_status tamis_priv_av_mux_open(tamis_video_writer *writer, tamis_av_mux *m,
                                    const AVOutputFormat *container, AVCodecContext *encoder,
                                    int strip)
{
    m->source = tamis_priv_av_reader_of(writer->source);
    m->base = encoder->time_base;
    m->reached = INT64_MIN;
    m->opened = 1;
    tamis_priv_av_note_open(&m->note);
    pthread_mutex_init(&m->mutex, NULL);
    av_bprint_init(&m->dropped, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprint_init(&m->late, 0, AV_BPRINT_SIZE_UNLIMITED);
    int error = tamis_priv_av_bytes_write(&m->bytes, writer->file.sink.fd, writer->seekable);
    if (!error && avformat_alloc_output_context2(&m->format, container, NULL, NULL) < 0)
        error = ENOMEM;
    if (!error && m->source)
        m->tracks = av_calloc(m->source->format->nb_streams, sizeof *m->tracks);
    if (m->tracks)
        m->track_count = m->known = (int)m->source->format->nb_streams;
    if (error || (m->source && !m->tracks))
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_MEMORY, "%s: no memory", writer->name);
    tamis_priv_av_note_format(&m->note, m->format);
    m->format->pb = m->bytes.io;
    m->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    tamis_status status = tamis_priv_av_tracks_add(writer, m, encoder, strip);
    if (status == TAMIS_OK)
        status = write_header(writer, m);
    if (status != TAMIS_OK)
        return status;
    put_pictures(m);
    if (m->source && strip)
        tamis_priv_av_tap_refuse(&m->source->tap);
    else if (m->source)
        tamis_priv_av_tap_attach(&m->source->tap, take, m);
    return TAMIS_OK;
}

/* ---- the video and the end */

tamis_status tamis_priv_av_mux_video(tamis_video_writer *writer, tamis_av_mux *m, AVPacket *packet)
{
    tamis_status status = TAMIS_OK;
    pthread_mutex_lock(&m->mutex);
    packet->stream_index = m->video->index;
    int64_t end = av_rescale_q(packet->pts + packet->duration, m->base, AV_TIME_BASE_Q);
    m->shown = end > m->shown ? end : m->shown;
    av_packet_rescale_ts(packet, m->base, m->video->time_base);
    m->reached = order_of(m, packet);
    release_until(m, m->reached);
    int error = m->error ? m->error : av_write_frame(m->format, packet);
    if (!m->error && error < 0)
        m->error = error;
    if (m->error || m->bytes.error) {
        m->closed = 1;
        status = fail(writer, m, m->error);
    }
    pthread_mutex_unlock(&m->mutex);
    av_packet_unref(packet);
    return status;
}

/* Where other tracks end: with the input, with its cut, or, when whoever calls stops before the
 * input ends, with the video. In AV_TIME_BASE of the output. */
static int64_t end_of_others(const tamis_av_mux *m)
{
    tamis_av_tap *tap = &m->source->tap;
    pthread_mutex_lock(&tap->mutex);
    int over = tap->over;
    int64_t until = tap->until;
    pthread_mutex_unlock(&tap->mutex);
    if (!over)
        return m->shown;
    return until == INT64_MAX
               ? INT64_MAX
               : av_rescale_q(until - m->source->origin, tap->base, AV_TIME_BASE_Q) - 1;
}

tamis_status tamis_priv_av_mux_finish(tamis_video_writer *writer, tamis_av_mux *m)
{
    if (m->source)
        tamis_priv_av_tap_attach(&m->source->tap, NULL, NULL);
    int64_t end = m->source ? end_of_others(m) : 0;
    pthread_mutex_lock(&m->mutex);
    release_until(m, end);
    if (m->late.len)
        av_bprintf(&m->dropped, "%s%s", m->dropped.len ? "\n" : "", m->late.str);
    m->closed = 1;
    int error = m->error ? m->error : av_write_trailer(m->format);
    avio_flush(m->bytes.io);
    tamis_status status = error < 0 || m->bytes.error ? fail(writer, m, error) : TAMIS_OK;
    pthread_mutex_unlock(&m->mutex);
    return status;
}

void tamis_priv_av_mux_stop(tamis_av_mux *m)
{
    if (m->source)
        tamis_priv_av_tap_attach(&m->source->tap, NULL, NULL);
}

void tamis_priv_av_mux_close(tamis_av_mux *m)
{
    if (!m->opened)
        return;
    tamis_priv_av_mux_stop(m);
    for (int i = 0; i < m->waiting_count; i++)
        av_packet_free(&m->waiting[i]);
    av_freep(&m->waiting);
    for (int i = 0; i < m->track_count; i++)
        tamis_priv_av_subtitles_close(&m->tracks[i]);
    av_freep(&m->tracks);
    avformat_free_context(m->format);
    m->format = NULL;
    tamis_priv_av_bytes_close(&m->bytes);
    av_bprint_finalize(&m->dropped, NULL);
    av_bprint_finalize(&m->late, NULL);
    pthread_mutex_destroy(&m->mutex);
    tamis_priv_av_note_close(&m->note);
    m->opened = 0;
}
