/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of bytes that are weighted sums, down columns and then across, as products of matrices on
 * tensor cores, exact as they are made of whole numbers.
 *
 * A warp goes down a strip of the image, 16 rows at a time, in blocks of 32 samples side by side.
 * Weights, one row of a matrix for each row of results, times the samples make sums of columns;
 * their bytes, where they are, become the left side of a product with the weights across. With g =
 * lane / 4 and t = lane % 4 a lane has
 *
 *     of the samples            rows 4 t .. of 16, columns 4 g .. of 32, one word a column
 *     of sums of columns        rows g and g + 8, columns 8 t .. of 32
 *     of results                the same rows, words of four
 *
 * What is done with them is an Op:
 *
 *     GROUPS     of 16 rows, over which windows of 16 rows reach
 *     BLOCKS     of 32 samples, over which windows of 32 samples reach
 *     ACROSS     blocks of results that a warp makes
 *     WARPS      that a multiprocessor is to have room for
 *     TABLE      words of four bytes by four that each lane has of the weights across
 *     UNDER      whether it asks for the samples under its results
 *     params     what else it needs of the plan
 *     sums       of a block of columns
 *     columns()  makes these from a column of each tile, in each group
 *     get()      makes two words of results, of rows g and g + 8, in the first (q = 0) or second
 * half of a block, from the sums of BLOCKS blocks; the first sample of the results is `lead`
 *                samples behind that of the sums */
#ifndef TAMIS_CUDA_PRODUCTS_CUH
#define TAMIS_CUDA_PRODUCTS_CUH

#include "kernel.cuh"

enum { TAMIS_PRODUCTS_ROWS = 16, TAMIS_PRODUCTS_BLOCK = 32, TAMIS_PRODUCTS_TILES = 4 };

/* What an Op's launch is told. */
struct tamis_products_window {
    const uint4 *across;    /* TABLE times 32 lanes, on the device */
    int lead, above, below; /* samples before a block of results; rows beyond a row of results */
};

template <typename Op> struct tamis_products_args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    tamis_products_window window;
    typename Op::params params;
    int shift_x, shift_y; /* samples, rows */
    int first;            /* first sample of the first strip's results, a multiple of 4 */
    int step, height;     /* samples of a pixel; rows that a warp makes */
    unsigned strips;      /* in a row */
};

/* ---- d = c + a b, of unsigned bytes. A half has 16 of the inner dimension: a has the bytes 4 t ..
 * 4 t + 3 of rows g and g + 8, b those of column g; d and c have columns 2 t and 2 t + 1 of row g,
 * then of row g + 8. */

static __device__ __forceinline__ void tamis_multiply_half(int (&d)[4], const unsigned (&a)[2],
                                                           unsigned b, const int (&c)[4])
{
#ifdef TAMIS_EMULATE
    emulate_multiply_u8(d, a, &b, c, 1);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
#else
#pragma unroll
    for (int i = 0; i < 2; i++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
            : "=r"(d[2 * i]), "=r"(d[2 * i + 1])
            : "r"(a[i]), "r"(b), "r"(c[2 * i]), "r"(c[2 * i + 1]));
#endif
}

static __device__ __forceinline__ void tamis_multiply_both(int (&d)[4], const unsigned (&a)[2],
                                                           const unsigned (&a2)[2], unsigned b,
                                                           unsigned b2, const int (&c)[4])
{
#if !defined TAMIS_EMULATE && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a2[0]), "r"(a2[1]), "r"(b), "r"(b2), "r"(c[0]), "r"(c[1]),
          "r"(c[2]), "r"(c[3]));
#elif defined TAMIS_EMULATE
    unsigned all[4] = {a[0], a[1], a2[0], a2[1]}, both[2] = {b, b2};
    emulate_multiply_u8(d, all, both, c, 2);
#else
    tamis_multiply_half(d, a, b, c);
    tamis_multiply_half(d, a2, b2, d);
#endif
}

/* ---- where samples come from */

/* Blocks that a warp reads. */
template <typename Op> static __host__ __device__ constexpr int tamis_products_read()
{
    return Op::ACROSS + Op::BLOCKS - 1;
}

/* Bytes in the columns of four rows, from words with four columns of each row. */
static __device__ __forceinline__ uint4 tamis_products_columns(const unsigned (&rows)[4])
{
    unsigned a = __byte_perm(rows[0], rows[1], 0x5140), b = __byte_perm(rows[2], rows[3], 0x5140);
    unsigned c = __byte_perm(rows[0], rows[1], 0x7362), d = __byte_perm(rows[2], rows[3], 0x7362);
    return make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632),
                      __byte_perm(c, d, 0x5410), __byte_perm(c, d, 0x7632));
}

/* A group of rows from y on, wherever they are; the lane's first sample is i. */
template <typename Op>
static __device__ __forceinline__ void tamis_products_fill(const tamis_input<uint8_t> &in, int step,
                                                           int i, int y, int last, uint4 (*to)[32])
{
    const uint8_t *row[4]; /* NULL: of the border's value */
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int v = tamis_index(in.border, min(y + (int)threadIdx.x % 4 * 4 + k, last), in.h);
        row[k] = v < 0 ? NULL : in.row(min(max(v, in.top), in.bottom));
    }
#pragma unroll 1
    for (int b = 0; b < tamis_products_read<Op>(); b++, i += TAMIS_PRODUCTS_BLOCK) {
        bool beside = i >= in.left * step && (int64_t)i + 4 <= (in.right + (int64_t)1) * step;
        unsigned w[4] = {0, 0, 0, 0}, blank = 0;
        int from[4]; /* -1: the border's value */
#pragma unroll
        for (int c = 0; c < 4; c++) {
            int x = tamis_pixel_of(i + c, step), channel = i + c - x * step;
            int u = beside ? x : tamis_index(in.border, x, in.w);
            from[c] = u < 0 ? -1 : min(max(u, in.left), in.right) * step + channel;
            blank |= (unsigned)(uint8_t)in.outside[channel] << 8 * c;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (!row[k])
                w[k] = blank;
            else if (beside)
                w[k] = *(const unsigned *)(row[k] + i);
            else
#pragma unroll
                for (int c = 0; c < 4; c++)
                    w[k] |=
                        from[c] < 0 ? blank & 255u << 8 * c : (unsigned)row[k][from[c]] << 8 * c;
        }
        to[b][threadIdx.x] = tamis_products_columns(w);
    }
}

template <typename Op>
static __device__ __forceinline__ void
tamis_products_load(const char *from, int64_t stride, unsigned (&w)[tamis_products_read<Op>()][4])
{
#pragma unroll
    for (int k = 0; k < 4; k++, from += stride)
#pragma unroll
        for (int b = 0; b < tamis_products_read<Op>(); b++)
            w[b][k] = *(const unsigned *)(from + b * TAMIS_PRODUCTS_BLOCK);
}

template <typename Op>
static __device__ __forceinline__ void
tamis_products_put(const unsigned (&w)[tamis_products_read<Op>()][4], uint4 (*to)[32])
{
#pragma unroll
    for (int b = 0; b < tamis_products_read<Op>(); b++)
        to[b][threadIdx.x] = tamis_products_columns(w[b]);
}

/* Where results go, four side by side, and the samples under them. */
struct tamis_products_place {
    const char *in; /* the samples under the lane's first ones, in its row g */
    int64_t in_stride;
    char *to;
    int64_t stride;
    int begin, end; /* samples of the strip that are the part's, from the lane's first one on */
    int rows;       /* that are left, from row g on */

    __device__ __forceinline__ bool has_all(int column) const
    {
        return column >= begin && column + 4 <= end;
    }
    __device__ __forceinline__ bool has(int row, int sample) const
    {
        return row < rows && sample >= begin && sample < end;
    }
    /* FAST: all of them are the part's. */
    template <bool FAST> __device__ __forceinline__ void put(int row, int column, unsigned w) const
    {
        char *at = to + row * stride + column;
        if (FAST || (row < rows && has_all(column)))
            *(unsigned *)at = w;
        else
#pragma unroll
            for (int c = 0; c < 4; c++)
                if (has(row, column + c))
                    at[c] = (char)(w >> 8 * c);
    }
    template <bool FAST> __device__ __forceinline__ unsigned under(int row, int column) const
    {
        const unsigned char *at = (const unsigned char *)in + row * in_stride + column;
        unsigned w = 0;
        if (FAST || (row < rows && has_all(column)))
            w = *(const unsigned *)at;
        else
#pragma unroll
            for (int c = 0; c < 4; c++)
                w |= has(row, column + c) ? (unsigned)at[c] << 8 * c : 0;
        return w;
    }
    __device__ __forceinline__ void down()
    {
        rows -= TAMIS_PRODUCTS_ROWS;
        to += TAMIS_PRODUCTS_ROWS * stride;
        in += TAMIS_PRODUCTS_ROWS * in_stride;
    }
};

/* ---- the kernel */

/* 16 rows of results; `slot`: the first group of the ring. */
template <typename Op, bool FAST>
static __device__ __forceinline__ void
tamis_products_rows(const Op &op, const typename Op::params &params,
                    const uint4 (*ring)[tamis_products_read<Op>()][32], int slot,
                    const tamis_products_place &place)
{
    enum { READ = tamis_products_read<Op>(), G = Op::GROUPS, B = Op::BLOCKS };
    typename Op::sums blocks[B];
#pragma unroll 1
    for (int b = 0; b < READ; b++) {
        uint4 groups[G];
#pragma unroll
        for (int v = 0; v < G; v++)
            groups[v] = ring[slot + v < G ? slot + v : slot + v - G][b][threadIdx.x];
#pragma unroll
        for (int h = 0; h + 1 < B; h++)
            blocks[h] = blocks[h + 1];
        blocks[B - 1] = op.columns(groups);
        if (b + 1 < B)
            continue;
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int at = (b + 1 - B) * TAMIS_PRODUCTS_BLOCK + 16 * q;
            unsigned under[2] = {0, 0}, w[2];
            if (Op::UNDER)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    under[i] = place.under<FAST>(8 * i, at);
            op.get(params, blocks, q, under, w);
#pragma unroll
            for (int i = 0; i < 2; i++)
                place.put<FAST>(8 * i, at, w[i]);
        }
    }
}

/* A block is one warp. Words of columns lie in shared memory, from where they come back to the lane
 * that has put them there. */
template <typename Op>
__global__ void __launch_bounds__(32, Op::WARPS)
    tamis_products(const __grid_constant__ tamis_products_args<Op> a)
{
    enum { G = Op::GROUPS, READ = tamis_products_read<Op>(), ROWS = TAMIS_PRODUCTS_ROWS };
    __shared__ uint4 ring[G][READ][32], table[Op::TABLE][32];
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    int tile = (int)(blockIdx.x / a.strips), strip = (int)(blockIdx.x - tile * a.strips);
    int x = a.first + strip * Op::ACROSS * TAMIS_PRODUCTS_BLOCK, y = a.out.y + tile * a.height;
    int rows = min(a.height, a.out.y + a.out.h - y);
#pragma unroll
    for (int i = 0; i < Op::TABLE; i++)
        table[i][lane] = a.window.across[i * 32 + lane];
    Op op(a.params, &table[0][lane]);

    int at = x + 4 * t;
    tamis_products_place place = {in.data() + (y + g + a.shift_y) * in.stride + at + a.shift_x,
                                  in.stride,
                                  tamis_row<char>(a.out, blockIdx.y, y + g) + at,
                                  a.out.stride[blockIdx.y],
                                  a.out.x * a.step - at,
                                  (a.out.x + a.out.w) * a.step - at,
                                  rows - g};
    /* The lane's first sample of the input, and the first row. */
    int i = x + a.shift_x - a.window.lead + 4 * g, top = y + a.shift_y - a.window.above;
    int last = a.out.y + a.out.h - 1 + a.shift_y + a.window.below;
    bool columns = __all_sync(0xffffffffu, i >= in.left * a.step &&
                                               (int64_t)i + (READ - 1) * TAMIS_PRODUCTS_BLOCK + 4 <=
                                                   (in.right + (int64_t)1) * a.step);
    bool whole = __all_sync(0xffffffffu, place.has_all(0) &&
                                             place.has_all(Op::ACROSS * TAMIS_PRODUCTS_BLOCK - 16));
    const char *from = in.data() + (top + 4 * t) * in.stride + i;
    const int64_t down = ROWS * in.stride;
    unsigned coming[READ][4];
    bool loaded = columns && top >= in.top && top + ROWS - 1 <= in.bottom;
    if (loaded)
        tamis_products_load<Op>(from, in.stride, coming);
    int slot = 0;
#pragma unroll 1
    for (int missing = G - 1;; missing--) {
        if (loaded)
            tamis_products_put<Op>(coming, ring[slot]);
        else
            tamis_products_fill<Op>(in, a.step, i, top, last, ring[slot]);
        top += ROWS;
        from += down;
        loaded =
            columns && top >= in.top && top + ROWS - 1 <= in.bottom && (missing > 0 || rows > ROWS);
        if (loaded)
            tamis_products_load<Op>(from, in.stride, coming);
        slot = slot + 1 < G ? slot + 1 : 0;
        if (missing > 0)
            continue;
        if (whole && rows >= ROWS)
            tamis_products_rows<Op, true>(op, a.params, ring, slot, place);
        else
            tamis_products_rows<Op, false>(op, a.params, ring, slot, place);
        rows -= ROWS;
        if (rows <= 0)
            return;
        place.down();
    }
}

/* ---- host side */

/* Where the k-th byte of an operand's word lies in a block, of the words 0 and 1 that a lane has;
 * and the place in a block of results of column g of a tile. */
static inline int tamis_products_from(int word, int t, int k)
{
    return 8 * t + 2 * word + k / 2 + 4 * (k % 2);
}

static inline int tamis_products_to(int tile, int g)
{
    return tile / 2 * 16 + g / 2 * 4 + tile % 2 * 2 + g % 2;
}

/* Whether the kernel can do the work: loads and stores of words. */
static inline bool tamis_products_fit(const tamis_gpu_work *w, const tamis_products_window &window)
{
    return w->src_pitch == w->step && w->dst_pitch == w->step && w->aligned >= 4 &&
           (w->shift_x * w->step - window.lead) % 4 == 0;
}

template <typename Op>
static tamis_status tamis_products_launch(const char *name, const tamis_gpu_work *w,
                                          const tamis_products_window &window,
                                          const typename Op::params &params, tamis_gpu_fault *fault)
{
    tamis_products_args<Op> a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.window = window;
    a.params = params;
    a.step = w->step;
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.first = w->part.x * w->step / 4 * 4;
    a.strips = (unsigned)tamis_tiles((int64_t)(w->part.x + w->part.w) * w->step - a.first,
                                     Op::ACROSS * TAMIS_PRODUCTS_BLOCK);
    /* Enough warps for any device, and rows enough for those above the first to cost little. */
    int64_t groups = (int64_t)a.strips * tamis_tiles(w->part.h, TAMIS_PRODUCTS_ROWS) * w->planes *
                     w->count / 8000;
    a.height = TAMIS_PRODUCTS_ROWS * (int)(groups < 1                ? 1
                                           : groups > 4 * Op::GROUPS ? 4 * (int)Op::GROUPS
                                                                     : groups);
    TAMIS_LAUNCH(tamis_products<Op>,
                 tamis_grid(w, a.strips, tamis_tiles(w->part.h, a.height), w->planes), 32, 0,
                 w->stream, a);
    return tamis_cuda_launched(name, fault);
}

#endif
