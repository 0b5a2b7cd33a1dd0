/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of non-local means for small search windows and patches of 8 bit, of one plane or of
 * two that share a weight, as the chroma of videos does.
 *
 * A thread has four columns of a strip of rows and keeps their sums in registers. For one offset at
 * a time it walks down the strip: the differences of the bytes that its patches have in a row, the
 * sums of their squares for each of the four, with those of the rows above, the weights. */
#ifndef TAMIS_NLMEANS_BYTES_CUH
#define TAMIS_NLMEANS_BYTES_CUH

#include "nlmeans_device.cuh"

namespace
{

enum {
    BYTES_WARPS = 4,
    BYTES_THREADS = 32 * BYTES_WARPS,
    BYTES_COLUMNS = 128,
    BYTES_SEARCH = 3 /* radius at most */
};

/* Patches of N planes and radius R; a warp has H rows. ALONE: there are no frames but the current
 * one. LARGE: sums of squares may be more than 2^23, and lose their last bit. */
template <int R_, int N_, bool ALONE_> struct near {
    enum {
        R = R_,
        N = N_,
        ALONE = ALONE_,
        LARGE = N * (2 * R + 1) * (2 * R + 1) * 255 * 255 >= 1 << 23,
        H = N > 1   ? 8
            : R < 3 ? 14
                    : 12,
        WORDS = (2 * R + 4 + 3) / 4, /* that four patches have in a row */
        ROWS = H * BYTES_WARPS,      /* of a block */
        OWN_PITCH = BYTES_COLUMNS / 4 + WORDS - 1,
        PITCH = OWN_PITCH + (2 * BYTES_SEARCH + R) / 4 + 1, /* of a copy of a row */
        LINE = 4 * PITCH,
        OWN_LINE = ALONE ? LINE : OWN_PITCH
    };
};

/* ---- tiles: rows of four copies, each a byte further, so that words may begin anywhere */

/* Of plane p. COPIES: 4, or 1. */
template <int WORDS, int COPIES>
static __device__ __forceinline__ void stage_plane(const struct args &a, const struct picture &f,
                                                   int p, int x0, int y0, int rows, unsigned *tile)
{
    struct bounds b = needed(a);
    int skew = x0 & 3, begin = x0 - skew, count = rows * WORDS;
    const char *corner = row_of(a, f, p, y0) + begin;
    bool whole = begin >= max(b.x0, 0) && begin + 4 * WORDS + 8 <= min(b.x1, a.w) &&
                 y0 >= max(b.y0, 0) && y0 + rows <= min(b.y1, a.h) && a.pitch == 1 &&
                 ((uintptr_t)corner | f.stride[p]) % 4 == 0;
#pragma unroll 5
    for (int i = threadIdx.x; i < count; i += BYTES_THREADS) {
        int r = i / WORDS, u = i % WORDS;
        unsigned q, next;
        if (whole) {
            const unsigned *from = (const unsigned *)(corner + r * f.stride[p]) + u;
            unsigned w0 = from[0], w1 = from[1], w2 = COPIES > 1 ? from[2] : 0;
            q = __funnelshift_r(w0, w1, 8 * skew);
            next = __funnelshift_r(w1, w2, 8 * skew);
        } else {
            int x = x0 + 4 * u, y = y0 + r;
            q = next = 0;
            for (int k = 0; k < 3 + COPIES; k++) {
                unsigned v = (unsigned)needed_sample(a, f, b, p, x + k, y);
                if (k < 4)
                    q |= v << 8 * k;
                else
                    next |= v << 8 * (k - 4);
            }
        }
        unsigned *to = tile + r * COPIES * WORDS + u;
        to[0] = q;
#pragma unroll
        for (int k = 1; k < COPIES; k++)
            to[k * WORDS] = __funnelshift_r(q, next, 8 * k);
    }
}

/* All planes, one behind the other. */
template <int N, int WORDS, int COPIES>
static __device__ __forceinline__ void stage_bytes(const struct args &a, const struct picture &f,
                                                   int x0, int y0, int rows, unsigned *tile)
{
#pragma unroll
    for (int p = 0; p < N; p++)
        stage_plane<WORDS, COPIES>(a, f, p, x0, y0, rows, tile + p * rows * COPIES * WORDS);
}

/* ---- sums of squares: of differences d, side by side, those of 2 R + 1 from each of the first
 * four on */

template <int R> struct row_sums;

static __device__ __forceinline__ unsigned squares(unsigned d, unsigned sum)
{
    return __dp4a(d, d, sum);
}

template <> struct row_sums<1> {
    static __device__ __forceinline__ void of(const unsigned *d, unsigned *s)
    {
        unsigned m = __byte_perm(d[0], d[1], 0x5432);
        s[0] = squares(d[0] & 0xffffff, 0);
        s[1] = squares(d[0] & 0xffffff00, 0);
        s[2] = squares(m & 0xffffff, 0);
        s[3] = squares(m & 0xffffff00, 0);
    }
};
template <> struct row_sums<2> {
    static __device__ __forceinline__ void of(const unsigned *d, unsigned *s)
    {
        unsigned all = squares(d[1] & 0xff, 0);
        s[0] = squares(d[0], all);
        s[1] = squares(__byte_perm(d[0], d[1], 0x5321), all);
        s[2] = squares(__byte_perm(d[0], d[1], 0x6532), all);
        s[3] = squares(__byte_perm(d[0], d[1], 0x7653), all);
    }
};
template <> struct row_sums<3> {
    static __device__ __forceinline__ void of(const unsigned *d, unsigned *s)
    {
        unsigned all = squares(__byte_perm(d[0], d[1], 0x6543), 0);
        unsigned last = __byte_perm(d[1], d[2] & 0xffff, 0x6543); /* the fourth byte is 0 */
        s[0] = squares(d[0] & 0xffffff, all);
        s[1] = squares(__byte_perm(d[0], last, 0x7421), all);
        s[2] = squares(__byte_perm(d[0], last, 0x7542), all);
        s[3] = squares(last, all);
    }
};
template <> struct row_sums<4> {
    static __device__ __forceinline__ void of(const unsigned *d, unsigned *s)
    {
        unsigned all = squares(d[2] & 0xff, squares(d[1], 0));
        s[0] = squares(d[0], all);
        s[1] = squares(__byte_perm(d[0], d[2], 0x5321), all);
        s[2] = squares(__byte_perm(d[0], d[2], 0x6532), all);
        s[3] = squares(__byte_perm(d[0], d[2], 0x7653), all);
    }
};

/* ---- walking */

#define SQUARES_BITS                                                                               \
    0x4B000000u                /* 2^23 as a float; whose bits plus a sum are the float plus it     \
                                */
#define VALUE_BITS 0x47000000u /* 2^15, likewise with a byte in bits 8 .. 15 */

template <typename P> struct strip_sums {
    float weight[P::H][4], value[P::N][P::H][4]; /* value: times 2^15 + the sample */

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int y = 0; y < P::H; y++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                weight[y][c] = 0;
#pragma unroll
                for (int p = 0; p < P::N; p++)
                    value[p][y][c] = 0;
            }
    }
};

/* The float that is 2^23 more than the sum, whose bits are that much more; with LARGE 2^24. */
template <typename P> static __device__ __forceinline__ float float_of(unsigned sum)
{
    return __int_as_float((int)(P::LARGE ? (sum >> 1) + SQUARES_BITS + (1u << 23) : sum));
}

/* The sums of the squares of a row of all planes. */
template <typename P>
static __device__ __forceinline__ void row_of_squares(const unsigned *own, int own_plane,
                                                      const unsigned *other, int plane,
                                                      unsigned (&s)[4])
{
#pragma unroll
    for (int p = 0; p < P::N; p++) {
        unsigned d[P::WORDS], more[4];
#pragma unroll
        for (int k = 0; k < P::WORDS; k++)
            d[k] = __vabsdiffu4(own[p * own_plane + k], other[p * plane + k]);
        row_sums<P::R>::of(d, more);
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[c] = p ? s[c] + more[c] : more[c];
    }
}

/* One offset: own are the patches' words from their first row on, other those they are compared
 * with, center the latter's pixels; planes are so many words apart. */
template <typename P>
static __device__ __forceinline__ void
walk_bytes(struct strip_sums<P> &sums, const unsigned *own, int own_plane, const unsigned *other,
           const unsigned *center, int plane, float scale, float addend, unsigned value_bits)
{
    enum { COUNT = 2 * P::R + 1 };
    unsigned kept[COUNT][4], sum[4];
#pragma unroll
    for (int j = 0; j < P::H + 2 * P::R; j++) {
        unsigned s[4];
        row_of_squares<P>(own + j * P::OWN_LINE, own_plane, other + j * P::LINE, plane, s);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            unsigned start = P::LARGE ? 0 : SQUARES_BITS;
            sum[c] = (j ? sum[c] : start) + s[c] - (j < COUNT ? 0 : kept[j % COUNT][c]);
            kept[j % COUNT][c] = s[c];
        }
        if (j < 2 * P::R)
            continue;
        int y = j - 2 * P::R;
        unsigned values[P::N];
#pragma unroll
        for (int p = 0; p < P::N; p++)
            values[p] = center[p * plane + y * P::LINE];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float w = tamis_rough_exp2(fmaf(float_of<P>(sum[c]), -scale, addend));
            sums.weight[y][c] = __fadd_rn(sums.weight[y][c], w);
#pragma unroll
            for (int p = 0; p < P::N; p++) {
                unsigned v = __byte_perm(values[p], value_bits, 0x7404 | c << 4);
                sums.value[p][y][c] = fmaf(w, __int_as_float((int)v), sums.value[p][y][c]);
            }
        }
    }
}

/* Plane p. */
template <typename P>
static __device__ __forceinline__ void
finish_plane(const struct args &a, const struct strip_sums<P> &sums, int p, int x, int y0)
{
    bool all = a.out.pitch == 1 && x >= a.out.x && x + 4 <= a.out.x + a.out.w;
#pragma unroll
    for (int r = 0; r < P::H; r++) {
        if (y0 + r >= a.out.y + a.out.h)
            return;
        uint8_t *to = tamis_row<uint8_t>(a.out, p, y0 + r) + (int64_t)x * a.out.pitch;
        unsigned word = 0;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float mean = __fdiv_rn(sums.value[p][r][c], sums.weight[r][c]);
            word |= (unsigned)tamis_sample<uint8_t>::of(__fsub_rn(mean, 32768)) << 8 * c;
        }
        if (all && (uintptr_t)to % 4 == 0)
            *(unsigned *)to = word;
        else
            for (int c = 0; c < 4; c++)
                if (x + c >= a.out.x && x + c < a.out.x + a.out.w)
                    to[c * a.out.pitch] = (uint8_t)(word >> 8 * c);
    }
}

template <typename P>
__global__ void __launch_bounds__(BYTES_THREADS, 3) compare_bytes(const struct args a)
{
    TAMIS_SHARED_BYTES(shared);
    const int rows = P::ROWS + 2 * (a.sy + P::R), plane = rows * P::LINE;
    const int own_plane = P::ALONE ? plane : (P::ROWS + 2 * P::R) * P::OWN_PITCH;
    int t = threadIdx.x % 32, above = (int)threadIdx.x / 32 * P::H;
    unsigned *tile = (unsigned *)shared, *kept = tile + P::N * plane, value_bits = VALUE_BITS;
    int x0 = a.first + (int)(blockIdx.x % a.strips) * BYTES_COLUMNS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * P::ROWS;
    int left = x0 + a.shift_x - a.sx - P::R, top = y0 + a.shift_y - a.sy - P::R;
    const unsigned *own = P::ALONE
                              ? tile + (a.sy + above) * P::LINE + a.sx % 4 * P::PITCH + a.sx / 4
                              : kept + above * P::OWN_PITCH;
    float addend = __fmul_rn(P::LARGE ? 1 << 24 : 1 << 23, a.scale);
    struct strip_sums<P> sums;
    sums.clear();
#ifndef TAMIS_EMULATE
    asm("" : "+r"(value_bits)); /* in a register, so that selectors need none */
#endif
    if (!P::ALONE)
        stage_bytes<P::N, P::OWN_PITCH, 1>(a, a.frame[0], left + a.sx, top + a.sy,
                                           P::ROWS + 2 * P::R, kept);
    for (int f = 0; f < (P::ALONE ? 1 : a.frames); f++) {
        __syncthreads();
        stage_bytes<P::N, P::PITCH, 4>(a, a.frame[f], left, top, rows, tile);
        __syncthreads();
        for (int dy = 0; dy <= 2 * a.sy; dy++)
            for (int dx = 0; dx <= 2 * a.sx; dx++) {
                const unsigned *row = tile + (dy + above) * P::LINE + t;
                int from = dx + P::R;
                walk_bytes<P>(sums, own + t, own_plane, row + dx % 4 * P::PITCH + dx / 4,
                              row + P::R * P::LINE + from % 4 * P::PITCH + from / 4, plane, a.scale,
                              addend, value_bits);
            }
    }
#pragma unroll
    for (int p = 0; p < P::N; p++)
        finish_plane<P>(a, sums, p, x0 + 4 * t, y0 + above);
}

} // namespace

#endif
