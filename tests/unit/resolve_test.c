/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that are chosen from a picture. */
#include <math.h>
#include <string.h>
#include <tamis/bilateral.h>
#include <tamis/canny.h>
#include <tamis/median.h>
#include <tamis/nlmeans.h>

#include "support/parts.h"
#include "support/picture.h"
#include "unit.h"

/* A slope with edges every 32 pixels, normal noise and a share of impulses, in 8-bit levels. */
static void make(test_picture *out, tamis_format format, int w, int h, double sigma, double share)
{
    test_rng rng = {11};
    double unit = tamis_type_range(format.type) / 255;
    test_picture_make(out, format, w, h, TEST_ROWS_ODD);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++) {
                double v = 80 + 60.0 * x / w + (x / 32 + y / 32) % 2 * 40, noise = -6;
                for (int i = 0; i < 12; i++)
                    noise += test_rng_unit(&rng);
                if (test_rng_unit(&rng) < share)
                    v = test_rng_unit(&rng) < 0.5 ? -999 : 999;
                v = fmin(255, fmax(0, v + sigma * noise));
                test_sample_set(&out->image, x, y, c, unit * v);
            }
}

static tamis_graph *parse(tamis_ctx *ctx, const char *text)
{
    tamis_graph *graph = NULL;
    assert_int_equal(tamis_graph_parse(ctx, text, &graph), TAMIS_OK);
    return graph;
}

static tamis_graph *resolve(tamis_ctx *ctx, const char *text, const tamis_image *image)
{
    tamis_graph *graph = parse(ctx, text), *out = NULL;
    assert_int_equal(tamis_graph_resolve(ctx, graph, image, NULL, &out), TAMIS_OK);
    assert_false(tamis_graph_is_open(out));
    tamis_graph_free(&graph);
    return out;
}

/* The text of what was chosen. */
static void chosen(tamis_ctx *ctx, const char *text, const tamis_image *image, char *buf,
                   size_t size)
{
    tamis_graph *graph = resolve(ctx, text, image);
    tamis_graph_print(graph, buf, size);
    tamis_graph_free(&graph);
}

static void test_text(void **state)
{
    static const char *const open[] = {"nlmeans=h=auto",    "nlmeans=patch=5:sigma=auto",
                                       "median=ksize=auto", "bilateral=sigma_color=auto",
                                       "canny=low=auto",    "box,canny=low=auto:high=auto"};
    static const char *const closed[] = {"", "nlmeans", "gaussian=sigma=auto", "resize=size=auto"};
    tamis_ctx *ctx = unit_ctx(1);
    char text[256];

    (void)state;
    for (int i = 0; i < 6; i++) {
        tamis_graph *graph = parse(ctx, open[i]);
        tamis_plan *plan = NULL;
        assert_true(tamis_graph_is_open(graph));
        tamis_graph_print(graph, text, sizeof text);
        assert_string_equal(text, open[i]);
        assert_int_equal(
            tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), 40, 40, NULL, &plan),
            TAMIS_ERR_ARGUMENT);
        assert_null(plan);
        unit_message_has(ctx, " = auto is chosen from a picture");
        tamis_graph_free(&graph);
    }
    for (int i = 0; i < 4; i++) {
        tamis_graph *graph = parse(ctx, closed[i]);
        assert_false(tamis_graph_is_open(graph));
        tamis_graph_free(&graph);
    }
    assert_false(tamis_graph_is_open(NULL));
    tamis_ctx_free(&ctx);
}

static void test_noise(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
        double unit = tamis_type_range((tamis_type)type) / 255;
        make(&picture, test_format((tamis_type)type, 3), 200, 160, 10, 0);
        tamis_graph *graph =
            resolve(ctx, "nlmeans=h=auto:sigma=auto:search=5:patch=3,bilateral=sigma_color=auto",
                    &picture.image);
        const struct tamis_nlmeans *n = tamis_graph_params(graph, 0);
        const struct tamis_bilateral *b = tamis_graph_params(graph, 1);
        assert_true(fabs(n->sigma.value / unit - 10) < 1 && !n->sigma.percent);
        assert_true(n->h.value > 0.2 * n->sigma.value && n->h.value < n->sigma.value);
        /* The first filter has left little. */
        assert_true(b->sigma_color.value / unit < 10 && b->sigma_color.value > 0);
        tamis_graph_free(&graph);
        graph = resolve(ctx, "bilateral=sigma_color=auto", &picture.image);
        b = tamis_graph_params(graph, 0);
        assert_true(b->sigma_color.value / unit > 20);
        tamis_graph_free(&graph);
        test_picture_free(&picture);
    }
    make(&picture, test_format(TAMIS_U8, 1), 300, 200, 0, 0);
    char text[128];
    chosen(ctx, "nlmeans=h=auto", &picture.image, text, sizeof text);
    assert_string_equal(text, "nlmeans=h=0");
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

static void test_impulses(void **state)
{
    static const double shares[] = {0, 0.03, 0.25, 0.4};
    static const char *const want[] = {"median=ksize=1", "median", "median=ksize=5",
                                       "median=ksize=7"};
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;
    char text[128];

    (void)state;
    for (int i = 0; i < 4; i++) {
        make(&picture, test_format(TAMIS_U8, 1), 400, 300, 3, shares[i]);
        chosen(ctx, "median=ksize=auto", &picture.image, text, sizeof text);
        assert_string_equal(text, want[i]);
        test_picture_free(&picture);
    }
    tamis_ctx_free(&ctx);
}

/* A strength that would be less than the least of nlmeans is none, and the chain has a plan. */
static void test_hardly_noisy(void **state)
{
    static const char *const chains[] = {"nlmeans=h=auto", "nlmeans=h=auto:sigma=auto", "denoise"};
    tamis_ctx *ctx = unit_ctx(1);
    test_picture picture;
    test_rng rng = {3};
    tamis_plan *plan = NULL;

    (void)state;
    test_picture_make(&picture, test_format(TAMIS_F32, 1), 200, 160, TEST_ROWS_TIGHT);
    for (int y = 0; y < 160; y++)
        for (int x = 0; x < 200; x++)
            test_sample_set(&picture.image, x, y, 0, 1e-8 + 1e-10 * test_rng_unit(&rng));
    for (int i = 0; i < 3; i++) {
        tamis_graph *graph = resolve(ctx, chains[i], &picture.image);
        const struct tamis_nlmeans *n = tamis_graph_params(graph, 0);
        assert_true(n->h.value == 0);
        assert_true(i == 0 || n->sigma.value > 0);
        assert_int_equal(tamis_plan_create(ctx, graph, picture.image.format, 200, 160, NULL, &plan),
                         TAMIS_OK);
        tamis_plan_free(&plan);
        tamis_graph_free(&graph);
    }
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* Thresholds lie between the noise's slopes and the edges'. */
static void test_slopes(void **state)
{
    static const char *const chains[] = {
        "canny=low=auto:high=auto", "canny=low=auto:high=auto:norm=l1:color=separate",
        "canny=low=auto:high=auto:ksize=7:sigma=1", "canny=low=auto:high=auto:alpha=ignore"};
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int i = 0; i < 4; i++) {
            tamis_format format = {(tamis_type)type, i < 3 ? 1 : 4, TAMIS_PACKED,
                                   i < 3 ? TAMIS_ALPHA_NONE : TAMIS_ALPHA_STRAIGHT};
            double unit = tamis_type_range((tamis_type)type) / 255 * (i == 2 ? 160 : 1);
            make(&picture, format, 300, 200, 3, 0);
            tamis_graph *graph = resolve(ctx, chains[i], &picture.image);
            const struct tamis_canny *c = tamis_graph_params(graph, 0);
            assert_true(c->high.value > 3 * 3.46 * 0.6 * unit && c->high.value < 160 * unit);
            assert_true(fabs(c->low.value / c->high.value - 0.4) < 0.001);
            tamis_graph_free(&graph);
            test_picture_free(&picture);
        }
    make(&picture, test_format(TAMIS_U8, 1), 300, 200, 3, 0);
    char text[128];
    chosen(ctx, "canny=low=auto:high=50", &picture.image, text, sizeof text);
    assert_string_equal(text, "canny=low=20:high=50");
    chosen(ctx, "canny=low=500:high=auto", &picture.image, text, sizeof text);
    assert_string_equal(text, "canny=low=500:high=500");
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* Whole and by parts, on any number of threads: the same choice. */
static void test_same_in_parts(void **state)
{
    static const char *const chains[] = {
        "nlmeans=h=auto:sigma=auto", "median,bilateral=sigma_color=auto",
        "resize=size=200x100,median=ksize=auto,canny=low=auto:high=auto", "gaussian"};
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 3), 310, 240, 8, 0.02);
    for (int i = 0; i < 4; i++) {
        char want[256], got[256];
        for (int threads = 1; threads <= 3; threads++) {
            tamis_ctx *ctx = unit_ctx(threads);
            chosen(ctx, chains[i], &picture.image, threads == 1 ? want : got, sizeof got);
            if (threads > 1)
                assert_string_equal(got, want);
            test_store store = {.ctx = ctx, .image = &picture.image};
            tamis_part_source source = {test_store_read, &store, 0, 0};
            tamis_graph *graph = parse(ctx, chains[i]), *out = NULL;
            assert_int_equal(tamis_graph_resolve_parts(ctx, graph, picture.image.format, 310, 240,
                                                       &source, 20000, NULL, &out),
                             TAMIS_OK);
            tamis_graph_print(out, got, sizeof got);
            assert_string_equal(got, want);
            tamis_graph_free(&out);
            tamis_graph_free(&graph);
            tamis_ctx_free(&ctx);
        }
    }
    test_picture_free(&picture);
}

static void test_failures(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;
    int stop = 0;
    tamis_run_options options = {.cancel = &stop};

    (void)state;
    make(&picture, test_format(TAMIS_U8, 1), 100, 80, 3, 0);
    tamis_graph *graph = parse(ctx, "median,nlmeans=h=auto:search=5,canny=low=auto"), *out = graph;
    test_store store = {.ctx = ctx, .image = &picture.image, .fail_at = 1};
    tamis_part_source source = {test_store_read, &store, 0, 0};
    assert_int_equal(tamis_graph_resolve_parts(ctx, graph, picture.image.format, 100, 80, &source,
                                               0, NULL, &out),
                     TAMIS_ERR_READ);
    assert_null(out);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    assert_int_equal(tamis_graph_resolve(ctx, graph, &picture.image, &options, &out),
                     TAMIS_ERR_CANCELED);
    assert_null(out);
    tamis_graph_free(&graph);
    graph = parse(ctx, "canny=low=auto:color=luma");
    test_picture_free(&picture);
    make(&picture, test_format(TAMIS_U8, 2), 100, 80, 3, 0);
    assert_int_equal(tamis_graph_resolve(ctx, graph, &picture.image, NULL, &out),
                     TAMIS_ERR_UNSUPPORTED);
    tamis_graph_free(&graph);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* One call does it all. */
static void test_filter_run(void **state)
{
    const tamis_filter *filter = tamis_filter_find("nlmeans");
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture, result;
    struct tamis_nlmeans params;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 1), 100, 80, 8, 0);
    test_picture_make(&result, picture.image.format, 100, 80, TEST_ROWS_TIGHT);
    tamis_filter_defaults(filter, &params);
    params.h = (tamis_value){.value = TAMIS_AUTO};
    params.search = params.patch = (tamis_size){5, 5};
    assert_int_equal(tamis_filter_run(ctx, filter, &params, &picture.image, &result.image),
                     TAMIS_OK);
    test_picture_free(&result);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_noise),
        cmocka_unit_test(test_impulses),      cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_same_in_parts), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_filter_run),    cmocka_unit_test(test_hardly_noisy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
