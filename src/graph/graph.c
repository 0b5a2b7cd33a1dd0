/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/status.h"

tamis_status tamis_graph_create(tamis_ctx *ctx, tamis_graph **out)
{
    TAMIS_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_REQUIRE(ctx, ctx);
    *out = tamis_priv_mem_zalloc(ctx, sizeof **out);
    if (!*out)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "chain: no memory");
    (*out)->ctx = ctx;
    return TAMIS_OK;
}

void tamis_graph_free(tamis_graph **graph)
{
    if (!graph || !*graph)
        return;
    tamis_ctx *ctx = (*graph)->ctx;
    for (int i = 0; i < (*graph)->size; i++)
        tamis_priv_mem_free(ctx, (*graph)->items[i].params);
    tamis_priv_mem_free(ctx, (*graph)->items);
    tamis_priv_mem_free(ctx, *graph);
    *graph = NULL;
}

static tamis_status grow(tamis_graph *graph)
{
    if (graph->size < graph->capacity)
        return TAMIS_OK;
    int capacity = graph->capacity ? graph->capacity * 2 : 4;
    struct tamis_graph_item *items =
        tamis_priv_mem_alloc(graph->ctx, (size_t)capacity * sizeof *items);
    if (!items)
        return tamis_priv_fail(graph->ctx, TAMIS_ERR_MEMORY, "chain: no memory");
    if (graph->size)
        memcpy(items, graph->items, (size_t)graph->size * sizeof *items);
    tamis_priv_mem_free(graph->ctx, graph->items);
    graph->items = items;
    graph->capacity = capacity;
    return TAMIS_OK;
}

tamis_status tamis_graph_add(tamis_graph *graph, const tamis_filter *filter, const void *params)
{
    TAMIS_REQUIRE(NULL, graph);
    tamis_ctx *ctx = graph->ctx;
    TAMIS_REQUIRE(ctx, filter);
    if (graph->size >= TAMIS_GRAPH_MAX_SIZE)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "chain: more than %d filters",
                               TAMIS_GRAPH_MAX_SIZE);
    if (params)
        TAMIS_TRY(tamis_filter_check(ctx, filter, params));
    TAMIS_TRY(grow(graph));
    size_t size = tamis_filter_params_size(filter);
    void *copy = tamis_priv_mem_alloc(ctx, size);
    if (!copy)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "chain: no memory");
    if (params)
        memcpy(copy, params, size);
    else
        tamis_filter_defaults(filter, copy);
    graph->items[graph->size++] = (struct tamis_graph_item){filter, copy};
    return TAMIS_OK;
}

int tamis_graph_size(const tamis_graph *graph)
{
    return graph ? graph->size : 0;
}

const tamis_filter *tamis_graph_filter(const tamis_graph *graph, int index)
{
    return index >= 0 && index < tamis_graph_size(graph) ? graph->items[index].filter : NULL;
}

const void *tamis_graph_params(const tamis_graph *graph, int index)
{
    return index >= 0 && index < tamis_graph_size(graph) ? graph->items[index].params : NULL;
}
