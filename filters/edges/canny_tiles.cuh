/* SPDX-License-Identifier: Apache-2.0 */
/* Hysteresis in tiles of 32 x 32 bits, one to a warp, row y of the tile in lane y.
 *
 * A tile's border has 64 nodes: pairs of pixels of its upper row (0 .. 15), of its lower row
 * (16 .. 31), of its left column (32 .. 47) and of its right one (48 .. 63). Pixels of a pair are
 * neighbors, so one node never stands for two sets of connected pixels. A node's parent is a node
 * with a smaller number, or itself; node 0, in front of all tiles', stands for strong pixels.
 * Nodes of pixels that are not alive are never looked at. */
#ifndef TAMIS_CANNY_TILES_CUH
#define TAMIS_CANNY_TILES_CUH

#include "kernel.cuh"

enum { TILE_WARPS = 4, TILE_NODES = 64, TILE_BYTES = 32 * 4, NODE_BYTES = TILE_NODES * 4 };

struct canny_tiles {
    int w, h;              /* of the picture */
    unsigned across, down; /* tiles */
    unsigned blocks;       /* of threads, for a row of tiles */
    int stride;            /* bytes between rows of half bytes */
    int aligned;           /* whether 16 bytes of the result can be stored at once */
    char *halves;          /* for each four pixels: bits 0-3 kept ones, 4-7 strong ones */
    char *edge, *alive;    /* tiles of edges, and of what may become some */
    char *nodes;
    int64_t plane_bytes; /* from one plane to the next of all four */
};

/* One plane of them. */
struct canny_forest {
    const canny_tiles *t;
    const char *halves;
    unsigned *edge, *alive, *node;
};

static __device__ __forceinline__ canny_forest canny_plane(const canny_tiles &t, int plane)
{
    int64_t at = plane * t.plane_bytes;
    return canny_forest{&t, t.halves + at, (unsigned *)(void *)(t.edge + at),
                        (unsigned *)(void *)(t.alive + at), (unsigned *)(void *)(t.nodes + at)};
}

/* The warp's tile; false: it has none. */
static __device__ __forceinline__ bool canny_find_tile(const canny_tiles &t, int *tx, int *ty)
{
    unsigned row = blockIdx.x / t.blocks;
    *tx = (int)((blockIdx.x - row * t.blocks) * TILE_WARPS + threadIdx.x / 32);
    *ty = (int)row;
    return *tx < (int)t.across;
}

static __device__ __forceinline__ int64_t tile_at(const canny_tiles &t, int tx, int ty)
{
    return (int64_t)ty * t.across + tx;
}

static __device__ __forceinline__ unsigned first_node(const canny_tiles &t, int tx, int ty)
{
    return (unsigned)(tile_at(t, tx, ty) + 1) * TILE_NODES;
}

/* A lane's word of a tile; 0 where there is no such tile. */
static __device__ __forceinline__ unsigned tile_row(const canny_tiles &t, const unsigned *words,
                                                    int tx, int ty, int row)
{
    bool is_there = (unsigned)tx < t.across && (unsigned)ty < t.down;
    return is_there ? words[tile_at(t, tx, ty) * 32 + row] : 0;
}

/* ---- growing in a tile */

/* Bits of the runs of kept that edge, part of it, touches, from there upwards: adding clears
 * them. */
static __device__ __forceinline__ unsigned fill_up(unsigned edge, unsigned kept)
{
    return kept & (~(kept + edge) | edge);
}

/* All pixels of kept that are connected with the seed, part of it. */
static __device__ unsigned flood(unsigned seed, unsigned kept)
{
    int lane = threadIdx.x % 32;
    unsigned grown = seed, mirrored = __brev(kept), before;
    do {
        before = grown;
        unsigned above = __shfl_up_sync(~0u, grown, 1), below = __shfl_down_sync(~0u, grown, 1);
        unsigned v = grown | (lane == 0 ? 0 : above) | (lane == 31 ? 0 : below);
        v = (v | v << 1 | v >> 1) & kept;
        grown = fill_up(v, kept) | __brev(fill_up(__brev(v), mirrored));
    } while (__any_sync(~0u, grown != before));
    return grown;
}

/* ---- nodes */

/* The bits of a lane's two nodes, by what the tile's border is; of pairs 0 or not. */
struct pairs {
    unsigned along, down; /* upper or lower row, left or right column */
};

static __device__ __forceinline__ pairs pairs_of(unsigned upper, unsigned lower, unsigned left,
                                                 unsigned right)
{
    int lane = threadIdx.x % 32, shift = 2 * (lane & 15);
    return pairs{(lane < 16 ? upper : lower) >> shift & 3, (lane < 16 ? left : right) >> shift & 3};
}

static __device__ __forceinline__ pairs pairs_of_tile(unsigned row)
{
    return pairs_of(__shfl_sync(~0u, row, 0), __shfl_sync(~0u, row, 31),
                    __ballot_sync(~0u, row & 1), __ballot_sync(~0u, row >> 31));
}

/* Of two nodes at a time, so that neither way waits for the other. Node 0, which most ways end at,
 * is known and not read: all warps would wait for the same place in memory. */
static __device__ __forceinline__ void find_roots(unsigned *node, unsigned *a, unsigned *b)
{
    volatile unsigned *now = node; /* others change it; what is read is an ancestor in any case */
    unsigned m = *a, n = *b, above_m = m ? now[m] : 0, above_n = n ? now[n] : 0;
    while (above_m != m || above_n != n) {
        unsigned next_m = above_m ? now[above_m] : 0, next_n = above_n ? now[above_n] : 0;
        if (next_m != above_m)
            now[m] = next_m;
        if (next_n != above_n)
            now[n] = next_n;
        m = above_m;
        n = above_n;
        above_m = next_m;
        above_n = next_n;
    }
    *a = m;
    *b = n;
}

static __device__ void unite_nodes(unsigned *node, unsigned a, unsigned b)
{
    for (;;) {
        find_roots(node, &a, &b);
        if (a == b)
            return;
        unsigned child = max(a, b), parent = min(a, b);
        unsigned old = atomicCAS(node + child, child, parent);
        if (old == child)
            return;
        a = old;
        b = parent;
    }
}

/* Pixels of a tile without neighbors there are sets of their own: most of those that reach the
 * border. Gives those that belong to one node, all but corners, itself as its parent, and returns
 * them. */
static __device__ __forceinline__ unsigned plant_single(unsigned *node, unsigned first,
                                                        unsigned alive)
{
    int lane = threadIdx.x % 32;
    unsigned above = __shfl_up_sync(~0u, alive, 1), below = __shfl_down_sync(~0u, alive, 1);
    unsigned v = (lane == 0 ? 0 : above) | (lane == 31 ? 0 : below);
    unsigned single = alive & ~(v | (v | alive) << 1 | (v | alive) >> 1);
    if (lane % 31 == 0)
        single &= 0x7ffffffe;
    pairs p = pairs_of_tile(single);
    if (p.along)
        node[first + lane] = first + lane;
    if (p.down)
        node[first + 32 + lane] = first + 32 + lane;
    return single;
}

/* Gives the nodes of one set of connected pixels its first node as their parent. */
static __device__ __forceinline__ void plant(unsigned *node, unsigned first, unsigned set)
{
    int lane = threadIdx.x % 32;
    pairs p = pairs_of_tile(set);
    unsigned along = __ballot_sync(~0u, p.along != 0), down = __ballot_sync(~0u, p.down != 0);
    unsigned root = first + (unsigned)(along ? __ffs((int)along) : 32 + __ffs((int)down)) - 1;
    if (p.along)
        node[first + lane] = root;
    if (p.down)
        node[first + 32 + lane] = root;
}

/* ---- the three steps */

/* Every second half byte of a word, side by side. */
static __device__ __forceinline__ unsigned gather_halves(unsigned v)
{
    v &= 0x0f0f0f0f;
    v = (v | v >> 4) & 0x00ff00ff;
    return (v | v >> 8) & 0xffff;
}

static __device__ __forceinline__ void canny_grow_tile(const canny_forest &f, int tx, int ty)
{
    const canny_tiles &t = *f.t;
    int lane = threadIdx.x % 32, y = 32 * ty + lane;
    uint2 v = make_uint2(0, 0);
    if (y < t.h)
        v = *(const uint2 *)(const void *)(f.halves + (int64_t)y * t.stride + 8 * tx);
    unsigned kept = gather_halves(v.x) | gather_halves(v.y) << 16;
    unsigned edge = gather_halves(v.x >> 4) | gather_halves(v.y >> 4) << 16;
    if (__any_sync(~0u, edge != 0))
        edge = flood(edge, kept);
    unsigned left = kept & ~edge, alive = left & (lane % 31 == 0 ? ~0u : 0x80000001u);
    if (__any_sync(~0u, alive != 0))
        alive = flood(alive, left);
    f.edge[tile_at(t, tx, ty) * 32 + lane] = edge;
    f.alive[tile_at(t, tx, ty) * 32 + lane] = alive;
    if (tx == 0 && ty == 0 && lane == 0)
        f.node[0] = 0;
    if (!__any_sync(~0u, alive != 0))
        return;
    left = alive & ~plant_single(f.node, first_node(t, tx, ty), alive);
    for (;;) {
        unsigned rows = __ballot_sync(~0u, left != 0);
        if (!rows)
            break;
        bool is_first = lane == __ffs((int)rows) - 1;
        unsigned set = flood(is_first ? left & (0u - left) : 0, alive);
        plant(f.node, first_node(t, tx, ty), set);
        left &= ~set;
    }
}

/* Which of the pixels 2k-1 .. 2k+2 of a row or column touch pair k, with the bits of `pair`, of the
 * row or column beside it. */
static __device__ __forceinline__ unsigned touched_by(unsigned pair)
{
    return (pair & 1) * 7 | (pair >> 1) * 14;
}
static __device__ __forceinline__ unsigned around_pair(uint64_t row, int k)
{
    return (unsigned)(row >> 2 * k) & 15;
}

/* Row of a tile and a pixel of those before and after it. */
static __device__ __forceinline__ uint64_t row_with_ends(const canny_tiles &t,
                                                         const unsigned *words, int tx, int ty,
                                                         int row)
{
    return (uint64_t)tile_row(t, words, tx, ty, row) << 1 |
           tile_row(t, words, tx - 1, ty, row) >> 31 |
           (uint64_t)(tile_row(t, words, tx + 1, ty, row) & 1) << 33;
}

/* With the rows above and below, whose edges and living pixels are there: strong pixels of both,
 * nodes of that below. */
static __device__ __forceinline__ void unite_along(const canny_forest &f, int tx, int ty,
                                                   unsigned pair, uint64_t edges, uint64_t alive)
{
    int lane = threadIdx.x % 32, k = lane & 15, lower = lane >= 16;
    unsigned mine = first_node(*f.t, tx, ty) + lane, touched = touched_by(pair);
    if (touched & around_pair(edges, k))
        unite_nodes(f.node, mine, 0);
    if (!lower)
        return;
    touched &= around_pair(alive, k);
    for (int q = 0; q < 4; q++) {
        int x = 2 * k - 1 + q, tile = tx + (x < 0 ? -1 : x / 32);
        if (touched >> q & 1)
            unite_nodes(f.node, mine, first_node(*f.t, tile, ty + 1) + (unsigned)((x & 31) / 2));
    }
}

/* With the columns to the left and right, likewise. */
static __device__ __forceinline__ void unite_down(const canny_forest &f, int tx, int ty,
                                                  unsigned pair, uint64_t edges, uint64_t alive)
{
    int lane = threadIdx.x % 32, k = lane & 15;
    unsigned mine = first_node(*f.t, tx, ty) + 32 + lane, touched = touched_by(pair);
    if (touched & around_pair(edges << 1, k))
        unite_nodes(f.node, mine, 0);
    if (lane < 16)
        return;
    touched &= around_pair(alive << 1, k);
    for (int q = 0; q < 4; q++)
        if (touched >> q & 1)
            unite_nodes(f.node, mine,
                        first_node(*f.t, tx + 1, ty) + 32 + (unsigned)((2 * k - 1 + q) / 2));
}

static __device__ __forceinline__ void canny_unite_tile(const canny_forest &f, int tx, int ty)
{
    const canny_tiles &t = *f.t;
    int lane = threadIdx.x % 32, lower = lane >= 16;
    unsigned alive = tile_row(t, f.alive, tx, ty, lane);
    if (!__any_sync(~0u, alive != 0))
        return;
    /* All that may be needed is loaded at once. */
    int beside = lower ? ty + 1 : ty - 1, row = lower ? 0 : 31;
    uint64_t edges_along = row_with_ends(t, f.edge, tx, beside, row);
    uint64_t alive_along = row_with_ends(t, f.alive, tx, beside, row);
    unsigned left_edges = tile_row(t, f.edge, tx - 1, ty, lane);
    unsigned right_edges = tile_row(t, f.edge, tx + 1, ty, lane);
    unsigned right_alive = tile_row(t, f.alive, tx + 1, ty, lane);
    unsigned left = __ballot_sync(~0u, left_edges >> 31);
    unsigned right = __ballot_sync(~0u, right_edges & 1);
    unsigned alive_down = __ballot_sync(~0u, right_alive & 1);
    pairs p = pairs_of_tile(alive);
    if (p.along)
        unite_along(f, tx, ty, p.along, edges_along, alive_along);
    if (p.down)
        unite_down(f, tx, ty, p.down, lane < 16 ? left : right, alive_down);
}

/* 16 bits, each twice. */
static __device__ __forceinline__ unsigned double_bits(unsigned v)
{
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    v = (v | v << 1) & 0x55555555;
    return v * 3;
}

/* The lane's row of edges, now that all nodes are united. */
static __device__ __forceinline__ unsigned canny_edges_of_tile(const canny_forest &f, int tx,
                                                               int ty)
{
    const canny_tiles &t = *f.t;
    int lane = threadIdx.x % 32;
    unsigned edge = tile_row(t, f.edge, tx, ty, lane), alive = tile_row(t, f.alive, tx, ty, lane);
    if (!__any_sync(~0u, alive != 0))
        return edge;
    pairs p = pairs_of_tile(alive);
    unsigned mine = first_node(t, tx, ty) + lane;
    unsigned first = p.along ? mine : 0, second = p.down ? mine + 32 : 0;
    find_roots(f.node, &first, &second);
    unsigned along = __ballot_sync(~0u, p.along && first == 0);
    unsigned down = __ballot_sync(~0u, p.down && second == 0);
    unsigned seed = (down >> lane / 2 & 1) | (down >> (16 + lane / 2)) << 31;
    if (lane == 0)
        seed |= double_bits(along & 0xffff);
    if (lane == 31)
        seed |= double_bits(along >> 16);
    return edge | flood(seed & alive, alive);
}

#endif
