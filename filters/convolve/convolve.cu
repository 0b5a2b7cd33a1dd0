/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution on a device, in the arithmetic and order that convolve.c states. */
#include "convolve_dense.cuh"
#include "convolve_quads.cuh"
#include "convolve_squares.cuh"
#include "convolve_terms.cuh"

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
