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

    /* A pixel, of column x and row y of the tile. */
    __device__ __forceinline__ void put(int x, int y, const unsigned (&v)[STEP], int byte)
    {
        for (int c = 0; c < STEP; c++)
            data[y * PITCH + x * STEP + c] = (uint8_t)(v[c] >> 8 * byte);
    }
    /* A run of them, column x being a multiple of four. */
    template <int BYTE>
    __device__ __forceinline__ void put_run(int x, int y, const unsigned (&v)[RUN][STEP])
    {
        unsigned *to = (unsigned *)(data + y * PITCH + x * STEP);
        const unsigned two = BYTE * 0x11 + 0x40;
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            const int i = 4 * k;
            unsigned low =
                __byte_perm(v[i / STEP][i % STEP], v[(i + 1) / STEP][(i + 1) % STEP], two);
            unsigned high = __byte_perm(v[(i + 2) / STEP][(i + 2) % STEP],
                                        v[(i + 3) / STEP][(i + 3) % STEP], two);
            to[k] = __byte_perm(low, high, 0x5410);
        }
    }
    /* With the border's value, whose words are the same again after at most three. */
    __device__ __forceinline__ void fill(const tamis_input<uint8_t> &in)
    {
        const int period = STEP == 3 ? 3 : 1, row_words = WIDTH * STEP / 4;
        unsigned words[period];
#pragma unroll
        for (int k = 0; k < period; k++) {
            words[k] = 0;
#pragma unroll
            for (int c = 0; c < 4; c++)
                words[k] |= (unsigned)(uint8_t)in.outside[(4 * k + c) % STEP] << 8 * c;
        }
        for (int i = threadIdx.x; i < HEIGHT * row_words; i += THREADS) {
            int row = i / row_words, k = i - row * row_words, m = k % period;
            unsigned v = period == 1 || m == 0 ? words[0] : words[m == 1 ? 1 : period - 1];
            ((unsigned *)(data + row * PITCH))[k] = v;
        }
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

/* Pixel k of a thread, counted from its first. */
static __device__ __forceinline__ int across_of(int k)
{
    return k % RUN;
}
static __device__ __forceinline__ int down_of(int k)
{
    return 4 * WARPS * (k / RUN);
}

/* Where a thread's pixels lie: rounded to 2^-14. An affine map is followed, others are looked up
 * once. */
template <bool AFFINE> struct places {
    const warp_position *starts; /* from the row of the first on */
    int64_t first_x, first_y, x, y, step_x, step_y;

    /* By one warp, which has a row of the tile in each lane. */
    static __device__ __forceinline__ reach find(const args &a, const tile &t,
                                                 warp_position *starts)
    {
        reach r = nothing();
        int lane = (int)threadIdx.x;
        int64_t before = t.x % WARP_BLOCK, last = WIDTH - 1;
        warp_position p = warp_affine(a.map, t.x - (int)before, t.y + lane);
        p.x += ROUND + before * a.map.step_x;
        p.y += ROUND + before * a.map.step_y;
        starts[lane] = p;
        r.add((int)(p.x >> 32), (int)(p.y >> 32));
        r.add((int)((p.x + last * a.map.step_x) >> 32), (int)((p.y + last * a.map.step_y) >> 32));
        r.exchange();
        return r;
    }
    __device__ __forceinline__ void begin(const args &a, const warp_position *rows)
    {
        starts = rows;
        x = y = 0;
        step_x = a.map.step_x;
        step_y = a.map.step_y;
        first_x = (int)(threadIdx.x % 8) * RUN * step_x;
        first_y = (int)(threadIdx.x % 8) * RUN * step_y;
    }
    __device__ __forceinline__ void move(int dx, int dy)
    {
        first_x -= (int64_t)dx << 32;
        first_y -= (int64_t)dy << 32;
    }
    /* One after the other. */
    __device__ __forceinline__ void get(int k, place &p)
    {
        if (k % RUN == 0) {
            x = starts[down_of(k)].x + first_x;
            y = starts[down_of(k)].y + first_y;
        }
        p = place{(int)(x >> 32), (int)(y >> 32), (uint32_t)x >> 18, (uint32_t)y >> 18};
        x += step_x;
        y += step_y;
    }
};

template <> struct places<false> {
    int x[PIXELS], y[PIXELS];
    unsigned f[PIXELS];

    __device__ __forceinline__ reach find(const args &a, const tile &t, int column, int row)
    {
        reach r = nothing();
#pragma unroll
        for (int k = 0; k < PIXELS; k++) {
            int px = column + across_of(k), py = t.y + row + down_of(k), u, v;
            x[k] = y[k] = 0;
            f[k] = 0;
            if (!t.has(px, py))
                continue;
            warp_position p = warp_position_of(a.map, px, py, warp_position{0, 0});
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
        for (int k = 0; k < PIXELS; k++) {
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
    at.begin(a, all.starts + row);
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
__global__ void __launch_bounds__(THREADS, AFFINE ? 8 : 6) tiles(const __grid_constant__ args a)
{
    TAMIS_SHARED_BYTES(bytes);
    __shared__ common all;
    uint8_t *source = bytes;
    result_of<STEP> result = {bytes + a.room + CHUNK};
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    int lane = threadIdx.x % 32, row = (int)threadIdx.x / 32 * 4 + lane / 8,
        column = lane % 8 * RUN;
    places<AFFINE> at;
    begin<TAPS, STEP>(a, in, column, row, all, at);
    tile t = all.t;
    box b = all.b;
    place p;
    unsigned v[RUN][STEP];
    if (b.blank) {
        result.fill(in);
    } else if (!b.fits) {
#pragma unroll(AFFINE ? 1 : PIXELS)
        for (int k = 0; k < PIXELS; k++) {
            int px = column + across_of(k), py = row + down_of(k);
            at.get(k, p);
            if (!t.has(t.x + px, t.y + py))
                continue;
            value_directly<TAPS, STEP>(a, in, p, v[0]);
            result.put(px, py, v[0], samples<TAPS, STEP>::RESULT);
        }
    } else {
        stage(a, in, b, source);
        at.move(0, b.y + (TAPS / 2 - 1));
        int start = b.start + (TAPS / 2 - 1) * STEP;
        /* Pixels that are not of the part may take other samples, and are not stored. */
        unsigned most = (unsigned)(b.pitch * (b.rows - TAPS + 1) - TAPS * STEP);
        __syncthreads();
#pragma unroll(AFFINE ? 1 : GROUPS)
        for (int first = 0; first < PIXELS; first += RUN) {
#pragma unroll
            for (int k = 0; k < RUN; k++) {
                samples<TAPS, STEP> s;
                at.get(first + k, p);
                unsigned from = (unsigned)(p.y * b.pitch + p.x * STEP - start);
                s.load(source, AFFINE ? from : min(from, most), b.pitch);
                s.value(a, p, v[k]);
            }
            result.template put_run<samples<TAPS, STEP>::RESULT>(column, row + down_of(first), v);
        }
    }
    __syncthreads();
    result.store(a, t);
}

/* ---- launches */

/* Bytes that a tile may want: exact for affine maps, enough for moderate ones else. */
template <int TAPS, int STEP> static int room_wanted(const struct warp_coef *c)
{
    /* Words are read that begin with the last byte. */
    const int most = 46 * 1024 - HEIGHT * result_of<STEP>::PITCH - CHUNK;
    if (c->kind != WARP_AFFINE)
        return most < 6 * WIDTH * HEIGHT * STEP ? most : 6 * WIDTH * HEIGHT * STEP;
    double w = fabs(c->m[0]) * (WIDTH - 1) + fabs(c->m[1]) * (HEIGHT - 1) + 2;
    double h = fabs(c->m[3]) * (WIDTH - 1) + fabs(c->m[4]) * (HEIGHT - 1) + 2;
    if (!(w < most && h < most))
        return 0;
    int64_t columns = (int64_t)w + 1 + TAPS, rows = (int64_t)h + 1 + TAPS;
    int64_t chunks = (columns * STEP + 2 * (CHUNK - 1)) / CHUNK;
    int64_t bytes = pitch_of<STEP>((int)chunks) * rows;
    return bytes < most ? (int)bytes : most;
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
    a.room = room_wanted<TAPS, STEP>(c);
    a.aligned = w->aligned >= 4;
    a.aligned_fours = w->aligned >= 16;
    a.cubic_a = c->cubic_a;
    auto kernel = tiles<TAPS, STEP, AFFINE>;
    size_t shared = (size_t)(HEIGHT * result_of<STEP>::PITCH + a.room + CHUNK);
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
