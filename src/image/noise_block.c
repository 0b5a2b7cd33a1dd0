/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of samples as sums of cosine waves. */
#include <math.h>

#include "image/noise.h"

#define SIDE TAMIS_NOISE_SIDE
/* Waves are quick where their numbers across and down have a sum of 9 or more: so many. */
#define QUICK_COUNT 21
#define SLOW_COUNT  (TAMIS_NOISE_AREA - QUICK_COUNT - 1)
/* Blocks with more samples at the ends say nothing. */
#define ENDS_AT_MOST 48
/* Pairs of neighbors in a block, side by side or one above the other. */
#define NEIGHBORS (2 * SIDE * (SIDE - 1))

/* Half of cos(k pi / 16), and 1/sqrt(8): the rows of the orthonormal transform of length 8. */
#define C0 0.35355339f
#define C1 0.49039264f
#define C2 0.46193977f
#define C3 0.41573481f
#define C4 0.35355339f
#define C5 0.27778512f
#define C6 0.19134172f
#define C7 0.09754516f

/* Even waves of sums and odd waves of differences of the samples i and 7 - i. */
static const float even_waves[4][4] = {
    {C0, C0, C0, C0}, {C2, C6, -C6, -C2}, {C4, -C4, -C4, C4}, {C6, -C2, C2, -C6}};
static const float odd_waves[4][4] = {
    {C1, C3, C5, C7}, {C3, -C7, -C1, -C5}, {C5, -C1, C7, C3}, {C7, -C5, C3, -C1}};
/* Four waves at once. */
typedef float lanes __attribute__((vector_size(16)));
/* The same, sample by sample: waves[i] is sample i of all waves. */
static const lanes waves[SIDE][2] = {
    {{C0, C1, C2, C3}, {C4, C5, C6, C7}},     {{C0, C3, C6, -C7}, {-C4, -C1, -C2, -C5}},
    {{C0, C5, -C6, -C1}, {-C4, C7, C2, C3}},  {{C0, C7, -C2, -C5}, {C4, C3, -C6, -C1}},
    {{C0, -C7, -C2, C5}, {C4, -C3, -C6, C1}}, {{C0, -C5, -C6, C1}, {-C4, -C7, C2, -C3}},
    {{C0, -C3, C6, C7}, {-C4, C1, -C2, C5}},  {{C0, -C1, C2, -C3}, {C4, -C5, C6, -C7}}};
/* 1 for the waves that are quick where those down are number 0, 1, ... */
static const lanes quick_waves[SIDE][2] = {{{0}, {0}},
                                           {{0}, {0}},
                                           {{0}, {0, 0, 0, 1}},
                                           {{0}, {0, 0, 1, 1}},
                                           {{0}, {0, 1, 1, 1}},
                                           {{0}, {1, 1, 1, 1}},
                                           {{0, 0, 0, 1}, {1, 1, 1, 1}},
                                           {{0, 0, 1, 1}, {1, 1, 1, 1}}};

/* Down all columns. */
static void transform_columns(tamis_noise_rows rows, int width)
{
    for (int x = 0; x < width; x++) {
        float sum[4], difference[4];
        for (int i = 0; i < 4; i++) {
            sum[i] = rows[i][x] + rows[7 - i][x];
            difference[i] = rows[i][x] - rows[7 - i][x];
        }
        for (int k = 0; k < 4; k++) {
            const float *e = even_waves[k], *o = odd_waves[k];
            rows[2 * k][x] = (sum[0] * e[0] + sum[1] * e[1]) + (sum[2] * e[2] + sum[3] * e[3]);
            rows[2 * k + 1][x] = (difference[0] * o[0] + difference[1] * o[1]) +
                                 (difference[2] * o[2] + difference[3] * o[3]);
        }
    }
}

static float sum_of(lanes a, lanes b)
{
    lanes v = a + b;
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* Across the rows of a block, and the energies of what comes out. */
static void measure_waves(tamis_noise_rows rows, int x, tamis_noise_block *out)
{
    lanes all[2] = {{0}, {0}}, quick[2] = {{0}, {0}};
    for (int down = 0; down < SIDE; down++) {
        lanes a = {0}, b = {0};
        float first = rows[down][x]; /* taken off, so that flat rows leave exactly nothing */
        for (int i = 1; i < SIDE; i++) {
            float more = rows[down][x + i] - first;
            a += more * waves[i][0];
            b += more * waves[i][1];
        }
        a[0] += first * (SIDE * C0);
        if (down == 0) {
            out->mean = a[0] / SIDE;
            a[0] = 0;
        }
        a *= a;
        b *= b;
        all[0] += a;
        all[1] += b;
        quick[0] += a * quick_waves[down][0];
        quick[1] += b * quick_waves[down][1];
    }
    out->quick = sum_of(quick[0], quick[1]) / QUICK_COUNT;
    out->slow = sum_of(all[0] - quick[0], all[1] - quick[1]) / SLOW_COUNT;
}

/* Whether samples at an end lie in clusters, as they do in a bright sky, and not here and there:
 * neighbors at the same end are then more than chance gives, by three standard deviations. */
static int is_clustered(tamis_noise_rows rows, int x, const tamis_noise_block *b, float low,
                        float high)
{
    double share_low = (double)b->at_low / TAMIS_NOISE_AREA;
    double share_high = (double)b->at_high / TAMIS_NOISE_AREA;
    double by_chance = NEIGHBORS * (share_low * share_low + share_high * share_high);
    int pairs = 0;
    for (int y = 0; y < SIDE; y++)
        for (int i = x; i < x + SIDE; i++) {
            float v = rows[y][i];
            if (v == low || v == high)
                pairs += (i + 1 < x + SIDE && rows[y][i + 1] == v) +
                         (y + 1 < SIDE && rows[y + 1][i] == v);
        }
    return pairs > by_chance + 3 * sqrt(by_chance) + 2;
}

/* Samples at the ends give way to the mean of the others, which lowers energies by their share. */
static float replace_ends(tamis_noise_rows rows, int x, int count, float low, float high)
{
    double sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int i = x; i < x + SIDE; i++)
            sum += rows[y][i] != low && rows[y][i] != high ? (double)rows[y][i] : 0;
    int others = TAMIS_NOISE_AREA - count;
    float mean = (float)(sum / others);
    for (int y = 0; y < SIDE; y++)
        for (int i = x; i < x + SIDE; i++)
            if (rows[y][i] == low || rows[y][i] == high)
                rows[y][i] = mean;
    return (float)(TAMIS_NOISE_AREA - 1) / (float)(others - 1);
}

static void count_ends(tamis_noise_rows rows, int width, float low, float high, int *at_low,
                       int *at_high)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < width; x++) {
            at_low[x] += rows[y][x] == low;
            at_high[x] += rows[y][x] == high;
        }
}

void tamis_priv_noise_measure(tamis_noise_rows rows, int count, float low, float high,
                              tamis_noise_block *out)
{
    int at_low[TAMIS_NOISE_RUN * SIDE] = {0}, at_high[TAMIS_NOISE_RUN * SIDE] = {0};
    float factor[TAMIS_NOISE_RUN];
    count_ends(rows, count * SIDE, low, high, at_low, at_high);
    for (int b = 0; b < count; b++) {
        int lows = 0, highs = 0;
        for (int i = b * SIDE; i < (b + 1) * SIDE; i++) {
            lows += at_low[i];
            highs += at_high[i];
        }
        out[b] = (tamis_noise_block){.at_low = (uint8_t)lows, .at_high = (uint8_t)highs};
        int ends = lows + highs;
        factor[b] = 1;
        if (ends > ENDS_AT_MOST || (ends > 1 && is_clustered(rows, b * SIDE, &out[b], low, high)))
            factor[b] = -1;
        else if (ends > 1)
            factor[b] = replace_ends(rows, b * SIDE, ends, low, high);
    }
    transform_columns(rows, count * SIDE);
    for (int b = 0; b < count; b++) {
        measure_waves(rows, b * SIDE, &out[b]);
        out[b].slow *= factor[b];
        out[b].quick *= factor[b];
        /* 0 stays 0 whatever the factor: flat blocks at an end, too, are such. */
        if (factor[b] < 0 || !isfinite(out[b].slow) || !isfinite(out[b].quick))
            out[b].quick = -1;
    }
}
