/* SPDX-License-Identifier: Apache-2.0 */
/* Chains as JSON. */
#include <string.h>

#include "json.h"
#include "tool.h"

/* Long values, such as the matrix of a large kernel, are cut: they are for people. */
static json_t *step_param(const tamis_filter *filter, const void *params, const tamis_param *p)
{
    char value[512], plain[512];
    void *defaults = tool_alloc(tamis_filter_params_size(filter));
    tamis_filter_defaults(filter, defaults);
    tamis_filter_get(filter, params, p->name, value, sizeof(value));
    tamis_filter_get(filter, defaults, p->name, plain, sizeof(plain));
    json_t *o = tool_json_param(p);
    json_object_set_new(o, "value", tool_json_text(value));
    json_object_set_new(o, "is_default", json_boolean(strcmp(value, plain) == 0));
    free(defaults);
    return o;
}

json_t *tool_json_steps(const tamis_graph *graph)
{
    json_t *list = json_array();
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        int count;
        const tamis_filter *filter = tamis_graph_filter(graph, i);
        const tamis_param *params = tamis_filter_params(filter, &count);
        json_t *o = json_object(), *values = json_array();
        for (int k = 0; k < count; k++)
            json_array_append_new(values,
                                  step_param(filter, tamis_graph_params(graph, i), &params[k]));
        json_object_set_new(o, "filter", json_string(tamis_filter_name(filter)));
        json_object_set_new(o, "brief", json_string(tamis_filter_brief(filter)));
        json_object_set_new(o, "params", values);
        json_array_append_new(list, o);
    }
    return list;
}
