/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a stream, captured to be done again. */
#include "backend.cuh"

struct tamis_gpu_graph {
    cudaGraphExec_t exec;
};

tamis_status tamis_cuda_capture_begin(tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault)
{
    (void)gpu;
    /* What other threads do meanwhile is no matter of this stream's. */
    return tamis_cuda_check(
        cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal), "capture",
        fault);
}

static tamis_status make_exec(cudaGraph_t graph, int least, tamis_gpu_graph **out,
                              tamis_gpu_fault *fault)
{
    size_t count = 0;
    cudaGraphExec_t exec = nullptr;
    TAMIS_TRY(tamis_cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "graph", fault));
    if (count < (size_t)least)
        return TAMIS_OK;
    TAMIS_TRY(tamis_cuda_check(cudaGraphInstantiate(&exec, graph, 0), "graph", fault));
    *out = (tamis_gpu_graph *)malloc(sizeof **out);
    if (!*out) {
        cudaGraphExecDestroy(exec);
        snprintf(fault->text, sizeof fault->text, "no memory");
        return TAMIS_ERR_MEMORY;
    }
    (*out)->exec = exec;
    return TAMIS_OK;
}

tamis_status tamis_cuda_capture_end(tamis_gpu *gpu, void *stream, int least, tamis_gpu_graph **out,
                                    tamis_gpu_fault *fault)
{
    cudaGraph_t graph = nullptr;
    (void)gpu;
    *out = nullptr;
    tamis_status status =
        tamis_cuda_check(cudaStreamEndCapture((cudaStream_t)stream, &graph), "capture", fault);
    if (status == TAMIS_OK)
        status = make_exec(graph, least, out, fault);
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

tamis_status tamis_cuda_graph_launch(tamis_gpu *gpu, void *stream, tamis_gpu_graph *graph,
                                     tamis_gpu_fault *fault)
{
    (void)gpu;
    return tamis_cuda_check(cudaGraphLaunch(graph->exec, (cudaStream_t)stream), "graph", fault);
}

void tamis_cuda_graph_free(tamis_gpu *gpu, tamis_gpu_graph *graph)
{
    (void)gpu;
    if (cudaGraphExecDestroy(graph->exec) != cudaSuccess)
        cudaGetLastError(); /* of work that failed before: whoever waits for it is told */
    free(graph);
}
