/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

/* Pixels of a view, and bytes of what is read for it of a picture that is not in memory. */
#define MOST_PIXELS ((int64_t)8 << 20)
#define MOST_BYTES  ((uint64_t)512 << 20)

void live_runner_open(live_runner *runner, live_store *store)
{
    *runner = (live_runner){.store = store};
    pthread_mutex_init(&runner->mutex, NULL);
}

void live_runner_stop(live_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    runner->closing = 1;
    for (live_job *job = runner->jobs; job; job = job->next)
        __atomic_store_n(&job->cancel, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&runner->mutex);
}

void live_runner_close(live_runner *runner)
{
    live_plans_free(runner);
    pthread_mutex_destroy(&runner->mutex);
}

/* ---- newest requests */

/* The client of that name, or the one that has been silent longest and runs nothing. */
static live_client *find_client(live_runner *r, const char *name)
{
    live_client *found = NULL;
    for (int i = 0; i < LIVE_CLIENTS; i++) {
        live_client *c = &r->clients[i];
        if (strcmp(c->name, name) == 0 && *c->name)
            return c;
        if (!c->running && (!found || c->used < found->used))
            found = c;
    }
    if (found) {
        *found = (live_client){0};
        snprintf(found->name, sizeof(found->name), "%s", name);
    }
    return found;
}

/* Stops what the client has asked for by lower numbers. 0 when this number is lower itself. */
static int begin(live_runner *r, const live_wish *wish, live_job *job)
{
    pthread_mutex_lock(&r->mutex);
    live_client *c = find_client(r, wish->client);
    int ok = !r->closing && (!c || wish->number >= c->newest);
    if (ok) {
        *job = (live_job){
            .next = r->jobs, .client = c, .number = wish->number, .socket = wish->socket};
        for (live_job *at = r->jobs; at && c; at = at->next) {
            if (at->client == c && at->number < wish->number)
                __atomic_store_n(&at->cancel, 1, __ATOMIC_RELAXED);
        }
        r->jobs = job;
    }
    if (ok && c) {
        c->newest = wish->number;
        c->used = ++r->clock;
        c->running++;
    }
    pthread_mutex_unlock(&r->mutex);
    return ok;
}

static void end(live_runner *r, live_job *job)
{
    pthread_mutex_lock(&r->mutex);
    live_job **at = &r->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (job->client)
        job->client->running--;
    pthread_mutex_unlock(&r->mutex);
}

/* Nobody waits for the answer any more: a page was closed or loaded anew. */
static int has_hung_up(int socket)
{
    char byte;
    ssize_t n = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void live_runner_look(live_runner *r)
{
    pthread_mutex_lock(&r->mutex);
    for (live_job *job = r->jobs; job; job = job->next) {
        if (has_hung_up(job->socket))
            __atomic_store_n(&job->cancel, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&r->mutex);
}

/* ---- one view */

/* NaN is low. */
static int32_t clamp(double v, int32_t low, int32_t high)
{
    return !(v > low) ? low : v >= high ? high : (int32_t)v;
}

static tamis_status find_rect(tool *t, const live_wish *wish, live_view *view)
{
    tamis_rect *r = &view->rect;
    r->x = clamp(floor(wish->x0 * view->w), 0, view->w - 1);
    r->y = clamp(floor(wish->y0 * view->h), 0, view->h - 1);
    r->w = clamp(ceil(wish->x1 * view->w), r->x + 1, view->w) - r->x;
    r->h = clamp(ceil(wish->y1 * view->h), r->y + 1, view->h) - r->y;
    if ((int64_t)r->w * r->h <= MOST_PIXELS)
        return TAMIS_OK;
    return tamis_ctx_fail(t->ctx, TAMIS_ERR_LIMIT, "a view of %dx%d pixels is too large", r->w,
                          r->h);
}

/* Of a picture that is not in memory, what a view depends on. */
static tamis_status read_window(tool *t, live_picture *p, tamis_rect window, tamis_image *out)
{
    tamis_format format = p->picture.image.format;
    uint64_t bytes = (uint64_t)window.w * (uint64_t)window.h * (uint64_t)format.channels *
                     tamis_type_size(format.type);
    if (bytes > MOST_BYTES)
        return tamis_ctx_fail(t->ctx, TAMIS_ERR_LIMIT,
                              "the picture is too large to be filtered as a whole here: zoom in");
    pthread_mutex_lock(&p->mutex);
    tamis_status status = tool_picture_part(t, &p->picture, window, out);
    pthread_mutex_unlock(&p->mutex);
    return status;
}

tamis_status live_filter(tool *t, live_picture *p, const tamis_plan *plan, const live_wish *wish,
                         const tamis_image *src, const tamis_run_options *options, live_view *view,
                         tamis_image *out)
{
    tamis_image part = {0};
    tamis_rect window = {0};
    tamis_run_options own = *options;
    tamis_plan_size(plan, &view->w, &view->h);
    tamis_status status = find_rect(t, wish, view);
    if (!status)
        status = tamis_plan_need(plan, view->rect, &window);
    view->source = (double)window.w * window.h;
    if (!status && !src) {
        status = read_window(t, p, window, &part);
        src = &part;
        own.window = &window;
    }
    if (!status)
        status =
            tamis_image_create(t->ctx, tamis_plan_format(plan), view->rect.w, view->rect.h, out);
    double start = tool_now();
    if (!status)
        status = tamis_plan_run_region(plan, src, view->rect, out, &own);
    view->filter_s = tool_now() - start;
    snprintf(view->device, sizeof(view->device), "%s", tamis_plan_device(plan));
    tamis_image_unref(&part);
    if (status)
        tamis_image_unref(out);
    return status;
}

/* What a canvas takes. */
static void to_rgba(const tamis_image *shown, uint8_t *out)
{
    int channels = shown->format.channels, colors = channels >= 3 ? 3 : 1;
    for (int32_t y = 0; y < shown->h; y++) {
        const uint8_t *row = tamis_image_row(shown, 0, y);
        for (int32_t x = 0; x < shown->w; x++, row += channels, out += 4) {
            out[0] = row[0];
            out[1] = row[colors == 3 ? 1 : 0];
            out[2] = row[colors == 3 ? 2 : 0];
            out[3] = channels == colors ? 255 : row[channels - 1];
        }
    }
}

/* Results of the picture's own type are shown by its levels, others by those that suit them. */
static tamis_status show(tool *t, const live_picture *p, tamis_image *result, live_view *view)
{
    tamis_image shown = {0};
    const tool_picture *own = &p->picture;
    view->window = own->window;
    view->own_window = result->format.type == own->image.format.type;
    if (!view->own_window)
        tool_window_choose(t, NULL, result, &view->window);
    tamis_format plain = {.type = TAMIS_U8, .channels = tool_shown_colors(result->format)};
    int direct = tamis_format_equal(result->format, plain) && view->window.low == 0 &&
                 view->window.high == 255;
    tamis_status status = direct ? TAMIS_OK : tool_shown(t, result, &view->window, &shown);
    if (status)
        return status;
    view->rgba = tool_alloc((size_t)4 * (size_t)result->w * (size_t)result->h);
    to_rgba(direct ? result : &shown, view->rgba);
    tamis_image_unref(&shown);
    return TAMIS_OK;
}

static tamis_status run_wish(live_runner *r, tool *t, live_picture *p, const live_wish *wish,
                             int *cancel, live_view *view, tamis_image *out)
{
    live_plan *place = NULL;
    tamis_plan *plan = NULL;
    tamis_run_options options = {.cancel = cancel};
    tamis_status status = live_plan_take(r, t, p, wish->chain, wish->level, cancel, &place, &plan);
    if (status)
        return status;
    *view = (live_view){.level = wish->level, .exact = 1};
    status = live_filter(t, p, plan, wish, p->picture.whole ? &p->picture.image : NULL, &options,
                         view, out);
    live_plan_give(r, place, plan);
    return status;
}

tamis_status live_run(live_runner *r, tool *t, live_picture *p, const live_wish *wish,
                      live_view *out)
{
    live_job job;
    tamis_image result = {0};
    if (!begin(r, wish, &job))
        return TAMIS_ERR_CANCELED;
    tamis_status status = wish->budget > 0 ? live_preview(r, t, p, wish, &job.cancel, out, &result)
                                           : run_wish(r, t, p, wish, &job.cancel, out, &result);
    end(r, &job);
    if (!status)
        status = show(t, p, &result, out);
    tamis_image_unref(&result);
    return status;
}
