/* SPDX-License-Identifier: Apache-2.0 */
/* Motion: frames whose blocks have been moved to where they are in the current one, for the rows of
 * the CPU. What is found depends on whole numbers alone, so that all rows, tiles and devices find
 * the same. nlmeans_motion.cuh is the same for devices. */
#ifndef TAMIS_NLMEANS_MOTION_H
#define TAMIS_NLMEANS_MOTION_H

#include <string.h>

#include "nlmeans_kernel.h"

/* One plane, smoothed, and halved twice: pixel (x, y) of level l, counted from the corner of the
 * region, is level[l][y * (w >> l) + x]. */
typedef struct nlmeans_pyramid {
    uint16_t *level[NLMEANS_LEVELS];
} nlmeans_pyramid;

/* What is at hand while the planes that share a weight are looked for in one frame. */
typedef struct nlmeans_hunt {
    const nlmeans_coef *coef;
    const tamis_tile *tile;
    tamis_type type;
    int first, count, channel; /* sample channel of the pixels of these planes */
    tamis_box region;          /* that is compared, of the output's coordinates */
    nlmeans_pyramid now[TAMIS_MAX_CHANNELS], other[TAMIS_MAX_CHANNELS];
    uint16_t *lines; /* three, for smoothing, and one of a row's levels */
} nlmeans_hunt;

typedef struct nlmeans_vector {
    int x, y;
} nlmeans_vector;

/* Rows of frames, as those of tamis_frames, of the planes of a tile. */
typedef struct nlmeans_moved {
    void *const *rows[2 * TAMIS_MAX_FRAMES + 1][TAMIS_MAX_CHANNELS];
} nlmeans_moved;

/* ---- memory */

/* Blocks that so many pixels may touch. */
static inline size_t motion_blocks(int pixels)
{
    return ((size_t)pixels + 2 * NLMEANS_BLOCK - 2) / NLMEANS_BLOCK;
}

static inline size_t motion_extent(const nlmeans_coef *k, int pixels)
{
    return motion_blocks(pixels) * NLMEANS_BLOCK + 2 * (size_t)nlmeans_reach(k);
}

static inline void *motion_take(char **store, size_t bytes)
{
    void *p = *store;
    *store += (bytes + 63) / 64 * 64;
    return p;
}

/* Samples of one plane at all levels. */
static inline size_t motion_pyramid(const tamis_box *region)
{
    size_t whole = (size_t)region->w * (size_t)region->h;
    return whole + whole / 4 + whole / 16;
}

/* For a tile of w x h pixels with step samples; what is taken at a time may be 63 bytes more. */
static inline size_t motion_scratch(const nlmeans_coef *k, int w, int h, int step)
{
    int mx = k->sx + k->px, my = k->sy + k->py;
    tamis_box region = {.w = (int32_t)motion_extent(k, w + 2 * mx),
                        .h = (int32_t)motion_extent(k, h + 2 * my)};
    size_t rows = (size_t)h + 2 * (size_t)my, columns = (size_t)w + 2 * (size_t)mx;
    size_t planes = 2 * (size_t)k->frames * (size_t)k->planes, colors = (size_t)k->colors;
    if (!k->motion)
        return 0;
    return planes * (rows * (sizeof(void *) + columns * (size_t)step * k->sample_bytes) + 128) +
           sizeof(tamis_frames) + 64 +
           2 * colors * (motion_pyramid(&region) * sizeof(uint16_t) + 64) +
           4 * ((size_t)region.w + 2) * sizeof(uint16_t) + 64;
}

/* ---- smoothing */

/* NaN becomes the least. */
static inline uint16_t motion_level(const nlmeans_coef *k, float v)
{
    float most = NLMEANS_MOST - k->level_zero, t = v * k->level_scale;
    t = t > -k->level_zero ? t : -k->level_zero;
    t = t < most ? t : most;
    return (uint16_t)(int)(t + (k->level_zero + 0.5f));
}

/* The levels of n samples that are step apart. */
#define MOTION_LEVELS(T, suffix)                                                                   \
    static inline void motion_levels_##suffix(const nlmeans_coef *k, const T *from,                \
                                              ptrdiff_t step, int n, uint16_t *restrict to)        \
    {                                                                                              \
        if (step == 1) /* side by side, for vectors */                                             \
            for (int i = 0; i < n; i++)                                                            \
                to[i] = motion_level(k, (float)from[i]);                                           \
        else                                                                                       \
            for (int i = 0; i < n; i++)                                                            \
                to[i] = motion_level(k, (float)from[i * step]);                                    \
    }
MOTION_LEVELS(uint8_t, u8)
MOTION_LEVELS(uint16_t, u16)
MOTION_LEVELS(int16_t, s16)
MOTION_LEVELS(float, f32)
#undef MOTION_LEVELS

/* Columns of the region in one row, smoothed along it. */
static inline void smooth_along(const nlmeans_hunt *s, const void *row, uint16_t *restrict out)
{
    uint16_t *levels = s->lines + 3 * s->region.w;
    ptrdiff_t step = s->tile->step, first = s->region.x - s->tile->x - 1;
    ptrdiff_t at = first * step + s->channel;
    int n = s->region.w + 2;
    switch (s->type) {
    case TAMIS_U8:
        motion_levels_u8(s->coef, (const uint8_t *)row + at, step, n, levels);
        break;
    case TAMIS_U16:
        motion_levels_u16(s->coef, (const uint16_t *)row + at, step, n, levels);
        break;
    case TAMIS_S16:
        motion_levels_s16(s->coef, (const int16_t *)row + at, step, n, levels);
        break;
    default:
        motion_levels_f32(s->coef, (const float *)row + at, step, n, levels);
    }
    for (int x = 0; x < s->region.w; x++)
        out[x] = (uint16_t)((levels[x] + 2 * levels[x + 1] + levels[x + 2] + 2) >> 2);
}

static inline void halve(const uint16_t *from, int w, int h, uint16_t *to)
{
    for (int y = 0; y < h / 2; y++)
        for (int x = 0; x < w / 2; x++) {
            const uint16_t *p = from + (ptrdiff_t)2 * y * w + 2 * x;
            to[(ptrdiff_t)y * (w / 2) + x] = (uint16_t)((p[0] + p[1] + p[w] + p[w + 1] + 2) >> 2);
        }
}

static inline void fill_pyramid(const nlmeans_hunt *s, const void *const *rows,
                                const nlmeans_pyramid *to)
{
    int w = s->region.w, h = s->region.h, first = s->region.y - s->tile->y;
    uint16_t *line[3] = {s->lines, s->lines + w, s->lines + 2 * w};
    smooth_along(s, rows[first - 1], line[0]);
    smooth_along(s, rows[first], line[1]);
    for (int y = 0; y < h; y++) {
        const uint16_t *a = line[y % 3], *b = line[(y + 1) % 3], *c = line[(y + 2) % 3];
        uint16_t *out = to->level[0] + (ptrdiff_t)y * w;
        smooth_along(s, rows[first + y + 1], line[(y + 2) % 3]);
        for (int x = 0; x < w; x++)
            out[x] = (uint16_t)((a[x] + 2 * b[x] + c[x] + 2) >> 2);
    }
    for (int l = 1; l < NLMEANS_LEVELS; l++)
        halve(to->level[l - 1], w >> (l - 1), h >> (l - 1), to->level[l]);
}

/* ---- search */

/* unlike(): the sum of the differences of two windows of side x side levels, 16 or 32, none of
 * which counts for more than NLMEANS_UNLIKE. */
#ifdef TV_BYTES

/* 16 columns of as many rows as a vector holds, or the part of one row that it does. */
enum { LINES = TV_BYTES > 32 ? 2 : 1, LINE = TV_BYTES / 2 / LINES };

TAMIS_INLINE tv_s16 lines(const uint16_t *p, ptrdiff_t pitch)
{
#if defined(TAMIS_AVX512)
    __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)p));
    return (tv_s16)_mm512_inserti64x4(v, _mm256_loadu_si256((const void *)(p + pitch)), 1);
#else
    (void)pitch;
    return tv_load_s16(p);
#endif
}

TAMIS_INLINE uint32_t sum_of(tv_u16 v)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    tv_u32 pairs = ((tv_u32)v & 0xffff) + ((tv_u32)v >> 16);
    four part[TV_BYTES / 16];
    memcpy(part, &pairs, sizeof part);
    for (int i = 1; i < TV_BYTES / 16; i++)
        part[0] += part[i];
    return part[0][0] + part[0][1] + part[0][2] + part[0][3];
}

/* Levels have 14 bits, and 64 of the greatest difference 16, as many as a lane of each sum gets. */
TAMIS_INLINE uint32_t unlike(const uint16_t *a, const uint16_t *b, ptrdiff_t pitch, int side)
{
    const tv_s16 most = (tv_s16){0} + NLMEANS_UNLIKE;
    tv_u16 sums[2] = {{0}};
    for (int y = 0; y < side; y += LINES, a += LINES * pitch, b += LINES * pitch)
        for (int x = 0; x < side; x += LINE) {
            tv_s16 d = lines(a + x, pitch) - lines(b + x, pitch);
            sums[x / LINE % 2] += (tv_u16)tv_min_s16(tv_max_s16(d, -d), most);
        }
    return sum_of(sums[0]) + sum_of(sums[1]);
}

#else

static uint32_t unlike(const uint16_t *a, const uint16_t *b, ptrdiff_t pitch, int side)
{
    uint32_t sum = 0;
    for (int y = 0; y < side; y++, a += pitch, b += pitch)
        for (int x = 0; x < side; x++) {
            uint32_t d = (uint32_t)(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]);
            sum += d < NLMEANS_UNLIKE ? d : NLMEANS_UNLIKE;
        }
    return sum;
}

#endif

/* Where a block has been found at a level so far. */
typedef struct best {
    nlmeans_vector at;
    uint32_t sum;
} best;

/* The window around a block, whose corner is (x, y) of the region. */
static inline void try_vector(const nlmeans_hunt *s, int level, int x, int y, nlmeans_vector v,
                              best *b)
{
    int side = level ? NLMEANS_BLOCK : 2 * NLMEANS_BLOCK, w = s->region.w >> level;
    int shift = NLMEANS_BLOCK / 2 - side / 2 * (1 << level);
    ptrdiff_t a = (ptrdiff_t)((y + shift) >> level) * w + ((x + shift) >> level);
    uint32_t sum = 0;
    for (int p = 0; p < s->count; p++)
        sum += unlike(s->now[p].level[level] + a,
                      s->other[p].level[level] + a + (ptrdiff_t)v.y * w + v.x, w, side);
    if (sum < b->sum)
        *b = (best){v, sum};
}

static inline void try_around(const nlmeans_hunt *s, int level, int x, int y, nlmeans_vector v,
                              best *b)
{
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            try_vector(s, level, x, y, (nlmeans_vector){v.x + dx, v.y + dy}, b);
}

/* Of places that are equally like, the first: no motion before all. */
static inline nlmeans_vector find(const nlmeans_hunt *s, int x, int y)
{
    static const nlmeans_vector none = {0, 0};
    int far = 2 * s->coef->motion;
    best b = {none, UINT32_MAX};
    try_vector(s, NLMEANS_LEVELS - 1, x, y, none, &b);
    for (int dy = -far; dy <= far; dy += 2)
        for (int dx = -far; dx <= far; dx += 2)
            try_vector(s, NLMEANS_LEVELS - 1, x, y, (nlmeans_vector){dx, dy}, &b);
    try_around(s, NLMEANS_LEVELS - 1, x, y, b.at, &b);
    for (int level = NLMEANS_LEVELS - 2; level >= 0; level--) {
        nlmeans_vector coarse = {2 * b.at.x, 2 * b.at.y};
        b = (best){none, UINT32_MAX};
        try_vector(s, level, x, y, none, &b);
        try_around(s, level, x, y, coarse, &b);
    }
    return b.at;
}

/* ---- moving */

/* Columns x .. x + w - 1 of a row, counted as the tile's, from where v points to. */
static inline void move_run(const nlmeans_hunt *s, const void *const *rows, void *to, int x, int y,
                            int w, nlmeans_vector v)
{
    size_t size = tamis_type_size(s->type);
    ptrdiff_t step = s->tile->step;
    const char *from =
        (const char *)rows[y + v.y] + ((x + v.x) * step + s->channel) * (ptrdiff_t)size;
    char *out = (char *)to + (x * step + s->channel) * (ptrdiff_t)size;
    if (step == 1)
        memcpy(out, from, (size_t)w * size);
    else
        for (int i = 0; i < w; i++)
            memcpy(out + i * step * (ptrdiff_t)size, from + i * step * (ptrdiff_t)size, size);
}

static inline int clip(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* The block with its corner at (x, y) of the tile, as far as somebody needs it. */
static inline void move_block(const nlmeans_hunt *s, const void *const *const *from,
                              void *const *const *to, int x, int y, nlmeans_vector v)
{
    int mx = s->coef->sx + s->coef->px, my = s->coef->sy + s->coef->py;
    int x0 = clip(x, -mx, s->tile->w + mx), x1 = clip(x + NLMEANS_BLOCK, -mx, s->tile->w + mx);
    int y0 = clip(y, -my, s->tile->h + my), y1 = clip(y + NLMEANS_BLOCK, -my, s->tile->h + my);
    for (int p = 0; p < s->count; p++)
        for (int i = y0; i < y1; i++)
            move_run(s, from[p], to[p][i], x0, i, x1 - x0, v);
}

/* ---- frames */

/* Where the planes of the hunt are in a frame, moved to rows of their own. */
static inline void move_frame(const nlmeans_hunt *s, const void *const *const *from,
                              void *const *const *to)
{
    int reach = nlmeans_reach(s->coef);
    for (int p = 0; p < s->count; p++)
        fill_pyramid(s, from[p], &s->other[p]);
    for (int y = reach; y < s->region.h - reach; y += NLMEANS_BLOCK)
        for (int x = reach; x < s->region.w - reach && !tamis_tile_canceled(s->tile);
             x += NLMEANS_BLOCK)
            move_block(s, from, to, s->region.x + x - s->tile->x, s->region.y + y - s->tile->y,
                       find(s, x, y));
}

static inline tamis_box motion_region(const tamis_tile *t, const nlmeans_coef *k)
{
    int mx = k->sx + k->px, my = k->sy + k->py, reach = nlmeans_reach(k);
    int x = nlmeans_block(t->x - mx), y = nlmeans_block(t->y - my);
    return (tamis_box){x - reach, y - reach,
                       nlmeans_block(t->x + t->w + mx - 1) + NLMEANS_BLOCK - x + 2 * reach,
                       nlmeans_block(t->y + t->h + my - 1) + NLMEANS_BLOCK - y + 2 * reach};
}

static inline nlmeans_pyramid take_pyramid(char **store, const tamis_box *region)
{
    size_t whole = (size_t)region->w * (size_t)region->h;
    uint16_t *data = motion_take(store, motion_pyramid(region) * sizeof *data);
    return (nlmeans_pyramid){{data, data + whole, data + whole + whole / 4}};
}

/* Rows for what of a frame's plane is needed around the tile; the result is row 0, column 0. */
static inline void **take_rows(char **store, const tamis_tile *t, const nlmeans_coef *k,
                               tamis_type type)
{
    size_t size = tamis_type_size(type) * (size_t)t->step;
    size_t mx = (size_t)(k->sx + k->px), my = (size_t)(k->sy + k->py);
    size_t count = (size_t)t->h + 2 * my, columns = (size_t)t->w + 2 * mx;
    void **rows = motion_take(store, count * sizeof *rows);
    char *data = motion_take(store, count * columns * size);
    for (size_t y = 0; y < count; y++)
        rows[y] = data + (y * columns + mx) * size;
    return rows + my;
}

/* Rows for the planes of all frames that are there but the current one; how many frames. */
static inline int take_frames(char **store, const tamis_tile *t, const nlmeans_coef *k,
                              tamis_type type, nlmeans_moved *to)
{
    int count = 0;
    memset(to, 0, sizeof *to);
    for (int f = -k->frames; f <= k->frames; f++) {
        if (f == 0 || !t->frames->rows[TAMIS_MAX_FRAMES + f][t->plane])
            continue;
        for (int p = 0; p < t->planes; p++)
            to->rows[TAMIS_MAX_FRAMES + f][p] = take_rows(store, t, k, type);
        count++;
    }
    return count;
}

/* All that share a weight with plane s->first. */
static inline void move_planes(nlmeans_hunt *s, const nlmeans_moved *to)
{
    const tamis_tile *t = s->tile;
    for (s->channel = 0; s->channel < t->step; s->channel++) {
        for (int p = 0; p < s->count; p++)
            fill_pyramid(s, t->src[s->first + p], &s->now[p]);
        for (int f = 0; f <= 2 * TAMIS_MAX_FRAMES; f++)
            if (to->rows[f][s->first])
                move_frame(s, t->frames->rows[f] + t->plane + s->first, to->rows[f] + s->first);
    }
}

/* The tile with frames that have been moved, in *moved, with memory from *scratch, which goes on
 * behind it; the tile itself where there is nothing to follow. */
static inline const tamis_tile *nlmeans_follow(const tamis_tile *t, const nlmeans_coef *k,
                                               tamis_type type, void **scratch, tamis_tile *moved)
{
    char *store = *scratch;
    nlmeans_moved to;
    if (!k->motion || !take_frames(&store, t, k, type, &to))
        return t;
    tamis_frames *frames = motion_take(&store, sizeof *frames);
    nlmeans_hunt s = {.coef = k, .tile = t, .type = type, .region = motion_region(t, k)};
    for (int p = 0; p < k->colors; p++) {
        s.now[p] = take_pyramid(&store, &s.region);
        s.other[p] = take_pyramid(&store, &s.region);
    }
    s.lines = motion_take(&store, (4 * (size_t)s.region.w + 2) * sizeof *s.lines);
    for (s.count = k->colors; s.first < t->planes; s.first += s.count, s.count = 1)
        move_planes(&s, &to);
    *frames = *t->frames;
    for (int f = 0; f <= 2 * TAMIS_MAX_FRAMES; f++)
        for (int p = 0; p < t->planes && to.rows[f][0]; p++)
            frames->rows[f][t->plane + p] = (const void *const *)to.rows[f][p];
    *moved = *t;
    moved->frames = frames;
    *scratch = store;
    return moved;
}

#endif
