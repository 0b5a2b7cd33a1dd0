/* SPDX-License-Identifier: Apache-2.0 */
/* tamis FILTER and tamis run: a chain over any number of files. */
#include <stdlib.h>

#include "index.h"
#include "manifest.h"
#include "summary.h"

static int check_shard(tool *t)
{
    int index, count;
    if (!t->options.shard || tool_shard_parse(t->options.shard, &index, &count))
        return TOOL_OK;
    return tool_usage_error(t, "--shard: '%s' is not a share such as 1/8, I/N with I from 1 to N",
                            t->options.shard);
}

static int run_files(tool *t, const tamis_graph *graph, tool_files *files)
{
    tool_job job;
    tool_files_shard(t, files);
    int code = tool_job_start(&job, t, graph);
    job.files = files;
    if (!code)
        code = tool_index_open(t, graph, files, &job.index);
    if (!code)
        code = tool_manifest_open(t, graph, files, &job.manifest);
    if (!code)
        code = tool_run_all(&job);
    tool_manifest_close(&job.manifest);
    tool_index_close(&job.index);
    tool_job_end(&job);
    return code;
}

static int run_graph(tool *t, const tamis_graph *graph, char **names, int count)
{
    tool_files files = {0};
    int code = tool_write_options_check(t);
    if (!code)
        code = check_shard(t);
    if (!code)
        code = tool_files_expand(t, names, count, &files);
    if (!code)
        code = tool_files_assign(t, &files);
    if (!code)
        code = run_files(t, graph, &files);
    tool_files_free(&files);
    return code;
}

int cmd_run(tool *t)
{
    if (t->arg_count < 1)
        return tool_usage_error(t, "no chain; such as: tamis run 'gaussian=sigma=2' IN -o OUT");
    tamis_graph *graph = NULL;
    int code = tool_graph_parse(t, t->args[0], &graph);
    if (!code)
        code = run_graph(t, graph, t->args + 1, t->arg_count - 1);
    tamis_graph_free(&graph);
    return code;
}

static int apply_setting(tool *t, const tool_setting *setting, void *params)
{
    const char *text = setting->text;
    char *numbers = NULL;
    if (setting->param->type == TAMIS_PARAM_MATRIX && text[0] == '@') {
        text = numbers = tool_numbers_read(t, text + 1);
        if (!numbers)
            return TOOL_READ;
    }
    tamis_status status = tamis_filter_set(t->ctx, t->filter, params, setting->param->name, text);
    if (!numbers)
        return status ? tool_fail(t, status) : TOOL_OK;
    free(numbers);
    if (status)
        tool_error(t, "%s: %s", setting->text + 1, t->error);
    return tool_exit_code(status);
}

static int apply_settings(tool *t, void *params)
{
    int code = TOOL_OK;
    for (int i = 0; i < t->setting_count && !code; i++)
        code = apply_setting(t, &t->settings[i], params);
    return code;
}

int cmd_filter(tool *t)
{
    int code = tool_context(t);
    if (code)
        return code;
    void *params = tool_alloc(tamis_filter_params_size(t->filter));
    tamis_filter_defaults(t->filter, params);
    tamis_graph *graph = NULL;
    code = apply_settings(t, params);
    if (!code) {
        tamis_status status = tamis_graph_create(t->ctx, &graph);
        if (!status)
            status = tamis_graph_add(graph, t->filter, params);
        code = status ? tool_fail(t, status) : run_graph(t, graph, t->args, t->arg_count);
    }
    free(params);
    tamis_graph_free(&graph);
    return code;
}
