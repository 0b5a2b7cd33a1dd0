/* SPDX-License-Identifier: Apache-2.0 */
/* Any rank of any window: digits of 8 bits, the highest first.
 *
 * A warp goes down a column of outputs. It keeps a histogram of one digit of those samples of the
 * window whose higher digits are the result's, which the passes before have found; a row leaves and
 * a row enters, or, where the higher digits change, the histogram is made afresh. A sum over the
 * bins, lanes side by side, finds the digit that holds the rank. Between passes each output keeps
 * the digits found and the rank among the samples that share them. */
#ifndef TAMIS_MEDIAN_RANK_CUH
#define TAMIS_MEDIAN_RANK_CUH

#include "kernel.cuh"

/* Rows of a strip: a histogram begins with all rows of a window, each half as much work as a step
 * down.
 */
enum { RANK_WARPS = 4, RANK_ROWS_LEAST = 72, RANK_ROWS_MOST = 288, RANK_BLOCKS = 4000 };

/* The number that stands for NaN, and, as `left`, for their being the result. */
#define RANK_NAN 0xffffffffu

/* left: the rank among the samples that have the digits. */
struct rank_found {
    unsigned digits, left;
};

template <typename T> struct rank_args {
    tamis_inputs<T> in;
    tamis_output out;
    int shift_x, shift_y;
    int kw, kh;
    unsigned rank;
    int shift;         /* of the digit */
    int rows;          /* of a strip */
    int64_t tiles;     /* in a row */
    rank_found *found; /* [plane][row][column] of the part */
    int64_t next;      /* bytes to those of the next picture */
};

/* Unsigned numbers that sort as samples do; NaN are the greatest. */
static __device__ __forceinline__ unsigned rank_key(uint8_t v)
{
    return v;
}
static __device__ __forceinline__ unsigned rank_key(uint16_t v)
{
    return v;
}
static __device__ __forceinline__ unsigned rank_key(int16_t v)
{
    return (unsigned)(v + 32768);
}
static __device__ __forceinline__ unsigned rank_key(float v)
{
    unsigned bits = __float_as_uint(v);
    return v != v ? RANK_NAN : bits >> 31 ? ~bits : bits | 0x80000000u;
}
static __device__ __forceinline__ void rank_put(uint8_t *p, unsigned key)
{
    *p = (uint8_t)key;
}
static __device__ __forceinline__ void rank_put(uint16_t *p, unsigned key)
{
    *p = (uint16_t)key;
}
static __device__ __forceinline__ void rank_put(int16_t *p, unsigned key)
{
    *p = (int16_t)(key - 32768);
}
static __device__ __forceinline__ void rank_put(float *p, unsigned key)
{
    *p = __uint_as_float(key == RANK_NAN ? (unsigned)MEDIAN_NAN_BITS
                         : key >> 31     ? key & 0x7fffffffu
                                         : ~key);
}

/* A warp's histogram, and the samples that it takes in. */
template <typename T> struct rank_window {
    const rank_args<T> *a;
    unsigned *bins;
    int lane, x;  /* x: of the window's first column in the input */
    bool columns; /* all are inside */
    unsigned digits;
    int nans;

    /* The sample of row y in column j of the window, as a number. */
    __device__ __forceinline__ unsigned key(int j, int y) const
    {
        const tamis_input<T> &in = a->in.plane[blockIdx.y];
        bool inside = columns && (unsigned)y < (unsigned)in.h;
        return rank_key(inside ? in.row(y)[(int64_t)(x + j) * in.pitch] : in.at(x + j, y, 0));
    }

    /* Adds `by` where a sample has the digits. */
    __device__ __forceinline__ void count(unsigned key, int by)
    {
        /* In two steps: the first digit has none above it, and 32 is too far to shift. */
        if (key >> a->shift >> 8 == digits)
            atomicAdd(bins + (key >> a->shift & 255), (unsigned)by);
    }

    /* NaN are counted with the first digit. */
    __device__ __forceinline__ void count_nans(bool nan, int by)
    {
        if (sizeof(T) == 4 && a->shift == 24)
            nans += by * __popc(__ballot_sync(0xffffffffu, nan));
    }

    __device__ __forceinline__ void enter(int y)
    {
        for (int j = lane; j - lane < a->kw; j += 32) {
            bool here = j < a->kw;
            unsigned k = here ? key(j, y) : 0;
            if (here)
                count(k, 1);
            count_nans(here && k == RANK_NAN, 1);
        }
    }

    /* Row y leaves and row y + kh enters; where both are alike nothing changes. */
    __device__ __forceinline__ void down(int y)
    {
        for (int j = lane; j - lane < a->kw; j += 32) {
            unsigned before = 0, after = 0;
            if (j < a->kw) {
                before = key(j, y);
                after = key(j, y + a->kh);
            }
            if (before != after) {
                count(before, -1);
                count(after, 1);
            }
            count_nans(before == RANK_NAN, -1);
            count_nans(after == RANK_NAN, 1);
        }
    }

    __device__ __forceinline__ void begin(int y)
    {
        for (int i = lane; i < 256; i += 32)
            bins[i] = 0;
        __syncwarp();
        nans = 0;
        for (int j = 0; j < a->kh; j++)
            enter(y + j);
    }

    /* The digit whose bin holds the rank; the rank becomes that in the bin. */
    __device__ __forceinline__ unsigned find(unsigned *rank)
    {
        unsigned count[8], sum = 0, before;
        __syncwarp();
        for (int i = 0; i < 8; i++)
            sum += count[i] = bins[8 * lane + i];
        before = sum;
        for (int d = 1; d < 32; d *= 2) {
            unsigned other = __shfl_up_sync(0xffffffffu, before, d);
            before += lane >= d ? other : 0;
        }
        int holder = __ffs((int)__ballot_sync(0xffffffffu, before > *rank)) - 1;
        before -= sum;
        unsigned digit = 8 * (unsigned)lane, left = *rank - before;
        bool going = true;
        for (int i = 0; i < 7; i++) {
            going = going && left >= count[i];
            digit += going;
            left -= going ? count[i] : 0;
        }
        *rank = __shfl_sync(0xffffffffu, left, holder);
        __syncwarp();
        return __shfl_sync(0xffffffffu, digit, holder);
    }
};

/* What a pass has found for an output: the result, where it was the last one. */
template <typename T>
static __device__ __forceinline__ void rank_keep(const rank_args<T> &a, rank_found *found,
                                                 rank_found f, int column, int row)
{
    if (a.shift > 0)
        *found = f;
    else
        rank_put(tamis_row<T>(a.out, blockIdx.y, a.out.y + row) +
                     (int64_t)(a.out.x + column) * a.out.pitch,
                 f.digits);
}

template <typename T> __global__ void __launch_bounds__(32 * RANK_WARPS) rank_digits(rank_args<T> a)
{
    __shared__ unsigned bins[RANK_WARPS][256];
    int column = (int)(blockIdx.x % a.tiles) * RANK_WARPS + threadIdx.x / 32;
    int row = (int)(blockIdx.x / a.tiles) * a.rows;
    if (column >= a.out.w)
        return;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int rows = min(a.rows, a.out.h - row);
    int y = a.out.y + row + a.shift_y - a.kh / 2;
    rank_window<T> window = {};
    window.a = &a;
    window.bins = bins[threadIdx.x / 32];
    window.lane = threadIdx.x % 32;
    window.x = a.out.x + column + a.shift_x - a.kw / 2;
    window.columns = window.x >= 0 && window.x + a.kw <= in.w;
    rank_found *found =
        tamis_picture(a.found, a.next) + ((int64_t)blockIdx.y * a.out.h + row) * a.out.w + column;
    bool first = a.shift == 8 * ((int)sizeof(T) - 1), known = false;
    for (int v = 0; v < rows; v++, found += a.out.w) {
        rank_found f = {0, a.rank};
        if (!first)
            f = *found;
        /* The result is NaN. */
        if (f.left == RANK_NAN) {
            f.digits = f.digits << 8 | 255;
            if (window.lane == 0)
                rank_keep(a, found, f, column, row + v);
            known = false;
            continue;
        }
        if (!known || f.digits != window.digits) {
            window.digits = f.digits;
            window.begin(y + v);
            known = true;
        } else {
            window.down(y + v - 1);
        }
        f.digits = f.digits << 8 | window.find(&f.left);
        if (sizeof(T) == 4 && first && window.nans)
            f = {255, RANK_NAN};
        if (window.lane == 0)
            rank_keep(a, found, f, column, row + v);
    }
}

template <typename T>
static tamis_status launch_rank(const tamis_gpu_work *w, const median_coef *k,
                                tamis_gpu_fault *fault)
{
    rank_args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.kw = k->w;
    a.kh = k->h;
    a.rank = (unsigned)k->rank;
    a.found = (rank_found *)w->scratch;
    a.next = w->scratch_next;
    a.tiles = tamis_tiles(w->part.w, RANK_WARPS);
    a.rows = RANK_ROWS_MOST;
    while (a.rows > RANK_ROWS_LEAST &&
           a.tiles * w->planes * w->count * tamis_tiles(w->part.h, a.rows) < RANK_BLOCKS)
        a.rows /= 2;
    for (a.shift = 8 * ((int)sizeof(T) - 1); a.shift >= 0; a.shift -= 8) {
        TAMIS_LAUNCH(rank_digits<T>,
                     tamis_grid(w, a.tiles, tamis_tiles(w->part.h, a.rows), w->planes),
                     32 * RANK_WARPS, 0, w->stream, a);
        tamis_status status = tamis_cuda_launched("median ranks", fault);
        if (status != TAMIS_OK)
            return status;
    }
    return TAMIS_OK;
}

#endif
