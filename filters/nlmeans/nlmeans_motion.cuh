/* SPDX-License-Identifier: Apache-2.0 */
/* Motion on a device: where nlmeans_found.h says that blocks are. The current frame and the others,
 * whose blocks have been moved, are copied to scratch memory, around the part as far as its windows
 * reach. The other kernels then see pictures that end there. Coordinates are those of the output.
 */
#ifndef TAMIS_NLMEANS_MOTION_CUH
#define TAMIS_NLMEANS_MOTION_CUH

#include <type_traits>

#include "nlmeans_device.cuh"

namespace
{

enum {
    HUNT_THREADS = 256,
    HUNT_TILE = 32,            /* a side of what a block of threads smooths */
    HUNT_CELLS = 16,           /* cells to each side that a block of threads compares */
    HUNT_OWN = HUNT_CELLS - 3, /* blocks to each side whose windows these are */
    HUNT_RUN = 4               /* pixels that a thread moves */
};

/* Where a block has been found so far. */
struct found {
    short x, y;
    unsigned sum;
};

struct hunt {
    struct args a; /* of the frames as they are */
    int motion, reach;
    float scale, offset;
    tamis_rect region, blocks; /* what is compared; what is copied */
    int blocks_x, blocks_y;
    /* In each picture's scratch: smoothed planes, halved ones behind each; where blocks are, for
     * all frames but the first; moved planes. */
    uint16_t *levels;
    struct found *found;
    char *copies;
    int64_t next;    /* bytes to the next picture */
    int64_t pyramid; /* samples to the next plane's levels */
    int64_t copy;    /* bytes to the next plane's copy */
    size_t bytes;    /* in all */
};

static tamis_rect rect_of(tamis_box b)
{
    return {(int32_t)b.x, (int32_t)b.y, b.w, b.h};
}

/* Where everything of a part lies, from the start of scratch memory on. */
static struct hunt hunt_of(const struct nlmeans_coef *k, tamis_rect part, int frames, int planes,
                           char *scratch)
{
    struct hunt s = {};
    tamis_box blocks = nlmeans_blocks(k, part.x, part.y, part.w, part.h);
    tamis_box region = nlmeans_region(k, blocks);
    s.motion = k->motion;
    s.reach = nlmeans_reach(k);
    s.scale = k->motion_scale;
    s.offset = k->motion_offset;
    s.blocks = rect_of(blocks);
    s.region = rect_of(region);
    s.blocks_x = blocks.w / NLMEANS_BLOCK;
    s.blocks_y = blocks.h / NLMEANS_BLOCK;
    s.pyramid = (int64_t)nlmeans_pyramid_size(region);
    s.copy = (int64_t)blocks.w * blocks.h * (int64_t)k->sample_bytes;
    int64_t places = (int64_t)(frames - 1) * s.blocks_x * s.blocks_y;
    int64_t levels = tamis_tiles(frames * planes * s.pyramid * (int64_t)sizeof(uint16_t), 16) * 16;
    int64_t found = tamis_tiles(places * (int64_t)sizeof(struct found), 16) * 16;
    s.levels = (uint16_t *)scratch;
    s.found = (struct found *)(scratch + levels);
    s.copies = scratch + levels + found;
    s.bytes = (size_t)(levels + found + frames * planes * s.copy);
    return s;
}

/* Plane p of a frame at a level, in the block's picture. */
static __device__ __forceinline__ uint16_t *level_of(const struct hunt &s, int frame, int p,
                                                     int level)
{
    int64_t whole = (int64_t)s.region.w * s.region.h;
    int64_t before = level == 0 ? 0 : level == 1 ? whole : whole + whole / 4;
    return tamis_picture(s.levels, s.next) + (frame * s.a.planes + p) * s.pyramid + before;
}

/* ---- smoothing. Numbers of integer types are no more than 32767, and nothing need be said of
 * differences. */

static __device__ __forceinline__ int apart(int a, int b)
{
    return (short)(a - b);
}

template <typename T> static __device__ __forceinline__ int smoothed(int before, int at, int after)
{
    if constexpr (std::is_same<T, float>::value)
        return (uint16_t)(at + ((apart(before, at) + apart(after, at) + 2) >> 2));
    return (before + 2 * at + after + 2) >> 2;
}

/* The mean of two by two. */
template <typename T>
static __device__ __forceinline__ uint16_t halved(const uint16_t *from, int pitch)
{
    int a = from[0], b = from[1], c = from[pitch], d = from[pitch + 1];
    if constexpr (std::is_same<T, float>::value)
        return (uint16_t)(a + ((apart(b, a) + apart(c, a) + apart(d, a) + 2) >> 2));
    return (uint16_t)((a + b + c + d + 2) >> 2);
}

template <typename T>
static __device__ __forceinline__ uint16_t number_of(const struct hunt &s, T v)
{
    float t = __fmul_rn((float)v, s.scale);
    if constexpr (std::is_same<T, float>::value) {
        t = t > -(float)NLMEANS_FAR ? t : -(float)NLMEANS_FAR; /* NaN too */
        t = t < (float)NLMEANS_FAR ? t : (float)NLMEANS_FAR;
    }
    return (uint16_t)(int)__fadd_rn(t, s.offset);
}

/* A tile and a pixel all around it. */
typedef uint16_t staged[HUNT_TILE + 2][HUNT_TILE + 2];

/* In the picture; from its first pixel on. */
template <typename T>
static __device__ __forceinline__ void stage_inside(const struct hunt &s, const char *corner,
                                                    int64_t stride, staged &to)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T *row = (const T *)(corner + warp * stride);
    int64_t down = stride * (HUNT_THREADS / 32);
#pragma unroll
    for (int y = warp; y < HUNT_TILE + 2;
         y += HUNT_THREADS / 32, row = (const T *)((const char *)row + down))
        to[y][lane] = number_of(s, row[(int64_t)lane * s.a.pitch]);
    int y = threadIdx.x / 2, x = HUNT_TILE + threadIdx.x % 2; /* what 32 lanes left */
    if (y < HUNT_TILE + 2)
        to[y][x] = number_of(s, ((const T *)(corner + y * stride))[(int64_t)x * s.a.pitch]);
}

/* As far as the region with a pixel around it goes; (x0, y0) is the tile's corner in the region. */
template <typename T>
static __device__ __forceinline__ void stage_numbers(const struct hunt &s, int frame, int p, int x0,
                                                     int y0, staged &to)
{
    const struct picture &f = s.a.frame[frame];
    int left = s.region.x + x0 - 1 + s.a.shift_x, top = s.region.y + y0 - 1 + s.a.shift_y;
    int columns = min(HUNT_TILE + 2, s.region.w + 2 - x0);
    int rows = min(HUNT_TILE + 2, s.region.h + 2 - y0);
    if (left >= 0 && left + HUNT_TILE + 2 <= s.a.w && top >= 0 && top + HUNT_TILE + 2 <= s.a.h &&
        columns == HUNT_TILE + 2 && rows == HUNT_TILE + 2) {
        const T *row = (const T *)row_of(s.a, f, p, top) + (int64_t)left * s.a.pitch;
        stage_inside<T>(s, (const char *)row, f.stride[p], to);
        return;
    }
    for (int y = (int)threadIdx.x / 32; y < rows; y += HUNT_THREADS / 32)
        for (int x = threadIdx.x % 32; x < columns; x += 32)
            to[y][x] = number_of(s, tamis_sample<T>::of(sample(s.a, f, p, left + x, top + y)));
}

/* All levels of a tile; y of the grid is frame and plane. */
template <typename T>
__global__ void __launch_bounds__(HUNT_THREADS) fill(const __grid_constant__ struct hunt s)
{
    __shared__ staged numbers;
    __shared__ uint16_t level[2][HUNT_TILE][HUNT_TILE];
    enum { ROWS = HUNT_TILE * HUNT_TILE / HUNT_THREADS };
    int tiles = (s.region.w + HUNT_TILE - 1) / HUNT_TILE;
    int x0 = (int)(blockIdx.x % tiles) * HUNT_TILE, y0 = (int)(blockIdx.x / tiles) * HUNT_TILE;
    int frame = blockIdx.y / s.a.planes, p = blockIdx.y % s.a.planes;
    stage_numbers<T>(s, frame, p, x0, y0, numbers);
    __syncthreads();

    int x = threadIdx.x % HUNT_TILE, first = (int)(threadIdx.x / HUNT_TILE) * ROWS;
    int line[ROWS + 2];
    for (int i = 0; i < ROWS + 2; i++) {
        const uint16_t *n = &numbers[first + i][x];
        line[i] = smoothed<T>(n[0], n[1], n[2]);
    }
    uint16_t *out = level_of(s, frame, p, 0);
    for (int i = 0; i < ROWS; i++) {
        int y = first + i, v = smoothed<T>(line[i], line[i + 1], line[i + 2]);
        level[0][y][x] = (uint16_t)v;
        if (x0 + x < s.region.w && y0 + y < s.region.h)
            out[(int64_t)(y0 + y) * s.region.w + x0 + x] = (uint16_t)v;
    }
    for (int l = 1; l < NLMEANS_LEVELS; l++) {
        int side = HUNT_TILE >> l, w = s.region.w >> l, i = threadIdx.x;
        int u = i % side, y = i / side, to_x = (x0 >> l) + u, to_y = (y0 >> l) + y;
        __syncthreads();
        if (y >= side)
            continue;
        uint16_t v = halved<T>(&level[(l - 1) % 2][2 * y][2 * u], HUNT_TILE);
        level[l % 2][y][u] = v;
        if (to_x < w && to_y < s.region.h >> l)
            level_of(s, frame, p, l)[(int64_t)to_y * w + to_x] = v;
    }
}

/* ---- search. Words have two numbers, the left one below; sums of words, one of each. */

static __device__ __forceinline__ unsigned add_numbers(unsigned a, unsigned b)
{
    return __viaddmin_u16x2(a, b, 0xffffffff);
}

/* Two numbers of the current frame: a number b of another differs by the lesser of a + 1 + ~b and
 * b - a, where these are counted as what they are modulo 65536. */
struct own {
    unsigned next, minus;
};

static __device__ __forceinline__ struct own own_of(unsigned a)
{
    return {add_numbers(a, 0x00010001), add_numbers(~a, 0x00010001)};
}

static __device__ __forceinline__ void add_unlike(unsigned *sum, struct own a, unsigned b,
                                                  unsigned not_b)
{
    const unsigned most = NLMEANS_UNLIKE * 0x00010001;
    *sum += __viaddmin_u16x2(b, a.minus, __viaddmin_u16x2(not_b, a.next, most));
}

static __device__ __forceinline__ unsigned word_at(const uint16_t *p)
{
    return *(const unsigned *)p;
}

static __device__ __forceinline__ unsigned sum_of_warp(unsigned sum)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffff, sum);
#else
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
#endif
}

static __device__ __forceinline__ unsigned sum_of_words(unsigned sum)
{
    return sum_of_warp((sum & 0xffff) + (sum >> 16));
}

/* Samples from a level's corner to the window of a block whose corner is (x, y) of the region. */
static __device__ __forceinline__ int64_t window_at(const struct hunt &s, int level, int x, int y)
{
    int side = level ? NLMEANS_BLOCK : 2 * NLMEANS_BLOCK;
    int shift = NLMEANS_BLOCK / 2 - side / 2 * (1 << level);
    return (int64_t)((y + shift) >> level) * (s.region.w >> level) + ((x + shift) >> level);
}

/* A cell of four by four pixels of the highest level. */
static __device__ __forceinline__ unsigned unlike_cell(const struct hunt &s, int frame, int64_t at,
                                                       int64_t vector)
{
    int w = s.region.w >> (NLMEANS_LEVELS - 1);
    unsigned sum = 0;
    for (int p = 0; p < s.a.planes; p++) {
        const uint16_t *a = level_of(s, 0, p, NLMEANS_LEVELS - 1) + at;
        const uint16_t *b = level_of(s, frame, p, NLMEANS_LEVELS - 1) + at + vector;
#pragma unroll
        for (int y = 0; y < 4; y++)
#pragma unroll
            for (int x = 0; x < 4; x += 2) {
                unsigned other = word_at(b + y * w + x);
                add_unlike(&sum, own_of(word_at(a + y * w + x)), other, ~other);
            }
    }
    return (sum & 0xffff) + (sum >> 16);
}

/* Steps of two pixels on the highest level. Windows of neighbors have cells in common, each of
 * which is compared once: a thread has a cell, and the block whose window it begins. y of the grid
 * is the frame, from the second on. */
__global__ void __launch_bounds__(HUNT_THREADS) find_far(const __grid_constant__ struct hunt s)
{
    __shared__ unsigned sums[2][HUNT_CELLS][HUNT_CELLS];
    int tiles = (s.blocks_x + HUNT_OWN - 1) / HUNT_OWN, frame = blockIdx.y + 1;
    int cell_x = threadIdx.x % HUNT_CELLS, cell_y = threadIdx.x / HUNT_CELLS;
    int x = (int)(blockIdx.x % tiles) * HUNT_OWN + cell_x;
    int y = (int)(blockIdx.x / tiles) * HUNT_OWN + cell_y;
    bool is_cell = x < s.blocks_x + 3 && y < s.blocks_y + 3;
    bool is_own = cell_x < HUNT_OWN && cell_y < HUNT_OWN && x < s.blocks_x && y < s.blocks_y;
    int64_t at =
        window_at(s, NLMEANS_LEVELS - 1, s.reach + x * NLMEANS_BLOCK, s.reach + y * NLMEANS_BLOCK);
    int w = s.region.w >> (NLMEANS_LEVELS - 1), side = 2 * s.motion + 1, far = 2 * s.motion;
    struct found best = {0, 0, 0xffffffff};
    for (int i = -1; i < side * side; i++) { /* no motion first */
        int vx = i < 0 ? 0 : i % side * 2 - far, vy = i < 0 ? 0 : i / side * 2 - far;
        unsigned sum = is_cell ? unlike_cell(s, frame, at, (int64_t)vy * w + vx) : 0;
        sum += __shfl_down_sync(0xffffffff, sum, 1, HUNT_CELLS);
        sum += __shfl_down_sync(0xffffffff, sum, 2, HUNT_CELLS);
        unsigned(*across)[HUNT_CELLS] = sums[i & 1]; /* the last one's may still be read */
        across[cell_y][cell_x] = sum;
        __syncthreads();
        if (!is_own)
            continue;
        sum = across[cell_y][cell_x] + across[cell_y + 1][cell_x] + across[cell_y + 2][cell_x] +
              across[cell_y + 3][cell_x];
        if (sum < best.sum)
            best = {(short)vx, (short)vy, sum};
    }
    int64_t count = (int64_t)s.blocks_x * s.blocks_y;
    if (is_own)
        tamis_picture(s.found, s.next)[(frame - 1) * count + (int64_t)y * s.blocks_x + x] = best;
}

/* Windows of SIDE x SIDE numbers: a lane has two columns, and as many rows as all need. */
template <int SIDE> struct lanes {
    enum { ACROSS = SIDE / 2, ROWS = SIDE / (32 / ACROSS) };

    static __device__ __forceinline__ int64_t corner(int w)
    {
        int lane = threadIdx.x % 32;
        return (int64_t)(lane / ACROSS * ROWS) * w + lane % ACROSS * 2;
    }
};

/* Of the other frame's window at b and its eight neighbors, each row of which meets three of the
 * current frame's. */
template <int SIDE>
static __device__ __forceinline__ void add_around(const uint16_t *a, const uint16_t *b, int w,
                                                  unsigned *sums)
{
    enum { ROWS = lanes<SIDE>::ROWS };
    struct own before = {}, now = {}, after = {};
    b -= w + 1;
#pragma unroll 1
    for (int y = -1; y <= ROWS; y++, a += w, b += w) {
        unsigned n0 = b[0], n1 = b[1], n2 = b[2], n3 = b[3];
        unsigned other[3] = {n0 | n1 << 16, n1 | n2 << 16, n2 | n3 << 16};
        unsigned not_other[3] = {~other[0], ~other[1], ~other[2]};
        before = now;
        now = after;
        if (y + 1 < ROWS) {
            after = own_of(word_at(a));
            for (int x = 0; x < 3; x++)
                add_unlike(&sums[x], after, other[x], not_other[x]);
        }
        if (y >= 0 && y < ROWS)
            for (int x = 0; x < 3; x++)
                add_unlike(&sums[3 + x], now, other[x], not_other[x]);
        if (y >= 1)
            for (int x = 0; x < 3; x++)
                add_unlike(&sums[6 + x], before, other[x], not_other[x]);
    }
}

/* The best of v and its eight neighbors, and of no motion, the first where some are as good; from
 * the best so far on. */
template <int SIDE>
static __device__ __forceinline__ void try_around(const struct hunt &s, int frame, int level,
                                                  int64_t at, int vx, int vy, struct found *best)
{
    int w = s.region.w >> level;
    unsigned sums[9] = {};
    at += lanes<SIDE>::corner(w);
    for (int p = 0; p < s.a.planes; p++)
        add_around<SIDE>(level_of(s, 0, p, level) + at,
                         level_of(s, frame, p, level) + at + (int64_t)vy * w + vx, w, sums);
#pragma unroll
    for (int i = 0; i < 9; i++) {
        unsigned sum = sum_of_words(sums[i]);
        if (sum < best->sum)
            *best = {(short)(vx + i % 3 - 1), (short)(vy + i / 3 - 1), sum};
    }
}

template <int SIDE>
static __device__ __forceinline__ struct found no_motion(const struct hunt &s, int frame, int level,
                                                         int64_t at)
{
    int w = s.region.w >> level;
    unsigned sum = 0;
    at += lanes<SIDE>::corner(w);
    for (int p = 0; p < s.a.planes; p++) {
        const uint16_t *a = level_of(s, 0, p, level) + at, *b = level_of(s, frame, p, level) + at;
#pragma unroll 4
        for (int y = 0; y < lanes<SIDE>::ROWS; y++) {
            unsigned other = word_at(b + y * w);
            add_unlike(&sum, own_of(word_at(a + y * w)), other, ~other);
        }
    }
    return {0, 0, sum_of_words(sum)};
}

/* A warp has a block. y of the grid is the frame, from the second on. */
__global__ void __launch_bounds__(HUNT_THREADS) find_near(const __grid_constant__ struct hunt s)
{
    int64_t block = (int64_t)blockIdx.x * (HUNT_THREADS / 32) + threadIdx.x / 32;
    int64_t count = (int64_t)s.blocks_x * s.blocks_y;
    int frame = blockIdx.y + 1;
    if (block >= count)
        return;
    int x = (int)(block % s.blocks_x) * NLMEANS_BLOCK + s.reach;
    int y = (int)(block / s.blocks_x) * NLMEANS_BLOCK + s.reach;
    struct found *place = tamis_picture(s.found, s.next) + (frame - 1) * count + block;
    struct found best = *place;
    try_around<NLMEANS_BLOCK>(s, frame, 2, window_at(s, 2, x, y), best.x, best.y, &best);
    int vx = 2 * best.x, vy = 2 * best.y;
    best = no_motion<NLMEANS_BLOCK>(s, frame, 1, window_at(s, 1, x, y));
    try_around<NLMEANS_BLOCK>(s, frame, 1, window_at(s, 1, x, y), vx, vy, &best);
    vx = 2 * best.x, vy = 2 * best.y;
    best = no_motion<2 * NLMEANS_BLOCK>(s, frame, 0, window_at(s, 0, x, y));
    try_around<2 * NLMEANS_BLOCK>(s, frame, 0, window_at(s, 0, x, y), vx, vy, &best);
    __syncwarp(); /* all have read it */
    if (threadIdx.x % 32 == 0)
        *place = best;
}

/* ---- moving */

template <typename T>
static __device__ __forceinline__ void move_run(const struct hunt &s, const struct picture &f,
                                                int p, int u, int v, T *to)
{
    struct alignas(HUNT_RUN * sizeof(T)) run {
        T sample[HUNT_RUN];
    } r;
    bool inside = u >= 0 && u + HUNT_RUN <= s.a.w && v >= 0 && v < s.a.h;
    const T *row = inside ? (const T *)row_of(s.a, f, p, v) : nullptr;
    for (int i = 0; i < HUNT_RUN; i++)
        r.sample[i] = inside ? row[(int64_t)(u + i) * s.a.pitch]
                             : tamis_sample<T>::of(sample(s.a, f, p, u + i, v));
    *(struct run *)to = r;
}

/* y of the grid is frame and plane; the first frame's blocks stay. */
template <typename T>
__global__ void __launch_bounds__(HUNT_THREADS) move_blocks(const __grid_constant__ struct hunt s)
{
    int64_t i = (int64_t)blockIdx.x * HUNT_THREADS + threadIdx.x;
    int runs = s.blocks.w / HUNT_RUN, x = (int)(i % runs) * HUNT_RUN, y = (int)(i / runs);
    int frame = blockIdx.y / s.a.planes, p = blockIdx.y % s.a.planes;
    if (y >= s.blocks.h)
        return;
    struct found v = {};
    if (frame > 0) {
        int64_t block = (int64_t)(y / NLMEANS_BLOCK) * s.blocks_x + x / NLMEANS_BLOCK;
        int64_t count = (int64_t)s.blocks_x * s.blocks_y;
        v = tamis_picture(s.found, s.next)[(frame - 1) * count + block];
    }
    T *to = (T *)(tamis_picture(s.copies, s.next) + (frame * s.a.planes + p) * s.copy);
    move_run(s, s.a.frame[frame], p, s.blocks.x + x + v.x + s.a.shift_x,
             s.blocks.y + y + v.y + s.a.shift_y, to + (int64_t)y * s.blocks.w + x);
}

/* ---- launches */

/* From now on a's frames are the copies. */
static void see_copies(const struct hunt *s, struct args *a)
{
    for (int f = 0; f < a->frames; f++)
        for (int p = 0; p < a->planes; p++) {
            a->frame[f].data[p] = s->copies + (f * a->planes + p) * s->copy;
            a->frame[f].stride[p] = s->copy / s->blocks.h;
        }
    a->next = s->next;
    a->pitch = 1;
    a->w = s->blocks.w;
    a->h = s->blocks.h;
    a->shift_x = -s->blocks.x;
    a->shift_y = -s->blocks.y;
    a->border = TAMIS_BORDER_REPLICATE; /* of what nobody uses */
}

template <typename T> static void launch_motion(const tamis_gpu_work *w, const struct hunt *s)
{
    int others = s->a.frames - 1, all = s->a.frames * s->a.planes;
    int64_t blocks = (int64_t)s->blocks_x * s->blocks_y;
    int64_t runs = (int64_t)(s->blocks.w / HUNT_RUN) * s->blocks.h;
    TAMIS_LAUNCH(fill<T>,
                 tamis_grid(w, tamis_tiles(s->region.w, HUNT_TILE),
                            tamis_tiles(s->region.h, HUNT_TILE), all),
                 HUNT_THREADS, 0, w->stream, *s);
    TAMIS_LAUNCH(find_far,
                 tamis_grid(w, tamis_tiles(s->blocks_x, HUNT_OWN),
                            tamis_tiles(s->blocks_y, HUNT_OWN), others),
                 HUNT_THREADS, 0, w->stream, *s);
    TAMIS_LAUNCH(find_near, tamis_grid(w, tamis_tiles(blocks * 32, HUNT_THREADS), 1, others),
                 HUNT_THREADS, 0, w->stream, *s);
    TAMIS_LAUNCH(move_blocks<T>, tamis_grid(w, tamis_tiles(runs, HUNT_THREADS), 1, all),
                 HUNT_THREADS, 0, w->stream, *s);
}

/* For frames that have others around. */
static tamis_status follow(const tamis_gpu_work *w, const struct nlmeans_coef *k, struct args *a,
                           tamis_gpu_fault *fault)
{
    struct hunt s = hunt_of(k, w->part, a->frames, a->planes, (char *)w->scratch);
    s.a = *a;
    s.next = w->scratch_next;
    switch (a->type) {
    case TAMIS_U8:
        launch_motion<uint8_t>(w, &s);
        break;
    case TAMIS_U16:
        launch_motion<uint16_t>(w, &s);
        break;
    case TAMIS_S16:
        launch_motion<int16_t>(w, &s);
        break;
    default:
        launch_motion<float>(w, &s);
    }
    see_copies(&s, a);
    return tamis_cuda_launched("nlmeans motion", fault);
}

} // namespace

#endif
