/* SPDX-License-Identifier: Apache-2.0 */
/* Canny on a device.
 *
 * launch: slopes, their size and which are greatest, a thread four pixels wide going down; kept and
 * strong pixels become half bytes in scratch. finish: the picture is cut into tiles of 32 x 32
 * bits, one to a warp, a row to a lane. In a tile, edges grow to the end. What is left and reaches
 * the tile's border are nodes of a forest, which neighboring tiles' nodes are united in; what
 * belongs to the tree of strong pixels is edge. No step waits for the host, and none is repeated,
 * however long the way from a strong pixel is. (Union by hooking roots to smaller ones and halving
 * paths: J. Jaiganesh, M. Burtscher, A high-performance connected components implementation for
 * GPUs, 2018.) */
#include "edges.cuh"

#include "canny_bytes.cuh"
#include "canny_kernel.h"
#include "canny_tiles.cuh"

enum { ACROSS = 32, DOWN = 4, ROWS = 16, SMOOTH_THREADS = 128 };
enum { PAD = 4 }; /* smoothed pixels to the left and right of the picture */

struct canny_state {
    const float *smooth;
};

template <typename T> struct args {
    edges_source<T> source;
    int l1, sixteenth, nothing_beyond;
    float low, high;
    int low_whole, high_whole; /* where sizes are integers */
    int w, h;                  /* of the result */
    char *halves;              /* half bytes of kept pixels and of strong ones; a plane's are */
    int64_t plane_bytes;       /* these apart */
    int stride;                /* bytes */
    unsigned tiles;
};

/* ---- sizes and directions */

enum way { FLAT, STEEP, FALLING, RISING };

/* Slopes of bytes are whole numbers; where their squares are beyond 2^24, those are too. */
template <int R, bool EXACT> struct measure {
    typedef float size; /* also of sums and squares below 2^24 */

    template <typename A>
    static __device__ __forceinline__ void of(const A &a, float dx, float dy, size *m, int *way)
    {
        const float tan = CANNY_TAN / 32768.f;
        float ax = fabsf(dx), ay = fabsf(dy), low = __fmul_rn(tan, ax);
        *m = a.l1 ? __fadd_rn(ax, ay) : __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy));
        *m = isnan(*m) ? 0.f : *m;
        /* Exact: ax has 10 bits, and tan 14. */
        bool steep = EXACT ? fmaf(-2, ax, ay) > low : ay > __fmul_rn(2 + tan, ax);
        *way = ay < low ? FLAT : steep ? STEEP : (dx < 0) == (dy < 0) ? FALLING : RISING;
    }
    static __device__ __forceinline__ size limit(float v, int)
    {
        return v;
    }
};

struct measure_whole {
    typedef int size;

    template <typename A>
    static __device__ __forceinline__ void of(const A &a, float dx, float dy, size *m, int *way)
    {
        float part = a.sixteenth ? 0.0625f : 1.f;
        int x = __float2int_rn(dx * part), y = __float2int_rn(dy * part);
        int ax = abs(x), ay = abs(y);
        *m = a.l1 ? ax + ay : x * x + y * y;
        int low = CANNY_TAN * ax, high = (65536 + CANNY_TAN) * ax;
        *way = ay * 32768 < low     ? FLAT
               : ay * 32768 > high  ? STEEP
               : (x < 0) == (y < 0) ? FALLING
                                    : RISING;
    }
    static __device__ __forceinline__ size limit(float, int v)
    {
        return v;
    }
};
template <> struct measure<2, true> : measure_whole {
};
template <> struct measure<3, true> : measure_whole {
};

/* Whether the size at column c, counted from the second, of the middle one of three rows is
 * greatest across the edge. */
template <typename S>
static __device__ __forceinline__ bool is_greatest(const S (*m)[6], int c, int way)
{
    S here = m[1][c + 1];
    S before = way == FLAT      ? m[1][c]
               : way == STEEP   ? m[0][c + 1]
               : way == FALLING ? m[0][c]
                                : m[0][c + 2];
    S after = way == FLAT      ? m[1][c + 2]
              : way == STEEP   ? m[2][c + 1]
              : way == FALLING ? m[2][c + 2]
                               : m[2][c];
    /* Without branches: all are soon known. */
    return (here > before) & ((here > after) | ((way <= STEEP) & (here == after)));
}

/* ---- which pixels are kept */

template <typename T, int R, bool EXACT, typename Reader, bool WHOLE, int UNROLL>
static __device__ __forceinline__ void classify_down(const args<T> &a, int i, int y)
{
    typedef measure<R, EXACT> measure_t;
    typedef typename measure_t::size size;
    size low = measure_t::limit(a.low, a.low_whole), high = measure_t::limit(a.high, a.high_whole);
    int first = y + a.source.shift_y - R - 1, rows = min(a.h - y, (int)ROWS);
    Reader in(a.source, blockIdx.y, i + a.source.shift_x, first);
    sobel_taps<R> taps = {};
    float across[2 * R + 1][6] = {}, smoothed[2 * R + 1][6] = {};
    size m[3][6] = {};
    int way[4] = {}, next_way[4] = {};
    char *out = a.halves + blockIdx.y * a.plane_bytes + (int64_t)y * a.stride + i / 4;
#pragma unroll UNROLL
    for (int v = 0; v < ROWS + 2 * R + 2; v++) {
        int row = v - 2 * R - 2; /* that can be written */
        if (!WHOLE && row >= rows)
            break;
        auto window = in.next();
        move_up<2 * R + 1>(across);
        move_up<2 * R + 1>(smoothed);
#pragma unroll
        for (int c = 0; c < 6; c++) {
            across[2 * R][c] = across_at<T, R>(taps, window, c - 1);
            smoothed[2 * R][c] = smoothed_at<T, R>(taps, window, c - 1);
        }
        if (v < 2 * R)
            continue;
        bool beyond = !WHOLE && a.nothing_beyond && (unsigned)(y + row + 1) >= (unsigned)a.h;
#pragma unroll
        for (int c = 0; c < 6; c++) {
            int w;
            m[0][c] = m[1][c];
            m[1][c] = m[2][c];
            measure_t::of(a, down_dx<T, R>(taps, across, c), down_dy<T, R>(taps, smoothed, c),
                          &m[2][c], &w);
            if (!WHOLE && a.nothing_beyond && (beyond || (unsigned)(i - 1 + c) >= (unsigned)a.w))
                m[2][c] = 0;
            if (c == 0 || c == 5)
                continue;
            way[c - 1] = next_way[c - 1];
            next_way[c - 1] = w;
        }
        if (row < 0)
            continue;
        int kept = 0, strong = 0;
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (m[1][c + 1] > low && (WHOLE || i + c < a.w))
                kept |= 1 << c;
        if (kept) { /* mostly nothing is */
            int greatest = 0;
#pragma unroll
            for (int c = 0; c < 4; c++) {
                greatest |= is_greatest(m, c, way[c]) ? 1 << c : 0;
                strong |= m[1][c + 1] > high ? 16 << c : 0;
            }
            kept &= greatest;
            strong &= kept << 4;
        }
        *out = (char)(kept | strong);
        out += a.stride;
    }
}

template <typename T, int R, bool EXACT, int F>
__global__ void __launch_bounds__(ACROSS *DOWN) classify(const __grid_constant__ args<T> a)
{
    unsigned down = blockIdx.x / a.tiles, tile = blockIdx.x - down * a.tiles;
    int i = (int)(tile * ACROSS + threadIdx.x) * 4;
    int y = (int)(down * DOWN + threadIdx.y) * ROWS;
    if (y >= a.h)
        return;
    if constexpr (F == SIDE_BY_SIDE) {
        const int unroll = R == 1 && sizeof(T) == 1 ? ROWS + 2 * R + 2 : 1;
        int first = y + a.source.shift_y - R - 1;
        if (y + ROWS <= a.h &&
            loads_whole<T, R + 1, F>(a.source, i + a.source.shift_x, first, ROWS + 2 * R + 2)) {
            classify_down<T, R, EXACT, whole_reader<T, R + 1, F>, true, unroll>(a, i, y);
            return;
        }
    }
    classify_down<T, R, EXACT, single_reader<T, R + 1, F>, false, 1>(a, i, y);
}

/* ---- smoothing, in planes of scratch */

/* A plane of floats whose first is at pixel (x, y) of the result. */
struct floats {
    float *data;
    int64_t stride; /* floats */
    int x, y, w, h;

    __device__ __forceinline__ float *at(int px, int py) const
    {
        return data + (py - y) * stride + (px - x);
    }
};

struct smoothing {
    const float *taps;
    int radius;
};

template <typename T>
static __device__ __forceinline__ float source_at(const edges_source<T> &s, int plane, int x, int y)
{
    const tamis_input<T> *p = s.in.plane;
    x += s.shift_x;
    y += s.shift_y;
    if (!s.luma)
        return (float)p[plane].at(x, y, 0);
    return single_reader<T, 1, APART>::luma(p[0].at(x, y, 0), p[1].at(x, y, 0), p[2].at(x, y, 0));
}

/* The thread's pixel of a plane, one row to some blocks. */
static __device__ __forceinline__ bool find_pixel(const floats &out, unsigned blocks, int *x,
                                                  int *y)
{
    unsigned row = blockIdx.x / blocks;
    *x = out.x + (int)((blockIdx.x - row * blocks) * blockDim.x + threadIdx.x);
    *y = out.y + (int)row;
    return *x < out.x + out.w;
}

template <typename T>
__global__ void __launch_bounds__(SMOOTH_THREADS)
    smooth_columns(const __grid_constant__ edges_source<T> in, int plane, floats out, smoothing s,
                   unsigned blocks)
{
    int x, y;
    if (!find_pixel(out, blocks, &x, &y))
        return;
    float sum = __fmul_rn(s.taps[0], source_at(in, plane, x, y));
    for (int j = 1; j <= s.radius; j++) {
        float both = __fadd_rn(source_at(in, plane, x, y - j), source_at(in, plane, x, y + j));
        sum = __fadd_rn(sum, __fmul_rn(s.taps[j], both));
    }
    *out.at(x, y) = sum;
}

__global__ void __launch_bounds__(SMOOTH_THREADS)
    smooth_rows(floats in, floats out, smoothing s, unsigned blocks)
{
    int x, y;
    if (!find_pixel(out, blocks, &x, &y))
        return;
    const float *p = in.at(x, y);
    float sum = __fmul_rn(s.taps[0], p[0]);
    for (int j = 1; j <= s.radius; j++)
        sum = __fadd_rn(sum, __fmul_rn(s.taps[j], __fadd_rn(p[-j], p[j])));
    *out.at(x, y) = sum;
}

/* ---- the picture's tiles */

__global__ void __launch_bounds__(32 * TILE_WARPS) grow(const __grid_constant__ canny_tiles t)
{
    int tx, ty;
    if (!canny_find_tile(t, &tx, &ty))
        return;
    canny_grow_tile(canny_plane(t, blockIdx.y), tx, ty);
}

__global__ void __launch_bounds__(32 * TILE_WARPS) unite(const __grid_constant__ canny_tiles t)
{
    int tx, ty;
    if (!canny_find_tile(t, &tx, &ty))
        return;
    canny_unite_tile(canny_plane(t, blockIdx.y), tx, ty);
}

/* Pixels x .. x+15, of those that there are. T: what the engine wants for results, bytes or, where
 * color was multiplied by alpha, floats. */
template <typename T>
static __device__ __forceinline__ void write_pixels(const canny_tiles &t, char *row, int pitch,
                                                    int x, unsigned bits)
{
    if (sizeof(T) == 1 && t.aligned && x + 16 <= t.w) {
        unsigned w[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[k] = ((bits >> 4 * k & 15) * 0x00204081u & 0x01010101u) * 255;
        *(uint4 *)(void *)(row + x) = make_uint4(w[0], w[1], w[2], w[3]);
        return;
    }
#pragma unroll 1
    for (int c = 0; c < 16 && x + c < t.w; c++)
        ((T *)(void *)row)[(int64_t)(x + c) * pitch] = (T)(bits >> c & 1 ? 255 : 0);
}

/* Neighboring tiles are written together, so that memory gets whole lines. */
template <typename T>
__global__ void __launch_bounds__(32 * TILE_WARPS)
    write_edges(const __grid_constant__ canny_tiles t, const __grid_constant__ tamis_output out)
{
    __shared__ unsigned edges[32][TILE_WARPS];
    const int across = 2 * TILE_WARPS, down = 32 * TILE_WARPS / across;
    int tx, ty;
    canny_find_tile(t, &tx, &ty); /* where there is none, there are no edges */
    edges[threadIdx.x % 32][threadIdx.x / 32] =
        canny_edges_of_tile(canny_plane(t, blockIdx.y), tx, ty);
    __syncthreads();
    int k = threadIdx.x % across, x = (tx - (int)threadIdx.x / 32) * 32 + 16 * k;
#pragma unroll
    for (int v = 0; v < 32; v += down) {
        int row = v + (int)threadIdx.x / across, y = 32 * ty + row;
        if (y < t.h)
            write_pixels<T>(t, tamis_row<char>(out, blockIdx.y, y), out.pitch, x,
                            edges[row][k / 2] >> k % 2 * 16);
    }
}

/* ---- launches */

static size_t padded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Scratch: for each plane half bytes, tiles of edges and of what is alive, and nodes; then the two
 * planes of smoothing, which all planes use in turn. */
struct layout {
    canny_tiles tiles;
    floats columns, smooth;
    size_t bytes;
};

static floats take_floats(char *base, size_t *at, int x, int y, int64_t w, int64_t h)
{
    floats f;
    f.stride = (w + 3) / 4 * 4;
    f.x = x;
    f.y = y;
    f.w = (int)w;
    f.h = (int)h;
    f.data = (float *)(void *)(base + *at);
    *at += padded((size_t)f.stride * (size_t)h * sizeof(float));
    return f;
}

static layout layout_of(char *base, const canny_coef *k, int planes, int w, int h)
{
    layout l = {};
    canny_tiles &t = l.tiles;
    t.w = w;
    t.h = h;
    t.across = (unsigned)tamis_tiles(w, 32);
    t.down = (unsigned)tamis_tiles(h, 32);
    t.blocks = (unsigned)tamis_tiles(t.across, TILE_WARPS);
    t.stride = 32 * (int)tamis_tiles(w, 4 * ACROSS);
    size_t count = (size_t)t.across * t.down, at = 0;
    t.halves = base;
    at += padded((size_t)t.stride * (size_t)h);
    t.edge = base + at;
    at += count * TILE_BYTES;
    t.alive = base + at;
    at += count * TILE_BYTES;
    t.nodes = base + at;
    at += (count + 1) * NODE_BYTES;
    t.plane_bytes = (int64_t)at;
    at *= (size_t)planes;
    if (k->smooth_radius) {
        int r = k->smooth_radius, halo = canny_slope_halo(k);
        int64_t width = (int64_t)w + 2 * PAD, rows = (int64_t)h + 2 * halo;
        l.columns = take_floats(base, &at, -PAD - r, -halo, width + 2 * r, rows);
        l.smooth = take_floats(base, &at, -PAD, -halo, width, rows);
    }
    l.bytes = at;
    return l;
}

static layout layout_of_work(const tamis_gpu_work *w, const tamis_node *node)
{
    return layout_of((char *)w->scratch, (const canny_coef *)node->coef, w->written, w->part.w,
                     w->part.h);
}

static size_t scratch(const tamis_node *node, const void *, int32_t w, int32_t h)
{
    return layout_of(nullptr, (const canny_coef *)node->coef, node->out.channels, w, h).bytes;
}

template <typename T>
static args<T> args_of(const tamis_gpu_work *w, const canny_coef *k, const layout &l)
{
    args<T> a;
    a.source = edges_source<T>();
    a.l1 = k->l1;
    a.sixteenth = k->sixteenth;
    a.nothing_beyond = k->nothing_beyond;
    a.low = (float)k->low;
    a.high = (float)k->high;
    a.low_whole = k->exact ? (int)k->low : 0;
    a.high_whole = k->exact ? (int)k->high : 0;
    a.w = w->part.w;
    a.h = w->part.h;
    a.halves = l.tiles.halves;
    a.plane_bytes = l.tiles.plane_bytes;
    a.stride = l.tiles.stride;
    a.tiles = (unsigned)(l.tiles.stride / 32);
    return a;
}

template <typename T, bool EXACT, int F>
static tamis_status start(const tamis_gpu_work *w, const canny_coef *k, const args<T> &a,
                          int planes, tamis_gpu_fault *fault)
{
    dim3 grid = tamis_grid(w, a.tiles, tamis_tiles(a.h, DOWN * ROWS), planes), block(ACROSS, DOWN);
    if (k->taps.radius == 1)
        TAMIS_LAUNCH((classify<T, 1, EXACT, F>), grid, block, 0, w->stream, a);
    else if (k->taps.radius == 2)
        TAMIS_LAUNCH((classify<T, 2, EXACT, F>), grid, block, 0, w->stream, a);
    else
        TAMIS_LAUNCH((classify<T, 3, EXACT, F>), grid, block, 0, w->stream, a);
    return tamis_cuda_launched("canny slopes", fault);
}

template <typename T, bool EXACT>
static tamis_status start_plain(const tamis_gpu_work *w, const canny_coef *k, const layout &l,
                                tamis_gpu_fault *fault)
{
    args<T> a = args_of<T>(w, k, l);
    a.source = edges_source_of<T>(w, k->luma);
    if (w->src_pitch == 1 && !k->luma)
        return start<T, EXACT, SIDE_BY_SIDE>(w, k, a, w->written, fault);
    return start<T, EXACT, APART>(w, k, a, w->written, fault);
}

/* Whether a warp may load eight pixels of a lane at once. */
static bool are_bytes(const tamis_gpu_work *w, const canny_coef *k)
{
    return k->exact && k->taps.radius == 1 && !k->luma && w->src_pitch == 1 &&
           w->aligned >= BYTES_V && w->shift_x % BYTES_V == 0;
}

static tamis_status start_bytes(const tamis_gpu_work *w, const canny_coef *k, const layout &l,
                                tamis_gpu_fault *fault)
{
    bytes_args a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.shift_x = w->shift_x;
    a.shift_y = w->shift_y;
    a.low = (float)k->low;
    a.high = (float)k->high;
    a.w = w->part.w;
    a.h = w->part.h;
    a.blank = k->nothing_beyond;
    a.halves = l.tiles.halves;
    a.plane_bytes = l.tiles.plane_bytes;
    a.stride = l.tiles.stride;
    a.strips = (unsigned)tamis_tiles(32 * (int64_t)l.tiles.across, BYTES_INNER);
    a.height = 32;
    while (a.height > 8 &&
           (int64_t)a.strips * w->written * w->count * tamis_tiles(a.h, a.height) < 8000)
        a.height /= 2;
    dim3 grid = tamis_grid(w, a.strips, tamis_tiles(a.h, a.height), w->written);
    if (k->l1)
        TAMIS_LAUNCH(classify_bytes<true>, grid, 32, 0, w->stream, a);
    else
        TAMIS_LAUNCH(classify_bytes<false>, grid, 32, 0, w->stream, a);
    return tamis_cuda_launched("canny slopes", fault);
}

/* The smoothed plane is read as a picture of its own, larger by what slopes look at. */
static edges_source<float> smooth_source(const floats &f)
{
    edges_source<float> s = {};
    tamis_input<float> &in = s.in.plane[0];
    in.first = (const char *)f.data;
    in.stride = f.stride * (int64_t)sizeof(float);
    in.w = f.w;
    in.h = f.h;
    in.pitch = 1;
    in.border = TAMIS_BORDER_REPLICATE;
    in.right = f.w - 1;
    in.bottom = f.h - 1;
    s.step = 1;
    s.shift_x = -f.x;
    s.shift_y = -f.y;
    s.aligned = 1;
    return s;
}

template <typename T>
static tamis_status start_smoothed(const tamis_gpu_work *w, const canny_coef *k, const layout &l,
                                   const canny_state *state, int plane, tamis_gpu_fault *fault)
{
    smoothing s = {state->smooth, k->smooth_radius};
    unsigned blocks = (unsigned)tamis_tiles(l.columns.w, SMOOTH_THREADS);
    TAMIS_LAUNCH(smooth_columns<T>, tamis_grid(w, blocks, l.columns.h, 1), SMOOTH_THREADS, 0,
                 w->stream, edges_source_of<T>(w, k->luma), plane, l.columns, s, blocks);
    tamis_status status = tamis_cuda_launched("canny columns", fault);
    if (status != TAMIS_OK)
        return status;
    blocks = (unsigned)tamis_tiles(l.smooth.w, SMOOTH_THREADS);
    TAMIS_LAUNCH(smooth_rows, tamis_grid(w, blocks, l.smooth.h, 1), SMOOTH_THREADS, 0, w->stream,
                 l.columns, l.smooth, s, blocks);
    status = tamis_cuda_launched("canny rows", fault);
    if (status != TAMIS_OK)
        return status;
    args<float> a = args_of<float>(w, k, l);
    a.source = smooth_source(l.smooth);
    a.halves += plane * a.plane_bytes;
    return start<float, false, SIDE_BY_SIDE>(w, k, a, 1, fault);
}

template <typename T>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const canny_coef *k = (const canny_coef *)node->coef;
    layout l = layout_of_work(w, node);
    tamis_status status = TAMIS_OK;
    if (k->smooth_radius) {
        for (int p = 0; p < w->written && status == TAMIS_OK; p++)
            status = start_smoothed<T>(w, k, l, (const canny_state *)state, p, fault);
        return status;
    }
    if constexpr (sizeof(T) == 1) {
        if (are_bytes(w, k))
            return start_bytes(w, k, l, fault);
        if (k->exact)
            return start_plain<T, true>(w, k, l, fault);
    }
    return start_plain<T, false>(w, k, l, fault);
}

/* From what launch left in scratch. */
static tamis_status finish(const tamis_gpu_work *w, const tamis_node *node, const void *,
                           tamis_gpu_fault *fault)
{
    tamis_output out = tamis_output_of(w);
    canny_tiles t = layout_of_work(w, node).tiles;
    dim3 grid = tamis_grid(w, t.blocks, t.down, w->written);
    t.aligned = w->dst_pitch == 1 && w->aligned >= 16;
    TAMIS_LAUNCH(grow, grid, 32 * TILE_WARPS, 0, w->stream, t);
    tamis_status status = tamis_cuda_launched("canny growth", fault);
    if (status != TAMIS_OK)
        return status;
    TAMIS_LAUNCH(unite, grid, 32 * TILE_WARPS, 0, w->stream, t);
    status = tamis_cuda_launched("canny union", fault);
    if (status != TAMIS_OK)
        return status;
    if (tamis_priv_node_result(node) == TAMIS_F32)
        TAMIS_LAUNCH(write_edges<float>, grid, 32 * TILE_WARPS, 0, w->stream, t, out);
    else
        TAMIS_LAUNCH(write_edges<uint8_t>, grid, 32 * TILE_WARPS, 0, w->stream, t, out);
    return tamis_cuda_launched("canny edges", fault);
}

/* Nodes are numbered in 32 bits. */
static const long long MOST_TILES = (1ll << 32) / TILE_NODES - 2;

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const canny_coef *k = (const canny_coef *)prep->node->coef;
    const tamis_node *n = prep->node;
    if (tamis_tiles(n->w, 32) * tamis_tiles(n->h, 32) > MOST_TILES) {
        snprintf(prep->fault->text, sizeof prep->fault->text,
                 "a picture of %dx%d has more than %lld tiles of 32x32 pixels", n->w, n->h,
                 MOST_TILES);
        return TAMIS_ERR_UNSUPPORTED;
    }
    canny_state *s = (canny_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    if (!k->smooth_radius)
        return TAMIS_OK;
    s->smooth = (const float *)prep->upload(prep, k->smooth,
                                            ((size_t)k->smooth_radius + 1) * sizeof(float));
    return s->smooth ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

TAMIS_CUDA_KERNELS(canny) = {
    {"canny", TAMIS_U8, 0, prepare, scratch, launch<uint8_t>, finish, 1},
    {"canny", TAMIS_U16, 0, prepare, scratch, launch<uint16_t>, finish, 1},
    {"canny", TAMIS_S16, 0, prepare, scratch, launch<int16_t>, finish, 1},
    {"canny", TAMIS_F32, 0, prepare, scratch, launch<float>, finish, 1},
    {},
};
