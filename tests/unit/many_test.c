/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over many pictures: on the CPU and, where there are any, on emulated devices. */
#include <pthread.h>
#include <stdlib.h>

#include "support/picture.h"
#include "unit.h"

/* How the pictures of a set lie in memory. */
enum layout {
    TOGETHER,  /* like one high picture */
    EQUAL,     /* apart, at equal distances */
    SCATTERED, /* each in its own memory */
    MIXED,     /* some of them together */
    LAYOUTS
};
enum { MOST = 33 };

typedef struct set {
    test_picture block, own[MOST];
    tamis_image image[MOST];
    int count;
} set;

static void set_make(set *s, tamis_ctx *ctx, tamis_format format, int w, int h, int count,
                     enum layout layout, test_rows rows)
{
    int gap = layout == EQUAL ? 3 : 0;
    memset(s, 0, sizeof *s);
    s->count = count;
    test_picture_make(&s->block, format, w, (h + gap) * count, rows);
    for (int i = 0; i < count; i++) {
        if (layout < SCATTERED || (layout == MIXED && i % 5 < 3)) {
            tamis_rect r = {0, i * (h + gap), w, h};
            assert_int_equal(tamis_image_view(ctx, &s->block.image, r, &s->image[i]), TAMIS_OK);
            continue;
        }
        test_picture_make(&s->own[i], format, w, h, rows);
        s->image[i] = s->own[i].image;
    }
}

static void set_fill(const set *s)
{
    for (int i = 0; i < s->count; i++)
        test_picture_fill(&s->image[i], TEST_FILL_NOISE, 100 + (uint64_t)i);
}

/* To an emulated device all memory is as its own. */
static void set_device(set *s, int device)
{
    for (int i = 0; i < s->count; i++)
        s->image[i].device = device;
}

static void set_free(set *s)
{
    assert_true(test_picture_intact(&s->block));
    test_picture_free(&s->block);
    for (int i = 0; i < s->count; i++)
        test_picture_free(&s->own[i]);
}

/* What was said of too little memory. */
static int fewer, bands;

static void watch_log(void *user, tamis_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fewer += strstr(text, "pictures at once") != NULL;
    bands += strstr(text, "in bands of") != NULL;
}

static tamis_ctx *ctx_on(const char *device)
{
    tamis_ctx_options o = {.device = device, .threads = 2, .log = watch_log};
    tamis_ctx *ctx = NULL;
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK);
    return ctx;
}

static tamis_plan *plan_of(tamis_ctx *ctx, const char *chain, tamis_format format, int w, int h)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    char text[600];
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    if (tamis_plan_create(ctx, graph, format, w, h, NULL, &plan) != TAMIS_OK)
        fail_msg("%s: %s", chain, tamis_ctx_last_message(ctx, text, sizeof text));
    tamis_graph_free(&graph);
    return plan;
}

static int has_devices(void)
{
    return getenv("TAMIS_CUDA_MODULE") != NULL;
}

static const tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
static const tamis_format planar = {TAMIS_U16, 3, TAMIS_PLANAR, TAMIS_ALPHA_NONE};

/* ---- the same bits */

/* there: the pictures are said to be in memory of device 0; 2: the sources alone. */
static void compare(tamis_ctx *ctx, const char *chain, tamis_format format, int count,
                    enum layout layout, test_rows rows, int there)
{
    enum { W = 37, H = 21 };
    tamis_plan *plan = plan_of(ctx, chain, format, W, H);
    set src, dst, want;
    char text[600];
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    tamis_format out = tamis_plan_format(plan);
    set_make(&src, ctx, format, W, H, count, layout, rows);
    set_make(&dst, ctx, out, w, h, count, layout == MIXED ? EQUAL : layout, rows);
    set_make(&want, ctx, out, w, h, count, SCATTERED, TEST_ROWS_TIGHT);
    set_fill(&src);
    for (int i = 0; i < count; i++)
        if (tamis_plan_run(plan, &src.image[i], &want.image[i], NULL) != TAMIS_OK)
            fail_msg("%s: %s", chain, tamis_ctx_last_message(ctx, text, sizeof text));
    set_device(&src, there > 0);
    set_device(&dst, there == 1);
    if (tamis_plan_run_many(plan, src.image, dst.image, (size_t)count, NULL) != TAMIS_OK)
        fail_msg("%s: %s", chain, tamis_ctx_last_message(ctx, text, sizeof text));
    set_device(&dst, 0);
    for (int i = 0; i < count; i++)
        if (!test_same(&want.image[i], &dst.image[i]))
            fail_msg("%s: picture %d of %d, layout %d, rows %d, %s", chain, i, count, (int)layout,
                     (int)rows, there ? "on the device" : "in host memory");
    set_free(&src);
    set_free(&dst);
    set_free(&want);
    tamis_plan_free(&plan);
}

static const char *const chains[] = {"gaussian=sigma=1.2",
                                     "median=ksize=3,gaussian=sigma=0.8:border=wrap,sobel",
                                     "canny=sigma=1",
                                     "affine=matrix=0.8,0.3,0,-0.3,0.8,9",
                                     "box=ksize=19x3,resize=size=23x17",
                                     "gaussian=border=valid:sigma=1.5,unsharp=sigma=9",
                                     ""};
enum { CHAINS = sizeof chains / sizeof *chains };

static void same_bits_here(void **state)
{
    static const char *const places[] = {"cpu", "cuda:0", "cuda:all"};
    static const int counts[] = {1, 2, 7};
    (void)state;
    setenv("TAMIS_EMULATE_DEVICES", "3", 1);
    for (int p = 0; p < (has_devices() ? 3 : 1); p++) {
        tamis_ctx *ctx = ctx_on(places[p]);
        for (int k = 0; k < 3 * CHAINS; k++)
            compare(ctx, chains[k % CHAINS], k % 2 ? rgba : planar, counts[k / CHAINS],
                    (enum layout)(k % LAYOUTS), (test_rows)(k / 2 % TEST_ROWS_COUNT), 0);
        tamis_ctx_free(&ctx);
    }
    unsetenv("TAMIS_EMULATE_DEVICES");
}

static void same_bits_there(void **state)
{
    tamis_ctx *ctx;
    (void)state;
    if (!has_devices())
        skip();
    ctx = ctx_on("cuda:0");
    for (int k = 0; k < 2 * CHAINS; k++)
        for (int there = 1; there <= 2; there++)
            compare(ctx, chains[k % CHAINS], k % 2 ? rgba : planar, k < CHAINS ? 7 : 12,
                    (enum layout)((k + 1) % LAYOUTS), (test_rows)(k % TEST_ROWS_COUNT), there);
    tamis_ctx_free(&ctx);
}

/* With little device memory there are several stacks, then single pictures, then bands of one. */
static void memory_may_be_little(void **state)
{
    static const char *const sizes[] = {"400000", "60000", "40000"};
    tamis_ctx *ctx;
    (void)state;
    if (!has_devices())
        skip();
    ctx = ctx_on("cuda:0");
    for (int k = 0; k < 3; k++) {
        setenv("TAMIS_EMULATE_BYTES", sizes[k], 1);
        fewer = bands = 0;
        compare(ctx, "gaussian=sigma=0.8", rgba, MOST, SCATTERED, TEST_ROWS_WIDE, 0);
        compare(ctx, "gaussian=sigma=0.8", rgba, MOST, TOGETHER, TEST_ROWS_TIGHT, 0);
        compare(ctx, "gaussian=sigma=0.8", rgba, MOST, EQUAL, TEST_ROWS_TIGHT, 2);
        assert_true(fewer > 0 && (bands > 0) == (k == 2));
    }
    unsetenv("TAMIS_EMULATE_BYTES");
    tamis_ctx_free(&ctx);
}

/* More than a launch can have. */
static void launches_are_many(void **state)
{
    enum { COUNT = 65535 + 300 };
    tamis_ctx *ctx;
    (void)state;
    if (!has_devices())
        skip();
    ctx = ctx_on("cuda:0");
    tamis_format gray = test_format(TAMIS_U8, 1);
    tamis_plan *plan = plan_of(ctx, "gaussian=ksize=3", gray, 4, 1);
    tamis_image *src = calloc(COUNT, sizeof *src), *dst = calloc(COUNT, sizeof *dst);
    uint8_t *bytes = malloc(4 * COUNT), *result = calloc(COUNT, 4);
    assert_true(src && dst && bytes && result);
    for (int i = 0; i < COUNT; i++) {
        memset(bytes + 4 * i, i % 251, 4); /* flat pictures stay as they are */
        src[i] = (tamis_image){.format = gray, .w = 4, .h = 1, .data = {bytes + 4 * i}};
        dst[i] = (tamis_image){.format = gray, .w = 4, .h = 1, .data = {result + 4 * i}};
        src[i].stride[0] = dst[i].stride[0] = 4;
        src[i].device = dst[i].device = 1;
    }
    assert_int_equal(tamis_plan_run_many(plan, src, dst, COUNT, NULL), TAMIS_OK);
    assert_memory_equal(bytes, result, 4 * COUNT);
    free(src);
    free(dst);
    free(bytes);
    free(result);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

/* ---- refusals, progress, cancelling */

typedef struct watch {
    int64_t last, total;
    int calls, wrong;
    int cancel, cancel_at;
} watch;

static void watch_progress(void *user, int64_t done, int64_t total)
{
    watch *w = user;
    w->wrong += done <= w->last || done > total || (w->total && total != w->total);
    w->last = done;
    w->total = total;
    if (++w->calls == w->cancel_at)
        __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
}

static void one_wrong_picture_stops_all(void **state)
{
    (void)state;
    for (int p = 0; p < (has_devices() ? 2 : 1); p++) {
        tamis_ctx *ctx = ctx_on(p ? "cuda:0" : "cpu");
        tamis_plan *plan = plan_of(ctx, chains[0], rgba, 30, 20);
        const tamis_image *frames[1] = {NULL};
        tamis_run_options o = {.frames = frames};
        set src, dst;
        set_make(&src, ctx, rgba, 30, 20, 5, TOGETHER, TEST_ROWS_TIGHT);
        set_make(&dst, ctx, rgba, 30, 20, 5, TOGETHER, TEST_ROWS_TIGHT);
        set_fill(&src);
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, 0, NULL), TAMIS_OK);
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, 5, &o),
                         TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, "frames");
        src.image[3].w--;
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, 5, NULL),
                         TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, "picture 3: run: the source is 29x20");
        src.image[3].w++;
        src.image[4].device = dst.image[4].device = 1;
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, 5, NULL),
                         TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, "picture 4: ");
        for (size_t i = 0; i < dst.block.size; i++) /* nothing was written */
            if (p == 0 && i < 4 * 30)
                assert_int_equal(((uint8_t *)dst.block.image.data[0])[i], 0);
        set_free(&src);
        set_free(&dst);
        tamis_plan_free(&plan);
        tamis_ctx_free(&ctx);
    }
}

static void progress_and_cancelling(void **state)
{
    (void)state;
    for (int k = 0; k < (has_devices() ? 4 : 2); k++) {
        tamis_ctx *ctx = ctx_on(k < 2 ? "cpu" : "cuda:0");
        tamis_plan *plan = plan_of(ctx, k % 2 ? "canny" : chains[0], rgba, 30, 20);
        watch w = {0};
        tamis_run_options o = {
            .progress = watch_progress, .progress_user = &w, .cancel = &w.cancel};
        set src, dst;
        set_make(&src, ctx, rgba, 30, 20, MOST, SCATTERED, TEST_ROWS_TIGHT);
        set_make(&dst, ctx, tamis_plan_format(plan), 30, 20, MOST, SCATTERED, TEST_ROWS_TIGHT);
        set_fill(&src);
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, MOST, &o), TAMIS_OK);
        assert_true(w.calls > 0 && w.wrong == 0 && w.last == w.total);
        w = (watch){.cancel = 1};
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, MOST, &o),
                         TAMIS_ERR_CANCELED);
        assert_int_equal(w.calls, 0);
        w = (watch){0};
        assert_int_equal(tamis_plan_run_many(plan, src.image, dst.image, MOST, &o), TAMIS_OK);
        set_free(&src);
        set_free(&dst);
        tamis_plan_free(&plan);
        tamis_ctx_free(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_here),
        cmocka_unit_test(same_bits_there),
        cmocka_unit_test(memory_may_be_little),
        cmocka_unit_test(launches_are_many),
        cmocka_unit_test(one_wrong_picture_stops_all),
        cmocka_unit_test(progress_and_cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
