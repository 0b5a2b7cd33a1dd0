/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding on a device: NVIDIA's decoder through FFmpeg, whose frames stay in the device's memory.
 *
 * The device is the one that tamis filters on, in the same context of CUDA (the primary one), so
 * that memory of both is of the same kind. The decoder has few surfaces, and interleaves chroma; so
 * each frame is brought at once into planes of a pool's, as a decoder in software leaves them. */
#ifndef TAMIS_VIDEO_DEVICE_H
#define TAMIS_VIDEO_DEVICE_H

#include "frame.h"

typedef struct tamis_av_device {
    int number;                /* 1 + the device's; 0: frames are decoded in software */
    int failed;                /* it cannot go on */
    int64_t delivered;         /* frames */
    tamis_av_pool pool;        /* of frames on it */
    tamis_video_reader *again; /* decodes from the beginning, in software, once it has failed */
    char why[160];             /* why not */
} tamis_av_device;

/* Has a decoder, before it is opened, use a device where it can. Returns 0, with why, when there is
 * no such way. */
int tamis_priv_av_device_attach(tamis_av_device *d, int number, AVCodecContext *codec);

/* The pixels of a frame as a decoder in software would give them. */
enum AVPixelFormat tamis_priv_av_device_pixels(const AVCodecContext *codec, const AVFrame *frame);

/* A frame of the decoder in planes on the device, of such pixels, with all its properties; NULL,
 * with why, when that fails. */
AVFrame *tamis_priv_av_device_take(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *decoded,
                                   enum AVPixelFormat pixels);
/* The same of a frame in host memory. */
AVFrame *tamis_priv_av_device_bring(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *here);

void tamis_priv_av_device_close(tamis_av_device *d);

/* Codecs that device number index decodes, by FFmpeg's account, such as "h264 hevc av1"; 0, with
 * why, when there are none. */
int tamis_priv_av_device_codecs(int index, char *buf, size_t size);

#endif
