/* SPDX-License-Identifier: Apache-2.0 */
/* Affine linear warps of one channel of u8. A block brings what a tile of the result needs of the
 * source to shared memory, each sample with its neighbor to the right in 16 bits, so that a pixel
 * takes two loads, one for each row. A thread makes four pixels side by side, which it stores as a
 * word. */
#include "warp_device.cuh"

/* Other filters have kernels and arithmetic of the same names. */
namespace
{

enum {
    THREADS = 128,
    WIDTH = WARP_BLOCK,
    HEIGHT = 64,
    RUN = 4,   /* pixels of a thread side by side */
    GROUP = 8, /* samples that a thread brings at a time, */
    ACROSS = 16,
    DOWN = THREADS / ACROSS, /* and how threads lie in that */
    ROUND = 1 << 17          /* half of a fraction's step, 2^-14 */
};

struct args {
    tamis_inputs<uint8_t> in;
    tamis_output out;
    struct warp_map map;
    int64_t last_x, last_y; /* from a tile's first column to its last, */
    int64_t half_x, half_y; /* to the one in the middle */
    int tiles;              /* in a row */
    int room;               /* samples in shared memory */
    bool aligned, aligned_groups;
};

/* ---- what a tile reads */

/* Rows of whole groups from column x on. */
struct box {
    int x, y, groups, rows, pitch;
    bool fits, inside, blank;
};

/* An odd number of groups: rows of threads then read other banks than those above. */
static __host__ __device__ __forceinline__ int pitch_of(int groups)
{
    return (groups | 1) * GROUP;
}

/* Positions change monotonously along rows and columns, rounding included: corners are ends. */
static __device__ __forceinline__ box box_of(const args &a, const tamis_input<uint8_t> &in,
                                             const warp_position &top, const warp_position &bottom)
{
    int x[4] = {(int)(top.x >> 32), (int)((top.x + a.last_x) >> 32), (int)(bottom.x >> 32),
                (int)((bottom.x + a.last_x) >> 32)};
    int y[4] = {(int)(top.y >> 32), (int)((top.y + a.last_y) >> 32), (int)(bottom.y >> 32),
                (int)((bottom.y + a.last_y) >> 32)};
    int x0 = min(min(x[0], x[1]), min(x[2], x[3])), x1 = max(max(x[0], x[1]), max(x[2], x[3]));
    int y0 = min(min(y[0], y[1]), min(y[2], y[3])), y1 = max(max(y[0], y[1]), max(y[2], y[3]));
    box b;
    b.x = x0 & ~(GROUP - 1);
    b.y = y0;
    b.groups = (int)((unsigned)(x1 - b.x) / GROUP) + 1;
    b.rows = y1 - y0 + 2;
    b.pitch = pitch_of(b.groups);
    b.fits = (int64_t)x1 - x0 < a.room && (int64_t)y1 - y0 < a.room &&
             (int64_t)b.pitch * b.rows <= a.room;
    b.blank = in.border == TAMIS_BORDER_CONSTANT &&
              (x1 + 1 < 0 || y1 + 1 < 0 || x0 >= in.w || y0 >= in.h);
    /* A group is read with a word behind it. */
    b.inside = a.aligned_groups && b.x >= in.left && y0 >= in.top && y1 + 1 <= in.bottom &&
               b.x + b.groups * GROUP + 4 <= in.right + 1;
    return b;
}

/* Each sample of a word with its neighbor, the first two and the others. */
static __device__ __forceinline__ uint2 pairs_of(unsigned word, unsigned next)
{
    unsigned shifted = __funnelshift_r(word, next, 8);
    return make_uint2(__byte_perm(word, shifted, 0x5140), __byte_perm(word, shifted, 0x7362));
}

static __device__ __forceinline__ void stage_inside(const tamis_input<uint8_t> &in, const box &b,
                                                    uint16_t *source)
{
    const int batch = 4;
    for (int group = threadIdx.x % ACROSS; group < b.groups; group += ACROSS) {
        int row = threadIdx.x / ACROSS;
        const uint8_t *at = in.row(b.y + row) + b.x + group * GROUP;
        const int64_t down = DOWN * in.stride;
        uint16_t *to = source + row * b.pitch + group * GROUP;
#pragma unroll 1
        for (; row < b.rows; row += batch * DOWN, to += batch * DOWN * b.pitch) {
            uint2 words[batch] = {};
            unsigned next[batch] = {};
#pragma unroll
            for (int j = 0; j < batch; j++, at += down)
                if (row + j * DOWN < b.rows) {
                    words[j] = *(const uint2 *)at;
                    next[j] = *(const unsigned *)(at + GROUP);
                }
#pragma unroll
            for (int j = 0; j < batch; j++) {
                uint2 first = pairs_of(words[j].x, words[j].y);
                uint2 second = pairs_of(words[j].y, next[j]);
                if (row + j * DOWN < b.rows)
                    *(uint4 *)(to + j * DOWN * b.pitch) =
                        make_uint4(first.x, first.y, second.x, second.y);
            }
        }
    }
}

/* A column of the source, or the border's value. */
static __device__ __forceinline__ int column_at(const tamis_input<uint8_t> &in, int x)
{
    int u = tamis_index(in.border, x, in.w);
    return u < 0 ? -1 : min(max(u, in.left), in.right);
}

static __device__ __noinline__ void stage_border(const tamis_input<uint8_t> &in, const box &b,
                                                 uint16_t *source)
{
    const int batch = 4;
    const unsigned blank = (uint8_t)in.outside[0];
    for (int c = threadIdx.x; c < b.groups * GROUP; c += THREADS) {
        int u = column_at(in, b.x + c), next = column_at(in, b.x + c + 1);
        uint16_t *to = source + c;
#pragma unroll 1
        for (int row = 0; row < b.rows; row += batch, to += batch * b.pitch) {
            int v[batch];
            unsigned left[batch], right[batch];
            for (int j = 0; j < batch; j++)
                v[j] = tamis_index(in.border, b.y + row + j, in.h);
#pragma unroll
            for (int j = 0; j < batch; j++) {
                const uint8_t *at = in.row(min(max(v[j], in.top), in.bottom));
                left[j] = v[j] < 0 || u < 0 ? blank : at[u];
                right[j] = v[j] < 0 || next < 0 ? blank : at[next];
            }
#pragma unroll
            for (int j = 0; j < batch; j++)
                if (row + j < b.rows)
                    to[j * b.pitch] = (uint16_t)(left[j] | right[j] << 8);
        }
    }
}

/* ---- pixels */

/* Of two samples above and two below, and a position's fractions. */
static __device__ __forceinline__ unsigned between(unsigned above, unsigned below, int64_t x,
                                                   int64_t y)
{
    unsigned w = ((uint32_t)x >> 18) * 65535 + 16384; /* 2^14 - f, and f in the upper half */
    int top = (int)(__dp2a_lo(w, above, 64u) >> 7), bottom = (int)(__dp2a_lo(w, below, 64u) >> 7);
    return (unsigned)(top * 16384 + (1 << 20) + (int)((uint32_t)y >> 18) * (bottom - top)) >> 21;
}

static __device__ __noinline__ unsigned pixel_directly(const tamis_input<uint8_t> &in, int64_t x,
                                                       int64_t y)
{
    int u = (int)(x >> 32), v = (int)(y >> 32);
    unsigned above = in.at(u, v, 0) | (unsigned)in.at(u + 1, v, 0) << 8;
    unsigned below = in.at(u, v + 1, 0) | (unsigned)in.at(u + 1, v + 1, 0) << 8;
    return between(above, below, x, y);
}

/* What a thread has of a tile: four pixels from column x on, in the left half and in the right one,
 * of every fourth row. */
struct target {
    char *row;
    int64_t stride;
    int x, begin, end;
    bool aligned;

    __device__ __forceinline__ void put_word(int at, unsigned word) const
    {
        int from = x + at;
        if (aligned && from >= begin && from + RUN <= end) {
            *(unsigned *)(row + at) = word;
            return;
        }
#pragma unroll 1
        for (int k = 0; k < RUN; k++)
            if (from + k >= begin && from + k < end)
                row[at + k] = (char)(word >> 8 * k);
    }
    __device__ __forceinline__ void put(int at, const unsigned (&v)[RUN]) const
    {
        unsigned low = __byte_perm(v[0], v[1], 0x0040), high = __byte_perm(v[2], v[3], 0x0040);
        put_word(at, __byte_perm(low, high, 0x5410));
    }
};

static __device__ __forceinline__ void run_of(const uint16_t *source, int pitch, const args &a,
                                              int64_t x, int64_t y, unsigned (&v)[RUN])
{
    unsigned above[RUN], below[RUN];
    int64_t px = x, py = y;
#pragma unroll
    for (int k = 0; k < RUN; k++) {
        const uint16_t *at = source + ((int)(py >> 32) * pitch + (int)(px >> 32));
        above[k] = at[0];
        below[k] = at[pitch];
        px += a.map.step_x;
        py += a.map.step_y;
    }
#pragma unroll
    for (int k = 0; k < RUN; k++) {
        v[k] = between(above[k], below[k], x, y);
        x += a.map.step_x;
        y += a.map.step_y;
    }
}

__global__ void __launch_bounds__(THREADS, 8) pairs(const __grid_constant__ args a)
{
    TAMIS_SHARED_BYTES(bytes);
    __shared__ warp_position starts[HEIGHT];
    uint16_t *source = (uint16_t *)bytes;
    const tamis_input<uint8_t> &in = a.in.plane[blockIdx.y];
    unsigned tile_row = blockIdx.x / (unsigned)a.tiles;
    int left = (a.out.x / WIDTH + (int)(blockIdx.x - tile_row * a.tiles)) * WIDTH;
    int top = a.out.y + (int)tile_row * HEIGHT, bottom = a.out.y + a.out.h;
    if (threadIdx.x < HEIGHT) {
        warp_position p = warp_affine(a.map, left, top + (int)threadIdx.x);
        starts[threadIdx.x] = warp_position{p.x + ROUND, p.y + ROUND};
    }
    __syncthreads();
    box b = box_of(a, in, starts[0], starts[HEIGHT - 1]);
    bool staged = b.fits && !b.blank;
    if (staged && b.inside)
        stage_inside(in, b, source);
    else if (staged)
        stage_border(in, b, source);
    __syncthreads();

    int lane = threadIdx.x % 32, column = lane % 8 * RUN;
    int first = threadIdx.x / 32 * (HEIGHT * 32 / THREADS) + lane / 8;
    int64_t x = column * a.map.step_x, y = column * a.map.step_y;
    target to = {a.out.data(blockIdx.y) + (top + first) * a.out.stride[blockIdx.y] + left + column,
                 a.out.stride[blockIdx.y],
                 left + column,
                 a.out.x,
                 a.out.x + a.out.w,
                 a.aligned};
    unsigned v[RUN];
    int end = min(first + HEIGHT * 32 / THREADS, bottom - top);
    if (staged) { /* counted from the box's corner */
        x -= (int64_t)b.x << 32;
        y -= (int64_t)b.y << 32;
#pragma unroll 1
        for (int row = first; row < end; row += 4) {
            warp_position p = starts[row];
            run_of(source, b.pitch, a, p.x + x, p.y + y, v);
            to.put(0, v);
            run_of(source, b.pitch, a, p.x + x + a.half_x, p.y + y + a.half_y, v);
            to.put(WIDTH / 2, v);
            to.row += 4 * to.stride;
        }
        return;
    }
    if (b.blank) {
        const unsigned word = (uint8_t)in.outside[0] * 0x01010101u;
        for (int row = first; row < end; row += 4) {
            to.put_word(0, word);
            to.put_word(WIDTH / 2, word);
            to.row += 4 * to.stride;
        }
        return;
    }
#pragma unroll 1
    for (int i = 2 * first; i < 2 * end; i += i % 2 ? 7 : 1) {
        warp_position p = starts[i / 2];
        p.x += x + i % 2 * a.half_x;
        p.y += y + i % 2 * a.half_y;
#pragma unroll
        for (int k = 0; k < RUN; k++)
            v[k] = pixel_directly(in, p.x + k * a.map.step_x, p.y + k * a.map.step_y);
        to.put(i % 2 * (WIDTH / 2), v);
        to.row += i % 2 * 4 * to.stride;
    }
}

/* Samples that tiles want, at most; 0: more than there is room for. */
static int room_wanted(const struct warp_coef *c)
{
    const int most = 46 * 1024 / (int)sizeof(uint16_t);
    double w = (fabs(c->m[0]) * (WIDTH - 1) + fabs(c->m[1]) * (HEIGHT - 1)) + 2;
    double h = (fabs(c->m[3]) * (WIDTH - 1) + fabs(c->m[4]) * (HEIGHT - 1)) + 3;
    if (!(w < most && h < most))
        return 0;
    int64_t groups = ((int64_t)w + 1 + 2 * (GROUP - 1)) / GROUP;
    int64_t room = (int64_t)pitch_of((int)groups) * ((int64_t)h + 1);
    return room <= most ? (int)room : 0;
}

} // namespace

bool warp_is_pairs(const tamis_gpu_work *w, const struct warp_coef *c)
{
    return c->kind == WARP_AFFINE && c->interp == TAMIS_INTERP_LINEAR && w->step == 1 &&
           w->src_pitch == 1 && room_wanted(c) > 0;
}

tamis_status warp_launch_pairs(const tamis_gpu_work *w, const struct warp_coef *c,
                               tamis_gpu_fault *fault)
{
    args a;
    a.in = tamis_inputs_of<uint8_t>(w);
    a.out = tamis_output_of(w);
    a.map = warp_map_of(w, c);
    a.last_x = (WIDTH - 1) * c->step_x;
    a.last_y = (WIDTH - 1) * c->step_y;
    a.half_x = WIDTH / 2 * c->step_x;
    a.half_y = WIDTH / 2 * c->step_y;
    a.tiles = (w->part.x + w->part.w - 1) / WIDTH - w->part.x / WIDTH + 1;
    a.room = room_wanted(c);
    a.aligned = w->aligned >= RUN;
    a.aligned_groups = w->aligned >= GROUP;
    TAMIS_LAUNCH(pairs, tamis_grid(w, a.tiles, tamis_tiles(w->part.h, HEIGHT), w->planes), THREADS,
                 (size_t)a.room * sizeof(uint16_t), w->stream, a);
    return tamis_cuda_launched("warp pairs", fault);
}
