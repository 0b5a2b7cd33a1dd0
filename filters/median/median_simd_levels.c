/* SPDX-License-Identifier: Apache-2.0 */
/* Any rank of any window of u16, s16 and f32.
 *
 * The samples that a block of outputs needs are sorted, and their order is cut into at most 256
 * levels of equally many, so that the histograms for bytes (median_rank.h) can find for each window
 * the level that holds its rank and the place among the samples of that level. Those are then
 * looked through in order, many at a time, for the ones that lie in the window. Equal samples may
 * fall into different levels: any order among them gives the same result. */
#include "median_rank.h"

#define LANES16 (TV_BYTES / 2)

/* A sample: its key in the upper half, row and column in the lower. */
typedef uint64_t sample;

typedef struct block {
    rank_strip strip;
    int h;           /* rows of outputs */
    int count, part; /* samples, and how many of them make a level */
    sample *sorted, *other;
    uint16_t *xs, *ys;  /* where they are, in that order; 64 more at the end */
    uint8_t *xs8, *ys8; /* the same where columns and rows are at most 256, else NULL */
    uint8_t *plane;     /* levels */
    const uint8_t **rows;
    uint8_t *level;
    uint16_t *left, *nans;
} block;

/* Samples as unsigned numbers that sort as they do, and back. */
TAMIS_INLINE uint32_t key_of(const void *row, ptrdiff_t i, tamis_type type)
{
    int32_t bits;
    switch (type) {
    case TAMIS_U16:
        return ((const uint16_t *)row)[i];
    case TAMIS_S16:
        return ((const uint16_t *)row)[i] ^ 0x8000u;
    default:
        memcpy(&bits, (const float *)row + i, sizeof bits);
        return (uint32_t)median_key(bits) ^ 0x80000000u;
    }
}

TAMIS_INLINE void put_key(void *row, ptrdiff_t i, uint32_t key, tamis_type type)
{
    int32_t bits;
    switch (type) {
    case TAMIS_U16:
        ((uint16_t *)row)[i] = (uint16_t)key;
        break;
    case TAMIS_S16:
        ((uint16_t *)row)[i] = (uint16_t)(key ^ 0x8000u);
        break;
    default:
        bits = median_key((int32_t)(key ^ 0x80000000u));
        memcpy((float *)row + i, &bits, sizeof bits);
    }
}

TAMIS_INLINE int is_nan(uint32_t key, tamis_type type)
{
    return type == TAMIS_F32 && (key > 0xff800000u || key < 0x007fffffu);
}

/* One pass of a radix sort, by 8 bits from bit on. Leaves the result in b->sorted. */
static void sort_pass(block *b, int bit)
{
    uint32_t at[256] = {0}, sum = 0;
    for (int i = 0; i < b->count; i++)
        at[b->sorted[i] >> bit & 255]++;
    if (at[b->sorted[0] >> bit & 255] == (uint32_t)b->count)
        return;
    for (int i = 0; i < 256; i++) {
        uint32_t n = at[i];
        at[i] = sum;
        sum += n;
    }
    for (int i = 0; i < b->count; i++)
        b->other[at[b->sorted[i] >> bit & 255]++] = b->sorted[i];
    sample *t = b->sorted;
    b->sorted = b->other;
    b->other = t;
}

/* Takes in the samples of the block's windows, whose first row is rows[0]; returns whether there is
 * a NaN among them. */
TAMIS_INLINE int make_levels(block *b, const void *const *rows, ptrdiff_t x, tamis_type type)
{
    const int w = b->strip.w + b->strip.kw - 1, h = b->h + b->strip.kh - 1,
              pitch = b->strip.columns;
    int nans = 0, n = 0;
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            uint32_t key = key_of(rows[j], x + i, type);
            nans |= is_nan(key, type);
            b->sorted[n++] = (sample)key << 32 | (uint32_t)j << 16 | (uint32_t)i;
        }
    b->count = n;
    for (int bit = 32; bit < (type == TAMIS_F32 ? 64 : 48); bit += 8)
        sort_pass(b, bit);
    b->part = (n + 255) / 256;
    for (int i = 0, level = 0; i < n; level++)
        for (int end = i + b->part; i < end && i < n; i++) {
            const unsigned at_x = b->sorted[i] & 0xffff, at_y = b->sorted[i] >> 16 & 0xffff;
            if (b->xs8) {
                b->xs8[i] = (uint8_t)at_x;
                b->ys8[i] = (uint8_t)at_y;
            } else {
                b->xs[i] = (uint16_t)at_x;
                b->ys[i] = (uint16_t)at_y;
            }
            b->plane[at_y * (size_t)pitch + at_x] = (uint8_t)level;
        }
    for (int j = 0; j < h; j++)
        b->rows[j] = b->plane + j * (ptrdiff_t)pitch;
    return nans;
}

/* Lanes in which both numbers are below a bound of their own, one a bit. */
TAMIS_INLINE uint64_t both_below(tv_u8 a, tv_u8 b, tv_u8 a_bound, tv_u8 b_bound)
{
#if defined(TAMIS_AVX512)
    __mmask64 m = _mm512_cmplt_epu8_mask((__m512i)a, (__m512i)a_bound);
    return _mm512_mask_cmplt_epu8_mask(m, (__m512i)b, (__m512i)b_bound);
#else
    tv_u8 mask = (tv_u8)(a < a_bound) & (tv_u8)(b < b_bound);
#if defined(TAMIS_AVX2)
    return (uint32_t)_mm256_movemask_epi8((__m256i)mask);
#elif defined(TAMIS_SSE2)
    return (uint32_t)_mm_movemask_epi8((__m128i)mask);
#else
    uint64_t bits = 0;
    for (int i = 0; i < TV_BYTES; i++)
        bits |= (uint64_t)(mask[i] & 1) << i;
    return bits;
#endif
#endif
}

TAMIS_INLINE uint64_t both_below16(tv_u16 a, tv_u16 b, tv_u16 a_bound, tv_u16 b_bound)
{
#if defined(TAMIS_AVX512)
    __mmask32 m = _mm512_cmplt_epu16_mask((__m512i)a, (__m512i)a_bound);
    return _mm512_mask_cmplt_epu16_mask(m, (__m512i)b, (__m512i)b_bound);
#else
    tv_u16 mask = (tv_u16)(a < a_bound) & (tv_u16)(b < b_bound);
#if defined(TAMIS_AVX2)
    /* Two bits a lane, of which one is picked. */
    return _pext_u32((uint32_t)_mm256_movemask_epi8((__m256i)mask), 0x55555555);
#elif defined(TAMIS_SSE2)
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16((__m128i)mask, _mm_setzero_si128()));
#else
    uint64_t bits = 0;
    for (int i = 0; i < LANES16; i++)
        bits |= (uint64_t)(mask[i] & 1) << i;
    return bits;
#endif
#endif
}

/* Which of the samples i .. i + 63 lie in the window at x, y. */
TAMIS_INLINE uint64_t inside(const block *b, int i, int x, int y)
{
    uint64_t bits = 0;
    if (b->xs8) {
        const tv_u8 kw = (tv_u8){0} + (uint8_t)b->strip.kw, kh = (tv_u8){0} + (uint8_t)b->strip.kh;
        for (int j = 0; j < 64; j += TV_BYTES) {
            tv_u8 dx = tv_load_u8(b->xs8 + i + j) - (uint8_t)x;
            tv_u8 dy = tv_load_u8(b->ys8 + i + j) - (uint8_t)y;
            bits |= both_below(dx, dy, kw, kh) << j;
        }
    } else {
        const tv_u16 kw = (tv_u16){0} + (uint16_t)b->strip.kw;
        const tv_u16 kh = (tv_u16){0} + (uint16_t)b->strip.kh;
        for (int j = 0; j < 64; j += LANES16) {
            tv_u16 dx = tv_load_u16(b->xs + i + j) - (uint16_t)x;
            tv_u16 dy = tv_load_u16(b->ys + i + j) - (uint16_t)y;
            bits |= both_below16(dx, dy, kw, kh) << j;
        }
    }
    return bits;
}

/* The place of the one in bits that has left ones below it. */
TAMIS_INLINE int nth_one(uint64_t bits, unsigned left)
{
#if defined(TAMIS_AVX2)
    return (int)__builtin_ctzll(_pdep_u64(1ull << left, bits));
#else
    while (left-- > 0)
        bits &= bits - 1;
    return __builtin_ctzll(bits);
#endif
}

/* The index of the sample that has left others of the window at x, y before it from index i on.
 * The first 128 are done without a branch that depends on them: they are all that a level has,
 * save in the largest windows. */
TAMIS_INLINE int look_through(const block *b, int i, unsigned left, int x, int y)
{
    uint64_t first = inside(b, i, x, y), bits = inside(b, i + 64, x, y);
    unsigned found = (unsigned)__builtin_popcountll(first);
    const int later = left >= found;
    bits = later ? bits : first;
    left -= later ? found : 0;
    i += later ? 64 : 0;
    while (left >= (found = (unsigned)__builtin_popcountll(bits))) {
        left -= found;
        i += 64;
        bits = inside(b, i, x, y);
    }
    return i + nth_one(bits, left);
}

/* Puts NaN where the window of an output in row y holds one; columns' numbers of NaN go down with
 * the rows, like histograms. */
static void spread_nans(block *b, const void *const *rows, ptrdiff_t x, int y, void *dst)
{
    const int columns = b->strip.w + b->strip.kw - 1, kw = b->strip.kw, kh = b->strip.kh;
    int inside = 0;
    if (y == 0)
        memset(b->nans, 0, (size_t)columns * sizeof *b->nans);
    for (int j = y ? kh - 1 : 0; j < kh; j++)
        for (int i = 0; i < columns; i++)
            b->nans[i] += is_nan(key_of(rows[y + j], x + i, TAMIS_F32), TAMIS_F32);
    if (y > 0)
        for (int i = 0; i < columns; i++)
            b->nans[i] -= is_nan(key_of(rows[y - 1], x + i, TAMIS_F32), TAMIS_F32);
    for (int i = 0; i < kw - 1; i++)
        inside += b->nans[i];
    for (int i = 0; i < b->strip.w; i++) {
        const int32_t nan = MEDIAN_NAN_BITS;
        inside += b->nans[i + kw - 1];
        if (inside)
            memcpy((float *)dst + i, &nan, sizeof nan);
        inside -= b->nans[i];
    }
}

/* One block; its first window begins at rows[0], x. */
TAMIS_INLINE void solve(block *b, const void *const *rows, ptrdiff_t x, char *dst, ptrdiff_t stride,
                        tamis_type type)
{
    const int nans = make_levels(b, rows, x, type);
    rank_strip *s = &b->strip;
    s->rows = b->rows;
    s->x = 0;
    for (int y = 0; y < b->h; y++, dst += stride) {
        if (y == 0)
            TAMIS_FN(tamis_priv_median_begin)(s);
        else
            TAMIS_FN(tamis_priv_median_down)(s, y);
        TAMIS_FN(tamis_priv_median_across)(s, b->level, b->left);
        for (int i = 0; i < s->w; i++) {
            int at = look_through(b, b->level[i] * b->part, b->left[i], i, y);
            put_key(dst, i, (uint32_t)(b->sorted[at] >> 32), type);
        }
        if (nans)
            spread_nans(b, rows, x, y, dst);
    }
}

/* Lays a block out in scratch, of which median_levels_bytes() are used. */
static block block_in(void *scratch, const median_coef *k)
{
    block b = {.strip = rank_strip_in(scratch, k)};
    const size_t n = median_level_samples(k), columns = (size_t)b.strip.columns;
    b.sorted = (sample *)((char *)scratch + median_strip_bytes(k));
    b.other = b.sorted + n;
    b.rows = (const uint8_t **)(b.other + n);
    b.xs = (uint16_t *)(b.rows + k->block_h + k->h);
    b.ys = b.xs + n + 64;
    if (columns <= 256 && k->block_h + k->h <= 256) {
        b.xs8 = (uint8_t *)b.xs;
        b.ys8 = (uint8_t *)b.ys;
    }
    b.left = b.ys + n + 64;
    b.nans = b.left + columns;
    b.level = (uint8_t *)(b.nans + columns);
    b.plane = b.level + columns;
    return b;
}

TAMIS_INLINE void rank_levels(const tamis_tile *tile, const median_coef *k, void *scratch,
                              tamis_type type)
{
    const size_t size = type == TAMIS_F32 ? 4 : 2;
    for (int p = 0; p < tile->planes; p++)
        for (int y = 0; y < tile->h; y += k->block_h) {
            block b = block_in(scratch, k);
            const int width = b.strip.columns - k->w + 1;
            b.h = tile->h - y < k->block_h ? tile->h - y : k->block_h;
            for (int x = 0; x < tile->w; x += width) {
                char *dst = (char *)tile->dst[p] + y * tile->dst_stride[p] + x * (ptrdiff_t)size;
                b.strip.w = tile->w - x < width ? tile->w - x : width;
                solve(&b, tile->src[p] + y - k->h / 2, x - k->w / 2, dst, tile->dst_stride[p],
                      type);
            }
        }
}

void TAMIS_FN(tamis_priv_median_rank_u16)(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_levels(tile, coef, scratch, TAMIS_U16);
}

void TAMIS_FN(tamis_priv_median_rank_s16)(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_levels(tile, coef, scratch, TAMIS_S16);
}

void TAMIS_FN(tamis_priv_median_rank_f32)(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_levels(tile, coef, scratch, TAMIS_F32);
}
