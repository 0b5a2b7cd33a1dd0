/* SPDX-License-Identifier: Apache-2.0 */
/* G25: the same answer every time, whoever else is at work. */
#include <pthread.h>
#include <stdio.h>

#include "cases.h"

static double noise(int x, int y, int c)
{
    (void)c;
    return (31 * x * x + 17 * y * y + 13 * x * y + 7 * x + 3 * y) % 251;
}

static void same_for_thread_counts(const char *chain)
{
    static const int threads[] = {1, 2, 3, 7, 64};
    uint32_t want = 0;
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 64, 64, noise);
    case_check(test_crc(&src.image) == 0x29fce82d, "G25", "the input is made wrongly");
    for (int t = 0; t < 5; t++) {
        tamis_ctx_options o = {.threads = threads[t]};
        tamis_ctx *ctx;
        if (tamis_ctx_create(&o, &ctx) != TAMIS_OK) {
            case_check(0, "G25", "no context of %d threads", threads[t]);
            continue;
        }
        for (int run = 0; run < 20; run++) {
            uint32_t crc = 0;
            if (case_run_ok("G25", ctx, chain, &src.image, &out) == 0)
                crc = test_crc(&out.image);
            want = t == 0 && run == 0 ? crc : want;
            case_check(crc == want, "G25", "%s: run %d on %d threads differs", chain, run,
                       threads[t]);
            test_picture_free(&out);
        }
        tamis_ctx_free(&ctx);
    }
    test_picture_free(&src);
}

enum { CALLERS = 32, ROUNDS = 60 };

typedef struct caller {
    const tamis_plan *plan;
    test_picture src, dst, want;
    int wrong;
} caller;

static void *call(void *arg)
{
    caller *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        if (tamis_plan_run(c->plan, &c->src.image, &c->dst.image, NULL) != TAMIS_OK ||
            !test_same(&c->want.image, &c->dst.image))
            c->wrong++;
        test_picture_fill(&c->dst.image, TEST_FILL_CONSTANT, (uint64_t)i);
    }
    return NULL;
}

/* 32 threads at once on one plan, each with a picture of its own. */
static void callers_share_a_plan(tamis_ctx *ctx, const char *chain, tamis_type type)
{
    static caller callers[CALLERS];
    pthread_t ids[CALLERS];
    tamis_format format = test_format(type, 1);
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    int started = 0, wrong = 0;

    if (tamis_graph_parse(ctx, chain, &graph) != TAMIS_OK ||
        tamis_plan_create(ctx, graph, format, 37, 29, NULL, &plan) != TAMIS_OK) {
        case_check(0, "G25", "%s: no plan", chain);
        tamis_graph_free(&graph);
        return;
    }
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.plan = plan};
        test_picture_make(&callers[i].src, format, 37, 29, TEST_ROWS_TIGHT);
        test_picture_make(&callers[i].dst, format, 37, 29, TEST_ROWS_ODD);
        test_picture_make(&callers[i].want, format, 37, 29, TEST_ROWS_TIGHT);
        test_picture_fill(&callers[i].src.image, TEST_FILL_NOISE, (uint64_t)i);
        case_check(tamis_plan_run(plan, &callers[i].src.image, &callers[i].want.image, NULL) ==
                       TAMIS_OK,
                   "G25", "%s: not run", chain);
    }
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&ids[i], NULL, call, &callers[i]) == 0)
            started++;
        else
            break;
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    case_check(started == CALLERS, "G25", "only %d threads started", started);
    for (int i = 0; i < CALLERS; i++) {
        wrong += callers[i].wrong;
        test_picture_free(&callers[i].src);
        test_picture_free(&callers[i].dst);
        test_picture_free(&callers[i].want);
    }
    case_check(wrong == 0, "G25", "%s: %d runs of 32 callers differ", chain, wrong);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
}

void case_threads(void)
{
    static const char *const chains[] = {"gaussian=sigma=2",
                                         "median=ksize=5",
                                         "bilateral=sigma_space=2:sigma_color=20:ksize=5",
                                         "nlmeans=search=7:patch=3",
                                         "box=ksize=12",
                                         "convolve=kernel=gauss5"};

    for (int i = 0; i < 6; i++) {
        if (!case_has("G25", chains[i]))
            continue;
        same_for_thread_counts(chains[i]);
        for (int cpu = 0; cpu < CASE_CPUS; cpu++)
            if (case_ctx[cpu])
                callers_share_a_plan(case_ctx[cpu], chains[i], cpu % 2 ? TAMIS_U8 : TAMIS_F32);
    }
}
