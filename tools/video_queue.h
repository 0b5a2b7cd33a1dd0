/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on their way, and a queue of them between two threads. */
#ifndef TOOL_VIDEO_QUEUE_H
#define TOOL_VIDEO_QUEUE_H

#include <pthread.h>
#include <tamis/video.h>

/* A frame of the input and what becomes of it. */
typedef struct tool_frame {
    tamis_video_frame src, dst;
    tamis_image own[TAMIS_VIDEO_PARTS]; /* results that do not lie as in dst; else empty */
    int is_kept;                        /* a run before has made the result */
} tool_frame;

/* Gives all of it back; NULL is fine. */
void tool_frame_free(tool_frame *frame);

enum { TOOL_QUEUE_ROOM = 3 };

typedef struct tool_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    tool_frame *items[TOOL_QUEUE_ROOM];
    int first, count;
    int ended;  /* nothing more will come */
    int closed; /* nothing more is wanted */
} tool_queue;

void tool_queue_open(tool_queue *queue);
/* Frees what is left. */
void tool_queue_free(tool_queue *queue);

/* Waits for room. Takes the frame over; returns 0, having freed it, when nothing more is wanted. */
int tool_queue_push(tool_queue *queue, tool_frame *frame);
/* Waits for a frame; NULL at the end, or when nothing more is wanted. */
tool_frame *tool_queue_pop(tool_queue *queue);
/* Waits for as long until popping would not: whether it would not. */
int tool_queue_wait(tool_queue *queue, int ms);
void tool_queue_end(tool_queue *queue);
void tool_queue_close(tool_queue *queue);

#endif
