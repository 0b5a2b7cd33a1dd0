/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means on a device.
 *
 * A thread has two columns of a strip of rows and keeps their sums in registers. For three offsets
 * of the search window at a time it walks down the strip: the squared differences over the width of
 * the patch, their sum with those of the rows above, the weight. What a block compares lies in
 * shared memory; nothing goes to device memory but the result. Patches and search windows too large
 * for that are left to a kernel that keeps all but the pixels in shared memory.
 *
 * No result depends on where a part begins: integers are exact, and sums of floats are added in an
 * order that follows from the place in the image alone. */
#include <float.h>

#include "kernel.cuh"

#include "nlmeans_kernel.h"

enum {
    THREADS = 64,
    COLUMNS = 2 * THREADS, /* of a block */
    TOGETHER = 3,          /* offsets side by side */
    MAX_SHARED = 160 * 1024,
    PITCH_USUAL = 160, /* of a tile where addresses are constants: search windows up to 23 */
    LEFT_ROWS = 8      /* of a warp's strip in the kernel for the rest */
};

/* Planes that share a weight, in one frame. */
struct picture {
    const char *data[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) */
    int64_t stride[TAMIS_MAX_CHANNELS];
};

struct args {
    struct picture frame[2 * TAMIS_MAX_FRAMES + 1]; /* the current one first */
    int frames;
    tamis_type type;
    int planes, luma; /* planes 0 .. 2 are red, green, blue, and their luma decides */
    int pitch, w, h;
    tamis_border border;
    float outside[TAMIS_MAX_CHANNELS];
    int shift_x, shift_y;
    int sx, sy, px, py;
    float scale, bias; /* weight = 2^min(0, bias - scale * sum of squares) */
    tamis_output out;
    int first;      /* column of the first strip */
    int64_t strips; /* in a row */
    int tile_pitch;
};

/* Input columns and rows that the part depends on; no others may be read. */
struct bounds {
    int x0, x1, y0, y1;
};

static __device__ __forceinline__ struct bounds needed(const struct args &a)
{
    struct bounds b;
    b.x0 = a.out.x + a.shift_x - a.sx - a.px;
    b.x1 = a.out.x + a.out.w + a.shift_x + a.sx + a.px;
    b.y0 = a.out.y + a.shift_y - a.sy - a.py;
    b.y1 = a.out.y + a.out.h + a.shift_y + a.sy + a.py;
    return b;
}

static __device__ __forceinline__ float load(tamis_type type, const char *row, int64_t i)
{
    switch (type) {
    case TAMIS_U8:
        return (float)((const uint8_t *)row)[i];
    case TAMIS_U16:
        return (float)((const uint16_t *)row)[i];
    case TAMIS_S16:
        return (float)((const int16_t *)row)[i];
    default:
        return ((const float *)row)[i];
    }
}

static __device__ __forceinline__ void store(tamis_type type, char *row, int64_t i, float v)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = tamis_sample<uint8_t>::of(v);
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = tamis_sample<uint16_t>::of(v);
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = tamis_sample<int16_t>::of(v);
        break;
    default:
        ((float *)row)[i] = v;
    }
}

/* The sample at any place. */
static __device__ __forceinline__ float sample(const struct args &a, const struct picture &f, int p,
                                               int x, int y)
{
    int u = tamis_index(a.border, x, a.w), v = tamis_index(a.border, y, a.h);
    if (u < 0 || v < 0)
        return a.outside[p];
    return load(a.type, f.data[p] + v * f.stride[p], (int64_t)u * a.pitch);
}

static __device__ __forceinline__ float power(float t)
{
#ifdef TAMIS_EMULATE
    return exp2f(t);
#else
    float w;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(t));
    return w;
#endif
}

static __device__ __forceinline__ float luma_of(float r, float g, float b)
{
    return fmaf(0.114f, b, fmaf(0.587f, g, __fmul_rn(0.299f, r)));
}

/* ---- tiles: entry i of a row is for column i, even ones before odd ones, so that threads with
 * every second column read side by side */

template <typename E> struct view {
    const E *even, *odd; /* entries 0 and 1 from some column on */

    __device__ __forceinline__ view(const E *row, int half, int thread, int k)
    {
        even = row + (k & 1) * half + thread + (k >> 1);
        odd = row + ((k + 1) & 1) * half + thread + ((k + 1) >> 1);
    }
    __device__ __forceinline__ E at(int i) const
    {
        return (i & 1 ? odd : even)[i >> 1];
    }
    __device__ __forceinline__ E at(int i, int ahead) const
    {
        return (i & 1 ? odd : even)[(i >> 1) + ahead];
    }
    __device__ __forceinline__ void step(int pitch)
    {
        even += pitch;
        odd += pitch;
    }
};

/* Fills `rows` rows of `columns` columns, from column x0 and row y0 of the input on. */
template <typename P>
static __device__ __forceinline__ void stage(const struct args &a, const struct picture &f, int x0,
                                             int y0, int columns, int rows, typename P::entry *tile,
                                             int plane)
{
    struct bounds b = needed(a);
    int half = a.tile_pitch / 2;
    bool inside = x0 >= max(b.x0, 0) && x0 + columns + 3 <= min(b.x1, a.w) && y0 >= max(b.y0, 0) &&
                  y0 + rows <= min(b.y1, a.h);
    for (int r = threadIdx.x / 32; r < rows; r += THREADS / 32)
        for (int c = threadIdx.x % 32; c < columns; c += 32)
            P::make(a, f, b, inside, x0 + c, y0 + r,
                    tile + r * a.tile_pitch + (c & 1) * half + (c >> 1), plane);
}

static __device__ __forceinline__ float needed_sample(const struct args &a, const struct picture &f,
                                                      const struct bounds &b, int p, int x, int y)
{
    bool is = x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1;
    return is ? sample(a, f, p, x, y) : 0;
}

/* A byte as a float, by way of the bits of 2^23 + byte. */
static __device__ __forceinline__ float byte_of(unsigned word, int i)
{
    return __fsub_rn(__uint_as_float(__byte_perm(word, 0x4B000000, 0x7440 + i)), 8388608.f);
}

/* Sums of squares over the height of the patch, row by row, of integers... */
template <int R> struct running {
    unsigned sum, kept[2 * R + 1];

    __device__ __forceinline__ running(unsigned start) : sum(start)
    {
    }
    __device__ __forceinline__ unsigned add(int j, unsigned row)
    {
        sum += j > 2 * R ? row - kept[j % (2 * R + 1)] : row;
        kept[j % (2 * R + 1)] = row;
        return sum;
    }
};

/* ... and of floats, by pairs of rows. */
template <int R> struct pairs {
    float last, kept[2 * R];

    __device__ __forceinline__ pairs(float start) : last(start)
    {
    }
    __device__ __forceinline__ float add(int j, float row)
    {
        float sum = row;
        if (j >= 2 * R) {
            sum = kept[(j + 1) % (2 * R)];
#pragma unroll
            for (int i = 3; i < 2 * R; i += 2)
                sum = __fadd_rn(sum, kept[(j + i) % (2 * R)]);
            sum = __fadd_rn(sum, row);
        }
        kept[j % (2 * R)] = __fadd_rn(last, row);
        last = row;
        return sum;
    }
};

/* ---- what is compared. WIDTH entries beside each other serve a thread's two columns. */

/* One plane of 8 bit: four samples side by side in each entry. */
template <int R_> struct gray {
    enum { R = R_, N = 1, H = 32, PLANES = 1, CENTERED = 0, USUAL = R >= 3 };
    typedef unsigned entry;
    typedef unsigned sum;
    typedef running<R> heights;

    static __device__ __forceinline__ void make(const struct args &a, const struct picture &f,
                                                const struct bounds &b, bool inside, int x, int y,
                                                entry *to, int)
    {
        unsigned v = 0;
        if (inside) {
            const uint8_t *p = (const uint8_t *)f.data[0] + y * f.stride[0] + (int64_t)x * a.pitch;
            v = p[0] | (unsigned)p[a.pitch] << 8 | (unsigned)p[2 * a.pitch] << 16 |
                (unsigned)p[3 * a.pitch] << 24;
        } else {
            for (int i = 0; i < 4; i++)
                v |= (unsigned)needed_sample(a, f, b, 0, x + i, y) << 8 * i;
        }
        *to = v;
    }

    /* Of bytes 4 k .. 4 k + 3, those that belong to column c's patch. */
    static __device__ __forceinline__ unsigned mask(int k, int c)
    {
        unsigned m = 0;
        for (int i = 0; i < 4; i++)
            if (4 * k + i >= c && 4 * k + i <= c + 2 * R)
                m |= 0xffu << 8 * i;
        return m;
    }

    static __device__ __forceinline__ void squares(const view<entry> &p, const view<entry> &q,
                                                   int g, int, sum out[2])
    {
        out[0] = out[1] = 0;
        unsigned both = 0;
#pragma unroll
        for (int k = 0; k < (2 * R + 2 + 3) / 4; k++) {
            unsigned d = __vabsdiffu4(p.at(4 * k), q.at(4 * k + g));
            unsigned m0 = mask(k, 0), m1 = mask(k, 1);
            if (m0 == m1) {
                both = __dp4a(d, d, both);
                continue;
            }
            out[0] = __dp4a(d & m0, d, out[0]);
            out[1] = __dp4a(d & m1, d, out[1]);
        }
        out[0] += both;
        out[1] += both;
    }

    /* A sum that starts as the bits of 2^23 is 2^23 + sum as a float. */
    static __device__ __forceinline__ sum start()
    {
        return 0x4B000000;
    }
    static __device__ __forceinline__ float bias(float scale, float bias)
    {
        return fmaf(8388608.f, scale, bias);
    }
    static __device__ __forceinline__ float exponent(sum v, float scale, float bias)
    {
        return fmaf(__uint_as_float(v), -scale, bias);
    }

    static __device__ __forceinline__ void values(const view<entry> &q, int,
                                                  float v[TOGETHER + 1][N])
    {
        unsigned word = q.at(R);
        for (int i = 0; i <= TOGETHER; i++)
            v[i][0] = byte_of(word, i);
    }
};

/* Up to four planes of 8 bit: a pixel in each entry. */
template <int R_, int N_> struct pixels {
    enum { R = R_, N = N_, H = 12, PLANES = 1, CENTERED = 0, USUAL = R == 3 && N == 3 };
    typedef unsigned entry;
    typedef unsigned sum;
    typedef running<R> heights;

    static __device__ __forceinline__ void make(const struct args &a, const struct picture &f,
                                                const struct bounds &b, bool inside, int x, int y,
                                                entry *to, int)
    {
        unsigned v = 0;
        for (int c = 0; c < N && c < a.planes; c++)
            v |= (inside ? ((const uint8_t *)f.data[c] + y * f.stride[c])[(int64_t)x * a.pitch]
                         : (unsigned)needed_sample(a, f, b, c, x, y))
                 << 8 * c;
        *to = v;
    }

    static __device__ __forceinline__ void squares(const view<entry> &p, const view<entry> &q,
                                                   int g, int, sum out[2])
    {
        unsigned both = 0, d;
#pragma unroll
        for (int i = 1; i <= 2 * R; i++) {
            d = __vabsdiffu4(p.at(i), q.at(i + g));
            both = __dp4a(d, d, both);
        }
        d = __vabsdiffu4(p.at(0), q.at(g));
        out[0] = __dp4a(d, d, both);
        d = __vabsdiffu4(p.at(2 * R + 1), q.at(2 * R + 1 + g));
        out[1] = __dp4a(d, d, both);
    }

    static __device__ __forceinline__ sum start()
    {
        return 0;
    }
    static __device__ __forceinline__ float bias(float, float bias)
    {
        return bias;
    }
    static __device__ __forceinline__ float exponent(sum v, float scale, float bias)
    {
        return fmaf((float)(int)v, -scale, bias);
    }

    static __device__ __forceinline__ void values(const view<entry> &q, int,
                                                  float v[TOGETHER + 1][N])
    {
        for (int i = 0; i <= TOGETHER; i++) {
            unsigned word = q.at(R + i);
            for (int c = 0; c < N; c++)
                v[i][c] = byte_of(word, c);
        }
    }
};

/* Planes of floats, and a further one for their luma. */
template <int R_, int N_, int LUMA> struct floats {
    enum { R = R_, N = N_, H = N_ == 1 ? 12 : 8, PLANES = N + LUMA, CENTERED = 1, USUAL = 0 };
    typedef float entry;
    typedef float sum;
    typedef pairs<R> heights;

    static __device__ __forceinline__ void make(const struct args &a, const struct picture &f,
                                                const struct bounds &b, bool inside, int x, int y,
                                                entry *to, int plane)
    {
        float v[N];
        for (int c = 0; c < N; c++) {
            v[c] = inside ? load(a.type, f.data[c] + y * f.stride[c], (int64_t)x * a.pitch)
                          : needed_sample(a, f, b, c, x, y);
            to[c * plane] = v[c];
        }
        if (LUMA)
            to[N * plane] = luma_of(v[0], v[1 % N], v[2 % N]);
    }

    static __device__ __forceinline__ float square(const view<entry> &p, const view<entry> &q,
                                                   int i, int g, int plane)
    {
        float d = 0, sum = 0;
        for (int c = LUMA ? N : 0; c < PLANES; c++) {
            d = __fsub_rn(q.at(i + g, c * plane), p.at(i, c * plane));
            sum = fmaf(d, d, sum);
        }
        return sum;
    }

    static __device__ __forceinline__ void squares(const view<entry> &p, const view<entry> &q,
                                                   int g, int plane, sum out[2])
    {
        float both = square(p, q, 1, g, plane);
#pragma unroll
        for (int i = 2; i <= 2 * R; i++)
            both = __fadd_rn(both, square(p, q, i, g, plane));
        out[0] = __fadd_rn(both, square(p, q, 0, g, plane));
        out[1] = __fadd_rn(both, square(p, q, 2 * R + 1, g, plane));
    }

    static __device__ __forceinline__ sum start()
    {
        return 0;
    }
    static __device__ __forceinline__ float bias(float, float bias)
    {
        return bias;
    }
    /* No weight where the sum is not finite. */
    static __device__ __forceinline__ float exponent(sum v, float scale, float bias)
    {
        return v <= FLT_MAX ? fminf(fmaf(v, -scale, bias), 0) : -INFINITY;
    }

    static __device__ __forceinline__ void values(const view<entry> &q, int plane,
                                                  float v[TOGETHER + 1][N])
    {
        for (int i = 0; i <= TOGETHER; i++)
            for (int c = 0; c < N; c++)
                v[i][c] = q.at(R + i, c * plane);
    }
};

/* ---- the kernel for these */

/* Sums of a thread: of each pixel's values times weights, then of the weights. */
template <typename P> struct sums {
    float v[P::H][2][P::N + 1];

    __device__ __forceinline__ void clear()
    {
        for (int y = 0; y < P::H; y++)
            for (int c = 0; c < 2; c++)
                for (int i = 0; i <= P::N; i++)
                    v[y][c][i] = 0;
    }
    __device__ __forceinline__ void add(const sums &o)
    {
        for (int y = 0; y < P::H; y++)
            for (int c = 0; c < 2; c++)
                for (int i = 0; i <= P::N; i++)
                    v[y][c][i] = __fadd_rn(v[y][c][i], o.v[y][c][i]);
    }
};

/* Takes the row of pixels whose sums of squares are complete: of each value or, where CENTERED, of
 * its difference from the pixel. */
template <typename P>
static __device__ __forceinline__ void
add_row(float s[2][P::N + 1], const typename P::sum squares[TOGETHER][2],
        const view<typename P::entry> &p, const view<typename P::entry> &q, int plane, float scale,
        const float bias[TOGETHER])
{
    float v[TOGETHER + 1][P::N];
    P::values(q, plane, v);
#pragma unroll
    for (int g = 0; g < TOGETHER; g++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            float w = power(P::exponent(squares[g][c], scale, bias[g]));
            s[c][P::N] = __fadd_rn(s[c][P::N], w);
#pragma unroll
            for (int i = 0; i < P::N; i++) {
                if (!P::CENTERED) {
                    s[c][i] = fmaf(w, v[g + c][i], s[c][i]);
                    continue;
                }
                float d = __fsub_rn(v[g + c][i], p.at(P::R + c, i * plane));
                s[c][i] = w > 0 ? fmaf(w, d, s[c][i]) : s[c][i];
            }
        }
}

/* TOGETHER offsets from p to q on, down the strip. p and q are at the first row of the patches. */
template <typename P>
static __device__ __forceinline__ void walk(sums<P> &s, view<typename P::entry> p,
                                            view<typename P::entry> q, int pitch, int plane,
                                            float scale, const float bias[TOGETHER])
{
    typedef typename P::heights heights;
    heights h[TOGETHER][2] = {
        {P::start(), P::start()}, {P::start(), P::start()}, {P::start(), P::start()}};
    view<typename P::entry> center = q, itself = p;
    for (int r = 0; r < P::R; r++) {
        center.step(pitch);
        itself.step(pitch);
    }
#pragma unroll
    for (int j = 0; j < P::H + 2 * P::R; j++) {
        typename P::sum row[TOGETHER][2];
#pragma unroll
        for (int g = 0; g < TOGETHER; g++) {
            P::squares(p, q, g, plane, row[g]);
            row[g][0] = h[g][0].add(j, row[g][0]);
            row[g][1] = h[g][1].add(j, row[g][1]);
        }
        p.step(pitch);
        q.step(pitch);
        if (j < 2 * P::R)
            continue;
        add_row<P>(s.v[j - 2 * P::R], row, itself, center, plane, scale, bias);
        center.step(pitch);
        itself.step(pitch);
    }
}

template <typename P>
static __device__ __forceinline__ void finish(const struct args &a, const sums<P> &s, int x0,
                                              int y0)
{
#pragma unroll
    for (int r = 0; r < P::H; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            int x = x0 + c, y = y0 + r;
            if (x < a.out.x || x >= a.out.x + a.out.w || y >= a.out.y + a.out.h)
                continue;
            float weight = s.v[r][c][P::N];
            for (int i = 0; i < P::N && i < a.planes; i++) {
                float v = __fdiv_rn(s.v[r][c][i], weight);
                if (P::CENTERED) {
                    float center = sample(a, a.frame[0], i, x + a.shift_x, y + a.shift_y);
                    v = weight > 0 ? __fadd_rn(center, v) : center;
                }
                store(a.type, tamis_row<char>(a.out, i, y), (int64_t)x * a.out.pitch, v);
            }
        }
}

template <typename P, int PITCH>
__global__ void __launch_bounds__(THREADS) strips(const struct args a)
{
    typedef typename P::entry entry;
    TAMIS_SHARED_BYTES(shared);
    const int rows = P::H + 2 * (a.sy + P::R), columns = COLUMNS + 2 * (a.sx + P::R);
    const int pitch = PITCH ? PITCH : a.tile_pitch, half = pitch / 2, plane = rows * pitch;
    const int t = threadIdx.x;
    entry *tile = (entry *)shared, *own = tile + P::PLANES * plane;
    int x0 = a.first + (int)(blockIdx.x % a.strips) * COLUMNS;
    int y0 = a.out.y + (int)(blockIdx.x / a.strips) * P::H;
    int left = x0 + a.shift_x - a.sx - P::R, top = y0 + a.shift_y - P::R;
    sums<P> s, total;
    s.clear();
    total.clear();
    if (a.frames > 1) /* planes are as far from each other as the tile's */
        stage<P>(a, a.frame[0], left, top, columns, P::H + 2 * P::R, own, plane);
    for (int f = 0; f < a.frames; f++) {
        __syncthreads();
        stage<P>(a, a.frame[f], left, top - a.sy, columns, rows, tile, plane);
        __syncthreads();
        const entry *here = a.frames > 1 ? own : tile + a.sy * pitch;
        for (int dy = 0; dy <= 2 * a.sy; dy++) {
            for (int dx = 0; dx <= 2 * a.sx; dx += TOGETHER) {
                float bias[TOGETHER];
                for (int g = 0; g < TOGETHER; g++)
                    bias[g] = dx + g <= 2 * a.sx ? P::bias(a.scale, a.bias) : -INFINITY;
                walk<P>(s, view<entry>(here, half, t, a.sx),
                        view<entry>(tile + dy * pitch, half, t, dx), pitch, plane, a.scale, bias);
            }
            if (P::CENTERED) { /* long sums of floats lose precision */
                total.add(s);
                s.clear();
            }
        }
    }
    finish<P>(a, P::CENTERED ? total : s, x0 + 2 * t, y0);
}

/* ---- the kernel for the rest: a warp has 32 columns. Sums are compensated for their rounding. */

static __device__ __forceinline__ float squared(const struct args &a, const struct picture &f,
                                                int x, int y, int dx, int dy)
{
    float d[TAMIS_MAX_CHANNELS] = {0}, sum = 0;
    for (int p = 0; p < TAMIS_MAX_CHANNELS && p < a.planes; p++) {
        d[p] = __fsub_rn(sample(a, f, p, x + dx, y + dy), sample(a, a.frame[0], p, x, y));
        sum = fmaf(d[p], d[p], sum);
    }
    if (!a.luma)
        return sum;
    float l = luma_of(d[0], d[1], d[2]);
    return sum <= FLT_MAX ? __fmul_rn(l, l) : NAN;
}

/* Adds v to s[0], whose error so far is s[behind]. */
static __device__ __forceinline__ void add_exactly(float *s, int behind, float v)
{
    float y = __fsub_rn(v, s[behind]), t = __fadd_rn(s[0], y);
    s[behind] = __fsub_rn(__fsub_rn(t, s[0]), y);
    s[0] = t;
}

static size_t left_floats(const struct args *a)
{
    return (size_t)32 + 2 * a->px + 32 * (2 * a->py + 1) + 32 * LEFT_ROWS * 2 * (a->planes + 1);
}

/* One offset, for the rows y0 .. of a strip. */
static __device__ __forceinline__ void left_offset(const struct args &a, int frame, int dx, int dy,
                                                   int x0, int y0, int rows, float *row,
                                                   float *kept, float *acc)
{
    const struct picture &f = a.frame[frame];
    int lane = threadIdx.x % 32, width = 2 * a.px + 1, height = 2 * a.py + 1;
    int end = min(x0 + 32, a.out.x + a.out.w), behind = 32 * LEFT_ROWS * (a.planes + 1);
    for (int j = 0; j < rows + 2 * a.py; j++) {
        for (int i = lane; i < 32 + 2 * a.px; i += 32)
            if (x0 + i < end + 2 * a.px)
                row[i] =
                    squared(a, f, x0 + i - a.px + a.shift_x, y0 + j - a.py + a.shift_y, dx, dy);
        __syncwarp();
        float sum = 0;
        for (int i = 0; i < width && x0 + lane < end; i++)
            sum = __fadd_rn(sum, row[lane + i]);
        kept[j % height * 32 + lane] = sum;
        __syncwarp();
        if (j < 2 * a.py || x0 + lane >= end)
            continue;
        sum = 0;
        for (int i = 1; i <= height; i++)
            sum = __fadd_rn(sum, kept[(j + i) % height * 32 + lane]);
        float w = sum <= FLT_MAX ? power(fminf(fmaf(sum, -a.scale, a.bias), 0)) : 0;
        if (!(w > 0))
            continue;
        int y = j - 2 * a.py, x = x0 + lane + a.shift_x, v = y0 + y + a.shift_y;
        float *s = acc + y * (a.planes + 1) * 32 + lane;
        for (int p = 0; p < a.planes; p++)
            add_exactly(s + 32 * p, behind,
                        __fmul_rn(w, __fsub_rn(sample(a, f, p, x + dx, v + dy),
                                               sample(a, a.frame[0], p, x, v))));
        add_exactly(s + 32 * a.planes, behind, w);
    }
}

__global__ void __launch_bounds__(THREADS) left(const struct args a, int64_t count, int floats)
{
    TAMIS_SHARED_BYTES(shared);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t strip = (int64_t)blockIdx.x * (THREADS / 32) + warp;
    float *row = (float *)shared + warp * floats, *kept = row + 32 + 2 * a.px;
    float *acc = kept + 32 * (2 * a.py + 1);
    if (strip >= count)
        return;
    int x0 = a.out.x + (int)(strip % a.strips) * 32;
    int y0 = a.out.y + (int)(strip / a.strips) * LEFT_ROWS;
    int rows = min((int)LEFT_ROWS, a.out.y + a.out.h - y0);
    for (int i = lane; i < 32 * LEFT_ROWS * 2 * (a.planes + 1); i += 32)
        acc[i] = 0;
    __syncwarp();
    for (int f = 0; f < a.frames; f++)
        for (int dy = -a.sy; dy <= a.sy; dy++)
            for (int dx = -a.sx; dx <= a.sx; dx++)
                left_offset(a, f, dx, dy, x0, y0, rows, row, kept, acc);
    int x = x0 + lane;
    for (int r = 0; r < rows && x < a.out.x + a.out.w; r++) {
        const float *s = acc + r * (a.planes + 1) * 32 + lane;
        for (int p = 0; p < a.planes; p++) {
            float v = sample(a, a.frame[0], p, x + a.shift_x, y0 + r + a.shift_y);
            if (s[32 * a.planes] > 0)
                v = __fadd_rn(v, __fdiv_rn(s[32 * p], s[32 * a.planes]));
            store(a.type, tamis_row<char>(a.out, p, y0 + r), (int64_t)x * a.out.pitch, v);
        }
    }
}

/* ---- launches */

static tamis_status launch_left(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int floats = (int)left_floats(a);
    a->strips = tamis_tiles(w->part.w, 32);
    int64_t count = a->strips * tamis_tiles(w->part.h, LEFT_ROWS);
    TAMIS_LAUNCH(left, tamis_grid(tamis_tiles(count, THREADS / 32), 1, 1), THREADS,
                 (size_t)floats * sizeof(float) * (THREADS / 32), w->stream, *a, count, floats);
    return tamis_cuda_launched("nlmeans", fault);
}

template <typename P, int PITCH>
static tamis_status launch_pitch(const tamis_gpu_work *w, const struct args *a, size_t bytes,
                                 tamis_gpu_fault *fault)
{
    tamis_status status = tamis_cuda_check(
        cudaFuncSetAttribute(strips<P, PITCH>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             MAX_SHARED),
        "nlmeans: shared memory", fault);
    if (status != TAMIS_OK)
        return status;
    int64_t rows = tamis_tiles(w->part.h, P::H);
    TAMIS_LAUNCH((strips<P, PITCH>), tamis_grid(a->strips, rows, 1), THREADS, bytes, w->stream, *a);
    return tamis_cuda_launched("nlmeans", fault);
}

template <typename P>
static tamis_status launch_strips(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int rows = P::H + 2 * (a->sy + P::R), own = a->frames > 1 ? P::H + 2 * P::R : 0;
    /* Offsets side by side may end outside the search window. */
    int pitch = COLUMNS + 2 * (a->sx + P::R) + TOGETHER + 1;
    bool usual = P::USUAL && pitch <= PITCH_USUAL;
    a->tile_pitch = usual ? PITCH_USUAL : pitch + pitch % 2;
    /* The planes of the current frame's are as far from each other as the tile's. */
    size_t lines = (size_t)rows * (own ? 2 * P::PLANES - 1 : P::PLANES) + (size_t)own;
    size_t bytes = sizeof(typename P::entry) * (size_t)a->tile_pitch * lines;
    if (bytes > MAX_SHARED)
        return launch_left(w, a, fault);
    a->first = w->part.x - w->part.x % 2;
    a->strips = tamis_tiles(w->part.x - a->first + w->part.w, COLUMNS);
    return usual ? launch_pitch < P, P::USUAL ? PITCH_USUAL : 0 > (w, a, bytes, fault)
                 : launch_pitch<P, 0>(w, a, bytes, fault);
}

template <int R>
static tamis_status launch_near(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    bool bytes = a->type == TAMIS_U8 && !a->luma && a->bias == 0;
    if (bytes && a->planes == 1)
        return launch_strips<gray<R>>(w, a, fault);
    if (bytes)
        return a->planes == 3 ? launch_strips<pixels<R, 3>>(w, a, fault)
                              : launch_strips<pixels<R, 4>>(w, a, fault);
    if (a->planes == 1)
        return launch_strips<floats<R, 1, 0>>(w, a, fault);
    if (a->planes == 3)
        return a->luma ? launch_strips<floats<R, 3, 1>>(w, a, fault)
                       : launch_strips<floats<R, 3, 0>>(w, a, fault);
    return launch_left(w, a, fault);
}

static tamis_status launch_group(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    if (a->px == a->py)
        switch (a->px) {
        case 1:
            return launch_near<1>(w, a, fault);
        case 2:
            return launch_near<2>(w, a, fault);
        case 3:
            return launch_near<3>(w, a, fault);
        case 4:
            if (a->type == TAMIS_U8 && a->planes == 1 && a->bias == 0)
                return launch_strips<gray<4>>(w, a, fault);
            break;
        default:
            break;
        }
    return launch_left(w, a, fault);
}

/* Plane p of a picture whose pixels have the given step; skip bytes into a pixel. */
static void take_plane(struct picture *to, int i, const tamis_gpu_planes *planes, int p,
                       size_t skip)
{
    to->data[i] = planes->data[p] + skip;
    to->stride[i] = planes->stride[p];
}

/* The planes first .. first + count - 1, of which sample c of each pixel. */
static struct args make_args(const tamis_gpu_work *w, const struct nlmeans_coef *k, tamis_type type,
                             int first, int count, int c)
{
    struct args a = {};
    size_t size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2, skip = (size_t)c * size;
    a.type = type;
    a.planes = count;
    a.luma = first == 0 && k->luma;
    a.pitch = w->src_pitch;
    a.w = w->w;
    a.h = w->h;
    a.border = w->border;
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.sx = k->sx;
    a.sy = k->sy;
    a.px = k->px;
    a.py = k->py;
    a.scale = k->log2_range / (a.luma ? 1 : (float)count);
    a.bias = k->log2_floor;
    a.out = tamis_output_of(w);
    for (int i = 0; i < count; i++) {
        a.outside[i] = w->outside[first + i + c];
        a.out.data[i] = w->dst.data[first + i] + skip;
        a.out.stride[i] = w->dst.stride[first + i];
        take_plane(&a.frame[0], i, &w->src, first + i, skip);
    }
    a.frames = 1;
    for (int f = -k->frames; f <= k->frames; f++) {
        const tamis_gpu_planes *other = &w->frame[TAMIS_MAX_FRAMES + f];
        if (f == 0 || !other->data[0])
            continue;
        for (int i = 0; i < count; i++)
            take_plane(&a.frame[a.frames], i, other, first + i, skip);
        a.frames++;
    }
    return a;
}

static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *,
                           tamis_gpu_fault *fault)
{
    const struct nlmeans_coef *k = (const struct nlmeans_coef *)node->coef;
    int count = k->colors < w->planes ? k->colors : w->planes;
    tamis_status status = TAMIS_OK;
    for (int first = 0; first < w->planes && status == TAMIS_OK; first += count, count = 1)
        for (int c = 0; c < w->step && status == TAMIS_OK; c++) {
            struct args a = make_args(w, k, node->work, first, count, c);
            status = launch_group(w, &a, fault);
        }
    return status;
}

/* ---- what strength 0 and a search window of one pixel do */

template <typename T>
__global__ void __launch_bounds__(256) copy(tamis_inputs<T> in, tamis_output out, int step)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    int64_t row = (int64_t)out.w * step;
    if (i >= row * out.h)
        return;
    int y = out.y + (int)(i / row), sample = (int)(i % row);
    int x = out.x + sample / step, c = sample % step;
    const tamis_input<T> &from = in.plane[blockIdx.y];
    tamis_row<T>(out, blockIdx.y, y)[(int64_t)x * out.pitch + c] = from.get(x, y, c);
}

template <typename T>
static tamis_status launch_copy(const tamis_gpu_work *w, const tamis_node *, const void *,
                                tamis_gpu_fault *fault)
{
    tamis_gpu_work moved = *w;
    for (int p = 0; p < w->planes; p++)
        moved.src.data[p] +=
            w->shift_y * w->src.stride[p] + (int64_t)w->shift_x * w->src_pitch * (int64_t)sizeof(T);
    int64_t count = (int64_t)w->part.w * w->step * w->part.h;
    TAMIS_LAUNCH(copy<T>, tamis_grid(tamis_tiles(count, 256), 1, w->planes), 256, 0, w->stream,
                 tamis_inputs_of<T>(&moved), tamis_output_of(w), w->step);
    return tamis_cuda_launched("nlmeans copy", fault);
}

TAMIS_CUDA_KERNELS(nlmeans) = {
    {"means", TAMIS_U8, 1, NULL, NULL, launch},
    {"means", TAMIS_U16, 1, NULL, NULL, launch},
    {"means", TAMIS_S16, 1, NULL, NULL, launch},
    {"means", TAMIS_F32, 1e-5, NULL, NULL, launch},
    {"copy", TAMIS_U8, 0, NULL, NULL, launch_copy<uint8_t>},
    {"copy", TAMIS_U16, 0, NULL, NULL, launch_copy<uint16_t>},
    {"copy", TAMIS_S16, 0, NULL, NULL, launch_copy<int16_t>},
    {"copy", TAMIS_F32, 0, NULL, NULL, launch_copy<float>},
    {},
};
