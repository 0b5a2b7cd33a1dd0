/* SPDX-License-Identifier: Apache-2.0 */
/* The bilateral filter on a device: which kernel, and its launch. */
#include "bilateral_pairs.cuh"
#include "bilateral_taps.cuh"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

/* ---- launches */

struct bilateral_state {
    const int *half;
    const float *space;
};

static struct picture picture_of(const tamis_gpu_planes *planes, int first, int count, int pitch,
                                 int64_t next, size_t skip)
{
    struct picture f = {};
    f.next = next;
    f.planes = count;
    f.pitch = pitch;
    for (int p = 0; p < count; p++) {
        f.data[p] = planes->data[first + p] + skip;
        f.stride[p] = planes->stride[first + p];
    }
    return f;
}

template <typename T>
static struct args make_args(const tamis_gpu_work *w, const tamis_node *node,
                             const struct bilateral_state *s, int first, int count, int c)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = {};
    size_t skip = (size_t)c * sizeof(T);
    a.src = picture_of(&w->src, first, count, w->src_pitch, w->src_next, skip);
    if (k->guided)
        a.guide = picture_of(&w->guide, 0, w->guide_planes, w->guide_pitch, 0, 0);
    for (int p = 0; p < count; p++)
        a.src.outside[p] = w->outside[first + p + c];
    float value = fminf(fmaxf((float)node->border_value, -1e30f), 1e30f);
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        a.guide.outside[p] = sizeof(T) == 4            ? value
                             : sizeof(T) == 1          ? fminf(fmaxf(rintf(value), 0), 255)
                             : node->work == TAMIS_U16 ? fminf(fmaxf(rintf(value), 0), 65535)
                                                       : fminf(fmaxf(rintf(value), -32768), 32767);
    a.w = w->w;
    a.h = w->h;
    a.border = w->border;
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.out = tamis_output_of(w);
    for (int p = 0; p < count; p++) {
        a.out.first[p] = w->dst.data[first + p] + skip;
        a.out.stride[p] = w->dst.stride[first + p];
    }
    a.rx = k->rx;
    a.ry = k->ry;
    a.l1 = k->l1;
    a.alpha = k->alpha;
    a.range = k->log2_range;
    a.half = s->half;
    a.space = s->space;
    return a;
}

template <typename S>
static tamis_status launch_near(const tamis_gpu_work *w, const struct args *a,
                                const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    struct near_args n = {};
    n.src = a->src;
    n.w = a->w;
    n.h = a->h;
    n.border = a->border;
    n.shift_x = a->shift_x;
    n.shift_y = a->shift_y;
    n.out = a->out;
    n.range = a->range;
    n.unit = sqrtf(a->range);
    n.scale = 1 / n.unit;
    for (int dy = 0; dy <= S::R; dy++)
        for (int dx = 0; dx <= S::R; dx++)
            n.space[dy * (NEAR + 1) + dx] =
                dx <= k->half[dy] ? bilateral_log2_space(k, dy)[dx] : -INFINITY;
    n.vectors = w->part.x % S::W == 0 && n.out.pitch == 1 &&
                w->aligned >= (int)(S::W * sizeof(typename S::type));
    n.strips = tamis_tiles(w->part.w, S::COLUMNS);
    /* Long strips, but some thousand. */
    int64_t rows = n.strips * w->part.h * w->count / 6144;
    int most_rows = S::WIDE ? 48 : 64;
    n.rows = (int)(rows < 16 ? 16 : rows > most_rows ? most_rows : rows);
    n.count = n.strips * tamis_tiles(w->part.h, n.rows);
    size_t most, ring = S::RING * sizeof(float);
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    /* Few strips are for many multiprocessors. */
    int64_t some = n.count * w->count / 528;
    int warps = (int)min(most / ring, (size_t)S::WARPS);
    warps = some < 1 ? 1 : some < warps ? (int)some : warps;
    TAMIS_TRY(tamis_cuda_allow_shared(near<S>, ring * (size_t)warps, fault));
    TAMIS_LAUNCH(near<S>, tamis_grid(w, tamis_tiles(n.count, warps), 1, 1), warps * WARP,
                 ring * (size_t)warps, w->stream, n);
    return tamis_cuda_launched("bilateral", fault);
}

/* Whether the kernel for pairs serves. Floats outside a disc may be NaN. */
static bool is_near(const struct args *a, const struct bilateral_coef *k, tamis_type type)
{
    int n = a->src.planes, disc = k->half[k->ry] < k->rx;
    return k->rx == k->ry && k->rx > 0 && (k->rx <= 3 || k->rx == 5) && !k->guided &&
           (n == 1 || (n == 3 && !k->l1)) && !(type == TAMIS_F32 && disc);
}

template <typename T, int N>
static tamis_status launch_radius(const tamis_gpu_work *w, const struct args *a,
                                  const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    switch (k->rx) {
    case 1:
        return launch_near<shape<T, N, 1, 4>>(w, a, k, fault);
    case 2:
        return launch_near<shape<T, N, 2, N == 1 ? 8 : 4>>(w, a, k, fault);
    case 3:
        return launch_near<shape<T, N, 3, N == 1 ? 8 : 4>>(w, a, k, fault);
    default:
        return launch_near<shape<T, N, 5, N == 1 ? 8 : 4>>(w, a, k, fault);
    }
}

/* The planes first .. first + count - 1, of which sample c of each pixel. */
template <typename T>
static tamis_status launch_group(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 int first, int count, int c, tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = make_args<T>(w, node, (const struct bilateral_state *)state, first, count, c);
    if (is_near(&a, k, node->work))
        return count == 1 ? launch_radius<T, 1>(w, &a, k, fault)
                          : launch_radius<T, 3>(w, &a, k, fault);
    a.strips = tamis_tiles(w->part.w, TAP_WIDTH);
    TAMIS_LAUNCH(taps<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, TAP_HEIGHT), 1),
                 TAP_WIDTH * TAP_HEIGHT, 0, w->stream, a);
    return tamis_cuda_launched("bilateral", fault);
}

template <typename T>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    /* With a guide all planes have its weights. */
    int count = k->guided || k->colors > w->planes ? w->planes : k->colors;
    tamis_status status = TAMIS_OK;
    for (int first = 0; first < w->planes && status == TAMIS_OK; first += count, count = 1)
        for (int c = 0; c < w->step && status == TAMIS_OK; c++)
            status = launch_group<T>(w, node, state, first, count, c, fault);
    return status;
}

template <typename T>
static tamis_status launch_luma(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = make_args<T>(w, node, (const struct bilateral_state *)state, 0, w->planes, 0);
    a.strips = tamis_tiles(w->part.w, TAP_WIDTH);
    TAMIS_LAUNCH(luma_taps<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, TAP_HEIGHT), 1),
                 TAP_WIDTH * TAP_HEIGHT, 0, w->stream, a);
    tamis_status status = tamis_cuda_launched("bilateral luma", fault);
    if (status != TAMIS_OK || w->planes <= 3 || k->alpha)
        return status;
    return launch_group<T>(w, node, state, 3, 1, 0, fault);
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)prep->node->coef;
    struct bilateral_state *s = (struct bilateral_state *)prep->alloc(prep, sizeof *s);
    size_t rows = (size_t)k->ry + 1, width = 2 * (size_t)k->rx + 1;
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->half = (const int *)prep->upload(prep, k->half, rows * sizeof *s->half);
    s->space = (const float *)prep->upload(prep, k->log2_space, rows * width * sizeof *s->space);
    return s->half && s->space ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

} // namespace

TAMIS_CUDA_KERNELS(bilateral) = {
    {"vector", TAMIS_U8, 1, prepare, NULL, launch<uint8_t>},
    {"vector", TAMIS_U16, 1, prepare, NULL, launch<uint16_t>},
    {"vector", TAMIS_S16, 1, prepare, NULL, launch<int16_t>},
    {"vector", TAMIS_F32, 1e-5, prepare, NULL, launch<float>},
    {"luma", TAMIS_U8, 1, prepare, NULL, launch_luma<uint8_t>},
    {"luma", TAMIS_U16, 1, prepare, NULL, launch_luma<uint16_t>},
    {"luma", TAMIS_S16, 1, prepare, NULL, launch_luma<int16_t>},
    {"luma", TAMIS_F32, 1e-5, prepare, NULL, launch_luma<float>},
    {},
};
