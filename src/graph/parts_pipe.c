/* SPDX-License-Identifier: Apache-2.0 */
/* Parts on their way: one is read and one is written while another is filtered. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/parts.h"

/* One walk. Threads read and write where there is more than one part and they can be started; else
 * the caller's does all. */
struct pipe {
    tamis_stage *stage;
    void *results[TAMIS_PARTS_DEPTH];
    pthread_t reader, writer;
    int reader_runs, writer_runs;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t moved;
    int64_t loaded, made, stored; /* parts */
    tamis_status status;          /* other than OK: all stop */
};

static tamis_ctx *ctx_of(const struct pipe *p)
{
    return p->stage->plan->ctx;
}

/* ---- taking turns */

/* Waits until a count has come that far; 0 when all shall stop. */
static int wait_for(struct pipe *p, const int64_t *count, int64_t least)
{
    pthread_mutex_lock(&p->mutex);
    while (*count < least && p->status == TAMIS_OK)
        pthread_cond_wait(&p->moved, &p->mutex);
    int goes_on = p->status == TAMIS_OK;
    pthread_mutex_unlock(&p->mutex);
    return goes_on;
}

/* Counts a part, or stops all; the first failure stays. */
static void report(struct pipe *p, int64_t *count, tamis_status status)
{
    pthread_mutex_lock(&p->mutex);
    if (status == TAMIS_OK)
        ++*count;
    else if (p->status == TAMIS_OK)
        p->status = status;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->mutex);
}

/* ---- reading */

static tamis_image image_in(tamis_format format, int32_t w, int32_t h, void *memory)
{
    size_t stride, bytes = tamis_priv_parts_bytes(format, w, h, &stride);
    tamis_image image = {.format = format, .w = w, .h = h};
    int planes = tamis_image_planes(&image);
    for (int p = 0; p < planes; p++) {
        image.data[p] = (char *)memory + (size_t)p * (bytes / (size_t)planes);
        image.stride[p] = (ptrdiff_t)stride;
    }
    return image;
}

/* A part, given in the whole's coordinates, of the window that an image is. */
static tamis_image part_of(tamis_ctx *ctx, const tamis_image *image, tamis_rect window,
                           tamis_rect part)
{
    tamis_image view;
    part.x -= window.x;
    part.y -= window.y;
    tamis_image_view(ctx, image, part, &view);
    return view;
}

/* Fills the feed's window for a part: what the window before has of it is copied. */
static tamis_status load_feed(struct pipe *p, int index, int64_t i)
{
    tamis_feed *f = &p->stage->feeds[index];
    int now = (int)(i % TAMIS_PARTS_DEPTH), last = (int)((i + 1) % TAMIS_PARTS_DEPTH);
    if (!f->source || f->whole.data[0])
        return TAMIS_OK;
    tamis_rect w = tamis_priv_parts_window(p->stage, index, tamis_priv_parts_at(p->stage, i));
    tamis_rect have = tamis_priv_parts_kept(i ? f->held[last] : (tamis_rect){0}, w), rest[2];
    int count = tamis_priv_parts_rest(w, have, rest);
    tamis_image *image = &f->windows[now];
    f->held[now] = w;
    *image = image_in(f->format, w.w, w.h, f->memory[now]);
    if (have.w > 0) {
        tamis_image from = part_of(ctx_of(p), &f->windows[last], f->held[last], have);
        tamis_image to = part_of(ctx_of(p), image, w, have);
        TAMIS_TRY(tamis_image_copy(ctx_of(p), &from, &to));
    }
    for (int r = 0; r < count; r++) {
        tamis_image view = part_of(ctx_of(p), image, w, rest[r]);
        TAMIS_TRY(f->source->read(f->source->user, rest[r], &view));
    }
    return TAMIS_OK;
}

static tamis_status load(struct pipe *p, int64_t i)
{
    for (int f = 0; p->stage->feeds && f < TAMIS_FEED_COUNT; f++)
        TAMIS_TRY(load_feed(p, f, i));
    return TAMIS_OK;
}

/* ---- writing */

static tamis_image result_of(struct pipe *p, int64_t i)
{
    const tamis_stage *s = p->stage;
    tamis_rect part = tamis_priv_parts_at(s, i);
    if (!s->make)
        return part_of(ctx_of(p), &s->ready, s->result, part);
    return image_in(s->format, part.w, part.h, p->results[i % TAMIS_PARTS_DEPTH]);
}

static tamis_status store(struct pipe *p, int64_t i)
{
    const tamis_part_target *target = p->stage->target;
    if (!target)
        return TAMIS_OK;
    tamis_image image = result_of(p, i);
    return target->write(target->user, tamis_priv_parts_at(p->stage, i), &image);
}

/* ---- filtering */

/* Progress of one part as progress of all. */
struct share {
    const struct pipe *pipe;
    int64_t pixels;
};

static void pass_on(void *user, int64_t done, int64_t total)
{
    const struct share *share = user;
    const tamis_stage *s = share->pipe->stage;
    int64_t now = *s->done + (int64_t)((double)share->pixels * (double)done / (double)total);
    if (now < s->total) /* the end is reported once */
        s->options->progress(s->options->progress_user, now, s->total);
}

/* What a feed has for a part, and of which window where it has not all. */
static const tamis_image *input(const tamis_feed *f, int64_t i, const tamis_rect **window)
{
    int now = (int)(i % TAMIS_PARTS_DEPTH);
    if (f->whole.data[0])
        return &f->whole;
    *window = &f->held[now];
    return &f->windows[now];
}

static tamis_status make_part(struct pipe *p, int64_t i, tamis_rect part,
                              tamis_run_options *options)
{
    const tamis_stage *s = p->stage;
    const tamis_image *src = NULL;
    tamis_image result = {0};
    if (s->feeds) {
        src = input(&s->feeds[TAMIS_FEED_SRC], i, &options->window);
        if (s->feeds[TAMIS_FEED_GUIDE].source)
            options->guide = input(&s->feeds[TAMIS_FEED_GUIDE], i, &options->guide_window);
    }
    if (s->target)
        result = result_of(p, i);
    return s->make(s, src, part, s->target ? &result : NULL, options);
}

static tamis_status make(struct pipe *p, int64_t i)
{
    const tamis_stage *s = p->stage;
    tamis_rect part = tamis_priv_parts_at(s, i);
    tamis_run_options options = *s->options;
    struct share share = {p, (int64_t)part.w * part.h};
    tamis_status status = TAMIS_OK;
    TAMIS_TRY(tamis_priv_cancel_check(s->plan, &options));
    if (options.progress) {
        options.progress = pass_on;
        options.progress_user = &share;
    }
    if (s->make)
        status = make_part(p, i, part, &options);
    *s->done += share.pixels;
    if (status == TAMIS_OK && options.progress)
        pass_on(&share, 0, 1);
    return status;
}

/* ---- threads */

static void *run_reader(void *arg)
{
    struct pipe *p = arg;
    for (int64_t i = 0; i < p->stage->count; i++) {
        if (!wait_for(p, &p->made, i + 1 - TAMIS_PARTS_DEPTH))
            break;
        tamis_ctx_occupy(ctx_of(p), 1);
        tamis_status status = load(p, i);
        tamis_ctx_occupy(ctx_of(p), -1);
        report(p, &p->loaded, status);
    }
    return NULL;
}

static void *run_writer(void *arg)
{
    struct pipe *p = arg;
    for (int64_t i = 0; i < p->stage->count; i++) {
        if (!wait_for(p, &p->made, i + 1))
            break;
        tamis_ctx_occupy(ctx_of(p), 1);
        tamis_status status = store(p, i);
        tamis_ctx_occupy(ctx_of(p), -1);
        report(p, &p->stored, status);
    }
    return NULL;
}

/* Signals stay with the program's threads. */
static int start(pthread_t *thread, void *(*function)(void *), struct pipe *p)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int started = pthread_create(thread, NULL, function, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static void walk(struct pipe *p)
{
    int64_t count = p->stage->count;
    int several = count > 1 && tamis_ctx_threads(ctx_of(p)) > 1;
    p->reader_runs = several && p->stage->feeds && start(&p->reader, run_reader, p);
    p->writer_runs = several && p->stage->target && start(&p->writer, run_writer, p);
    for (int64_t i = 0; i < count; i++) {
        if (!p->reader_runs)
            report(p, &p->loaded, load(p, i));
        if (!wait_for(p, &p->loaded, i + 1) || !wait_for(p, &p->stored, i + 1 - TAMIS_PARTS_DEPTH))
            break;
        report(p, &p->made, make(p, i));
        if (!wait_for(p, &p->made, i + 1))
            break;
        if (!p->writer_runs)
            report(p, &p->stored, store(p, i));
    }
    if (p->reader_runs)
        pthread_join(p->reader, NULL);
    if (p->writer_runs)
        pthread_join(p->writer, NULL);
}

/* ---- memory */

static tamis_status alloc_one(struct pipe *p, size_t size, void **out)
{
    if (size == 0)
        return TAMIS_OK;
    TAMIS_TRY(tamis_priv_mem_check(ctx_of(p), size, "parts"));
    *out = tamis_priv_mem_alloc(ctx_of(p), size);
    return *out ? TAMIS_OK : tamis_priv_fail(ctx_of(p), TAMIS_ERR_MEMORY, "parts: no memory");
}

static tamis_status alloc_all(struct pipe *p)
{
    tamis_stage *s = p->stage;
    int depth = s->count > 1 ? TAMIS_PARTS_DEPTH : 1;
    for (int d = 0; d < depth; d++) {
        TAMIS_TRY(alloc_one(p, s->part_bytes, &p->results[d]));
        for (int f = 0; s->feeds && f < TAMIS_FEED_COUNT; f++)
            if (s->feeds[f].source && !s->feeds[f].whole.data[0])
                TAMIS_TRY(alloc_one(p, s->feeds[f].window_bytes, &s->feeds[f].memory[d]));
    }
    return TAMIS_OK;
}

static void free_all(struct pipe *p)
{
    for (int d = 0; d < TAMIS_PARTS_DEPTH; d++) {
        tamis_priv_mem_free(ctx_of(p), p->results[d]);
        for (int f = 0; p->stage->feeds && f < TAMIS_FEED_COUNT; f++) {
            tamis_priv_mem_free(ctx_of(p), p->stage->feeds[f].memory[d]);
            p->stage->feeds[f].memory[d] = NULL;
        }
    }
}

tamis_status tamis_priv_parts_walk(tamis_stage *stage)
{
    struct pipe p = {.stage = stage};
    tamis_status status = alloc_all(&p);
    if (status == TAMIS_OK) {
        pthread_mutex_init(&p.mutex, NULL);
        pthread_cond_init(&p.moved, NULL);
        walk(&p);
        status = p.status;
        pthread_cond_destroy(&p.moved);
        pthread_mutex_destroy(&p.mutex);
    }
    free_all(&p);
    return status;
}
