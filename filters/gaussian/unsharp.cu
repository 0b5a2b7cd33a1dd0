/* SPDX-License-Identifier: Apache-2.0 */
/* Unsharp on a device: direct sums are the Gaussian's kernels, which know the samples in the middle
 * of their windows; for those on a grid the Gaussian's launch into scratch memory, then the
 * difference. */
#include "pixels.cuh"

#include "gaussian_sharpen.cuh"
#include "unsharp_kernel.h"

extern "C" const tamis_gpu_kernel gaussian_kernels_cuda[];

enum { THREADS = 128 };

struct unsharp_state {
    const tamis_gpu_kernel *gaussian;
    const void *state;
};

struct unsharp_args {
    tamis_output out;
    tamis_gpu_planes src, smooth;
    int64_t src_next, smooth_next;
    int step, shift_x, shift_y;
    int first, tiles_x;
    gaussian_end end;
    bool aligned;
};

/* A thread has four samples beside each other. */
__global__ void __launch_bounds__(THREADS) sharpen(unsharp_args a)
{
    int begin = a.out.x * a.step, end = (a.out.x + a.out.w) * a.step, p = blockIdx.y;
    int x = a.first + ((int)(blockIdx.x % (unsigned)a.tiles_x) * THREADS + (int)threadIdx.x) * 4;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x);
    const char *row = tamis_picture(a.src.data[p], a.src_next) + (y + a.shift_y) * a.src.stride[p];
    const char *blurred = tamis_picture(a.smooth.data[p], a.smooth_next) + y * a.smooth.stride[p];
    float *to = tamis_row<float>(a.out, p, y) + x, v[4], s[4];
    const float *from = (const float *)row + x + a.shift_x, *smooth = (const float *)blurred + x;
    if (a.aligned && x >= begin && x + 4 <= end) {
        tamis_vector_load<float>((const char *)from, 0, v);
        tamis_vector_load<float>((const char *)smooth, 0, s);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = gaussian_sharpened(a.end, v[k], v[k] - s[k]);
        tamis_vector_store<float>((char *)to, 0, v);
        return;
    }
    for (int k = 0; k < 4; k++)
        if (x + k >= begin && x + k < end)
            to[k] = gaussian_sharpened(a.end, from[k], from[k] - smooth[k]);
}

/* The Gaussian's row of the same stage and type. */
static const tamis_gpu_kernel *gaussian_row(const tamis_node *node)
{
    const tamis_gpu_kernel *row = gaussian_kernels_cuda;
    while (row->type != node->work || strcmp(row->stage, node->stage) != 0)
        row++;
    return row;
}

/* The node as the Gaussian sees it. */
static tamis_node gaussian_node(const tamis_node *node)
{
    tamis_node inner = *node;
    inner.coef = (void *)((const unsharp_coef *)node->coef)->gaussian;
    return inner;
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const tamis_node *node = prep->node, inner = gaussian_node(node);
    struct unsharp_state *s = (struct unsharp_state *)prep->alloc(prep, sizeof *s);
    const tamis_gpu_kernel *row = gaussian_row(node);
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->gaussian = row;
    prep->node = &inner;
    tamis_status status = row->prepare(prep);
    s->state = prep->state;
    prep->node = node;
    prep->state = s;
    return status;
}

/* Bytes of a row of the smoothed part, which begins at a multiple of four samples. */
static int64_t row_bytes(int64_t samples)
{
    return (samples + 3 + 3) / 4 * 16;
}

static size_t scratch(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    const struct unsharp_state *s = (const struct unsharp_state *)state;
    const tamis_node inner = gaussian_node(node);
    int packed = node->in.layout == TAMIS_PACKED;
    int channels = packed ? node->in.channels : 1, planes = packed ? 1 : node->in.channels;
    size_t smooth = (size_t)(row_bytes((int64_t)w * channels) * h * planes);
    return smooth + (s->gaussian->scratch ? s->gaussian->scratch(&inner, s->state, w, h) : 0);
}

static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const struct unsharp_state *s = (const struct unsharp_state *)state;
    const unsharp_coef *k = (const unsharp_coef *)node->coef;
    const tamis_node inner_node = gaussian_node(node);
    tamis_gpu_work inner = *w;
    unsharp_args a;
    int64_t bytes = row_bytes((int64_t)w->part.w * w->step);
    a.out = tamis_output_of(w);
    a.src = w->src;
    a.src_next = w->src_next;
    a.step = w->step;
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.first = w->part.x * w->step / 4 * 4;
    a.tiles_x = (int)tamis_tiles((int64_t)(w->part.x + w->part.w) * w->step - a.first, 4 * THREADS);
    a.end = gaussian_end{true, k->amount, k->threshold};
    a.aligned = w->aligned >= 16 && a.shift_x % 4 == 0;
    for (int p = 0; p < w->planes; p++) {
        inner.dst.data[p] = (char *)w->scratch + (int64_t)p * bytes * w->part.h -
                            w->part.y * bytes - a.first * (int64_t)sizeof(float);
        inner.dst.stride[p] = bytes;
    }
    inner.scratch = (char *)w->scratch + bytes * w->part.h * w->planes;
    inner.dst_next = w->scratch_next;
    a.smooth = inner.dst;
    a.smooth_next = inner.dst_next;
    tamis_status status = s->gaussian->launch(&inner, &inner_node, s->state, fault);
    if (status != TAMIS_OK)
        return status;
    TAMIS_LAUNCH(sharpen, tamis_grid(w, a.tiles_x, w->part.h, w->planes), THREADS, 0, w->stream, a);
    return tamis_cuda_launched("unsharp", fault);
}

/* ---- direct sums, whose coef is the Gaussian's own */

static tamis_status prepare_direct(tamis_gpu_prep *prep)
{
    return gaussian_row(prep->node)->prepare(prep);
}

static size_t scratch_direct(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    return gaussian_row(node)->scratch(node, state, w, h);
}

static tamis_status launch_direct(const tamis_gpu_work *w, const tamis_node *node,
                                  const void *state, tamis_gpu_fault *fault)
{
    return gaussian_row(node)->launch(w, node, state, fault);
}

/* Tolerances as on the CPU. */
TAMIS_CUDA_KERNELS(unsharp) = {
    {"separable", TAMIS_U8, 0, prepare_direct, scratch_direct, launch_direct},
    {"separable", TAMIS_U16, 0, prepare_direct, scratch_direct, launch_direct},
    {"separable", TAMIS_S16, 0, prepare_direct, scratch_direct, launch_direct},
    {"separable", TAMIS_F32, 2.5e-5, prepare_direct, scratch_direct, launch_direct},
    {"grid", TAMIS_F32, 2.5e-5, prepare, scratch, launch},
    {},
};
