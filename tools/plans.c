/* SPDX-License-Identifier: Apache-2.0 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* How many plans that nobody uses are kept while nobody waits for memory. */
#define IDLE_PLANS 8

void tool_plans_open(tool_plans *plans, tool_gate *gate)
{
    *plans = (tool_plans){.gate = gate};
    pthread_mutex_init(&plans->mutex, NULL);
    pthread_cond_init(&plans->made, NULL);
}

void tool_plans_close(tool_plans *plans)
{
    tool_plans_drop(plans);
    pthread_cond_destroy(&plans->made);
    pthread_mutex_destroy(&plans->mutex);
}

/* Takes the idle plans but the newest ones out of the list. Called with the mutex held, which
 * freeing them does not need. */
static tool_plan *take_idle(tool_plans *plans, int keep)
{
    tool_plan *taken = NULL;
    for (tool_plan **at = &plans->newest; *at;) {
        tool_plan *p = *at;
        if (p->users > 0 || keep-- > 0) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = taken;
        taken = p;
    }
    return taken;
}

static void free_list(tool_plans *plans, tool_plan *list)
{
    while (list) {
        tool_plan *next = list->next;
        tamis_plan_free(&list->plan);
        tool_gate_drop(plans->gate, list->bytes);
        free(list->chain);
        free(list);
        list = next;
    }
}

void tool_plans_drop(tool_plans *plans)
{
    pthread_mutex_lock(&plans->mutex);
    tool_plan *idle = take_idle(plans, 0);
    pthread_mutex_unlock(&plans->mutex);
    free_list(plans, idle);
}

static void unlink_plan(tool_plans *plans, const tool_plan *plan)
{
    tool_plan **at = &plans->newest;
    while (*at != plan)
        at = &(*at)->next;
    *at = plan->next;
}

/* The plan with one user more, at the head of the list; NULL when there is none. */
static tool_plan *find(tool_plans *plans, const char *chain, tamis_format format, int32_t w,
                       int32_t h)
{
    for (tool_plan *p = plans->newest; p; p = p->next) {
        if (!tamis_format_equal(p->format, format) || p->w != w || p->h != h ||
            strcmp(p->chain ? p->chain : "", chain ? chain : "") != 0)
            continue;
        unlink_plan(plans, p);
        p->next = plans->newest;
        plans->newest = p;
        p->users++;
        return p;
    }
    return NULL;
}

/* A user fewer. Called with the mutex held. A plan that could not be made goes with its last user,
 * so that the next thread tries for itself. */
static tool_plan *put(tool_plans *plans, tool_plan *p)
{
    p->users--;
    if (p->users > 0 || p->plan)
        return take_idle(plans, tool_gate_waits(plans->gate) ? 0 : IDLE_PLANS);
    unlink_plan(plans, p);
    p->next = NULL;
    return p;
}

void tool_plans_put(tool_plans *plans, tool_plan *plan)
{
    pthread_mutex_lock(&plans->mutex);
    tool_plan *idle = put(plans, plan);
    pthread_mutex_unlock(&plans->mutex);
    free_list(plans, idle);
}

/* Waits while another thread makes the plan. 0 when that came to nothing. */
static int wait_for(tool_plans *plans, tool_plan *p)
{
    while (!p->plan && !p->failed)
        pthread_cond_wait(&plans->made, &plans->mutex);
    return p->plan != NULL;
}

tamis_status tool_plans_get(tool_plans *plans, tamis_ctx *ctx, const tamis_graph *graph,
                            const char *chain, tamis_format format, int32_t w, int32_t h,
                            const tamis_plan_options *options, tool_plan **out)
{
    tool_plan *p;
    pthread_mutex_lock(&plans->mutex);
    p = find(plans, chain, format, w, h);
    if (p && wait_for(plans, p)) {
        pthread_mutex_unlock(&plans->mutex);
        *out = p;
        return TAMIS_OK;
    }
    tool_plan *failed = p ? put(plans, p) : NULL;
    p = tool_alloc(sizeof(*p));
    *p = (tool_plan){.chain = chain ? tool_copy_text(chain) : NULL,
                     .format = format,
                     .w = w,
                     .h = h,
                     .users = 1,
                     .next = plans->newest};
    plans->newest = p;
    pthread_mutex_unlock(&plans->mutex);
    free_list(plans, failed);

    tamis_plan *plan = NULL;
    tamis_status status = tamis_plan_create(ctx, graph, format, w, h, options, &plan);
    p->bytes = tamis_plan_bytes(plan);
    tool_gate_hold(plans->gate, p->bytes);
    pthread_mutex_lock(&plans->mutex);
    p->plan = plan;
    p->failed = status != TAMIS_OK;
    pthread_cond_broadcast(&plans->made);
    tool_plan *gone = status ? put(plans, p) : NULL;
    pthread_mutex_unlock(&plans->mutex);
    free_list(plans, gone);
    *out = status ? NULL : p;
    return status;
}
