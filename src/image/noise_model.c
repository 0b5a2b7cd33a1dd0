/* SPDX-License-Identifier: Apache-2.0 */
/* From blocks of samples to the noise in them. */
#include <math.h>

#include "image/noise.h"

/* The weakest hundredth of the blocks counts, and all whose slow waves are not far above what the
 * noise itself puts into them. */
#define SHARE      0.01
#define LEAST      30
#define NOT_FAR    1.3
#define ITERATIONS 6
#define SETTLED    0.01
/* The median of a mean of 21 squares of normal deviates (chi-squared, by Wilson and Hilferty). */
#define MEDIAN_OF_21 0.96859
/* Blocks nearer to an end of the range, in standard deviations, have lost some of their noise. */
#define NEAR_END 2.0
/* Where more samples are impulses, samples at the ends count as such everywhere. */
#define IMPULSES_AT_LEAST 0.002
/* An impulse stands out by this many standard deviations, and this part of the range. */
#define STANDS_OUT 4.0
#define FAR_OUT    0.1

#define GROUPS         16
#define GROUP_AT_LEAST 120

/* Puts the numbers in such order that none before index k is larger than the one there, and none
 * after it is smaller; returns it. */
static float select_kth(float *v, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        float pivot = v[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                float t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return v[k];
}

/* The same of blocks, by their brightness. */
static void split_by_mean(tamis_noise_block *v, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        float pivot = v[lo + (hi - lo) / 2].mean;
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i].mean < pivot)
                i++;
            while (v[j].mean > pivot)
                j--;
            if (i <= j) {
                tamis_noise_block t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
}

/* Blocks of which all that keep() wants are moved to the front; how many these are. */
typedef struct blocks {
    tamis_noise_block *v;
    int64_t count;
    float *scratch;
    double low, high; /* ends of the range */
} blocks;

typedef int keep_fn(const blocks *b, const tamis_noise_block *v, double sigma);

static int64_t move_up(const blocks *b, keep_fn *keep, double sigma)
{
    int64_t n = 0;
    for (int64_t i = 0; i < b->count; i++)
        if (keep(b, &b->v[i], sigma)) {
            tamis_noise_block t = b->v[i];
            b->v[i] = b->v[n];
            b->v[n++] = t;
        }
    return n;
}

static int is_known(const blocks *b, const tamis_noise_block *v, double sigma)
{
    (void)b, (void)sigma;
    return v->quick >= 0;
}

static int ends(const tamis_noise_block *v)
{
    return v->at_low + v->at_high;
}

/* What blocks say if samples at the ends are noise that was cut off ... */
static int is_whole(const blocks *b, const tamis_noise_block *v, double sigma)
{
    (void)b, (void)sigma;
    return ends(v) <= 1;
}

/* ... and if they are impulses: one of them has been left in its block. */
static int is_cleared(const blocks *b, const tamis_noise_block *v, double sigma)
{
    (void)b, (void)sigma;
    return ends(v) != 1;
}

static int is_between(const blocks *b, const tamis_noise_block *v, double sigma)
{
    return (double)v->mean > b->low + NEAR_END * sigma &&
           (double)v->mean < b->high - NEAR_END * sigma;
}

/* ---- the level of noise */

/* What the weakest blocks say. */
typedef struct level {
    double variance, mean;
    double excess; /* energy of their slow waves, by that of noise */
    double count;
} level;

static void choose(const blocks *b, double limit, level *out)
{
    int64_t n = 0;
    double mean = 0, slow = 0;
    for (int64_t i = 0; i < b->count; i++)
        if ((double)b->v[i].slow <= limit) {
            b->scratch[n++] = b->v[i].quick;
            mean += (double)b->v[i].mean;
            slow += (double)b->v[i].slow;
        }
    out->variance = (double)select_kth(b->scratch, n, n / 2) / MEDIAN_OF_21;
    out->mean = mean / (double)n;
    out->excess = out->variance > 0 ? slow / (double)n / out->variance : slow > 0 ? 1e9 : 1;
    out->count = (double)n;
}

static level level_of(const blocks *b)
{
    level out = {0};
    if (b->count == 0)
        return out;
    int64_t k = (int64_t)(SHARE * (double)b->count);
    k = k < LEAST ? LEAST : k;
    k = k < b->count ? k : b->count;
    for (int64_t i = 0; i < b->count; i++)
        b->scratch[i] = b->v[i].slow;
    double weakest = (double)select_kth(b->scratch, b->count, k - 1), limit = weakest;
    for (int i = 0; i < ITERATIONS; i++) {
        double before = limit;
        choose(b, limit, &out);
        limit = fmax(weakest, NOT_FAR * out.variance);
        if (fabs(limit - before) <= SETTLED * limit)
            break;
    }
    return out;
}

/* ---- impulses */

/* How many impulses a block has on average that does not have exactly one, where the share is p. */
static double mean_but_one(double p)
{
    double one = TAMIS_NOISE_AREA * p * pow(1 - p, TAMIS_NOISE_AREA - 1);
    return (TAMIS_NOISE_AREA * p - one) / (1 - one);
}

static double share_for(double mean)
{
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double p = (low + high) / 2;
        if (mean_but_one(p) < mean)
            low = p;
        else
            high = p;
    }
    return low;
}

/* The share of samples at the ends in blocks that are flat apart from them and so far from the ends
 * that normal noise and shadows do not reach those. Of blocks with a single one it is not known. */
static double count_impulses(const blocks *b, double sigma)
{
    double seen = 0, found = 0, flat = 4 * sigma * sigma;
    double far = fmax(STANDS_OUT * sigma, FAR_OUT * (b->high - b->low));
    for (int64_t i = 0; i < b->count; i++)
        b->scratch[i] = b->v[i].slow;
    if (b->count)
        flat = fmax(flat, (double)select_kth(b->scratch, b->count, b->count / 4));
    for (int64_t i = 0; i < b->count; i++) {
        const tamis_noise_block *v = &b->v[i];
        double below = (double)v->mean - b->low, above = b->high - (double)v->mean;
        if ((double)v->slow > flat || fmin(below, above) <= far)
            continue;
        seen++;
        found += ends(v);
    }
    return seen >= LEAST ? share_for(found / seen) : 0;
}

/* ---- noise that grows with brightness */

/* variance = slope * level + offset, with weights. */
typedef struct line {
    double slope, offset;
} line;

static line fit(const level *g, const double *weight, int count)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        w += weight[i];
        x += weight[i] * g[i].mean;
        y += weight[i] * g[i].variance;
    }
    for (int i = 0; i < count; i++) {
        double dx = g[i].mean - x / w;
        xx += weight[i] * dx * dx;
        xy += weight[i] * dx * (g[i].variance - y / w);
    }
    double slope = xx > 0 ? xy / xx : 0;
    return (line){slope, y / w - slope * x / w};
}

static double at(line l, double mean)
{
    return l.slope * mean + l.offset;
}

/* How far groups are from a line, in parts of their variance. */
static double misfit(const level *g, const double *weight, int count, line l)
{
    double w = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        w += weight[i];
        sum += weight[i] * (g[i].variance - at(l, g[i].mean)) * (g[i].variance - at(l, g[i].mean));
    }
    return sum / w;
}

/* Groups count by their number of blocks, relative to their variance, and less the more texture
 * they hold; then less the farther they lie above the line. */
static line fit_groups(const level *g, int count, double *weight)
{
    double plain[GROUPS];
    line l = {0, 0};
    for (int i = 0; i < count; i++) {
        double texture = fmax(0, g[i].excess - 1);
        plain[i] = weight[i] =
            g[i].count / (g[i].variance * g[i].variance * (1 + 10 * texture * texture));
    }
    for (int k = 0; k < 10; k++) {
        l = fit(g, weight, count);
        for (int i = 0; i < count; i++) {
            double far = (g[i].variance - at(l, g[i].mean)) / (0.15 * g[i].variance);
            weight[i] = plain[i] / (1 + far * far);
        }
    }
    return l;
}

/* A slope that explains what a constant does not, over the brightnesses that there are. */
static int explains(const level *g, const double *weight, int count, line l)
{
    double w = 0, mean = 0;
    for (int i = 0; i < count; i++) {
        w += weight[i];
        mean += weight[i] * g[i].variance;
    }
    line constant = {0, mean / w};
    double first = at(l, g[0].mean), last = at(l, g[count - 1].mean);
    return l.slope > 0 && first > 0 && last > 1.4 * first &&
           misfit(g, weight, count, l) < 0.3 * misfit(g, weight, count, constant);
}

/* Divides the blocks into groups of about the same brightness. */
static int find_groups(const blocks *b, level *out)
{
    int count = 1;
    while (count < GROUPS && b->count >= 2 * (int64_t)count * GROUP_AT_LEAST)
        count *= 2;
    if (count < 4)
        return 0;
    for (int parts = 1; parts < count; parts *= 2)
        for (int p = 0; p < parts; p++) {
            int64_t from = b->count * p / parts, to = b->count * (p + 1) / parts;
            split_by_mean(b->v + from, to - from, b->count * (2 * p + 1) / (2 * parts) - from);
        }
    for (int i = 0; i < count; i++) {
        int64_t from = b->count * i / count, to = b->count * (i + 1) / count;
        blocks part = {b->v + from, to - from, b->scratch, b->low, b->high};
        out[i] = level_of(&part);
        if (!(out[i].variance > 0))
            return 0;
    }
    return count;
}

static void find_slope(const blocks *b, tamis_noise *out)
{
    level groups[GROUPS];
    double weight[GROUPS], sum = 0;
    int count = find_groups(b, groups);
    if (count == 0)
        return;
    line l = fit_groups(groups, count, weight);
    if (!explains(groups, weight, count, l))
        return;
    for (int64_t i = 0; i < b->count; i++)
        sum += fmax(0, at(l, (double)b->v[i].mean));
    out->sigma = sqrt(sum / (double)b->count);
    out->slope = l.slope;
    out->offset = l.offset;
}

/* ---- all of it */

/* The level of the blocks that keep() wants, or of all where these are too few; without those near
 * the ends, where enough are left. These are then in front, and b has them alone. */
static double find_level(blocks *b, keep_fn *keep)
{
    int64_t all = b->count;
    b->count = move_up(b, keep, 0);
    if (b->count < LEAST)
        b->count = all;
    double sigma = sqrt(level_of(b).variance);
    int64_t between = move_up(b, is_between, sigma);
    if (between < 2 * LEAST)
        return sigma;
    b->count = between;
    return sqrt(level_of(b).variance);
}

void tamis_priv_noise_conclude(tamis_noise_block *v, int64_t count, double low, double high,
                               float *scratch, tamis_noise *out)
{
    blocks all = {v, count, scratch, low, high};
    all.count = move_up(&all, is_known, 0);
    blocks b = all;
    out->sigma = find_level(&b, is_whole);
    b = all;
    b.count = move_up(&b, is_cleared, 0);
    out->impulses = count_impulses(&b, out->sigma);
    b = all;
    out->sigma = find_level(&b, out->impulses > IMPULSES_AT_LEAST ? is_cleared : is_whole);
    out->offset = out->sigma * out->sigma;
    find_slope(&b, out);
}
