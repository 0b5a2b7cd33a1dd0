/* SPDX-License-Identifier: Apache-2.0 */
/* NULL in place of what must be there: refused with ARGUMENT, or nothing to see. */
#include <math.h>

#include "unit.h"

/* The call is refused, and the context's message names the argument. */
#define refused(call, argument)                                                                    \
    do {                                                                                           \
        assert_int_equal(call, TAMIS_ERR_ARGUMENT);                                                \
        unit_message_has(ctx, argument " is NULL");                                                \
    } while (0)
/* Without a context there is nobody to tell. */
#define refused_silently(call) assert_int_equal(call, TAMIS_ERR_ARGUMENT)

typedef struct things {
    tamis_ctx *ctx;
    const tamis_filter *filter;
    tamis_graph *graph;
    tamis_plan *plan;
    tamis_image src, dst;
    double params[UNIT_PARAMS / sizeof(double)];
} things;

static const tamis_format gray = {.type = TAMIS_U8, .channels = 1};

static things make(void)
{
    things t = {.ctx = unit_ctx(1), .filter = tamis_filter_find("gaussian")};
    tamis_filter_defaults(t.filter, t.params);
    assert_int_equal(tamis_graph_parse(t.ctx, "gaussian", &t.graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(t.ctx, t.graph, gray, 9, 7, NULL, &t.plan), TAMIS_OK);
    assert_int_equal(tamis_image_create(t.ctx, gray, 9, 7, &t.src), TAMIS_OK);
    assert_int_equal(tamis_image_create(t.ctx, gray, 9, 7, &t.dst), TAMIS_OK);
    memset(t.src.data[0], 7, 7 * (size_t)t.src.stride[0]);
    return t;
}

static void drop(things *t)
{
    tamis_image_unref(&t->src);
    tamis_image_unref(&t->dst);
    tamis_plan_free(&t->plan);
    tamis_graph_free(&t->graph);
    tamis_ctx_free(&t->ctx);
}

static void contexts(void **state)
{
    char buf[8] = "###";

    (void)state;
    refused_silently(tamis_ctx_create(NULL, NULL));
    tamis_ctx_free(NULL);
    assert_int_equal(tamis_ctx_threads(NULL), 0);
    tamis_ctx_occupy(NULL, 1);
    assert_string_equal(tamis_ctx_cpu(NULL), "");
    assert_string_equal(tamis_ctx_last_message(NULL, buf, sizeof buf), "");
    assert_null(tamis_ctx_last_message(NULL, NULL, 0));
    assert_int_equal(tamis_ctx_fail(NULL, TAMIS_ERR_READ, "x"), TAMIS_ERR_READ);
    tamis_ctx_log(NULL, TAMIS_LOG_INFO, "x");
    assert_int_equal(tamis_ctx_bytes(NULL), 0);
    assert_int_equal(tamis_ctx_peak_bytes(NULL), 0);
    tamis_ctx_each(NULL, 3, NULL, NULL);
}

static void images(void **state)
{
    things t = make();
    tamis_ctx *ctx = t.ctx;
    tamis_rect all = {0, 0, 9, 7};
    tamis_image out;

    (void)state;
    refused_silently(tamis_image_create(NULL, gray, 9, 7, &out));
    refused(tamis_image_create(ctx, gray, 9, 7, NULL), "out");
    tamis_image_ref(NULL);
    tamis_image_unref(NULL);
    refused_silently(tamis_image_view(NULL, &t.src, all, &out));
    refused(tamis_image_view(ctx, NULL, all, &out), "image");
    refused(tamis_image_view(ctx, &t.src, all, NULL), "out");
    refused_silently(tamis_image_check(NULL, &t.src));
    refused(tamis_image_check(ctx, NULL), "image");
    assert_null(tamis_image_row(NULL, 0, 0));
    assert_int_equal(tamis_image_planes(NULL), 0);
    refused_silently(tamis_image_copy(NULL, &t.src, &t.dst));
    refused(tamis_image_copy(ctx, NULL, &t.dst), "image");
    refused(tamis_image_copy(ctx, &t.src, NULL), "image");
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    tamis_part_source source = {0};
    tamis_metrics metrics = {0};
    refused_silently(tamis_noise_estimate(NULL, &t.src, noise));
    refused(tamis_noise_estimate(ctx, NULL, noise), "image");
    refused(tamis_noise_estimate(ctx, &t.src, NULL), "noise");
    refused_silently(tamis_metrics_add(NULL, &t.src, &t.src, 0, 0, &metrics));
    refused(tamis_metrics_add(ctx, NULL, &t.src, 0, 0, &metrics), "image");
    refused(tamis_metrics_add(ctx, &t.src, NULL, 0, 0, &metrics), "image");
    refused(tamis_metrics_add(ctx, &t.src, &t.src, 0, 0, NULL), "metrics");
    assert_true(isnan(tamis_metrics_mse(NULL)) && isnan(tamis_metrics_ssim(NULL)));
    refused_silently(tamis_noise_estimate_parts(NULL, gray, 9, 7, &source, 0, noise));
    refused(tamis_noise_estimate_parts(ctx, gray, 9, 7, NULL, 0, noise), "source");
    refused(tamis_noise_estimate_parts(ctx, gray, 9, 7, &source, 0, noise), "read");
    drop(&t);
}

static void filters(void **state)
{
    things t = make();
    tamis_ctx *ctx = t.ctx;
    const tamis_filter *f = t.filter;
    tamis_kernel_info info;
    char buf[32] = "###";
    int count = 5;

    (void)state;
    assert_null(tamis_filter_find(NULL));
    assert_string_equal(tamis_filter_name(NULL), "");
    assert_string_equal(tamis_filter_brief(NULL), "");
    assert_null(tamis_filter_params(NULL, &count));
    assert_int_equal(count, 0);
    assert_non_null(tamis_filter_params(f, NULL));
    assert_int_equal(tamis_filter_params_size(NULL), 0);
    assert_int_equal(tamis_filter_max_inputs(NULL), 0);
    assert_int_equal(tamis_filter_min_inputs(NULL), 0);
    assert_int_equal(tamis_filter_kernel(NULL, 0, &info), 0);
    assert_int_equal(tamis_filter_kernel(f, 0, NULL), 0);
    tamis_filter_defaults(NULL, t.params);
    tamis_filter_defaults(f, NULL);
    refused_silently(tamis_filter_set(NULL, f, t.params, "sigma", "2"));
    refused(tamis_filter_set(ctx, NULL, t.params, "sigma", "2"), "filter");
    refused(tamis_filter_set(ctx, f, NULL, "sigma", "2"), "params");
    refused(tamis_filter_set(ctx, f, t.params, NULL, "2"), "name");
    refused(tamis_filter_set(ctx, f, t.params, "sigma", NULL), "text");
    refused_silently(tamis_filter_check(NULL, f, t.params));
    refused(tamis_filter_check(ctx, NULL, t.params), "filter");
    refused(tamis_filter_check(ctx, f, NULL), "params");
    assert_string_equal(tamis_filter_get(NULL, t.params, "sigma", buf, sizeof buf), "");
    assert_string_equal(tamis_filter_get(f, NULL, "sigma", buf, sizeof buf), "");
    assert_string_equal(tamis_filter_get(f, t.params, NULL, buf, sizeof buf), "");
    assert_null(tamis_filter_get(f, t.params, "sigma", NULL, 0));
    refused_silently(tamis_filter_run(NULL, f, NULL, &t.src, &t.dst));
    refused(tamis_filter_run(ctx, NULL, NULL, &t.src, &t.dst), "filter");
    refused(tamis_filter_run(ctx, f, NULL, NULL, &t.dst), "image");
    refused(tamis_filter_run(ctx, f, NULL, &t.src, NULL), "dst");
    drop(&t);
}

static void graphs(void **state)
{
    things t = make();
    tamis_ctx *ctx = t.ctx;
    tamis_graph *out = (tamis_graph *)&t;
    char buf[8] = "###";

    (void)state;
    refused_silently(tamis_graph_create(NULL, &out));
    assert_null(out);
    refused(tamis_graph_create(ctx, NULL), "out");
    refused_silently(tamis_graph_parse(NULL, "gaussian", &out));
    refused(tamis_graph_parse(ctx, NULL, &out), "text");
    assert_null(out);
    refused(tamis_graph_parse(ctx, "gaussian", NULL), "out");
    refused_silently(tamis_graph_add(NULL, t.filter, NULL));
    refused(tamis_graph_add(t.graph, NULL, NULL), "filter");
    tamis_graph_free(NULL);
    assert_int_equal(tamis_graph_size(NULL), 0);
    assert_null(tamis_graph_filter(NULL, 0));
    assert_null(tamis_graph_params(NULL, 0));
    assert_int_equal(tamis_graph_print(NULL, buf, sizeof buf), 0);
    assert_string_equal(buf, "");
    assert_int_equal(tamis_graph_print(t.graph, NULL, 99), strlen("gaussian"));
    drop(&t);
}

static void plans(void **state)
{
    things t = make();
    tamis_ctx *ctx = t.ctx;
    tamis_plan *out = (tamis_plan *)&t;
    tamis_rect all = {0, 0, 9, 7};
    int32_t w = 5, h = 5;
    char buf[8] = "###";

    (void)state;
    refused_silently(tamis_plan_create(NULL, t.graph, gray, 9, 7, NULL, &out));
    assert_null(out);
    refused(tamis_plan_create(ctx, NULL, gray, 9, 7, NULL, &out), "graph");
    refused(tamis_plan_create(ctx, t.graph, gray, 9, 7, NULL, NULL), "out");
    tamis_plan_free(NULL);
    assert_int_equal(tamis_plan_format(NULL).channels, 0);
    tamis_plan_size(NULL, &w, &h);
    assert_true(w == 0 && h == 0);
    assert_int_equal(tamis_plan_halo(NULL).left, 0);
    refused_silently(tamis_plan_need(NULL, all, &all));
    refused(tamis_plan_need(t.plan, all, NULL), "out");
    refused_silently(tamis_plan_need_guide(NULL, all, &all));
    refused(tamis_plan_need_guide(t.plan, all, NULL), "out");
    refused_silently(tamis_plan_run_parts(NULL, &(tamis_parts){0}, NULL));
    refused(tamis_plan_run_parts(t.plan, NULL, NULL), "parts");
    assert_int_equal(tamis_plan_frames(NULL), 0);
    assert_int_equal(tamis_plan_bytes(NULL), 0);
    assert_true(tamis_plan_bytes(t.plan) > 0);
    assert_int_equal(tamis_plan_explain(NULL, buf, sizeof buf), 0);
    assert_string_equal(buf, "");
    assert_true(tamis_plan_explain(t.plan, NULL, 99) > 0);
    refused_silently(tamis_plan_run(NULL, &t.src, &t.dst, NULL));
    refused(tamis_plan_run(t.plan, NULL, &t.dst, NULL), "src");
    refused(tamis_plan_run(t.plan, &t.src, NULL, NULL), "dst");
    refused_silently(tamis_plan_run_region(NULL, &t.src, all, &t.dst, NULL));
    refused(tamis_plan_run_region(t.plan, NULL, all, &t.dst, NULL), "src");
    refused(tamis_plan_run_region(t.plan, &t.src, all, NULL, NULL), "dst");
    refused_silently(tamis_plan_run_many(NULL, &t.src, &t.dst, 1, NULL));
    refused(tamis_plan_run_many(t.plan, NULL, &t.dst, 1, NULL), "srcs");
    refused(tamis_plan_run_many(t.plan, &t.src, NULL, 1, NULL), "dsts");
    assert_int_equal(tamis_plan_run(t.plan, &t.src, &t.dst, NULL), TAMIS_OK);
    drop(&t);
}

static void streams(void **state)
{
    things t = make();
    tamis_ctx *ctx = t.ctx;
    tamis_stream *stream = NULL;
    tamis_stream_result r;

    (void)state;
    refused(tamis_stream_create(t.plan, NULL, NULL), "out");
    refused_silently(tamis_stream_create(NULL, NULL, &stream));
    assert_null(stream);
    refused_silently(tamis_stream_submit(NULL, &t.src, &t.dst, NULL, 0));
    refused_silently(tamis_stream_cut(NULL));
    refused_silently(tamis_stream_flush(NULL));
    refused_silently(tamis_stream_cancel(NULL));
    refused_silently(tamis_stream_poll(NULL, &r));
    refused_silently(tamis_stream_wait(NULL, 0, &r));
    assert_int_equal(tamis_stream_depth(NULL), 0);
    tamis_stream_free(NULL);
    tamis_stream_free(&stream);
    assert_int_equal(tamis_stream_create(t.plan, NULL, &stream), TAMIS_OK);
    refused(tamis_stream_submit(stream, NULL, &t.dst, NULL, 0), "src");
    refused(tamis_stream_submit(stream, &t.src, NULL, NULL, 0), "dst");
    refused(tamis_stream_poll(stream, NULL), "result");
    refused(tamis_stream_wait(stream, -1, NULL), "result");
    tamis_stream_free(&stream);
    drop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts), cmocka_unit_test(images), cmocka_unit_test(filters),
        cmocka_unit_test(graphs),   cmocka_unit_test(plans),  cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
