/* SPDX-License-Identifier: Apache-2.0 */
/* Medians of 3 x 3 and 5 x 5 integers: threads go down strips of a few samples, all in registers.
 *
 * A thread loads words of a row and takes pairs of samples `distance` apart from them as they lie:
 * a byte needs no more than to be the upper half of its 16 bits, for whatever the lower half holds
 * decides only among equals. Each row is sorted once for each pair of outputs. */
#ifndef TAMIS_MEDIAN_MARCH_CUH
#define TAMIS_MEDIAN_MARCH_CUH

#include "median_sort.cuh"

/* Warps of a block; rows of a strip. */
enum { MARCH_WARPS = 4, MARCH_LEAST = 4, MARCH_MOST = 64 };

/* Blocks on a multiprocessor: with more, 3 x 3 has too few registers for loading rows early. */
template <int K> struct march_blocks {
    enum { COUNT = K == 3 ? 5 : 4 };
};

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

template <typename T> static __device__ __forceinline__ unsigned march_flip(unsigned w)
{
    return (T)-1 < 0 ? w ^ 0x80008000u : w;
}

/* Of a and two numbers whose sum is `others`, the one that is neither the lowest nor the highest.
 * By multiplications with 1, as minima, maxima and whatever else could do it share another unit,
 * the busiest. Both lanes at once: what one carries into the other is taken away again. */
static __device__ __forceinline__ unsigned march_middle(unsigned a, unsigned others, unsigned low,
                                                        unsigned high, unsigned one)
{
    return a * one + others + low * (0 - one) + high * (0 - one);
}

/* What stands for the samples before and behind a thread's words, which borders may reach. */
enum { MARCH_SAMPLES = 20 }; /* of the longest row of words */

/* A word of the border's value whose first sample is j. */
template <typename T, int STEP>
static __device__ __noinline__ unsigned march_blank(const tamis_input<T> *in, int64_t j)
{
    unsigned w = 0;
#pragma unroll 1
    for (int n = 0; n < 4 / (int)sizeof(T); n++) {
        int c = (int)(j + n - STEP * tamis_pixel_of(j + n, STEP));
        w |= (unsigned)(std::make_unsigned_t<T>)(T)in->outside[c] << (8 * (int)sizeof(T) * n);
    }
    return w;
}

/* Where a thread's rows of words come from. */
enum march_from {
    MARCH_INSIDE,  /* all words of all rows of the strip, and of two rows behind it, are there */
    MARCH_BESIDE,  /* words on either side, and rows, may have others that stand for them */
    MARCH_ANYWHERE /* samples are put together one by one */
};

template <typename T, int K, int STEP, march_from FROM> struct march {
    typedef march_row<T, K, STEP> row_words;
    enum { PAIRS = row_words::PAIRS, BEFORE = row_words::SIDE * row_words::PER_WORD };
    const tamis_input<T> &in;
    int64_t i;        /* first output's sample of the input */
    bool columns;     /* a row's words may be loaded at once */
    const char *base; /* sample i of row 0 */
    int64_t stride;
    unsigned one; /* see march_middle() */
    int *from;    /* where not columns: samples of a row that words take, below 0: of the border's
                     value, -1 the first one; those of a thread are BLOCK apart */
    /* MARCH_BESIDE: where the words on the left and right are, in bytes from sample i, and in which
     * order their bytes are taken, in 16 bits each. */
    int left_at, right_at;
    unsigned order;
    enum { BLOCK = 32 * MARCH_WARPS };

    /* Of the words' sample n. */
    static __device__ __forceinline__ constexpr bool is_needed(int n)
    {
        return n >= BEFORE - K / 2 * STEP && n < BEFORE + row_words::SAMPLES + K / 2 * STEP;
    }

    __device__ __forceinline__ void find_columns()
    {
        if (columns)
            return;
#pragma unroll 1
        for (int n = 0; n < row_words::WORDS * row_words::PER_WORD; n++) {
            int x = (int)tamis_pixel_of(i + n - BEFORE, STEP);
            int c = (int)(i + n - BEFORE - (int64_t)x * STEP), u = tamis_index(in.border, x, in.w);
            from[n * BLOCK] = u < 0 ? -1 - c : (min(max(u, in.left), in.right) * STEP + c);
        }
    }

    /* A word beside the outputs', whose first sample is the words' sample `first`: the samples that
     * are needed must lie in one word of the image. 0: they do not. */
    __device__ __forceinline__ bool find_side(int first, int *at, unsigned *selector) const
    {
        int block = -1;
        bool found = true;
        *selector = 0;
#pragma unroll
        for (int n = 0; n < row_words::PER_WORD; n++) {
            if (!is_needed(first + n))
                continue;
            int64_t sample = i + first + n - BEFORE;
            int x = (int)tamis_pixel_of(sample, STEP);
            int u = tamis_index(in.border, x, in.w);
            int there = min(max(u, in.left), in.right) * STEP + (int)(sample - (int64_t)x * STEP);
            block = block < 0 ? there / row_words::PER_WORD : block;
            found = found && u >= 0 && there / row_words::PER_WORD == block;
#pragma unroll
            for (int b = 0; b < (int)sizeof(T); b++)
                *selector |= (unsigned)(there % row_words::PER_WORD * (int)sizeof(T) + b)
                             << 4 * (n * (int)sizeof(T) + b);
        }
        int sample = block * row_words::PER_WORD;
        *at = (int)(sample - i) * (int)sizeof(T);
        return found && sample >= in.left * STEP &&
               (int64_t)sample + row_words::PER_WORD <= ((int64_t)in.right + 1) * STEP;
    }
    __device__ __forceinline__ bool find_sides()
    {
        unsigned left = 0, right = 0;
        bool found = find_side(0, &left_at, &left) &&
                     find_side((row_words::SIDE + row_words::CENTER) * row_words::PER_WORD,
                               &right_at, &right);
        order = left | right << 16;
        return found && i >= (int64_t)in.left * STEP &&
               i + row_words::SAMPLES <= ((int64_t)in.right + 1) * STEP;
    }

    static __device__ __forceinline__ void load_center(row_words &r, const char *p)
    {
        enum { SIDE = row_words::SIDE, CENTER = row_words::CENTER };
        if constexpr (CENTER == 2) {
            uint2 both = *(const uint2 *)p;
            r.word[SIDE] = both.x;
            r.word[SIDE + CENTER - 1] = both.y;
        } else {
            r.word[SIDE] = *(const unsigned *)p;
        }
    }
    static __device__ __forceinline__ row_words load_words(const char *p)
    {
        enum { SIDE = row_words::SIDE, CENTER = row_words::CENTER };
        const unsigned *w = (const unsigned *)p;
        row_words r;
#pragma unroll
        for (int n = 0; n < SIDE; n++) {
            r.word[n] = w[n - SIDE];
            r.word[SIDE + CENTER + n] = w[CENTER + n];
        }
        load_center(r, p);
        return r;
    }
    /* Row y or what stands for it; windows() puts the words on either side in order, so that
     * nothing waits here. */
    __device__ __forceinline__ row_words load_beside(int y) const
    {
        int v = min(max(tamis_index(in.border, y, in.h), in.top), in.bottom);
        const char *p = base + v * stride;
        row_words r;
        r.word[0] = *(const unsigned *)(p + left_at);
        load_center(r, p);
        r.word[row_words::WORDS - 1] = *(const unsigned *)(p + right_at);
        return r;
    }

    /* A row of the image where not all words may be loaded at once. */
    __device__ __forceinline__ row_words gather(const T *row) const
    {
        row_words r;
#pragma unroll
        for (int n = 0; n < row_words::WORDS; n++) {
            r.word[n] = 0;
#pragma unroll
            for (int k = 0; k < row_words::PER_WORD; k++) {
                int sample = n * row_words::PER_WORD + k;
                if (!is_needed(sample))
                    continue;
                int at = from[sample * BLOCK];
                T v = at < 0 ? (T)in.outside[-1 - at] : row[at];
                r.word[n] |= (unsigned)(std::make_unsigned_t<T>)v << (8 * (int)sizeof(T) * k);
            }
        }
        return r;
    }

    /* v: the row that stands for one, below 0: the border's value. */
    __device__ __forceinline__ row_words load_somewhere(int v) const
    {
        row_words r;
        if (v < 0) {
#pragma unroll
            for (int n = 0; n < row_words::WORDS; n++)
                r.word[n] = march_blank<T, STEP>(&in, i + n * row_words::PER_WORD - BEFORE);
            return r;
        }
        v = min(max(v, in.top), in.bottom);
        if (columns)
            return load_words(base + v * stride);
        return gather(in.row(v));
    }

    /* Rows y and y + 1, of which `at` is the first where all are inside. */
    __device__ __forceinline__ void load(row_words *r, int y, const char *&at) const
    {
        if constexpr (FROM == MARCH_INSIDE) {
            r[0] = load_words(at);
            r[1] = load_words(at + stride);
            at += 2 * stride;
        } else if constexpr (FROM == MARCH_BESIDE) {
            r[0] = load_beside(y);
            r[1] = load_beside(y + 1);
        } else {
            int v0 = tamis_index(in.border, y, in.h), v1 = tamis_index(in.border, y + 1, in.h);
            r[0] = load_somewhere(v0);
            r[1] = load_somewhere(v1);
        }
    }

    /* The K samples of each pair's windows, */
    __device__ __forceinline__ void windows(unsigned (*v)[K], row_words r) const
    {
        if constexpr (FROM == MARCH_BESIDE) {
            r.word[0] = __byte_perm(r.word[0], 0, order & 0xffff);
            r.word[row_words::WORDS - 1] =
                __byte_perm(r.word[row_words::WORDS - 1], 0, order >> 16);
        }
#pragma unroll
        for (int n = 0; n < row_words::WORDS; n++)
            r.word[n] = march_flip<T>(r.word[n]);
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
            for (int j = 0; j < K; j++)
                v[p][j] = r.pair(p + (j - K / 2) * STEP);
    }

    /* and sorted. */
    __device__ __forceinline__ void sort_windows(unsigned (*v)[K]) const
    {
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            if constexpr (K == 3) {
                unsigned low = __vimin3_u16x2(v[p][0], v[p][1], v[p][2]);
                unsigned high = __vimax3_u16x2(v[p][0], v[p][1], v[p][2]);
                unsigned others = v[p][1] * one + v[p][p % 2 ? 0 : 2];
                v[p][1] = march_middle(v[p][p % 2 ? 2 : 0], others, low, high, one);
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
        w[0] = march_flip<T>(__byte_perm(v[0], v[1], 0x5410));
        w[1] = march_flip<T>(__byte_perm(v[0], v[1], 0x7632));
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
                                                        const unsigned *c, unsigned one)
{
    unsigned low = __vimax3_u16x2(a[0], b[0], c[0]), high = __vimin3_u16x2(a[2], b[2], c[2]);
    unsigned mid = __vmaxu2(__vminu2(a[1], b[1]), __vminu2(__vmaxu2(a[1], b[1]), c[1]));
    return march_middle(low, mid * one + high, __vimin3_u16x2(low, mid, high),
                        __vimax3_u16x2(low, mid, high), one);
}

/* Two rows of outputs at a time, of windows that begin at rows y and y + 1. The next rows have
 * been loaded before they are needed. */
template <typename M> struct march_3 {
    enum { PAIRS = M::PAIRS, PHASES = 2 };
    unsigned rows[4][PAIRS][3];     /* rows y, y + 1 are 0, 1, or in the other phase 2, 3 */
    typename M::row_words ahead[2]; /* y + 2, y + 3 */
    const char *at;                 /* y + 4 */

    __device__ __forceinline__ void begin(const M &m, int y)
    {
        at = m.base + y * m.stride;
        m.load(ahead, y, at);
        m.windows(rows[0], ahead[0]);
        m.windows(rows[1], ahead[1]);
        m.load(ahead, y + 2, at);
        m.sort_windows(rows[0]);
        m.sort_windows(rows[1]);
    }
    template <int PHASE>
    __device__ __forceinline__ void down(const M &m, int y, unsigned (*out)[PAIRS])
    {
        unsigned(*a)[3] = rows[2 * PHASE], (*b)[3] = rows[2 * PHASE + 1];
        unsigned(*c)[3] = rows[2 - 2 * PHASE], (*d)[3] = rows[3 - 2 * PHASE];
        m.windows(c, ahead[0]);
        m.windows(d, ahead[1]);
        m.load(ahead, y + 4, at);
        m.sort_windows(c);
        m.sort_windows(d);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            out[0][p] = march_median(b[p], c[p], a[p], m.one);
            out[1][p] = march_median(b[p], c[p], d[p], m.one);
        }
    }
};

template <typename M> struct march_5 {
    enum { PAIRS = M::PAIRS, PHASES = 1 };
    unsigned row_0[PAIRS][5], row_2[PAIRS][5], row_3[PAIRS][5];
    unsigned block[PAIRS][10];      /* rows y + 1 and y + 2 merged */
    typename M::row_words ahead[2]; /* y + 4, y + 5 */
    const char *at;                 /* y + 6 */

    __device__ __forceinline__ void begin(const M &m, int y)
    {
        unsigned row_1[PAIRS][5];
        at = m.base + y * m.stride;
        m.load(ahead, y, at);
        m.windows(row_0, ahead[0]);
        m.windows(row_1, ahead[1]);
        m.load(ahead, y + 2, at);
        m.sort_windows(row_0);
        m.sort_windows(row_1);
        m.windows(row_2, ahead[0]);
        m.windows(row_3, ahead[1]);
        m.load(ahead, y + 4, at);
        m.sort_windows(row_2);
        m.sort_windows(row_3);
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            copy<pairs, 5>(block[p], row_1[p]);
            copy<pairs, 5>(block[p] + 5, row_2[p]);
            merge<pairs, 5, 5>(block[p]);
        }
    }
    template <int PHASE>
    __device__ __forceinline__ void down(const M &m, int y, unsigned (*out)[PAIRS])
    {
        unsigned row_4[PAIRS][5], row_5[PAIRS][5];
        m.windows(row_4, ahead[0]);
        m.windows(row_5, ahead[1]);
        m.load(ahead, y + 6, at);
        m.sort_windows(row_4);
        m.sort_windows(row_5);
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

/* What a thread writes. */
struct march_target {
    char *row; /* sample 0 of the next */
    int64_t stride;
    int x, begin, end; /* its first sample, and those of the part */
    int y, stop;
    bool all; /* all its samples are the part's, and may be stored at once */
};

/* Two rows, of which the second may be behind the last. */
template <typename T, int PHASE, typename M, typename S>
static __device__ __forceinline__ void march_step(const M &m, S &state, int down, march_target &to)
{
    enum { PAIRS = M::PAIRS };
    unsigned out[2][PAIRS];
    state.template down<PHASE>(m, to.y + down, out);
    march_store<T, PAIRS>((T *)to.row, to.x, to.begin, to.end, to.all, out[0]);
    to.row += to.stride;
    if (to.y + 1 < to.stop)
        march_store<T, PAIRS>((T *)to.row, to.x, to.begin, to.end, to.all, out[1]);
    to.row += to.stride;
    to.y += 2;
}

/* `down`: from a row of the result to the first of its windows. */
template <typename T, int K, typename M>
static __device__ __forceinline__ void march_strip(const M &m, int down, march_target to)
{
    typename std::conditional<K == 3, march_3<M>, march_5<M>>::type state;
    state.begin(m, to.y + down);
    while (to.y < to.stop) {
        march_step<T, 0>(m, state, down, to);
        if constexpr (decltype(state)::PHASES == 2) {
            if (to.y >= to.stop)
                break;
            march_step<T, 1>(m, state, down, to);
        }
    }
}

/* Whether words may be loaded at once for windows around samples i .. last + SAMPLES - 1. */
template <typename M, typename T, int STEP>
static __device__ __forceinline__ bool march_within(const tamis_input<T> &in, int64_t i,
                                                    int64_t last)
{
    return i - M::BEFORE >= (int64_t)in.left * STEP &&
           last + M::row_words::SAMPLES + M::BEFORE <= ((int64_t)in.right + 1) * STEP;
}

/* Threads go to the columns of one strip of the picture after the other, so that narrow pictures
 * leave none idle. */
template <typename T, int K, int STEP>
__global__ void __launch_bounds__(32 * MARCH_WARPS, march_blocks<K>::COUNT)
    march_down(const __grid_constant__ sort_args<T> a)
{
    typedef march<T, K, STEP, MARCH_INSIDE> M;
    typedef march<T, K, STEP, MARCH_BESIDE> beside;
    typedef typename M::row_words words;
    enum { SAMPLES = words::SAMPLES };
    static_assert(words::WORDS * words::PER_WORD <= MARCH_SAMPLES, "");
    __shared__ int from[MARCH_SAMPLES][M::BLOCK];
    const unsigned all = 0xffffffffu, thread = threadIdx.x + 32 * threadIdx.y;
    uint64_t n = (uint64_t)blockIdx.x * M::BLOCK + thread;
    unsigned columns = (unsigned)a.tiles;
    int64_t strip = n >> 32 ? (int64_t)(n / columns) : (unsigned)n / columns;
    int begin = a.out.x * STEP, end = (a.out.x + a.out.w) * STEP, out_bottom = a.out.y + a.out.h;
    int64_t i =
        (int64_t)(begin + a.shift_x) / SAMPLES * SAMPLES + ((int64_t)n - strip * columns) * SAMPLES;
    int64_t top = a.out.y + strip * a.height;
    bool gone = top >= out_bottom; /* the last block may have more threads than there is work */
    if (gone)
        top = a.out.y;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int stop = min(out_bottom, (int)top + a.height), down = a.shift_y - K / 2;
    int x = (int)i - a.shift_x;
    bool aligned = a.aligned >= 4 * words::CENTER;
    march_target to = {
        a.out.data(blockIdx.y) + top * a.out.stride[blockIdx.y],
        a.out.stride[blockIdx.y],
        x,
        begin,
        end,
        (int)top,
        stop,
        aligned && x % SAMPLES == 0 && x >= begin && x + SAMPLES <= end,
    };
    const char *base = in.data() + i * (int)sizeof(T);
    bool rows = (int)top + down >= in.top && stop + down + K + 2 <= in.bottom;
    bool columns_in = aligned && march_within<M, T, STEP>(in, i, i);
    /* A whole warp goes the same way. */
    if (__all_sync(all, gone || (rows && columns_in))) {
        if (!gone)
            march_strip<T, K>(M{in, i, true, base, in.stride, a.one, nullptr, 0, 0, 0}, down, to);
        return;
    }
    if constexpr (words::SIDE == 1) {
        beside m = {in, i, true, base, in.stride, a.one, nullptr, 0, 0, 0};
        bool found = aligned && m.find_sides() && (rows || in.border != TAMIS_BORDER_CONSTANT);
        if (__all_sync(all, gone || found)) {
            if (!gone)
                march_strip<T, K>(m, down, to);
            return;
        }
    }
    if (gone)
        return;
    march<T, K, STEP, MARCH_ANYWHERE> m = {
        in, i, columns_in, base, in.stride, a.one, &from[0][thread], 0, 0, 0};
    m.find_columns();
    march_strip<T, K>(m, down, to);
}

/* Rows of a strip: so that waves of blocks are full, and yet few rows are sorted twice. */
static int march_height(int64_t columns, int64_t pictures, int h, int resident)
{
    int best = 0;
    int64_t least = INT64_MAX;
    for (int height = MARCH_LEAST; height <= MARCH_MOST; height += 2) {
        int64_t blocks = tamis_tiles(columns * tamis_tiles(h, height), 32 * MARCH_WARPS) * pictures;
        int64_t waves = tamis_tiles(blocks, resident), cost = waves * (height + 4) + height;
        if (cost <= least) {
            least = cost;
            best = height;
        }
    }
    return best;
}

template <typename T, int K, int STEP>
static tamis_status launch_march_step(const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    enum { SAMPLES = march_row<T, K, STEP>::SAMPLES };
    sort_args<T> a = sort_args_of<T>(w, K);
    int64_t first = ((int64_t)w->part.x * STEP + a.shift_x) / SAMPLES * SAMPLES;
    a.tiles = tamis_tiles(((int64_t)w->part.x + w->part.w) * STEP + a.shift_x - first, SAMPLES);
    int processors;
    TAMIS_TRY(tamis_cuda_processors(&processors, fault));
    a.height = march_height(a.tiles, (int64_t)w->planes * w->count, w->part.h,
                            processors * march_blocks<K>::COUNT);
    int64_t threads = a.tiles * tamis_tiles(w->part.h, a.height);
    TAMIS_LAUNCH((march_down<T, K, STEP>),
                 tamis_grid(w, tamis_tiles(threads, 32 * MARCH_WARPS), 1, w->planes),
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
