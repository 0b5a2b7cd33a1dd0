/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the non-local means filter need, made once by its plan function. */
#ifndef TAMIS_NLMEANS_KERNEL_H
#define TAMIS_NLMEANS_KERNEL_H

#include "cpu/kernel.h"

/* Weights of 15 bits from t, a power of two: 2^-t by the bits of t. Each offset of the search
 * window has a phase, and rounds down what has a part (phase + 1/2) / NLMEANS_PHASES of the
 * smallest weight added, the phases being in the order of their reversed bits. */
#define NLMEANS_PHASES 32
typedef struct nlmeans_tables {
    uint16_t power[64]; /* 65535 * 2^(-(i + 1/2) / 64) */
    /* For machines that permute 16-bit lanes: what is added before 1 + e bits are cut off, where
     * e > 15, for a cut of 16 bits. */
    uint16_t threshold[NLMEANS_PHASES][32];
    /* For others: what is taken off before 1 + e bits are cut off and the smallest weight is added,
     * and up to which t it is. Entry i for e = i, and in units of 256 for e = i + 8. */
    uint8_t step[NLMEANS_PHASES][16];
    uint16_t reach[NLMEANS_PHASES];
} nlmeans_tables;

/* 8 bit in 16-bit integers. */
typedef struct nlmeans_levels {
    const nlmeans_tables *tables; /* NULL where these rows do not apply */
    int whole; /* sums are of d^2; t = (sum << shift) * factor / 65536, no weight from limit */
    uint16_t factor; /* else sums are t, and a square d^2 counts (d^2 + round) * factor / 65536 */
    uint16_t round;
    uint16_t shift, limit;
    uint16_t octave; /* bits of t below 1 */
    uint16_t floor;  /* is taken off sums: 2 sigma^2 */
    uint16_t one;    /* the weight of the pixel itself; where it is 2^14, all are halved */
} nlmeans_levels;

typedef struct nlmeans_coef {
    int sx, sy; /* radii of the search window */
    int px, py; /* radii of the patch */
    int frames; /* before and after that are searched as well */
    int motion; /* how far their blocks may have moved, in units of 8 pixels; 0: not sought */
    /* Samples as what is compared then: whole numbers, (v * scale + offset) without its fraction.
     */
    float motion_scale, motion_offset;
    size_t sample_bytes;
    int colors; /* the planes that share a weight; each further one is filtered alone */
    int luma;   /* of these, planes 0 .. 2 are red, green, blue, and d2 is that of their luma */

    /* weight = exp(-max(d2 - floor, 0) * range): floor = 2 sigma^2, range = 1 / h^2. */
    double floor, range;
    /* The same as 2^(log2_floor - log2_range * sum of squares over the patch). */
    float log2_floor, log2_range;

    nlmeans_levels levels;
} nlmeans_coef;

/* Blocks of frames are sought with what surrounds them in the current one, on a picture that is
 * smoothed and halved twice: first in steps of 8 pixels of the picture, then from level to level
 * around what was found. The window has twice a block's side on the picture itself and as many
 * samples as a block has on the levels above. A block may lie 8 * motion + 7 pixels away at most.
 *
 * What is compared are whole numbers modulo 65536: a - b is the number from -32768 to 32767 that
 * has its remainder, and a mean is one of differences from the middle or first number, which is
 * added again. Numbers of integer types stay below 32768, so that they are what they seem; those of
 * floats begin anew every 65536, which nothing that is alike is apart. */
enum {
    NLMEANS_BLOCK = 16,
    NLMEANS_LEVELS = 3,
    NLMEANS_NOISE = 16,    /* of these whole numbers are one h, where the range allows */
    NLMEANS_MOST = 32767,  /* for integer types */
    NLMEANS_UNLIKE = 1023, /* more than this no two samples differ */
    NLMEANS_FAR = 1 << 30  /* floats are taken for no more than this, or less than minus it */
};

/* A plane of a frame, smoothed, and halved twice: pixel (x, y) of level l, counted from the corner
 * of a region, is level[l][y * (w >> l) + x]. */
typedef struct nlmeans_pyramid {
    uint16_t *level[NLMEANS_LEVELS];
} nlmeans_pyramid;

typedef struct nlmeans_vector {
    int x, y;
} nlmeans_vector;

/* Pixels to each side of a block that finding it depends on, smoothing aside; a multiple of 8: on
 * the last level a window goes 24 pixels beyond its block. */
static inline int nlmeans_reach(const nlmeans_coef *k)
{
    return 24 + 8 * k->motion + 8;
}

/* The multiple of a block's side at or before v. */
static inline int nlmeans_block(int v)
{
    return v - ((v % NLMEANS_BLOCK) + NLMEANS_BLOCK) % NLMEANS_BLOCK;
}

/* The blocks that windows around the given pixels of the output see. */
static inline tamis_box nlmeans_blocks(const nlmeans_coef *k, int x, int y, int w, int h)
{
    int mx = k->sx + k->px, my = k->sy + k->py;
    int left = nlmeans_block(x - mx), top = nlmeans_block(y - my);
    tamis_box blocks = {left, top, nlmeans_block(x + w + mx - 1) + NLMEANS_BLOCK - left,
                        nlmeans_block(y + h + my - 1) + NLMEANS_BLOCK - top};
    return blocks;
}

/* With all around them that is compared. */
static inline tamis_box nlmeans_region(const nlmeans_coef *k, tamis_box blocks)
{
    int reach = nlmeans_reach(k);
    tamis_box region = {blocks.x - reach, blocks.y - reach, blocks.w + 2 * reach,
                        blocks.h + 2 * reach};
    return region;
}

/* The most blocks that windows around w x h pixels see. */
static inline tamis_box nlmeans_most_blocks(const nlmeans_coef *k, int w, int h)
{
    return nlmeans_blocks(k, k->sx + k->px + NLMEANS_BLOCK - 1, k->sy + k->py + NLMEANS_BLOCK - 1,
                          w, h);
}

/* Samples of one plane at all levels. */
static inline size_t nlmeans_pyramid_size(tamis_box region)
{
    size_t whole = (size_t)region.w * (size_t)region.h;
    return whole + whole / 4 + whole / 16;
}

static inline nlmeans_pyramid nlmeans_pyramid_at(uint16_t *data, tamis_box region)
{
    size_t whole = (size_t)region.w * (size_t)region.h;
    nlmeans_pyramid pyramid = {{data, data + whole, data + whole + whole / 4}};
    return pyramid;
}

/* Pairs of columns that the windows of so many blocks have on the highest level, and as many more
 * as a vector has. */
static inline size_t nlmeans_pairs(size_t blocks)
{
    return 2 * (blocks + 3) + 16;
}

/* Scratch memory for so many bytes, which begins where a vector may. */
static inline size_t nlmeans_room(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static inline void *nlmeans_take(char **store, size_t bytes)
{
    void *p = *store;
    *store += nlmeans_room(bytes);
    return p;
}

static inline size_t nlmeans_source_rows(const nlmeans_coef *k, int h)
{
    return (size_t)h + 2 * ((size_t)k->sy + (size_t)k->py);
}

/* Columns in the run of each of so many lanes: those of a tile with the margins that the search
 * window and the patch need, and no fewer than either, so that no place is farther away than in the
 * next lane's run. */
static inline int nlmeans_run(const nlmeans_coef *k, int w, int lanes)
{
    size_t columns = (size_t)w + 2 * ((size_t)k->sx + (size_t)k->px), count = (size_t)lanes;
    int run = (int)((columns + count - 1) / count);
    int least = 2 * k->px > k->sx ? 2 * k->px : k->sx;
    return run > least ? run : least;
}

/* Offsets that the rows in 16-bit integers and those in floats take at a time; search windows of 21
 * and 7 have whole groups of the latter. */
#define NLMEANS_GROUP    4
#define NLMEANS_TOGETHER 7

#endif
