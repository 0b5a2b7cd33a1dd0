/* SPDX-License-Identifier: Apache-2.0 */
/* What chains become for a picture: kept, as sliders mostly come back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

/* ---- what a chain leaves to the picture */

/* A picture that is read by parts, in a request. */
typedef struct part_reader {
    tool *tool;
    live_picture *picture;
} part_reader;

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const part_reader *from = user;
    tamis_image read = {0};
    pthread_mutex_lock(&from->picture->mutex);
    tamis_status status = tool_picture_part(from->tool, &from->picture->picture, part, &read);
    pthread_mutex_unlock(&from->picture->mutex);
    if (!status)
        status = tamis_image_copy(from->tool->ctx, &read, into);
    tamis_image_unref(&read);
    return status;
}

/* The chain with what it leaves to the picture, in place of it. */
static tamis_status choose(tool *t, live_picture *p, const volatile int *cancel,
                           tamis_graph **graph)
{
    const tamis_file_info *info = &p->picture.info;
    const tamis_image *image = &p->picture.image;
    tamis_run_options options = {.cancel = cancel};
    tamis_graph *chosen = NULL;
    tamis_status status;
    if (p->picture.whole) {
        status = tamis_graph_resolve(t->ctx, *graph, image, &options, &chosen);
    } else {
        part_reader from = {t, p};
        tamis_part_source source = {read_part, &from, info->block_w < info->w ? info->block_w : 0,
                                    info->block_h};
        status = tamis_graph_resolve_parts(t->ctx, *graph, image->format, info->w, info->h, &source,
                                           t->options.max_memory / 4, &options, &chosen);
    }
    if (status)
        return status;
    tamis_graph_free(graph);
    *graph = chosen;
    return TAMIS_OK;
}

/* Whether what was made for a picture is still of it: files change between two loads. */
static int is_of(const live_subject *subject, const live_picture *p)
{
    return subject->picture == p->number && subject->load == p->load;
}

/* What was chosen before, to be freed; NULL when it was not. */
static char *recall(live_runner *r, const live_picture *p, const char *chain)
{
    char *found = NULL;
    pthread_mutex_lock(&r->mutex);
    for (int i = 0; i < LIVE_PLANS && !found; i++) {
        live_choice *at = &r->choices[i];
        if (at->chain && is_of(&at->subject, p) && strcmp(at->chain, chain) == 0) {
            at->used = ++r->clock;
            found = tool_copy_text(at->chosen);
        }
    }
    pthread_mutex_unlock(&r->mutex);
    return found;
}

/* In the place of what was asked for longest ago. */
static void remember(live_runner *r, const live_picture *p, const char *chain, char *chosen)
{
    pthread_mutex_lock(&r->mutex);
    live_choice *at = &r->choices[0];
    for (int i = 1; i < LIVE_PLANS; i++) {
        if (r->choices[i].used < at->used)
            at = &r->choices[i];
    }
    live_choice old = *at;
    *at = (live_choice){{p->number, p->load}, tool_copy_text(chain), chosen, ++r->clock};
    pthread_mutex_unlock(&r->mutex);
    free(old.chain);
    free(old.chosen);
}

/* Filters from .. to - 1 of the chain. *out is the caller's. */
static tamis_status cut(tool *t, const tamis_graph *graph, int from, int to, tamis_graph **out)
{
    tamis_status status = tamis_graph_create(t->ctx, out);
    for (int i = from; i < to && !status; i++)
        status = tamis_graph_add(*out, tamis_graph_filter(graph, i), tamis_graph_params(graph, i));
    if (status)
        tamis_graph_free(out);
    return status;
}

/* How many filters there are up to the last one that leaves something to the picture. */
static tamis_status count_open(tool *t, const tamis_graph *graph, int *count)
{
    tamis_status status = TAMIS_OK;
    for (*count = tamis_graph_size(graph); *count > 0 && !status; --*count) {
        tamis_graph *last = NULL;
        status = cut(t, graph, *count - 1, *count, &last);
        int open = !status && tamis_graph_is_open(last);
        tamis_graph_free(&last);
        if (open)
            break;
    }
    return status;
}

/* The beginning of a chain with all chosen, from memory where that can be. */
static tamis_status choose_once(live_runner *r, tool *t, live_picture *p,
                                const volatile int *cancel, tamis_graph **graph)
{
    char *chain = tool_graph_text(*graph), *chosen = recall(r, p, chain);
    tamis_graph *known = NULL;
    tamis_status status =
        chosen ? tamis_graph_parse(t->ctx, chosen, &known) : choose(t, p, cancel, graph);
    if (known) {
        tamis_graph_free(graph);
        *graph = known;
    } else if (!status) {
        remember(r, p, chain, tool_graph_text(*graph));
    }
    free(chosen);
    free(chain);
    return status;
}

/* Filters behind the last one that leaves something to the picture have no part in what is chosen:
 * while only they change, it stays. */
tamis_status live_graph(live_runner *r, tool *t, live_picture *p, const char *chain,
                        const volatile int *cancel, tamis_graph **out)
{
    int count = 0;
    tamis_graph *graph = NULL;
    *out = NULL;
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    if (!status)
        status = count_open(t, graph, &count);
    if (!status)
        status = cut(t, graph, 0, count, out);
    if (!status && count > 0)
        status = choose_once(r, t, p, cancel, out);
    for (int i = count; i < tamis_graph_size(graph) && !status; i++)
        status = tamis_graph_add(*out, tamis_graph_filter(graph, i), tamis_graph_params(graph, i));
    tamis_graph_free(&graph);
    if (status)
        tamis_graph_free(out);
    return status;
}

/* ---- plans */

/* Adds what makes a view of the level of the chain's result. */
static tamis_status add_scaling(tool *t, tamis_graph *graph, int level)
{
    char text[64];
    tamis_graph *scaling = NULL;
    if (level == 0)
        return TAMIS_OK;
    snprintf(text, sizeof(text), "resize=scale=%.17g:interp=area", ldexp(1, -level));
    tamis_status status = tamis_graph_parse(t->ctx, text, &scaling);
    if (!status)
        status =
            tamis_graph_add(graph, tamis_graph_filter(scaling, 0), tamis_graph_params(scaling, 0));
    tamis_graph_free(&scaling);
    return status;
}

/* The level is no part of the chain: what the picture decides is decided by all of its pixels. */
static tamis_status make_plan(live_runner *r, tool *t, live_picture *p, const char *chain,
                              int level, const volatile int *cancel, tamis_plan **out)
{
    tamis_graph *graph = NULL;
    const tamis_file_info *info = &p->picture.info;
    tamis_status status = live_graph(r, t, p, chain, cancel, &graph);
    if (!status)
        status = add_scaling(t, graph, level);
    if (!status)
        status =
            tamis_plan_create(t->ctx, graph, p->picture.image.format, info->w, info->h, NULL, out);
    tamis_graph_free(&graph);
    return status;
}

static live_plan *find_plan(live_runner *r, const live_picture *p, const char *chain, int level)
{
    for (int i = 0; i < LIVE_PLANS; i++) {
        live_plan *at = &r->plans[i];
        if (at->plan && at->level == level && is_of(&at->subject, p) &&
            strcmp(at->chain, chain) == 0)
            return at;
    }
    return NULL;
}

/* A place for a new plan: the one that was used longest ago. NULL when all are in use. */
static live_plan *free_place(live_runner *r)
{
    live_plan *oldest = NULL;
    for (int i = 0; i < LIVE_PLANS; i++) {
        live_plan *at = &r->plans[i];
        if (at->users == 0 && (!oldest || at->used < oldest->used))
            oldest = at;
    }
    return oldest;
}

/* Plans that nobody runs leave memory. Returns how many there were. */
static int drop_idle(live_runner *r)
{
    int count = 0;
    pthread_mutex_lock(&r->mutex);
    for (int i = 0; i < LIVE_PLANS; i++) {
        live_plan *at = &r->plans[i];
        if (!at->plan || at->users > 0)
            continue;
        tamis_plan_free(&at->plan);
        free(at->chain);
        *at = (live_plan){0};
        count++;
    }
    pthread_mutex_unlock(&r->mutex);
    return count;
}

tamis_status live_plan_take(live_runner *r, tool *t, live_picture *p, const char *chain, int level,
                            const volatile int *cancel, live_plan **place, tamis_plan **out)
{
    pthread_mutex_lock(&r->mutex);
    *place = find_plan(r, p, chain, level);
    if (*place) {
        (*place)->users++;
        (*place)->used = ++r->clock;
        *out = (*place)->plan;
    }
    pthread_mutex_unlock(&r->mutex);
    if (*place)
        return TAMIS_OK;
    tamis_status status = make_plan(r, t, p, chain, level, cancel, out);
    if ((status == TAMIS_ERR_LIMIT || status == TAMIS_ERR_MEMORY) && drop_idle(r) > 0)
        status = make_plan(r, t, p, chain, level, cancel, out);
    if (status)
        return status;
    pthread_mutex_lock(&r->mutex);
    live_plan old = {0};
    *place = find_plan(r, p, chain, level) ? NULL : free_place(r);
    if (*place) {
        old = **place;
        **place = (live_plan){.chain = tool_copy_text(chain),
                              .level = level,
                              .subject = {p->number, p->load},
                              .plan = *out,
                              .users = 1,
                              .used = ++r->clock};
    }
    pthread_mutex_unlock(&r->mutex);
    tamis_plan_free(&old.plan);
    free(old.chain);
    return TAMIS_OK;
}

void live_plan_give(live_runner *r, live_plan *place, tamis_plan *plan)
{
    if (!place) {
        tamis_plan_free(&plan);
        return;
    }
    pthread_mutex_lock(&r->mutex);
    place->users--;
    pthread_mutex_unlock(&r->mutex);
}

void live_plans_free(live_runner *r)
{
    for (int i = 0; i < LIVE_PLANS; i++) {
        tamis_plan_free(&r->plans[i].plan);
        free(r->plans[i].chain);
        free(r->choices[i].chain);
        free(r->choices[i].chosen);
    }
}
