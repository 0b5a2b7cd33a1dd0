/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of small windows on bytes: a warp goes down a strip of the image, each lane with eight
 * samples of every row, and the rows that come next are on their way meanwhile, as words. What a
 * filter does with them is an Op:
 *
 *     R       rows above and below a result that it looks at
 *     STEP    samples of a pixel, which are all filtered
 *     GROUP   rows that it takes and makes at a time
 *     ROUND   groups after which the registers of its rows are the same again, or 1
 *     AHEAD   groups that are on their way; a multiple of ROUND
 *     BLOCKS  warps that a multiprocessor is to have room for
 *     result  type of the results
 *     params  what it needs of the plan
 *     push()  takes the next group
 *     get()   makes the rows in the middle of what it has taken
 *
 * The first and the last lane only lend what they have, so an Op looks at most at the eight samples
 * on either side of a lane's.
 *
 * Pictures so narrow that strips would leave lanes idle are flat: tiles are as wide as the picture,
 * and warps take their lanes from one tile after the other. */
#ifndef TAMIS_CUDA_ROWS_CUH
#define TAMIS_CUDA_ROWS_CUH

#include "async.cuh"
#include "kernel.cuh"

enum {
    TAMIS_ROWS_V = 8,
    TAMIS_ROWS_LANES = 30, /* of a warp that make results */
    TAMIS_ROWS_INNER = TAMIS_ROWS_LANES * TAMIS_ROWS_V,
    TAMIS_ROWS_BATCH = 4
};

template <typename Op> struct tamis_rows_args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    typename Op::params params;
    int shift_x, shift_y; /* samples, rows */
    int first;            /* first sample of the first lane's results, a multiple of V */
    int height;           /* rows of a tile; flat: not more than the part has */
    int tiles;            /* flat: the last may share rows with the one above */
    unsigned strips;      /* warps for a tile */
    unsigned period;      /* flat: lanes of a tile, of which the first and the last only lend */
};

/* Eight samples of the result. */
template <typename T> struct tamis_rows_result {
    unsigned w[TAMIS_ROWS_V * sizeof(T) / 4];
};

/* ---- sums of 16 bits, two in a word: those of samples c and c + 2, of even and of odd samples */

static __device__ __forceinline__ unsigned tamis_even_bytes(unsigned w)
{
    return w & 0x00ff00ffu;
}

static __device__ __forceinline__ unsigned tamis_odd_bytes(unsigned w)
{
    return __byte_perm(w, 0, 0x4341);
}

/* A lane's two words of four samples each, as such pairs. */
struct tamis_pairs {
    unsigned even[2], odd[2];
};

static __device__ __forceinline__ tamis_pairs tamis_pairs_of(uint2 w)
{
    return tamis_pairs{{tamis_even_bytes(w.x), tamis_even_bytes(w.y)},
                       {tamis_odd_bytes(w.x), tamis_odd_bytes(w.y)}};
}

/* Whether samples up to R pixels beside the lane's are among the even (odd = 0) or odd ones of a
 * word, 2 and 3 being the lane's own. */
template <int R, int STEP>
static __host__ __device__ constexpr bool tamis_pairs_need(int word, int odd)
{
    for (int c = TAMIS_ROWS_V; c < 2 * TAMIS_ROWS_V; c++)
        for (int j = -R; j <= R; j++) {
            int at = c + j * STEP;
            if (c % 4 < 2 && at % 2 == odd &&
                (at / 4 == word || (at % 4 >= 2 && at / 4 + 1 == word)))
                return true;
        }
    return false;
}

/* The pairs of a lane and of those beside it, as far as samples up to R pixels away need them. */
template <int R, int STEP> struct tamis_pairs_window {
    unsigned even[6], odd[6];

    __device__ __forceinline__ explicit tamis_pairs_window(const tamis_pairs &own)
    {
        const unsigned all = 0xffffffffu;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            even[2 + k] = own.even[k];
            odd[2 + k] = own.odd[k];
            even[k] = tamis_pairs_need<R, STEP>(k, 0) ? __shfl_up_sync(all, own.even[k], 1) : 0;
            odd[k] = tamis_pairs_need<R, STEP>(k, 1) ? __shfl_up_sync(all, own.odd[k], 1) : 0;
            even[4 + k] =
                tamis_pairs_need<R, STEP>(4 + k, 0) ? __shfl_down_sync(all, own.even[k], 1) : 0;
            odd[4 + k] =
                tamis_pairs_need<R, STEP>(4 + k, 1) ? __shfl_down_sync(all, own.odd[k], 1) : 0;
        }
    }
    /* Samples c and c + 2, counted from the lane's first. */
    __device__ __forceinline__ unsigned at(int c) const
    {
        int k = (c + TAMIS_ROWS_V) / 4, m = (c + TAMIS_ROWS_V) % 4;
        const unsigned *w = m % 2 ? odd : even;
        return m < 2 ? w[k] : __byte_perm(w[k], w[k + 1], 0x5432);
    }
};

/* Three rows, for windows of 3x3. */
struct tamis_pairs_of_three {
    tamis_pairs row[3];

    __device__ __forceinline__ tamis_pairs_of_three()
    {
        row[0] = row[1] = row[2] = tamis_pairs{{0, 0}, {0, 0}};
    }
    __device__ __forceinline__ void push(uint2 w)
    {
        row[0] = row[1];
        row[1] = row[2];
        row[2] = tamis_pairs_of(w);
    }
    /* sides times the rows above and below, and middle times the one between them. */
    __device__ __forceinline__ tamis_pairs down(unsigned sides, unsigned middle) const
    {
        tamis_pairs r;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            r.even[k] = sides * (row[0].even[k] + row[2].even[k]) + middle * row[1].even[k];
            r.odd[k] = sides * (row[0].odd[k] + row[2].odd[k]) + middle * row[1].odd[k];
        }
        return r;
    }
    /* Sums of the 8 neighbors, or of 4. */
    template <int STEP, bool CORNERS> __device__ __forceinline__ tamis_pairs neighbors() const
    {
        tamis_pairs beyond = down(1, CORNERS ? 1 : 0), r;
        tamis_pairs_window<1, STEP> w(CORNERS ? beyond : row[1]);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned even = w.at(4 * k - STEP) + w.at(4 * k + STEP);
            unsigned odd = w.at(4 * k + 1 - STEP) + w.at(4 * k + 1 + STEP);
            r.even[k] = even + beyond.even[k] - (CORNERS ? row[1].even[k] : 0);
            r.odd[k] = odd + beyond.odd[k] - (CORNERS ? row[1].odd[k] : 0);
        }
        return r;
    }
};

/* ---- where rows come from */

/* Lanes at the picture's edges: where their samples come from is the same in all rows. */
template <int STEP> struct tamis_rows_edges {
    const tamis_input<uint8_t> &in;
    int i, last;            /* sample of the image; the last row that is needed */
    bool inside;            /* all eight are side by side in the image */
    int from[TAMIS_ROWS_V]; /* else: samples of the image, -1: the border's value */
    uint2 blank;            /* the border's value */

    __device__ __forceinline__ tamis_rows_edges(const tamis_input<uint8_t> &input, int sample,
                                                int end)
        : in(input), i(sample), last(end), blank(make_uint2(0, 0))
    {
        inside = i >= in.left * STEP && (int64_t)i + TAMIS_ROWS_V <= (in.right + (int64_t)1) * STEP;
#pragma unroll
        for (int c = 0; c < TAMIS_ROWS_V; c++) {
            int x = tamis_pixel_of(i + c, STEP), channel = i + c - x * STEP;
            int u = tamis_index(in.border, x, in.w);
            from[c] = u < 0 ? -1 : min(max(u, in.left), in.right) * STEP + channel;
            unsigned value = (uint8_t)in.outside[channel];
            (c < 4 ? blank.x : blank.y) |= value << 8 * (c % 4);
        }
    }
    /* N rows from y on. All their loads are on their way before one is waited for. */
    template <int N> __device__ __forceinline__ void load(int y, uint2 *rows) const
    {
        const uint8_t *row[N];
        bool there[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            int v = tamis_index(in.border, min(y + j, last), in.h);
            there[j] = v >= 0;
            row[j] = in.row(min(max(v, in.top), in.bottom));
        }
        if (inside) {
#pragma unroll
            for (int j = 0; j < N; j++)
                rows[j] = *(const uint2 *)(row[j] + i);
        } else {
#pragma unroll
            for (int j = 0; j < N; j += 2)
                gather(row + j, rows + j);
        }
#pragma unroll
        for (int j = 0; j < N; j++)
            rows[j] = there[j] ? rows[j] : blank;
    }

  private:
    __device__ __forceinline__ void gather(const uint8_t *const *row, uint2 *rows) const
    {
        unsigned samples[2][TAMIS_ROWS_V];
#pragma unroll
        for (int j = 0; j < 2; j++)
#pragma unroll
            for (int c = 0; c < TAMIS_ROWS_V; c++)
                samples[j][c] = row[j][from[c] < 0 ? in.left * STEP : from[c]];
#pragma unroll
        for (int j = 0; j < 2; j++)
            rows[j] = make_uint2(word(samples[j], blank.x, 0), word(samples[j], blank.y, 4));
    }
    __device__ __forceinline__ unsigned word(const unsigned *samples, unsigned value, int c) const
    {
        unsigned w = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            w |= (from[c + k] < 0 ? value >> 8 * k & 255 : samples[c + k]) << 8 * k;
        return w;
    }
};

/* Rows inside the picture, and lanes as well. */
struct tamis_rows_inside {
    const char *row;
    int64_t stride;

    __device__ __forceinline__ const char *next()
    {
        const char *r = row;
        row += stride;
        return r;
    }
    __device__ __forceinline__ uint2 samples(uint2 w) const
    {
        return w;
    }
};

/* What lies outside on either side is found among eight samples that are side by side in memory, or
 * is the border's value. */
template <int STEP> struct tamis_rows_columns {
    int block;            /* first of the eight */
    unsigned order[2];    /* where each of the lane's samples is in them */
    uint2 taken, instead; /* bits that come from there, and the others' */

    __device__ __forceinline__ explicit tamis_rows_columns(const tamis_rows_edges<STEP> &edges)
        : block(-1), taken(make_uint2(0, 0)), instead(edges.blank)
    {
        order[0] = order[1] = 0;
    }
    /* Samples begin .. end-1 of the image's rows are looked at. 0: they are not all to be had. */
    __device__ __forceinline__ bool find(const tamis_rows_edges<STEP> &edges, int begin, int end)
    {
        const tamis_input<uint8_t> &in = edges.in;
        bool found = true;
#pragma unroll
        for (int c = 0; c < TAMIS_ROWS_V; c++) {
            int from = edges.from[c], i = edges.i + c;
            if (i < begin || i >= end || from < 0)
                continue;
            unsigned byte = 255u << 8 * (c % 4);
            block = block < 0 ? from / TAMIS_ROWS_V * TAMIS_ROWS_V : block;
            found = found && from / TAMIS_ROWS_V * TAMIS_ROWS_V == block;
            order[c / 4] |= (unsigned)(from % TAMIS_ROWS_V) << 4 * (c % 4);
            (c < 4 ? taken.x : taken.y) |= byte;
            (c < 4 ? instead.x : instead.y) &= ~byte;
        }
        block = block < 0 ? in.left * STEP / TAMIS_ROWS_V * TAMIS_ROWS_V : block;
        return found && block >= in.left * STEP &&
               (int64_t)block + TAMIS_ROWS_V <= (in.right + (int64_t)1) * STEP;
    }
    __device__ __forceinline__ uint2 samples(uint2 w) const
    {
        return make_uint2((__byte_perm(w.x, w.y, order[0]) & taken.x) | instead.x,
                          (__byte_perm(w.x, w.y, order[1]) & taken.y) | instead.y);
    }
};

/* Rows inside the picture, and such columns. */
template <int STEP> struct tamis_rows_across {
    tamis_rows_inside rows;
    const tamis_rows_columns<STEP> &columns;

    __device__ __forceinline__ const char *next()
    {
        return rows.next();
    }
    __device__ __forceinline__ uint2 samples(uint2 w) const
    {
        return columns.samples(w);
    }
};

/* Rows that others may stand for, and such columns. */
template <int STEP> struct tamis_rows_beside {
    const tamis_input<uint8_t> &in;
    const tamis_rows_columns<STEP> &columns;
    int y, last;

    __device__ __forceinline__ const char *next()
    {
        int v = tamis_index(in.border, min(y, last), in.h);
        y++;
        return (const char *)in.row(min(max(v, in.top), in.bottom)) + columns.block;
    }
    __device__ __forceinline__ uint2 samples(uint2 w) const
    {
        return columns.samples(w);
    }
};

/* ---- where results go */

template <typename T> struct tamis_rows_place {
    char *to;
    int64_t stride;
    int begin, end; /* samples of the eight that are the part's */
    int rows;       /* that are left */

    __device__ __forceinline__ bool all_or_none() const
    {
        return (begin == 0 && end == TAMIS_ROWS_V) || begin >= end;
    }
    __device__ __forceinline__ void put_all(const tamis_rows_result<T> &r)
    {
        if (begin < end) {
            if (sizeof(T) == 1)
                *(uint2 *)to = make_uint2(r.w[0], r.w[1]);
            else
                *(uint4 *)to =
                    make_uint4(r.w[0], r.w[1], r.w[sizeof(T) * 2 - 2], r.w[sizeof(T) * 2 - 1]);
        }
        to += stride;
        rows--;
    }
    __device__ __forceinline__ void put_some(const tamis_rows_result<T> &r)
    {
        if (all_or_none()) {
            put_all(r);
            return;
        }
#pragma unroll
        for (int c = 0; c < TAMIS_ROWS_V; c++)
            if (c >= begin && c < end)
                ((T *)to)[c] = (T)(r.w[c * sizeof(T) / 4] >> 8 * (c * sizeof(T) % 4));
        to += stride;
        rows--;
    }
};

/* ---- the kernel */

/* Rows pass through the warp's part of shared memory, each lane's samples by themselves, so that
 * lanes need not wait for each other. */
template <typename Op, typename Source>
static __device__ __forceinline__ void tamis_rows_fast(const tamis_rows_args<Op> &a, Source source,
                                                       tamis_rows_place<typename Op::result> place,
                                                       uint2 *ring)
{
    const int G = Op::GROUP, ROWS = Op::AHEAD * G;
    Op op;
    uint2 above[2 * Op::R + 1], next[G];
    ring += threadIdx.x;
#pragma unroll
    for (int j = 0; j < 2 * Op::R; j++)
        above[j] = *(const uint2 *)source.next();
#pragma unroll
    for (int g = 0; g < Op::AHEAD; g++) {
#pragma unroll
        for (int j = 0; j < G; j++)
            if (g * G < place.rows)
                tamis_copy_start(ring + 32 * (g * G + j), source.next());
        tamis_copy_group();
    }
#pragma unroll
    for (int j = 0; j < 2 * Op::R; j++)
        above[j] = source.samples(above[j]);
#pragma unroll
    for (int j = 0; j < 2 * Op::R; j += G)
        op.push(above + j);
    for (int first = 0;; first = first + Op::ROUND * G < ROWS ? first + Op::ROUND * G : 0) {
#pragma unroll
        for (int s = 0; s < Op::ROUND; s++) {
            uint2 *slot = ring + 32 * (Op::AHEAD == Op::ROUND ? s * G : first + s * G);
            if (place.rows <= 0)
                return;
            tamis_copy_wait<Op::AHEAD - 1>();
#pragma unroll
            for (int j = 0; j < G; j++)
                next[j] = source.samples(slot[32 * j]);
            op.push(next);
            if (place.rows > ROWS)
#pragma unroll
                for (int j = 0; j < G; j++)
                    tamis_copy_start(slot + 32 * j, source.next());
            tamis_copy_group();
            tamis_rows_result<typename Op::result> r[G];
            op.get(a.params, r);
#pragma unroll
            for (int j = 0; j < G; j++)
                if (j == 0 || place.rows > 0)
                    place.put_all(r[j]);
        }
    }
}

/* A few rows at a time, so that what is put together from single samples does not wait for each. */
template <typename Op>
static __device__ __forceinline__ void
tamis_rows_slow(const tamis_rows_args<Op> &a, const tamis_rows_edges<Op::STEP> &edges, int y,
                tamis_rows_place<typename Op::result> place)
{
    const int G = Op::GROUP;
    Op op;
#pragma unroll 1
    for (int n = 0; place.rows > 0; n += TAMIS_ROWS_BATCH) {
        uint2 rows[TAMIS_ROWS_BATCH];
        edges.template load<TAMIS_ROWS_BATCH>(y + n, rows);
#pragma unroll
        for (int j = 0; j < TAMIS_ROWS_BATCH; j += G) {
            op.push(rows + j);
            if (n + j < 2 * Op::R)
                continue;
            tamis_rows_result<typename Op::result> r[G];
            op.get(a.params, r);
#pragma unroll
            for (int k = 0; k < G; k++)
                if (place.rows > 0)
                    place.put_some(r[k]);
        }
    }
}

/* What blocks a multiprocessor holds at most. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
#define TAMIS_ROWS_BLOCKS(n) (n)
#elif __CUDA_ARCH__ == 890
#define TAMIS_ROWS_BLOCKS(n) ((n) < 24 ? (n) : 24)
#else
#define TAMIS_ROWS_BLOCKS(n) ((n) < 16 ? (n) : 16)
#endif

/* Tiles at the picture's top and bottom take longest: both come before the others, which then hide
 * that. */
static __device__ __forceinline__ unsigned tamis_ends_first(unsigned block, unsigned strips,
                                                            unsigned blocks)
{
    if (block < strips || blocks < 2 * strips)
        return block;
    return block < 2 * strips ? blocks - 2 * strips + block : block - strips;
}

static __host__ __device__ __forceinline__ int tamis_rows_up(int rows, int group)
{
    return (rows + group - 1) / group * group;
}

/* Where a lane's results begin, how many rows it makes, and whether it makes any at all. */
struct tamis_rows_spot {
    int x, y, rows;
    bool lends;

    /* A strip of its own. */
    template <typename Op>
    static __device__ __forceinline__ tamis_rows_spot of_strip(const tamis_rows_args<Op> &a)
    {
        unsigned block = tamis_ends_first(blockIdx.x, a.strips, gridDim.x);
        int tile = (int)(block / a.strips), strip = (int)(block - tile * a.strips);
        int y = a.out.y + tile * a.height;
        return {a.first + strip * TAMIS_ROWS_INNER + ((int)threadIdx.x - 1) * TAMIS_ROWS_V, y,
                min(a.height, a.out.y + a.out.h - y), threadIdx.x == 0 || threadIdx.x == 31};
    }
    /* Lanes of one tile after the other; column -1 is the first one, which only lends. */
    template <typename Op>
    static __device__ __forceinline__ tamis_rows_spot of_flat(const tamis_rows_args<Op> &a)
    {
        unsigned block = tamis_ends_first(blockIdx.x, a.strips, gridDim.x);
        uint64_t lane = (uint64_t)block * TAMIS_ROWS_LANES + threadIdx.x;
        unsigned before = lane >> 32 ? (unsigned)(lane / a.period) : (unsigned)lane / a.period;
        int column = (int)((unsigned)lane - before * a.period) - 1;
        int tile = min((int)before, a.tiles - 1);
        bool lends = threadIdx.x == 0 || threadIdx.x == 31 || (int)before > tile;
        return {a.first + column * TAMIS_ROWS_V, a.out.y + min(tile * a.height, a.out.h - a.height),
                a.height, lends};
    }
};

/* A block is one warp, so that none waits for another, and the compiler sees that its lanes stay
 * together. */
template <typename Op, bool FLAT>
__global__ void __launch_bounds__(32, TAMIS_ROWS_BLOCKS(Op::BLOCKS))
    tamis_rows(const __grid_constant__ tamis_rows_args<Op> a)
{
    typedef typename Op::result T;
    __shared__ uint2 ring[32 * Op::AHEAD * Op::GROUP];
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    tamis_rows_spot spot = FLAT ? tamis_rows_spot::of_flat(a) : tamis_rows_spot::of_strip(a);
    int x = spot.x, y = spot.y;
    int begin = a.out.x * Op::STEP - x, end = (a.out.x + a.out.w) * Op::STEP - x;
    tamis_rows_place<T> place = {tamis_row<char>(a.out, blockIdx.y, y) + x * (int64_t)sizeof(T),
                                 a.out.stride[blockIdx.y], max(begin, 0),
                                 spot.lends ? 0 : min(end, (int)TAMIS_ROWS_V), spot.rows};
    /* Under the eight results of this lane, and the first row above them. */
    int i = x + a.shift_x, top = y + a.shift_y - Op::R;
    int bottom = top + 2 * Op::R + tamis_rows_up(place.rows, Op::GROUP) - 1;
    bool rows = top >= in.top && bottom <= in.bottom, whole = place.all_or_none();
    bool inside =
        i >= in.left * Op::STEP && (int64_t)i + TAMIS_ROWS_V <= (in.right + (int64_t)1) * Op::STEP;
    const unsigned all = 0xffffffffu;
    if (__all_sync(all, inside && rows && whole)) {
        tamis_rows_inside source = {in.data() + top * in.stride + i, in.stride};
        tamis_rows_fast<Op>(a, source, place, ring);
        return;
    }
    tamis_rows_edges<Op::STEP> edges(in, i, top + 2 * Op::R + place.rows - 1);
    tamis_rows_columns<Op::STEP> columns(edges);
    int under = a.out.x * Op::STEP + a.shift_x, reach = Op::R * Op::STEP;
    bool found = columns.find(edges, under - reach, under + a.out.w * Op::STEP + reach) && whole;
    bool blank = in.border == TAMIS_BORDER_CONSTANT && (top < 0 || edges.last >= in.h);
    if (__all_sync(all, found && rows)) {
        tamis_rows_inside straight = {in.data() + top * in.stride + columns.block, in.stride};
        tamis_rows_across<Op::STEP> source = {straight, columns};
        tamis_rows_fast<Op>(a, source, place, ring);
    } else if (__all_sync(all, found && !blank)) {
        tamis_rows_beside<Op::STEP> source = {in, columns, top, edges.last};
        tamis_rows_fast<Op>(a, source, place, ring);
    } else {
        tamis_rows_slow<Op>(a, edges, top, place);
    }
}

/* ---- launches */

/* Whether the Op's kernel can do the work: it loads and stores eight samples at once. */
template <typename Op> static bool tamis_rows_fit(const tamis_gpu_work *w)
{
    return w->step == Op::STEP && w->src_pitch == Op::STEP && w->dst_pitch == Op::STEP &&
           w->aligned >= (int)(TAMIS_ROWS_V * sizeof(typename Op::result)) &&
           w->shift_x * Op::STEP % TAMIS_ROWS_V == 0;
}

/* Enough warps for any device, and rows enough for those above the first to cost little. In narrow
 * pictures most strips are at an edge, and take longer to begin: they are higher, as far as there
 * are many of them. planes: of all pictures. */
template <typename Op>
static int tamis_rows_height(const tamis_rows_args<Op> &a, int64_t planes, int32_t h)
{
    int rows = a.strips < 8 ? 128 : Op::R < 4 ? 32 : 64;
    while (rows > 8 && rows > 2 * Op::R) {
        int64_t wanted = rows > 32 ? 62 * rows : 2000;
        if (a.strips * planes * tamis_tiles(h, rows) >= wanted)
            break;
        rows /= 2;
    }
    return rows;
}

/* Whether strips would leave more than every seventh lane idle. */
template <typename Op> static bool tamis_rows_is_narrow(const tamis_rows_args<Op> &a)
{
    return (int64_t)a.strips * TAMIS_ROWS_LANES * 6 > (int64_t)a.period * 7;
}

template <typename Op> static void tamis_rows_start(tamis_rows_args<Op> a, const tamis_gpu_work *w)
{
    TAMIS_LAUNCH((tamis_rows<Op, false>),
                 tamis_grid(w, a.strips, tamis_tiles(w->part.h, a.height), w->planes), 32, 0,
                 w->stream, a);
}

template <typename Op>
static void tamis_rows_start_flat(tamis_rows_args<Op> a, const tamis_gpu_work *w)
{
    /* Tiles that are alike. */
    int alike = (int)tamis_tiles(w->part.h, (int)tamis_tiles(w->part.h, a.height));
    int rows = tamis_rows_up(alike, Op::GROUP);
    a.height = rows < w->part.h ? rows : w->part.h;
    a.tiles = (int)tamis_tiles(w->part.h, a.height);
    int64_t lanes = (int64_t)a.period * a.tiles - 2;
    TAMIS_LAUNCH((tamis_rows<Op, true>),
                 tamis_grid(w, tamis_tiles(lanes, TAMIS_ROWS_LANES), 1, w->planes), 32, 0,
                 w->stream, a);
}

template <typename Op>
static tamis_status tamis_rows_launch(const char *name, const tamis_gpu_work *w,
                                      const typename Op::params &params, tamis_gpu_fault *fault)
{
    tamis_rows_args<Op> a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.params = params;
    a.shift_x = w->shift_x * Op::STEP;
    a.shift_y = w->shift_y;
    a.first = w->part.x * Op::STEP / TAMIS_ROWS_V * TAMIS_ROWS_V;
    int64_t width = (int64_t)(w->part.x + w->part.w) * Op::STEP - a.first;
    a.strips = (unsigned)tamis_tiles(width, TAMIS_ROWS_INNER);
    a.period = (unsigned)tamis_tiles(width, TAMIS_ROWS_V) + 2;
    a.height = tamis_rows_height(a, (int64_t)w->planes * w->count, w->part.h);
    a.tiles = 0;
    bool flat = Op::STEP == 1 && tamis_rows_is_narrow(a); /* color has many lanes */
    if constexpr (Op::STEP == 1)
        if (flat)
            tamis_rows_start_flat(a, w);
    if (!flat)
        tamis_rows_start(a, w);
    return tamis_cuda_launched(name, fault);
}

#endif
