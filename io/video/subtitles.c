/* SPDX-License-Identifier: Apache-2.0 */
/* Subtitles of plain text, from one container's kind to another's. */
#include <string.h>

#include "mux.h"

#define MOST_BYTES (64 << 10)

/* Kinds whose text means the same in the others, but for fonts and colors. */
static int is_plain_text(enum AVCodecID id)
{
    return id == AV_CODEC_ID_SUBRIP || id == AV_CODEC_ID_WEBVTT || id == AV_CODEC_ID_TEXT ||
           id == AV_CODEC_ID_MOV_TEXT;
}

static enum AVCodecID kind_of(const AVOutputFormat *container)
{
    if (strcmp(container->name, "matroska") == 0)
        return AV_CODEC_ID_SUBRIP;
    if (strcmp(container->name, "webm") == 0)
        return AV_CODEC_ID_WEBVTT;
    if (strcmp(container->name, "mp4") == 0 || strcmp(container->name, "mov") == 0 ||
        strcmp(container->name, "ipod") == 0)
        return AV_CODEC_ID_MOV_TEXT;
    return AV_CODEC_ID_NONE;
}

static AVCodecContext *open_text(const AVStream *in)
{
    const AVCodec *codec = avcodec_find_decoder(in->codecpar->codec_id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->pkt_timebase = in->time_base;
    if (avcodec_parameters_to_context(c, in->codecpar) < 0 || avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

static AVCodecContext *open_make(const AVCodecContext *text, enum AVCodecID id)
{
    const AVCodec *codec = avcodec_find_encoder(id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->time_base = AV_TIME_BASE_Q;
    if (text->subtitle_header) {
        size_t n = (size_t)text->subtitle_header_size;
        c->subtitle_header = av_mallocz(n + 1);
        if (c->subtitle_header) {
            memcpy(c->subtitle_header, text->subtitle_header, n);
            c->subtitle_header_size = text->subtitle_header_size;
        }
    }
    if (avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

int tamis_priv_av_subtitles_open(tamis_av_track *track, const AVStream *in,
                                 const AVOutputFormat *container, AVCodecParameters *par)
{
    enum AVCodecID id = kind_of(container);
    if (id == AV_CODEC_ID_NONE || !is_plain_text(in->codecpar->codec_id))
        return 0;
    track->text = open_text(in);
    track->make = track->text ? open_make(track->text, id) : NULL;
    if (track->make && avcodec_parameters_from_context(par, track->make) >= 0)
        return 1;
    tamis_priv_av_subtitles_close(track);
    return 0;
}

int tamis_priv_av_subtitles_turn(tamis_av_track *track, AVPacket *packet)
{
    AVSubtitle text = {0};
    int got = 0, size = 0;
    uint8_t *bytes = av_malloc(MOST_BYTES);
    AVPacket *fresh = av_packet_alloc();
    if (bytes && fresh && avcodec_decode_subtitle2(track->text, &text, &got, packet) >= 0 && got) {
        text.pts = 0;
        text.end_display_time -= text.start_display_time;
        text.start_display_time = 0;
        size = avcodec_encode_subtitle(track->make, bytes, MOST_BYTES, &text);
    }
    if (size > 0 && av_new_packet(fresh, size) >= 0) {
        memcpy(fresh->data, bytes, (size_t)size);
        fresh->pts = fresh->dts = packet->pts;
        fresh->duration = packet->duration;
        fresh->stream_index = packet->stream_index;
        av_packet_unref(packet);
        av_packet_move_ref(packet, fresh);
    } else {
        size = 0;
    }
    if (got)
        avsubtitle_free(&text);
    av_packet_free(&fresh);
    av_free(bytes);
    return size > 0;
}

void tamis_priv_av_subtitles_close(tamis_av_track *track)
{
    avcodec_free_context(&track->text);
    avcodec_free_context(&track->make);
}
