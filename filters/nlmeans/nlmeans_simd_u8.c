/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means of 8-bit samples in 16-bit integers.
 *
 * The columns of a tile are dealt to the lanes of a vector in runs: vector i of a row has
 * column i of every run. So a step to the side is a step to another vector, nothing is ever
 * shuffled or loaded across a cache line, and sums over the patch's width stay in registers.
 *
 * For up to GROUP offsets of the same dy at a time, a row of squared differences becomes a row of
 * sums over the width of the patch, these sums over its height, these weights. Sums saturate where
 * no weight is left, and are added up from sums of two neighbors, not by running sums, which
 * saturation forbids. Squares are scaled so that sums over the width never saturate, as saturating
 * additions take twice the time of others; for small h they are whole, and all sums saturate.
 * Then each weight is given to both pixels of its pair by dot products of two offsets at a time:
 * exact integers, so that it makes no difference in which order pairs come. Pairs that reach into
 * another lane's run add to columns beyond the own run, which at the end are added to where they
 * belong.
 *
 * Weights have 15 bits. Rounding them would drop the small ones that an isolated pixel is left
 * with, however many these are; therefore each offset rounds at another threshold.
 */
#include "nlmeans_power.h"

enum { LANES = NLMEANS_LANES, GROUP = NLMEANS_GROUP };

/* Columns of a row for which there are weights: those of the tile and, where only the second pixel
 * of a pair lies in the tile, as many more to each side as the search window reaches. */
typedef struct field {
    const nlmeans_coef *coef;
    const tamis_tile *tile;
    int w, h, run;
    int planes;
    ptrdiff_t row;                             /* vectors in a row of samples */
    const tv_u16 *samples[TAMIS_MAX_CHANNELS]; /* row 0, column 0 of each run */
    tv_s32 *sums;                              /* row 0, column 0 of each run */
    ptrdiff_t sums_row, sums_column;           /* in vectors */
    tv_u16 *kept[GROUP];    /* rows of sums over the patch's width: see weigh_row() */
    tv_u16 *weights[GROUP]; /* one row each, with zeros beside it */
    tv_u16 *zeros;          /* such a row of zeros */
} field;

static ptrdiff_t slot(int y, int rows)
{
    return (y % rows + rows) % rows;
}

/* How weights come from sums of squared differences: see nlmeans_levels. */
typedef enum mode {
    SCALED,       /* sums over the patch's width do not saturate; there is nothing to take off */
    SCALED_MOVED, /* the same with a floor, or weights that are halved */
    WHOLE         /* exact sums, which may saturate */
} mode;

/* Constants. */
typedef struct scale {
    nlmeans_power power;
    tv_u16 round, factor, floor, octave, limit;
    int shift;
} scale;

static scale load_scale(const nlmeans_levels *v, int phase)
{
    return (scale){
        .power = nlmeans_load_power(v, phase % NLMEANS_PHASES),
        .round = words_all(v->round),
        .factor = words_all(v->factor),
        .floor = words_all(v->floor),
        .octave = words_all(v->one < 32767 ? (uint16_t)(1 << v->octave) : 0),
        .limit = words_all(v->limit),
        .shift = v->shift,
    };
}
TAMIS_INLINE tv_u16 add(tv_u16 a, tv_u16 b, mode m)
{
    return m == WHOLE ? words_add_saturated(a, b) : a + b;
}

TAMIS_INLINE tv_u16 square(const scale *s, const tv_u16 *a, const tv_u16 *b, mode m)
{
    tv_u16 d = *a - *b;
    d *= d;
    return m == WHOLE ? d : words_multiply_high(d + s->round, s->factor);
}

/* Squared differences of the samples at two places of their planes. */
TAMIS_INLINE tv_u16 squares(const field *f, const scale *s, ptrdiff_t here, ptrdiff_t there, mode m,
                            int planes)
{
    tv_u16 sum = square(s, f->samples[0] + here, f->samples[0] + there, m);
    for (int p = 1; p < planes; p++)
        sum = add(sum, square(s, f->samples[p] + here, f->samples[p] + there, m), m);
    return sum;
}

/* The weight 2^-t, where t is the sum in parts of an octave, or what v->shift and v->factor make of
 * it. */
TAMIS_INLINE tv_u16 weigh(const scale *s, tv_u16 t, mode m)
{
    if (m != SCALED)
        t = words_subtract_saturated(t, s->floor);
    if (m == WHOLE) {
        tv_u16 none = (tv_u16)(t >= s->limit);
        t = words_multiply_high(words_shift_left(t, s->shift), s->factor) | none;
    }
    if (m != SCALED)
        t = words_add_saturated(t, s->octave);
    return nlmeans_find_power(&s->power, t);
}
/* Sums on their way down the rows of one offset: of the last row over the patch's width, and of
 * pairs of rows. */
typedef struct heights {
    tv_u16 *last, *pair, *weights;
    const tv_u16 *older[3];
} heights;

/* From the sum over the patch's width of a new row that over its height, and the weight. */
TAMIS_INLINE void sum_height(const heights *k, const scale *s, ptrdiff_t i, tv_u16 sum, int r,
                             mode m)
{
    tv_u16 pair = words_add_saturated(sum, k->last[i]);
    k->last[i] = sum;
    for (int n = 0; n < r; n++)
        sum = words_add_saturated(sum, k->older[n][i]);
    k->pair[i] = pair;
    k->weights[i] = weigh(s, sum, m);
}

/* Sums on their way along a row: two[k] is that of the squares k and k + 1 of the 2 r before. */
typedef struct columns {
    tv_u16 two[5], one;
} columns;

TAMIS_INLINE tv_u16 sum_width(columns *c, tv_u16 next, int r, mode m)
{
    tv_u16 sum = next;
    for (int k = 0; k < r; k++)
        sum = add(sum, c->two[2 * k], m);
    for (int k = 0; k < 2 * r - 2; k++)
        c->two[k] = c->two[k + 1];
    c->two[2 * r - 2] = add(c->one, next, m);
    c->one = next;
    return sum;
}

/* Takes in row y of squares for offset (dy, dx), and gives the weights of row y - r, where r is
 * the radius of the patch. Kept are 2 r rows of sums over the patch's width and rows y, y + 1,
 * and one of those over row y - 1. The squares beyond a run's end begin the next lane's run. */
TAMIS_INLINE void weigh_row(const field *f, int g, int y, int dy, int dx, scale constants, int r,
                            mode m, int planes)
{
    const scale *s = &constants; /* a copy, which stays in registers */
    ptrdiff_t here = y * f->row - r, there = (y + dy) * f->row + dx - r;
    ptrdiff_t run = f->run, i = 0;
    tv_u16 head[6];
    columns c;
    heights k = {.last = f->kept[g] + 2 * r * run,
                 .pair = f->kept[g] + slot(y - 1, 2 * r) * run,
                 .weights = f->weights[g]};
    for (int n = 0; n < r; n++)
        k.older[n] = f->kept[g] + slot(y - 2 * r + 2 * n, 2 * r) * run;
    for (int n = 0; n < 2 * r; n++)
        head[n] = squares(f, s, here + n, there + n, m, planes);
    for (int n = 0; n < 2 * r - 1; n++)
        c.two[n] = add(head[n], head[n + 1], m);
    c.one = head[2 * r - 1];
    for (; i < run - 2 * r; i++) {
        tv_u16 next = squares(f, s, here + i + 2 * r, there + i + 2 * r, m, planes);
        sum_height(&k, s, i, sum_width(&c, next, r, m), r, m);
    }
    for (int n = 0; n < 2 * r; n++, i++) {
        tv_u16 next = words_next_lane(head[n]);
        sum_height(&k, s, i, sum_width(&c, next, r, m), r, m);
    }
}

/* 16-bit lanes of two vectors side by side. */
typedef struct pairs {
    tv_s32 lo, hi;
} pairs;

TAMIS_INLINE pairs interleave(tv_u16 a, tv_u16 b)
{
    tv_s16 lo, hi;
    tv_interleave_s16((tv_s16)a, (tv_s16)b, &lo, &hi);
    return (pairs){(tv_s32)lo, (tv_s32)hi};
}

TAMIS_INLINE pairs dot(pairs sum, pairs a, pairs b)
{
    return (pairs){tv_dot_s16(sum.lo, (tv_s16)a.lo, (tv_s16)b.lo),
                   tv_dot_s16(sum.hi, (tv_s16)a.hi, (tv_s16)b.hi)};
}

TAMIS_INLINE pairs load_pairs(const tv_s32 *from)
{
    return (pairs){from[0], from[1]};
}

TAMIS_INLINE void store_pairs(tv_s32 *to, pairs v)
{
    to[0] = v.lo;
    to[1] = v.hi;
}

/* What the offsets of a group, two at a time, add to the sums of a row: weights a[n] and b[n] for
 * samples k[n] and k[n] + 1 of each plane. All counted in columns from the first one. */
typedef struct shares {
    const tv_u16 *a[GROUP / 2], *b[GROUP / 2];
    ptrdiff_t k[GROUP / 2];
} shares;

TAMIS_INLINE pairs load_samples(const tv_u16 *samples, ptrdiff_t k)
{
    return interleave(samples[k], samples[k + 1]);
}

/* The samples of the second pair of offsets are those of the first two columns later, or earlier:
 * ahead says which. For one plane they stay in registers. */
TAMIS_INLINE void add_shares(const field *f, tv_s32 *sums, ptrdiff_t count, const shares *s,
                             int ahead, int group, int planes)
{
    const pairs ones = {(tv_s32)words_all(1), (tv_s32)words_all(1)};
    const int number = (group + 1) / 2, newest = ahead ? number - 1 : 0;
    pairs kept[3];
    for (int n = 0; n < 2 && planes == 1 && number == 2; n++)
        kept[n] = load_samples(f->samples[0] + s->k[1 - newest], n);
    for (ptrdiff_t i = 0; i < count; i++, sums += 2 * (planes + 1)) {
        pairs w[GROUP / 2], weight = load_pairs(sums + 2 * planes);
        for (int n = 0; n < number; n++) {
            w[n] = interleave(s->a[n][i], s->b[n][i]);
            weight = dot(weight, w[n], ones);
        }
        store_pairs(sums + 2 * planes, weight);
        for (int p = 0; p < planes; p++) {
            pairs sum = load_pairs(sums + 2 * p);
            if (planes == 1 && number == 2) {
                kept[2] = load_samples(f->samples[0] + s->k[newest], i);
                sum = dot(dot(sum, w[newest], kept[2]), w[1 - newest], kept[0]);
                kept[0] = kept[1];
                kept[1] = kept[2];
            } else {
                for (int n = 0; n < number; n++)
                    sum = dot(sum, w[n], load_samples(f->samples[p] + s->k[n], i));
            }
            store_pairs(sums + 2 * p, sum);
        }
    }
}

/* Gives the weights of row y to both pixels of each pair. Where the group is odd, the last weight
 * is a row of zeros. */
TAMIS_INLINE void add_row(const field *f, int y, int dy, int dx, int group, int planes)
{
    const tv_u16 *weights[GROUP];
    shares s;
    for (int g = 0; g < GROUP; g++)
        weights[g] = g < group ? f->weights[g] : f->zeros;
    for (int n = 0; n < GROUP / 2; n++) {
        s.a[n] = weights[2 * n];
        s.b[n] = weights[2 * n + 1];
        s.k[n] = (y + dy) * f->row + dx + 2 * n;
    }
    if (y >= 0)
        add_shares(f, f->sums + y * f->sums_row, f->run, &s, 1, group, planes);
    for (int n = 0; n < GROUP / 2; n++) {
        s.a[n] = weights[2 * n + 1] - 2 * n - 1;
        s.b[n] = weights[2 * n] - 2 * n;
        s.k[n] = y * f->row - 2 * n - 1;
    }
    if (y + dy < f->h)
        add_shares(f, f->sums + (y + dy) * f->sums_row + dx * f->sums_column, f->run + group - 1,
                   &s, 0, group, planes);
}

/* The offsets (dy, dx) .. (dy, dx + group - 1). */
TAMIS_INLINE void add_group(const field *f, int dy, int dx, int group, int r, mode m, int planes)
{
    scale s[GROUP];
    for (int g = 0; g < group; g++)
        s[g] = load_scale(&f->coef->levels, dy * (2 * f->coef->sx + 1) + dx + g + f->coef->sx);
    for (int y = -dy - r; y < f->h + r; y++) {
        for (int g = 0; g < group; g++)
            weigh_row(f, g, y, dy, dx + g, s[g], r, m, planes);
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

TAMIS_INLINE void add_all(const field *f, int r, mode m, int planes)
{
    const nlmeans_coef *k = f->coef;
    for (int dy = 0; dy <= k->sy; dy++)
        for (int dx = dy ? -k->sx : 1; dx <= k->sx && !tamis_tile_canceled(f->tile); dx += GROUP)
            add_group(f, dy, dx, k->sx - dx + 1 < GROUP ? k->sx - dx + 1 : GROUP, r, m, planes);
}

/* Each combination as code of its own. */
#define ADD_ALL(r, planes)                                                                         \
    static void add_all_##r##_##planes(const field *f)                                             \
    {                                                                                              \
        if (f->coef->levels.whole)                                                                 \
            add_all(f, r, WHOLE, planes);                                                          \
        else if (f->coef->levels.floor || f->coef->levels.one < 32767)                             \
            add_all(f, r, SCALED_MOVED, planes);                                                   \
        else                                                                                       \
            add_all(f, r, SCALED, planes);                                                         \
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
static void deal_row(const field *f, const uint8_t *row, int step, tv_u16 *to)
{
    int margin = f->coef->sx + f->coef->px, first = -f->coef->sx - margin;
    memset(to, 0, (size_t)f->row * sizeof *to);
    for (int l = 0; l < LANES; l++) {
        uint16_t *lane = (uint16_t *)to + words_place(l);
        int x = first + l * f->run, begin = x < -margin ? -margin - x : 0;
        int end = f->w + margin - x < f->row ? f->w + margin - x : (int)f->row;
        for (int i = begin; i < end; i++)
            lane[i * LANES] = row[(ptrdiff_t)(x + i) * step];
    }
}

/* The pixel itself has weight 1. */
static void start_sums(const field *f)
{
    const tv_s32 one = f->coef->levels.one - (tv_s32){0};
    const nlmeans_coef *k = f->coef;
    for (int y = 0; y < f->h; y++) {
        tv_s32 *sums = f->sums + y * f->sums_row - k->sx * f->sums_column;
        memset(sums, 0, (size_t)f->sums_row * sizeof *sums);
        sums += k->sx * f->sums_column;
        for (int i = 0; i < f->run; i++, sums += f->sums_column) {
            for (int p = 0; p < f->planes; p++) {
                pairs v = interleave(f->samples[p][y * f->row + i], words_all(0));
                store_pairs(sums + 2 * p, (pairs){v.lo * one, v.hi * one});
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

/* Whole numbers; they fit 8 bits. */
static tv_s32 quotient(tv_s32 value, tv_s32 weight)
{
    return tv_round_f32(__builtin_convertvector((tv_u32)value, tv_f32) /
                        __builtin_convertvector((tv_u32)weight, tv_f32));
}

static void store_row(const field *f, int y, int p, uint8_t *dst, int step)
{
    uint8_t *bytes = (uint8_t *)f->weights[0];
    const tv_s32 *sums = f->sums + y * f->sums_row;
    for (int i = 0; i < f->run; i++, sums += f->sums_column) {
        const tv_s32 *weight = sums + 2 * f->planes;
        tv_u16 v =
            tv_narrow_s32(quotient(sums[2 * p], weight[0]), quotient(sums[2 * p + 1], weight[1]));
        tv_u8h narrow = __builtin_convertvector(v, tv_u8h);
        memcpy(bytes + i * LANES, &narrow, sizeof narrow);
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
    *next += vectors * sizeof(tv_u16);
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
        memset(f->weights[g], 0, row * sizeof(tv_u16));
        f->weights[g] += GROUP;
    }
    f->zeros = take(&next, (size_t)f->run + 2 * GROUP);
    memset(f->zeros, 0, ((size_t)f->run + 2 * GROUP) * sizeof(tv_u16));
    f->zeros += GROUP;
    int margin = k->sy + k->py;
    for (int p = 0; p < f->planes; p++) {
        tv_u16 *rows = take(&next, (size_t)((f->h + 2 * margin) * f->row));
        f->samples[p] = rows + margin * f->row + k->sx + k->px;
    }
}

/* Sample c of the pixels of the planes from first on. */
static void filter_channel(const tamis_tile *t, const nlmeans_coef *k, void *scratch, int first,
                           int c)
{
    field f = {.coef = k, .tile = t, .w = t->w, .h = t->h, .planes = k->colors};
    int margin = k->sy + k->py;
    f.run = nlmeans_run(k, t->w, LANES);
    f.row = f.run + 2 * (k->sx + k->px);
    lay_out(&f, scratch);
    for (int p = 0; p < f.planes; p++)
        for (int y = -margin; y < t->h + margin; y++)
            deal_row(&f, (const uint8_t *)t->src[first + p][y] + c, t->step,
                     (tv_u16 *)f.samples[p] + y * f.row - k->sx - k->px);
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
