/* SPDX-License-Identifier: Apache-2.0 */
/* denoise: what it chooses, and the errors that it chooses by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/nlmeans.h>

#include "cpu/picture.h"
#include "graph/risk.h"
#include "support/parts.h"
#include "support/picture.h"
#include "unit.h"

/* ---- pictures, in 8-bit levels; all have flat places to see the noise in */

enum scene { SLOPE, TEXTURE, EDGES, DARK };

static double level_at(enum scene scene, int x, int y, int c)
{
    if (scene == SLOPE)
        return 90 + 0.6 * x + 0.4 * y + 10 * c;
    if (scene == TEXTURE) /* leaves in the sun: no two places are alike */
        return 90 + 10 * c + (x < 32 ? 0 : (x * 7919 + y * 104729 + x * y * 31) % 97 * 0.9);
    if (scene == DARK) /* with black dots */
        return x >= 24 && (3 * x + 5 * y) % 21 == 0 ? 0 : 45;
    return 80 + 10 * c + (x / 9 + y / 7) % 2 * 60 + (x / 20 + y / 16) % 3 * 15;
}

static double normal(test_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += test_rng_unit(rng);
    return sum;
}

/* Noise of deviation sigma, of which the colors have a share of the variance in common. */
typedef struct grain {
    double sigma, shared, impulses;
} grain;

static void make(test_picture *out, tamis_format format, int w, int h, enum scene scene, grain n)
{
    test_rng rng = {5};
    double unit = tamis_type_range(format.type) / 255;
    test_picture_make(out, format, w, h, TEST_ROWS_ODD);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double common = n.shared > 0 ? sqrt(n.shared) * normal(&rng) : 0;
            for (int c = 0; c < format.channels; c++) {
                double own = sqrt(1 - n.shared) * normal(&rng);
                double v = level_at(scene, x, y, c) + n.sigma * (common + own);
                if (test_rng_unit(&rng) < n.impulses)
                    v = test_rng_unit(&rng) < 0.5 ? 0 : 255;
                test_sample_set(&out->image, x, y, c, unit * fmin(255, fmax(0, v)));
            }
        }
}

/* The mean squared distance of a result from the clean picture, in 8-bit levels. */
static double error_of(const tamis_image *image, enum scene scene)
{
    double sum = 0, unit = tamis_type_range(image->format.type) / 255;
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            for (int c = 0; c < image->format.channels; c++) {
                double d = test_sample_get(image, x, y, c) / unit - level_at(scene, x, y, c);
                sum += d * d;
            }
    return sum / ((double)image->w * image->h * image->format.channels);
}

/* ---- chains */

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

static double error_left(tamis_ctx *ctx, const tamis_graph *graph, const tamis_image *image,
                         enum scene scene)
{
    tamis_plan *plan = NULL;
    test_picture result;
    test_picture_make(&result, image->format, image->w, image->h, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_plan_create(ctx, graph, image->format, image->w, image->h, NULL, &plan),
                     TAMIS_OK);
    assert_int_equal(tamis_plan_run(plan, image, &result.image, NULL), TAMIS_OK);
    double error = error_of(&result.image, scene);
    tamis_plan_free(&plan);
    test_picture_free(&result);
    return error;
}

static double error_of_chain(tamis_ctx *ctx, const char *text, const tamis_image *image,
                             enum scene scene)
{
    tamis_graph *graph = resolve(ctx, text, image);
    double error = error_left(ctx, graph, image, scene);
    tamis_graph_free(&graph);
    return error;
}

/* ---- tests */

/* Either scene wants another filter, and gets one that leaves at most 0.3 dB more than the best of
 * these. That no single one of them would do shows that the choice matters. */
static void test_choice(void **state)
{
    enum { CHAINS = 9 };
    static const char *const chains[CHAINS] = {
        "gaussian=sigma=0.5",
        "gaussian=sigma=1",
        "gaussian=sigma=2",
        "bilateral=sigma_space=1:sigma_color=30",
        "bilateral=sigma_space=2:sigma_color=60",
        "nlmeans=h=5:sigma=12:patch=3:search=11",
        "nlmeans=h=9:sigma=12:patch=3:search=11",
        "nlmeans=h=9:sigma=12:patch=3",
        "nlmeans=h=9:sigma=12:patch=5:search=11",
    };
    tamis_ctx *ctx = unit_ctx(2);
    double worst[CHAINS] = {0}, near = pow(10, 0.03);
    test_picture picture;

    (void)state;
    for (enum scene scene = SLOPE; scene <= TEXTURE; scene++) {
        double errors[CHAINS], best = INFINITY;
        make(&picture, test_format(TAMIS_U8, 1), 96, 64, scene, (grain){.sigma = 12});
        for (int i = 0; i < CHAINS; i++) {
            errors[i] = error_of_chain(ctx, chains[i], &picture.image, scene);
            best = fmin(best, errors[i]);
        }
        for (int i = 0; i < CHAINS; i++)
            worst[i] = fmax(worst[i], errors[i] / best);
        double error = error_of_chain(ctx, "denoise", &picture.image, scene);
        print_message("scene %d: best %.2f, denoise %.2f\n", (int)scene, best, error);
        assert_true(error < near * best);
        test_picture_free(&picture);
    }
    for (int i = 0; i < CHAINS; i++)
        assert_true(worst[i] > near);
    tamis_ctx_free(&ctx);
}

/* A filter that stands for others; strengths scale what it chooses. */
static void test_stands_for(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    tamis_plan *plan = NULL;
    test_picture picture;
    char text[256];

    (void)state;
    tamis_graph *graph = parse(ctx, "denoise=strength=light");
    assert_true(tamis_graph_is_open(graph));
    assert_int_equal(tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), 60, 50, NULL, &plan),
                     TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "denoise stands for filters that are chosen from a picture");
    tamis_graph_free(&graph);

    make(&picture, test_format(TAMIS_U8, 1), 48, 40, EDGES, (grain){.sigma = 12});
    graph = resolve(ctx, "denoise=strength=light", &picture.image);
    const struct tamis_nlmeans *n = tamis_graph_params(graph, 0);
    assert_string_equal(tamis_filter_name(tamis_graph_filter(graph, 0)), "nlmeans");
    double h = n->h.value, sigma = n->sigma.value;
    assert_true(fabs(sigma - 12) < 3);
    tamis_graph_free(&graph);
    graph = resolve(ctx, "box=ksize=1,denoise=strength=strong,box", &picture.image);
    assert_int_equal(tamis_graph_size(graph), 3);
    n = tamis_graph_params(graph, 1);
    assert_true(fabs(n->h.value / h - 2) < 0.01 && n->sigma.value == sigma);
    tamis_graph_free(&graph);
    test_picture_free(&picture);

    /* Noise that is cut off at black here and there looks like impulses to the estimate. */
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    make(&picture, test_format(TAMIS_U8, 1), 80, 56, DARK, (grain){.sigma = 6});
    assert_int_equal(tamis_noise_estimate(ctx, &picture.image, noise), TAMIS_OK);
    print_message("impulses %.3f\n", noise[0].impulses);
    assert_true(noise[0].impulses > 0.01);
    graph = resolve(ctx, "denoise", &picture.image);
    assert_string_not_equal(tamis_filter_name(tamis_graph_filter(graph, 0)), "median");
    tamis_graph_free(&graph);
    test_picture_free(&picture);

    make(&picture, test_format(TAMIS_U16, 3), 200, 120, SLOPE,
         (grain){.sigma = 5, .impulses = 0.05});
    graph = resolve(ctx, "denoise", &picture.image);
    tamis_graph_print(graph, text, sizeof text);
    assert_int_equal(strncmp(text, "median,nlmeans=h=", 17), 0);
    tamis_graph_free(&graph);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* What tamis_priv_picture_risk() says of a picture in a store. */
static double risk_of(tamis_ctx *ctx, test_store *store, const tamis_noise *noise, size_t max_bytes,
                      const char *chain)
{
    const tamis_image *image = store->image;
    tamis_part_source source = {test_store_read, store, 0, 0};
    tamis_risk risk = {.ctx = ctx,
                       .format = image->format,
                       .w = image->w,
                       .h = image->h,
                       .colors = image->format.channels,
                       .noise = noise,
                       .source = &source,
                       .max_bytes = max_bytes};
    tamis_picture picture = {.risk = &risk};
    double out = tamis_priv_picture_risk(&picture, chain);
    assert_int_equal(risk.status, TAMIS_OK);
    tamis_priv_risk_free(&risk);
    return out;
}

/* The estimate is near the true error, in one piece and in many, for noise of each color and for
 * what they have in common. */
static void test_risk(void **state)
{
    static const char *const chains[] = {"gaussian=sigma=0.6", "gaussian=sigma=1.5",
                                         "bilateral=sigma_space=1:sigma_color=%g",
                                         "nlmeans=h=%g:patch=3:search=3"};
    static const struct {
        tamis_type type;
        int channels, w, h;
        grain grain;
    } cases[] = {{TAMIS_U8, 1, 180, 160, {.sigma = 15}},
                 {TAMIS_U8, 1, 500, 220, {.sigma = 3}},
                 {TAMIS_U16, 3, 180, 160, {.sigma = 15}},
                 {TAMIS_F32, 1, 60, 1500, {.sigma = 15}},
                 {TAMIS_U8, 3, 500, 220, {.sigma = 10, .shared = 0.9}}};
    tamis_ctx *ctx = unit_ctx(2);
    test_picture picture;

    (void)state;
    for (int k = 0; k < 5; k++) {
        double unit = tamis_type_range(cases[k].type) / 255;
        tamis_noise noise[TAMIS_MAX_CHANNELS] = {0};
        for (int c = 0; c < cases[k].channels; c++) {
            noise[c].sigma = cases[k].grain.sigma * unit;
            noise[c].offset = noise[c].sigma * noise[c].sigma;
        }
        make(&picture, test_format(cases[k].type, cases[k].channels), cases[k].w, cases[k].h, EDGES,
             cases[k].grain);
        test_store store = {.ctx = ctx, .image = &picture.image};
        for (int i = 0; i < 4; i++) {
            char chain[128];
            snprintf(chain, sizeof chain, chains[i], 2 * cases[k].grain.sigma * unit);
            double risk = risk_of(ctx, &store, noise, SIZE_MAX, chain) / (unit * unit);
            double error = error_of_chain(ctx, chain, &picture.image, EDGES);
            print_message("%d %s: %.2f, in truth %.2f\n", k, chain, risk, error);
            assert_true(fabs(risk - error) < 0.08 * error + 0.02 * cases[k].grain.sigma);
        }
        test_picture_free(&picture);
    }
    tamis_ctx_free(&ctx);
}

/* The same bits for any number of threads and however much is read at once. */
static void test_same_risk(void **state)
{
    const char *chain = "bilateral=sigma_space=1:sigma_color=30,gaussian=sigma=0.6";
    tamis_noise noise[TAMIS_MAX_CHANNELS] = {{10, 0, 100, 0}, {10, 0, 100, 0}, {10, 0, 100, 0}};
    double want = 0;
    test_picture picture;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 3), 410, 240, TEXTURE, (grain){.sigma = 10});
    for (int threads = 1; threads <= 3; threads++)
        for (int i = 0; i < 2; i++) {
            tamis_ctx *ctx = unit_ctx(threads);
            test_store store = {.ctx = ctx, .image = &picture.image};
            double risk = risk_of(ctx, &store, noise, i ? 3000 : SIZE_MAX, chain);
            want = threads == 1 && i == 0 ? risk : want;
            assert_true(risk > 0 && risk == want);
            tamis_ctx_free(&ctx);
        }
    test_picture_free(&picture);
}

/* Whole, by parts and on any number of threads the same is chosen; failures and wishes to stop end
 * the search. */
static void test_ends(void **state)
{
    char want[128], got[128];
    test_picture picture;
    int stop = 0;
    tamis_run_options options = {.cancel = &stop};
    tamis_ctx *ctx = unit_ctx(1);

    (void)state;
    make(&picture, test_format(TAMIS_F32, 1), 48, 40, EDGES, (grain){.sigma = 12});
    tamis_graph *graph = resolve(ctx, "gaussian=sigma=0.3,denoise", &picture.image), *out = NULL;
    tamis_graph_print(graph, want, sizeof want);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    ctx = unit_ctx(3);
    graph = parse(ctx, "gaussian=sigma=0.3,denoise");
    test_store store = {.ctx = ctx, .image = &picture.image};
    tamis_part_source source = {test_store_read, &store, 0, 0};
    assert_int_equal(tamis_graph_resolve_parts(ctx, graph, picture.image.format, 48, 40, &source,
                                               3000, NULL, &out),
                     TAMIS_OK);
    tamis_graph_print(out, got, sizeof got);
    assert_string_equal(got, want);
    tamis_graph_free(&out);

    /* The last that is read is the piece to try chains on. */
    store.fail_at = store.calls;
    store.calls = 0;
    assert_int_equal(tamis_graph_resolve_parts(ctx, graph, picture.image.format, 48, 40, &source,
                                               3000, NULL, &out),
                     TAMIS_ERR_READ);
    assert_null(out);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    assert_int_equal(tamis_graph_resolve(ctx, graph, &picture.image, &options, &out),
                     TAMIS_ERR_CANCELED);
    assert_null(out);
    tamis_graph_free(&graph);
    test_picture_free(&picture);
    tamis_ctx_free(&ctx);
}

/* Memory of which no more than so many pieces can be had. */
typedef struct short_memory {
    long left;
    long held;
} short_memory;

static void *take(void *user, size_t size)
{
    short_memory *m = user;
    void *p = m->left > 0 ? malloc(size) : NULL;
    m->left--;
    m->held += p != NULL;
    return p;
}

static void give(void *user, void *p)
{
    short_memory *m = user;
    m->held -= p != NULL;
    free(p);
}

/* Wherever memory runs out, that is said and nothing is lost. */
static void test_memory(void **state)
{
    test_picture picture;
    tamis_status status = TAMIS_ERR_MEMORY;

    (void)state;
    make(&picture, test_format(TAMIS_U8, 3), 12, 9, EDGES, (grain){.sigma = 12});
    for (long pieces = 10; status != TAMIS_OK; pieces += 1 + pieces / 8) {
        short_memory memory = {.left = pieces};
        tamis_allocator allocator = {take, give, &memory};
        tamis_ctx_options options = {.threads = 1, .allocator = &allocator};
        tamis_ctx *ctx = NULL;
        tamis_graph *graph = NULL, *out = NULL;
        status = tamis_ctx_create(&options, &ctx);
        if (status == TAMIS_OK)
            status = tamis_graph_parse(ctx, "denoise", &graph);
        if (status == TAMIS_OK)
            status = tamis_graph_resolve(ctx, graph, &picture.image, NULL, &out);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_MEMORY);
        assert_int_equal(status == TAMIS_OK, out != NULL);
        tamis_graph_free(&out);
        tamis_graph_free(&graph);
        tamis_ctx_free(&ctx);
        assert_int_equal(memory.held, 0);
        assert_true(pieces < 100000);
    }
    test_picture_free(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice), cmocka_unit_test(test_stands_for),
        cmocka_unit_test(test_risk),   cmocka_unit_test(test_same_risk),
        cmocka_unit_test(test_ends),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
