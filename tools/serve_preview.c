/* SPDX-License-Identifier: Apache-2.0 */
/* Something to see at once: the chain on a picture with fewer pixels, its windows made smaller
 * likewise. A coarse one costs next to nothing; finer ones follow as long as they are in time. */
#include <math.h>

#include "serve.h"

/* Where a preview begins: with so few pixels. */
#define FIRST_PIXELS 40000
/* How much longer half the step takes: four times the pixels, each of a window that has up to four
 * times as many. */
#define LEAST_GROWTH 3
#define MOST_GROWTH  16

/* A flag's values. */
enum { SUPERSEDED = 1, LATE };

/* When a run has to end that is not the first. */
typedef struct deadline {
    double time;
    int *cancel;
} deadline;

static void look_at_clock(void *user, int64_t done, int64_t total)
{
    deadline *d = user;
    int expected = 0;
    if (done < total && tool_now() > d->time)
        __atomic_compare_exchange_n(d->cancel, &expected, LATE, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

static int is_there(const live_picture *p, int level)
{
    return level == 0 ? p->picture.whole : level < LIVE_LEVELS && p->small[level].w > 0;
}

/* The finest level that helps, and the one to begin with; -1 when there is none. */
static int find_levels(const live_picture *p, const live_wish *wish, int *first)
{
    int finest = wish->level < LIVE_LEVELS ? wish->level : LIVE_LEVELS - 1;
    double across = fmin(1, wish->x1) - fmax(0, wish->x0);
    double down = fmin(1, wish->y1) - fmax(0, wish->y0);
    double pixels = across * down * p->picture.info.w * p->picture.info.h;
    while (finest < LIVE_LEVELS && !is_there(p, finest))
        finest++;
    if (finest == LIVE_LEVELS) {
        for (finest = LIVE_LEVELS - 1; finest >= 0 && !is_there(p, finest);)
            finest--;
    }
    *first = finest;
    while (is_there(p, *first + 1) && ldexp(pixels, -2 * *first) > FIRST_PIXELS)
        ++*first;
    return finest;
}

/* A plan for what has 1 of 2^level pixels each way. */
static tamis_status plan_small(live_runner *r, tool *t, live_picture *p, const char *chain,
                               int level, const int *cancel, tamis_plan **out)
{
    tamis_graph *graph = NULL;
    const tamis_image *small = &p->small[level];
    tamis_plane plane = {.sub_x = level,
                         .sub_y = level,
                         .at_x = ldexp(1, level) / 2 - 0.5,
                         .at_y = ldexp(1, level) / 2 - 0.5,
                         .w = p->picture.info.w,
                         .h = p->picture.info.h};
    tamis_plan_options options = {.plane = &plane};
    tamis_status status = live_graph(r, t, p, chain, cancel, &graph);
    if (!status)
        status = tamis_plan_create(t->ctx, graph, small->format, small->w, small->h, &options, out);
    tamis_graph_free(&graph);
    return status;
}

/* At level 0, where that is asked for, it is the result. */
static tamis_status run_level(live_runner *r, tool *t, live_picture *p, const live_wish *wish,
                              int level, const tamis_run_options *options, live_view *view,
                              tamis_image *out)
{
    live_plan *place = NULL;
    tamis_plan *plan = NULL;
    const int *cancel = (const int *)options->cancel;
    tamis_status status = level ? plan_small(r, t, p, wish->chain, level, cancel, &plan)
                                : live_plan_take(r, t, p, wish->chain, 0, cancel, &place, &plan);
    if (status)
        return status;
    *view = (live_view){.level = level, .exact = level == 0 && wish->level == 0};
    status = live_filter(t, p, plan, wish, level ? &p->small[level] : &p->picture.image, options,
                         view, out);
    live_plan_give(r, place, plan);
    return status;
}

/* The next finer one, in the place of the last where it is in time. Returns 0 when it is not, or
 * something else is wrong with it: then what there is must do. */
static int refine(live_runner *r, tool *t, live_picture *p, const live_wish *wish, int level,
                  deadline *end, live_view *view, tamis_image *out)
{
    live_view finer;
    tamis_image result = {0};
    tamis_run_options options = {
        .cancel = end->cancel, .progress = look_at_clock, .progress_user = end};
    if (run_level(r, t, p, wish, level, &options, &finer, &result))
        return 0;
    tamis_image_unref(out);
    *out = result;
    *view = finer;
    return 1;
}

tamis_status live_preview(live_runner *r, tool *t, live_picture *p, const live_wish *wish,
                          int *cancel, live_view *view, tamis_image *out)
{
    double start = tool_now(), took, growth = MOST_GROWTH;
    deadline end = {start + wish->budget, cancel};
    tamis_run_options options = {.cancel = cancel};
    int level, finest = find_levels(p, wish, &level);
    if (finest < 0)
        return tamis_ctx_fail(t->ctx, TAMIS_ERR_UNSUPPORTED, "there is no small copy to look at");
    tamis_status status = run_level(r, t, p, wish, level, &options, view, out);
    took = tool_now() - start;
    while (!status && level > finest) {
        double before = tool_now();
        if (before + growth * took > end.time || !is_there(p, level - 1) ||
            !refine(r, t, p, wish, --level, &end, view, out))
            break;
        double now = tool_now() - before;
        growth = fmin(MOST_GROWTH, fmax(LEAST_GROWTH, now / took));
        took = now;
    }
    if (__atomic_load_n(cancel, __ATOMIC_RELAXED) == SUPERSEDED) {
        tamis_image_unref(out);
        return TAMIS_ERR_CANCELED;
    }
    return status;
}
