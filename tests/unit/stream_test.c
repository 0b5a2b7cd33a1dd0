/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of frames: on the CPU, and on emulated devices where they are built. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "graph/plan.h"
#include "support/picture.h"
#include "unit.h"

enum { FRAMES = 9, W = 31, H = 22 };

static tamis_ctx *ctx_on(const char *device)
{
    tamis_ctx *ctx = NULL;
    tamis_ctx_options o = {.device = device, .threads = 2};
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK);
    return ctx;
}

static tamis_plan *plan_on(tamis_ctx *ctx, const char *chain, int w, int h,
                           const tamis_format *guide)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_plan_options o = {.guide = guide};
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), w, h, &o, &plan),
                     TAMIS_OK);
    tamis_graph_free(&graph);
    return plan;
}

/* Frames, what one run after the other makes of them, and what a stream does. */
typedef struct clip {
    test_picture src[FRAMES], want[FRAMES], have[FRAMES];
} clip;

static void make_clip(clip *c, const tamis_plan *plan)
{
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    for (int i = 0; i < FRAMES; i++) {
        test_picture_make(&c->src[i], test_format(TAMIS_U8, 1), W, H, TEST_ROWS_WIDE);
        test_picture_fill(&c->src[i].image, TEST_FILL_NOISE, (uint64_t)i + 1);
        test_picture_make(&c->want[i], tamis_plan_format(plan), w, h, TEST_ROWS_TIGHT);
        test_picture_make(&c->have[i], tamis_plan_format(plan), w, h, TEST_ROWS_ODD);
    }
}

static void free_clip(clip *c)
{
    for (int i = 0; i < FRAMES; i++) {
        test_picture_free(&c->src[i]);
        test_picture_free(&c->want[i]);
        test_picture_free(&c->have[i]);
    }
}

/* One by one; cuts[i] says that a sequence ends before frame i. */
static void run_alone(const tamis_plan *plan, clip *c, const int *cuts, const tamis_image *guide)
{
    int k = tamis_plan_frames(plan);
    for (int i = 0; i < FRAMES; i++) {
        const tamis_image *around[2 * TAMIS_MAX_FRAMES + 1] = {0};
        for (int f = i; f >= 0 && f >= i - k; f--) {
            around[k + f - i] = &c->src[f].image;
            if (cuts[f])
                break;
        }
        for (int f = i + 1; f < FRAMES && f <= i + k && !cuts[f]; f++)
            around[k + f - i] = &c->src[f].image;
        tamis_run_options o = {.frames = k ? around : NULL, .guide = guide};
        assert_int_equal(tamis_plan_run(plan, &c->src[i].image, &c->want[i].image, &o), TAMIS_OK);
    }
}

static void take(tamis_stream *stream, int *next)
{
    tamis_stream_result r;
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_OK);
    assert_int_equal(r.status, TAMIS_OK);
    assert_string_equal(r.text, "");
    assert_int_equal(r.index % FRAMES, *next % FRAMES);
    assert_ptr_equal(r.user, next);
    ++*next;
}

/* The same clip twice, so that what a cut leaves behind is seen. */
static void run_stream(tamis_stream *stream, clip *c, const int *cuts)
{
    int next = 0;
    for (int i = 0; i < 2 * FRAMES; i++) {
        int f = i % FRAMES;
        if (cuts[f] || f == 0)
            assert_int_equal(tamis_stream_cut(stream), TAMIS_OK);
        while (next <= i - FRAMES)
            take(stream, &next);
        assert_int_equal(tamis_stream_submit(stream, &c->src[f].image, &c->have[f].image, &next, 0),
                         TAMIS_OK);
    }
    assert_int_equal(tamis_stream_flush(stream), TAMIS_OK);
    while (next < 2 * FRAMES)
        take(stream, &next);
    tamis_stream_result none;
    assert_int_equal(tamis_stream_wait(stream, -1, &none), TAMIS_ERR_AGAIN);
    for (int i = 0; i < FRAMES; i++) {
        assert_true(test_same(&c->want[i].image, &c->have[i].image));
        assert_true(test_picture_intact(&c->have[i]));
    }
}

static const int no_cuts[FRAMES], cuts[FRAMES] = {[3] = 1, [4] = 1, [7] = 1};

static void compare(const char *device, const char *chain, int depth, const int *where)
{
    tamis_ctx *ctx = ctx_on(device);
    tamis_plan *plan = plan_on(ctx, chain, W, H, NULL);
    tamis_stream *stream = NULL;
    tamis_stream_options o = {.depth = depth};
    clip c;
    make_clip(&c, plan);
    run_alone(plan, &c, where, NULL);
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_OK);
    assert_true(depth ? tamis_stream_depth(stream) == depth : tamis_stream_depth(stream) > 1);
    run_stream(stream, &c, where);
    tamis_stream_free(&stream);
    assert_null(stream);
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void compare_all(const char *device)
{
    for (int depth = 0; depth < 4; depth += 1 + (depth == 1)) {
        compare(device, "gaussian=sigma=1.3", depth, no_cuts);
        compare(device, "nlmeans=frames=1:search=5:patch=3", depth, cuts);
        compare(device, "nlmeans=frames=2:search=3:patch=3", depth, no_cuts);
    }
    compare(device, "gaussian,canny", 3, cuts);
    compare(device, "nlmeans=frames=1:search=3:patch=3,nlmeans=frames=1:search=3:patch=3,sobel", 0,
            cuts);
}

static void test_cpu(void **state)
{
    (void)state;
    compare_all("cpu");
}

static void test_devices(void **state)
{
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    compare_all("cuda");
    setenv("TAMIS_EMULATE_DEVICES", "3", 1);
    compare_all("cuda:2,0");
    compare("cuda:all", "nlmeans=frames=2:search=3:patch=3", 9, cuts);
    unsetenv("TAMIS_EMULATE_DEVICES");
}

/* Frames on a device, results and a guide in host memory. */
static void compare_there(const char *device, const char *chain, int has_guide, int with_cuts)
{
    tamis_ctx *ctx = ctx_on(device);
    test_picture guide;
    test_picture_make(&guide, test_format(TAMIS_U8, 1), W, H, TEST_ROWS_ODD);
    test_picture_fill(&guide.image, TEST_FILL_NOISE, 77);
    tamis_plan *plan = plan_on(ctx, chain, W, H, has_guide ? &guide.image.format : NULL);
    tamis_stream_options o = {.guide = has_guide ? &guide.image : NULL};
    tamis_stream *stream = NULL;
    tamis_image here[FRAMES];
    clip c;
    make_clip(&c, plan);
    run_alone(plan, &c, with_cuts ? cuts : no_cuts, o.guide);
    for (int i = 0; i < FRAMES; i++) {
        tamis_image *image = &c.src[i].image;
        here[i] = *image;
        assert_int_equal(tamis_image_create_on_device(ctx, 0, image->format, W, H, image),
                         TAMIS_OK);
        assert_int_equal(tamis_image_transfer(ctx, &here[i], image), TAMIS_OK);
    }
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_OK);
    run_stream(stream, &c, with_cuts ? cuts : no_cuts);
    tamis_stream_free(&stream);
    for (int i = 0; i < FRAMES; i++) {
        tamis_image_unref(&c.src[i].image);
        c.src[i].image = here[i];
    }
    free_clip(&c);
    test_picture_free(&guide);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void test_frames_there(void **state)
{
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    compare_there("cuda", "gaussian=sigma=1.3", 0, 0);
    compare_there("cuda", "", 0, 0);
    compare_there("cuda", "nlmeans=frames=2:search=3:patch=3", 0, 1);
    compare_there("cuda", "bilateral=sigma_color=30:ksize=5", 1, 0);
    setenv("TAMIS_EMULATE_DEVICES", "2", 1);
    compare_there("cuda:1,0", "gaussian,nlmeans=frames=1:search=3:patch=3", 0, 0);
    unsetenv("TAMIS_EMULATE_DEVICES");
}

/* ---- full, empty, canceled: a plan whose runs take turns stands still while the test has it */

typedef struct standing {
    tamis_ctx *ctx;
    tamis_plan *plan;
    tamis_stream *stream;
    clip c;
} standing;

static void stand(standing *s, int depth)
{
    tamis_stream_options o = {.depth = depth};
    s->ctx = ctx_on("cpu");
    s->plan = plan_on(s->ctx, "canny", W, H, NULL);
    assert_true(s->plan->hold_bytes > 0);
    make_clip(&s->c, s->plan);
    run_alone(s->plan, &s->c, no_cuts, NULL);
    assert_int_equal(tamis_stream_create(s->plan, &o, &s->stream), TAMIS_OK);
    pthread_mutex_lock(&s->plan->turn);
}

static tamis_status submit(standing *s, int i, unsigned flags)
{
    return tamis_stream_submit(s->stream, &s->c.src[i].image, &s->c.have[i].image, &s->c.src[i],
                               flags);
}

static void end(standing *s)
{
    tamis_stream_free(&s->stream);
    free_clip(&s->c);
    tamis_plan_free(&s->plan);
    tamis_ctx_free(&s->ctx);
}

static void test_full(void **state)
{
    standing s;
    tamis_stream_result r;
    (void)state;
    stand(&s, 2);
    assert_int_equal(tamis_stream_wait(s.stream, -1, &r), TAMIS_ERR_AGAIN);
    assert_int_equal(submit(&s, 0, 0), TAMIS_OK);
    assert_int_equal(submit(&s, 1, TAMIS_STREAM_NOWAIT), TAMIS_OK);
    assert_int_equal(submit(&s, 2, TAMIS_STREAM_NOWAIT), TAMIS_ERR_AGAIN);
    assert_int_equal(submit(&s, 2, TAMIS_STREAM_NOWAIT << 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_stream_poll(s.stream, &r), TAMIS_ERR_AGAIN);
    assert_int_equal(tamis_stream_wait(s.stream, 20, &r), TAMIS_ERR_AGAIN);
    pthread_mutex_unlock(&s.plan->turn);
    /* Results that nobody has taken are in nobody's way. */
    for (int i = 2; i < 8; i++)
        assert_int_equal(submit(&s, i, 0), TAMIS_OK);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(tamis_stream_wait(s.stream, 60000, &r), TAMIS_OK);
        assert_int_equal(r.index, i);
        assert_ptr_equal(r.user, &s.c.src[i]);
        assert_ptr_equal(r.src.data[0], s.c.src[i].image.data[0]);
        assert_ptr_equal(r.dst.data[0], s.c.have[i].image.data[0]);
        assert_string_equal(r.device, "cpu");
        assert_true(test_same(&s.c.want[i].image, &s.c.have[i].image));
    }
    assert_int_equal(tamis_stream_wait(s.stream, 1, &r), TAMIS_ERR_AGAIN);
    end(&s);
}

/* Takes the turn, says so, and gives it back a little later. */
typedef struct holder {
    standing *s;
    pthread_t thread;
    pthread_barrier_t taken;
} holder;

static void *hold_turn(void *user)
{
    holder *h = user;
    struct timespec pause = {.tv_nsec = 30000000};
    pthread_mutex_lock(&h->s->plan->turn);
    pthread_barrier_wait(&h->taken);
    nanosleep(&pause, NULL);
    pthread_mutex_unlock(&h->s->plan->turn);
    return NULL;
}

static void test_cancel(void **state)
{
    standing s;
    tamis_stream_result r;
    (void)state;
    stand(&s, 8);
    pthread_mutex_unlock(&s.plan->turn);
    holder h = {.s = &s};
    pthread_barrier_init(&h.taken, NULL, 2);
    assert_int_equal(pthread_create(&h.thread, NULL, hold_turn, &h), 0);
    pthread_barrier_wait(&h.taken);
    for (int i = 0; i < 5; i++)
        assert_int_equal(submit(&s, i, 0), TAMIS_OK);
    assert_int_equal(tamis_stream_cancel(s.stream), TAMIS_OK);
    pthread_join(h.thread, NULL);
    pthread_barrier_destroy(&h.taken);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tamis_stream_poll(s.stream, &r), TAMIS_OK);
        assert_int_equal(r.index, i);
        assert_int_equal(r.status, TAMIS_ERR_CANCELED);
        assert_string_equal(r.text, "canceled");
    }
    /* It goes on. */
    assert_int_equal(submit(&s, 5, 0), TAMIS_OK);
    assert_int_equal(tamis_stream_wait(s.stream, -1, &r), TAMIS_OK);
    assert_int_equal(r.status, TAMIS_OK);
    assert_int_equal(r.index, 5);
    assert_true(test_same(&s.c.want[5].image, &s.c.have[5].image));
    end(&s);
}

/* With temporal filters, frames wait for those after them: nothing comes of waiting alone. */
static void test_lacking(void **state)
{
    tamis_ctx *ctx = ctx_on("cpu");
    tamis_plan *plan = plan_on(ctx, "nlmeans=frames=2:search=3:patch=3", W, H, NULL);
    tamis_stream *stream = NULL;
    tamis_stream_result r;
    clip c;
    (void)state;
    make_clip(&c, plan);
    assert_int_equal(tamis_stream_create(plan, NULL, &stream), TAMIS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tamis_stream_submit(stream, &c.src[i].image, &c.have[i].image, NULL, 0),
                         TAMIS_OK);
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_ERR_AGAIN);
    assert_int_equal(tamis_stream_submit(stream, &c.src[2].image, &c.have[2].image, NULL, 0),
                     TAMIS_OK);
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_OK);
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_ERR_AGAIN);
    /* A destination among the frames around it. */
    assert_int_equal(tamis_stream_submit(stream, &c.src[3].image, &c.src[1].image, NULL, 0),
                     TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "share memory");
    assert_int_equal(tamis_stream_submit(stream, &c.have[1].image, &c.have[3].image, NULL, 0),
                     TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_stream_cancel(stream), TAMIS_OK);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(tamis_stream_poll(stream, &r), TAMIS_OK);
        assert_int_equal(r.status, TAMIS_ERR_CANCELED);
        assert_string_equal(r.device, "");
    }
    /* Another sequence. */
    assert_int_equal(tamis_stream_submit(stream, &c.src[3].image, &c.src[1].image, NULL, 0),
                     TAMIS_OK);
    tamis_stream_free(&stream);
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

/* ---- refusals and failures */

static void test_refused(void **state)
{
    tamis_ctx *ctx = ctx_on("cpu");
    tamis_plan *plan = plan_on(ctx, "gaussian", W, H, NULL);
    tamis_stream_options o = {.depth = 1025};
    tamis_stream *stream = NULL;
    test_picture a, b, small;
    tamis_stream_result r;
    (void)state;
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "depth = 1025 is outside 0 .. 1024");
    test_picture_make(&a, test_format(TAMIS_U8, 1), W, H, TEST_ROWS_TIGHT);
    test_picture_make(&b, test_format(TAMIS_U8, 1), W, H, TEST_ROWS_TIGHT);
    test_picture_make(&small, test_format(TAMIS_U8, 1), W, H - 1, TEST_ROWS_TIGHT);
    o = (tamis_stream_options){.guide = &a.image};
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "without a guide");
    assert_int_equal(tamis_stream_create(plan, NULL, &stream), TAMIS_OK);
    assert_int_equal(tamis_stream_submit(stream, &small.image, &b.image, NULL, 0),
                     TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "31x21");
    assert_int_equal(tamis_stream_submit(stream, &a.image, &a.image, NULL, 0), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "share memory");
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_ERR_AGAIN);
    assert_int_equal(tamis_stream_submit(stream, &a.image, &b.image, NULL, 0), TAMIS_OK);
    assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_OK);
    assert_int_equal(r.index, 0);
    tamis_stream_free(&stream);
    tamis_stream_free(&stream);
    tamis_stream_free(NULL);
    assert_int_equal(tamis_stream_depth(NULL), 0);
    test_picture_free(&a);
    test_picture_free(&b);
    test_picture_free(&small);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

/* A failing device spoils its own frames, and only while it fails. */
static void test_failure(void **state)
{
    clip c;
    tamis_stream *stream = NULL;
    tamis_stream_result r;
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    setenv("TAMIS_EMULATE_DEVICES", "2", 1);
    tamis_ctx *ctx = ctx_on("cuda:all");
    tamis_plan *plan = plan_on(ctx, "nlmeans=frames=1:search=3:patch=3", W, H, NULL);
    make_clip(&c, plan);
    run_alone(plan, &c, no_cuts, NULL);
    assert_int_equal(tamis_stream_create(plan, NULL, &stream), TAMIS_OK);
    for (int i = 0; i < FRAMES; i++) {
        if (i == 4 || i == 8) {
            while (tamis_stream_wait(stream, -1, &r) == TAMIS_OK)
                assert_int_equal(r.status, i == 8 && strcmp(r.device, "cuda:1") == 0
                                               ? TAMIS_ERR_DEVICE
                                               : TAMIS_OK);
            if (i == 4)
                setenv("TAMIS_EMULATE_FAIL", "1", 1);
            else
                unsetenv("TAMIS_EMULATE_FAIL");
        }
        assert_int_equal(tamis_stream_submit(stream, &c.src[i].image, &c.have[i].image, NULL, 0),
                         TAMIS_OK);
    }
    unit_message_has(ctx, ": cuda:1: nlmeans: unspecified launch failure");
    unit_message_has(ctx, "stream: frame ");
    assert_int_equal(tamis_stream_flush(stream), TAMIS_OK);
    while (tamis_stream_wait(stream, -1, &r) == TAMIS_OK) {
        assert_int_equal(r.status, TAMIS_OK);
        assert_true(test_same(&c.want[r.index].image, &c.have[r.index].image));
    }
    tamis_stream_free(&stream);
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    unsetenv("TAMIS_EMULATE_DEVICES");
}

/* Too little memory for whole frames, and for several at once: in bands, and one after the other.
 */
static void test_little_memory(void **state)
{
    clip c;
    tamis_stream *stream = NULL;
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    tamis_ctx *ctx = ctx_on("cuda");
    tamis_plan *plan =
        plan_on(ctx, "nlmeans=frames=1:search=3:patch=3,resize=size=45x2000", W, H, NULL);
    make_clip(&c, plan);
    run_alone(plan, &c, no_cuts, NULL);
    for (int depth = 1; depth <= 4; depth += 3) {
        tamis_stream_options o = {.depth = depth};
        assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_OK);
        setenv("TAMIS_EMULATE_BYTES", depth == 1 ? "400000" : "100000", 1);
        run_stream(stream, &c, no_cuts);
        unsetenv("TAMIS_EMULATE_BYTES");
        tamis_stream_free(&stream);
    }
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void note_bands(void *user, tamis_log_level level, const char *text)
{
    int *bands = user;
    (void)level;
    if (strstr(text, "going on in bands"))
        __atomic_store_n(bands, 1, __ATOMIC_RELAXED);
}

/* Enough for one frame, but not for several: none goes in bands. */
static void test_memory_for_one(void **state)
{
    clip c;
    int bands = 0;
    tamis_ctx *ctx = NULL;
    tamis_stream *stream = NULL;
    tamis_ctx_options wish = {
        .device = "cuda", .threads = 2, .log = note_bands, .log_user = &bands};
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    assert_int_equal(tamis_ctx_create(&wish, &ctx), TAMIS_OK);
    tamis_plan *plan = plan_on(ctx, "resize=size=45x2000,gaussian", W, H, NULL);
    make_clip(&c, plan);
    run_alone(plan, &c, no_cuts, NULL);
    setenv("TAMIS_EMULATE_BYTES", "1400000", 1);
    run_alone(plan, &c, no_cuts, NULL);
    assert_int_equal(bands, 0);
    tamis_stream_options o = {.depth = 4};
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_OK);
    run_stream(stream, &c, no_cuts);
    unsetenv("TAMIS_EMULATE_BYTES");
    assert_int_equal(bands, 0);
    tamis_stream_free(&stream);
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

/* ---- what goes to a device, and how often */

static int64_t uploaded(void)
{
    void *module = dlopen(getenv("TAMIS_CUDA_MODULE"), RTLD_NOW);
    int64_t (*count)(void) = NULL;
    void *symbol = dlsym(module, "tamis_emulate_uploaded");
    memcpy(&count, &symbol, sizeof count);
    dlclose(module); /* libtamis has it open, too */
    return count();
}

static void count_uploads(const char *device, const char *chain, const tamis_format *guide_format,
                          int64_t most)
{
    clip c;
    test_picture guide;
    tamis_ctx *ctx = ctx_on(device);
    tamis_plan *plan = plan_on(ctx, chain, W, H, guide_format);
    tamis_stream *stream = NULL;
    make_clip(&c, plan);
    test_picture_make(&guide, test_format(TAMIS_F32, 2), W, H, TEST_ROWS_TIGHT);
    test_picture_fill(&guide.image, TEST_FILL_NOISE, 99);
    const tamis_image *second = guide_format ? &guide.image : NULL;
    run_alone(plan, &c, cuts, second);
    int64_t before = uploaded();
    tamis_stream_options o = {.guide = second};
    assert_int_equal(tamis_stream_create(plan, &o, &stream), TAMIS_OK);
    run_stream(stream, &c, cuts);
    tamis_stream_free(&stream);
    assert_in_range(uploaded() - before, 1, most);
    test_picture_free(&guide);
    free_clip(&c);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void test_uploads(void **state)
{
    tamis_format map = test_format(TAMIS_F32, 2);
    int64_t frames = (int64_t)2 * FRAMES * W * H;
    (void)state;
    if (!getenv("TAMIS_CUDA_MODULE"))
        skip();
    setenv("TAMIS_EMULATE_DEVICES", "2", 1);
    count_uploads("cuda", "nlmeans=frames=2:search=3:patch=3", NULL, frames);
    count_uploads("cuda:all", "nlmeans=frames=2:search=3:patch=3", NULL, 2 * frames);
    count_uploads("cuda", "remap", &map, frames + (int64_t)W * H * 8);
    count_uploads("cuda:all", "remap", &map, frames + (int64_t)2 * W * H * 8);
    unsetenv("TAMIS_EMULATE_DEVICES");
}

/* ---- threads */

typedef struct user {
    const tamis_plan *plan;
    clip *c;
    pthread_t thread;
} user;

static void *use(void *arg)
{
    user *u = arg;
    tamis_stream *stream = NULL;
    assert_int_equal(tamis_stream_create(u->plan, NULL, &stream), TAMIS_OK);
    for (int i = 0; i < 3; i++)
        run_stream(stream, u->c, cuts);
    tamis_stream_free(&stream);
    return NULL;
}

static void use_twice(const char *device)
{
    tamis_ctx *ctx = ctx_on(device);
    tamis_plan *plan = plan_on(ctx, "nlmeans=frames=1:search=3:patch=3", W, H, NULL);
    clip c[2];
    user users[2];
    for (int i = 0; i < 2; i++) {
        make_clip(&c[i], plan);
        run_alone(plan, &c[i], cuts, NULL);
        users[i] = (user){.plan = plan, .c = &c[i]};
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(users[i].thread, NULL);
        free_clip(&c[i]);
    }
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void test_two_streams(void **state)
{
    (void)state;
    use_twice("cpu");
    if (getenv("TAMIS_CUDA_MODULE"))
        use_twice("cuda");
}

/* One thread submits, another takes. */
static void *feed(void *arg)
{
    standing *s = arg;
    for (int i = 0; i < 200; i++)
        if (submit(s, i % FRAMES, 0) != TAMIS_OK)
            break;
    return NULL;
}

static void test_two_threads(void **state)
{
    standing s;
    tamis_stream_result r;
    pthread_t thread;
    (void)state;
    stand(&s, 3);
    pthread_mutex_unlock(&s.plan->turn);
    assert_int_equal(pthread_create(&thread, NULL, feed, &s), 0);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(tamis_stream_wait(s.stream, 60000, &r), TAMIS_OK);
        assert_int_equal(r.index, i);
        assert_int_equal(r.status, TAMIS_OK);
    }
    pthread_join(thread, NULL);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_memory_for_one),
        cmocka_unit_test(test_uploads),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_frames_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
