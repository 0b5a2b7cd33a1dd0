/* SPDX-License-Identifier: Apache-2.0 */
/* Products of small matrices that a warp makes at once, on tensor cores.
 *
 * With g = lane / 4 and t = lane % 4, a thread has of 16 rows those g and g + 8, of 8 columns in a
 * result those 2 t and 2 t + 1, and in an operand column g. */
#ifndef TAMIS_NLMEANS_MATRIX_CUH
#define TAMIS_NLMEANS_MATRIX_CUH

#include "halves.cuh"
#include "nlmeans_device.cuh"

#define ROOT 0.70703125f /* of 1/2, as a half */

namespace
{

/* d = c + a b, of signed bytes. A step has 32 of the inner dimension: a has the bytes 4 t .. 4 t +
 * 3 of both rows, then the bytes 16 + 4 t .. of both; b those of its column. d and c have columns 2
 * t and 2 t + 1 of row g, then of row g + 8. */
template <int STEPS, int COUNT>
static __device__ __forceinline__ void multiply_bytes(int (&d)[4], const unsigned (&a)[STEPS][4],
                                                      const unsigned (&b)[COUNT][2],
                                                      const int (&c)[4])
{
#ifdef TAMIS_EMULATE
    emulate_multiply_s8(d, a[0], b[0], c, STEPS);
#else
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const int *from = k ? (const int *)d : (const int *)c;
#if __CUDA_ARCH__ >= 800
        asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
            : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
            : "r"(a[k][0]), "r"(a[k][1]), "r"(a[k][2]), "r"(a[k][3]), "r"(b[k][0]), "r"(b[k][1]),
              "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
#else
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int *start = (i < 2 ? from : d) + i % 2 * 2;
            asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
                : "=r"(d[i % 2 * 2]), "=r"(d[i % 2 * 2 + 1])
                : "r"(a[k][i]), "r"(b[k][i / 2]), "r"(start[0]), "r"(start[1]));
        }
#endif
    }
#endif
}

/* d += a b, of halves, two in each word: a has columns 2 t and 2 t + 1 of row g, then of row g + 8,
 * then columns 2 t + 8 and 2 t + 9 of both; b rows 2 t and 2 t + 1 of column g, then 2 t + 8 and 2
 * t
 * + 9. */
static __device__ __forceinline__ void add_product(float (&d)[4], const unsigned (&a)[4],
                                                   const unsigned (&b)[2])
{
#ifdef TAMIS_EMULATE
    for (int i = 0; i < 2; i++)
        emulate_multiply_f16(d, a + 2 * i, b[i]);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
    for (int i = 0; i < 2; i++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
#endif
}

} // namespace

#endif
