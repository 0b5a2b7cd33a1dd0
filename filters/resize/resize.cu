/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing on a device, with the arithmetic that resize.h states and so with the reference's bits.
 *
 * A block makes column sums for a strip of the source, a few rows of the result at a time, leaves
 * them in shared memory and sums across. Where the windows of a few pixels are longer than a strip
 * column sums go through device memory. Halves, every pixel the mean of 2x2, need neither. */
#include "resize_sums.cuh"

/* Samples of the source in a strip, and the fewest pixels of the result that make one. */
enum { THREADS = 128, STRIP = 8 * THREADS, FEWEST = 8 };

namespace
{

struct resize_state {
    struct axis x, y;
};

template <typename T> struct args {
    tamis_inputs<T> in;
    tamis_output out;
    struct axis x, y;
    int step;
    int aligned;    /* four samples may be loaded and stored at once */
    int pixels;     /* of the result in a strip */
    int64_t strips; /* in a row */
    char *sums;     /* column sums in device memory, from sample `first` of the source on */
    int64_t sums_stride, sums_plane, sums_next;
    int first, columns;
};

/* ---- strips */

template <typename P> __global__ void __launch_bounds__(THREADS) strips(args<typename P::sample> a)
{
    typedef typename P::sum sum;
    TAMIS_SHARED_BYTES(bytes);
    __shared__ row_window windows[P::ROWS];
    sum *sums = (sum *)bytes;
    const tamis_input<typename P::sample> &in = a.in.plane[blockIdx.y];
    int x = a.out.x + (int)(blockIdx.x % a.strips) * a.pixels;
    int y = a.out.y + (int)(blockIdx.x / a.strips) * P::ROWS;
    int pixels = min(a.pixels, a.out.x + a.out.w - x),
        rows = min((int)P::ROWS, a.out.y + a.out.h - y);
    int first = a.x.start[x] * a.step & ~3, last = x + pixels - 1;
    int columns = (a.x.start[last] + a.x.taps(last)) * a.step - first;

    if ((int)threadIdx.x < rows)
        windows[threadIdx.x] = window_of(a.y, y + (int)threadIdx.x);
    __syncthreads();
    for (int c = threadIdx.x * 4; c < columns; c += THREADS * 4) {
        column<typename P::sample> from(in, first + c, a.aligned);
        for (int v = 0; v < rows; v++) {
            four<sum> q = columns_of_row<P>(from, windows[v], a.y);
            vector_of<sum> put;
            for (int k = 0; k < 4; k++)
                put.v[k] = q.v[k];
            *(vector_of<sum> *)(sums + v * STRIP + c) = put;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pixels * a.step; i += THREADS) {
        int p = a.step == 1 ? i : i / a.step, c = i - p * a.step;
        typename P::sample out[P::ROWS];
        P::template across<P::ROWS>(sums + a.x.start[x + p] * a.step + c - first, STRIP, a.step,
                                    a.x, x + p, out);
#pragma unroll
        for (int v = 0; v < P::ROWS; v++)
            if (v < rows)
                tamis_row<typename P::sample>(a.out, blockIdx.y, y + v)[x * a.step + i] = out[v];
    }
}

/* ---- through device memory */

template <typename P>
__global__ void __launch_bounds__(THREADS) columns_to_memory(args<typename P::sample> a)
{
    typedef typename P::sum sum;
    int c = ((int)(blockIdx.x % a.strips) * THREADS + (int)threadIdx.x) * 4;
    int v = (int)(blockIdx.x / a.strips);
    if (c >= a.columns)
        return;
    column<typename P::sample> from(a.in.plane[blockIdx.y], a.first + c, a.aligned);
    four<sum> q = columns_of_row<P>(from, window_of(a.y, a.out.y + v), a.y);
    sum *row =
        (sum *)(tamis_picture(a.sums, a.sums_next) + blockIdx.y * a.sums_plane + v * a.sums_stride);
    for (int k = 0; k < 4; k++)
        row[c + k] = q.v[k];
}

/* Eight threads for each sample of the result. */
template <typename P>
__global__ void __launch_bounds__(THREADS) rows_from_memory(args<typename P::sample> a)
{
    typedef typename P::sum sum;
    int n = a.out.w * a.step;
    int i = (int)(blockIdx.x % a.strips) * (THREADS / 8) + (int)threadIdx.x / 8;
    int v = (int)(blockIdx.x / a.strips), at = min(i, n - 1);
    int x = a.out.x + at / a.step, c = at % a.step;
    const sum *row = (const sum *)(tamis_picture(a.sums, a.sums_next) + blockIdx.y * a.sums_plane +
                                   v * a.sums_stride);
    typename P::sample out =
        P::lanes(row + (a.x.start[x] * a.step + c - a.first), a.step, a.x, x, threadIdx.x % 8);
    if (i < n && threadIdx.x % 8 == 0)
        tamis_row<typename P::sample>(a.out, blockIdx.y, a.out.y + v)[a.out.x * a.step + i] = out;
}

/* ---- copies: each pixel is one of the source's. Four samples a thread. */

enum { COPY_ROWS = 4 };

template <typename T> __global__ void __launch_bounds__(THREADS) copies(args<T> a)
{
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int begin = a.out.x * a.step, end = begin + a.out.w * a.step;
    int i = (begin & ~3) + ((int)(blockIdx.x % a.strips) * THREADS + (int)threadIdx.x) * 4;
    int y = a.out.y + (int)(blockIdx.x / a.strips) * COPY_ROWS;
    int from[4];
    bool whole = i >= begin && i + 4 <= end;
    if (i >= end)
        return;
    for (int k = 0; k < 4; k++) {
        int at = min(max(i + k, begin), end - 1);
        int p = a.step == 1 ? at : at / a.step;
        from[k] = a.x.start[p] * a.step + (at - p * a.step);
    }
    for (int v = y; v < min(y + COPY_ROWS, a.out.y + a.out.h); v++) {
        const T *row = in.row(a.y.start[v]);
        T *to = tamis_row<T>(a.out, blockIdx.y, v) + i;
        vector_of<T> q;
        for (int k = 0; k < 4; k++)
            q.v[k] = row[from[k]];
        if (whole && a.aligned) {
            *(vector_of<T> *)to = q;
            continue;
        }
        for (int k = 0; k < 4; k++)
            if (i + k >= begin && i + k < end)
                to[k] = q.v[k];
    }
}

/* ---- halves of one channel: the fixed-point and the binary32 formulas with all weights 1/2 */

static __device__ __forceinline__ float half_of(float a, float b)
{
    return __fadd_rn(__fadd_rn(__fmul_rn(0.5f, a), __fmul_rn(0.5f, b)), 0.f);
}

/* The pixels under 16 bytes of two rows. Rows come and go as words, so that all loads of a thread
 * are on their way before the first is looked at. */
template <typename T> struct half_row {
    enum { PIXELS = 8 / sizeof(T) };
    uint4 top, bottom;

    __device__ __forceinline__ uint2 means() const
    {
        T a[2 * PIXELS], b[2 * PIXELS], r[PIXELS];
        memcpy(a, &top, sizeof a);
        memcpy(b, &bottom, sizeof b);
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            r[k] = tamis_sample<T>::of(half_of(half_of((float)a[2 * k], (float)b[2 * k]),
                                               half_of((float)a[2 * k + 1], (float)b[2 * k + 1])));
        uint2 v;
        memcpy(&v, r, sizeof v);
        return v;
    }
};

/* Sums of two pixels' samples in the halves of a word. */
static __device__ __forceinline__ unsigned two_sums(unsigned a, unsigned b)
{
    return __byte_perm(a, 0, 0x4240) + __byte_perm(a, 0, 0x4341) + __byte_perm(b, 0, 0x4240) +
           __byte_perm(b, 0, 0x4341);
}

static __device__ __forceinline__ unsigned four_means(unsigned a0, unsigned b0, unsigned a1,
                                                      unsigned b1)
{
    unsigned low = two_sums(a0, b0) + 0x00020002u, high = two_sums(a1, b1) + 0x00020002u;
    return __byte_perm(low >> 2, high >> 2, 0x6420);
}

template <> __device__ __forceinline__ uint2 half_row<uint8_t>::means() const
{
    return make_uint2(four_means(top.x, bottom.x, top.y, bottom.y),
                      four_means(top.z, bottom.z, top.w, bottom.w));
}

enum { HALF_ROWS = 4 };

/* A few pixels in each of a few rows in a thread. */
template <typename T>
__global__ void __launch_bounds__(THREADS) halves(const __grid_constant__ args<T> a)
{
    enum { PIXELS = half_row<T>::PIXELS };
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    unsigned strips = (unsigned)a.strips, strip = blockIdx.x / strips;
    int end = a.out.x + a.out.w, bottom = a.out.y + a.out.h;
    int x = a.out.x / PIXELS * PIXELS +
            (int)((blockIdx.x - strip * strips) * THREADS + threadIdx.x) * PIXELS;
    int y = a.out.y + (int)strip * HALF_ROWS;
    if (x >= end)
        return;
    char *to = a.out.data(blockIdx.y) + y * a.out.stride[blockIdx.y] + (int64_t)x * sizeof(T);
    const int64_t to_stride = a.out.stride[blockIdx.y], stride = in.stride;
    if (x >= a.out.x && x + PIXELS <= end) {
        half_row<T> rows[HALF_ROWS];
        const char *at = (const char *)(in.row(2 * y) + 2 * (int64_t)x);
#pragma unroll
        for (int v = 0; v < HALF_ROWS; v++) {
            rows[v].top = *(const uint4 *)at;
            rows[v].bottom = *(const uint4 *)(at + stride);
            if (y + v + 1 < bottom) /* else the last row again */
                at += 2 * stride;
        }
#pragma unroll
        for (int v = 0; v < HALF_ROWS; v++) {
            if (v == 0 || y + v < bottom)
                *(uint2 *)to = rows[v].means();
            to += to_stride;
        }
        return;
    }
    for (int v = y; v < min(y + HALF_ROWS, bottom); v++, to += to_stride) {
        half_row<T> row;
        T samples[2][2 * PIXELS], r[PIXELS];
        for (int k = 0; k < 2 * PIXELS; k++) {
            int at = min(max(2 * x + k, 2 * a.out.x), 2 * end - 1);
            samples[0][k] = in.row(2 * v)[at];
            samples[1][k] = in.row(2 * v + 1)[at];
        }
        memcpy(&row, samples, sizeof row);
        uint2 means = row.means();
        memcpy(r, &means, sizeof r);
        for (int k = 0; k < PIXELS; k++)
            if (x + k >= a.out.x && x + k < end)
                ((T *)to)[k] = r[k];
    }
}

/* ---- launches */

template <typename T>
static args<T> make_args(const tamis_gpu_work *w, const struct resize_state *s)
{
    args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.x = s->x;
    a.y = s->y;
    a.step = w->step;
    a.aligned = w->aligned >= (int)(4 * sizeof(T));
    a.pixels = 0;
    a.strips = 0;
    a.sums = NULL;
    a.sums_stride = a.sums_plane = a.sums_next = 0;
    a.first = a.columns = 0;
    return a;
}

/* How many pixels of the result have their windows in a strip. Rounded starts make windows span a
 * sample more than they do on average. */
static int pixels_in_strip(const struct resize_axis *x, int step)
{
    double room = (STRIP - 3) / step - 2 - x->taps;
    double n = room < 0 ? 0 : floor(room / x->ratio) + 1;
    int most = 2 * STRIP / step, pixels = n < most ? (int)n : most;
    return pixels > 64 ? pixels / 32 * 32 : pixels;
}

/* Samples under w pixels of the result, at most, with what is before them up to a multiple of four.
 */
static int64_t columns_of(const struct resize_axis *x, int w, int step)
{
    double most = ceil((w - 1) * x->ratio) + 2 + x->taps;
    int64_t pixels = most < x->in ? (int64_t)most : x->in;
    return (pixels * step + 3 + 3) / 4 * 4;
}

static bool is_wide(const tamis_node *node, int step)
{
    const struct resize_coef *c = (const struct resize_coef *)node->coef;
    return pixels_in_strip(&c->x, step) < FEWEST;
}

template <typename P>
static tamis_status launch_wide(const tamis_gpu_work *w, const struct resize_axis *x,
                                args<typename P::sample> a, tamis_gpu_fault *fault)
{
    int last = w->part.x + w->part.w - 1;
    a.first = x->start[w->part.x] * w->step & ~3;
    a.columns = (x->start[last] + resize_count(x, last)) * w->step - a.first;
    a.sums = (char *)w->scratch;
    a.sums_stride = columns_of(x, w->part.w, w->step) * (int64_t)sizeof(typename P::sum);
    a.sums_plane = a.sums_stride * w->part.h;
    a.sums_next = w->scratch_next;
    a.strips = tamis_tiles(a.columns, 4 * THREADS);
    TAMIS_LAUNCH(columns_to_memory<P>, tamis_grid(w, a.strips, w->part.h, w->planes), THREADS, 0,
                 w->stream, a);
    tamis_status status = tamis_cuda_launched("resize columns", fault);
    if (status != TAMIS_OK)
        return status;
    a.strips = tamis_tiles((int64_t)w->part.w * w->step, THREADS / 8);
    TAMIS_LAUNCH(rows_from_memory<P>, tamis_grid(w, a.strips, w->part.h, w->planes), THREADS, 0,
                 w->stream, a);
    return tamis_cuda_launched("resize rows", fault);
}

template <typename T>
static tamis_status launch_halves(const tamis_gpu_work *w, args<T> a, tamis_gpu_fault *fault)
{
    const int pixels = half_row<T>::PIXELS;
    a.strips = tamis_tiles((int64_t)w->part.x % pixels + w->part.w, pixels * THREADS);
    TAMIS_LAUNCH(halves<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, HALF_ROWS), w->planes),
                 THREADS, 0, w->stream, a);
    return tamis_cuda_launched("resize halves", fault);
}

template <typename P>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    typedef typename P::sample T;
    const struct resize_coef *c = (const struct resize_coef *)node->coef;
    args<T> a = make_args<T>(w, (const struct resize_state *)state);
    if (c->way == RESIZE_HALVES && w->step == 1 && w->aligned >= 16)
        return launch_halves<T>(w, a, fault);
    if (is_wide(node, w->step))
        return launch_wide<P>(w, &c->x, a, fault);
    a.pixels = pixels_in_strip(&c->x, w->step);
    a.strips = tamis_tiles(w->part.w, a.pixels);
    TAMIS_LAUNCH(strips<P>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, P::ROWS), w->planes),
                 THREADS, P::ROWS * STRIP * sizeof(typename P::sum), w->stream, a);
    return tamis_cuda_launched("resize", fault);
}

template <typename T>
static tamis_status launch_copies(const tamis_gpu_work *w, const tamis_node *node,
                                  const void *state, tamis_gpu_fault *fault)
{
    args<T> a = make_args<T>(w, (const struct resize_state *)state);
    (void)node;
    a.strips =
        tamis_tiles((int64_t)w->part.x * w->step % 4 + (int64_t)w->part.w * w->step, 4 * THREADS);
    TAMIS_LAUNCH(copies<T>, tamis_grid(w, a.strips, tamis_tiles(w->part.h, COPY_ROWS), w->planes),
                 THREADS, 0, w->stream, a);
    return tamis_cuda_launched("resize copies", fault);
}

template <typename P>
static size_t scratch(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    (void)state;
    const struct resize_coef *c = (const struct resize_coef *)node->coef;
    int packed = node->in.layout == TAMIS_PACKED;
    int step = packed ? node->in.channels : 1, planes = packed ? 1 : node->in.channels;
    if (!is_wide(node, step))
        return 0;
    return (size_t)columns_of(&c->x, w, step) * sizeof(typename P::sum) * (size_t)h *
           (size_t)planes;
}

static bool upload_axis(tamis_gpu_prep *prep, const struct resize_axis *a, struct axis *t)
{
    size_t weights = (size_t)a->phases * (size_t)a->pitch;
    t->pitch = a->pitch;
    t->bits = a->bits;
    t->start = (const int32_t *)prep->upload(prep, a->start, (size_t)a->out * sizeof *a->start);
    t->phase = (const int32_t *)prep->upload(prep, a->phase, (size_t)a->out * sizeof *a->phase);
    t->count = (const int32_t *)prep->upload(prep, a->count, (size_t)a->phases * sizeof *a->count);
    if (a->f)
        t->f = (const float *)prep->upload(prep, a->f, weights * sizeof *a->f);
    if (a->q)
        t->q = (const int16_t *)prep->upload(prep, a->q, weights * sizeof *a->q);
    return t->start && t->phase && t->count && !t->f == !a->f && !t->q == !a->q;
}

static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct resize_coef *c = (const struct resize_coef *)prep->node->coef;
    struct resize_state *s = (struct resize_state *)prep->alloc(prep, sizeof *s);
    prep->state = s;
    return s && upload_axis(prep, &c->x, &s->x) && upload_axis(prep, &c->y, &s->y)
               ? TAMIS_OK
               : TAMIS_ERR_MEMORY;
}

} // namespace

#define FLOATS(type, T)                                                                            \
    {                                                                                              \
        "float", type, 0, prepare, scratch<floating<T>>, launch<floating<T>>                       \
    }
#define COPIES(type, T)                                                                            \
    {                                                                                              \
        "nearest", type, 0, prepare, NULL, launch_copies<T>                                        \
    }
TAMIS_CUDA_KERNELS(resize) = {
    {"fixed", TAMIS_U8, 0, prepare, scratch<fixed>, launch<fixed>},
    FLOATS(TAMIS_U8, uint8_t),
    FLOATS(TAMIS_U16, uint16_t),
    FLOATS(TAMIS_S16, int16_t),
    FLOATS(TAMIS_F32, float),
    COPIES(TAMIS_U8, uint8_t),
    COPIES(TAMIS_U16, uint16_t),
    COPIES(TAMIS_S16, int16_t),
    COPIES(TAMIS_F32, float),
    {},
};
