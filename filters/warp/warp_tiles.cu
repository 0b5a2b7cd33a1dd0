/* SPDX-License-Identifier: Apache-2.0 */
/* Linear and cubic warps of u8: a block brings what a tile of the result needs of the source to
 * shared memory first. Tiles whose part of the source is too large read it directly. */
#include "warp_words.cuh"

namespace
{

/* ---- tiles of the result */

struct tile {
    int x, y, begin, end, bottom; /* it has columns begin .. end-1 of x .. x+WIDTH-1 */

    __device__ __forceinline__ bool has(int px, int py) const
    {
        return px >= begin && px < end && py < bottom;
    }
};

static __device__ __forceinline__ tile my_tile(const args &a)
{
    int left = (a.out.x / WIDTH + (int)(blockIdx.x % a.tiles)) * WIDTH;
    int top = a.out.y + (int)(blockIdx.x / a.tiles) * HEIGHT;
    return tile{left, top, max(left, a.out.x), min(left + WIDTH, a.out.x + a.out.w),
                min(top + HEIGHT, a.out.y + a.out.h)};
}

/* Rows of the result in shared memory. */
template <int STEP> struct result_of {
    enum { PITCH = WIDTH * STEP + 16 };
    uint8_t *data;

    __device__ __forceinline__ void put(const tile &t, int x, int y, const unsigned (&v)[STEP])
    {
        uint8_t *at = data + (y - t.y) * PITCH + (x - t.x) * STEP;
#pragma unroll
        for (int c = 0; c < STEP; c++)
            at[c] = (uint8_t)v[c];
    }
    __device__ __forceinline__ void fill(const tamis_input<uint8_t> &in)
    {
        for (int i = threadIdx.x; i < HEIGHT * WIDTH * STEP; i += THREADS)
            data[i / (WIDTH * STEP) * PITCH + i % (WIDTH * STEP)] = (uint8_t)in.outside[i % STEP];
    }
    __device__ __forceinline__ void store(const args &a, const tile &t)
    {
        const int row_words = WIDTH * STEP / 4, row_fours = row_words / 4;
        if (a.aligned_fours && t.begin == t.x && t.end == t.x + WIDTH) {
            for (int i = threadIdx.x; i < (t.bottom - t.y) * row_fours; i += THREADS) {
                int row = i / row_fours, k = i % row_fours * 16;
                *(uint4 *)(tamis_row<uint8_t>(a.out, blockIdx.y, t.y + row) + t.x * STEP + k) =
                    *(const uint4 *)(data + row * PITCH + k);
            }
            return;
        }
        for (int i = threadIdx.x; i < HEIGHT * row_words; i += THREADS) {
            int y = t.y + i / row_words, k = i % row_words * 4, x = t.x * STEP + k;
            if (y >= t.bottom)
                return;
            uint8_t *out = tamis_row<uint8_t>(a.out, blockIdx.y, y) + x;
            const uint8_t *from = data + (y - t.y) * PITCH + k;
            if (a.aligned && x >= t.begin * STEP && x + 4 <= t.end * STEP) {
                *(unsigned *)out = *(const unsigned *)from;
                continue;
            }
            for (int c = 0; c < 4; c++)
                if (x + c >= t.begin * STEP && x + c < t.end * STEP)
                    out[c] = from[c];
        }
    }
};

/* A thread's pixels, of which step k is the k-th, and where they lie: rounded to 2^-14. An affine
 * map is followed, others are looked up once. */
template <bool AFFINE> struct places {
    int64_t x, y, step_x, step_y;

    /* By one warp, which has a row of the tile in each lane. */
    static __device__ __forceinline__ reach find(const args &a, const tile &t,
                                                 warp_position *starts)
    {
        reach r = nothing();
        int lane = (int)threadIdx.x;
        warp_position p = warp_affine(a.map, t.x, min(t.y + lane, t.bottom - 1));
        int64_t first = t.begin - t.x, last = t.end - 1 - t.x;
        p.x += ROUND;
        p.y += ROUND;
        starts[lane] = p;
        r.add((int)((p.x + first * a.map.step_x) >> 32), (int)((p.y + first * a.map.step_y) >> 32));
        r.add((int)((p.x + last * a.map.step_x) >> 32), (int)((p.y + last * a.map.step_y) >> 32));
        r.exchange();
        return r;
    }
    __device__ __forceinline__ void begin(const args &a, warp_position start)
    {
        step_x = 8 * a.map.step_x;
        step_y = 8 * a.map.step_y;
        x = start.x + (int)(threadIdx.x % 8) * a.map.step_x;
        y = start.y + (int)(threadIdx.x % 8) * a.map.step_y;
    }
    __device__ __forceinline__ void move(int dx, int dy)
    {
        x -= (int64_t)dx << 32;
        y -= (int64_t)dy << 32;
    }
    __device__ __forceinline__ void get(int, place &p)
    {
        p = place{(int)(x >> 32), (int)(y >> 32), (uint32_t)x >> 18, (uint32_t)y >> 18};
        x += step_x;
        y += step_y;
    }
};

template <> struct places<false> {
    int x[STEPS], y[STEPS];
    unsigned f[STEPS];

    __device__ __forceinline__ reach find(const args &a, const tile &t, int column, int row)
    {
        reach r = nothing();
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            int px = column + 8 * k, u, v;
            x[k] = y[k] = 0;
            f[k] = 0;
            if (!t.has(px, t.y + row))
                continue;
            warp_position p = warp_position_of(a.map, px, t.y + row, warp_position{0, 0});
            x[k] = warp_before<14>(p.x, &u);
            y[k] = warp_before<14>(p.y, &v);
            f[k] = (unsigned)(u | v << 16);
            r.add(x[k], y[k]);
        }
        r.exchange();
        return r;
    }
    __device__ __forceinline__ void move(int dx, int dy)
    {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            x[k] -= dx;
            y[k] -= dy;
        }
    }
    __device__ __forceinline__ void get(int k, place &p)
    {
        p = place{x[k], y[k], f[k] & 65535, f[k] >> 16};
    }
};

/* What a block's threads share. */
struct common {
    tile t;
    box b;
    union {
        warp_position starts[HEIGHT]; /* affine: of rows */
        reach warps[WARPS];           /* else */
    };
};

template <int TAPS, int STEP>
static __device__ __forceinline__ void begin(const args &a, const tamis_input<uint8_t> &in,
                                             int column, int row, common &all, places<true> &at)
{
    (void)column;
    if (threadIdx.x < 32) {
        tile t = my_tile(a);
        reach r = at.find(a, t, all.starts);
        if (threadIdx.x == 0) {
            all.t = t;
            all.b = box_of<TAPS, STEP>(a, in, r);
        }
    }
    __syncthreads();
    at.begin(a, all.starts[row]);
}

template <int TAPS, int STEP>
static __device__ __forceinline__ void begin(const args &a, const tamis_input<uint8_t> &in,
                                             int column, int row, common &all, places<false> &at)
{
    tile t = my_tile(a);
    reach r = at.find(a, t, t.x + column, row);
    if (threadIdx.x % 32 == 0)
        all.warps[threadIdx.x / 32] = r;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < WARPS; i++)
            r.add(all.warps[i]);
        all.t = t;
        all.b = box_of<TAPS, STEP>(a, in, r);
    }
    __syncthreads();
}

template <int TAPS, int STEP, bool AFFINE>
__global__ void __launch_bounds__(THREADS, AFFINE ? 4 : 3) tiles(const __grid_constant__ args a)
{
    TAMIS_SHARED_BYTES(bytes);
    __shared__ common all;
    result_of<STEP> result = {bytes};
    unsigned *source = (unsigned *)(bytes + HEIGHT * result_of<STEP>::PITCH);
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    int lane = threadIdx.x % 32, row = (int)threadIdx.x / 32 * 4 + lane / 8;
    places<AFFINE> at;
    begin<TAPS, STEP>(a, in, lane % 8, row, all, at);
    tile t = all.t;
    box b = all.b;
    int column = t.x + lane % 8, y = t.y + row;
    place p;
    unsigned v[STEP];
    const int BATCH = TAPS == 2 ? 4 : 2; /* pixels whose loads do not wait for each other */
    if (b.blank) {
        result.fill(in);
    } else if (!b.fits) {
#pragma unroll(AFFINE ? 1 : STEPS)
        for (int k = 0; k < STEPS; k++) {
            at.get(k, p);
            if (!t.has(column + 8 * k, y))
                continue;
            value_directly<TAPS, STEP>(a, in, p, v);
            result.put(t, column + 8 * k, y, v);
        }
    } else {
        stage<TAPS, STEP>(in, b, source);
        at.move(b.x + (TAPS / 2 - 1), b.y + (TAPS / 2 - 1));
        /* Pixels that are not of the part take other words, and are not stored. */
        int most = last_word<TAPS, STEP>(b);
        __syncthreads();
#pragma unroll
        for (int first = 0; first < STEPS; first += BATCH) {
            unsigned values[BATCH][STEP];
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                at.get(first + k, p);
                int word = (int)min((unsigned)(p.y * b.pitch + p.x), (unsigned)most);
                words_of<TAPS, STEP>{source + word, b.pitch}.value(a, p, values[k]);
            }
#pragma unroll
            for (int k = 0; k < BATCH; k++)
                result.put(t, column + 8 * (first + k), y, values[k]);
        }
    }
    __syncthreads();
    result.store(a, t);
}

/* ---- launches */

/* Words that a tile may want: exact for affine maps, enough for moderate ones else. */
template <int TAPS, int STEP> static int words_wanted(const struct warp_coef *c)
{
    const int most = (46 * 1024 - HEIGHT * result_of<STEP>::PITCH) / 4;
    if (c->kind != WARP_AFFINE)
        return most < 8192 ? most : 8192;
    double w = fabs(c->m[0]) * (WIDTH - 1) + fabs(c->m[1]) * (HEIGHT - 1) + 2;
    double h = fabs(c->m[3]) * (WIDTH - 1) + fabs(c->m[4]) * (HEIGHT - 1) + 2;
    if (!(w < most && h < most))
        return 0;
    int columns = (int)w + 1 + (STEP == 1 ? 0 : TAPS - 1) + 3, rows = (int)h + 1 + TAPS - 1;
    int groups = (columns + 3) / 4 > 2 ? (columns + 3) / 4 : 2;
    int64_t words = (int64_t)pitch_of(groups) * rows;
    return words < most ? (int)words : most;
}

template <int TAPS, int STEP, bool AFFINE>
static tamis_status launch(const tamis_gpu_work *w, const struct warp_coef *c,
                           tamis_gpu_fault *fault)
{
    args a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.map = warp_map_of(w, c);
    a.tiles = (w->part.x + w->part.w - 1) / WIDTH - w->part.x / WIDTH + 1;
    a.words = words_wanted<TAPS, STEP>(c);
    a.aligned = w->aligned >= 4;
    a.aligned_fours = w->aligned >= 16;
    a.cubic_a = c->cubic_a;
    auto kernel = tiles<TAPS, STEP, AFFINE>;
    size_t shared = (size_t)(HEIGHT * result_of<STEP>::PITCH) + (size_t)a.words * sizeof(unsigned);
    TAMIS_LAUNCH(kernel, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, HEIGHT), w->planes), THREADS,
                 shared, w->stream, a);
    return tamis_cuda_launched("warp tiles", fault);
}

template <int TAPS, int STEP>
static tamis_status launch_kind(const tamis_gpu_work *w, const struct warp_coef *c,
                                tamis_gpu_fault *fault)
{
    return c->kind == WARP_AFFINE ? launch<TAPS, STEP, true>(w, c, fault)
                                  : launch<TAPS, STEP, false>(w, c, fault);
}

template <int TAPS>
static tamis_status launch_step(const tamis_gpu_work *w, const struct warp_coef *c,
                                tamis_gpu_fault *fault)
{
    switch (w->step) {
    case 1:
        return launch_kind<TAPS, 1>(w, c, fault);
    case 2:
        return launch_kind<TAPS, 2>(w, c, fault);
    case 3:
        return launch_kind<TAPS, 3>(w, c, fault);
    default:
        return launch_kind<TAPS, 4>(w, c, fault);
    }
}

} // namespace

tamis_status warp_launch_tiles(const tamis_gpu_work *w, const struct warp_coef *c,
                               tamis_gpu_fault *fault)
{
    return c->interp == TAMIS_INTERP_LINEAR ? launch_step<2>(w, c, fault)
                                            : launch_step<4>(w, c, fault);
}
