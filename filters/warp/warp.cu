/* SPDX-License-Identifier: Apache-2.0 */
/* Warps on a device: every map, interpolation and type, with the arithmetic that warp_kernel.h
 * states and so with the reference's bits. A warp of threads takes patches of 8x4 pixels, which
 * lie close together in the source however it is turned. */
#include "warp_device.cuh"

enum { THREADS = 256, ROWS = 16, PATCH = 4 };

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

template <typename T> struct args {
    tamis_inputs<T> in;
    tamis_output out;
    struct warp_map map;
    int step;
    int tiles; /* in a row */
    int grid_w, grid_h;
    float cubic_a;
    const float *lanczos;
};

/* ---- samples */

/* Those of columns x .. x+N-1, rows y .. y+N-1. */
template <typename V, int N, typename T>
static __device__ __forceinline__ void gather(const tamis_input<T> &in, int x, int y, int c,
                                              V (&v)[N][N])
{
    if (x >= 0 && y >= 0 && x <= in.w - N && y <= in.h - N) {
        const T *row = in.row(y) + ((int64_t)x * in.pitch + c);
#pragma unroll
        for (int j = 0; j < N; j++) {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[j][i] = (V)row[i * in.pitch];
            row = (const T *)((const char *)row + in.stride);
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[j][i] = (V)in.at(x + i, y + j, c);
}

/* Whether none of them is in the picture. */
template <typename T>
static __device__ __forceinline__ bool is_outside(const tamis_input<T> &in, int x, int y, int n)
{
    return in.border == TAMIS_BORDER_CONSTANT &&
           (x + n - 1 < 0 || x >= in.w || y + n - 1 < 0 || y >= in.h);
}

/* ---- interpolation: what a pixel's samples share is made once, then used for each of them */

struct nearest {
    int x, y;

    template <typename T> __device__ __forceinline__ void place(const args<T> &, warp_position p)
    {
        int64_t half = (int64_t)1 << 31;
        x = (int)((p.x + half) >> 32);
        y = (int)((p.y + half) >> 32);
    }
    template <typename T> __device__ __forceinline__ T value(const tamis_input<T> &in, int c) const
    {
        return in.at(x, y, c);
    }
};

static __device__ __forceinline__ float between(float a, float b, float f)
{
    return f == 0 ? a : __fadd_rn(a, __fmul_rn(__fsub_rn(b, a), f));
}

struct linear {
    int x, y;
    float fx, fy;

    __device__ __forceinline__ void place(warp_position p)
    {
        int u, v;
        x = warp_before<24>(p.x, &u);
        y = warp_before<24>(p.y, &v);
        fx = (float)u * 0x1p-24f;
        fy = (float)v * 0x1p-24f;
    }
    template <typename T> __device__ __forceinline__ void place(const args<T> &, warp_position p)
    {
        place(p);
    }
    template <typename T>
    __device__ __forceinline__ float exact(const tamis_input<T> &in, int c) const
    {
        float v[2][2];
        gather(in, x, y, c, v);
        return between(between(v[0][0], v[0][1], fx), between(v[1][0], v[1][1], fx), fy);
    }
    template <typename T> __device__ __forceinline__ T value(const tamis_input<T> &in, int c) const
    {
        return tamis_sample<T>::of(exact(in, c));
    }
};

/* Weights and samples in binary32, N taps. A fraction of 0 looks at one sample of its axis. */
template <int N> struct window {
    int x, y; /* the first sample */
    int fx, fy;
    float wx[N], wy[N];

    static __device__ __forceinline__ float sum(const float (&v)[N])
    {
        if (N == 4)
            return __fadd_rn(__fadd_rn(v[0], v[2]), __fadd_rn(v[1], v[3]));
        return __fadd_rn(__fadd_rn(__fadd_rn(v[0], v[N - 2]), v[2]),
                         __fadd_rn(__fadd_rn(v[1], v[N - 1]), v[3]));
    }
    template <typename T> __device__ __forceinline__ T value(const tamis_input<T> &in, int c) const
    {
        float v[N][N], t[N];
        if (is_outside(in, x, y, N))
            return (T)in.outside[c];
        gather(in, x, y, c, v);
#pragma unroll
        for (int i = 0; i < N; i++) {
            t[i] = __fmul_rn(wy[0], v[0][i]);
#pragma unroll
            for (int j = 1; j < N; j++)
                t[i] = __fadd_rn(t[i], __fmul_rn(wy[j], v[j][i]));
            if (fy == 0)
                t[i] = v[N / 2 - 1][i];
        }
        if (fx == 0)
            return tamis_sample<T>::of(t[N / 2 - 1]);
#pragma unroll
        for (int i = 0; i < N; i++)
            t[i] = __fmul_rn(wx[i], t[i]);
        return tamis_sample<T>::of(sum(t));
    }
    __device__ __forceinline__ void place(warp_position p)
    {
        x = warp_before<24>(p.x, &fx) - (N / 2 - 1);
        y = warp_before<24>(p.y, &fy) - (N / 2 - 1);
    }
};

struct cubic : window<4> {
    static __device__ __forceinline__ void weights(float a, float t, float (&w)[4])
    {
        w[0] = t * (a + t * (a * t - 2 * a));
        w[1] = 1 + t * t * ((a + 2) * t - (a + 3));
        w[2] = t * (t * ((2 * a + 3) - (a + 2) * t) - a);
        w[3] = t * t * (a - a * t);
    }
    template <typename T> __device__ __forceinline__ void place(const args<T> &a, warp_position p)
    {
        window<4>::place(p);
        weights(a.cubic_a, (float)fx * 0x1p-24f, wx);
        weights(a.cubic_a, (float)fy * 0x1p-24f, wy);
    }
};

struct lanczos3 : window<6> {
    static __device__ __forceinline__ void weights(const float *table, int fraction, float (&w)[6])
    {
        const float *a = table + (fraction >> 14) * WARP_TABLE_TAPS, *b = a + WARP_TABLE_TAPS;
        float f = (float)(fraction & 16383) * 0x1p-14f;
        for (int i = 0; i < 6; i++)
            w[i] = __fadd_rn(a[i], __fmul_rn(__fsub_rn(b[i], a[i]), f));
    }
    template <typename T> __device__ __forceinline__ void place(const args<T> &a, warp_position p)
    {
        window<6>::place(p);
        weights(a.lanczos, fx, wx);
        weights(a.lanczos, fy, wy);
    }
};

/* ---- area */

/* As tamis_priv_warp_grid(), in the same arithmetic. */
enum { GRID_MOST = 64 };

static __device__ __forceinline__ int grid_of(double length)
{
    double n = ceil(length - 1e-9);
    return n < 1 ? 1 : n < GRID_MOST ? (int)n : GRID_MOST;
}

static __device__ __forceinline__ double stretch(const double *m, int part, double x, double y)
{
    double d = m[6] * x + m[7] * y + m[8];
    double dx = m[part] * d - m[6 + part] * (m[0] * x + m[1] * y + m[2]);
    double dy = m[3 + part] * d - m[6 + part] * (m[3] * x + m[4] * y + m[5]);
    return hypot(dx, dy) / (d * d);
}

static __device__ __noinline__ void perspective_grid(const warp_map &map, double first, double y,
                                                     int (&out)[2])
{
    const double *m = map.m;
    double last = first + (WARP_BLOCK - 1);
    double d0 = m[6] * first + m[7] * y + m[8], d1 = m[6] * last + m[7] * y + m[8];
    for (int part = 0; part < 2; part++) {
        int n0 = grid_of(stretch(m, part, first, y)), n1 = grid_of(stretch(m, part, last, y));
        out[part] = d0 * d1 > 0 ? max(n0, n1) : GRID_MOST;
    }
}

template <typename T>
static __device__ __forceinline__ T mean(const args<T> &a, const tamis_input<T> &in, int x, int y,
                                         int c, const int (&grid)[2])
{
    float total = 0;
    int n = x % WARP_BLOCK;
    for (int j = 0; j < grid[1]; j++) {
        double v = (j + 0.5) / grid[1] - 0.5;
        float line = 0;
        for (int i = 0; i < grid[0]; i++) {
            double u = (i + 0.5) / grid[0] - 0.5;
            warp_position p;
            if (a.map.kind == WARP_AFFINE) {
                p = warp_affine(a.map, x - n + u, y + v);
                p.x += n * a.map.step_x;
                p.y += n * a.map.step_y;
            } else {
                p = warp_perspective(a.map, x + u, y + v);
            }
            linear at;
            at.place(p);
            line = __fadd_rn(line, at.exact(in, c));
        }
        total = __fadd_rn(total, line);
    }
    return tamis_sample<T>::of(__fdiv_rn(total, (float)(grid[0] * grid[1])));
}

/* ---- kernels. A tile is as wide as a block of positions and begins with one. */

struct tile {
    int x, y, end, bottom; /* columns of the part that it has from x on are those before end */
};

template <typename T> static __device__ __forceinline__ tile my_tile(const args<T> &a)
{
    int left = (a.out.x / WARP_BLOCK + (int)(blockIdx.x % a.tiles)) * WARP_BLOCK;
    int top = a.out.y + (int)(blockIdx.x / a.tiles) * ROWS;
    return tile{left, top, min(left + WARP_BLOCK, a.out.x + a.out.w),
                min(top + ROWS, a.out.y + a.out.h)};
}

template <typename I, typename T>
__global__ void __launch_bounds__(THREADS) points(const __grid_constant__ args<T> a)
{
    __shared__ warp_position starts[ROWS];
    tile t = my_tile(a);
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    if (a.map.kind == WARP_AFFINE) {
        if (threadIdx.x < ROWS)
            starts[threadIdx.x] = warp_affine(a.map, t.x, t.y + (int)threadIdx.x);
        __syncthreads();
    }
    int lane = threadIdx.x % 32, x = t.x + (int)threadIdx.x / 32 * 8 + lane % 8;
    if (x < a.out.x || x >= t.end)
        return;
    for (int y = t.y + lane / 8; y < t.bottom; y += PATCH) {
        warp_position start = {0, 0};
        if (a.map.kind == WARP_AFFINE)
            start = starts[y - t.y];
        I how;
        how.place(a, warp_position_of(a.map, x, y, start));
        T *out = tamis_row<T>(a.out, blockIdx.y, y) + (int64_t)x * a.step;
        for (int c = 0; c < a.step; c++)
            out[c] = how.value(in, c);
    }
}

template <typename T>
__global__ void __launch_bounds__(THREADS) means(const __grid_constant__ args<T> a)
{
    __shared__ int grids[ROWS][2];
    tile t = my_tile(a);
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    if (threadIdx.x < ROWS) {
        int grid[2] = {a.grid_w, a.grid_h};
        if (a.map.kind != WARP_AFFINE)
            perspective_grid(a.map, t.x, t.y + (int)threadIdx.x, grid);
        grids[threadIdx.x][0] = grid[0];
        grids[threadIdx.x][1] = grid[1];
    }
    __syncthreads();
    int lane = threadIdx.x % 32, x = t.x + (int)threadIdx.x / 32 * 8 + lane % 8;
    if (x < a.out.x || x >= t.end)
        return;
    for (int y = t.y + lane / 8; y < t.bottom; y += PATCH) {
        T *out = tamis_row<T>(a.out, blockIdx.y, y) + (int64_t)x * a.step;
        for (int c = 0; c < a.step; c++)
            out[c] = mean(a, in, x, y, c, grids[y - t.y]);
    }
}

/* ---- launches */

template <typename T>
static args<T> make_args(const tamis_gpu_work *w, const struct warp_coef *c, const void *state)
{
    args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.map = warp_map_of(w, c);
    a.step = w->step;
    a.tiles = (w->part.x + w->part.w - 1) / WARP_BLOCK - w->part.x / WARP_BLOCK + 1;
    a.grid_w = c->grid_w;
    a.grid_h = c->grid_h;
    a.cubic_a = c->cubic_a;
    a.lanczos = ((const struct warp_state *)state)->lanczos;
    return a;
}

template <typename T, typename I>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    args<T> a = make_args<T>(w, (const struct warp_coef *)node->coef, state);
    auto kernel = points<I, T>;
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, ROWS), w->planes), THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("warp", fault);
}

template <typename T>
static tamis_status launch_area(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                tamis_gpu_fault *fault)
{
    args<T> a = make_args<T>(w, (const struct warp_coef *)node->coef, state);
    TAMIS_LAUNCH(means<T>, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, ROWS), w->planes), THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("warp area", fault);
}

static tamis_status launch_tiles(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const struct warp_coef *c = (const struct warp_coef *)node->coef;
    (void)state;
    return warp_is_pairs(w, c) ? warp_launch_pairs(w, c, fault) : warp_launch_tiles(w, c, fault);
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct warp_coef *c = (const struct warp_coef *)prep->node->coef;
    struct warp_state *s = (struct warp_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    if (!c->lanczos)
        return TAMIS_OK;
    size_t count = (size_t)(WARP_TABLE + 1) * WARP_TABLE_TAPS;
    s->lanczos = (const float *)prep->upload(prep, c->lanczos, count * sizeof *c->lanczos);
    return s->lanczos ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

} // namespace

#define ROW(stage, type, launch)                                                                   \
    {                                                                                              \
        stage, type, 0, prepare, NULL, launch                                                      \
    }
#define FLOATS(stage, I)                                                                           \
    ROW(stage, TAMIS_U16, (launch<uint16_t, I>)), ROW(stage, TAMIS_S16, (launch<int16_t, I>)),     \
        ROW(stage, TAMIS_F32, (launch<float, I>))
#define POINTS                                                                                     \
    ROW("nearest", TAMIS_U8, (launch<uint8_t, nearest>)), FLOATS("nearest", nearest),              \
        ROW("linear", TAMIS_U8, launch_tiles), FLOATS("linear", linear),                           \
        ROW("cubic", TAMIS_U8, launch_tiles), FLOATS("cubic", cubic),                              \
        ROW("lanczos3", TAMIS_U8, (launch<uint8_t, lanczos3>)), FLOATS("lanczos3", lanczos3)
#define AREAS                                                                                      \
    ROW("area", TAMIS_U8, launch_area<uint8_t>), ROW("area", TAMIS_U16, launch_area<uint16_t>),    \
        ROW("area", TAMIS_S16, launch_area<int16_t>), ROW("area", TAMIS_F32, launch_area<float>)

/* clang-format off */
TAMIS_CUDA_KERNELS(affine) = {POINTS, AREAS, {}};
TAMIS_CUDA_KERNELS(rotate) = {POINTS, {}}; /* a turn shrinks nothing */
TAMIS_CUDA_KERNELS(perspective) = {POINTS, AREAS, {}};
TAMIS_CUDA_KERNELS(remap) = {POINTS, {}};
/* clang-format on */
