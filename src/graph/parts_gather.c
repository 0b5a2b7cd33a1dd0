/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that are smaller than the blocks of a target: they are gathered into whole ones. */
#include "core/mem.h"
#include "graph/parts.h"

/* Parts come from top to bottom and, side by side, from left to right, as high as goes evenly into
 * a row of blocks. */
static tamis_status gather(void *user, tamis_rect part, const tamis_image *from)
{
    tamis_gather *g = user;
    tamis_ctx *ctx = g->ctx;
    int32_t w = g->rows.w, h = g->rows.h, top = part.y / h * h;
    int32_t bottom = g->result_h - top < h ? g->result_h : top + h;
    tamis_image place;
    tamis_image_view(ctx, &g->rows, (tamis_rect){part.x, part.y - top, part.w, part.h}, &place);
    TAMIS_TRY(tamis_image_copy(ctx, from, &place));
    if (part.x + part.w < w || part.y + part.h < bottom)
        return TAMIS_OK;
    tamis_image_view(ctx, &g->rows, (tamis_rect){0, 0, w, bottom - top}, &place);
    return g->whole->write(g->whole->user, (tamis_rect){0, top, w, bottom - top}, &place);
}

tamis_status tamis_priv_parts_gather(tamis_stage *s, size_t bound, tamis_gather *g)
{
    int32_t h = s->block_h > 1 ? s->block_h : 1;
    h = h < s->result.h ? h : s->result.h;
    size_t bytes = tamis_priv_parts_bytes(s->format, s->result.w, h, NULL);
    if (!s->target || !s->make || bytes > bound / 2 ||
        !tamis_priv_parts_layout_within(s, h, bound - bytes))
        return TAMIS_OK;
    TAMIS_TRY(tamis_image_create(s->plan->ctx, s->format, s->result.w, h, &g->rows));
    g->ctx = s->plan->ctx;
    g->whole = s->target;
    g->result_h = s->result.h;
    g->inside = (tamis_part_target){.write = gather, .user = g};
    s->target = &g->inside;
    return TAMIS_OK;
}
