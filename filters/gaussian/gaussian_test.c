/* SPDX-License-Identifier: Apache-2.0 */
/* Wide Gaussians, which are computed on a grid, beside the window's definition in binary64; and
 * that they depend neither on tiles nor on what a NaN elsewhere does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { W = 203, H = 151, CPUS = 3 };

static int failed;

static void check(int ok, const char *what, const char *chain, double value)
{
    if (!ok) {
        printf("FAIL %s: %s: %g\n", chain, what, value);
        failed++;
    }
}

/* Fraction of the range. */
static double pattern_at(int pattern, int x, int y)
{
    unsigned h = (unsigned)x * 2654435761u + (pattern == 3 ? 0 : (unsigned)y * 2246822519u);
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    switch (pattern) {
    case 0:
        return (h >> 8) / 16777216.0; /* noise */
    case 1:
        return x > W / 3; /* an edge */
    case 2:
        return x + y > W; /* a slanting edge */
    default:
        return h & 1; /* stripes */
    }
}

static void make(test_picture *p, tamis_type type, int pattern)
{
    test_picture_make(p, test_format(type, 1), W, H, TEST_ROWS_WIDE);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double v = pattern_at(pattern, x, y) * tamis_type_range(type);
            test_sample_set(&p->image, x, y, 0, type == TAMIS_F32 ? v : nearbyint(v));
        }
}

static void along(const double *src, double *dst, int n, int step, double sigma)
{
    int r = (int)ceil(3 * sigma);
    for (int i = 0; i < n; i++) {
        double sum = 0, all = 0;
        for (int j = -r; j <= r; j++) {
            double w = exp(-0.5 * j * j / (sigma * sigma));
            all += w;
            sum += w * src[tamis_border_index(TAMIS_BORDER_REFLECT101, i + j, n) * step];
        }
        dst[i * step] = sum / all;
    }
}

static double *defined(const tamis_image *src, double sigma)
{
    double *a = malloc(sizeof *a * W * H), *b = malloc(sizeof *b * W * H);
    if (!a || !b)
        abort();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            a[y * W + x] = test_sample_get(src, x, y, 0);
    for (int x = 0; x < W; x++)
        along(a + x, b + x, H, W, sigma);
    for (int y = 0; y < H; y++)
        along(b + y * W, a + y * W, W, 1, sigma);
    free(b);
    return a;
}

/* 0: this computer has no such row. */
static int filter(const char *cpu, const char *chain, int tile, const tamis_image *src,
                  test_picture *out)
{
    tamis_ctx_options options = {.threads = 2, .cpu = cpu};
    tamis_plan_options how = {.kernel = cpu, .tile_w = tile, .tile_h = tile};
    tamis_ctx *ctx = NULL;
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    int ok = tamis_ctx_create(&options, &ctx) == TAMIS_OK &&
             tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
             tamis_plan_create(ctx, graph, src->format, W, H, &how, &plan) == TAMIS_OK;
    if (ok) {
        test_picture_make(out, src->format, W, H, TEST_ROWS_TIGHT);
        check(tamis_plan_run(plan, src, &out->image, NULL) == TAMIS_OK, "not run", chain, 0);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    return ok;
}

static double largest_error(const tamis_image *image, const double *want)
{
    double largest = 0;
    for (int i = 0; i < W * H; i++)
        largest = fmax(largest, fabs(test_sample_get(image, i % W, i / W, 0) - want[i]));
    return largest;
}

/* What gaussian.h promises. */
static double allowed(tamis_type type, int pattern)
{
    double error = (pattern == 3 ? 2e-4 : 1e-4) * tamis_type_range(type);
    return type == TAMIS_U8 ? 0.5 + 1.0 / 16 : type == TAMIS_F32 ? error : 0.5 + error;
}

static void compare(tamis_type type, double sigma, int pattern)
{
    static const char *const cpus[CPUS] = {"c", "avx2", "avx512"};
    char chain[64];
    test_picture src, out;

    snprintf(chain, sizeof chain, "gaussian=sigma=%g", sigma);
    make(&src, type, pattern);
    double *want = defined(&src.image, sigma);
    for (int i = 0; i < CPUS; i++)
        if (filter(cpus[i], chain, 0, &src.image, &out)) {
            double error = largest_error(&out.image, want);
            check(error <= allowed(type, pattern), cpus[i], chain, error);
            test_picture_free(&out);
        }
    free(want);
    test_picture_free(&src);
}

/* Chains whose tiles reach over an edge that wraps, and NaN in one tile of several. */
static void tiles_are_alike(void)
{
    static const char *const chains[] = {"gaussian=sigma=20:border=wrap,median=border=wrap",
                                         "gaussian=sigma=24", "gaussian=sigma=13:border=replicate"};
    for (int i = 0; i < 3; i++)
        for (int type = 0; type < 2; type++) {
            test_picture src, whole, tiled;
            make(&src, type ? TAMIS_F32 : TAMIS_U8, 0);
            if (type) {
                test_sample_set(&src.image, 150, 40, 0, (double)NAN);
                test_sample_set(&src.image, 10, 140, 0, (double)INFINITY);
            }
            if (filter(NULL, chains[i], 0, &src.image, &whole)) {
                check(filter(NULL, chains[i], 41, &src.image, &tiled), "not run", chains[i], 0);
                check(test_same(&whole.image, &tiled.image), "depends on tiles", chains[i], type);
                test_picture_free(&tiled);
                test_picture_free(&whole);
            }
            test_picture_free(&src);
        }
}

int main(void)
{
    static const double sigmas[] = {10, 16, 20, 33, 50};
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F32};

    for (int s = 0; s < 5; s++)
        for (int t = 0; t < 3; t++)
            for (int pattern = 0; pattern < 4; pattern++)
                compare(types[t], sigmas[s], pattern);
    tiles_are_alike();
    printf("%d failed\n", failed);
    return failed != 0;
}
