/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan: one segment after the other, each by the pool, tile by tile. */
#include <stdint.h>
#include <tamis/estimate.h>

#include "core/ctx.h"
#include "graph/device.h"
#include "graph/run.h"

/* A run and the segment it is at. */
struct run {
    tamis_plan *plan;
    const tamis_run_options *options;
    tamis_pass pass;
    /* Where the items of one job are those of many pictures, else NULL. */
    const tamis_image *srcs, *dsts;
    int64_t items;                   /* of one picture */
    int64_t tiles_x, tiles_y, group; /* tiles in a row, in a column, of an item */
    tamis_rect prepared;             /* the part of the source that is prepared */
    int64_t done, total;             /* units of progress of the segments before, and of all */
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* ---- the pool's view of a run */

static void *enter(void *user, int is_caller)
{
    struct run *r = user;
    tamis_plan *plan = r->plan;
    pthread_mutex_lock(&plan->mutex);
    while (!plan->free_slots && is_caller)
        pthread_cond_wait(&plan->slot_freed, &plan->mutex);
    tamis_slot *slot = plan->free_slots;
    if (slot)
        plan->free_slots = slot->next;
    pthread_mutex_unlock(&plan->mutex);
    return slot;
}

static void leave(void *user, void *local)
{
    struct run *r = user;
    tamis_slot *slot = local;
    pthread_mutex_lock(&r->plan->mutex);
    slot->next = r->plan->free_slots;
    r->plan->free_slots = slot;
    pthread_cond_signal(&r->plan->slot_freed);
    pthread_mutex_unlock(&r->plan->mutex);
}

static int stopped(void *user)
{
    const struct run *r = user;
    const volatile int *cancel = r->options->cancel;
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED); /* other threads set it */
}

static void report(void *user, int64_t done)
{
    const struct run *r = user;
    if (r->options->progress && r->done + done < r->total) /* the end is reported once */
        r->options->progress(r->options->progress_user, r->done + done, r->total);
}

static int64_t divided_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Items of one of so many pictures. */
static int64_t count_items(const tamis_plan *plan, const tamis_segment *segment, tamis_rect rect,
                           int64_t pictures)
{
    int64_t group = tamis_priv_segment_group(plan, segment, rect, pictures);
    int64_t x = divided_up(rect.w, segment->tile_w), y = divided_up(rect.h, segment->tile_h);
    return segment->rolls ? x * divided_up(y, group) : divided_up(x * y, group);
}

/* An empty chain. Sizes and formats have been checked, so nothing here can fail. */
static void copy_tile(const tamis_pass *pass, tamis_rect part)
{
    tamis_ctx *ctx = pass->plan->ctx;
    tamis_rect from = {part.x - pass->src_x, part.y - pass->src_y, part.w, part.h};
    tamis_rect to = {part.x - pass->rect.x, part.y - pass->rect.y, part.w, part.h};
    tamis_image from_view, to_view;
    tamis_image_view(ctx, pass->src, from, &from_view);
    tamis_image_view(ctx, pass->dst, to, &to_view);
    tamis_image_copy(ctx, &from_view, &to_view);
}

/* The tile in that column and row of tiles. */
static void run_tile(const tamis_pass *pass, const tamis_slot *slot, int64_t column, int64_t row)
{
    const tamis_image *dst = pass->dst;
    int tw = pass->segment->tile_w, th = pass->segment->tile_h;
    int x = (int)column * tw, y = (int)row * th;
    tamis_rect part = {pass->rect.x + x, pass->rect.y + y, smaller(tw, pass->rect.w - x),
                       smaller(th, pass->rect.h - y)};
    if (pass->plan->count == 0) {
        copy_tile(pass, part);
        return;
    }
    size_t px = tamis_priv_pixel_bytes(&dst->format);
    tamis_surface d = {.aligned = pass->dst_aligned};
    for (int p = 0; p < tamis_image_planes(dst); p++) {
        d.data[p] = (char *)tamis_image_row(dst, p, y) + (size_t)x * px;
        d.stride[p] = dst->stride[p];
    }
    tamis_priv_pull(pass, slot, part, &d);
}

/* The pass of the picture to which an item belongs; the index becomes that in the picture. */
static tamis_pass pass_of(const struct run *r, int64_t *index)
{
    tamis_pass pass = r->pass;
    if (r->srcs) {
        pass.src = &r->srcs[*index / r->items];
        pass.dst = &r->dsts[*index / r->items];
        pass.src_aligned = tamis_priv_is_aligned(pass.src);
        pass.dst_aligned = tamis_priv_is_aligned(pass.dst);
        *index %= r->items;
    }
    return pass;
}

static void run_row_of_tiles(void *user, void *local, int64_t index)
{
    const struct run *r = user;
    const tamis_pass pass = pass_of(r, &index);
    int64_t first = index * r->group, end = first + r->group, tiles = r->tiles_x * r->tiles_y;
    for (int64_t i = first; i < end && i < tiles && !stopped(user); i++) {
        tamis_priv_pull_begin(&pass, local);
        run_tile(&pass, local, i % r->tiles_x, i / r->tiles_x);
    }
}

static void run_column_of_tiles(void *user, void *local, int64_t index)
{
    const struct run *r = user;
    const tamis_pass pass = pass_of(r, &index);
    int64_t first = index / r->tiles_x * r->group, end = first + r->group;
    tamis_priv_pull_begin(&pass, local);
    for (int64_t y = first; y < end && y < r->tiles_y && !stopped(user); y++)
        run_tile(&pass, local, index % r->tiles_x, y);
}

static void run_items(struct run *r, int64_t count, void (*item)(void *, void *, int64_t))
{
    tamis_job job = {.user = r,
                     .count = count,
                     .enter = enter,
                     .leave = leave,
                     .item = item,
                     .stopped = stopped,
                     .progress = report};
    tamis_priv_pool_run(r->plan->ctx->pool, &job);
    r->done += count;
}

/* ---- whole images */

#define PREPARE_ROWS 16

static void prepare_rows(void *user, void *local, int64_t index)
{
    const struct run *r = user;
    const tamis_pass *pass = &r->pass;
    const tamis_step *s = &r->plan->steps[pass->segment->first];
    const tamis_image *to = &s->prepared;
    tamis_source source = tamis_priv_source_of_image(pass->src, pass->src_x, pass->src_y);
    size_t left = (size_t)r->prepared.x * tamis_priv_pixel_bytes(&to->format);
    (void)local;
    int32_t first = (int32_t)index * PREPARE_ROWS;
    int32_t count = smaller(PREPARE_ROWS, r->prepared.h - first);
    for (int32_t y = r->prepared.y + first; count-- > 0; y++) {
        void *rows[TAMIS_MAX_CHANNELS];
        for (int p = 0; p < s->fetch.planes; p++)
            rows[p] = (char *)tamis_image_row(to, p, y) + left;
        tamis_priv_fetch_row(&s->fetch, &source, r->prepared.x, y, (size_t)r->prepared.w, rows);
    }
}

static int prepares(const tamis_plan *plan, const tamis_segment *segment)
{
    return segment->end > segment->first && plan->steps[segment->first].node.gather &&
           plan->steps[segment->first].convert_in;
}

static int64_t prepare_count(const tamis_plan *plan, const tamis_segment *segment, tamis_rect part)
{
    if (!prepares(plan, segment))
        return 0;
    return ((int64_t)tamis_priv_segment_need(plan, segment, part).h + PREPARE_ROWS - 1) /
           PREPARE_ROWS;
}

static void finish(struct run *r, const tamis_segment *segment, const tamis_image *dst)
{
    const tamis_step *s = &r->plan->steps[segment->end - 1];
    tamis_result result = {
        .planes = tamis_image_planes(dst), .w = dst->w, .h = dst->h, .pool = r->plan->ctx->pool};
    result.step = dst->format.channels / result.planes;
    for (int p = 0; p < result.planes; p++) {
        result.data[p] = dst->data[p];
        result.stride[p] = dst->stride[p];
    }
    s->node.finish(&result, s->node.coef, s->finish_scratch);
    r->done++;
}

/* ---- segments */

/* The part of each segment's result that a part of the whole one needs. */
static void plan_parts(const tamis_plan *plan, tamis_rect rect, tamis_rect *parts)
{
    for (int i = plan->segment_count - 1; i >= 0; i--) {
        const tamis_segment *segment = &plan->segments[i];
        parts[i] = tamis_priv_segment_part(plan, segment, rect);
        rect = tamis_priv_segment_need(plan, segment, parts[i]);
    }
}

/* The tiles of the pass, of so many pictures. */
static void run_all_tiles(struct run *r, int64_t pictures)
{
    const tamis_segment *segment = r->pass.segment;
    tamis_rect part = r->pass.rect;
    r->tiles_x = divided_up(part.w, segment->tile_w);
    r->tiles_y = divided_up(part.h, segment->tile_h);
    r->group = tamis_priv_segment_group(r->plan, segment, part, pictures);
    r->items = count_items(r->plan, segment, part, pictures);
    run_items(r, r->items * pictures, segment->rolls ? run_column_of_tiles : run_row_of_tiles);
}

static void set_pass(struct run *r, const tamis_segment *segment, const tamis_image *src,
                     const tamis_image *dst, tamis_rect part)
{
    static const tamis_rect all = {0};
    const tamis_run_options *options = r->options;
    int is_first = segment == r->plan->segments;
    const tamis_rect *window = is_first && options->window ? options->window : &all;
    const tamis_rect *guided = options->guide_window ? options->guide_window : &all;
    r->pass = (tamis_pass){.plan = r->plan,
                           .segment = segment,
                           .src = src,
                           .guide = options->guide,
                           .frames = is_first && r->plan->frames ? options->frames : NULL,
                           .src_x = window->x,
                           .src_y = window->y,
                           .guide_x = guided->x,
                           .guide_y = guided->y,
                           .dst = dst,
                           .rect = part,
                           .src_aligned = tamis_priv_is_aligned(src),
                           .dst_aligned = tamis_priv_is_aligned(dst),
                           .cancel = options->cancel};
}

static void run_segment(struct run *r, const tamis_segment *segment, const tamis_image *src,
                        const tamis_image *dst, tamis_rect part)
{
    set_pass(r, segment, src, dst, part);
    if (prepares(r->plan, segment)) {
        r->prepared = tamis_priv_segment_need(r->plan, segment, part);
        run_items(r, prepare_count(r->plan, segment, part), prepare_rows);
    }
    run_all_tiles(r, 1);
}

static void finish_segment(struct run *r, const tamis_segment *segment, const tamis_image *dst)
{
    if (tamis_priv_segment_finishes(r->plan, segment) && !stopped(r))
        finish(r, segment, dst);
}

/* A segment's result goes to the caller's image, or to the plan's where that is wanted whole. */
static void run_into(struct run *r, int i, const tamis_image *src, const tamis_image *dst,
                     tamis_rect part, tamis_rect wanted)
{
    const tamis_segment *segment = &r->plan->segments[i];
    const tamis_image *hold = &segment->hold;
    tamis_image view;
    int is_last = i == r->plan->segment_count - 1;
    int whole = part.w == wanted.w && part.h == wanted.h && tamis_priv_is_aligned(dst);
    if (is_last && (!tamis_priv_segment_finishes(r->plan, segment) || whole)) {
        run_segment(r, segment, src, dst, part);
        finish_segment(r, segment, dst);
        return;
    }
    if (part.w < 1 || part.h < 1) /* a warp that looks past its input */
        return;
    tamis_image_view(r->plan->ctx, hold, part, &view);
    run_segment(r, segment, src, &view, part);
    finish_segment(r, segment, &view);
    if (is_last && !stopped(r)) {
        tamis_image_view(r->plan->ctx, hold, wanted, &view);
        tamis_image_copy(r->plan->ctx, &view, dst);
    }
}

/* Units of progress of one picture. */
static int64_t count_units(const tamis_plan *plan, const tamis_rect *parts)
{
    int64_t units = 0;
    for (int i = 0; i < plan->segment_count; i++)
        units += prepare_count(plan, &plan->segments[i], parts[i]) +
                 count_items(plan, &plan->segments[i], parts[i], 1) +
                 tamis_priv_segment_finishes(plan, &plan->segments[i]);
    return units;
}

/* One of so many pictures that come one after the other. */
static void run_segments(struct run *r, const tamis_image *src, const tamis_image *dst,
                         tamis_rect rect, int64_t pictures)
{
    tamis_rect parts[TAMIS_GRAPH_MAX_SIZE + 1];
    const tamis_plan *plan = r->plan;
    plan_parts(plan, rect, parts);
    r->total = count_units(plan, parts) * pictures;
    for (int i = 0; i < plan->segment_count && !stopped(r); i++) {
        run_into(r, i, src, dst, parts[i], rect);
        src = &plan->segments[i].hold;
    }
}

/* ---- segments one by one */

void tamis_priv_run_part(const tamis_plan *plan, int i, const tamis_image *src, tamis_rect part,
                         const tamis_image *dst, const tamis_run_options *options)
{
    const tamis_segment *segment = &plan->segments[i];
    struct run r = {.plan = (tamis_plan *)plan, .options = options};
    tamis_image view;
    if (!dst) {
        tamis_image_view(plan->ctx, &segment->hold, part, &view);
        dst = &view;
    }
    r.total = prepare_count(plan, segment, part) + count_items(plan, segment, part, 1);
    run_segment(&r, segment, src ? src : &segment[-1].hold, dst, part);
}

void tamis_priv_run_finish(const tamis_plan *plan, int i, const tamis_run_options *options)
{
    const tamis_segment *segment = &plan->segments[i];
    struct run r = {.plan = (tamis_plan *)plan, .options = options};
    finish_segment(&r, segment, &segment->hold);
}

/* As a run begins and ends, with the turn where whole images are shared. Only those and slots
 * change, under locks. */
static void begin(struct run *r)
{
    if (r->plan->hold_bytes)
        pthread_mutex_lock(&r->plan->turn);
}

static int end(struct run *r)
{
    const tamis_run_options *options = r->options;
    if (r->plan->hold_bytes)
        pthread_mutex_unlock(&r->plan->turn);
    if (stopped(r))
        return 0;
    if (options->progress)
        options->progress(options->progress_user, r->total, r->total);
    return 1;
}

int tamis_priv_host_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                        const tamis_image *dst, const tamis_run_options *options)
{
    struct run r = {.plan = (tamis_plan *)plan, .options = options};
    begin(&r);
    run_segments(&r, src, dst, rect, 1);
    return end(&r);
}

/* ---- many pictures */

/* Whether pixels go from source to result through the memory of slots alone. */
static int is_direct(const tamis_plan *plan)
{
    return plan->segment_count == 1 && !prepares(plan, plan->segments) &&
           !tamis_priv_segment_finishes(plan, plan->segments);
}

static void run_pictures(struct run *r, const tamis_image *srcs, const tamis_image *dsts,
                         int64_t count, tamis_rect rect)
{
    if (!is_direct(r->plan)) {
        for (int64_t i = 0; i < count && !stopped(r); i++)
            run_segments(r, &srcs[i], &dsts[i], rect, count);
        return;
    }
    r->srcs = srcs;
    r->dsts = dsts;
    r->total = count_items(r->plan, r->plan->segments, rect, count) * count;
    set_pass(r, r->plan->segments, srcs, dsts, rect);
    run_all_tiles(r, count);
}

int tamis_priv_host_run_many(const tamis_plan *plan, const tamis_image *srcs,
                             const tamis_image *dsts, size_t count, tamis_rect rect,
                             const tamis_run_options *options)
{
    struct run r = {.plan = (tamis_plan *)plan, .options = options};
    begin(&r);
    run_pictures(&r, srcs, dsts, (int64_t)count, rect);
    return end(&r);
}

/* ---- public */

static const tamis_run_options no_options = {0};

tamis_status tamis_plan_run_region(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                   const tamis_image *dst, const tamis_run_options *options)
{
    TAMIS_REQUIRE(NULL, plan);
    TAMIS_REQUIRE(plan->ctx, src);
    TAMIS_REQUIRE(plan->ctx, dst);
    if (!options)
        options = &no_options;
    TAMIS_TRY(tamis_priv_run_check(plan, src, rect, dst, options));
    if (plan->device)
        return tamis_priv_device_run(plan, src, rect, dst, options);
    if (!tamis_priv_host_run(plan, src, rect, dst, options))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run: canceled");
    return TAMIS_OK;
}

tamis_status tamis_plan_run(const tamis_plan *plan, const tamis_image *src, const tamis_image *dst,
                            const tamis_run_options *options)
{
    tamis_rect all = {0};
    tamis_plan_size(plan, &all.w, &all.h);
    return tamis_plan_run_region(plan, src, all, dst, options);
}

/* All, before any is written. */
static tamis_status check_many(const tamis_plan *plan, const tamis_image *srcs,
                               const tamis_image *dsts, size_t count,
                               const tamis_run_options *options)
{
    char text[600];
    tamis_rect all = {0};
    tamis_plan_size(plan, &all.w, &all.h);
    if (options->frames || options->window || options->guide_window)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run_many: %s for one picture, but there are %zu",
                               options->frames ? "frames are" : "a window is", count);
    for (size_t i = 0; i < count; i++) {
        tamis_status status = tamis_priv_run_check(plan, &srcs[i], all, &dsts[i], options);
        if (status == TAMIS_OK &&
            (srcs[i].device != srcs[0].device || dsts[i].device != dsts[0].device))
            status =
                tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                                "run: sources must be all in host memory or all on one device, "
                                "and so must destinations");
        if (status != TAMIS_OK)
            return tamis_priv_fail(plan->ctx, status, "run_many: picture %zu: %s", i,
                                   tamis_ctx_last_message(plan->ctx, text, sizeof text));
    }
    return TAMIS_OK;
}

tamis_status tamis_plan_run_many(const tamis_plan *plan, const tamis_image *srcs,
                                 const tamis_image *dsts, size_t count,
                                 const tamis_run_options *options)
{
    TAMIS_REQUIRE(NULL, plan);
    if (count == 0)
        return TAMIS_OK;
    TAMIS_REQUIRE(plan->ctx, srcs);
    TAMIS_REQUIRE(plan->ctx, dsts);
    if (!options)
        options = &no_options;
    TAMIS_TRY(check_many(plan, srcs, dsts, count, options));
    if (plan->device)
        return tamis_priv_device_run_many(plan, srcs, dsts, count, options);
    if (!tamis_priv_host_run_many(plan, srcs, dsts, count, (tamis_rect){0, 0, dsts->w, dsts->h},
                                  options))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run_many: canceled");
    return TAMIS_OK;
}

tamis_status tamis_filter_run(tamis_ctx *ctx, const tamis_filter *filter, const void *params,
                              const tamis_image *src, const tamis_image *dst)
{
    tamis_graph *graph = NULL, *chosen = NULL;
    tamis_plan *plan = NULL;
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_graph_create(ctx, &graph));
    tamis_status status = tamis_graph_add(graph, filter, params);
    if (status == TAMIS_OK)
        status = tamis_graph_resolve(ctx, graph, src, NULL, &chosen);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, chosen, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK)
        status = tamis_plan_run(plan, src, dst, NULL);
    tamis_plan_free(&plan);
    tamis_graph_free(&chosen);
    tamis_graph_free(&graph);
    return status;
}
