/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of bytes, what they make together in bytes, and Laplacians, as they come: neither scaled
 * nor shifted, in windows of 3x3, with two sums of 16 bits in a word. What may be negative is
 * counted from 2^15. */
#ifndef TAMIS_EDGES_ROWS_CUH
#define TAMIS_EDGES_ROWS_CUH

#include "edges_kernel.h"
#include "rows.cuh"

namespace
{

#define EDGES_ZERO 0x80008000u

static __device__ __forceinline__ unsigned edges_saturated(unsigned v)
{
    return __vminu2(__vmaxu2(v, EDGES_ZERO) - EDGES_ZERO, 0x00ff00ffu);
}

static __device__ __forceinline__ void edges_put(const tamis_pairs &v,
                                                 tamis_rows_result<uint8_t> *out)
{
#pragma unroll
    for (int k = 0; k < 2; k++)
        out->w[k] = edges_saturated(v.even[k]) | edges_saturated(v.odd[k]) << 8;
}

static __device__ __forceinline__ void edges_put(const tamis_pairs &v,
                                                 tamis_rows_result<int16_t> *out)
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        out->w[2 * k] = __byte_perm(v.even[k], v.odd[k], 0x5410) ^ EDGES_ZERO;
        out->w[2 * k + 1] = __byte_perm(v.even[k], v.odd[k], 0x7632) ^ EDGES_ZERO;
    }
}

/* What slopes are smoothed by across themselves. */
struct edges_smooth {
    unsigned sides, middle;
};

/* EDGES_ROWS_SUM: |dx| + |dy|; EDGES_ROWS_ROOT: the root of the sum of their squares. */
enum edges_way {
    EDGES_ROWS_DX,
    EDGES_ROWS_DY,
    EDGES_ROWS_SUM,
    EDGES_ROWS_ROOT,
    EDGES_ROWS_4,
    EDGES_ROWS_8
};

/* Both from 2^15 again. */
static __device__ __forceinline__ unsigned edges_absolute(unsigned v)
{
    return __vmaxu2(v, 0x00010000u - v);
}

static __device__ __forceinline__ unsigned edges_sum(unsigned dx, unsigned dy)
{
    return __vminu2(edges_absolute(dx) + edges_absolute(dy) - 2 * EDGES_ZERO, 0x00ff00ffu);
}

/* The lower of two, or the higher. */
static __device__ __forceinline__ float edges_float(unsigned v, int higher)
{
    return __uint_as_float(__byte_perm(v, 0x4b000000, higher ? 0x7432 : 0x7410)) -
           (8388608.f + 32768.f);
}

/* In the low 16 bits: added to 2^23, a number is rounded to its last bits. Of a whole number up to
 * 255^2 the root that is closest to a half between two levels, 0.5 - 0.0005, is farther from it
 * than this one is wrong; those of larger ones are more than 255, and else may be wrong. */
static __device__ __forceinline__ unsigned edges_root(unsigned dx, unsigned dy, int higher)
{
    float x = edges_float(dx, higher), y = edges_float(dy, higher);
    return __float_as_uint(tamis_rough_root(fmaf(x, x, y * y)) + 8388608.f);
}

static __device__ __forceinline__ unsigned edges_roots(unsigned dx, unsigned dy)
{
    unsigned lower = edges_root(dx, dy, 0), higher = edges_root(dx, dy, 1);
    return __vminu2(__byte_perm(lower, higher, 0x5410), 0x00ff00ffu);
}

template <int WAY, int PIXEL, typename T> struct edges_rows {
    enum { R = 1, STEP = PIXEL, GROUP = 1, ROUND = 6, AHEAD = 12, BLOCKS = 28 };
    typedef T result;
    typedef edges_smooth params;

    tamis_pairs_of_three rows;

    __device__ __forceinline__ void push(const uint2 *row)
    {
        rows.push(*row);
    }

    __device__ __forceinline__ tamis_pairs across(const params &p) const
    {
        tamis_pairs r;
        tamis_pairs_window<1, STEP> w(rows.down(p.sides, p.middle));
#pragma unroll
        for (int k = 0; k < 2; k++) {
            r.even[k] = w.at(4 * k + STEP) + EDGES_ZERO - w.at(4 * k - STEP);
            r.odd[k] = w.at(4 * k + 1 + STEP) + EDGES_ZERO - w.at(4 * k + 1 - STEP);
        }
        return r;
    }

    /* Differences are counted from 256, which smoothing multiplies. */
    __device__ __forceinline__ tamis_pairs down(const params &p) const
    {
        const unsigned one = 0x01000100u;
        unsigned zero = EDGES_ZERO - one * (2 * p.sides + p.middle);
        tamis_pairs d, r;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            d.even[k] = rows.row[2].even[k] + one - rows.row[0].even[k];
            d.odd[k] = rows.row[2].odd[k] + one - rows.row[0].odd[k];
        }
        tamis_pairs_window<1, STEP> w(d);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            r.even[k] =
                p.sides * (w.at(4 * k - STEP) + w.at(4 * k + STEP)) + (p.middle * d.even[k] + zero);
            r.odd[k] = p.sides * (w.at(4 * k + 1 - STEP) + w.at(4 * k + 1 + STEP)) +
                       (p.middle * d.odd[k] + zero);
        }
        return r;
    }

    __device__ __forceinline__ tamis_pairs around() const
    {
        const unsigned count = WAY == EDGES_ROWS_8 ? 8 : 4;
        tamis_pairs r = rows.neighbors<STEP, WAY == EDGES_ROWS_8>();
#pragma unroll
        for (int k = 0; k < 2; k++) {
            r.even[k] += EDGES_ZERO - count * rows.row[1].even[k];
            r.odd[k] += EDGES_ZERO - count * rows.row[1].odd[k];
        }
        return r;
    }

    static __device__ __forceinline__ void put_together(const tamis_pairs &x, const tamis_pairs &y,
                                                        tamis_rows_result<T> *out)
    {
#pragma unroll
        for (int k = 0; k < 2; k++)
            out->w[k] = WAY == EDGES_ROWS_SUM
                            ? edges_sum(x.even[k], y.even[k]) | edges_sum(x.odd[k], y.odd[k]) << 8
                            : edges_roots(x.even[k], y.even[k]) | edges_roots(x.odd[k], y.odd[k])
                                                                      << 8;
    }

    __device__ __forceinline__ void get(const params &p, tamis_rows_result<T> *out) const
    {
        if (WAY == EDGES_ROWS_SUM || WAY == EDGES_ROWS_ROOT)
            put_together(across(p), down(p), out);
        else
            edges_put(WAY == EDGES_ROWS_DX   ? across(p)
                      : WAY == EDGES_ROWS_DY ? down(p)
                                             : around(),
                      out);
    }
};

template <int WAY, int STEP, typename T>
static bool start_rows(const tamis_gpu_work *w, const edges_coef *k, tamis_gpu_fault *fault,
                       tamis_status *status)
{
    typedef edges_rows<WAY, STEP, T> op;
    edges_smooth smooth = {(unsigned)k->taps.smooth[1], (unsigned)k->taps.smooth[0]};
    if (!tamis_rows_fit<op>(w))
        return false;
    *status = tamis_rows_launch<op>("edges", w, smooth, fault);
    return true;
}

template <int WAY>
static bool start_bytes(const tamis_gpu_work *w, const edges_coef *k, tamis_gpu_fault *fault,
                        tamis_status *status)
{
    return w->step == 3 ? start_rows<WAY, 3, uint8_t>(w, k, fault, status)
                        : start_rows<WAY, 1, uint8_t>(w, k, fault, status);
}

template <int WAY>
static bool start_way(const tamis_gpu_work *w, const edges_coef *k, tamis_gpu_fault *fault,
                      tamis_status *status)
{
    if (k->result == TAMIS_U8)
        return start_bytes<WAY>(w, k, fault, status);
    return w->step == 3 ? start_rows<WAY, 3, int16_t>(w, k, fault, status)
                        : start_rows<WAY, 1, int16_t>(w, k, fault, status);
}

/* Launches such a kernel if there is one for the work. */
static bool launch_rows(const tamis_gpu_work *w, const edges_coef *k, tamis_gpu_fault *fault,
                        tamis_status *status)
{
    if (k->luma || k->scale != 1 || k->delta != 0 ||
        (k->result != TAMIS_U8 && k->result != TAMIS_S16))
        return false;
    if (k->kind == EDGES_LAPLACIAN4)
        return start_way<EDGES_ROWS_4>(w, k, fault, status);
    if (k->kind == EDGES_LAPLACIAN8)
        return start_way<EDGES_ROWS_8>(w, k, fault, status);
    if (k->kind > EDGES_SCHARR)
        return false;
    if (k->output == TAMIS_GRADIENT_DX)
        return start_way<EDGES_ROWS_DX>(w, k, fault, status);
    if (k->output == TAMIS_GRADIENT_DY)
        return start_way<EDGES_ROWS_DY>(w, k, fault, status);
    if (k->output != TAMIS_GRADIENT_MAGNITUDE || k->result != TAMIS_U8)
        return false;
    return k->norm == TAMIS_GRADIENT_L1 ? start_bytes<EDGES_ROWS_SUM>(w, k, fault, status)
                                        : start_bytes<EDGES_ROWS_ROOT>(w, k, fault, status);
}

} // namespace

#endif
