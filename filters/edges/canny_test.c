/* SPDX-License-Identifier: Apache-2.0 */
/* Canny's last step against a plain flood, on pictures that make edges wander, for any number of
 * threads; and what alpha does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/tamis.h>

#include "edges/canny_kernel.h"
#include "support/rng.h"

static long passed, failed;

typedef struct classes {
    int w, h, step;
    uint8_t *data; /* w * h pixels of step samples */
} classes;

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static uint8_t *class_of(const classes *c, int x, int y, int channel)
{
    return c->data + ((size_t)y * (size_t)c->w + (size_t)x) * (size_t)c->step + channel;
}

/* Kept pixels with a chance in 1000, strong ones with one in 100000. */
static void fill_random(const classes *c, test_rng *rng, int kept, int strong)
{
    for (int i = 0; i < c->w * c->h * c->step; i++) {
        c->data[i] = test_rng_below(rng, 1000) < kept ? CANNY_WEAK : 0;
        if (c->data[i] && test_rng_below(rng, 100000) < strong)
            c->data[i] = CANNY_STRONG;
    }
}

/* One line to and fro through the whole picture, strong at one end only. */
static void fill_snake(const classes *c, int down)
{
    memset(c->data, 0, (size_t)c->w * (size_t)c->h * (size_t)c->step);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            int lane = down ? x : y, along = down ? y : x, length = down ? c->h : c->w;
            int turn = lane % 4 == 1 ? length - 1 : 0;
            if (lane % 2 == 0 || along == turn)
                *class_of(c, x, y, 0) = CANNY_WEAK;
        }
    *class_of(c, 0, 0, 0) = CANNY_STRONG;
}

/* The definition: from every strong pixel to its kept neighbors, and theirs. */
static void flood(const classes *c, int channel)
{
    int *stack = must(malloc((size_t)c->w * (size_t)c->h * sizeof *stack)), count = 0;
    for (int i = 0; i < c->w * c->h; i++)
        if (*class_of(c, i % c->w, i / c->w, channel) == CANNY_STRONG)
            stack[count++] = i;
    while (count) {
        int at = stack[--count];
        for (int n = 0; n < 9; n++) {
            int x = at % c->w + n % 3 - 1, y = at / c->w + n / 3 - 1;
            if (x < 0 || y < 0 || x >= c->w || y >= c->h ||
                *class_of(c, x, y, channel) != CANNY_WEAK)
                continue;
            *class_of(c, x, y, channel) = CANNY_STRONG;
            stack[count++] = y * c->w + x;
        }
    }
    for (int i = 0; i < c->w * c->h; i++) {
        uint8_t *v = class_of(c, i % c->w, i / c->w, channel);
        *v = *v == CANNY_STRONG ? 255 : 0;
    }
    free(stack);
}

static void expect(tamis_pool *pool, const classes *c, const char *what)
{
    size_t size = (size_t)c->w * (size_t)c->h * (size_t)c->step;
    classes want = *c;
    tamis_result result = {.data = {c->data},
                           .stride = {(ptrdiff_t)c->w * c->step},
                           .planes = 1,
                           .step = c->step,
                           .w = c->w,
                           .h = c->h,
                           .pool = pool};
    void *scratch = must(malloc(tamis_priv_canny_finish_bytes(c->w, c->h)));
    int same;

    memset(scratch, 0xa5, tamis_priv_canny_finish_bytes(c->w, c->h));
    want.data = must(malloc(size));
    memcpy(want.data, c->data, size);
    for (int channel = 0; channel < c->step; channel++)
        flood(&want, channel);
    tamis_priv_canny_finish(&result, NULL, scratch);
    same = memcmp(want.data, c->data, size) == 0;
    passed += same;
    failed += !same;
    if (!same)
        printf("FAIL %s: %dx%d, %d channels, %d threads\n", what, c->w, c->h, c->step,
               tamis_priv_pool_threads(pool));
    free(want.data);
    free(scratch);
}

static void try_size(tamis_pool *pool, test_rng *rng, int w, int h, int step)
{
    static const int kept[] = {1000, 600, 450, 400, 350, 200};
    classes c = {w, h, step, must(malloc((size_t)w * (size_t)h * (size_t)step))};

    for (int i = 0; i < 6; i++) {
        fill_random(&c, rng, kept[i], i % 2 ? 30 : 2000);
        expect(pool, &c, "random");
    }
    for (int down = 0; down < 2; down++) {
        fill_snake(&c, down);
        expect(pool, &c, down ? "lanes down" : "lanes across");
    }
    free(c.data);
}

/* ---- alpha */

/* Edges of a picture of squares, as bytes of the first channel. */
static void find_edges(const char *cpu, tamis_format format, const char *chain, uint8_t *edges)
{
    tamis_ctx_options o = {.threads = 1, .cpu = cpu};
    tamis_ctx *ctx = NULL;
    tamis_image src, dst;
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    if (tamis_ctx_create(&o, &ctx) || tamis_image_create(ctx, format, 40, 30, &src) ||
        tamis_graph_parse(ctx, chain, &graph) ||
        tamis_plan_create(ctx, graph, format, 40, 30, NULL, &plan) ||
        tamis_image_create(ctx, tamis_plan_format(plan), 40, 30, &dst))
        abort();
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 40 * format.channels; x++) {
            int alpha = format.alpha && x % format.channels == format.channels - 1;
            int bright = x / format.channels / 8 % 2 != y / 8 % 2;
            ((uint8_t *)tamis_image_row(&src, 0, y))[x] = alpha || bright ? 255 : 20;
        }
    if (tamis_plan_run(plan, &src, &dst, NULL))
        abort();
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 40; x++)
            edges[40 * y + x] = ((uint8_t *)tamis_image_row(&dst, 0, y))[x * dst.format.channels];
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_image_unref(&src);
    tamis_image_unref(&dst);
    tamis_ctx_free(&ctx);
}

/* Where all is opaque, alpha changes nothing. */
static void try_opaque(const char *cpu, const char *chain)
{
    tamis_format rgb = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    uint8_t want[40 * 30], got[40 * 30];
    int found = 0;
    find_edges(cpu, rgb, chain, want);
    find_edges(cpu, rgba, chain, got);
    for (int i = 0; i < 40 * 30; i++)
        found += want[i] == 255;
    if (found > 100 && memcmp(want, got, sizeof want) == 0) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s on %s: an opaque picture has other edges than one without alpha\n", chain, cpu);
}

int main(void)
{
    try_opaque("c", "canny=low=50:high=100");
    try_opaque("base", "canny=low=50:high=100");
    try_opaque("base", "canny=low=50:high=100:color=separate");
    try_opaque("c", "canny=low=50:high=100:color=separate");
    static const int sizes[][2] = {{1, 1},    {1, 700},   {700, 1},   {64, 64},
                                   {65, 129}, {127, 300}, {130, 513}, {515, 260}};
    tamis_ctx *ctx = NULL;
    test_rng rng = {7};

    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK)
        return 1;
    for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        tamis_pool *pool = must(tamis_priv_pool_create(ctx, threads));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int step = 1; step <= 3; step += 2)
                try_size(pool, &rng, sizes[s][0], sizes[s][1], step);
        tamis_priv_pool_free(pool);
    }
    tamis_ctx_free(&ctx);
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed ? 1 : 0;
}
