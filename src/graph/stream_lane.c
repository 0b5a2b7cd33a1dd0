/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: the threads that filter frames. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/stream.h"

/* Threads for each device: while one waits for what comes and one for what goes, others are ready
 * to follow. */
enum { DEVICE_LANES = 4 };
/* Pixels that make a picture large enough for a thread more to work on it. */
enum { THREAD_PIXELS = 1 << 18 };

/* ---- what frames leave to the next; called with the mutex held */

/* Frames around others are shared, and lie elsewhere each time. */
static tamis_room *take_room(tamis_stream *s, tamis_stream_place *place)
{
    tamis_room *room = place->rooms;
    if (!place->device || place->plain || s->plan->frames)
        return NULL;
    if (!room)
        return tamis_priv_mem_zalloc(s->ctx, sizeof *room);
    place->rooms = room->next;
    room->next = NULL;
    return room;
}

static void free_rooms(tamis_stream *s, tamis_stream_place *place)
{
    tamis_room *room;
    while ((room = place->rooms)) {
        place->rooms = room->next;
        tamis_priv_room_clear(place->device, room);
        tamis_priv_mem_free(s->ctx, room);
    }
}

/* Where frames are large nothing is kept from then on. */
static void leave_room(tamis_stream *s, tamis_stream_place *place, tamis_room *room)
{
    if (!room)
        return;
    room->next = place->rooms;
    place->rooms = room;
    place->plain |= room->full;
    if (place->plain)
        free_rooms(s, place);
}

/* ---- one frame */

/* Frames around one, oldest first; called with the mutex held. */
static void look_around(const tamis_stream *s, tamis_stream_frame *frame, tamis_stream_frame **out)
{
    int k = s->plan->frames;
    for (int i = 0; i <= 2 * k; i++)
        out[i] = NULL;
    tamis_stream_frame *f = frame;
    for (int i = k; i >= 0 && f && f->sequence == frame->sequence; i--, f = f->before)
        out[i] = f;
    f = frame;
    for (int i = k; i <= 2 * k && f && f->sequence == frame->sequence; i++, f = f->after)
        out[i] = f;
}

/* What runs there share: frames that others read as well, and the guide. */
static void share(tamis_stream *s, tamis_stream_place *place, tamis_stream_frame *const *around,
                  tamis_window *w)
{
    int k = s->plan->frames, there = around[k]->result.src.device;
    *w = (tamis_window){.mutex = &s->mutex, .changed = &s->shared};
    for (int i = 0; k > 0 && !there && i <= 2 * k; i++)
        if (around[i])
            w->frames[i] = &around[i]->copies[place->index];
    if (s->has_guide && !s->guide.device)
        w->guide = &place->guide;
}

static tamis_status run_on_device(tamis_session *session, tamis_stream_result *r)
{
    tamis_rect all = {0, 0, r->dst.w, r->dst.h};
    tamis_status status = tamis_priv_device_run_on(session, &r->src, all, &r->dst, 0, 0);
    if (status != TAMIS_OK)
        snprintf(r->text, sizeof r->text, "%s: %s", session->device->name, session->fault.text);
    else if (tamis_priv_device_stopped(session))
        status = TAMIS_ERR_CANCELED;
    return status;
}

/* Called with the mutex held, which it gives away meanwhile. alone: no other run is there, and
 * nothing is kept for others, so that bands find all of the memory. */
static void run_frame_once(tamis_stream *s, tamis_stream_place *place, tamis_stream_frame *frame,
                           int alone)
{
    tamis_stream_frame *around[2 * TAMIS_MAX_FRAMES + 1];
    const tamis_image *images[2 * TAMIS_MAX_FRAMES + 1];
    tamis_stream_result *r = &frame->result;
    tamis_window window;
    tamis_room *room = alone ? NULL : take_room(s, place);
    look_around(s, frame, around);
    for (int i = 0; i <= 2 * s->plan->frames; i++)
        images[i] = around[i] ? &around[i]->result.src : NULL;
    share(s, place, around, &window);
    pthread_mutex_unlock(&s->mutex);
    tamis_run_options options = {.cancel = &s->cancel,
                                 .guide = s->has_guide ? &s->guide : NULL,
                                 .frames = s->plan->frames ? images : NULL};
    tamis_rect all = {0, 0, r->dst.w, r->dst.h};
    tamis_session session = {.plan = s->plan,
                             .device = place->device,
                             .options = &options,
                             .window = alone ? NULL : &window,
                             .room = room,
                             .crowded = !alone,
                             .silent = 1};
    r->text[0] = '\0';
    snprintf(r->device, sizeof r->device, "%s", place->device ? place->device->name : "cpu");
    if (place->device)
        r->status = run_on_device(&session, r);
    else if (!tamis_priv_host_run(s->plan, &r->src, all, &r->dst, &options))
        r->status = TAMIS_ERR_CANCELED;
    else
        r->status = TAMIS_OK;
    if (r->status == TAMIS_ERR_CANCELED)
        snprintf(r->text, sizeof r->text, "canceled");
    pthread_mutex_lock(&s->mutex);
    leave_room(s, place, room);
}

/* Gives back what runs there share; called with the mutex held, while none does run. */
static void drop_shared(tamis_stream *s, tamis_stream_place *place)
{
    if (!place->device)
        return;
    for (tamis_stream_frame *f = s->first; f; f = f->after)
        tamis_priv_shared_drop(place->device, &f->copies[place->index]);
    tamis_priv_shared_drop(place->device, &place->guide);
}

/* A frame that lacked memory on a device may find enough when the others there are done; if not, it
 * goes in bands. */
static void run_frame(tamis_stream *s, tamis_stream_place *place, tamis_stream_frame *frame)
{
    place->running++;
    run_frame_once(s, place, frame, 0);
    place->running--;
    if (frame->result.status == TAMIS_ERR_MEMORY && place->device) {
        place->starved++;
        place->plain = 1;
        pthread_cond_broadcast(&s->ready);
        while (place->running > 0)
            pthread_cond_wait(&s->ready, &s->mutex);
        drop_shared(s, place);
        free_rooms(s, place);
        place->running++;
        run_frame_once(s, place, frame, 1);
        place->running--;
        place->starved--;
    }
    pthread_cond_broadcast(&s->ready);
}

/* ---- threads */

static tamis_stream_frame *find_ready(const tamis_stream *s, const tamis_stream_place *place)
{
    tamis_stream_frame *f = place->starved ? NULL : s->open;
    while (f && (f->state != TAMIS_FRAME_READY || f->place != place))
        f = f->after;
    return f;
}

static void *work(void *user)
{
    tamis_stream_lane *lane = user;
    tamis_stream *s = lane->stream;
    pthread_mutex_lock(&s->mutex);
    while (!s->quit) {
        tamis_stream_frame *frame = find_ready(s, lane->place);
        if (!frame) {
            pthread_cond_wait(&s->ready, &s->mutex);
            continue;
        }
        frame->state = TAMIS_FRAME_RUNNING;
        run_frame(s, lane->place, frame);
        tamis_priv_stream_done(s, frame);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* On the CPU as many pictures at once as leave each with what threads it can use. Plans with whole
 * images of their own run one at a time. */
static int count_lanes(const tamis_plan *plan, int places)
{
    int32_t w, h;
    if (plan->device)
        return DEVICE_LANES * places;
    if (plan->hold_bytes)
        return 1;
    tamis_plan_size(plan, &w, &h);
    int64_t threads = tamis_ctx_threads(plan->ctx), each = (int64_t)w * h / THREAD_PIXELS;
    return each < 2 ? (int)threads : (int)((threads + each - 1) / each);
}

static tamis_status start_lanes(tamis_stream *s, int count)
{
    sigset_t all, old;
    sigfillset(&all); /* signals stay with the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = 0;
    for (int i = 0; i < count && !failed; i++) {
        tamis_stream_lane *lane = &s->lanes[i];
        *lane = (tamis_stream_lane){.stream = s, .place = &s->places[i % s->place_count]};
        failed = pthread_create(&lane->thread, NULL, work, lane);
        s->lane_count += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (s->lane_count < s->place_count)
        return tamis_priv_fail(s->ctx, TAMIS_ERR_MEMORY, "stream: a thread cannot be started");
    return TAMIS_OK;
}

tamis_status tamis_priv_stream_start(tamis_stream *s, int depth)
{
    int devices = tamis_priv_device_count(s->plan), places = devices ? devices : 1;
    int lanes = count_lanes(s->plan, places);
    s->depth = depth ? depth : lanes + places;
    if (lanes > s->depth)
        lanes = s->depth > places ? s->depth : places;
    s->places = tamis_priv_mem_zalloc(s->ctx, (size_t)places * sizeof *s->places);
    s->lanes = tamis_priv_mem_zalloc(s->ctx, (size_t)lanes * sizeof *s->lanes);
    if (!s->places || !s->lanes)
        return tamis_priv_fail(s->ctx, TAMIS_ERR_MEMORY, "stream: no memory");
    struct tamis_device_plan *d = s->plan->device;
    s->place_count = places;
    for (int i = 0; i < places; i++, d = d ? d->next : NULL) {
        s->places[i].device = d;
        s->places[i].index = i;
        s->places[i].plain = getenv("TAMIS_STREAM_PLAIN") != NULL; /* for measuring */
    }
    return start_lanes(s, lanes);
}

void tamis_priv_stream_end(tamis_stream *s)
{
    pthread_mutex_lock(&s->mutex);
    s->quit = 1;
    pthread_cond_broadcast(&s->ready);
    pthread_mutex_unlock(&s->mutex);
    for (int i = 0; i < s->lane_count; i++)
        pthread_join(s->lanes[i].thread, NULL);
    for (int i = 0; i < s->place_count; i++)
        free_rooms(s, &s->places[i]);
}
