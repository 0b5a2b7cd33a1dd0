/* SPDX-License-Identifier: Apache-2.0 */
/* Windows too large for the samples of the harness: they take other ways through the vector
 * kernels, whose results must be those of the reference all the same. */
#include <stdio.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static const char *const cpus[] = {"c", "base", "avx2", "avx512"};
enum { CPUS = 4, W = 70, H = 7 };

static int run(tamis_ctx *ctx, const char *chain, const test_picture *src, test_picture *out)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    int ok = tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
             tamis_plan_create(ctx, graph, src->image.format, W, H, NULL, &plan) == TAMIS_OK;

    test_picture_make(out, src->image.format, W, H, TEST_ROWS_TIGHT);
    ok = ok && tamis_plan_run(plan, &src->image, &out->image, NULL) == TAMIS_OK;
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return ok;
}

static int differences(tamis_ctx *const ctx[CPUS], const char *chain, tamis_format format,
                       test_fill fill)
{
    test_picture src, want, got;
    int failed = 0;

    test_picture_make(&src, format, W, H, TEST_ROWS_ODD);
    test_picture_fill(&src.image, fill, 7);
    if (!run(ctx[0], chain, &src, &want))
        failed = 1;
    for (int cpu = 1; cpu < CPUS && !failed; cpu++) {
        if (!ctx[cpu])
            continue;
        if (!run(ctx[cpu], chain, &src, &got) || !test_same(&want.image, &got.image)) {
            printf("FAIL %s %s x%d: row %s\n", chain, tamis_type_name(format.type), format.channels,
                   cpus[cpu]);
            failed++;
        }
        test_picture_free(&got);
    }
    test_picture_free(&want);
    test_picture_free(&src);
    return failed;
}

int main(void)
{
    /* Heights about 64, 128 and 257; products about 16384, 32767, 2^31 / 255. */
    static const char *const windows[] = {"3x64",    "40x65",   "5x128",     "7x129",
                                          "17x257",  "128x128", "127x130",   "181x181",
                                          "182x181", "301x200", "3000x2000", "2950x2851"};
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16};
    tamis_ctx *ctx[CPUS] = {NULL};
    int passed = 0, failed = 0;

    for (int cpu = 0; cpu < CPUS; cpu++) {
        tamis_ctx_options o = {.threads = 1, .cpu = cpus[cpu]};
        if (tamis_ctx_create(&o, &ctx[cpu]) != TAMIS_OK)
            printf("skipped: this CPU has no %s\n", cpus[cpu]);
    }
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        for (int t = 0; t < 3; t++)
            for (int fill = 0; fill < 2; fill++) {
                char chain[64];
                tamis_format format = test_format(types[t], i % 3 == 0 ? 3 : 1);
                snprintf(chain, sizeof chain, "box=ksize=%s:border=wrap", windows[i]);
                int bad =
                    differences(ctx, chain, format, fill ? TEST_FILL_NOISE : TEST_FILL_EXTREMES);
                failed += bad;
                passed += !bad;
            }
    for (int cpu = 0; cpu < CPUS; cpu++)
        tamis_ctx_free(&ctx[cpu]);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
