/* SPDX-License-Identifier: Apache-2.0 */
/* The bilateral filter on a device: which kernel, and its launch. */
#include "bilateral_colors.cuh"
#include "bilateral_levels.cuh"
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

/* All but how warps share out the part. */
static void set_pairs(struct pair_args *n, const struct args *a)
{
    n->src = a->src;
    n->w = a->w;
    n->h = a->h;
    n->border = a->border;
    n->shift_x = a->shift_x;
    n->shift_y = a->shift_y;
    n->out = a->out;
}

template <typename S>
static tamis_status launch_near(const tamis_gpu_work *w, const struct args *a,
                                const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    struct near_args n = {};
    set_pairs(&n, a);
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
    int processors;
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    TAMIS_TRY(tamis_cuda_processors(&processors, fault));
    /* Few strips are for many multiprocessors. */
    int64_t some = n.count * w->count / (4 * processors);
    int warps = (int)min(most / ring, (size_t)S::WARPS);
    warps = some < 1 ? 1 : some < warps ? (int)some : warps;
    TAMIS_TRY(tamis_cuda_allow_shared(near<S>, fault));
    TAMIS_LAUNCH(near<S>, tamis_grid(w, tamis_tiles(n.count, warps), 1, 1), warps * WARP,
                 ring * (size_t)warps, w->stream, n);
    return tamis_cuda_launched("bilateral", fault);
}

/* Shares out the part to warps of one block a multiprocessor, `warps` at most, or fewer where there
 * are few strips. Strips are as long as lets all multiprocessors end at about the same time. */
template <typename S>
static int share_out(const tamis_gpu_work *w, struct pair_args *n, int processors, int warps)
{
    enum { LEAST_ROWS = 4 * S::R, MOST_ROWS = 128, MOST_WAVES = 16 };
    n->strips = tamis_tiles(w->part.w, S::COLUMNS);
    int64_t beside = n->strips * w->count, least = INT64_MAX;
    int64_t blocks = beside * tamis_tiles(w->part.h, LEAST_ROWS) / processors;
    warps = blocks < 4 ? 4 : blocks < warps ? (int)blocks : warps;
    n->rows = MOST_ROWS;
    for (int waves = 1; waves <= MOST_WAVES; waves++) {
        int64_t below = max((int64_t)waves * processors * warps / beside, (int64_t)1);
        int rows = (int)max(tamis_tiles(w->part.h, (int)min(below, (int64_t)w->part.h)),
                            (int64_t)LEAST_ROWS);
        int64_t all = tamis_tiles(beside * tamis_tiles(w->part.h, rows), warps);
        int64_t cost = tamis_tiles(all, processors) * (rows + S::R + 4);
        if (rows <= MOST_ROWS && cost < least) {
            least = cost;
            n->rows = rows;
        }
    }
    n->count = n->strips * tamis_tiles(w->part.h, n->rows);
    return warps;
}

static uint8_t level_of(float v)
{
    return (uint8_t)fminf(fmaxf(rintf(v), 0), 255);
}

template <typename S>
static tamis_status launch_levels(const tamis_gpu_work *w, const struct args *a,
                                  const struct bilateral_coef *k, int warps, tamis_gpu_fault *fault)
{
    struct level_args n = {};
    set_pairs(&n, a);
    n.range = a->range;
    n.outside = level_of(a->src.outside[0]);
    for (int dy = 0; dy <= S::R; dy++)
        for (int dx = 0; dx <= S::R; dx++) {
            float space = dx <= k->half[dy] ? exp2f(bilateral_log2_space(k, dy)[dx]) : 0;
            unsigned bits = tamis_half_bits(space) * 0x10001u;
            n.ahead[dy * (NEAR + 1) + dx] = bits;
            n.behind[dy * (NEAR + 1) + dx] = bits | 0x80000000;
        }
    n.vectors = w->part.x % S::W == 0 && n.out.pitch == 1 && w->aligned >= (int)S::W;
    int processors;
    TAMIS_TRY(tamis_cuda_processors(&processors, fault));
    warps = share_out<S>(w, &n, processors, warps);
    size_t bytes = LEVEL_TABLE + S::BYTES * (size_t)warps;
    TAMIS_TRY(tamis_cuda_allow_shared(by_levels<S>, fault));
    TAMIS_LAUNCH(by_levels<S>, tamis_grid(w, tamis_tiles(n.count, warps), 1, 1), warps * WARP,
                 bytes, w->stream, n);
    return tamis_cuda_launched("bilateral levels", fault);
}

/* Whether the colors of a pixel lie side by side, and nothing else does. */
template <typename P> static bool is_packed(P *const *data, const int64_t *stride, int pitch)
{
    return pitch == 3 && data[1] == data[0] + 1 && data[2] == data[0] + 2 &&
           stride[1] == stride[0] && stride[2] == stride[0];
}

template <typename S>
static tamis_status launch_colors(const tamis_gpu_work *w, const struct args *a,
                                  const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    struct color_args n = {};
    set_pairs(&n, a);
    for (int c = 0; c < 3; c++)
        n.outside[c] = level_of(a->src.outside[c]);
    /* Where the least difference is too much, what binary16 holds is so, too. */
    n.range = tamis_half_bits(-fminf(256 * a->range, 60000)) * 0x10001u;
    for (int dy = 0; dy <= S::R; dy++)
        for (int dx = 0; dx <= S::R; dx++) {
            float space = dx <= k->half[dy] ? bilateral_log2_space(k, dy)[dx] : -INFINITY;
            n.space[dy * (NEAR + 1) + dx] = tamis_half_bits(space) * 0x10001u;
        }
    n.packed_in = is_packed(n.src.data, n.src.stride, n.src.pitch);
    n.packed_out = is_packed(n.out.first, n.out.stride, n.out.pitch) && w->part.x % S::W == 0 &&
                   w->aligned >= 4;
    size_t most;
    TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
    int processors;
    TAMIS_TRY(tamis_cuda_processors(&processors, fault));
    int warps = share_out<S>(w, &n, processors, (int)min(most / S::BYTES, (size_t)S::WARPS));
    size_t bytes = S::BYTES * (size_t)warps;
    TAMIS_TRY(tamis_cuda_allow_shared(by_colors<S>, fault));
    TAMIS_LAUNCH(by_colors<S>, tamis_grid(w, tamis_tiles(n.count, warps), 1, 1), warps * WARP,
                 bytes, w->stream, n);
    return tamis_cuda_launched("bilateral colors", fault);
}

/* Whether the kernel for pairs serves. Floats outside a disc may be NaN. Two planes are Cb and Cr
 * of films, which are integers. */
static bool is_near(const struct args *a, const struct bilateral_coef *k, tamis_type type)
{
    int n = a->src.planes, disc = k->half[k->ry] < k->rx;
    bool color = (n == 3 || (n == 2 && type != TAMIS_F32)) && !k->l1;
    return k->rx == k->ry && k->rx > 0 && (k->rx <= 3 || k->rx == 5) && !k->guided &&
           (n == 1 || color) && !(type == TAMIS_F32 && disc);
}

template <typename T, int N, int R>
static tamis_status launch_pairs(const tamis_gpu_work *w, const struct args *a,
                                 const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    if constexpr (sizeof(T) == 1 && N == 3) {
        return launch_colors<color_shape<R, R == 5 ? 8 : R == 3 ? 12 : 16>>(w, a, k, fault);
    } else if constexpr (sizeof(T) == 1 && N == 1) {
        typedef level_shape<R, 8, R == 5 ? 12 : 16> levels;
        size_t most;
        TAMIS_TRY(tamis_cuda_shared_limit(&most, fault));
        /* Devices of 2018 have room for the table alone. */
        if (most >= LEVEL_TABLE + 4 * (size_t)levels::BYTES) {
            int64_t warps =
                min((int64_t)(most - LEVEL_TABLE) / levels::BYTES, (int64_t)levels::WARPS);
            return launch_levels<levels>(w, a, k, (int)warps, fault);
        }
    }
    return launch_near<shape<T, N, R, (N == 1 && R > 1 ? 8 : 4)>>(w, a, k, fault);
}

template <typename T, int N>
static tamis_status launch_radius(const tamis_gpu_work *w, const struct args *a,
                                  const struct bilateral_coef *k, tamis_gpu_fault *fault)
{
    switch (k->rx) {
    case 1:
        return launch_pairs<T, N, 1>(w, a, k, fault);
    case 2:
        return launch_pairs<T, N, 2>(w, a, k, fault);
    case 3:
        return launch_pairs<T, N, 3>(w, a, k, fault);
    default:
        return launch_pairs<T, N, 5>(w, a, k, fault);
    }
}

/* The planes first .. first + count - 1, of which sample c of each pixel. */
template <typename T>
static tamis_status launch_group(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 int first, int count, int c, tamis_gpu_fault *fault)
{
    const struct bilateral_coef *k = (const struct bilateral_coef *)node->coef;
    struct args a = make_args<T>(w, node, (const struct bilateral_state *)state, first, count, c);
    if (is_near(&a, k, node->work)) {
        if constexpr (sizeof(T) < 4)
            if (count == 2)
                return launch_radius<T, 2>(w, &a, k, fault);
        return count == 1 ? launch_radius<T, 1>(w, &a, k, fault)
                          : launch_radius<T, 3>(w, &a, k, fault);
    }
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
