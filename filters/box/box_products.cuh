/* SPDX-License-Identifier: Apache-2.0 */
/* Means of windows of color bytes on tensor cores: products with matrices of ones. Sums of columns
 * have two bytes. */
#ifndef TAMIS_BOX_PRODUCTS_CUH
#define TAMIS_BOX_PRODUCTS_CUH

#include "box_parts.cuh"
#include "box_rows.cuh"
#include "products.cuh"

struct box_products_params {
    const unsigned *down; /* [group][row g, row g + 8][lane] */
    unsigned half, magic; /* as in box_args */
    int shift;
};

/* The window that a plan's launches have. */
struct box_products_plan {
    int groups, blocks; /* groups 0: it is too large */
    tamis_products_window window;
    box_products_params params;
};

template <int GROUPS_, int BLOCKS_, bool SHIFTS, int WARPS_> struct box_products {
    enum { GROUPS = GROUPS_, BLOCKS = BLOCKS_, ACROSS = 4, WARPS = WARPS_ };
    enum { TABLE = BLOCKS * TAMIS_PRODUCTS_TILES / 2, UNDER = 0 };
    typedef box_products_params params;
    struct sums {
        unsigned high[2][2], low[2][2];
    };

    unsigned down[GROUPS][2];
    const uint4 *across; /* two words of a tile, and of the next */
    int half[4];

    __device__ __forceinline__ box_products(const params &p, const uint4 *table) : across(table)
    {
#pragma unroll
        for (int i = 0; i < 2 * GROUPS; i++)
            down[i / 2][i % 2] = p.down[i * 32 + (int)threadIdx.x];
#pragma unroll
        for (int i = 0; i < 4; i++)
            half[i] = (int)p.half;
    }

    __device__ __forceinline__ sums columns(const uint4 (&groups)[GROUPS]) const
    {
        sums r;
        const int zero[4] = {0, 0, 0, 0};
#pragma unroll
        for (int q = 0; q < 2; q++) {
            unsigned pair[2][2]; /* sums side by side, of rows g and g + 8 */
#pragma unroll
            for (int k = 0; k < 2; k++) {
                unsigned b[GROUPS];
                int d[4];
#pragma unroll
                for (int v = 0; v < GROUPS; v++)
                    b[v] = q ? k ? groups[v].w : groups[v].z : k ? groups[v].y : groups[v].x;
                tamis_multiply_both(d, down[0], down[1], b[0], b[1], zero);
#pragma unroll
                for (int v = 2; v + 1 < GROUPS; v += 2)
                    tamis_multiply_both(d, down[v], down[v + 1], b[v], b[v + 1], d);
                if (GROUPS % 2)
                    tamis_multiply_half(d, down[GROUPS - 1], b[GROUPS - 1], d);
#pragma unroll
                for (int i = 0; i < 2; i++)
                    pair[i][k] = __byte_perm((unsigned)d[2 * i], (unsigned)d[2 * i + 1], 0x5410);
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
                r.low[q][i] = __byte_perm(pair[i][0], pair[i][1], 0x6420);
                r.high[q][i] = __byte_perm(pair[i][0], pair[i][1], 0x7531);
            }
        }
        return r;
    }

    __device__ __forceinline__ void get(const params &p, const sums *blocks, int q,
                                        const unsigned (&)[2], unsigned (&w)[2]) const
    {
        int high[2][4], low[2][4];
        const int zero[4] = {0, 0, 0, 0};
#pragma unroll
        for (int h = 0; h < BLOCKS; h++) {
            uint4 b = across[(h * TAMIS_PRODUCTS_TILES / 2 + q) * 32];
            const sums &s = blocks[h];
            if (h == 0) {
                tamis_multiply_both(high[0], s.high[0], s.high[1], b.x, b.y, zero);
                tamis_multiply_both(high[1], s.high[0], s.high[1], b.z, b.w, zero);
                tamis_multiply_both(low[0], s.low[0], s.low[1], b.x, b.y, half);
                tamis_multiply_both(low[1], s.low[0], s.low[1], b.z, b.w, half);
                continue;
            }
            tamis_multiply_both(high[0], s.high[0], s.high[1], b.x, b.y, high[0]);
            tamis_multiply_both(high[1], s.high[0], s.high[1], b.z, b.w, high[1]);
            tamis_multiply_both(low[0], s.low[0], s.low[1], b.x, b.y, low[0]);
            tamis_multiply_both(low[1], s.low[0], s.low[1], b.z, b.w, low[1]);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned v[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                int at = 2 * i + c % 2;
                v[c] = __umulhi((unsigned)(high[c / 2][at] * 256 + low[c / 2][at]), p.magic);
                if (SHIFTS)
                    v[c] >>= p.shift;
            }
            w[i] = __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040),
                               0x5410);
        }
    }
};

/* ---- launches */

enum { BOX_GROUPS = 8, BOX_BLOCKS = 5 };

/* Ones where row d of a window is, d counted from its first one. */
static void fill_box_down(int kh, int groups, unsigned *words)
{
    for (int n = 0; n < groups * 2 * 32; n++) {
        int lane = n % 32, row = lane / 4 + n / 32 % 2 * 8, first = n / 64 * 16 + lane % 4 * 4;
        words[n] = 0;
        for (int k = 0; k < 4; k++)
            words[n] |= (unsigned)(first + k >= row && first + k < row + kh) << 8 * k;
    }
}

static void fill_box_across(const struct box_coef *c, int step, int lead, int blocks,
                            unsigned *words)
{
    for (int n = 0; n < blocks * TAMIS_PRODUCTS_TILES * 32 * 2; n++) {
        int lane = n / 4 % 32, tile = n / 128 * 2 + n / 2 % 2, block = tile / TAMIS_PRODUCTS_TILES;
        int from = lead + tamis_products_to(tile % TAMIS_PRODUCTS_TILES, lane / 4) - c->left * step;
        words[n] = 0;
        for (int k = 0; k < 4; k++) {
            int d = block * TAMIS_PRODUCTS_BLOCK + tamis_products_from(n % 2, lane % 4, k) - from;
            words[n] |= (unsigned)(d >= 0 && d < c->w * step && d % step == 0) << 8 * k;
        }
    }
}

/* The tables; plan->groups stays 0 where windows are too large, and where box_rows.cuh or
 * box_strips.cuh, which goes down planes, is faster. a: says how to divide. */
static tamis_status fill_box_products(tamis_gpu_prep *prep, const struct box_coef *c,
                                      const box_args<uint8_t> &a, box_products_plan *plan)
{
    unsigned down[BOX_GROUPS * 2 * 32], across[BOX_BLOCKS * TAMIS_PRODUCTS_TILES * 32 * 2];
    const tamis_node *node = prep->node;
    int step = node->in.layout == TAMIS_PACKED && !node->planar ? node->in.channels : 1;
    int64_t before = (int64_t)c->left * step, behind = (int64_t)(c->w - 1 - c->left) * step;
    /* With VALID, loads are aligned as stores are. */
    int64_t lead = node->border == TAMIS_BORDER_VALID ? before : (before + 3) / 4 * 4;
    int64_t blocks = tamis_tiles(lead + TAMIS_PRODUCTS_BLOCK + behind, TAMIS_PRODUCTS_BLOCK);
    int64_t groups = tamis_tiles((int64_t)TAMIS_PRODUCTS_ROWS - 1 + c->h, TAMIS_PRODUCTS_ROWS);
    if (step == 1 || groups > BOX_GROUPS || blocks > BOX_BLOCKS || has_rows(c, step))
        return TAMIS_OK;
    bool small = groups <= 3 && blocks <= 2, middle = groups <= 5 && blocks <= 3;
    plan->groups = small ? 3 : middle ? 5 : BOX_GROUPS;
    plan->blocks = small ? 2 : middle ? 3 : BOX_BLOCKS;
    plan->window.lead = (int)lead;
    plan->window.above = c->top;
    plan->window.below = c->h - 1 - c->top;
    plan->params.half = a.half;
    plan->params.magic = a.magic;
    plan->params.shift = a.shift;
    fill_box_down(c->h, plan->groups, down);
    fill_box_across(c, step, (int)lead, plan->blocks, across);
    plan->params.down =
        (const unsigned *)prep->upload(prep, down, (size_t)plan->groups * 2 * 32 * sizeof *down);
    plan->window.across = (const uint4 *)prep->upload(
        prep, across, (size_t)plan->blocks * TAMIS_PRODUCTS_TILES * 32 * 2 * sizeof *across);
    return plan->params.down && plan->window.across ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

template <bool SHIFTS>
static tamis_status launch_products_of(const tamis_gpu_work *w, const box_products_plan &p,
                                       tamis_gpu_fault *fault)
{
    typedef box_products<3, 2, SHIFTS, 16> small;
    typedef box_products<5, 3, SHIFTS, 12> middle;
    typedef box_products<BOX_GROUPS, BOX_BLOCKS, SHIFTS, 6> large;
    return p.groups == 3   ? tamis_products_launch<small>("box", w, p.window, p.params, fault)
           : p.groups == 5 ? tamis_products_launch<middle>("box", w, p.window, p.params, fault)
                           : tamis_products_launch<large>("box", w, p.window, p.params, fault);
}

/* Launches such a kernel if there is one for the work. */
static bool launch_products(const tamis_gpu_work *w, const box_products_plan &p,
                            tamis_gpu_fault *fault, tamis_status *status)
{
    if (p.groups == 0 || !tamis_products_fit(w, p.window))
        return false;
    *status = p.params.shift > 0 ? launch_products_of<true>(w, p, fault)
                                 : launch_products_of<false>(w, p, fault);
    return true;
}

#endif
