/* SPDX-License-Identifier: Apache-2.0 */
/* The temporal form: by its formula on small pictures, and what it is for on larger ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { FRAMES = 5, NOW = 2 };
static long passed, failed;

static void check(int holds, const char *what, double got, double want)
{
    passed += holds;
    failed += !holds;
    if (!holds)
        printf("FAIL %s: %g, expected %g\n", what, got, want);
}

static tamis_status run(tamis_ctx *ctx, const char *chain, const tamis_image *const *frames,
                        const tamis_image *src, const tamis_image *dst)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_run_options options = {.frames = frames};
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);

    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    if (status == TAMIS_OK)
        status = tamis_plan_run(plan, src, dst, &options);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

static double at(const tamis_image *image, int x, int y)
{
    return test_sample_get(image, (int)tamis_border_index(TAMIS_BORDER_REFLECT101, x, image->w),
                           (int)tamis_border_index(TAMIS_BORDER_REFLECT101, y, image->h), 0);
}

/* ---- motion, as tamis/nlmeans.h says it, each value anew */

typedef struct vector {
    int x, y;
} vector;

/* A frame's pixels as the whole numbers that are compared; here, none is too large for an int. */
typedef struct compared {
    const tamis_image *image;
    float scale;
} compared;

static int whole(const compared *c, int x, int y)
{
    float v = (float)at(c->image, x, y) * c->scale;
    return (int)(v + 0.5f);
}

static int quarter(int sum)
{
    return (int)floor(sum / 4.0 + 0.5);
}

static int along(const compared *c, int x, int y)
{
    return quarter(whole(c, x - 1, y) + 2 * whole(c, x, y) + whole(c, x + 1, y));
}

static int level(const compared *c, int l, int x, int y)
{
    if (l == 0)
        return quarter(along(c, x, y - 1) + 2 * along(c, x, y) + along(c, x, y + 1));
    return quarter(level(c, l - 1, 2 * x, 2 * y) + level(c, l - 1, 2 * x + 1, 2 * y) +
                   level(c, l - 1, 2 * x, 2 * y + 1) + level(c, l - 1, 2 * x + 1, 2 * y + 1));
}

/* Of the window of side x side around the block whose first pixel is (x, y). */
static long unlike(const compared *now, const compared *other, int l, int side, int x, int y,
                   vector v)
{
    long sum = 0;
    int x0 = (x + 8) / (1 << l) - side / 2, y0 = (y + 8) / (1 << l) - side / 2;
    for (int j = y0; j < y0 + side; j++)
        for (int i = x0; i < x0 + side; i++) {
            int d = abs(level(now, l, i, j) - level(other, l, i + v.x, j + v.y));
            sum += d < 1023 ? d : 1023;
        }
    return sum;
}

static vector best_of(const compared *now, const compared *other, int l, int x, int y, int first,
                      vector center, int far, int step)
{
    int side = l ? 16 : 32;
    vector best = first ? (vector){0, 0} : center;
    long least = unlike(now, other, l, side, x, y, best);
    for (int dy = -far; dy <= far; dy += step)
        for (int dx = -far; dx <= far; dx += step) {
            vector v = {center.x + dx, center.y + dy};
            long sum = unlike(now, other, l, side, x, y, v);
            if (sum < least) {
                least = sum;
                best = v;
            }
        }
    return best;
}

/* motion=8. */
static vector block_vector(const compared *now, const compared *other, int x, int y)
{
    vector v = best_of(now, other, 2, x, y, 1, (vector){0, 0}, 2, 2);
    v = best_of(now, other, 2, x, y, 0, v, 1, 1);
    v = best_of(now, other, 1, x, y, 1, (vector){2 * v.x, 2 * v.y}, 1, 1);
    return best_of(now, other, 0, x, y, 1, (vector){2 * v.x, 2 * v.y}, 1, 1);
}

/* ---- the formula */

enum { W = 21, H = 18, MARGIN = 16, BLOCKS = 3 }; /* blocks from -MARGIN on */
static vector vectors[FRAMES][BLOCKS][BLOCKS];

/* Once for frames that are the same again. */
static void find_vectors(const tamis_image *const *frames, double h, int motion, double pedestal)
{
    static int found;
    static double found_above;
    tamis_type type = frames[NOW]->format.type;
    if (found == (motion ? 1 + (int)type : 0) && found_above == pedestal)
        return;
    found = motion ? 1 + (int)type : 0;
    found_above = pedestal;
    float scale = (float)(16 / h);
    compared now = {frames[NOW], scale};
    memset(vectors, 0, sizeof vectors);
    for (int f = 0; f < FRAMES && motion; f++)
        for (int j = 0; j < BLOCKS && f != NOW && frames[f]; j++)
            for (int i = 0; i < BLOCKS; i++)
                vectors[f][j][i] = block_vector(&now, &(compared){frames[f], scale},
                                                16 * i - MARGIN, 16 * j - MARGIN);
}

static double moved(const tamis_image *const *frames, int f, int x, int y)
{
    vector v = vectors[f][(y + MARGIN) / 16][(x + MARGIN) / 16];
    return at(frames[f], x + v.x, y + v.y);
}

/* search=5, patch=3. */
static double formula(const tamis_image *const *frames, int x, int y, double h)
{
    double sum = 0, weights = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int dy = -2; dy <= 2 && frames[f]; dy++)
            for (int dx = -2; dx <= 2; dx++) {
                double d2 = 0, w;
                for (int j = -1; j <= 1; j++)
                    for (int i = -1; i <= 1; i++) {
                        double d = at(frames[NOW], x + i, y + j) -
                                   moved(frames, f, x + dx + i, y + dy + j);
                        d2 += d * d / 9;
                    }
                w = exp(-d2 / (h * h));
                sum += w * moved(frames, f, x + dx, y + dy);
                weights += w;
            }
    return sum / weights;
}

/* The pedestal is added to all samples. */
static void by_formula(tamis_ctx *ctx, tamis_type type, int first, int end, int motion,
                       double pedestal)
{
    test_picture picture[FRAMES], dst;
    const tamis_image *frames[FRAMES] = {NULL};
    double range = tamis_type_range(type), worst = 0;
    char chain[80];

    snprintf(chain, sizeof chain, "nlmeans=h=20%%:search=5:patch=3:frames=%d:motion=%d", NOW,
             motion);
    for (int f = 0; f < FRAMES; f++) {
        test_picture_make(&picture[f], test_format(type, 1), W, H, TEST_ROWS_ODD);
        test_picture_fill(&picture[f].image, TEST_FILL_SMOOTH, 5 + (uint64_t)f);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                test_sample_set(&picture[f].image, x, y, 0,
                                test_sample_get(&picture[f].image, x, y, 0) + pedestal);
        if (f >= first && f < end)
            frames[f] = &picture[f].image;
    }
    test_picture_make(&dst, test_format(type, 1), W, H, TEST_ROWS_ODD);
    check(run(ctx, chain, frames, frames[NOW], &dst.image) == TAMIS_OK, chain, 0, 0);
    find_vectors(frames, 0.2 * range, motion, pedestal);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            worst = fmax(worst, fabs(formula(frames, x, y, 0.2 * range) -
                                     test_sample_get(&dst.image, x, y, 0)));
    check(worst <= (type == TAMIS_F32 ? 2e-5 * fmax(1, fabs(pedestal)) : 0.51),
          tamis_type_name(type), worst, 0);
    for (int f = 0; f < FRAMES; f++)
        test_picture_free(&picture[f]);
    test_picture_free(&dst);
}

/* The mean squared error on a still scene under new noise in each frame. */
static double error_with(tamis_ctx *ctx, int around, const tamis_image *const *frames,
                         const tamis_image *clean, const tamis_image *dst)
{
    char chain[80];
    double sum = 0;

    snprintf(chain, sizeof chain, "nlmeans=h=16:search=7:patch=5:frames=%d", around);
    check(run(ctx, chain, frames + NOW - around, frames[NOW], dst) == TAMIS_OK, chain, 0, 0);
    for (int y = 0; y < clean->h; y++)
        for (int x = 0; x < clean->w; x++) {
            double d = test_sample_get(dst, x, y, 0) - test_sample_get(clean, x, y, 0);
            sum += d * d;
        }
    return sum / clean->w / clean->h;
}

static void more_frames_less_noise(tamis_ctx *ctx)
{
    test_picture clean, dst, picture[FRAMES];
    const tamis_image *frames[FRAMES];
    double alone, with_two, with_four;
    test_rng rng = {9};

    test_picture_make(&clean, test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
    test_picture_make(&dst, test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 96; x++)
            test_sample_set(&clean.image, x, y, 0, 60 + (x / 11 + y / 7) % 3 * 50 + x / 4);
    for (int f = 0; f < FRAMES; f++) {
        test_picture_make(&picture[f], test_format(TAMIS_U8, 1), 96, 64, TEST_ROWS_WIDE);
        frames[f] = &picture[f].image;
        for (int y = 0; y < 64; y++)
            for (int x = 0; x < 96; x++) {
                double n = -2;
                for (int i = 0; i < 4; i++)
                    n += test_rng_unit(&rng);
                test_sample_set(&picture[f].image, x, y, 0,
                                test_sample_get(&clean.image, x, y, 0) + 34 * n);
            }
    }
    alone = error_with(ctx, 0, frames, &clean.image, &dst.image);
    with_two = error_with(ctx, 1, frames, &clean.image, &dst.image);
    with_four = error_with(ctx, 2, frames, &clean.image, &dst.image);
    check(with_two < 0.7 * alone, "the error with two more frames", with_two, 0.7 * alone);
    check(with_four < 0.8 * with_two, "the error with four more frames", with_four, 0.8 * with_two);
    for (int f = 0; f < FRAMES; f++)
        test_picture_free(&picture[f]);
    test_picture_free(&clean);
    test_picture_free(&dst);
}

/* What pans by less than motion is found where it has gone, by all blocks that see no edge. */
static void pans_are_followed(tamis_ctx *ctx, int pan_x, int pan_y)
{
    enum { SIDE = 176, EDGE = 72 };
    test_picture frame[3], want, have;
    const tamis_image *panned[3], *still[3];
    test_rng rng = {4};
    long differ = 0;
    static double scene[SIDE / 4 + 20][SIDE / 4 + 20];

    for (int y = 0; y < SIDE / 4 + 20; y++)
        for (int x = 0; x < SIDE / 4 + 20; x++)
            scene[y][x] = 255 * test_rng_unit(&rng);
    test_picture_make(&want, test_format(TAMIS_U8, 1), SIDE, SIDE, TEST_ROWS_WIDE);
    test_picture_make(&have, test_format(TAMIS_U8, 1), SIDE, SIDE, TEST_ROWS_WIDE);
    for (int f = 0; f < 3; f++) {
        test_picture_make(&frame[f], test_format(TAMIS_U8, 1), SIDE, SIDE, TEST_ROWS_WIDE);
        panned[f] = &frame[f].image;
        still[f] = &frame[1].image;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                int u = x + 40 + (f - 1) * pan_x, v = y + 40 + (f - 1) * pan_y;
                double a = scene[v / 4][u / 4] * (4 - u % 4) + scene[v / 4][u / 4 + 1] * (u % 4);
                double b =
                    scene[v / 4 + 1][u / 4] * (4 - u % 4) + scene[v / 4 + 1][u / 4 + 1] * (u % 4);
                test_sample_set(&frame[f].image, x, y, 0, (a * (4 - v % 4) + b * (v % 4)) / 16);
            }
    }
    check(run(ctx, "nlmeans=h=9:search=5:patch=3:frames=1:motion=32", panned, panned[1],
              &have.image) == TAMIS_OK,
          "a pan", 0, 0);
    check(run(ctx, "nlmeans=h=9:search=5:patch=3:frames=1", still, still[1], &want.image) ==
              TAMIS_OK,
          "a still picture", 0, 0);
    for (int y = EDGE; y < SIDE - EDGE; y++)
        for (int x = EDGE; x < SIDE - EDGE; x++)
            differ +=
                test_sample_get(&want.image, x, y, 0) != test_sample_get(&have.image, x, y, 0);
    check(differ == 0, "pixels of a pan that are not those of a still picture", (double)differ, 0);
    for (int f = 0; f < 3; f++)
        test_picture_free(&frame[f]);
    test_picture_free(&want);
    test_picture_free(&have);
}

/* What a strength of h makes of a picture of 200 x 150; the size is 0 x 0 where it is refused. */
static void size_with(tamis_ctx *ctx, double h, const char *border, int32_t *w, int32_t *out_h)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    char chain[100];

    *w = *out_h = 0;
    snprintf(chain, sizeof chain, "nlmeans=h=%g:search=3:patch=3:frames=1:motion=8:border=%s", h,
             border);
    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), 200, 150, NULL, &plan) == TAMIS_OK)
        tamis_plan_size(plan, w, out_h);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
}

/* h = auto may be 0 for one picture and not for the next. */
static void strength_decides_no_size(tamis_ctx *ctx)
{
    static const char *const borders[] = {"valid", "wrap", "reflect"};
    for (int b = 0; b < 3; b++) {
        int32_t w[2], h[2];
        size_with(ctx, 0, borders[b], &w[0], &h[0]);
        size_with(ctx, 10, borders[b], &w[1], &h[1]);
        check(w[0] == w[1] && h[0] == h[1], borders[b], w[0], w[1]);
    }
}

int main(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F32};
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};

    tamis_ctx *contexts[4] = {NULL};
    for (int c = 0; c < 4; c++) {
        tamis_ctx_options options = {.threads = 2, .cpu = cpus[c]};
        if (tamis_ctx_create(&options, &contexts[c]) != TAMIS_OK)
            printf("%s: not here\n", cpus[c]);
    }
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < 4; c++)
            if (contexts[c])
                by_formula(contexts[c], types[t], 1, NOW + 2, 8, 0);
    /* Numbers of floats begin anew at 819.2 here. */
    static const double pedestals[] = {-3, 819, 100000};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 4; c++)
            if (contexts[c])
                by_formula(contexts[c], TAMIS_F32, 1, NOW + 2, 8, pedestals[i]);
    for (int c = 0; c < 4; c++) {
        tamis_ctx *ctx = contexts[c];
        if (!ctx)
            continue;
        for (int t = 0; t < 3; t++) {
            by_formula(ctx, types[t], 0, FRAMES, 0, 0);
            by_formula(ctx, types[t], NOW, FRAMES, 0, 0);
            by_formula(ctx, types[t], 1, NOW + 1, 0, 0);
        }
        more_frames_less_noise(ctx);
        strength_decides_no_size(ctx);
        pans_are_followed(ctx, 7, -5);
        pans_are_followed(ctx, -31, 18);
        pans_are_followed(ctx, 32, 32);
        tamis_ctx_free(&contexts[c]);
    }
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
