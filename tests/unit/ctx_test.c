/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: options, messages, logging. */
#include <stdlib.h>

#include "unit.h"

typedef struct lines {
    int count;
    char last[600];
} lines;

static void remember(void *user, tamis_log_level level, const char *text)
{
    lines *l = user;
    (void)level;
    l->count++;
    snprintf(l->last, sizeof l->last, "%s", text);
}

static void defaults(void **state)
{
    tamis_ctx *ctx;

    (void)state;
    assert_int_equal(tamis_ctx_create(NULL, &ctx), TAMIS_OK);
    assert_true(tamis_ctx_threads(ctx) >= 1);
    assert_true(tamis_ctx_cpu(ctx)[0] != '\0');
    char buf[8] = "###";
    assert_string_equal(tamis_ctx_last_message(ctx, buf, sizeof buf), "");
    tamis_ctx_free(&ctx);
    assert_null(ctx);
    tamis_ctx_free(&ctx);
    tamis_ctx_free(NULL);
    assert_string_equal(tamis_version(), TAMIS_VERSION_STRING);
    assert_string_equal(tamis_version(), TEST_BUILD_VERSION); /* of the .so and the .pc file */
}

static void bad_options_are_logged(void **state)
{
    static const int threads[] = {-1, 1025, 2147483647};
    static const char *const cpus[] = {"avx3", "AVX2", "none", "c ", "avx512 "};
    lines log = {0};
    tamis_ctx *ctx;

    (void)state;
    for (int i = 0; i < 3; i++) {
        tamis_ctx_options o = {.threads = threads[i], .log = remember, .log_user = &log};
        char number[16];
        ctx = (tamis_ctx *)&log;
        assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_ERR_ARGUMENT);
        assert_null(ctx);
        snprintf(number, sizeof number, "%d", threads[i]);
        assert_non_null(strstr(log.last, number));
        assert_non_null(strstr(log.last, "1024"));
    }
    for (int i = 0; i < 5; i++) {
        tamis_ctx_options o = {.cpu = cpus[i], .log = remember, .log_user = &log};
        log.count = 0;
        assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_ERR_ARGUMENT);
        assert_int_equal(log.count, 1);
    }
}

static void environment_chooses_the_cpu(void **state)
{
    tamis_ctx_options o = {.cpu = "base"};
    tamis_ctx *ctx;

    (void)state;
    assert_int_equal(setenv("TAMIS_CPU", "c", 1), 0);
    assert_int_equal(tamis_ctx_create(NULL, &ctx), TAMIS_OK);
    assert_string_equal(tamis_ctx_cpu(ctx), "c");
    tamis_ctx_free(&ctx);
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK); /* the program's word counts more */
    assert_string_equal(tamis_ctx_cpu(ctx), "base");
    tamis_ctx_free(&ctx);
    setenv("TAMIS_CPU", "z80", 1);
    assert_int_equal(tamis_ctx_create(NULL, &ctx), TAMIS_ERR_ARGUMENT);
    lines log = {0};
    o = (tamis_ctx_options){.log = remember, .log_user = &log};
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(log.last, "TAMIS_CPU = \"z80\""));
    o.cpu = "6502"; /* then the variable is not to blame */
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_ERR_ARGUMENT);
    assert_ptr_equal(strstr(log.last, "cpu = \"6502\""), log.last);
    unsetenv("TAMIS_CPU");
}

static void messages_are_cut_and_logged(void **state)
{
    lines log = {0};
    tamis_ctx_options o = {.threads = 3, .log = remember, .log_user = &log};
    tamis_graph *graph;
    tamis_ctx *ctx;
    char whole[600], cut[9];

    (void)state;
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK);
    assert_int_equal(tamis_ctx_threads(ctx), 3);
    assert_int_equal(tamis_graph_parse(ctx, "nosuchfilter=a=1", &graph), TAMIS_ERR_ARGUMENT);
    assert_int_equal(log.count, 1);
    tamis_ctx_last_message(ctx, whole, sizeof whole);
    assert_string_equal(whole, log.last);
    assert_non_null(strstr(whole, "nosuchfilter"));
    memset(cut, '#', sizeof cut);
    assert_ptr_equal(tamis_ctx_last_message(ctx, cut, 8), cut);
    assert_int_equal(strlen(cut), 7);
    assert_int_equal(cut[8], '#');
    assert_memory_equal(cut, whole, 7);
    tamis_ctx_free(&ctx);
}

/* Amounts below a MiB are no "0.1 MiB". */
static void amounts_have_fitting_units(void **state)
{
    static const struct {
        size_t limit;
        const char *text;
    } rows[] = {{900, "limit is 900 bytes"},         {1, "limit is 1 byte"},
                {1024, "limit is 1.0 KiB"},          {100 << 10, "limit is 100.0 KiB"},
                {(1 << 20) - 1, "limit is 1.0 MiB"}, {(1 << 20) * 5 / 2, "limit is 2.5 MiB"}};
    tamis_format gray = {.type = TAMIS_U8, .channels = 1};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_ctx_options o = {.threads = 1, .max_bytes = rows[i].limit};
        tamis_image image;
        tamis_ctx *ctx;
        assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK);
        assert_int_equal(tamis_image_create(ctx, gray, 64, 50000, &image), TAMIS_ERR_LIMIT);
        unit_message_has(ctx, "needs 3.1 MiB");
        unit_message_has(ctx, rows[i].text);
        tamis_ctx_free(&ctx);
    }
}

static void count_item(void *user, int64_t index)
{
    int *counts = user;
    counts[index]++; /* no two threads have the same item */
}

static void each_item_is_done_once(void **state)
{
    int counts[500] = {0};
    tamis_ctx *ctx = unit_ctx(3);

    (void)state;
    tamis_ctx_each(ctx, 0, count_item, counts);
    tamis_ctx_each(ctx, 500, count_item, counts);
    for (int i = 0; i < 500; i++)
        assert_int_equal(counts[i], 1);
    tamis_ctx_free(&ctx);
}

static void statuses_have_names(void **state)
{
    (void)state;
    for (int a = TAMIS_OK; a <= TAMIS_ERR_AGAIN; a++)
        for (int b = TAMIS_OK; b < a; b++)
            assert_string_not_equal(tamis_status_name((tamis_status)a),
                                    tamis_status_name((tamis_status)b));
    assert_non_null(tamis_status_name((tamis_status)1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(bad_options_are_logged),
        cmocka_unit_test(environment_chooses_the_cpu),
        cmocka_unit_test(messages_are_cut_and_logged),
        cmocka_unit_test(amounts_have_fitting_units),
        cmocka_unit_test(each_item_is_done_once),
        cmocka_unit_test(statuses_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
