/* SPDX-License-Identifier: Apache-2.0 */
/* The separable Gaussian of small windows on bytes, in whole numbers. Two rows are made at a time,
 * so that the samples of two rows lie side by side for multiply-adds of two down the columns;
 * across, sums of columns wander to the lanes beside. */
#ifndef TAMIS_GAUSSIAN_ROWS_CUH
#define TAMIS_GAUSSIAN_ROWS_CUH

#include "gaussian_kernel.h"
#include "gaussian_sharpen.cuh"
#include "rows.cuh"

namespace
{

enum { GAUSSIAN_ROWS_MAX = 7 };

/* Taps as constants of the launch. */
struct gaussian_rows_taps {
    /* Pairs down, as gaussian_axis has them; sums are in 1/128 level after the shift. */
    unsigned even[GAUSSIAN_ROWS_MAX + 1], odd[GAUSSIAN_ROWS_MAX + 1], down_half;
    int down_shift;
    /* Across, so that the level is the highest byte of the sum; to sharpen, that in 1/128 level
     * is the higher half of it. */
    unsigned across[GAUSSIAN_ROWS_MAX + 1];
    gaussian_end end;
};

static void fill_rows(const struct gaussian_coef *c, struct gaussian_rows_taps *t)
{
    if (c->x.radius > GAUSSIAN_ROWS_MAX || c->y.radius > GAUSSIAN_ROWS_MAX)
        return;
    for (int i = 0; i <= c->y.radius; i++) {
        t->even[i] = (unsigned)c->y.even[i];
        t->odd[i] = (unsigned)c->y.odd[i];
    }
    t->down_shift = c->y.bits - GAUSSIAN_FRACTION;
    t->down_half = 1u << (t->down_shift - 1);
    t->end = gaussian_end_of(c);
    int scale = (c->sharpen ? 23 : 24) - GAUSSIAN_FRACTION - c->x.bits;
    for (int i = 0; i <= c->x.radius; i++)
        t->across[i] = (unsigned)c->x.q[i] << scale;
}

/* SHARPEN: what the sums give is not the result but what sharpens it. */
template <int RADIUS, int PIXEL, bool SHARPEN> struct gaussian_rows {
    enum { R = RADIUS, STEP = PIXEL, GROUP = 2, PAIRS = R + 1, REACH = R * STEP };
    /* Rounds of larger ones are too long for the cache of instructions. */
    enum { ROUND = R < 4 && !SHARPEN ? PAIRS : 1, AHEAD = R == 3 && !SHARPEN ? 4 : 6 };
    enum { BLOCKS = R < 3 && !SHARPEN ? 28 : R == 3 && !SHARPEN ? 24 : R < 6 ? 20 : 16 };
    typedef uint8_t result;
    typedef gaussian_rows_taps params;

    unsigned pairs[PAIRS][4]; /* of two columns each */

    __device__ __forceinline__ gaussian_rows()
    {
#pragma unroll
        for (int m = 0; m < PAIRS; m++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                pairs[m][c] = 0;
    }

    __device__ __forceinline__ void push(const uint2 *rows)
    {
#pragma unroll
        for (int m = 0; m + 1 < PAIRS; m++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                pairs[m][c] = pairs[m + 1][c];
        pairs[PAIRS - 1][0] = __byte_perm(rows[0].x, rows[1].x, 0x5140);
        pairs[PAIRS - 1][1] = __byte_perm(rows[0].x, rows[1].x, 0x7362);
        pairs[PAIRS - 1][2] = __byte_perm(rows[0].y, rows[1].y, 0x5140);
        pairs[PAIRS - 1][3] = __byte_perm(rows[0].y, rows[1].y, 0x7362);
    }

    /* Columns of the first row's windows or of the second's. */
    __device__ __forceinline__ void down(const params &t, const unsigned *taps, unsigned *out) const
    {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            unsigned low = t.down_half, high = t.down_half;
#pragma unroll
            for (int m = 0; m < PAIRS; m++) {
                low = __dp2a_lo(taps[m], pairs[m][c], low);
                high = __dp2a_hi(taps[m], pairs[m][c], high);
            }
            out[2 * c] = low >> t.down_shift;
            out[2 * c + 1] = high >> t.down_shift;
        }
    }

    /* Four samples under the first or the second row of results. */
    __device__ __forceinline__ unsigned center(int second, int word) const
    {
        int row = R + second;
        return __byte_perm(pairs[row / 2][2 * word], pairs[row / 2][2 * word + 1],
                           row % 2 ? 0x7531 : 0x6420);
    }

    __device__ __forceinline__ void across(const params &t, const unsigned *own, int second,
                                           tamis_rows_result<uint8_t> *out) const
    {
        const unsigned all = 0xffffffffu;
        const int V = TAMIS_ROWS_V;
        unsigned columns[V + 2 * REACH], *w = columns + REACH, sum[V];
#pragma unroll
        for (int c = 0; c < V; c++)
            w[c] = own[c];
#pragma unroll
        for (int i = 1; i <= REACH; i++) {
            w[-i] = __shfl_up_sync(all, own[V - i], 1);
            w[V - 1 + i] = __shfl_down_sync(all, own[i - 1], 1);
        }
#pragma unroll
        for (int c = 0; c < V; c++) {
            sum[c] = t.across[0] * w[c] + (1u << (SHARPEN ? 22 - GAUSSIAN_FRACTION : 23));
#pragma unroll
            for (int j = 1; j <= R; j++)
                sum[c] += t.across[j] * (w[c - j * STEP] + w[c + j * STEP]);
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (SHARPEN) {
                const unsigned smooth[4] = {sum[4 * k], sum[4 * k + 1], sum[4 * k + 2],
                                            sum[4 * k + 3]};
                out->w[k] = gaussian_sharpened_levels(t.end, center(second, k), smooth);
                continue;
            }
            out->w[k] = __byte_perm(__byte_perm(sum[4 * k], sum[4 * k + 1], 0x0073),
                                    __byte_perm(sum[4 * k + 2], sum[4 * k + 3], 0x0073), 0x5410);
        }
    }

    __device__ __forceinline__ void get(const params &t, tamis_rows_result<uint8_t> *out) const
    {
        unsigned columns[TAMIS_ROWS_V];
        down(t, t.even, columns);
        across(t, columns, 0, &out[0]);
        down(t, t.odd, columns);
        across(t, columns, 1, &out[1]);
    }
};

/* Whether there is such a kernel for pixels of so many samples. */
static bool has_rows(int radius, int step)
{
    int most = step == 1 ? GAUSSIAN_ROWS_MAX : step == 3 || step == 4 ? 2 : 0;
    return radius >= 1 && radius <= most;
}

typedef bool (*gaussian_rows_start)(const tamis_gpu_work *, const gaussian_rows_taps &,
                                    tamis_gpu_fault *, tamis_status *);

template <int R, int STEP, bool SHARPEN>
static bool start_rows(const tamis_gpu_work *w, const gaussian_rows_taps &t, tamis_gpu_fault *fault,
                       tamis_status *status)
{
    if (!tamis_rows_fit<gaussian_rows<R, STEP, SHARPEN>>(w))
        return false;
    *status = tamis_rows_launch<gaussian_rows<R, STEP, SHARPEN>>("gaussian", w, t, fault);
    return true;
}

template <bool SHARPEN>
static bool launch_rows_of(const tamis_gpu_work *w, int radius, const gaussian_rows_taps &t,
                           tamis_gpu_fault *fault, tamis_status *status)
{
    static const gaussian_rows_start plain[] = {
        start_rows<1, 1, SHARPEN>, start_rows<2, 1, SHARPEN>, start_rows<3, 1, SHARPEN>,
        start_rows<4, 1, SHARPEN>, start_rows<5, 1, SHARPEN>, start_rows<6, 1, SHARPEN>,
        start_rows<7, 1, SHARPEN>};
    static const gaussian_rows_start color[] = {start_rows<1, 3, SHARPEN>,
                                                start_rows<2, 3, SHARPEN>};
    static const gaussian_rows_start four[] = {start_rows<1, 4, SHARPEN>,
                                               start_rows<2, 4, SHARPEN>};
    if (!has_rows(radius, w->step))
        return false;
    const gaussian_rows_start *start = w->step == 1 ? plain : w->step == 3 ? color : four;
    return start[radius - 1](w, t, fault, status);
}

/* Launches such a kernel if there is one for the work. */
static bool launch_rows(const tamis_gpu_work *w, int radius, const gaussian_rows_taps &t,
                        tamis_gpu_fault *fault, tamis_status *status)
{
    return t.end.sharpens ? launch_rows_of<true>(w, radius, t, fault, status)
                          : launch_rows_of<false>(w, radius, t, fault, status);
}

} // namespace

#endif
