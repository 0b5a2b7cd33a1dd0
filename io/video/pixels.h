/* SPDX-License-Identifier: Apache-2.0 */
/* FFmpeg's pixel formats as frames of tamis. */
#ifndef TAMIS_VIDEO_PIXELS_H
#define TAMIS_VIDEO_PIXELS_H

#include <tamis/video.h>

#include "av.h"

/* What samples are like: model, type, bits, subsampling and alpha; the rest of *out is 0 (size,
 * siting), or what the pixel format implies (range). Returns 0 for formats that have no such
 * samples: hardware frames, mosaics of cameras, XYZ. */
int tamis_priv_av_pixels_describe(enum AVPixelFormat pixels, tamis_video_format *out);
/* Whether frames can be seen as images where they lie: planes, R, G and B side by side, or Cb and
 * Cr side by side. */
int tamis_priv_av_pixels_viewable(enum AVPixelFormat pixels);
/* The pixel format of planes with such samples; AV_PIX_FMT_NONE when there is none. */
enum AVPixelFormat tamis_priv_av_pixels_planar(const tamis_video_format *format);

/* The images of a viewable frame; part[] as in tamis_video_frame. Of planes that hold gray and
 * alpha, chroma is left out. */
void tamis_priv_av_pixels_view(const AVFrame *frame, tamis_video_model model,
                               tamis_image part[TAMIS_VIDEO_PARTS]);

/* Whether samples of that format can be written into frames with such pixels, exactly; into the
 * luma of YUV, for the second one. */
int tamis_priv_av_pixels_holds(enum AVPixelFormat pixels, const tamis_video_format *format);
int tamis_priv_av_pixels_holds_gray(enum AVPixelFormat pixels, const tamis_video_format *format);
/* Copies samples between frames of one size, from anything that can be described into what holds
 * them. Returns 0 when there is no memory. */
int tamis_priv_av_pixels_copy(const AVFrame *from, AVFrame *to);

#endif
