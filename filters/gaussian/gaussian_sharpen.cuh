/* SPDX-License-Identifier: Apache-2.0 */
/* What unsharp asks of the Gaussian's kernels in gaussian.cu. */
#ifndef TAMIS_GAUSSIAN_SHARPEN_CUH
#define TAMIS_GAUSSIAN_SHARPEN_CUH

#include "kernel.cuh"

/* The stage "separable" of f32, whose result sharpens the input on its way out. *done: whether
 * there is a kernel that does so for this work; state is what the Gaussian's row prepared. */
tamis_status tamis_cuda_gaussian_sharpen(const tamis_gpu_work *w, const void *state, float amount,
                                         float threshold, bool *done, tamis_gpu_fault *fault);

#endif
