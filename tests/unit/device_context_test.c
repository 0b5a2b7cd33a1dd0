/* SPDX-License-Identifier: Apache-2.0 */
/* Calls leave the calling thread's context on a device as they find it, on emulated devices. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tamis/tamis.h>

#include "support/picture.h"

/* Of the emulated driver: what is current in the calling thread, and contexts to make so, the
 * runtime's of a device or a program's own there. */
static void *(*current)(void);
static void (*make_current)(void *context);
static void *(*context_of)(int device, int is_own);

static void find(const char *name, void *function)
{
    void *symbol = dlsym(dlopen(getenv("TAMIS_CUDA_MODULE"), RTLD_NOW), name);
    assert_non_null(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

enum { W = 20, H = 12, FRAMES = 4 };

/* What calls work on, by a thread that has `found` current. */
struct walk {
    const char *start; /* what that is, in words */
    void *found;
    int device; /* of the context and its images */
    tamis_ctx *ctx;
    tamis_plan *plan;
    tamis_image here[FRAMES], back[FRAMES];    /* in host memory */
    tamis_image there[FRAMES], result[FRAMES]; /* on the device */
    tamis_image pinned;
    /* The first call that was not as it should be: only the main thread can fail by cmocka. */
    char wrong[400];
};

static void note(struct walk *w, const char *call, int line, int is_status_right)
{
    int is_kept = current() == w->found;
    if (!w->wrong[0] && !(is_kept && is_status_right))
        snprintf(w->wrong, sizeof w->wrong, "device %d, current: %s: line %d, %.200s: %s",
                 w->device, w->start, line, call, is_kept ? "its status" : "another context");
    make_current(w->found);
}

/* What a call returns, and that it keeps the context; the same of calls without a status. */
#define GIVES(status, call) note(w, #call, __LINE__, (call) == (status))
#define KEEPS(call)         note(w, #call, __LINE__, ((call), 1))

static const tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
static const char chain[] = "bilateral=ksize=3,box"; /* the first one has a table there */

static tamis_status open_ctx(const char *device, tamis_ctx **out)
{
    return tamis_ctx_create(&(tamis_ctx_options){.device = device, .threads = 2}, out);
}

static const char *name_of(const struct walk *w)
{
    return w->device ? "cuda:1" : "cuda:0";
}

static tamis_status make_plan(struct walk *w, const char *text, const tamis_plan_options *o,
                              tamis_plan **out)
{
    tamis_graph *graph = NULL;
    *out = NULL;
    tamis_status status = tamis_graph_parse(w->ctx, text, &graph);
    if (status == TAMIS_OK)
        status = tamis_plan_create(w->ctx, graph, rgba, W, H, o, out);
    tamis_graph_free(&graph);
    return status;
}

/* What became of the last frame. */
static tamis_status filter_frames(struct walk *w, const tamis_plan *plan, const tamis_image *guide,
                                  const tamis_image *src, const tamis_image *dst)
{
    tamis_stream *stream = NULL;
    tamis_stream_options o = {.guide = guide};
    tamis_stream_result r = {.status = TAMIS_OK};
    GIVES(TAMIS_OK, tamis_stream_create(plan, &o, &stream));
    for (int i = 0; i < FRAMES; i++)
        GIVES(TAMIS_OK, tamis_stream_submit(stream, &src[i], &dst[i], NULL, 0));
    GIVES(TAMIS_OK, tamis_stream_cut(stream));
    for (int i = 0; i < FRAMES; i++)
        GIVES(TAMIS_OK, tamis_stream_wait(stream, -1, &r));
    KEEPS(tamis_stream_free(&stream));
    return r.status;
}

static void begin(struct walk *w)
{
    GIVES(TAMIS_OK, open_ctx(name_of(w), &w->ctx));
    for (int i = 0; i < FRAMES; i++) {
        GIVES(TAMIS_OK, tamis_image_create(w->ctx, rgba, W, H, &w->here[i]));
        GIVES(TAMIS_OK, tamis_image_create(w->ctx, rgba, W, H, &w->back[i]));
        GIVES(TAMIS_OK, tamis_image_create_on_device(w->ctx, w->device, rgba, W, H, &w->there[i]));
        GIVES(TAMIS_OK, tamis_image_create_on_device(w->ctx, w->device, rgba, W, H, &w->result[i]));
        test_picture_fill(&w->here[i], TEST_FILL_NOISE, 3);
    }
    GIVES(TAMIS_OK, tamis_image_create_pinned(w->ctx, rgba, W, H, &w->pinned));
    GIVES(TAMIS_OK, make_plan(w, chain, NULL, &w->plan));
}

static void end(struct walk *w)
{
    KEEPS(tamis_plan_free(&w->plan));
    for (int i = 0; i < FRAMES; i++) {
        KEEPS(tamis_image_unref(&w->here[i]));
        KEEPS(tamis_image_unref(&w->back[i]));
        KEEPS(tamis_image_unref(&w->there[i]));
        KEEPS(tamis_image_unref(&w->result[i]));
    }
    KEEPS(tamis_image_unref(&w->pinned));
    KEEPS(tamis_ctx_free(&w->ctx));
}

static void ask(struct walk *w)
{
    tamis_device_info info;
    tamis_kernel_info row;
    tamis_ctx *ctx = NULL;
    KEEPS(tamis_device_count(w->ctx));
    KEEPS(tamis_device_kernel(w->ctx, tamis_filter_find("gaussian"), 0, &row));
    GIVES(TAMIS_OK, tamis_device_describe(w->ctx, 0, &info));
    GIVES(TAMIS_OK, tamis_device_describe(w->ctx, 1, &info));
    GIVES(TAMIS_ERR_ARGUMENT, tamis_device_describe(w->ctx, 9, &info));
    GIVES(TAMIS_ERR_DEVICE, open_ctx("cuda:7", &ctx));
}

/* Each way through: images here and there, a stream of the caller's, which is the default one. */
static void run(struct walk *w)
{
    const tamis_image *here = w->here, *back = w->back, *there = w->there, *result = w->result;
    tamis_run_options on_stream = {.stream = (void *)1};
    GIVES(TAMIS_OK, tamis_image_transfer(w->ctx, here, there));
    GIVES(TAMIS_OK, tamis_image_transfer(w->ctx, there, &w->pinned));
    GIVES(TAMIS_OK, tamis_image_rearrange(w->ctx, there, result, 0));
    GIVES(TAMIS_OK, tamis_plan_run(w->plan, here, back, NULL));
    GIVES(TAMIS_OK, tamis_plan_run(w->plan, there, result, NULL));
    GIVES(TAMIS_OK, tamis_plan_run(w->plan, there, back, NULL));
    GIVES(TAMIS_OK, tamis_plan_run(w->plan, there, result, &on_stream));
    GIVES(TAMIS_OK, tamis_plan_run_many(w->plan, here, back, FRAMES, NULL));
    GIVES(TAMIS_OK, tamis_plan_run_many(w->plan, there, result, FRAMES, NULL));
    GIVES(TAMIS_OK, tamis_plan_run_many(w->plan, there, back, FRAMES, NULL));
    GIVES(TAMIS_OK, tamis_plan_run_many(w->plan, there, result, FRAMES, &on_stream));
    GIVES(TAMIS_OK, filter_frames(w, w->plan, NULL, here, back));
    GIVES(TAMIS_OK, filter_frames(w, w->plan, NULL, there, result));
    GIVES(TAMIS_OK, tamis_filter_run(w->ctx, tamis_filter_find("gaussian"), NULL, here, back));
    GIVES(TAMIS_ERR_ARGUMENT, tamis_plan_run(w->plan, here, result, NULL));
}

/* A context for both devices, where calls go from one to the other. */
static void run_on_both(struct walk *w)
{
    const tamis_plan_options low = {.tile_h = 5},
                             guided = {.guide = &rgba, .guide_w = W, .guide_h = H};
    tamis_ctx *alone = w->ctx;
    tamis_plan *plan = NULL;
    GIVES(TAMIS_OK, open_ctx(w->device ? "cuda:1,0" : "cuda:0,1", &w->ctx));
    GIVES(TAMIS_OK, make_plan(w, chain, &low, &plan));
    GIVES(TAMIS_OK, tamis_plan_run(plan, w->here, w->back, NULL)); /* in bands */
    KEEPS(tamis_plan_free(&plan));
    GIVES(TAMIS_OK, make_plan(w, "nlmeans=frames=1:search=3", NULL, &plan)); /* shares frames */
    GIVES(TAMIS_OK, filter_frames(w, plan, NULL, w->here, w->back));
    KEEPS(tamis_plan_free(&plan));
    GIVES(TAMIS_OK, make_plan(w, chain, &guided, &plan));
    GIVES(TAMIS_OK, filter_frames(w, plan, w->here, w->here, w->back));
    KEEPS(tamis_plan_free(&plan));
    GIVES(TAMIS_OK, make_plan(w, chain, NULL, &plan));
    GIVES(TAMIS_OK, tamis_plan_run_many(plan, w->here, w->back, FRAMES, NULL));
    KEEPS(tamis_plan_free(&plan));
    KEEPS(tamis_ctx_free(&w->ctx));
    w->ctx = alone;
}

/* All of what run() calls, where it fails. */
static void fail_to_run(struct walk *w, tamis_status why)
{
    const tamis_image *here = w->here, *back = w->back, *there = w->there, *result = w->result;
    tamis_run_options on_stream = {.stream = (void *)1};
    GIVES(why, tamis_plan_run(w->plan, here, back, NULL));
    GIVES(why, tamis_plan_run(w->plan, there, result, NULL));
    GIVES(why, tamis_plan_run(w->plan, there, back, NULL));
    GIVES(why, tamis_plan_run(w->plan, there, result, &on_stream));
    GIVES(why, tamis_plan_run_many(w->plan, here, back, FRAMES, NULL));
    GIVES(why, tamis_plan_run_many(w->plan, there, result, FRAMES, NULL));
    GIVES(why, tamis_plan_run_many(w->plan, there, back, FRAMES, NULL));
    GIVES(why, tamis_plan_run_many(w->plan, there, result, FRAMES, &on_stream));
    GIVES(why, filter_frames(w, w->plan, NULL, here, back));
    GIVES(why, filter_frames(w, w->plan, NULL, there, result));
}

static void fail_to_make(struct walk *w, tamis_status why)
{
    tamis_image image;
    tamis_plan *plan = NULL;
    GIVES(why, tamis_image_create_on_device(w->ctx, w->device, rgba, W, H, &image));
    GIVES(why, make_plan(w, chain, NULL, &plan));
}

/* A device that cannot be made current does not fail where it is so already. */
static void lose(struct walk *w, tamis_status why)
{
    tamis_ctx *ctx = NULL;
    tamis_image image;
    tamis_device_info info;
    if (w->found == context_of(w->device, 0))
        return;
    fail_to_run(w, why);
    fail_to_make(w, why);
    GIVES(why, tamis_image_create_pinned(w->ctx, rgba, W, H, &image));
    GIVES(why, tamis_image_transfer(w->ctx, w->here, w->there));
    GIVES(why, tamis_image_rearrange(w->ctx, w->there, w->result, 0));
    GIVES(why, tamis_device_describe(w->ctx, w->device, &info));
    GIVES(why, open_ctx(name_of(w), &ctx));
}

/* With the environment's variable set meanwhile. */
static void with(const char *name, const char *value, struct walk *w,
                 void (*act)(struct walk *w, tamis_status why), tamis_status why)
{
    setenv(name, value, 1);
    act(w, why);
    unsetenv(name);
}

static void do_all(struct walk *w)
{
    char device[8];
    snprintf(device, sizeof device, "%d", w->device);
    begin(w);
    ask(w);
    run(w);
    run_on_both(w);
    with("TAMIS_EMULATE_FAIL", device, w, fail_to_run, TAMIS_ERR_DEVICE);
    with("TAMIS_EMULATE_BYTES", "0", w, fail_to_run, TAMIS_ERR_MEMORY);
    with("TAMIS_EMULATE_BYTES", "0", w, fail_to_make, TAMIS_ERR_MEMORY);
    with("TAMIS_EMULATE_LOST", device, w, lose, TAMIS_ERR_DEVICE);
    end(w);
}

/* A thread that starts with what the walk has found, or with nothing. */
static void *start(void *user)
{
    struct walk *w = user;
    make_current(w->found);
    do_all(w);
    make_current(NULL);
    return NULL;
}

static void walk_on(int device, const char *words, void *found, int is_own_thread)
{
    struct walk w = {.start = words, .found = found, .device = device};
    pthread_t thread;
    if (!is_own_thread)
        start(&w);
    else if (pthread_create(&thread, NULL, start, &w) == 0)
        pthread_join(thread, NULL);
    else
        fail_msg("no thread");
    if (w.wrong[0])
        fail_msg("%s", w.wrong);
}

static void test_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        int device = i % 2, is_own_thread = i / 2;
        walk_on(device, "nothing", NULL, is_own_thread);
        walk_on(device, "device 0", context_of(0, 0), is_own_thread);
        walk_on(device, "device 1", context_of(1, 0), is_own_thread);
        walk_on(device, "its own of device 0", context_of(0, 1), is_own_thread);
        walk_on(device, "its own of device 1", context_of(1, 1), is_own_thread);
    }
}

int main(void)
{
    if (!getenv("TAMIS_CUDA_MODULE")) {
        printf("skipped: no emulated devices\n");
        return 77;
    }
    setenv("TAMIS_EMULATE_DEVICES", "2", 1);
    find("tamis_emulate_current", &current);
    find("tamis_emulate_make_current", &make_current);
    find("tamis_emulate_context", &context_of);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
