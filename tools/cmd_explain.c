/* SPDX-License-Identifier: Apache-2.0 */
/* tamis explain: the plan of a chain, for a picture that need not be there. */
#include <stdio.h>
#include <stdlib.h>

#include "choose.h"
#include "json.h"
#include "parts.h"
#include "presets.h"

static void print_chain(const tamis_graph *graph)
{
    char *text = tool_graph_text(graph);
    printf("%s\n", text);
    free(text);
}

/* Puts the chain with everything chosen in the place of the other, and prints it. */
static tamis_status choose(tool *t, tamis_reader *reader, const tamis_file_info *info,
                           tamis_graph **graph)
{
    tamis_graph *chosen;
    tamis_status status = tool_choose(t, *graph, reader, 0, info, NULL, &chosen);
    if (status)
        return status;
    if (!t->options.json)
        print_chain(chosen);
    tamis_graph_free(graph);
    *graph = chosen;
    return TAMIS_OK;
}

/* Format and size from a file, or from --size and --type; from a file also what the chain leaves to
 * the picture. */
static int find_shape(tool *t, tamis_graph **graph, tamis_file_info *info)
{
    *info = (tamis_file_info){.w = 1920, .h = 1080};
    if (t->options.size.w) {
        info->w = t->options.size.w;
        info->h = t->options.size.h;
    }
    const char *type = t->options.type ? t->options.type : "u8x3";
    if (!tool_format_parse(type, &info->image))
        return tool_usage_error(t, "--type: '%s' is not a type such as u8, u8x3, u16x4 or f32",
                                type);
    info->block_w = info->w; /* of a file that may be read by parts */
    info->block_h = 1;
    if (t->arg_count < 2)
        return TOOL_OK;
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_status status = tamis_reader_open(t->ctx, t->args[1], &options, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, info);
    if (!status && tamis_graph_is_open(*graph))
        status = choose(t, reader, info, graph);
    tamis_reader_close(&reader);
    return status ? tool_fail(t, status) : TOOL_OK;
}

static int print_json(tool *t, const tamis_graph *graph, const tamis_plan *plan, const char *text,
                      const tamis_file_info *info)
{
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    tamis_halo halo = tamis_plan_halo(plan);
    char *chain = tool_graph_text(graph);
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "chain", tool_json_text(chain));
    json_object_set_new(o, "source", tool_json_shape(info->w, info->h, info->image));
    json_object_set_new(o, "result", tool_json_shape(w, h, tamis_plan_format(plan)));
    json_object_set_new(o, "halo",
                        json_pack("{s:i,s:i,s:i,s:i}", "left", halo.left, "right", halo.right,
                                  "top", halo.top, "bottom", halo.bottom));
    json_object_set_new(o, "bytes", json_integer((json_int_t)tamis_ctx_bytes(t->ctx)));
    json_object_set_new(o, "device", json_string(tamis_plan_device(plan)));
    int parts = tool_parts_wanted(t, plan, info);
    json_object_set_new(o, "by_parts", json_boolean(parts));
    json_object_set_new(o, "parts_bytes",
                        parts ? json_integer((json_int_t)tool_parts_memory(t, plan)) : json_null());
    json_object_set_new(o, "plan", tool_json_text(text));
    free(chain);
    return tool_json_print(t, o);
}

/* Large pictures are never in memory whole, if their files allow that. */
static void print_parts(const tool *t, const tamis_plan *plan, const tamis_file_info *info)
{
    if (tool_parts_wanted(t, plan, info))
        printf("by parts, in about %zu MB of memory, from and to TIFF, PNM, PAM, PFM, NPY and raw "
               "files\n",
               tool_parts_memory(t, plan) / 1000000);
}

static int print_plan(tool *t, const tamis_graph *graph, const tamis_plan *plan,
                      const tamis_file_info *info)
{
    size_t size = tamis_plan_explain(plan, NULL, 0) + 1;
    char *text = tool_alloc(size);
    tamis_plan_explain(plan, text, size);
    int code = TOOL_OK;
    if (t->options.json) {
        code = print_json(t, graph, plan, text, info);
    } else {
        printf("%s%s", text, size > 1 && text[size - 2] == '\n' ? "" : "\n");
        print_parts(t, plan, info);
    }
    free(text);
    return code;
}

int cmd_explain(tool *t)
{
    if (t->arg_count < 1)
        return tool_usage_error(t, "no chain; such as: tamis explain 'gaussian=sigma=2'");
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_file_info info;
    int code = tool_graph_parse(t, t->args[0], &graph);
    if (!code && !t->options.json && tool_presets_named(t->args[0]))
        print_chain(graph);
    if (!code)
        code = find_shape(t, &graph, &info);
    if (!code) {
        tamis_status status =
            tamis_plan_create(t->ctx, graph, info.image, info.w, info.h, NULL, &plan);
        code = status ? tool_fail(t, status) : print_plan(t, graph, plan, &info);
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return code;
}
