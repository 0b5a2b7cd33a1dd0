/* SPDX-License-Identifier: Apache-2.0 */
/* Medians and ranks on a device: for square medians networks, in registers where the window is
 * small; for all else, histograms. All give the samples that sorting the window would. */
#include "median_kernel.h"
#include "median_march.cuh"
#include "median_rank.cuh"
#include "median_sort.cuh"

template <typename T>
static tamis_status launch_sort(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                tamis_gpu_fault *fault)
{
    (void)state;
    switch (((const median_coef *)node->coef)->w) {
    case 3:
        if constexpr (sizeof(T) < 4)
            return launch_march<T, 3>(w, fault);
        else
            return launch_sort_tiles<T, 3>(w, fault);
    case 5:
        if constexpr (sizeof(T) < 4)
            return launch_march<T, 5>(w, fault);
        else
            return launch_sort_tiles<T, 5>(w, fault);
    case 7:
        return launch_sort_tiles<T, 7>(w, fault);
    case 9:
        return launch_sort_tiles<T, 9>(w, fault);
    case 11:
        return launch_sort_tiles<T, 11>(w, fault);
    case 13:
        return launch_sort_tiles<T, 13>(w, fault);
    default: /* 8 bits only */
        if constexpr (sizeof(T) == 1)
            return launch_sort_tiles<T, 15>(w, fault);
        return TAMIS_ERR_UNSUPPORTED;
    }
}

template <typename T>
static size_t scratch_rank(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    (void)state;
    return sizeof(T) == 1 ? 0 : sizeof(rank_found) * (size_t)w * (size_t)h * node->in.channels;
}

template <typename T>
static tamis_status launch_ranks(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    (void)state;
    return launch_rank<T>(w, (const median_coef *)node->coef, fault);
}

TAMIS_CUDA_KERNELS(median) = {
    {"sort", TAMIS_U8, 0, NULL, NULL, launch_sort<uint8_t>},
    {"sort", TAMIS_U16, 0, NULL, NULL, launch_sort<uint16_t>},
    {"sort", TAMIS_S16, 0, NULL, NULL, launch_sort<int16_t>},
    {"sort", TAMIS_F32, 0, NULL, NULL, launch_sort<float>},
    {"rank", TAMIS_U8, 0, NULL, scratch_rank<uint8_t>, launch_ranks<uint8_t>},
    {"rank", TAMIS_U16, 0, NULL, scratch_rank<uint16_t>, launch_ranks<uint16_t>},
    {"rank", TAMIS_S16, 0, NULL, scratch_rank<int16_t>, launch_ranks<int16_t>},
    {"rank", TAMIS_F32, 0, NULL, scratch_rank<float>, launch_ranks<float>},
    {},
};
