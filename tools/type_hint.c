/* SPDX-License-Identifier: Apache-2.0 */
/* What to do when a filter widens samples and the output's format cannot hold them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* Adds a filter of the chain with type=same in place of type=auto. *first receives the first that
 * this changed. */
static tamis_status add_narrow(tool *t, tamis_graph *graph, const tamis_filter *filter,
                               const void *params, const tamis_filter **first)
{
    int count, is_auto = 0;
    char value[64];
    const tamis_param *table = tamis_filter_params(filter, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(table[i].name, "type") == 0 && table[i].type == TAMIS_PARAM_CHOICE)
            is_auto =
                strcmp(tamis_filter_get(filter, params, "type", value, sizeof(value)), "auto") == 0;
    }
    if (!is_auto)
        return tamis_graph_add(graph, filter, params);
    size_t size = tamis_filter_params_size(filter);
    void *copy = memcpy(tool_alloc(size), params, size);
    tamis_status status = tamis_filter_set(t->ctx, filter, copy, "type", "same");
    if (!status)
        status = tamis_graph_add(graph, filter, copy);
    free(copy);
    *first = *first ? *first : filter;
    return status;
}

/* The samples that the chain would give with type=same. */
static tamis_status plan_narrow(tool_worker *worker, const tool_report *report, tamis_type *type,
                                const tamis_filter **first)
{
    const tool_job *job = worker->job;
    tool *t = &worker->tool;
    tamis_plan_options options = {.guide = job->has_guide ? &job->guide.format : NULL,
                                  .guide_w = job->guide.w,
                                  .guide_h = job->guide.h};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_graph_create(t->ctx, &graph);
    for (int i = 0; !status && i < tamis_graph_size(tool_worker_graph(worker)); i++)
        status = add_narrow(t, graph, tamis_graph_filter(tool_worker_graph(worker), i),
                            tamis_graph_params(tool_worker_graph(worker), i), first);
    if (!status)
        status = tamis_plan_create(t->ctx, graph, report->in, report->in_w, report->in_h, &options,
                                   &plan);
    if (!status)
        *type = tamis_plan_format(plan).type;
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

void tool_type_hint(tool_worker *worker, const tool_report *report, char *buf, size_t size)
{
    tamis_type type;
    char error[sizeof(worker->tool.error)];
    const tamis_filter *first = NULL;
    *buf = '\0';
    if (strstr(worker->tool.error,
               "pfm cannot")) /* it holds floats alone: narrow ones do not help */
        return;
    if (report->in_w == 0 || report->out_w == 0 || report->out.type == report->in.type)
        return;
    memcpy(error, worker->tool.error, sizeof(error));
    if (!plan_narrow(worker, report, &type, &first) && first && type != report->out.type)
        snprintf(buf, size, "; %s makes %s of %s: with its parameter type=same the result is %s",
                 tamis_filter_name(first), tamis_type_name(report->out.type),
                 tamis_type_name(report->in.type), tamis_type_name(type));
    memcpy(worker->tool.error, error, sizeof(error));
}
