/* SPDX-License-Identifier: Apache-2.0 */
/* Side data of tracks: rotation, HDR, stereo. */
#ifndef TAMIS_VIDEO_SIDE_H
#define TAMIS_VIDEO_SIDE_H

#include "av.h"

/* A kind of side data, or NULL. */
const uint8_t *tamis_priv_av_side_get(const AVStream *stream, enum AVPacketSideDataType type,
                                      size_t *size);
/* Adds a copy to a track, unless it has such data. Returns 0 when there is no memory. */
int tamis_priv_av_side_add(AVStream *stream, enum AVPacketSideDataType type, const uint8_t *data,
                           size_t size);
/* Adds to the track of an encoded video what still holds of the input's track, and what the first
 * frame carries for all; with strip, only what it takes to show it as it was. Returns 0 when there
 * is no memory. */
int tamis_priv_av_side_keep(AVStream *out, const AVStream *in, const AVFrame *first, int strip);
/* All of it, for a track whose packets are copied. */
int tamis_priv_av_side_copy(AVStream *out, const AVStream *in);

/* Degrees that players turn the frames by, counter-clockwise; 0 where there is no sound matrix. */
double tamis_priv_av_side_turn(const AVStream *stream);

/* The shape of a sample: the track's, else the frames'. */
AVRational tamis_priv_av_aspect(const AVStream *stream, const AVFrame *frame);

#endif
