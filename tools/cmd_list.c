/* SPDX-License-Identifier: Apache-2.0 */
/* tamis list: the filters, with -v their kernels, in JSON all that their tables say. */
#include <stdio.h>

#include "json.h"
#include "tool.h"

static json_t *json_kernels(const tamis_filter *filter)
{
    tamis_kernel_info info;
    json_t *list = json_array();
    for (int i = 0; tamis_filter_kernel(filter, i, &info); i++) {
        json_t *o = json_object();
        json_object_set_new(o, "stage", json_string(info.stage));
        json_object_set_new(o, "type", json_string(tamis_type_name(info.type)));
        json_object_set_new(o, "cpu", json_string(info.cpu));
        json_object_set_new(o, "tolerance", json_real(info.tolerance));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *tool_json_filter(const tamis_filter *filter)
{
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    json_t *o = json_object(), *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, tool_json_param(&params[i]));
    json_object_set_new(o, "name", json_string(tamis_filter_name(filter)));
    json_object_set_new(o, "brief", json_string(tamis_filter_brief(filter)));
    json_object_set_new(o, "min_inputs", json_integer(tamis_filter_min_inputs(filter)));
    json_object_set_new(o, "max_inputs", json_integer(tamis_filter_max_inputs(filter)));
    json_object_set_new(o, "params", list);
    json_object_set_new(o, "kernels", json_kernels(filter));
    return o;
}

static int list_json(tool *t)
{
    json_t *o = tool_json_new(t), *list = json_array();
    for (int i = 0; i < tamis_filter_count(); i++)
        json_array_append_new(list, tool_json_filter(tamis_filter_at(i)));
    json_object_set_new(o, "filters", list);
    return tool_json_print(t, o);
}

static void print_kernels(const tamis_filter *filter)
{
    tamis_kernel_info info;
    for (int i = 0; tamis_filter_kernel(filter, i, &info); i++)
        printf("  %-12s %-4s %-7s tolerance %g\n", info.stage, tamis_type_name(info.type), info.cpu,
               info.tolerance);
}

int cmd_list(tool *t)
{
    if (t->options.json)
        return list_json(t);
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *filter = tamis_filter_at(i);
        printf("%-12s %s\n", tamis_filter_name(filter), tamis_filter_brief(filter));
        if (t->options.verbose)
            print_kernels(filter);
    }
    return TOOL_OK;
}
