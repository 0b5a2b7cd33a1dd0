/* SPDX-License-Identifier: Apache-2.0 */
/* From a wish to a decision: steps, segments and tiles. */
#include "graph/plan.h"

#include <stddef.h>
#include <string.h>

#include "core/ctx.h"
#include "core/devices.h"
#include "core/mem.h"
#include "core/spill.h"
#include "graph/device.h"
#include "graph/run.h"
#include "image/image.h"

#define TILE_MAX (1 << 24) /* so that a tile and its halo stay far from overflow */

tamis_format tamis_priv_plan_format(const tamis_plan *plan, int k)
{
    return k ? plan->steps[k - 1].node.out : plan->in;
}

void tamis_priv_plan_size(const tamis_plan *plan, int k, int32_t *w, int32_t *h)
{
    *w = k ? plan->steps[k - 1].out_w : plan->w;
    *h = k ? plan->steps[k - 1].out_h : plan->h;
}

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "plan: no memory");
}

/* ---- segments */

static int ends_segment(const tamis_plan *plan, int k)
{
    return k + 1 == plan->count || plan->steps[k].node.finish || plan->steps[k + 1].node.gather;
}

static tamis_status make_segments(tamis_plan *plan)
{
    plan->segments =
        tamis_priv_plan_alloc(plan, (size_t)(plan->count + 1) * sizeof *plan->segments);
    if (!plan->segments)
        return no_memory(plan->ctx);
    int first = 0;
    for (int k = 0; k < plan->count; k++)
        if (ends_segment(plan, k)) {
            plan->segments[plan->segment_count++] = (tamis_segment){.first = first, .end = k + 1};
            first = k + 1;
        }
    if (plan->count == 0)
        plan->segment_count = 1;
    return TAMIS_OK;
}

/* Other frames are read from the source, so nothing whole may lie between. */
static tamis_status count_frames(tamis_plan *plan)
{
    for (int k = 0; k < plan->count; k++) {
        const tamis_step *s = &plan->steps[k];
        if (s->node.frames && k >= plan->segments[0].end)
            return tamis_priv_fail(plan->ctx, TAMIS_ERR_UNSUPPORTED,
                                   "%s: reading %d frames before and after is only possible ahead "
                                   "of filters that need a whole picture; put it first",
                                   s->filter->name, s->node.frames);
        plan->frames += s->node.frames;
    }
    if (plan->frames > TAMIS_MAX_FRAMES)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "plan: the chain reads %d frames before and after, at most %d are "
                               "possible",
                               plan->frames, TAMIS_MAX_FRAMES);
    return TAMIS_OK;
}

int tamis_priv_segment_finishes(const tamis_plan *plan, const tamis_segment *segment)
{
    return segment->end > segment->first && plan->steps[segment->end - 1].node.finish != NULL;
}

tamis_rect tamis_priv_segment_part(const tamis_plan *plan, const tamis_segment *segment,
                                   tamis_rect part)
{
    if (!tamis_priv_segment_finishes(plan, segment))
        return part;
    tamis_priv_plan_size(plan, segment->end, &part.w, &part.h);
    return (tamis_rect){0, 0, part.w, part.h};
}

/* need() may answer a pixel more for a tile than for all of them together. */
static tamis_box with_tiles(const tamis_step *s, tamis_box need)
{
    need.w += need.x + need.w < s->node.w;
    need.h += need.y + need.h < s->node.h;
    return need;
}

/* The part of what goes into step `first`, at or after the segment's first. */
static tamis_rect need_from(const tamis_plan *plan, const tamis_segment *segment, int first,
                            tamis_rect part)
{
    for (int k = segment->end - 1; k >= first; k--) {
        const tamis_step *s = &plan->steps[k];
        tamis_box box = tamis_priv_step_need(s, part);
        if (!s->node.gather)
            box = tamis_priv_fetch_origin(&s->fetch, s->node.need ? with_tiles(s, box) : box);
        part = (tamis_rect){(int32_t)box.x, (int32_t)box.y, box.w, box.h};
    }
    return part;
}

tamis_rect tamis_priv_segment_need(const tamis_plan *plan, const tamis_segment *segment,
                                   tamis_rect part)
{
    return need_from(plan, segment, segment->first, part);
}

tamis_rect tamis_priv_plan_first_part(const tamis_plan *plan, tamis_rect part)
{
    for (int i = plan->segment_count - 1; i > 0; i--) {
        const tamis_segment *segment = &plan->segments[i];
        part = tamis_priv_segment_need(plan, segment, tamis_priv_segment_part(plan, segment, part));
    }
    return tamis_priv_segment_part(plan, plan->segments, part);
}

tamis_rect tamis_priv_plan_need(const tamis_plan *plan, tamis_rect part)
{
    return tamis_priv_segment_need(plan, plan->segments, tamis_priv_plan_first_part(plan, part));
}

tamis_rect tamis_priv_first_need_guide(const tamis_plan *plan, tamis_rect part)
{
    int is_map = plan->steps[0].node.guide_is_map; /* of the size of the first step's output */
    return need_from(plan, plan->segments, is_map, part);
}

tamis_rect tamis_priv_plan_need_guide(const tamis_plan *plan, tamis_rect part)
{
    return tamis_priv_first_need_guide(plan, tamis_priv_plan_first_part(plan, part));
}

/* ---- the whole */

static tamis_status check_guide(tamis_plan *plan, const tamis_graph *graph)
{
    if (!plan->has_guide ||
        (tamis_graph_size(graph) > 0 && tamis_filter_max_inputs(tamis_graph_filter(graph, 0)) > 1))
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                           "guide: the chain's first filter takes no guide image");
}

/* A row of the CPU may be asked for where the context would use a device. */
static const char *cpu_row(const tamis_plan_options *options)
{
    return options->kernel && strcmp(options->kernel, "cuda") != 0 ? options->kernel : NULL;
}

/* Plans for the context's device, if it has one and the plan may run there. */
static tamis_status try_device(tamis_plan *plan, const tamis_plan_options *options, int *done)
{
    tamis_ctx *ctx = plan->ctx;
    int must = options->kernel && !cpu_row(options);
    if (tamis_priv_devices_wanted(ctx, 0) < 0) {
        if (must)
            return tamis_priv_fail(ctx, TAMIS_ERR_UNSUPPORTED,
                                   "plan: kernel \"cuda\" needs a context for a device");
        return TAMIS_OK;
    }
    if (cpu_row(options))
        return TAMIS_OK;
    tamis_status status = tamis_priv_device_plan(plan);
    *done = status == TAMIS_OK;
    plan->device_tile_h = options->tile_h;
    if ((status == TAMIS_ERR_UNSUPPORTED || status == TAMIS_ERR_MEMORY) && !must &&
        tamis_priv_devices_optional(ctx)) {
        tamis_priv_device_plan_free(plan);
        return TAMIS_OK;
    }
    return status;
}

static tamis_status compile(tamis_plan *plan, const tamis_graph *graph,
                            const tamis_plan_options *options)
{
    TAMIS_TRY(check_guide(plan, graph));
    int count = tamis_graph_size(graph);
    plan->steps = tamis_priv_plan_alloc(plan, (size_t)(count + 1) * sizeof *plan->steps);
    if (!plan->steps)
        return no_memory(plan->ctx);
    for (int k = 0; k < count; k++) {
        TAMIS_TRY(tamis_priv_step_make(plan, k, tamis_graph_filter(graph, k),
                                       tamis_graph_params(graph, k), cpu_row(options)));
        plan->count = k + 1;
    }
    TAMIS_TRY(make_segments(plan));
    TAMIS_TRY(count_frames(plan));
    int on_device = 0;
    TAMIS_TRY(try_device(plan, options, &on_device));
    if (on_device)
        return TAMIS_OK;
    for (int i = 0; i < plan->segment_count; i++)
        tamis_priv_segment_choose_tile(plan, &plan->segments[i], options);
    return tamis_priv_plan_reserve(plan);
}

static tamis_status check_options(tamis_ctx *ctx, const tamis_plan_options *options, int32_t w,
                                  int32_t h)
{
    if (options->tile_w < 0 || options->tile_h < 0 || options->tile_w > TILE_MAX ||
        options->tile_h > TILE_MAX)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "plan: tiles of %dx%d are outside 0x0 .. %dx%d", options->tile_w,
                               options->tile_h, TILE_MAX, TILE_MAX);
    if (options->plane)
        TAMIS_TRY(tamis_priv_plane_check(ctx, options->plane, w, h));
    if (!options->guide)
        return TAMIS_OK;
    return tamis_priv_shape_check(ctx, *options->guide, options->guide_w ? options->guide_w : w,
                                  options->guide_h ? options->guide_h : h);
}

tamis_status tamis_plan_create(tamis_ctx *ctx, const tamis_graph *graph, tamis_format format,
                               int32_t w, int32_t h, const tamis_plan_options *options,
                               tamis_plan **out)
{
    static const tamis_plan_options defaults = {0};
    TAMIS_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, graph);
    if (!options)
        options = &defaults;
    TAMIS_TRY(tamis_priv_shape_check(ctx, format, w, h));
    TAMIS_TRY(check_options(ctx, options, w, h));
    tamis_plan *plan = tamis_priv_mem_zalloc(ctx, sizeof *plan);
    if (!plan)
        return no_memory(ctx);
    *plan =
        (tamis_plan){.ctx = ctx, .in = format, .w = w, .h = h, .whole_bytes = options->whole_bytes};
    if (options->guide) {
        plan->has_guide = 1;
        plan->guide = *options->guide;
        plan->guide_w = options->guide_w ? options->guide_w : w;
        plan->guide_h = options->guide_h ? options->guide_h : h;
    }
    if (options->plane) {
        plan->has_plane = 1;
        plan->plane = *options->plane;
    }
    pthread_mutex_init(&plan->mutex, NULL);
    pthread_mutex_init(&plan->turn, NULL);
    pthread_cond_init(&plan->slot_freed, NULL);
    tamis_status status = compile(plan, graph, options);
    if (status != TAMIS_OK)
        tamis_plan_free(&plan);
    *out = plan;
    return status;
}

void tamis_plan_free(tamis_plan **plan)
{
    if (!plan || !*plan)
        return;
    tamis_plan *p = *plan;
    tamis_priv_device_plan_free(p);
    for (struct tamis_plan_block *b = p->mapped; b; b = b->next)
        tamis_priv_spill_unmap(b->data, b->mapped);
    for (struct tamis_plan_block *b = p->blocks, *next; b; b = next) {
        next = b->next;
        tamis_priv_mem_free(p->ctx, b->data);
        tamis_priv_mem_free(p->ctx, b);
    }
    pthread_cond_destroy(&p->slot_freed);
    pthread_mutex_destroy(&p->turn);
    pthread_mutex_destroy(&p->mutex);
    tamis_priv_mem_free(p->ctx, p);
    *plan = NULL;
}

tamis_format tamis_plan_format(const tamis_plan *plan)
{
    return plan ? tamis_priv_plan_format(plan, plan->count) : (tamis_format){0};
}

const char *tamis_plan_device(const tamis_plan *plan)
{
    return !plan ? "" : plan->device ? plan->device_names : "cpu";
}

void tamis_plan_size(const tamis_plan *plan, int32_t *w, int32_t *h)
{
    *w = *h = 0;
    if (plan)
        tamis_priv_plan_size(plan, plan->count, w, h);
}

tamis_halo tamis_plan_halo(const tamis_plan *plan)
{
    tamis_halo sum = {0};
    for (int k = 0; plan && k < plan->count; k++) {
        const tamis_halo *h = &plan->steps[k].node.halo;
        if (plan->steps[k].node.gather || plan->steps[k].node.need || plan->steps[k].node.finish)
            return (tamis_halo){TAMIS_HALO_ALL, TAMIS_HALO_ALL, TAMIS_HALO_ALL, TAMIS_HALO_ALL};
        sum.left += h->left;
        sum.right += h->right;
        sum.top += h->top;
        sum.bottom += h->bottom;
    }
    return sum;
}

tamis_status tamis_plan_need(const tamis_plan *plan, tamis_rect rect, tamis_rect *out)
{
    TAMIS_REQUIRE(NULL, plan);
    TAMIS_REQUIRE(plan->ctx, out);
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    TAMIS_TRY(tamis_priv_rect_check(plan->ctx, "need", rect, w, h));
    *out = tamis_priv_plan_need(plan, rect);
    return TAMIS_OK;
}

tamis_status tamis_plan_need_guide(const tamis_plan *plan, tamis_rect rect, tamis_rect *out)
{
    TAMIS_REQUIRE(NULL, plan);
    TAMIS_REQUIRE(plan->ctx, out);
    int32_t w, h;
    if (!plan->has_guide)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "need: the plan was made without a guide");
    tamis_plan_size(plan, &w, &h);
    TAMIS_TRY(tamis_priv_rect_check(plan->ctx, "need", rect, w, h));
    *out = tamis_priv_plan_need_guide(plan, rect);
    return TAMIS_OK;
}

int tamis_plan_frames(const tamis_plan *plan)
{
    return plan ? plan->frames : 0;
}
