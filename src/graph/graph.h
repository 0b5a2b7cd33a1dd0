/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a chain. */
#ifndef TAMIS_GRAPH_GRAPH_H
#define TAMIS_GRAPH_GRAPH_H

#include <tamis/graph.h>

struct tamis_graph_item {
    const tamis_filter *filter;
    void *params;
};

struct tamis_graph {
    tamis_ctx *ctx;
    struct tamis_graph_item *items;
    int size, capacity;
};

#endif
