/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the tracks besides the video, on their way from the reader to a writer, which may
 * belong to another thread: what to cut, and who takes them. */
#ifndef TAMIS_VIDEO_TAP_H
#define TAMIS_VIDEO_TAP_H

#include <pthread.h>

#include "av.h"

/* Gets a packet whose times are those of the input. The packet stays the caller's. */
typedef void (*tamis_av_taker)(void *user, const AVPacket *packet);

typedef struct tamis_av_tap {
    pthread_mutex_t mutex; /* guards what follows */
    const AVFormatContext *format;
    AVRational base; /* of the times below: the video's time base */
    int64_t from;    /* INT64_MIN: from the beginning */
    int64_t until;   /* INT64_MAX: to the end, or not known yet */
    int started;     /* from is known */
    int over;        /* no packet will come any more */
    int gave_up;     /* too many were held for nobody */
    tamis_av_taker take;
    void *user;
    AVPacket **held; /* while nobody takes them */
    int held_count;
    size_t held_bytes;
} tamis_av_tap;

void tamis_priv_av_tap_open(tamis_av_tap *tap);
void tamis_priv_av_tap_close(tamis_av_tap *tap);
/* Forgets what is held. */
void tamis_priv_av_tap_clear(tamis_av_tap *tap);
/* A packet of another track, which the tap takes over. Returns 0 when nobody will ever want any, -1
 * when there is no memory for it. */
int tamis_priv_av_tap_put(tamis_av_tap *tap, AVPacket *packet);
/* All packets that end before time are dropped: the first frame is known to be later. */
void tamis_priv_av_tap_skip(tamis_av_tap *tap, int64_t time);
/* The first frame is known. */
void tamis_priv_av_tap_start(tamis_av_tap *tap, int64_t from);
void tamis_priv_av_tap_end(tamis_av_tap *tap, int64_t until);
/* Sets the taker, which gets at once what is held; NULL detaches it. Returns 0 when packets are
 * gone already. */
int tamis_priv_av_tap_attach(tamis_av_tap *tap, tamis_av_taker take, void *user);
/* Nobody will want any. */
void tamis_priv_av_tap_refuse(tamis_av_tap *tap);
/* Whether packet lies inside. */
int tamis_priv_av_tap_keeps(tamis_av_tap *tap, const AVPacket *packet);

#endif
