/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution on a device, in the arithmetic and order that convolve.c states.
 *
 * Channels that lie side by side are filtered as one row of samples, whose taps stand `step`
 * samples apart. A thread has four neighboring samples of four rows. */
#include <math.h>

#include "convolve_quads.cuh"
#include "convolve_squares.cuh"

/* Outputs of a thread: GROUPS times P beside each other, in Q rows; threads of a block; its tile.
 */
enum { P = 4, Q = 4, GROUPS = 2, ACROSS = 32, DOWN = 8, THREADS = ACROSS * DOWN };
enum { GROUP_W = P * ACROSS, TILE_W = GROUPS * GROUP_W, TILE_H = Q * DOWN };
enum { SHARED = 46 * 1024 };

static __device__ __forceinline__ int add_product(int a, int b, int sum)
{
    return a * b + sum;
}

static __device__ __forceinline__ float add_product(float a, float b, float sum)
{
    return fmaf(a, b, sum);
}

/* In which numbers sums are. */
template <typename S> struct numbers;
template <> struct numbers<int> {
    enum { WHOLE = 1 };
};
template <> struct numbers<float> {
    enum { WHOLE = 0 };
};

/* Four numbers that are loaded at once. */
template <typename S> struct __align__(16) quad
{
    S v[4];
};

static __device__ __forceinline__ quad<float> quad_of(const float *p)
{
    float4 q = *(const float4 *)p;
    return quad<float>{{q.x, q.y, q.z, q.w}};
}

static __device__ __forceinline__ quad<int> quad_of(const int *p)
{
    int4 q = *(const int4 *)p;
    return quad<int>{{q.x, q.y, q.z, q.w}};
}

/* Samples of a line in shared memory that four taps' products with P outputs take. */
template <typename S, int STEP> struct window {
    S v[P + 4 * STEP];
    const S *next;

    __device__ __forceinline__ void put(int i)
    {
        const quad<S> q = quad_of(next);
        next += 4;
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[i + k] = q.v[k];
    }
    __device__ __forceinline__ void begin(const S *line)
    {
        next = line;
        put(0);
    }
    /* Brings what four more taps need. */
    __device__ __forceinline__ void extend()
    {
#pragma unroll
        for (int s = 0; s < STEP; s++)
            put(P + 4 * s);
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

/* One tap of each of the rows FROM .. TO, that over sample k * STEP of the windows; with CHECK,
 * those of 0 are passed over. */
template <typename S, int STEP, int FROM, int TO, bool CHECK>
static __device__ __forceinline__ void
add_taps(S (&sum)[GROUPS][Q][P], const window<S, STEP> (&w)[GROUPS], const quad<S> *taps, int k)
{
    const quad<S> tap = quad_of(taps->v);
#pragma unroll
    for (int q = FROM; q <= TO; q++) {
        if (CHECK && tap.v[q] == 0)
            continue;
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[g][q][p] = add_product(tap.v[q], w[g].v[p + k * STEP], sum[g][q][p]);
    }
}

/* A source row with all taps over it. */
template <typename S, int STEP, int FROM, int TO, bool CHECK = false>
static __device__ __forceinline__ void add_line(S (&sum)[GROUPS][Q][P], const S *line,
                                                const quad<S> *taps, int columns)
{
    window<S, STEP> w[GROUPS];
    int i = 0;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        w[g].begin(line + g * GROUP_W);
#pragma unroll(FROM == 0 && TO == Q - 1 && !CHECK ? 2 : 1)
    for (; i + 4 <= columns; i += 4) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            w[g].extend();
#pragma unroll
        for (int k = 0; k < 4; k++)
            add_taps<S, STEP, FROM, TO, CHECK>(sum, w, taps + i + k, k);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            w[g].advance();
    }
    if (i == columns)
        return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        w[g].extend();
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (i + k < columns)
            add_taps<S, STEP, FROM, TO, CHECK>(sum, w, taps + i + k, k);
}

/* The source row `row` of those that Q rows of outputs read: the kernel's row row - q lies over it
 * for output row q. Where that is no row of the kernel, its taps are 0. */
template <typename S, int STEP>
static __device__ __forceinline__ void add_row_of(S (&sum)[GROUPS][Q][P], const S *line,
                                                  const quad<S> *taps, int columns, int row, int h,
                                                  bool gaps)
{
    if (numbers<S>::WHOLE)
        add_line<S, STEP, 0, 3>(sum, line, taps, columns); /* times 0 is as well */
    else if (gaps || h < Q - 1)
        add_line<S, STEP, 0, 3, true>(sum, line, taps, columns);
    else if (row >= Q - 1 && row < h)
        add_line<S, STEP, 0, 3>(sum, line, taps, columns);
    else if (row == 0)
        add_line<S, STEP, 0, 0>(sum, line, taps, columns);
    else if (row == 1)
        add_line<S, STEP, 0, 1>(sum, line, taps, columns);
    else if (row == 2)
        add_line<S, STEP, 0, 2>(sum, line, taps, columns);
    else if (row == h)
        add_line<S, STEP, 1, 3>(sum, line, taps, columns);
    else if (row == h + 1)
        add_line<S, STEP, 2, 3>(sum, line, taps, columns);
    else
        add_line<S, STEP, 3, 3>(sum, line, taps, columns);
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
    S sum[GROUPS][Q][P];
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
        for (int q = 0; q < Q; q++)
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[g][q][p] = a.start;
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
                add_row_of<S, STEP>(sum, line, taps + r * columns, columns, j + r, a.kernel_h,
                                    a.gaps);
            }
            __syncthreads();
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        store<T, S>(a.out, STEP, x + g * GROUP_W + tx * P, y + ty * Q, a.aligned, a.finish, sum[g]);
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
    bool whole, exact; /* whole numbers; whose sums binary32 holds exactly, and which are floats */
    const void *taps;  /* quads of int or float */
    const void *columns, *rows;
    int terms;
};

static float tap_of(const struct convolve_tap *t, bool whole)
{
    return whole ? (float)t->whole : t->f;
}

/* Source rows times columns of quads. */
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
                (S)tap_of(t, s->whole);
    }
    s->taps = prep->upload(prep, taps, count * sizeof *taps);
    return s->taps != nullptr;
}

static struct convolve_state *make_state(tamis_gpu_prep *prep, bool whole)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = (struct convolve_state *)prep->alloc(prep, sizeof *s);
    double most = fabs((double)c->add), level = prep->node->work == TAMIS_U8 ? 255 : 65535;
    prep->state = s;
    for (int i = 0; i < c->count; i++)
        most += level * fabs((double)c->taps[i].whole);
    if (s) {
        s->whole = whole;
        s->exact = whole && most < 1 << 24;
    }
    return s;
}

static tamis_status prepare_direct(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = make_state(prep, false);
    return s && upload_taps<float>(prep, c, s) ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static tamis_status prepare_whole(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = make_state(prep, true);
    return s && (s->exact ? upload_taps<float>(prep, c, s) : upload_taps<int>(prep, c, s))
               ? TAMIS_OK
               : TAMIS_ERR_MEMORY;
}

/* As ints or floats, which are of one size. */
static const void *upload_numbers(tamis_gpu_prep *prep, const int32_t *v, int n, bool floats)
{
    if (!floats)
        return prep->upload(prep, v, (size_t)n * sizeof *v);
    float *f = (float *)prep->alloc(prep, (size_t)n * sizeof *f);
    for (int i = 0; f && i < n; i++)
        f[i] = (float)v[i];
    return f ? prep->upload(prep, f, (size_t)n * sizeof *f) : nullptr;
}

static tamis_status prepare_product(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = make_state(prep, true);
    if (!s)
        return TAMIS_ERR_MEMORY;
    s->terms = 1;
    s->columns = upload_numbers(prep, c->product.column, c->h, s->exact);
    s->rows = upload_numbers(prep, c->product.row, c->w, s->exact);
    return s->columns && s->rows ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static tamis_status prepare_terms(tamis_gpu_prep *prep)
{
    const struct convolve_coef *c = (const struct convolve_coef *)prep->node->coef;
    struct convolve_state *s = make_state(prep, false);
    size_t w = (size_t)c->w, h = (size_t)c->h, n = (size_t)c->term_count;
    float *columns = (float *)prep->alloc(prep, n * h * sizeof *columns);
    float *rows = (float *)prep->alloc(prep, n * w * sizeof *rows);
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

static finish_args finish_of(const struct convolve_coef *c, bool whole, tamis_type type)
{
    finish_args f;
    f.whole = whole;
    f.divisor = c->divisor;
    f.shift = c->shift;
    f.inverse = c->divisor ? 1 / (float)c->divisor : 0;
    f.offset = type == TAMIS_S16 ? 32768 : 0;
    f.bias = c->bias;
    return f;
}

/* What both kinds of kernel begin with; returns how many planes there are. */
template <typename T, typename A>
static int begin_args(const tamis_gpu_work *w, const struct convolve_coef *c, bool whole, int width,
                      A *a)
{
    int step = w->src_pitch;
    a->in = tamis_inputs_of<T>(w);
    a->out = tamis_output_of(w);
    a->finish = finish_of(c, whole, tamis_sample<T>::type);
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
    const struct convolve_state *s = (const struct convolve_state *)state;
    dense_args<T, S> a;
    bool whole = s->whole;
    int step = w->src_pitch, planes = begin_args<T>(w, c, whole, TILE_W, &a);
    a.taps = (const quad<S> *)s->taps;
    a.gaps = !whole && !c->dense;
    a.start = whole ? (S)c->add : c->count ? (S)-0.0f : 0;
    size_t shared = choose_tile(&a, step);
    auto kernel = step == 1   ? dense<T, S, 1>
                  : step == 2 ? dense<T, S, 2>
                  : step == 3 ? dense<T, S, 3>
                              : dense<T, S, 4>;
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles_x, tamis_tiles(w->part.h, TILE_H), planes), THREADS,
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
    bool whole = s->whole;
    int step = w->src_pitch, planes = begin_args<T>(w, c, whole, STRIP, &a);
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
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles_x, tamis_tiles(w->part.h, Q), planes), STRIP_THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

/* Windows of small squares begin a fixed distance behind a multiple of four samples. */
static tamis_status launch_direct(const tamis_gpu_work *w, const tamis_node *node,
                                  const void *state, tamis_gpu_fault *fault)
{
    const struct convolve_coef *c = (const struct convolve_coef *)node->coef;
    bool square =
        c->dense && c->w == c->h && w->src_pitch == 1 && (w->shift_x - c->left + c->w / 2) % 4 == 0;
    if (square && c->w == 3)
        return launch_square<3>(w, c, fault);
    if (square && c->w == 5)
        return launch_square<5>(w, c, fault);
    if (square && c->w == 7)
        return launch_square<7>(w, c, fault);
    return launch_dense<float, float>(w, node, state, fault);
}

template <int H, int WORDS>
static tamis_status launch_march(const tamis_gpu_work *w, const tamis_node *node,
                                 tamis_gpu_fault *fault)
{
    const struct convolve_coef *c = (const struct convolve_coef *)node->coef;
    march_args a = {};
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.finish = finish_of(c, true, TAMIS_U8);
    a.shift_x = w->shift_x - c->left;
    a.shift_y = w->shift_y - c->top;
    a.first = w->part.x / 4 * 4;
    a.tiles_x = (int)tamis_tiles((int64_t)w->part.x + w->part.w - a.first, 4 * MARCH_THREADS);
    a.aligned = w->aligned >= 4;
    a.start = c->add + 128 * c->total;
    for (int j = 0; j < c->h; j++)
        for (int k = 0; k < c->quad_count; k++)
            a.taps[j][k] = c->quads[j * c->quad_count + k];
    a.rows = 64;
    while (a.rows > 8 &&
           (int64_t)a.tiles_x * w->planes * w->count * tamis_tiles(w->part.h, a.rows) < 2000)
        a.rows /= 2;
    TAMIS_LAUNCH((march_quads<H, WORDS>),
                 tamis_grid(w, a.tiles_x, tamis_tiles(w->part.h, a.rows), w->planes), MARCH_THREADS,
                 0, w->stream, a);
    return tamis_cuda_launched("convolve", fault);
}

/* The kernel that has four taps to an instruction; NULL: there is none for this node. */
typedef tamis_status (*march_launch)(const tamis_gpu_work *, const tamis_node *, tamis_gpu_fault *);

static march_launch find_march(const tamis_gpu_work *w, const tamis_node *node)
{
    const struct convolve_coef *c = (const struct convolve_coef *)node->coef;
    if (!c->quads || w->src_pitch > 1)
        return nullptr;
    if (c->h == 3 && c->quad_count == 1)
        return launch_march<3, 1>;
    if (c->h == 5 && c->quad_count <= 2)
        return launch_march<5, 2>;
    return c->h == 7 && c->quad_count <= 2 ? launch_march<7, 2> : nullptr;
}

template <typename T>
static tamis_status launch_whole(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                                 tamis_gpu_fault *fault)
{
    march_launch march = tamis_sample<T>::type == TAMIS_U8 ? find_march(w, node) : nullptr;
    if (march)
        return march(w, node, fault);
    return ((const struct convolve_state *)state)->exact
               ? launch_dense<T, float>(w, node, state, fault)
               : launch_dense<T, int>(w, node, state, fault);
}

template <typename T>
static tamis_status launch_product(const tamis_gpu_work *w, const tamis_node *node,
                                   const void *state, tamis_gpu_fault *fault)
{
    return ((const struct convolve_state *)state)->exact
               ? launch_terms<T, float>(w, node, state, fault)
               : launch_terms<T, int>(w, node, state, fault);
}

#define FLOAT_ROWS(T, type, launch)                                                                \
    {"direct", type, 0, prepare_direct, nullptr, launch},                                          \
        {"separable", type, 0, prepare_terms, nullptr, launch_terms<T, float>},                    \
    {                                                                                              \
        "low_rank", type, 0, prepare_terms, nullptr, launch_terms<T, float>                        \
    }
#define WHOLE_ROWS(T, type)                                                                        \
    {"whole", type, 0, prepare_whole, nullptr, launch_whole<T>},                                   \
    {                                                                                              \
        "whole_separable", type, 0, prepare_product, nullptr, launch_product<T>                    \
    }
TAMIS_CUDA_KERNELS(convolve) = {
    FLOAT_ROWS(uint8_t, TAMIS_U8, (launch_dense<uint8_t, float>)),
    FLOAT_ROWS(uint16_t, TAMIS_U16, (launch_dense<uint16_t, float>)),
    FLOAT_ROWS(int16_t, TAMIS_S16, (launch_dense<int16_t, float>)),
    FLOAT_ROWS(float, TAMIS_F32, launch_direct),
    WHOLE_ROWS(uint8_t, TAMIS_U8),
    WHOLE_ROWS(uint16_t, TAMIS_U16),
    WHOLE_ROWS(int16_t, TAMIS_S16),
    {},
};
