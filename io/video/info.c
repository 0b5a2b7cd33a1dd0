/* SPDX-License-Identifier: Apache-2.0 */
/* What a video says about itself, and about what is missing in it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pixels.h"
#include "reader.h"
#include "side.h"

int tamis_priv_av_format_of(const AVFrame *frame, tamis_video_format *out)
{
    if (!tamis_priv_av_pixels_describe(frame->format, out))
        return 0;
    out->w = frame->width;
    out->h = frame->height;
    if (frame->color_range == AVCOL_RANGE_JPEG)
        out->full_range = 1;
    else if (frame->color_range == AVCOL_RANGE_MPEG)
        out->full_range = 0;
    out->siting = frame->chroma_location == AVCHROMA_LOC_LEFT      ? TAMIS_VIDEO_SITING_LEFT
                  : frame->chroma_location == AVCHROMA_LOC_CENTER  ? TAMIS_VIDEO_SITING_CENTER
                  : frame->chroma_location == AVCHROMA_LOC_TOPLEFT ? TAMIS_VIDEO_SITING_TOPLEFT
                                                                   : TAMIS_VIDEO_SITING_UNKNOWN;
    return 1;
}

/* The first name of a list such as "matroska,webm". */
static void copy_name(char *out, size_t size, const char *list)
{
    snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
}

static void name_container(tamis_video_info *info, const AVFormatContext *format)
{
    const AVDictionaryEntry *brand = av_dict_get(format->metadata, "major_brand", NULL, 0);
    copy_name(info->container, sizeof info->container, format->iformat->name);
    if (strcmp(info->container, "mov") == 0 && brand && strcmp(brand->value, "qt  ") != 0)
        snprintf(info->container, sizeof info->container, "mp4");
}

static const char *known(const char *name)
{
    return name ? name : "unknown";
}

static void name_color(tamis_video_info *info, const AVFrame *f)
{
    if (f->colorspace == AVCOL_SPC_UNSPECIFIED && f->color_trc == AVCOL_TRC_UNSPECIFIED &&
        f->color_primaries == AVCOL_PRI_UNSPECIFIED)
        return;
    snprintf(info->color, sizeof info->color, "%s %s %s", known(av_color_space_name(f->colorspace)),
             known(av_color_transfer_name(f->color_trc)),
             known(av_color_primaries_name(f->color_primaries)));
}

static void count_tracks(tamis_video_info *info, const tamis_av_reader *r)
{
    for (unsigned i = 0; i < r->format->nb_streams; i++) {
        const AVStream *s = r->format->streams[i];
        enum AVMediaType type = s->codecpar->codec_type;
        if (s == r->stream)
            continue;
        if (type == AVMEDIA_TYPE_AUDIO)
            info->audio++;
        else if (type == AVMEDIA_TYPE_SUBTITLE)
            info->subtitles++;
        else if (type == AVMEDIA_TYPE_ATTACHMENT || (s->disposition & AV_DISPOSITION_ATTACHED_PIC))
            info->attachments++;
        else
            info->other++;
    }
    info->chapters = (int)r->format->nb_chapters;
}

/* Seconds that the container promises; 0 = nothing. */
static double length_of(const tamis_av_reader *r)
{
    if (r->stream->duration > 0)
        return (double)r->stream->duration * av_q2d(r->stream->time_base);
    return r->format->duration > 0 ? (double)r->format->duration / AV_TIME_BASE : 0;
}

static void count_frames(tamis_video_info *info, const tamis_av_reader *r,
                         const tamis_video_read_options *options)
{
    double all = length_of(r), from = options->start, to = all;
    if (options->end > 0 && (to <= 0 || options->end < to))
        to = options->end;
    int cut = from > 0 || (options->end > 0 && options->end < all);
    info->duration = to > from ? to - from : 0;
    double about = floor(info->duration * info->rate + 0.5);
    if (r->stream->nb_frames > 0 && !cut)
        info->frames = r->stream->nb_frames;
    else /* what nobody can believe is not known */
        info->frames = about < 1e15 ? (int64_t)about : 0;
    if (info->frames > 0 && options->first > 0)
        info->frames = info->frames > options->first ? info->frames - options->first : 0;
    if (options->count > 0 && (info->frames == 0 || info->frames > options->count))
        info->frames = options->count;
    if ((options->first > 0 || options->count > 0) && info->rate > 0)
        info->duration = (double)info->frames / info->rate;
}

static int turn_of(const AVStream *stream)
{
    double turn = tamis_priv_av_side_turn(stream);
    return (((int)floor(turn / 90 + 0.5) * 90) % 360 + 360) % 360;
}

static void describe_detail(tamis_video_info *info, const tamis_av_reader *r)
{
    const char *profile =
        avcodec_profile_name(r->stream->codecpar->codec_id, r->stream->codecpar->profile);
    snprintf(info->detail, sizeof info->detail, "%s%s", profile ? "profile " : "",
             profile ? profile : "");
}

static void fill_aspect(tamis_video_info *info, const tamis_av_reader *r)
{
    AVRational aspect = tamis_priv_av_aspect(r->stream, r->like);
    if (aspect.num > 0 && aspect.den > 0) {
        info->aspect_num = aspect.num;
        info->aspect_den = aspect.den;
    }
}

/* Where frames are equally far apart, their average rate is the one that all times are multiples
 * of, or half of it where fields have times. */
static int is_variable(const tamis_av_reader *r, const tamis_video_info *info)
{
    AVRational finest = r->stream->r_frame_rate;
    if (info->rate <= 0 || finest.num <= 0 || finest.den <= 0)
        return 0;
    double ratio = av_q2d(finest) / info->rate;
    return fabs(ratio - 1) > 0.02 && !(info->interlaced && fabs(ratio - 2) < 0.04);
}

void tamis_priv_av_info_fill(tamis_video_reader *reader, const tamis_video_read_options *options)
{
    tamis_av_reader *r = reader->state;
    tamis_video_info *info = &reader->info;
    AVRational rate = r->stream->avg_frame_rate;
    if (rate.num <= 0 || rate.den <= 0)
        rate = r->stream->r_frame_rate;
    info->format = r->sight;
    name_container(info, r->format);
    snprintf(info->codec, sizeof info->codec, "%s",
             avcodec_get_name(r->stream->codecpar->codec_id));
    snprintf(info->pixels, sizeof info->pixels, "%s", known(av_get_pix_fmt_name(r->pixels)));
    if (rate.num > 0 && rate.den > 0) {
        info->rate = av_q2d(rate);
        info->rate_num = rate.num;
        info->rate_den = rate.den;
    }
    if (tamis_priv_av_interlaced(r->like))
        info->interlaced = tamis_priv_av_top_first(r->like) ? 1 : 2;
    info->variable_rate = is_variable(r, info);
    fill_aspect(info, r);
    info->turned = turn_of(r->stream);
    name_color(info, r->like);
    count_tracks(info, r);
    count_frames(info, r, options);
    describe_detail(info, r);
}

/* ---- damage */

static void __attribute__((format(printf, 2, 3))) say(tamis_av_reader *r, const char *format, ...)
{
    va_list args;
    size_t used = strlen(r->damage);
    if (used && used + 2 < sizeof r->damage)
        used += (size_t)snprintf(r->damage + used, sizeof r->damage - used, "; ");
    va_start(args, format);
    vsnprintf(r->damage + used, sizeof r->damage - used, format, args);
    va_end(args);
}

static void say_count(tamis_av_reader *r, int64_t n, const char *what)
{
    if (n > 0)
        say(r, "%lld frame%s %s", (long long)n, n == 1 ? "" : "s", what);
}

const char *tamis_priv_av_damage(const tamis_video_reader *reader)
{
    tamis_av_reader *r = reader->state;
    char said[160], text[AV_ERROR_MAX_STRING_SIZE] = "";
    if (r->device.again)
        return tamis_video_reader_damage(r->device.again);
    r->damage[0] = '\0';
    say_count(r, r->lost, "could not be decoded");
    say_count(r, r->damaged, "came out damaged");
    if (r->lost + r->damaged == 0 && tamis_priv_av_note_read(&r->decoder, said, sizeof said) > 0)
        say(r, "the decoder found errors (%s)", said);
    if (tamis_priv_av_note_read(&r->demuxer, said, sizeof said) > 0)
        say(r, "the file is damaged (%s)", said);
    else if (r->broken && av_strerror(r->broken, text, sizeof text) == 0)
        say(r, "the file is damaged (%s)", text);
    if (r->bytes.error)
        say(r, "reading failed (%s)", strerror(r->bytes.error));
    return r->damage;
}
