/* SPDX-License-Identifier: Apache-2.0 */
/* Plans by format and size, kept from picture to picture and shared by threads. */
#ifndef TOOL_PLANS_H
#define TOOL_PLANS_H

#include <pthread.h>
#include <tamis/tamis.h>

#include "gate.h"

/* A plan and what it was made for. */
typedef struct tool_plan {
    tamis_plan *plan; /* NULL while it is being made */
    char *chain;      /* with what was chosen for a picture; NULL where nothing had to be */
    tamis_format format;
    int32_t w, h;
    size_t bytes; /* of its buffers */
    int failed;   /* it could not be made */
    int users;    /* threads that work with it, or make it or wait for it */
    struct tool_plan *next;
} tool_plan;

typedef struct tool_plans {
    pthread_mutex_t mutex;
    pthread_cond_t made;
    tool_plan *newest; /* the one used last comes first */
    tool_gate *gate;   /* counts their bytes */
} tool_plans;

void tool_plans_open(tool_plans *plans, tool_gate *gate);
void tool_plans_close(tool_plans *plans);

/* Finds the plan for pictures of this kind, or makes it from the graph; of options the guide is
 * what counts, which is the same for all. chain is the graph's text where it is a picture's own,
 * else NULL. *out is given back with tool_plans_put(). */
tamis_status tool_plans_get(tool_plans *plans, tamis_ctx *ctx, const tamis_graph *graph,
                            const char *chain, tamis_format format, int32_t w, int32_t h,
                            const tamis_plan_options *options, tool_plan **out);
void tool_plans_put(tool_plans *plans, tool_plan *plan);

/* Frees the plans that nobody uses now. */
void tool_plans_drop(tool_plans *plans);

#endif
