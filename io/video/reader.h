/* SPDX-License-Identifier: Apache-2.0 */
/* An open video: demuxer, decoder, and where in it we are. */
#ifndef TAMIS_VIDEO_READER_H
#define TAMIS_VIDEO_READER_H

#include "bytes.h"
#include "device.h"
#include "frame.h"
#include "note.h"
#include "tap.h"

typedef struct tamis_av_reader {
    tamis_av_bytes bytes;
    tamis_av_note demuxer, decoder; /* what they said */
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream; /* the video */
    AVPacket *packet;
    AVFrame *decoded;     /* the newest frame of the decoder */
    AVFrame *first;       /* the first to be delivered; NULL once it was */
    AVFrame *like;        /* the first frame's properties, without samples */
    tamis_av_pool copies; /* for frames that cannot be seen where the decoder put them */
    tamis_av_device device;
    tamis_video_read_options options; /* for a decoder in software, should the device's fail */
    tamis_video_format sight;
    enum AVPixelFormat pixels;
    tamis_av_tap tap;
    /* Times, in the video's time base. */
    int64_t zero;       /* where the clock begins */
    int64_t origin;     /* what is subtracted from times for an output */
    int64_t start, end; /* frames from start on and before end; INT64_MIN, INT64_MAX = all */
    int64_t last;       /* the newest frame's time; AV_NOPTS_VALUE before */
    int64_t step;       /* frame to frame, where frames do not tell */
    int64_t count;      /* frames that are asked for at most; 0 = all */
    int64_t skip, left; /* frames still to be left out, then delivered; left < 0 = all */
    int trimmed;        /* the beginning is cut */
    int unfed;          /* the decoder did not take the packet yet */
    int drained, ended; /* the demuxer, the decoder have no more */
    int over;           /* no more frames are asked for */
    int wants_others;   /* packets of other tracks are worth reading */
    int lacked;         /* there was no memory for one */
    int64_t seen, lost, damaged;
    int broken; /* the demuxer's error, 0 for none */
    char damage[512];
} tamis_av_reader;

/* The state behind a public reader, or NULL when it is of another kind. */
tamis_av_reader *tamis_priv_av_reader_of(const tamis_video_reader *reader);
tamis_status tamis_priv_av_reader_open(tamis_video_reader *reader, const char *path,
                                       const tamis_video_read_options *options);

/* ---- demux.c */

/* Opens the container, finds the video and its decoder. device: as in tamis_video_read_options. */
tamis_status tamis_priv_av_demux_open(tamis_video_reader *reader, const char *path, int threads,
                                      int device);
/* The next packet of the video in r->packet: 1, or 0 at the end. Others go to the tap. */
int tamis_priv_av_demux_next(tamis_av_reader *r);
/* Other tracks up to the tap's end. */
void tamis_priv_av_demux_rest(tamis_av_reader *r);
/* Goes to a key frame at or before time. Returns 0 when that is not possible. */
int tamis_priv_av_demux_seek(tamis_av_reader *r, int64_t time);

/* ---- info.c */

/* Fills in reader->info from the container and the first frame. */
void tamis_priv_av_info_fill(tamis_video_reader *reader, const tamis_video_read_options *options);
/* What the first frame says about all of them. Returns 0 when its pixels cannot be shown. */
int tamis_priv_av_format_of(const AVFrame *frame, tamis_video_format *out);
/* "lost frames" in words. */
const char *tamis_priv_av_damage(const tamis_video_reader *reader);

#endif
