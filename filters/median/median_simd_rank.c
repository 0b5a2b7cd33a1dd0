/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks by running histograms: see median_rank.h. */
#include "median_rank.h"

/* Sixteen numbers of samples: of a column and of a window. The latter may be wider than the
 * machine's vectors and is passed by address, since the calling convention for those is not
 * settled. */
typedef uint8_t tier8 __attribute__((vector_size(16)));
typedef uint16_t tier __attribute__((vector_size(32)));

/* What a sample adds to a tier: row v has ones from entry v on. */
static const uint8_t ones[16][16] __attribute__((aligned(16))) = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
};

TAMIS_INLINE tier8 load8(const uint8_t *p)
{
    tier8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

TAMIS_INLINE void store8(uint8_t *p, tier8 v)
{
    memcpy(p, &v, sizeof v);
}

/* Adds the tier of column x to a window's, or subtracts it. */
TAMIS_INLINE void add_column(tier *sum, const uint8_t *tiers, ptrdiff_t x, int subtract)
{
#if defined(TAMIS_AVX2)
    tier t = (tier)_mm256_cvtepu8_epi16((__m128i)load8(tiers + 16 * x));
#else
    tier t = __builtin_convertvector(load8(tiers + 16 * x), tier);
#endif
    *sum = subtract ? *sum - t : *sum + t;
}

/* How many entries do not exceed n; they are in ascending order. */
TAMIS_INLINE int entries_up_to(const tier *t, unsigned n)
{
#if defined(TAMIS_AVX512)
    return __builtin_popcount(_mm256_cmple_epu16_mask((__m256i)*t, _mm256_set1_epi16((short)n)));
#elif defined(TAMIS_AVX2)
    __m256i v = _mm256_set1_epi16((short)n);
    __m256i m = _mm256_cmpeq_epi16(_mm256_max_epu16((__m256i)*t, v), v);
    return __builtin_popcount((unsigned)_mm256_movemask_epi8(m)) / 2;
#elif defined(TAMIS_SSE2)
    __m128i halves[2], v = _mm_set1_epi16((short)n), zero = _mm_setzero_si128();
    memcpy(halves, t, sizeof halves);
    for (int i = 0; i < 2; i++)
        halves[i] = _mm_cmpeq_epi16(_mm_subs_epu16(halves[i], v), zero);
    return __builtin_ctz(~(unsigned)_mm_movemask_epi8(_mm_packs_epi16(halves[0], halves[1])));
#else
    tier m = (tier)(*t <= (tier){0} + (uint16_t)n) & 1;
    uint64_t parts[4], sum;
    memcpy(parts, &m, sizeof parts);
    sum = parts[0] + parts[1] + parts[2] + parts[3];
    return (int)(sum * 0x0001000100010001u >> 48);
#endif
}

TAMIS_INLINE void add_sample(rank_strip *s, ptrdiff_t x, unsigned v)
{
    uint8_t *high = s->high + 16 * x, *low = s->low + 16 * (v / 16 * (ptrdiff_t)s->columns + x);
    store8(high, load8(high) + load8(ones[v / 16]));
    store8(low, load8(low) + load8(ones[v % 16]));
}

void TAMIS_FN(tamis_priv_median_begin)(rank_strip *s)
{
    memset(s->high, 0, 16 * (size_t)s->columns);
    memset(s->low, 0, 256 * (size_t)s->columns);
    for (int y = 0; y < s->kh; y++)
        for (int x = 0; x < s->w + s->kw - 1; x++)
            add_sample(s, x, s->rows[y][s->x + x]);
}

void TAMIS_FN(tamis_priv_median_down)(rank_strip *s, int y)
{
    const uint8_t *leaving = s->rows[y - 1] + s->x, *entering = s->rows[y + s->kh - 1] + s->x;
    for (int x = 0; x < s->w + s->kw - 1; x++) {
        const unsigned from = leaving[x], to = entering[x];
        uint8_t *high = s->high + 16 * x, *low = s->low + 16 * x;
        uint8_t *low_from = low + 16 * (ptrdiff_t)s->columns * (from / 16);
        uint8_t *low_to = low + 16 * (ptrdiff_t)s->columns * (to / 16);
        store8(high, load8(high) - load8(ones[from / 16]) + load8(ones[to / 16]));
        store8(low_from, load8(low_from) - load8(ones[from % 16]));
        store8(low_to, load8(low_to) + load8(ones[to % 16]));
    }
}

/* Moves a window's tier from column from to x, or sums it afresh. */
TAMIS_INLINE void slide(tier *sum, const uint8_t *tiers, ptrdiff_t from, ptrdiff_t x, int kw)
{
    if (2 * (x - from) > kw) {
        *sum = (tier){0};
        for (int i = 0; i < kw; i++)
            add_column(sum, tiers, x + i, 0);
    } else {
        for (; from < x; from++) {
            add_column(sum, tiers, from + kw, 0);
            add_column(sum, tiers, from, 1);
        }
    }
}

/* The number before entry i, which is 0 for the first. */
TAMIS_INLINE unsigned before(const tier *t, int i)
{
    uint16_t n[17] = {0};
    memcpy(n + 1, t, sizeof *t);
    return n[i];
}

void TAMIS_FN(tamis_priv_median_across)(const rank_strip *s, uint8_t *level, uint16_t *left)
{
    const int kw = s->kw, unknown = -kw;
    tier high = {0}, low = {0}, lows[16];
    int at[16], now = 0; /* which second tier low is, and where the others were last */
    const uint8_t *tiers = s->low;
    for (int i = 0; i < 16; i++) {
        lows[i] = low;
        at[i] = unknown;
    }
    slide(&high, s->high, unknown, 0, kw);
    for (int x = 0; x < s->w; x++) {
        if (x > 0) {
            add_column(&high, s->high, x + kw - 1, 0);
            add_column(&high, s->high, x - 1, 1);
        }
        const int h = entries_up_to(&high, (unsigned)s->rank);
        const unsigned rank = (unsigned)s->rank - before(&high, h);
        if (h == now && x > 0) {
            add_column(&low, tiers, x + kw - 1, 0);
            add_column(&low, tiers, x - 1, 1);
        } else {
            lows[now] = low;
            at[now] = x > 0 ? x - 1 : unknown;
            now = h;
            tiers = s->low + 16 * (ptrdiff_t)s->columns * h;
            low = lows[h];
            slide(&low, tiers, at[h], x, kw);
        }
        const int l = entries_up_to(&low, rank);
        level[x] = (uint8_t)(16 * h + l);
        if (left)
            left[x] = (uint16_t)(rank - before(&low, l));
    }
}

static void rank_u8(const tamis_tile *tile, const median_coef *k, void *scratch, int p)
{
    rank_strip s = rank_strip_in(scratch, k);
    const int width = s.columns - k->w + 1;
    s.rows = (const uint8_t *const *)tile->src[p] - k->h / 2;
    for (int x = 0; x < tile->w; x += width) {
        s.x = x - k->w / 2;
        s.w = tile->w - x < width ? tile->w - x : width;
        for (int y = 0; y < tile->h; y++) {
            if (y == 0)
                TAMIS_FN(tamis_priv_median_begin)(&s);
            else
                TAMIS_FN(tamis_priv_median_down)(&s, y);
            uint8_t *dst = (uint8_t *)tile->dst[p] + y * tile->dst_stride[p] + x;
            TAMIS_FN(tamis_priv_median_across)(&s, dst, NULL);
        }
    }
}

void TAMIS_FN(tamis_priv_median_rank_u8)(const tamis_tile *tile, const void *coef, void *scratch)
{
    for (int p = 0; p < tile->planes; p++)
        rank_u8(tile, coef, scratch, p);
}
