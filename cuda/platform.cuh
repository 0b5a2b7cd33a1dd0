/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA, or the stand-in that runs kernels on the CPU, for tests: kernels and the backend are
 * written once for both. What the two spell differently has a name here. */
#ifndef TAMIS_CUDA_PLATFORM_CUH
#define TAMIS_CUDA_PLATFORM_CUH

#ifdef TAMIS_EMULATE

#include "emulate.h"

#define TAMIS_LAUNCH(kernel, grid, block, shared, stream, ...)                                     \
    do {                                                                                           \
        auto tamis_kernel_ = kernel;                                                               \
        emulate_launch(grid, block, shared, stream, tamis_kernel_, emulate_pack(__VA_ARGS__));     \
    } while (0)
#define TAMIS_SHARED_BYTES(name) unsigned char *name = emulate_shared_bytes()

#else

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TAMIS_LAUNCH(kernel, grid, block, shared, stream, ...)                                     \
    do {                                                                                           \
        auto tamis_kernel_ = kernel;                                                               \
        tamis_kernel_<<<grid, block, shared, (cudaStream_t)(stream)>>>(__VA_ARGS__);               \
    } while (0)
/* The block's shared memory of the size that the launch gave, aligned to 16 bytes. */
#define TAMIS_SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]

#endif

#endif
