/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of bytes in windows of 3x3, their size, and which pixels are kept: a warp goes down a
 * strip of the picture, each lane with eight pixels of every row, as in cuda/rows.cuh. Slopes are
 * made two to a word, in binary16, which has all whole numbers up to 2048: the units that add those
 * have less to do here than those for whole numbers. Sizes and directions are binary32, exact as
 * both stay below 2^24. */
#ifndef TAMIS_CANNY_BYTES_CUH
#define TAMIS_CANNY_BYTES_CUH

#include "rows.cuh"

#include "canny_kernel.h"

namespace
{

enum { BYTES_V = TAMIS_ROWS_V, BYTES_INNER = TAMIS_ROWS_INNER, BYTES_AHEAD = 3, BYTES_HALO = 2 };
enum { BYTES_WARPS = 16 }; /* that a multiprocessor is to have room for */

struct bytes_args {
    tamis_inputs<uint8_t> in;
    int shift_x, shift_y;
    float low, high;
    int w, h;     /* of the result */
    bool blank;   /* sizes outside the picture are 0 */
    char *halves; /* as canny_tiles::halves */
    int64_t plane_bytes;
    int stride;      /* bytes */
    unsigned strips; /* in a row */
    int height;      /* rows that a warp makes */
};

/* Sizes of a lane's pixels and of one on either side. */
struct bytes_sizes {
    float at[BYTES_V + 2];
};

/* Slopes of a lane's pixels. */
struct bytes_slopes {
    float dx[BYTES_V], dy[BYTES_V];
};

/* ---- two whole numbers in binary16; where kernels are emulated, in 16 bits */

static __device__ __forceinline__ unsigned halves_add(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return ((a + b) & 0xffff) | ((a & 0xffff0000) + (b & 0xffff0000));
#else
    unsigned r;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#endif
}
static __device__ __forceinline__ unsigned halves_subtract(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return ((a - b) & 0xffff) | ((a & 0xffff0000) - (b & 0xffff0000));
#else
    unsigned r;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#endif
}
/* 2 a + b. */
static __device__ __forceinline__ unsigned halves_add_twice(unsigned a, unsigned b)
{
#ifdef TAMIS_EMULATE
    return halves_add(halves_add(a, a), b);
#else
    unsigned r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(0x40004000u), "r"(b));
    return r;
#endif
}

/* Four bytes of a word: those of even places or odd ones. */
static __device__ __forceinline__ unsigned halves_of(unsigned w, bool odd)
{
#ifdef TAMIS_EMULATE
    return odd ? w >> 8 & 0x00ff00ff : w & 0x00ff00ff;
#else
    /* Behind the bits of 1024, which is then taken away. */
    return halves_add(__byte_perm(w, 0x64646464, odd ? 0x4341 : 0x4240), 0xe400e400);
#endif
}
static __device__ __forceinline__ tamis_pairs halves_of_eight(uint2 w)
{
    return tamis_pairs{{halves_of(w.x, false), halves_of(w.y, false)},
                       {halves_of(w.x, true), halves_of(w.y, true)}};
}

/* Number c of eight that stand in such pairs. */
static __device__ __forceinline__ float number_of(const tamis_pairs &p, int c)
{
    unsigned word = c % 2 ? p.odd[c / 4] : p.even[c / 4];
    bool high = c % 4 >= 2;
#ifdef TAMIS_EMULATE
    return (float)(int16_t)(high ? word >> 16 : word);
#else
    float v;
    if (high)
        asm("{.reg .f16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, b;}" : "=f"(v) : "r"(word));
    else
        asm("{.reg .f16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, a;}" : "=f"(v) : "r"(word));
    return v;
#endif
}

/* ---- rows */

template <bool L1> struct bytes_rows {
    tamis_pairs row[2], sum;  /* the last two rows, and the sum of both */
    bytes_sizes size[3];      /* of three rows, the last the newest */
    bytes_slopes slope, next; /* of the row in the middle and the newest */

    __device__ __forceinline__ bytes_rows()
    {
        row[0] = row[1] = sum = tamis_pairs{{0, 0}, {0, 0}};
        for (int c = 0; c < BYTES_V; c++)
            next.dx[c] = next.dy[c] = 0;
        for (int c = 0; c < BYTES_V + 2; c++)
            size[1].at[c] = size[2].at[c] = 0;
    }

    /* Takes the next row; across and down: the slopes of the one before it. */
    __device__ __forceinline__ void push(uint2 w, tamis_pairs *across, tamis_pairs *down)
    {
        tamis_pairs p = halves_of_eight(w), smooth, change;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned even = halves_add(row[1].even[k], p.even[k]);
            unsigned odd = halves_add(row[1].odd[k], p.odd[k]);
            smooth.even[k] = halves_add(sum.even[k], even);
            smooth.odd[k] = halves_add(sum.odd[k], odd);
            change.even[k] = halves_subtract(p.even[k], row[0].even[k]);
            change.odd[k] = halves_subtract(p.odd[k], row[0].odd[k]);
            sum.even[k] = even;
            sum.odd[k] = odd;
        }
        row[0] = row[1];
        row[1] = p;
        tamis_pairs_window<1, 1> s(smooth), d(change);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int c = 4 * k;
            across->even[k] = halves_subtract(s.at(c + 1), s.at(c - 1));
            across->odd[k] = halves_subtract(s.at(c + 2), s.at(c));
            down->even[k] = halves_add_twice(d.at(c), halves_add(d.at(c - 1), d.at(c + 1)));
            down->odd[k] = halves_add_twice(d.at(c + 1), halves_add(d.at(c), d.at(c + 2)));
        }
    }

    /* The sizes of slopes; first .. end - 1 are the columns that have any. */
    template <bool WHOLE>
    __device__ __forceinline__ void measure(const tamis_pairs &across, const tamis_pairs &down,
                                            int first, int end)
    {
        size[0] = size[1];
        size[1] = size[2];
        slope = next;
#pragma unroll
        for (int c = 0; c < BYTES_V; c++) {
            float dx = number_of(across, c), dy = number_of(down, c);
            float m = L1 ? fabsf(dx) + fabsf(dy) : fmaf(dx, dx, dy * dy);
            size[2].at[c + 1] = WHOLE || (c >= first && c < end) ? m : 0;
            next.dx[c] = dx;
            next.dy[c] = dy;
        }
        size[2].at[0] = __shfl_up_sync(0xffffffffu, size[2].at[BYTES_V], 1);
        size[2].at[BYTES_V + 1] = __shfl_down_sync(0xffffffffu, size[2].at[1], 1);
    }

    /* Whether the size of pixel c in the middle row is greatest across the edge. */
    __device__ __forceinline__ bool is_greatest(int c) const
    {
        const float *m0 = size[0].at + c, *m1 = size[1].at + c, *m2 = size[2].at + c;
        float dx = slope.dx[c], dy = slope.dy[c], ax = fabsf(dx), ay = fabsf(dy);
        float part = CANNY_TAN / 32768.f * ax, here = m1[1]; /* exact: 10 bits times 14 */
        bool flat = ay<part, steep = fmaf(-2, ax, ay)> part;
        bool falls = (__float_as_int(dx) ^ __float_as_int(dy)) >= 0;
        float before = flat ? m1[0] : steep ? m0[1] : falls ? m0[0] : m0[2];
        float after = flat ? m1[2] : steep ? m2[1] : falls ? m2[2] : m2[0];
        return (here > before) & ((here > after) | ((flat | steep) & (here == after)));
    }

    /* Half bytes of the middle row. */
    __device__ __forceinline__ unsigned halves(const bytes_args &a) const
    {
        unsigned bits = 0, any = 0;
#pragma unroll
        for (int c = 0; c < BYTES_V; c++)
            any |= size[1].at[c + 1] > a.low;
        if (!__any_sync(0xffffffffu, any)) /* often nothing is */
            return 0;
#pragma unroll
        for (int c = 0; c < BYTES_V; c++) {
            /* Without branches, which cost more here than what they would leave out. */
            bool kept = (size[1].at[c + 1] > a.low) & is_greatest(c);
            bool strong = kept & (size[1].at[c + 1] > a.high);
            unsigned bit = c % 4 + c / 4 * 8;
            bits |= (kept ? 1u << bit : 0) | (strong ? 16u << bit : 0);
        }
        return bits;
    }
};

/* Where a lane's half bytes go. */
struct bytes_place {
    char *to;
    int stride, rows; /* rows: that are left */
    bool has;
    unsigned mask; /* of pixels in the picture */

    __device__ __forceinline__ void put(unsigned bits)
    {
        if (has)
            *(uint16_t *)(void *)to = (uint16_t)(bits & mask);
        to += stride;
        rows--;
    }
};

template <bool L1>
static __device__ __forceinline__ void bytes_fast(const bytes_args &a, const char *row,
                                                  int64_t stride, bytes_place place)
{
    bytes_rows<L1> state;
    uint2 coming[BYTES_AHEAD];
    tamis_pairs across, down;
    for (int j = 0; j < 2; j++, row += stride)
        state.push(*(const uint2 *)(const void *)row, &across, &down);
#pragma unroll
    for (int j = 0; j < BYTES_AHEAD; j++, row += stride)
        coming[j] = *(const uint2 *)(const void *)row;
    for (int n = -BYTES_HALO;; n += BYTES_AHEAD) {
#pragma unroll
        for (int j = 0; j < BYTES_AHEAD; j++) {
            if (place.rows <= 0)
                return;
            state.push(coming[j], &across, &down);
            coming[j] = *(const uint2 *)(const void *)row;
            row += stride;
            state.template measure<true>(across, down, 0, BYTES_V);
            if (n + j >= 0)
                place.put(state.halves(a));
        }
    }
}

/* A few rows at a time, so that what is put together from single samples does not wait for each. y:
 * of the first result. */
template <bool L1>
static __device__ __forceinline__ void
bytes_slow(const bytes_args &a, const tamis_input<uint8_t> &in, int x, int y, bytes_place place)
{
    bytes_rows<L1> state;
    int top = y + a.shift_y - BYTES_HALO;
    tamis_rows_edges<1> edges(in, x + a.shift_x, top + 2 * BYTES_HALO + place.rows - 1);
#pragma unroll 1
    for (int n = 0; place.rows > 0; n += TAMIS_ROWS_BATCH) {
        uint2 rows[TAMIS_ROWS_BATCH];
        edges.template load<TAMIS_ROWS_BATCH>(top + n, rows);
#pragma unroll
        for (int j = 0; j < TAMIS_ROWS_BATCH; j++) {
            tamis_pairs across, down;
            state.push(rows[j], &across, &down);
            int measured = y + n + j - 2 * BYTES_HALO + 1;
            bool beyond = a.blank && (unsigned)measured >= (unsigned)a.h;
            state.template measure<false>(across, down, a.blank ? -x : 0,
                                          beyond    ? 0
                                          : a.blank ? a.w - x
                                                    : (int)BYTES_V);
            if (n + j >= 2 * BYTES_HALO && place.rows > 0)
                place.put(state.halves(a));
        }
    }
}

template <bool L1>
__global__ void __launch_bounds__(32, BYTES_WARPS)
    classify_bytes(const __grid_constant__ bytes_args a)
{
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    int tile = (int)(blockIdx.x / a.strips), strip = (int)(blockIdx.x - tile * a.strips);
    int x = strip * BYTES_INNER + ((int)threadIdx.x - 1) * BYTES_V, y = tile * a.height;
    int count = min(max(a.w - x, 0), (int)BYTES_V);
    unsigned ones = (1u << count) - 1, nibbles = (ones & 15) | (ones >> 4) << 8;
    bytes_place place = {a.halves + blockIdx.y * a.plane_bytes + (int64_t)y * a.stride + x / 4,
                         a.stride, min(a.height, a.h - y),
                         threadIdx.x > 0 && threadIdx.x < 31 && x < 4 * a.stride, nibbles * 17};
    int i = x + a.shift_x, top = y + a.shift_y - BYTES_HALO;
    int bottom = top + 2 * BYTES_HALO + a.height + BYTES_AHEAD;
    bool inside = i >= in.left && (int64_t)i + BYTES_V <= (int64_t)in.right + 1 && top >= in.top &&
                  bottom <= in.bottom;
    if (a.blank) /* then all sizes are those of pixels in the picture */
        inside = inside && x >= 0 && x + BYTES_V <= a.w && y > 0 && y + a.height < a.h;
    if (__all_sync(0xffffffffu, inside))
        bytes_fast<L1>(a, (const char *)in.row(top) + i, in.stride, place);
    else
        bytes_slow<L1>(a, in, x, y, place);
}

} // namespace

#endif
