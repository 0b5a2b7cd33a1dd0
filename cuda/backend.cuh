/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_CUDA_BACKEND_CUH
#define TAMIS_CUDA_BACKEND_CUH

#include "kernel.cuh"

/* Made by the build from filters/filters.list; ended by one without a name. */
extern "C" const tamis_gpu_filter tamis_cuda_filters[];

tamis_status tamis_cuda_convert(tamis_gpu *gpu, const tamis_gpu_convert *convert,
                                tamis_gpu_fault *fault);

#endif
