/* SPDX-License-Identifier: Apache-2.0 */
/* A program with decimal commas gives and gets the same texts as every other. */
#include <locale.h>

#include "unit.h"

static const char *const comma_locales[] = {
    "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR", "nl_NL.UTF-8"};

/* Chooses a locale that writes 1,5; 0 when this machine has none. */
static int choose_commas(void)
{
    for (size_t i = 0; i < sizeof comma_locales / sizeof *comma_locales; i++) {
        char text[8];
        if (!setlocale(LC_ALL, comma_locales[i]))
            continue;
        snprintf(text, sizeof text, "%.1f", 1.5);
        if (strcmp(text, "1,5") == 0)
            return 1;
    }
    print_message("skipped: no locale with decimal commas, such as de_DE.UTF-8\n");
    return 0;
}

/* The test's own program still has its commas. */
static void still_commas(void)
{
    char text[8];
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
}

static void chains_have_points(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    const char *chain = "gaussian=sigma=2.5:border=constant:border_value=12.5%";
    tamis_graph *graph;
    char buf[128];

    (void)state;
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    tamis_graph_print(graph, buf, sizeof buf);
    assert_string_equal(buf, chain);
    tamis_graph_free(&graph);
    assert_int_equal(tamis_graph_parse(ctx, "gaussian=sigma=1e400", &graph), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "0.");
    tamis_ctx_free(&ctx);
    still_commas();
}

static void parameters_have_points(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    const tamis_filter *f = tamis_filter_find("gaussian");
    double params[UNIT_PARAMS / sizeof(double)];
    char buf[64];

    (void)state;
    tamis_filter_defaults(f, params);
    assert_int_equal(tamis_filter_set(ctx, f, params, "sigma", "0.1234567890123"), TAMIS_OK);
    tamis_filter_get(f, params, "sigma", buf, sizeof buf);
    assert_string_equal(buf, "0.1234567890123");
    assert_int_equal(tamis_filter_set(ctx, f, params, "sigma", "2,5"), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "2,5"); /* as given */
    tamis_ctx_free(&ctx);
    still_commas();
}

static void messages_and_plans_have_points(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_format gray = {.type = TAMIS_U8, .channels = 1};
    tamis_graph *graph;
    tamis_plan *plan;
    char text[1024];

    (void)state;
    tamis_ctx_fail(ctx, TAMIS_ERR_READ, "%g", 1.5);
    assert_string_equal(tamis_ctx_last_message(ctx, text, sizeof text), "1.5");
    assert_int_equal(tamis_graph_parse(ctx, "gaussian", &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, gray, 40, 30, NULL, &plan), TAMIS_OK);
    tamis_plan_explain(plan, text, sizeof text);
    const char *memory = strstr(text, "iB of buffers");
    assert_non_null(memory);
    *(char *)memory = '\0';
    assert_non_null(strrchr(text, '.'));
    assert_null(strchr(strrchr(text, '.'), ','));
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    still_commas();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_have_points),
        cmocka_unit_test(parameters_have_points),
        cmocka_unit_test(messages_and_plans_have_points),
    };
    enum { SKIPPED = 77 }; /* ctest is told so */
    if (!choose_commas())
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
