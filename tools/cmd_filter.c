/* SPDX-License-Identifier: Apache-2.0 */
/* tamis FILTER and tamis run: a chain over any number of files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "json.h"

/* What became of all files. */
typedef struct batch {
    tool *tool;
    size_t done, failed, skipped;
    int code;        /* of the last failure */
    json_t *files;   /* with --json */
    char **failures; /* messages, for the summary */
    size_t file_count;
    char device[64]; /* where files were filtered; empty before the first */
} batch;

static void add_json(batch *b, const tool_file *file, const tool_report *r)
{
    static const char *const outcomes[] = {"done", "skipped", "planned", "failed"};
    json_t *o = json_object();
    json_object_set_new(o, "input", tool_json_text(file->in));
    json_object_set_new(o, "output", tool_json_text(file->out));
    json_object_set_new(o, "status", json_string(outcomes[r->outcome]));
    json_object_set_new(o, "code", json_integer(r->code));
    if (r->outcome == TOOL_FAILED)
        json_object_set_new(o, "error", tool_json_text(r->message));
    if (r->outcome == TOOL_DONE || r->outcome == TOOL_PLANNED) {
        json_object_set_new(o, "device", json_string(r->device));
        json_object_set_new(o, "pages", json_integer(r->pages));
        json_object_set_new(o, "source", tool_json_shape(r->in_w, r->in_h, r->in));
        json_object_set_new(o, "result", tool_json_shape(r->out_w, r->out_h, r->out));
    }
    if (r->outcome == TOOL_DONE) {
        json_object_set_new(o, "read_seconds", json_real(r->read_s));
        json_object_set_new(o, "filter_seconds", json_real(r->filter_s));
        json_object_set_new(o, "write_seconds", json_real(r->write_s));
    }
    json_array_append_new(b->files, o);
}

static void describe(tool *t, const tool_file *file, const tool_report *r)
{
    char in[16], out[16], pages[32] = "";
    tool_format_name(r->in, in, sizeof(in));
    tool_format_name(r->out, out, sizeof(out));
    if (r->pages > 1)
        snprintf(pages, sizeof(pages), ", %d pages", r->pages);
    if (r->outcome == TOOL_DONE)
        tool_detail(t, "%s -> %s: %s %dx%d%s; read %.1f ms, filter %.1f ms, write %.1f ms",
                    file->in, file->out, in, r->in_w, r->in_h, pages, 1e3 * r->read_s,
                    1e3 * r->filter_s, 1e3 * r->write_s);
    else if (r->outcome == TOOL_SKIPPED)
        tool_detail(t, "%s: skipped, %s exists", file->in, file->out);
    else if (!t->options.json)
        printf("%s -> %s: %s %dx%d -> %s %dx%d%s\n", file->in, file->out, in, r->in_w, r->in_h, out,
               r->out_w, r->out_h, pages);
}

static void account(batch *b, const tool_file *file, const tool_report *r)
{
    b->done += r->outcome == TOOL_DONE || r->outcome == TOOL_PLANNED;
    b->skipped += r->outcome == TOOL_SKIPPED;
    if (r->device[0])
        snprintf(b->device, sizeof(b->device), "%s",
                 b->device[0] && strcmp(b->device, r->device) != 0 ? "mixed" : r->device);
    if (b->tool->options.json)
        add_json(b, file, r);
    if (r->outcome != TOOL_FAILED) {
        describe(b->tool, file, r);
        return;
    }
    b->code = r->code;
    if (r->code == TOOL_INTERRUPTED)
        return;
    if (r->code == TOOL_WRITE && strcmp(file->out, "-") == 0)
        b->code = tool_output_failed(b->tool, r->message);
    else
        tool_error(b->tool, "%s", r->message);
    b->failures = tool_grow(b->failures, (b->failed + 1) * sizeof(*b->failures));
    b->failures[b->failed++] = tool_copy_text(file->in);
}

static void summarize(const batch *b)
{
    tool *t = b->tool;
    if (b->file_count < 2 || (!b->failed && !t->options.verbose))
        return;
    tool_note(t, "%zu of %zu files done, %zu skipped, %zu failed%s", b->done, b->file_count,
              b->skipped, b->failed, b->failed ? ":" : "");
    for (size_t i = 0; i < b->failed; i++)
        tool_note(t, "  failed: %s", b->failures[i]);
}

static int batch_code(const batch *b)
{
    if (*tool_cancel_flag())
        return TOOL_INTERRUPTED;
    if (!b->failed)
        return TOOL_OK;
    return b->file_count == 1 ? b->code : TOOL_SOME_FAILED;
}

static int print_json(batch *b, const tamis_graph *graph, int code)
{
    tool *t = b->tool;
    char *chain = tool_graph_text(graph);
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "chain", tool_json_text(chain));
    json_object_set_new(o, "device", b->device[0] ? json_string(b->device) : json_null());
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
    json_object_set_new(o, "threads", json_integer(tamis_ctx_threads(t->ctx)));
    json_object_set_new(o, "peak_bytes", json_integer((json_int_t)tamis_ctx_peak_bytes(t->ctx)));
    json_object_set_new(o, "done", json_integer((json_int_t)b->done));
    json_object_set_new(o, "skipped", json_integer((json_int_t)b->skipped));
    json_object_set_new(o, "failed", json_integer((json_int_t)b->failed));
    json_object_set_new(o, "exit_code", json_integer(code));
    json_object_set(o, "files", b->files);
    free(chain);
    int bad = tool_json_print(t, o);
    return code ? code : bad;
}

static int run_files(tool_job *job, const tool_files *files)
{
    tool *t = job->tool;
    batch b = {.tool = t, .file_count = files->count, .files = json_array()};
    tool_progress_start(&job->progress, t, files->count);
    for (size_t i = 0; i < files->count && !*tool_cancel_flag(); i++) {
        tool_progress_file(&job->progress, i, files->items[i].in);
        tool_report report = tool_job_file(job, &files->items[i]);
        account(&b, &files->items[i], &report);
    }
    tool_progress_hide(t);
    summarize(&b);
    int code = batch_code(&b);
    if (t->options.json)
        code = print_json(&b, job->graph, code);
    for (size_t i = 0; i < b.failed; i++)
        free(b.failures[i]);
    free(b.failures);
    json_decref(b.files);
    return code;
}

static int run_graph(tool *t, const tamis_graph *graph, char **names, int count)
{
    tool_files files = {0};
    tool_job job = {0};
    int code = tool_write_options_check(t);
    if (!code)
        code = tool_files_expand(t, names, count, &files);
    if (!code)
        code = tool_files_assign(t, &files);
    if (!code)
        code = tool_job_start(&job, t, graph);
    if (!code)
        code = run_files(&job, &files);
    tool_job_end(&job);
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
