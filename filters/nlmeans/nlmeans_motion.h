/* SPDX-License-Identifier: Apache-2.0 */
/* Motion for vector rows: one frame at a time, whose blocks are moved to where they are in the
 * current one. nlmeans_found.h is the reference, nlmeans_motion.cuh the same for devices; what is
 * found depends on whole numbers alone, so that all rows, tiles and devices find the same. */
#ifndef TAMIS_NLMEANS_MOTION_H
#define TAMIS_NLMEANS_MOTION_H

#include <string.h>

#include "nlmeans_kernel.h"

/* What is at hand while planes that share a weight, or one channel of pixels, are looked for. */
typedef struct nlmeans_motion {
    const nlmeans_coef *coef;
    const tamis_tile *tile;
    tamis_type type;
    int count, channel;
    tamis_box blocks, region;
    nlmeans_pyramid now[TAMIS_MAX_CHANNELS], other[TAMIS_MAX_CHANNELS];
    uint16_t *lines; /* three, for smoothing, and one of a row's numbers */
    /* Of each block, on the highest level: how unlike it is where it has been found so far, and
     * in which turn. */
    uint32_t *least, *which;
    uint32_t *pairs, *cells, *windows; /* sums of one row of blocks; of windows, four rows */
    /* Rows of a moved frame, as far as windows around the tile see them, of these samples alone:
     * row 0, column 0. */
    const void *const *moved[TAMIS_MAX_CHANNELS];
} nlmeans_motion;

/* ---- smoothing */

/* NaN counts as the least. */
static inline uint16_t motion_number(const nlmeans_coef *k, float v)
{
    float t = v * k->motion_scale;
    t = t > -(float)NLMEANS_FAR ? t : -(float)NLMEANS_FAR;
    t = t < (float)NLMEANS_FAR ? t : (float)NLMEANS_FAR;
    return (uint16_t)(int32_t)(t + k->motion_offset);
}

/* The numbers of n samples that are step apart. */
#define MOTION_NUMBERS(T, suffix)                                                                  \
    static inline void motion_numbers_##suffix(const nlmeans_coef *k, const T *from,               \
                                               ptrdiff_t step, int n, uint16_t *restrict to)       \
    {                                                                                              \
        if (step == 1) /* side by side, for vectors */                                             \
            for (int i = 0; i < n; i++)                                                            \
                to[i] = motion_number(k, (float)from[i]);                                          \
        else                                                                                       \
            for (int i = 0; i < n; i++)                                                            \
                to[i] = motion_number(k, (float)from[i * step]);                                   \
    }
MOTION_NUMBERS(uint8_t, u8)
MOTION_NUMBERS(uint16_t, u16)
MOTION_NUMBERS(int16_t, s16)
MOTION_NUMBERS(float, f32)
#undef MOTION_NUMBERS

static inline int motion_apart(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static inline uint16_t motion_smooth(uint16_t before, uint16_t at, uint16_t after)
{
    return (uint16_t)(at + ((motion_apart(before, at) + motion_apart(after, at) + 2) >> 2));
}

/* Columns of the region in one row, smoothed along it. */
static inline void motion_smooth_along(const nlmeans_motion *m, const void *row,
                                       uint16_t *restrict out)
{
    uint16_t *numbers = m->lines + 3 * m->region.w;
    ptrdiff_t step = m->tile->step, first = m->region.x - m->tile->x - 1;
    ptrdiff_t at = first * step + m->channel;
    int n = m->region.w + 2;
    switch (m->type) {
    case TAMIS_U8:
        motion_numbers_u8(m->coef, (const uint8_t *)row + at, step, n, numbers);
        break;
    case TAMIS_U16:
        motion_numbers_u16(m->coef, (const uint16_t *)row + at, step, n, numbers);
        break;
    case TAMIS_S16:
        motion_numbers_s16(m->coef, (const int16_t *)row + at, step, n, numbers);
        break;
    default:
        motion_numbers_f32(m->coef, (const float *)row + at, step, n, numbers);
    }
    for (int x = 0; x < m->region.w; x++)
        out[x] = motion_smooth(numbers[x], numbers[x + 1], numbers[x + 2]);
}

static inline void motion_halve(const uint16_t *from, int w, int h, uint16_t *restrict to)
{
    for (int y = 0; y < h / 2; y++)
        for (int x = 0; x < w / 2; x++) {
            const uint16_t *p = from + (ptrdiff_t)2 * y * w + 2 * x;
            int sum =
                motion_apart(p[1], p[0]) + motion_apart(p[w], p[0]) + motion_apart(p[w + 1], p[0]);
            to[(ptrdiff_t)y * (w / 2) + x] = (uint16_t)(p[0] + ((sum + 2) >> 2));
        }
}

static inline void motion_fill(const nlmeans_motion *m, const void *const *rows,
                               const nlmeans_pyramid *to)
{
    int w = m->region.w, h = m->region.h, first = m->region.y - m->tile->y;
    uint16_t *line[3] = {m->lines, m->lines + w, m->lines + 2 * w};
    motion_smooth_along(m, rows[first - 1], line[0]);
    motion_smooth_along(m, rows[first], line[1]);
    for (int y = 0; y < h; y++) {
        const uint16_t *a = line[y % 3], *b = line[(y + 1) % 3], *c = line[(y + 2) % 3];
        uint16_t *restrict out = to->level[0] + (ptrdiff_t)y * w;
        motion_smooth_along(m, rows[first + y + 1], line[(y + 2) % 3]);
        for (int x = 0; x < w; x++)
            out[x] = motion_smooth(a[x], b[x], c[x]);
    }
    for (int l = 1; l < NLMEANS_LEVELS; l++)
        motion_halve(to->level[l - 1], w >> (l - 1), h >> (l - 1), to->level[l]);
}

/* ---- search */

enum { MOTION_LANES = TV_BYTES / 2 };

/* The least of how far numbers are apart and NLMEANS_UNLIKE. */
TAMIS_INLINE tv_u16 motion_apart_most(tv_s16 a, tv_s16 b)
{
    tv_s16 d = a - b;
    return tv_min_u16((tv_u16)tv_max_s16(d, -d), (tv_u16){0} + NLMEANS_UNLIKE);
}

/* Half a vector of each of two rows, where a vector has more than 16 numbers. */
TAMIS_INLINE tv_s16 motion_two_rows(const uint16_t *p, ptrdiff_t pitch)
{
#if defined(TAMIS_AVX512)
    __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)p));
    return (tv_s16)_mm512_inserti64x4(v, _mm256_loadu_si256((const void *)(p + pitch)), 1);
#else
    (void)pitch;
    return tv_load_s16(p);
#endif
}

/* Sums of two lanes each. */
TAMIS_INLINE tv_u32 motion_sum_pairs(tv_u16 v)
{
    return ((tv_u32)v & 0xffff) + ((tv_u32)v >> 16);
}

TAMIS_INLINE uint32_t motion_sum(tv_u32 v)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four part[TV_BYTES / 16];
    memcpy(part, &v, sizeof part);
    for (int i = 1; i < TV_BYTES / 16; i++)
        part[0] += part[i];
    return part[0][0] + part[0][1] + part[0][2] + part[0][3];
}

/* How unlike two windows of side x side numbers are, side being 16 or 32. A lane of each sum gets
 * 64 of the greatest difference at most, which have 16 bits. */
TAMIS_INLINE uint32_t motion_unlike(const uint16_t *a, const uint16_t *b, ptrdiff_t pitch, int side)
{
    tv_u16 sums[2] = {{0}};
    if (side < MOTION_LANES)
        for (int y = 0; y < side; y += 2, a += 2 * pitch, b += 2 * pitch)
            sums[y / 2 % 2] +=
                motion_apart_most(motion_two_rows(a, pitch), motion_two_rows(b, pitch));
    else
        for (int y = 0; y < side; y++, a += pitch, b += pitch)
            for (int x = 0; x < side; x += MOTION_LANES)
                sums[(x / MOTION_LANES + y) % 2] +=
                    motion_apart_most(tv_load_s16(a + x), tv_load_s16(b + x));
    return motion_sum(motion_sum_pairs(sums[0]) + motion_sum_pairs(sums[1]));
}

/* Where a block has been found at a level so far. */
typedef struct motion_found {
    nlmeans_vector at;
    uint32_t sum;
} motion_found;

/* The window around a block, whose corner is (x, y) of the region. */
TAMIS_INLINE void motion_try(const nlmeans_motion *m, int level, int x, int y, nlmeans_vector v,
                             motion_found *best)
{
    int side = level ? NLMEANS_BLOCK : 2 * NLMEANS_BLOCK, w = m->region.w >> level;
    int shift = NLMEANS_BLOCK / 2 - side / 2 * (1 << level);
    ptrdiff_t a = (ptrdiff_t)((y + shift) >> level) * w + ((x + shift) >> level);
    uint32_t sum = 0;
    for (int p = 0; p < m->count; p++)
        sum += motion_unlike(m->now[p].level[level] + a,
                             m->other[p].level[level] + a + (ptrdiff_t)v.y * w + v.x, w, side);
    if (sum < best->sum)
        *best = (motion_found){v, sum};
}

TAMIS_INLINE void motion_try_around(const nlmeans_motion *m, int level, int x, int y,
                                    nlmeans_vector v, motion_found *best)
{
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            motion_try(m, level, x, y, (nlmeans_vector){v.x + dx, v.y + dy}, best);
}

/* Steps of two pixels on the highest level. Windows of neighbors have cells of 4x4 numbers in
 * common, four each way, so that sums over four rows serve four windows across, and those four
 * windows down. */
enum { MOTION_TOP = NLMEANS_LEVELS - 1, MOTION_CELL = NLMEANS_BLOCK >> MOTION_TOP };

/* Sums of pairs of columns, over four rows from `at` on, for the windows of a row of blocks. */
TAMIS_INLINE void motion_pairs(const nlmeans_motion *m, ptrdiff_t at, ptrdiff_t shift)
{
    int columns = (m->blocks.w >> MOTION_TOP) + 3 * MOTION_CELL;
    ptrdiff_t w = m->region.w >> MOTION_TOP;
    for (int x = 0; x < columns; x += MOTION_LANES) { /* what lies behind is the pyramid's, too */
        tv_u16 sum = {0};
        for (int p = 0; p < m->count; p++) {
            const uint16_t *a = m->now[p].level[MOTION_TOP] + at + x;
            const uint16_t *b = m->other[p].level[MOTION_TOP] + at + x + shift;
            for (int y = 0; y < MOTION_CELL; y++)
                sum += motion_apart_most(tv_load_s16(a + y * w), tv_load_s16(b + y * w));
        }
        tv_u32 pairs = motion_sum_pairs(sum);
        memcpy(m->pairs + x / 2, &pairs, sizeof pairs);
    }
}

/* Over four rows, for the windows of a row of blocks. */
TAMIS_INLINE void motion_windows(const nlmeans_motion *m, uint32_t *restrict windows)
{
    int across = m->blocks.w / NLMEANS_BLOCK;
    const uint32_t *restrict pairs = m->pairs;
    uint32_t *restrict cells = m->cells;
    for (int i = 0; i < across + 3; i++)
        cells[i] = pairs[2 * i] + pairs[2 * i + 1];
    for (int i = 0; i < across; i++)
        windows[i] = cells[i] + cells[i + 1] + cells[i + 2] + cells[i + 3];
}

/* The windows of a row of blocks, of which four rows have been summed. */
TAMIS_INLINE void motion_keep_least(const nlmeans_motion *m, int row, uint32_t turn)
{
    int across = m->blocks.w / NLMEANS_BLOCK;
    const uint32_t *restrict rows = m->windows;
    uint32_t *restrict least = m->least + (ptrdiff_t)row * across;
    uint32_t *restrict which = m->which + (ptrdiff_t)row * across;
    for (int i = 0; i < across; i++) {
        uint32_t sum = rows[i] + rows[across + i] + rows[2 * across + i] + rows[3 * across + i];
        which[i] = sum < least[i] ? turn : which[i];
        least[i] = sum < least[i] ? sum : least[i];
    }
}

TAMIS_INLINE void motion_try_all(const nlmeans_motion *m, nlmeans_vector v, uint32_t turn)
{
    int across = m->blocks.w / NLMEANS_BLOCK, down = m->blocks.h / NLMEANS_BLOCK;
    ptrdiff_t w = m->region.w >> MOTION_TOP, shift = v.y * w + v.x;
    ptrdiff_t first = (nlmeans_reach(m->coef) >> MOTION_TOP) - 3 * MOTION_CELL / 2;
    for (int row = 0; row < down + 3; row++) {
        motion_pairs(m, (first + (ptrdiff_t)row * MOTION_CELL) * w + first, shift);
        motion_windows(m, m->windows + (ptrdiff_t)(row % 4) * across);
        if (row >= 3)
            motion_keep_least(m, row - 3, turn);
    }
}

/* Turn 0 is no motion, which comes before all that are as good; the others go row by row. */
static inline nlmeans_vector motion_vector_of(const nlmeans_motion *m, uint32_t turn)
{
    int far = 2 * m->coef->motion, side = far + 1, i = (int)turn - 1;
    if (turn == 0)
        return (nlmeans_vector){0, 0};
    return (nlmeans_vector){i % side * 2 - far, i / side * 2 - far};
}

TAMIS_INLINE void motion_find_far(const nlmeans_motion *m)
{
    size_t count = (size_t)m->blocks.w / NLMEANS_BLOCK * ((size_t)m->blocks.h / NLMEANS_BLOCK);
    uint32_t side = 2 * (uint32_t)m->coef->motion + 1;
    memset(m->least, 0xff, count * sizeof *m->least);
    memset(m->which, 0, count * sizeof *m->which);
    for (uint32_t turn = 0; turn <= side * side && !tamis_tile_canceled(m->tile); turn++)
        motion_try_all(m, motion_vector_of(m, turn), turn);
}

/* From what has been found on the level above on. */
TAMIS_INLINE motion_found motion_find_at(const nlmeans_motion *m, int level, int x, int y,
                                         nlmeans_vector above)
{
    motion_found best = {{0, 0}, UINT32_MAX};
    motion_try(m, level, x, y, best.at, &best);
    motion_try_around(m, level, x, y, (nlmeans_vector){2 * above.x, 2 * above.y}, &best);
    return best;
}

/* From the best place of a block so far on; on each level code of its own, with a window of a size
 * that is known. */
static inline nlmeans_vector motion_find_near(const nlmeans_motion *m, int x, int y,
                                              motion_found best)
{
    motion_try_around(m, MOTION_TOP, x, y, best.at, &best);
    best = motion_find_at(m, 1, x, y, best.at);
    return motion_find_at(m, 0, x, y, best.at).at;
}

/* ---- moving */

/* Columns x .. x + w - 1 of a row, counted as the tile's, from where v points to. */
static inline void motion_move_run(const nlmeans_motion *m, const void *const *rows, void *to,
                                   int x, int y, int w, nlmeans_vector v)
{
    size_t size = m->coef->sample_bytes, step = (size_t)m->tile->step * size;
    ptrdiff_t at = (ptrdiff_t)(x + v.x) * m->tile->step + m->channel;
    const char *from = (const char *)rows[y + v.y] + at * (ptrdiff_t)size;
    char *out = (char *)to + x * (ptrdiff_t)size;
    if (step == size)
        memcpy(out, from, (size_t)w * size);
    else
        for (size_t i = 0; i < (size_t)w; i++)
            memcpy(out + i * size, from + i * step, size);
}

static inline int motion_within(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* The block with its corner at (x, y) of the tile, as far as windows see it. */
static inline void motion_move(const nlmeans_motion *m, const void *const *const *from, int x,
                               int y, nlmeans_vector v)
{
    int mx = m->coef->sx + m->coef->px, my = m->coef->sy + m->coef->py;
    int right = m->tile->w + mx, bottom = m->tile->h + my;
    int x0 = motion_within(x, -mx, right), x1 = motion_within(x + NLMEANS_BLOCK, -mx, right);
    int y0 = motion_within(y, -my, bottom), y1 = motion_within(y + NLMEANS_BLOCK, -my, bottom);
    for (int p = 0; p < m->count; p++)
        for (int i = y0; i < y1; i++)
            motion_move_run(m, from[p], (void *)m->moved[p][i], x0, i, x1 - x0, v);
}

/* Rows of a frame's planes, from the first one looked for on, in memory that the next call uses
 * again; step is 1. */
static inline const void *const *const *motion_follow(const nlmeans_motion *m,
                                                      const void *const *const *rows)
{
    int left = m->blocks.x - m->region.x, top = m->blocks.y - m->region.y, block = 0;
    for (int p = 0; p < m->count; p++)
        motion_fill(m, rows[p], &m->other[p]);
    motion_find_far(m);
    for (int y = 0; y < m->blocks.h; y += NLMEANS_BLOCK)
        for (int x = 0; x < m->blocks.w && !tamis_tile_canceled(m->tile);
             x += NLMEANS_BLOCK, block++) {
            motion_found far = {motion_vector_of(m, m->which[block]), m->least[block]};
            motion_move(m, rows, m->blocks.x + x - m->tile->x, m->blocks.y + y - m->tile->y,
                        motion_find_near(m, left + x, top + y, far));
        }
    return m->moved;
}

/* ---- memory */

static inline const void *const *motion_take_rows(char **store, const nlmeans_motion *m)
{
    const nlmeans_coef *k = m->coef;
    size_t mx = (size_t)(k->sx + k->px), my = (size_t)(k->sy + k->py);
    size_t count = (size_t)m->tile->h + 2 * my;
    size_t bytes = ((size_t)m->tile->w + 2 * mx) * k->sample_bytes;
    const void **rows = nlmeans_take(store, count * sizeof *rows);
    char *data = nlmeans_take(store, count * bytes);
    for (size_t y = 0; y < count; y++)
        rows[y] = data + y * bytes + mx * k->sample_bytes;
    return rows + my;
}

/* Looks at the current frame's planes, rows[0 .. count - 1]. Takes what motion_scratch() of
 * nlmeans.c says from the store. */
static inline nlmeans_motion motion_begin(const nlmeans_coef *k, const tamis_tile *t,
                                          tamis_type type, const void *const *const *rows,
                                          int count, int channel, char **store)
{
    nlmeans_motion m = {.coef = k, .tile = t, .type = type, .count = count, .channel = channel};
    m.blocks = nlmeans_blocks(k, t->x, t->y, t->w, t->h);
    m.region = nlmeans_region(k, m.blocks);
    size_t bytes = nlmeans_pyramid_size(m.region) * sizeof(uint16_t);
    size_t across = (size_t)m.blocks.w / NLMEANS_BLOCK, down = (size_t)m.blocks.h / NLMEANS_BLOCK;
    m.lines = nlmeans_take(store, (4 * (size_t)m.region.w + 2) * sizeof *m.lines);
    m.least = nlmeans_take(store, across * down * sizeof(uint32_t));
    m.which = nlmeans_take(store, across * down * sizeof(uint32_t));
    m.pairs = nlmeans_take(store, nlmeans_pairs(across) * sizeof(uint32_t));
    m.cells = nlmeans_take(store, (across + 3) * sizeof(uint32_t));
    m.windows = nlmeans_take(store, 4 * across * sizeof(uint32_t));
    for (int p = 0; p < count; p++) {
        m.now[p] = nlmeans_pyramid_at(nlmeans_take(store, bytes), m.region);
        m.other[p] = nlmeans_pyramid_at(nlmeans_take(store, bytes), m.region);
        m.moved[p] = motion_take_rows(store, &m);
        motion_fill(&m, rows[p], &m.now[p]);
    }
    return m;
}

#endif
