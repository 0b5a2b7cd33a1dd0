/* SPDX-License-Identifier: Apache-2.0 */
/* tamis presets: their names and what they are for, or the chain that one stands for. */
#include <stdio.h>
#include <stdlib.h>

#include "presets.h"

static int print_json(tool *t, const tamis_preset *only)
{
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "presets", tool_json_presets(t, only));
    return tool_json_print(t, o);
}

/* The chain alone, to be copied and changed. */
static int print_one(tool *t, const tamis_preset *preset)
{
    tamis_graph *graph = NULL;
    int code = tool_preset_graph(t, preset, &graph);
    if (!code) {
        char *chain = tool_graph_text(graph);
        printf("%s\n", chain);
        free(chain);
    }
    tamis_graph_free(&graph);
    return code;
}

int cmd_presets(tool *t)
{
    const tamis_preset *preset = NULL;
    int code = tool_context(t);
    if (code)
        return code;
    if (t->arg_count > 0) {
        preset = tool_preset_find(t, t->args[0]);
        if (!preset)
            return TOOL_USAGE;
    }
    if (t->options.json)
        return print_json(t, preset);
    if (preset)
        return print_one(t, preset);
    tool_presets_print(t->ctx, "", t->options.verbose > 0);
    return TOOL_OK;
}
