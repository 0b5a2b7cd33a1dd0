/* SPDX-License-Identifier: Apache-2.0 */
/* One picture on the devices of a plan. A large one in host memory is cut into bands: over several
 * devices, and on each so that some are on their way to it while others are filtered or on their
 * way back. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "core/ctx.h"
#include "graph/device_session.h"

/* Bytes that must come and go for each band, so that starting threads costs little beside; and
 * those from which one device, too, gets several bands. */
#define BAND_BYTES  ((int64_t)8 << 20)
#define LARGE_BYTES ((int64_t)64 << 20)
/* Threads for each device, for what comes, stays and goes; and bands, so that ends matter little.
 */
enum { LANES = 3, BANDS = 8, MOST_WORKERS = 64 };

/* A run in bands. Band i is for device i % devices. */
struct bands {
    const tamis_plan *plan;
    const tamis_image *src, *dst;
    tamis_rect rect;
    const tamis_run_options *options;
    int32_t height;
    int count, devices, workers;
    atomic_int stop, rows;                            /* rows: done */
    pthread_mutex_t mutex;                            /* guards what follows */
    int starved[BANDS * MOST_WORKERS], starved_count; /* lacked memory beside others */
    tamis_status status;
    char text[sizeof(tamis_gpu_fault) + 32];
};

struct worker {
    struct bands *bands;
    struct tamis_device_plan *device;
    int index, is_caller, started;
    pthread_t thread;
};

/* ---- how many */

static int64_t area(tamis_rect r)
{
    return r.w < 1 || r.h < 1 ? 0 : (int64_t)r.w * r.h;
}

static tamis_rect band_at(const struct bands *b, int i)
{
    int32_t y = i * b->height, left = b->rect.h - y;
    return (tamis_rect){b->rect.x, b->rect.y + y, b->rect.w, left < b->height ? left : b->height};
}

static void set_count(struct bands *b, int64_t wanted)
{
    if (wanted > b->rect.h)
        wanted = b->rect.h;
    b->height = (int32_t)((b->rect.h + wanted - 1) / wanted);
    b->count = (int)((b->rect.h + (int64_t)b->height - 1) / b->height);
}

/* Pixels of the source that go to devices, for all bands together. */
static int64_t area_of_bands(const struct bands *b)
{
    int64_t sum = 0;
    for (int i = 0; i < b->count; i++)
        sum += area(tamis_priv_device_need(b->plan, band_at(b, i)));
    return sum;
}

/* What comes and goes. */
static int64_t bytes_of(const struct bands *b)
{
    int64_t in = area(tamis_priv_device_need(b->plan, b->rect)) * tamis_image_planes(b->src);
    int64_t out = area(b->rect) * tamis_image_planes(b->dst);
    in *= (int64_t)tamis_priv_pixel_bytes(&b->src->format) * (2 * b->plan->frames + 1);
    return in + out * (int64_t)tamis_priv_pixel_bytes(&b->dst->format);
}

/* Bands bring what they share more than once: if that is much, there shall be fewer. */
static void choose_count(struct bands *b)
{
    int64_t bytes = bytes_of(b), whole = area(tamis_priv_device_need(b->plan, b->rect));
    int64_t most = b->devices * (bytes / b->devices < LARGE_BYTES ? 1 : BANDS);
    set_count(b, bytes / BAND_BYTES < most ? bytes / BAND_BYTES + !(bytes / BAND_BYTES) : most);
    while (b->count > b->devices && area_of_bands(b) > whole + whole / 4)
        set_count(b, (b->count + 1) / 2 > b->devices ? (b->count + 1) / 2 : b->devices);
}

static void choose(struct bands *b)
{
    int32_t height = b->plan->device_tile_h;
    b->devices = tamis_priv_device_count(b->plan);
    b->workers = 1;
    set_count(b, 1);
    if (b->src->device || b->options->stream || tamis_priv_device_needs_whole(b->plan))
        return;
    if (height > 0) { /* as told, and the device's thread takes them one by one */
        if (height < b->rect.h && b->devices > 1) {
            b->height = height;
            b->count = (int)((b->rect.h + (int64_t)height - 1) / height);
            b->workers = b->devices;
        }
        return;
    }
    choose_count(b);
    int lanes = b->devices * LANES <= MOST_WORKERS ? b->devices * LANES : b->devices;
    b->workers = b->count < lanes ? b->count : lanes;
}

/* ---- running */

static void fail(struct bands *b, tamis_status status, const char *device, const char *text)
{
    pthread_mutex_lock(&b->mutex);
    if (b->status == TAMIS_OK) {
        b->status = status;
        snprintf(b->text, sizeof b->text, "%s: %s", device, text);
    }
    pthread_mutex_unlock(&b->mutex);
    atomic_store(&b->stop, 1);
}

/* Bands of one device may take each other's memory: those that found too little go there again when
 * the others are done, and only then in lower ones. 0: there were no others. */
static int put_aside(struct bands *b, int i)
{
    int can = b->workers > b->devices;
    pthread_mutex_lock(&b->mutex);
    can = can && b->starved_count < BANDS * MOST_WORKERS;
    if (can)
        b->starved[b->starved_count++] = i;
    pthread_mutex_unlock(&b->mutex);
    return can;
}

static void report(struct bands *b, int rows)
{
    int done = atomic_fetch_add(&b->rows, rows) + rows;
    if (b->options->progress && done < b->rect.h)
        b->options->progress(b->options->progress_user, done, b->rect.h);
}

static void run_one(struct worker *w, int i)
{
    struct bands *b = w->bands;
    tamis_rect band = band_at(b, i);
    tamis_session s = {.plan = b->plan,
                       .device = w->device,
                       .options = b->options,
                       .stop = &b->stop,
                       .crowded = b->workers > b->devices,
                       .silent = b->count > 1};
    if (b->count > 1)
        tamis_priv_log(b->plan->ctx, TAMIS_LOG_DEBUG, "run: rows %d .. %d on %s", band.y,
                       band.y + band.h - 1, w->device->name);
    tamis_status status = tamis_priv_device_run_on(&s, b->src, band, b->dst, b->rect.x, b->rect.y);
    if (status == TAMIS_ERR_MEMORY && put_aside(b, i))
        return;
    if (status != TAMIS_OK)
        fail(b, status, w->device->name, s.fault.text);
    else if (w->is_caller && !tamis_priv_device_stopped(&s))
        report(b, band.h);
    else
        atomic_fetch_add(&b->rows, band.h);
}

/* Worker i shares device i % devices with every other whose number gives the same. */
static void *work(void *user)
{
    struct worker *w = user;
    for (int i = w->index; i < w->bands->count && !atomic_load(&w->bands->stop);
         i += w->bands->workers)
        run_one(w, i);
    return NULL;
}

/* What a thread that cannot be started would have done is done by the caller's. */
static void run_bands(struct bands *b, struct worker *workers)
{
    sigset_t all, old;
    sigfillset(&all); /* signals stay with the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int i = 1; i < b->workers; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    work(&workers[0]);
    for (int i = 1; i < b->workers; i++) {
        if (workers[i].started) {
            pthread_join(workers[i].thread, NULL);
            continue;
        }
        workers[i].is_caller = 1;
        work(&workers[i]);
    }
}

/* One after the other, by the caller's thread. */
static void run_starved(struct bands *b, struct worker *workers)
{
    int lanes = b->workers;
    b->workers = 1;
    for (int k = 0; k < b->starved_count && !atomic_load(&b->stop); k++) {
        struct worker *w = &workers[b->starved[k] % lanes];
        w->is_caller = 1;
        run_one(w, b->starved[k]);
    }
}

/* The device of the images, or where none of them is on one, the next of the list by turns. */
static struct tamis_device_plan *first_device(const tamis_plan *plan, const tamis_image *src)
{
    struct tamis_device_plan *d = plan->device;
    int skip = 0;
    if (src->device) {
        while (d->index != src->device - 1)
            d = d->next;
        return d;
    }
    if (d->next)
        skip = (int)((unsigned)atomic_fetch_add(&d->turn, 1) %
                     (unsigned)tamis_priv_device_count(plan));
    while (skip-- > 0)
        d = d->next;
    return d;
}

static void run(struct bands *b)
{
    struct worker workers[MOST_WORKERS];
    struct tamis_device_plan *d = first_device(b->plan, b->src);
    for (int i = 0; i < b->workers; i++) {
        workers[i] = (struct worker){.bands = b, .device = d, .index = i, .is_caller = i == 0};
        d = d->next ? d->next : b->plan->device;
    }
    pthread_mutex_init(&b->mutex, NULL);
    run_bands(b, workers);
    run_starved(b, workers);
    pthread_mutex_destroy(&b->mutex);
}

tamis_status tamis_priv_device_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                   const tamis_image *dst, const tamis_run_options *options)
{
    struct bands b = {.plan = plan, .src = src, .dst = dst, .rect = rect, .options = options};
    tamis_session s = {.options = options};
    choose(&b);
    run(&b);
    if (b.status != TAMIS_OK)
        return tamis_priv_fail(plan->ctx, b.status, "run: %s", b.text);
    if (tamis_priv_device_stopped(&s))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run: canceled");
    if (options->progress)
        options->progress(options->progress_user, rect.h, rect.h);
    return TAMIS_OK;
}
