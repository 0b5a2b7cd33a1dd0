/* SPDX-License-Identifier: Apache-2.0 */
/* What products of patches are made from, in shared memory.
 *
 * An entry has 16 bytes of a plane: eight beside each other in a row and in the next one. For each
 * place that a patch may begin at there is one, so that the patch is some of them, chunks. */
#ifndef TAMIS_NLMEANS_ENTRIES_CUH
#define TAMIS_NLMEANS_ENTRIES_CUH

#include "nlmeans_matrix.cuh"

namespace
{

enum {
    TILE = 8,               /* columns of the search window that are a matrix */
    TILE_BITS = 0x4B600000, /* 1.75 * 2^23 as a float */
    WEIGHT_OCTAVES = 30
};
#define TILE_FLOAT 14680064.f

/* How sums y = 1 + x / 30 become weights 2^(15 + x), as halves: 0 where x is less than -30, and
 * where a pixel is outside of the window. 30 y, added to 2^13, has its last ten binary places in
 * the lower half of the float's bits. As a half, these are right where x is an integer, and on a
 * straight line in between. The same half an octave on, times the root of 1/2, is right at halves:
 * the sum of both is 2 at any of them, and up to 1.5 % too much in between. */
struct choice {
    unsigned bytes, step; /* for __byte_perm(), half an octave */

    static __device__ __forceinline__ struct choice none()
    {
        return {0x2222, 0};
    }
    __device__ __forceinline__ void choose(const struct args &a, int tile, int row)
    {
        int lane = threadIdx.x % 32, x = tile * TILE + lane % 4 * 2 - lane / 4 % 4;
        bool has = (unsigned)row <= (unsigned)(2 * a.sy);
        bool first = has && (unsigned)x <= (unsigned)(2 * a.sx);
        bool second = has && (unsigned)(x + 1) <= (unsigned)(2 * a.sx);
        bytes = (first ? 0x10 : 0x22) | (second ? 0x5400 : 0x2200);
        step = (first ? 0x200 : 0) | (second ? 0x2000000 : 0);
    }
    __device__ __forceinline__ unsigned weights(float y0, float y1) const
    {
        float w0 = fmaf(__saturatef(y0), WEIGHT_OCTAVES, 8192);
        float w1 = fmaf(__saturatef(y1), WEIGHT_OCTAVES, 8192);
        return __byte_perm((unsigned)__float_as_int(w0), (unsigned)__float_as_int(w1), bytes);
    }
};

/* Patches of N planes and radius R; a warp has S sets of four columns, each eight from the next,
 * and four rows; the warp beside it those in between. */
template <int R_, int N_, int S_> struct patches {
    enum {
        R = R_,
        N = N_,
        S = S_,
        WARPS = 8,
        BLOCK = 32 * WARPS,
        ACROSS = 8 * S, /* columns and rows of a block */
        ROWS = 4 * (WARPS / 2),
        CHUNKS = R == 4 ? 6 : R + 1, /* of a plane */
        STEPS = (N * CHUNKS + 1) / 2,
        QUADS = (N * CHUNKS + 3) / 4, /* chunks are loaded by fours */
        SEGMENT = N == 1 ? 12 : 6     /* rows whose norms a thread makes one from the other */
    };

    /* Of the warp in the block. */
    static __device__ __forceinline__ int column()
    {
        return (int)threadIdx.x / 32 % 2 * 4;
    }
    static __device__ __forceinline__ int row()
    {
        return (int)threadIdx.x / 64 * 4;
    }
    /* With R = 4 the last chunk of a plane is the ninth column, and its entries lie by themselves.
     */
    static __device__ __forceinline__ bool is_column(int i)
    {
        return R == 4 && i == 5;
    }
    /* How many entries on the one of a chunk is; columns: the place of those of ninth columns. */
    static __device__ __forceinline__ int offset(int chunk, int width, int columns)
    {
        int c = chunk / CHUNKS, i = chunk % CHUNKS;
        return is_column(i) ? columns + c * width : (2 * i * N + c) * width;
    }
    /* Of the entry whose address a lane has for the chunks of quad k. */
    static __device__ __forceinline__ int lane_offset(int k, int width, int columns)
    {
        int lane = threadIdx.x % 32, chunk = 4 * k + lane / 8;
        return offset(chunk < N * CHUNKS ? chunk : 0, width, columns) + lane % 8;
    }
    /* The bytes of word t of an entry that belong to the patch. */
    static __device__ __forceinline__ unsigned mask(int i, int t)
    {
        if (is_column(i))
            return t < 2 ? 0xffffffff : t == 2 ? 0xff : 0;
        int y = 2 * i + t / 2, count = min(2 * R + 1 - t % 2 * 4, 4);
        return y > 2 * R || count <= 0 ? 0 : count == 4 ? 0xffffffff : (1u << 8 * count) - 1;
    }

    /* Of eight patches that begin beside each other, a word of each chunk. */
    static __device__ __forceinline__ void load(unsigned (&to)[2 * QUADS][2], const uint4 *entry,
                                                const int (&lane_offset)[QUADS], int width,
                                                int columns)
    {
#ifdef TAMIS_EMULATE
        int lane = threadIdx.x % 32;
        (void)lane_offset;
        for (int i = 0; i < N * CHUNKS; i++) {
            const uint4 *from = entry + offset(i, width, columns) + lane / 4;
            to[i / 2][i % 2] = ((const unsigned *)from)[lane % 4];
        }
#else
        (void)width, (void)columns;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            unsigned from = (unsigned)__cvta_generic_to_shared(entry + lane_offset[k]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(to[2 * k][0]), "=r"(to[2 * k][1]), "=r"(to[2 * k + 1][0]),
                           "=r"(to[2 * k + 1][1])
                         : "r"(from)
                         : "memory");
        }
#endif
    }
};

/* Where what is in shared memory; rows of the search windows are a.band at a time. */
template <typename P> struct space {
    int width, columns; /* places in a row; the first entry of ninth columns */
    int raw_width;      /* words in a row of bytes */
    uint4 *entries;
    uint2 *values;    /* of two places, as halves, and times the root of 1/2 */
    uint2 *constants; /* a row of ones, and one of zeros */
    float *norms;     /* parts of exponents */
    unsigned *raw;    /* rows of bytes */

    static __host__ __device__ __forceinline__ size_t bytes(int band, int width)
    {
        size_t rows = (size_t)(band + 2 * P::R) * P::N;
        size_t entries = (rows + (P::R == 4 ? band * P::N : 0)) * width * sizeof(uint4);
        return entries + ((size_t)band * P::N + 2) * (width / 2) * sizeof(uint2) +
               (size_t)band * width * sizeof(float) + rows * (width + 8);
    }
    __device__ __forceinline__ space(const struct args &a, unsigned char *shared, int w)
    {
        int rows = (a.band + 2 * P::R) * P::N;
        width = w;
        columns = rows * width;
        raw_width = width / 4 + 2;
        entries = (uint4 *)shared;
        values = (uint2 *)(entries + columns + (P::R == 4 ? a.band * P::N * width : 0));
        constants = values + a.band * P::N * (width / 2);
        norms = (float *)(constants + width);
        raw = (unsigned *)(norms + a.band * width);
    }
    __device__ __forceinline__ void fill_constants()
    {
        for (int i = threadIdx.x; i < width; i += P::BLOCK)
            constants[i] = i < width / 2 ? make_uint2(tamis_halves(1, 1), tamis_halves(ROOT, ROOT))
                                         : make_uint2(0, 0);
    }

    __device__ __forceinline__ void fill_raw(const struct args &a, const struct picture &f, int x0,
                                             int y0, int rows)
    {
        struct bounds b = needed(a);
        bool inside = x0 >= max(b.x0, 0) && x0 + 4 * raw_width <= min(b.x1, a.w) &&
                      y0 >= max(b.y0, 0) && y0 + rows <= min(b.y1, a.h);
        for (int i = threadIdx.x / 16; i < rows * P::N; i += P::BLOCK / 16) {
            int y = y0 + i / P::N, c = i % P::N;
            const char *row = row_of(a, f, c, y);
            for (int u = threadIdx.x % 16; u < raw_width; u += 16) {
                int x = x0 + 4 * u;
                unsigned v[4];
                if (inside) {
                    const uint8_t *from = (const uint8_t *)row + (int64_t)x * a.pitch;
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        v[k] = from[k * a.pitch];
                } else {
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        v[k] = (unsigned)needed_sample(a, f, b, c, x + k, y);
                }
                raw[i * raw_width + u] = (v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24) ^ 0x80808080;
            }
        }
    }

    __device__ __forceinline__ void put_value(int place, int x, unsigned byte)
    {
        uint16_t *to = (uint16_t *)(values + place * (width / 2) + x / 2) + x % 2;
        float v = (float)(int8_t)byte;
        to[0] = (uint16_t)tamis_half_bits(v);
        to[2] = (uint16_t)tamis_half_bits(__fmul_rn(v, ROOT));
    }

    /* Entries, norms and values of a column from row y on. LAST: with the rows that only patches
     * have. */
    __device__ __forceinline__ void fill_segment(const struct args &a, int x, int y, bool last)
    {
        enum { COUNT = P::SEGMENT + 2 * P::R };
        int sum = 0, square[COUNT];
        float start = fmaf(-2 * TILE_FLOAT, a.scale, a.bias);
        uint2 above[P::N] = {};
        unsigned column[P::N][COUNT] = {};
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            square[i] = 0;
#pragma unroll
            for (int c = 0; c < P::N; c++) {
                int place = (y + i) * P::N + c, shift = x % 4 * 8;
                const unsigned *from = raw + place * raw_width + x / 4;
                uint2 v;
                v.x = __funnelshift_r(from[0], from[1], shift);
                v.y = __funnelshift_r(from[1], from[2], shift);
                square[i] = __dp4a((int)(v.x & P::mask(0, 0)), (int)v.x, square[i]);
                square[i] = __dp4a((int)(v.y & P::mask(0, 1)), (int)v.y, square[i]);
                if (i > 0 && (i <= P::SEGMENT || last))
                    entries[(place - P::N) * width + x] =
                        make_uint4(above[c].x, above[c].y, v.x, v.y);
                if (i == COUNT - 1 && last)
                    entries[place * width + x] = make_uint4(v.x, v.y, 0, 0);
                above[c] = v;
                if (i >= P::R && i < P::R + P::SEGMENT)
                    put_value(place - P::R * P::N, x, P::R < 4 ? v.x >> P::R % 4 * 8 : v.y);
                if (P::R == 4) {
                    unsigned byte = from[2] >> shift & 0xff;
                    int signed_byte = (int8_t)byte;
                    square[i] += signed_byte * signed_byte;
                    column[c][i] = byte << 24 | (i ? column[c][i ? i - 1 : 0] >> 8 : 0);
                    if (i >= 8)
                        entries[columns + (place - 8 * P::N) * width + x] = make_uint4(
                            column[c][i >= 5 ? i - 5 : 0], column[c][i ? i - 1 : 0], byte, 0);
                }
            }
            sum += square[i];
            int j = i - 2 * P::R;
            if (j < 0)
                continue;
            norms[(y + j) * width + x] =
                fmaf(fmaf((float)sum, -a.scale, start), 1.f / WEIGHT_OCTAVES, 1);
            sum -= square[j < 0 ? 0 : j];
        }
    }

    /* The rows of the search windows from y0 on, rows of them. */
    __device__ __forceinline__ void fill(const struct args &a, const struct picture &f, int x0,
                                         int y0, int rows)
    {
        fill_raw(a, f, x0, y0, rows + 2 * P::R);
        __syncthreads();
        int segments = (rows + P::SEGMENT - 1) / P::SEGMENT;
        for (int u = threadIdx.x; u < width * segments; u += P::BLOCK)
            fill_segment(a, u % width, u / width * P::SEGMENT, u / width == segments - 1);
    }
};

} // namespace

#endif
