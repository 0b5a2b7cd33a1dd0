/* SPDX-License-Identifier: Apache-2.0 */
/* Which way each kind of kernel goes, and that all ways agree with the formula in binary64; kernels
 * from the smallest to the largest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/convolve.h>
#include <tamis/tamis.h>

#include "support/picture.h"

enum { CPUS = 4 };
static const char *const cpus[CPUS] = {"c", "base", "avx2", "avx512"};
static int failed;

static void check(int ok, const char *what, const char *where, double value)
{
    if (!ok) {
        printf("FAIL %s: %s: %g\n", what, where, value);
        failed++;
    }
}

/* ---- kernels */

typedef double (*formula)(double x, double y);

static double bell(double x, double y, double sigma)
{
    return exp((x * x + y * y) / (-2 * sigma * sigma));
}

static double difference(double x, double y)
{
    return bell(x, y, 1.5) / 2.25 - bell(x, y, 3) / 9;
}

static double laplacian(double x, double y)
{
    return (x * x + y * y - 8) * bell(x, y, 2);
}

static double gabor(double x, double y)
{
    return bell(x, y, 3) * cos(0.9 * x + 0.7 * y + 0.3);
}

static double remainder_of_gaussian(double x, double y)
{
    return (x == 0 && y == 0 ? 2 : 0) - bell(x, y, 2.5) / 39;
}

static double slope(double x, double y)
{
    return x * bell(x, y, 2.2);
}

static double smooth(double x, double y)
{
    return bell(x, y, 2);
}

static double noise(double x, double y)
{
    return 1.1 + sin(12.9898 * x * x + 78.233 * y + x * y * y);
}

static double disk(double x, double y)
{
    return x * x + y * y < 30 ? 0.7 : 0;
}

static double binomial(int n, int k)
{
    double v = 1;
    for (int i = 0; i < k; i++)
        v = v * (n - i) / (i + 1);
    return v;
}

static double binomial7(double x, double y)
{
    return binomial(6, (int)x + 3) * binomial(6, (int)y + 3);
}

static double binomial11(double x, double y)
{
    return binomial(10, (int)x + 5) * binomial(10, (int)y + 5);
}

static double sobel7(double x, double y)
{
    return x * (4 - fabs(x)) * binomial(6, (int)y + 3);
}

static double uneven(double x, double y)
{
    return (x + 5) * (y - 4) * 7;
}

static double even(double x, double y)
{
    (void)x;
    (void)y;
    return 0.7;
}

static double wide(double x, double y)
{
    return bell(x, y, 20);
}

static double rough_at(double x)
{
    return 1.1 + sin(12.9898 * x * x + 3 * x);
}

static double rough(double x, double y)
{
    return rough_at(x) * rough_at(y + 0.5);
}

static double numbered(double x, double y)
{
    return fmod(7 * x * x + 5 * y * y + 3 * x * y + x + 300, 23) + 1;
}

static const struct way {
    const char *name;
    formula at;
    int side;
    const char *whole, *floats; /* stages of integers and of f32 */
} ways[] = {
    {"difference of Gaussians", difference, 17, "low_rank", "low_rank"},
    {"Laplacian of a Gaussian with zeros", laplacian, 13, "low_rank", "direct"},
    {"Gabor", gabor, 15, "low_rank", "low_rank"},
    {"one less a Gaussian", remainder_of_gaussian, 11, "low_rank", "low_rank"},
    {"slope of a Gaussian", slope, 11, "separable", "separable"},
    {"Gaussian", smooth, 9, "separable", "separable"},
    {"noise", noise, 9, "direct", "direct"},
    {"disk", disk, 11, "direct", "direct"},
    {"binomial 7", binomial7, 7, "whole_separable", "separable"},
    {"binomial 11", binomial11, 11, "separable", "separable"},
    {"Sobel 7", sobel7, 7, "whole_separable", "separable"},
    {"uneven", uneven, 8, "whole_separable", "separable"},
    {"numbered", numbered, 7, "whole", "direct"},
    {"numbered, large", numbered, 31, "whole", "direct"},
    {"Gaussian, large", smooth, 41, "separable", "separable"},
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct tamis_convolve *make_params(formula at, int w, int h)
{
    struct tamis_convolve *p = malloc(sizeof *p);
    if (!p)
        abort();
    tamis_filter_defaults(tamis_filter_find("convolve"), p);
    p->kernel.w = w;
    p->kernel.h = h;
    for (int i = 0; i < w * h; i++)
        p->kernel.v[i] = at(i % w - w / 2, i / w - h / 2);
    return p;
}

/* ---- the formula */

static double divisor_of(const tamis_matrix *m)
{
    double sum = 0, all = 0;
    for (int i = 0; i < m->w * m->h; i++) {
        sum += m->v[i];
        all += fabs(m->v[i]);
    }
    return sum > 1e-6 * all ? sum : 1;
}

/* The right value at a pixel. */
static double defined_at(const tamis_image *src, const struct tamis_convolve *p, double divisor,
                         int x, int y)
{
    const tamis_matrix *m = &p->kernel;
    double sum = 0;
    for (int j = 0; j < m->h; j++)
        for (int i = 0; i < m->w; i++) {
            int64_t sx = tamis_border_index(p->border, x + i - m->w / 2, src->w);
            int64_t sy = tamis_border_index(p->border, y + j - m->h / 2, src->h);
            sum += m->v[j * m->w + i] / divisor * test_sample_get(src, (int)sx, (int)sy, 0);
        }
    return sum;
}

static double *defined(const tamis_image *src, const struct tamis_convolve *p)
{
    double *want = malloc(sizeof *want * (size_t)src->w * (size_t)src->h);
    if (!want)
        abort();
    double divisor = divisor_of(&p->kernel);
    for (int i = 0; i < src->w * src->h; i++)
        want[i] = defined_at(src, p, divisor, i % src->w, i / src->w);
    return want;
}

/* The sum of the taps' magnitudes, and the count of those that are not zero. */
static double magnitude_of(const struct tamis_convolve *p, int *count)
{
    const tamis_matrix *m = &p->kernel;
    double magnitude = 0, divisor = divisor_of(m);
    *count = 0;
    for (int i = 0; i < m->w * m->h; i++) {
        magnitude += fabs(m->v[i] / divisor);
        *count += m->v[i] != 0;
    }
    return magnitude;
}

/* How much rounding may change where it cancels out, in a sum of magnitudes 1 by 1e-6 at least. */
static double allowed(const struct tamis_convolve *p, tamis_type type)
{
    int count;
    double magnitude = magnitude_of(p, &count) * tamis_type_range(type);
    return fmax(1e-6, sqrt(count) * 0x1p-24) * magnitude + (type == TAMIS_F32 ? 0 : 0.5);
}

/* By how much, at most, columns and rows differ from one sum, as convolve.h says. Integers are one
 * level off where they are rounded to either side. */
static double apart(const struct tamis_convolve *p, const tamis_image *src, const char *stage)
{
    int count;
    double magnitude = magnitude_of(p, &count), largest = 0;
    for (int i = 0; i < src->w * src->h; i++)
        largest = fmax(largest, fabs(test_sample_get(src, i % src->w, i / src->w, 0)));
    return (strcmp(stage, "separable") == 0 ? 0x1p-23 : 5 * 0x1p-24) * (count + 1.0) * magnitude *
               largest +
           (src->format.type == TAMIS_F32 ? 0 : 1);
}

static int in_parts(const char *stage)
{
    return strcmp(stage, "separable") == 0 || strcmp(stage, "low_rank") == 0;
}

static double farthest(const tamis_image *a, const tamis_image *b)
{
    double most = 0;
    for (int i = 0; i < a->w * a->h; i++)
        most = fmax(most, fabs(test_sample_get(a, i % a->w, i / a->w, 0) -
                               test_sample_get(b, i % a->w, i / a->w, 0)));
    return most;
}

static double clipped(tamis_type type, double v)
{
    return type == TAMIS_F32 ? v : fmin(fmax(v, test_type_min(type)), test_type_max(type));
}

/* ---- one kernel */

/* cpu NULL: the fastest rows. 0: this computer has no such row. */
static int filter(const char *cpu, const struct tamis_convolve *p, const tamis_image *src,
                  test_picture *out, char *explained, size_t size)
{
    tamis_ctx_options options = {.threads = 2, .cpu = cpu};
    tamis_plan_options how = {.kernel = cpu, .tile_w = 37, .tile_h = 29};
    tamis_ctx *ctx = NULL;
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    int ok = tamis_ctx_create(&options, &ctx) == TAMIS_OK &&
             tamis_graph_create(ctx, &graph) == TAMIS_OK &&
             tamis_graph_add(graph, tamis_filter_find("convolve"), p) == TAMIS_OK &&
             tamis_plan_create(ctx, graph, src->format, src->w, src->h, &how, &plan) == TAMIS_OK;
    if (ok) {
        tamis_plan_explain(plan, explained, size);
        test_picture_make(out, src->format, src->w, src->h, TEST_ROWS_TIGHT);
        ok = tamis_plan_run(plan, src, &out->image, NULL) == TAMIS_OK;
        check(ok, "not run", cpu ? cpu : "auto", 0);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    return ok;
}

static void check_stage(const char *explained, const char *name, const char *stage, tamis_type type)
{
    char want[64];
    snprintf(want, sizeof want, "kernel %s/%s ", stage, tamis_type_name(type));
    if (!strstr(explained, want)) {
        printf("FAIL %s: not %sbut\n%s", name, want, explained);
        failed++;
    }
}

static void check_result(const double *want, double most, const tamis_image *got, const char *name)
{
    tamis_type type = got->format.type;
    for (int i = 0; i < got->w * got->h; i++) {
        double error =
            fabs(test_sample_get(got, i % got->w, i / got->w, 0) - clipped(type, want[i]));
        if (error > most) {
            check(0, name, tamis_type_name(type), error);
            return;
        }
    }
}

/* All instruction sets, with and without columns and rows apart. */
static void run_way(const struct way *way, tamis_type type, int w, int h)
{
    struct tamis_convolve *p = make_params(way->at, way->side, way->side);
    const char *stage = type == TAMIS_F32 ? way->floats : way->whole;
    test_picture src, out, first = {0};
    char explained[2000];

    test_picture_make(&src, test_format(type, 1), w, h, TEST_ROWS_ODD);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    double *want = defined(&src.image, p), most = allowed(p, type);
    for (int i = 0; i < 2 * CPUS; i++) {
        p->separable = i < CPUS ? TAMIS_CONVOLVE_SEPARABLE_AUTO : TAMIS_CONVOLVE_SEPARABLE_OFF;
        if (!filter(cpus[i % CPUS], p, &src.image, &out, explained, sizeof explained))
            continue;
        check_result(want, most, &out.image, way->name);
        if (i < CPUS)
            check_stage(explained, way->name, stage, type);
        if (i == 0)
            first = out;
        else if (i < CPUS || strncmp(stage, "whole", 5) == 0)
            check(test_same(&out.image, &first.image), way->name, tamis_type_name(type), i);
        else if (in_parts(stage))
            check(farthest(&out.image, &first.image) <= apart(p, &src.image, stage), way->name,
                  "differs from one sum", farthest(&out.image, &first.image));
        if (i > 0)
            test_picture_free(&out);
    }
    test_picture_free(&first);
    free(want);
    test_picture_free(&src);
    free(p);
}

/* ---- NaN */

/* A NaN goes where the window's number is not zero, and nowhere else. */
static void nan_spreads(const struct way *way)
{
    struct tamis_convolve *p = make_params(way->at, way->side, way->side);
    int middle = 30, r = way->side / 2;
    test_picture src, out;
    char explained[2000];

    test_picture_make(&src, test_format(TAMIS_F32, 1), 61, 61, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    for (int i = 0; i < 61 * 61; i++) /* of noise, which may hold others */
        test_sample_set(&src.image, i % 61, i / 61, 0, i % 7 / 7.0);
    test_sample_set(&src.image, middle, middle, 0, (double)NAN);
    for (int i = 0; i < CPUS; i++) {
        if (!filter(cpus[i], p, &src.image, &out, explained, sizeof explained))
            continue;
        for (int y = 0; y < 61; y++)
            for (int x = 0; x < 61; x++) {
                int kx = middle - x + r, ky = middle - y + r;
                int inside = kx >= 0 && kx < way->side && ky >= 0 && ky < way->side;
                int want = inside && p->kernel.v[ky * way->side + kx] != 0;
                check(isnan(test_sample_get(&out.image, x, y, 0)) == want, way->name, "NaN",
                      y * 61 + x);
            }
        test_picture_free(&out);
    }
    test_picture_free(&src);
    free(p);
}

/* ---- one sum */

static void fill_ramp(const tamis_image *image)
{
    for (int i = 0; i < image->w * image->h; i++) {
        int x = i % image->w, y = i / image->w;
        test_sample_set(image, x, y, 0, (x + y) / (image->w + image->h - 2.0));
    }
}

static void fill_white(const tamis_image *image)
{
    for (int i = 0; i < image->w * image->h; i++)
        test_sample_set(image, i % image->w, i / image->w, 0, 1);
}

static void fill_noise(const tamis_image *image)
{
    test_picture_fill(image, TEST_FILL_NOISE, 3);
}

/* Columns and rows beside one sum, by the fastest kernels: large products, and pictures where its
 * roundings go one way. */
static void beside_one_sum(formula at, int side, const char *name,
                           void (*fill)(const tamis_image *image))
{
    struct tamis_convolve *p = make_params(at, side, side);
    test_picture src, parts, sum;
    char explained[2000];

    test_picture_make(&src, test_format(TAMIS_F32, 1), 70, 40, TEST_ROWS_TIGHT);
    fill(&src.image);
    int ok = filter(NULL, p, &src.image, &parts, explained, sizeof explained);
    check(ok, "not run", name, side);
    check_stage(explained, name, "separable", TAMIS_F32);
    p->separable = TAMIS_CONVOLVE_SEPARABLE_OFF;
    if (ok && filter(NULL, p, &src.image, &sum, explained, sizeof explained)) {
        check_stage(explained, name, "direct", TAMIS_F32);
        double far = farthest(&parts.image, &sum.image);
        check(far <= apart(p, &src.image, "separable"), "differs from one sum", name, far);
        test_picture_free(&sum);
    }
    if (ok)
        test_picture_free(&parts);
    test_picture_free(&src);
    free(p);
}

static void one_sum(int side)
{
    static const struct {
        const char *name;
        formula at;
    } kernels[] = {{"wide", wide}, {"rough", rough}, {"even", even}};
    for (int i = 0; i < 3; i++) {
        beside_one_sum(kernels[i].at, side, kernels[i].name, fill_noise);
        beside_one_sum(kernels[i].at, side, kernels[i].name, fill_ramp);
        beside_one_sum(kernels[i].at, side, kernels[i].name, fill_white);
    }
}

/* ---- sizes */

static void large(formula at, int w, int h, tamis_type type)
{
    struct tamis_convolve *p = make_params(at, w, h);
    test_picture src, out;
    char name[64], explained[2000];

    snprintf(name, sizeof name, "%dx%d numbers", w, h);
    test_picture_make(&src, test_format(type, 1), 13, 9, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    double *want = defined(&src.image, p), most = allowed(p, type);
    for (int i = 1; i < CPUS; i++)
        if (filter(cpus[i], p, &src.image, &out, explained, sizeof explained)) {
            check_result(want, most, &out.image, name);
            test_picture_free(&out);
        }
    free(want);
    test_picture_free(&src);
    free(p);
}

/* Products of more numbers than a kernel may have. */
static void too_large(void)
{
    struct tamis_convolve *p = make_params(smooth, 1, 1);
    tamis_format gray = test_format(TAMIS_U8, 1);
    tamis_ctx *ctx = NULL;
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    char message[400] = "";

    p->kernel.w = 1025;
    p->kernel.h = 1024;
    p->kernel.outer = 1;
    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK || tamis_graph_create(ctx, &graph) != TAMIS_OK)
        abort();
    check(tamis_graph_add(graph, tamis_filter_find("convolve"), p) == TAMIS_OK, "1025x1024",
          "not added", 0);
    check(tamis_plan_create(ctx, graph, gray, 5, 5, NULL, &plan) == TAMIS_ERR_ARGUMENT, "1025x1024",
          "planned", 0);
    tamis_ctx_last_message(ctx, message, sizeof message);
    check(strstr(message, "1025x1024") && strstr(message, "1048576"), message, "says", 0);
    p->kernel.outer = 0;
    check(tamis_graph_add(graph, tamis_filter_find("convolve"), p) == TAMIS_ERR_ARGUMENT,
          "1025x1024", "added", 0);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
    free(p);
}

int main(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};

    for (int i = 0; i < WAYS; i++) {
        for (int t = 0; t < 4; t++) {
            run_way(&ways[i], types[t], 71, 33);
            run_way(&ways[i], types[t], 9, 70);
        }
        nan_spreads(&ways[i]);
    }
    one_sum(31);
    one_sum(41);
    one_sum(101);
    large(numbered, 255, 255, TAMIS_U8);
    large(noise, 255, 255, TAMIS_F32);
    large(difference, 255, 255, TAMIS_F32);
    large(noise, 65536, 1, TAMIS_F32);
    large(numbered, 1, 40000, TAMIS_U8);
    large(noise, 1, 4000, TAMIS_U16);
    too_large();
    printf("%d failed\n", failed);
    return failed != 0;
}
