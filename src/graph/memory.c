/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of a plan: what one thread needs for a tile (a slot), rows of the border's value, and
 * whole images between segments. */
#include <stddef.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "core/spill.h"
#include "graph/plan.h"

static void *block_alloc(tamis_ctx *ctx, struct tamis_plan_block **list, size_t size)
{
    if (tamis_priv_mem_check(ctx, size, "plan") != TAMIS_OK)
        return NULL;
    struct tamis_plan_block *block = tamis_priv_mem_alloc(ctx, sizeof *block);
    void *data = block ? tamis_priv_mem_zalloc(ctx, size) : NULL;
    if (!data) {
        tamis_priv_mem_free(ctx, block);
        return NULL;
    }
    *block = (struct tamis_plan_block){.next = *list, .data = data};
    *list = block;
    return data;
}

void *tamis_priv_plan_alloc(tamis_plan *plan, size_t size)
{
    return block_alloc(plan->ctx, &plan->blocks, size);
}

void *tamis_priv_node_alloc(tamis_node *node, size_t size)
{
    return block_alloc(node->ctx, node->blocks, size);
}

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "plan: no memory");
}

/* ---- slots */

/* Reserves size bytes at the end of the slot, aligned. */
static size_t reserve(size_t *slot, size_t size)
{
    size_t at = *slot;
    *slot = tamis_priv_size_add(at, tamis_priv_size_add(size, 63) / 64 * 64);
    return at;
}

static size_t aligned_row(size_t samples, size_t size)
{
    return tamis_priv_size_add(tamis_priv_size_mul(samples, size), 63) / 64 * 64;
}

static void reserve_previous(tamis_step *s, tamis_box need, size_t *slot)
{
    tamis_format f = s->node.in;
    size_t per_pixel = f.layout == TAMIS_PLANAR ? 1 : (size_t)f.channels;
    size_t planes = f.layout == TAMIS_PLANAR ? (size_t)f.channels : 1;
    s->previous_stride =
        tamis_priv_size_add(aligned_row((size_t)need.w * per_pixel, tamis_type_size(f.type)),
                            2 * TAMIS_FETCH_SLACK_MAX);
    s->previous_plane = tamis_priv_size_mul(s->previous_stride, (size_t)need.h);
    for (int f0 = 0; f0 <= 2 * s->node.frames; f0++)
        s->previous[f0] = reserve(slot, tamis_priv_size_mul(s->previous_plane, planes));
}

static void reserve_rows(size_t *slot, int planes, int count, size_t *rows)
{
    for (int p = 0; p < planes; p++)
        rows[p] = reserve(slot, tamis_priv_size_mul((size_t)count, sizeof(void *)));
}

/* The largest box that a tile of the step needs; need() may answer a pixel more elsewhere. */
static tamis_box largest_need(const tamis_step *s)
{
    tamis_box need = tamis_priv_step_need(s, (tamis_rect){0, 0, s->max_w, s->max_h});
    if (s->node.need) {
        need.w += 1;
        need.h += 1;
    }
    return need;
}

static void reserve_input(tamis_step *s, tamis_box need, int is_first, size_t *slot)
{
    if (!is_first)
        reserve_previous(s, need, slot);
    for (int f = 0; f <= 2 * s->node.frames; f++) {
        s->padded[f] = reserve(slot, tamis_priv_fetch_layout(&s->fetch, need.w, need.h));
        reserve_rows(slot, s->fetch.planes, need.h, s->rows[f]);
    }
    s->columns = reserve(slot, tamis_priv_size_mul((size_t)need.w, sizeof(int64_t)));
}

static void reserve_guide(tamis_step *s, tamis_box need, size_t *slot)
{
    if (s->node.guide_is_map)
        need = (tamis_box){0, 0, s->max_w, s->max_h};
    s->guide_padded = reserve(slot, tamis_priv_fetch_layout(&s->guide, need.w, need.h));
    reserve_rows(slot, s->guide.planes, need.h, s->guide_rows);
    size_t columns = reserve(slot, tamis_priv_size_mul((size_t)need.w, sizeof(int64_t)));
    if (s->node.gather)
        s->columns = columns;
}

static void reserve_step(tamis_step *s, int is_first, size_t *slot)
{
    tamis_box need = largest_need(s);
    if (!s->node.gather)
        reserve_input(s, need, is_first, slot);
    if (s->node.has_guide)
        reserve_guide(s, need, slot);
    s->result_stride = aligned_row((size_t)s->max_w * (size_t)s->fetch.step,
                                   tamis_type_size(tamis_priv_node_result(&s->node)));
    s->result_plane = tamis_priv_size_mul(s->result_stride, (size_t)s->max_h);
    s->result = reserve(slot, tamis_priv_size_mul(s->result_plane, (size_t)s->written));
    if (s->node.scratch)
        s->scratch =
            reserve(slot, s->node.scratch(s->node.coef, s->max_w, s->max_h, s->fetch.step));
}

/* The largest part of each step's output that a tile asks for, from the last step backwards. */
static void size_steps(tamis_plan *plan, const tamis_segment *segment)
{
    int w = segment->tile_w, h = segment->tile_h;
    size_t slot = 0;
    for (int k = segment->end - 1; k >= segment->first; k--) {
        tamis_step *s = &plan->steps[k];
        s->max_w = w < s->out_w ? w : s->out_w;
        s->max_h = h < s->out_h ? h : s->out_h;
        tamis_box need = largest_need(s);
        w = need.w;
        h = need.h;
    }
    for (int k = segment->first; k < segment->end; k++)
        reserve_step(&plan->steps[k], k == segment->first, &slot);
    if (slot > plan->slot_bytes)
        plan->slot_bytes = slot;
}

static tamis_status make_slots(tamis_plan *plan)
{
    tamis_ctx *ctx = plan->ctx;
    int count = tamis_ctx_threads(ctx);
    size_t total = tamis_priv_size_mul(plan->slot_bytes, (size_t)count);
    TAMIS_TRY(tamis_priv_mem_check(ctx, total, "plan"));
    plan->slots = tamis_priv_plan_alloc(plan, (size_t)count * sizeof *plan->slots);
    if (!plan->slots)
        return no_memory(ctx);
    for (int i = 0; i < count; i++) {
        tamis_slot *slot = &plan->slots[i];
        slot->data = tamis_priv_plan_alloc(plan, plan->slot_bytes);
        slot->held = tamis_priv_plan_alloc(plan, ((size_t)plan->count + 1) * sizeof *slot->held);
        if (!slot->data || !slot->held)
            return no_memory(ctx);
        slot->next = plan->free_slots;
        plan->free_slots = slot;
    }
    plan->slot_count = count;
    return TAMIS_OK;
}

/* ---- the border's value */

static double value_in_plane(const tamis_fetch *f, int p, double value)
{
    double range = tamis_type_range(f->format.type);
    return f->premultiply && p < f->planes - 1 ? value * (value / range) : value;
}

static void fill_constant(const tamis_fetch *f, int p, double value)
{
    float as_float = (float)value_in_plane(f, p, value);
    char *row = f->constant[p];
    size_t size = tamis_type_size(f->work);
    for (size_t i = 0; i < f->row_bytes; i += size)
        f->loops->convert(row + i, f->work, &as_float, TAMIS_F32, 1);
}

static tamis_status make_constants(tamis_plan *plan, const tamis_step *s, tamis_fetch *f)
{
    if (f->border != TAMIS_BORDER_CONSTANT)
        return TAMIS_OK;
    for (int p = 0; p < f->planes; p++) {
        f->constant[p] = tamis_priv_plan_alloc(plan, f->row_bytes);
        if (!f->constant[p])
            return no_memory(plan->ctx);
        fill_constant(f, p, s->node.border_value);
    }
    return TAMIS_OK;
}

void tamis_priv_step_make_outside(tamis_step *s)
{
    const tamis_fetch *f = &s->fetch;
    for (int p = 0; p < s->node.in.channels; p++) {
        float as_float = (float)value_in_plane(f, p, s->node.border_value);
        float sample[1]; /* large enough for any type */
        f->loops->convert(sample, f->work, &as_float, TAMIS_F32, 1);
        f->loops->convert(&as_float, TAMIS_F32, sample, f->work, 1);
        s->outside[p] = as_float;
    }
}

/* ---- whole images */

static tamis_status map_file(tamis_plan *plan, size_t size, void **out)
{
    struct tamis_plan_block *block = tamis_priv_plan_alloc(plan, sizeof *block);
    if (!block)
        return no_memory(plan->ctx);
    TAMIS_TRY(tamis_priv_spill_map(plan->ctx, "plan", size, out));
    *block = (struct tamis_plan_block){.next = plan->mapped, .data = *out, .mapped = size};
    plan->mapped = block;
    plan->file_bytes += size;
    return TAMIS_OK;
}

/* In memory, or in a file when all together is more than may be in memory. */
static tamis_status alloc_whole(tamis_plan *plan, size_t size, void **out)
{
    size_t in_memory = tamis_priv_size_add(plan->hold_bytes, size);
    plan->hold_bytes = in_memory;
    if (plan->whole_bytes && in_memory > plan->whole_bytes)
        return map_file(plan, size, out);
    TAMIS_TRY(tamis_priv_mem_check(plan->ctx, size, "plan"));
    *out = tamis_priv_plan_alloc(plan, size);
    return *out ? TAMIS_OK : no_memory(plan->ctx);
}

static tamis_status make_whole(tamis_plan *plan, tamis_format format, int32_t w, int32_t h,
                               tamis_image *out)
{
    size_t per_pixel = format.layout == TAMIS_PLANAR ? 1 : (size_t)format.channels;
    size_t row = aligned_row((size_t)w * per_pixel, tamis_type_size(format.type));
    size_t bytes = tamis_priv_size_mul(row, (size_t)h);
    *out = (tamis_image){.format = format, .w = w, .h = h};
    for (int p = 0; p < tamis_image_planes(out); p++) {
        TAMIS_TRY(alloc_whole(plan, bytes, &out->data[p]));
        out->stride[p] = (ptrdiff_t)row;
    }
    return TAMIS_OK;
}

static tamis_status make_gather(tamis_plan *plan, tamis_step *s)
{
    const tamis_node *n = &s->node;
    tamis_priv_step_make_outside(s);
    if (!s->convert_in)
        return TAMIS_OK;
    tamis_format format = {n->work, n->in.channels,
                           s->fetch.planes > 1 ? TAMIS_PLANAR : TAMIS_PACKED, TAMIS_ALPHA_NONE};
    return make_whole(plan, format, n->w, n->h, &s->prepared);
}

static tamis_status make_finish(tamis_plan *plan, tamis_step *s)
{
    size_t bytes = s->node.finish_scratch;
    return alloc_whole(plan, bytes ? bytes : 1, &s->finish_scratch);
}

static tamis_status make_hold(tamis_plan *plan, int index)
{
    tamis_segment *segment = &plan->segments[index];
    int32_t w, h;
    if (index == plan->segment_count - 1 && !tamis_priv_segment_finishes(plan, segment))
        return TAMIS_OK;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    return make_whole(plan, tamis_priv_plan_format(plan, segment->end), w, h, &segment->hold);
}

/* ---- all */

static tamis_status make_step_memory(tamis_plan *plan, tamis_step *s)
{
    if (s->node.gather)
        TAMIS_TRY(make_gather(plan, s));
    else
        TAMIS_TRY(make_constants(plan, s, &s->fetch));
    if (s->node.has_guide)
        TAMIS_TRY(make_constants(plan, s, &s->guide));
    return s->node.finish ? make_finish(plan, s) : TAMIS_OK;
}

tamis_status tamis_priv_plan_reserve(tamis_plan *plan)
{
    for (int i = 0; i < plan->segment_count; i++)
        size_steps(plan, &plan->segments[i]);
    for (int i = 0; i < plan->segment_count; i++)
        TAMIS_TRY(make_hold(plan, i));
    for (int k = 0; k < plan->count; k++)
        TAMIS_TRY(make_step_memory(plan, &plan->steps[k]));
    return make_slots(plan);
}
