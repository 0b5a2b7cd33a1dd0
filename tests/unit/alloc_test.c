/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out at any point: a status, nothing lost, and no allocation while running. */
#include <stdatomic.h>
#include <stdlib.h>

#include "support/parts.h"
#include "support/picture.h"
#include "unit.h"

/* Counts; fails from allocation number fail_at on (0 = never). */
typedef struct meter {
    atomic_long calls, held;
    long fail_at;
} meter;

static void *metered_alloc(void *user, size_t size)
{
    meter *m = user;
    long n = atomic_fetch_add(&m->calls, 1) + 1;
    void *p = m->fail_at && n >= m->fail_at ? NULL : malloc(size);
    if (p)
        atomic_fetch_add(&m->held, 1);
    return p;
}

static void metered_free(void *user, void *ptr)
{
    meter *m = user;
    if (ptr)
        atomic_fetch_sub(&m->held, 1);
    free(ptr);
}

typedef struct work {
    const char *chain;
    tamis_format format;
    test_picture src, dst;
    long run_calls; /* allocations during the run itself */
} work;

static tamis_status stream_once(const work *w, const tamis_plan *plan)
{
    tamis_stream *stream = NULL;
    tamis_stream_result r;
    tamis_status status = tamis_stream_create(plan, NULL, &stream);
    if (status == TAMIS_OK)
        status = tamis_stream_submit(stream, &w->src.image, &w->dst.image, NULL, 0);
    if (status == TAMIS_OK) {
        assert_int_equal(tamis_stream_flush(stream), TAMIS_OK);
        assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_OK);
        assert_int_equal(r.status, TAMIS_OK);
    }
    tamis_stream_free(&stream);
    return status;
}

/* Part by part, and the estimate of noise likewise. */
static tamis_status parts_once(work *w, tamis_ctx *ctx, const tamis_plan *plan)
{
    test_store from = {.ctx = ctx, .image = &w->src.image};
    test_store to = {.ctx = ctx, .image = &w->dst.image};
    tamis_part_source source = {.read = test_store_read, .user = &from};
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    tamis_status status = test_parts_run(plan, &from, NULL, &to, 5000, NULL);
    if (status == TAMIS_OK)
        status = tamis_noise_estimate_parts(ctx, w->format, 33, 21, &source, 0, noise);
    tamis_metrics metrics = {0};
    if (status == TAMIS_OK)
        status = tamis_metrics_add(ctx, &w->src.image, &w->src.image, 0, 1, &metrics);
    return status;
}

/* Everything a program does, stopping at the first failure. */
static tamis_status do_work(work *w, tamis_ctx *ctx, meter *m)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_image image = {0};
    long before;
    tamis_status status = tamis_graph_parse(ctx, w->chain, &graph);

    if (status == TAMIS_OK)
        status = tamis_image_create(ctx, w->format, 33, 21, &image);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, w->format, 33, 21, NULL, &plan);
    if (status == TAMIS_OK) {
        before = atomic_load(&m->calls);
        status = tamis_plan_run(plan, &w->src.image, &w->dst.image, NULL);
        w->run_calls = atomic_load(&m->calls) - before;
    }
    if (status == TAMIS_OK && strncmp(w->chain, "gaussian", 8) == 0) /* quick ones */
        status = stream_once(w, plan);
    if (status == TAMIS_OK &&
        (strncmp(w->chain, "box", 3) == 0 || strncmp(w->chain, "canny", 5) == 0))
        status = parts_once(w, ctx, plan);
    if (status != TAMIS_OK)
        unit_message_has(ctx, "memory");
    tamis_plan_free(&plan);
    tamis_image_unref(&image);
    tamis_graph_free(&graph);
    return status;
}

/* 1 when all went well. */
static int attempt(work *w, long fail_at)
{
    meter m = {.fail_at = fail_at};
    tamis_allocator allocator = {metered_alloc, metered_free, &m};
    tamis_ctx_options options = {.threads = 2, .allocator = &allocator};
    tamis_ctx *ctx;
    tamis_status status = tamis_ctx_create(&options, &ctx);

    if (status == TAMIS_OK) {
        size_t before = tamis_ctx_bytes(ctx);
        status = do_work(w, ctx, &m);
        assert_int_equal(tamis_ctx_bytes(ctx), before);
        tamis_ctx_free(&ctx);
    }
    assert_null(ctx);
    assert_int_equal(atomic_load(&m.held), 0);
    if (status != TAMIS_OK)
        assert_int_equal(status, TAMIS_ERR_MEMORY);
    return status == TAMIS_OK;
}

/* Whether the chain takes pictures of that format, and gives such pictures. */
static int keeps_format(const work *w)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_graph *graph;
    tamis_plan *plan = NULL;
    assert_int_equal(tamis_graph_parse(ctx, w->chain, &graph), TAMIS_OK);
    int keeps = tamis_plan_create(ctx, graph, w->format, 33, 21, NULL, &plan) == TAMIS_OK &&
                tamis_format_equal(tamis_plan_format(plan), w->format);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    return keeps;
}

static int has_border(const tamis_filter *filter)
{
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(params[i].name, "border_value") == 0)
            return 1;
    return 0;
}

static void every_chain_survives(void **state)
{
    static const struct {
        tamis_type type;
        int channels;
        tamis_alpha alpha;
    } formats[] = {{TAMIS_U8, 1, TAMIS_ALPHA_NONE},
                   {TAMIS_F16, 3, TAMIS_ALPHA_NONE},
                   {TAMIS_U16, 4, TAMIS_ALPHA_STRAIGHT}};

    (void)state;
    for (int f = -1; f < tamis_filter_count(); f++)
        for (int i = 0; i < 3; i++) {
            char chain[256];
            const char *name = f < 0 ? "" : tamis_filter_name(tamis_filter_at(f));
            work w = {.chain = chain};
            long n = 1;
            snprintf(chain, sizeof chain, "%s%s%s%s", name, f < 0 ? "" : ",", name,
                     has_border(tamis_filter_at(f)) ? "=border=constant:border_value=9" : "");
            w.format = test_format(formats[i].type, formats[i].channels);
            w.format.alpha = formats[i].alpha;
            if (!keeps_format(&w))
                continue;
            test_picture_make(&w.src, w.format, 33, 21, TEST_ROWS_TIGHT);
            test_picture_make(&w.dst, w.format, 33, 21, TEST_ROWS_TIGHT);
            while (!attempt(&w, n)) {
                n++;
                assert_true(n < 10000);
            }
            assert_true(n > 3);
            assert_int_equal(w.run_calls, 0);
            test_picture_free(&w.src);
            test_picture_free(&w.dst);
        }
}

static void remember(void *user, tamis_log_level level, const char *text)
{
    if (level == TAMIS_LOG_ERROR)
        snprintf(user, 64, "%s", text);
}

/* There is no context to ask, so the log is told. */
static void allocators_without_memory(void **state)
{
    (void)state;
    for (long fail_at = 1;; fail_at++) {
        char said[64] = "";
        meter m = {.fail_at = fail_at};
        tamis_allocator allocator = {metered_alloc, metered_free, &m};
        tamis_ctx_options options = {
            .threads = 2, .allocator = &allocator, .log = remember, .log_user = said};
        tamis_ctx *ctx = (tamis_ctx *)&m;
        if (tamis_ctx_create(&options, &ctx) == TAMIS_OK) {
            tamis_ctx_free(&ctx);
            assert_true(fail_at > 2);
            return;
        }
        assert_null(ctx);
        assert_non_null(strstr(said, "no memory"));
        assert_int_equal(atomic_load(&m.held), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chain_survives),
        cmocka_unit_test(allocators_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
