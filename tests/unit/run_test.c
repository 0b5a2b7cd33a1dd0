/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and runs: refusals, limits, progress, cancelling, forks. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/picture.h"
#include "unit.h"

/* ThreadSanitizer cannot follow threads that the child of a fork starts. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#endif
#if !defined(UNDER_TSAN)
#define UNDER_TSAN 0
#endif

typedef struct fixture {
    tamis_ctx *ctx;
    tamis_plan *plan;
    test_picture src, dst;
} fixture;

static tamis_plan *plan_for(tamis_ctx *ctx, const char *chain, tamis_format format, int w, int h,
                            const tamis_plan_options *options)
{
    tamis_graph *graph;
    tamis_plan *plan;
    char message[600];

    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    if (tamis_plan_create(ctx, graph, format, w, h, options, &plan) != TAMIS_OK)
        fail_msg("%s: %s", chain, tamis_ctx_last_message(ctx, message, sizeof message));
    tamis_graph_free(&graph);
    return plan;
}

static void set_up(fixture *f, int threads, const char *chain, int w, int h)
{
    tamis_format format = test_format(TAMIS_U8, 1);
    f->ctx = unit_ctx(threads);
    f->plan =
        plan_for(f->ctx, chain, format, w, h, &(tamis_plan_options){.tile_w = 32, .tile_h = 8});
    test_picture_make(&f->src, format, w, h, TEST_ROWS_TIGHT);
    test_picture_make(&f->dst, format, w, h, TEST_ROWS_TIGHT);
    test_picture_fill(&f->src.image, TEST_FILL_NOISE, 1);
}

static void tear_down(fixture *f)
{
    test_picture_free(&f->src);
    test_picture_free(&f->dst);
    tamis_plan_free(&f->plan);
    assert_null(f->plan);
    tamis_ctx_free(&f->ctx);
}

static void empty_chains_copy(void **state)
{
    fixture f;

    (void)state;
    set_up(&f, 2, "", 301, 97);
    assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, NULL), TAMIS_OK);
    assert_true(test_same(&f.src.image, &f.dst.image));
    assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.src.image, NULL), TAMIS_ERR_ARGUMENT);
    assert_true(test_same(&f.src.image, &f.dst.image));
    tamis_halo halo = tamis_plan_halo(f.plan);
    assert_int_equal(halo.left + halo.right + halo.top + halo.bottom, 0);
    tear_down(&f);
}

static void halos_add_up(void **state)
{
    fixture f;
    tamis_halo halo;
    char text[2000], cut[10];

    (void)state;
    set_up(&f, 1, "gaussian=sigma=1:ksize=7x5,gaussian=sigma=1:ksize=3x9", 40, 30);
    halo = tamis_plan_halo(f.plan);
    assert_int_equal(halo.left, 4);
    assert_int_equal(halo.right, 4);
    assert_int_equal(halo.top, 6);
    assert_int_equal(halo.bottom, 6);
    size_t length = tamis_plan_explain(f.plan, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "gaussian"));
    memset(cut, '#', sizeof cut);
    assert_int_equal(tamis_plan_explain(f.plan, cut, 8), length);
    assert_int_equal(strlen(cut), 7);
    assert_int_equal(cut[8], '#');
    tear_down(&f);
}

static void valid_shrinks(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_format format = test_format(TAMIS_F32, 3);
    tamis_plan *plan =
        plan_for(ctx, "gaussian=sigma=1:ksize=7x5:border=valid", format, 20, 11, NULL);
    tamis_graph *graph;
    int32_t w, h;

    (void)state;
    tamis_plan_size(plan, &w, &h);
    assert_int_equal(w, 14);
    assert_int_equal(h, 7);
    assert_true(tamis_format_equal(tamis_plan_format(plan), format));
    tamis_plan_free(&plan);
    assert_int_equal(tamis_graph_parse(ctx, "gaussian=sigma=1:ksize=7x5:border=valid", &graph),
                     TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, format, 6, 11, NULL, &plan), TAMIS_ERR_ARGUMENT);
    assert_null(plan);
    assert_int_equal(tamis_plan_create(ctx, graph, format, 7, 5, NULL, &plan), TAMIS_OK);
    tamis_plan_size(plan, &w, &h);
    assert_int_equal(w * h, 1);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

static void run_refuses(fixture *f, const tamis_image *src, const tamis_image *dst,
                        const tamis_run_options *options)
{
    char text[600];
    assert_int_equal(tamis_plan_run(f->plan, src, dst, options), TAMIS_ERR_ARGUMENT);
    assert_true(tamis_ctx_last_message(f->ctx, text, sizeof text)[0] != '\0');
}

static void images_must_match_the_plan(void **state)
{
    fixture f;
    tamis_image other;
    test_picture guide;

    (void)state;
    set_up(&f, 2, "gaussian=sigma=1", 64, 33);
    other = f.src.image;
    other.w--;
    run_refuses(&f, &other, &f.dst.image, NULL);
    run_refuses(&f, &f.src.image, &other, NULL);
    other = f.src.image;
    other.format.type = TAMIS_U16;
    run_refuses(&f, &other, &f.dst.image, NULL);
    run_refuses(&f, &f.src.image, &other, NULL);
    other = f.dst.image;
    other.data[0] = NULL;
    run_refuses(&f, &f.src.image, &other, NULL);
    run_refuses(&f, &f.src.image, &f.src.image, NULL); /* in place, with a window */
    other = f.src.image;
    other.data[0] = (char *)other.data[0] + 64; /* overlaps by all but a row */
    run_refuses(&f, &f.src.image, &other, NULL);
    other = f.dst.image;
    for (int stride = -63; stride < 64; stride += 63) { /* rows that lie in one another */
        other.stride[0] = stride;
        run_refuses(&f, &f.src.image, &other, NULL);
    }
    run_refuses(&f, NULL, &f.dst.image, NULL);
    run_refuses(&f, &f.src.image, NULL, NULL);
    test_picture_make(&guide, test_format(TAMIS_U8, 1), 64, 33, TEST_ROWS_TIGHT);
    run_refuses(&f, &f.src.image, &f.dst.image, &(tamis_run_options){.guide = &guide.image});
    test_picture_free(&guide);
    tear_down(&f);
}

static void regions_must_lie_inside(void **state)
{
    static const tamis_rect bad[] = {{0, 0, 0, 4}, {-1, 0, 4, 4}, {61, 0, 4, 4}, {0, 30, 4, 4}};
    const tamis_rect good = {60, 29, 4, 4};
    fixture f;
    test_picture part;

    (void)state;
    set_up(&f, 1, "gaussian=sigma=1", 64, 33);
    test_picture_make(&part, f.src.image.format, 4, 4, TEST_ROWS_ODD);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tamis_plan_run_region(f.plan, &f.src.image, bad[i], &part.image, NULL),
                         TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_plan_run_region(f.plan, &f.src.image, good, &f.dst.image, NULL),
                     TAMIS_ERR_ARGUMENT); /* dst has another size than the region */
    assert_int_equal(tamis_plan_run_region(f.plan, &f.src.image, good, &part.image, NULL),
                     TAMIS_OK);
    assert_true(test_picture_intact(&part));
    test_picture_free(&part);
    tear_down(&f);
}

static void guides_must_be_given_as_planned(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_format format = test_format(TAMIS_U8, 1);
    tamis_plan_options options = {.guide = &format};
    tamis_graph *graph;
    tamis_plan *plan;

    (void)state;
    assert_int_equal(tamis_graph_parse(ctx, "gaussian=sigma=1", &graph), TAMIS_OK);
    /* A Gaussian has no use for one. */
    assert_int_not_equal(tamis_plan_create(ctx, graph, format, 9, 9, &options, &plan), TAMIS_OK);
    tamis_graph_free(&graph);
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *filter = tamis_filter_at(i);
        test_picture src, dst;
        if (tamis_filter_max_inputs(filter) < 2 || tamis_filter_min_inputs(filter) > 1)
            continue;
        plan = plan_for(ctx, tamis_filter_name(filter), format, 9, 9, &options);
        test_picture_make(&src, format, 9, 9, TEST_ROWS_TIGHT);
        test_picture_make(&dst, format, 9, 9, TEST_ROWS_TIGHT);
        assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, NULL), TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, "guide");
        assert_int_equal(
            tamis_plan_run(plan, &src.image, &dst.image, &(tamis_run_options){.guide = &src.image}),
            TAMIS_OK);
        src.image.w--;
        test_picture wrong = src;
        src.image.w++;
        assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image,
                                        &(tamis_run_options){.guide = &wrong.image}),
                         TAMIS_ERR_ARGUMENT);
        test_picture_free(&src);
        test_picture_free(&dst);
        tamis_plan_free(&plan);
    }
    tamis_ctx_free(&ctx);
}

static void plans_keep_to_the_limits(void **state)
{
    tamis_ctx_options small = {.threads = 2, .max_bytes = 100000};
    tamis_format format = test_format(TAMIS_F32, 4), bad = format;
    tamis_plan_options no_row = {.kernel = "z80"}, bad_tile = {.tile_w = -1};
    tamis_graph *graph;
    tamis_ctx *ctx;
    tamis_plan *plan;
    size_t before;

    (void)state;
    assert_int_equal(tamis_ctx_create(&small, &ctx), TAMIS_OK);
    assert_int_equal(tamis_graph_parse(ctx, "gaussian=sigma=60:ksize=361", &graph), TAMIS_OK);
    before = tamis_ctx_bytes(ctx);
    assert_int_equal(tamis_plan_create(ctx, graph, format, 4000, 4000, NULL, &plan),
                     TAMIS_ERR_LIMIT);
    unit_message_has(ctx, "limit");
    assert_null(plan);
    assert_int_equal(tamis_ctx_bytes(ctx), before);
    tamis_graph_free(&graph);

    assert_int_equal(tamis_graph_parse(ctx, "gaussian=sigma=1", &graph), TAMIS_OK);
    before = tamis_ctx_bytes(ctx);
    assert_int_equal(tamis_plan_create(ctx, graph, format, 0, 4, NULL, &plan), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_plan_create(ctx, graph, format, 4, -4, NULL, &plan), TAMIS_ERR_ARGUMENT);
    bad.channels = 7;
    assert_int_equal(tamis_plan_create(ctx, graph, bad, 4, 4, NULL, &plan), TAMIS_ERR_ARGUMENT);
    assert_int_not_equal(tamis_plan_create(ctx, graph, format, 4, 4, &no_row, &plan), TAMIS_OK);
    unit_message_has(ctx, "z80");
    assert_int_equal(tamis_plan_create(ctx, graph, format, 4, 4, &bad_tile, &plan),
                     TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_ctx_bytes(ctx), before);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

/* A plan for a huge picture is made without the picture, and is small. */
static void huge_sizes_plan_small(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    tamis_plan *plan = plan_for(ctx, "gaussian=sigma=3,gaussian=sigma=5:border=wrap",
                                test_format(TAMIS_F32, 4), INT32_MAX, INT32_MAX, NULL);
    (void)state;
    assert_true(tamis_ctx_bytes(ctx) < (256u << 20));
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

typedef struct watch {
    int64_t last, total;
    int calls, wrong;
    pthread_t thread;
    volatile int cancel;
    int64_t cancel_at;
} watch;

static void watch_progress(void *user, int64_t done, int64_t total)
{
    watch *w = user;
    w->wrong += done < w->last || done > total || (w->total && total != w->total) ||
                !pthread_equal(w->thread, pthread_self());
    w->last = done;
    w->total = total;
    w->calls++;
    if (w->cancel_at && done >= w->cancel_at)
        __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
}

static void progress_reaches_the_end(void **state)
{
    static const char *const chains[] = {"gaussian=sigma=2", ""};

    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        for (int i = 0; i < 2; i++) {
            watch w = {.thread = pthread_self()};
            tamis_run_options options = {.progress = watch_progress, .progress_user = &w};
            fixture f;
            set_up(&f, threads, chains[i], 400, 300);
            assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, &options),
                             TAMIS_OK);
            assert_int_equal(w.wrong, 0);
            assert_true(w.calls > 0 && w.total > 0 && w.last == w.total);
            tear_down(&f);
        }
    }
}

static void empty_chains_can_be_cancelled(void **state)
{
    int cancel = 1;
    tamis_run_options options = {.cancel = &cancel};
    fixture f;

    (void)state;
    set_up(&f, 2, "", 301, 97);
    assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, &options),
                     TAMIS_ERR_CANCELED);
    tear_down(&f);
}

static void cancelling_stops_soon(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        watch w = {.thread = pthread_self(), .cancel_at = 1};
        tamis_run_options options = {
            .progress = watch_progress, .progress_user = &w, .cancel = &w.cancel};
        fixture f;
        set_up(&f, threads, "gaussian=sigma=2", 1000, 700);
        tamis_status status = tamis_plan_run(f.plan, &f.src.image, &f.dst.image, &options);
        /* Other threads may have done it all before this one got to look. */
        if (threads == 1 || w.last < w.total) {
            assert_int_equal(status, TAMIS_ERR_CANCELED);
            assert_true(w.last < w.total);
        }
        /* The plan can be used again. */
        w = (watch){.thread = pthread_self()};
        assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, &options), TAMIS_OK);
        /* Canceled before it starts: nothing is done. */
        w.cancel = 1;
        test_picture_fill(&f.dst.image, TEST_FILL_CONSTANT, 1);
        double level = test_sample_get(&f.dst.image, 0, 0, 0);
        assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, &options),
                         TAMIS_ERR_CANCELED);
        assert_true(test_sample_get(&f.dst.image, 999, 699, 0) == level);
        tear_down(&f);
    }
}

/* Runs in a child, which has none of the parent's threads; it must end by itself. */
static void forks_can_filter(void **state)
{
    fixture f;
    test_picture want;

    (void)state;
    if (UNDER_TSAN)
        skip();
    set_up(&f, 4, "gaussian=sigma=2", 300, 200);
    test_picture_make(&want, f.src.image.format, 300, 200, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &want.image, NULL), TAMIS_OK);
    for (int i = 0; i < 5; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int good;
            alarm(20); /* a deadlock ends with a signal */
            good = tamis_plan_run(f.plan, &f.src.image, &f.dst.image, NULL) == TAMIS_OK &&
                   test_same(&f.dst.image, &want.image);
            tamis_plan_free(&f.plan);
            tamis_ctx_free(&f.ctx);
            _exit(good ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, NULL), TAMIS_OK);
    }
    test_picture_free(&want);
    tear_down(&f);
}

/* Makes a picture for the result of the filter with its defaults; 0 when it needs more than one
 * picture and no parameters. */
static int result_for(tamis_ctx *ctx, const tamis_filter *filter, const tamis_image *src,
                      test_picture *dst)
{
    tamis_graph *graph;
    tamis_plan *plan;
    int32_t w, h;

    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    assert_int_equal(tamis_graph_add(graph, filter, NULL), TAMIS_OK);
    tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan);
    tamis_graph_free(&graph);
    if (!plan)
        return 0;
    tamis_plan_size(plan, &w, &h);
    test_picture_make(dst, tamis_plan_format(plan), w, h, TEST_ROWS_ODD);
    tamis_plan_free(&plan);
    return 1;
}

static void one_call_does_all(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    test_picture src, dst;
    int done = 0;

    (void)state;
    test_picture_make(&src, test_format(TAMIS_U16, 3), 30, 20, TEST_ROWS_NEGATIVE);
    test_picture_fill(&src.image, TEST_FILL_CONSTANT, 3);
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *filter = tamis_filter_at(i);
        size_t before = tamis_ctx_bytes(ctx);
        if (!result_for(ctx, filter, &src.image, &dst))
            continue;
        assert_int_equal(tamis_filter_run(ctx, filter, NULL, &src.image, &dst.image), TAMIS_OK);
        assert_int_equal(tamis_filter_run(ctx, NULL, NULL, &src.image, &dst.image),
                         TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_ctx_bytes(ctx), before);
        test_picture_free(&dst);
        done++;
    }
    assert_true(done >= 4);
    test_picture_free(&src);
    tamis_ctx_free(&ctx);
}

/* Filters, repeated, on a picture of that size: a chain of them all has the bits of one by one. */
static void is_as_one_by_one(const char *const *filters, int count, int repeats, int w, int h)
{
    char whole[2048] = "";
    fixture f, one;

    for (int k = 0; k < repeats * count; k++)
        snprintf(whole + strlen(whole), sizeof whole - strlen(whole), "%s%s", k ? "," : "",
                 filters[k % count]);
    set_up(&f, 2, whole, w, h);
    assert_int_equal(tamis_plan_run(f.plan, &f.src.image, &f.dst.image, NULL), TAMIS_OK);
    for (int k = 0; k < repeats * count; k++) {
        set_up(&one, 1, filters[k % count], w, h);
        assert_int_equal(tamis_plan_run(one.plan, &f.src.image, &one.dst.image, NULL), TAMIS_OK);
        assert_int_equal(tamis_image_copy(one.ctx, &one.dst.image, &f.src.image), TAMIS_OK);
        tear_down(&one);
    }
    assert_true(test_same(&f.src.image, &f.dst.image));
    tear_down(&f);
}

/* Chains over edges where the picture begins anew: in a time that does not multiply with each
 * filter. */
static void wrapped_chains_are_as_one_by_one(void **state)
{
    static const char *const filters[] = {
        "gaussian=ksize=5:border=wrap", "median=ksize=3:border=wrap",
        "gaussian=ksize=3x9:border=wrap", "gaussian=ksize=5", "median=ksize=5x3:border=wrap"};
    static const int sizes[][2] = {{100, 40}, {9, 50}, {33, 2}, {1, 1}};

    (void)state;
    for (int i = 0; i < 4; i++)
        is_as_one_by_one(filters, 5, 6, sizes[i][0], sizes[i][1]);
}

/* Pictures of many tiles one below the other, which have rows of their steps in common. */
static void high_chains_are_as_one_by_one(void **state)
{
    static const char *const filters[] = {"median=ksize=5:border=replicate", "gaussian=ksize=9",
                                          "box=ksize=2x6:border=constant", "sharpen",
                                          "median=ksize=3x7:border=reflect"};
    static const int sizes[][2] = {{70, 300}, {33, 211}, {5, 90}};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int repeats = 1; repeats < 3; repeats++)
            is_as_one_by_one(filters, 5, repeats, sizes[i][0], sizes[i][1]);
}

/* Neither the colors of clear pixels nor anything else, whatever is asked for alpha. */
static void windows_of_one_pixel_change_nothing(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_format format = test_format(TAMIS_U8, 4);
    test_picture src, dst;

    (void)state;
    format.alpha = TAMIS_ALPHA_STRAIGHT;
    test_picture_make(&src, format, 20, 10, TEST_ROWS_TIGHT);
    test_picture_make(&dst, format, 20, 10, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_EXTREMES, 5);
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *filter = tamis_filter_at(i);
        double params[UNIT_PARAMS / sizeof(double)];
        tamis_filter_defaults(filter, params);
        if (tamis_filter_set(ctx, filter, params, "ksize", "1") != TAMIS_OK ||
            tamis_filter_set(ctx, filter, params, "alpha", "premultiply") != TAMIS_OK)
            continue;
        assert_int_equal(tamis_filter_run(ctx, filter, params, &src.image, &dst.image), TAMIS_OK);
        assert_true(test_same(&src.image, &dst.image));
    }
    test_picture_free(&src);
    test_picture_free(&dst);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_chains_copy),
        cmocka_unit_test(halos_add_up),
        cmocka_unit_test(valid_shrinks),
        cmocka_unit_test(images_must_match_the_plan),
        cmocka_unit_test(regions_must_lie_inside),
        cmocka_unit_test(guides_must_be_given_as_planned),
        cmocka_unit_test(plans_keep_to_the_limits),
        cmocka_unit_test(huge_sizes_plan_small),
        cmocka_unit_test(progress_reaches_the_end),
        cmocka_unit_test(cancelling_stops_soon),
        cmocka_unit_test(empty_chains_can_be_cancelled),
        cmocka_unit_test(forks_can_filter),
        cmocka_unit_test(one_call_does_all),
        cmocka_unit_test(wrapped_chains_are_as_one_by_one),
        cmocka_unit_test(high_chains_are_as_one_by_one),
        cmocka_unit_test(windows_of_one_pixel_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
