/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan on a device: step after step on one stream, each on the whole part that the steps
 * after it need. */
#include <stdio.h>
#include <string.h>

#include "core/ctx.h"
#include "graph/device_session.h"

/* ---- all steps */

int tamis_priv_device_stopped(const tamis_session *s)
{
    const volatile int *cancel = s->options->cancel;
    if (s->room && s->room->capturing) /* all or nothing */
        return 0;
    if (s->stop && atomic_load(s->stop))
        return 1;
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

/* Which part of what goes into each step a part of the result depends on. */
static void plan_parts(tamis_session *s, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    s->parts[plan->count] = rect;
    for (int k = plan->count - 1; k >= 0; k--) {
        const tamis_step *step = &plan->steps[k];
        if (step->node.finish)
            s->parts[k + 1] = (tamis_rect){0, 0, step->out_w, step->out_h};
        tamis_box box = tamis_priv_step_need(step, s->parts[k + 1]);
        if (!step->node.gather)
            box = tamis_priv_fetch_origin(&step->fetch, box);
        s->parts[k] = (tamis_rect){(int32_t)box.x, (int32_t)box.y, box.w, box.h};
    }
}

int tamis_priv_device_needs_whole(const tamis_plan *plan)
{
    for (int k = 0; k < plan->count; k++)
        if (plan->steps[k].node.finish)
            return 1;
    return 0;
}

tamis_rect tamis_priv_device_need(const tamis_plan *plan, tamis_rect rect)
{
    tamis_session s = {.plan = plan};
    plan_parts(&s, rect);
    return tamis_priv_with_slack(s.parts[0], plan->w, plan->h);
}

/* Frames -around .. around of what goes into a step. */
struct sequence {
    tamis_held frame[2 * TAMIS_MAX_FRAMES + 1];
    int around;
};

static void drop_sequence(tamis_session *s, struct sequence *q)
{
    for (int f = 0; f <= 2 * q->around; f++)
        tamis_priv_held_drop(s, &q->frame[f]);
}

/* Replaces the input of step k by its output; the last step's goes to dst where it fits there. */
static tamis_status advance(tamis_session *s, int k, struct sequence *q, const tamis_held *guide,
                            const tamis_held *dst, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    const tamis_step *step = &plan->steps[k];
    struct sequence next = {.around = q->around - step->node.frames};
    tamis_status status = TAMIS_OK;
    for (int f = 0; f <= 2 * next.around && status == TAMIS_OK; f++) {
        tamis_held *out = &next.frame[f];
        const tamis_held *now = &q->frame[f + step->node.frames];
        if (!now->count)
            continue;
        if (k == plan->count - 1 && tamis_priv_rect_is_same(s->parts[k + 1], rect)) {
            *out = *dst;
            out->block = NULL;
        } else {
            status = tamis_priv_held_make(
                s, step->node.out, tamis_priv_with_slack(s->parts[k + 1], step->out_w, step->out_h),
                now->count, out);
            out->there = s->parts[k + 1];
            if (status == TAMIS_OK)
                status = tamis_priv_held_clear(s, out);
        }
        if (status == TAMIS_OK)
            status = tamis_priv_device_step(s, k, &q->frame[f], guide, out);
    }
    drop_sequence(s, q);
    *q = next;
    return status;
}

/* From sources on the device to a part of the result there. */
static tamis_status walk(tamis_session *s, struct sequence *q, const tamis_held *guide,
                         const tamis_held *dst, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    for (int k = 0; k < plan->count && status == TAMIS_OK && !tamis_priv_device_stopped(s); k++)
        status = advance(s, k, q, guide, dst, rect);
    int direct = plan->count > 0 && tamis_priv_rect_is_same(s->parts[plan->count], rect);
    if (status == TAMIS_OK && !direct && !tamis_priv_device_stopped(s))
        status = tamis_priv_held_convert(s, &q->frame[q->around], dst, rect, 0,
                                         dst->format.channels, TAMIS_GPU_ALPHA_KEEP);
    drop_sequence(s, q);
    return status;
}

/* A walk whose source stays, so that each finds the same memory free. */
static tamis_status walk_again(tamis_session *s, void *user)
{
    const tamis_walk *w = user;
    struct sequence q = {.around = 0};
    q.frame[0] = w->src;
    q.frame[0].block = NULL;
    return walk(s, &q, &w->guide, &w->dst, w->rect);
}

static tamis_status run_steps(tamis_session *s, struct sequence *q, const tamis_held *guide,
                              const tamis_held *dst, tamis_rect rect)
{
    if (!s->room || q->around > 0)
        return walk(s, q, guide, dst, rect);
    tamis_walk w = {.src = q->frame[0], .guide = *guide, .dst = *dst, .rect = rect};
    tamis_status status = tamis_priv_room_run(s, &w, walk_again, &w);
    drop_sequence(s, q);
    return status;
}

tamis_status tamis_priv_device_pictures(tamis_session *s, tamis_held *src, const tamis_held *guide,
                                        const tamis_held *dst)
{
    struct sequence q = {.around = s->plan->frames};
    q.frame[q.around] = *src;
    *src = (tamis_held){0};
    plan_parts(s, dst->box);
    return run_steps(s, &q, guide, dst, dst->box);
}

/* ---- images on the device */

static const tamis_image *frame_at(const tamis_session *s, const tamis_image *src, int f)
{
    int i = s->plan->frames + f;
    return f == 0 ? src : s->options->frames ? s->options->frames[i] : NULL;
}

/* The part of a picture that an image of the caller's holds. */
static tamis_rect window_of(const tamis_image *image, const tamis_rect *window)
{
    return window ? *window : (tamis_rect){0, 0, image->w, image->h};
}

static tamis_held held_there(const tamis_image *image, const tamis_rect *window)
{
    tamis_rect w = window_of(image, window);
    return tamis_priv_held_of_image(image, w.x, w.y);
}

static tamis_status run_there(tamis_session *s, const tamis_image *src, tamis_rect rect,
                              const tamis_image *dst)
{
    struct sequence q = {.around = s->plan->frames};
    tamis_held guide = {0}, result = tamis_priv_held_of_image(dst, rect.x, rect.y);
    for (int f = -q.around; f <= q.around; f++)
        if (frame_at(s, src, f))
            q.frame[q.around + f] = held_there(frame_at(s, src, f), s->options->window);
    if (s->options->guide)
        guide = held_there(s->options->guide, s->options->guide_window);
    plan_parts(s, rect);
    return run_steps(s, &q, &guide, &result, rect);
}

/* ---- results in host memory, of images that are there, too, or on the device */

/* What the window shares is brought to the device unless another run has done so. */
static tamis_status take_shared(tamis_session *s, const tamis_image *image,
                                tamis_shared_frame *frame, tamis_held *out)
{
    tamis_window *w = s->window;
    tamis_status status = TAMIS_OK;
    pthread_mutex_lock(w->mutex);
    while (frame->state == TAMIS_SHARED_COMING)
        pthread_cond_wait(w->changed, w->mutex);
    if (frame->state == TAMIS_SHARED_ABSENT) {
        tamis_held held = {0};
        frame->state = TAMIS_SHARED_COMING;
        pthread_mutex_unlock(w->mutex);
        tamis_rect all = {0, 0, image->w, image->h};
        tamis_room *room = s->room;
        s->room = NULL; /* it outlives the run */
        status = tamis_priv_held_upload(s, image, all, image->w, image->h, all, &held);
        if (status == TAMIS_OK) /* streams of other runs know nothing of this one */
            status = s->device->backend->wait(s->device->gpu, s->stream, &s->fault);
        if (status != TAMIS_OK)
            tamis_priv_held_drop(s, &held);
        s->room = room;
        pthread_mutex_lock(w->mutex);
        frame->held = held;
        frame->state = status == TAMIS_OK ? TAMIS_SHARED_THERE : TAMIS_SHARED_ABSENT;
        pthread_cond_broadcast(w->changed);
    }
    *out = frame->held;
    out->block = NULL;
    pthread_mutex_unlock(w->mutex);
    return status;
}

static tamis_status upload_frame(tamis_session *s, const tamis_image *image, int f, tamis_held *out)
{
    if (image->device) {
        *out = held_there(image, s->options->window);
        return TAMIS_OK;
    }
    if (s->window && s->window->frames[f])
        return take_shared(s, image, s->window->frames[f], out);
    return tamis_priv_held_upload(s, image, window_of(image, s->options->window), s->plan->w,
                                  s->plan->h, s->parts[0], out);
}

static tamis_status upload_inputs(tamis_session *s, const tamis_image *src, struct sequence *q,
                                  tamis_held *guide)
{
    const tamis_plan *plan = s->plan;
    for (int f = 0; f <= 2 * q->around; f++)
        if (frame_at(s, src, f - q->around))
            TAMIS_TRY(upload_frame(s, frame_at(s, src, f - q->around), f, &q->frame[f]));
    if (!s->options->guide)
        return TAMIS_OK;
    if (s->options->guide->device) {
        *guide = held_there(s->options->guide, s->options->guide_window);
        return TAMIS_OK;
    }
    if (s->window && s->window->guide)
        return take_shared(s, s->options->guide, s->window->guide, guide);
    tamis_rect part = plan->steps[0].node.guide_is_map ? s->parts[1] : s->parts[0];
    return tamis_priv_held_upload(s, s->options->guide,
                                  window_of(s->options->guide, s->options->guide_window),
                                  plan->guide_w, plan->guide_h, part, guide);
}

/* The part `rect` of the result, which goes to its place in dst; (x, y) is dst's corner. */
static tamis_status run_band(tamis_session *s, const tamis_image *src, tamis_rect rect,
                             const tamis_image *dst, int32_t x, int32_t y)
{
    struct sequence q = {.around = s->plan->frames};
    tamis_held guide = {0}, result = {0};
    plan_parts(s, rect);
    tamis_status status = upload_inputs(s, src, &q, &guide);
    if (status == TAMIS_OK)
        status = tamis_priv_held_make(s, dst->format, rect, 1, &result);
    if (status == TAMIS_OK)
        status = run_steps(s, &q, &guide, &result, rect);
    else
        drop_sequence(s, &q);
    if (status == TAMIS_OK && !tamis_priv_device_stopped(s))
        status = tamis_priv_held_download(s, &result, rect, dst, x, y);
    tamis_priv_held_drop(s, &guide);
    tamis_priv_held_drop(s, &result);
    tamis_status waited = s->device->backend->wait(s->device->gpu, s->stream, &s->fault);
    return status == TAMIS_OK ? waited : status;
}

static int32_t first_height(const tamis_session *s, tamis_rect rect)
{
    int32_t h = s->plan->device_tile_h;
    return h > 0 && h < rect.h ? h : rect.h;
}

/* Says of a failure why lower bands would not help. */
static tamis_status add_whole(tamis_session *s)
{
    char text[sizeof s->fault.text];
    memcpy(text, s->fault.text, sizeof text);
    snprintf(s->fault.text, sizeof s->fault.text,
             "%.160s; the chain needs its whole picture there at once", text);
    return TAMIS_ERR_MEMORY;
}

/* In bands from top to bottom: one where the device's memory is enough, else of half the height,
 * and so on. The bits do not depend on it. */
static tamis_status run_here(tamis_session *s, const tamis_image *src, tamis_rect rect,
                             const tamis_image *dst, int32_t x, int32_t y0)
{
    int32_t height = first_height(s, rect);
    if (height < rect.h)
        s->room = NULL; /* which is for whole frames */
    for (int32_t y = 0; y < rect.h && !tamis_priv_device_stopped(s);) {
        int32_t h = rect.h - y < height ? rect.h - y : height;
        tamis_status status =
            run_band(s, src, (tamis_rect){rect.x, rect.y + y, rect.w, h}, dst, x, y0);
        if (status == TAMIS_ERR_MEMORY && tamis_priv_device_needs_whole(s->plan))
            return add_whole(s);
        if (status == TAMIS_ERR_MEMORY && h > 1 && !s->crowded) {
            height = h / 2;
            s->window = NULL; /* frames come as the parts that are needed */
            tamis_priv_log(s->plan->ctx, TAMIS_LOG_INFO, "%s: %s; going on in bands of %d rows",
                           s->device->name, s->fault.text, height);
            continue;
        }
        if (status != TAMIS_OK)
            return status;
        y += h;
        if (s->options->progress && !s->silent && y < rect.h && !tamis_priv_device_stopped(s))
            s->options->progress(s->options->progress_user, y, rect.h);
    }
    return TAMIS_OK;
}

/* ---- the whole */

static tamis_status run_on_stream(tamis_session *s, const tamis_image *src, tamis_rect band,
                                  const tamis_image *dst, int32_t x, int32_t y)
{
    const tamis_backend *backend = s->device->backend;
    if (s->options->stream) {
        s->stream = s->options->stream;
        return run_there(s, src, band, dst);
    }
    if (src->device) /* whoever filled it may know no other stream than the default one */
        TAMIS_TRY(backend->wait(s->device->gpu, NULL, &s->fault));
    TAMIS_TRY(backend->stream_get(s->device->gpu, &s->stream, &s->fault));
    tamis_status status = TAMIS_OK;
    if (dst->device) {
        status = run_there(s, src, band, dst);
        tamis_status waited = backend->wait(s->device->gpu, s->stream, &s->fault);
        status = status == TAMIS_OK ? waited : status;
    } else {
        status = run_here(s, src, band, dst, x, y);
    }
    backend->stream_put(s->device->gpu, s->stream);
    return status;
}

tamis_status tamis_priv_device_run_on(tamis_session *s, const tamis_image *src, tamis_rect band,
                                      const tamis_image *dst, int32_t x, int32_t y)
{
    const struct tamis_device_plan *d = s->device;
    void *before = NULL;
    TAMIS_TRY(d->backend->enter(d->gpu, &before, &s->fault));
    tamis_status status = run_on_stream(s, src, band, dst, x, y);
    d->backend->leave(d->gpu, before);
    return status;
}
