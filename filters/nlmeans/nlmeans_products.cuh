/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of non-local means for small patches of 8 bit, on tensor cores.
 *
 * The distance of two patches is |p|^2 + |q|^2 - 2 p q. A warp has four columns of pixels; the
 * patches of four rows of them make a matrix of 16 rows, the patches of eight pixels beside each
 * other, somewhere in the search window, one of 8 columns: two to eight instructions make the 128
 * products. Weights are made in the registers where the products are, and are themselves an operand
 * of a product: with a column of ones, which gives their sum, and columns of the pixels' values.
 *
 * Samples are signed here, less 128, as bytes and as results of products are, and as patches are
 * then shorter. */
#ifndef TAMIS_NLMEANS_PRODUCTS_CUH
#define TAMIS_NLMEANS_PRODUCTS_CUH

#include "nlmeans_matrix.cuh"

namespace
{

enum {
    WARPS = 8,
    BLOCK = 32 * WARPS,
    WARP_COLUMNS = 4,
    BLOCK_COLUMNS = WARP_COLUMNS * WARPS,
    TILE = 8,               /* columns of the search window that are a matrix */
    SEGMENT = 8,            /* rows whose norms a thread makes one from the other */
    TILE_BITS = 0x4B600000, /* 1.75 * 2^23 as a float */
    NEVER = (int)0xFE000000 /* so far below 0 as a float that nothing has weight */
};
#define TILE_FLOAT 14680064.f

/* Patches of N planes and radius R; a warp has S times four rows. What goes into a product is
 * words of four bytes side by side, four words, one of each t, in a chunk. */
template <int R_, int N_, int S_> struct patches {
    enum {
        R = R_,
        N = N_,
        S = S_,
        ROWS = 4 * S,
        CHUNKS = R == 1   ? 1
                 : R == 4 ? 8
                          : R + 1, /* of a plane */
        STEPS = (N * CHUNKS + 1) / 2,
        BELOW = R == 4 ? 11 : 2 * R + 1, /* rows that words come from, beside the first */
        WIDE = R == 1   ? 4
               : R == 4 ? 12
                        : 8 /* likewise columns */
    };

    /* Chunks have two rows of eight bytes; with R = 1 three rows of four, with R = 4 the last ones
     * four rows of the ninth byte. */
    static __device__ __forceinline__ bool is_column(int i)
    {
        return R == 1 || (R == 4 && i >= 5);
    }
    /* Where the word of chunk i of a plane is: from the place of the thread's first one of its
     * kind on. */
    static __device__ __forceinline__ int row(int i)
    {
        return is_column(i) ? R == 1 ? 0 : 4 * (i - 5) : 2 * i;
    }
    /* The bytes of a word that belong to the patch. */
    static __device__ __forceinline__ unsigned mask(int i, int t)
    {
        int y = row(i) + (is_column(i) ? t : t / 2);
        int x = is_column(i) ? R == 1 ? 0 : 8 : t % 2 * 4, count = min(2 * R + 1 - x, 4);
        return y > 2 * R ? 0 : count == 4 ? 0xffffffff : (1u << 8 * count) - 1;
    }
};

/* Where a thread reads words of the patch whose first byte is at a place of the tile. */
template <typename P> struct words {
    const unsigned *pairs, *column;

    __device__ __forceinline__ words(const unsigned *place, int t, int line)
        : pairs(place + t / 2 * line + t % 2 * 4), column(place + t * line + (P::R == 4 ? 8 : 0))
    {
    }
    __device__ __forceinline__ unsigned at(int chunk, int pitch, int line, int ahead) const
    {
        int plane = chunk / P::CHUNKS, i = chunk % P::CHUNKS;
        return (P::is_column(i) ? column : pairs)[plane * pitch + P::row(i) * line + ahead];
    }
};

/* ---- the tile: rows of planes, in each word four samples side by side. Then for each pixel of the
 * search windows what its patch brings into products, and its values as halves. */

template <typename P>
static __device__ __forceinline__ void stage_words(const struct args &a, const struct picture &f,
                                                   int x0, int y0, int columns, int rows,
                                                   unsigned *tile, int pitch)
{
    struct bounds b = needed(a);
    int units = (columns + 3) / 4;
    bool inside = x0 >= max(b.x0, 0) && x0 + 4 * units + 3 <= min(b.x1, a.w) &&
                  y0 >= max(b.y0, 0) && y0 + rows <= min(b.y1, a.h);
    for (int i = threadIdx.x / 16; i < rows * P::N; i += BLOCK / 16) {
        int y = y0 + i / P::N, c = i % P::N;
        const char *row = row_of(a, f, c, y);
        for (int u = threadIdx.x % 16; u < units; u += 16) {
            int x = x0 + 4 * u;
            unsigned v[7];
            if (inside) {
                const uint8_t *from = (const uint8_t *)row + (int64_t)x * a.pitch;
#pragma unroll
                for (int k = 0; k < 7; k++)
                    v[k] = from[k * a.pitch];
            } else {
#pragma unroll
                for (int k = 0; k < 7; k++)
                    v[k] = (unsigned)needed_sample(a, f, b, c, x + k, y);
            }
            uint4 q;
            q.x = (v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24) ^ 0x80808080;
            q.y = q.x >> 8 | (v[4] ^ 0x80) << 24;
            q.z = q.y >> 8 | (v[5] ^ 0x80) << 24;
            q.w = q.z >> 8 | (v[6] ^ 0x80) << 24;
            *(uint4 *)(tile + i * pitch + 4 * u) = q;
        }
    }
}

/* The sum of squares in a row of a patch. */
template <typename P>
static __device__ __forceinline__ int row_square(const unsigned *row, int pitch)
{
    int sum = 0;
#pragma unroll
    for (int c = 0; c < P::N; c++)
#pragma unroll
        for (int i = 0; 4 * i <= 2 * P::R; i++) {
            unsigned v = row[c * pitch + 4 * i];
            int left = 2 * P::R + 1 - 4 * i;
            sum = __dp4a((int)(left < 4 ? v & ((1u << 8 * (left & 3)) - 1) : v), (int)v, sum);
        }
    return sum;
}

template <typename P>
static __device__ __forceinline__ void make_norms(const struct args &a, const unsigned *tile,
                                                  int pitch, int *norms, uint16_t *values)
{
    const int line = P::N * pitch, width = a.search_pitch;
    for (int u = threadIdx.x; u < width * (a.band / SEGMENT); u += BLOCK) {
        int x = u % width, y = u / width * SEGMENT, sum = 0, square[SEGMENT + 2 * P::R];
        const unsigned *row = tile + y * line + x;
#pragma unroll
        for (int i = 0; i < SEGMENT + 2 * P::R; i++) {
            square[i] = row_square<P>(row + i * line, pitch);
            sum += square[i];
            if (i < 2 * P::R)
                continue;
            int j = i - 2 * P::R;
            norms[(y + j) * width + x] = TILE_BITS - (sum >> 1);
            sum -= square[j];
#pragma unroll
            for (int c = 0; c < P::N; c++)
                values[((y + j) * P::N + c) * width + x] =
                    half_bits((int8_t)row[(j + P::R) * line + c * pitch + P::R]);
        }
    }
}

/* ---- a warp's pixels */

template <typename P> struct pixels {
    unsigned patch[P::S][P::STEPS][4];
    float addend[P::S][2]; /* of exponents, for rows g and g + 8 of the matrix */
    float sum[P::S][4];    /* column 0: weights, then the values times weights */

    /* place: the first pixel's patch in the tile. */
    __device__ __forceinline__ void begin(const struct args &a, const unsigned *place, int pitch)
    {
        int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, line = P::N * pitch;
#pragma unroll
        for (int s = 0; s < P::S; s++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                words<P> own(place + (4 * s + 2 * h + g / 4) * line + g % 4, t, line);
                int norm = 0;
#pragma unroll
                for (int i = 0; i < 2 * P::STEPS; i++) {
                    unsigned v = 0;
                    if (i < P::N * P::CHUNKS)
                        v = own.at(i, pitch, line, 0) & P::mask(i % P::CHUNKS, t);
                    norm = __dp4a((int)v, (int)v, norm);
                    patch[s][i / 2][i % 2 * 2 + h] = v;
                }
                norm += __shfl_xor_sync(0xffffffff, norm, 1);
                norm += __shfl_xor_sync(0xffffffff, norm, 2);
                addend[s][h] = fmaf((float)norm, -a.scale, fmaf(-2 * TILE_FLOAT, a.scale, a.bias));
                sum[s][2 * h] = sum[s][2 * h + 1] = 0;
            }
    }
};

/* Some tiles of a row of the search windows, as operands. */
template <typename P, int TILES> struct operands {
    unsigned patch[TILES][P::STEPS][2], value[TILES];
    int start[TILES][4];
};

/* Weights of the pixels' set s. CLIPPED: some or all of its rows do not have this row in their
 * windows; row is this one's distance from the first one that the set's first row has. */
template <typename P, int TILES, bool CLIPPED>
static __device__ __forceinline__ void add_weights(const struct args &a, struct pixels<P> &p, int s,
                                                   const struct operands<P, TILES> &q, int row)
{
    float addend[2], scale = 2 * a.scale;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int from = row - 2 * h - (int)threadIdx.x % 32 / 16;
        bool has = !CLIPPED || (unsigned)from <= (unsigned)(2 * a.sy);
        addend[h] = has ? p.addend[s][h] : -INFINITY;
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        int d[4];
        unsigned weights[2] = {0, 0};
        multiply_bytes<P::STEPS>(d, p.patch[s], q.patch[i], q.start[i]);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (CLIPPED && (row - 2 * h < 0 || row - 2 * h - 1 > 2 * a.sy))
                continue;
            float w0 = tamis_rough_exp2(fmaf(__int_as_float(d[2 * h]), scale, addend[h]));
            float w1 = tamis_rough_exp2(fmaf(__int_as_float(d[2 * h + 1]), scale, addend[h]));
            weights[h] = at_most_one(halves(w0, w1));
        }
        add_product(p.sum[s], weights, q.value[i]);
    }
}

/* Rows first .. end - 1 of the search windows, which the tile has. */
template <typename P, int TILES, int PITCH>
static __device__ __forceinline__ void
walk_search(const struct args &a, struct pixels<P> &p, int sets, int first, int end,
            const unsigned *tile, const int *norms, const uint16_t *values)
{
    enum { COUNT = TILES ? TILES : 1 };
    const int pitch = PITCH ? PITCH : a.tile_pitch, line = P::N * pitch, width = a.search_pitch;
    const int tiles = TILES ? TILES : a.tiles;
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int column = (int)threadIdx.x / 32 * WARP_COLUMNS;
    unsigned mine = g >= 1 && g <= P::N ? 0xffffffff : 0, ones = g == 0 ? 0x3C003C00 : 0;
    words<P> patch(tile + column + g, t, line);
    const int *norm = norms + column + 2 * t;
    const uint16_t *value = values + (mine ? g - 1 : 0) * width + column + 2 * t;
    for (int row = first; row < end; row++) {
        for (int at = 0; at < tiles; at += COUNT) {
            struct operands<P, COUNT> q;
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                int ahead = (at + i) * TILE;
#pragma unroll
                for (int k = 0; k < 2 * P::STEPS; k++)
                    q.patch[i][k / 2][k % 2] =
                        k < P::N * P::CHUNKS ? patch.at(k, pitch, line, ahead) : 0;
                q.value[i] = (*(const unsigned *)(value + ahead) & mine) | ones;
                int2 start = *(const int2 *)(norm + ahead);
                /* From column g % 4 of the pixels. */
                int x = ahead + 2 * t - g % 4;
                q.start[i][0] = (unsigned)x <= (unsigned)(2 * a.sx) ? start.x : NEVER;
                q.start[i][1] = (unsigned)(x + 1) <= (unsigned)(2 * a.sx) ? start.y : NEVER;
                q.start[i][2] = q.start[i][0];
                q.start[i][3] = q.start[i][1];
            }
#pragma unroll
            for (int s = 0; s < P::S; s++) {
                int from = row - 4 * s;
                if (s >= sets || from < 0 || from - 3 > 2 * a.sy)
                    continue;
                if (from < 3 || from > 2 * a.sy)
                    add_weights<P, COUNT, true>(a, p, s, q, from);
                else
                    add_weights<P, COUNT, false>(a, p, s, q, from);
            }
        }
        patch.pairs += line;
        patch.column += line;
        norm += width;
        value += P::N * width;
    }
}

template <typename P>
static __device__ __forceinline__ void finish_pixels(const struct args &a,
                                                     const struct pixels<P> &p, int x0, int y0)
{
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, x = x0 + g % 4;
#pragma unroll
    for (int s = 0; s < P::S; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int y = y0 + 4 * s + 2 * h + g / 4;
            float weight = __shfl_sync(0xffffffff, p.sum[s][2 * h], lane & ~3);
            if (x < a.out.x || x >= a.out.x + a.out.w || y >= a.out.y + a.out.h)
                continue;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                int c = 2 * t + k - 1;
                float v = __fadd_rn(__fdiv_rn(p.sum[s][2 * h + k], weight), 128);
                if (c >= 0 && c < P::N)
                    tamis_row<uint8_t>(a.out, c, y)[(int64_t)x * a.out.pitch] =
                        tamis_sample<uint8_t>::of(v);
            }
        }
}

/* TILES, PITCH: of search windows of common widths, else 0. */
template <typename P, int TILES, int PITCH>
__global__ void __launch_bounds__(BLOCK, 2) products(const struct args a)
{
    TAMIS_SHARED_BYTES(shared);
    const int pitch = PITCH ? PITCH : a.tile_pitch, line = P::N * pitch;
    const int columns = BLOCK_COLUMNS + 2 * (a.sx + P::R), rows = P::ROWS + 2 * a.sy;
    unsigned *tile = (unsigned *)shared;
    int *norms = (int *)(tile + (a.band + P::BELOW) * line);
    uint16_t *values = (uint16_t *)(norms + a.band * a.search_pitch);
    int x0 = a.first + (int)(blockIdx.x % a.strips) * BLOCK_COLUMNS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * P::ROWS;
    int left = x0 + a.shift_x - a.sx - P::R, top = y0 + a.shift_y - a.sy - P::R;
    int column = (int)threadIdx.x / 32 * WARP_COLUMNS;
    int sets = (a.out.y + a.out.h - y0 + 3) / 4;
    struct pixels<P> p;
    bool whole = a.band >= rows;
    if (!whole) {
        stage_words<P>(a, a.frame[0], left, top + a.sy, columns, P::ROWS + 2 * P::R, tile, pitch);
        __syncthreads();
        p.begin(a, tile + column + a.sx, pitch);
    }
    for (int f = 0; f < a.frames; f++)
        for (int first = 0; first < rows; first += a.band) {
            int end = min(first + a.band, rows);
            __syncthreads();
            stage_words<P>(a, a.frame[f], left, top + first, columns, end - first + 2 * P::R, tile,
                           pitch);
            __syncthreads();
            if (whole && f == 0)
                p.begin(a, tile + a.sy * line + column + a.sx, pitch);
            make_norms<P>(a, tile, pitch, norms, values);
            __syncthreads();
            walk_search<P, TILES, PITCH>(a, p, sets, first, end, tile, norms, values);
        }
    finish_pixels<P>(a, p, x0 + column, y0);
}

} // namespace

#endif
