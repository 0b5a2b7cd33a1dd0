/* SPDX-License-Identifier: Apache-2.0 */
/* What muxers leave out without a word: titles, languages, tags of color, HDR data, rotation. */
#include <string.h>

#include "mux.h"
#include "side.h"

int tamis_priv_av_is_one_of(const AVOutputFormat *container, const char *names)
{
    size_t n = strlen(container->name);
    for (const char *p = names; *p;) {
        size_t word = strcspn(p, " ");
        if (word == n && memcmp(p, container->name, n) == 0)
            return 1;
        p += word + (p[word] == ' ');
    }
    return 0;
}

static void lose(tamis_av_mux *m, const char *what)
{
    av_bprintf(&m->dropped, "%s%s", m->dropped.len ? "\n" : "", what);
}

/* ---- texts */

static int has_tag(const AVDictionary *tags, const char *key)
{
    const AVDictionaryEntry *tag = av_dict_get(tags, key, NULL, 0);
    return tag && *tag->value && strcmp(tag->value, "und") != 0; /* undetermined */
}

/* Whether a track that is kept has such a tag; pictures' own are of no use to anyone. */
static int tracks_have(const tamis_av_mux *m, const char *key, int with_sound)
{
    const AVFormatContext *in = m->source->format;
    for (unsigned i = 0; i < in->nb_streams; i++) {
        const AVStream *s = in->streams[i];
        int is_sound = s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO ||
                       s->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
        if ((s == m->source->stream || (m->tracks[i].out && (with_sound || !is_sound))) &&
            has_tag(s->metadata, key))
            return 1;
    }
    return 0;
}

static void name_texts(tamis_av_mux *m)
{
    const AVOutputFormat *container = m->format->oformat;
    /* Transport streams tell the languages of sound and subtitles alone. */
    int is_transport = tamis_priv_av_is_one_of(container, "mpegts");
    if (has_tag(m->source->format->metadata, "title") &&
        !tamis_priv_av_is_one_of(container, MOV_KIND " matroska webm avi flv nut asf"))
        lose(m, "the title");
    if (tracks_have(m, "title", 1) &&
        !tamis_priv_av_is_one_of(container, MOV_KIND " matroska webm avi nut ogg ogv"))
        lose(m, "titles of tracks");
    if (tracks_have(m, "language", !is_transport) &&
        !tamis_priv_av_is_one_of(container, MOV_KIND " matroska webm nut asf ogg ogv"))
        lose(m, is_transport ? "the video track's language" : "languages of tracks");
}

/* ---- what is about the pictures */

static int tells_color(enum AVCodecID codec)
{
    return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_AV1 ||
           codec == AV_CODEC_ID_MPEG2VIDEO;
}

static void name_color(tamis_av_mux *m, const AVCodecContext *encoder)
{
    const AVFrame *like = m->source->like;
    int is_told = like->color_primaries != AVCOL_PRI_UNSPECIFIED ||
                  like->color_trc != AVCOL_TRC_UNSPECIFIED ||
                  (like->colorspace != AVCOL_SPC_UNSPECIFIED && like->colorspace != AVCOL_SPC_RGB);
    if (is_told && !tells_color(encoder->codec_id) &&
        !tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND " matroska webm"))
        lose(m, "tags of color");
}

static void name_hdr(tamis_av_mux *m)
{
    static const enum AVPacketSideDataType kinds[] = {AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
                                                      AV_PKT_DATA_CONTENT_LIGHT_LEVEL};
    size_t size;
    int is_held = tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND " matroska webm");
    for (int i = 0; i < 2 && !is_held; i++)
        if (tamis_priv_av_side_get(m->video, kinds[i], &size)) {
            lose(m, "HDR data");
            return;
        }
}

/* Players turn frames that carry such a matrix. */
static void name_rotation(tamis_av_mux *m)
{
    double turn = tamis_priv_av_side_turn(m->video);
    /* Matroska of FFmpeg 7 and later has a place for it. */
    int is_kept = tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND) ||
                  (tamis_priv_av_is_one_of(m->format->oformat, "matroska webm") &&
                   AV_VERSION_MAJOR(avformat_version()) >= 61);
    if (turn != 0 && !is_kept)
        av_bprintf(&m->dropped, "%srotation by %g degrees", m->dropped.len ? "\n" : "", turn);
}

void tamis_priv_av_losses_name(tamis_av_mux *m, const AVCodecContext *encoder, int strip)
{
    name_rotation(m);
    if (!m->source)
        return;
    name_color(m, encoder);
    name_hdr(m);
    if (!strip)
        name_texts(m);
}
