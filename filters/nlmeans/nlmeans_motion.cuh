/* SPDX-License-Identifier: Apache-2.0 */
/* Motion, as nlmeans_motion.h has it, on a device: the current frame and the others, whose blocks
 * have been moved, are copied to scratch memory, around the part as far as its windows reach. The
 * other kernels then see pictures that end there. Coordinates are those of the output. */
#ifndef TAMIS_NLMEANS_MOTION_CUH
#define TAMIS_NLMEANS_MOTION_CUH

#include "nlmeans_device.cuh"

namespace
{

enum { HUNT_THREADS = 256, HUNT_ROWS = 8 /* of a thread that smooths */ };

struct vector {
    short x, y;
};

struct hunt {
    struct args a; /* of the frames as they are */
    int motion, reach;
    float scale, offset;
    tamis_rect region, moved; /* what is compared; what is copied */
    int blocks_x, blocks_y;   /* that touch the latter */
    /* In each picture's scratch: smoothed planes, halved ones behind each; where blocks are, for
     * all frames but the first; moved planes. */
    uint16_t *levels;
    struct vector *vectors;
    char *copies;
    int64_t next;    /* bytes to the next picture */
    int64_t pyramid; /* samples to the next plane's levels */
    int64_t copy;    /* bytes to the next plane's copy */
    size_t bytes;    /* in all */
};

/* Where everything of a part lies, from the start of scratch memory on. */
static struct hunt hunt_of(const struct nlmeans_coef *k, tamis_rect part, int frames, int planes,
                           char *scratch)
{
    struct hunt s = {};
    int mx = k->sx + k->px, my = k->sy + k->py;
    s.motion = k->motion;
    s.reach = nlmeans_reach(k);
    s.scale = k->motion_scale;
    s.offset = k->motion_offset;
    s.moved.x = part.x - mx;
    s.moved.y = part.y - my;
    s.moved.w = part.w + 2 * mx;
    s.moved.h = part.h + 2 * my;
    tamis_box blocks = nlmeans_blocks(k, part.x, part.y, part.w, part.h);
    tamis_box region = nlmeans_region(k, blocks);
    s.blocks_x = blocks.w / NLMEANS_BLOCK;
    s.blocks_y = blocks.h / NLMEANS_BLOCK;
    s.region = {(int32_t)region.x, (int32_t)region.y, region.w, region.h};
    s.pyramid = (int64_t)nlmeans_pyramid_size(region);
    s.copy = (int64_t)s.moved.w * s.moved.h * (int64_t)k->sample_bytes;
    int64_t vectors = (int64_t)(frames - 1) * s.blocks_x * s.blocks_y;
    int64_t levels = tamis_tiles(frames * planes * s.pyramid * (int64_t)sizeof(uint16_t), 16) * 16;
    int64_t places = tamis_tiles(vectors * (int64_t)sizeof(struct vector), 16) * 16;
    s.levels = (uint16_t *)scratch;
    s.vectors = (struct vector *)(scratch + levels);
    s.copies = scratch + levels + places;
    s.bytes = (size_t)(levels + places + frames * planes * s.copy);
    return s;
}

/* ---- smoothing */

static __device__ __forceinline__ int apart(int a, int b)
{
    return (short)(a - b);
}

static __device__ __forceinline__ int number_at(const struct hunt &s, int frame, int p, int x,
                                                int y)
{
    float v = sample(s.a, s.a.frame[frame], p, x + s.a.shift_x, y + s.a.shift_y);
    float t = __fmul_rn(v, s.scale);
    t = t > -(float)NLMEANS_FAR ? t : -(float)NLMEANS_FAR; /* NaN too */
    t = t < (float)NLMEANS_FAR ? t : (float)NLMEANS_FAR;
    return (int)__fadd_rn(t, s.offset);
}

static __device__ __forceinline__ int smoothed(int before, int at, int after)
{
    return at + ((apart(before, at) + apart(after, at) + 2) >> 2);
}

static __device__ __forceinline__ int smooth_along(const struct hunt &s, int frame, int p, int x,
                                                   int y)
{
    return smoothed(number_at(s, frame, p, x - 1, y), number_at(s, frame, p, x, y),
                    number_at(s, frame, p, x + 1, y));
}

/* Plane p of a frame at a level, in the block's picture. */
static __device__ __forceinline__ uint16_t *level_of(const struct hunt &s, int frame, int p,
                                                     int level)
{
    int64_t whole = (int64_t)s.region.w * s.region.h;
    int64_t before = level == 0 ? 0 : level == 1 ? whole : whole + whole / 4;
    return tamis_picture(s.levels, s.next) + (frame * s.a.planes + p) * s.pyramid + before;
}

/* A thread has a column of HUNT_ROWS rows; y of the grid is frame and plane. */
__global__ void __launch_bounds__(HUNT_THREADS) smooth(const __grid_constant__ struct hunt s)
{
    int64_t i = (int64_t)blockIdx.x * HUNT_THREADS + threadIdx.x;
    int x = (int)(i % s.region.w), y0 = (int)(i / s.region.w) * HUNT_ROWS;
    int frame = blockIdx.y / s.a.planes, p = blockIdx.y % s.a.planes;
    if (y0 >= s.region.h)
        return;
    uint16_t *out = level_of(s, frame, p, 0) + x;
    int above = smooth_along(s, frame, p, s.region.x + x, s.region.y + y0 - 1);
    int now = smooth_along(s, frame, p, s.region.x + x, s.region.y + y0);
    for (int y = y0; y < y0 + HUNT_ROWS; y++) {
        int below = smooth_along(s, frame, p, s.region.x + x, s.region.y + y + 1);
        out[(int64_t)y * s.region.w] = (uint16_t)smoothed(above, now, below);
        above = now;
        now = below;
    }
}

__global__ void __launch_bounds__(HUNT_THREADS)
    halve(const __grid_constant__ struct hunt s, int level)
{
    int64_t i = (int64_t)blockIdx.x * HUNT_THREADS + threadIdx.x;
    int w = s.region.w >> level, h = s.region.h >> level;
    int x = (int)(i % w), y = (int)(i / w);
    int frame = blockIdx.y / s.a.planes, p = blockIdx.y % s.a.planes;
    if (y >= h)
        return;
    const uint16_t *from = level_of(s, frame, p, level - 1) + (int64_t)2 * y * 2 * w + 2 * x;
    int sum =
        apart(from[1], from[0]) + apart(from[2 * w], from[0]) + apart(from[2 * w + 1], from[0]);
    level_of(s, frame, p, level)[i] = (uint16_t)(from[0] + ((sum + 2) >> 2));
}

/* ---- search: a warp has a block */

struct found {
    int x, y;
    unsigned sum;
};

/* The lanes have columns of the windows, whose upper rows go to the first half of them where
 * windows are narrower than a warp. */
static __device__ __forceinline__ unsigned unlike(const uint16_t *a, const uint16_t *b, int pitch,
                                                  int side)
{
    int lane = threadIdx.x % 32, at_once = 32 / side;
    int64_t begin = (int64_t)(lane / side) * pitch + lane % side;
    unsigned sum = 0;
    for (int y = 0; y < side; y += at_once) {
        int64_t i = begin + (int64_t)y * pitch;
        sum += (unsigned)min(abs(apart(a[i], b[i])), (int)NLMEANS_UNLIKE);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
}

/* (x, y) is the corner of the block, counted from the region's. */
static __device__ __forceinline__ void try_vector(const struct hunt &s, int frame, int level, int x,
                                                  int y, int vx, int vy, struct found *best)
{
    int side = level ? NLMEANS_BLOCK : 2 * NLMEANS_BLOCK, w = s.region.w >> level;
    int shift = NLMEANS_BLOCK / 2 - side / 2 * (1 << level);
    int64_t at = (int64_t)((y + shift) >> level) * w + ((x + shift) >> level);
    unsigned sum = 0;
    for (int p = 0; p < s.a.planes; p++)
        sum += unlike(level_of(s, 0, p, level) + at,
                      level_of(s, frame, p, level) + at + (int64_t)vy * w + vx, w, side);
    if (sum < best->sum)
        *best = {vx, vy, sum};
}

static __device__ __forceinline__ void try_around(const struct hunt &s, int frame, int level, int x,
                                                  int y, int vx, int vy, struct found *best)
{
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            try_vector(s, frame, level, x, y, vx + dx, vy + dy, best);
}

/* y of the grid is the frame, from the second on. */
__global__ void __launch_bounds__(HUNT_THREADS) find_blocks(const __grid_constant__ struct hunt s)
{
    int64_t block = (int64_t)blockIdx.x * (HUNT_THREADS / 32) + threadIdx.x / 32;
    int64_t count = (int64_t)s.blocks_x * s.blocks_y;
    int frame = blockIdx.y + 1, far = 2 * s.motion;
    if (block >= count)
        return;
    int x = (int)(block % s.blocks_x) * NLMEANS_BLOCK + s.reach;
    int y = (int)(block / s.blocks_x) * NLMEANS_BLOCK + s.reach;
    struct found best = {0, 0, 0xffffffff};
    try_vector(s, frame, NLMEANS_LEVELS - 1, x, y, 0, 0, &best);
    for (int dy = -far; dy <= far; dy += 2)
        for (int dx = -far; dx <= far; dx += 2)
            try_vector(s, frame, NLMEANS_LEVELS - 1, x, y, dx, dy, &best);
    try_around(s, frame, NLMEANS_LEVELS - 1, x, y, best.x, best.y, &best);
    for (int level = NLMEANS_LEVELS - 2; level >= 0; level--) {
        int coarse_x = 2 * best.x, coarse_y = 2 * best.y;
        best = {0, 0, 0xffffffff};
        try_vector(s, frame, level, x, y, 0, 0, &best);
        try_around(s, frame, level, x, y, coarse_x, coarse_y, &best);
    }
    if (threadIdx.x % 32 == 0)
        tamis_picture(s.vectors, s.next)[(frame - 1) * count + block] = {(short)best.x,
                                                                         (short)best.y};
}

/* ---- moving */

/* y of the grid is frame and plane; the first frame's blocks stay. */
__global__ void __launch_bounds__(HUNT_THREADS) move_blocks(const __grid_constant__ struct hunt s)
{
    int64_t i = (int64_t)blockIdx.x * HUNT_THREADS + threadIdx.x;
    int x = (int)(i % s.moved.w) + s.moved.x, y = (int)(i / s.moved.w) + s.moved.y;
    int frame = blockIdx.y / s.a.planes, p = blockIdx.y % s.a.planes;
    if (y >= s.moved.y + s.moved.h)
        return;
    struct vector v = {0, 0};
    if (frame > 0) {
        int64_t block = (int64_t)((y - s.region.y - s.reach) / NLMEANS_BLOCK) * s.blocks_x +
                        (x - s.region.x - s.reach) / NLMEANS_BLOCK;
        v = tamis_picture(s.vectors,
                          s.next)[(int64_t)(frame - 1) * s.blocks_x * s.blocks_y + block];
    }
    float value = sample(s.a, s.a.frame[frame], p, x + v.x + s.a.shift_x, y + v.y + s.a.shift_y);
    store(s.a.type, tamis_picture(s.copies, s.next) + (frame * s.a.planes + p) * s.copy, i, value);
}

/* ---- launches */

/* From now on a's frames are the copies. */
static void see_copies(const struct hunt *s, struct args *a)
{
    for (int f = 0; f < a->frames; f++)
        for (int p = 0; p < a->planes; p++) {
            a->frame[f].data[p] = s->copies + (f * a->planes + p) * s->copy;
            a->frame[f].stride[p] = s->copy / s->moved.h;
        }
    a->next = s->next;
    a->pitch = 1;
    a->w = s->moved.w;
    a->h = s->moved.h;
    a->shift_x = -s->moved.x;
    a->shift_y = -s->moved.y;
    a->border = TAMIS_BORDER_REPLICATE; /* of what nobody uses */
}

/* For frames that have others around. */
static tamis_status follow(const tamis_gpu_work *w, const struct nlmeans_coef *k, struct args *a,
                           tamis_gpu_fault *fault)
{
    struct hunt s = hunt_of(k, w->part, a->frames, a->planes, (char *)w->scratch);
    s.a = *a;
    s.next = w->scratch_next;
    int all = a->frames * a->planes;
    int64_t threads = (int64_t)s.region.w * (s.region.h / HUNT_ROWS);
    TAMIS_LAUNCH(smooth, tamis_grid(w, tamis_tiles(threads, HUNT_THREADS), 1, all), HUNT_THREADS, 0,
                 w->stream, s);
    for (int level = 1; level < NLMEANS_LEVELS; level++) {
        threads = (int64_t)(s.region.w >> level) * (s.region.h >> level);
        TAMIS_LAUNCH(halve, tamis_grid(w, tamis_tiles(threads, HUNT_THREADS), 1, all), HUNT_THREADS,
                     0, w->stream, s, level);
    }
    threads = (int64_t)s.blocks_x * s.blocks_y * 32;
    TAMIS_LAUNCH(find_blocks, tamis_grid(w, tamis_tiles(threads, HUNT_THREADS), 1, a->frames - 1),
                 HUNT_THREADS, 0, w->stream, s);
    threads = (int64_t)s.moved.w * s.moved.h;
    TAMIS_LAUNCH(move_blocks, tamis_grid(w, tamis_tiles(threads, HUNT_THREADS), 1, all),
                 HUNT_THREADS, 0, w->stream, s);
    see_copies(&s, a);
    return tamis_cuda_launched("nlmeans motion", fault);
}

} // namespace

#endif
