/* SPDX-License-Identifier: Apache-2.0 */
/* From a wish to a decision: types, halos, kernels, tiles and memory. */
#include "graph/plan.h"

#include <stddef.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "image/convert.h"

#define DEFAULT_TILE_W 1024
#define DEFAULT_TILE_H 64
#define TILE_MAX       (1 << 24) /* so that a tile and its halo stay far from overflow */

tamis_format tamis_priv_plan_format(const tamis_plan *plan, int k)
{
    (void)k; /* every filter so far keeps the format of its input */
    return plan->in;
}

void tamis_priv_plan_size(const tamis_plan *plan, int k, int32_t *w, int32_t *h)
{
    *w = k ? plan->steps[k - 1].out_w : plan->w;
    *h = k ? plan->steps[k - 1].out_h : plan->h;
}

tamis_box tamis_priv_step_need(const tamis_step *step, tamis_rect rect)
{
    const tamis_halo *halo = &step->node.halo;
    int valid = step->node.border == TAMIS_BORDER_VALID; /* then output 0 is input `left` */
    return (tamis_box){(int64_t)rect.x - (valid ? 0 : halo->left),
                       (int64_t)rect.y - (valid ? 0 : halo->top), rect.w + halo->left + halo->right,
                       rect.h + halo->top + halo->bottom};
}

/* ---- memory that lives as long as the plan */

static void *plan_alloc(tamis_ctx *ctx, struct tamis_plan_block **list, size_t size)
{
    struct tamis_plan_block *block = tamis_priv_mem_alloc(ctx, sizeof *block);
    void *data = block ? tamis_priv_mem_zalloc(ctx, size) : NULL;
    if (!data) {
        tamis_priv_mem_free(ctx, block);
        return NULL;
    }
    *block = (struct tamis_plan_block){*list, data};
    *list = block;
    return data;
}

void *tamis_priv_node_alloc(tamis_node *node, size_t size)
{
    return plan_alloc(node->ctx, node->blocks, size);
}

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "plan: no memory");
}

/* ---- one step */

static const tamis_kernel *choose_kernel(const tamis_filter *filter, const tamis_node *node,
                                         unsigned cpu, const char *only)
{
    for (int t = 0; filter->kernels[t]; t++) {
        for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++) {
            if (strcmp(k->stage, node->stage) != 0 || k->type != node->work || (k->cpu & ~cpu))
                continue;
            if (!only || strcmp(only, tamis_priv_cpu_name(k->cpu)) == 0)
                return k;
        }
    }
    return NULL;
}

static tamis_status find_kernel(tamis_step *s, const char *only)
{
    tamis_ctx *ctx = s->node.ctx;
    s->kernel = choose_kernel(s->filter, &s->node, ctx->cpu, only);
    if (s->kernel)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_UNSUPPORTED, "%s: no kernel %s/%s%s%s for %s",
                           s->filter->name, s->node.stage, tamis_type_name(s->node.work),
                           only ? " named " : "", only ? only : "", ctx->cpu_name);
}

static tamis_status output_size(tamis_step *s)
{
    const tamis_node *n = &s->node;
    s->out_w = n->w;
    s->out_h = n->h;
    if (n->border != TAMIS_BORDER_VALID)
        return TAMIS_OK;
    int64_t w = (int64_t)n->w - n->halo.left - n->halo.right;
    int64_t h = (int64_t)n->h - n->halo.top - n->halo.bottom;
    if (w < 1 || h < 1)
        return tamis_priv_fail(n->ctx, TAMIS_ERR_ARGUMENT,
                               "%s: border = valid: the window %dx%d does not fit the image %dx%d",
                               s->filter->name, n->halo.left + n->halo.right + 1,
                               n->halo.top + n->halo.bottom + 1, n->w, n->h);
    s->out_w = (int32_t)w;
    s->out_h = (int32_t)h;
    return TAMIS_OK;
}

/* How rows come to the kernel, following from what the node asked for. */
static void choose_layout(tamis_step *s)
{
    const tamis_node *n = &s->node;
    tamis_format in = n->in;
    int has_alpha = in.alpha != TAMIS_ALPHA_NONE;
    int premultiply = in.alpha == TAMIS_ALPHA_STRAIGHT && n->alpha == TAMIS_ALPHA_MODE_PREMULTIPLY;
    int ignore = has_alpha && n->alpha == TAMIS_ALPHA_MODE_IGNORE;
    int planes = n->planar || premultiply || ignore || in.layout == TAMIS_PLANAR;
    s->fetch = (tamis_fetch){
        .loops = tamis_priv_convert_for(n->ctx->cpu),
        .format = in,
        .work = n->work,
        .planes = planes ? in.channels : 1,
        .step = planes ? 1 : in.channels,
        .premultiply = premultiply,
        .border = n->border,
        .w = n->w,
        .h = n->h,
        .left = n->halo.left,
    };
    s->filtered = s->fetch.planes - (ignore ? 1 : 0);
    s->convert = in.type != s->fetch.work || premultiply || ignore ||
                 (in.layout == TAMIS_PACKED && s->fetch.planes > 1);
    if (!n->has_guide)
        return;
    s->guide = s->fetch;
    s->guide.format = n->guide;
    s->guide.premultiply = 0;
    s->guide.planes = n->guide.channels;
    s->guide.step = 1;
}

static tamis_status make_step(tamis_plan *plan, tamis_step *s, const tamis_graph *graph, int k,
                              const char *only)
{
    tamis_ctx *ctx = plan->ctx;
    s->filter = tamis_graph_filter(graph, k);
    TAMIS_TRY(tamis_filter_check(ctx, s->filter, tamis_graph_params(graph, k)));
    s->params = plan_alloc(ctx, &plan->blocks, s->filter->params_size);
    if (!s->params)
        return no_memory(ctx);
    memcpy(s->params, tamis_graph_params(graph, k), s->filter->params_size);
    s->node = (tamis_node){
        .ctx = ctx,
        .blocks = &plan->blocks,
        .params = s->params,
        .in = tamis_priv_plan_format(plan, k),
        .border = TAMIS_BORDER_REFLECT101,
        .tile_w = DEFAULT_TILE_W,
        .tile_h = DEFAULT_TILE_H,
    };
    s->node.work = tamis_priv_node_work(&s->node);
    tamis_priv_plan_size(plan, k, &s->node.w, &s->node.h);
    if (plan->has_guide && k == 0) {
        s->node.has_guide = 1;
        s->node.guide = plan->guide;
    }
    TAMIS_TRY(s->filter->plan(&s->node));
    TAMIS_TRY(output_size(s));
    choose_layout(s);
    return find_kernel(s, only);
}

/* ---- tiles */

static int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Equal parts of at most size. */
static int even_tile(int32_t length, int size)
{
    int64_t parts = ((int64_t)length + size - 1) / size;
    return (int)((length + parts - 1) / parts);
}

/* Below this, padding rows and recomputing halos would cost more than idle threads. A window higher
 * than a tile pads the same rows of the image for each tile, which is little beside filtering. */
static int least_height(const tamis_node *last, int inner_halo)
{
    int own = last ? (last->halo.top + last->halo.bottom) / 2 : 0;
    int halo = clamp(own, inner_halo, DEFAULT_TILE_H > inner_halo ? DEFAULT_TILE_H : inner_halo);
    return halo > 16 ? halo : 16;
}

static void choose_tile(tamis_plan *plan, const tamis_plan_options *options)
{
    int32_t w, h;
    tamis_priv_plan_size(plan, plan->count, &w, &h);
    const tamis_node *last = plan->count ? &plan->steps[plan->count - 1].node : NULL;
    int tw = last ? last->tile_w : DEFAULT_TILE_W, th = last ? last->tile_h : DEFAULT_TILE_H;
    int halo_w = 0, halo_h = 0; /* what inner steps compute beyond the tile */
    for (int k = 1; k < plan->count; k++) {
        halo_w += plan->steps[k].node.halo.left + plan->steps[k].node.halo.right;
        halo_h += plan->steps[k].node.halo.top + plan->steps[k].node.halo.bottom;
    }
    tw = clamp(tw, 2 * clamp(halo_w, 1, 1 << 20), 1 << 24);
    th = clamp(th, 2 * clamp(halo_h, 1, 1 << 20), 1 << 24);
    tw = even_tile(w, tw);
    /* Every thread should find a few tiles. */
    int64_t across = ((int64_t)w + tw - 1) / tw;
    int64_t wanted = (4 * (int64_t)tamis_ctx_threads(plan->ctx) + across - 1) / across;
    int64_t low = (h + wanted - 1) / wanted;
    if (tamis_ctx_threads(plan->ctx) > 1 && th > low)
        th = clamp((int)low, least_height(last, halo_h), th);
    th = even_tile(h, th);
    plan->tile_w = options->tile_w > 0 ? (options->tile_w < w ? options->tile_w : w) : tw;
    plan->tile_h = options->tile_h > 0 ? (options->tile_h < h ? options->tile_h : h) : th;
}

/* ---- memory of a slot */

/* Reserves size bytes at the end of the slot, aligned. */
static size_t reserve(tamis_plan *plan, size_t size)
{
    size_t at = plan->slot_bytes;
    plan->slot_bytes = tamis_priv_size_add(at, tamis_priv_size_add(size, 63) / 64 * 64);
    return at;
}

static size_t aligned_row(size_t samples, size_t size)
{
    return tamis_priv_size_add(tamis_priv_size_mul(samples, size), 63) / 64 * 64;
}

static void reserve_previous(tamis_plan *plan, tamis_step *s, tamis_box need)
{
    tamis_format f = s->node.in;
    size_t per_pixel = f.layout == TAMIS_PLANAR ? 1 : (size_t)f.channels;
    size_t planes = f.layout == TAMIS_PLANAR ? (size_t)f.channels : 1;
    s->previous_stride =
        tamis_priv_size_add(aligned_row((size_t)need.w * per_pixel, tamis_type_size(f.type)),
                            2 * TAMIS_FETCH_SLACK_MAX);
    s->previous_plane = tamis_priv_size_mul(s->previous_stride, (size_t)need.h);
    s->previous = reserve(plan, tamis_priv_size_mul(s->previous_plane, planes));
}

static void reserve_rows(tamis_plan *plan, int planes, int count, size_t *rows)
{
    for (int p = 0; p < planes; p++)
        rows[p] = reserve(plan, tamis_priv_size_mul((size_t)count, sizeof(void *)));
}

static void reserve_step(tamis_plan *plan, int k)
{
    tamis_step *s = &plan->steps[k];
    tamis_box need = tamis_priv_step_need(s, (tamis_rect){0, 0, s->max_w, s->max_h});
    if (k > 0)
        reserve_previous(plan, s, need);
    s->padded = reserve(plan, tamis_priv_fetch_layout(&s->fetch, need.w, need.h));
    reserve_rows(plan, s->fetch.planes, need.h, s->rows);
    s->columns = reserve(plan, tamis_priv_size_mul((size_t)need.w, sizeof(int64_t)));
    if (s->node.has_guide) {
        s->guide_padded = reserve(plan, tamis_priv_fetch_layout(&s->guide, need.w, need.h));
        reserve_rows(plan, s->guide.planes, need.h, s->guide_rows);
    }
    s->result_stride =
        aligned_row((size_t)s->max_w * (size_t)s->fetch.step, tamis_type_size(s->fetch.work));
    s->result_plane = tamis_priv_size_mul(s->result_stride, (size_t)s->max_h);
    s->result = reserve(plan, tamis_priv_size_mul(s->result_plane, (size_t)s->fetch.planes));
    if (s->node.scratch)
        s->scratch =
            reserve(plan, s->node.scratch(s->node.coef, s->max_w, s->max_h, s->fetch.step));
}

/* The largest part of each step's output that a tile asks for, from the last step backwards. */
static void size_steps(tamis_plan *plan)
{
    int w = plan->tile_w, h = plan->tile_h;
    for (int k = plan->count - 1; k >= 0; k--) {
        tamis_step *s = &plan->steps[k];
        s->max_w = w < s->out_w ? w : s->out_w;
        s->max_h = h < s->out_h ? h : s->out_h;
        tamis_box need = tamis_priv_step_need(s, (tamis_rect){0, 0, s->max_w, s->max_h});
        w = need.w;
        h = need.h;
    }
    for (int k = 0; k < plan->count; k++)
        reserve_step(plan, k);
}

/* ---- rows of the border's value */

static void fill_constant(const tamis_fetch *f, int p, double value)
{
    double range = tamis_type_range(f->format.type);
    if (f->premultiply && p < f->planes - 1)
        value = value * (value / range);
    float as_float = (float)value;
    char *row = f->constant[p];
    size_t size = tamis_type_size(f->work);
    for (size_t i = 0; i < f->row_bytes; i += size)
        f->loops->convert(row + i, f->work, &as_float, TAMIS_F32, 1);
}

static tamis_status make_constants(tamis_plan *plan, tamis_step *s, tamis_fetch *f)
{
    if (s->node.border != TAMIS_BORDER_CONSTANT)
        return TAMIS_OK;
    for (int p = 0; p < f->planes; p++) {
        f->constant[p] = plan_alloc(plan->ctx, &plan->blocks, f->row_bytes);
        if (!f->constant[p])
            return no_memory(plan->ctx);
        fill_constant(f, p, s->node.border_value);
    }
    return TAMIS_OK;
}

/* ---- slots */

static tamis_status make_slots(tamis_plan *plan)
{
    tamis_ctx *ctx = plan->ctx;
    int count = tamis_ctx_threads(ctx);
    size_t total = tamis_priv_size_mul(plan->slot_bytes, (size_t)count);
    TAMIS_TRY(tamis_priv_mem_check(ctx, total, "plan"));
    plan->slots = plan_alloc(ctx, &plan->blocks, (size_t)count * sizeof *plan->slots);
    if (!plan->slots)
        return no_memory(ctx);
    for (int i = 0; i < count; i++) {
        tamis_slot *slot = &plan->slots[i];
        slot->data = plan_alloc(ctx, &plan->blocks, plan->slot_bytes);
        if (!slot->data)
            return no_memory(ctx);
        slot->next = plan->free_slots;
        plan->free_slots = slot;
    }
    plan->slot_count = count;
    return TAMIS_OK;
}

/* ---- the whole */

static tamis_status check_guide(tamis_plan *plan, const tamis_graph *graph)
{
    tamis_ctx *ctx = plan->ctx;
    if (!plan->has_guide)
        return TAMIS_OK;
    if (tamis_graph_size(graph) == 0 || tamis_filter_max_inputs(tamis_graph_filter(graph, 0)) < 2)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "guide: the chain's first filter takes no guide image");
    if (plan->guide.type != plan->in.type)
        return tamis_priv_fail(ctx, TAMIS_ERR_UNSUPPORTED,
                               "guide: its sample type %s must be the image's, %s",
                               tamis_type_name(plan->guide.type), tamis_type_name(plan->in.type));
    return TAMIS_OK;
}

static tamis_status compile(tamis_plan *plan, const tamis_graph *graph,
                            const tamis_plan_options *options)
{
    tamis_ctx *ctx = plan->ctx;
    TAMIS_TRY(check_guide(plan, graph));
    int count = tamis_graph_size(graph);
    plan->steps = plan_alloc(ctx, &plan->blocks, (size_t)(count + 1) * sizeof *plan->steps);
    if (!plan->steps)
        return no_memory(ctx);
    for (int k = 0; k < count; k++) {
        TAMIS_TRY(make_step(plan, &plan->steps[k], graph, k, options->kernel));
        plan->count = k + 1;
    }
    choose_tile(plan, options);
    size_steps(plan);
    for (int k = 0; k < count; k++) {
        TAMIS_TRY(make_constants(plan, &plan->steps[k], &plan->steps[k].fetch));
        if (plan->steps[k].node.has_guide)
            TAMIS_TRY(make_constants(plan, &plan->steps[k], &plan->steps[k].guide));
    }
    return make_slots(plan);
}

tamis_status tamis_plan_create(tamis_ctx *ctx, const tamis_graph *graph, tamis_format format,
                               int32_t w, int32_t h, const tamis_plan_options *options,
                               tamis_plan **out)
{
    static const tamis_plan_options defaults = {0};
    static char somewhere;
    *out = NULL;
    if (!options)
        options = &defaults;
    tamis_image probe = {.format = format, .w = w, .h = h};
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        probe.data[p] = &somewhere;
    TAMIS_TRY(tamis_image_check(ctx, &probe));
    if (options->tile_w < 0 || options->tile_h < 0 || options->tile_w > TILE_MAX ||
        options->tile_h > TILE_MAX)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "plan: tiles of %dx%d are outside 0x0 .. %dx%d", options->tile_w,
                               options->tile_h, TILE_MAX, TILE_MAX);
    if (options->guide) {
        probe.format = *options->guide;
        TAMIS_TRY(tamis_image_check(ctx, &probe));
    }
    tamis_plan *plan = tamis_priv_mem_zalloc(ctx, sizeof *plan);
    if (!plan)
        return no_memory(ctx);
    *plan = (tamis_plan){.ctx = ctx, .in = format, .w = w, .h = h};
    if (options->guide) {
        plan->has_guide = 1;
        plan->guide = *options->guide;
    }
    pthread_mutex_init(&plan->mutex, NULL);
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
    for (struct tamis_plan_block *b = p->blocks, *next; b; b = next) {
        next = b->next;
        tamis_priv_mem_free(p->ctx, b->data);
        tamis_priv_mem_free(p->ctx, b);
    }
    pthread_cond_destroy(&p->slot_freed);
    pthread_mutex_destroy(&p->mutex);
    tamis_priv_mem_free(p->ctx, p);
    *plan = NULL;
}

tamis_format tamis_plan_format(const tamis_plan *plan)
{
    return tamis_priv_plan_format(plan, plan->count);
}

void tamis_plan_size(const tamis_plan *plan, int32_t *w, int32_t *h)
{
    tamis_priv_plan_size(plan, plan->count, w, h);
}

tamis_halo tamis_plan_halo(const tamis_plan *plan)
{
    tamis_halo sum = {0};
    for (int k = 0; k < plan->count; k++) {
        const tamis_halo *h = &plan->steps[k].node.halo;
        sum.left += h->left;
        sum.right += h->right;
        sum.top += h->top;
        sum.bottom += h->bottom;
    }
    return sum;
}
