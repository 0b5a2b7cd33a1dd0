/* SPDX-License-Identifier: Apache-2.0 */
/* What warp_tiles.cu brings to shared memory, and how pixels are made of it. What a tile of the
 * result needs of the source lies there as in memory, with the border applied. A pixel's samples of
 * a row are bytes side by side: the words that hold them are shifted so that the first begins with
 * the first, and samples are put beside each other as multiply-adds of bytes take them. */
#ifndef TAMIS_WARP_WORDS_CUH
#define TAMIS_WARP_WORDS_CUH

#include "async.cuh"
#include "warp_device.cuh"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

enum {
    THREADS = 128,
    WARPS = THREADS / 32,
    WIDTH = 32, /* divides WARP_BLOCK */
    HEIGHT = 32,
    RUN = WIDTH / 8,               /* pixels of a thread side by side, in a warp of 8x4 threads */
    GROUPS = HEIGHT / (4 * WARPS), /* of such runs, below each other */
    PIXELS = GROUPS * RUN,         /* of a thread */
    SPAN = 4096, /* pixels of the source along a side that may be considered at all */
    CHUNK = 16,  /* bytes that are brought at a time */
    ACROSS = 16,
    DOWN = THREADS / ACROSS, /* and how threads lie in that */
    ROUND = 1 << 17
};

struct args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    struct warp_map map;
    int tiles;                   /* in a row */
    int room;                    /* bytes of the source in shared memory */
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

/* Rows of whole chunks. */
struct box {
    int start; /* in a row of samples: a multiple of CHUNK */
    int y, chunks, rows, pitch;
    bool fits, inside, blank;
};

/* Rows lie so that patches of 8x4 pixels are mostly in banks of their own. */
template <int STEP> static __host__ __device__ __forceinline__ int pitch_of(int chunks)
{
    return CHUNK * (STEP == 1 ? chunks | 1 : (chunks + 1) / 4 * 4 + 2);
}

template <int TAPS, int STEP>
static __device__ __forceinline__ box box_of(const args &a, const tamis_input<uint8_t> &in,
                                             const reach &r)
{
    const int before = TAPS / 2 - 1, behind = TAPS / 2;
    int64_t first = (int64_t)r.x0 - before, end = (int64_t)r.x1 + behind + 1;
    int bottom = r.y1 + behind;
    box b = {};
    b.fits = (int64_t)r.x1 - r.x0 < SPAN && (int64_t)r.y1 - r.y0 < SPAN &&
             first * STEP > INT32_MIN && end * STEP < INT32_MAX - CHUNK;
    if (b.fits) {
        b.start = (int)(first * STEP) & -CHUNK;
        b.y = r.y0 - before;
        b.chunks = (int)(end * STEP - b.start + CHUNK - 1) / CHUNK;
        b.rows = bottom - b.y + 1;
        b.pitch = pitch_of<STEP>(b.chunks);
        b.fits = b.pitch * b.rows <= a.room;
    }
    b.blank = in.border == TAMIS_BORDER_CONSTANT &&
              (end <= 0 || bottom < 0 || first >= in.w || r.y0 - before >= in.h);
    b.inside = a.aligned && b.start >= in.left * STEP && b.y >= in.top && bottom <= in.bottom &&
               b.start + (int64_t)b.chunks * CHUNK <= ((int64_t)in.right + 1) * STEP;
    return b;
}

/* A T at a time; whoever reads them waits for the copies first. */
template <typename T>
static __device__ __forceinline__ void stage_inside(const tamis_input<uint8_t> &in, const box &b,
                                                    uint8_t *source)
{
    const int SIZE = sizeof(T);
    const int64_t down = DOWN * in.stride;
    int row = (int)threadIdx.x / ACROSS;
    for (int c = threadIdx.x % ACROSS * SIZE; c < b.chunks * CHUNK; c += ACROSS * SIZE) {
        const uint8_t *from = in.row(b.y + row) + b.start + c;
        uint8_t *to = source + row * b.pitch + c;
#pragma unroll 4
        for (int y = row; y < b.rows; y += DOWN) {
            tamis_copy_start((T *)to, from);
            from += down;
            to += DOWN * b.pitch;
        }
    }
    tamis_copy_group();
}

/* A word of samples of a row that the border reaches into, or that lie at odd places. */
static __device__ __noinline__ unsigned word_at(const tamis_input<uint8_t> &in, int i, int y)
{
    unsigned w = 0;
    for (int k = 0; k < 4; k++)
        w |= (unsigned)in.sample(i + k, y) << 8 * k;
    return w;
}

static __device__ __forceinline__ void stage(const args &a, const tamis_input<uint8_t> &in,
                                             const box &b, uint8_t *source)
{
    if (b.inside && a.aligned_fours) {
        stage_inside<uint4>(in, b, source);
    } else if (b.inside) {
        stage_inside<unsigned>(in, b, source);
    } else {
        for (int row = (int)threadIdx.x / ACROSS; row < b.rows; row += DOWN)
            for (int c = threadIdx.x % ACROSS * 4; c < b.chunks * CHUNK; c += ACROSS * 4)
                *(unsigned *)(source + row * b.pitch + c) = word_at(in, b.start + c, b.y + row);
    }
    tamis_copy_wait<0>();
}

/* ---- interpolation */

/* In the last byte. */
static __device__ __forceinline__ unsigned blend(unsigned top, unsigned bottom, unsigned fy)
{
    return top * (131072 - 8 * fy) + bottom * (8 * fy) + (1 << 23);
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

enum { ROW_FIRST = 1 << 7, SUM_FIRST = 1 << 19 };

/* Where a pixel lies: the sample before, and 14 bits behind the point. */
struct place {
    int x, y;
    unsigned fx, fy;
};

/* A row of a pixel's samples, from the first byte of a word on. */
template <int TAPS, int STEP> struct row_of {
    enum { BYTES = TAPS * STEP, WORDS = (BYTES + 3) / 4 };
    unsigned w[WORDS];

    /* The first is in the first of the words at `from`, behind so many bits. */
    __device__ __forceinline__ void load(const unsigned *from, unsigned shift)
    {
        unsigned in[WORDS + 1];
#pragma unroll
        for (int k = 0; k <= (STEP % 4 ? (BYTES + 2) / 4 : WORDS - 1); k++)
            in[k] = from[k];
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const bool all = STEP % 4 == 0 || k + 1 > (BYTES + 2) / 4;
            w[k] = STEP % 4 == 0 ? in[k] : __funnelshift_r(in[k], in[all ? k : k + 1], shift);
        }
    }
    /* Of a pixel alone: columns from x on. */
    __device__ __forceinline__ void gather(const tamis_input<uint8_t> &in, int x, int y)
    {
        for (int k = 0; k < WORDS; k++)
            w[k] = 0;
        for (int k = 0; k < BYTES; k++)
            w[k / 4] |= (unsigned)in.at(x + k / STEP, y, k % STEP) << k % 4 * 8;
    }

    /* Linear: samples c and c + 1 of both pixels, as bytes 0 and 1, 2 and 3. */
    __device__ __forceinline__ unsigned two(int c) const
    {
        if (STEP == 1)
            return w[0];
        if (STEP == 2)
            return __byte_perm(w[0], 0, 0x3120);
        if (STEP == 3)
            return __byte_perm(w[0], w[WORDS - 1], c ? 0x5252 : 0x4130);
        return __byte_perm(w[0], w[WORDS - 1], c ? 0x7362 : 0x5140);
    }
    /* Cubic: sample c of four pixels. */
    __device__ __forceinline__ unsigned four(int c) const
    {
        const unsigned a = w[0], b = w[WORDS > 1 ? 1 : 0], d = w[WORDS > 2 ? 2 : 0];
        if (STEP == 1)
            return a;
        if (STEP == 2)
            return __byte_perm(a, b, c ? 0x7531 : 0x6420);
        if (STEP == 3)
            return c == 0   ? __byte_perm(__byte_perm(a, b, 0x0630), d, 0x5210)
                   : c == 1 ? __byte_perm(__byte_perm(a, b, 0x0741), d, 0x6210)
                            : __byte_perm(__byte_perm(a, b, 0x0052), d, 0x7410);
        unsigned pair = c * 0x0011u + 0x0040u;
        return __byte_perm(__byte_perm(a, b, pair), __byte_perm(d, w[WORDS - 1], pair), 0x5410);
    }
};

/* Sums of products of two weights with sign and two bytes without. */
static __device__ __forceinline__ int add_low(int weights, unsigned bytes, int sum)
{
#ifdef TAMIS_EMULATE
    return (int16_t)weights * (int)(bytes & 255) + (weights >> 16) * (int)(bytes >> 8 & 255) + sum;
#else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
    return sum;
#endif
}
static __device__ __forceinline__ int add_high(int weights, unsigned bytes, int sum)
{
#ifdef TAMIS_EMULATE
    return add_low(weights, bytes >> 16, sum);
#else
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
    return sum;
#endif
}

/* A pixel's samples, and the result for each of them, in byte RESULT of a word. */
template <int TAPS, int STEP> struct samples {
    enum { RESULT = TAPS == 2 ? 3 : 0 };
    row_of<TAPS, STEP> row[TAPS];

    /* `at` is the byte where they begin; rows are a multiple of words apart. */
    __device__ __forceinline__ void load(const uint8_t *source, unsigned at, int pitch)
    {
        const unsigned *from = (const unsigned *)(source + (at & ~3u));
#pragma unroll
        for (int j = 0; j < TAPS; j++)
            row[j].load(from + j * (pitch / 4), at * 8);
    }

    __device__ __forceinline__ void linear(unsigned fx, unsigned fy, unsigned (&v)[STEP]) const
    {
        unsigned w = fx * 65535 + 16384; /* 2^14 - fx, and fx in the upper half */
#pragma unroll
        for (int c = 0; c < STEP; c += 2) {
            unsigned top = row[0].two(c), bottom = row[1].two(c);
            v[c] = blend(__dp2a_lo(w, top, 64u) >> 7, __dp2a_lo(w, bottom, 64u) >> 7, fy);
            if (c + 1 < STEP)
                v[(c + 1) % STEP] =
                    blend(__dp2a_hi(w, top, 64u) >> 7, __dp2a_hi(w, bottom, 64u) >> 7, fy);
        }
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
            int w = j == 1 ? wy[1] : wy[j] - MAGIC;
#pragma unroll
            for (int c = 0; c < STEP; c++) {
                unsigned four = row[j].four(c);
                sum[c] += w * (add_high(right, four, add_low(left, four, ROW_FIRST)) >> 8);
            }
        }
        for (int c = 0; c < STEP; c++)
            v[c] = tamis_sample<uint8_t>::of_int(sum[c] >> 20);
    }

    __device__ __forceinline__ void value(const args &a, const place &p, unsigned (&v)[STEP]) const
    {
        if constexpr (TAPS == 2)
            linear(p.fx, p.fy, v);
        else
            cubic(a.cubic_a, p.fx, p.fy, v);
    }
};

/* A pixel whose samples are gathered for it alone. */
template <int TAPS, int STEP>
static __device__ __noinline__ void value_directly(const args &a, const tamis_input<uint8_t> &in,
                                                   place p, unsigned (&v)[STEP])
{
    samples<TAPS, STEP> s;
    for (int j = 0; j < TAPS; j++)
        s.row[j].gather(in, p.x - (TAPS / 2 - 1), p.y - (TAPS / 2 - 1) + j);
    s.value(a, p, v);
}

} // namespace

#endif
