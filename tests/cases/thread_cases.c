/* SPDX-License-Identifier: Apache-2.0 */
/* G25: the same answer every time, whoever else is at work. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

static double noise(int x, int y, int c)
{
    (void)c;
    return (31 * x * x + 17 * y * y + 13 * x * y + 7 * x + 3 * y) % 251;
}

/* 20 runs of one chain, each with the wanted checksum. */
static void same_each_run(tamis_ctx *ctx, const char *chain, const test_picture *src, uint32_t want)
{
    test_picture out;

    for (int run = 0; run < 20; run++) {
        uint32_t crc = 0;
        if (case_run_ok("G25", ctx, chain, &src->image, &out) == 0)
            crc = test_crc(&out.image);
        case_check(crc == want, "G25", "%s: %s: run %d on %d threads differs", chain,
                   tamis_ctx_cpu(ctx), run, tamis_ctx_threads(ctx));
        test_picture_free(&out);
    }
}

/* One instruction set and thread counts. A known checksum is that of every row; without one, 0,
 * runs are compared with the first of this row. */
static void same_for_thread_counts(const char *cpu, const char *chain, uint32_t known)
{
    static const int threads[] = {1, 2, 3, 7, 64};
    uint32_t want = known;
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 64, 64, noise);
    case_check(test_crc(&src.image) == 0x29fce82d, "G25", "the input is made wrongly");
    for (int t = 0; t < 5; t++) {
        tamis_ctx_options o = {.threads = threads[t], .cpu = cpu};
        tamis_ctx *ctx;
        if (tamis_ctx_create(&o, &ctx) != TAMIS_OK) {
            case_check(0, "G25", "no context of %d threads", threads[t]);
            continue;
        }
        if (t == 0 && !known && case_run_ok("G25", ctx, chain, &src.image, &out) == 0) {
            want = test_crc(&out.image);
            test_picture_free(&out);
        }
        same_each_run(ctx, chain, &src, want);
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

enum { OWN_ROUNDS = 1000, OWN_SIZE = 64 };

/* A thread with a kernel of its own: value k, of one sample. */
typedef struct owner {
    tamis_ctx *ctx;
    const test_picture *src;
    int k, wrong;
} owner;

static int same_samples(const test_picture *a, const test_picture *b)
{
    return memcmp(a->image.data[0], b->image.data[0], sizeof(float) * OWN_SIZE * OWN_SIZE) == 0;
}

static void *call_own(void *arg)
{
    owner *o = arg;
    tamis_format format = test_format(TAMIS_F32, 1);
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture dst, want;
    char chain[64];

    snprintf(chain, sizeof chain, "convolve=kernel=%d:divisor=1", o->k);
    test_picture_make(&dst, format, OWN_SIZE, OWN_SIZE, TEST_ROWS_TIGHT);
    test_picture_make(&want, format, OWN_SIZE, OWN_SIZE, TEST_ROWS_TIGHT);
    for (int y = 0; y < OWN_SIZE; y++)
        for (int x = 0; x < OWN_SIZE; x++)
            test_sample_set(&want.image, x, y, 0, o->k * test_sample_get(&o->src->image, x, y, 0));
    if (tamis_graph_parse(o->ctx, chain, &graph) != TAMIS_OK ||
        tamis_plan_create(o->ctx, graph, format, OWN_SIZE, OWN_SIZE, NULL, &plan) != TAMIS_OK)
        o->wrong = OWN_ROUNDS;
    for (int i = 0; i < OWN_ROUNDS && plan; i++) {
        memset(dst.image.data[0], 0xff, sizeof(float));
        if (tamis_plan_run(plan, &o->src->image, &dst.image, NULL) != TAMIS_OK ||
            !same_samples(&want, &dst))
            o->wrong++;
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    test_picture_free(&want);
    test_picture_free(&dst);
    return NULL;
}

/* G25 b: 32 threads at once with plans of their own on one context: none gets another's answer. */
static void callers_own_their_kernels(tamis_ctx *ctx)
{
    owner owners[CALLERS];
    pthread_t ids[CALLERS];
    test_picture src;
    int started = 0, wrong = 0;

    case_picture(&src, test_format(TAMIS_F32, 1), OWN_SIZE, OWN_SIZE, noise);
    for (int i = 0; i < CALLERS; i++)
        owners[i] = (owner){.ctx = ctx, .src = &src, .k = i + 1};
    while (started < CALLERS &&
           pthread_create(&ids[started], NULL, call_own, &owners[started]) == 0)
        started++;
    for (int i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        wrong += owners[i].wrong;
    }
    case_check(started == CALLERS, "G25", "only %d threads started", started);
    case_check(wrong == 0, "G25", "%s: %d runs of 32 kernels differ", tamis_ctx_cpu(ctx), wrong);
    test_picture_free(&src);
}

void case_threads(void)
{
    static const struct {
        const char *chain;
        uint32_t crc;
    } chains[] = {{"box=ksize=3:border=reflect", 0x137dc944},
                  {"gaussian=sigma=2", 0},
                  {"median=ksize=5", 0},
                  {"bilateral=sigma_space=2:sigma_color=20:ksize=5", 0},
                  {"nlmeans=search=7:patch=3", 0},
                  {"box=ksize=12", 0},
                  {"convolve=kernel=gauss5", 0}};

    for (int i = 0; i < 7; i++)
        for (int cpu = 0; cpu < CASE_CPUS && case_has("G25", chains[i].chain); cpu++)
            if (case_ctx[cpu]) {
                same_for_thread_counts(case_cpus[cpu], chains[i].chain, chains[i].crc);
                callers_share_a_plan(case_ctx[cpu], chains[i].chain,
                                     cpu % 2 ? TAMIS_U8 : TAMIS_F32);
            }
    for (int cpu = 0; cpu < CASE_CPUS && case_has("G25", "convolve"); cpu++)
        if (case_ctx[cpu])
            callers_own_their_kernels(case_ctx[cpu]);
}
