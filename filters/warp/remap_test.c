/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that other filters can make: remap gives the same bits. */
#include <stdio.h>
#include <string.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { W = 90, H = 61 };

static int failed;

static void complain(const char *chain, const char *what)
{
    printf("FAIL %s: %s\n", chain, what);
    failed = 1;
}

/* Runs a chain, with a map where there is one. */
static int run(tamis_ctx *ctx, const char *chain, const tamis_image *src, const tamis_image *map,
               test_picture *out)
{
    tamis_plan_options options = {0};
    tamis_run_options with_map = {.guide = map};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    char message[400];
    int32_t w, h;
    int result = -1;

    if (map) {
        options.guide = &map->format;
        options.guide_w = map->w;
        options.guide_h = map->h;
    }
    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, src->format, src->w, src->h, &options, &plan) == TAMIS_OK) {
        tamis_plan_size(plan, &w, &h);
        test_picture_make(out, tamis_plan_format(plan), w, h, TEST_ROWS_ODD);
        if (tamis_plan_run(plan, src, &out->image, &with_map) == TAMIS_OK)
            result = 0;
    }
    if (result)
        complain(chain, tamis_ctx_last_message(ctx, message, sizeof message));
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return result;
}

/* Numbers that binary32 and 2^-32 pixel hold exactly, so that both filters have the same places. */
static void make_map(test_picture *map, int w, int h)
{
    test_picture_make(map, test_format(TAMIS_F32, 2), w, h, TEST_ROWS_WIDE);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            test_sample_set(&map->image, x, y, 0, 0.75 * x - 0.125 * y + 3.5);
            test_sample_set(&map->image, x, y, 1, 0.25 * x + 0.625 * y - 7.25);
        }
}

static void compare(tamis_ctx *ctx, tamis_format format, const char *interp, const char *border)
{
    char affine[160], remap[160];
    test_picture src, map, want = {0}, got = {0};

    test_picture_make(&src, format, W, H, TEST_ROWS_NEGATIVE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 5);
    make_map(&map, 130, 70);
    snprintf(affine, sizeof affine,
             "affine=matrix=0.75,-0.125,3.5,0.25,0.625,-7.25:inverse=1:size=130x70:interp=%s:"
             "border=%s",
             interp, border);
    snprintf(remap, sizeof remap, "remap=interp=%s:border=%s", interp, border);
    if (run(ctx, affine, &src.image, NULL, &want) == 0 &&
        run(ctx, remap, &src.image, &map.image, &got) == 0 && !test_same(&want.image, &got.image))
        complain(remap, "other bits than affine");
    test_picture_free(&want);
    test_picture_free(&got);
    test_picture_free(&map);
    test_picture_free(&src);
}

static void compare_all(tamis_ctx *ctx)
{
    static const char *const interps[] = {"nearest", "linear", "cubic", "lanczos3"};
    static const char *const borders[] = {"reflect101", "wrap", "constant:border_value=0.25"};

    for (int i = 0; i < 4; i++)
        for (int b = 0; b < 3; b++)
            for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
                for (int channels = 1; channels <= 4; channels++) {
                    tamis_format format = test_format((tamis_type)type, channels);
                    if (channels == 4)
                        format.alpha = TAMIS_ALPHA_STRAIGHT;
                    compare(ctx, format, interps[i], borders[b]);
                }
}

/* A map is needed, of two channels of floats. */
static void refusals(tamis_ctx *ctx)
{
    tamis_format format = test_format(TAMIS_U8, 1), wrong = test_format(TAMIS_U16, 2);
    tamis_plan_options options = {.guide = &wrong};
    tamis_graph *graph;
    tamis_plan *plan = NULL;
    char message[400];

    if (tamis_graph_parse(ctx, "remap", &graph) != TAMIS_OK)
        return;
    for (int i = 0; i < 2; i++) {
        if (tamis_plan_create(ctx, graph, format, 9, 9, i ? &options : NULL, &plan) == TAMIS_OK)
            complain("remap", i ? "takes a map of integers" : "goes without a map");
        if (!strstr(tamis_ctx_last_message(ctx, message, sizeof message), "map"))
            complain("remap: the message says nothing of the map", message);
        tamis_plan_free(&plan);
    }
    tamis_graph_free(&graph);
}

int main(void)
{
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};

    for (int cpu = 0; cpu < 4; cpu++) {
        tamis_ctx_options o = {.threads = 2, .cpu = cpus[cpu]};
        tamis_ctx *ctx = NULL;
        if (tamis_ctx_create(&o, &ctx) != TAMIS_OK) {
            printf("skipped: this CPU has no %s\n", cpus[cpu]);
            continue;
        }
        compare_all(ctx);
        refusals(ctx);
        tamis_ctx_free(&ctx);
    }
    puts(failed ? "failed" : "passed");
    return failed;
}
