/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing and opening an encoder. */
#include "encode.h"

#include <libswscale/swscale.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pixels.h"
#include "settings.h"

typedef struct request {
    tamis_video_writer *writer;
    tamis_av_encode *e;
    const AVOutputFormat *container;
    const tamis_video_write_options *options;
    enum AVPixelFormat wanted; /* NONE = as the frames are */
    tamis_video_format as;     /* what the encoder is to hold */
} request;

static tamis_status no_memory(const tamis_video_writer *writer)
{
    return tamis_ctx_fail(writer->ctx, TAMIS_ERR_MEMORY, "%s: no memory", writer->name);
}

/* ---- what is asked for */

static tamis_status check_pixels(request *q)
{
    const tamis_video_writer *writer = q->writer;
    q->wanted = AV_PIX_FMT_NONE;
    q->as = writer->format;
    if (q->options->pixels) {
        q->wanted = av_get_pix_fmt(q->options->pixels);
        if (q->wanted == AV_PIX_FMT_NONE)
            return tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT,
                                  "%s: pixels = %.32s is no pixel format (such are yuv420p, "
                                  "yuv422p10, yuv444p16, gray, gbrp)",
                                  writer->name, q->options->pixels);
        if (!sws_isSupportedOutput(q->wanted) || !tamis_priv_av_pixels_describe(q->wanted, &q->as))
            return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                                  "%s: nothing converts frames to pixels = %.32s", writer->name,
                                  q->options->pixels);
    }
    if (tamis_priv_av_pixels_planar(&writer->format) == AV_PIX_FMT_NONE)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: video files do not hold samples of %d bits in this layout",
                              writer->name, writer->format.bits);
    return TAMIS_OK;
}

/* Wishes that contradict each other, whatever the codec. */
static tamis_status check_wishes(const request *q)
{
    const tamis_video_write_options *o = q->options;
    if ((o->quality > 0) + (o->percent != 0) + (o->lossless != 0) > 1)
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: quality = %g, percent = %d, lossless = %d: only one can be had",
                              q->writer->name, o->quality, o->percent, o->lossless);
    if (o->percent < 0 || o->percent > 100)
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: percent = %d is outside 1 .. 100", q->writer->name, o->percent);
    return TAMIS_OK;
}

static tamis_status check_quality(const request *q, const AVCodec *codec)
{
    tamis_av_encoder known = tamis_priv_av_encoder_find(codec);
    const tamis_video_write_options *o = q->options;
    int can_be_lossless = tamis_priv_av_encoder_lossless(codec);
    double wish = o->percent ? o->percent : o->quality;
    if (o->lossless && !can_be_lossless)
        return tamis_ctx_fail(
            q->writer->ctx, TAMIS_ERR_UNSUPPORTED,
            "%s: %s cannot be lossless; ffv1, libx264, libx265 and libvpx-vp9 can", q->writer->name,
            codec->name);
    /* What always is lossless is as good as any percentage. */
    if (known.scale == TAMIS_AV_SCALE_NONE && wish > 0 && !(o->percent && can_be_lossless))
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: quality = %g, but %s has no scale of quality", q->writer->name,
                              wish, codec->name);
    if (known.scale != TAMIS_AV_SCALE_NONE && o->quality > known.worst)
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: quality = %g is outside 0 .. %g of %s", q->writer->name,
                              o->quality, known.worst, codec->name);
    return TAMIS_OK;
}

/* ---- trying one */

/* 1 when the container holds that codec, 0 when not; with less strictness, what it holds in a way
 * that not all players know. */
static int is_held(const AVOutputFormat *container, const AVCodec *codec, int strictness)
{
    int answer = avformat_query_codec(container, codec->id, strictness);
    /* Its muxer lists codecs that it refuses when it is to write them. */
    if (strcmp(container->name, "mov") == 0 &&
        (codec->id == AV_CODEC_ID_VP9 || codec->id == AV_CODEC_ID_AV1))
        return 0;
    if (answer >= 0)
        return answer;
    return !container->codec_tag || av_codec_get_tag(container->codec_tag, codec->id) != 0 ||
           container->video_codec == codec->id;
}

/* The encoder's pixels for what is asked for; NONE when there are none. VP8 and VP9 have alpha
 * beside their packets, where Matroska alone has a place. */
static enum AVPixelFormat pixels_for(const request *q, const AVCodec *codec)
{
    int is_beside = codec->id == AV_CODEC_ID_VP8 || codec->id == AV_CODEC_ID_VP9;
    int has_place =
        strcmp(q->container->name, "matroska") == 0 || strcmp(q->container->name, "webm") == 0;
    if (q->as.alpha && is_beside && !has_place)
        return AV_PIX_FMT_NONE;
    return tamis_priv_av_encoder_pixels_for(codec, &q->as, q->wanted);
}

/* Opens the encoder; returns 0, or FFmpeg's error with what it said in the note. */
static int open_codec(const request *q, const AVCodec *codec, enum AVPixelFormat pixels)
{
    tamis_av_encode *e = q->e;
    AVDictionary *settings = NULL;
    tamis_priv_av_note_clear(&e->note);
    avcodec_free_context(&e->codec);
    e->codec = avcodec_alloc_context3(codec);
    if (!e->codec)
        return AVERROR(ENOMEM);
    tamis_priv_av_note_codec(&e->note, e->codec);
    e->codec->pix_fmt = pixels;
    tamis_priv_av_settings_fill(q->writer, e, q->container, q->options);
    int error = tamis_priv_av_settings_options(q->writer, e, q->container, q->options, &settings);
    if (error >= 0)
        error = avcodec_open2(e->codec, codec, &settings);
    av_dict_free(&settings);
    return error < 0 ? error : 0;
}

static int is_odd(const request *q)
{
    return q->as.w % (1 << q->as.sub_x) || q->as.h % (1 << q->as.sub_y);
}

static int is_able(const request *q, const char *name, int anywhere)
{
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    int wants_even = strcmp(name, "libx264") == 0 || strcmp(name, "libx265") == 0;
    if (!codec || (is_odd(q) && wants_even))
        return 0;
    if (anywhere)
        return tamis_priv_av_encoder_pixels_for(codec, &q->as, q->wanted) != AV_PIX_FMT_NONE;
    return is_held(q->container, codec, FF_COMPLIANCE_NORMAL) &&
           pixels_for(q, codec) != AV_PIX_FMT_NONE;
}

/* What would take the frames as they are, for messages: codecs of this container, else of
 * Matroska. */
static const char *advise(const request *q, char *buf, size_t size)
{
    static const char *const names[] = {"libx264", "libx265", "libvpx-vp9", "ffv1"};
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        int found = 0;
        snprintf(buf, size, "take another codec (%s", anywhere ? "in mkv: " : "");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t used = strlen(buf);
            if (is_able(q, names[i], anywhere))
                snprintf(buf + used, size - used, "%s%s", found++ ? ", " : "", names[i]);
        }
        size_t used = strlen(buf);
        snprintf(buf + used, size - used, ") or other pixels");
        if (found)
            return buf;
    }
    snprintf(buf, size, "take other pixels");
    return buf;
}

/* SVT-AV1 does not come back from closing an encoder that has seen no frame. */
static int can_try(const AVCodec *codec)
{
    return strcmp(codec->name, "libsvtav1") != 0;
}

/* Whether all would be well without the preset. */
static int is_preset_wrong(const request *q, const AVCodec *codec, enum AVPixelFormat pixels)
{
    tamis_video_write_options without = *q->options;
    request again = *q;
    without.preset = NULL;
    again.options = &without;
    return q->options->preset && can_try(codec) && open_codec(&again, codec, pixels) == 0;
}

/* Whether all would be well with even sizes; some encoders do not say so. */
static int is_size_wrong(const request *q, const AVCodec *codec, enum AVPixelFormat pixels)
{
    tamis_video_writer even = *q->writer;
    request again = *q;
    even.format.w += even.format.w % 2;
    even.format.h += even.format.h % 2;
    again.writer = &even;
    return is_odd(q) && (!can_try(codec) || open_codec(&again, codec, pixels) == 0);
}

static tamis_status refuse(const request *q, const AVCodec *codec, enum AVPixelFormat pixels,
                           int error)
{
    if (is_preset_wrong(q, codec, pixels))
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: preset = %.32s is none of %s's", q->writer->name,
                              q->options->preset, codec->name);
    char said[160], text[AV_ERROR_MAX_STRING_SIZE] = "", advice[128], frames[96];
    int wants_even = is_size_wrong(q, codec, pixels);
    open_codec(q, codec, pixels); /* for what it says */
    tamis_priv_av_note_read(&q->e->note, said, sizeof said);
    av_strerror(error, text, sizeof text);
    if (wants_even && !strstr(said, "divisible"))
        snprintf(said, sizeof said, "its width and height must be divisible by 2");
    return tamis_ctx_fail(q->writer->ctx,
                          error == AVERROR(ENOMEM) ? TAMIS_ERR_MEMORY : TAMIS_ERR_UNSUPPORTED,
                          "%s: %s does not encode %s (%s); %s", q->writer->name, codec->name,
                          tamis_video_format_print(&q->writer->format, frames, sizeof frames),
                          *said ? said : text, advise(q, advice, sizeof advice));
}

static tamis_status refuse_pixels(const request *q, const AVCodec *codec)
{
    char advice[128], takes[160] = "";
    const enum AVPixelFormat *list = tamis_priv_av_encoder_pixels(codec);
    for (; list && *list != AV_PIX_FMT_NONE; list++) {
        size_t used = strlen(takes);
        if (used + 24 < sizeof takes)
            snprintf(takes + used, sizeof takes - used, "%s%s", used ? ", " : "",
                     av_get_pix_fmt_name(*list));
    }
    enum AVPixelFormat asked =
        q->wanted != AV_PIX_FMT_NONE ? q->wanted : tamis_priv_av_pixels_planar(&q->as);
    return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_UNSUPPORTED,
                          "%s: %s does not hold pixels like %s in %s, but %s; %s", q->writer->name,
                          codec->name, av_get_pix_fmt_name(asked), q->container->name, takes,
                          advise(q, advice, sizeof advice));
}

/* ---- choosing */

static tamis_status open_named(const request *q)
{
    const AVCodec *codec = tamis_priv_av_encoder_named(q->options->codec);
    if (!codec)
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: codec = %.32s is no encoder of video here (such are libx264, "
                              "libx265, libvpx-vp9, ffv1)",
                              q->writer->name, q->options->codec);
    if (!is_held(q->container, codec, FF_COMPLIANCE_UNOFFICIAL))
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: %s does not hold %s; mkv does", q->writer->name,
                              q->container->name, avcodec_get_name(codec->id));
    tamis_status status = check_quality(q, codec);
    if (status != TAMIS_OK)
        return status;
    enum AVPixelFormat pixels = pixels_for(q, codec);
    if (pixels == AV_PIX_FMT_NONE)
        return refuse_pixels(q, codec);
    int error = open_codec(q, codec, pixels);
    return error ? refuse(q, codec, pixels, error) : TAMIS_OK;
}

/* The first candidate that opens; the first one's reason when none does. */
static tamis_status open_best(const request *q)
{
    const AVCodec *first = NULL;
    const char *name;
    for (int i = 0; (name = tamis_priv_av_encoder_candidate(q->container, &q->as, i)); i++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(name);
        if (!codec || !is_held(q->container, codec, FF_COMPLIANCE_NORMAL) ||
            (q->options->lossless && !tamis_priv_av_encoder_lossless(codec)))
            continue;
        first = first ? first : codec;
        enum AVPixelFormat pixels = pixels_for(q, codec);
        if (pixels != AV_PIX_FMT_NONE && open_codec(q, codec, pixels) == 0)
            return check_quality(q, codec);
    }
    if (!first)
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: there is no%s encoder for %s here", q->writer->name,
                              q->options->lossless ? " lossless" : "", q->container->long_name);
    enum AVPixelFormat pixels = pixels_for(q, first);
    if (pixels == AV_PIX_FMT_NONE)
        return refuse_pixels(q, first);
    return refuse(q, first, pixels, open_codec(q, first, pixels));
}

/* ---- the way of frames to it */

/* The matrix between YUV and RGB is that of the side that has YUV; untagged, it goes by height. */
static const int *matrix_of(const tamis_video_writer *writer, const AVCodecContext *codec)
{
    const tamis_av_reader *r = tamis_priv_av_reader_of(writer->source);
    enum AVColorSpace space = codec->colorspace;
    if (space == AVCOL_SPC_RGB)
        space = r ? r->like->colorspace : AVCOL_SPC_UNSPECIFIED;
    switch (space) {
    case AVCOL_SPC_BT709:
        return sws_getCoefficients(SWS_CS_ITU709);
    case AVCOL_SPC_FCC:
        return sws_getCoefficients(SWS_CS_FCC);
    case AVCOL_SPC_SMPTE240M:
        return sws_getCoefficients(SWS_CS_SMPTE240M);
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
        return sws_getCoefficients(SWS_CS_BT2020);
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
        return sws_getCoefficients(SWS_CS_ITU601);
    default:
        return sws_getCoefficients(codec->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601);
    }
}

/* Where chroma lies, in 1/256 of the distance between samples of luma. */
static void set_siting(struct SwsContext *scale, const char *side, const tamis_video_format *f,
                       enum AVChromaLocation location)
{
    char name[32];
    int is_center = location == AVCHROMA_LOC_CENTER;
    if (f->model != TAMIS_VIDEO_YUV)
        return;
    snprintf(name, sizeof name, "%s_h_chr_pos", side);
    if (f->sub_x == 1)
        av_opt_set_int(scale, name, is_center ? 128 : 0, 0);
    snprintf(name, sizeof name, "%s_v_chr_pos", side);
    if (f->sub_y == 1)
        av_opt_set_int(scale, name, location == AVCHROMA_LOC_TOPLEFT ? 0 : 128, 0);
}

static struct SwsContext *make_scale(const AVCodecContext *codec, const tamis_video_format *from,
                                     enum AVPixelFormat pixels, const tamis_video_format *to)
{
    static const enum AVChromaLocation locations[] = {AVCHROMA_LOC_UNSPECIFIED, AVCHROMA_LOC_LEFT,
                                                      AVCHROMA_LOC_CENTER, AVCHROMA_LOC_TOPLEFT};
    struct SwsContext *scale = sws_alloc_context();
    if (!scale)
        return NULL;
    av_opt_set_int(scale, "srcw", from->w, 0);
    av_opt_set_int(scale, "srch", from->h, 0);
    av_opt_set_int(scale, "src_format", pixels, 0);
    av_opt_set_int(scale, "dstw", from->w, 0);
    av_opt_set_int(scale, "dsth", from->h, 0);
    av_opt_set_int(scale, "dst_format", codec->pix_fmt, 0);
    av_opt_set_int(
        scale, "sws_flags",
        SWS_LANCZOS | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT, 0);
    set_siting(scale, "src", from, locations[from->siting]);
    set_siting(scale, "dst", to, codec->chroma_sample_location);
    if (sws_init_context(scale, NULL, NULL) < 0) {
        sws_freeContext(scale);
        return NULL;
    }
    return scale;
}

static int open_scale(const tamis_video_writer *writer, tamis_av_encode *e,
                      enum AVPixelFormat pixels)
{
    const tamis_video_format *from = &writer->format;
    tamis_video_format to;
    tamis_priv_av_pixels_describe(e->codec->pix_fmt, &to);
    if (tamis_priv_av_pixels_holds(e->codec->pix_fmt, from) ||
        tamis_priv_av_pixels_holds_gray(e->codec->pix_fmt, from))
        return 1;
    e->scale = make_scale(e->codec, from, pixels, &to);
    if (!e->scale)
        return 0;
    const int *matrix = matrix_of(writer, e->codec);
    int full = e->codec->color_range == AVCOL_RANGE_JPEG || to.model == TAMIS_VIDEO_RGB;
    sws_setColorspaceDetails(e->scale, matrix, from->full_range, matrix, full, 0, 1 << 16, 1 << 16);
    return 1;
}

/* The pixels of frames whose channels lie side by side as in a reader's; NONE when there are none
 * such. */
static enum AVPixelFormat side_by_side(const tamis_video_format *f)
{
    if (f->model == TAMIS_VIDEO_RGB && !f->alpha)
        return f->bits == 8 ? AV_PIX_FMT_RGB24 : f->bits == 16 ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_NONE;
    if (f->model == TAMIS_VIDEO_YUV && !f->alpha && f->bits == 8 && f->sub_y == f->sub_x &&
        f->sub_x < 2)
        return f->sub_x ? AV_PIX_FMT_NV12 : AV_PIX_FMT_NV24;
    if (f->model == TAMIS_VIDEO_YUV && !f->alpha && f->bits == 8 && f->sub_x == 1 && f->sub_y == 0)
        return AV_PIX_FMT_NV16;
    return AV_PIX_FMT_NONE;
}

static tamis_status open_pools(const request *q)
{
    tamis_av_encode *e = q->e;
    const tamis_video_format *f = &q->writer->format;
    enum AVPixelFormat pixels = tamis_priv_av_pixels_planar(f), packed = side_by_side(f);
    if (!open_scale(q->writer, e, pixels))
        return tamis_ctx_fail(q->writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: nothing converts %s to %s", q->writer->name,
                              av_get_pix_fmt_name(pixels), av_get_pix_fmt_name(e->codec->pix_fmt));
    int place = q->options->pinned ? TAMIS_AV_PINNED : TAMIS_AV_HOST;
    int ok = tamis_priv_av_pool_open_at(&e->frames, q->writer->ctx, place, pixels, f->w, f->h) &&
             tamis_priv_av_pool_open(&e->ready, e->codec->pix_fmt, f->w, f->h);
    if (packed != AV_PIX_FMT_NONE)
        ok = ok && tamis_priv_av_pool_open(&e->packed, packed, f->w, f->h);
    return ok ? TAMIS_OK : no_memory(q->writer);
}

tamis_status tamis_priv_av_encode_open(tamis_video_writer *writer, tamis_av_encode *e,
                                       const AVOutputFormat *container,
                                       const tamis_video_write_options *options)
{
    request q = {writer, e, container, options};
    tamis_priv_av_note_open(&e->note);
    e->last = AV_NOPTS_VALUE;
    tamis_status status = check_wishes(&q);
    if (status == TAMIS_OK)
        status = check_pixels(&q);
    if (status == TAMIS_OK)
        status = options->codec ? open_named(&q) : open_best(&q);
    if (status == TAMIS_OK)
        status = open_pools(&q);
    if (status == TAMIS_OK)
        tamis_priv_av_settings_describe(e, options);
    return status;
}

tamis_status tamis_priv_av_encode_restart(tamis_video_writer *writer, tamis_av_encode *e,
                                          const AVOutputFormat *container,
                                          const tamis_video_write_options *options)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    const AVCodec *codec = e->codec->codec;
    request q = {.writer = writer, .e = e, .container = container, .options = options};
    int error = open_codec(&q, codec, e->codec->pix_fmt);
    e->fed = 0;
    if (!error)
        return TAMIS_OK;
    av_strerror(error, text, sizeof text);
    return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: %s cannot be opened again: %s",
                          writer->name, codec->name, text);
}

void tamis_priv_av_encode_close(tamis_av_encode *e)
{
    if (e->codec && avcodec_is_open(e->codec) && !e->fed && !can_try(e->codec->codec))
        e->codec = NULL; /* left behind, see there */
    avcodec_free_context(&e->codec);
    tamis_priv_av_pool_close(&e->frames);
    tamis_priv_av_pool_close(&e->packed);
    tamis_priv_av_pool_close(&e->ready);
    sws_freeContext(e->scale);
    av_freep(&e->shown);
    tamis_priv_av_note_close(&e->note);
}

/* ---- frames */

/* Remembers how long a frame is shown, since encoders do not. */
static int remember(tamis_av_encode *e, int64_t pts, int64_t duration)
{
    if (e->shown_count == e->shown_room) {
        int room = e->shown_room ? 2 * e->shown_room : 64;
        void *more = av_realloc_array(e->shown, (size_t)room, sizeof *e->shown);
        if (!more)
            return 0;
        e->shown = more;
        e->shown_room = room;
    }
    e->shown[e->shown_count][0] = pts;
    e->shown[e->shown_count++][1] = duration;
    return 1;
}

int64_t tamis_priv_av_encode_duration(tamis_av_encode *e, int64_t pts)
{
    for (int i = 0; i < e->shown_count; i++)
        if (e->shown[i][0] == pts) {
            int64_t duration = e->shown[i][1];
            memmove(&e->shown[i], &e->shown[i + 1],
                    (size_t)(--e->shown_count - i) * sizeof *e->shown);
            return duration;
        }
    return 0;
}

static tamis_status set_time(const tamis_video_writer *writer, tamis_av_encode *e, AVFrame *frame)
{
    AVRational base = e->codec->time_base;
    int64_t pts = tamis_priv_av_rescale(frame->pts - e->origin, e->base, base);
    int64_t duration = tamis_priv_av_rescale(tamis_priv_av_duration(frame), e->base, base);
    if (e->last != AV_NOPTS_VALUE && pts <= e->last) {
        if (e->fixed_rate)
            return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                                  "%s: this container or codec holds a constant frame rate only, "
                                  "and frames come closer than 1/%g s; mkv or mp4 with h264 holds "
                                  "them",
                                  writer->name, 1 / av_q2d(base));
        pts = e->last + 1;
    }
    e->last = frame->pts = pts;
    /* Players stop at the end of the last frame, so it must have one. */
    if (duration <= 0)
        duration = av_rescale_q(1, av_inv_q(e->codec->framerate), base);
    if (duration <= 0)
        duration = 1;
    tamis_priv_av_set_duration(frame, duration);
    return remember(e, pts, duration) ? TAMIS_OK : no_memory(writer);
}

/* Of the input's frame remains what is about the picture, not how it was coded. */
static void clean(AVFrame *frame)
{
    frame->pict_type = AV_PICTURE_TYPE_NONE;
    frame->decode_error_flags = 0;
    frame->quality = 0;
#if TAMIS_AV_FRAME_FLAGS
    frame->flags &= ~(AV_FRAME_FLAG_KEY | AV_FRAME_FLAG_CORRUPT | AV_FRAME_FLAG_DISCARD);
#else
    frame->key_frame = 0;
    frame->flags = 0;
#endif
    av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
}

/* The frame in the encoder's pixels; takes it over. NULL when there is no memory. */
static AVFrame *in_its_pixels(tamis_av_encode *e, AVFrame *frame)
{
    if (frame->format == e->codec->pix_fmt && !e->scale)
        return frame;
    AVFrame *out = tamis_priv_av_pool_take(&e->ready), *planar = NULL;
    int ok = out && av_frame_copy_props(out, frame) >= 0;
    if (ok && e->scale && frame->format != e->frames.pixels) {
        planar = tamis_priv_av_pool_take(&e->frames);
        ok = planar && tamis_priv_av_pixels_copy(frame, planar);
    }
    if (ok && e->scale) {
        const AVFrame *from = planar ? planar : frame;
        ok = sws_scale(e->scale, (const uint8_t *const *)from->data, from->linesize, 0,
                       from->height, out->data, out->linesize) == from->height;
    } else if (ok) {
        ok = tamis_priv_av_pixels_copy(frame, out);
    }
    if (!ok)
        av_frame_free(&out);
    av_frame_free(&planar);
    av_frame_free(&frame);
    return out;
}

tamis_status tamis_priv_av_encode_pass(const tamis_video_writer *writer, tamis_av_encode *e,
                                       AVFrame *frame)
{
    tamis_status status = set_time(writer, e, frame);
    tamis_priv_av_encode_duration(e, frame->pts);
    return status;
}

tamis_status tamis_priv_av_encode_send(tamis_video_writer *writer, tamis_av_encode *e,
                                       AVFrame *frame)
{
    tamis_status status = TAMIS_OK;
    AVFrame *ready = NULL;
    if (frame) {
        ready = in_its_pixels(e, frame);
        if (!ready)
            return no_memory(writer);
        clean(ready);
        ready->color_range = e->codec->color_range;
        status = set_time(writer, e, ready);
    }
    int error = status == TAMIS_OK ? avcodec_send_frame(e->codec, ready) : 0;
    e->fed |= ready != NULL;
    av_frame_free(&ready);
    if (error < 0 && error != AVERROR_EOF) {
        char said[160], text[AV_ERROR_MAX_STRING_SIZE] = "";
        tamis_priv_av_note_read(&e->note, said, sizeof said);
        av_strerror(error, text, sizeof text);
        return tamis_ctx_fail(
            writer->ctx, error == AVERROR(ENOMEM) ? TAMIS_ERR_MEMORY : TAMIS_ERR_WRITE,
            "%s: %s failed: %s", writer->name, e->codec->codec->name, *said ? said : text);
    }
    return status;
}
