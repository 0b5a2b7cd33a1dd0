/* SPDX-License-Identifier: Apache-2.0 */
/* The search of non-local means in float arithmetic.
 *
 * Up to NLMEANS_TOGETHER offsets of the same dy at a time: of all pixels p of a row and q = p +
 * offset, the squared difference, its sums over the width of the patch, over its height, the
 * weight. As columns are dealt to lanes in runs, a step to the side is a step to another vector:
 * nothing is loaded across a cache line, and what sums over the width share stays in registers.
 * As w(p,q) = w(q,p), each weight serves both pixels and half the offsets suffice; near the tile's
 * edges p may lie outside it and only q inside.
 *
 * Results must not depend on where a tile begins. So no sum runs on from pixel to pixel: each is
 * added up from sums of two neighbors, in one order. And each pixel takes its weights in one order:
 * by groups of offsets, and for a group first as q, then as p, or the other way where both are in
 * one row; for rows are worked on downwards, and whole rows as p, then as q.
 *
 * What is summed is w * (in(q) - in(p)), whose rounding errors shrink with the differences. */
#include <float.h>

#include "nlmeans_simd.h"

typedef nlmeans_field field;
enum { GROUP = NLMEANS_TOGETHER, LANES = TV_FLOATS };
/* Radii of patches, equal to both sides, for which there is code of its own. */
enum { ANY_RADIUS = 0, MAX_RADIUS = 4 };

/* A step to another pixel, of the same picture or of another one. */
typedef struct offset {
    int dy, dx;
} offset;

/* Moves the value of each lane but the first to the lane before. */
TAMIS_INLINE tv_f32 next_lane(tv_f32 v)
{
#if defined(TAMIS_AVX512)
    return __builtin_shufflevector(v, v, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15);
#elif defined(TAMIS_AVX2)
    return __builtin_shufflevector(v, v, 1, 2, 3, 4, 5, 6, 7, 7);
#else
    return __builtin_shufflevector(v, v, 1, 2, 3, 3);
#endif
}

/* And that of each but the last to the lane behind. */
TAMIS_INLINE tv_f32 last_lane(tv_f32 v)
{
#if defined(TAMIS_AVX512)
    return __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
#elif defined(TAMIS_AVX2)
    return __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
#else
    return __builtin_shufflevector(v, v, 0, 0, 1, 2);
#endif
}

static ptrdiff_t slot(int y, int rows)
{
    return (y % rows + rows) % rows;
}

/* Squared differences of the samples at two places of their planes. */
TAMIS_INLINE tv_f32 squares(const field *f, ptrdiff_t here, ptrdiff_t there, int planes)
{
    tv_f32 sum = {0};
    for (int p = 0; p < planes; p++) {
        tv_f32 d = f->other_distance.planes[p][there] - f->distance.planes[p][here];
        sum = p ? tv_muladd_f32(d, d, sum) : d * d;
    }
    return sum;
}

/* The weight of a sum of squares is 2^(scale * sum + bias), at most 1. */
typedef struct exponent {
    tv_f32 scale, bias;
} exponent;

static exponent load_exponent(const field *f)
{
    const nlmeans_coef *k = f->coef;
    return (exponent){
        tv_splat_f32(-k->log2_range * TV_EXP2_UNIT / (float)f->distance.count),
        tv_splat_f32(k->log2_floor * TV_EXP2_UNIT),
    };
}

TAMIS_INLINE tv_f32 weigh(const exponent *e, tv_f32 sum, int finite)
{
    tv_f32 t = tv_muladd_f32(sum, e->scale, e->bias);
    tv_f32 w = tv_exp2_f32(tv_min_f32(t, (tv_f32){0}), 1);
    return finite ? w : (tv_f32)((tv_s32)w & (tv_s32)(sum <= FLT_MAX));
}

/* Sums on their way along a row: two[k] is that of the squares k and k + 1 of the 2 r before. */
typedef struct columns {
    tv_f32 two[2 * MAX_RADIUS - 1], one;
} columns;

TAMIS_INLINE tv_f32 add_pairs(tv_f32 one, const tv_f32 *two, int step, int r)
{
    if (r == 1)
        return one + two[0];
    if (r == 2)
        return (two[0] + two[step]) + one;
    if (r == 3)
        return (two[0] + two[step]) + (two[2 * step] + one);
    return (two[0] + two[step]) + (two[2 * step] + two[3 * step]) + one;
}

TAMIS_INLINE tv_f32 sum_width(columns *c, tv_f32 next, int r)
{
    tv_f32 sum = add_pairs(next, c->two, 2, r);
    for (int k = 0; k < 2 * r - 2; k++)
        c->two[k] = c->two[k + 1];
    c->two[2 * r - 2] = c->one + next;
    c->one = next;
    return sum;
}

/* Sums on their way down the rows of one offset: of the last row over the patch's width, and of
 * pairs of rows. */
typedef struct heights {
    tv_f32 *last, *pair;
    const tv_f32 *older[MAX_RADIUS];
} heights;

TAMIS_INLINE tv_f32 sum_height(const heights *k, ptrdiff_t i, tv_f32 sum, int r)
{
    tv_f32 pair = sum + k->last[i];
    k->last[i] = sum;
    tv_f32 older[MAX_RADIUS];
    for (int n = 0; n < r; n++)
        older[n] = k->older[n][i];
    k->pair[i] = pair;
    return add_pairs(sum, older, 1, r);
}

/* Takes in row y of squares for offset o, and gives the weights of row y - r, where r is the radius
 * of the patch. Kept are 2 r rows of sums over the patch's width and rows y, y + 1, and one of
 * those over row y - 1. The squares beyond a run's end begin the next lane's run. */
TAMIS_INLINE void weigh_near(const field *f, int g, int y, offset o, int r, int planes, int finite)
{
    const exponent e = load_exponent(f);
    ptrdiff_t here = y * f->row - r, there = (y + o.dy) * f->row + o.dx - r;
    ptrdiff_t run = f->run, i = 0;
    tv_f32 head[2 * MAX_RADIUS], *weights = f->weights[g];
    columns c;
    heights k = {.last = f->kept[g] + 2 * r * run, .pair = f->kept[g] + slot(y - 1, 2 * r) * run};
    for (int n = 0; n < r; n++)
        k.older[n] = f->kept[g] + slot(y - 2 * r + 2 * n, 2 * r) * run;
    for (int n = 0; n < 2 * r; n++)
        head[n] = squares(f, here + n, there + n, planes);
    for (int n = 0; n < 2 * r - 1; n++)
        c.two[n] = head[n] + head[n + 1];
    c.one = head[2 * r - 1];
    for (; i < run - 2 * r; i++) {
        tv_f32 next = squares(f, here + i + 2 * r, there + i + 2 * r, planes);
        weights[i] = weigh(&e, sum_height(&k, i, sum_width(&c, next, r), r), finite);
    }
    for (int n = 0; n < 2 * r; n++, i++) {
        tv_f32 sum = sum_width(&c, next_lane(head[n]), r);
        weights[i] = weigh(&e, sum_height(&k, i, sum, r), finite);
    }
}

/* The same for patches of any size, by plain sums. */
TAMIS_INLINE void weigh_any(const field *f, int g, int y, offset o, int planes, int finite)
{
    const nlmeans_coef *k = f->coef;
    const exponent e = load_exponent(f);
    const int width = 2 * k->px + 1, height = 2 * k->py + 1;
    ptrdiff_t here = y * f->row - k->px, there = (y + o.dy) * f->row + o.dx - k->px;
    tv_f32 *kept = f->kept[g], *newest = kept + slot(y, height) * f->run;
    for (ptrdiff_t i = 0; i < f->run + width - 1; i++)
        f->squares[i] = squares(f, here + i, there + i, planes);
    for (ptrdiff_t i = 0; i < f->run; i++) {
        tv_f32 sum = f->squares[i];
        for (int n = 1; n < width; n++)
            sum += f->squares[i + n];
        newest[i] = sum;
    }
    for (ptrdiff_t i = 0; i < f->run; i++) {
        tv_f32 sum = {0};
        for (int n = 1; n <= height; n++)
            sum += kept[slot(y + n, height) * f->run + i];
        f->weights[g][i] = weigh(&e, sum, finite);
    }
}

/* Weights for pixels to which one in another lane's run is o.dx columns away. */
static void spread_weights(const field *f, int g, offset o)
{
    tv_f32 *begin = f->weights[g], *end = begin + f->run;
    for (int n = 1; n <= o.dx; n++)
        begin[-n] = last_lane(end[-n]);
    for (int n = 0; n < -o.dx; n++)
        end[n] = next_lane(begin[n]);
}

/* What is alike for all columns of a row: for column i of row y, others lie in columns i + k[g] of
 * row v and have the weights w[g][i]. */
typedef struct shares {
    int y, v;
    const tv_f32 *w[GROUP];
    ptrdiff_t k[GROUP];
} shares;

TAMIS_INLINE void add_row(const field *f, const shares *s, int group, int planes, int finite)
{
    tv_f32 *sums = f->sums + (ptrdiff_t)s->y * f->run * (planes + 1);
    ptrdiff_t here = s->y * f->row, there = s->v * f->row;
    for (ptrdiff_t i = 0; i < f->run; i++, sums += planes + 1) {
        tv_f32 w[GROUP] = {0}, weight = sums[planes];
        for (int g = 0; g < group; g++) {
            w[g] = s->w[g][i];
            weight += w[g];
        }
        sums[planes] = weight;
        for (int p = 0; p < planes; p++) {
            const tv_f32 *other = f->other_values.planes[p] + there + i;
            tv_f32 center = f->values.planes[p][here + i], sum = sums[p];
            for (int g = 0; g < group; g++) {
                tv_f32 d = other[s->k[g]] - center;
                if (!finite) /* what has no weight may be infinite */
                    d = (tv_f32)((tv_s32)d & (w[g] != 0));
                sum = tv_muladd_f32(w[g], d, sum);
            }
            sums[p] = sum;
        }
    }
}

/* Gives the weights of row y to the pixels of that row, and to those that they lie beside. */
TAMIS_INLINE void add_weights(const field *f, int y, offset o, int same_frame, int group,
                              int planes, int finite)
{
    shares s = {.y = y, .v = y + o.dy};
    for (int g = 0; g < group; g++) {
        s.w[g] = f->weights[g];
        s.k[g] = o.dx + g;
    }
    if (y >= 0)
        add_row(f, &s, group, planes, finite);
    if (!same_frame || y + o.dy >= f->h)
        return;
    s = (shares){.y = y + o.dy, .v = y};
    for (int g = 0; g < group; g++) {
        s.w[g] = f->weights[g] - o.dx - g;
        s.k[g] = -o.dx - g;
    }
    add_row(f, &s, group, planes, finite);
}

/* Each combination that is worth code of its own: one plane, three, and any number or values that
 * are not moderate. */
typedef void weigh_fn(const field *f, int g, int y, offset o);
typedef void add_fn(const field *f, int y, offset o, int same_frame, int group);

#define WEIGH(r)                                                                                   \
    static void weigh_##r##_one(const field *f, int g, int y, offset o)                            \
    {                                                                                              \
        weigh_near(f, g, y, o, r, 1, 1);                                                           \
    }                                                                                              \
    static void weigh_##r##_three(const field *f, int g, int y, offset o)                          \
    {                                                                                              \
        weigh_near(f, g, y, o, r, 3, 1);                                                           \
    }                                                                                              \
    static void weigh_##r(const field *f, int g, int y, offset o)                                  \
    {                                                                                              \
        weigh_near(f, g, y, o, r, f->distance.count, 0);                                           \
    }
WEIGH(1)
WEIGH(2)
WEIGH(3)
WEIGH(4)
#undef WEIGH

static void weigh_0(const field *f, int g, int y, offset o)
{
    weigh_any(f, g, y, o, f->distance.count, 0);
}

#define ADD(suffix, planes, finite)                                                                \
    static void add_##suffix(const field *f, int y, offset o, int same_frame, int group)           \
    {                                                                                              \
        switch (group) {                                                                           \
        case 7:                                                                                    \
            add_weights(f, y, o, same_frame, 7, planes, finite);                                   \
            break;                                                                                 \
        case 5:                                                                                    \
            add_weights(f, y, o, same_frame, 5, planes, finite);                                   \
            break;                                                                                 \
        case 3:                                                                                    \
            add_weights(f, y, o, same_frame, 3, planes, finite);                                   \
            break;                                                                                 \
        default:                                                                                   \
            add_weights(f, y, o, same_frame, group, planes, finite);                               \
        }                                                                                          \
    }
ADD(one, 1, 1)
ADD(three, 3, 1)
ADD(any, f->values.count, 0)
#undef ADD

static weigh_fn *weigh_function(const field *f)
{
    static weigh_fn *const functions[MAX_RADIUS + 1][3] = {
        {weigh_0, weigh_0, weigh_0},           {weigh_1, weigh_1_one, weigh_1_three},
        {weigh_2, weigh_2_one, weigh_2_three}, {weigh_3, weigh_3_one, weigh_3_three},
        {weigh_4, weigh_4_one, weigh_4_three},
    };
    const nlmeans_coef *k = f->coef;
    int r = k->px == k->py && k->px <= MAX_RADIUS ? k->px : ANY_RADIUS, count = f->distance.count;
    return functions[r][!f->finite ? 0 : count == 1 ? 1 : count == 3 ? 2 : 0];
}

static add_fn *add_function(const field *f)
{
    return !f->finite             ? add_any
           : f->values.count == 1 ? add_one
           : f->values.count == 3 ? add_three
                                  : add_any;
}

/* The offsets o and, to the right of it, group - 1 more. */
static void add_group(const field *f, offset o, int same_frame, int group)
{
    weigh_fn *weigh_row = weigh_function(f);
    add_fn *add = add_function(f);
    int py = f->coef->py, begin = same_frame ? -o.dy : 0;
    for (int y = begin - py; y < f->h + py; y++) {
        for (int g = 0; g < group; g++) {
            offset q = {o.dy, o.dx + g};
            weigh_row(f, g, y, q);
            if (same_frame)
                spread_weights(f, g, q);
        }
        if (y - py >= begin)
            add(f, y - py, o, same_frame, group);
    }
}

/* Adds the sums to the totals. */
static void add_sums(const field *f)
{
    ptrdiff_t count = (ptrdiff_t)f->h * f->run * (f->values.count + 1);
    for (ptrdiff_t i = 0; i < count; i++) {
        f->totals[i] += f->sums[i];
        f->sums[i] = (tv_f32){0};
    }
}

void TAMIS_FN(nlmeans_search)(const nlmeans_field *f, int same_frame)
{
    const nlmeans_coef *k = f->coef;
    int pending = 0;
    for (int dy = same_frame ? 0 : -k->sy; dy <= k->sy; dy++) {
        for (int dx = same_frame && dy == 0 ? 1 : -k->sx; dx <= k->sx; dx += GROUP) {
            if (tamis_tile_canceled(f->tile))
                return;
            int group = k->sx - dx + 1 < GROUP ? k->sx - dx + 1 : GROUP;
            add_group(f, (offset){dy, dx}, same_frame, group);
            pending += group;
        }
        if (pending >= 64) {
            add_sums(f);
            pending = 0;
        }
    }
    add_sums(f);
}
