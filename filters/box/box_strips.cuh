/* SPDX-License-Identifier: Apache-2.0 */
/* Means of integers on a device, at a cost that does not depend on the window: a warp goes down a
 * strip of the image.
 *
 * Each lane keeps the sums of V columns over the window's rows: a row enters, a row leaves. For
 * each row of outputs the warp makes prefix sums of them, modulo 2^32, and a window's sum is the
 * difference of two, of which one is the lane's own and the other comes through shared memory.
 * Rows pass through shared memory as well, some on their way ahead. Strips begin where loads and
 * stores are aligned: what is to be stored moves there with the help of the neighboring lane. */
#ifndef TAMIS_BOX_STRIPS_CUH
#define TAMIS_BOX_STRIPS_CUH

#include "box_strip_rows.cuh"

enum { STRIP_PAD = 32, STRIP_AHEAD = 4, STRIP_BLOCKS = 16 };

/* ---- sums of columns */

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

/* What goes down a strip. Its windows begin `lead` columns after the first lane's, so that results
 * lie at aligned places. */
template <typename T, typename C, bool SHIFTS> struct box_strip {
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
    const box_args<T> &a;
    unsigned *exchange; /* prefix sums of the warp: the lane's j-th is number 32 j + lane */
    int far[V];         /* bytes to the sum that is kw columns after the lane's j-th */
    C columns;

    __device__ __forceinline__ box_strip(const box_args<T> &args, unsigned *shared)
        : a(args), exchange(shared)
    {
        int lane = threadIdx.x, lanes = a.kw / V, turn = a.kw % V;
#pragma unroll
        for (int j = 0; j < V; j++) {
            int at = j + turn < V ? j + turn : j + turn - V;
            far[j] = 4 * (at * 32 + lane + lanes + (j + turn >= V));
            tamis_keep(far[j]);
        }
        columns.clear();
    }

    /* V results of a row, from the sums of columns. */
    __device__ __forceinline__ box_words row() const
    {
        int lane = threadIdx.x;
        unsigned prefix[V + 1];
        prefix[0] = 0;
#pragma unroll
        for (int j = 0; j < V; j++)
            prefix[j + 1] = prefix[j] + columns.get(j);
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
            const char *from = (const char *)exchange + far[j];
            unsigned sum = *(const unsigned *)from - prefix[j];
            unsigned level = __umulhi(sum + a.half, a.magic);
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

/* ---- a strip's rows */

/* Where a lane's results go. */
template <typename T> struct box_place {
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
    char *to;
    int64_t stride;
    int pitch, begin, end; /* of the V results those from begin to end - 1, pitch samples apart */
    bool whole;            /* all of them, aligned */

    __device__ __forceinline__ void put(const box_words &r)
    {
        if (whole) {
            *(uint4 *)to = make_uint4(r.w[0], r.w[1], r.w[2], r.w[3]);
        } else if (begin < end) {
#pragma unroll
            for (int n = 0; n < V; n++)
                if (n >= begin && n < end)
                    ((T *)to)[(int64_t)n * pitch] = (T)(r.w[n / PER_WORD] >> BITS * (n % PER_WORD));
        }
        to += stride;
    }
};

/* The rows of `source` by way of shared memory: `ring` has room for STRIP_AHEAD that enter and as
 * many that leave. */
template <typename T, typename S, typename Source>
static __device__ __forceinline__ void box_go(S &s, Source entering, Source leaving,
                                              box_place<T> place, int rows, uint4 *ring)
{
    const int kh = s.a.kh, AHEAD = STRIP_AHEAD;
    uint4 *left = ring + 32 * AHEAD;
    int slot = 0;
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
        if (n < kh + rows - 1)
            entering.start(ring + 32 * n);
        /* Rows leave from the window's kh-th row on, one row late. */
        if (n >= kh && n - kh < rows - 1)
            leaving.start(left + 32 * n);
        tamis_copy_group();
    }
    auto next = [&](int j) { /* the copies AHEAD rows after row j */
                             if (j + AHEAD < kh + rows - 1)
                                 entering.start(ring + 32 * slot);
                             if (j + AHEAD >= kh && j + AHEAD - kh < rows - 1)
                                 leaving.start(left + 32 * slot);
                             tamis_copy_group();
                             slot = slot + 1 < AHEAD ? slot + 1 : 0;
    };
#pragma unroll 1
    for (int j = 0; j < kh - 1; j++) {
        tamis_copy_wait<AHEAD - 1>();
        s.columns.add(box_upward<T>(entering.get(ring + 32 * slot)));
        next(j);
    }
#pragma unroll 1
    for (int j = kh - 1; j < kh + rows - 1; j++) {
        box_words in, out = {{0, 0, 0, 0}};
        tamis_copy_wait<AHEAD - 1>();
        in = box_upward<T>(entering.get(ring + 32 * slot));
        if (j >= kh)
            out = box_upward<T>(leaving.get(left + 32 * slot));
        s.columns.move(in, out);
        next(j);
        place.put(s.row());
    }
}

/* Samples that are not to be had so: a row is waited for. */
template <typename T, typename S>
static __device__ __forceinline__ void box_go_slow(S &s, const box_lane<T> &lane, int top,
                                                   box_place<T> place, int rows)
{
#pragma unroll 1
    for (int j = 0; j < s.a.kh - 1; j++)
        s.columns.add(box_upward<T>(lane.load(top + j)));
#pragma unroll 1
    for (int j = 0; j < rows; j++) {
        box_words in = lane.load(top + s.a.kh - 1 + j), out = {{0, 0, 0, 0}};
        if (j > 0)
            out = box_upward<T>(lane.load(top + j - 1));
        s.columns.move(box_upward<T>(in), out);
        place.put(s.row());
    }
}

/* What a warp makes: rows of a strip, 0 or less: none. Those at the sides, whose rows take longer,
 * come as an upper and a lower half, so that the others need not wait for them. */
struct box_spot {
    int strip, y, rows;

    template <typename T> __device__ __forceinline__ box_spot(const box_args<T> &a, unsigned block)
    {
        unsigned across = (unsigned)a.strips + 2 * a.halves, tile = block / across;
        int n = (int)(block - tile * across), half = (a.height + 1) / 2;
        y = a.out.y + (int)tile * a.height;
        rows = min(a.height, a.out.y + a.out.h - y);
        strip = n;
        if (!a.halves)
            return;
        strip = n >= 4 ? n - 3 : n >= 2 ? (int)a.strips - 1 : 0;
        if (n >= 4)
            return;
        y += n % 2 ? half : 0;
        rows = n % 2 ? rows - half : min(rows, half);
    }
};

/* A block is one warp, whose lanes stay together. */
template <typename T, typename C, bool SHIFTS>
__global__ void __launch_bounds__(32, STRIP_BLOCKS)
    box_strips(const __grid_constant__ box_args<T> a)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    __shared__ unsigned exchange[WIDTH + STRIP_PAD];
    __shared__ uint4 ring[2 * STRIP_AHEAD * 32];
    int plane = (int)(blockIdx.x % (unsigned)a.planes);
    const tamis_input<T> &in = a.in.plane[plane];
    box_spot spot(a, blockIdx.x / (unsigned)a.planes);
    int y = spot.y, rows = spot.rows;
    if (rows <= 0)
        return;

    /* Results of the strip and of the lane, and the lane's columns. */
    int first = a.out.x / V * V + spot.strip * a.inner, x = first + (int)threadIdx.x * V;
    int begin = max(max(a.out.x, first) - x, 0);
    int end = min(min(a.out.x + a.out.w, first + a.inner) - x, (int)V);
    int left = a.out.x + a.dx, top = y + a.dy, bottom = top + rows + a.kh - 2;
    box_lane<T> lane(a, in, first + a.dx - a.lead, left, left + a.out.w + a.kw - 1,
                     a.out.y + a.out.h - 1 + a.dy + a.kh - 1);
    box_place<T> place = {tamis_row<char>(a.out, plane, y) +
                              (int64_t)x * a.out.pitch * (int)sizeof(T),
                          a.out.stride[plane],
                          a.out.pitch,
                          begin,
                          end,
                          begin == 0 && end == V && a.out.pitch == 1 && a.aligned >= 16};
    box_strip<T, C, SHIFTS> s(a, exchange);
    const unsigned all = 0xffffffffu;
    bool rows_inside = top >= in.top && bottom <= in.bottom;
    if (rows_inside && __all_sync(all, lane.whole)) {
        box_go<T>(s, box_inside<T>(lane, top), box_inside<T>(lane, top), place, rows, ring);
        return;
    }
    box_columns_beside<T> beside(a, lane, first + a.dx - a.lead);
    if (!__all_sync(all, beside.found))
        box_go_slow<T>(s, lane, top, place, rows);
    else if (rows_inside)
        box_go<T>(s, box_across<T>(beside, lane, top), box_across<T>(beside, lane, top), place,
                  rows, ring);
    else
        box_go<T>(s, box_beside<T>(beside, lane, top), box_beside<T>(beside, lane, top), place,
                  rows, ring);
}

/* ---- launches */

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

/* Rows of a strip: as many strips as warps run at once, or as several times that, so that none are
 * left for a last round. A strip begins with the sum of kh rows, so none is much lower, and in very
 * high ones a row that leaves has left the cache. */
static int box_strip_height(int64_t across, int32_t h, int kh, int processors)
{
    int64_t room = (int64_t)processors * STRIP_BLOCKS, height = 0;
    int least = kh / 2 < 16 ? 16 : kh / 2, most = kh < 128 ? 256 : 2 * kh;
    for (int64_t waves = 1 + across / room; height == 0 || height > most; waves++) {
        int64_t tiles = waves * room / across;
        height = tamis_tiles(h, tiles < h ? (int)tiles : h);
    }
    return (int)(height < least ? least : height);
}

template <typename T, typename C>
static tamis_status launch_strips(box_args<T> a, const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    int processors;
    TAMIS_TRY(tamis_cuda_processors(&processors, fault));
    a.lead = (a.dx % V + V) % V;
    a.inner = (WIDTH - a.kw - a.lead) / V * V;
    a.strips = tamis_tiles((int64_t)w->part.w + w->part.x % V, a.inner);
    int64_t across = a.strips + (a.strips > 2 ? 2 : 0), planes = (int64_t)a.planes * w->count;
    a.height = box_strip_height(across * planes, w->part.h, a.kh, processors);
    a.halves = a.strips > 2 && a.height >= a.kh;
    across = a.strips + 2 * a.halves;
    dim3 grid = tamis_grid(w, across * a.planes, tamis_tiles(w->part.h, a.height), 1);
    if (a.shift > 0)
        launch_strips_as<T, C, true>(a, grid, w->stream);
    else
        launch_strips_as<T, C, false>(a, grid, w->stream);
    return tamis_cuda_launched("box", fault);
}

#endif
