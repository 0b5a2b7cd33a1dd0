/* SPDX-License-Identifier: Apache-2.0 */
/* What warp_tiles.cu brings to shared memory, and how pixels are made of it. What a tile of the
 * result needs of the source lies there in rows, with the border applied, so arranged that one word
 * holds what one multiply-add of bytes takes:
 *     one channel, linear    the four samples to interpolate between
 *     one channel, cubic     four samples of a row
 *     more channels          a pixel
 * Samples for cubic are less 128, so that they and the weights are signed; what that takes away is
 * 128 times the sum of the weights. */
#ifndef TAMIS_WARP_WORDS_CUH
#define TAMIS_WARP_WORDS_CUH

#include "warp_device.cuh"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    WIDTH = WARP_BLOCK,
    HEIGHT = 4 * WARPS, /* a warp of threads takes four rows, eight columns at a time */
    STEPS = WIDTH / 8,
    SPAN = 4096, /* pixels of the source along a side that may be considered at all */
    RUN = 4,     /* rows that a thread brings at a time */
    ROUND = 1 << 17
};

struct args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    struct warp_map map;
    int tiles;                   /* in a row */
    int words;                   /* of the source in shared memory */
    bool aligned, aligned_fours; /* to a word, to four */
    float cubic_a;
};

/* ---- what a tile reads */

/* The samples before the positions in a tile. */
struct reach {
    int x0, x1, y0, y1;

    __device__ __forceinline__ void add(int x, int y)
    {
        x0 = min(x0, x);
        x1 = max(x1, x);
        y0 = min(y0, y);
        y1 = max(y1, y);
    }
    __device__ __forceinline__ void add(const reach &r)
    {
        x0 = min(x0, r.x0);
        x1 = max(x1, r.x1);
        y0 = min(y0, r.y0);
        y1 = max(y1, r.y1);
    }
    __device__ __forceinline__ void exchange()
    {
        for (int bit = 16; bit; bit /= 2) {
            reach r = {__shfl_xor_sync(0xffffffffu, x0, bit), __shfl_xor_sync(0xffffffffu, x1, bit),
                       __shfl_xor_sync(0xffffffffu, y0, bit),
                       __shfl_xor_sync(0xffffffffu, y1, bit)};
            add(r);
        }
    }
};

static __device__ __forceinline__ reach nothing()
{
    return reach{INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN};
}

/* Columns in words, from a multiple of four on, and rows: of them a word begins with sample or
 * pixel (x + column, y + row). Rows lie so that patches of 8x4 words are in banks of their own. */
struct box {
    int x, y, groups, rows, pitch;
    unsigned reciprocal;  /* of groups, times 2^32 */
    int first, last, end; /* columns of words, and of samples, that are needed */
    int bottom;           /* row of samples likewise */
    bool fits, inside, blank;
};

static __host__ __device__ __forceinline__ int pitch_of(int groups)
{
    return (4 * groups + 7) / 16 * 16 + 8;
}

template <int TAPS, int STEP>
static __device__ __forceinline__ box box_of(const args &a, const tamis_input<uint8_t> &in,
                                             const reach &r)
{
    const int before = TAPS / 2 - 1, behind = TAPS / 2;
    box b;
    b.first = r.x0 - before;
    b.x = b.first & ~3;
    b.y = r.y0 - before;
    b.end = r.x1 + behind;
    b.bottom = r.y1 + behind;
    b.last = STEP == 1 ? r.x1 - before : b.end;
    b.fits = (int64_t)r.x1 - r.x0 < SPAN && (int64_t)r.y1 - r.y0 < SPAN;
    b.groups = max((b.last - b.x + 4) / 4, 2);
    b.rows = STEP == 1 && TAPS == 2 ? r.y1 - r.y0 + 1 : b.bottom - b.y + 1;
    b.pitch = pitch_of(b.groups);
    b.reciprocal = 0xffffffffu / (unsigned)b.groups + 1;
    b.fits = b.fits && b.pitch * b.rows <= a.words;
    b.blank = in.border == TAMIS_BORDER_CONSTANT &&
              (b.end < 0 || b.bottom < 0 || b.first >= in.w || b.y >= in.h);
    /* Whole words of the last row may end behind it. */
    bool over = b.bottom == in.h - 1 && ((b.end + 1) * STEP + 3) / 4 * 4 > in.w * STEP;
    b.inside = a.aligned && b.first >= 0 && b.y >= 0 && b.end < in.w && b.bottom < in.h && !over &&
               b.rows >= RUN;
    return b;
}

/* The last that can be the first of a pixel's. */
template <int TAPS, int STEP> static __device__ __forceinline__ int last_word(const box &b)
{
    int behind = STEP > 1 ? (TAPS - 1) * (b.pitch + 1) : TAPS == 4 ? 3 * b.pitch : 0;
    return b.pitch * b.rows - 1 - behind;
}

/* What four words from column x on, a multiple of four, take of a row; words of memory without a
 * needed sample are not read. */
template <int TAPS, int STEP> struct row_of {
    unsigned w[4];

    __device__ __forceinline__ void load(const uint8_t *at, int x, int end)
    {
        const int count = STEP < 2 ? 2 : STEP, each = STEP == 1 ? 4 : STEP == 2 ? 2 : 1;
#pragma unroll
        for (int k = 0; k < count; k++) {
            bool needed = x + each * k <= end;
            w[k] = needed ? ((const unsigned *)at)[k] : 0;
            if (TAPS == 4)
                w[k] ^= 0x80808080u;
        }
    }
    /* One channel, linear: the samples with their neighbors to the right. */
    __device__ __forceinline__ void pair()
    {
        unsigned next = __funnelshift_r(w[0], w[1], 8), first = w[0];
        w[0] = __byte_perm(first, next, 0x5140);
        w[1] = __byte_perm(first, next, 0x7362);
    }
    __device__ __forceinline__ uint4 words(const row_of &below) const
    {
        if constexpr (STEP == 1 && TAPS == 2)
            return make_uint4(
                __byte_perm(w[0], below.w[0], 0x5410), __byte_perm(w[0], below.w[0], 0x7632),
                __byte_perm(w[1], below.w[1], 0x5410), __byte_perm(w[1], below.w[1], 0x7632));
        else if constexpr (STEP == 1)
            return make_uint4(w[0], __funnelshift_r(w[0], w[1], 8), __funnelshift_r(w[0], w[1], 16),
                              __funnelshift_r(w[0], w[1], 24));
        else if constexpr (STEP == 2)
            return make_uint4(w[0], w[0] >> 16, w[1], w[1] >> 16);
        else if constexpr (STEP == 3)
            return make_uint4(w[0], __funnelshift_r(w[0], w[1], 24),
                              __funnelshift_r(w[1], w[2], 16), w[2] >> 8);
        else
            return make_uint4(w[0], w[1], w[2], w[3]);
    }
};

/* Four words each of RUN rows in a thread. */
template <int TAPS, int STEP>
static __device__ __forceinline__ void stage_run(const tamis_input<uint8_t> &in, const box &b,
                                                 int c, int row, uint4 *to)
{
    const bool quads = STEP == 1 && TAPS == 2;
    const int x = b.x + c;
    const uint8_t *at = in.row(b.y + row) + (int64_t)x * STEP;
    row_of<TAPS, STEP> rows[RUN + 1];
#pragma unroll
    for (int j = 0; j < RUN + (quads ? 1 : 0); j++) {
        rows[j].load(at, x, b.end);
        at += in.stride;
    }
#pragma unroll
    for (int j = 0; j < RUN; j++) {
        if (quads && j == 0)
            rows[0].pair();
        if (quads)
            rows[j + 1].pair();
        to[j * (b.pitch / 4)] = rows[j].words(rows[quads ? j + 1 : j]);
    }
}

/* A word of a tile that the border reaches into, or whose samples lie at odd places. */
template <int TAPS, int STEP>
static __device__ __noinline__ unsigned word_at(const tamis_input<uint8_t> &in, int x, int y)
{
    unsigned w = 0;
    for (int k = 0; k < 4; k++) {
        unsigned v = 0;
        if (STEP > 1)
            v = k < STEP ? in.at(x, y, k) : 0;
        else if (TAPS == 4)
            v = in.at(x + k, y, 0);
        else
            v = in.at(x + k % 2, y + k / 2, 0);
        w |= v << 8 * k;
    }
    return TAPS == 4 ? w ^ 0x80808080u : w;
}

template <int TAPS, int STEP>
static __device__ __forceinline__ void stage(const tamis_input<uint8_t> &in, const box &b,
                                             unsigned *source)
{
    if (b.inside) {
#pragma unroll 1
        for (int i = threadIdx.x; i < b.groups * ((b.rows + RUN - 1) / RUN); i += THREADS) {
            int run = (int)__umulhi((unsigned)i, b.reciprocal), c = (i - run * b.groups) * 4;
            int row = min(run * RUN, b.rows - RUN); /* the last run has rows of the one before */
            stage_run<TAPS, STEP>(in, b, c, row, (uint4 *)source + row * (b.pitch / 4) + c / 4);
        }
        return;
    }
    for (int row = (int)threadIdx.x / 32; row < b.rows; row += WARPS)
        for (int c = b.first - b.x + (int)threadIdx.x % 32; c <= b.last - b.x; c += 32)
            source[row * b.pitch + c] = word_at<TAPS, STEP>(in, b.x + c, b.y + row);
}

/* ---- interpolation */

static __device__ __forceinline__ unsigned blend(unsigned top, unsigned bottom, unsigned fy)
{
    return (top * (16384 - fy) + bottom * fy + (1 << 20)) >> 21;
}

/* Weights of a fraction, in float's integer bits behind MAGIC. */
enum { MAGIC = 0x4B400000 }; /* 1.5 * 2^23 */

static __device__ __forceinline__ int to_fixed(float w)
{
    return __float_as_int(fmaf(w, 16384.f, 12582912.f)); /* the product is exact */
}

static __device__ __forceinline__ void weights(float a, unsigned fraction, int (&w)[4])
{
    float t = (float)(int)fraction * 0x1p-14f;
    w[0] = to_fixed(t * (a + t * (a * t - 2 * a)));
    w[2] = to_fixed(t * (t * ((2 * a + 3) - (a + 2) * t) - a));
    w[3] = to_fixed(t * t * (a - a * t));
    w[1] = 16384 - (w[0] - MAGIC) - (w[2] - MAGIC) - (w[3] - MAGIC);
}

enum { ROW_FIRST = (1 << 7) + (128 << 14), SUM_FIRST = 1 << 19 };

/* Where a pixel lies: the sample before, and 14 bits behind the point. */
struct place {
    int x, y;
    unsigned fx, fy;
};

/* Samples in words, as the head of this file says; `at` is that of the first. */
template <int TAPS, int STEP> struct words_of {
    const unsigned *at;
    int pitch;

    __device__ __forceinline__ void linear(unsigned fx, unsigned fy, unsigned (&v)[STEP]) const
    {
        unsigned w = fx * 65535 + 16384; /* 2^14 - fx, and fx in the upper half */
        if (STEP == 1) {
            unsigned q = at[0];
            v[0] = blend(__dp2a_lo(w, q, 64u) >> 7, __dp2a_hi(w, q, 64u) >> 7, fy);
            return;
        }
        unsigned a = at[0], b = at[1], c = at[pitch], d = at[pitch + 1];
        unsigned top = __byte_perm(a, b, 0x5140), bottom = __byte_perm(c, d, 0x5140);
        v[0] = blend(__dp2a_lo(w, top, 64u) >> 7, __dp2a_lo(w, bottom, 64u) >> 7, fy);
        v[1 % STEP] = blend(__dp2a_hi(w, top, 64u) >> 7, __dp2a_hi(w, bottom, 64u) >> 7, fy);
        if (STEP == 2)
            return;
        top = __byte_perm(a, b, 0x7362);
        bottom = __byte_perm(c, d, 0x7362);
        v[2 % STEP] = blend(__dp2a_lo(w, top, 64u) >> 7, __dp2a_lo(w, bottom, 64u) >> 7, fy);
        if (STEP == 4)
            v[3 % STEP] = blend(__dp2a_hi(w, top, 64u) >> 7, __dp2a_hi(w, bottom, 64u) >> 7, fy);
    }

    /* Row j of a window across; left and right are pairs of weights. */
    __device__ __forceinline__ void across(int j, int left, int right, int (&row)[STEP]) const
    {
        const unsigned *p = at + j * pitch;
        if (STEP == 1) {
            row[0] = __dp2a_hi(right, (int)p[0], __dp2a_lo(left, (int)p[0], ROW_FIRST));
            return;
        }
        int a = (int)__byte_perm(p[0], p[1], 0x5140), b = (int)__byte_perm(p[2], p[3], 0x5140);
        row[0] = __dp2a_lo(right, b, __dp2a_lo(left, a, ROW_FIRST));
        row[1 % STEP] = __dp2a_hi(right, b, __dp2a_hi(left, a, ROW_FIRST));
        if (STEP == 2)
            return;
        a = (int)__byte_perm(p[0], p[1], 0x7362);
        b = (int)__byte_perm(p[2], p[3], 0x7362);
        row[2 % STEP] = __dp2a_lo(right, b, __dp2a_lo(left, a, ROW_FIRST));
        if (STEP == 4)
            row[3 % STEP] = __dp2a_hi(right, b, __dp2a_hi(left, a, ROW_FIRST));
    }

    __device__ __forceinline__ void cubic(float a, unsigned fx, unsigned fy,
                                          unsigned (&v)[STEP]) const
    {
        int wx[4], wy[4], sum[STEP];
        weights(a, fx, wx);
        weights(a, fy, wy);
        int left = (int)__byte_perm((unsigned)wx[0], (unsigned)wx[1], 0x5410);
        int right = (int)__byte_perm((unsigned)wx[2], (unsigned)wx[3], 0x5410);
        for (int c = 0; c < STEP; c++)
            sum[c] = SUM_FIRST;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row[STEP], w = j == 1 ? wy[1] : wy[j] - MAGIC;
            across(j, left, right, row);
#pragma unroll
            for (int c = 0; c < STEP; c++)
                sum[c] += w * (row[c] >> 8);
        }
        for (int c = 0; c < STEP; c++)
            v[c] = tamis_sample<uint8_t>::of_int(sum[c] >> 20);
    }

    __device__ __forceinline__ void value(const args &a, const place &p, unsigned (&v)[STEP]) const
    {
        if (TAPS == 2)
            linear(p.fx, p.fy, v);
        else
            cubic(a.cubic_a, p.fx, p.fy, v);
    }
};

/* A pixel whose words are gathered for it alone. */
template <int TAPS, int STEP>
static __device__ __noinline__ void value_directly(const args &a, const tamis_input<uint8_t> &in,
                                                   place p, unsigned (&v)[STEP])
{
    const int across = STEP == 1 ? 1 : TAPS, down = STEP == 1 && TAPS == 2 ? 1 : TAPS;
    unsigned words[across * down];
    for (int i = 0; i < across * down; i++)
        words[i] = word_at<TAPS, STEP>(in, p.x - (TAPS / 2 - 1) + i % across,
                                       p.y - (TAPS / 2 - 1) + i / across);
    words_of<TAPS, STEP>{words, across}.value(a, p, v);
}

} // namespace

#endif
