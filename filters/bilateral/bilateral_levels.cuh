/* SPDX-License-Identifier: Apache-2.0 */
/* The device kernel of the bilateral filter for small windows of 8-bit samples, one to a pixel.
 *
 * As in bilateral_pairs.cuh, each weight serves both pixels of a pair. Here the weight of a
 * difference and its product with the difference, both as binary16, come from a table in shared
 * memory, which a block makes once for each lane: so all lanes of a warp look up at once, whatever
 * their differences. One instruction multiplies both by the spatial weight and adds them to both
 * sums of a pixel. The sums of a row of the window are added up by themselves first, so that little
 * is rounded away: results are off by less than 0.6 levels, whatever the picture and the sigmas,
 * and by a few hundredths where noise is smoothed. */
#ifndef TAMIS_BILATERAL_LEVELS_CUH
#define TAMIS_BILATERAL_LEVELS_CUH

#include "bilateral_halves.cuh"
#include "bilateral_pairs.cuh"

namespace
{

/* A sample in shared memory is the distance in bytes of its row of the table from the first. */
typedef uint16_t level_cell;
enum { LEVEL_STEP = 4 * WARP, LEVEL_ROWS = 511, LEVEL_TABLE = LEVEL_ROWS * LEVEL_STEP };

template <int R_, int W_, int WARPS_> struct level_shape {
    enum {
        R = R_,
        W = W_,         /* columns of a thread */
        WARPS = WARPS_, /* of a block, at most */
        COLUMNS = W * WARP,
        READ = (W + 2 * R + 7) / 8 * 8, /* of a row by a thread */
        PITCH = COLUMNS - W + READ,     /* of a row in shared memory */
        EXTRA = PITCH - COLUMNS,
        WORDS = W / 4,
        ROWS = R + 2,        /* on the way */
        RING = ROWS * PITCH, /* cells of a warp */
        SPAN = PITCH,        /* columns that it reads */
        BYTES = RING * (int)sizeof(level_cell) + SPAN * (int)sizeof(int)
    };
};

struct level_args : pair_args {
    bool vectors; /* whether a thread's columns of the result are aligned as a vector */
    float range;
    uint8_t outside; /* the border's value */
    /* The spatial weight, twice, at dy * (NEAR + 1) + |dx|; and its second made negative. */
    unsigned ahead[(NEAR + 1) * (NEAR + 1)], behind[(NEAR + 1) * (NEAR + 1)];
};

/* A row of the strip on its way from the image to shared memory: a thread's columns, and one of
 * those behind the last thread's. */
template <typename S> struct level_carried {
    unsigned word[S::WORDS + 1], shift;
    uint8_t last;

    /* Of the image's row `at`; below 0 all are the border's value. columns: see strip_columns().
     * together: all that is read lies in the row, sample by sample. */
    __device__ __forceinline__ void load(const struct level_args &a, const int *columns,
                                         bool together, int left, int at)
    {
        int lane = threadIdx.x % WARP;
        const uint8_t *row =
            (const uint8_t *)(tamis_picture(a.src.data[0], a.src.next) + at * a.src.stride[0]);
        if (together && at >= 0) {
            const uint8_t *from = row + left + lane * S::W;
            unsigned odd = (unsigned)(uintptr_t)from % 4;
            const unsigned *words = (const unsigned *)(from - odd);
            shift = odd * 8;
#pragma unroll
            for (int i = 0; i <= S::WORDS; i++)
                word[i] = words[i];
            if (lane < S::EXTRA)
                last = row[left + S::COLUMNS + lane];
            return;
        }
        shift = 0;
#pragma unroll
        for (int i = 0; i < S::WORDS; i++) {
            unsigned v[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[k] = byte_at(a, row, at, columns[lane * S::W + 4 * i + k]);
            word[i] = v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24;
        }
        word[S::WORDS] = 0;
        if (lane < S::EXTRA)
            last = byte_at(a, row, at, columns[S::COLUMNS + lane]);
    }
    static __device__ __forceinline__ uint8_t byte_at(const struct level_args &a,
                                                      const uint8_t *row, int at, int column)
    {
        return at < 0 || column < 0 ? a.outside : row[(int64_t)column * a.src.pitch];
    }

    __device__ __forceinline__ void store(level_cell *row) const
    {
        int lane = threadIdx.x % WARP;
        uint4 *to = (uint4 *)(row + lane * S::W);
#pragma unroll
        for (int i = 0; i < S::WORDS; i += 2) {
            unsigned lo = __funnelshift_r(word[i], word[i + 1], shift);
            unsigned hi = __funnelshift_r(word[i + 1], word[i + 2], shift);
            to[i / 2] = make_uint4(cells(lo, 0x1404), cells(lo, 0x3424), cells(hi, 0x1404),
                                   cells(hi, 0x3424));
        }
        if (lane < S::EXTRA)
            row[S::COLUMNS + lane] = (level_cell)(last * LEVEL_STEP);
    }
    /* Two bytes, moved to the upper halves of 16 bits, as cells. */
    static __device__ __forceinline__ unsigned cells(unsigned bytes, unsigned which)
    {
        return __byte_perm(bytes, 0, which) >> 1;
    }
};

/* What a thread sees of a row. */
template <typename S> struct level_seen {
    int v[S::READ];

    __device__ __forceinline__ level_seen(const level_cell *row)
    {
        const level_cell *from = row + threadIdx.x % WARP * S::W;
#pragma unroll
        for (int i = 0; i < S::READ; i += 8) {
            uint4 q = *(const uint4 *)(from + i);
            const unsigned word[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int j = 0; j < 8; j++)
                v[i + j] = (int)(j % 2 ? word[j / 2] >> 16 : word[j / 2] & 65535);
        }
    }
};

/* The table as a thread sees it: where its word for no difference is. */
#ifdef TAMIS_EMULATE
typedef const char *level_table;
#else
typedef unsigned level_table;
#endif

static __device__ __forceinline__ level_table level_table_at(const unsigned char *shared)
{
    const unsigned char *p = shared + 255 * LEVEL_STEP + threadIdx.x % WARP * 4;
#ifdef TAMIS_EMULATE
    return (const char *)p;
#else
    return (unsigned)__cvta_generic_to_shared(p);
#endif
}

/* The weight of q - p, and its product with that. No more than its operands decides, as the table
 * stays; and it is one instruction, with another that makes the address. */
static __device__ __forceinline__ unsigned level_weights(level_table table, int p, int q)
{
#ifdef TAMIS_EMULATE
    return *(const unsigned *)(table + (q - p));
#else
    unsigned w;
    asm("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(table + q - p));
    return w;
#endif
}

/* The table of all lanes. */
static __device__ __forceinline__ void make_levels(float range, unsigned char *shared)
{
    for (int i = (int)threadIdx.x; i < LEVEL_TABLE / 16; i += (int)blockDim.x) {
        float d = (float)(i / (WARP / 4) - 255);
        float w = tamis_rough_exp2(__fmul_rn(__fmul_rn(d, -range), d));
        unsigned both = tamis_halves(w, __fmul_rn(w, d));
        ((uint4 *)shared)[i] = make_uint4(both, both, both, both);
    }
}

/* A row's sums, of which each word has that of weights and that of their products with differences.
 */
enum { LEVEL_BEGIN = 0x3C00 }; /* the pixel itself: weight 1, no difference */

/* All pairs of pixels of row p and of row q, dy rows below. The sums of row R begin here. */
template <typename S>
static __device__ __forceinline__ void level_rows(const struct level_args &a, level_table table,
                                                  const level_seen<S> &p, const level_seen<S> &q,
                                                  int dy, unsigned *of_p, unsigned *of_q)
{
    const int R = S::R, W = S::W;
    unsigned sum_p[W], sum_q[W];
#pragma unroll
    for (int c = 0; c < W; c++) {
        sum_p[c] = 0;
        sum_q[c] = dy == R ? LEVEL_BEGIN : 0;
    }
#pragma unroll
    for (int i = 0; i < W + 2 * R; i++)
#pragma unroll
        for (int j = 0; j < W + 2 * R; j++) {
            int dx = j - i, at = dy * (NEAR + 1) + (dx < 0 ? -dx : dx);
            bool p_mine = i >= R && i < R + W, q_mine = j >= R && j < R + W;
            if (dx > R || dx < (dy ? -R : 1) || (!p_mine && !q_mine))
                continue;
            unsigned w = level_weights(table, p.v[i], q.v[j]);
            if (p_mine)
                sum_p[i - R] = fma_halves(w, a.ahead[at], sum_p[i - R]);
            if (q_mine) {
                unsigned *sum = dy ? sum_q : sum_p;
                sum[j - R] = fma_halves(w, a.behind[at], sum[j - R]);
            }
        }
#pragma unroll
    for (int c = 0; c < W; c++) {
        of_p[c] = add_halves(of_p[c], sum_p[c]);
        if (dy == R)
            of_q[c] = sum_q[c];
        else if (dy)
            of_q[c] = add_halves(of_q[c], sum_q[c]);
    }
}

template <typename S>
static __device__ __forceinline__ void level_store(const struct level_args &a,
                                                   const level_seen<S> &own, const unsigned *sums,
                                                   int x0, int y)
{
    struct __align__(S::W) vector
    {
        uint8_t v[S::W];
    };
    int x = x0 + (int)threadIdx.x % WARP * S::W, end = a.out.x + a.out.w;
    struct vector q;
#pragma unroll
    for (int c = 0; c < S::W; c++) {
        /* 1.5 * 2^23: then the lowest bits are the difference as an integer. The mean of levels is
         * a level: what is rounded is less than the pixel itself adds. */
        float v =
            fmaf(half_at(sums[c], 1), tamis_rough_reciprocal(half_at(sums[c], 0)), 12582912.f);
        q.v[c] = (uint8_t)(__float_as_uint(v) + (unsigned)own.v[S::R + c] / LEVEL_STEP);
    }
    uint8_t *to = tamis_row<uint8_t>(a.out, 0, y) + (int64_t)x * a.out.pitch;
    if (a.vectors && x + S::W <= end) {
        *(struct vector *)to = q;
        return;
    }
#pragma unroll
    for (int c = 0; c < S::W; c++)
        if (x + c < end)
            to[c * a.out.pitch] = q.v[c];
}

template <typename S>
__global__ void __launch_bounds__(S::WARPS *WARP, 1) by_levels(const struct level_args a)
{
    TAMIS_SHARED_BYTES(shared);
    const struct pair_strip strip(a, S::COLUMNS, S::R);
    level_table table = level_table_at(shared);
    level_cell *ring = (level_cell *)(shared + LEVEL_TABLE + threadIdx.x / WARP * S::BYTES);
    int *columns = (int *)(ring + S::RING);
    bool together = a.src.pitch == 1 && strip.left >= 0 && strip.left + S::SPAN <= a.w;
    level_carried<S> next = {};
    unsigned s[S::R + 1][S::W]; /* sums of rows y .. y + R */
    make_levels(a.range, shared);
    strip_columns<S>(a, strip, columns);
    for (int r = 0; r <= S::R && strip.any; r++) {
        next.load(a, columns, together, strip.left, tamis_index(a.border, strip.top + r, a.h));
        next.store(ring + r * S::PITCH);
    }
#pragma unroll
    for (int r = 0; r <= S::R; r++)
        for (int c = 0; c < S::W; c++)
            s[r][c] = LEVEL_BEGIN;
    int slot = 0; /* of row y */
    for (int i = 0; i < a.rows + S::R; i++) {
        int y = strip.y0 - S::R + i;
        __syncthreads(); /* so that warps run through the same instructions together, too */
        if (y >= strip.y1)
            continue;
        level_cell *free = ring + (slot ? slot - 1 : S::ROWS - 1) * S::PITCH;
        bool more = y + 1 < strip.y1;
        if (more)
            next.load(a, columns, together, strip.left,
                      tamis_index(a.border, y + a.shift_y + S::R + 1, a.h));
        level_seen<S> p(ring + slot * S::PITCH);
        level_rows<S>(a, table, p, p, 0, s[0], s[0]);
#pragma unroll
        for (int dy = 1; dy <= S::R; dy++) {
            int at = slot + dy < S::ROWS ? slot + dy : slot + dy - S::ROWS;
            level_seen<S> q(ring + at * S::PITCH);
            level_rows<S>(a, table, p, q, dy, s[0], s[dy]);
        }
        if (y >= strip.y0)
            level_store<S>(a, p, s[0], strip.x0, y);
#pragma unroll
        for (int r = 0; r < S::R; r++)
            for (int c = 0; c < S::W; c++)
                s[r][c] = s[r + 1][c];
        if (more)
            next.store(free);
        slot = slot + 1 < S::ROWS ? slot + 1 : 0;
    }
}

} // namespace

#endif
