/* SPDX-License-Identifier: Apache-2.0 */
/* Chain text to graphs and back. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"

static void print_is(tamis_ctx *ctx, const char *text, const char *want)
{
    tamis_graph *graph;
    char buf[512];

    if (tamis_graph_parse(ctx, text, &graph) != TAMIS_OK)
        fail_msg("'%s': %s", text, tamis_ctx_last_message(ctx, buf, sizeof buf));
    assert_int_equal(tamis_graph_print(graph, buf, sizeof buf), strlen(want));
    assert_string_equal(buf, want);
    tamis_graph_free(&graph);
    assert_null(graph);
}

/* A text for the parameter that differs from its default and prints as itself. */
static void other_value(const tamis_param *p, char *buf, size_t size)
{
    double v;
    switch (p->type) {
    case TAMIS_PARAM_CHOICE:
        snprintf(buf, size, "%s", p->choices[p->def == 0 && p->max > 0]);
        break;
    case TAMIS_PARAM_SIZE:
        snprintf(buf, size, "7x5");
        break;
    case TAMIS_PARAM_VALUE:
        snprintf(buf, size, "12.5%%");
        break;
    case TAMIS_PARAM_NUMBERS:
        for (int i = 0; i < p->most; i++)
            snprintf(buf + strlen(buf), size - strlen(buf), "%s%.3g", i ? "," : "",
                     fmax(p->min, fmin(p->max, i + 1.25)));
        break;
    case TAMIS_PARAM_MATRIX:
        snprintf(buf, size, "0,-1.5,2;3,4e-05,1");
        break;
    default:
        v = p->def + (p->odd ? 2 : 1);
        v = v >= p->min && v <= p->max ? v : p->min; /* the default may be "auto", outside */
        snprintf(buf, size, "%.17g", v);
    }
}

static void every_filter_round_trips(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);

    (void)state;
    for (int f = 0; f < tamis_filter_count(); f++) {
        const char *name = tamis_filter_name(tamis_filter_at(f));
        int count;
        const tamis_param *params = tamis_filter_params(tamis_filter_at(f), &count);
        char all[1024], twice[2100];
        print_is(ctx, name, name);
        snprintf(all, sizeof all, "%s", name);
        for (int i = 0; i < count; i++) {
            char value[64] = "", one[256];
            size_t used = strlen(all);
            other_value(&params[i], value, sizeof value);
            snprintf(one, sizeof one, "%s=%s=%s", name, params[i].name, value);
            print_is(ctx, one, one);
            snprintf(all + used, sizeof all - used, "%s%s=%s", i ? ":" : "=", params[i].name,
                     value);
        }
        if (strlen(all) < 500)
            print_is(ctx, all, all);
        snprintf(twice, sizeof twice, "%s,%s", name, name);
        print_is(ctx, twice, twice);
    }
    tamis_ctx_free(&ctx);
}

static void white_space_is_skipped(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    (void)state;
    print_is(ctx, " \t gaussian = sigma = 2.5 :\n ksize = 7x5 , gaussian\n",
             "gaussian=sigma=2.5:ksize=7x5,gaussian");
    print_is(ctx, "", "");
    print_is(ctx, "  ", "");
    print_is(ctx, "gaussian=sigma=2 ,median", "gaussian=sigma=2,median");
    tamis_ctx_free(&ctx);
}

static void mistakes_show_their_place(void **state)
{
    static const char *const bad[] = {"gaussian=",
                                      "gaussian=sigma",
                                      "gaussian=sigma=",
                                      "gaussian=sigma=2:",
                                      "gaussian,",
                                      ",gaussian",
                                      "gaussian,,gaussian",
                                      "gaussian=:sigma=2",
                                      "gaussian=sigma==2",
                                      "gaussian=sigma=2 3",
                                      "gaussian sigma=2",
                                      "gaussian:sigma=2",
                                      "=",
                                      ":",
                                      "gaussian=sigma=x",
                                      "gaussian=nosuch=2",
                                      "nosuch",
                                      "nosuch=sigma=2",
                                      "gaussian=sigma=-1",
                                      "gaussian=ksize=4",
                                      "gaussian=sigma=2,",
                                      "gaussian=sigma=1e400"};
    tamis_ctx *ctx = unit_ctx(1);
    char text[700];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_graph *graph;
        size_t bytes = tamis_ctx_bytes(ctx);
        if (tamis_graph_parse(ctx, bad[i], &graph) != TAMIS_ERR_ARGUMENT)
            fail_msg("'%s' is accepted", bad[i]);
        assert_null(graph);
        assert_int_equal(tamis_ctx_bytes(ctx), bytes);
        assert_true(tamis_ctx_last_message(ctx, text, sizeof text)[0] != '\0');
    }
    memset(text, 'a', sizeof text - 1); /* a name far too long */
    text[sizeof text - 1] = '\0';
    tamis_graph *graph;
    assert_int_equal(tamis_graph_parse(ctx, text, &graph), TAMIS_ERR_ARGUMENT);
    tamis_ctx_free(&ctx);
}

static void parameters_are_given_once(void **state)
{
    static const char *const twice[] = {"gaussian=sigma=2:sigma=2",
                                        "gaussian=sigma=1:ksize=3: sigma =2",
                                        "gaussian=sigma=auto:border=wrap:sigma=3,gaussian",
                                        "gaussian,gaussian=ksize=3:sigma=1:ksize=5:sigma=2"};
    tamis_ctx *ctx = unit_ctx(1);

    (void)state;
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        tamis_graph *graph;
        assert_int_equal(tamis_graph_parse(ctx, twice[i], &graph), TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, i < 3 ? "gaussian: sigma is given twice" : "ksize is given twice");
    }
    print_is(ctx, "gaussian=sigma=2,gaussian=sigma=2", "gaussian=sigma=2,gaussian=sigma=2");
    print_is(ctx, "gaussian=sigma=2:sigma_x=3", "gaussian=sigma=2:sigma_x=3");
    tamis_ctx_free(&ctx);
}

static void short_buffers_are_safe(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    const char *text = "gaussian=sigma=2.5:ksize=7x5";
    tamis_graph *graph;
    char buf[64];

    (void)state;
    assert_int_equal(tamis_graph_parse(ctx, text, &graph), TAMIS_OK);
    for (size_t size = 0; size <= strlen(text) + 1; size++) {
        memset(buf, '#', sizeof buf);
        assert_int_equal(tamis_graph_print(graph, buf, size), strlen(text));
        assert_int_equal(buf[size], '#');
        if (size) {
            assert_int_equal(strlen(buf), size - 1);
            assert_memory_equal(buf, text, size - 1);
        }
    }
    assert_int_equal(tamis_graph_print(graph, NULL, 0), strlen(text));
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

static void graphs_from_structs(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    const tamis_filter *f = tamis_filter_find("gaussian");
    double params[UNIT_PARAMS / sizeof(double)];
    tamis_graph *graph;
    char buf[128];

    (void)state;
    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    tamis_filter_defaults(f, params);
    assert_int_equal(tamis_filter_set(ctx, f, params, "sigma", "3"), TAMIS_OK);
    for (int i = 0; i < 9; i++)
        assert_int_equal(tamis_graph_add(graph, f, i % 2 ? NULL : params), TAMIS_OK);
    tamis_filter_set(ctx, f, params, "sigma", "4"); /* the graph has its own copy */
    assert_int_equal(tamis_graph_size(graph), 9);
    assert_ptr_equal(tamis_graph_filter(graph, 8), f);
    assert_null(tamis_graph_filter(graph, 9));
    assert_null(tamis_graph_filter(graph, -1));
    tamis_filter_get(f, tamis_graph_params(graph, 8), "sigma", buf, sizeof buf);
    assert_string_equal(buf, "3");
    assert_int_equal(tamis_graph_add(graph, NULL, NULL), TAMIS_ERR_ARGUMENT);
    tamis_graph_free(&graph);
    tamis_graph_free(&graph);
    tamis_graph_free(NULL);
    tamis_ctx_free(&ctx);
}

static void chains_are_not_endless(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_graph *graph;

    (void)state;
    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    for (int i = 0; i < TAMIS_GRAPH_MAX_SIZE; i++)
        assert_int_equal(tamis_graph_add(graph, tamis_filter_at(0), NULL), TAMIS_OK);
    assert_int_equal(tamis_graph_add(graph, tamis_filter_at(0), NULL), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "256");
    assert_int_equal(tamis_graph_size(graph), TAMIS_GRAPH_MAX_SIZE);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_not_endless), cmocka_unit_test(every_filter_round_trips),
        cmocka_unit_test(white_space_is_skipped), cmocka_unit_test(mistakes_show_their_place),
        cmocka_unit_test(short_buffers_are_safe), cmocka_unit_test(parameters_are_given_once),
        cmocka_unit_test(graphs_from_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
