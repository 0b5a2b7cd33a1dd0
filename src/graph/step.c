/* SPDX-License-Identifier: Apache-2.0 */
/* One filter of a plan: what its plan function decided, and what follows from it. */
#include <assert.h>
#include <string.h>

#include "core/ctx.h"
#include "graph/param.h"
#include "graph/plan.h"

tamis_box tamis_priv_step_need(const tamis_step *step, tamis_rect part)
{
    const tamis_node *n = &step->node;
    if (n->need)
        return n->need(n->coef, part);
    if (n->gather)
        return (tamis_box){0, 0, n->w, n->h};
    int valid = n->border == TAMIS_BORDER_VALID; /* then output 0 is input `left` */
    return (tamis_box){
        (int64_t)part.x - (valid ? 0 : n->halo.left), (int64_t)part.y - (valid ? 0 : n->halo.top),
        part.w + n->halo.left + n->halo.right, part.h + n->halo.top + n->halo.bottom};
}

/* ---- kernels */

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

/* ---- the output */

static tamis_status output_size(tamis_step *s)
{
    const tamis_node *n = &s->node;
    s->out_w = n->out_w ? n->out_w : n->w;
    s->out_h = n->out_h ? n->out_h : n->h;
    if (n->out_w || n->border != TAMIS_BORDER_VALID)
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

/* ---- rows */

static int is_packed(tamis_format format)
{
    return format.layout == TAMIS_PACKED;
}

/* How rows come to the kernel, following from what the node asked for. */
static void choose_input(tamis_step *s, int premultiply, int hides)
{
    const tamis_node *n = &s->node;
    tamis_format in = n->in;
    int planes = n->planar || premultiply || hides || !is_packed(in);
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
        .left = n->need ? 0 : n->halo.left,
    };
    s->filtered = s->fetch.planes - hides;
    s->convert_in =
        in.type != n->work || premultiply || hides || (is_packed(in) && s->fetch.planes > 1);
}

/* How the kernel's rows become the output's. */
static void choose_output(tamis_step *s, int premultiply, int hides)
{
    const tamis_node *n = &s->node;
    tamis_format out = n->out;
    tamis_type result = tamis_priv_node_result(n);
    int planes = n->planar ? out.channels : s->fetch.planes;
    s->copies_alpha = hides && out.alpha != TAMIS_ALPHA_NONE;
    s->divides_alpha = premultiply && !hides;
    s->written = n->planar ? planes - s->copies_alpha : s->filtered;
    s->convert_out = out.type != result || s->divides_alpha || s->copies_alpha ||
                     (is_packed(out) && s->fetch.step == 1 && s->written > 1);
    /* Errors of a filter, not of its user. */
    assert(n->planar || n->in.channels - (hides && !s->copies_alpha) == out.channels);
    assert(!s->copies_alpha || (result == n->work && !n->need && !n->gather));
    assert(!s->divides_alpha || (result == TAMIS_F32 && out.alpha == TAMIS_ALPHA_STRAIGHT));
    assert(out.layout == n->in.layout);
}

static void choose_guide(tamis_step *s)
{
    const tamis_node *n = &s->node;
    s->guide = s->fetch;
    s->guide.format = n->guide;
    s->guide.premultiply = 0;
    s->guide.planes = n->guide.channels;
    s->guide.step = 1;
    s->guide.w = n->guide_w;
    s->guide.h = n->guide_h;
    if (n->guide_is_map) {
        s->guide.work = TAMIS_F32;
        s->guide.border = TAMIS_BORDER_REPLICATE;
        s->guide.left = 0;
    }
}

static tamis_status check_guide(const tamis_step *s)
{
    const tamis_node *n = &s->node;
    if (n->guide_is_map)
        return TAMIS_OK;
    if (n->guide.type != n->in.type)
        return tamis_priv_fail(n->ctx, TAMIS_ERR_UNSUPPORTED,
                               "guide: its sample type %s must be the image's, %s",
                               tamis_type_name(n->guide.type), tamis_type_name(n->in.type));
    if (n->guide_w != n->w || n->guide_h != n->h)
        return tamis_priv_fail(n->ctx, TAMIS_ERR_ARGUMENT,
                               "guide: its size %dx%d must be the image's, %dx%d", n->guide_w,
                               n->guide_h, n->w, n->h);
    return TAMIS_OK;
}

static tamis_status choose_rows(tamis_step *s)
{
    const tamis_node *n = &s->node;
    int premultiply =
        n->in.alpha == TAMIS_ALPHA_STRAIGHT && n->alpha == TAMIS_ALPHA_MODE_PREMULTIPLY;
    int ignore = n->in.alpha != TAMIS_ALPHA_NONE && n->alpha == TAMIS_ALPHA_MODE_IGNORE;
    /* Whether the kernel does not see alpha. */
    int hides = ignore || (premultiply && n->out.alpha == TAMIS_ALPHA_NONE);
    choose_input(s, premultiply, hides);
    choose_output(s, premultiply, hides);
    if (!n->has_guide)
        return TAMIS_OK;
    TAMIS_TRY(check_guide(s));
    choose_guide(s);
    return TAMIS_OK;
}

/* ---- the whole */

/* A plane's picture changes its size with it. */
static void set_picture(const tamis_plan *plan, tamis_node *node, int k)
{
    const tamis_plane *plane = &plan->plane;
    node->range = tamis_type_range(node->in.type);
    node->picture_w = node->w;
    node->picture_h = node->h;
    if (!plan->has_plane)
        return;
    if (plane->bits && node->in.type == TAMIS_U16 && plan->in.type == TAMIS_U16)
        node->range = (1 << plane->bits) - 1;
    if (plane->sub_x == 0 && plane->sub_y == 0)
        return;
    node->plane = plane;
    const tamis_node *before = k > 0 ? &plan->steps[k - 1].node : NULL;
    int32_t w = before ? before->picture_out_w : plane->w;
    int32_t h = before ? before->picture_out_h : plane->h;
    node->picture_w = w ? w : (int32_t)((int64_t)node->w << plane->sub_x);
    node->picture_h = h ? h : (int32_t)((int64_t)node->h << plane->sub_y);
}

/* Where the filter has said nothing, the picture stays, but for border = valid. */
static void keep_picture(tamis_step *s)
{
    tamis_node *n = &s->node;
    int same = s->out_w == n->w && s->out_h == n->h;
    if (n->plane && !n->picture_out_w && same) {
        n->picture_out_w = n->picture_w;
        n->picture_out_h = n->picture_h;
    }
}

static void preset(tamis_plan *plan, tamis_step *s, int k)
{
    s->node = (tamis_node){
        .ctx = plan->ctx,
        .blocks = &plan->blocks,
        .params = s->params,
        .in = tamis_priv_plan_format(plan, k),
        .border = TAMIS_BORDER_REFLECT101,
        .tile_w = TAMIS_PLAN_TILE_W,
        .tile_h = TAMIS_PLAN_TILE_H,
        .tile_share = 4,
    };
    s->node.work = tamis_priv_node_work(&s->node);
    s->node.out = s->node.in;
    tamis_priv_plan_size(plan, k, &s->node.w, &s->node.h);
    set_picture(plan, &s->node, k);
    if (plan->has_guide && k == 0) {
        s->node.has_guide = 1;
        s->node.guide = plan->guide;
        s->node.guide_w = plan->guide_w;
        s->node.guide_h = plan->guide_h;
    }
}

/* What depends on a picture must have been chosen. */
static tamis_status check_resolved(tamis_ctx *ctx, const tamis_filter *filter, const void *params)
{
    if (filter->expand)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "%s stands for filters that are chosen from a picture: give one, or "
                               "call tamis_graph_resolve()",
                               filter->name);
    for (int i = 0; i < filter->param_count; i++)
        if (tamis_priv_param_unresolved(&filter->params[i], params))
            return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                                   "%s: %s = auto is chosen from a picture: give one, or a number, "
                                   "or call tamis_graph_resolve()",
                                   filter->name, filter->params[i].name);
    return TAMIS_OK;
}

tamis_status tamis_priv_step_make(tamis_plan *plan, int k, const tamis_filter *filter,
                                  const void *params, const char *only)
{
    tamis_step *s = &plan->steps[k];
    s->filter = filter;
    TAMIS_TRY(tamis_filter_check(plan->ctx, filter, params));
    TAMIS_TRY(check_resolved(plan->ctx, filter, params));
    s->params = tamis_priv_plan_alloc(plan, filter->params_size);
    if (!s->params)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_MEMORY, "plan: no memory");
    memcpy(s->params, params, filter->params_size);
    if (plan->has_plane)
        tamis_priv_plane_scale(filter, &plan->plane, s->params);
    preset(plan, s, k);
    TAMIS_TRY(filter->plan(&s->node));
    TAMIS_TRY(output_size(s));
    keep_picture(s);
    TAMIS_TRY(choose_rows(s));
    return find_kernel(s, only);
}
