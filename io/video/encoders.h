/* SPDX-License-Identifier: Apache-2.0 */
/* Which encoders there are, what they are told, and which one a container gets. */
#ifndef TAMIS_VIDEO_ENCODERS_H
#define TAMIS_VIDEO_ENCODERS_H

#include "av.h"
#include "note.h"
#include "video_ops.h"

/* How an encoder is told a constant quality. */
typedef enum tamis_av_scale {
    TAMIS_AV_SCALE_NONE,  /* it has none: lossless, or by profile */
    TAMIS_AV_SCALE_CRF,   /* option crf */
    TAMIS_AV_SCALE_CQ,    /* option cq (NVENC) */
    TAMIS_AV_SCALE_QSCALE /* a fixed quantizer, 1 .. 31 */
} tamis_av_scale;

typedef struct tamis_av_encoder {
    const char *name;
    tamis_av_scale scale;
    /* On its scale: the best, what no loss is to be seen at, the worst. */
    double best, clean, worst;
    /* Options, "name=value:name=value"; NULL = none. */
    const char *always, *lossless;
} tamis_av_encoder;

/* What is known about an encoder; a row of guesses for those that are not in the table. */
tamis_av_encoder tamis_priv_av_encoder_find(const AVCodec *codec);
/* The value on its scale that the options mean. */
double tamis_priv_av_encoder_quality(const tamis_av_encoder *encoder,
                                     const tamis_video_write_options *options);
/* Whether it can be lossless: by an option, or because it always is. */
int tamis_priv_av_encoder_lossless(const AVCodec *codec);

/* Candidate i for a container and frames of that format, without a wish; NULL behind the last. */
const char *tamis_priv_av_encoder_candidate(const AVOutputFormat *container,
                                            const tamis_video_format *format, int i);
/* The encoder that a name means: its own, or that of a codec. NULL when there is none. */
const AVCodec *tamis_priv_av_encoder_named(const char *name);
/* The pixel format, among those that the encoder takes, for frames of that format; pixels,
 * when not NONE, is wanted. NONE when there is none. */
enum AVPixelFormat tamis_priv_av_encoder_pixels_for(const AVCodec *codec,
                                                    const tamis_video_format *format,
                                                    enum AVPixelFormat pixels);

#endif
