/* SPDX-License-Identifier: Apache-2.0 */
/* Runs part by part, and windows on the input. */
#include <stdlib.h>

#include "support/parts.h"
#include "support/picture.h"
#include "unit.h"

enum { W = 301, H = 203 };

/* A plan, its input and what a whole run makes of it. */
typedef struct job {
    tamis_ctx *ctx;
    tamis_plan *plan;
    test_picture src, guide, whole, result;
    test_store from, guided, to;
} job;

static tamis_plan *make_plan(tamis_ctx *ctx, const char *chain, tamis_format format, int32_t w,
                             int32_t h, const tamis_plan_options *options)
{
    tamis_graph *graph;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, format, w, h, options, &plan);
    if (status != TAMIS_OK) {
        char text[300];
        print_error("%s: %s\n", chain, tamis_ctx_last_message(ctx, text, sizeof text));
        fail();
    }
    tamis_graph_free(&graph);
    return plan;
}

static void open_job(job *j, const char *chain, tamis_format format, size_t whole_bytes)
{
    int with_guide = strncmp(chain, "remap", 5) == 0;
    tamis_format map = test_format(TAMIS_F32, 2);
    tamis_plan_options options = {
        .tile_w = 64, .tile_h = 16, .whole_bytes = whole_bytes, .guide = with_guide ? &map : NULL};
    int32_t w, h;

    *j = (job){.ctx = unit_ctx(2)};
    j->plan = make_plan(j->ctx, chain, format, W, H, &options);
    test_picture_make(&j->src, format, W, H, TEST_ROWS_ODD);
    test_picture_fill(&j->src.image, TEST_FILL_SMOOTH, 7);
    tamis_plan_size(j->plan, &w, &h);
    test_picture_make(&j->whole, tamis_plan_format(j->plan), w, h, TEST_ROWS_TIGHT);
    test_picture_make(&j->result, tamis_plan_format(j->plan), w, h, TEST_ROWS_ODD);
    tamis_run_options run = {0};
    if (with_guide) {
        test_picture_make(&j->guide, map, W, H, TEST_ROWS_TIGHT);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                test_sample_set(&j->guide.image, x, y, 0, W - 1 - x);
                test_sample_set(&j->guide.image, x, y, 1, y + 0.25);
            }
        run.guide = &j->guide.image;
    }
    assert_int_equal(tamis_plan_run(j->plan, &j->src.image, &j->whole.image, &run), TAMIS_OK);
}

static void close_job(job *j)
{
    test_picture_free(&j->src);
    test_picture_free(&j->guide);
    test_picture_free(&j->whole);
    test_picture_free(&j->result);
    tamis_plan_free(&j->plan);
    tamis_ctx_free(&j->ctx);
}

/* Runs part by part with blocks of so many pixels on both sides. */
static tamis_status run_job(job *j, int32_t block_w, int32_t block_h, size_t max_bytes,
                            const tamis_run_options *options)
{
    j->from =
        (test_store){.ctx = j->ctx, .image = &j->src.image, .block_w = block_w, .block_h = block_h};
    j->guided = (test_store){
        .ctx = j->ctx, .image = &j->guide.image, .block_w = block_w, .block_h = block_h};
    j->to = (test_store){
        .ctx = j->ctx, .image = &j->result.image, .block_w = block_w, .block_h = block_h};
    return test_parts_run(j->plan, &j->from, j->guide.block ? &j->guided : NULL, &j->to, max_bytes,
                          options);
}

static void expect_whole(job *j)
{
    assert_null(j->from.misused);
    assert_null(j->guided.misused);
    assert_null(j->to.misused);
    assert_true(test_same(&j->whole.image, &j->result.image));
    test_picture_fill(&j->result.image, TEST_FILL_NOISE, 1);
}

/* ---- the same bits */

static void test_chains(void **state)
{
    static const char *const chains[] = {
        "gaussian=sigma=2",
        "median=ksize=5,gaussian=sigma=1:border=reflect,sobel",
        "gaussian=sigma=3:border=valid",
        "box=ksize=9:border=wrap",
        "rotate=angle=30",
        "rotate=angle=90:size=fit:border=constant",
        "gaussian=sigma=1,affine=matrix=1,0.2,3,-0.1,0.9,5",
        "resize=size=77x500",
        "resize=size=31x20",
        "canny=low=20:high=60",
        "gaussian=sigma=1,canny=low=20:high=60,rotate=angle=5,box=ksize=3",
        "rotate=angle=10,canny=low=20:high=60",
        "remap",
        "color=to=gray",
    };
    (void)state;
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        job j;
        open_job(&j, chains[c], test_format(TAMIS_U8, strncmp(chains[c], "color", 5) ? 1 : 3), 0);
        for (int i = 0; i < 4; i++) {
            static const size_t bounds[] = {0, 1 << 20, 100000, 40000};
            static const int32_t blocks[][2] = {{0, 0}, {0, 13}, {16, 16}, {48, 32}};
            for (int b = 0; b < 4; b++) {
                tamis_status status = run_job(&j, blocks[b][0], blocks[b][1], bounds[i], NULL);
                if (status != TAMIS_OK) {
                    char text[300];
                    print_error("%s, %dx%d, %zu: %s\n", chains[c], blocks[b][0], blocks[b][1],
                                bounds[i], tamis_ctx_last_message(j.ctx, text, sizeof text));
                }
                assert_int_equal(status, TAMIS_OK);
                expect_whole(&j);
            }
        }
        close_job(&j);
    }
}

static void test_formats(void **state)
{
    (void)state;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int layout = 0; layout < 2; layout++) {
            tamis_format format = {(tamis_type)type, 4, (tamis_layout)layout, TAMIS_ALPHA_STRAIGHT};
            job j;
            open_job(&j, "gaussian=sigma=1,rotate=angle=45", format, 1);
            assert_int_equal(run_job(&j, 32, 32, 300000, NULL), TAMIS_OK);
            expect_whole(&j);
            close_job(&j);
        }
}

/* ---- what is read */

/* Rows that parts have in common are read once, and blocks as a whole. */
static void test_reading(void **state)
{
    job j;
    (void)state;
    open_job(&j, "box=ksize=31", test_format(TAMIS_U8, 1), 0);
    assert_int_equal(run_job(&j, 0, 0, 60000, NULL), TAMIS_OK);
    expect_whole(&j);
    assert_true(j.to.calls > 3);
    assert_int_equal(j.from.pixels, W * H);
    assert_int_equal(run_job(&j, 0, 8, 60000, NULL), TAMIS_OK);
    expect_whole(&j);
    assert_int_equal(j.from.pixels, W * H);
    close_job(&j);
    /* Parts of a turned picture need no more of it than what lies below them and around. */
    open_job(&j, "rotate=angle=45:border=constant", test_format(TAMIS_U8, 1), 0);
    assert_int_equal(run_job(&j, 16, 16, 60000, NULL), TAMIS_OK);
    expect_whole(&j);
    assert_true(j.to.calls > 3 && j.from.pixels < 3 * W * H);
    close_job(&j);
}

/* ---- memory */

static void test_bound(void **state)
{
    job j;
    (void)state;
    open_job(&j, "gaussian=sigma=5", test_format(TAMIS_F32, 3), 0);
    size_t before = tamis_ctx_bytes(j.ctx);
    assert_int_equal(run_job(&j, 0, 0, 1500000, NULL), TAMIS_OK);
    expect_whole(&j);
    assert_true(tamis_ctx_peak_bytes(j.ctx) - before < 1500000 + 1000);
    assert_int_equal(run_job(&j, 0, 64, 200000, NULL), TAMIS_ERR_LIMIT);
    unit_message_has(j.ctx, "the smallest need");
    assert_int_equal(tamis_ctx_bytes(j.ctx), before);
    close_job(&j);
}

static void test_whole_in_file(void **state)
{
    job j;
    char text[2000];
    (void)state;
    open_job(&j, "canny=low=20:high=60", test_format(TAMIS_U8, 1), 1000);
    tamis_plan_explain(j.plan, text, sizeof text);
    assert_non_null(strstr(text, "in temporary files"));
    assert_true(tamis_ctx_bytes(j.ctx) > 0);
    assert_int_equal(run_job(&j, 32, 32, 60000, NULL), TAMIS_OK);
    expect_whole(&j);
    close_job(&j);
}

/* Leaves no place for temporary files; returns what there was, for give_room(). */
static char *take_room(void)
{
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    return kept;
}

static void give_room(char *kept)
{
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

/* What becomes much smaller needs no temporary file, however large the blocks that are written. */
static void test_shrunk(void **state)
{
    static const char *const chains[] = {"resize=size=31x20", "resize=size=9x7",
                                         "affine=scale=0.08:size=fit"};
    static const int32_t blocks[][2] = {{0, 0}, {0, 6}, {0, 20}, {16, 16}};
    const tamis_format formats[] = {test_format(TAMIS_U8, 3),
                                    {TAMIS_U16, 2, TAMIS_PLANAR, TAMIS_ALPHA_NONE}};
    char *kept = take_room();
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int f = 0; f < 2; f++) {
            job j;
            open_job(&j, chains[c], formats[f], 0);
            for (int b = 0; b < 4; b++) {
                if (run_job(&j, blocks[b][0], blocks[b][1], 160000, NULL))
                    fail_msg("%s in blocks of %dx%d", chains[c], blocks[b][0], blocks[b][1]);
                assert_true(j.from.pixels <= (int64_t)4 * W * H);
                expect_whole(&j);
            }
            close_job(&j);
        }
    job j; /* without shrinking a row of blocks needs all that is in those columns */
    open_job(&j, "rotate=angle=90:size=fit", formats[0], 0);
    assert_int_equal(run_job(&j, 0, 20, 30000, NULL), TAMIS_ERR_WRITE);
    close_job(&j);
    give_room(kept);
}

/* A plan says where it found no room. */
static void test_no_room(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_plan_options options = {.whole_bytes = 1};
    tamis_graph *graph;
    tamis_plan *plan;
    (void)state;
    char *kept = take_room();
    assert_int_equal(tamis_graph_parse(ctx, "canny", &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), W, H, &options, &plan),
                     TAMIS_ERR_WRITE);
    unit_message_has(ctx, "/nowhere/at/all: No such file");
    assert_null(plan);
    give_room(kept);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

/* ---- failures */

static void test_failures(void **state)
{
    static const char *const chains[] = {"gaussian=sigma=2", "canny", "box=ksize=9:border=wrap"};
    (void)state;
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        job j;
        open_job(&j, chains[c], test_format(TAMIS_U8, 1), 0);
        for (int at = 1; at < 6; at += 2) {
            j.from = (test_store){.ctx = j.ctx, .image = &j.src.image, .fail_at = at};
            j.to = (test_store){.ctx = j.ctx, .image = &j.result.image};
            tamis_status status = test_parts_run(j.plan, &j.from, NULL, &j.to, 20000, NULL);
            assert_int_equal(status, j.from.calls < at ? TAMIS_OK : TAMIS_ERR_READ);
            assert_true(at > 1 || status != TAMIS_OK);
            j.from = (test_store){.ctx = j.ctx, .image = &j.src.image};
            j.to = (test_store){.ctx = j.ctx, .image = &j.result.image, .fail_at = at};
            status = test_parts_run(j.plan, &j.from, NULL, &j.to, 20000, NULL);
            assert_int_equal(status, j.to.calls < at ? TAMIS_OK : TAMIS_ERR_WRITE);
            assert_true(at > 1 || status != TAMIS_OK);
            if (status != TAMIS_OK)
                unit_message_has(j.ctx, "the test's writer fails");
            assert_null(j.from.misused);
            assert_null(j.to.misused);
        }
        close_job(&j);
    }
}

/* Progress never goes back and ends once, with all. */
typedef struct progress {
    int64_t last, total;
    int calls, ends;
    int cancel, cancel_at;
} progress;

static void watch(void *user, int64_t done, int64_t total)
{
    progress *p = user;
    assert_true(done >= p->last && done <= total);
    p->last = done;
    p->total = total;
    p->ends += done == total;
    if (++p->calls == p->cancel_at)
        __atomic_store_n(&p->cancel, 1, __ATOMIC_RELAXED);
}

static void test_progress(void **state)
{
    static const char *const chains[] = {"gaussian=sigma=2", "canny", "box=ksize=9:border=wrap",
                                         "canny,rotate=angle=3"};
    (void)state;
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        job j;
        progress p = {0};
        tamis_run_options options = {.progress = watch, .progress_user = &p, .cancel = &p.cancel};
        open_job(&j, chains[c], test_format(TAMIS_U8, 1), 0);
        assert_int_equal(run_job(&j, 0, 0, 20000, &options), TAMIS_OK);
        expect_whole(&j);
        assert_int_equal(p.ends, 1);
        assert_int_equal(p.last, p.total);
        assert_true(p.calls > 3);
        p = (progress){.cancel_at = 2};
        assert_int_equal(run_job(&j, 0, 0, 20000, &options), TAMIS_ERR_CANCELED);
        assert_int_equal(p.ends, 0);
        close_job(&j);
    }
}

static void test_refusals(void **state)
{
    job j;
    tamis_rect window = {0, 0, W, H};
    tamis_run_options options = {.window = &window};
    (void)state;
    open_job(&j, "box=ksize=3", test_format(TAMIS_U8, 1), 0);
    assert_int_equal(run_job(&j, 0, 0, 0, &options), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "option window must be NULL");
    assert_int_equal(run_job(&j, -1, 0, 0, NULL), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "blocks of -1x0");
    options = (tamis_run_options){.guide = &j.src.image};
    assert_int_equal(run_job(&j, 0, 0, 0, &options), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "without a guide");
    assert_int_equal(tamis_plan_run_parts(j.plan, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_plan_run_parts(j.plan, &(tamis_parts){0}, NULL), TAMIS_ERR_ARGUMENT);
    close_job(&j);
}

/* ---- windows */

static void test_window(void **state)
{
    job j;
    tamis_rect window = {10, 20, 40, 30}, rect = {12, 22, 36, 26}, need;
    tamis_run_options options = {.window = &window};
    tamis_image src, dst, part;
    (void)state;
    open_job(&j, "box=ksize=5", test_format(TAMIS_U8, 1), 0);
    assert_int_equal(tamis_plan_need(j.plan, rect, &need), TAMIS_OK);
    assert_memory_equal(&need, &window, sizeof need);
    assert_int_equal(tamis_image_view(j.ctx, &j.src.image, window, &src), TAMIS_OK);
    assert_int_equal(tamis_image_view(j.ctx, &j.result.image, rect, &dst), TAMIS_OK);
    assert_int_equal(tamis_plan_run_region(j.plan, &src, rect, &dst, &options), TAMIS_OK);
    assert_int_equal(tamis_image_view(j.ctx, &j.whole.image, rect, &part), TAMIS_OK);
    assert_true(test_same(&part, &dst));
    /* A column less than it needs, a window of another size, one outside. */
    window.x++;
    assert_int_equal(tamis_plan_run_region(j.plan, &src, rect, &dst, &options), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "40x30 at (11, 20)");
    unit_message_has(j.ctx, "40x30 at (10, 20)");
    window = (tamis_rect){10, 20, 41, 30};
    assert_int_equal(tamis_plan_run_region(j.plan, &src, rect, &dst, &options), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "the source is 40x30");
    window = (tamis_rect){10, 20, W, 30};
    assert_int_equal(tamis_plan_run_region(j.plan, &src, rect, &dst, &options), TAMIS_ERR_ARGUMENT);
    unit_message_has(j.ctx, "leaves the picture of 301x203");
    assert_int_equal(tamis_plan_need_guide(j.plan, rect, &need), TAMIS_ERR_ARGUMENT);
    close_job(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_reading),       cmocka_unit_test(test_bound),
        cmocka_unit_test(test_no_room),       cmocka_unit_test(test_shrunk),
        cmocka_unit_test(test_whole_in_file), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_progress),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
