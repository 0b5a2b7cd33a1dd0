/* SPDX-License-Identifier: Apache-2.0 */
/* Means of integers on a device, at a cost that does not depend on the window: a warp goes down a
 * strip of the image.
 *
 * Each thread keeps the sums of V columns over the window's rows: a row enters, a row leaves. For
 * each row of outputs the warp makes prefix sums of them, modulo 2^32, and a window's sum is the
 * difference of two, of which one is the thread's own and the other comes through shared memory.
 * Strips begin where loads are aligned; what is to be stored moves to whole words with the help of
 * the neighboring lane. */
#ifndef TAMIS_BOX_STRIPS_CUH
#define TAMIS_BOX_STRIPS_CUH

#include "box_parts.cuh"

enum { STRIP_WARPS = 4, STRIP_BYTES = 16, STRIP_PAD = 32 };

template <typename T> struct box_strip_size {
    enum { V = STRIP_BYTES / sizeof(T), WIDTH = 32 * V, PER_WORD = 4 / sizeof(T) };
};

/* Samples of a row, as words of memory; s16 moved up to u16. */
struct box_words {
    unsigned w[4];
};

/* Those of samples from column x on that are needed, from wherever they come. */
template <typename T>
static __device__ __noinline__ box_words box_gather(const tamis_input<T> *in, int x, int begin,
                                                    int end, int y)
{
    box_words r = {{0, 0, 0, 0}};
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll 1
        for (int n = 0; n < box_strip_size<T>::PER_WORD; n++) {
            int at = x + k * box_strip_size<T>::PER_WORD + n;
            if (at < begin || at >= end)
                continue;
            T v = in->at(at, y, 0);
            unsigned bits = sizeof(T) == 1 ? (unsigned)(uint8_t)v : (unsigned)(uint16_t)v;
            r.w[k] |= bits << (8 * (int)sizeof(T) * n);
        }
    return r;
}

template <typename T> struct box_source {
    const tamis_input<T> &in;
    int x;            /* the thread's first column */
    int begin, end;   /* columns that are needed */
    int last;         /* row that is needed */
    bool inside;      /* the columns are in the image, or not needed */
    bool whole;       /* and may be loaded at once, */
    bool quick;       /* and all rows that the strip asks for are in the image */
    const char *base; /* the first column's sample in row 0 */
    int64_t stride;

    __device__ __forceinline__ box_words load(int y) const
    {
        box_words r;
        if (quick) {
            uint4 q = __ldg((const uint4 *)(base + y * stride));
            r = {{q.x, q.y, q.z, q.w}};
        } else {
            r = load_slowly(y);
        }
        if ((T)-1 < 0)
#pragma unroll
            for (int k = 0; k < 4; k++)
                r.w[k] ^= 0x80008000u;
        return r;
    }

    __device__ __forceinline__ box_words load_slowly(int y) const
    {
        box_words r = {{0, 0, 0, 0}};
        y = min(y, last);
        if (inside && (unsigned)y < (unsigned)in.h) {
            const T *p = in.row(y) + (int64_t)x * in.pitch;
            if (whole) {
                uint4 q = __ldg((const uint4 *)p);
                r = {{q.x, q.y, q.z, q.w}};
            } else {
#pragma unroll
                for (int n = 0; n < box_strip_size<T>::V; n++)
                    if (x + n >= begin && x + n < end) {
                        T v = p[(int64_t)n * in.pitch];
                        unsigned bits =
                            sizeof(T) == 1 ? (unsigned)(uint8_t)v : (unsigned)(uint16_t)v;
                        r.w[n / box_strip_size<T>::PER_WORD] |=
                            bits << (8 * (int)sizeof(T) * (n % box_strip_size<T>::PER_WORD));
                    }
            }
        } else {
            r = box_gather(&in, x, begin, end, y);
        }
        return r;
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

/* A thread's V outputs, from sample x of the row on; those in begin .. end are stored. Full threads
 * store words of memory; the first and last of a row of them the bytes before and after. */
template <typename T>
static __device__ __forceinline__ void box_store(T *row, int x, int begin, int end, int pitch,
                                                 bool aligned, const unsigned *w)
{
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
    int lane = threadIdx.x % 32;
    bool full = aligned && x >= begin && x + V <= end;
    bool after = __shfl_down_sync(0xffffffffu, (int)full, 1) && lane < 31;
    bool before = __shfl_up_sync(0xffffffffu, (int)full, 1) && lane > 0;
    unsigned next = __shfl_down_sync(0xffffffffu, w[0], 1);
    if (full) {
        int lead = -x & (PER_WORD - 1);
        T *p = row + x + lead;
        if (!before)
            for (int n = 0; n < lead; n++)
                row[x + n] = (T)(w[0] >> BITS * n);
#pragma unroll
        for (int k = 0; k < 3; k++)
            *(unsigned *)(p + k * PER_WORD) = __funnelshift_r(w[k], w[k + 1], BITS * lead);
        if (after || lead == 0)
            *(unsigned *)(p + 3 * PER_WORD) = __funnelshift_r(w[3], next, BITS * lead);
        else
            for (int n = 0; n < PER_WORD - lead; n++)
                p[3 * PER_WORD + n] = (T)(w[3] >> BITS * (lead + n));
        return;
    }
#pragma unroll
    for (int n = 0; n < V; n++)
        if (x + n >= begin && x + n < end)
            row[(int64_t)(x + n) * pitch] = (T)(w[n / PER_WORD] >> BITS * (n % PER_WORD));
}

template <typename T, typename C, bool SHIFTS>
__global__ void __launch_bounds__(32 * STRIP_WARPS)
    box_strips(const __grid_constant__ box_args<T> a)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    enum { PER_WORD = box_strip_size<T>::PER_WORD, BITS = 8 * sizeof(T) };
    __shared__ unsigned exchange[STRIP_WARPS][WIDTH + STRIP_PAD];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int plane = (int)(blockIdx.x % a.planes);
    int64_t block = blockIdx.x / a.planes, strip = block % a.strips;
    int64_t top = (block / a.strips * STRIP_WARPS + warp) * a.height;
    if (top >= a.out.h)
        return;
    int y = a.out.y + (int)top, stop = min(a.out.y + a.out.h, y + a.height);
    const tamis_input<T> &in = a.in.plane[plane];

    /* Windows of this strip begin in columns from its first on. */
    int inner = (WIDTH - a.kw) / V * V;
    int left = a.out.x + a.dx;
    int first = (left - (left < 0 ? V - 1 : 0)) / V * V + (int)strip * inner;
    box_source<T> source = {in,
                            first + lane * V,
                            left,
                            left + a.out.w + a.kw - 1,
                            a.out.y + a.out.h - 1 + a.dy + a.kh - 1,
                            false,
                            false,
                            false,
                            NULL,
                            in.stride};
    bool needed = source.x + V > source.begin && source.x < source.end;
    source.inside =
        !needed || (max(source.x, source.begin) >= 0 && min(source.x + V, source.end) <= in.w);
    if (!needed) { /* sums of what stands here are not asked for */
        source.x = source.begin < 0 || source.begin >= in.w ? 0 : source.begin;
        source.end = source.begin;
    }
    source.whole =
        needed && a.aligned >= 16 && in.pitch == 1 && source.x >= 0 && source.x + V <= in.w;
    source.quick = source.whole && y + a.dy >= 0 && stop + a.dy + a.kh <= in.h &&
                   stop + a.dy + a.kh - 1 <= source.last;
    source.base = in.data() + (int64_t)source.x * in.pitch * (int)sizeof(T);
    int x = first + lane * V - a.dx; /* of the first output */
    int begin = max(a.out.x, first - a.dx), end = min(a.out.x + a.out.w, first - a.dx + inner);
    if (begin >= end)
        return;
    bool aligned = a.aligned >= 4 && a.out.pitch == 1;

    /* The prefix sum kw columns on: at [j][lane], and kw is moved by whole lanes. */
    const unsigned *far = exchange[warp] + lane + a.kw / V;
    int turn = a.kw % V;

    C columns;
    columns.clear();
    for (int j = 0; j < a.kh; j++)
        columns.add(source.load(y + a.dy + j));
    for (; y < stop; y++) {
        /* On their way while the row is worked on. */
        box_words entering = source.load(y + a.dy + a.kh), leaving = source.load(y + a.dy);
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
            exchange[warp][j * 32 + lane] = prefix[j];
        }
        __syncwarp();
        unsigned w[4] = {0, 0, 0, 0};
#pragma unroll
        for (int j = 0; j < V; j++) {
            const unsigned *from = j + turn < V ? far + turn * 32 : far + (turn - V) * 32 + 1;
            unsigned sum = from[j * 32] - prefix[j] + a.half;
            unsigned level = __umulhi(sum, a.magic);
            if (SHIFTS)
                level >>= a.shift;
            w[j / PER_WORD] |= level << (BITS * (j % PER_WORD));
        }
        if ((T)-1 < 0)
#pragma unroll
            for (int k = 0; k < 4; k++)
                w[k] ^= 0x80008000u;
        box_store<T>(tamis_row<T>(a.out, plane, y), x, begin, end, a.out.pitch, aligned, w);
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
    TAMIS_LAUNCH((box_strips<T, C, SHIFTS>), grid, 32 * STRIP_WARPS, 0, stream, a);
}

template <typename T, typename C>
static tamis_status launch_strips(box_args<T> a, const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    enum { V = box_strip_size<T>::V, WIDTH = box_strip_size<T>::WIDTH };
    int inner = (WIDTH - a.kw) / V * V;
    /* A strip begins with the sum of kh rows, and a device wants many strips. */
    int64_t rows = (int64_t)w->part.w * w->part.h * a.planes * w->count / inner;
    a.height = (int)(rows / 2112);
    int least = a.kh / 2 < 16 ? 16 : a.kh / 2, most = a.kh < 64 ? 64 : a.kh;
    a.height = a.height < least ? least : a.height > most ? most : a.height;
    a.strips = tamis_tiles((int64_t)w->part.w + V - 1, inner);
    dim3 grid =
        tamis_grid(w, a.strips * a.planes, tamis_tiles(w->part.h, (int)STRIP_WARPS * a.height), 1);
    if (a.shift > 0)
        launch_strips_as<T, C, true>(a, grid, w->stream);
    else
        launch_strips_as<T, C, false>(a, grid, w->stream);
    return tamis_cuda_launched("box", fault);
}

#endif
