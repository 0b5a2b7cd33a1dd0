/* SPDX-License-Identifier: Apache-2.0 */
/* Which tracks of the input an output gets, and what is said of them. */
#include <string.h>

#include "mux.h"
#include "side.h"

/* ---- what tags say */

/* Facts about the old coding, and what muxers write by themselves. */
static int is_stale(const char *key)
{
    static const char *const always[] = {"encoder",
                                         "major_brand",
                                         "minor_version",
                                         "compatible_brands",
                                         "DURATION",
                                         "vendor_id",
                                         "_STATISTICS_TAGS",
                                         "BPS",
                                         "NUMBER_OF_BYTES",
                                         "NUMBER_OF_FRAMES",
                                         "SOURCE_ID",
                                         "alpha_mode",
                                         "variant_bitrate",
                                         "_STATISTICS_WRITING_APP",
                                         "_STATISTICS_WRITING_DATE_UTC"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        size_t n = strlen(always[i]);
        /* Matroska adds languages, such as BPS-eng. */
        if (av_strncasecmp(key, always[i], n) == 0 && (key[n] == '\0' || key[n] == '-'))
            return 1;
    }
    return 0;
}

static void copy_tags(AVDictionary **to, const AVDictionary *from)
{
    const AVDictionaryEntry *tag = NULL;
    while ((tag = av_dict_get(from, "", tag, AV_DICT_IGNORE_SUFFIX)))
        if (!is_stale(tag->key))
            av_dict_set(to, tag->key, tag->value, 0);
}

/* ---- what a container holds */

/* A track of the same kind for a trial. */
static int add_alike(AVFormatContext *trial, const AVStream *like, const AVCodecParameters *par)
{
    AVStream *out = avformat_new_stream(trial, NULL);
    if (!out || avcodec_parameters_copy(out->codecpar, par) < 0)
        return 0;
    out->time_base = like->time_base;
    out->disposition = like->disposition;
    out->avg_frame_rate = like->avg_frame_rate;
    return av_dict_copy(&out->metadata, like->metadata, 0) >= 0;
}

/* Whether a header can be written with the tracks so far and this one; the muxer itself knows
 * best. */
static int takes(const AVFormatContext *so_far, const AVStream *track, const AVCodecParameters *par)
{
    tamis_av_bytes bytes;
    tamis_av_note note;
    AVFormatContext *trial = NULL;
    int ok = 0;
    tamis_priv_av_note_open(&note);
    if (tamis_priv_av_bytes_null(&bytes) == 0 &&
        avformat_alloc_output_context2(&trial, so_far->oformat, NULL, NULL) >= 0) {
        tamis_priv_av_note_format(&note, trial);
        trial->pb = bytes.io;
        trial->flags |= AVFMT_FLAG_CUSTOM_IO;
        ok = 1;
        for (unsigned i = 0; i < so_far->nb_streams; i++)
            ok = ok && add_alike(trial, so_far->streams[i], so_far->streams[i]->codecpar);
        ok = ok && add_alike(trial, track, par) && avformat_write_header(trial, NULL) >= 0;
    }
    avformat_free_context(trial);
    tamis_priv_av_bytes_close(&bytes);
    tamis_priv_av_note_close(&note);
    return ok;
}

/* The tag that the container itself chooses, unless its own fits. */
static void fit_tag(const AVOutputFormat *container, AVCodecParameters *par)
{
    unsigned tag = par->codec_tag;
    if (container->codec_tag && av_codec_get_id(container->codec_tag, tag) != par->codec_id)
        par->codec_tag = 0;
}

/* Transport streams carry anything, but nobody knows what it is. */
static int is_known_in_transport(enum AVCodecID id)
{
    static const enum AVCodecID known[] = {AV_CODEC_ID_MPEG1VIDEO,   AV_CODEC_ID_MPEG2VIDEO,
                                           AV_CODEC_ID_MPEG4,        AV_CODEC_ID_H264,
                                           AV_CODEC_ID_HEVC,         AV_CODEC_ID_MP2,
                                           AV_CODEC_ID_MP3,          AV_CODEC_ID_AAC,
                                           AV_CODEC_ID_AAC_LATM,     AV_CODEC_ID_AC3,
                                           AV_CODEC_ID_EAC3,         AV_CODEC_ID_DTS,
                                           AV_CODEC_ID_TRUEHD,       AV_CODEC_ID_OPUS,
                                           AV_CODEC_ID_S302M,        AV_CODEC_ID_DVB_SUBTITLE,
                                           AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_TIMED_ID3,
                                           AV_CODEC_ID_SMPTE_KLV,    AV_CODEC_ID_HDMV_PGS_SUBTITLE};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == id)
            return 1;
    return 0;
}

static int is_held(const AVFormatContext *so_far, const AVStream *track,
                   const AVCodecParameters *par)
{
    const AVOutputFormat *container = so_far->oformat;
    if (tamis_priv_av_is_one_of(container, "mpegts") && !is_known_in_transport(par->codec_id))
        return 0;
    if ((track->disposition & AV_DISPOSITION_ATTACHED_PIC) &&
        !tamis_priv_av_is_one_of(container, MOV_KIND))
        return 0;
    if (par->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return tamis_priv_av_is_one_of(container, "matroska") && takes(so_far, track, par);
    return avformat_query_codec(container, par->codec_id, FF_COMPLIANCE_NORMAL) != 0 &&
           takes(so_far, track, par);
}

/* ---- naming */

void tamis_priv_av_tracks_name(AVBPrint *text, const AVFormatContext *format, const AVStream *in)
{
    static const char *const kinds[] = {"video track", "audio track", "data track",
                                        "subtitle track", "attachment"};
    enum AVMediaType type = in->codecpar->codec_type;
    int is_picture = (in->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0, number = 0;
    for (int i = 0; i <= in->index; i++) {
        const AVStream *s = format->streams[i];
        number += s->codecpar->codec_type == type &&
                  ((s->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) == is_picture;
    }
    const AVDictionaryEntry *language = av_dict_get(in->metadata, "language", NULL, 0);
    const AVDictionaryEntry *name = av_dict_get(in->metadata, "filename", NULL, 0);
    av_bprintf(text, "%s%s %d (%s%s%s)", text->len ? "\n" : "",
               is_picture                                                ? "picture"
               : type >= 0 && type < (int)(sizeof kinds / sizeof *kinds) ? kinds[type]
                                                                         : "track",
               number, name ? name->value : avcodec_get_name(in->codecpar->codec_id),
               language && !name ? ", " : "", language && !name ? language->value : "");
}

static void drop(tamis_av_mux *m, const AVStream *in)
{
    tamis_priv_av_tracks_name(&m->dropped, m->source->format, in);
}

static void drop_text(tamis_av_mux *m, const char *text)
{
    av_bprintf(&m->dropped, "%s%s", m->dropped.len ? "\n" : "", text);
}

/* ---- tracks */

/* Tracks that muxers make anew of other things: titles of chapters, timecodes. */
static int is_remade(const tamis_av_mux *m, const AVStream *in)
{
    if (in->codecpar->codec_type != AVMEDIA_TYPE_DATA ||
        strncmp(m->source->format->iformat->name, "mov", 3) != 0)
        return 0;
    unsigned tag = in->codecpar->codec_tag;
    if (tag == MKTAG('t', 'e', 'x', 't') && m->source->format->nb_chapters > 0)
        return 1;
    return tag == MKTAG('t', 'm', 'c', 'd') &&
           tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND);
}

/* In Matroska, pictures of the whole file are attachments. */
static int attach_picture(tamis_av_mux *m, const AVStream *in)
{
    const AVPacket *picture = &in->attached_pic;
    int is_png = in->codecpar->codec_id == AV_CODEC_ID_PNG;
    int is_known = is_png || in->codecpar->codec_id == AV_CODEC_ID_MJPEG ||
                   av_dict_get(in->metadata, "mimetype", NULL, 0);
    if (picture->size <= 0 || !is_known) {
        drop(m, in);
        return 1;
    }
    AVStream *out = avformat_new_stream(m->format, NULL);
    uint8_t *bytes = av_mallocz((size_t)picture->size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!out || !bytes) {
        av_free(bytes);
        return 0;
    }
    memcpy(bytes, picture->data, (size_t)picture->size);
    out->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    out->codecpar->codec_id = in->codecpar->codec_id;
    out->codecpar->extradata = bytes;
    out->codecpar->extradata_size = picture->size;
    copy_tags(&out->metadata, in->metadata);
    av_dict_set(&out->metadata, "mimetype", is_png ? "image/png" : "image/jpeg",
                AV_DICT_DONT_OVERWRITE);
    av_dict_set(&out->metadata, "filename", is_png ? "cover.png" : "cover.jpg",
                AV_DICT_DONT_OVERWRITE);
    return 1;
}

/* Returns 0 when there is no memory. */
static int add_track(tamis_av_mux *m, const AVStream *in)
{
    const AVOutputFormat *container = m->format->oformat;
    tamis_av_track *track = &m->tracks[in->index];
    if (is_remade(m, in))
        return 1;
    if ((in->disposition & AV_DISPOSITION_ATTACHED_PIC) &&
        tamis_priv_av_is_one_of(container, "matroska"))
        return attach_picture(m, in);
    AVCodecParameters *par = avcodec_parameters_alloc();
    int ok = par && avcodec_parameters_copy(par, in->codecpar) >= 0;
    if (ok)
        fit_tag(container, par);
    if (ok && !is_held(m->format, in, par) &&
        !(tamis_priv_av_subtitles_open(track, in, container, par) && is_held(m->format, in, par))) {
        tamis_priv_av_subtitles_close(track);
        avcodec_parameters_free(&par);
        drop(m, in);
        return 1;
    }
    AVStream *out = ok ? avformat_new_stream(m->format, NULL) : NULL;
    ok =
        out && avcodec_parameters_copy(out->codecpar, par) >= 0 && tamis_priv_av_side_copy(out, in);
    avcodec_parameters_free(&par);
    if (!ok)
        return 0;
    out->time_base = in->time_base;
    out->disposition = in->disposition;
    out->avg_frame_rate = in->avg_frame_rate;
    out->sample_aspect_ratio = in->sample_aspect_ratio;
    copy_tags(&out->metadata, in->metadata);
    track->out = out;
    return 1;
}

/* Returns 0 when there is no memory. */
static int add_video(tamis_video_writer *writer, tamis_av_mux *m, AVCodecContext *encoder,
                     const AVStream *in, int strip)
{
    AVStream *out = m->video = avformat_new_stream(m->format, NULL);
    if (!out || avcodec_parameters_from_context(out->codecpar, encoder) < 0)
        return 0;
    out->time_base = encoder->time_base;
    out->sample_aspect_ratio = encoder->sample_aspect_ratio;
    if (encoder->codec_id == AV_CODEC_ID_HEVC &&
        tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND))
        out->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1'); /* what Apple's players want */
    if (writer->format.alpha &&
        (encoder->codec_id == AV_CODEC_ID_VP9 || encoder->codec_id == AV_CODEC_ID_VP8))
        av_dict_set(&out->metadata, "alpha_mode", "1", 0);
    if (!in) {
        out->avg_frame_rate = encoder->framerate;
        return 1;
    }
    if (av_cmp_q(in->avg_frame_rate, in->r_frame_rate) == 0)
        out->avg_frame_rate = in->avg_frame_rate;
    out->disposition = in->disposition;
    if (!strip)
        copy_tags(&out->metadata, in->metadata);
    return tamis_priv_av_side_keep(out, in, m->source->like, strip);
}

/* ---- chapters */

static int add_chapter(tamis_av_mux *m, const AVChapter *in, int64_t origin, int64_t end)
{
    AVRational base = in->time_base, video = m->source->stream->time_base;
    int64_t shift = tamis_priv_av_rescale(origin, video, base);
    int64_t from = tamis_priv_av_clip(in->start) - shift, to = tamis_priv_av_clip(in->end) - shift;
    int64_t last = end == INT64_MAX ? INT64_MAX : tamis_priv_av_rescale(end - origin, video, base);
    if (to <= 0 || from >= last)
        return 1;
    AVFormatContext *f = m->format;
    AVChapter **list = av_realloc_array(f->chapters, f->nb_chapters + 1, sizeof *f->chapters);
    AVChapter *chapter = av_mallocz(sizeof *chapter);
    if (list)
        f->chapters = list;
    if (!list || !chapter) {
        av_free(chapter);
        return 0;
    }
    chapter->id = in->id;
    chapter->time_base = base;
    chapter->start = from > 0 ? from : 0;
    chapter->end = to < last ? to : last;
    av_dict_copy(&chapter->metadata, in->metadata, 0);
    f->chapters[f->nb_chapters++] = chapter;
    return 1;
}

static int add_chapters(tamis_av_mux *m)
{
    const AVFormatContext *in = m->source->format;
    if (in->nb_chapters == 0)
        return 1;
    if (!tamis_priv_av_is_one_of(m->format->oformat, MOV_KIND " matroska webm ogg nut asf")) {
        av_bprintf(&m->dropped, "%s%u chapter%s", m->dropped.len ? "\n" : "", in->nb_chapters,
                   in->nb_chapters == 1 ? "" : "s");
        return 1;
    }
    const tamis_av_reader *r = m->source;
    int64_t end = r->end;
    if (r->count > 0 && r->count < TAMIS_AV_TIME_MOST / r->step)
        end = r->origin + r->count * r->step; /* where frames are all as long */
    int ok = 1;
    for (unsigned i = 0; i < in->nb_chapters; i++)
        ok = ok && add_chapter(m, in->chapters[i], r->origin, end < r->end ? end : r->end);
    return ok;
}

tamis_status tamis_priv_av_tracks_add(tamis_video_writer *writer, tamis_av_mux *m,
                                      AVCodecContext *encoder, int strip)
{
    const AVFormatContext *in = m->source ? m->source->format : NULL;
    int ok = 1;
    for (unsigned i = 0; in && i < in->nb_streams; i++) {
        const AVStream *s = in->streams[i];
        m->tracks[i].last = AV_NOPTS_VALUE;
        if (s == m->source->stream)
            ok = ok && add_video(writer, m, encoder, s, strip);
        else if (!strip)
            ok = ok && add_track(m, s);
    }
    if (!in)
        ok = add_video(writer, m, encoder, NULL, strip);
    if (ok && in && !strip) {
        copy_tags(&m->format->metadata, in->metadata);
        ok = add_chapters(m);
    }
    if (ok)
        tamis_priv_av_losses_name(m, encoder, strip);
    if (ok && m->source && m->source->tap.gave_up && !strip)
        drop_text(m, "all other tracks, which were read before the output was opened");
    return ok ? TAMIS_OK
              : tamis_ctx_fail(writer->ctx, TAMIS_ERR_MEMORY, "%s: no memory", writer->name);
}
