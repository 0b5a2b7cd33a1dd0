/* SPDX-License-Identifier: Apache-2.0 */
/* The separable Gaussian on bytes as products of matrices: taps and sums of columns are split into
 * bytes, high and low. */
#ifndef TAMIS_GAUSSIAN_PRODUCTS_CUH
#define TAMIS_GAUSSIAN_PRODUCTS_CUH

#include "gaussian_kernel.h"
#include "gaussian_rows.cuh"
#include "gaussian_sharpen.cuh"
#include "products.cuh"

namespace
{

struct gaussian_products_params {
    const unsigned *down; /* [group][high, low][row g, row g + 8][lane] */
    gaussian_end end;
};

struct gaussian_products_taps {
    int groups; /* 0: there are none */
    tamis_products_window window;
    gaussian_products_params params;
};

/* NEAR: the windows of the first 16 results of a block lie in the first block of sums. */
template <int GROUPS_, int BLOCKS_, bool NEAR, bool SHARPEN, int WARPS_> struct gaussian_products {
    enum { GROUPS = GROUPS_, BLOCKS = BLOCKS_, ACROSS = 4, WARPS = WARPS_ };
    enum { TABLE = BLOCKS * TAMIS_PRODUCTS_TILES, UNDER = SHARPEN };
    typedef gaussian_products_params params;
    /* Twice what they are in 1/128 level, as bytes. */
    struct sums {
        unsigned high[2][2], low[2][2];
    };

    unsigned down[GROUPS][2][2];
    const uint4 *across; /* two words of high bytes of taps, two of low ones */
    int half_down[4], half_across[4];

    __device__ __forceinline__ gaussian_products(const params &p, const uint4 *table)
        : across(table)
    {
#pragma unroll
        for (int i = 0; i < 4 * GROUPS; i++)
            down[i / 4][i / 2 % 2][i % 2] = p.down[i * 32 + (int)threadIdx.x];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            half_down[i] = 256;
            half_across[i] = 1 << (SHARPEN ? 23 - GAUSSIAN_FRACTION : 23);
        }
    }

    __device__ __forceinline__ void
    multiply_down(int (&d)[4], int part, const unsigned (&b)[GROUPS], const int (&c)[4]) const
    {
#pragma unroll
        for (int v = 0; v + 1 < GROUPS; v += 2) {
            if (v == 0)
                tamis_multiply_both(d, down[v][part], down[v + 1][part], b[v], b[v + 1], c);
            else
                tamis_multiply_both(d, down[v][part], down[v + 1][part], b[v], b[v + 1], d);
        }
        if (GROUPS % 2)
            tamis_multiply_half(d, down[GROUPS - 1][part], b[GROUPS - 1], d);
    }

    /* From a column of each tile of the block, in each group. */
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
                int high[4], low[4];
#pragma unroll
                for (int v = 0; v < GROUPS; v++)
                    b[v] = q ? k ? groups[v].w : groups[v].z : k ? groups[v].y : groups[v].x;
                multiply_down(high, 0, b, zero);
                multiply_down(low, 1, b, half_down);
#pragma unroll
                for (int i = 0; i < 2; i++)
                    pair[i][k] =
                        __byte_perm((unsigned)(high[2 * i] * 256 + low[2 * i]),
                                    (unsigned)(high[2 * i + 1] * 256 + low[2 * i + 1]), 0x6521);
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
                r.low[q][i] = __byte_perm(pair[i][0], pair[i][1], 0x6420) & 0xfefefefeu;
                r.high[q][i] = __byte_perm(pair[i][0], pair[i][1], 0x7531);
            }
        }
        return r;
    }

    /* Two results side by side in row g, then in row g + 8, in the highest byte, or in 1/128 level
     * in the highest 15 bits. */
    __device__ __forceinline__ void levels(const sums *blocks, int tile, unsigned (&r)[4]) const
    {
        const int zero[4] = {0, 0, 0, 0};
        int high[4], mixed[4], low[4];
#pragma unroll
        for (int h = 0; h < BLOCKS; h++) {
            if (NEAR && h > 0 && tile < 2)
                continue;
            uint4 b = across[(h * TAMIS_PRODUCTS_TILES + tile) * 32];
            const sums &s = blocks[h];
            if (h == 0) {
                tamis_multiply_both(high, s.high[0], s.high[1], b.x, b.y, zero);
                tamis_multiply_both(mixed, s.high[0], s.high[1], b.z, b.w, zero);
                tamis_multiply_both(low, s.low[0], s.low[1], b.z, b.w, half_across);
            } else {
                tamis_multiply_both(high, s.high[0], s.high[1], b.x, b.y, high);
                tamis_multiply_both(mixed, s.high[0], s.high[1], b.z, b.w, mixed);
                tamis_multiply_both(low, s.low[0], s.low[1], b.z, b.w, low);
            }
            tamis_multiply_both(mixed, s.low[0], s.low[1], b.x, b.y, mixed);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            r[i] = ((unsigned)high[i] << 16) + ((unsigned)mixed[i] * 256 + (unsigned)low[i]);
    }
    __device__ __forceinline__ void get(const params &p, const sums *blocks, int q,
                                        const unsigned (&under)[2], unsigned (&w)[2]) const
    {
        unsigned r[2][4];
        levels(blocks, 2 * q, r[0]);
        levels(blocks, 2 * q + 1, r[1]);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned v[4] = {r[0][2 * i], r[0][2 * i + 1], r[1][2 * i], r[1][2 * i + 1]};
            if (SHARPEN) {
#pragma unroll
                for (int c = 0; c < 4; c++)
                    v[c] >>= 1;
                w[i] = gaussian_sharpened_levels(p.end, under[i], v);
            } else {
                w[i] = __byte_perm(__byte_perm(v[0], v[1], 0x0073), __byte_perm(v[2], v[3], 0x0073),
                                   0x5410);
            }
        }
    }
};

/* ---- launches */

static unsigned products_tap(const struct gaussian_axis *axis, int distance)
{
    int d = distance < 0 ? -distance : distance;
    return d <= axis->radius ? (unsigned)axis->q[d] << (16 - axis->bits) : 0;
}

static void fill_down(const struct gaussian_axis *axis, int groups, unsigned *words)
{
    for (int n = 0; n < groups * 4 * 32; n++) {
        int lane = n % 32, row = lane / 4 + n / 32 % 2 * 8, shift = n / 64 % 2 ? 0 : 8;
        int first = n / 128 * 16 + lane % 4 * 4;
        words[n] = 0;
        for (int k = 0; k < 4; k++)
            words[n] |= (products_tap(axis, first + k - row - axis->radius) >> shift & 255)
                        << 8 * k;
    }
}

static void fill_across(const struct gaussian_axis *axis, int step, int lead, int blocks,
                        unsigned *words)
{
    for (int n = 0; n < blocks * TAMIS_PRODUCTS_TILES * 32 * 4; n++) {
        int lane = n / 4 % 32, tile = n / 128 % TAMIS_PRODUCTS_TILES;
        int block = n / 128 / TAMIS_PRODUCTS_TILES, shift = n % 4 < 2 ? 8 : 0;
        int to = lead + tamis_products_to(tile, lane / 4);
        words[n] = 0;
        for (int k = 0; k < 4; k++) {
            int d = block * TAMIS_PRODUCTS_BLOCK + tamis_products_from(n % 2, lane % 4, k) - to;
            unsigned tap = d % step ? 0 : products_tap(axis, d / step);
            words[n] |= (tap >> shift & 255) << 8 * k;
        }
    }
}

enum { PRODUCTS_GROUPS = 5, PRODUCTS_BLOCKS = 3, PRODUCTS_REACH = 32 };

enum { PRODUCTS_FROM = 7 }; /* radius from which products are faster than rows */

/* The tables; t->groups stays 0 where windows are too large, and where gaussian_rows.cuh is faster.
 */
static tamis_status fill_products(tamis_gpu_prep *prep, const struct gaussian_coef *c, int step,
                                  gaussian_products_taps *t)
{
    unsigned down[PRODUCTS_GROUPS * 4 * 32];
    unsigned across[PRODUCTS_BLOCKS * TAMIS_PRODUCTS_TILES * 32 * 4];
    int reach = c->x.radius * step, larger = reach > c->y.radius ? reach : c->y.radius;
    if (c->x.radius == c->y.radius && c->x.radius < PRODUCTS_FROM && has_rows(c->x.radius, step))
        return TAMIS_OK;
    if (larger > PRODUCTS_REACH || products_tap(&c->x, 0) > 0xffff ||
        products_tap(&c->y, 0) > 0xffff)
        return TAMIS_OK;
    int blocks = larger <= 16 ? 2 : 3;
    t->groups = larger <= 8 ? 2 : larger <= 16 ? 3 : 5;
    t->window.lead = larger <= 8 ? 8 : larger <= 16 ? 16 : 32;
    if (prep->node->border == TAMIS_BORDER_VALID) /* loads are then aligned as stores are */
        t->window.lead = reach;
    t->window.above = t->window.below = c->y.radius;
    t->params.end = gaussian_end_of(c);
    fill_down(&c->y, t->groups, down);
    fill_across(&c->x, step, t->window.lead, blocks, across);
    t->params.down =
        (const unsigned *)prep->upload(prep, down, (size_t)t->groups * 4 * 32 * sizeof *down);
    t->window.across = (const uint4 *)prep->upload(
        prep, across, (size_t)blocks * TAMIS_PRODUCTS_TILES * 32 * 4 * sizeof *across);
    return t->params.down && t->window.across ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

template <bool SHARPEN>
static tamis_status launch_products_of(const tamis_gpu_work *w, const gaussian_products_taps &t,
                                       tamis_gpu_fault *fault)
{
    typedef gaussian_products<2, 2, true, SHARPEN, 16> near;
    typedef gaussian_products<3, 2, false, SHARPEN, 16> middle;
    typedef gaussian_products<5, 3, false, SHARPEN, 10> far;
    return t.groups == 2   ? tamis_products_launch<near>("gaussian", w, t.window, t.params, fault)
           : t.groups == 3 ? tamis_products_launch<middle>("gaussian", w, t.window, t.params, fault)
                           : tamis_products_launch<far>("gaussian", w, t.window, t.params, fault);
}

/* Launches such a kernel if there is one for the work. */
static bool launch_products(const tamis_gpu_work *w, const gaussian_products_taps &t,
                            tamis_gpu_fault *fault, tamis_status *status)
{
    if (t.groups == 0 || !tamis_products_fit(w, t.window))
        return false;
    if (t.params.end.sharpens && w->shift_x * w->step % 4 != 0) /* the samples under results */
        return false;
    *status = t.params.end.sharpens ? launch_products_of<true>(w, t, fault)
                                    : launch_products_of<false>(w, t, fault);
    return true;
}

} // namespace

#endif
