/* SPDX-License-Identifier: Apache-2.0 */
/* Medians of 3 x 3 and 5 x 5 integers: threads go down strips of a few samples, all in registers.
 *
 * A thread loads words of a row and takes pairs of samples `distance` apart from them as they lie:
 * a byte needs no more than to be the upper half of its 16 bits, for whatever the lower half holds
 * decides only among equals. Each row is sorted once for each pair of outputs. */
#ifndef TAMIS_MEDIAN_MARCH_CUH
#define TAMIS_MEDIAN_MARCH_CUH

#include "median_sort.cuh"

enum { MARCH_WARPS = 4 };

/* Words that a thread has of a row: CENTER where its outputs are, SIDE on either side. */
template <typename T, int K, int STEP> struct march_row {
    enum {
        PER_WORD = 4 / sizeof(T),
        CENTER = sizeof(T) == 2 || K == 3 ? 2 : 1,
        SIDE = (K / 2 * STEP + PER_WORD - 1) / PER_WORD,
        WORDS = 2 * SIDE + CENTER,
        SAMPLES = CENTER * PER_WORD,
        PAIRS = SAMPLES / 2, /* also the distance of a pair's lanes */
    };
    unsigned word[WORDS];

    /* Samples c and c + PAIRS, counted from the first output's. */
    __device__ __forceinline__ unsigned pair(int c) const
    {
        int a = c + SIDE * PER_WORD, b = a + PAIRS;
        unsigned select = sizeof(T) == 1 ? (unsigned)(a % 4 * 0x11 + b % 4 * 0x1100 + 0x4400)
                                         : (a % 2 ? 0x32u : 0x10u) | (b % 2 ? 0x7600u : 0x5400u);
        return __byte_perm(word[a / PER_WORD], word[b / PER_WORD], select);
    }
};

/* The word whose first sample is j, from wherever its samples come: those outside of left .. right
 * may not be read. */
template <typename T>
static __device__ __noinline__ unsigned march_gather(const tamis_input<T> *in, int left, int right,
                                                     int j, int y)
{
    unsigned w = 0;
#pragma unroll 1
    for (int n = 0; n < 4 / (int)sizeof(T); n++) {
        T v = in->sample(min(max(j + n, left), right), y);
        unsigned bits = sizeof(T) == 1 ? (unsigned)(uint8_t)v : (unsigned)(uint16_t)v;
        w |= bits << (8 * (int)sizeof(T) * n);
    }
    return w;
}

/* Where outputs and inputs of a thread are. */
template <typename T, int K, int STEP> struct march {
    typedef march_row<T, K, STEP> row_words;
    enum { PAIRS = row_words::PAIRS };
    const tamis_input<T> &in;
    int i;            /* first output's sample of the input */
    int left, right;  /* samples that may be read, borders aside */
    int top, bottom;  /* rows likewise */
    bool aligned;     /* words may be loaded at once, */
    bool inside;      /* and all, of all rows of the strip, are inside of those and of the image */
    const char *base; /* sample i of row 0 */
    int64_t stride;

    static __device__ __forceinline__ unsigned flip(unsigned w)
    {
        return (T)-1 < 0 ? w ^ 0x80008000u : w;
    }

    /* A word where not all are inside. */
    __device__ __forceinline__ unsigned somewhere(int j, int y) const
    {
        bool here = aligned && j >= max(left, 0) && (unsigned)y < (unsigned)in.h &&
                    j + row_words::PER_WORD - 1 <= right &&
                    (int64_t)j + row_words::PER_WORD <= (int64_t)in.w * STEP;
        return here ? *(const unsigned *)(in.row(y) + j) : march_gather(&in, left, right, j, y);
    }

    __device__ __forceinline__ row_words load_outside(int y) const
    {
        row_words r;
        y = min(max(y, top), bottom);
#pragma unroll
        for (int n = 0; n < row_words::WORDS; n++)
            r.word[n] = somewhere(i + (n - row_words::SIDE) * row_words::PER_WORD, y);
        return r;
    }

    static __device__ __forceinline__ row_words load_inside(const char *p)
    {
        enum { SIDE = row_words::SIDE, CENTER = row_words::CENTER };
        const unsigned *w = (const unsigned *)p;
        row_words r;
#pragma unroll
        for (int n = 0; n < SIDE; n++) {
            r.word[n] = w[n - SIDE];
            r.word[SIDE + CENTER + n] = w[CENTER + n];
        }
        if constexpr (CENTER == 2) {
            uint2 both = *(const uint2 *)p;
            r.word[SIDE] = both.x;
            r.word[SIDE + CENTER - 1] = both.y;
        } else {
            r.word[SIDE] = w[0];
        }
        return r;
    }

    /* Rows y and y + 1. */
    __device__ __forceinline__ void load(row_words *r, int y) const
    {
        if (inside) {
            const char *p = base + y * stride;
            r[0] = load_inside(p);
            r[1] = load_inside(p + stride);
        } else {
            r[0] = load_outside(y);
            r[1] = load_outside(y + 1);
        }
    }

    /* The K samples of each pair's windows, sorted. */
    static __device__ __forceinline__ void sorted(unsigned (*v)[K], row_words r)
    {
#pragma unroll
        for (int n = 0; n < row_words::WORDS; n++)
            r.word[n] = flip(r.word[n]);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
#pragma unroll
            for (int j = 0; j < K; j++)
                v[p][j] = r.pair(p + (j - K / 2) * STEP);
            if constexpr (K == 3) {
                unsigned low = __vimin3_u16x2(v[p][0], v[p][1], v[p][2]);
                unsigned high = __vimax3_u16x2(v[p][0], v[p][1], v[p][2]);
                v[p][1] = v[p][0] ^ v[p][1] ^ v[p][2] ^ low ^ high;
                v[p][0] = low;
                v[p][2] = high;
            } else {
                sort<pairs, K>(v[p]);
            }
        }
    }
};

/* The outputs of a thread's row go to samples i .. of row: all, or those in begin .. end. */
template <typename T, int PAIRS>
static __device__ __forceinline__ void march_store(T *row, int i, int begin, int end, bool all,
                                                   const unsigned *v)
{
    unsigned w[PAIRS == 4 || sizeof(T) == 2 ? 2 : 1];
    if constexpr (sizeof(T) == 2) { /* pairs are 0 2 and 1 3 */
        w[0] = march<T, 3, 1>::flip(__byte_perm(v[0], v[1], 0x5410));
        w[1] = march<T, 3, 1>::flip(__byte_perm(v[0], v[1], 0x7632));
    } else if constexpr (PAIRS == 2) {
        w[0] = __byte_perm(v[0], v[1], 0x7351);
    } else {
        unsigned a = __byte_perm(v[0], v[1], 0x7351), b = __byte_perm(v[2], v[3], 0x7351);
        w[0] = __byte_perm(a, b, 0x5410);
        w[1] = __byte_perm(a, b, 0x7632);
    }
    if (all) {
        if constexpr (sizeof w == 8)
            *(uint2 *)(row + i) = make_uint2(w[0], w[1]);
        else
            *(unsigned *)(row + i) = w[0];
        return;
    }
#pragma unroll
    for (int n = 0; n < 2 * PAIRS; n++)
        if (i + n >= begin && i + n < end)
            row[i + n] = (T)(w[n * sizeof(T) / 4] >> n * sizeof(T) % 4 * 8);
}

static __device__ __forceinline__ unsigned march_median(const unsigned *a, const unsigned *b,
                                                        const unsigned *c)
{
    unsigned low = __vimax3_u16x2(a[0], b[0], c[0]), high = __vimin3_u16x2(a[2], b[2], c[2]);
    unsigned mid = __vmaxu2(__vminu2(a[1], b[1]), __vminu2(__vmaxu2(a[1], b[1]), c[1]));
    return __vmaxu2(__vminu2(low, mid), __vminu2(__vmaxu2(low, mid), high));
}

/* Two rows of outputs at a time, of windows that begin at rows y and y + 1. The next rows have
 * been loaded before they are needed. */
template <typename M> struct march_3 {
    enum { PAIRS = M::PAIRS };
    unsigned a[PAIRS][3], b[PAIRS][3]; /* rows y, y + 1 */
    typename M::row_words ahead[2];    /* y + 2, y + 3 */

    __device__ __forceinline__ void begin(const M &m, int y)
    {
        m.load(ahead, y);
        M::sorted(a, ahead[0]);
        M::sorted(b, ahead[1]);
        m.load(ahead, y + 2);
    }
    __device__ __forceinline__ void down(const M &m, int y, unsigned (*out)[PAIRS])
    {
        unsigned c[PAIRS][3], d[PAIRS][3];
        typename M::row_words now[2] = {ahead[0], ahead[1]};
        m.load(ahead, y + 4);
        M::sorted(c, now[0]);
        M::sorted(d, now[1]);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            out[0][p] = march_median(b[p], c[p], a[p]);
            out[1][p] = march_median(b[p], c[p], d[p]);
            copy<pairs, 3>(a[p], c[p]);
            copy<pairs, 3>(b[p], d[p]);
        }
    }
};

template <typename M> struct march_5 {
    enum { PAIRS = M::PAIRS };
    unsigned row_0[PAIRS][5], row_2[PAIRS][5], row_3[PAIRS][5];
    unsigned block[PAIRS][10];      /* rows y + 1 and y + 2 merged */
    typename M::row_words ahead[2]; /* y + 4, y + 5 */

    __device__ __forceinline__ void begin(const M &m, int y)
    {
        unsigned row_1[PAIRS][5];
        m.load(ahead, y);
        M::sorted(row_0, ahead[0]);
        M::sorted(row_1, ahead[1]);
        m.load(ahead, y + 2);
        M::sorted(row_2, ahead[0]);
        M::sorted(row_3, ahead[1]);
        m.load(ahead, y + 4);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            copy<pairs, 5>(block[p], row_1[p]);
            copy<pairs, 5>(block[p] + 5, row_2[p]);
            merge<pairs, 5, 5>(block[p]);
        }
    }
    __device__ __forceinline__ void down(const M &m, int y, unsigned (*out)[PAIRS])
    {
        unsigned row_4[PAIRS][5], row_5[PAIRS][5];
        typename M::row_words now[2] = {ahead[0], ahead[1]};
        m.load(ahead, y + 6);
        M::sorted(row_4, now[0]);
        M::sorted(row_5, now[1]);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            unsigned v[20];
            copy<pairs, 10>(v, block[p]);
            copy<pairs, 5>(v + 10, row_3[p]);
            copy<pairs, 5>(v + 15, row_4[p]);
            merge<pairs, 5, 5>(v + 10);
            copy<pairs, 10>(block[p], v + 10);
            combine<pairs, 5, 2, 2>(v);
            out[0][p] = median_of<pairs, 5>(v, row_0[p]);
            out[1][p] = median_of<pairs, 5>(v, row_5[p]);
            copy<pairs, 5>(row_0[p], row_2[p]);
            copy<pairs, 5>(row_2[p], row_4[p]);
            copy<pairs, 5>(row_3[p], row_5[p]);
        }
    }
};

template <typename T, int K, int STEP>
__global__ void __launch_bounds__(32 * MARCH_WARPS)
    march_down(const __grid_constant__ sort_args<T> a)
{
    typedef march<T, K, STEP> M;
    enum { PAIRS = M::row_words::PAIRS, SAMPLES = M::row_words::SAMPLES };
    int begin = a.out.x * STEP, end = (a.out.x + a.out.w) * STEP;
    int out_bottom = a.out.y + a.out.h, r = K / 2;
    int64_t strip = blockIdx.x / a.tiles;
    int first = (begin + a.shift_x) / SAMPLES * SAMPLES;
    int64_t i = first + ((int64_t)(blockIdx.x % a.tiles) * 32 + threadIdx.x) * SAMPLES;
    int64_t top = a.out.y + (strip * MARCH_WARPS + threadIdx.y) * a.height;
    if (top >= out_bottom || i >= end + a.shift_x)
        return;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int y = (int)top, stop = min(out_bottom, y + a.height), down = a.shift_y - r;
    int side = M::row_words::SIDE * M::row_words::PER_WORD;
    M m = {in,
           (int)i,
           begin + a.shift_x - r * STEP,
           end - 1 + a.shift_x + r * STEP,
           a.out.y + down,
           out_bottom - 1 + a.shift_y + r,
           a.aligned >= 4 * M::row_words::CENTER,
           false,
           in.data() + i * (int)sizeof(T),
           in.stride};
    /* Loads go two rows beyond the last. */
    m.inside = m.aligned && i - side >= max(m.left, 0) &&
               i + SAMPLES + side <= (int64_t)in.w * STEP && i + SAMPLES + side - 1 <= m.right &&
               y + down >= max(m.top, 0) && stop + down + K + 2 <= min(m.bottom, in.h - 1);
    int x = (int)i - a.shift_x;
    bool all = m.aligned && x % SAMPLES == 0 && x >= begin && x + SAMPLES <= end;
    typename std::conditional<K == 3, march_3<M>, march_5<M>>::type state;
    state.begin(m, y + down);
    T *row = tamis_row<T>(a.out, blockIdx.y, y);
    int64_t stride = a.out.stride[blockIdx.y];
    for (; y < stop; y += 2) {
        unsigned out[2][PAIRS];
        state.down(m, y + down, out);
        march_store<T, PAIRS>(row, x, begin, end, all, out[0]);
        row = (T *)((char *)row + stride);
        if (y + 1 < stop)
            march_store<T, PAIRS>(row, x, begin, end, all, out[1]);
        row = (T *)((char *)row + stride);
    }
}

template <typename T, int K, int STEP>
static tamis_status launch_march_step(const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    enum { SAMPLES = march_row<T, K, STEP>::SAMPLES };
    sort_args<T> a = sort_args_of<T>(w, K);
    /* Long strips sort few rows twice; short ones are more, for small images. */
    int64_t samples = (int64_t)w->part.w * w->step * w->part.h * w->planes * w->count;
    a.height = samples > 1 << 24 ? 32 : samples > 1 << 22 ? 16 : 8;
    a.tiles = tamis_tiles((int64_t)w->part.w * w->step + SAMPLES - 1, 32 * SAMPLES);
    TAMIS_LAUNCH((march_down<T, K, STEP>),
                 tamis_grid(w, a.tiles, tamis_tiles(w->part.h, MARCH_WARPS * a.height), w->planes),
                 dim3(32, MARCH_WARPS), 0, w->stream, a);
    return tamis_cuda_launched("median", fault);
}

template <typename T, int K>
static tamis_status launch_march(const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    switch (w->step) {
    case 1:
        return launch_march_step<T, K, 1>(w, fault);
    case 2:
        return launch_march_step<T, K, 2>(w, fault);
    case 3:
        return launch_march_step<T, K, 3>(w, fault);
    default:
        return launch_march_step<T, K, 4>(w, fault);
    }
}

#endif
