/* SPDX-License-Identifier: Apache-2.0 */
/* Runs stop inside of a tile, too, where one takes long. Measured in the processor's time of the
 * thread that runs, so that busy machines change nothing. */
#include <pthread.h>
#include <time.h>

#include "support/picture.h"
#include "unit.h"

/* What is canceled, when it has taken so many nanoseconds. */
typedef struct watch {
    clockid_t clock;
    int64_t from, after;
    int cancel;
} watch;

static int64_t now(clockid_t clock)
{
    struct timespec t;
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *cancel_later(void *user)
{
    watch *w = user;
    while (now(w->clock) - w->from < w->after)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* A chain over a square picture that is one tile. */
typedef struct job {
    tamis_ctx *ctx;
    tamis_plan *plan;
    test_picture src, dst;
} job;

static void open_job(job *j, tamis_ctx *ctx, const char *chain, tamis_format format, int side)
{
    tamis_graph *graph;
    tamis_plan_options whole = {.tile_w = side, .tile_h = side};
    j->ctx = ctx;
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, format, side, side, &whole, &j->plan), TAMIS_OK);
    tamis_graph_free(&graph);
    test_picture_make(&j->src, format, side, side, TEST_ROWS_TIGHT);
    test_picture_make(&j->dst, format, side, side, TEST_ROWS_TIGHT);
    test_picture_fill(&j->src.image, TEST_FILL_NOISE, 1);
}

static void close_job(job *j)
{
    test_picture_free(&j->src);
    test_picture_free(&j->dst);
    tamis_plan_free(&j->plan);
}

/* Nanoseconds of this thread's that a run takes, and how it ends. */
static int64_t run_job(const job *j, watch *w, tamis_status *status)
{
    tamis_run_options options = {.cancel = &w->cancel};
    int64_t start = now(w->clock);
    *status = tamis_plan_run(j->plan, &j->src.image, &j->dst.image, &options);
    return now(w->clock) - start;
}

static void stops_within_a_tile(tamis_ctx *ctx, const char *chain, tamis_format format)
{
    enum { ENOUGH = 20000000 };
    watch watched = {0};
    pthread_t thread;
    tamis_status status;
    int64_t all = 0;
    assert_int_equal(pthread_getcpuclockid(pthread_self(), &watched.clock), 0);
    for (int side = 8; all < ENOUGH; side *= 2) {
        job j;
        open_job(&j, ctx, chain, format, side);
        all = run_job(&j, &watched, &status);
        assert_int_equal(status, TAMIS_OK);
        if (all >= ENOUGH) {
            watched.from = now(watched.clock);
            watched.after = all / 8;
            assert_int_equal(pthread_create(&thread, NULL, cancel_later, &watched), 0);
            int64_t taken = run_job(&j, &watched, &status);
            assert_int_equal(pthread_join(thread, NULL), 0);
            assert_int_equal(status, TAMIS_ERR_CANCELED);
            if (taken > all / 2)
                fail_msg("%s, %s: stopped after %g of %g ms", tamis_ctx_cpu(ctx), chain,
                         (double)taken / 1e6, (double)all / 1e6);
        }
        close_job(&j);
    }
}

static void long_tiles_stop(void **state)
{
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};
    static const struct {
        const char *chain;
        tamis_type type;
        int channels;
    } heavy[] = {{"nlmeans=search=31:patch=7", TAMIS_U8, 1},
                 {"nlmeans=search=31:patch=7", TAMIS_F32, 3},
                 {"bilateral=ksize=99:sigma_space=40:sigma_color=40", TAMIS_U8, 1},
                 {"bilateral=ksize=99:sigma_space=40:sigma_color=40", TAMIS_U8, 3},
                 {"bilateral=ksize=99:sigma_space=40:color=luma", TAMIS_F32, 3},
                 {"affine=scale=0.01:interp=area", TAMIS_U16, 1}};
    (void)state;
    for (int c = 0; c < 4; c++) {
        tamis_ctx_options one = {.threads = 1, .cpu = cpus[c]};
        tamis_ctx *ctx;
        if (tamis_ctx_create(&one, &ctx) != TAMIS_OK) /* a machine without these instructions */
            continue;
        for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++)
            stops_within_a_tile(ctx, heavy[i].chain, test_format(heavy[i].type, heavy[i].channels));
        tamis_ctx_free(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_tiles_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
