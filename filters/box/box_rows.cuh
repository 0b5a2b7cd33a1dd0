/* SPDX-License-Identifier: Apache-2.0 */
/* Means of small square windows of bytes on a device: sums of columns, two of 16 bits in a word,
 * to which a row is added and from which one is taken, then sums of those side by side. */
#ifndef TAMIS_BOX_ROWS_CUH
#define TAMIS_BOX_ROWS_CUH

#include "box_kernel.h"
#include "rows.cuh"

struct box_quotient {
    unsigned magic, bias; /* the mean is (sum * magic + bias) >> 24 */
};

/* With magic = (2^24 + e) / n, 0 <= e < n, the quotient of a sum is too great by less than sum * e
 * / (n * 2^24), which must stay below the distance 1 / n to the next whole one: sums, with the half
 * that rounds them, are below 2^16, and n below 2^8. */
static box_quotient box_quotient_of(int64_t n)
{
    box_quotient q;
    q.magic = (unsigned)(((1 << 24) + n - 1) / n);
    q.bias = (unsigned)(n / 2) * q.magic;
    return q;
}

/* A window of 2 RADIUS + 1 columns and rows: up to 15, for sums of 16 bits. */
template <int RADIUS, int PIXEL> struct box_rows {
    enum { R = RADIUS, STEP = PIXEL, GROUP = 1, K = 2 * R + 1 };
    enum { ROUND = K < 5 ? 2 * K : K, AHEAD = K < 9 ? 2 * ROUND : ROUND };
    enum { BLOCKS = R < 3 ? 28 : R == 3 ? 24 : R == 4 ? 22 : R == 5 ? 18 : 14 };
    typedef uint8_t result;
    typedef box_quotient params;

    tamis_pairs rows[K], sums;

    __device__ __forceinline__ box_rows()
    {
#pragma unroll
        for (int j = 0; j < K; j++)
            rows[j] = tamis_pairs{{0, 0}, {0, 0}};
        sums = rows[0];
    }

    __device__ __forceinline__ void push(const uint2 *row)
    {
        tamis_pairs in = tamis_pairs_of(*row);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            sums.even[k] += in.even[k] - rows[0].even[k];
            sums.odd[k] += in.odd[k] - rows[0].odd[k];
        }
#pragma unroll
        for (int j = 0; j + 1 < K; j++)
            rows[j] = rows[j + 1];
        rows[K - 1] = in;
    }

    /* In the highest byte. */
    static __device__ __forceinline__ unsigned low(unsigned sums, const params &q)
    {
        return (sums & 0xffffu) * q.magic + q.bias;
    }
    static __device__ __forceinline__ unsigned high(unsigned sums, const params &q)
    {
        return (sums >> 16) * q.magic + q.bias;
    }

    __device__ __forceinline__ void get(const params &q, tamis_rows_result<uint8_t> *out) const
    {
        tamis_pairs_window<R, STEP> w(sums);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned even = 0, odd = 0;
#pragma unroll
            for (int j = -R; j <= R; j++) {
                even += w.at(4 * k + j * STEP);
                odd += w.at(4 * k + 1 + j * STEP);
            }
            out->w[k] = __byte_perm(__byte_perm(low(even, q), low(odd, q), 0x0073),
                                    __byte_perm(high(even, q), high(odd, q), 0x0073), 0x5410);
        }
    }
};

template <int R, int STEP>
static bool start_rows(const tamis_gpu_work *w, const struct box_coef *c, tamis_gpu_fault *fault,
                       tamis_status *status)
{
    if (!tamis_rows_fit<box_rows<R, STEP>>(w))
        return false;
    *status = tamis_rows_launch<box_rows<R, STEP>>("box", w, box_quotient_of(c->n), fault);
    return true;
}

/* Whether there is such a kernel for pixels of so many samples: windows with their pixel in the
 * middle. */
static bool has_rows(const struct box_coef *c, int step)
{
    int radius = c->left, most = step == 1 ? 7 : step == 3 || step == 4 ? 2 : 0;
    return c->w == c->h && c->w == 2 * radius + 1 && c->top == radius && radius >= 1 &&
           radius <= most;
}

/* Launches such a kernel if there is one for the work. */
static bool launch_rows(const tamis_gpu_work *w, const struct box_coef *c, tamis_gpu_fault *fault,
                        tamis_status *status)
{
    typedef bool (*start)(const tamis_gpu_work *, const struct box_coef *, tamis_gpu_fault *,
                          tamis_status *);
    static const start plain[] = {start_rows<1, 1>, start_rows<2, 1>, start_rows<3, 1>,
                                  start_rows<4, 1>, start_rows<5, 1>, start_rows<6, 1>,
                                  start_rows<7, 1>};
    static const start color[] = {start_rows<1, 3>, start_rows<2, 3>};
    static const start four[] = {start_rows<1, 4>, start_rows<2, 4>};
    if (!has_rows(c, w->step))
        return false;
    const start *first = w->step == 1 ? plain : w->step == 3 ? color : four;
    return first[c->left - 1](w, c, fault, status);
}

#endif
