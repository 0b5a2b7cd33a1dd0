/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of resize for u8 in fixed point: column sums by 16-bit multiply-adds of two rows at a
 * time, then rows by multiply-adds of neighbors. */
#include "cpu/simd.h"
#include "resize_kernel.h"

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
    const int16_t *w = a->q + (ptrdiff_t)y * a->pitch;
    const void *const *rows = t->src[0] + (a->start[y] - t->from.y);
    const uint8_t *r[RESIZE_FIXED_TAPS];
    tv_s16 pairs[RESIZE_FIXED_TAPS / 2];
    int count = a->count[y], half = (count + 1) / 2, shift = a->bits - RESIZE_FRACTION;
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

/* The mean of two rows: exact in 1/64 level. */
TAMIS_INLINE void mean_columns(const tamis_tile *t, const struct resize_axis *a, int32_t y,
                               ptrdiff_t n, int16_t *out)
{
    const void *const *rows = t->src[0] + (a->start[y] - t->from.y);
    const uint8_t *p = rows[0], *q = rows[1];
    for (ptrdiff_t i = 0; i < n; i += WORDS) {
        tv_s16 v = (tv_load_widen_u8(p + i) + tv_load_widen_u8(q + i)) << (RESIZE_FRACTION - 1);
        memcpy(out + i, &v, sizeof v);
    }
}

/* ---- rows */

typedef int16_t r_words __attribute__((vector_size(16)));
typedef int32_t r_four __attribute__((vector_size(16)));

TAMIS_INLINE r_four dot(r_four sum, r_words a, r_words b)
{
#if defined(TAMIS_SSE2)
    return sum + (r_four)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    for (int l = 0; l < 4; l++)
        sum[l] += a[2 * l] * b[2 * l] + a[2 * l + 1] * b[2 * l + 1];
    return sum;
#endif
}

TAMIS_INLINE r_words load_words(const int16_t *p)
{
    r_words v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The sums of the four lanes of each. */
TAMIS_INLINE r_four add_lanes(r_four a, r_four b, r_four c, r_four d)
{
#if defined(TAMIS_SSE2)
    __m128i ab = _mm_add_epi32(_mm_unpacklo_epi32((__m128i)a, (__m128i)b),
                               _mm_unpackhi_epi32((__m128i)a, (__m128i)b));
    __m128i cd = _mm_add_epi32(_mm_unpacklo_epi32((__m128i)c, (__m128i)d),
                               _mm_unpackhi_epi32((__m128i)c, (__m128i)d));
    return (r_four)_mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
#else
    return (r_four){a[0] + a[1] + a[2] + a[3], b[0] + b[1] + b[2] + b[3], c[0] + c[1] + c[2] + c[3],
                    d[0] + d[1] + d[2] + d[3]};
#endif
}

/* To bytes, saturating; writes n of them. */
TAMIS_INLINE void store_four(uint8_t *out, r_four v, int n)
{
    uint8_t b[4];
#if defined(TAMIS_SSE2)
    __m128i p = _mm_packs_epi32((__m128i)v, (__m128i)v);
    int32_t bits = _mm_cvtsi128_si32(_mm_packus_epi16(p, p));
    memcpy(b, &bits, sizeof b);
#else
    for (int l = 0; l < 4; l++)
        b[l] = (uint8_t)(v[l] < 0 ? 0 : v[l] < 255 ? v[l] : 255);
#endif
    memcpy(out, b, (size_t)n);
}

TAMIS_INLINE r_four one_sum(const int16_t *from, const int16_t *w, int pitch)
{
    r_four sum = dot((r_four){0}, load_words(from), load_words(w));
    return pitch > 8 ? dot(sum, load_words(from + 8), load_words(w + 8)) : sum;
}

/* One channel: a window in the lanes of a vector, four pixels at a time. */
TAMIS_INLINE void row_1(const tamis_tile *t, const struct resize_axis *a, const int16_t *sums,
                        uint8_t *out, int pitch)
{
    int shift = a->bits + RESIZE_FRACTION;
    const int32_t *start = a->start + t->x;
    const int16_t *w = a->q + (ptrdiff_t)t->x * pitch;
    int i = 0;
    sums -= t->from.x;
    for (; i < t->w; i += 4, w += 4 * pitch) {
        int n = t->w - i < 4 ? t->w - i : 4;
        r_four s[4] = {{0}};
        for (int l = 0; l < n; l++)
            s[l] = one_sum(sums + start[i + l], w + l * pitch, pitch);
        r_four v = add_lanes(s[0], s[1], s[2], s[3]) + (1 << (shift - 1));
        store_four(out + i, v >> shift, n);
    }
}

/* Several channels: a lane for each, two samples of the window at a time. */
TAMIS_INLINE void row_packed(const tamis_tile *t, const struct resize_axis *a, const int16_t *sums,
                             uint8_t *out, int step)
{
    int shift = a->bits + RESIZE_FRACTION;
    for (int i = 0; i < t->w; i++) {
        int32_t x = t->x + i;
        const int16_t *from = sums + (a->start[x] - t->from.x) * step;
        const int16_t *w = a->q + (ptrdiff_t)x * a->pitch;
        r_four sum = (r_four){0} + (1 << (shift - 1));
        for (int k = 0; k < a->count[x]; k += 2) {
            r_words p = load_words(from + k * step), q = load_words(from + (k + 1) * step);
            uint32_t two;
            memcpy(&two, w + k, sizeof two);
            r_words both = __builtin_shufflevector(p, q, 0, 8, 1, 9, 2, 10, 3, 11);
            sum = dot(sum, both, (r_words)((r_four){0} + (int32_t)two));
        }
        store_four(out + i * step, sum >> shift, step);
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
#endif

/* ---- means of 2x2 pixels */

TAMIS_INLINE tv_s16 add_neighbors(const uint8_t *p)
{
    tv_u16 v = (tv_u16)tv_load_u8(p);
    return (tv_s16)((v & 0xff) + (v >> 8));
}

/* Two samples down and two across, one channel. */
TAMIS_INLINE void row_halves(const uint8_t *a, const uint8_t *b, uint8_t *out, int n)
{
    for (int i = 0; i < n; i += TV_BYTES) {
        tv_u16 low = (tv_u16)(add_neighbors(a + 2 * i) + add_neighbors(b + 2 * i) + 2) >> 2;
        tv_u16 high = (tv_u16)(add_neighbors(a + 2 * i + TV_BYTES) +
                               add_neighbors(b + 2 * i + TV_BYTES) + 2) >>
                      2;
        int left = n - i < TV_BYTES ? n - i : TV_BYTES;
        tv_store_first(out + i, tv_narrow_u16(low, high), (size_t)left);
    }
}

/* ---- the kernel */

void TAMIS_FN(tamis_priv_resize_fixed)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct resize_coef *c = coef;
    const struct resize_axis *a = &c->x;
    int last = t->x + t->w - 1;
    int16_t *sums = (int16_t *)scratch + RESIZE_TABLE; /* tables may begin before the row */
    ptrdiff_t n = (a->start[last] + a->count[last] - t->from.x) * t->step;
    for (int j = 0; j < t->h; j++) {
        uint8_t *row = (uint8_t *)t->dst[0] + j * t->dst_stride[0];
        if (c->halves && t->step == 1) {
            const void *const *r = t->src[0] + (c->y.start[t->y + j] - t->from.y);
            row_halves(r[0], r[1], row, t->w);
            continue;
        }
        if (c->halves)
            mean_columns(t, &c->y, t->y + j, n, sums);
        else
            columns(t, &c->y, t->y + j, n, sums);
#if defined(TAMIS_AVX512)
        if (c->groups.pixels > 0) {
            row_groups(t, a, &c->groups, sums, row);
            continue;
        }
#endif
        if (t->step == 1 && a->pitch == 8)
            row_1(t, a, sums, row, 8);
        else if (t->step == 1)
            row_1(t, a, sums, row, 16);
        else if (t->step == 2)
            row_packed(t, a, sums, row, 2);
        else if (t->step == 3)
            row_packed(t, a, sums, row, 3);
        else
            row_packed(t, a, sums, row, 4);
    }
}
