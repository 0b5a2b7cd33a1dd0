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

/* What one tile of a chain costs: samples that its steps compute, those around the tile for later
 * steps included, and something for every row and column that a step begins. More than what caches
 * hold between two steps costs as much as it is more. */
static double chain_cost(const tamis_plan *plan, const tamis_segment *segment, double w, double h)
{
    enum { CACHED = 1 << 20, ROWS = 4, COLUMNS = 64 };
    double cost = 0, bytes = 0;
    for (int k = segment->end - 1; k >= segment->first; k--) {
        const tamis_node *node = &plan->steps[k].node;
        double pixels = (w + COLUMNS) * (h + ROWS);
        cost += pixels * node->in.channels;
        w += node->halo.left + node->halo.right;
        h += node->halo.top + node->halo.bottom;
        if (k > segment->first)
            bytes += w * h * node->in.channels * (double)tamis_type_size(node->in.type);
    }
    return bytes > CACHED ? cost * bytes / CACHED : cost;
}

/* Steps that are pulled through one another compute the pixels around each tile once more for the
 * next tile: the tile of the least cost, where each thread idles for half a tile at the end. */
static void cheapest_tile(const tamis_plan *plan, const tamis_segment *segment, int *tw, int *th)
{
    enum { WIDEST = 8192, LEAST_WIDTH = 256, BAND = 16, HIGHEST = 1024 };
    int32_t w, h;
    int threads = tamis_ctx_threads(plan->ctx);
    double least = INFINITY;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    for (int width = WIDEST; width >= LEAST_WIDTH; width /= 2)
        for (int height = BAND; height <= HIGHEST; height += BAND) {
            int one_w = even_tile(w, width), one_h = even_tile(h, height);
            double tiles = ceil((double)w / one_w) * ceil((double)h / one_h);
            double cost = chain_cost(plan, segment, one_w, one_h) * (tiles + 0.5 * (threads - 1));
            if (cost >= least)
                continue;
            least = cost;
            *tw = one_w;
            *th = one_h;
        }
}

/* Whether all steps of a segment stay around their places, and there are several. */
static int is_local_chain(const tamis_plan *plan, const tamis_segment *segment)
{
    for (int k = segment->first; k < segment->end; k++)
        if (plan->steps[k].node.need || plan->steps[k].node.gather)
            return 0;
    return segment->end - segment->first > 1;
}

void tamis_priv_segment_choose_tile(const tamis_plan *plan, tamis_segment *segment,
                                    const tamis_plan_options *options)
{
    int32_t w, h;
    int tw, th;
    tamis_priv_plan_size(plan, segment->end, &w, &h);
    wished_tile(plan, segment, &tw, &th);
    if (is_local_chain(plan, segment))
        cheapest_tile(plan, segment, &tw, &th);
    segment->tile_w = options->tile_w > 0 ? (options->tile_w < w ? options->tile_w : w) : tw;
    segment->tile_h = options->tile_h > 0 ? (options->tile_h < h ? options->tile_h : h) : th;
}
