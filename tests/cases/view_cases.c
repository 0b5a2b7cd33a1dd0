/* SPDX-License-Identifier: Apache-2.0 */
/* G07: pictures that lie inside larger ones, and results over their own source. */
#include <stdio.h>
#include <string.h>

#include "cases.h"

enum { HEIGHT = 7, LEFT = 5, ABOVE = 3, AROUND = 0xee };

/* What is done to views, with parameters that do something. */
typedef struct view_job {
    const char *chain;
    int channels; /* of the source; 4: with alpha */
    int has_map;  /* a second picture says where pixels come from */
} view_job;

static const view_job jobs[] = {
    {"affine=matrix=0.9,0.2,0.5,-0.1,1.1,-0.4", 1, 0},
    {"affine=angle=10:size=fit:interp=cubic", 1, 0},
    {"alpha=to=premultiplied", 4, 0},
    {"alpha=to=none", 4, 0},
    {"bilateral=sigma_space=2:sigma_color=20%:ksize=5", 1, 0},
    {"box=ksize=3", 1, 0},
    {"box=ksize=8x5:border=wrap", 3, 0},
    {"canny=low=5%:high=10%", 1, 0},
    {"canny=low=5%:high=10%:sigma=1", 3, 0},
    {"color=to=gray", 3, 0},
    {"color=from=rgb:to=ycbcr", 3, 0},
    {"convolve=kernel=1,2,3;4,5,6;7,8,9", 1, 0},
    {"convolve=kernel=3,-1,2,1,0,1,-2,1:border=constant", 3, 0},
    {"gaussian=sigma=1.2", 1, 0},
    {"gaussian=sigma=3", 3, 0},
    {"laplacian=neighbors=8", 1, 0},
    {"laplacian=type=same", 1, 0},
    {"median=ksize=5", 1, 0},
    {"median=ksize=3:percentile=30", 3, 0},
    {"nlmeans=h=20%:search=5:patch=3", 1, 0},
    {"perspective=matrix=0.9,0.1,0.5,-0.1,1.1,-0.4,0.001,0.002,1", 1, 0},
    {"prewitt", 1, 0},
    {"prewitt=type=same", 1, 0},
    {"remap", 1, 1},
    {"remap=interp=cubic", 3, 1},
    {"resize=scale=1.5,0.8", 1, 0},
    {"resize=scale=0.6,2:interp=cubic", 3, 0},
    {"rotate=angle=10", 1, 0},
    {"rotate=angle=90", 1, 0},
    {"scharr=output=dx", 1, 0},
    {"scharr=type=same", 1, 0},
    {"sharpen=amount=1.5:neighbors=8", 1, 0},
    {"sobel=ksize=5", 1, 0},
    {"sobel=type=same", 3, 0},
    {"sobel=output=direction", 1, 0},
    {"unsharp=sigma=1.2:amount=2", 1, 0},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static double view_value(int x, int y, int c)
{
    return (x * 29 + y * 53 + x * y + c * 71) % 256;
}

/* A picture inside a larger one of 0xEE, at column 5, row 3: odd address, long rows. */
static void make_view(test_picture *parent, tamis_format format, int w, int h, tamis_image *view)
{
    const tamis_rect rect = {LEFT, ABOVE, w, h};

    case_constant(parent, format, w + 27, h + 17, AROUND);
    tamis_image_view(case_ctx[0], &parent->image, rect, view);
}

static void fill_view(const tamis_image *view)
{
    double unit = test_type_max(view->format.type) / 255;

    for (int y = 0; y < view->h; y++)
        for (int x = 0; x < view->w; x++)
            for (int c = 0; c < view->format.channels; c++)
                test_sample_set(view, x, y, c, view_value(x, y, c) * unit);
}

/* Whether everything outside the view is as case_constant() made it. */
static int surroundings_kept(const test_picture *parent, const tamis_image *view)
{
    test_picture fresh;
    int kept = 1;

    case_constant(&fresh, parent->image.format, 1, 1, AROUND);
    for (int y = 0; y < parent->image.h; y++)
        for (int x = 0; x < parent->image.w; x++)
            for (int c = 0; c < parent->image.format.channels; c++)
                if (x < LEFT || x >= LEFT + view->w || y < ABOVE || y >= ABOVE + view->h)
                    kept &= test_sample_get(&parent->image, x, y, c) ==
                            test_sample_get(&fresh.image, 0, 0, c);
    test_picture_free(&fresh);
    return kept;
}

/* One width: the source as a view and compact, and the map in both ways. */
typedef struct view_set {
    test_picture parent, compact, map_parent, map_compact;
    tamis_image view, map_view;
} view_set;

static void make_set(view_set *s, tamis_format format, int w)
{
    tamis_format map = test_format(TAMIS_F32, 2);

    make_view(&s->parent, format, w, HEIGHT, &s->view);
    make_view(&s->map_parent, map, w, HEIGHT, &s->map_view);
    test_picture_make(&s->compact, format, w, HEIGHT, TEST_ROWS_TIGHT);
    test_picture_make(&s->map_compact, map, w, HEIGHT, TEST_ROWS_TIGHT);
    fill_view(&s->view);
    fill_view(&s->compact.image);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < 2; c++) {
                double place = c ? 5.6 - 0.8 * y + 0.03 * x : 1.1 * x - 0.4 + 0.1 * y;
                test_sample_set(&s->map_view, x, y, c, place);
                test_sample_set(&s->map_compact.image, x, y, c, place);
            }
}

static void free_set(view_set *s)
{
    test_picture_free(&s->map_compact);
    test_picture_free(&s->map_parent);
    test_picture_free(&s->compact);
    test_picture_free(&s->parent);
}

/* From the view into another view. */
static void into_view(const view_set *s, const tamis_plan *plan, const tamis_run_options *run,
                      const test_picture *want, const char *what)
{
    test_picture target;
    tamis_image into;

    make_view(&target, want->image.format, want->image.w, want->image.h, &into);
    case_check(tamis_plan_run(plan, &s->view, &into, run) == TAMIS_OK &&
                   test_same(&want->image, &into),
               "G07", "%s: differs from a compact copy", what);
    case_check(test_same(&s->compact.image, &s->view) && surroundings_kept(&s->parent, &s->view),
               "G07", "%s: the source changed", what);
    case_check(surroundings_kept(&target, &into), "G07", "%s: wrote beyond the result", what);
    test_picture_free(&target);
}

/* Over its source: the same result, or a refusal that leaves the source as it was. A result of
 * another type or shape has no place there. */
static void over_itself(const view_set *s, const tamis_plan *plan, const tamis_run_options *run,
                        const test_picture *want, const char *what)
{
    const tamis_image *w = &want->image;
    int fits = w->w == s->view.w && w->h == HEIGHT && tamis_format_equal(w->format, s->view.format);
    tamis_status status = tamis_plan_run(plan, &s->view, &s->view, run);

    if (status == TAMIS_OK)
        case_check(fits && test_same(w, &s->view), "G07", "%s: in place", what);
    else
        case_check(status == TAMIS_ERR_ARGUMENT && test_same(&s->compact.image, &s->view), "G07",
                   "%s: refused in place, but not cleanly", what);
    case_check(surroundings_kept(&s->parent, &s->view), "G07", "%s: in place wrote beyond", what);
}

static void view_width(tamis_ctx *ctx, const view_job *job, tamis_type type, int w)
{
    tamis_format format = test_format(type, job->channels);
    tamis_run_options with_view = {0}, with_copy = {0};
    tamis_plan_options options = {0};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture want = {0};
    view_set set;
    char what[160];
    int32_t out_w, out_h;

    if (job->channels == 4)
        format.alpha = TAMIS_ALPHA_STRAIGHT;
    snprintf(what, sizeof what, "%s: %s: %sx%d, width %d", job->chain, tamis_ctx_cpu(ctx),
             tamis_type_name(type), job->channels, w);
    make_set(&set, format, w);
    if (job->has_map) {
        options.guide = &set.map_view.format;
        with_view.guide = &set.map_view;
        with_copy.guide = &set.map_compact.image;
    }
    if (tamis_graph_parse(ctx, job->chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, format, w, HEIGHT, &options, &plan) == TAMIS_OK) {
        tamis_plan_size(plan, &out_w, &out_h);
        test_picture_make(&want, tamis_plan_format(plan), out_w, out_h, TEST_ROWS_TIGHT);
        case_check(tamis_plan_run(plan, &set.compact.image, &want.image, &with_copy) == TAMIS_OK,
                   "G07", "%s: not run", what);
        into_view(&set, plan, &with_view, &want, what);
        over_itself(&set, plan, &with_view, &want, what);
    }
    case_check(plan != NULL, "G07", "%s: no plan", what);
    test_picture_free(&want);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    free_set(&set);
}

/* Whether a job names the filter; one that no job names would be left out in silence. */
static int has_job(const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < JOBS; i++)
        if (strncmp(jobs[i].chain, name, n) == 0 && strchr("=", jobs[i].chain[n]))
            return 1;
    return 0;
}

void case_views(void)
{
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F32};

    for (int f = 0; f < tamis_filter_count(); f++) {
        const char *name = tamis_filter_name(tamis_filter_at(f));
        tamis_kernel_info info; /* denoise has none: it stands for others */
        if (!tamis_filter_kernel(tamis_filter_at(f), 0, &info))
            continue;
        case_check(has_job(name), "G07", "%s is not among the views' filters", name);
    }
    for (int i = 0; i < JOBS; i++)
        for (int cpu = 0; cpu < CASE_CPUS && case_has("G07", jobs[i].chain); cpu++)
            for (int t = 0; t < 3 && case_ctx[cpu]; t++)
                for (int w = 1; w <= 65; w += t == 0 ? 1 : 4)
                    view_width(case_ctx[cpu], &jobs[i], types[t], w);
}
