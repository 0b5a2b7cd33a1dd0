/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of non-local means for small patches of 8 bit, on tensor cores.
 *
 * The distance of two patches is |p|^2 + |q|^2 - 2 p q. The patches of four rows and columns of
 * pixels make a matrix of 16 rows, a set, and the patches of eight pixels beside each other,
 * somewhere in the search window, one of 8 columns: one to eight instructions make the 128
 * products. A warp has S sets, each eight columns from the next, so that what it loads for one
 * serves the others. Weights are made in the registers where the products are, and are themselves
 * an operand of a product: with a column of ones, which gives their sum, and columns of the pixels'
 * values. See nlmeans_entries.cuh for what they are made from, and how.
 *
 * Samples are signed here, less 128, as bytes and as results of products are, and as patches are
 * then shorter. */
#ifndef TAMIS_NLMEANS_PRODUCTS_CUH
#define TAMIS_NLMEANS_PRODUCTS_CUH

#include "nlmeans_entries.cuh"

namespace
{

/* ---- a warp's pixels */

template <typename P> struct pixels {
    unsigned patch[P::S][P::STEPS][4];
    int start[P::S][4]; /* of products: two each for rows g and g + 8 of the matrix */
    float sum[P::S][4]; /* column 0: weights, then the values times weights */

    /* place: the entry of the first pixel's patch. */
    __device__ __forceinline__ void begin(const uint4 *place, int width, int columns)
    {
        int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int s = 0; s < P::S; s++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint4 *own = place + (2 * h + g / 4) * P::N * width + 8 * s + g % 4;
                int norm = 0;
#pragma unroll
                for (int i = 0; i < 2 * P::STEPS; i++) {
                    unsigned v = 0;
                    if (i < P::N * P::CHUNKS)
                        v = ((const unsigned *)(own + P::offset(i, width, columns)))[t] &
                            P::mask(i % P::CHUNKS, t);
                    norm = __dp4a((int)v, (int)v, norm);
                    patch[s][i / 2][i % 2 * 2 + h] = v;
                }
                norm += __shfl_xor_sync(0xffffffff, norm, 1);
                norm += __shfl_xor_sync(0xffffffff, norm, 2);
                start[s][2 * h] = start[s][2 * h + 1] = TILE_BITS - (norm >> 1);
                sum[s][2 * h] = sum[s][2 * h + 1] = 0;
            }
    }
};

/* A tile of a row of the search windows, as operands. */
template <typename P> struct operands {
    unsigned patch[2 * P::QUADS][2], value[2];
    float addend[2]; /* of exponents */
};

/* Weights of the pixels' set s. */
template <typename P>
static __device__ __forceinline__ void add_weights(struct pixels<P> &p, int s,
                                                   const struct operands<P> &q, float scale,
                                                   const struct choice (&choice)[2])
{
    int d[4];
    unsigned weights[4];
    multiply_bytes<P::STEPS>(d, p.patch[s], q.patch, p.start[s]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float y0 = fmaf(__int_as_float(d[2 * h]), scale, q.addend[0]);
        float y1 = fmaf(__int_as_float(d[2 * h + 1]), scale, q.addend[1]);
        weights[h] = choice[h].weights(y0, y1);
        weights[2 + h] = weights[h] + choice[h].step;
    }
    add_product(p.sum[s], weights, q.value);
}

/* ---- walking through the search windows */

/* Where the warp reads. */
template <typename P> struct places {
    const uint4 *entry;
    int offset[P::QUADS];
    const float *norm;
    const uint2 *value;
    int line, width, value_line;

    __device__ __forceinline__ void load(struct operands<P> &q, int ahead, int columns) const
    {
        P::load(q.patch, entry + ahead, offset, width, columns);
        float2 addend = *(const float2 *)(norm + ahead);
        uint2 v = value[ahead / 2];
        q.addend[0] = addend.x;
        q.addend[1] = addend.y;
        q.value[0] = v.x;
        q.value[1] = v.y;
    }
    __device__ __forceinline__ void step()
    {
        entry += line;
        norm += width;
        value += value_line;
    }
};

/* One row, which is from - r for the pixels' row r. CLIPPED: not all of them have it. */
template <typename P, int TILES, bool CLIPPED>
static __device__ __forceinline__ void add_row(const struct args &a, struct pixels<P> &p,
                                               const struct places<P> &at, int columns, int from,
                                               const struct choice *whole)
{
    const int tiles = TILES ? TILES : a.tiles;
    float scale = 2 * a.scale * (1.f / WEIGHT_OCTAVES);
    int row = from - (int)threadIdx.x % 32 / 16;
    bool has[2] = {(unsigned)row <= (unsigned)(2 * a.sy),
                   (unsigned)(row - 2) <= (unsigned)(2 * a.sy)};
#pragma unroll(TILES ? TILES + P::S : 1)
    for (int j = 0; j < tiles + P::S - 1; j++) {
        struct operands<P> q;
        at.load(q, j * TILE, columns);
#pragma unroll
        for (int s = 0; s < P::S; s++) {
            int i = j - s;
            if (i < 0 || i >= tiles)
                continue;
            struct choice chosen[2];
#pragma unroll
            for (int h = 0; h < 2; h++)
                if (TILES == 0)
                    chosen[h].choose(a, i, row - 2 * h);
                else
                    chosen[h] = CLIPPED && !has[h] ? choice::none() : whole[i];
            add_weights<P>(p, s, q, scale, chosen);
        }
    }
}

/* Rows first .. end - 1 of the block's, which are in shared memory. */
template <typename P, int TILES>
static __device__ __forceinline__ void walk_search(const struct args &a, struct pixels<P> &p,
                                                   const struct space<P> &m, int first, int end)
{
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int column = P::column(), above = P::row();
    int begin = max(first, above), past = min(end, above + 2 * a.sy + 4), skip = begin - first;
    struct choice whole[TILES ? TILES : 1];
#pragma unroll
    for (int i = 0; i < TILES; i++)
        whole[i].choose(a, i, 0);
    struct places<P> at;
    at.width = m.width;
    at.line = P::N * m.width;
    at.entry = m.entries + skip * at.line + column;
    at.norm = m.norms + skip * m.width + column + 2 * t;
    /* Lanes of columns that nothing is summed in have zeros, those of the first one ones. */
    bool mine = g >= 1 && g <= P::N;
    at.value_line = mine ? at.line / 2 : 0;
    at.value = (mine ? m.values + (skip * P::N + g - 1) * (m.width / 2)
                     : m.constants + (g == 0 ? 0 : m.width / 2)) +
               column / 2 + t;
#pragma unroll
    for (int k = 0; k < P::QUADS; k++)
        at.offset[k] = P::lane_offset(k, m.width, m.columns);
    for (int row = begin; row < past; row++) {
        int from = row - above;
        if (from < 3 || from > 2 * a.sy)
            add_row<P, TILES, true>(a, p, at, m.columns, from, whole);
        else
            add_row<P, TILES, false>(a, p, at, m.columns, from, whole);
        at.step();
    }
}

template <typename P>
static __device__ __forceinline__ void finish_pixels(const struct args &a,
                                                     const struct pixels<P> &p, int x0, int y0)
{
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int s = 0; s < P::S; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int x = x0 + 8 * s + g % 4, y = y0 + 2 * h + g / 4;
            float weight = __shfl_sync(0xffffffff, p.sum[s][2 * h], lane & ~3);
            float share = tamis_rough_reciprocal(weight);
            if (x < a.out.x || x >= a.out.x + a.out.w || y >= a.out.y + a.out.h)
                continue;
#pragma unroll
            for (int k = P::N == 1; k < 2; k++) {
                int c = 2 * t + k - 1;
                float v = fmaf(p.sum[s][2 * h + k], share, 128);
                if (c >= 0 && c < P::N)
                    tamis_row<uint8_t>(a.out, c, y)[(int64_t)x * a.out.pitch] =
                        tamis_sample<uint8_t>::of(v);
            }
        }
}

/* TILES: of search windows of a common width, else 0. */
template <typename P, int TILES>
__global__ void __launch_bounds__(P::BLOCK, 2) products(const struct args a)
{
    TAMIS_SHARED_BYTES(shared);
    struct space<P> m(a, shared, TILES ? TILE * (P::S + TILES) : a.search_pitch);
    const int rows = P::ROWS + 2 * a.sy;
    int x0 = a.first + (int)(blockIdx.x % a.strips) * P::ACROSS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * P::ROWS;
    int left = x0 + a.shift_x - a.sx - P::R, top = y0 + a.shift_y - a.sy - P::R;
    int own = P::row() * P::N * m.width + P::column() + a.sx;
    struct pixels<P> p;
    bool whole = a.band >= rows;
    m.fill_constants();
    if (!whole) {
        m.fill(a, a.frame[0], left, top + a.sy, P::ROWS);
        __syncthreads();
        p.begin(m.entries + own, m.width, m.columns);
    }
    for (int f = 0; f < a.frames; f++)
        for (int first = 0; first < rows; first += a.band) {
            int end = min(first + a.band, rows);
            __syncthreads();
            m.fill(a, a.frame[f], left, top + first, end - first);
            __syncthreads();
            if (whole && f == 0)
                p.begin(m.entries + own + a.sy * P::N * m.width, m.width, m.columns);
            walk_search<P, TILES>(a, p, m, first, end);
        }
    finish_pixels<P>(a, p, x0 + P::column(), y0 + P::row());
}

} // namespace

#endif
