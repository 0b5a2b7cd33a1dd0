/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inputs.h"
#include "job.h"

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
    for (int i = 0; i < LIVE_CLIENTS; i++) {
        if (runner->clients[i].running)
            __atomic_store_n(runner->clients[i].running, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&runner->mutex);
}

void live_runner_close(live_runner *runner)
{
    for (int i = 0; i < LIVE_PLANS; i++) {
        tamis_plan_free(&runner->plans[i].plan);
        free(runner->plans[i].chain);
    }
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

/* Stops what the client has asked for before. 0 when this is older than that itself. */
static int begin(live_runner *r, const live_wish *wish, int *cancel)
{
    pthread_mutex_lock(&r->mutex);
    live_client *c = find_client(r, wish->client);
    int ok = !r->closing && (!c || wish->number >= c->newest);
    if (c && ok) {
        c->newest = wish->number;
        c->used = ++r->clock;
        if (c->running)
            __atomic_store_n(c->running, 1, __ATOMIC_RELAXED);
        c->running = cancel;
    }
    pthread_mutex_unlock(&r->mutex);
    return ok;
}

static void end(live_runner *r, const int *cancel)
{
    pthread_mutex_lock(&r->mutex);
    for (int i = 0; i < LIVE_CLIENTS; i++) {
        if (r->clients[i].running == cancel)
            r->clients[i].running = NULL;
    }
    pthread_mutex_unlock(&r->mutex);
}

/* ---- plans */

/* A picture that is read by parts, in a request. */
typedef struct part_reader {
    tool *tool;
    live_picture *picture;
} part_reader;

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const part_reader *from = user;
    tamis_image read = {0};
    pthread_mutex_lock(&from->picture->mutex);
    tamis_status status = tool_picture_part(from->tool, &from->picture->picture, part, &read);
    pthread_mutex_unlock(&from->picture->mutex);
    if (!status)
        status = tamis_image_copy(from->tool->ctx, &read, into);
    tamis_image_unref(&read);
    return status;
}

/* The chain with what it leaves to the picture, in place of it. */
static tamis_status choose(tool *t, live_picture *p, const volatile int *cancel,
                           tamis_graph **graph)
{
    const tamis_file_info *info = &p->picture.info;
    const tamis_image *image = &p->picture.image;
    tamis_run_options options = {.cancel = cancel};
    tamis_graph *chosen = NULL;
    tamis_status status;
    if (p->picture.whole) {
        status = tamis_graph_resolve(t->ctx, *graph, image, &options, &chosen);
    } else {
        part_reader from = {t, p};
        tamis_part_source source = {read_part, &from, info->block_w < info->w ? info->block_w : 0,
                                    info->block_h};
        status = tamis_graph_resolve_parts(t->ctx, *graph, image->format, info->w, info->h, &source,
                                           t->options.max_memory / 4, &options, &chosen);
    }
    if (status)
        return status;
    tamis_graph_free(graph);
    *graph = chosen;
    return TAMIS_OK;
}

/* Adds what makes a view of the level of the chain's result. */
static tamis_status add_scaling(tool *t, tamis_graph *graph, int level)
{
    char text[64];
    tamis_graph *scaling = NULL;
    if (level == 0)
        return TAMIS_OK;
    snprintf(text, sizeof(text), "resize=scale=%.17g:interp=area", ldexp(1, -level));
    tamis_status status = tamis_graph_parse(t->ctx, text, &scaling);
    if (!status)
        status =
            tamis_graph_add(graph, tamis_graph_filter(scaling, 0), tamis_graph_params(scaling, 0));
    tamis_graph_free(&scaling);
    return status;
}

/* The level is no part of the chain: what the picture decides is decided by all of its pixels. */
static tamis_status make_plan(tool *t, live_picture *p, const char *chain, int level,
                              const volatile int *cancel, tamis_plan **out)
{
    tamis_graph *graph = NULL;
    const tamis_file_info *info = &p->picture.info;
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    if (!status && tamis_graph_is_open(graph))
        status = choose(t, p, cancel, &graph);
    if (!status)
        status = add_scaling(t, graph, level);
    if (!status)
        status =
            tamis_plan_create(t->ctx, graph, p->picture.image.format, info->w, info->h, NULL, out);
    tamis_graph_free(&graph);
    return status;
}

static live_plan *find_plan(live_runner *r, const live_picture *p, const char *chain, int level)
{
    const tool_picture *own = &p->picture;
    for (int i = 0; i < LIVE_PLANS; i++) {
        live_plan *at = &r->plans[i];
        if (at->plan && at->picture == p && at->level == level && strcmp(at->chain, chain) == 0 &&
            at->w == own->info.w && at->h == own->info.h &&
            tamis_format_equal(at->format, own->image.format))
            return at;
    }
    return NULL;
}

/* A place for a new plan: the one that was used longest ago. NULL when all are in use. */
static live_plan *free_place(live_runner *r)
{
    live_plan *oldest = NULL;
    for (int i = 0; i < LIVE_PLANS; i++) {
        live_plan *at = &r->plans[i];
        if (at->users == 0 && (!oldest || at->used < oldest->used))
            oldest = at;
    }
    return oldest;
}

/* The plan, in *place where it is kept, else with *place NULL the caller's own. */
static tamis_status take_plan(live_runner *r, tool *t, live_picture *p, const char *chain,
                              int level, const volatile int *cancel, live_plan **place,
                              tamis_plan **out)
{
    pthread_mutex_lock(&r->mutex);
    *place = find_plan(r, p, chain, level);
    if (*place) {
        (*place)->users++;
        (*place)->used = ++r->clock;
        *out = (*place)->plan;
    }
    pthread_mutex_unlock(&r->mutex);
    if (*place)
        return TAMIS_OK;
    tamis_status status = make_plan(t, p, chain, level, cancel, out);
    if (status)
        return status;
    pthread_mutex_lock(&r->mutex);
    live_plan old = {0};
    *place = find_plan(r, p, chain, level) ? NULL : free_place(r);
    if (*place) {
        old = **place;
        **place = (live_plan){.chain = tool_copy_text(chain),
                              .level = level,
                              .picture = p,
                              .format = p->picture.image.format,
                              .w = p->picture.info.w,
                              .h = p->picture.info.h,
                              .plan = *out,
                              .users = 1,
                              .used = ++r->clock};
    }
    pthread_mutex_unlock(&r->mutex);
    tamis_plan_free(&old.plan);
    free(old.chain);
    return TAMIS_OK;
}

static void give_plan(live_runner *r, live_plan *place, tamis_plan *plan)
{
    if (!place) {
        tamis_plan_free(&plan);
        return;
    }
    pthread_mutex_lock(&r->mutex);
    place->users--;
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

/* Of a picture that is not in memory, what the view depends on. */
static tamis_status read_window(tool *t, live_picture *p, const tamis_plan *plan, tamis_rect rect,
                                tamis_rect *window, tamis_image *out)
{
    tamis_format format = p->picture.image.format;
    tamis_status status = tamis_plan_need(plan, rect, window);
    if (status)
        return status;
    uint64_t bytes = (uint64_t)window->w * (uint64_t)window->h * (uint64_t)format.channels *
                     tamis_type_size(format.type);
    if (bytes > MOST_BYTES)
        return tamis_ctx_fail(t->ctx, TAMIS_ERR_LIMIT,
                              "the picture is too large to be filtered as a whole here: zoom in");
    pthread_mutex_lock(&p->mutex);
    status = tool_picture_part(t, &p->picture, *window, out);
    pthread_mutex_unlock(&p->mutex);
    return status;
}

static tamis_status run_view(tool *t, live_picture *p, const tamis_plan *plan, const int *cancel,
                             live_view *view, tamis_image *result)
{
    tamis_image part = {0};
    tamis_rect window;
    tamis_run_options options = {.cancel = cancel};
    const tamis_image *src = &p->picture.image;
    tamis_status status = TAMIS_OK;
    if (!p->picture.whole) {
        status = read_window(t, p, plan, view->rect, &window, &part);
        src = &part;
        options.window = &window;
    }
    if (!status)
        status =
            tamis_image_create(t->ctx, tamis_plan_format(plan), view->rect.w, view->rect.h, result);
    double start = tool_now();
    if (!status)
        status = tamis_plan_run_region(plan, src, view->rect, result, &options);
    view->filter_s = tool_now() - start;
    snprintf(view->device, sizeof(view->device), "%s", tamis_plan_device(plan));
    tamis_image_unref(&part);
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
    if (result->format.type != own->image.format.type)
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
                             const int *cancel, live_view *out)
{
    live_plan *place = NULL;
    tamis_plan *plan = NULL;
    tamis_image result = {0};
    tamis_status status = take_plan(r, t, p, wish->chain, wish->level, cancel, &place, &plan);
    if (status)
        return status;
    tamis_plan_size(plan, &out->w, &out->h);
    status = find_rect(t, wish, out);
    if (!status)
        status = run_view(t, p, plan, cancel, out, &result);
    give_plan(r, place, plan);
    if (!status)
        status = show(t, p, &result, out);
    tamis_image_unref(&result);
    return status;
}

tamis_status live_run(live_runner *r, tool *t, live_picture *p, const live_wish *wish,
                      live_view *out)
{
    int cancel = 0;
    *out = (live_view){0};
    if (!begin(r, wish, &cancel))
        return TAMIS_ERR_CANCELED;
    tamis_status status = run_wish(r, t, p, wish, &cancel, out);
    end(r, &cancel);
    return status;
}

tamis_status live_explain(live_runner *r, tool *t, live_picture *p, const char *chain, json_t **out)
{
    live_plan *place = NULL;
    tamis_plan *plan = NULL;
    tamis_graph *graph = NULL;
    int32_t w, h;
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    if (!status)
        status = take_plan(r, t, p, chain, 0, tool_cancel_flag(), &place, &plan);
    if (!status) {
        char *text = tool_graph_text(graph);
        tamis_plan_size(plan, &w, &h);
        *out = json_object();
        json_object_set_new(*out, "chain", tool_json_text(text));
        json_object_set_new(*out, "result", tool_json_shape(w, h, tamis_plan_format(plan)));
        json_object_set_new(*out, "device", json_string(tamis_plan_device(plan)));
        json_object_set_new(*out, "steps", tool_json_steps(graph));
        free(text);
        give_plan(r, place, plan);
    }
    tamis_graph_free(&graph);
    return status;
}

/* ---- saving */

static int keep_report(tool_worker *worker, const tool_file *file, tool_report *report)
{
    (void)file;
    *(tool_report **)worker->owner = report;
    return 0;
}

static int run_file(tool *t, tool_worker *worker, const tool_file *file)
{
    tool_report *report = NULL;
    pthread_setspecific(t->worker, &worker->tool);
    worker->deliver = keep_report;
    worker->owner = &report;
    tool_worker_file(worker, file);
    tool_worker_rest(worker);
    pthread_setspecific(t->worker, t);
    int code = !report                        ? TOOL_INTERRUPTED /* given up */
               : report->outcome == TOOL_DONE ? TOOL_OK
                                              : report->code;
    if (code)
        snprintf(t->error, sizeof(t->error), "%s",
                 report && report->message ? report->message : "interrupted");
    tool_report_free(report);
    return code;
}

/* The whole way of tamis run, so that the bytes are those that it writes. */
static int filter_file(tool *t, const tamis_graph *graph, const tool_file *file)
{
    tool_job job;
    tool_worker worker;
    tool_share share = {0};
    tool_files files = {.items = (tool_file *)file, .count = 1};
    int code = tool_job_start(&job, t, graph);
    job.files = &files;
    if (!code) {
        code = tool_worker_start(&worker, &job, &share);
        if (!code)
            code = run_file(t, &worker, file);
        tool_worker_end(&worker);
    }
    tool_job_end(&job);
    return code;
}

int live_save(live_store *store, tool *t, live_picture *p, const char *chain, const char *format,
              int *fd)
{
    tamis_graph *graph = NULL;
    char *path = NULL;
    FILE *place = live_store_upload(store, &path);
    if (!place) {
        snprintf(t->error, sizeof(t->error), "no room for a temporary file");
        return TOOL_WRITE;
    }
    fclose(place);
    tool own = *t;
    own.held = tool_copy_text("");
    own.options.overwrite = 1;
    own.options.format = format;
    tool_file file = {.in = p->path, .out = path};
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    int code = status ? tool_exit_code(status) : TOOL_OK;
    if (!code) {
        code = filter_file(&own, graph, &file);
        pthread_setspecific(t->worker, t);
        snprintf(t->error, sizeof(t->error), "%s", *own.error ? own.error : own.held);
    }
    free(own.held);
    tamis_graph_free(&graph);
    *fd = code ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    free(path);
    return code ? code : *fd < 0 ? TOOL_WRITE : TOOL_OK;
}
