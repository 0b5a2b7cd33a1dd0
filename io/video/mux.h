/* SPDX-License-Identifier: Apache-2.0 */
/* The output's container: its tracks, and packets in order. */
#ifndef TAMIS_VIDEO_MUX_H
#define TAMIS_VIDEO_MUX_H

#include <libavutil/bprint.h>

#include <pthread.h>

#include "bytes.h"
#include "note.h"
#include "reader.h"

/* What becomes of a track of the input. */
typedef struct tamis_av_track {
    AVStream *out;               /* NULL = it is not in the output */
    AVCodecContext *text, *make; /* decoder and encoder of subtitles that change their format */
    int64_t last;                /* the newest dts, AV_NOPTS_VALUE before */
} tamis_av_track;

typedef struct tamis_av_mux {
    int opened;
    tamis_av_note note;
    tamis_av_bytes bytes;
    AVFormatContext *format;
    AVStream *video;
    AVRational base;         /* of the encoder's packets */
    tamis_av_reader *source; /* NULL = none */
    /* Of the streams that the source had when the output was opened: demuxers of broadcasts find
     * more later. */
    tamis_av_track *tracks;
    int track_count;
    AVBPrint dropped;
    /* The reader's thread brings packets of other tracks, the writer's those of the video. */
    pthread_mutex_t mutex; /* guards what follows, and the format once it is open */
    AVPacket **waiting;    /* other tracks' packets, by time, until the video has come so far */
    int waiting_count, waiting_room;
    size_t waiting_bytes;
    int64_t reached; /* the newest time of decoding of the video, in AV_TIME_BASE */
    int64_t shown;   /* the end of the last frame */
    int known;       /* the source's streams that have a track or are named in late */
    AVBPrint late;   /* what came too late to be kept */
    int error;       /* FFmpeg's first error */
    int closed;      /* nothing is taken any more */
} tamis_av_mux;

/* The container of a name or extension, or NULL. */
const AVOutputFormat *tamis_priv_av_container(const char *name);

/* Makes the output with its tracks and writes its header. Errors: UNSUPPORTED, WRITE, MEMORY. */
tamis_status tamis_priv_av_mux_open(tamis_video_writer *writer, tamis_av_mux *m,
                                    const AVOutputFormat *container, AVCodecContext *encoder,
                                    int strip);
/* Writes a packet of the video; it is empty afterwards. Errors: WRITE. */
tamis_status tamis_priv_av_mux_video(tamis_video_writer *writer, tamis_av_mux *m, AVPacket *packet);
/* The rest of the other tracks and the trailer. Errors: WRITE. */
tamis_status tamis_priv_av_mux_finish(tamis_video_writer *writer, tamis_av_mux *m);
/* Takes no more packets: the place is about to be closed. */
void tamis_priv_av_mux_stop(tamis_av_mux *m);
void tamis_priv_av_mux_close(tamis_av_mux *m);

/* ---- tracks.c */

/* Adds the tracks of the source to m->format, in their order, the video among them, and names those
 * that the container does not hold. Errors: MEMORY. */
tamis_status tamis_priv_av_tracks_add(tamis_video_writer *writer, tamis_av_mux *m,
                                      AVCodecContext *encoder, int strip);

/* Adds the name of a track that is not kept, as one more line. */
void tamis_priv_av_tracks_name(AVBPrint *text, const AVFormatContext *format, const AVStream *in);

/* ---- losses.c */

#define MOV_KIND "mov mp4 ipod ismv 3gp 3g2 f4v"

/* Whether a container is among names with blanks between them. */
int tamis_priv_av_is_one_of(const AVOutputFormat *container, const char *names);

/* Names what the container and the codec have no place for, beside tracks and chapters. */
void tamis_priv_av_losses_name(tamis_av_mux *m, const AVCodecContext *encoder, int strip);

/* ---- subtitles.c */

/* Prepares subtitles of text for a container that holds another kind of it; 0 when there is none
 * that keeps the text. par gets the parameters of the new kind. */
int tamis_priv_av_subtitles_open(tamis_av_track *track, const AVStream *in,
                                 const AVOutputFormat *container, AVCodecParameters *par);
/* Turns a packet into one of the new kind. Returns 0 when there is nothing in it. */
int tamis_priv_av_subtitles_turn(tamis_av_track *track, AVPacket *packet);
void tamis_priv_av_subtitles_close(tamis_av_track *track);

#endif
