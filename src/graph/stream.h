/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a stream: stream.c has the caller's side and the frames in between, stream_lane.c the
 * threads that filter. */
#ifndef TAMIS_GRAPH_STREAM_H
#define TAMIS_GRAPH_STREAM_H

#include <pthread.h>

#include <tamis/stream.h>

#include "graph/device_session.h"

typedef enum tamis_frame_state {
    TAMIS_FRAME_WAITING, /* for frames after it */
    TAMIS_FRAME_READY,
    TAMIS_FRAME_RUNNING,
    TAMIS_FRAME_DONE
} tamis_frame_state;

/* A frame from its submission until nobody wants it any more: its result was taken, and no frame
 * near it has to look at it. */
typedef struct tamis_stream_frame {
    struct tamis_stream_frame *before, *after; /* in the order of submission */
    tamis_stream_result result;
    int64_t sequence; /* cuts before it */
    tamis_frame_state state;
    int taken;
    struct tamis_stream_place *place; /* where it is or was filtered; from READY on */
    tamis_shared_frame copies[];      /* of src, one for each place, with temporal filters */
} tamis_stream_frame;

/* A device, or the CPU, and the threads that run frames there. */
typedef struct tamis_stream_place {
    struct tamis_device_plan *device; /* NULL: the CPU */
    int index;
    int under_way; /* frames that are READY or RUNNING here */
    int running;   /* runs that hold memory of the device, or may */
    int starved;   /* frames that found too little of it, and wait to have it alone */
    tamis_shared_frame guide;
    tamis_room *rooms; /* that no run uses now */
    int plain;         /* runs get no room */
} tamis_stream_place;

typedef struct tamis_stream_lane {
    tamis_stream *stream;
    tamis_stream_place *place;
    pthread_t thread;
} tamis_stream_lane;

struct tamis_stream {
    const tamis_plan *plan;
    tamis_ctx *ctx;
    int has_guide;
    tamis_image guide;
    int depth;
    tamis_stream_place *places;
    tamis_stream_lane *lanes;
    int place_count, lane_count;
    pthread_mutex_t mutex; /* guards what follows, and all frames */
    pthread_cond_t ready;  /* lanes may find work, or shall go */
    pthread_cond_t done;   /* a frame is done, or canceling is over */
    pthread_cond_t shared; /* for tamis_window */
    tamis_stream_frame *first, *last;
    tamis_stream_frame *open; /* the oldest that is not DONE */
    tamis_stream_frame *give; /* the oldest whose result was not taken */
    int64_t submitted, sequence;
    int under_way; /* frames that are READY or RUNNING */
    int next_place, canceling, quit;
    volatile int cancel; /* seen by what runs; changed by atomic stores */
};

/* stream_lane.c */

/* Decides places and depth, and starts the threads. Errors: MEMORY. */
tamis_status tamis_priv_stream_start(tamis_stream *s, int depth);
/* Ends the threads, when nothing is under way. */
void tamis_priv_stream_end(tamis_stream *s);

/* stream.c, with the mutex held. */

/* The frame is done. */
void tamis_priv_stream_done(tamis_stream *s, tamis_stream_frame *frame);

#endif
