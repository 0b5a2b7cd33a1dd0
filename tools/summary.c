/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "index.h"
#include "json.h"
#include "manifest.h"

/* What became of all files. */
typedef struct summary {
    tool *tool;
    const tool_job *job;
    size_t done, failed, skipped;
    size_t damaged;  /* of those done: something of them could not be read */
    int code;        /* of the last failure */
    json_t *files;   /* with --json */
    char **failures; /* messages, for the summary */
    char device[64]; /* where files were filtered; empty before the first */
} summary;

static json_t *video_shape(const char *kind, int32_t w, int32_t h, tamis_format format)
{
    json_t *o = tool_json_shape(w, h, format);
    json_object_set_new(o, "video", json_string(kind));
    return o;
}

static void add_result(const tool_report *r, json_t *o)
{
    json_object_set_new(o, "device", json_string(r->device));
    json_object_set_new(o, "pages", json_integer(r->pages));
    if (r->is_video) {
        json_object_set_new(o, "frames", json_integer((json_int_t)r->frames));
        json_object_set_new(o, "loss", r->loss ? tool_json_text(r->loss) : json_null());
        json_object_set_new(o, "source", video_shape(r->kind, r->in_w, r->in_h, r->in));
        json_object_set_new(o, "result", video_shape(r->out_kind, r->out_w, r->out_h, r->out));
        return;
    }
    json_object_set_new(o, "source", tool_json_shape(r->in_w, r->in_h, r->in));
    json_object_set_new(o, "result", tool_json_shape(r->out_w, r->out_h, r->out));
}

static void add_json(summary *s, const tool_file *file, const tool_report *r)
{
    static const char *const outcomes[] = {"done", "skipped", "planned", "failed"};
    json_t *o = json_object();
    json_object_set_new(o, "input", tool_json_text(file->in));
    json_object_set_new(o, "output", tool_json_text(file->out));
    json_object_set_new(o, "status", json_string(outcomes[r->outcome]));
    json_object_set_new(o, "code", json_integer(r->code));
    if (r->outcome == TOOL_FAILED)
        json_object_set_new(o, "error", tool_json_text(r->message));
    if (r->outcome == TOOL_SKIPPED)
        json_object_set_new(o, "reason", tool_json_text(r->message));
    if (r->chain)
        json_object_set_new(o, "chain", tool_json_text(r->chain));
    if (r->outcome == TOOL_DONE || r->outcome == TOOL_PLANNED)
        add_result(r, o);
    if (r->outcome == TOOL_DONE) {
        json_object_set_new(o, "by_parts", json_boolean(r->by_parts));
        json_object_set_new(o, "together", json_integer(r->together ? r->together : 1));
        if (r->chain)
            json_object_set_new(o, "choose_seconds", json_real(r->choose_s));
        json_object_set_new(o, "read_seconds", json_real(r->read_s));
        json_object_set_new(o, "filter_seconds", json_real(r->filter_s));
        json_object_set_new(o, "write_seconds", json_real(r->write_s));
    }
    json_array_append_new(s->files, o);
}

static void describe_video(tool *t, const tool_file *file, const tool_report *r)
{
    double rate = r->filter_s > 0 ? (double)r->frames / r->filter_s : 0;
    if (r->outcome == TOOL_DONE)
        tool_detail(t, "%s -> %s: %s, %lld frames, %.1f frames/s", file->in, file->out, r->kind,
                    (long long)r->frames, rate);
    else if (!t->options.json)
        printf("%s -> %s: %s -> %s\n", file->in, file->out, r->kind, r->out_kind);
}

static void describe(tool *t, const tool_file *file, const tool_report *r)
{
    char in[16], out[16], pages[32] = "", together[32] = "", chosen[32] = "";
    if (r->is_video && r->outcome != TOOL_SKIPPED) {
        describe_video(t, file, r);
        return;
    }
    tool_format_name(r->in, in, sizeof(in));
    tool_format_name(r->out, out, sizeof(out));
    if (r->pages > 1)
        snprintf(pages, sizeof(pages), ", %d pages", r->pages);
    if (r->together)
        snprintf(together, sizeof(together), "one of %d, ", r->together);
    if (r->chain)
        snprintf(chosen, sizeof(chosen), "choose %.1f ms, ", 1e3 * r->choose_s);
    if (r->outcome == TOOL_DONE)
        tool_detail(t, "%s -> %s: %s %dx%d%s; %s%s%sread %.1f ms, filter %.1f ms, write %.1f ms",
                    file->in, file->out, in, r->in_w, r->in_h, pages,
                    r->by_parts ? "by parts, " : "", together, chosen, 1e3 * r->read_s,
                    1e3 * r->filter_s, 1e3 * r->write_s);
    else if (r->outcome == TOOL_SKIPPED)
        tool_detail(t, "%s: skipped, %s", file->in, r->message);
    else if (!t->options.json)
        printf("%s -> %s: %s %dx%d -> %s %dx%d%s\n", file->in, file->out, in, r->in_w, r->in_h, out,
               r->out_w, r->out_h, pages);
}

static void tell(void *user, const tool_file *file, const tool_report *r)
{
    summary *s = user;
    tool *t = s->tool;
    if (r->said && *r->said) {
        tool_progress_hide(t);
        fputs(r->said, stderr);
    }
    s->done += r->outcome == TOOL_DONE || r->outcome == TOOL_PLANNED;
    s->skipped += r->outcome == TOOL_SKIPPED;
    if (r->device[0])
        snprintf(s->device, sizeof(s->device), "%s",
                 s->device[0] && strcmp(s->device, r->device) != 0 ? "mixed" : r->device);
    if (t->options.json)
        add_json(s, file, r);
    tool_index_add(s->job->index, file, r);
    if (r->loss) {
        s->damaged++;
        tool_warn(t, "%s", r->loss);
    }
    if (r->outcome != TOOL_FAILED) {
        describe(t, file, r);
        return;
    }
    s->code = r->code;
    if (r->code == TOOL_INTERRUPTED)
        return;
    if (r->code == TOOL_WRITE && strcmp(file->out, "-") == 0)
        s->code = tool_output_failed(t, r->message);
    else
        tool_error(t, "%s", r->message);
    s->failures = tool_grow(s->failures, (s->failed + 1) * sizeof(*s->failures));
    s->failures[s->failed++] = tool_copy_text(file->in);
}

static void summarize(const summary *s, const char *stopped)
{
    tool *t = s->tool;
    size_t count = s->job->files->count, rest = count - s->done - s->failed - s->skipped;
    size_t unread = s->job->files->unread_count;
    if (stopped && (count > 1 || !s->failed))
        tool_error(t, "stopped early: %s", stopped);
    if (count + unread < 2 || (!s->failed && !rest && !unread && !t->options.verbose))
        return;
    char *left = rest ? tool_print_text(", %zu not begun or not finished", rest) : NULL;
    char *lost =
        unread ? tool_print_text(", %zu folder%s not read", unread, unread > 1 ? "s" : "") : NULL;
    tool_note(t, "%zu of %zu files done, %zu skipped, %zu failed%s%s%s", s->done, count, s->skipped,
              s->failed, left ? left : "", lost ? lost : "", s->failed || unread ? ":" : "");
    free(left);
    free(lost);
    for (size_t i = 0; i < s->failed; i++)
        tool_note(t, "  failed: %s", s->failures[i]);
    for (size_t i = 0; i < unread; i++)
        tool_note(t, "  not read: %s", s->job->files->unread[i].folder);
    if (rest && s->job->manifest)
        tool_note(t, "the same command with --resume goes on");
}

static int exit_code(const summary *s, const char *stopped)
{
    if (tool_canceled())
        return TOOL_INTERRUPTED;
    if (stopped)
        return TOOL_WRITE;
    const tool_files *files = s->job->files;
    if (!s->failed)
        return files->unread_count || s->damaged ? TOOL_SOME_FAILED : TOOL_OK;
    return files->count + files->unread_count == 1 ? s->code : TOOL_SOME_FAILED;
}

static int print_json(summary *s, int code)
{
    tool *t = s->tool;
    char *chain = tool_graph_text(s->job->graph);
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "chain", tool_json_text(chain));
    if (s->job->manifest)
        json_object_set_new(o, "manifest", tool_json_text(tool_manifest_path(s->job->manifest)));
    if (s->job->index)
        json_object_set_new(o, "report", tool_json_text(t->options.report));
    if (t->options.shard)
        json_object_set_new(o, "shard", json_string(t->options.shard));
    json_object_set_new(o, "device", s->device[0] ? json_string(s->device) : json_null());
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
    json_object_set_new(o, "threads", json_integer(tamis_ctx_threads(t->ctx)));
    json_object_set_new(o, "jobs", json_integer(tool_batch_workers(s->job)));
    json_object_set_new(o, "peak_bytes", json_integer((json_int_t)tamis_ctx_peak_bytes(t->ctx)));
    json_object_set_new(o, "done", json_integer((json_int_t)s->done));
    json_object_set_new(o, "skipped", json_integer((json_int_t)s->skipped));
    json_object_set_new(o, "failed", json_integer((json_int_t)s->failed));
    json_object_set_new(o, "exit_code", json_integer(code));
    json_object_set_new(o, "unread", tool_files_unread_json(s->job->files));
    json_object_set(o, "files", s->files);
    free(chain);
    int bad = tool_json_print(t, o);
    return code ? code : bad;
}

int tool_run_all(tool_job *job)
{
    tool *t = job->tool;
    char *stopped = NULL;
    summary s = {.tool = t, .job = job, .files = json_array()};
    int code = tool_batch_run(job, tell, &s, &stopped);
    if (!code) {
        summarize(&s, stopped);
        code = exit_code(&s, stopped);
        int page = tool_canceled() ? TOOL_OK : tool_index_write(job->index);
        code = code ? code : page;
        if (t->options.json)
            code = print_json(&s, code);
    }
    for (size_t i = 0; i < s.failed; i++)
        free(s.failures[i]);
    free(s.failures);
    free(stopped);
    json_decref(s.files);
    return code;
}
