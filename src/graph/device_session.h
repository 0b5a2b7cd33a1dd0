/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a run on a device. */
#ifndef TAMIS_GRAPH_DEVICE_SESSION_H
#define TAMIS_GRAPH_DEVICE_SESSION_H

#include <pthread.h>

#include "graph/device.h"
#include "graph/run.h"

/* Pixels of the same part of each of some pictures, on the device. */
typedef struct tamis_held {
    void *block; /* memory to give back; NULL: somebody else's, or none */
    tamis_format format;
    tamis_gpu_planes planes; /* of the first picture */
    int64_t next;            /* bytes from one picture to the next */
    int32_t count;           /* pictures; 0: there is nothing */
    tamis_rect box;          /* the part */
    tamis_rect there;        /* what of it has been brought; the rest is slack, zeros */
} tamis_held;

/* A frame in host memory that several runs on a device read. The first of them brings it there. */
typedef enum tamis_shared_state {
    TAMIS_SHARED_ABSENT,
    TAMIS_SHARED_COMING,
    TAMIS_SHARED_THERE
} tamis_shared_state;
typedef struct tamis_shared_frame {
    tamis_shared_state state;
    tamis_held held; /* all of it */
} tamis_shared_frame;

/* What of a run's inputs is shared with other runs. */
typedef struct tamis_window {
    pthread_mutex_t *mutex; /* guards the states of all frames */
    pthread_cond_t *changed;
    /* The frames around the one that the run is for, oldest first, and the guide; NULL where there
     * is none, and where it is brought for this run alone. */
    tamis_shared_frame *frames[2 * TAMIS_MAX_FRAMES + 1];
    tamis_shared_frame *guide;
} tamis_window;

/* What is launched depends on, beside the plan: where everything lies. */
typedef struct tamis_walk {
    tamis_held src, guide, dst;
    tamis_rect rect;
} tamis_walk;

enum { TAMIS_ROOM_BLOCKS = 32, TAMIS_ROOM_GRAPHS = 16 };

/* Memory that runs of a plan on a device find again, one after the other, so that what they make on
 * the way lies where it did; and what they have launched, as graphs. Each run waits for its stream
 * before it ends. Zero-initialize. */
typedef struct tamis_room {
    struct tamis_room *next;
    struct tamis_room_block {
        void *data;
        size_t size;
        int used;
    } blocks[TAMIS_ROOM_BLOCKS];
    int block_count;
    size_t bytes; /* of all blocks */
    struct tamis_room_graph {
        tamis_walk walk;
        tamis_gpu_graph *graph; /* NULL: the walk was done once */
        int64_t turn, launches; /* the turn of its last use; 0: there is none */
    } graphs[TAMIS_ROOM_GRAPHS];
    int64_t turn;
    int capturing;
    int plain; /* nothing is captured any more: it failed or does not pay */
    int full;  /* more memory was wanted than a room may keep: the next run is better without it */
} tamis_room;

/* One run. */
typedef struct tamis_session {
    const tamis_plan *plan;
    const struct tamis_device_plan *device;
    const tamis_run_options *options;
    tamis_window *window; /* NULL: nothing is shared */
    tamis_room *room;     /* NULL: nothing is kept for later runs */
    atomic_int *stop;     /* non-zero: another part of the run has failed; may be NULL */
    int silent;           /* somebody else reports progress */
    int crowded;          /* others run beside: where memory is short the run fails at once, and its
                             caller shall try again when they are done, with this 0 */
    void *stream;
    tamis_rect parts[TAMIS_GRAPH_MAX_SIZE + 1]; /* of what goes into each step, and of the result */
    tamis_gpu_fault fault;
} tamis_session;

/* ---- device_copy.c: memory, copies, conversions */

/* Memory for a part of each of count images. Columns that lie at multiples of 16 bytes in an image
 * do so here, whatever part it is; a plane of all images lies there like one of many rows, without
 * gaps where rows are multiples of 16 bytes. Errors: as backend.alloc. */
tamis_status tamis_priv_held_make(tamis_session *s, tamis_format format, tamis_rect part,
                                  int32_t count, tamis_held *out);
void tamis_priv_held_drop(tamis_session *s, tamis_held *h);

/* Fills what is not there with zeros: kernels may read it, though nothing follows from it. */
tamis_status tamis_priv_held_clear(tamis_session *s, const tamis_held *h);

/* A part of an image of w x h pixels with what kernels may read around it. */
tamis_rect tamis_priv_with_slack(tamis_rect r, int32_t w, int32_t h);

/* An image on the device whose pixel (0, 0) is pixel (x, y) of what it is a part of. */
tamis_held tamis_priv_held_of_image(const tamis_image *image, int32_t x, int32_t y);

/* Brings a part of an image of w x h pixels, with slack, to new memory on the device; what `image`
 * holds of it, in host memory, is the window. */
tamis_status tamis_priv_held_upload(tamis_session *s, const tamis_image *image, tamis_rect window,
                                    int32_t w, int32_t h, tamis_rect part, tamis_held *out);
/* Brings a part to an image in host memory whose corner is (x, y). */
tamis_status tamis_priv_held_download(tamis_session *s, const tamis_held *h, tamis_rect part,
                                      const tamis_image *image, int32_t x, int32_t y);

/* Where a part of plane p of an image in host memory, whose corner is (x, y), is and where it lies
 * on the device. */
void tamis_priv_held_copy(const tamis_session *s, const tamis_image *image, int p, int32_t x,
                          int32_t y, const tamis_held *h, tamis_rect part, tamis_gpu_copy *out);

/* The `move` of copies; its user is the context's pool. */
void tamis_priv_device_move_rows(void *user, const tamis_gpu_rows *rows);

/* From now on pixel (0, 0) is the one that was (x, y). */
void tamis_priv_held_move(tamis_held *h, int64_t x, int64_t y);

/* Number of planes of a format, and planes by channel with the samples from pixel to pixel. */
int tamis_priv_plane_count(const tamis_format *format);
void tamis_priv_held_by_channel(const tamis_held *h, tamis_gpu_planes *planes, int *pitch);

/* Converts the channels first .. end - 1; of a source with another number of channels than the
 * target, as many of its last ones. */
tamis_status tamis_priv_held_convert(tamis_session *s, const tamis_held *src, const tamis_held *dst,
                                     tamis_rect part, int first, int end, tamis_gpu_alpha alpha);

/* What the addresses of all rows are multiples of, in its lowest bits; whether all samples have the
 * alignment of their type. */
uintptr_t tamis_priv_held_address_bits(const tamis_held *h);
int tamis_priv_held_is_aligned(const tamis_held *h);

/* Gives the memory of a shared frame back, which nobody reads any more. */
void tamis_priv_shared_drop(const struct tamis_device_plan *device, tamis_shared_frame *frame);

/* ---- device_room.c: runs like the one before */

/* As the backend's alloc and free on the session's stream, from its room and back to it where it
 * has one. */
tamis_status tamis_priv_room_alloc(tamis_session *s, size_t size, void **out);
void tamis_priv_room_free(tamis_session *s, void *data);

/* Enqueues what `launch` does, which depends on *walk alone, and asks only the session's room for
 * memory that it gives back. The second time it is captured, then replayed. */
typedef tamis_status tamis_launch_function(tamis_session *s, void *user);
tamis_status tamis_priv_room_run(tamis_session *s, const tamis_walk *walk,
                                 tamis_launch_function *launch, void *user);

/* Gives back all that a room keeps; no run uses it. */
void tamis_priv_room_clear(const struct tamis_device_plan *device, tamis_room *room);

/* ---- device_step.c */

/* Step k for one frame: inputs are those of its 2 * node.frames + 1 frames. */
tamis_status tamis_priv_device_step(tamis_session *s, int k, const tamis_held *inputs,
                                    const tamis_held *guide, const tamis_held *out);

/* ---- device_run.c */

/* The part of the source, with slack, that a part of the result is made from. */
tamis_rect tamis_priv_device_need(const tamis_plan *plan, tamis_rect rect);

/* Computes the part `band` of the result into dst, whose corner is pixel (x, y) of the result, and
 * returns when it is there: on the options' stream, if there is one, when it is enqueued. Says
 * nothing of failures but in s->fault; being stopped is none. */
tamis_status tamis_priv_device_run_on(tamis_session *s, const tamis_image *src, tamis_rect band,
                                      const tamis_image *dst, int32_t x, int32_t y);

/* From pictures on the device, without frames beside them, to as many whole results there. What src
 * holds is given back. */
tamis_status tamis_priv_device_pictures(tamis_session *s, tamis_held *src, const tamis_held *guide,
                                        const tamis_held *dst);

int tamis_priv_device_stopped(const tamis_session *s);

#endif
