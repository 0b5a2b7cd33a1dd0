/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of frames: one plan, run for picture after picture.
 *
 * A stream takes frames, filters several at a time, and gives results back in the order in which
 * frames came. On a device the next frame goes there, one is filtered and the last one comes back
 * at the same time; a plan for several devices has its frames shared out among them. Results are
 * those of tamis_plan_run(), bit by bit.
 *
 *     tamis_stream_create(plan, NULL, &stream);
 *     for each picture:
 *         while (no pair of images is free)
 *             tamis_stream_wait(stream, -1, &result);        -> result.dst, result.user
 *         tamis_stream_submit(stream, &src, &dst, user, 0);
 *     tamis_stream_cut(stream);
 *     while (tamis_stream_wait(stream, -1, &result) == TAMIS_OK)
 *         ...
 *     tamis_stream_free(&stream);
 *
 * Plans with temporal filters (tamis_plan_frames() > 0) find a frame's neighbors among the frames
 * before and after it in the stream: frames are submitted once, one by one, and each goes to a
 * device once. A frame is then filtered when that many after it have come, or when
 * tamis_stream_cut() has said that none belong to it.
 *
 * On a device, frames of a size repeat: a stream keeps the device memory that a frame needs, 128 MB
 * at most for each frame that is filtered at once, until it is freed or memory becomes short there,
 * and replays what it launched for images that come again. A few images used in turns are fastest.
 *
 * Images in host memory are copied to a device fastest from tamis_image_create_pinned(); others go
 * through pinned memory, copied by the context's threads. Images in a device's memory are filtered
 * there; results may go from there to host memory. What fills them must be done, or enqueued on the
 * device's default stream, before they are submitted.
 *
 * Thread-safety: any number of threads may use one stream, and any number of streams one plan, one
 * context and one device; streams take turns as their frames come. A child of fork() cannot go on
 * with a stream. */
#ifndef TAMIS_STREAM_H
#define TAMIS_STREAM_H

#include <tamis/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_stream tamis_stream;

/* Options of a stream. Zero-initialize; every zero field means its default. */
typedef struct tamis_stream_options {
    int depth; /* frames under way at most, 1 .. 1024; 0 = as many as keep the plan's threads and
                  devices busy */
    const tamis_image *guide; /* for a plan that was made with a guide: it, for all frames; its
                                 memory must stay as it is until the stream is freed */
} tamis_stream_options;

/* Creates a stream for a plan, which must outlive it, and starts its threads. options may be NULL.
 * The caller owns *out; on failure it is NULL. Errors: ARGUMENT, MEMORY. */
TAMIS_API tamis_status tamis_stream_create(const tamis_plan *plan,
                                           const tamis_stream_options *options, tamis_stream **out);

/* Cancels what is under way, see tamis_stream_cancel(), and frees the stream, which no other thread
 * may be using. Results that were not taken are lost. *stream becomes NULL; NULL and *stream ==
 * NULL are fine. */
TAMIS_API void tamis_stream_free(tamis_stream **stream);

/* Frames that may be under way at once. For full speed a caller has that many pairs of images and
 * one or two more to fill and to empty; with temporal filters, tamis_plan_frames() more again. */
TAMIS_API int tamis_stream_depth(const tamis_stream *stream);

enum { TAMIS_STREAM_NOWAIT = 1 }; /* flags of tamis_stream_submit() */

/* Hands over the next frame: src and dst as for tamis_plan_run(), user for the result. The structs
 * are copied. The memory of both stays the caller's, who leaves it alone until the frame's result
 * has come; with temporal filters, src until the result of the frame tamis_plan_frames() later has
 * come, or the last one's of its sequence.
 *
 * Waits while tamis_stream_depth() frames are under way; with TAMIS_STREAM_NOWAIT it returns AGAIN
 * instead. Finished frames do not count, whether or not their results were taken, so that a thread
 * that submits and takes by turns never waits for itself.
 * Errors: ARGUMENT (images that do not fit the plan, or share memory; unknown flags), AGAIN,
 * MEMORY; then the stream is as it was. */
TAMIS_API tamis_status tamis_stream_submit(tamis_stream *stream, const tamis_image *src,
                                           const tamis_image *dst, void *user, unsigned flags);

/* Ends a sequence, at a cut of scenes or the end of all: frames before do not see those after it.
 * Nothing is waited for. Errors: none but ARGUMENT for NULL. */
TAMIS_API tamis_status tamis_stream_cut(tamis_stream *stream);

/* What became of a frame. */
typedef struct tamis_stream_result {
    void *user;           /* as submitted */
    int64_t index;        /* frames of this stream that were submitted before it */
    tamis_status status;  /* of this frame alone: CANCELED, MEMORY, DEVICE */
    tamis_image src, dst; /* as submitted */
    char device[16];      /* where it was filtered: "cpu", "cuda:0"; empty when it was not */
    char text[320];       /* why it failed; else empty */
} tamis_stream_result;

/* Takes the next result, in the order of submission, if it is there. That a frame failed is told by
 * result->status, and, but for CANCELED, by the context's newest message; the frames after it are
 * filtered all the same. Errors: AGAIN (not yet), ARGUMENT. */
TAMIS_API tamis_status tamis_stream_poll(tamis_stream *stream, tamis_stream_result *result);

/* As tamis_stream_poll(), but waits: for timeout_ms milliseconds at most, in which other threads
 * may submit, or, with a negative timeout_ms, until the next result is there. Then AGAIN says that
 * no frame is under way: all have come back, or those that have not still lack frames after them,
 * or tamis_stream_cut(). */
TAMIS_API tamis_status tamis_stream_wait(tamis_stream *stream, int timeout_ms,
                                         tamis_stream_result *result);

/* Cuts, and waits until the frames submitted so far are finished; their results remain to be taken.
 * Errors: ARGUMENT. */
TAMIS_API tamis_status tamis_stream_flush(tamis_stream *stream);

/* Stops: frames that have not begun are given up, those under way stop soon. When it returns, no
 * image of the frames submitted so far is read or written any more, and all results are there,
 * those of frames that were not finished with CANCELED. The stream goes on with the next frame. Not
 * for signal handlers. Errors: ARGUMENT. */
TAMIS_API tamis_status tamis_stream_cancel(tamis_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
