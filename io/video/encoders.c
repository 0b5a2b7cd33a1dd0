/* SPDX-License-Identifier: Apache-2.0 */
#include "encoders.h"

#include <math.h>
#include <string.h>

#include "pixels.h"

/* Qualities at which a still of the result beside the source shows no difference; each scale is its
 * codec's own. */
static const tamis_av_encoder encoders[] = {
    {"libx264", TAMIS_AV_SCALE_CRF, 0, 14, 51, NULL, "qp=0"},
    {"libx264rgb", TAMIS_AV_SCALE_CRF, 0, 14, 51, NULL, "qp=0"},
    {"libx265", TAMIS_AV_SCALE_CRF, 0, 15, 51, NULL, ""},
    {"libvpx-vp9", TAMIS_AV_SCALE_CRF, 0, 16, 63, "b=0:row-mt=1:cpu-used=2", "lossless=1"},
    {"libvpx", TAMIS_AV_SCALE_CRF, 4, 4, 63, "b=200000000", NULL},
    {"libaom-av1", TAMIS_AV_SCALE_CRF, 0, 14, 63, "b=0:row-mt=1:cpu-used=6",
     "aom-params=lossless=1"},
    {"libsvtav1", TAMIS_AV_SCALE_CRF, 1, 14, 63, NULL, NULL},
    {"h264_nvenc", TAMIS_AV_SCALE_CQ, 1, 15, 51, "b=0", "tune=lossless"},
    {"hevc_nvenc", TAMIS_AV_SCALE_CQ, 1, 16, 51, "b=0", "tune=lossless"},
    {"av1_nvenc", TAMIS_AV_SCALE_CQ, 1, 18, 51, "b=0", NULL},
    {"ffv1", TAMIS_AV_SCALE_NONE, 0, 0, 0, "level=3:slicecrc=1:g=1", ""},
    {"ffvhuff", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"huffyuv", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"utvideo", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"qtrle", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"png", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"rawvideo", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, ""},
    {"prores_ks", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, NULL},
    {"prores", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, NULL},
    {"dnxhd", TAMIS_AV_SCALE_NONE, 0, 0, 0, NULL, NULL},
};

tamis_av_encoder tamis_priv_av_encoder_find(const AVCodec *codec)
{
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (strcmp(encoders[i].name, codec->name) == 0)
            return encoders[i];
    return (tamis_av_encoder){codec->name, TAMIS_AV_SCALE_QSCALE, 1, 2, 31, NULL, NULL};
}

/* Percents as of pictures, where 92 shows no loss either, in two straight pieces. */
double tamis_priv_av_encoder_quality(const tamis_av_encoder *encoder,
                                     const tamis_video_write_options *options)
{
    const double clean = 92, all = 100, least = 1;
    double percent = options->percent;
    if (percent <= 0)
        return options->quality > 0 ? options->quality : encoder->clean;
    double share =
        percent > clean ? (percent - clean) / (all - clean) : (clean - percent) / (clean - least);
    return rint(encoder->clean +
                share * ((percent > clean ? encoder->best : encoder->worst) - encoder->clean));
}

int tamis_priv_av_encoder_lossless(const AVCodec *codec)
{
    const AVCodecDescriptor *d = avcodec_descriptor_get(codec->id);
    return tamis_priv_av_encoder_find(codec).lossless != NULL ||
           (d && (d->props & AV_CODEC_PROP_LOSSLESS) && !(d->props & AV_CODEC_PROP_LOSSY));
}

typedef struct preference {
    const char *containers; /* with blanks around each */
    const char *plain[6];   /* in order, for what the first of them holds ... */
    const char *deep[6];    /* ... and for more than 10 bits, alpha or RGB; empty = the same */
} preference;

static const preference preferences[] = {
    {" matroska nut ", {"libx264", "libx265", "ffv1", "libvpx-vp9"}, {"ffv1", "libvpx-vp9"}},
    {" mp4 ipod ismv 3gp 3g2 f4v ",
     {"libx264", "libx265", "libx264rgb", "libvpx-vp9", "mpeg4"},
     {NULL}},
    {" mov ",
     {"libx264", "libx265", "libx264rgb", "ffv1"},
     {"libx265", "libx264rgb", "png", "ffv1", "prores_ks"}},
    {" webm ", {"libvpx-vp9", "libaom-av1"}, {NULL}},
    {" avi ", {"libx264", "ffv1", "mpeg4"}, {"ffv1"}},
    {" mpegts ", {"libx264", "libx265"}, {NULL}},
    {" flv ", {"libx264"}, {NULL}},
};

static const preference *preference_of(const AVOutputFormat *container)
{
    char word[64] = " ";
    strncat(word, container->name, sizeof word - 3);
    strcat(word, " ");
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++)
        if (strstr(preferences[i].containers, word))
            return &preferences[i];
    return NULL;
}

const char *tamis_priv_av_encoder_candidate(const AVOutputFormat *container,
                                            const tamis_video_format *format, int i)
{
    const preference *p = preference_of(container);
    if (!p) {
        const AVCodec *own = avcodec_find_encoder(container->video_codec);
        return i == 0 && own ? own->name : NULL;
    }
    int is_deep = format->bits > 10 || format->alpha || format->model == TAMIS_VIDEO_RGB;
    const char *const *list = is_deep && p->deep[0] ? p->deep : p->plain;
    return i < 6 ? list[i] : NULL;
}

const AVCodec *tamis_priv_av_encoder_named(const char *name)
{
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    const AVCodecDescriptor *d = codec ? NULL : avcodec_descriptor_get_by_name(name);
    if (d)
        codec = avcodec_find_encoder(d->id);
    return codec && codec->type == AVMEDIA_TYPE_VIDEO ? codec : NULL;
}

/* How well an encoder's pixel format suits: 3 as they are, 2 rearranged, 1 gray as luma, 0 not. */
static int rank(enum AVPixelFormat pixels, const tamis_video_format *format)
{
    if (tamis_priv_av_pixels_holds(pixels, format))
        return pixels == tamis_priv_av_pixels_planar(format) ? 3 : 2;
    return tamis_priv_av_pixels_holds_gray(pixels, format);
}

enum AVPixelFormat tamis_priv_av_encoder_pixels_for(const AVCodec *codec,
                                                    const tamis_video_format *format,
                                                    enum AVPixelFormat pixels)
{
    const enum AVPixelFormat *list = tamis_priv_av_encoder_pixels(codec);
    enum AVPixelFormat best = AV_PIX_FMT_NONE;
    int most = 0;
    if (!list)
        return pixels != AV_PIX_FMT_NONE ? pixels : tamis_priv_av_pixels_planar(format);
    for (; *list != AV_PIX_FMT_NONE; list++) {
        int r = pixels == AV_PIX_FMT_NONE ? rank(*list, format) : 4 * (*list == pixels);
        if (r > most) {
            most = r;
            best = *list;
        }
    }
    return best;
}
