/* SPDX-License-Identifier: Apache-2.0 */
/* Bilateral rows for 8 bit with weights of 16 bits, for machines that look up 64 bytes in one
 * instruction (VBMI) and have dot products of bytes (VNNI).
 *
 * The window without its center falls into quads: four taps that a quarter turn maps onto each
 * other, with one table of 16-bit weights, spatial weight included, for the difference D. For 64
 * samples a quad's taps are interleaved into four vectors, in which each 32-bit lane holds the
 * four taps of one sample. The high and the low bytes of their weights are looked up, and dot
 * products add weight * value and weight of all four taps to the lane's sums. Values are kept minus
 * 128, as those dot products want them signed. All sums are exact integers: the one error is that
 * of rounding weights to 16 bits.
 *
 * That is about 15 instructions for 64 taps; a polynomial in floats takes 10 for 16. Where several
 * planes share a weight, a first pass keeps the weights of 64 pixels and a second one applies them
 * to each plane. Euclidean distances are no index for a table: from D^2 in 16 bits the power of
 * two comes as the product of two table entries and a shift. */
#include "bilateral_simd.h"

#if defined(TAMIS_AVX512)

/* Taps of 64 samples: a 32-bit lane has the four taps of one sample, and pack() brings the lanes
 * into the order of the samples. */
typedef struct lanes {
    __m512i a, b, c, d;
} lanes;

TAMIS_INLINE lanes interleave(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab_lo = _mm512_unpacklo_epi8(a, b), ab_hi = _mm512_unpackhi_epi8(a, b);
    __m512i cd_lo = _mm512_unpacklo_epi8(c, d), cd_hi = _mm512_unpackhi_epi8(c, d);
    return (lanes){_mm512_unpacklo_epi16(ab_lo, cd_lo), _mm512_unpackhi_epi16(ab_lo, cd_lo),
                   _mm512_unpacklo_epi16(ab_hi, cd_hi), _mm512_unpackhi_epi16(ab_hi, cd_hi)};
}

TAMIS_INLINE __m512i pack(lanes l)
{
    return _mm512_packus_epi16(_mm512_packus_epi32(l.a, l.b), _mm512_packus_epi32(l.c, l.d));
}

/* The four taps of a quad; at points at the first of 64 samples. */
TAMIS_INLINE lanes load_quad(const int8_t *at, const ptrdiff_t *offset)
{
    return interleave(_mm512_loadu_si512(at + offset[0]), _mm512_loadu_si512(at + offset[1]),
                      _mm512_loadu_si512(at + offset[2]), _mm512_loadu_si512(at + offset[3]));
}

/* Each sample four times. */
TAMIS_INLINE lanes load_center(const int8_t *at)
{
    __m512i v = _mm512_loadu_si512(at);
    return interleave(v, v, v, v);
}

/* |a - b| of signed bytes, as unsigned ones. */
TAMIS_INLINE __m512i difference(__m512i a, __m512i b)
{
    return _mm512_sub_epi8(_mm512_max_epi8(a, b), _mm512_min_epi8(a, b));
}

/* One half of the table, and both. Indices above 127 count modulo 128. */
TAMIS_INLINE __m512i look_up(const uint8_t *half, __m512i index)
{
    return _mm512_permutex2var_epi8(_mm512_load_si512(half), index, _mm512_load_si512(half + 64));
}

TAMIS_INLINE __m512i look_up_all(const uint8_t *table, __m512i index, __mmask64 upper)
{
    return _mm512_mask_blend_epi8(upper, look_up(table, index), look_up(table + 128, index));
}

typedef struct weights {
    __m512i high, low;
} weights;

TAMIS_INLINE weights find_weights(const uint8_t *table, __m512i d, bilateral_reach reach)
{
    __mmask64 upper = _mm512_movepi8_mask(d);
    weights w;
    if (reach == BILATERAL_REACH_FULL)
        w.high = look_up_all(table, d, upper);
    else
        w.high = _mm512_maskz_mov_epi8(~upper, look_up(table, d));
    if (reach == BILATERAL_REACH_HALF)
        w.low = _mm512_maskz_mov_epi8(~upper, look_up(table + 256, d));
    else
        w.low = look_up_all(table + 256, d, upper);
    return w;
}

/* Sums of products of values, or of ones, with the high and with the low bytes of weights. */
typedef struct sum {
    __m512i high, low;
} sum;

TAMIS_INLINE sum add(sum s, weights w, __m512i values)
{
    return (sum){_mm512_dpbusd_epi32(s.high, w.high, values),
                 _mm512_dpbusd_epi32(s.low, w.low, values)};
}

TAMIS_INLINE sum add_weights(sum s, weights w)
{
    return add(s, w, _mm512_set1_epi8(1));
}

/* What the center alone contributes: both bytes of its weight are 255. */
TAMIS_INLINE sum start_values(__m512i center)
{
    __m512i v = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi32(255), center);
    return (sum){v, v};
}

TAMIS_INLINE sum start_weights(void)
{
    return (sum){_mm512_set1_epi32(255), _mm512_set1_epi32(255)};
}

TAMIS_INLINE __m512 total(sum s)
{
    return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(s.high, 8), s.low));
}

/* 1 / sum of weights: an estimate and one Newton step, far more exact than a level. */
TAMIS_INLINE __m512 reciprocal(sum weight)
{
    __m512 v = total(weight), r = _mm512_rcp14_ps(v);
    return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(v, r, _mm512_set1_ps(1)), r);
}

/* The mean, to nearest, ties to even. */
TAMIS_INLINE __m512i mean(sum value, __m512 scale)
{
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(total(value), scale, _mm512_set1_ps(128)));
}

/* The planes of a pixel, minus 128, with their margins, and where a quad's taps lie. */
typedef struct source {
    const bilateral_coef *coef;
    const int8_t *plane[TAMIS_MAX_CHANNELS]; /* row 0, column 0 */
    ptrdiff_t stride;
    ptrdiff_t offset[BILATERAL_TABLE_TAPS / 4][4];
    uint8_t *weights; /* for one block */
} source;

static const int8_t *copy_plane(const tamis_tile *t, const source *s, int p, int8_t *to)
{
    const bilateral_coef *k = s->coef;
    ptrdiff_t margin = (ptrdiff_t)k->rx * t->step, end = (ptrdiff_t)t->w * t->step + margin;
    to += k->ry * s->stride + margin;
    for (int y = -k->ry; y < t->h + k->ry; y++) {
        const uint8_t *row = t->src[p][y];
        for (ptrdiff_t i = -margin; i < end; i += 64)
            _mm512_storeu_si512(
                to + y * s->stride + i,
                _mm512_xor_si512(_mm512_loadu_si512(row + i), _mm512_set1_epi8(-128)));
    }
    return to;
}

static void make_source(source *s, const tamis_tile *t, const bilateral_coef *k, void *scratch)
{
    s->coef = k;
    s->weights = scratch;
    s->stride = (ptrdiff_t)bilateral_row_bytes(k, t->w, t->step);
    for (int q = 0; q < k->quad_count; q++)
        for (int i = 0; i < 4; i++)
            s->offset[q][i] = k->quads[q].dy[i] * s->stride + k->quads[q].dx[i] * t->step;
    int8_t *at = (int8_t *)scratch + k->quad_count * BILATERAL_QUAD_WEIGHTS;
    for (int p = 0; p < t->planes; p++) {
        s->plane[p] = copy_plane(t, s, p, at);
        at += (ptrdiff_t)bilateral_rows(k, t->h) * s->stride;
    }
}

/* Sums for the samples of one of the four vectors of lanes. */
typedef struct sums {
    sum value, weight;
} sums;

TAMIS_INLINE sums start(__m512i center)
{
    return (sums){start_values(center), start_weights()};
}

TAMIS_INLINE void add_taps(sums *s, const uint8_t *table, __m512i taps, __m512i center,
                           bilateral_reach reach)
{
    weights w = find_weights(table, difference(taps, center), reach);
    s->value = add(s->value, w, taps);
    s->weight = add_weights(s->weight, w);
}

TAMIS_INLINE __m512i finish(sums s)
{
    return mean(s.value, reciprocal(s.weight));
}

/* 64 samples of one plane. */
TAMIS_INLINE __m512i filter_alone(const source *s, const int8_t *at, bilateral_reach reach)
{
    lanes center = load_center(at);
    sums a = start(center.a), b = start(center.b), c = start(center.c), d = start(center.d);
    for (int q = 0; q < s->coef->quad_count; q++) {
        const uint8_t *table = s->coef->tables + s->coef->quads[q].table;
        lanes taps = load_quad(at, s->offset[q]);
        add_taps(&a, table, taps.a, center.a, reach);
        add_taps(&b, table, taps.b, center.b, reach);
        add_taps(&c, table, taps.c, center.c, reach);
        add_taps(&d, table, taps.d, center.d, reach);
    }
    return pack((lanes){finish(a), finish(b), finish(c), finish(d)});
}

TAMIS_INLINE void filter_plane(const tamis_tile *t, const source *s, int p, bilateral_reach reach)
{
    ptrdiff_t count = (ptrdiff_t)t->w * t->step;
    for (int y = 0; y < t->h && !tamis_tile_canceled(t); y++) {
        const int8_t *row = s->plane[p] + y * s->stride;
        uint8_t *dst = (uint8_t *)t->dst[p] + y * t->dst_stride[p];
        for (ptrdiff_t i = 0; i < count; i += 64)
            tv_store_first(dst + i, (tv_u8)filter_alone(s, row + i, reach), (size_t)(count - i));
    }
}

/* Reciprocals of the sums of weights of 64 pixels. */
typedef struct scales {
    __m512 a, b, c, d;
} scales;

/* |differences| of 64 pixels from one tap, summed over the planes. Sums above 255 are 255: they
 * have no weight. */
TAMIS_INLINE __m512i distance(const source *s, ptrdiff_t at, ptrdiff_t offset)
{
    __m512i d = _mm512_setzero_si512();
    for (int p = 0; p < s->coef->colors; p++) {
        const int8_t *center = s->plane[p] + at;
        d = _mm512_adds_epu8(
            d, difference(_mm512_loadu_si512(center + offset), _mm512_loadu_si512(center)));
    }
    return d;
}

TAMIS_INLINE void keep_weights(sum *s, const uint8_t *table, __m512i d, bilateral_reach reach,
                               uint8_t *to)
{
    weights w = find_weights(table, d, reach);
    *s = add_weights(*s, w);
    _mm512_store_si512(to, w.high);
    _mm512_store_si512(to + 64, w.low);
}

/* The weights of 64 pixels for all quads. */
TAMIS_INLINE scales find_all_weights(const source *s, ptrdiff_t at, bilateral_reach reach)
{
    const bilateral_coef *k = s->coef;
    sum a = start_weights(), b = a, c = a, d = a;
    for (int q = 0; q < k->quad_count; q++) {
        const uint8_t *table = k->tables + k->quads[q].table;
        const ptrdiff_t *offset = s->offset[q];
        uint8_t *to = s->weights + q * BILATERAL_QUAD_WEIGHTS;
        lanes l = interleave(distance(s, at, offset[0]), distance(s, at, offset[1]),
                             distance(s, at, offset[2]), distance(s, at, offset[3]));
        keep_weights(&a, table, l.a, reach, to);
        keep_weights(&b, table, l.b, reach, to + 128);
        keep_weights(&c, table, l.c, reach, to + 256);
        keep_weights(&d, table, l.d, reach, to + 384);
    }
    return (scales){reciprocal(a), reciprocal(b), reciprocal(c), reciprocal(d)};
}

/* The same for Euclidean distances: from D^2 in 16 bits, 32 pixels at a time. */

typedef struct halves {
    __m512i lo, hi; /* of 64 bytes, widened, the lower and the upper 8 of each 16 */
} halves;

TAMIS_INLINE halves widen(const uint8_t *at)
{
    __m512i v = _mm512_loadu_si512(at), zero = _mm512_setzero_si512();
    return (halves){_mm512_unpacklo_epi8(v, zero), _mm512_unpackhi_epi8(v, zero)};
}

TAMIS_INLINE __m512i add_square(__m512i squares, __m512i a, __m512i b)
{
    __m512i d = _mm512_sub_epi16(a, b);
    return _mm512_adds_epu16(squares, _mm512_mullo_epi16(d, d));
}

TAMIS_INLINE __m512i weigh_square(const bilateral_squares *s, __m512i d2, __m512i exponent)
{
    d2 = _mm512_min_epu16(d2, _mm512_set1_epi16((int16_t)s->limit));
    d2 = _mm512_sll_epi16(d2, _mm_cvtsi32_si128(s->shift));
    __m512i t =
        _mm512_adds_epu16(_mm512_mulhi_epu16(d2, _mm512_set1_epi16((int16_t)s->factor)), exponent);
    /* Bits 5 .. 10 of t, then bits 0 .. 4, then bits 11 .. 15. */
    __m512i coarse = _mm512_permutex2var_epi16(
        _mm512_load_si512(s->powers), _mm512_srli_epi16(t, 5), _mm512_load_si512(s->powers + 32));
    __m512i fine = _mm512_permutexvar_epi16(t, _mm512_load_si512(s->powers + 64));
    return _mm512_srlv_epi16(_mm512_mulhi_epu16(coarse, fine), _mm512_srli_epi16(t, 11));
}

/* From the 16-bit weights of four taps the bytes of each pixel: order picks the high or the low
 * ones of words as unpacked here. */
TAMIS_INLINE void keep_words(sum *s, __m512i ab, __m512i cd, uint8_t *to)
{
    const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i low = _mm512_add_epi32(_mm512_mullo_epi32(count, _mm512_set1_epi32(0x04040404)),
                                         _mm512_set1_epi32(0x42400200));
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(0x01010101));
    weights w = {_mm512_permutex2var_epi8(ab, high, cd), _mm512_permutex2var_epi8(ab, low, cd)};
    *s = add_weights(*s, w);
    _mm512_store_si512(to, w.high);
    _mm512_store_si512(to + 64, w.low);
}

TAMIS_INLINE halves weigh_tap(const tamis_tile *t, const bilateral_coef *k,
                              const bilateral_quad *quad, int i, const halves *center, int y, int x,
                              int colors)
{
    __m512i lo = _mm512_setzero_si512(), hi = lo;
    __m512i exponent = _mm512_set1_epi16((int16_t)quad->exponent);
    for (int p = 0; p < colors; p++) {
        halves v = widen((const uint8_t *)t->src[p][y + quad->dy[i]] + x + quad->dx[i]);
        lo = add_square(lo, v.lo, center[p].lo);
        hi = add_square(hi, v.hi, center[p].hi);
    }
    return (halves){weigh_square(&k->squares, lo, exponent),
                    weigh_square(&k->squares, hi, exponent)};
}

TAMIS_INLINE scales find_all_squares(const tamis_tile *t, const source *s, int y, int x, int colors)
{
    const bilateral_coef *k = s->coef;
    halves center[TAMIS_MAX_CHANNELS];
    for (int p = 0; p < colors; p++)
        center[p] = widen((const uint8_t *)t->src[p][y] + x);
    sum a = start_weights(), b = a, c = a, d = a;
    for (int q = 0; q < k->quad_count; q++) {
        uint8_t *to = s->weights + q * BILATERAL_QUAD_WEIGHTS;
        halves w0 = weigh_tap(t, k, &k->quads[q], 0, center, y, x, colors);
        halves w1 = weigh_tap(t, k, &k->quads[q], 1, center, y, x, colors);
        halves w2 = weigh_tap(t, k, &k->quads[q], 2, center, y, x, colors);
        halves w3 = weigh_tap(t, k, &k->quads[q], 3, center, y, x, colors);
        keep_words(&a, _mm512_unpacklo_epi16(w0.lo, w1.lo), _mm512_unpacklo_epi16(w2.lo, w3.lo),
                   to);
        keep_words(&b, _mm512_unpackhi_epi16(w0.lo, w1.lo), _mm512_unpackhi_epi16(w2.lo, w3.lo),
                   to + 128);
        keep_words(&c, _mm512_unpacklo_epi16(w0.hi, w1.hi), _mm512_unpacklo_epi16(w2.hi, w3.hi),
                   to + 256);
        keep_words(&d, _mm512_unpackhi_epi16(w0.hi, w1.hi), _mm512_unpackhi_epi16(w2.hi, w3.hi),
                   to + 384);
    }
    return (scales){reciprocal(a), reciprocal(b), reciprocal(c), reciprocal(d)};
}

TAMIS_INLINE weights kept_weights(const uint8_t *from)
{
    return (weights){_mm512_load_si512(from), _mm512_load_si512(from + 64)};
}

TAMIS_INLINE __m512i apply_weights(const source *s, const int8_t *at, const scales *scale)
{
    lanes center = load_center(at);
    sum a = start_values(center.a), b = start_values(center.b);
    sum c = start_values(center.c), d = start_values(center.d);
    for (int q = 0; q < s->coef->quad_count; q++) {
        const uint8_t *from = s->weights + q * BILATERAL_QUAD_WEIGHTS;
        lanes taps = load_quad(at, s->offset[q]);
        a = add(a, kept_weights(from), taps.a);
        b = add(b, kept_weights(from + 128), taps.b);
        c = add(c, kept_weights(from + 256), taps.c);
        d = add(d, kept_weights(from + 384), taps.d);
    }
    return pack(
        (lanes){mean(a, scale->a), mean(b, scale->b), mean(c, scale->c), mean(d, scale->d)});
}

/* squares is the number of planes where distances are Euclidean, else 0. */
TAMIS_INLINE void filter_joint(const tamis_tile *t, const source *s, bilateral_reach reach,
                               int squares)
{
    for (int y = 0; y < t->h && !tamis_tile_canceled(t); y++) {
        for (int x = 0; x < t->w; x += 64) {
            ptrdiff_t at = y * s->stride + x;
            scales scale =
                squares ? find_all_squares(t, s, y, x, squares) : find_all_weights(s, at, reach);
            for (int p = 0; p < s->coef->colors; p++)
                tv_store_first((uint8_t *)t->dst[p] + y * t->dst_stride[p] + x,
                               (tv_u8)apply_weights(s, s->plane[p] + at, &scale),
                               (size_t)(t->w - x));
        }
    }
}

static void filter_squares(const tamis_tile *t, const source *s)
{
    switch (s->coef->colors) {
    case 2:
        filter_joint(t, s, BILATERAL_REACH_FULL, 2);
        break;
    case 3:
        filter_joint(t, s, BILATERAL_REACH_FULL, 3);
        break;
    default:
        filter_joint(t, s, BILATERAL_REACH_FULL, 4);
    }
}

TAMIS_INLINE void filter_all(const tamis_tile *t, const source *s, bilateral_reach reach)
{
    int alone = s->coef->colors > 1 ? s->coef->colors : 0;
    if (alone && s->coef->l1)
        filter_joint(t, s, reach, 0);
    else if (alone)
        filter_squares(t, s);
    for (int p = alone; p < t->planes; p++)
        filter_plane(t, s, p, reach);
}

void TAMIS_FN(bilateral_quads)(const tamis_tile *tile, const bilateral_coef *coef, void *scratch)
{
    source s;
    make_source(&s, tile, coef, scratch);
    switch (coef->reach) {
    case BILATERAL_REACH_HALF:
        filter_all(tile, &s, BILATERAL_REACH_HALF);
        break;
    case BILATERAL_REACH_TAIL:
        filter_all(tile, &s, BILATERAL_REACH_TAIL);
        break;
    default:
        filter_all(tile, &s, BILATERAL_REACH_FULL);
    }
}

#endif
