/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: what callers do, and frames on their way from one thread to another. */
#include "graph/stream.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "core/ctx.h"
#include "core/mem.h"

#define MAX_DEPTH 1024

/* ---- the list of frames; the mutex is held */

static int same_sequence(const tamis_stream_frame *a, const tamis_stream_frame *b)
{
    return a && b && a->sequence == b->sequence;
}

/* Whether no frame has to look at this one any more: those that could are done, and no more of them
 * can come. */
static int is_released(const tamis_stream *s, const tamis_stream_frame *frame)
{
    int after = 0, k = s->plan->frames;
    if (frame->state != TAMIS_FRAME_DONE)
        return 0;
    const tamis_stream_frame *f = frame->before;
    for (int i = 0; i < k && same_sequence(f, frame); i++, f = f->before)
        if (f->state != TAMIS_FRAME_DONE)
            return 0;
    for (f = frame->after; after < k && same_sequence(f, frame); after++, f = f->after)
        if (f->state != TAMIS_FRAME_DONE)
            return 0;
    return after == k || frame->sequence < s->sequence;
}

static void drop_copies(tamis_stream *s, tamis_stream_frame *frame)
{
    for (int i = 0; i < s->place_count && s->places[i].device; i++)
        tamis_priv_shared_drop(s->places[i].device, &frame->copies[i]);
}

static void retire(tamis_stream *s)
{
    tamis_stream_frame *f;
    while ((f = s->first) && f->taken && is_released(s, f)) {
        drop_copies(s, f);
        s->first = f->after;
        if (f->after)
            f->after->before = NULL;
        else
            s->last = NULL;
        tamis_priv_mem_free(s->ctx, f);
    }
}

/* Of a frame that is done, and those as near as the plan's filters look, some may be wanted no
 * longer. */
static void release(tamis_stream *s, tamis_stream_frame *frame)
{
    int64_t first = frame->result.index - s->plan->frames;
    int64_t last = frame->result.index + s->plan->frames;
    tamis_stream_frame *f = frame;
    while (f->before && f->before->result.index >= first)
        f = f->before;
    for (; f && f->result.index <= last; f = f->after)
        if (is_released(s, f))
            drop_copies(s, f);
    retire(s);
}

static void set_done(tamis_stream *s, tamis_stream_frame *frame, tamis_status status)
{
    frame->result.status = status;
    frame->state = TAMIS_FRAME_DONE;
    while (s->open && s->open->state == TAMIS_FRAME_DONE)
        s->open = s->open->after;
}

void tamis_priv_stream_done(tamis_stream *s, tamis_stream_frame *frame)
{
    s->under_way--;
    frame->place->under_way--;
    set_done(s, frame, frame->result.status);
    release(s, frame);
    pthread_cond_broadcast(&s->done);
}

/* The source's device, or the one with the least to do; of equals, the next by turns. */
static tamis_stream_place *choose_place(tamis_stream *s, const tamis_stream_frame *frame)
{
    int there = frame->result.src.device - 1, best = s->next_place;
    for (int i = 0; i < s->place_count; i++)
        if (there >= 0 && s->places[i].device && s->places[i].device->index == there)
            return &s->places[i];
    for (int i = 1; i < s->place_count; i++) {
        int k = (s->next_place + i) % s->place_count;
        if (s->places[k].under_way < s->places[best].under_way)
            best = k;
    }
    s->next_place = (best + 1) % s->place_count;
    return &s->places[best];
}

static void set_ready(tamis_stream *s, tamis_stream_frame *frame)
{
    frame->place = choose_place(s, frame);
    frame->state = TAMIS_FRAME_READY;
    frame->place->under_way++;
    s->under_way++;
    pthread_cond_broadcast(&s->ready);
}

/* The new last frame may be what the one so many before it has waited for. */
static void append(tamis_stream *s, tamis_stream_frame *frame)
{
    frame->before = s->last;
    if (s->last)
        s->last->after = frame;
    else
        s->first = frame;
    s->last = frame;
    if (!s->open)
        s->open = frame;
    if (!s->give)
        s->give = frame;
    tamis_stream_frame *f = frame;
    for (int i = 0; i < s->plan->frames && f; i++)
        f = f->before;
    if (same_sequence(f, frame) && f->state == TAMIS_FRAME_WAITING)
        set_ready(s, f);
}

static void cut(tamis_stream *s)
{
    s->sequence++;
    for (tamis_stream_frame *f = s->open; f; f = f->after)
        if (f->state == TAMIS_FRAME_WAITING)
            set_ready(s, f);
    if (s->last)
        release(s, s->last);
}

/* ---- creating and freeing */

static void init_locks(tamis_stream *s)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->ready, NULL);
    pthread_cond_init(&s->done, &clock);
    pthread_cond_init(&s->shared, NULL);
    pthread_condattr_destroy(&clock);
}

static tamis_status check_options(const tamis_plan *plan, const tamis_stream_options *options)
{
    if (options->depth < 0 || options->depth > MAX_DEPTH)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "stream: depth = %d is outside 0 .. %d", options->depth, MAX_DEPTH);
    tamis_rect all = {0};
    tamis_plan_size(plan, &all.w, &all.h);
    tamis_run_options run = {.guide = options->guide};
    return tamis_priv_guide_check(plan, all, &run);
}

tamis_status tamis_stream_create(const tamis_plan *plan, const tamis_stream_options *options,
                                 tamis_stream **out)
{
    static const tamis_stream_options defaults = {0};
    TAMIS_REQUIRE(plan ? plan->ctx : NULL, out);
    *out = NULL;
    TAMIS_REQUIRE(NULL, plan);
    if (!options)
        options = &defaults;
    TAMIS_TRY(check_options(plan, options));
    tamis_stream *s = tamis_priv_mem_zalloc(plan->ctx, sizeof *s);
    if (!s)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_MEMORY, "stream: no memory");
    s->plan = plan;
    s->ctx = plan->ctx;
    if (options->guide) {
        s->has_guide = 1;
        s->guide = *options->guide;
    }
    init_locks(s);
    tamis_status status = tamis_priv_stream_start(s, options->depth);
    if (status != TAMIS_OK)
        tamis_stream_free(&s);
    *out = s;
    return status;
}

void tamis_stream_free(tamis_stream **stream)
{
    if (!stream || !*stream)
        return;
    tamis_stream *s = *stream;
    tamis_stream_cancel(s);
    for (tamis_stream_frame *f = s->first; f; f = f->after)
        f->taken = 1;
    retire(s);
    tamis_priv_stream_end(s);
    for (int i = 0; i < s->place_count && s->places[i].device; i++)
        tamis_priv_shared_drop(s->places[i].device, &s->places[i].guide);
    pthread_cond_destroy(&s->shared);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->ready);
    pthread_mutex_destroy(&s->mutex);
    tamis_priv_mem_free(s->ctx, s->lanes);
    tamis_priv_mem_free(s->ctx, s->places);
    tamis_priv_mem_free(s->ctx, s);
    *stream = NULL;
}

int tamis_stream_depth(const tamis_stream *stream)
{
    return stream ? stream->depth : 0;
}

/* ---- frames in */

/* A frame's result must not lie in what a frame near it is made from. */
static tamis_status check_near(const tamis_stream *s, const tamis_stream_frame *frame)
{
    const tamis_stream_frame *f = s->last;
    const tamis_image *src = &frame->result.src, *dst = &frame->result.dst;
    for (int i = 0; i < s->plan->frames && f && f->sequence == s->sequence; i++, f = f->before) {
        if (f->result.src.device != src->device)
            return tamis_priv_fail(s->ctx, TAMIS_ERR_ARGUMENT,
                                   "stream: frames that read each other must be all in host memory "
                                   "or all on one device");
        if (tamis_priv_images_overlap(&f->result.src, dst) ||
            tamis_priv_images_overlap(&f->result.dst, src))
            return tamis_priv_fail(s->ctx, TAMIS_ERR_ARGUMENT,
                                   "stream: a frame and the destination of one near it share "
                                   "memory; the filter needs both");
    }
    return TAMIS_OK;
}

/* Waits for room, with the mutex held. */
static int wait_for_room(tamis_stream *s, unsigned flags)
{
    while (s->canceling || s->under_way >= s->depth) {
        if (flags & TAMIS_STREAM_NOWAIT)
            return 0;
        pthread_cond_wait(&s->done, &s->mutex);
    }
    return 1;
}

static tamis_status enqueue(tamis_stream *s, tamis_stream_frame *frame, unsigned flags)
{
    pthread_mutex_lock(&s->mutex);
    tamis_status status = wait_for_room(s, flags) ? check_near(s, frame) : TAMIS_ERR_AGAIN;
    if (status == TAMIS_OK) {
        frame->result.index = s->submitted++;
        frame->sequence = s->sequence;
        append(s, frame);
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}

tamis_status tamis_stream_submit(tamis_stream *stream, const tamis_image *src,
                                 const tamis_image *dst, void *user, unsigned flags)
{
    tamis_rect all = {0};
    TAMIS_REQUIRE(NULL, stream);
    TAMIS_REQUIRE(stream->ctx, src);
    TAMIS_REQUIRE(stream->ctx, dst);
    if (flags & ~(unsigned)TAMIS_STREAM_NOWAIT)
        return tamis_priv_fail(stream->ctx, TAMIS_ERR_ARGUMENT, "stream: flags = %#x, unknown",
                               flags);
    tamis_plan_size(stream->plan, &all.w, &all.h);
    tamis_run_options options = {.guide = stream->has_guide ? &stream->guide : NULL};
    TAMIS_TRY(tamis_priv_run_check(stream->plan, src, all, dst, &options));
    size_t copies = (size_t)stream->place_count * sizeof(tamis_shared_frame);
    tamis_stream_frame *frame = tamis_priv_mem_zalloc(stream->ctx, sizeof *frame + copies);
    if (!frame)
        return tamis_priv_fail(stream->ctx, TAMIS_ERR_MEMORY, "stream: no memory");
    frame->result.src = *src;
    frame->result.dst = *dst;
    frame->result.user = user;
    tamis_status status = enqueue(stream, frame, flags);
    if (status != TAMIS_OK)
        tamis_priv_mem_free(stream->ctx, frame);
    return status;
}

tamis_status tamis_stream_cut(tamis_stream *stream)
{
    TAMIS_REQUIRE(NULL, stream);
    pthread_mutex_lock(&stream->mutex);
    cut(stream);
    pthread_mutex_unlock(&stream->mutex);
    return TAMIS_OK;
}

/* ---- results out */

/* Takes the next result, with the mutex held. */
static int take(tamis_stream *s, tamis_stream_result *result)
{
    tamis_stream_frame *f = s->give;
    if (!f || f->state != TAMIS_FRAME_DONE)
        return 0;
    *result = f->result;
    f->taken = 1;
    s->give = f->after;
    retire(s);
    return 1;
}

/* The failure is told on the caller's thread, not on the one that met it. */
static void tell(tamis_stream *s, const tamis_stream_result *r)
{
    if (r->status != TAMIS_OK && r->status != TAMIS_ERR_CANCELED)
        tamis_priv_fail(s->ctx, r->status, "stream: frame %lld: %s", (long long)r->index, r->text);
}

static struct timespec deadline_after(int timeout_ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout_ms / 1000;
    t.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

tamis_status tamis_stream_wait(tamis_stream *stream, int timeout_ms, tamis_stream_result *result)
{
    TAMIS_REQUIRE(NULL, stream);
    TAMIS_REQUIRE(stream->ctx, result);
    *result = (tamis_stream_result){0};
    struct timespec deadline = deadline_after(timeout_ms > 0 ? timeout_ms : 0);
    int late = timeout_ms == 0, taken;
    pthread_mutex_lock(&stream->mutex);
    while (!(taken = take(stream, result)) && !late) {
        if (timeout_ms > 0)
            late = pthread_cond_timedwait(&stream->done, &stream->mutex, &deadline) == ETIMEDOUT;
        else if (stream->under_way > 0)
            pthread_cond_wait(&stream->done, &stream->mutex);
        else
            late = 1;
    }
    pthread_mutex_unlock(&stream->mutex);
    if (!taken)
        return TAMIS_ERR_AGAIN;
    tell(stream, result);
    return TAMIS_OK;
}

tamis_status tamis_stream_poll(tamis_stream *stream, tamis_stream_result *result)
{
    return tamis_stream_wait(stream, 0, result);
}

tamis_status tamis_stream_flush(tamis_stream *stream)
{
    TAMIS_REQUIRE(NULL, stream);
    pthread_mutex_lock(&stream->mutex);
    cut(stream);
    int64_t end = stream->submitted;
    while (stream->open && stream->open->result.index < end)
        pthread_cond_wait(&stream->done, &stream->mutex);
    pthread_mutex_unlock(&stream->mutex);
    return TAMIS_OK;
}

/* Gives up what has not begun, with the mutex held. */
static void give_up(tamis_stream *s)
{
    for (tamis_stream_frame *f = s->open; f; f = f->after) {
        if (f->state != TAMIS_FRAME_WAITING && f->state != TAMIS_FRAME_READY)
            continue;
        if (f->state == TAMIS_FRAME_READY) {
            s->under_way--;
            f->place->under_way--;
        }
        snprintf(f->result.text, sizeof f->result.text, "canceled");
        f->result.status = TAMIS_ERR_CANCELED;
        f->state = TAMIS_FRAME_DONE;
    }
    while (s->open && s->open->state == TAMIS_FRAME_DONE)
        s->open = s->open->after;
}

tamis_status tamis_stream_cancel(tamis_stream *stream)
{
    TAMIS_REQUIRE(NULL, stream);
    pthread_mutex_lock(&stream->mutex);
    stream->canceling++;
    stream->sequence++;
    __atomic_store_n(&stream->cancel, 1, __ATOMIC_RELAXED);
    give_up(stream);
    while (stream->under_way > 0)
        pthread_cond_wait(&stream->done, &stream->mutex);
    if (--stream->canceling == 0)
        __atomic_store_n(&stream->cancel, 0, __ATOMIC_RELAXED);
    for (tamis_stream_frame *f = stream->first; f; f = f->after)
        if (is_released(stream, f))
            drop_copies(stream, f);
    retire(stream);
    pthread_cond_broadcast(&stream->done);
    pthread_mutex_unlock(&stream->mutex);
    return TAMIS_OK;
}
