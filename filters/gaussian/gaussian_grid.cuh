/* SPDX-License-Identifier: Apache-2.0 */
/* The Gaussian's stage "grid" on a device: what gaussian.cu's table names. */
#ifndef TAMIS_GAUSSIAN_GRID_CUH
#define TAMIS_GAUSSIAN_GRID_CUH

#include "kernel.cuh"

tamis_status tamis_cuda_gaussian_grid_prepare(tamis_gpu_prep *prep);
size_t tamis_cuda_gaussian_grid_scratch(const tamis_node *node, const void *state, int32_t w,
                                        int32_t h);
/* By the type of the node's samples. */
tamis_status tamis_cuda_gaussian_grid_launch(const tamis_gpu_work *w, const tamis_node *node,
                                             const void *state, tamis_gpu_fault *fault);

#endif
