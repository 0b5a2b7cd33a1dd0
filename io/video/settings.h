/* SPDX-License-Identifier: Apache-2.0 */
/* What an encoder is told. */
#ifndef TAMIS_VIDEO_SETTINGS_H
#define TAMIS_VIDEO_SETTINGS_H

#include "encode.h"

/* Fills in e->codec, whose pixels are set: size, times, color, threads; and e's times. */
void tamis_priv_av_settings_fill(const tamis_video_writer *writer, tamis_av_encode *e,
                                 const AVOutputFormat *container,
                                 const tamis_video_write_options *options);
/* Adds options for avcodec_open2(). Returns FFmpeg's error, with a text in the note, for those that
 * the encoder does not have. */
int tamis_priv_av_settings_options(const tamis_video_writer *writer, tamis_av_encode *e,
                                   const AVOutputFormat *container,
                                   const tamis_video_write_options *options, AVDictionary **out);
/* Writes e->detail. */
void tamis_priv_av_settings_describe(tamis_av_encode *e, const tamis_video_write_options *options);

#endif
