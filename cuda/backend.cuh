/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_CUDA_BACKEND_CUH
#define TAMIS_CUDA_BACKEND_CUH

#include "kernel.cuh"

/* Made by the build from filters/filters.list; ended by one without a name. */
extern "C" const tamis_gpu_filter tamis_cuda_filters[];

tamis_status tamis_cuda_convert(tamis_gpu *gpu, const tamis_gpu_convert *convert,
                                tamis_gpu_fault *fault);

/* graphs.cu, as in tamis_backend. */
tamis_status tamis_cuda_capture_begin(tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault);
tamis_status tamis_cuda_capture_end(tamis_gpu *gpu, void *stream, int least, tamis_gpu_graph **out,
                                    tamis_gpu_fault *fault);
tamis_status tamis_cuda_graph_launch(tamis_gpu *gpu, void *stream, tamis_gpu_graph *graph,
                                     tamis_gpu_fault *fault);
void tamis_cuda_graph_free(tamis_gpu *gpu, tamis_gpu_graph *graph);

#endif
