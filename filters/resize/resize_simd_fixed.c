/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of resize for u8 in fixed point: column sums by 16-bit multiply-adds of two rows at a
 * time, then rows by multiply-adds of neighbors. */
#include "cpu/simd.h"
#include "resize_turn.h"

enum { WORDS = TV_BYTES / 2 };

/* ---- columns */

/* Two weights side by side in each lane. */
TAMIS_INLINE tv_s16 weight_pair(const int16_t *w)
{
    uint32_t two;
    memcpy(&two, w, sizeof two);
    return (tv_s16)((tv_u32){0} + two);
}

/* Column sums of n samples for row y of the result. A pair's second row may be one too many: its
 * weight is 0, so any row will do. */
TAMIS_INLINE void columns(const tamis_tile *t, const struct resize_axis *a, int32_t y, ptrdiff_t n,
                          int16_t *out)
{
    const int16_t *w = resize_fixed_weights(a, y);
    const void *const *rows = t->src[0] + (a->start[y] - t->from.y);
    const uint8_t *r[RESIZE_FIXED_TAPS];
    tv_s16 pairs[RESIZE_FIXED_TAPS / 2];
    int count = resize_count(a, y), half = (count + 1) / 2, shift = a->bits - RESIZE_FRACTION;
    for (int m = 0; m < 2 * half; m++)
        r[m] = rows[m < count ? m : 0];
    for (int m = 0; m < half; m++)
        pairs[m] = weight_pair(w + 2 * m);
    for (ptrdiff_t i = 0; i < n; i += WORDS) {
        tv_s32 low = (tv_s32){0} + (1 << (shift - 1)), high = low;
        for (int m = 0; m < half; m++) {
            tv_s16 p, q;
            tv_interleave_s16(tv_load_widen_u8(r[2 * m] + i), tv_load_widen_u8(r[2 * m + 1] + i),
                              &p, &q);
            low = tv_dot_s16(low, p, pairs[m]);
            high = tv_dot_s16(high, q, pairs[m]);
        }
        tv_s16 v = tv_pack_s32(low >> shift, high >> shift);
        memcpy(out + i, &v, sizeof v);
    }
}

/* ---- rows */

/* A half of a below one of b. */
TAMIS_INLINE tv_u32 pair(tv_u32 a, int high_a, tv_u32 b, int high_b)
{
#if defined(TAMIS_AVX512)
    if (high_a && !high_b)
        return (tv_u32)_mm512_shrdi_epi32((__m512i)a, (__m512i)b, 16);
#endif
    return (high_a ? a >> 16 : a & 0xffff) | (high_b ? b & 0xffff0000 : b << 16);
}

/* Of columns with samples s and s + 1 in the halves of a lane, for every other s, makes columns
 * with s and s + step for every s; returns how many. */
TAMIS_INLINE int pair_up(tv_u32 *columns, int count, int step)
{
    int s = 0;
    for (; s + step + 2 <= count; s += 2) {
        tv_u32 *c = columns + s, a = c[0], b = c[step / 2 * 2], d = c[(step + 1) / 2 * 2];
        c[1] = pair(a, 1, d, (step + 1) % 2);
        if (step > 1)
            c[0] = pair(a, 0, b, step % 2);
    }
    return s;
}

/* Columns with two neighbors of a channel in each lane. */
static __attribute__((noinline)) void turn_pairs(struct band *b, int32_t first)
{
    int count = first + RESIZE_CHUNK < b->limit ? RESIZE_CHUNK : b->limit - first;
    count = (count + WORDS - 1) / WORDS * WORDS;
    for (int i = 0; i < count; i += WORDS) {
        tv_u32 v[LANES];
        for (int y = 0; y < LANES; y++)
            v[y] = tv_load_u32(b->rows[y] + (first + (ptrdiff_t)i) * (ptrdiff_t)sizeof(int16_t));
        turn(v);
        for (int l = 0; l < LANES; l++)
            b->columns[i + 2 * l] = v[l];
    }
    b->first = first;
    switch (b->t->step) {
    case 1:
        b->end = first + pair_up(b->columns, count, 1);
        break;
    case 2:
        b->end = first + pair_up(b->columns, count, 2);
        break;
    case 3:
        b->end = first + pair_up(b->columns, count, 3);
        break;
    default:
        b->end = first + pair_up(b->columns, count, 4);
    }
}

TAMIS_INLINE void sum_pairs(struct band *b, const struct resize_axis *a, int i, int n, int pairs,
                            ptrdiff_t step)
{
    const int32_t *start = a->start + b->t->x + i, *phase = a->phase + b->t->x + i;
    const int16_t *weights = a->q;
    const ptrdiff_t pitch = pairs > 4 ? 16 : 2 * pairs, reach = (2 * pairs - 1) * step;
    const ptrdiff_t from = b->t->from.x * step;
    ptrdiff_t origin = from + b->first, last = b->end - b->first - reach;
    const int shift = a->bits + RESIZE_FRACTION;
    const tv_u32 *columns = b->columns;
    tv_u32 *out = b->results;
    for (int k = 0; k < n; k++, out += step) {
        ptrdiff_t at = start[k] * step - origin;
        const int16_t *w = weights + phase[k] * pitch;
        if (at > last) {
            origin += at;
            turn_pairs(b, (int32_t)(origin - from));
            last = b->end - b->first - reach;
            at = 0;
        }
        for (ptrdiff_t c = 0; c < step; c++) {
            const tv_u32 *p = columns + at + c;
            tv_s32 sum = (tv_s32){0} + (1 << (shift - 1));
            for (int m = 0; m < pairs; m++)
                sum = tv_dot_s16(sum, (tv_s16)p[2 * m * step], weight_pair(w + 2 * m));
            out[c] = (tv_u32)(sum >> shift);
        }
    }
}

TAMIS_INLINE void band_of_pairs(struct band *b, const struct resize_axis *a, int pairs)
{
    int step = b->t->step;
    for (int i = 0; i < b->t->w; i += GROUP) {
        int n = b->t->w - i < GROUP ? b->t->w - i : GROUP;
        if (step == 1)
            sum_pairs(b, a, i, n, pairs, 1);
        else
            sum_pairs(b, a, i, n, pairs, step);
        band_store(b, (ptrdiff_t)i * step, n * step, TAMIS_U8, 0);
    }
}

TAMIS_INLINE void band_across(struct band *b, const struct resize_axis *a)
{
    switch ((a->taps + 1) / 2) {
    case 1:
        band_of_pairs(b, a, 1);
        break;
    case 2:
        band_of_pairs(b, a, 2);
        break;
    case 3:
        band_of_pairs(b, a, 3);
        break;
    case 4:
        band_of_pairs(b, a, 4);
        break;
    case 5:
        band_of_pairs(b, a, 5);
        break;
    case 6:
        band_of_pairs(b, a, 6);
        break;
    default:
        band_of_pairs(b, a, 8);
    }
}

/* n is how many samples of each row are needed. The last pairs of the row may reach behind them,
 * with weights of 0. */
static void tile_bands(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n, void *scratch)
{
    struct band b = {.t = t, .columns = scratch};
    b.limit = (int32_t)n + RESIZE_FIXED_TAPS * t->step;
    b.results = b.columns + RESIZE_CHUNK;
    int16_t *sums = (int16_t *)(void *)(b.results + GROUP * t->step);
    ptrdiff_t pitch = resize_pitch(n);
    for (int j = 0; j < t->h; j += LANES) {
        band_begin(&b, j, (const char *)sums, pitch * (ptrdiff_t)sizeof *sums);
        for (int y = 0; y < b.count; y++)
            columns(t, &c->y, t->y + j + y, n, sums + y * pitch);
        band_across(&b, &c->x);
    }
}

/* ---- rows by tables */

#if defined(TAMIS_AVX512)
/* Both groups at the tile's ends may hold pixels of its neighbors, which are computed from what
 * lies around the row and not stored. */
static void row_groups(const tamis_tile *t, const struct resize_axis *a,
                       const struct resize_groups *g, const int16_t *sums, uint8_t *out)
{
    int shift = a->bits + RESIZE_FRACTION, step = g->step, end = t->x + t->w;
    const __m512i half = _mm512_set1_epi32(1 << (shift - 1)), none = _mm512_setzero_si512();
    const __m512i next = _mm512_set1_epi16((int16_t)(2 * step));
    const __m128i by = _mm_cvtsi32_si128(shift);
    for (int n = t->x / g->pixels; n * g->pixels < end; n++) {
        int x = n * g->pixels, from = x < t->x ? t->x - x : 0;
        int to = x + g->pixels > end ? end - x : g->pixels;
        const int16_t *table = sums + ((ptrdiff_t)g->first[n] - (ptrdiff_t)t->from.x) * step;
        const uint32_t *w = g->weights + (ptrdiff_t)n * g->pairs * RESIZE_LANES;
        __m512i low = _mm512_loadu_si512(table), high = _mm512_loadu_si512(table + 32);
        __m512i index = _mm512_loadu_si512(g->index + (ptrdiff_t)n * 2 * RESIZE_LANES), sum = half;
        for (int k = 0; k < g->pairs; k++, w += RESIZE_LANES) {
            __m512i v = _mm512_permutex2var_epi16(low, index, high);
            sum = _mm512_dpwssd_epi32(sum, v, _mm512_loadu_si512(w));
            index = _mm512_add_epi16(index, next);
        }
        sum = _mm512_max_epi32(_mm512_sra_epi32(sum, by), none);
        uint32_t mask = ((1u << to * step) - 1) & ~((1u << from * step) - 1);
        _mm_mask_storeu_epi8(out + (x - t->x) * step, (__mmask16)mask, _mm512_cvtusepi32_epi8(sum));
    }
}

static void tile_groups(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n,
                        int16_t *scratch)
{
    int16_t *sums = scratch + RESIZE_TABLE; /* tables may begin before the row */
    for (int j = 0; j < t->h; j++) {
        columns(t, &c->y, t->y + j, n, sums);
        row_groups(t, &c->x, &c->groups, sums, (uint8_t *)t->dst[0] + j * t->dst_stride[0]);
    }
}
#endif

/* ---- rows twice as wide */

/* The results for pixels two by two from the same weights, 0 .. 255. */
TAMIS_INLINE tv_u16 sum_every_other(const int16_t *from, const int16_t *w, int pairs, int shift)
{
    tv_s32 low = (tv_s32){0} + (1 << (shift - 1)), high = low;
    for (int m = 0; m < pairs; m++) {
        tv_s16 p, q, two = weight_pair(w + 2 * m);
        tv_interleave_s16(tv_load_s16(from + 2 * m), tv_load_s16(from + 2 * m + 1), &p, &q);
        low = tv_dot_s16(low, p, two);
        high = tv_dot_s16(high, q, two);
    }
    tv_s16 v = tv_pack_s32(low >> shift, high >> shift);
    return (tv_u16)tv_min_s16(tv_max_s16(v, (tv_s16){0}), (tv_s16){0} + 255);
}

static void pixels_one_by_one(const tamis_tile *t, const struct resize_axis *a, int32_t x,
                              int32_t end, const int16_t *sums, uint8_t *out)
{
    int shift = a->bits + RESIZE_FRACTION;
    for (; x < end; x++) {
        const int16_t *from = sums + a->start[x], *w = resize_fixed_weights(a, x);
        int32_t sum = 1 << (shift - 1);
        for (int k = 0; k < resize_count(a, x); k++)
            sum += w[k] * from[k];
        sum >>= shift;
        out[x - t->x] = (uint8_t)(sum < 0 ? 0 : sum < 255 ? sum : 255);
    }
}

/* Pixels that an edge cuts go one by one. */
TAMIS_INLINE void row_doubled(const tamis_tile *t, const struct resize_coef *c, const int16_t *sums,
                              uint8_t *out, int pairs)
{
    const struct resize_axis *a = &c->x;
    int shift = a->bits + RESIZE_FRACTION;
    int32_t end = t->x + t->w, last = end < c->end ? end : c->end;
    int32_t x = t->x > c->first ? t->x : c->first;
    sums -= t->from.x;
    if (x >= last) {
        pixels_one_by_one(t, a, t->x, end, sums, out);
        return;
    }
    pixels_one_by_one(t, a, t->x, x, sums, out);
    int32_t y = x + 1 < a->out ? x + 1 : x;
    const int16_t *p = sums + a->start[x], *v = resize_fixed_weights(a, x);
    const int16_t *q = sums + a->start[y], *w = resize_fixed_weights(a, y);
    for (; x < last; x += TV_BYTES, p += WORDS, q += WORDS) {
        tv_u16 both = sum_every_other(p, v, pairs, shift) | sum_every_other(q, w, pairs, shift)
                                                                << 8;
        if (last - x >= TV_BYTES)
            tv_store_u16(out + (x - t->x), both);
        else
            tv_store_first(out + (x - t->x), (tv_u8)both, (size_t)(last - x));
    }
    pixels_one_by_one(t, a, last, end, sums, out);
}

static void tile_doubles(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n,
                         int16_t *sums)
{
    for (int j = 0; j < t->h; j++) {
        uint8_t *out = (uint8_t *)t->dst[0] + j * t->dst_stride[0];
        columns(t, &c->y, t->y + j, n, sums);
        if (c->x.taps <= 2)
            row_doubled(t, c, sums, out, 1);
        else if (c->x.taps == 4)
            row_doubled(t, c, sums, out, 2);
        else
            row_doubled(t, c, sums, out, 3);
    }
}

/* ---- the kernel */

void TAMIS_FN(tamis_priv_resize_fixed)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct resize_coef *c = coef;
    int32_t last = t->x + t->w - 1;
    ptrdiff_t n = (c->x.start[last] + resize_count(&c->x, last) - t->from.x) * t->step;
    if (c->way == RESIZE_HALVES) {
        TAMIS_FN(tamis_priv_resize_halves)(t, c, scratch, TAMIS_U8);
        return;
    }
    if (c->way == RESIZE_DOUBLES) {
        tile_doubles(t, c, n, scratch);
        return;
    }
#if defined(TAMIS_AVX512)
    if (c->groups.pixels > 0) {
        tile_groups(t, c, n, scratch);
        return;
    }
#endif
    tile_bands(t, c, n, scratch);
}
