/* SPDX-License-Identifier: Apache-2.0 */
/* Means of integers on a device, at a cost that does not depend on the window: a warp goes down a
 * strip of the image.
 *
 * Each thread keeps the sums of V columns over the window's rows: a row enters, a row leaves. For
 * each row of outputs the warp makes prefix sums of them, modulo 2^32, and a window's sum is the
 * difference of two, of which one is the thread's own and the other comes through shared memory.
 * Strips begin where loads and stores are aligned: what is to be stored moves there with the help
 * of the neighboring lane. */
#ifndef TAMIS_BOX_STRIPS_CUH
#define TAMIS_BOX_STRIPS_CUH

#include "box_parts.cuh"

enum { STRIP_BYTES = 16, STRIP_PAD = 32, STRIP_AHEAD = 3 };

template <typename T> struct box_strip_size {
    enum { V = STRIP_BYTES / sizeof(T), WIDTH = 32 * V, PER_WORD = 4 / sizeof(T) };
};

/* Samples of a row, as words of memory; s16 moved up to u16. */
struct box_words {
    unsigned w[4];
};

template <typename T> static __device__ __forceinline__ box_words box_upward(box_words r)
{
    if ((T)-1 < 0)
#pragma unroll
        for (int k = 0; k < 4; k++)
            r.w[k] ^= 0x80008000u;
    return r;
}

/* A thread's columns, and rows of them: where they are not side by side in the image, or not at
 * aligned places, each sample's place is found once for all rows, and those of a row are loaded
 * together. */
template <typename T> struct box_source {
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD };
    const tamis_input<T> &in;
    int last;         /* row that is needed */
    bool whole;       /* all may be loaded at once, */
    const char *base; /* from here in row 0 */
    int from[V];      /* else: samples of a row; -1: the border's value */

    /* Columns from x on, of which those from begin to end - 1 are needed. */
    __device__ __forceinline__ box_source(const box_args<T> &a, const tamis_input<T> &input, int x,
                                          int begin, int end, int last_row)
        : in(input), last(last_row)
    {
        whole = a.aligned >= 16 && in.pitch == 1 && x >= in.left && x + V <= in.right + 1;
        base = in.data() + (int64_t)x * (int)sizeof(T);
#pragma unroll
        for (int n = 0; n < V; n++) {
            int u = tamis_index(in.border, min(max(x + n, begin), end - 1), in.w);
            from[n] = u < 0 ? -1 : min(max(u, in.left), in.right) * in.pitch;
        }
    }

    __device__ __forceinline__ box_words load(int y) const
    {
        box_words r = {{0, 0, 0, 0}};
        int v = tamis_index(in.border, min(y, last), in.h);
        if (whole && v >= 0) {
            uint4 q = *(const uint4 *)(base + min(max(v, in.top), in.bottom) * in.stride);
            return box_upward<T>({{q.x, q.y, q.z, q.w}});
        }
        const T *row = in.row(min(max(v, in.top), in.bottom));
        T samples[V];
#pragma unroll
        for (int n = 0; n < V; n++)
            samples[n] = v < 0 || from[n] < 0 ? (T)in.outside[0] : row[from[n]];
#pragma unroll
        for (int n = 0; n < V; n++) {
            unsigned bits = sizeof(T) == 1 ? (uint8_t)samples[n] : (uint16_t)samples[n];
            r.w[n / PER_WORD] |= bits << 8 * (int)sizeof(T) * (n % PER_WORD);
        }
        return box_upward<T>(r);
    }
};

/* Column sums of bytes, two in a word: of windows up to 257 rows. */
struct box_columns_packed {
    enum { V = 16 };
    unsigned even[4], odd[4]; /* columns 4 k and 4 k + 2; 4 k + 1 and 4 k + 3 */

    __device__ __forceinline__ void clear()
    {
        for (int k = 0; k < 4; k++)
            even[k] = odd[k] = 0;
    }
    __device__ __forceinline__ void add(const box_words &r)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            even[k] += r.w[k] & 0x00ff00ffu;
            odd[k] += __byte_perm(r.w[k], 0, 0x4341);
        }
    }
    __device__ __forceinline__ void move(const box_words &in, const box_words &out)
    {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            even[k] += (in.w[k] & 0x00ff00ffu) - (out.w[k] & 0x00ff00ffu);
            odd[k] += __byte_perm(in.w[k], 0, 0x4341) - __byte_perm(out.w[k], 0, 0x4341);
        }
    }
    __device__ __forceinline__ unsigned get(int j) const
    {
        unsigned w = j % 2 ? odd[j / 4] : even[j / 4];
        return j % 4 < 2 ? w & 0xffffu : w >> 16;
    }
};

/* Of any other integers. */
template <typename T> struct box_columns {
    enum { V = box_strip_size<T>::V, PER_WORD = 4 / sizeof(T) };
    unsigned sum[V];

    static __device__ __forceinline__ unsigned sample(const box_words &r, int j)
    {
        return __byte_perm(r.w[j / PER_WORD], 0,
                           sizeof(T) == 1 ? 0x4440u + j % 4
                           : j % 2        ? 0x4432u
                                          : 0x4410u);
    }
    __device__ __forceinline__ void clear()
    {
        for (int j = 0; j < V; j++)
            sum[j] = 0;
    }
    __device__ __forceinline__ void add(const box_words &r)
    {
#pragma unroll
        for (int j = 0; j < V; j++)
            sum[j] += sample(r, j);
    }
    __device__ __forceinline__ void move(const box_words &in, const box_words &out)
    {
#pragma unroll
        for (int j = 0; j < V; j++)
            sum[j] += sample(in, j) - sample(out, j);
    }
    __device__ __forceinline__ unsigned get(int j) const
    {
        return sum[j];
    }
};

/* A strip: what goes down it. Its windows begin `lead` columns after the first lane's, so that
 * results lie at aligned places. */
template <typename T, typename C, bool SHIFTS> struct box_strip {
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
    const box_args<T> &a;
    C columns;
    unsigned *exchange; /* prefix sums of the warp: the lane's j-th is number 32 j + lane */

    /* V results of a row; then the window moves down. */
    __device__ __forceinline__ box_words row(const box_words &entering, const box_words &leaving)
    {
        int lane = threadIdx.x;
        /* The prefix sum kw columns on: at [j][lane], and kw is moved by whole lanes. */
        const unsigned *far = exchange + lane + a.kw / V;
        int turn = a.kw % V;
        unsigned prefix[V + 1];
        prefix[0] = 0;
#pragma unroll
        for (int j = 0; j < V; j++)
            prefix[j + 1] = prefix[j] + columns.get(j);
        columns.move(entering, leaving);
        unsigned base = box_scan(prefix[V]) - prefix[V];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < V; j++) {
            prefix[j] += base;
            exchange[j * 32 + lane] = prefix[j];
        }
        __syncwarp();
        box_words r = {{0, 0, 0, 0}};
#pragma unroll
        for (int j = 0; j < V; j++) {
            const unsigned *from = j + turn < V ? far + turn * 32 : far + (turn - V) * 32 + 1;
            unsigned level = __umulhi(from[j * 32] - prefix[j] + a.half, a.magic);
            if (SHIFTS)
                level >>= a.shift;
            r.w[j / PER_WORD] |= level << (BITS * (j % PER_WORD));
        }
        return led(box_upward<T>(r));
    }

    /* From `lead` on, with what the next lane has. */
    __device__ __forceinline__ box_words led(const box_words &r) const
    {
        unsigned bytes = a.lead * (unsigned)sizeof(T), v[8];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            v[k] = r.w[k];
            v[4 + k] = __shfl_down_sync(0xffffffffu, r.w[k], 1);
        }
#pragma unroll
        for (int k = 0; k < 6; k++)
            v[k] = bytes & 8 ? v[k + 2] : v[k];
#pragma unroll
        for (int k = 0; k < 5; k++)
            v[k] = bytes & 4 ? v[k + 1] : v[k];
        box_words out;
#pragma unroll
        for (int k = 0; k < 4; k++)
            out.w[k] = __funnelshift_r(v[k], v[k + 1], 8 * bytes);
        return out;
    }
};

static __device__ __forceinline__ box_words box_load(const char *p)
{
    uint4 q = *(const uint4 *)p;
    return {{q.x, q.y, q.z, q.w}};
}

/* Where all that is read is there and aligned: rows that enter and leave are on their way some rows
 * ahead. Plain loads, which the compiler does not move behind stores. `above` is in the first
 * window's first row. */
template <typename T, typename S>
static __device__ __forceinline__ void box_go_fast(S &s, const char *above, int64_t stride,
                                                   char *to, int64_t to_stride, int rows,
                                                   bool stores)
{
    const char *below = above + s.a.kh * stride;
    box_words entering[STRIP_AHEAD], leaving[STRIP_AHEAD];
#pragma unroll 4
    for (int j = 0; j < s.a.kh; j++)
        s.columns.add(box_upward<T>(box_load(above + j * stride)));
#pragma unroll
    for (int n = 0; n < STRIP_AHEAD; n++) {
        entering[n] = box_load(below + n * stride);
        leaving[n] = box_load(above + n * stride);
    }
    above += STRIP_AHEAD * stride;
    below += STRIP_AHEAD * stride;
    auto step = [&](int n) {
        box_words r = s.row(box_upward<T>(entering[n]), box_upward<T>(leaving[n]));
        entering[n] = box_load(below);
        leaving[n] = box_load(above);
        if (stores)
            *(uint4 *)to = make_uint4(r.w[0], r.w[1], r.w[2], r.w[3]);
        above += stride;
        below += stride;
        to += to_stride;
        return --rows > 0;
    };
    while (step(0) && step(1) && step(2)) {
    }
}

/* Of a lane's V results those from begin to end - 1, `pitch` samples apart. */
template <typename T>
static __device__ __forceinline__ void box_store_some(T *to, int begin, int end, int pitch,
                                                      const box_words &r)
{
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
#pragma unroll
    for (int n = 0; n < V; n++)
        if (n >= begin && n < end)
            to[(int64_t)n * pitch] = (T)(r.w[n / PER_WORD] >> BITS * (n % PER_WORD));
}

/* A block is one warp, whose lanes stay together. */
template <typename T, typename C, bool SHIFTS>
__global__ void __launch_bounds__(32, 16) box_strips(const __grid_constant__ box_args<T> a)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    __shared__ unsigned exchange[WIDTH + STRIP_PAD];
    int lane = threadIdx.x, plane = (int)(blockIdx.x % (unsigned)a.planes);
    unsigned block = blockIdx.x / (unsigned)a.planes, tile = block / (unsigned)a.strips;
    int strip = (int)(block - tile * (unsigned)a.strips);
    int y = a.out.y + (int)tile * a.height, rows = min(a.height, a.out.y + a.out.h - y);
    const tamis_input<T> &in = a.in.plane[plane];

    /* Results of the strip and of the lane, and the lane's columns. */
    int first = a.out.x / V * V + strip * a.inner, x = first + lane * V;
    int begin = max(a.out.x, first) - x, end = min(a.out.x + a.out.w, first + a.inner) - x;
    int left = a.out.x + a.dx, top = y + a.dy;
    box_source<T> source(a, in, x + a.dx - a.lead, left, left + a.out.w + a.kw - 1,
                         a.out.y + a.out.h - 1 + a.dy + a.kh - 1);
    box_strip<T, C, SHIFTS> s = {a, {}, exchange};
    s.columns.clear();
    char *to = tamis_row<char>(a.out, plane, y) + (int64_t)x * a.out.pitch * (int)sizeof(T);
    bool none = begin >= V || end <= 0, all = begin <= 0 && end >= V;
    bool fast = source.whole && (none || all) && a.out.pitch == 1 && top >= in.top &&
                top + rows + a.kh + STRIP_AHEAD <= in.bottom;
    if (__all_sync(0xffffffffu, fast)) {
        box_go_fast<T>(s, source.base + top * in.stride, in.stride, to, a.out.stride[plane], rows,
                       all);
        return;
    }
#pragma unroll 1
    for (int j = 0; j < a.kh; j++)
        s.columns.add(source.load(top + j));
#pragma unroll 1
    for (; rows > 0; rows--, top++, to += a.out.stride[plane]) {
        box_words entering = source.load(top + a.kh), leaving = source.load(top);
        box_store_some<T>((T *)to, begin, end, a.out.pitch, s.row(entering, leaving));
    }
}

/* Whether strips can do the window, and how to divide by n: with magic = (2^(32 + shift) + e) / n
 * and 0 <= e < n the quotient of a sum is too great by less than sum * e / (n * 2^(32 + shift)),
 * which must stay below the distance 1 / n to the next whole quotient. */
template <typename T> static bool choose_strips(box_args<T> *a)
{
    enum { WIDTH = box_strip_size<T>::WIDTH };
    uint64_t n = (uint64_t)a->n, levels = sizeof(T) == 1 ? 255 : 65535;
    uint64_t greatest = levels * n + n / 2;
    if (n < 2 || greatest > UINT32_MAX || a->kw > WIDTH / 2)
        return false;
    for (a->shift = 0; a->shift < 32; a->shift++) {
        uint64_t one = 1ull << (32 + a->shift), magic = (one + n - 1) / n, e = magic * n - one;
        if (magic > UINT32_MAX)
            break;
        a->magic = (unsigned)magic;
        a->half = (unsigned)(n / 2);
        if (e == 0 || greatest < one / e)
            return true;
    }
    return false;
}

template <typename T, typename C, bool SHIFTS>
static void launch_strips_as(const box_args<T> &a, dim3 grid, void *stream)
{
    TAMIS_LAUNCH((box_strips<T, C, SHIFTS>), grid, 32, 0, stream, a);
}

template <typename T, typename C>
static tamis_status launch_strips(box_args<T> a, const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    a.lead = (a.dx % V + V) % V;
    a.inner = (WIDTH - a.kw - a.lead) / V * V;
    /* A strip begins with the sum of kh rows, and a device wants many strips. */
    int64_t rows = (int64_t)w->part.w * w->part.h * a.planes * w->count / a.inner;
    int64_t height = rows / 2112;
    int least = a.kh / 2 < 16 ? 16 : a.kh / 2, most = a.kh < 128 ? 128 : a.kh;
    a.height = (int)(height < least ? least : height > most ? most : height);
    a.strips = tamis_tiles((int64_t)w->part.w + w->part.x % V, a.inner);
    dim3 grid = tamis_grid(w, a.strips * a.planes, tamis_tiles(w->part.h, a.height), 1);
    if (a.shift > 0)
        launch_strips_as<T, C, true>(a, grid, w->stream);
    else
        launch_strips_as<T, C, false>(a, grid, w->stream);
    return tamis_cuda_launched("box", fault);
}

#endif
