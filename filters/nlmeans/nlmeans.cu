/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means on a device: which kernel, and its launch.
 *
 * What a block compares lies in shared memory; nothing goes to device memory but the result. No
 * result depends on where a part begins: integers are exact, and sums of floats are added in an
 * order that follows from the place in the image alone. */
#include "nlmeans_bytes.cuh"
#include "nlmeans_left.cuh"
#include "nlmeans_motion.cuh"
#include "nlmeans_products.cuh"
#include "nlmeans_strips.cuh"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

/* ---- launches */

static tamis_status launch_left(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int floats = (int)left_floats(a);
    a->strips = tamis_tiles(w->part.w, 32);
    int64_t count = a->strips * tamis_tiles(w->part.h, LEFT_ROWS);
    TAMIS_LAUNCH(left, tamis_grid(w, tamis_tiles(count, THREADS / 32), 1, 1), THREADS,
                 (size_t)floats * sizeof(float) * (THREADS / 32), w->stream, *a, count, floats);
    return tamis_cuda_launched("nlmeans", fault);
}

template <typename P>
static tamis_status launch_strips(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int rows = P::H + 2 * (a->sy + P::R), own = a->frames > 1 ? P::H + 2 * P::R : 0;
    /* Offsets side by side may end outside the search window. */
    int pitch = COLUMNS + 2 * (a->sx + P::R) + TOGETHER + 1;
    a->tile_pitch = pitch + pitch % 2;
    /* The planes of the current frame's are as far from each other as the tile's. */
    size_t lines = (size_t)rows * (own ? 2 * P::PLANES - 1 : P::PLANES) + (size_t)own;
    size_t bytes = sizeof(float) * (size_t)a->tile_pitch * lines, most;
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    if (bytes > most)
        return launch_left(w, a, fault);
    TAMIS_TRY(tamis_cuda_allow_shared(strips<P>, fault));
    a->first = w->part.x - w->part.x % 2;
    a->strips = tamis_tiles(w->part.x - a->first + w->part.w, COLUMNS);
    int64_t count = tamis_tiles(w->part.h, P::H);
    TAMIS_LAUNCH(strips<P>, tamis_grid(w, a->strips, count, 1), THREADS, bytes, w->stream, *a);
    return tamis_cuda_launched("nlmeans", fault);
}

template <typename P, int TILES>
static tamis_status launch_tiles(const tamis_gpu_work *w, const struct args *a, size_t bytes,
                                 tamis_gpu_fault *fault)
{
    TAMIS_TRY(tamis_cuda_allow_shared(products<P, TILES>, fault));
    int64_t count = tamis_tiles(w->part.h, P::ROWS);
    TAMIS_LAUNCH((products<P, TILES>), tamis_grid(w, a->strips, count, 1), P::BLOCK, bytes,
                 w->stream, *a);
    return tamis_cuda_launched("nlmeans", fault);
}

template <typename P>
static tamis_status launch_products(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int rows = P::ROWS + 2 * a->sy;
    size_t most;
    a->tiles = (4 + 2 * a->sx + TILE - 1) / TILE;
    a->search_pitch = TILE * (P::S + a->tiles);
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    a->band = (rows + P::SEGMENT - 1) / P::SEGMENT * P::SEGMENT;
    while (a->band >= P::ROWS + P::SEGMENT && space<P>::bytes(a->band, a->search_pitch) > most)
        a->band -= P::SEGMENT;
    size_t bytes = space<P>::bytes(a->band, a->search_pitch);
    if (bytes > most)
        return launch_left(w, a, fault);
    /* Where sums are grouped must not depend on where the part begins. */
    a->first = w->part.x - w->part.x % 4;
    a->strips = tamis_tiles(w->part.x - a->first + w->part.w, P::ACROSS);
    if constexpr (P::N != 2) /* windows of chroma are smaller */
        if (a->tiles == 3)   /* search windows of 15 to 21 */
            return launch_tiles<P, 3>(w, a, bytes, fault);
    return launch_tiles<P, 0>(w, a, bytes, fault);
}

template <typename P>
static tamis_status launch_bytes(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    int rows = P::ROWS + 2 * (a->sy + P::R);
    int own = P::ALONE ? 0 : (P::ROWS + 2 * P::R) * P::OWN_PITCH;
    size_t bytes = sizeof(unsigned) * (size_t)(P::N * (rows * P::LINE + own)), most;
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    if (bytes > most)
        return launch_left(w, a, fault);
    TAMIS_TRY(tamis_cuda_allow_shared(compare_bytes<P>, fault));
    a->first = w->part.x - w->part.x % 4;
    a->strips = tamis_tiles(w->part.x - a->first + w->part.w, BYTES_COLUMNS);
    int64_t count = tamis_tiles(w->part.h, P::ROWS);
    TAMIS_LAUNCH(compare_bytes<P>, tamis_grid(w, a->strips, count, 1), BYTES_THREADS, bytes,
                 w->stream, *a);
    return tamis_cuda_launched("nlmeans", fault);
}

/* For N planes, 1 or 2. */
template <int R, int N>
static tamis_status launch_few(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    if (max(a->sx, a->sy) > BYTES_SEARCH || a->bias != 0)
        return launch_products<patches<R, N, N == 1 ? 4 : 2>>(w, a, fault);
    return a->frames > 1 ? launch_bytes<near<R, N, false>>(w, a, fault)
                         : launch_bytes<near<R, N, true>>(w, a, fault);
}

template <int R>
static tamis_status launch_near(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    /* Products drop the last bit of patches' lengths. */
    if (a->type == TAMIS_U8 && !a->luma && a->scale <= 1.f / 16) {
        if (a->planes == 1)
            return launch_few<R, 1>(w, a, fault);
        if (a->planes == 2)
            return launch_few<R, 2>(w, a, fault);
        if constexpr (R <= 3) {
            if (a->planes == 3)
                return launch_products<patches<R, 3, 2>>(w, a, fault);
            if (a->planes == 4)
                return launch_products<patches<R, 4, 2>>(w, a, fault);
        }
    }
    if (a->planes == 1)
        return launch_strips<floats<R, 1, 0>>(w, a, fault);
    if (a->planes == 2)
        return launch_strips<floats<R, 2, 0>>(w, a, fault);
    if constexpr (R <= 3) {
        if (a->planes == 3)
            return a->luma ? launch_strips<floats<R, 3, 1>>(w, a, fault)
                           : launch_strips<floats<R, 3, 0>>(w, a, fault);
    }
    return launch_left(w, a, fault);
}

static tamis_status launch_group(const tamis_gpu_work *w, struct args *a, tamis_gpu_fault *fault)
{
    if (a->px == a->py)
        switch (a->px) {
        case 1:
            return launch_near<1>(w, a, fault);
        case 2:
            return launch_near<2>(w, a, fault);
        case 3:
            return launch_near<3>(w, a, fault);
        case 4:
            return launch_near<4>(w, a, fault);
        default:
            break;
        }
    return launch_left(w, a, fault);
}

/* Plane p of a picture whose pixels have the given step; skip bytes into a pixel. */
static void take_plane(struct picture *to, int i, const tamis_gpu_planes *planes, int p,
                       size_t skip)
{
    to->data[i] = planes->data[p] + skip;
    to->stride[i] = planes->stride[p];
}

/* The planes first .. first + count - 1, of which sample c of each pixel. */
static struct args make_args(const tamis_gpu_work *w, const struct nlmeans_coef *k, tamis_type type,
                             int first, int count, int c)
{
    struct args a = {};
    size_t skip = (size_t)c * k->sample_bytes;
    a.type = type;
    a.planes = count;
    a.luma = first == 0 && k->luma;
    a.pitch = w->src_pitch;
    a.next = w->src_next;
    a.w = w->w;
    a.h = w->h;
    a.border = w->border;
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.sx = k->sx;
    a.sy = k->sy;
    a.px = k->px;
    a.py = k->py;
    a.scale = k->log2_range / (a.luma ? 1 : (float)count);
    a.bias = k->log2_floor;
    a.out = tamis_output_of(w);
    for (int i = 0; i < count; i++) {
        a.outside[i] = w->outside[first + i + c];
        a.out.first[i] = w->dst.data[first + i] + skip;
        a.out.stride[i] = w->dst.stride[first + i];
        take_plane(&a.frame[0], i, &w->src, first + i, skip);
    }
    a.frames = 1;
    for (int f = -k->frames; f <= k->frames; f++) {
        const tamis_gpu_planes *other = &w->frame[TAMIS_MAX_FRAMES + f];
        if (f == 0 || !other->data[0])
            continue;
        for (int i = 0; i < count; i++)
            take_plane(&a.frame[a.frames], i, other, first + i, skip);
        a.frames++;
    }
    return a;
}

static size_t scratch(const tamis_node *node, const void *, int32_t w, int32_t h)
{
    const struct nlmeans_coef *k = (const struct nlmeans_coef *)node->coef;
    /* As many blocks as a part of that size may touch. */
    tamis_rect part = {NLMEANS_BLOCK - 1 + k->sx + k->px, NLMEANS_BLOCK - 1 + k->sy + k->py, w, h};
    if (!k->motion)
        return 0;
    return hunt_of(k, part, 2 * k->frames + 1, k->colors, NULL).bytes;
}

static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *,
                           tamis_gpu_fault *fault)
{
    const struct nlmeans_coef *k = (const struct nlmeans_coef *)node->coef;
    int count = k->colors < w->planes ? k->colors : w->planes;
    tamis_status status = TAMIS_OK;
    for (int first = 0; first < w->planes && status == TAMIS_OK; first += count, count = 1)
        for (int c = 0; c < w->step && status == TAMIS_OK; c++) {
            struct args a = make_args(w, k, node->work, first, count, c);
            /* Without others the frame is looked at where it lies. */
            if (k->motion && a.frames > 1)
                status = follow(w, k, &a, fault);
            if (status == TAMIS_OK)
                status = launch_group(w, &a, fault);
        }
    return status;
}

/* ---- what strength 0 and a search window of one pixel do */

template <typename T>
__global__ void __launch_bounds__(256) copy(const __grid_constant__ tamis_inputs<T> in,
                                            const __grid_constant__ tamis_output out, int step)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    int64_t row = (int64_t)out.w * step;
    if (i >= row * out.h)
        return;
    int y = out.y + (int)(i / row), sample = (int)(i % row);
    int x = out.x + sample / step, c = sample % step;
    const tamis_input<T> &from = in.plane[blockIdx.y];
    tamis_row<T>(out, blockIdx.y, y)[(int64_t)x * out.pitch + c] = from.get(x, y, c);
}

template <typename T>
static tamis_status launch_copy(const tamis_gpu_work *w, const tamis_node *, const void *,
                                tamis_gpu_fault *fault)
{
    tamis_gpu_work moved = *w;
    for (int p = 0; p < w->planes; p++)
        moved.src.data[p] +=
            w->shift_y * w->src.stride[p] + (int64_t)w->shift_x * w->src_pitch * (int64_t)sizeof(T);
    int64_t count = (int64_t)w->part.w * w->step * w->part.h;
    TAMIS_LAUNCH(copy<T>, tamis_grid(w, tamis_tiles(count, 256), 1, w->planes), 256, 0, w->stream,
                 tamis_inputs_of<T>(&moved), tamis_output_of(w), w->step);
    return tamis_cuda_launched("nlmeans copy", fault);
}

} // namespace

TAMIS_CUDA_KERNELS(nlmeans) = {
    {"means", TAMIS_U8, 1, NULL, scratch, launch},
    {"means", TAMIS_U16, 1, NULL, scratch, launch},
    {"means", TAMIS_S16, 1, NULL, scratch, launch},
    {"means", TAMIS_F32, 1e-5, NULL, scratch, launch},
    {"copy", TAMIS_U8, 0, NULL, NULL, launch_copy<uint8_t>},
    {"copy", TAMIS_U16, 0, NULL, NULL, launch_copy<uint16_t>},
    {"copy", TAMIS_S16, 0, NULL, NULL, launch_copy<int16_t>},
    {"copy", TAMIS_F32, 0, NULL, NULL, launch_copy<float>},
    {},
};
