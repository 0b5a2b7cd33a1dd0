/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan: tiles of the result, each pulled through the whole chain by one thread. */
#include <stdint.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/plan.h"

/* Where a step's output goes: the sample at the tile's top left corner of each plane. */
struct surface {
    char *data[TAMIS_MAX_CHANNELS];
    ptrdiff_t stride[TAMIS_MAX_CHANNELS];
    int aligned; /* 1: kernels may write there */
};

struct run {
    tamis_plan *plan;
    const tamis_image *src, *guide;
    const tamis_image *dst;
    tamis_rect rect; /* of the result; dst's top left pixel is its corner */
    int src_aligned, dst_aligned;
    int64_t tiles_x;
    const tamis_run_options *options;
    int64_t tiles;
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int is_aligned(const tamis_image *image)
{
    uintptr_t bits = 0;
    for (int p = 0; p < tamis_image_planes(image); p++)
        bits |= (uintptr_t)image->data[p] | (uintptr_t)image->stride[p];
    return bits % tamis_type_size(image->format.type) == 0;
}

static tamis_source source_of_image(const tamis_image *image)
{
    tamis_source s = {.w = image->w, .h = image->h};
    for (int p = 0; p < tamis_image_planes(image); p++) {
        s.data[p] = image->data[p];
        s.stride[p] = image->stride[p];
    }
    return s;
}

/* ---- one step on one part of its output */

static void set_rows(const tamis_slot *slot, const size_t *offsets, int planes,
                     const void **rows[TAMIS_MAX_CHANNELS])
{
    for (int p = 0; p < planes; p++)
        rows[p] = (const void **)(void *)(slot->data + offsets[p]);
}

static void load_guide(const struct run *r, const tamis_step *s, const tamis_slot *slot,
                       tamis_box need, tamis_tile *tile)
{
    const void **rows[TAMIS_MAX_CHANNELS];
    tamis_source source = source_of_image(r->guide);
    set_rows(slot, s->guide_rows, s->guide.planes, rows);
    tamis_priv_fetch_padded(&s->guide, &source, need, slot->data + s->guide_padded,
                            (int64_t *)(void *)(slot->data + s->columns), rows);
    for (int p = 0; p < s->guide.planes; p++)
        tile->guide[p] = rows[p] + s->node.halo.top;
    tile->guide_planes = s->guide.planes - (s->guide.format.alpha != TAMIS_ALPHA_NONE);
}

/* Calls the kernel for all planes at once or for one after the other. */
static void call_kernel(const tamis_step *s, const tamis_slot *slot, const tamis_tile *tile)
{
    void *scratch = slot->data + s->scratch;
    if (s->node.planar) {
        s->kernel->fn(tile, s->node.coef, scratch);
        return;
    }
    for (int p = 0; p < s->filtered; p++) {
        tamis_tile one = *tile;
        one.planes = 1;
        one.src[0] = tile->src[p];
        one.dst[0] = tile->dst[p];
        one.dst_stride[0] = tile->dst_stride[p];
        s->kernel->fn(&one, s->node.coef, scratch);
    }
}

/* Row y of the kernel's result: what it wrote, or the input where a plane is only copied. */
static void result_row(const tamis_step *s, const tamis_slot *slot, const tamis_tile *tile, int y,
                       const void *row[TAMIS_MAX_CHANNELS])
{
    for (int p = 0; p < s->fetch.planes; p++)
        row[p] = p < s->filtered ? slot->data + s->result + (size_t)p * s->result_plane +
                                       (size_t)y * s->result_stride
                                 : (const char *)tile->src[p][y];
}

static void divide_by_alpha(const tamis_step *s, const tamis_slot *slot, int y, size_t n)
{
    int alpha = s->fetch.planes - 1;
    tamis_type type = s->node.in.type;
    float clear = type == TAMIS_F32 || type == TAMIS_F16 ? 0 : 0.5f; /* rounds to 0 */
    char *row = slot->data + s->result + (size_t)y * s->result_stride;
    for (int p = 0; p < alpha; p++)
        s->fetch.loops->unpremultiply((float *)(void *)(row + (size_t)p * s->result_plane),
                                      (float *)(void *)(row + (size_t)alpha * s->result_plane), n,
                                      (float)tamis_type_range(type), clear);
}

/* Turns the kernel's rows back into the image's format. */
static void store_result(const tamis_step *s, const tamis_slot *slot, tamis_rect rect,
                         const tamis_tile *tile, const struct surface *dst)
{
    const tamis_fetch *f = &s->fetch;
    tamis_format out = s->node.in;
    size_t n = (size_t)rect.w;
    for (int y = 0; y < rect.h; y++) {
        const void *row[TAMIS_MAX_CHANNELS];
        if (f->premultiply)
            divide_by_alpha(s, slot, y, n);
        result_row(s, slot, tile, y, row);
        char *d = dst->data[0] + y * dst->stride[0];
        if (out.layout == TAMIS_PLANAR)
            for (int p = 0; p < f->planes; p++)
                f->loops->convert(dst->data[p] + y * dst->stride[p], out.type, row[p], f->work, n);
        else if (f->planes == 1)
            f->loops->convert(d, out.type, row[0], f->work, n * (size_t)f->step);
        else
            f->loops->join(d, out.type, row, f->work, f->planes, n);
    }
}

static void run_kernel(const struct run *r, const tamis_slot *slot, int k, tamis_rect rect,
                       const tamis_source *source, tamis_box need, int direct,
                       const struct surface *dst)
{
    const tamis_step *s = &r->plan->steps[k];
    const void **rows[TAMIS_MAX_CHANNELS];
    set_rows(slot, s->rows, s->fetch.planes, rows);
    if (direct)
        tamis_priv_fetch_direct(&s->fetch, source, need, rows);
    else
        tamis_priv_fetch_padded(&s->fetch, source, need, slot->data + s->padded,
                                (int64_t *)(void *)(slot->data + s->columns), rows);
    tamis_tile tile = {.w = rect.w,
                       .h = rect.h,
                       .step = s->fetch.step,
                       .planes = s->filtered,
                       .x = rect.x,
                       .y = rect.y};
    int convert = s->convert || !dst->aligned;
    for (int p = 0; p < s->fetch.planes; p++) {
        tile.src[p] = rows[p] + s->node.halo.top;
        tile.dst[p] = convert ? slot->data + s->result + (size_t)p * s->result_plane : dst->data[p];
        tile.dst_stride[p] = convert ? (ptrdiff_t)s->result_stride : dst->stride[p];
    }
    if (s->node.has_guide)
        load_guide(r, s, slot, need, &tile);
    call_kernel(s, slot, &tile);
    if (convert)
        store_result(s, slot, rect, &tile, dst);
}

/* ---- a step that reads the source image */

static size_t pixel_bytes(const tamis_format *f)
{
    return tamis_type_size(f->type) * (f->layout == TAMIS_PACKED ? (size_t)f->channels : 1);
}

static struct surface moved(const tamis_step *s, const struct surface *dst, int columns, int rows)
{
    struct surface d = *dst;
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        if (d.data[p])
            d.data[p] += rows * d.stride[p] + columns * (ptrdiff_t)pixel_bytes(&s->node.in);
    return d;
}

/* Most of a tile can be read in place; only what reaches over the image's left or right side needs
 * padded copies. Cuts the tile's columns into at most three parts: cuts[i] .. cuts[i+1]. */
static int cut_columns(const tamis_step *s, const tamis_source *source, tamis_rect rect, int *cuts)
{
    int64_t px = (int64_t)s->fetch.step * (int64_t)tamis_type_size(s->fetch.work);
    int64_t slack = (tamis_priv_fetch_slack(s->fetch.work) + px - 1) / px;
    int64_t shift = s->node.border == TAMIS_BORDER_VALID ? s->node.halo.left : 0;
    int64_t first = slack + s->node.halo.left - shift;
    int64_t last = source->w - slack - s->node.halo.right - shift;
    int64_t from = first > rect.x ? first - rect.x : 0;
    int64_t to = last - rect.x < rect.w ? last - rect.x : rect.w;
    int n = 0;
    cuts[n++] = 0;
    if (to - from >= 2 * slack) {
        if (from > 0)
            cuts[n++] = (int)from;
        if (to < rect.w)
            cuts[n++] = (int)to;
    }
    cuts[n] = rect.w;
    return n;
}

static void run_first_step(const struct run *r, const tamis_slot *slot, tamis_rect rect,
                           const struct surface *dst)
{
    const tamis_step *s = &r->plan->steps[0];
    tamis_source source = source_of_image(r->src);
    int cuts[4] = {0, rect.w};
    int in_place = !s->convert && r->src_aligned;
    int parts = in_place ? cut_columns(s, &source, rect, cuts) : 1;
    for (int i = 0; i < parts; i++) {
        tamis_rect part = {rect.x + cuts[i], rect.y, cuts[i + 1] - cuts[i], rect.h};
        tamis_box need = tamis_priv_step_need(s, part);
        struct surface d = moved(s, dst, cuts[i], 0);
        int direct = in_place && tamis_priv_fetch_is_inside(&s->fetch, &source, need);
        run_kernel(r, slot, 0, part, &source, need, direct, &d);
    }
}

/* ---- a step that reads the step before */

static void run_step(const struct run *r, const tamis_slot *slot, int k, tamis_rect rect,
                     const struct surface *dst);

/* The buffer for the output of step k-1, as a surface whose corner is pixel (0, 0) of it. */
static struct surface previous_surface(const tamis_step *s, const tamis_slot *slot)
{
    struct surface d = {.aligned = 1};
    int planes = s->node.in.layout == TAMIS_PLANAR ? s->node.in.channels : 1;
    for (int p = 0; p < planes; p++) {
        d.data[p] =
            slot->data + s->previous + (size_t)p * s->previous_plane + TAMIS_FETCH_SLACK_MAX;
        d.stride[p] = (ptrdiff_t)s->previous_stride;
    }
    return d;
}

static tamis_source previous_source(const tamis_step *s, const struct surface *d, tamis_box box,
                                    int complete)
{
    tamis_source source = {
        .x = box.x, .y = box.y, .w = box.w, .h = box.h, .slack = 1, .complete = complete};
    int planes = s->node.in.layout == TAMIS_PLANAR ? s->node.in.channels : 1;
    for (int p = 0; p < planes; p++) {
        source.data[p] = d->data[p];
        source.stride[p] = d->stride[p];
    }
    return source;
}

/* Fills the buffer from its first w x h pixels, a whole period where the box is larger. */
static void repeat_period(const tamis_step *s, const struct surface *buffer, tamis_box need, int w,
                          int h)
{
    size_t px = pixel_bytes(&s->node.in);
    for (int p = 0; p < TAMIS_MAX_CHANNELS && buffer->data[p]; p++) {
        for (int y = 0; y < need.h; y++) {
            char *row = buffer->data[p] + y * buffer->stride[p];
            if (y >= h)
                memcpy(row, row - h * buffer->stride[p], (size_t)need.w * px);
            else
                for (int x = w; x < need.w; x += w)
                    memcpy(row + (size_t)x * px, row, (size_t)smaller(w, need.w - x) * px);
        }
    }
}

/* With border=wrap a box over the edge comes from several places of the image: each is computed
 * into its place in the buffer. A step before that wraps as well goes on over the edge by itself:
 * asking for the parts one by one would take four times as long with every further step. */
static void produce_wrapped(const struct run *r, const tamis_slot *slot, int k, tamis_box need,
                            const struct surface *buffer)
{
    const tamis_step *s = &r->plan->steps[k];
    int seamless = r->plan->steps[k - 1].node.border == TAMIS_BORDER_WRAP;
    int w = smaller(need.w, s->node.w), h = smaller(need.h, s->node.h);
    tamis_rect part;
    for (int y = 0; y < h; y += part.h) {
        part.y = (int32_t)tamis_border_index(TAMIS_BORDER_WRAP, need.y + y, s->node.h);
        part.h = seamless ? h : smaller(h - y, s->node.h - part.y);
        for (int x = 0; x < w; x += part.w) {
            part.x = (int32_t)tamis_border_index(TAMIS_BORDER_WRAP, need.x + x, s->node.w);
            part.w = seamless ? w : smaller(w - x, s->node.w - part.x);
            struct surface d = moved(s, buffer, x, y);
            run_step(r, slot, k - 1, part, &d);
        }
    }
    repeat_period(s, buffer, need, w, h);
}

static void run_later_step(const struct run *r, const tamis_slot *slot, int k, tamis_rect rect,
                           const struct surface *dst)
{
    const tamis_step *s = &r->plan->steps[k];
    tamis_box need = tamis_priv_step_need(s, rect), box = need;
    struct surface buffer = previous_surface(s, slot);
    int wrapped = s->node.border == TAMIS_BORDER_WRAP;
    if (wrapped) {
        produce_wrapped(r, slot, k, need, &buffer);
    } else {
        box = tamis_priv_fetch_origin(&s->fetch, need);
        tamis_rect part = {(int32_t)box.x, (int32_t)box.y, box.w, box.h};
        run_step(r, slot, k - 1, part, &buffer);
    }
    tamis_source source = previous_source(s, &buffer, box, wrapped);
    int direct = !s->convert && tamis_priv_fetch_is_inside(&s->fetch, &source, need);
    run_kernel(r, slot, k, rect, &source, need, direct, dst);
}

static void run_step(const struct run *r, const tamis_slot *slot, int k, tamis_rect rect,
                     const struct surface *dst)
{
    if (k == 0)
        run_first_step(r, slot, rect, dst);
    else
        run_later_step(r, slot, k, rect, dst);
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
    if (done < r->tiles) /* the end is reported once, when the run is over */
        r->options->progress(r->options->progress_user, done, r->tiles);
}

/* An empty chain. Sizes and formats have been checked, so nothing here can fail. */
static void copy_tile(const struct run *r, tamis_rect rect)
{
    tamis_ctx *ctx = r->plan->ctx;
    tamis_rect to = {rect.x - r->rect.x, rect.y - r->rect.y, rect.w, rect.h};
    tamis_image from_view, to_view;
    tamis_image_view(ctx, r->src, rect, &from_view);
    tamis_image_view(ctx, r->dst, to, &to_view);
    tamis_image_copy(ctx, &from_view, &to_view);
}

static void run_tile(void *user, void *local, int64_t index)
{
    const struct run *r = user;
    int tw = r->plan->tile_w, th = r->plan->tile_h;
    int x = (int)(index % r->tiles_x) * tw, y = (int)(index / r->tiles_x) * th;
    tamis_rect rect = {r->rect.x + x, r->rect.y + y, smaller(tw, r->rect.w - x),
                       smaller(th, r->rect.h - y)};
    if (r->plan->count == 0) {
        copy_tile(r, rect);
        return;
    }
    size_t px = pixel_bytes(&r->dst->format);
    struct surface d = {.aligned = r->dst_aligned};
    for (int p = 0; p < tamis_image_planes(r->dst); p++) {
        d.data[p] = (char *)tamis_image_row(r->dst, p, y) + (size_t)x * px;
        d.stride[p] = r->dst->stride[p];
    }
    run_step(r, local, r->plan->count - 1, rect, &d);
}

/* ---- checks */

static size_t row_bytes(const tamis_image *image)
{
    return (size_t)image->w * pixel_bytes(&image->format);
}

/* Whether two planes of pixels share bytes. */
static int planes_overlap(const tamis_image *a, int p, const tamis_image *b, int q)
{
    uintptr_t a0 = (uintptr_t)a->data[p], b0 = (uintptr_t)b->data[q];
    uintptr_t a1 = (uintptr_t)tamis_image_row(a, p, a->h - 1);
    uintptr_t b1 = (uintptr_t)tamis_image_row(b, q, b->h - 1);
    uintptr_t a_lo = a0 < a1 ? a0 : a1, a_hi = (a0 < a1 ? a1 : a0) + row_bytes(a);
    uintptr_t b_lo = b0 < b1 ? b0 : b1, b_hi = (b0 < b1 ? b1 : b0) + row_bytes(b);
    if (a_hi <= b_lo || b_hi <= a_lo)
        return 0;
    if (a->stride[p] != b->stride[q] || a->stride[p] == 0)
        return 1;
    /* Views of one parent: side by side, they interleave without sharing a byte. */
    size_t stride = (size_t)(a->stride[p] < 0 ? -a->stride[p] : a->stride[p]);
    size_t ahead = b0 >= a0 ? (b0 - a0) % stride : (stride - (a0 - b0) % stride) % stride;
    return ahead < row_bytes(a) || ahead + row_bytes(b) > stride;
}

static int images_overlap(const tamis_image *a, const tamis_image *b)
{
    for (int p = 0; p < tamis_image_planes(a); p++)
        for (int q = 0; q < tamis_image_planes(b); q++)
            if (planes_overlap(a, p, b, q))
                return 1;
    return 0;
}

static tamis_status check_image(const tamis_plan *plan, const char *what, const tamis_image *image,
                                tamis_format format, int32_t w, int32_t h)
{
    TAMIS_TRY(tamis_image_check(plan->ctx, image));
    char want[64], have[64];
    if (!tamis_format_equal(image->format, format))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s is %s, but the plan is for %s", what,
                               tamis_format_print(image->format, have, sizeof have),
                               tamis_format_print(format, want, sizeof want));
    if (image->w != w || image->h != h)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s is %dx%d, but the plan is for %dx%d", what, image->w,
                               image->h, w, h);
    return TAMIS_OK;
}

/* Rows that lie in one another would be written by several threads at once. A source may have them:
 * with stride 0 all its rows are the same. */
static tamis_status check_rows(const tamis_plan *plan, const tamis_image *dst)
{
    for (int p = 0; p < tamis_image_planes(dst) && dst->h > 1; p++) {
        ptrdiff_t stride = dst->stride[p];
        if ((size_t)(stride < 0 ? -stride : stride) < row_bytes(dst))
            return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                                   "run: the destination's stride[%d] = %td is shorter than its "
                                   "rows of %zu bytes",
                                   p, stride, row_bytes(dst));
    }
    return TAMIS_OK;
}

static tamis_status check_overlap(const tamis_plan *plan, const tamis_image *src,
                                  const tamis_image *dst, const tamis_image *guide)
{
    if (images_overlap(src, dst) || (guide && images_overlap(guide, dst)))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: source and destination share memory; filters with a window "
                               "need a destination of its own");
    return TAMIS_OK;
}

static tamis_status check_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                              const tamis_image *dst, const tamis_run_options *options)
{
    int32_t w, h;
    TAMIS_TRY(check_image(plan, "the source", src, plan->in, plan->w, plan->h));
    tamis_plan_size(plan, &w, &h);
    if (rect.w < 1 || rect.h < 1 || rect.x < 0 || rect.y < 0 || rect.x > w - rect.w ||
        rect.y > h - rect.h)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: region %dx%d at (%d, %d) leaves the result of %dx%d", rect.w,
                               rect.h, rect.x, rect.y, w, h);
    TAMIS_TRY(check_image(plan, "the destination", dst, tamis_plan_format(plan), rect.w, rect.h));
    TAMIS_TRY(check_rows(plan, dst));
    if (plan->has_guide != (options->guide != NULL))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT, "run: the plan was made %s a guide",
                               plan->has_guide ? "with" : "without");
    if (plan->has_guide)
        TAMIS_TRY(check_image(plan, "the guide", options->guide, plan->guide, plan->w, plan->h));
    return check_overlap(plan, src, dst, options->guide);
}

/* ---- public */

tamis_status tamis_plan_run_region(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                   const tamis_image *dst, const tamis_run_options *options)
{
    static const tamis_run_options defaults = {0};
    if (!options)
        options = &defaults;
    TAMIS_TRY(check_run(plan, src, rect, dst, options));
    struct run r = {.plan = (tamis_plan *)plan, /* only its slots change, under a lock */
                    .src = src,
                    .guide = options->guide,
                    .dst = dst,
                    .rect = rect,
                    .src_aligned = is_aligned(src),
                    .dst_aligned = is_aligned(dst),
                    .options = options};
    r.tiles_x = ((int64_t)rect.w + plan->tile_w - 1) / plan->tile_w;
    r.tiles = r.tiles_x * (((int64_t)rect.h + plan->tile_h - 1) / plan->tile_h);
    tamis_job job = {.user = &r,
                     .count = r.tiles,
                     .enter = enter,
                     .leave = leave,
                     .item = run_tile,
                     .stopped = stopped,
                     .progress = options->progress ? report : NULL};
    tamis_priv_pool_run(plan->ctx->pool, &job);
    if (stopped(&r))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run: canceled");
    if (options->progress)
        options->progress(options->progress_user, r.tiles, r.tiles);
    return TAMIS_OK;
}

tamis_status tamis_plan_run(const tamis_plan *plan, const tamis_image *src, const tamis_image *dst,
                            const tamis_run_options *options)
{
    tamis_rect all = {0};
    tamis_plan_size(plan, &all.w, &all.h);
    return tamis_plan_run_region(plan, src, all, dst, options);
}

tamis_status tamis_filter_run(tamis_ctx *ctx, const tamis_filter *filter, const void *params,
                              const tamis_image *src, const tamis_image *dst)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_graph_create(ctx, &graph));
    tamis_status status = tamis_graph_add(graph, filter, params);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK)
        status = tamis_plan_run(plan, src, dst, NULL);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}
