/* SPDX-License-Identifier: Apache-2.0 */
/* Motion for the reference: where each block is in each other frame, as tamis/nlmeans.h says it. */
#ifndef TAMIS_NLMEANS_FOUND_H
#define TAMIS_NLMEANS_FOUND_H

#include <stdlib.h>

#include "cpu/sample.h"
#include "nlmeans_kernel.h"

/* Planes that share a weight, or one channel of pixels. */
typedef struct nlmeans_found {
    const nlmeans_coef *coef;
    const tamis_tile *tile;
    tamis_type type;
    int first, count, channel;
    tamis_box blocks, region;
    nlmeans_pyramid now[TAMIS_MAX_CHANNELS], other[TAMIS_MAX_CHANNELS];
    /* Of each frame, for all blocks row by row; the current one's and missing ones' are unused. */
    nlmeans_vector *vectors[2 * TAMIS_MAX_FRAMES + 1];
} nlmeans_found;

/* ---- what is compared */

static inline int found_apart(int a, int b)
{
    return ((a - b + 32768) & 65535) - 32768;
}

static inline uint16_t found_sample(const nlmeans_found *f, const void *const *rows, int x, int y)
{
    ptrdiff_t i = (ptrdiff_t)(x - f->tile->x) * f->tile->step + f->channel;
    float v = (float)tamis_priv_sample_get(f->type, rows[y - f->tile->y], i);
    float t = v * f->coef->motion_scale;
    if (!(t > -(float)NLMEANS_FAR)) /* NaN, too */
        t = -(float)NLMEANS_FAR;
    if (t > (float)NLMEANS_FAR)
        t = (float)NLMEANS_FAR;
    return (uint16_t)(int)(t + f->coef->motion_offset);
}

static inline uint16_t found_smooth(uint16_t before, uint16_t at, uint16_t after)
{
    return (uint16_t)(at + ((found_apart(before, at) + found_apart(after, at) + 2) >> 2));
}

static inline uint16_t found_along(const nlmeans_found *f, const void *const *rows, int x, int y)
{
    return found_smooth(found_sample(f, rows, x - 1, y), found_sample(f, rows, x, y),
                        found_sample(f, rows, x + 1, y));
}

static inline void found_fill(const nlmeans_found *f, const void *const *rows,
                              const nlmeans_pyramid *to)
{
    uint16_t *out = to->level[0];
    for (int y = f->region.y; y < f->region.y + f->region.h; y++)
        for (int x = f->region.x; x < f->region.x + f->region.w; x++)
            *out++ = found_smooth(found_along(f, rows, x, y - 1), found_along(f, rows, x, y),
                                  found_along(f, rows, x, y + 1));
    for (int l = 1; l < NLMEANS_LEVELS; l++) {
        int w = f->region.w >> l, h = f->region.h >> l;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const uint16_t *p = to->level[l - 1] + (ptrdiff_t)2 * y * 2 * w + 2 * x;
                int sum = found_apart(p[1], p[0]) + found_apart(p[2 * w], p[0]) +
                          found_apart(p[2 * w + 1], p[0]);
                to->level[l][(ptrdiff_t)y * w + x] = (uint16_t)(p[0] + ((sum + 2) >> 2));
            }
    }
}

/* ---- where it is */

/* Of the windows around the block whose middle is (x, y) of a level and around where v puts it. */
static inline long found_unlike(const nlmeans_found *f, int level, int x, int y, nlmeans_vector v)
{
    int w = f->region.w >> level, half = level ? NLMEANS_BLOCK / 2 : NLMEANS_BLOCK;
    long sum = 0;
    for (int p = 0; p < f->count; p++)
        for (int j = y - half; j < y + half; j++)
            for (int i = x - half; i < x + half; i++) {
                int a = f->now[p].level[level][(ptrdiff_t)j * w + i];
                int b = f->other[p].level[level][(ptrdiff_t)(j + v.y) * w + i + v.x];
                int d = abs(found_apart(a, b));
                sum += d < NLMEANS_UNLIKE ? d : NLMEANS_UNLIKE;
            }
    return sum;
}

/* The best of `first` and of what lies around `center`, up to `far` in steps; of the same value the
 * first. */
static inline nlmeans_vector found_best(const nlmeans_found *f, int level, int x, int y,
                                        nlmeans_vector first, nlmeans_vector center, int far,
                                        int step)
{
    nlmeans_vector best = first;
    long least = found_unlike(f, level, x, y, first);
    for (int dy = -far; dy <= far; dy += step)
        for (int dx = -far; dx <= far; dx += step) {
            nlmeans_vector v = {center.x + dx, center.y + dy};
            long sum = found_unlike(f, level, x, y, v);
            if (sum < least) {
                least = sum;
                best = v;
            }
        }
    return best;
}

/* Of the block whose middle is (x, y) of the region. */
static inline nlmeans_vector found_block(const nlmeans_found *f, int x, int y)
{
    static const nlmeans_vector none = {0, 0};
    int top = NLMEANS_LEVELS - 1;
    nlmeans_vector v = found_best(f, top, x >> top, y >> top, none, none, 2 * f->coef->motion, 2);
    v = found_best(f, top, x >> top, y >> top, v, v, 1, 1);
    for (int level = top - 1; level >= 0; level--) {
        nlmeans_vector coarse = {2 * v.x, 2 * v.y};
        v = found_best(f, level, x >> level, y >> level, none, coarse, 1, 1);
    }
    return v;
}

static inline void found_frame(nlmeans_found *f, const void *const *const *rows,
                               nlmeans_vector *vectors)
{
    int left = f->blocks.x - f->region.x + NLMEANS_BLOCK / 2;
    int top = f->blocks.y - f->region.y + NLMEANS_BLOCK / 2;
    for (int p = 0; p < f->count; p++)
        found_fill(f, rows[f->first + p], &f->other[p]);
    for (int y = 0; y < f->blocks.h; y += NLMEANS_BLOCK)
        for (int x = 0; x < f->blocks.w && !tamis_tile_canceled(f->tile); x += NLMEANS_BLOCK)
            *vectors++ = found_block(f, left + x, top + y);
}

/* All that is asked for; memory is taken from the store, as found_scratch() says. */
static inline void found_all(nlmeans_found *f, char *store)
{
    const nlmeans_coef *k = f->coef;
    const tamis_tile *t = f->tile;
    f->blocks = nlmeans_blocks(k, t->x, t->y, t->w, t->h);
    f->region = nlmeans_region(k, f->blocks);
    size_t bytes = nlmeans_pyramid_size(f->region) * sizeof(uint16_t);
    size_t count = (size_t)f->blocks.w / NLMEANS_BLOCK * ((size_t)f->blocks.h / NLMEANS_BLOCK);
    for (int p = 0; p < f->count; p++) {
        f->now[p] = nlmeans_pyramid_at(nlmeans_take(&store, bytes), f->region);
        f->other[p] = nlmeans_pyramid_at(nlmeans_take(&store, bytes), f->region);
        found_fill(f, t->src[f->first + p], &f->now[p]);
    }
    for (int i = TAMIS_MAX_FRAMES - k->frames; i <= TAMIS_MAX_FRAMES + k->frames; i++) {
        const void *const *const *rows = t->frames->rows[i] + t->plane;
        if (i == TAMIS_MAX_FRAMES || !rows[f->first])
            continue;
        f->vectors[i] = nlmeans_take(&store, count * sizeof(nlmeans_vector));
        found_frame(f, rows, f->vectors[i]);
    }
}

/* ---- memory */

static inline size_t found_scratch(const nlmeans_coef *k, int w, int h)
{
    tamis_box blocks = nlmeans_most_blocks(k, w, h);
    size_t count = (size_t)blocks.w / NLMEANS_BLOCK * ((size_t)blocks.h / NLMEANS_BLOCK);
    size_t bytes = nlmeans_pyramid_size(nlmeans_region(k, blocks)) * sizeof(uint16_t);
    return 2 * (size_t)k->colors * nlmeans_room(bytes) +
           2 * (size_t)k->frames * nlmeans_room(count * sizeof(nlmeans_vector));
}

#endif
