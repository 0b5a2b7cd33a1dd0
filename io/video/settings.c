/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <libavutil/mastering_display_metadata.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pixels.h"
#include "side.h"

/* ---- times */

/* Frames a second, where no stream of FFmpeg's tells. */
static AVRational plain_rate(const tamis_video_writer *writer,
                             const tamis_video_write_options *options)
{
    double rate = options->rate;
    if (rate <= 0 && writer->source)
        rate = writer->source->info.rate;
    if (rate <= 0)
        rate = 25;
    AVRational whole = av_d2q(rate, 1000), ntsc = av_d2q(rate * 1.001, 1000);
    if (fabs(av_q2d(whole) - rate) > 1e-9 * rate && ntsc.den == 1)
        return (AVRational){ntsc.num * 1000, 1001};
    return av_d2q(rate, 1 << 20);
}

static int is_fixed(const AVOutputFormat *container, const AVCodec *codec)
{
    return (container->flags & AVFMT_NOTIMESTAMPS) || strcmp(container->name, "avi") == 0 ||
           strcmp(container->name, "mxf") == 0 || codec->id == AV_CODEC_ID_MPEG4 ||
           tamis_priv_av_fixed_rates(codec);
}

static void fill_times(const tamis_video_writer *writer, tamis_av_encode *e,
                       const AVOutputFormat *container, const tamis_video_write_options *options)
{
    const tamis_av_reader *r = tamis_priv_av_reader_of(writer->source);
    AVRational rate = r ? r->stream->avg_frame_rate : (AVRational){0, 1};
    if (rate.num <= 0 || rate.den <= 0)
        rate = r && r->stream->r_frame_rate.num > 0 ? r->stream->r_frame_rate
                                                    : plain_rate(writer, options);
    e->base = r ? r->stream->time_base : av_inv_q(rate);
    e->origin = r ? r->origin : 0;
    e->fixed_rate = is_fixed(container, e->codec->codec);
    e->codec->framerate = rate;
    e->codec->time_base = e->fixed_rate ? av_inv_q(rate) : e->base;
}

/* ---- color */

/* Without a tag, pictures are taken as people take them: by their height. */
static void guess_color(AVCodecContext *c)
{
    int is_hd = c->height >= 720;
    c->colorspace = is_hd ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

static void fill_color(const tamis_video_writer *writer, AVCodecContext *c)
{
    const tamis_av_reader *r = tamis_priv_av_reader_of(writer->source);
    const tamis_video_format *f = &writer->format;
    tamis_video_format as;
    tamis_priv_av_pixels_describe(c->pix_fmt, &as);
    int was_rgb = f->model == TAMIS_VIDEO_RGB, is_rgb = as.model == TAMIS_VIDEO_RGB;
    c->color_range = f->full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (r) {
        const AVFrame *like = r->like;
        if (like->color_range == AVCOL_RANGE_UNSPECIFIED && r->sight.full_range == f->full_range &&
            r->pixels != AV_PIX_FMT_YUVJ420P && r->pixels != AV_PIX_FMT_YUVJ422P &&
            r->pixels != AV_PIX_FMT_YUVJ444P)
            c->color_range = AVCOL_RANGE_UNSPECIFIED;
        c->color_primaries = like->color_primaries;
        c->color_trc = like->color_trc;
        c->colorspace = like->colorspace;
        c->chroma_sample_location = like->chroma_location;
    } else if (f->model == TAMIS_VIDEO_YUV && (f->sub_x || f->sub_y)) {
        c->chroma_sample_location = f->siting == TAMIS_VIDEO_SITING_LEFT     ? AVCHROMA_LOC_LEFT
                                    : f->siting == TAMIS_VIDEO_SITING_CENTER ? AVCHROMA_LOC_CENTER
                                    : f->siting == TAMIS_VIDEO_SITING_TOPLEFT
                                        ? AVCHROMA_LOC_TOPLEFT
                                        : AVCHROMA_LOC_UNSPECIFIED;
    }
    if (was_rgb && as.model == TAMIS_VIDEO_YUV) {
        c->color_range = AVCOL_RANGE_MPEG;
        guess_color(c);
    } else if (is_rgb) {
        c->colorspace = AVCOL_SPC_RGB;
        c->color_range = was_rgb ? c->color_range : AVCOL_RANGE_UNSPECIFIED;
    }
}

static void set_fields(AVCodecContext *c, int interlaced, int top_first)
{
    if (interlaced) {
        c->field_order = top_first ? AV_FIELD_TT : AV_FIELD_BB;
        c->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
    }
}

static void fill_shape(const tamis_video_writer *writer, AVCodecContext *c)
{
    const tamis_av_reader *r = tamis_priv_av_reader_of(writer->source);
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    if (r) {
        c->sample_aspect_ratio = tamis_priv_av_aspect(r->stream, r->like);
        c->field_order = AV_FIELD_PROGRESSIVE;
        set_fields(c, tamis_priv_av_interlaced(r->like), tamis_priv_av_top_first(r->like));
    } else if (info) {
        if (info->aspect_num > 0 && info->aspect_den > 0)
            c->sample_aspect_ratio = (AVRational){info->aspect_num, info->aspect_den};
        set_fields(c, info->interlaced, info->interlaced == 1);
    }
}

void tamis_priv_av_settings_fill(const tamis_video_writer *writer, tamis_av_encode *e,
                                 const AVOutputFormat *container,
                                 const tamis_video_write_options *options)
{
    AVCodecContext *c = e->codec;
    tamis_video_format as;
    tamis_priv_av_pixels_describe(c->pix_fmt, &as);
    c->width = writer->format.w;
    c->height = writer->format.h;
    if (as.bits <= 16)
        c->bits_per_raw_sample = as.bits;
    c->thread_count = options->threads;
    if (c->codec->id == AV_CODEC_ID_MJPEG) /* which is full range by its standard */
        c->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
    if (container->flags & AVFMT_GLOBALHEADER)
        c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (strcmp(container->name, "avi") == 0)
        c->max_b_frames = 0; /* AVI keeps no order of showing */
    fill_times(writer, e, container, options);
    fill_color(writer, c);
    fill_shape(writer, c);
}

/* ---- options */

/* An option of the encoder itself or of all encoders. */
static int has_option(const AVCodecContext *c, const char *name)
{
    return av_opt_find((void *)(uintptr_t)&c->av_class, name, NULL, 0, 0) ||
           (c->codec->priv_class && av_opt_find((void *)(uintptr_t)&c->codec->priv_class, name,
                                                NULL, 0, AV_OPT_SEARCH_FAKE_OBJ));
}

static void __attribute__((format(printf, 3, 4)))
append(char *text, size_t size, const char *format, ...)
{
    va_list args;
    size_t used = strlen(text);
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* HEVC's own copy of the screen the film was mastered on; in units of the standard. */
static void add_mastering(const tamis_av_reader *r, char *text, size_t size)
{
    size_t n;
    const AVFrameSideData *in_frame =
        av_frame_get_side_data(r->like, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    const uint8_t *side =
        tamis_priv_av_side_get(r->stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, &n);
    const AVMasteringDisplayMetadata *m = (const void *)(in_frame ? in_frame->data : side);
    if (!m || !m->has_primaries || !m->has_luminance)
        return;
    static const struct {
        const char *name;
        int i;
    } order[] = {{"G", 1}, {"B", 2}, {"R", 0}};
    append(text, size, ":master-display=");
    for (int k = 0; k < 3; k++)
        append(text, size, "%s(%.0f,%.0f)", order[k].name,
               av_q2d(m->display_primaries[order[k].i][0]) * 50000,
               av_q2d(m->display_primaries[order[k].i][1]) * 50000);
    append(text, size, "WP(%.0f,%.0f)L(%.0f,%.0f)", av_q2d(m->white_point[0]) * 50000,
           av_q2d(m->white_point[1]) * 50000, av_q2d(m->max_luminance) * 10000,
           av_q2d(m->min_luminance) * 10000);
}

static void add_light(const tamis_av_reader *r, char *text, size_t size)
{
    size_t n;
    const AVFrameSideData *in_frame =
        av_frame_get_side_data(r->like, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    const uint8_t *side = tamis_priv_av_side_get(r->stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &n);
    const AVContentLightMetadata *l = (const void *)(in_frame ? in_frame->data : side);
    if (l)
        append(text, size, ":max-cll=%u,%u", l->MaxCLL, l->MaxFALL);
}

static void add_x265(const tamis_video_writer *writer, const tamis_video_write_options *options,
                     AVDictionary **out)
{
    char text[400] = "log-level=none";
    const tamis_av_reader *r = tamis_priv_av_reader_of(writer->source);
    if (options->lossless)
        append(text, sizeof text, ":lossless=1");
    if (options->threads > 0)
        append(text, sizeof text, ":pools=%d", options->threads);
    if (r) {
        add_mastering(r, text, sizeof text);
        add_light(r, text, sizeof text);
    }
    av_dict_set(out, "x265-params", text, 0);
}

static void add_quality(tamis_av_encode *e, const tamis_av_encoder *known,
                        const tamis_video_write_options *options, AVDictionary **out)
{
    char value[32];
    AVCodecContext *c = e->codec;
    e->quality = tamis_priv_av_encoder_quality(known, options);
    snprintf(value, sizeof value, "%g", e->quality);
    if (known->scale == TAMIS_AV_SCALE_CRF)
        av_dict_set(out, "crf", value, 0);
    else if (known->scale == TAMIS_AV_SCALE_CQ)
        av_dict_set(out, "cq", value, 0);
    else if (known->scale == TAMIS_AV_SCALE_QSCALE) {
        c->flags |= AV_CODEC_FLAG_QSCALE;
        c->global_quality = (int)(e->quality * FF_QP2LAMBDA + 0.5);
    }
}

static int add_preset(tamis_av_encode *e, const tamis_video_write_options *options,
                      AVDictionary **out)
{
    static const char *const names[] = {"preset", "cpu-used"};
    for (int i = 0; options->preset && i < 2; i++)
        if (has_option(e->codec, names[i]))
            return av_dict_set(out, names[i], options->preset, 0);
    if (!options->preset)
        return 0;
    av_log(e->codec, AV_LOG_ERROR, "it has no presets");
    return AVERROR(EINVAL);
}

int tamis_priv_av_settings_options(const tamis_video_writer *writer, tamis_av_encode *e,
                                   const AVOutputFormat *container,
                                   const tamis_video_write_options *options, AVDictionary **out)
{
    tamis_av_encoder known = tamis_priv_av_encoder_find(e->codec->codec);
    (void)container;
    if (known.always)
        av_dict_parse_string(out, known.always, "=", ":", 0);
    if (strcmp(known.name, "libx265") == 0)
        add_x265(writer, options, out);
    if (options->lossless && known.lossless && *known.lossless)
        av_dict_parse_string(out, known.lossless, "=", ":", 0);
    if (!options->lossless)
        add_quality(e, &known, options, out);
    return add_preset(e, options, out);
}

void tamis_priv_av_settings_describe(tamis_av_encode *e, const tamis_video_write_options *options)
{
    const AVCodec *codec = e->codec->codec;
    tamis_av_encoder known = tamis_priv_av_encoder_find(codec);
    static const char *const scales[] = {"", " crf", " cq", " q"};
    snprintf(e->detail, sizeof e->detail, "%s %s", codec->name,
             av_get_pix_fmt_name(e->codec->pix_fmt));
    if (options->lossless || (known.scale == TAMIS_AV_SCALE_NONE && known.lossless))
        append(e->detail, sizeof e->detail, " lossless");
    else if (known.scale != TAMIS_AV_SCALE_NONE)
        append(e->detail, sizeof e->detail, "%s %g", scales[known.scale], e->quality);
    if (options->preset)
        append(e->detail, sizeof e->detail, " preset %.32s", options->preset);
}
