/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from device to shared memory that threads do not wait for. Loads into registers are no
 * substitute where several are to be on their way: a thread has six counters to wait with, the
 * compiler gives the loads of a loop the same one, and waiting for the oldest is then waiting for
 * all. */
#ifndef TAMIS_CUDA_ASYNC_CUH
#define TAMIS_CUDA_ASYNC_CUH

#include "platform.cuh"

#if defined TAMIS_EMULATE || (defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800)
#define TAMIS_COPIES_WAIT /* at once: there are no such copies */
#endif

/* Starts to copy a T of 4, 8 or 16 bytes, aligned to its size. */
template <typename T>
static __device__ __forceinline__ void tamis_copy_start(T *shared, const void *from)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "such copies have no others");
#ifdef TAMIS_COPIES_WAIT
    *shared = *(const T *)from;
#else
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(to), "l"(from), "n"((int)sizeof(T))
                 : "memory");
#endif
}

/* Ends a group of this thread's copies, which may be empty. */
static __device__ __forceinline__ void tamis_copy_group()
{
#ifndef TAMIS_COPIES_WAIT
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/* Waits until all of this thread's groups but the last N have come. What other threads have copied
 * is seen after a barrier that follows. */
template <int N> static __device__ __forceinline__ void tamis_copy_wait()
{
#ifndef TAMIS_COPIES_WAIT
    asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
#endif
}

#endif
