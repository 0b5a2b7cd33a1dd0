/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a chain: refused or understood, and what is understood prints back, plans and runs.
 */
#include <stdlib.h>
#include <string.h>

#include <tamis/tamis.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void prints_back(tamis_ctx *ctx, const tamis_graph *graph)
{
    size_t n = tamis_graph_print(graph, NULL, 0);
    char *first = malloc(n + 1), *second = malloc(n + 1);
    tamis_graph *again;

    if (!first || !second)
        abort();
    tamis_graph_print(graph, first, n + 1);
    if (tamis_graph_parse(ctx, first, &again) != TAMIS_OK)
        abort();
    if (tamis_graph_print(again, second, n + 1) != n || strcmp(first, second) != 0)
        abort();
    tamis_graph_free(&again);
    free(first);
    free(second);
}

/* Small enough to run thousands of times a second. */
static int is_small(const tamis_plan *plan)
{
    tamis_halo h = tamis_plan_halo(plan);
    return h.left + h.right < 40 && h.top + h.bottom < 40;
}

static void runs(tamis_ctx *ctx, const tamis_graph *graph, tamis_format format)
{
    tamis_image src, dst;
    tamis_plan *plan;
    int32_t w, h;

    if (tamis_plan_create(ctx, graph, format, 9, 7, NULL, &plan) != TAMIS_OK)
        return;
    tamis_plan_size(plan, &w, &h);
    if (is_small(plan) && tamis_image_create(ctx, format, 9, 7, &src) == TAMIS_OK &&
        tamis_image_create(ctx, tamis_plan_format(plan), w, h, &dst) == TAMIS_OK) {
        for (int y = 0; y < 7; y++)
            memset(tamis_image_row(&src, 0, y), y * 37, 9 * tamis_type_size(format.type));
        if (tamis_plan_run(plan, &src, &dst, NULL) != TAMIS_OK)
            abort();
        tamis_image_unref(&src);
        tamis_image_unref(&dst);
    }
    tamis_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tamis_ctx *ctx;
    tamis_ctx_options options = {.threads = 1, .max_bytes = 64 << 20};
    tamis_format format = {.type = TAMIS_U8, .channels = 1};
    tamis_graph *graph;
    char *text = malloc(size + 1);

    if (!text || (!ctx && tamis_ctx_create(&options, &ctx) != TAMIS_OK))
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (tamis_graph_parse(ctx, text, &graph) == TAMIS_OK) {
        prints_back(ctx, graph);
        if (tamis_graph_size(graph) <= 4) {
            runs(ctx, graph, format);
            format.type = TAMIS_F32;
            runs(ctx, graph, format);
        }
        tamis_graph_free(&graph);
    }
    free(text);
    return 0;
}
