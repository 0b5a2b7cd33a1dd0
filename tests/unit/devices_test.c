/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for several devices, on emulated ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static char log_text[4096]; /* what was said last, and before it */

static void keep_log(void *user, tamis_log_level level, const char *text)
{
    char before[sizeof log_text];
    (void)user;
    (void)level;
    memcpy(before, log_text, sizeof before);
    snprintf(log_text, sizeof log_text, "%s\n%.3000s", text, before);
}

static tamis_ctx *open_ctx(const char *device)
{
    tamis_ctx *ctx = NULL;
    tamis_ctx_options o = {.device = device, .threads = 2, .log = keep_log};
    log_text[0] = '\0';
    if (tamis_ctx_create(&o, &ctx) != TAMIS_OK)
        fail_msg("%s", log_text);
    return ctx;
}

static tamis_plan *plan_of(tamis_ctx *ctx, const char *chain, const tamis_image *src, int tile_h)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_plan_options o = {.tile_h = tile_h};
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, src->format, src->w, src->h, &o, &plan),
                     TAMIS_OK);
    tamis_graph_free(&graph);
    return plan;
}

static const tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
static const tamis_format wide = {TAMIS_F32, 4, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const char chain[] = "gaussian=sigma=1.2,gaussian=sigma=0.8:border=wrap";

static void run_on(const char *device, const char *text, const tamis_image *src, int tile_h,
                   test_picture *out)
{
    tamis_ctx *ctx = open_ctx(device);
    tamis_plan *plan = plan_of(ctx, text, src, tile_h);
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    assert_string_equal(tamis_plan_device(plan),
                        strcmp(device, "cuda:all") == 0 ? "cuda:0,1,2" : device);
    test_picture_make(out, tamis_plan_format(plan), w, h, TEST_ROWS_ODD);
    if (tamis_plan_run(plan, src, &out->image, NULL) != TAMIS_OK)
        fail_msg("%s", log_text);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void test_bands(void **state)
{
    static const char *const chains[] = {chain,
                                         "canny=sigma=1",
                                         "affine=matrix=0.8,0.3,0,-0.3,0.8,9",
                                         "gaussian=border=valid",
                                         "resize=size=77x51",
                                         ""};
    static const char *const devices[] = {"cuda:all", "cuda:1", "cuda:2,0"};
    test_picture src, want, have;
    (void)state;
    test_picture_make(&src, rgba, 120, 90, TEST_ROWS_NEGATIVE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 7);
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        run_on("cuda:0", chains[c], &src.image, 0, &want);
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            run_on(devices[d], chains[c], &src.image, 7, &have);
            if (!test_same(&want.image, &have.image))
                fail_msg("%s on %s", chains[c], devices[d]);
            test_picture_free(&have);
            int bands = d != 1 && c != 1; /* Canny needs the whole */
            assert_int_equal(strstr(log_text, "rows 7 .. 13 on cuda:") != NULL, bands);
        }
        test_picture_free(&want);
    }
    assert_non_null(strstr(log_text, "rows 0 .. 6 on cuda:2\n"));
    assert_non_null(strstr(log_text, "rows 7 .. 13 on cuda:0\n"));
    test_picture_free(&src);
}

static void count_reports(void *user, int64_t done, int64_t total)
{
    int64_t *last = user;
    assert_true(done > *last && done <= total);
    *last = done;
}

/* Without being told: two bands on two devices from 16 MiB on, eight on one from 64 MiB on. */
static void test_large(void **state)
{
    test_picture src, dst;
    int64_t last = 0;
    (void)state;
    test_picture_make(&src, wide, 512, 1024, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 8);
    run_on("cuda:0,1", "", &src.image, 0, &dst);
    assert_true(test_same(&src.image, &dst.image));
    assert_non_null(strstr(log_text, "rows 512 .. 1023 on cuda:1"));
    test_picture_free(&dst);
    test_picture_free(&src);

    setenv("TAMIS_EMULATE_IDLE", "1", 1); /* for speed */
    test_picture_make(&src, wide, 512, 4096, TEST_ROWS_TIGHT);
    test_picture_make(&dst, wide, 512, 4096, TEST_ROWS_TIGHT);
    tamis_ctx *ctx = open_ctx("cuda");
    tamis_plan *plan = plan_of(ctx, "", &src.image, 0);
    tamis_run_options o = {.progress = count_reports, .progress_user = &last};
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, &o), TAMIS_OK);
    assert_int_equal(last, 4096);
    assert_non_null(strstr(log_text, "rows 3584 .. 4095 on cuda:0"));
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    unsetenv("TAMIS_EMULATE_IDLE");
    test_picture_free(&dst);
    test_picture_free(&src);
}

/* A device that fails: an error that names it, and nothing lasting. */
static void test_failure(void **state)
{
    test_picture src, want, have;
    (void)state;
    test_picture_make(&src, rgba, 120, 90, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    run_on("cuda:0", chain, &src.image, 0, &want);
    test_picture_make(&have, rgba, 120, 90, TEST_ROWS_TIGHT);
    tamis_ctx *ctx = open_ctx("cuda:0,2");
    tamis_plan *banded = plan_of(ctx, chain, &src.image, 20);
    tamis_plan *plan = plan_of(ctx, chain, &src.image, 0);
    setenv("TAMIS_EMULATE_FAIL", "2", 1);
    assert_int_equal(tamis_plan_run(banded, &src.image, &have.image, NULL), TAMIS_ERR_DEVICE);
    assert_non_null(strstr(log_text, "run: cuda:2: "));
    assert_non_null(strstr(log_text, "launch failure"));
    /* What is not cut goes to the devices by turns. */
    assert_int_equal(tamis_plan_run(plan, &src.image, &have.image, NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_run(plan, &src.image, &have.image, NULL), TAMIS_ERR_DEVICE);
    assert_int_equal(tamis_plan_run(plan, &src.image, &have.image, NULL), TAMIS_OK);
    unsetenv("TAMIS_EMULATE_FAIL");
    assert_true(test_same(&want.image, &have.image));
    memset(have.image.data[0], 0, 100);
    assert_int_equal(tamis_plan_run(banded, &src.image, &have.image, NULL), TAMIS_OK);
    assert_true(test_same(&want.image, &have.image));
    volatile int cancel = 1;
    tamis_run_options o = {.cancel = &cancel};
    assert_int_equal(tamis_plan_run(banded, &src.image, &have.image, &o), TAMIS_ERR_CANCELED);
    tamis_plan_free(&plan);
    tamis_plan_free(&banded);
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&want);
    test_picture_free(&have);
}

/* Each device goes on in lower bands where it lacks memory. */
static void test_little_memory(void **state)
{
    test_picture src, want, have;
    (void)state;
    test_picture_make(&src, rgba, 40, 800, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 11);
    run_on("cuda:0", "gaussian=sigma=2", &src.image, 0, &want);
    setenv("TAMIS_EMULATE_BYTES", "800000", 1);
    run_on("cuda:0,1", "gaussian=sigma=2", &src.image, 400, &have);
    unsetenv("TAMIS_EMULATE_BYTES");
    assert_non_null(strstr(log_text, "going on in bands of 200 rows"));
    assert_true(test_same(&want.image, &have.image));
    test_picture_free(&src);
    test_picture_free(&want);
    test_picture_free(&have);
}

/* Several bands of one device that leave each other too little. */
static void test_bands_share_memory(void **state)
{
    const tamis_format gray = test_format(TAMIS_U8, 1);
    test_picture src, have;
    (void)state;
    test_picture_make(&src, gray, 32768, 1024, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 12);
    setenv("TAMIS_EMULATE_BYTES", "7000000", 1);
    run_on("cuda:0", "", &src.image, 0, &have);
    unsetenv("TAMIS_EMULATE_BYTES");
    assert_non_null(strstr(log_text, "run: rows 512 .. 1023 on"));
    assert_true(test_same(&src.image, &have.image));
    test_picture_free(&src);
    test_picture_free(&have);
}

/* Several that find too little beside each other, but enough alone, stay as high as they are. */
static void test_bands_wait(void **state)
{
    const tamis_format gray = test_format(TAMIS_U8, 1);
    test_picture src, have;
    (void)state;
    test_picture_make(&src, gray, 32768, 1024, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 12);
    setenv("TAMIS_EMULATE_IDLE", "1", 1); /* for speed */
    for (int k = 0; k < 2; k++) {
        setenv("TAMIS_EMULATE_BYTES", "50000000", 1);
        run_on("cuda:0", "", &src.image, 0, &have);
        unsetenv("TAMIS_EMULATE_BYTES");
        assert_non_null(strstr(log_text, "run: rows 0 .. 511 on"));
        assert_null(strstr(log_text, "going on in bands"));
        test_picture_free(&have);
    }
    unsetenv("TAMIS_EMULATE_IDLE");
    test_picture_free(&src);
}

/* Canny does not save memory in bands: it fails at once, or plans go to the CPU. */
static void test_whole_or_nothing(void **state)
{
    test_picture src, dst;
    (void)state;
    test_picture_make(&src, rgba, 120, 90, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 13);
    tamis_ctx *ctx = open_ctx("cuda");
    tamis_plan *plan = plan_of(ctx, "canny", &src.image, 0);
    test_picture_make(&dst, tamis_plan_format(plan), 120, 90, TEST_ROWS_TIGHT);
    setenv("TAMIS_EMULATE_BYTES", "60000", 1);
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, NULL), TAMIS_ERR_MEMORY);
    assert_non_null(strstr(log_text, "needs its whole picture there at once"));
    assert_null(strstr(log_text, "going on"));
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);

    ctx = open_ctx("auto");
    plan = plan_of(ctx, "canny", &src.image, 0);
    assert_string_equal(tamis_plan_device(plan), "cpu");
    tamis_plan_free(&plan);
    plan = plan_of(ctx, "", &src.image, 0);
    assert_string_equal(tamis_plan_device(plan), "cuda:0");
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);

    tamis_graph *graph = NULL;
    ctx = open_ctx("cuda");
    assert_int_equal(tamis_graph_parse(ctx, "canny", &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, rgba, 1200, 900, NULL, &plan), TAMIS_ERR_MEMORY);
    assert_non_null(strstr(log_text, "plan: the chain needs its whole picture at once"));
    /* More than its numbers reach. */
    assert_int_equal(
        tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), 300000, 300000, NULL, &plan),
        TAMIS_ERR_UNSUPPORTED);
    assert_non_null(strstr(log_text, "canny: cuda:0: a picture of 300000x300000 has more than"));
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    unsetenv("TAMIS_EMULATE_BYTES");
    test_picture_free(&src);
    test_picture_free(&dst);
}

/* Devices of other kinds could give other bits. */
static void test_unlike(void **state)
{
    tamis_ctx *ctx = NULL;
    tamis_ctx_options o = {.device = "cuda:0,1,2", .threads = 2, .log = keep_log};
    test_picture src;
    (void)state;
    test_picture_make(&src, rgba, 12, 9, TEST_ROWS_TIGHT);
    setenv("TAMIS_EMULATE_UNLIKE", "1", 1);
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_ERR_UNSUPPORTED);
    assert_non_null(strstr(log_text, "cuda:0,1: emulated device 0 (compute capability 9.0) and "
                                     "emulated device 1 (8.0) are not alike"));
    ctx = open_ctx("cuda:0,2");
    tamis_ctx_free(&ctx);
    ctx = open_ctx("cuda:1");
    tamis_ctx_free(&ctx);
    ctx = open_ctx("cuda:all");
    assert_non_null(strstr(log_text, "without cuda:1, emulated device 1"));
    unsetenv("TAMIS_EMULATE_UNLIKE");
    tamis_plan *plan = plan_of(ctx, chain, &src.image, 0);
    assert_string_equal(tamis_plan_device(plan), "cuda:0,2");
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
}

/* Pictures that are on a device are filtered there. */
static void test_there(void **state)
{
    test_picture src, want;
    tamis_image a[3], b[3];
    (void)state;
    test_picture_make(&src, rgba, 70, 50, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 10);
    run_on("cuda:0", chain, &src.image, 0, &want);
    tamis_ctx *ctx = open_ctx("cuda:0,2");
    tamis_plan *plan = plan_of(ctx, chain, &src.image, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tamis_image_create_on_device(ctx, i, rgba, 70, 50, &a[i]), TAMIS_OK);
        assert_int_equal(tamis_image_create_on_device(ctx, i, rgba, 70, 50, &b[i]), TAMIS_OK);
        for (int y = 0; y < 50; y++)
            memcpy(tamis_image_row(&a[i], 0, y), tamis_image_row(&src.image, 0, y), 280);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tamis_plan_run(plan, &a[i], &b[i], NULL),
                         i == 1 ? TAMIS_ERR_ARGUMENT : TAMIS_OK);
        for (int y = 0; y < 50 && i != 1; y++)
            assert_memory_equal(tamis_image_row(&b[i], 0, y), tamis_image_row(&want.image, 0, y),
                                280);
    }
    assert_non_null(strstr(log_text, "memory of device 1, but the plan is for cuda:0,2"));
    assert_int_equal(tamis_plan_run(plan, &a[0], &b[2], NULL), TAMIS_ERR_ARGUMENT);
    tamis_plan_free(&plan);
    for (int i = 0; i < 3; i++) {
        tamis_image_unref(&a[i]);
        tamis_image_unref(&b[i]);
    }
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&want);
}

int main(void)
{
    if (!getenv("TAMIS_CUDA_MODULE")) {
        printf("skipped: no emulated devices\n");
        return 77;
    }
    setenv("TAMIS_EMULATE_DEVICES", "3", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_bands_share_memory),
        cmocka_unit_test(test_bands_wait),
        cmocka_unit_test(test_whole_or_nothing),
        cmocka_unit_test(test_unlike),
        cmocka_unit_test(test_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
