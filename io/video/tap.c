/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

#define MOST_HELD ((size_t)64 << 20)

void tamis_priv_av_tap_open(tamis_av_tap *tap)
{
    *tap = (tamis_av_tap){.from = INT64_MIN, .until = INT64_MAX};
    pthread_mutex_init(&tap->mutex, NULL);
}

static void clear(tamis_av_tap *tap)
{
    for (int i = 0; i < tap->held_count; i++)
        av_packet_free(&tap->held[i]);
    av_freep(&tap->held);
    tap->held_count = 0;
    tap->held_bytes = 0;
}

void tamis_priv_av_tap_clear(tamis_av_tap *tap)
{
    pthread_mutex_lock(&tap->mutex);
    clear(tap);
    pthread_mutex_unlock(&tap->mutex);
}

void tamis_priv_av_tap_close(tamis_av_tap *tap)
{
    clear(tap);
    pthread_mutex_destroy(&tap->mutex);
}

static int is_text(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
}

static int64_t time_of(const AVPacket *packet)
{
    return packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
}

/* Whether the packet begins at or after a time of the video's clock. */
static int is_from(const tamis_av_tap *tap, const AVPacket *packet, int64_t at, int64_t time)
{
    AVRational base = tap->format->streams[packet->stream_index]->time_base;
    return av_compare_ts(at, base, time, tap->base) >= 0;
}

/* Sound begins with the first packet that does not begin too early; a subtitle is kept as long as
 * it is still to be seen. Packets without times belong to those around them and are kept. */
static int keeps(const tamis_av_tap *tap, const AVPacket *packet)
{
    int64_t at = time_of(packet);
    if (at == AV_NOPTS_VALUE)
        return 1;
    int64_t end = at;
    if (is_text(tap->format->streams[packet->stream_index]) && packet->duration > 0)
        end = at + packet->duration - 1;
    if (tap->from != INT64_MIN && !is_from(tap, packet, end, tap->from))
        return 0;
    return tap->until == INT64_MAX || !is_from(tap, packet, at, tap->until);
}

int tamis_priv_av_tap_keeps(tamis_av_tap *tap, const AVPacket *packet)
{
    pthread_mutex_lock(&tap->mutex);
    int is = keeps(tap, packet);
    pthread_mutex_unlock(&tap->mutex);
    return is;
}

/* Subtitles that are already to be seen appear with the first frame. */
static void clip(const tamis_av_tap *tap, AVPacket *packet)
{
    const AVStream *stream = tap->format->streams[packet->stream_index];
    if (tap->from == INT64_MIN || !is_text(stream) || packet->pts == AV_NOPTS_VALUE)
        return;
    int64_t from = av_rescale_q_rnd(tap->from, tap->base, stream->time_base, AV_ROUND_UP);
    if (packet->pts >= from)
        return;
    packet->duration -= from - packet->pts;
    packet->pts = packet->dts = from;
}

/* Hands packets over in their order, and drops what lies outside. */
static void flush(tamis_av_tap *tap)
{
    for (int i = 0; i < tap->held_count; i++) {
        AVPacket *packet = tap->held[i];
        if (keeps(tap, packet)) {
            clip(tap, packet);
            tap->take(tap->user, packet);
        }
    }
    clear(tap);
}

/* What a packet takes of MOST_HELD. */
static size_t cost_of(const AVPacket *packet)
{
    return sizeof *packet + (size_t)packet->size;
}

/* As tamis_priv_av_tap_put(). */
static int hold(tamis_av_tap *tap, AVPacket *packet)
{
    if (tap->held_bytes + cost_of(packet) > MOST_HELD && !tap->take) {
        clear(tap);
        tap->gave_up = 1;
    }
    if (tap->gave_up || !keeps(tap, packet)) {
        av_packet_free(&packet);
        return !tap->gave_up;
    }
    AVPacket **held = av_realloc_array(tap->held, (size_t)tap->held_count + 1, sizeof *tap->held);
    if (!held) {
        av_packet_free(&packet);
        return -1;
    }
    tap->held = held;
    held[tap->held_count++] = packet;
    tap->held_bytes += cost_of(packet);
    return 1;
}

int tamis_priv_av_tap_put(tamis_av_tap *tap, AVPacket *packet)
{
    pthread_mutex_lock(&tap->mutex);
    int wanted = hold(tap, packet);
    if (tap->take && tap->started)
        flush(tap);
    pthread_mutex_unlock(&tap->mutex);
    return wanted;
}

void tamis_priv_av_tap_refuse(tamis_av_tap *tap)
{
    pthread_mutex_lock(&tap->mutex);
    clear(tap);
    tap->gave_up = 1;
    pthread_mutex_unlock(&tap->mutex);
}

void tamis_priv_av_tap_skip(tamis_av_tap *tap, int64_t time)
{
    int kept = 0;
    pthread_mutex_lock(&tap->mutex);
    tap->from = time;
    for (int i = 0; i < tap->held_count; i++) {
        AVPacket *packet = tap->held[i];
        if (keeps(tap, packet)) {
            tap->held[kept++] = packet;
            continue;
        }
        tap->held_bytes -= cost_of(packet);
        av_packet_free(&packet);
    }
    tap->held_count = kept;
    pthread_mutex_unlock(&tap->mutex);
}

void tamis_priv_av_tap_start(tamis_av_tap *tap, int64_t from)
{
    pthread_mutex_lock(&tap->mutex);
    tap->from = from;
    tap->started = 1;
    if (tap->take)
        flush(tap);
    pthread_mutex_unlock(&tap->mutex);
}

void tamis_priv_av_tap_end(tamis_av_tap *tap, int64_t until)
{
    pthread_mutex_lock(&tap->mutex);
    tap->until = until;
    pthread_mutex_unlock(&tap->mutex);
}

int tamis_priv_av_tap_attach(tamis_av_tap *tap, tamis_av_taker take, void *user)
{
    pthread_mutex_lock(&tap->mutex);
    int all = !tap->gave_up;
    tap->take = take;
    tap->user = user;
    if (take && tap->started)
        flush(tap);
    pthread_mutex_unlock(&tap->mutex);
    return all;
}
