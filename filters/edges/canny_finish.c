/* SPDX-License-Identifier: Apache-2.0 */
/* Canny's last step: which weak pixels are connected to strong ones.
 *
 * Rows become bit masks, 64 pixels a word: kept pixels, and edges among them, at first the strong
 * ones. Edges grow into kept pixels: from the rows above and below by shifts, along a row by
 * carries. A row whose neighbor has grown is looked at again, and only the words beside the growth;
 * rows are visited downwards and upwards in turn until none is left. Bands of rows grow on their
 * own threads first, then all together from the seams; the result is the same, being the one set
 * that cannot grow. */
#include <string.h>

#include "canny_kernel.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* A word of a row. */
typedef struct place {
    int32_t y, i;
} place;

/* One plane of the picture. */
typedef struct grow {
    const tamis_result *result;
    int plane, channel; /* channel of the plane's pixels */
    int bands;
    int32_t w, h, words;
    uint64_t *kept, *edge; /* rows of words */
    place *stack;          /* as many, each word at most once */
    uint8_t *stacked;      /* by word */
} grow;

size_t tamis_priv_canny_finish_bytes(int32_t w, int32_t h)
{
    size_t words = ((size_t)w + 63) / 64 * (size_t)h;
    return words * (2 * sizeof(uint64_t) + sizeof(place) + 1);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* ---- bytes to bits and back */

/* Bit 7 of 64 bytes into edge, bit 6 into kept. */
static void pack_64(const uint8_t *bytes, uint64_t *kept, uint64_t *edge)
{
    *kept = *edge = 0;
#if defined(__SSE2__)
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
        *edge |= (uint64_t)(uint16_t)_mm_movemask_epi8(v) << 16 * i;
        *kept |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_add_epi8(v, v)) << 16 * i;
    }
#else
    for (int i = 0; i < 64; i++) {
        *edge |= (uint64_t)(bytes[i] >> 7) << i;
        *kept |= (uint64_t)(bytes[i] >> 6 & 1) << i;
    }
#endif
}

/* Pixel x of a row. */
static uint8_t *pixel_of(const grow *g, int32_t x, int32_t y)
{
    const tamis_result *r = g->result;
    return (uint8_t *)r->data[g->plane] + y * r->stride[g->plane] + (size_t)x * (size_t)r->step +
           g->channel;
}

/* Pixels 64 i and on side by side: where they lie, or in copy. */
static const uint8_t *pixels(const grow *g, int32_t i, int32_t y, uint8_t copy[64])
{
    const uint8_t *from = pixel_of(g, 64 * i, y);
    int n = smaller(64, g->w - 64 * i), step = g->result->step;
    if (n == 64 && step == 1)
        return from;
    memset(copy, 0, 64);
    for (int x = 0; x < n; x++)
        copy[x] = from[x * step];
    return copy;
}

static void pack_row(const grow *g, int32_t y)
{
    size_t row = (size_t)y * (size_t)g->words;
    uint8_t copy[64];
    for (int32_t i = 0; i < g->words; i++)
        pack_64(pixels(g, i, y, copy), g->kept + row + i, g->edge + row + i);
    memset(g->stacked + row, 0, (size_t)g->words);
}

/* 8 bits to bytes of 0 or 255, the lowest first. */
static uint64_t bytes_of(uint64_t bits)
{
    uint64_t v = (bits & 255) * 0x0101010101010101u & 0x8040201008040201u;
    return ((v + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u) * 255;
}

static void unpack_row(const grow *g, int32_t y)
{
    const uint64_t *row = g->edge + (size_t)y * (size_t)g->words;
    int step = g->result->step;
    for (int32_t i = 0; i < g->words; i++) {
        int n = smaller(64, g->w - 64 * i);
        uint8_t *to = pixel_of(g, 64 * i, y);
        for (int x = 0; x < n; x += 8) {
            uint64_t v = bytes_of(row[i] >> x);
            if (step == 1 && n - x >= 8) {
                for (int b = 0; b < 8; b++)
                    to[x + b] = (uint8_t)(v >> 8 * b);
                continue;
            }
            for (int b = 0; b < 8 && x + b < n; b++)
                to[(x + b) * step] = (uint8_t)(v >> 8 * b);
        }
    }
}

/* ---- growing */

/* All bits of the runs of kept that edge touches, edge being part of kept. Upwards: where a run
 * holds a bit of edge, adding it clears the run from there on. Downwards: by doubling distances. */
static uint64_t fill(uint64_t edge, uint64_t kept)
{
    edge = kept & (~(kept + edge) | edge);
    for (int shift = 1; shift < 64; shift *= 2) {
        edge |= kept & (edge >> shift);
        kept &= kept >> shift;
    }
    return edge;
}

/* Bits beside or on those of word i of a row. */
static uint64_t spread(const uint64_t *row, int32_t i, int32_t words)
{
    uint64_t v = row[i] | row[i] << 1 | row[i] >> 1;
    if (i > 0)
        v |= row[i - 1] >> 63;
    if (i + 1 < words)
        v |= row[i + 1] << 63;
    return v;
}

/* Where edges grow: the rows first .. end-1, and the words to look at. */
typedef struct front {
    const grow *g;
    int32_t first, end;
    place *stack;
    size_t count;
} front;

/* Stacks word i of row y when it can grow into bits. */
static void offer(front *f, int32_t y, int32_t i, uint64_t bits)
{
    const grow *g = f->g;
    size_t at = (size_t)y * (size_t)g->words + (size_t)i;
    if (!(g->kept[at] & ~g->edge[at] & bits) || g->stacked[at])
        return;
    g->stacked[at] = 1;
    f->stack[f->count++] = (place){y, i};
}

/* What has grown in word i of a row may grow on in row y, the same or one beside it. */
static void offer_row(front *f, int32_t y, int32_t i, uint64_t grown)
{
    if (y < f->first || y >= f->end)
        return;
    offer(f, y, i, grown | grown << 1 | grown >> 1);
    if (grown & 1 && i > 0)
        offer(f, y, i - 1, 1ull << 63);
    if (grown >> 63 && i + 1 < f->g->words)
        offer(f, y, i + 1, 1);
}

static void offer_around(front *f, int32_t y, int32_t i, uint64_t grown)
{
    offer_row(f, y - 1, i, grown);
    offer_row(f, y, i, grown);
    offer_row(f, y + 1, i, grown);
}

/* Bits of a word that the words around it reach. */
static uint64_t reached(const front *f, int32_t y, int32_t i)
{
    const grow *g = f->g;
    const uint64_t *row = g->edge + (size_t)y * (size_t)g->words;
    uint64_t bits = spread(row, i, g->words);
    if (y > f->first)
        bits |= spread(row - g->words, i, g->words);
    if (y + 1 < f->end)
        bits |= spread(row + g->words, i, g->words);
    return bits;
}

static void grow_stack(front *f)
{
    while (f->count) {
        place p = f->stack[--f->count];
        size_t at = (size_t)p.y * (size_t)f->g->words + (size_t)p.i;
        uint64_t kept = f->g->kept[at], before = f->g->edge[at];
        f->g->stacked[at] = 0;
        f->g->edge[at] = fill((before | reached(f, p.y, p.i)) & kept, kept);
        if (f->g->edge[at] != before)
            offer_around(f, p.y, p.i, f->g->edge[at] ^ before);
    }
}

/* From all edges of a row. */
static void grow_from(front *f, int32_t y)
{
    const uint64_t *row = f->g->edge + (size_t)y * (size_t)f->g->words;
    for (int32_t i = 0; i < f->g->words; i++)
        if (row[i]) {
            offer_around(f, y, i, row[i]);
            grow_stack(f);
        }
}

/* ---- bands */

static int32_t band_start(const grow *g, int64_t band)
{
    return (int32_t)(g->h * band / g->bands);
}

static void begin_band(void *user, int64_t band)
{
    const grow *g = user;
    front f = {.g = g, .first = band_start(g, band), .end = band_start(g, band + 1)};
    f.stack = g->stack + (size_t)f.first * (size_t)g->words;
    for (int32_t y = f.first; y < f.end; y++)
        pack_row(g, y);
    for (int32_t y = f.first; y < f.end; y++)
        grow_from(&f, y);
}

static void end_band(void *user, int64_t band)
{
    const grow *g = user;
    for (int32_t y = band_start(g, band); y < band_start(g, band + 1); y++)
        unpack_row(g, y);
}

static void finish_plane(grow *g)
{
    tamis_pool *pool = g->result->pool;
    front all = {.g = g, .end = g->h, .stack = g->stack};
    tamis_priv_pool_each(pool, g->bands, begin_band, g);
    for (int band = 1; band < g->bands; band++) {
        grow_from(&all, band_start(g, band) - 1);
        grow_from(&all, band_start(g, band));
    }
    tamis_priv_pool_each(pool, g->bands, end_band, g);
}

void tamis_priv_canny_finish(const tamis_result *result, const void *coef, void *scratch)
{
    grow g = {.result = result, .w = result->w, .h = result->h};
    (void)coef;
    g.words = (g.w - 1) / 64 + 1;
    g.bands = smaller(tamis_priv_pool_threads(result->pool), (g.h - 1) / 64 + 1);
    size_t count = (size_t)g.words * (size_t)g.h;
    g.kept = scratch;
    g.edge = g.kept + count;
    g.stack = (place *)(void *)(g.edge + count);
    g.stacked = (uint8_t *)(g.stack + count);
    for (g.plane = 0; g.plane < result->planes; g.plane++)
        for (g.channel = 0; g.channel < result->step; g.channel++)
            finish_plane(&g);
}
