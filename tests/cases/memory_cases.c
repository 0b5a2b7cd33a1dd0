/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles and what reaches how far: properties of every filter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

static double seam_picture(int x, int y, int c)
{
    (void)c;
    return ((x * x * 3 + y * y * 7 + x * y * 5) >> 7) % 256;
}

/* G02: a median has one right answer, however the work is split. */
static void large_median(tamis_ctx *ctx, const test_picture *src)
{
    static const int spots[4][3] = {
        {1024, 1023, 136}, {1023, 1024, 128}, {513, 511, 128}, {2000, 100, 132}};
    const tamis_rect inner = {3, 3, 2042, 2042};
    tamis_image interior;
    test_picture out;
    uint32_t crc;

    if (case_run_ok("G02", ctx, "median=ksize=7:border=replicate", &src->image, &out) == 0) {
        for (int i = 0; i < 4; i++)
            case_check(test_sample_get(&out.image, spots[i][0], spots[i][1], 0) == spots[i][2],
                       "G02", "wrong at %d,%d", spots[i][0], spots[i][1]);
        crc = test_crc(&out.image);
        case_check(crc == 0xc6c5533f, "G02", "checksum %08x", crc);
        case_check(tamis_image_view(ctx, &out.image, inner, &interior) == TAMIS_OK &&
                       test_crc(&interior) == 0xf9708c4c,
                   "G02", "checksum of the interior");
    }
    test_picture_free(&out);
}

/* Runs a chain with tiles of one size; out is compared with want. */
static void tiled(tamis_ctx *ctx, const char *chain, const tamis_image *src, int w, int h,
                  const tamis_image *want)
{
    tamis_plan_options options = {.tile_w = w, .tile_h = h};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture out = {0};
    int same = 0;

    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, src->format, src->w, src->h, &options, &plan) == TAMIS_OK) {
        test_picture_make(&out, want->format, want->w, want->h, TEST_ROWS_TIGHT);
        same =
            tamis_plan_run(plan, src, &out.image, NULL) == TAMIS_OK && test_same(want, &out.image);
    }
    case_check(same, "G02", "%s with tiles of %dx%d differs", chain, w, h);
    test_picture_free(&out);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
}

/* Chains, whole and in tiles of many sizes, on several thread counts. */
static void any_tiling(void)
{
    static const char *const chains[] = {
        "gaussian=sigma=2",
        "median=ksize=5",
        "gaussian=sigma=1,median=ksize=3",
        "median=ksize=3:border=wrap,gaussian=sigma=3:border=valid,median=ksize=5:percentile=30",
        "gaussian=sigma=1,bilateral=sigma_space=1:sigma_color=10%:ksize=5,median=ksize=3",
        "box=ksize=11x8:border=wrap,box=ksize=12:border=wrap,box=ksize=4x30"};
    static const int tiles[][2] = {{1, 1}, {3, 2}, {16, 16}, {17, 1}, {1, 31}, {64, 40}, {500, 3}};
    static const int threads[] = {1, 3, 8};

    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 6; i++) {
            tamis_ctx_options o = {.threads = threads[t]};
            tamis_format format = test_format(i % 2 ? TAMIS_F32 : TAMIS_U8, 1 + i % 3);
            test_picture src, want;
            tamis_ctx *ctx;
            if (!case_has("G02", strstr(chains[i], "bilateral") ? "bilateral" : "median") ||
                tamis_ctx_create(&o, &ctx) != TAMIS_OK)
                continue;
            test_picture_make(&src, format, 71, 43, TEST_ROWS_ODD);
            test_picture_fill(&src.image, TEST_FILL_SMOOTH, 5);
            if (case_run_ok("G02", case_ctx[0] ? ctx : NULL, chains[i], &src.image, &want) == 0)
                for (int n = 0; n < 7; n++)
                    tiled(ctx, chains[i], &src.image, tiles[n][0], tiles[n][1], &want.image);
            test_picture_free(&want);
            test_picture_free(&src);
            tamis_ctx_free(&ctx);
        }
}

void case_seams(void)
{
    test_picture src;

    if (!case_has("G02", "median"))
        return;
    case_picture(&src, test_format(TAMIS_U8, 1), 2048, 2048, seam_picture);
    case_check(test_crc(&src.image) == 0x81ac2b82, "G02", "the input is made wrongly");
    for (int cpu = 1; cpu < CASE_CPUS; cpu++)
        if (case_ctx[cpu])
            large_median(case_ctx[cpu], &src);
    test_picture_free(&src);
    any_tiling();
}

/* Runs filter on src and on src with one sample set to value; what differs, or is not finite, must
 * lie inside the halo around it. */
static void one_sample(tamis_ctx *ctx, const char *chain, tamis_type type, double value)
{
    enum { W = 64, H = 48, X = 30, Y = 20 };
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture src, a, b;
    tamis_halo halo = {0};
    int far_away = 0, reached = 0;

    test_picture_make(&src, test_format(type, 1), W, H, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_SMOOTH, 3);
    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, src.image.format, W, H, NULL, &plan) == TAMIS_OK)
        halo = tamis_plan_halo(plan);
    if (plan && case_run_ok("G08", ctx, chain, &src.image, &a) == 0) {
        test_sample_set(&src.image, X, Y, 0, value);
        if (case_run_ok("G08", ctx, chain, &src.image, &b) == 0)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    double u = test_sample_get(&a.image, x, y, 0);
                    double v = test_sample_get(&b.image, x, y, 0);
                    int inside = x >= X - halo.right && x <= X + halo.left &&
                                 y >= Y - halo.bottom && y <= Y + halo.top;
                    far_away += !inside && u != v;
                    reached += inside && u != v;
                }
        case_check(far_away == 0, "G08", "%s %s: %g reaches %d samples beyond the halo", chain,
                   tamis_type_name(type), value, far_away);
        case_check(reached > 0 || isfinite(value), "G08", "%s %s: %g has no effect", chain,
                   tamis_type_name(type), value);
        test_picture_free(&b);
        test_picture_free(&a);
    }
    test_picture_free(&src);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
}

void case_locality(void)
{
    static const char *const chains[] = {"gaussian=sigma=1.2",
                                         "gaussian=sigma=4:ksize=31x5",
                                         "median=ksize=5",
                                         "median=ksize=15",
                                         "bilateral=sigma_space=2:sigma_color=10%:ksize=7",
                                         "nlmeans=h=20%:search=9x5:patch=5x3",
                                         "box=ksize=8x5",
                                         "box=ksize=20x17",
                                         "convolve=kernel=1,2,3;4,5,6:flip=on",
                                         "convolve=kernel=1.1,2,3,1x4,5,6.3,1,2"};

    for (int i = 0; i < 10; i++)
        for (int cpu = 0; cpu < CASE_CPUS && case_has("G08", chains[i]); cpu++) {
            if (!case_ctx[cpu])
                continue;
            one_sample(case_ctx[cpu], chains[i], TAMIS_F32, (double)NAN);
            one_sample(case_ctx[cpu], chains[i], TAMIS_F32, (double)INFINITY);
            one_sample(case_ctx[cpu], chains[i], TAMIS_F16, (double)NAN);
            one_sample(case_ctx[cpu], chains[i], TAMIS_U8, 255);
            one_sample(case_ctx[cpu], chains[i], TAMIS_U16, 65535);
            one_sample(case_ctx[cpu], chains[i], TAMIS_S16, -32768);
        }
}
