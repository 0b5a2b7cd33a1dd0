/* SPDX-License-Identifier: Apache-2.0 */
/* Linear and cubic warps of u8: what a tile of the result needs of the source is brought to shared
 * memory first, in rows and with the border applied, so arranged that one word holds what one
 * multiply-add of bytes takes:
 *     one channel, linear    the four samples to interpolate between
 *     one channel, cubic     four samples of a row
 *     more channels          a pixel
 * Samples for cubic are less 128, so that they and the weights are signed; what that takes away is
 * 128 times the sum of the weights. Tiles whose part of the source is too large read it directly.
 */
#include "warp_device.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    WIDTH = WARP_BLOCK,
    HEIGHT = 4 * WARPS, /* a warp of threads takes four rows, eight columns at a time */
    STEPS = WIDTH / 8,
    SPAN = 4096, /* pixels of the source along a side that may be considered at all */
    ROUND = 1 << 17
};

struct args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    struct warp_map map;
    int tiles; /* in a row */
    int words; /* of the source in shared memory */
    bool aligned;
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
    b.fits = b.fits && b.pitch * b.rows <= a.words;
    b.blank = in.border == TAMIS_BORDER_CONSTANT &&
              (b.end < 0 || b.bottom < 0 || b.first >= in.w || b.y >= in.h);
    /* Whole words of the last row may end behind it. */
    bool over = b.bottom == in.h - 1 && ((b.end + 1) * STEP + 3) / 4 * 4 > in.w * STEP;
    b.inside = a.aligned && b.first >= 0 && b.y >= 0 && b.end < in.w && b.bottom < in.h && !over;
    return b;
}

/* Four words from column c on, c a multiple of four, in words of memory; those without a needed
 * sample are not read. */
template <int TAPS, int STEP>
static __device__ __forceinline__ uint4 words_inside(const tamis_input<uint8_t> &in, const box &b,
                                                     int c, int row)
{
    const unsigned flip = TAPS == 4 ? 0x80808080u : 0;
    const int x = b.x + c;
    const uint8_t *at = in.row(b.y + row) + (int64_t)x * STEP;
    bool some = x <= b.end;
    if constexpr (STEP == 1 && TAPS == 4) {
        unsigned p = (some ? *(const unsigned *)at : 0) ^ flip;
        unsigned q = (x + 4 <= b.end ? *(const unsigned *)(at + 4) : 0) ^ flip;
        return make_uint4(p, __funnelshift_r(p, q, 8), __funnelshift_r(p, q, 16),
                          __funnelshift_r(p, q, 24));
    } else if constexpr (STEP == 1) {
        const uint8_t *below = at + in.stride;
        bool more = x + 4 <= b.end;
        unsigned p = some ? *(const unsigned *)at : 0;
        unsigned q = more ? *(const unsigned *)(at + 4) : 0;
        unsigned s = some ? *(const unsigned *)below : 0;
        unsigned t = more ? *(const unsigned *)(below + 4) : 0;
        q = __funnelshift_r(p, q, 8);
        t = __funnelshift_r(s, t, 8);
        unsigned top = __byte_perm(p, q, 0x5140), bottom = __byte_perm(s, t, 0x5140);
        unsigned top2 = __byte_perm(p, q, 0x7362), bottom2 = __byte_perm(s, t, 0x7362);
        return make_uint4(__byte_perm(top, bottom, 0x5410), __byte_perm(top, bottom, 0x7632),
                          __byte_perm(top2, bottom2, 0x5410), __byte_perm(top2, bottom2, 0x7632));
    } else {
        unsigned w[4];
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            bool needed = x + (STEP == 2 ? 2 * k : k) <= b.end;
            w[k] = (needed ? ((const unsigned *)at)[k] : 0) ^ flip;
        }
        if (STEP == 2)
            return make_uint4(w[0], w[0] >> 16, w[1], w[1] >> 16);
        if (STEP == 3)
            return make_uint4(w[0], __funnelshift_r(w[0], w[1], 24),
                              __funnelshift_r(w[1], w[2], 16), w[2] >> 8);
        return make_uint4(w[0], w[1], w[2], w[3]);
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
        unsigned reciprocal = 0xffffffffu / (unsigned)b.groups + 1;
        for (int i = threadIdx.x; i < b.groups * b.rows; i += THREADS) {
            int row = (int)__umulhi((unsigned)i, reciprocal), c = (i - row * b.groups) * 4;
            *(uint4 *)(source + row * b.pitch + c) = words_inside<TAPS, STEP>(in, b, c, row);
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

/* ---- tiles of the result */

struct tile {
    int x, y, begin, end, bottom; /* it has columns begin .. end-1 of x .. x+WIDTH-1 */

    __device__ __forceinline__ bool has(int px, int py) const
    {
        return px >= begin && px < end && py < bottom;
    }
};

static __device__ __forceinline__ tile my_tile(const args &a)
{
    int left = (a.out.x / WIDTH + (int)(blockIdx.x % a.tiles)) * WIDTH;
    int top = a.out.y + (int)(blockIdx.x / a.tiles) * HEIGHT;
    return tile{left, top, max(left, a.out.x), min(left + WIDTH, a.out.x + a.out.w),
                min(top + HEIGHT, a.out.y + a.out.h)};
}

/* Rows of the result in shared memory. */
template <int STEP> struct result_of {
    enum { PITCH = WIDTH * STEP + 8 };
    uint8_t *data;

    __device__ __forceinline__ void put(const tile &t, int x, int y, const unsigned (&v)[STEP])
    {
        uint8_t *at = data + (y - t.y) * PITCH + (x - t.x) * STEP;
#pragma unroll
        for (int c = 0; c < STEP; c++)
            at[c] = (uint8_t)v[c];
    }
    __device__ __forceinline__ void fill(const tamis_input<uint8_t> &in)
    {
        for (int i = threadIdx.x; i < HEIGHT * WIDTH * STEP; i += THREADS)
            data[i / (WIDTH * STEP) * PITCH + i % (WIDTH * STEP)] = (uint8_t)in.outside[i % STEP];
    }
    __device__ __forceinline__ void store(const args &a, const tile &t)
    {
        const int row_words = WIDTH * STEP / 4;
        for (int i = threadIdx.x; i < HEIGHT * row_words; i += THREADS) {
            int y = t.y + i / row_words, k = i % row_words * 4, x = t.x * STEP + k;
            if (y >= t.bottom)
                return;
            uint8_t *out = tamis_row<uint8_t>(a.out, blockIdx.y, y) + x;
            const uint8_t *from = data + (y - t.y) * PITCH + k;
            if (a.aligned && x >= t.begin * STEP && x + 4 <= t.end * STEP) {
                *(unsigned *)out = *(const unsigned *)from;
                continue;
            }
            for (int c = 0; c < 4; c++)
                if (x + c >= t.begin * STEP && x + c < t.end * STEP)
                    out[c] = from[c];
        }
    }
};

/* A thread's pixels, of which step k is the k-th, and where they lie: rounded to 2^-14. An affine
 * map is followed, others are looked up once. */
template <bool AFFINE> struct places {
    int64_t x, y, step_x, step_y;

    __device__ __forceinline__ reach find(const args &a, const tile &t, int, int row,
                                          warp_position *starts)
    {
        reach r = nothing();
        step_x = 8 * a.map.step_x;
        step_y = 8 * a.map.step_y;
        if (threadIdx.x < HEIGHT) { /* one warp has all rows */
            warp_position p = warp_affine(a.map, t.x, min(t.y + (int)threadIdx.x, t.bottom - 1));
            int64_t first = t.begin - t.x, last = t.end - 1 - t.x;
            p.x += ROUND;
            p.y += ROUND;
            starts[threadIdx.x] = p;
            r.add((int)((p.x + first * a.map.step_x) >> 32),
                  (int)((p.y + first * a.map.step_y) >> 32));
            r.add((int)((p.x + last * a.map.step_x) >> 32),
                  (int)((p.y + last * a.map.step_y) >> 32));
        }
        __syncthreads();
        x = starts[row].x + (int)(threadIdx.x % 8) * a.map.step_x;
        y = starts[row].y + (int)(threadIdx.x % 8) * a.map.step_y;
        return r;
    }
    __device__ __forceinline__ void move(int dx, int dy)
    {
        x -= (int64_t)dx << 32;
        y -= (int64_t)dy << 32;
    }
    __device__ __forceinline__ void get(int, place &p)
    {
        p = place{(int)(x >> 32), (int)(y >> 32), (uint32_t)x >> 18, (uint32_t)y >> 18};
        x += step_x;
        y += step_y;
    }
};

template <> struct places<false> {
    int x[STEPS], y[STEPS];
    unsigned f[STEPS];

    __device__ __forceinline__ reach find(const args &a, const tile &t, int column, int row,
                                          warp_position *)
    {
        reach r = nothing();
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            int px = column + 8 * k, u, v;
            x[k] = y[k] = 0;
            f[k] = 0;
            if (!t.has(px, t.y + row))
                continue;
            warp_position p = warp_position_of(a.map, px, t.y + row, warp_position{0, 0});
            x[k] = warp_before<14>(p.x, &u);
            y[k] = warp_before<14>(p.y, &v);
            f[k] = (unsigned)(u | v << 16);
            r.add(x[k], y[k]);
        }
        return r;
    }
    __device__ __forceinline__ void move(int dx, int dy)
    {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            x[k] -= dx;
            y[k] -= dy;
        }
    }
    __device__ __forceinline__ void get(int k, place &p)
    {
        p = place{x[k], y[k], f[k] & 65535, f[k] >> 16};
    }
};

/* Of all threads. */
static __device__ __forceinline__ reach of_block(reach mine, reach *warps)
{
    mine.exchange();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = mine;
    __syncthreads();
    reach all = warps[0];
    for (int i = 1; i < WARPS; i++)
        all.add(warps[i]);
    return all;
}

template <int TAPS, int STEP, bool AFFINE>
__global__ void __launch_bounds__(THREADS, AFFINE ? 5 : 3) tiles(const __grid_constant__ args a)
{
    TAMIS_SHARED_BYTES(bytes);
    __shared__ warp_position starts[HEIGHT];
    __shared__ reach warps[WARPS];
    result_of<STEP> result = {bytes};
    unsigned *source = (unsigned *)(bytes + HEIGHT * result_of<STEP>::PITCH);
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    tile t = my_tile(a);
    int lane = threadIdx.x % 32, row = (int)threadIdx.x / 32 * 4 + lane / 8;
    int column = t.x + lane % 8, y = t.y + row;

    places<AFFINE> at;
    place p;
    unsigned v[STEP];
    reach mine = at.find(a, t, column, row, starts);
    box b = box_of<TAPS, STEP>(a, in, of_block(mine, warps));
    if (b.blank) {
        result.fill(in);
    } else if (!b.fits) {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            at.get(k, p);
            if (!t.has(column + 8 * k, y))
                continue;
            value_directly<TAPS, STEP>(a, in, p, v);
            result.put(t, column + 8 * k, y, v);
        }
    } else {
        stage<TAPS, STEP>(in, b, source);
        at.move(b.x + (TAPS / 2 - 1), b.y + (TAPS / 2 - 1));
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            at.get(k, p);
            if (!t.has(column + 8 * k, y))
                continue;
            words_of<TAPS, STEP>{source + (p.y * b.pitch + p.x), b.pitch}.value(a, p, v);
            result.put(t, column + 8 * k, y, v);
        }
    }
    __syncthreads();
    result.store(a, t);
}

/* ---- launches */

/* Words that a tile may want: exact for affine maps, enough for moderate ones else. */
template <int TAPS, int STEP> static int words_wanted(const struct warp_coef *c)
{
    const int most = (46 * 1024 - HEIGHT * result_of<STEP>::PITCH) / 4;
    if (c->kind != WARP_AFFINE)
        return most < 8192 ? most : 8192;
    double w = fabs(c->m[0]) * (WIDTH - 1) + fabs(c->m[1]) * (HEIGHT - 1) + 2;
    double h = fabs(c->m[3]) * (WIDTH - 1) + fabs(c->m[4]) * (HEIGHT - 1) + 2;
    if (!(w < most && h < most))
        return 0;
    int columns = (int)w + 1 + (STEP == 1 ? 0 : TAPS - 1) + 3, rows = (int)h + 1 + TAPS - 1;
    int groups = (columns + 3) / 4 > 2 ? (columns + 3) / 4 : 2;
    int64_t words = (int64_t)pitch_of(groups) * rows;
    return words < most ? (int)words : most;
}

template <int TAPS, int STEP, bool AFFINE>
static tamis_status launch(const tamis_gpu_work *w, const struct warp_coef *c,
                           tamis_gpu_fault *fault)
{
    args a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.map = warp_map_of(w, c);
    a.tiles = (w->part.x + w->part.w - 1) / WIDTH - w->part.x / WIDTH + 1;
    a.words = words_wanted<TAPS, STEP>(c);
    a.aligned = w->aligned >= 4;
    a.cubic_a = c->cubic_a;
    auto kernel = tiles<TAPS, STEP, AFFINE>;
    size_t shared = (size_t)(HEIGHT * result_of<STEP>::PITCH) + (size_t)a.words * sizeof(unsigned);
    TAMIS_LAUNCH(kernel, tamis_grid(a.tiles, tamis_tiles(w->part.h, HEIGHT), w->planes), THREADS,
                 shared, w->stream, a);
    return tamis_cuda_launched("warp tiles", fault);
}

template <int TAPS, int STEP>
static tamis_status launch_kind(const tamis_gpu_work *w, const struct warp_coef *c,
                                tamis_gpu_fault *fault)
{
    return c->kind == WARP_AFFINE ? launch<TAPS, STEP, true>(w, c, fault)
                                  : launch<TAPS, STEP, false>(w, c, fault);
}

template <int TAPS>
static tamis_status launch_step(const tamis_gpu_work *w, const struct warp_coef *c,
                                tamis_gpu_fault *fault)
{
    switch (w->step) {
    case 1:
        return launch_kind<TAPS, 1>(w, c, fault);
    case 2:
        return launch_kind<TAPS, 2>(w, c, fault);
    case 3:
        return launch_kind<TAPS, 3>(w, c, fault);
    default:
        return launch_kind<TAPS, 4>(w, c, fault);
    }
}

tamis_status warp_launch_tiles(const tamis_gpu_work *w, const struct warp_coef *c,
                               tamis_gpu_fault *fault)
{
    return c->interp == TAMIS_INTERP_LINEAR ? launch_step<2>(w, c, fault)
                                            : launch_step<4>(w, c, fault);
}
