/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the tiles in which a segment is computed. */
#include <math.h>

#include "core/ctx.h"
#include "graph/plan.h"

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

/* Kernels work through bands of 16 rows: 17 would cost as much as 32. */
static int whole_bands(int height)
{
    return height < 16 ? height : (height + 8) / 16 * 16;
}

/* Below this, padding rows and recomputing halos would cost more than idle threads. A window higher
 * than a tile pads the same rows of the image for each tile, which is little beside filtering. */
static int least_height(const tamis_node *last, int inner_halo)
{
    int own = last ? (last->halo.top + last->halo.bottom) / 2 : 0;
    int halo =
        clamp(own, inner_halo, TAMIS_PLAN_TILE_H > inner_halo ? TAMIS_PLAN_TILE_H : inner_halo);
    return halo > 16 ? halo : 16;
}

/* The tile of a segment's last filter, as it wishes; lower where threads would find too few. */
static void wished_tile(const tamis_plan *plan, const tamis_segment *segment, int *tw, int *th)
{
    int32_t w, h;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    const tamis_node *last = segment->end ? &plan->steps[segment->end - 1].node : NULL;
    int halo_w = 0, halo_h = 0; /* what inner steps compute beyond the tile */
    for (int k = segment->first + 1; k < segment->end; k++) {
        halo_w += plan->steps[k].node.halo.left + plan->steps[k].node.halo.right;
        halo_h += plan->steps[k].node.halo.top + plan->steps[k].node.halo.bottom;
    }
    *tw = clamp(last ? last->tile_w : TAMIS_PLAN_TILE_W, 2 * clamp(halo_w, 1, 1 << 20), 1 << 24);
    *th = clamp(last ? last->tile_h : TAMIS_PLAN_TILE_H, 2 * clamp(halo_h, 1, 1 << 20), 1 << 24);
    *tw = even_tile(w, *tw);
    /* Every thread should find a few tiles. */
    int64_t across = ((int64_t)w + *tw - 1) / *tw;
    int64_t share = last ? last->tile_share : 4;
    int64_t wanted = (share * tamis_ctx_threads(plan->ctx) + across - 1) / across;
    int64_t low = (h + wanted - 1) / wanted;
    if (tamis_ctx_threads(plan->ctx) > 1 && *th > low)
        *th = clamp(whole_bands((int)low), least_height(last, halo_h), *th);
    *th = even_tile(h, *th);
}

/* The rows of a segment that rolls which a thread takes at a time, in tiles one below the other,
 * where there are so many columns of tiles in all. */
static int64_t rows_at_a_time(const tamis_plan *plan, int64_t columns, int32_t h, int tile_h)
{
    enum { MOST = 512 }; /* so that progress is shown; the rows around are then few beside these */
    int64_t ranges = (4 * (int64_t)tamis_ctx_threads(plan->ctx) + columns - 1) / columns;
    int64_t rows = (h + ranges - 1) / ranges;
    rows = rows < MOST ? rows : MOST;
    return rows > tile_h ? rows : tile_h;
}

/* What a chain costs: samples that its steps compute, those around tiles for later steps included,
 * and something for every row and column that a step begins. More bytes than caches hold between
 * the steps cost as much as they are more. */
static double chain_cost(const tamis_plan *plan, const tamis_segment *segment, int tw, int th)
{
    enum { CACHED = 1 << 20, ROWS = 4, COLUMNS = 96 };
    int32_t w, h;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    double columns = ceil((double)w / tw), rows = rows_at_a_time(plan, (int64_t)columns, h, th);
    double around_w = 0, around_h = 0, cost = 0, bytes = 0;
    for (int k = segment->end - 1; k >= segment->first; k--) {
        const tamis_node *node = &plan->steps[k].node;
        double height = th + ROWS + around_h * th / rows;
        cost += (tw + around_w + COLUMNS) * height * node->in.channels;
        around_w += node->halo.left + node->halo.right;
        around_h += node->halo.top + node->halo.bottom;
        if (k > segment->first)
            bytes += (tw + around_w) * (th + around_h) * node->in.channels *
                     (double)tamis_type_size(node->in.type);
    }
    double tiles = columns * ceil((double)h / th);
    double idle = 0.5 * (tamis_ctx_threads(plan->ctx) - 1) * rows / th;
    return cost * (tiles + idle) * (bytes > CACHED ? bytes / CACHED : 1);
}

/* The tile of the least cost, where each thread idles for half of what it takes at a time. */
static void cheapest_tile(const tamis_plan *plan, const tamis_segment *segment, int *tw, int *th)
{
    enum { WIDEST = 2048, LEAST_WIDTH = 256, BAND = 16, HIGHEST = 64 };
    int32_t w, h;
    double least = INFINITY;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    for (int width = WIDEST; width >= LEAST_WIDTH; width /= 2)
        for (int height = BAND; height <= HIGHEST; height += BAND) {
            int one_w = even_tile(w, width), one_h = height < h ? height : h;
            double cost = chain_cost(plan, segment, one_w, one_h);
            if (cost >= least)
                continue;
            least = cost;
            *tw = one_w;
            *th = one_h;
        }
}

/* Whether a segment has several steps, all of which stay around their places in one frame. */
static int can_roll(const tamis_plan *plan, const tamis_segment *segment)
{
    for (int k = segment->first; k < segment->end; k++) {
        const tamis_node *node = &plan->steps[k].node;
        if (node->need || node->gather || node->frames)
            return 0;
    }
    return segment->end - segment->first > 1;
}

void tamis_priv_segment_choose_tile(const tamis_plan *plan, tamis_segment *segment,
                                    const tamis_plan_options *options)
{
    int32_t w, h;
    int tw, th;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    wished_tile(plan, segment, &tw, &th);
    segment->rolls = can_roll(plan, segment);
    if (segment->rolls)
        cheapest_tile(plan, segment, &tw, &th);
    segment->tile_w = options->tile_w > 0 ? (options->tile_w < w ? options->tile_w : w) : tw;
    segment->tile_h = options->tile_h > 0 ? (options->tile_h < h ? options->tile_h : h) : th;
}

int64_t tamis_priv_segment_group(const tamis_plan *plan, const tamis_segment *segment,
                                 tamis_rect part, int64_t pictures)
{
    int tw = segment->tile_w, th = segment->tile_h;
    int64_t x = ((int64_t)part.w + tw - 1) / tw, y = ((int64_t)part.h + th - 1) / th;
    if (segment->rolls)
        return (rows_at_a_time(plan, x * pictures, part.h, th) + th - 1) / th;
    /* Small tiles side by side, since a thread that writes next to another's cache line waits for
     * it; but each thread is to find several. */
    int64_t share = x * y * pictures / (8 * (int64_t)tamis_ctx_threads(plan->ctx));
    int64_t most = 65536 / ((int64_t)tw * th);
    int64_t group = share < most ? share : most;
    return group > 1 ? group : 1;
}
