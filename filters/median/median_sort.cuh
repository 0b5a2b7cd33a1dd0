/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians by networks, for any type and number of samples in a pixel.
 *
 * A block sorts the rows of its windows, each once, into shared memory; then each thread finds the
 * medians of four outputs that stand on each other, which share most of what they merge. Lanes of a
 * pair are 32 samples apart. Float samples are integers that sort alike; a NaN is an end of a
 * sorted row. */
#ifndef TAMIS_MEDIAN_SORT_CUH
#define TAMIS_MEDIAN_SORT_CUH

#include "median_network.cuh"

template <typename T> struct sort_args {
    tamis_inputs<T> in;
    tamis_output out;
    int step, radius;
    int shift_x, shift_y; /* samples, rows */
    int aligned;
    int64_t tiles; /* in a row */
    int height;    /* of a strip, for marches */
    unsigned one;  /* 1, which the compiler does not know: see march_middle() */
};

template <typename T> static sort_args<T> sort_args_of(const tamis_gpu_work *w, int k)
{
    sort_args<T> a;
    a.in = tamis_inputs_of<T>(w);
    a.out = tamis_output_of(w);
    a.step = w->step;
    a.radius = k / 2;
    a.shift_x = w->shift_x * w->step;
    a.shift_y = w->shift_y;
    a.aligned = w->aligned;
    a.tiles = 0;
    a.height = 0;
    a.one = 1;
    return a;
}

/* Samples as elements of lists, and back. */
template <typename T> struct ranked;
template <> struct ranked<uint8_t> {
    typedef pairs list;
    static __device__ __forceinline__ unsigned key(uint8_t v)
    {
        return v;
    }
    static __device__ __forceinline__ uint8_t sample(unsigned key)
    {
        return (uint8_t)key;
    }
};
template <> struct ranked<uint16_t> {
    typedef pairs list;
    static __device__ __forceinline__ unsigned key(uint16_t v)
    {
        return v;
    }
    static __device__ __forceinline__ uint16_t sample(unsigned key)
    {
        return (uint16_t)key;
    }
};
template <> struct ranked<int16_t> {
    typedef pairs list;
    static __device__ __forceinline__ unsigned key(int16_t v)
    {
        return (uint16_t)v ^ 0x8000u;
    }
    static __device__ __forceinline__ int16_t sample(unsigned key)
    {
        return (int16_t)(uint16_t)(key ^ 0x8000u);
    }
};
template <> struct ranked<float> {
    typedef singles list;
    enum { INFINITE = 0x7f800000 }; /* its key; that of -infinity is ~INFINITE */
    static __device__ __forceinline__ int key(float v)
    {
        int bits = __float_as_int(v);
        return bits ^ ((bits >> 31) & 0x7fffffff);
    }
    static __device__ __forceinline__ float sample(int key)
    {
        return __int_as_float(key ^ ((key >> 31) & 0x7fffffff));
    }
};

template <typename T> static __device__ __forceinline__ unsigned element(T first, T second, pairs)
{
    return ranked<T>::key(first) | ranked<T>::key(second) << 16;
}
template <typename T> static __device__ __forceinline__ int element(T first, T, singles)
{
    return ranked<T>::key(first);
}

/* The sample of a row that stands for sample i; below 0: the border's value, -1 the first one.
 * blank: the row is all border. */
template <typename T>
static __device__ __noinline__ int sample_place(const tamis_input<T> *in, int i, bool blank)
{
    int x = tamis_pixel_of(i, in->pitch), c = i - x * in->pitch;
    int u = blank ? -1 : tamis_index(in->border, x, in->w);
    return u < 0 ? -1 - c : min(max(u, in->left), in->right) * in->pitch + c;
}

/* Every step-th sample of row y from i0 and i1 on, as elements. */
template <int K, typename T>
static __device__ __forceinline__ void inside_row(typename ranked<T>::list::value *v,
                                                  const tamis_input<T> &in, int i0, int i1,
                                                  int step, int y)
{
    const T *first = in.row(y) + i0, *second = in.row(y) + i1;
    typedef typename ranked<T>::list P;
#pragma unroll
    for (int j = 0; j < K; j++)
        v[j] = element<T>(first[j * step], P::LANES == 2 ? second[j * step] : T(), P());
}

/* Likewise where the border is reached. All places first: the loads then do not wait for each
 * other. */
template <int K, typename T>
static __device__ __forceinline__ void border_row(typename ranked<T>::list::value *v,
                                                  const tamis_input<T> &in, int i0, int i1,
                                                  int step, int y)
{
    typedef typename ranked<T>::list P;
    const int row_of = tamis_index(in.border, y, in.h);
    const T *row = in.row(min(max(row_of, in.top), in.bottom));
    int at[P::LANES][K];
#pragma unroll
    for (int lane = 0; lane < P::LANES; lane++)
#pragma unroll
        for (int j = 0; j < K; j++)
            at[lane][j] = sample_place(&in, (lane ? i1 : i0) + j * step, row_of < 0);
#pragma unroll
    for (int j = 0; j < K; j++) {
        T s[2] = {T(), T()};
#pragma unroll
        for (int lane = 0; lane < P::LANES; lane++)
            s[lane] = at[lane][j] < 0 ? (T)in.outside[-1 - at[lane][j]] : row[at[lane][j]];
        v[j] = element<T>(s[0], s[1], P());
    }
}

/* Medians of four windows of which the first begins at the sorted row `rows`; rows are `pitch`
 * elements apart, and the elements of a row 32. */
template <typename P, int K> struct sorted_rows {
    typedef typename P::value value;
    const value *rows;

    __device__ __forceinline__ void get(value *v, int row) const
    {
#pragma unroll
        for (int j = 0; j < K; j++)
            v[j] = rows[(row * K + j) * 32];
    }
    /* Rows `row` and the next merged. */
    __device__ __forceinline__ void two(value *v, int row) const
    {
        get(v, row);
        get(v + K, row + 1);
        merge<P, K, K>(v);
    }
    /* COUNT rows from row 3 on: what is kept of them. */
    template <int COUNT> __device__ __forceinline__ void core(value *v) const
    {
        if constexpr (COUNT == 2) {
            two(v, 3);
        } else {
            constexpr int more = COUNT % 4 == 2 ? 2 : 4, kept = ranks<K>::kept((COUNT - more) * K);
            if constexpr (COUNT == 4) {
                two(v, 3);
                two(v + 2 * K, 5);
                combine<P, K, 2, 2>(v);
            } else {
                core<COUNT - more>(v);
                two(v + kept, 3 + COUNT - more);
                if constexpr (more == 4) {
                    two(v + kept + 2 * K, 5 + COUNT - more);
                    combine<P, K, 2, 2>(v + kept);
                }
                combine<P, K, COUNT - more, more>(v);
            }
        }
    }
    __device__ __forceinline__ void four_medians(value *out) const
    {
        constexpr int kept = ranks<K>::kept((K - 3) * K);
        value v[2 * K * K];
        core<K - 3>(v);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            value w[K * K + 2 * K], row[K];
            copy<P, kept>(w, v);
            two(w + kept, half ? K : 1);
            combine<P, K, K - 3, 2>(w);
            get(row, 2 * half);
            out[2 * half] = median_of<P, K>(w, row);
            get(row, 2 * half + K);
            out[2 * half + 1] = median_of<P, K>(w, row);
        }
    }
};

/* 3 x 3: a window has no core of several rows. */
template <typename P>
static __device__ __forceinline__ typename P::value
median_3(const typename P::value *a, const typename P::value *b, const typename P::value *c)
{
    typedef typename P::value value;
    value low = P::greatest(P::greatest(a[0], b[0]), c[0]);
    value high = P::least(P::least(a[2], b[2]), c[2]);
    value mid = P::greatest(P::least(a[1], b[1]), P::least(P::greatest(a[1], b[1]), c[1]));
    return P::greatest(P::least(low, mid), P::least(P::greatest(low, mid), high));
}

template <typename P> struct sorted_rows<P, 3> {
    typedef typename P::value value;
    const value *rows;

    __device__ __forceinline__ void four_medians(value *out) const
    {
        value v[6][3];
        for (int r = 0; r < 6; r++)
            for (int j = 0; j < 3; j++)
                v[r][j] = rows[(r * 3 + j) * 32];
        for (int r = 0; r < 4; r++)
            out[r] = median_3<P>(v[r], v[r + 1], v[r + 2]);
    }
};

/* A block's outputs, WIDTH samples in each of HEIGHT rows, and the rows that it sorts. */
template <typename P, int K> struct sort_tile {
    enum {
        WIDTH = 32 * P::LANES,
        HEIGHT = K <= 9    ? 32
                 : K <= 11 ? 24
                           : 16,
        ROWS = HEIGHT + K - 1,
        THREADS = 32 * HEIGHT / 4,
        /* Of a multiprocessor at once: what registers have to make room for. */
        BLOCKS = P::LANES == 1       ? 1
                 : K == 7 || K == 13 ? 4
                                     : 3,
        BYTES = ROWS * K * 32 * 4
    };
};

/* Whether a row of the window at out holds a NaN. */
template <int K> static __device__ __forceinline__ bool window_has_nan(const int *rows)
{
    bool found = false;
    for (int r = 0; r < K; r++)
        found = found || rows[r * K * 32] < ~ranked<float>::INFINITE ||
                rows[(r * K + K - 1) * 32] > ranked<float>::INFINITE;
    return found;
}

template <typename T, int K>
__global__ void __launch_bounds__(sort_tile<typename ranked<T>::list, K>::THREADS,
                                  sort_tile<typename ranked<T>::list, K>::BLOCKS)
    sort_tiles(const __grid_constant__ sort_args<T> a)
{
    typedef typename ranked<T>::list P;
    typedef typename P::value value;
    typedef sort_tile<P, K> tile;
    TAMIS_SHARED_BYTES(bytes);
    value *sorted = (value *)bytes;
    const tamis_input<T> &in = a.in.plane[blockIdx.y];
    int end = (a.out.x + a.out.w) * a.step, bottom = a.out.y + a.out.h;
    int x0 = a.out.x * a.step + (int)(blockIdx.x % a.tiles) * tile::WIDTH;
    int y0 = a.out.y + (int)(blockIdx.x / a.tiles) * tile::HEIGHT;
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    /* Behind the part everything is as at its end: nothing more may be read. */
    int i0 = min(x0 + tx, end - 1) + a.shift_x - a.radius * a.step;
    int i1 = min(x0 + 32 + tx, end - 1) + a.shift_x - a.radius * a.step;
    int first = y0 + a.shift_y - a.radius, last = bottom - 1 + a.shift_y + a.radius;
    bool columns = i0 >= 0 && (int64_t)max(i0, i1) + (K - 1) * a.step < (int64_t)in.w * in.pitch;
    bool nans = false;
    for (int r = ty; r < tile::ROWS; r += tile::THREADS / 32) {
        int y = min(first + r, last);
        bool inside = columns && (unsigned)y < (unsigned)in.h;
        value v[K];
        if (!inside)
            border_row<K>(v, in, i0, i1, a.step, y);
        else if (a.step == 1)
            inside_row<K>(v, in, i0, i1, 1, y);
        else
            inside_row<K>(v, in, i0, i1, a.step, y);
        sort<P, K>(v);
        if constexpr (P::LANES == 1)
            nans = nans || v[0] < ~ranked<float>::INFINITE || v[K - 1] > ranked<float>::INFINITE;
#pragma unroll
        for (int j = 0; j < K; j++)
            sorted[(r * K + j) * 32 + tx] = v[j];
    }
    if constexpr (P::LANES == 1)
        nans = __syncthreads_or(nans);
    else
        __syncthreads();
    int y = y0 + 4 * ty;
    if (y >= bottom)
        return;
    value out[4];
    sorted_rows<P, K> rows = {sorted + 4 * ty * K * 32 + tx};
    rows.four_medians(out);
    for (int r = 0; r < 4 && y + r < bottom; r++) {
        if constexpr (P::LANES == 1)
            if (nans && window_has_nan<K>(rows.rows + r * K * 32))
                out[r] = MEDIAN_NAN_BITS;
        T *row = tamis_row<T>(a.out, blockIdx.y, y + r);
        for (int lane = 0; lane < P::LANES; lane++)
            if (x0 + 32 * lane + tx < end)
                row[x0 + 32 * lane + tx] = ranked<T>::sample(out[r] >> 16 * lane);
    }
}

template <typename T, int K>
static tamis_status launch_sort_tiles(const tamis_gpu_work *w, tamis_gpu_fault *fault)
{
    typedef sort_tile<typename ranked<T>::list, K> tile;
    sort_args<T> a = sort_args_of<T>(w, K);
    a.tiles = tamis_tiles((int64_t)w->part.w * w->step, tile::WIDTH);
    auto kernel = sort_tiles<T, K>;
    if (tile::BYTES > 48 * 1024)
        TAMIS_TRY(tamis_cuda_allow_shared(kernel, fault));
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, tile::HEIGHT), w->planes),
                 tile::THREADS, tile::BYTES, w->stream, a);
    return tamis_cuda_launched("median", fault);
}

#endif
