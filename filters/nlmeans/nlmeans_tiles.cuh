/* SPDX-License-Identifier: Apache-2.0 */
/* What strips of non-local means compare, as it lies in shared memory: bytes, pixels, floats. */
#ifndef TAMIS_NLMEANS_TILES_CUH
#define TAMIS_NLMEANS_TILES_CUH

#include <float.h>

#include "nlmeans_device.cuh"

namespace
{

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

} // namespace

#endif
