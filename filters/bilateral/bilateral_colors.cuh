/* SPDX-License-Identifier: Apache-2.0 */
/* The device kernel of the bilateral filter for small windows of three colors of 8 bits.
 *
 * As bilateral_pairs.cuh, each weight serves both pixels of a pair, but a thread has columns of two
 * strips side by side, one in either half of its words, so that one instruction serves both. All
 * sums of a row of a window are binary16 and added up by themselves, so that what is rounded is
 * small. */
#ifndef TAMIS_BILATERAL_COLORS_CUH
#define TAMIS_BILATERAL_COLORS_CUH

#include "bilateral_halves.cuh"
#include "bilateral_pairs.cuh"

namespace
{

template <int R_, int WARPS_> struct color_shape {
    enum {
        R = R_,
        W = 4,          /* columns of a thread in a strip */
        WARPS = WARPS_, /* of a block, at most */
        STRIP = W * WARP,
        COLUMNS = 2 * STRIP, /* of a warp */
        READ = (W + 2 * R + 3) / 4 * 4,
        EXTRA = (READ - W) / 4, /* threads whose columns are behind the strip, too */
        PITCH = STRIP + READ - W,
        LINE = 3 * PITCH,
        ROWS = R + 2,
        RING = ROWS * LINE,   /* words of a warp */
        SPAN = STRIP + PITCH, /* columns that it reads */
        BYTES = (RING + SPAN) * 4
    };
};

struct color_args : pair_args {
    bool packed_in, packed_out; /* colors side by side; of the result, in whole words */
    uint8_t outside[3];         /* the border's value */
    unsigned range;             /* twice minus 256 times bilateral_coef.log2_range */
    unsigned space[(NEAR + 1) * (NEAR + 1)]; /* twice the exponent at dy * (NEAR + 1) + |dx| */
};

/* A row of both strips on its way from the image to shared memory: of a thread's columns in the
 * first, in the second and behind it the bytes of four pixels, colors side by side. */
template <typename S> struct color_carried {
    unsigned word[3][4], shift;

    /* Of the image's row `at`; below 0 all are the border's value. columns: see strip_columns().
     * together: all that is read lies in the row, packed. */
    __device__ __forceinline__ void load(const struct color_args &a, const int *columns,
                                         bool together, int left, int at)
    {
        int lane = threadIdx.x % WARP;
        if (together && at >= 0) {
            const char *row = tamis_picture(a.src.data[0], a.src.next) + at * a.src.stride[0];
            const char *from = row + (left + lane * S::W) * (int64_t)3;
            unsigned odd = (unsigned)(uintptr_t)from % 4;
            const unsigned *words = (const unsigned *)(from - odd);
            shift = odd * 8;
#pragma unroll
            for (int s = 0; s < 3; s++)
                if (s < 2 || lane < S::EXTRA)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        word[s][i] = words[s * S::STRIP * 3 / 4 + i];
            return;
        }
        shift = 0;
#pragma unroll
        for (int s = 0; s < 3; s++)
            if (s < 2 || lane < S::EXTRA)
                gather(a, word[s], columns + s * S::STRIP + lane * S::W, at);
    }
    static __device__ __forceinline__ void gather(const struct color_args &a, unsigned *word,
                                                  const int *columns, int at)
    {
        word[0] = word[1] = word[2] = 0;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const char *row = tamis_picture(a.src.data[c], a.src.next) + at * a.src.stride[c];
#pragma unroll
            for (int i = 0; i < S::W; i++) {
                int k = 3 * i + c, column = columns[i];
                unsigned v = at < 0 || column < 0
                                 ? a.outside[c]
                                 : ((const uint8_t *)row)[(int64_t)column * a.src.pitch];
                word[k / 4] |= v << k % 4 * 8;
            }
        }
    }

    __device__ __forceinline__ void store(unsigned *row)
    {
        int lane = threadIdx.x % WARP;
#pragma unroll
        for (int s = 0; s < 3; s++)
#pragma unroll
            for (int i = 0; i < 3; i++)
                word[s][i] = __funnelshift_r(word[s][i], word[s][i + 1], shift);
        put(row + lane * S::W, word[0], word[1]);
        if (lane < S::EXTRA)
            put(row + S::STRIP + lane * S::W, word[1], word[2]);
    }

    static __device__ __forceinline__ void put(unsigned *row, const unsigned *first,
                                               const unsigned *second)
    {
#pragma unroll
        for (int c = 0; c < 3; c++)
            *(uint4 *)(row + c * S::PITCH) =
                make_uint4(both(first, second, c), both(first, second, 3 + c),
                           both(first, second, 6 + c), both(first, second, 9 + c));
    }

    /* Bytes k, in units of 16 levels. */
    static __device__ __forceinline__ unsigned both(const unsigned *first, const unsigned *second,
                                                    int k)
    {
        unsigned bytes =
            __byte_perm(first[k / 4], second[k / 4], (unsigned)(k % 4 * 0x101 + 0x400));
        return of_bytes(bytes);
    }
    /* By way of the bits of 1024 + v, and 64 + v / 16. */
    static __device__ __forceinline__ unsigned of_bytes(unsigned bytes)
    {
        return fma_halves((bytes & 0x00FF00FF) | 0x64006400, 0x2C002C00, 0xD400D400);
    }
};

template <typename S> struct color_seen {
    unsigned v[3][S::READ];

    __device__ __forceinline__ color_seen(const unsigned *row)
    {
        const unsigned *from = row + threadIdx.x % WARP * S::W;
#pragma unroll
        for (int c = 0; c < 3; c++)
#pragma unroll
            for (int i = 0; i < S::READ; i += 4) {
                uint4 q = *(const uint4 *)(from + c * S::PITCH + i);
                v[c][i] = q.x;
                v[c][i + 1] = q.y;
                v[c][i + 2] = q.z;
                v[c][i + 3] = q.w;
            }
    }
};

/* Sums of weights times differences from the pixel, and of weights. */
template <typename S> struct color_sums {
    unsigned delta[S::W][3], weight[S::W];

    __device__ __forceinline__ void begin(unsigned one)
    {
#pragma unroll
        for (int c = 0; c < S::W; c++) {
            weight[c] = one;
            delta[c][0] = delta[c][1] = delta[c][2] = 0;
        }
    }
    __device__ __forceinline__ void add(int c, unsigned w, const unsigned *d, bool minus)
    {
        weight[c] = add_halves(weight[c], w);
        if (minus)
            w = minus_halves(w);
#pragma unroll
        for (int p = 0; p < 3; p++)
            delta[c][p] = fma_halves(w, d[p], delta[c][p]);
    }
    __device__ __forceinline__ void add(const color_sums &other)
    {
#pragma unroll
        for (int c = 0; c < S::W; c++) {
            weight[c] = add_halves(weight[c], other.weight[c]);
#pragma unroll
            for (int p = 0; p < 3; p++)
                delta[c][p] = add_halves(delta[c][p], other.delta[c][p]);
        }
    }
};

enum { HALF_ONES = 0x3C003C00 };

/* All pairs of pixels of row p and of row q, dy rows below. The sums of the row R below begin here,
 * with the pixel itself, which has the weight 1. */
template <typename S>
static __device__ __forceinline__ void color_rows(const struct color_args &a,
                                                  const color_seen<S> &p, const color_seen<S> &q,
                                                  int dy, color_sums<S> &of_p, color_sums<S> &of_q)
{
    const int R = S::R, W = S::W;
    color_sums<S> sum_p, sum_q;
    sum_p.begin(0);
    sum_q.begin(dy == R ? HALF_ONES : 0);
#pragma unroll
    for (int i = 0; i < W + 2 * R; i++)
#pragma unroll
        for (int j = 0; j < W + 2 * R; j++) {
            int dx = j - i;
            bool p_mine = i >= R && i < R + W, q_mine = j >= R && j < R + W;
            if (dx > R || dx < (dy ? -R : 1) || (!p_mine && !q_mine))
                continue;
            unsigned d[3], t = 0;
#pragma unroll
            for (int c = 0; c < 3; c++) {
                d[c] = subtract_halves(q.v[c][j], p.v[c][i]);
                t = c ? fma_halves(d[c], d[c], t) : multiply_halves(d[c], d[c]);
            }
            unsigned w = power_halves(
                fma_halves(t, a.range, a.space[dy * (NEAR + 1) + (dx < 0 ? -dx : dx)]));
            if (p_mine)
                sum_p.add(i - R, w, d, false);
            if (q_mine)
                (dy ? sum_q : sum_p).add(j - R, w, d, true);
        }
    of_p.add(sum_p);
    if (dy == R)
        of_q = sum_q;
    else if (dy)
        of_q.add(sum_q);
}

/* The results of a strip, which begins at x0. */
template <typename S>
static __device__ __forceinline__ void store_strip(const struct color_args &a,
                                                   const color_seen<S> &own, const color_sums<S> &s,
                                                   int half, int x0, int y)
{
    unsigned v[S::W * 3];
    int x = x0 + (int)threadIdx.x % WARP * S::W, end = a.out.x + a.out.w;
#pragma unroll
    for (int c = 0; c < S::W; c++) {
        float scale = tamis_rough_reciprocal(half_at(s.weight[c], half));
#pragma unroll
        for (int p = 0; p < 3; p++) {
            float mean =
                fmaf(half_at(s.delta[c][p], half), scale, half_at(own.v[p][S::R + c], half));
            v[3 * c + p] = __float_as_uint(fmaf(mean, 16, 8388608.f)); /* the bits of 2^23 + v */
        }
    }
    if (a.packed_out && x + S::W <= end) {
        unsigned *to = (unsigned *)(tamis_row<uint8_t>(a.out, 0, y) + (int64_t)x * 3);
#pragma unroll
        for (int i = 0; i < 3; i++)
            to[i] = __byte_perm(__byte_perm(v[4 * i], v[4 * i + 1], 0x0040),
                                __byte_perm(v[4 * i + 2], v[4 * i + 3], 0x0040), 0x5410);
        return;
    }
#pragma unroll
    for (int p = 0; p < 3; p++) {
        uint8_t *to = tamis_row<uint8_t>(a.out, p, y) + (int64_t)x * a.out.pitch;
#pragma unroll
        for (int c = 0; c < S::W; c++)
            if (x + c < end)
                to[c * a.out.pitch] = (uint8_t)v[3 * c + p];
    }
}

template <typename S>
__global__ void __launch_bounds__(S::WARPS *WARP, 1) by_colors(const struct color_args a)
{
    TAMIS_SHARED_BYTES(shared);
    const struct pair_strip strip(a, S::COLUMNS, S::R);
    unsigned *ring = (unsigned *)(shared + threadIdx.x / WARP * S::BYTES);
    int *columns = (int *)(ring + S::RING);
    /* Words may hold four bytes more. */
    bool together = a.packed_in && strip.left >= 0 && strip.left + S::SPAN + 1 < a.w;
    color_carried<S> next = {};
    color_sums<S> s[S::R + 1]; /* of rows y .. y + R */
    strip_columns<S>(a, strip, columns);
    for (int r = 0; r <= S::R && strip.any; r++) {
        next.load(a, columns, together, strip.left, tamis_index(a.border, strip.top + r, a.h));
        next.store(ring + r * S::LINE);
    }
#pragma unroll
    for (int r = 0; r <= S::R; r++)
        s[r].begin(HALF_ONES);
    int slot = 0; /* of row y */
    for (int i = 0; i < a.rows + S::R; i++) {
        int y = strip.y0 - S::R + i;
        __syncthreads(); /* so that warps run through the same instructions together, too */
        if (y >= strip.y1)
            continue;
        unsigned *free = ring + (slot ? slot - 1 : S::ROWS - 1) * S::LINE;
        bool more = y + 1 < strip.y1;
        if (more)
            next.load(a, columns, together, strip.left,
                      tamis_index(a.border, y + a.shift_y + S::R + 1, a.h));
        color_seen<S> p(ring + slot * S::LINE);
        color_rows<S>(a, p, p, 0, s[0], s[0]);
#pragma unroll
        for (int dy = 1; dy <= S::R; dy++) {
            int at = slot + dy < S::ROWS ? slot + dy : slot + dy - S::ROWS;
            color_seen<S> q(ring + at * S::LINE);
            color_rows<S>(a, p, q, dy, s[0], s[dy]);
        }
        if (y >= strip.y0) {
            store_strip<S>(a, p, s[0], 0, strip.x0, y);
            store_strip<S>(a, p, s[0], 1, strip.x0 + S::STRIP, y);
        }
#pragma unroll
        for (int r = 0; r < S::R; r++)
            s[r] = s[r + 1];
        if (more)
            next.store(free);
        slot = slot + 1 < S::ROWS ? slot + 1 : 0;
    }
}

} // namespace

#endif
