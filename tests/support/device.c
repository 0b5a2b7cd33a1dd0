/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "support/device.h"
#include "support/picture.h"

/* There is a frame before, and none after. */
static tamis_status run(tamis_ctx *ctx, const char *chain, const tamis_image *before,
                        const tamis_image *src, const tamis_image *dst)
{
    const tamis_image *frames[3] = {before, src, NULL};
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

/* Noise on edges, and a flat corner; the edges have moved to column x0. */
static void fill(const tamis_image *image, const test_device_row *row, int x0)
{
    test_rng rng = {7 + (uint64_t)x0};
    double scale = tamis_type_range(row->type) / 255;
    for (int y = 0; y < row->h; y++)
        for (int x = 0; x < row->w; x++)
            for (int c = 0; c < row->channels; c++) {
                double v = 40 + ((x + x0) / 9 + y / 7 + c) % 3 * 80 + 30 * test_rng_unit(&rng);
                v = x < 12 && y < 12 ? 255 : v;
                v = row->stripes ? x % 2 * 255 : v;
                test_sample_set(image, x, y, c, scale == 1 ? floor(v) : v * scale);
            }
}

static double difference(const tamis_image *a, const tamis_image *b)
{
    double worst = 0;
    for (int y = 0; y < a->h; y++)
        for (int x = 0; x < a->w; x++)
            for (int c = 0; c < a->format.channels; c++)
                worst =
                    fmax(worst, fabs(test_sample_get(a, x, y, c) - test_sample_get(b, x, y, c)));
    return worst;
}

/* What the chain makes of such a picture. */
static int result_of(tamis_ctx *ctx, const test_device_row *row, tamis_format *format, int32_t *w,
                     int32_t *h)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_parse(ctx, row->chain, &graph);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, *format, row->w, row->h, NULL, &plan);
    if (status == TAMIS_OK) {
        *format = tamis_plan_format(plan);
        tamis_plan_size(plan, w, h);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status == TAMIS_OK;
}

static int passes(tamis_ctx *ctx, tamis_ctx *device, const test_device_row *row)
{
    tamis_format format = test_format(row->type, row->channels), result = format;
    int32_t w = row->w, h = row->h;
    test_picture before, src, want, got;
    double worst = -1;

    int is_planned = result_of(ctx, row, &result, &w, &h);
    test_picture_make(&before, format, row->w, row->h, TEST_ROWS_ODD);
    test_picture_make(&src, format, row->w, row->h, TEST_ROWS_ODD);
    test_picture_make(&want, result, w, h, TEST_ROWS_ODD);
    test_picture_make(&got, result, w, h, TEST_ROWS_ODD);
    fill(&before.image, row, 6);
    fill(&src.image, row, 0);
    if (is_planned && run(ctx, row->chain, &before.image, &src.image, &want.image) == TAMIS_OK &&
        run(device, row->chain, &before.image, &src.image, &got.image) == TAMIS_OK)
        worst = difference(&want.image, &got.image);
    int is = worst >= 0 && worst <= row->tolerance;
    if (!is)
        printf("FAIL %s, %s, %d channels, %dx%d: %g\n", row->chain, tamis_type_name(row->type),
               row->channels, row->w, row->h, worst);
    test_picture_free(&before);
    test_picture_free(&src);
    test_picture_free(&want);
    test_picture_free(&got);
    return is;
}

int test_device_rows(const test_device_row *rows, int count)
{
    tamis_ctx_options options = {.threads = 2, .cpu = "c", .device = "cpu"};
    tamis_ctx *ctx = NULL, *device = NULL;
    int passed = 0;

    if (tamis_ctx_create(&options, &ctx) != TAMIS_OK)
        return 1;
    options = (tamis_ctx_options){.threads = 2, .device = "cuda"};
    if (tamis_ctx_create(&options, &device) != TAMIS_OK) {
        printf("0 passed, 0 failed, %d skipped: no device\n", count);
        tamis_ctx_free(&ctx);
        return 0;
    }
    for (int i = 0; i < count; i++)
        passed += passes(ctx, device, &rows[i]);
    tamis_ctx_free(&device);
    tamis_ctx_free(&ctx);
    printf("%d passed, %d failed, 0 skipped\n", passed, count - passed);
    return passed < count;
}
