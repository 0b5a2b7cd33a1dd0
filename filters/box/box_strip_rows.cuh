/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a strip of the image on their way through shared memory, for box_strips.cuh: where they
 * come from, and how lanes find columns outside of the picture among those inside. */
#ifndef TAMIS_BOX_STRIP_ROWS_CUH
#define TAMIS_BOX_STRIP_ROWS_CUH

#include <limits.h>

#include "async.cuh"
#include "box_parts.cuh"

enum { STRIP_BYTES = 16 };

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

static __device__ __forceinline__ box_words box_words_of(uint4 q)
{
    return {{q.x, q.y, q.z, q.w}};
}

/* A lane's samples, one by one. */
template <typename T, typename F> static __device__ __forceinline__ box_words box_gather(F sample)
{
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD };
    box_words r = {{0, 0, 0, 0}};
    T samples[V];
#pragma unroll
    for (int n = 0; n < V; n++)
        samples[n] = sample(n);
#pragma unroll
    for (int n = 0; n < V; n++) {
        unsigned bits = sizeof(T) == 1 ? (uint8_t)samples[n] : (uint16_t)samples[n];
        r.w[n / PER_WORD] |= bits << 8 * (int)sizeof(T) * (n % PER_WORD);
    }
    return r;
}

/* What of its strip's columns a lane brings, and which stand for its own. */
template <typename T> struct box_lane {
    enum { V = box_strip_size<T>::V };
    const tamis_input<T> &in;
    int x, last; /* the lane's first column; the last row that is needed */
    int from[V]; /* what columns stand for its own; -1: none, but the border's value */
    bool whole;  /* its own are side by side in memory, aligned, */
    int bytes;   /* or so many bytes of them, from the first on */

    /* Columns from `first` on, of which those from begin to end - 1 are needed. */
    __device__ __forceinline__ box_lane(const box_args<T> &a, const tamis_input<T> &input,
                                        int first, int begin, int end, int last_row)
        : in(input), x(first + (int)threadIdx.x * V), last(last_row)
    {
        bool there = a.aligned >= 16 && in.pitch == 1 && x >= in.left;
        bytes = there ? min(max(in.right + 1 - x, 0), (int)V) * (int)sizeof(T) : 0;
        whole = bytes == STRIP_BYTES;
#pragma unroll
        for (int n = 0; n < V; n++) {
            int u = tamis_index(in.border, min(max(x + n, begin), end - 1), in.w);
            bool needed = x + n >= begin && x + n < end && u >= 0;
            from[n] = needed ? min(max(u, in.left), in.right) : -1;
        }
    }
    /* Row y, at once. */
    __device__ __forceinline__ box_words load(int y) const
    {
        int v = tamis_index(in.border, min(y, last), in.h);
        const T *row = in.row(min(max(v, in.top), in.bottom));
        if (whole && v >= 0)
            return box_words_of(*(const uint4 *)(row + x));
        return box_gather<T>([&](int n) {
            return v < 0 || from[n] < 0 ? (T)in.outside[0] : row[(int64_t)from[n] * in.pitch];
        });
    }
};

/* Rows inside the picture, and all columns as well. */
template <typename T> struct box_inside {
    const char *row;
    int64_t stride;

    __device__ __forceinline__ box_inside(const box_lane<T> &lane, int y)
        : row((const char *)(lane.in.row(y) + lane.x)), stride(lane.in.stride)
    {
    }
    __device__ __forceinline__ void start(uint4 *slot)
    {
        tamis_copy_start(slot + threadIdx.x, row);
        row += stride;
    }
    __device__ __forceinline__ box_words get(const uint4 *slot)
    {
        return box_words_of(slot[threadIdx.x]);
    }
};

/* Where a lane finds its columns in a row of shared memory that all lanes of the strip have filled:
 * each word's samples in two words side by side. */
template <typename T> struct box_columns_beside {
    enum { V = box_strip_size<T>::V, PER_WORD = box_strip_size<T>::PER_WORD, WORDS = 32 * 4 };
    int word[4];                 /* the first of the two */
    unsigned order[4], taken[4]; /* bytes of the eight; bits that come from there */
    unsigned instead;            /* the border's value */
    bool found;

    /* first: the strip's first column. */
    __device__ __forceinline__ box_columns_beside(const box_args<T> &a, const box_lane<T> &lane,
                                                  int first)
        : found(a.aligned >= 16 && lane.in.pitch == 1)
    {
        const int SIZE = sizeof(T);
        int skipped = first >= lane.in.left ? 0 : (lane.in.left - first + V - 1) / V * V;
        instead = SIZE == 1 ? (uint8_t)lane.in.outside[0] * 0x01010101u
                            : (uint16_t)(T)lane.in.outside[0] * 0x00010001u;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int least = INT_MAX;
            taken[k] = order[k] = 0;
#pragma unroll
            for (int n = k * PER_WORD; n < (k + 1) * PER_WORD; n++)
                least = lane.from[n] < 0 ? least : min(least, lane.from[n] - first);
            word[k] = least == INT_MAX ? 0 : min(max(least / PER_WORD, 0), WORDS - 2);
#pragma unroll
            for (int n = 0; n < PER_WORD; n++) {
                int from = lane.from[k * PER_WORD + n] - first, at = from - word[k] * PER_WORD;
                if (lane.from[k * PER_WORD + n] < 0)
                    continue;
                found = found && from >= skipped && from < 32 * V && at < 2 * PER_WORD;
                unsigned bytes = SIZE == 1 ? at & 7 : (2 * at & 7) * 0x11 + 0x10;
                order[k] |= bytes << 4 * SIZE * n;
                taken[k] |= (SIZE == 1 ? 0xffu : 0xffffu) << 8 * SIZE * n;
            }
        }
    }
    __device__ __forceinline__ box_words get(const uint4 *slot) const
    {
        const unsigned *w = (const unsigned *)slot;
        box_words r;
#pragma unroll
        for (int k = 0; k < 4; k++)
            r.w[k] = (__byte_perm(w[word[k]], w[word[k] + 1], order[k]) & taken[k]) |
                     (instead & ~taken[k]);
        return r;
    }
};

/* What a lane brings of rows: whole words are copied. What is left of a row's end, some bytes, no
 * copy can bring: it is loaded, and put down when the next row begins or is looked at. */
struct box_bringing {
    int words, rest;
    unsigned late, *to;

    __device__ __forceinline__ explicit box_bringing(int bytes)
        : words(bytes / 4), rest(bytes % 4), late(0), to(NULL)
    {
    }
    __device__ __forceinline__ void start(uint4 *slot, const char *row)
    {
        put();
        __syncwarp(); /* what was there has been read by all */
        slot += threadIdx.x;
        if (words == 4) {
            tamis_copy_start(slot, row);
            return;
        }
#pragma unroll
        for (int k = 0; k < 3; k++)
            if (k < words)
                tamis_copy_start((unsigned *)slot + k, row + 4 * k);
        if (rest == 0)
            return;
        const uint8_t *end = (const uint8_t *)row + 4 * words;
        late = end[0] | (rest > 1 ? end[1] << 8 : 0u) | (rest > 2 ? end[2] << 16 : 0u);
        to = (unsigned *)slot + words;
    }
    __device__ __forceinline__ void put() const
    {
        if (to)
            *to = late;
    }
};

/* Rows inside the picture; columns that some lane of the strip brings. */
template <typename T> struct box_across {
    const box_columns_beside<T> &columns;
    const char *row;
    int64_t stride;
    box_bringing own;

    __device__ __forceinline__ box_across(const box_columns_beside<T> &c, const box_lane<T> &lane,
                                          int y)
        : columns(c), row((const char *)(lane.in.row(y) + lane.x)), stride(lane.in.stride),
          own(lane.bytes)
    {
    }
    __device__ __forceinline__ void start(uint4 *slot)
    {
        own.start(slot, row);
        row += stride;
    }
    __device__ __forceinline__ box_words get(const uint4 *slot)
    {
        own.put();
        __syncwarp(); /* all lanes' copies have come */
        return columns.get(slot);
    }
};

/* Rows that others may stand for. */
template <typename T> struct box_beside {
    const box_columns_beside<T> &columns;
    const box_lane<T> &lane;
    int coming, y;
    box_bringing own;

    __device__ __forceinline__ box_beside(const box_columns_beside<T> &c, const box_lane<T> &l,
                                          int row)
        : columns(c), lane(l), coming(row), y(row), own(l.bytes)
    {
    }
    __device__ __forceinline__ void start(uint4 *slot)
    {
        const tamis_input<T> &in = lane.in;
        int v = tamis_index(in.border, min(coming++, lane.last), in.h);
        own.start(slot, (const char *)(in.row(min(max(v, in.top), in.bottom)) + lane.x));
    }
    __device__ __forceinline__ box_words get(const uint4 *slot)
    {
        bool blank = lane.in.border == TAMIS_BORDER_CONSTANT && (unsigned)y >= (unsigned)lane.in.h;
        unsigned value = columns.instead;
        y++;
        own.put();
        __syncwarp();
        box_words r = columns.get(slot);
        return blank ? box_words{{value, value, value, value}} : r;
    }
};

#endif
