/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means of 8-bit samples in 16-bit integers, for machines that permute 16-bit lanes.
 *
 * The columns of a tile are dealt to the 32 lanes of a vector in runs: vector i of a row has
 * column i of every run. So a step to the side is a step to another vector, nothing is ever
 * shuffled or loaded across a cache line, and sums over the patch's width stay in registers.
 *
 * For up to GROUP offsets of the same dy at a time, a row of squared differences becomes a row of
 * sums over the width of the patch, these sums over its height, these weights. Sums saturate where
 * no weight is left, and are added up from sums of two neighbors, not by running sums, which
 * saturation forbids. Then each weight is given to both pixels of its pair by dot products of two
 * offsets at a time: exact integers, so that it makes no difference in which order pairs come.
 * Pairs that reach into another lane's run add to columns beyond the own run, which at the end
 * are added to where they belong.
 *
 * Weights have 15 bits. Rounding them would drop the small ones that an isolated pixel is left
 * with, however many these are; therefore each offset rounds at another threshold. */
#include "nlmeans_simd.h"

#if defined(TAMIS_AVX512)

enum { LANES = 32, GROUP = NLMEANS_GROUP };

/* Columns of a row for which there are weights: those of the tile and, where only the second pixel
 * of a pair lies in the tile, as many more to each side as the search window reaches. */
typedef struct field {
    const nlmeans_coef *coef;
    int w, h, run;
    int planes;
    ptrdiff_t row;                              /* vectors in a row of samples */
    const __m512i *samples[TAMIS_MAX_CHANNELS]; /* row 0, column 0 of each run */
    __m512i *sums;                              /* row 0, column 0 of each run */
    ptrdiff_t sums_row, sums_column;            /* in vectors */
    __m512i *kept[GROUP];    /* rows of sums over the patch's width: see weigh_row() */
    __m512i *weights[GROUP]; /* one row each, with zeros beside it */
} field;

/* Where lane l of the runs is in a vector: so that unpacking to 32 bits brings lanes in order. */
static int place_of(int l)
{
    return l < 16 ? l / 4 * 8 + l % 4 : (l - 16) / 4 * 8 + 4 + l % 4;
}

static ptrdiff_t slot(int y, int rows)
{
    return (y % rows + rows) % rows;
}

TAMIS_INLINE __m512i square(const nlmeans_levels *v, const __m512i *a, const __m512i *b, int exact)
{
    __m512i d = _mm512_sub_epi16(_mm512_load_si512(a), _mm512_load_si512(b));
    d = _mm512_mullo_epi16(d, d);
    if (exact)
        return d;
    d = _mm512_adds_epu16(d, _mm512_set1_epi16((int16_t)v->round));
    return _mm512_mulhi_epu16(d, _mm512_set1_epi16((int16_t)v->factor));
}

/* Of column i and offset columns further, dy rows below. */
TAMIS_INLINE __m512i squares(const field *f, ptrdiff_t here, ptrdiff_t there, int exact, int planes)
{
    const nlmeans_levels *v = &f->coef->levels;
    __m512i sum = square(v, f->samples[0] + here, f->samples[0] + there, exact);
    for (int p = 1; p < planes; p++)
        sum = _mm512_adds_epu16(sum, square(v, f->samples[p] + here, f->samples[p] + there, exact));
    return sum;
}

/* Constants of weigh(). */
typedef struct scale {
    __m512i power_low, power_high, fine, threshold, floor, factor, limit;
    __m128i shift;
} scale;

static scale load_scale(const nlmeans_levels *v, int phase)
{
    return (scale){
        .power_low = _mm512_load_si512(v->tables->power),
        .power_high = _mm512_load_si512(v->tables->power + 32),
        .fine = _mm512_load_si512(v->tables->fine),
        .threshold = _mm512_load_si512(v->tables->threshold[phase % NLMEANS_PHASES]),
        .floor = _mm512_set1_epi16((int16_t)v->floor),
        .factor = _mm512_set1_epi16((int16_t)v->factor),
        .limit = _mm512_set1_epi16((int16_t)v->limit),
        .shift = _mm_cvtsi32_si128(v->shift),
    };
}

/* 32767 * 2^(-t / 2048), where t is the sum, or what v->shift and v->factor make of it. */
TAMIS_INLINE __m512i weigh(const scale *s, __m512i sum, int exact)
{
    __m512i t = _mm512_subs_epu16(sum, s->floor);
    if (exact) {
        __mmask32 none = _mm512_cmpge_epu16_mask(t, s->limit);
        t = _mm512_mulhi_epu16(_mm512_sll_epi16(t, s->shift), s->factor);
        t = _mm512_mask_set1_epi16(t, none, -1);
    }
    /* Bits 5 .. 10 of t, then bits 0 .. 4, then bits 11 .. 15. */
    __m512i power = _mm512_permutex2var_epi16(s->power_low, _mm512_srli_epi16(t, 5), s->power_high);
    power = _mm512_mulhi_epu16(power, _mm512_permutexvar_epi16(t, s->fine));
    __m512i e = _mm512_srli_epi16(t, 11);
    power = _mm512_avg_epu16(power, _mm512_permutexvar_epi16(e, s->threshold));
    return _mm512_srlv_epi16(power, _mm512_min_epu16(e, _mm512_set1_epi16(15)));
}

/* Takes in row y of squares for offset (dy, dx), and gives the weights of row y - r, where r is
 * the radius of the patch. Kept are 2 r rows of sums over the patch's width and rows y, y + 1,
 * and one of those over row y - 1. */
TAMIS_INLINE void weigh_row(const field *f, int g, int y, int dy, int dx, const scale *s, int r,
                            int exact, int planes)
{
    ptrdiff_t here = y * f->row, there = (y + dy) * f->row + dx;
    __m512i *last = f->kept[g] + 2 * r * f->run, *weights = f->weights[g];
    __m512i *pairs = f->kept[g] + slot(y - 1, 2 * r) * f->run;
    const __m512i *older[3];
    __m512i two[5], one = squares(f, here - r, there - r, exact, planes);
    for (int k = 0; k < r; k++)
        older[k] = f->kept[g] + slot(y - 2 * r + 2 * k, 2 * r) * f->run;
    for (int k = 0; k < 2 * r - 1; k++) {
        __m512i next = squares(f, here - r + k + 1, there - r + k + 1, exact, planes);
        two[k] = _mm512_adds_epu16(one, next);
        one = next;
    }
    for (ptrdiff_t i = 0; i < f->run; i++) {
        __m512i next = squares(f, here + i + r, there + i + r, exact, planes);
        __m512i sum = next;
        for (int k = 0; k < r; k++)
            sum = _mm512_adds_epu16(sum, two[2 * k]);
        for (int k = 0; k < 2 * r - 2; k++)
            two[k] = two[k + 1];
        two[2 * r - 2] = _mm512_adds_epu16(one, next);
        one = next;

        __m512i pair = _mm512_adds_epu16(sum, _mm512_load_si512(last + i));
        _mm512_store_si512(last + i, sum);
        for (int k = 0; k < r; k++)
            sum = _mm512_adds_epu16(sum, _mm512_load_si512(older[k] + i));
        _mm512_store_si512(pairs + i, pair);
        _mm512_store_si512(weights + i, weigh(s, sum, exact));
    }
}

/* Adds to sums of count columns weights[g] times samples, which begin at samples[p] + at[g]. */
TAMIS_INLINE void add_weights(const field *f, __m512i *sums, ptrdiff_t count,
                              const __m512i *const *weights, const ptrdiff_t *at, int group,
                              int planes)
{
    const __m512i ones = _mm512_set1_epi16(1), zero = _mm512_setzero_si512();
    for (ptrdiff_t i = 0; i < count; i++, sums += 2 * (planes + 1)) {
        __m512i lo[4], hi[4];
        for (int p = 0; p <= planes; p++) {
            lo[p] = _mm512_load_si512(sums + 2 * p);
            hi[p] = _mm512_load_si512(sums + 2 * p + 1);
        }
        for (int g = 0; g < group; g += 2) {
            __m512i a = _mm512_load_si512(weights[g] + i);
            __m512i b = g + 1 < group ? _mm512_load_si512(weights[g + 1] + i) : zero;
            __m512i w_lo = _mm512_unpacklo_epi16(a, b), w_hi = _mm512_unpackhi_epi16(a, b);
            lo[planes] = _mm512_dpwssd_epi32(lo[planes], w_lo, ones);
            hi[planes] = _mm512_dpwssd_epi32(hi[planes], w_hi, ones);
            for (int p = 0; p < planes; p++) {
                a = _mm512_load_si512(f->samples[p] + at[g] + i);
                b = g + 1 < group ? _mm512_load_si512(f->samples[p] + at[g + 1] + i) : zero;
                lo[p] = _mm512_dpwssd_epi32(lo[p], w_lo, _mm512_unpacklo_epi16(a, b));
                hi[p] = _mm512_dpwssd_epi32(hi[p], w_hi, _mm512_unpackhi_epi16(a, b));
            }
        }
        for (int p = 0; p <= planes; p++) {
            _mm512_store_si512(sums + 2 * p, lo[p]);
            _mm512_store_si512(sums + 2 * p + 1, hi[p]);
        }
    }
}

/* Gives the weights of row y to both pixels of each pair. */
TAMIS_INLINE void add_row(const field *f, int y, int dy, int dx, int group, int planes)
{
    const __m512i *weights[GROUP];
    ptrdiff_t at[GROUP];
    for (int g = 0; g < group; g++) {
        weights[g] = f->weights[g];
        at[g] = (y + dy) * f->row + dx + g;
    }
    if (y >= 0)
        add_weights(f, f->sums + y * f->sums_row, f->run, weights, at, group, planes);
    for (int g = 0; g < group; g++) {
        weights[g] = f->weights[g] - g;
        at[g] = y * f->row - g;
    }
    if (y + dy < f->h)
        add_weights(f, f->sums + (y + dy) * f->sums_row + dx * f->sums_column, f->run + group - 1,
                    weights, at, group, planes);
}

/* The offsets (dy, dx) .. (dy, dx + group - 1). */
TAMIS_INLINE void add_group(const field *f, int dy, int dx, int group, int r, int exact, int planes)
{
    scale s[GROUP];
    for (int g = 0; g < group; g++)
        s[g] = load_scale(&f->coef->levels, dy * (2 * f->coef->sx + 1) + dx + g + f->coef->sx);
    for (int y = -dy - r; y < f->h + r; y++) {
        for (int g = 0; g < group; g++)
            weigh_row(f, g, y, dy, dx + g, &s[g], r, exact, planes);
        if (y - r >= -dy)
            switch (group) {
            case 1:
                add_row(f, y - r, dy, dx, 1, planes);
                break;
            case 2:
                add_row(f, y - r, dy, dx, 2, planes);
                break;
            case 3:
                add_row(f, y - r, dy, dx, 3, planes);
                break;
            default:
                add_row(f, y - r, dy, dx, 4, planes);
            }
    }
}

TAMIS_INLINE void add_all(const field *f, int r, int exact, int planes)
{
    const nlmeans_coef *k = f->coef;
    for (int dy = 0; dy <= k->sy; dy++)
        for (int dx = dy ? -k->sx : 1; dx <= k->sx; dx += GROUP)
            add_group(f, dy, dx, k->sx - dx + 1 < GROUP ? k->sx - dx + 1 : GROUP, r, exact, planes);
}

/* Each combination as code of its own. */
#define ADD_ALL(r, planes)                                                                         \
    static void add_all_##r##_##planes(const field *f)                                             \
    {                                                                                              \
        if (f->coef->levels.exact)                                                                 \
            add_all(f, r, 1, planes);                                                              \
        else                                                                                       \
            add_all(f, r, 0, planes);                                                              \
    }
ADD_ALL(1, 1)
ADD_ALL(2, 1)
ADD_ALL(3, 1)
ADD_ALL(1, 3)
ADD_ALL(2, 3)
ADD_ALL(3, 3)
#undef ADD_ALL

static void add_planes(const field *f)
{
    static void (*const functions[2][3])(const field *) = {{add_all_1_1, add_all_2_1, add_all_3_1},
                                                           {add_all_1_3, add_all_2_3, add_all_3_3}};
    functions[f->planes > 1][f->coef->px - 1](f);
}

/* Deals the columns of a row: sample i of plane p's row y, where i has the step between them. */
static void deal_row(const field *f, const uint8_t *row, int step, __m512i *to)
{
    int margin = f->coef->sx + f->coef->px, first = -f->coef->sx - margin;
    memset(to, 0, (size_t)f->row * sizeof *to);
    for (int l = 0; l < LANES; l++) {
        uint16_t *lane = (uint16_t *)to + place_of(l);
        int x = first + l * f->run, begin = x < -margin ? -margin - x : 0;
        int end = f->w + margin - x < f->row ? f->w + margin - x : (int)f->row;
        for (int i = begin; i < end; i++)
            lane[i * LANES] = row[(ptrdiff_t)(x + i) * step];
    }
}

/* The pixel itself has weight 1. */
static void start_sums(const field *f)
{
    const __m512i one = _mm512_set1_epi32(f->coef->levels.one), zero = _mm512_setzero_si512();
    const nlmeans_coef *k = f->coef;
    for (int y = 0; y < f->h; y++) {
        __m512i *sums = f->sums + y * f->sums_row - k->sx * f->sums_column;
        memset(sums, 0, (size_t)f->sums_row * sizeof *sums);
        sums += k->sx * f->sums_column;
        for (int i = 0; i < f->run; i++, sums += f->sums_column) {
            for (int p = 0; p < f->planes; p++) {
                __m512i v = _mm512_load_si512(f->samples[p] + y * f->row + i);
                sums[2 * p] = _mm512_mullo_epi32(_mm512_unpacklo_epi16(v, zero), one);
                sums[2 * p + 1] = _mm512_mullo_epi32(_mm512_unpackhi_epi16(v, zero), one);
            }
            sums[2 * f->planes] = sums[2 * f->planes + 1] = one;
        }
    }
}

/* Adds the columns beyond each run to the other lane's run that they belong to. */
static void fold_sums(const field *f, int y)
{
    int count = LANES * (f->planes + 1);
    uint32_t *own = (uint32_t *)(f->sums + y * f->sums_row);
    for (int i = 0; i < f->run; i++, own += count)
        for (int m = 1; i + m * f->run < f->run + f->coef->sx || i - m * f->run >= -f->coef->sx;
             m++)
            for (int p = 0; p <= f->planes && m < LANES; p++) {
                const uint32_t *right = own + m * f->run * count + p * LANES;
                const uint32_t *left = own - m * f->run * count + p * LANES;
                if (i + m * f->run < f->run + f->coef->sx)
                    for (int l = m; l < LANES; l++)
                        own[p * LANES + l] += right[l - m];
                if (i - m * f->run >= -f->coef->sx)
                    for (int l = 0; l < LANES - m; l++)
                        own[p * LANES + l] += left[l + m];
            }
}

static __m512i quotient(__m512i value, __m512i weight)
{
    return _mm512_cvtps_epi32(_mm512_div_ps(_mm512_cvtepu32_ps(value), _mm512_cvtepu32_ps(weight)));
}

static void store_row(const field *f, int y, int p, uint8_t *dst, int step)
{
    uint8_t *bytes = (uint8_t *)f->weights[0];
    const __m512i *sums = f->sums + y * f->sums_row;
    for (int i = 0; i < f->run; i++, sums += f->sums_column) {
        const __m512i *weight = sums + 2 * f->planes;
        __m128i lo = _mm512_cvtepi32_epi8(quotient(sums[2 * p], weight[0]));
        __m128i hi = _mm512_cvtepi32_epi8(quotient(sums[2 * p + 1], weight[1]));
        _mm_store_si128((__m128i *)(bytes + i * LANES), lo);
        _mm_store_si128((__m128i *)(bytes + i * LANES + 16), hi);
    }
    for (int l = 0; l < LANES; l++)
        for (int i = 0, x = l * f->run - f->coef->sx; i < f->run; i++, x++)
            if (x >= 0 && x < f->w)
                dst[(ptrdiff_t)x * step] = bytes[i * LANES + l];
}

/* Lays out the scratch; samples are filled in by the caller. */
static void *take(char **next, size_t vectors)
{
    void *p = *next;
    *next += vectors * sizeof(__m512i);
    return p;
}

static void lay_out(field *f, void *scratch)
{
    const nlmeans_coef *k = f->coef;
    char *next = scratch;
    f->sums_column = 2 * (f->planes + 1);
    f->sums_row = (f->run + 2 * k->sx) * f->sums_column;
    f->sums = take(&next, (size_t)(f->h * f->sums_row));
    f->sums += k->sx * f->sums_column;
    for (int g = 0; g < GROUP; g++) {
        size_t row = (size_t)f->run + 2 * GROUP;
        f->kept[g] = take(&next, (2 * (size_t)k->px + 1) * (size_t)f->run);
        f->weights[g] = take(&next, row);
        memset(f->weights[g], 0, row * sizeof(__m512i));
        f->weights[g] += GROUP;
    }
    int margin = k->sy + k->py;
    for (int p = 0; p < f->planes; p++) {
        __m512i *rows = take(&next, (size_t)((f->h + 2 * margin) * f->row));
        f->samples[p] = rows + margin * f->row + k->sx + k->px;
    }
}

/* Sample c of the pixels of the planes from first on. */
static void filter_channel(const tamis_tile *t, const nlmeans_coef *k, void *scratch, int first,
                           int c)
{
    field f = {.coef = k, .w = t->w, .h = t->h, .planes = k->colors};
    int margin = k->sy + k->py;
    f.run = nlmeans_run(k, t->w);
    f.row = f.run + 2 * (k->sx + k->px);
    lay_out(&f, scratch);
    for (int p = 0; p < f.planes; p++)
        for (int y = -margin; y < t->h + margin; y++)
            deal_row(&f, (const uint8_t *)t->src[first + p][y] + c, t->step,
                     (__m512i *)f.samples[p] + y * f.row - k->sx - k->px);
    start_sums(&f);
    add_planes(&f);
    for (int y = 0; y < t->h; y++) {
        fold_sums(&f, y);
        for (int p = 0; p < f.planes; p++)
            store_row(&f, y, p, (uint8_t *)t->dst[first + p] + y * t->dst_stride[first + p] + c,
                      t->step);
    }
}

void TAMIS_FN(nlmeans_levels)(const tamis_tile *tile, const nlmeans_coef *coef, void *scratch,
                              int first)
{
    for (int c = 0; c < tile->step; c++)
        filter_channel(tile, coef, scratch, first, c);
}

#endif
