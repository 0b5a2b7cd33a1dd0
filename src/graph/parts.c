/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan part by part: which walks through parts that takes. */
#include "graph/parts.h"

#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/spill.h"

/* Memory for parts where the caller says nothing. Devices want large ones. */
#define BYTES_CPU    ((size_t)32 << 20)
#define BYTES_DEVICE ((size_t)256 << 20)
/* Bytes that are copied to a temporary file at a time. */
#define COPY_BYTES ((size_t)4 << 20)

struct job {
    const tamis_plan *plan;
    const tamis_parts *parts;
    const tamis_run_options *options;
    tamis_feed feeds[TAMIS_FEED_COUNT];
    tamis_image result; /* of a device, where it is wanted whole */
    size_t result_bytes;
    tamis_gather gather;
    int64_t done, total; /* progress, in pixels */
};

static int64_t pixels(tamis_rect r)
{
    return (int64_t)r.w * r.h;
}

static tamis_rect whole_result(const tamis_plan *plan)
{
    tamis_rect all = {0};
    tamis_plan_size(plan, &all.w, &all.h);
    return all;
}

/* ---- temporary files */

static tamis_status map_image(const struct job *j, tamis_format format, int32_t w, int32_t h,
                              tamis_image *out, size_t *size)
{
    size_t stride, bytes = tamis_priv_parts_bytes(format, w, h, &stride);
    void *data;
    TAMIS_TRY(tamis_priv_spill_map(j->plan->ctx, "parts", bytes, &data));
    *size = bytes;
    *out = (tamis_image){.format = format, .w = w, .h = h};
    size_t planes = (size_t)tamis_image_planes(out);
    for (size_t p = 0; p < planes; p++) {
        out->data[p] = (char *)data + p * (bytes / planes);
        out->stride[p] = (ptrdiff_t)stride;
    }
    return TAMIS_OK;
}

static void report(const struct job *j)
{
    if (j->options->progress && j->done < j->total)
        j->options->progress(j->options->progress_user, j->done, j->total);
}

/* Copies a picture that parts are read from to a temporary file, in bands of whole blocks. */
static tamis_status spill_feed(struct job *j, tamis_feed *f)
{
    if (!f->source || f->whole.data[0])
        return TAMIS_OK;
    TAMIS_TRY(map_image(j, f->format, f->w, f->h, &f->whole, &f->mapped));
    size_t row = tamis_priv_parts_bytes(f->format, f->w, 1, NULL);
    int32_t block = f->source->block_h > 1 ? f->source->block_h : 1;
    int32_t rows = row < COPY_BYTES ? (int32_t)(COPY_BYTES / row) : 1;
    rows = block < f->h ? (rows + block - 1) / block * block : f->h;
    j->total += (int64_t)f->w * f->h;
    for (int32_t y = 0; y < f->h; y += rows) {
        tamis_image view;
        tamis_rect part = {0, y, f->w, f->h - y < rows ? f->h - y : rows};
        TAMIS_TRY(tamis_priv_cancel_check(j->plan, j->options));
        tamis_image_view(j->plan->ctx, &f->whole, part, &view);
        TAMIS_TRY(f->source->read(f->source->user, part, &view));
        j->done += pixels(part);
        report(j);
    }
    return TAMIS_OK;
}

static void free_all(struct job *j)
{
    for (int f = 0; f < TAMIS_FEED_COUNT; f++)
        if (j->feeds[f].mapped)
            tamis_priv_spill_unmap(j->feeds[f].whole.data[0], j->feeds[f].mapped);
    tamis_image_unref(&j->gather.rows);
    if (j->result_bytes)
        tamis_priv_spill_unmap(j->result.data[0], j->result_bytes);
}

/* ---- walks */

/* Bytes that parts may take. */
static size_t bound_of(const struct job *j)
{
    tamis_ctx *ctx = j->plan->ctx;
    size_t bound = j->plan->device ? BYTES_DEVICE : BYTES_CPU, held = tamis_ctx_bytes(ctx);
    if (j->parts->max_bytes)
        bound = j->parts->max_bytes;
    if (ctx->max_bytes && (ctx->max_bytes < held || ctx->max_bytes - held < bound))
        bound = ctx->max_bytes < held ? 0 : ctx->max_bytes - held;
    return bound;
}

static tamis_status too_little(const struct job *j, size_t smallest, size_t bound)
{
    char need[TAMIS_BYTES_TEXT], limit[TAMIS_BYTES_TEXT];
    return tamis_priv_fail(
        j->plan->ctx, TAMIS_ERR_LIMIT, "parts: the smallest need %s of memory, the limit leaves %s",
        tamis_priv_bytes_print(smallest, need), tamis_priv_bytes_print(bound, limit));
}

/* Chooses sizes; where even small parts need too much of the input, of parts inside of blocks, or
 * else after copying the input to a file. */
static tamis_status lay_out(struct job *j, tamis_stage *s)
{
    size_t bound = bound_of(j), least, smallest;
    if (tamis_priv_parts_layout(s, bound, &least))
        return TAMIS_OK;
    TAMIS_TRY(tamis_priv_parts_gather(s, bound, &j->gather));
    if (j->gather.whole)
        return TAMIS_OK;
    if (j->parts->max_bytes || j->plan->ctx->max_bytes) {
        tamis_stage bare = *s; /* as if all input were there: else copying it is in vain */
        bare.feeds = NULL;
        if (!tamis_priv_parts_layout(&bare, bound, &smallest))
            return too_little(j, smallest, bound);
    }
    for (int f = 0; s->feeds && f < TAMIS_FEED_COUNT; f++)
        TAMIS_TRY(spill_feed(j, &s->feeds[f]));
    if (tamis_priv_parts_layout(s, bound, &smallest))
        return TAMIS_OK;
    if (!j->parts->max_bytes && !j->plan->ctx->max_bytes &&
        tamis_priv_parts_layout(s, smallest, &smallest))
        return TAMIS_OK;
    return too_little(j, smallest, bound);
}

static tamis_status walk(struct job *j, tamis_stage *s)
{
    s->plan = j->plan;
    s->options = j->options;
    s->done = &j->done;
    j->total += pixels(s->result);
    TAMIS_TRY(lay_out(j, s));
    s->total = j->total;
    return tamis_priv_parts_walk(s);
}

static void aim_at_target(const struct job *j, tamis_stage *s)
{
    s->target = &j->parts->dst;
    s->block_w = s->target->block_w;
    s->block_h = s->target->block_h;
    s->format = tamis_plan_format(j->plan);
    s->result = whole_result(j->plan);
}

/* ---- plans whose results come part by part */

static tamis_status make_region(const tamis_stage *s, const tamis_image *src, tamis_rect part,
                                const tamis_image *dst, const tamis_run_options *options)
{
    return tamis_plan_run_region(s->plan, src, part, dst, options);
}

static tamis_status run_through(struct job *j)
{
    tamis_stage s = {.feeds = j->feeds, .make = make_region};
    aim_at_target(j, &s);
    return walk(j, &s);
}

/* ---- plans that need a whole result somewhere */

static tamis_status make_first(const tamis_stage *s, const tamis_image *src, tamis_rect part,
                               const tamis_image *dst, const tamis_run_options *options)
{
    (void)dst;
    tamis_priv_run_part(s->plan, 0, src, part, NULL, options);
    return tamis_priv_cancel_check(s->plan, options);
}

static tamis_status make_last(const tamis_stage *s, const tamis_image *src, tamis_rect part,
                              const tamis_image *dst, const tamis_run_options *options)
{
    (void)src;
    tamis_priv_run_part(s->plan, s->plan->segment_count - 1, NULL, part, dst, options);
    return tamis_priv_cancel_check(s->plan, options);
}

/* The first segment part by part into the plan's memory, the next ones there. */
static tamis_status run_into_holds(struct job *j, const tamis_rect *results, int count)
{
    const tamis_plan *plan = j->plan;
    tamis_stage first = {.feeds = j->feeds,
                         .make = make_first,
                         .is_first = 1,
                         .result = results[0],
                         .format = tamis_priv_plan_format(plan, plan->segments[0].end)};
    first.block_w = plan->segments[0].tile_w;
    for (int i = 1; i < count; i++)
        j->total += pixels(results[i]);
    j->total += pixels(whole_result(plan));
    TAMIS_TRY(walk(j, &first));
    for (int i = 0; i < count; i++) {
        tamis_run_options options = *j->options;
        options.progress = NULL;
        if (i > 0) {
            tamis_priv_run_part(plan, i, NULL, results[i], NULL, &options);
            j->done += pixels(results[i]);
        }
        tamis_priv_run_finish(plan, i, &options);
        TAMIS_TRY(tamis_priv_cancel_check(plan, &options));
        report(j);
    }
    j->total -= pixels(whole_result(plan)); /* the walk to come adds it */
    return TAMIS_OK;
}

/* The caller has the plan's turn. */
static tamis_status run_held(struct job *j)
{
    const tamis_plan *plan = j->plan;
    int last = plan->segment_count - 1;
    const tamis_segment *segment = &plan->segments[last];
    int ends_held = tamis_priv_segment_finishes(plan, segment);
    tamis_rect results[TAMIS_GRAPH_MAX_SIZE + 1];
    tamis_stage s = {0};
    aim_at_target(j, &s);
    results[last] = s.result;
    for (int i = last; i > 0; i--)
        results[i - 1] =
            tamis_priv_segment_part(plan, &plan->segments[i - 1],
                                    tamis_priv_segment_need(plan, &plan->segments[i], results[i]));
    TAMIS_TRY(run_into_holds(j, results, ends_held ? last + 1 : last));
    if (ends_held)
        s.ready = segment->hold;
    else
        s.make = make_last;
    return walk(j, &s);
}

/* On a device, input and result as a whole. */
static tamis_status run_whole(struct job *j)
{
    tamis_run_options options = *j->options;
    tamis_stage s = {0};
    aim_at_target(j, &s);
    j->total += pixels(s.result);
    for (int f = 0; f < TAMIS_FEED_COUNT; f++)
        TAMIS_TRY(spill_feed(j, &j->feeds[f]));
    j->total -= pixels(s.result); /* the walk to come adds it */
    TAMIS_TRY(map_image(j, s.format, s.result.w, s.result.h, &j->result, &j->result_bytes));
    options.progress = NULL;
    if (j->feeds[TAMIS_FEED_GUIDE].source)
        options.guide = &j->feeds[TAMIS_FEED_GUIDE].whole;
    TAMIS_TRY(tamis_plan_run(j->plan, &j->feeds[TAMIS_FEED_SRC].whole, &j->result, &options));
    s.ready = j->result;
    return walk(j, &s);
}

static int finishes(const tamis_plan *plan)
{
    for (int i = 0; i < plan->segment_count; i++)
        if (tamis_priv_segment_finishes(plan, &plan->segments[i]))
            return 1;
    return 0;
}

static tamis_status run(struct job *j)
{
    tamis_plan *plan = (tamis_plan *)j->plan; /* only its memory for whole images changes */
    if (!finishes(plan))
        return run_through(j);
    if (plan->device)
        return run_whole(j);
    pthread_mutex_lock(&plan->turn);
    tamis_status status = run_held(j);
    pthread_mutex_unlock(&plan->turn);
    return status;
}

/* ---- checks */

static tamis_status check_blocks(tamis_ctx *ctx, const char *what, int32_t w, int32_t h)
{
    if (w >= 0 && h >= 0)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                           "parts: %s: blocks of %dx%d; sizes are 0 or more", what, w, h);
}

static tamis_status check_options(tamis_ctx *ctx, const tamis_run_options *options)
{
    const char *name = options->window         ? "window"
                       : options->guide_window ? "guide_window"
                       : options->frames       ? "frames"
                       : options->stream       ? "stream"
                                               : NULL;
    if (!name)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "parts: the run's option %s must be NULL",
                           name);
}

static tamis_status check_guide(const tamis_plan *plan, const tamis_parts *parts,
                                const tamis_run_options *options)
{
    if (!parts->guide.read)
        return tamis_priv_guide_check(plan, whole_result(plan), options);
    if (plan->has_guide && !options->guide)
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                           plan->has_guide
                               ? "parts: the guide is given twice, as an image and to be read"
                               : "parts: the plan was made without a guide");
}

static tamis_status check(const tamis_plan *plan, const tamis_parts *parts,
                          const tamis_run_options *options)
{
    tamis_ctx *ctx = plan->ctx;
    TAMIS_REQUIRE(ctx, parts);
    TAMIS_REQUIRE(ctx, parts->src.read);
    TAMIS_REQUIRE(ctx, parts->dst.write);
    TAMIS_TRY(check_blocks(ctx, "the source", parts->src.block_w, parts->src.block_h));
    TAMIS_TRY(check_blocks(ctx, "the guide", parts->guide.block_w, parts->guide.block_h));
    TAMIS_TRY(check_blocks(ctx, "the result", parts->dst.block_w, parts->dst.block_h));
    TAMIS_TRY(check_options(ctx, options));
    return check_guide(plan, parts, options);
}

tamis_status tamis_plan_run_parts(const tamis_plan *plan, const tamis_parts *parts,
                                  const tamis_run_options *options)
{
    static const tamis_run_options defaults = {0};
    TAMIS_REQUIRE(NULL, plan);
    if (!options)
        options = &defaults;
    TAMIS_TRY(check(plan, parts, options));
    struct job j = {.plan = plan, .parts = parts, .options = options};
    j.feeds[TAMIS_FEED_SRC] =
        (tamis_feed){.source = &parts->src, .format = plan->in, .w = plan->w, .h = plan->h};
    if (parts->guide.read)
        j.feeds[TAMIS_FEED_GUIDE] = (tamis_feed){
            .source = &parts->guide, .format = plan->guide, .w = plan->guide_w, .h = plan->guide_h};
    tamis_status status = run(&j);
    free_all(&j);
    if (status == TAMIS_OK && options->progress)
        options->progress(options->progress_user, j.total, j.total);
    return status;
}
