/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution on a device, in the arithmetic and order that convolve.c states.
 *
 * Channels that lie side by side are filtered as one row of samples, whose taps stand `step`
 * samples apart. A thread has four neighboring samples of four rows. */
#include "pixels.cuh"

#include "convolve_kernel.h"

/* Outputs of a thread, threads of a block and its tile. */
enum { P = 4, Q = 4, ACROSS = 32, DOWN = 8, THREADS = ACROSS * DOWN };
enum { TILE_W = P * ACROSS, TILE_H = Q * DOWN };
enum { SHARED = 46 * 1024 };

/* From sums to samples. */
struct finish_args {
    int32_t divisor; /* whole numbers */
    int shift;
    float inverse;
    int32_t offset;
    float bias; /* others */
};

template <typename T, typename S> struct finish;
template <typename T> struct finish<T, int> {
    static __device__ __forceinline__ T of(const finish_args &f, int sum)
    {
        if (f.shift >= 0)
            return tamis_sample<T>::of_int((sum >> f.shift) - f.offset);
        /* One off at most where the level is not clipped anyway. */
        int level = __float2int_rd((float)sum * f.inverse);
        int64_t rest = sum - (int64_t)level * f.divisor;
        level += (rest >= f.divisor) - (rest < 0);
        return tamis_sample<T>::of_int(level - f.offset);
    }
};
template <typename T> struct finish<T, float> {
    static __device__ __forceinline__ T of(const finish_args &f, float sum)
    {
        return tamis_sample<T>::of(f.bias != 0 ? sum + f.bias : sum);
    }
};

static __device__ __forceinline__ int add_product(int a, int b, int sum)
{
    return a * b + sum;
}

static __device__ __forceinline__ float add_product(float a, float b, float sum)
{
    return fmaf(a, b, sum);
}

/* Which sums are of whole numbers. */
template <typename S> struct sums_of;
template <> struct sums_of<int> {
    enum { WHOLE = 1 };
};
template <> struct sums_of<float> {
    enum { WHOLE = 0 };
};

/* Four numbers that are loaded at once. */
template <typename S> struct __align__(16) quad
{
    S v[4];
};

/* Samples of a line in shared memory that four taps' products with P outputs take. */
template <typename S, int STEP> struct window {
    S v[P + 4 * STEP];
    const quad<S> *next;

    __device__ __forceinline__ void begin(const S *line)
    {
        next = (const quad<S> *)line;
        put(0, *next++);
    }
    __device__ __forceinline__ void put(int i, const quad<S> &q)
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[i + k] = q.v[k];
    }
    /* Brings what four more taps need. */
    __device__ __forceinline__ void extend()
    {
#pragma unroll
        for (int s = 0; s < STEP; s++)
            put(P + 4 * s, *next++);
    }
    __device__ __forceinline__ void advance()
    {
#pragma unroll
        for (int k = 0; k < P; k++)
            v[k] = v[k + 4 * STEP];
    }
};

/* ---- number by number */

template <typename T, typename S> struct dense_args {
    tamis_inputs<T> in;
    tamis_output out;
    finish_args finish;
    /* For each source row from the first that Q output rows read, kernel_h + Q - 1 of them, and
     * each column of the kernel: the taps over it for those rows, 0 where there is none. */
    const quad<S> *taps;
    int kernel_w, kernel_h;
    bool gaps; /* taps of 0 are to be passed over */
    S start;
    int shift_x, shift_y; /* from an output to the first sample of its window, in samples, rows */
    int first, tiles_x;   /* the first tile's first sample; tiles beside each other */
    int columns, rows;    /* of the kernel and of the source that are done together */
    int tile_pitch;
    bool aligned;
};

/* A source row with all taps over it; with CHECK, those of 0 are passed over. */
template <typename S, int STEP, bool CHECK>
static __device__ __forceinline__ void add_line(S (&sum)[Q][P], const S *line, const quad<S> *taps,
                                                int columns)
{
    window<S, STEP> w;
    w.begin(line);
    for (int i = 0; i < columns; i += 4) {
        w.extend();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (i + k >= columns)
                break;
            const quad<S> tap = taps[i + k];
#pragma unroll
            for (int q = 0; q < Q; q++) {
                if (CHECK && tap.v[q] == 0)
                    continue;
#pragma unroll
                for (int p = 0; p < P; p++)
                    sum[q][p] = add_product(tap.v[q], w.v[p + k * STEP], sum[q][p]);
            }
        }
        w.advance();
    }
}

template <typename T, typename S>
static __device__ __forceinline__ void store(const tamis_output &out, int step, int x, int y,
                                             bool aligned, const finish_args &f, S (&sum)[Q][P])
{
    int begin = out.x * step, end = (out.x + out.w) * step;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        if (y + q >= out.y + out.h)
            continue;
        T *row = tamis_row<T>(out, blockIdx.y, y + q) + x;
        T v[P];
#pragma unroll
        for (int p = 0; p < P; p++)
            v[p] = finish<T, S>::of(f, sum[q][p]);
        if (aligned && x >= begin && x + P <= end) {
            tamis_vector_store<T>((char *)row, 0, v);
            continue;
        }
#pragma unroll
        for (int p = 0; p < P; p++)
            if (x + p >= begin && x + p < end)
                row[p] = v[p];
    }
}

template <typename T, typename S, int STEP>
__global__ void __launch_bounds__(THREADS) dense(dense_args<T, S> a)
{
    TAMIS_SHARED_BYTES(shared);
    quad<S> *taps = (quad<S> *)shared;
    S *tile = (S *)(taps + a.rows * a.columns);
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    int x = a.first + (int)(blockIdx.x % (unsigned)a.tiles_x) * TILE_W;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x) * TILE_H;
    S sum[Q][P];
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
        for (int p = 0; p < P; p++)
            sum[q][p] = a.start;
    for (int j = 0; j < a.kernel_h + Q - 1; j += a.rows) {
        int rows = min(a.rows, a.kernel_h + Q - 1 - j);
        for (int i = 0; i < a.kernel_w; i += a.columns) {
            int columns = min(a.columns, a.kernel_w - i);
            tamis_stage<S>(in, x + a.shift_x + i * STEP, y + a.shift_y + j,
                           TILE_W + (columns - 1) * STEP, TILE_H - Q + rows, tile, a.tile_pitch);
            for (int k = threadIdx.x; k < rows * columns; k += THREADS)
                taps[k] = a.taps[(int64_t)(j + k / columns) * a.kernel_w + i + k % columns];
            __syncthreads();
            for (int r = 0; r < rows; r++) {
                const S *line = tile + (ty * Q + r) * a.tile_pitch + tx * P;
                if (a.gaps || j + r < Q - 1 || j + r >= a.kernel_h)
                    add_line<S, STEP, true>(sum, line, taps + r * columns, columns);
                else
                    add_line<S, STEP, false>(sum, line, taps + r * columns, columns);
            }
            __syncthreads();
        }
    }
    store<T, S>(a.out, STEP, x + tx * P, y + ty * Q, a.aligned, a.finish, sum);
}

/* ---- columns, then rows */

enum { STRIP_THREADS = 128, STRIP = P * STRIP_THREADS, SUMS = 2 * STRIP };

template <typename T, typename S> struct terms_args {
    tamis_inputs<T> in;
    tamis_output out;
    finish_args finish;
    const S *columns, *rows; /* of all terms, kernel_h and kernel_w numbers each */
    int terms, kernel_w, kernel_h;
    bool gaps;
    S start, row_start; /* of sums of a column, and of all */
    int shift_x, shift_y, first, tiles_x;
    int chunk; /* columns of the kernel that are done together */
    bool aligned;
};

/* Four samples of a row, wherever they are. */
template <typename T, typename S>
static __device__ __forceinline__ quad<S> load(const tamis_input<T> &in, int i, int y, bool inside,
                                               bool aligned)
{
    quad<S> q;
    T v[4];
    if (inside && aligned) {
        tamis_vector_load<T>((const char *)(in.row(y) + i), 0, v);
    } else if (inside) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = in.row(y)[i + k];
    } else {
        for (int k = 0; k < 4; k++)
            v[k] = in.sample(i + k, y);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        q.v[k] = (S)v[k];
    return q;
}

/* Sums of four columns for Q rows from y on. */
template <typename T, typename S>
static __device__ __forceinline__ void sum_columns(const terms_args<T, S> &a,
                                                   const tamis_input<T> &in, const S *column, int i,
                                                   int y, quad<S> (&sum)[Q])
{
    bool inside = i >= 0 && (int64_t)i + 4 <= (int64_t)in.w * in.pitch && y >= 0 &&
                  y + a.kernel_h + Q - 1 <= in.h;
    bool aligned = a.aligned && i % 4 == 0;
    S taps[Q] = {};
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[q].v[k] = a.start;
    for (int j = 0; j < a.kernel_h + Q - 1; j++) {
        const quad<S> v = load<T, S>(in, i, y + j, inside, aligned);
        bool edge = a.gaps || j < Q - 1 || j >= a.kernel_h;
#pragma unroll
        for (int q = Q - 1; q > 0; q--)
            taps[q] = taps[q - 1];
        taps[0] = j < a.kernel_h ? __ldg(column + j) : 0;
#pragma unroll
        for (int q = 0; q < Q; q++) {
            if (edge && (j - q < 0 || j - q >= a.kernel_h || (a.gaps && taps[q] == 0)))
                continue;
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum[q].v[k] = add_product(taps[q], v.v[k], sum[q].v[k]);
        }
    }
}

template <typename S, int STEP>
static __device__ __forceinline__ void add_row(S (&sum)[P], const S *line, const S *row, int count,
                                               bool gaps)
{
    window<S, STEP> w;
    w.begin(line);
    for (int i = 0; i < count; i += 4) {
        w.extend();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (i + k >= count)
                break;
            S tap = row[i + k];
            if (gaps && tap == 0)
                continue;
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[p] = add_product(tap, w.v[p + k * STEP], sum[p]);
        }
        w.advance();
    }
}

template <typename T, typename S, int STEP>
__global__ void __launch_bounds__(STRIP_THREADS) terms(terms_args<T, S> a)
{
    __shared__ __align__(16) S sums[Q][SUMS + 4 * STEP + 4];
    __shared__ S row[SUMS - STRIP];
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int x = a.first + (int)(blockIdx.x % (unsigned)a.tiles_x) * STRIP;
    int y = a.out.y + (int)(blockIdx.x / (unsigned)a.tiles_x) * Q;
    S sum[Q][P];
#pragma unroll
    for (int q = 0; q < Q; q++)
#pragma unroll
        for (int p = 0; p < P; p++)
            sum[q][p] = a.row_start;
    for (int t = 0; t < a.terms; t++) {
        for (int i = 0; i < a.kernel_w; i += a.chunk) {
            int count = min(a.chunk, a.kernel_w - i);
            int left = (x + a.shift_x + i * STEP) & 3; /* so that loads are aligned */
            int from = x + a.shift_x + i * STEP - left;
            for (int c = threadIdx.x * 4; c < STRIP + (count - 1) * STEP + left;
                 c += STRIP_THREADS * 4) {
                quad<S> mine[Q];
                sum_columns<T, S>(a, in, a.columns + (int64_t)t * a.kernel_h, from + c,
                                  y + a.shift_y, mine);
#pragma unroll
                for (int q = 0; q < Q; q++)
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        if (c + k >= left)
                            sums[q][c + k - left] = mine[q].v[k];
            }
            for (int k = threadIdx.x; k < count; k += STRIP_THREADS)
                row[k] = a.rows[(int64_t)t * a.kernel_w + i + k];
            __syncthreads();
#pragma unroll
            for (int q = 0; q < Q; q++)
                add_row<S, STEP>(sum[q], &sums[q][threadIdx.x * P], row, count, a.gaps);
            __syncthreads();
        }
    }
    store<T, S>(a.out, STEP, x + threadIdx.x * P, y, a.aligned, a.finish, sum);
}

/* ---- what launches need */

struct convolve_state {
    const void *taps; /* quads of int or float */
    const void *columns, *rows;
    int terms;
};

/* Source rows times columns of quads; S is float or int32_t. */
template <typename S>
static bool upload_taps(tamis_gpu_prep *prep, const struct convolve_coef *c,
                        struct convolve_state *s)
{
    size_t count = ((size_t)c->h + Q - 1) * (size_t)c->w;
    quad<S> *taps = (quad<S> *)prep->alloc(prep, count * sizeof *taps);
    if (!taps)
        return false;
    for (int i = 0; i < c->count; i++) {
        const struct convolve_tap *t = &c->taps[i];
        for (int q = 0; q < Q; q++)
            taps[(size_t)(t->row + q) * (size_t)c->w + (size_t)t->column].v[q] =
                sums_of<S>::WHOLE ? (S)t->whole : (S)t->f;
    }
    s->taps = prep->upload(prep, taps, count * sizeof *taps);
    return s->taps != nullptr;
}

template <typename S> static tamis_status prepare_dense(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = (struct convolve_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    return s && upload_taps<S>(prep, c, s) ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static tamis_status prepare_product(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = (struct convolve_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->terms = 1;
    s->columns = prep->upload(prep, c->product.column, (size_t)c->h * sizeof(int32_t));
    s->rows = prep->upload(prep, c->product.row, (size_t)c->w * sizeof(int32_t));
    return s->columns && s->rows ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static tamis_status prepare_terms(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = (struct convolve_state *)prep->alloc(prep, sizeof *s);
    size_t w = (size_t)c->w, h = (size_t)c->h, n = (size_t)c->term_count;
    float *columns = (float *)prep->alloc(prep, n * h * sizeof *columns);
    float *rows = (float *)prep->alloc(prep, n * w * sizeof *rows);
    prep->state = s;
    if (!s || !columns || !rows)
        return TAMIS_ERR_MEMORY;
    for (size_t t = 0; t < n; t++) {
        memcpy(columns + t * h, c->terms[t].column, h * sizeof *columns);
        memcpy(rows + t * w, c->terms[t].row, w * sizeof *rows);
    }
    s->terms = c->term_count;
    s->columns = prep->upload(prep, columns, n * h * sizeof *columns);
    s->rows = prep->upload(prep, rows, n * w * sizeof *rows);
    return s->columns && s->rows ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

/* ---- launches */

static finish_args finish_of(const struct convolve_coef *c, tamis_type type)
{
    finish_args f;
    f.divisor = c->divisor;
    f.shift = c->shift;
    f.inverse = c->divisor ? 1 / (float)c->divisor : 0;
    f.offset = type == TAMIS_S16 ? 32768 : 0;
    f.bias = c->bias;
    return f;
}

/* What both kinds of kernel begin with; returns how many planes there are. */
template <typename T, typename A>
static int begin_args(const tamis_gpu_work *w, const struct convolve_coef *c, int width, A *a)
{
    int step = w->src_pitch;
    a->in = tamis_inputs_of<T>(w);
    a->out = tamis_output_of(w);
    a->finish = finish_of(c, tamis_sample<T>::type);
    a->kernel_w = c->w;
    a->kernel_h = c->h;
    a->shift_x = (w->shift_x - c->left) * step;
    a->shift_y = w->shift_y - c->top;
    a->first = w->part.x * step / P * P;
    a->tiles_x = (int)tamis_tiles((int64_t)(w->part.x + w->part.w) * step - a->first, width);
    a->aligned = w->aligned >= (int)(P * sizeof(T));
    return step > 1 ? 1 : w->planes;
}

/* As many columns and rows as shared memory holds; all columns if possible, since sums go along
 * rows. */
template <typename T, typename S> static size_t choose_tile(dense_args<T, S> *a, int step)
{
    int whole = a->kernel_h + Q - 1;
    a->columns = a->kernel_w * step <= 64 ? a->kernel_w : 64 / step / 4 * 4;
    a->rows = a->columns == a->kernel_w ? (whole < 16 ? whole : 12) : 1;
    /* Windows are read four taps at a time. */
    a->tile_pitch = TILE_W + (a->columns + 3) / 4 * 4 * step;
    size_t line = (size_t)a->tile_pitch * sizeof(S), quads = (size_t)a->columns * sizeof(quad<S>);
    while (a->rows > 1 && (size_t)(TILE_H - Q + a->rows) * line + (size_t)a->rows * quads > SHARED)
        a->rows--;
    return (size_t)(TILE_H - Q + a->rows) * line + (size_t)a->rows * quads;
}

template <typename T, typename S>
static tamis_status launch_dense(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const struct convolve_coef *c = (const struct convolve_coef *)node->coef;
    dense_args<T, S> a;
    int step = w->src_pitch, planes = begin_args<T>(w, c, TILE_W, &a);
    bool whole = sums_of<S>::WHOLE;
    a.taps = (const quad<S> *)((const struct convolve_state *)state)->taps;
    a.gaps = !whole && !c->dense;
    a.start = whole ? (S)c->add : c->count ? (S)-0.0f : 0;
    size_t shared = choose_tile(&a, step);
    auto kernel = step == 1   ? dense<T, S, 1>
                  : step == 2 ? dense<T, S, 2>
                  : step == 3 ? dense<T, S, 3>
                              : dense<T, S, 4>;
    TAMIS_LAUNCH(kernel, tamis_grid(a.tiles_x, tamis_tiles(w->part.h, TILE_H), planes), THREADS,
                 shared, w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

template <typename T, typename S>
static tamis_status launch_terms(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    const struct convolve_coef *c = (const struct convolve_coef *)node->coef;
    const struct convolve_state *s = (const struct convolve_state *)state;
    terms_args<T, S> a;
    int step = w->src_pitch, planes = begin_args<T>(w, c, STRIP, &a);
    bool whole = sums_of<S>::WHOLE;
    a.columns = (const S *)s->columns;
    a.rows = (const S *)s->rows;
    a.terms = s->terms;
    a.gaps = !whole && c->gaps;
    a.start = whole ? 0 : (S)-0.0f;
    a.row_start = whole ? (S)c->add : a.start;
    a.chunk = (SUMS - STRIP) / step / 4 * 4;
    auto kernel = step == 1   ? terms<T, S, 1>
                  : step == 2 ? terms<T, S, 2>
                  : step == 3 ? terms<T, S, 3>
                              : terms<T, S, 4>;
    TAMIS_LAUNCH(kernel, tamis_grid(a.tiles_x, tamis_tiles(w->part.h, Q), planes), STRIP_THREADS, 0,
                 w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

#define FLOAT_ROWS(T, type)                                                                        \
    {"direct", type, 0, prepare_dense<float>, nullptr, launch_dense<T, float>},                    \
        {"separable", type, 0, prepare_terms, nullptr, launch_terms<T, float>},                    \
    {                                                                                              \
        "low_rank", type, 0, prepare_terms, nullptr, launch_terms<T, float>                        \
    }
#define WHOLE_ROWS(T, type)                                                                        \
    {"whole", type, 0, prepare_dense<int>, nullptr, launch_dense<T, int>},                         \
    {                                                                                              \
        "whole_separable", type, 0, prepare_product, nullptr, launch_terms<T, int>                 \
    }
TAMIS_CUDA_KERNELS(convolve) = {
    FLOAT_ROWS(uint8_t, TAMIS_U8),  FLOAT_ROWS(uint16_t, TAMIS_U16),
    FLOAT_ROWS(int16_t, TAMIS_S16), FLOAT_ROWS(float, TAMIS_F32),
    WHOLE_ROWS(uint8_t, TAMIS_U8),  WHOLE_ROWS(uint16_t, TAMIS_U16),
    WHOLE_ROWS(int16_t, TAMIS_S16), {},
};
