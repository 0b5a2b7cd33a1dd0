/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder of an output. */
#ifndef TAMIS_VIDEO_ENCODE_H
#define TAMIS_VIDEO_ENCODE_H

#include "encoders.h"
#include "frame.h"
#include "reader.h"

struct SwsContext;

typedef struct tamis_av_encode {
    tamis_av_note note; /* what the encoder said */
    AVCodecContext *codec;
    tamis_av_pool frames;     /* for callers to fill, planar */
    tamis_av_pool packed;     /* the same with R, G and B, or Cb and Cr, side by side */
    tamis_av_pool ready;      /* in the encoder's pixels, where these are others */
    struct SwsContext *scale; /* where frames are converted, not only rearranged */
    AVRational base;          /* of frames' times before they become the encoder's */
    int64_t origin;           /* subtracted from them */
    int64_t last;             /* the newest time; AV_NOPTS_VALUE before */
    int fed;                  /* this encoder has seen a frame */
    int fixed_rate;           /* the encoder or container has no times of their own */
    int64_t (*shown)[2];      /* times and durations of frames inside the encoder */
    int shown_count, shown_room;
    double quality;
    char detail[160];
} tamis_av_encode;

/* Chooses and opens an encoder for the container. Errors: ARGUMENT, UNSUPPORTED, MEMORY. */
tamis_status tamis_priv_av_encode_open(tamis_video_writer *writer, tamis_av_encode *e,
                                       const AVOutputFormat *container,
                                       const tamis_video_write_options *options);
void tamis_priv_av_encode_close(tamis_av_encode *e);
/* Turns a frame from one of the pools into one for the encoder, with its time, and gives it;
 * NULL ends the stream. *error is FFmpeg's where it failed. */
tamis_status tamis_priv_av_encode_send(tamis_video_writer *writer, tamis_av_encode *e,
                                       AVFrame *frame);
/* Opens the same encoder once more, as if nothing had been given to it. Errors: WRITE. */
tamis_status tamis_priv_av_encode_restart(tamis_video_writer *writer, tamis_av_encode *e,
                                          const AVOutputFormat *container,
                                          const tamis_video_write_options *options);
/* Takes note of a frame that has been encoded before: of its time alone. */
tamis_status tamis_priv_av_encode_pass(const tamis_video_writer *writer, tamis_av_encode *e,
                                       AVFrame *frame);
/* How long the frame with that time of the encoder is shown; 0 = unknown. */
int64_t tamis_priv_av_encode_duration(tamis_av_encode *e, int64_t pts);

#endif
