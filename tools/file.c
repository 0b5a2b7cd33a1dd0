/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "choose.h"
#include "group.h"
#include "index.h"
#include "manifest.h"
#include "parts.h"
#include "video.h"

/* ---- memory */

static size_t picture_bytes(tamis_format format, int32_t w, int32_t h)
{
    return (size_t)w * (size_t)h * (size_t)format.channels * tamis_type_size(format.type);
}

/* What the file's pictures take in memory: those read, as many as temporal filters look at, and the
 * result. */
static size_t bytes_of(const tamis_plan *plan, const tamis_file_info *info)
{
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    int frames = 2 * tamis_plan_frames(plan) + 1;
    size_t pages = (size_t)(frames < info->pages ? frames : info->pages);
    return pages * picture_bytes(info->image, info->w, info->h) +
           picture_bytes(tamis_plan_format(plan), w, h);
}

static void give_room(tool_worker *worker)
{
    if (worker->held)
        tool_gate_leave(&worker->job->gate, worker->held);
    worker->held = 0;
}

static void wait_outside(tool_worker *worker, size_t bytes)
{
    tool_plans_drop(&worker->job->plans);
    tamis_ctx_occupy(worker->tool.ctx, -1);
    tool_gate_enter(&worker->job->gate, bytes);
    tamis_ctx_occupy(worker->tool.ctx, 1);
}

/* Waits for room for so many bytes in place of those held. A thread that waits leaves its CPU to
 * others, and holds no pictures that would have to be written first. */
void tool_worker_hold(tool_worker *worker, size_t bytes)
{
    tool_gate *gate = &worker->job->gate;
    if (worker->alone)
        return;
    give_room(worker);
    bytes = bytes ? bytes : 1;
    if (!tool_gate_try(gate, bytes)) {
        tool_group_finish(worker);
        wait_outside(worker, bytes);
    }
    worker->held = bytes;
}

void tool_worker_room(tool_worker *worker, const tamis_plan *plan, const tamis_file_info *info)
{
    size_t bytes = bytes_of(plan, info);
    if (bytes > worker->held)
        tool_worker_hold(worker, bytes);
}

/* ---- one file */

/* So that a result without a line that says how it came about is known to be this batch's. */
static tamis_status note_begin(tool_worker *worker, const tool_file *file)
{
    tool_manifest *manifest = worker->job->manifest;
    int error = tool_manifest_begin(manifest, file);
    return error ? tamis_ctx_fail(worker->tool.ctx, TAMIS_ERR_WRITE,
                                  "%s: cannot write the manifest: %s", tool_manifest_path(manifest),
                                  strerror(error))
                 : TAMIS_OK;
}

static void note_end(tool_worker *worker, const tool_file *file, tool_report *report)
{
    tool_manifest *manifest = worker->job->manifest;
    int error = tool_manifest_end(manifest, file, report);
    if (error && !report->stop)
        report->stop = tool_print_text("%s: cannot write the manifest: %s",
                                       tool_manifest_path(manifest), strerror(error));
}

tamis_status tool_worker_begin(tool_worker *worker, const tool_file *file)
{
    tool *t = &worker->tool;
    tamis_status status = note_begin(worker, file);
    if (!status && file->sub && *file->sub && !t->options.in_place &&
        tool_is_folder(t->options.out))
        status = tool_make_folders(t->ctx, file);
    return status;
}

static tamis_write_options options_of(const tool *t, const tool_file *file,
                                      const tamis_file_info *info)
{
    tamis_write_options options = tool_write_options(t);
    options.format = tool_output_format(t, file->out, info->format);
    options.pages = info->pages;
    options.overwrite = options.overwrite || file->ours;
    return options;
}

tamis_status tool_file_open(tool_worker *worker, const tool_file *file, const tamis_file_info *info,
                            tamis_writer **writer)
{
    tool *t = &worker->tool;
    tamis_write_options options = options_of(t, file, info);
    tamis_status status = tool_worker_begin(worker, file);
    return status ? status : tamis_writer_open(t->ctx, file->out, &options, writer);
}

/* Whether the output can hold the result, before any work; and whether the file goes by parts. */
static tamis_status check_result(tool_worker *worker, const tool_file *file, const tamis_plan *plan,
                                 const tamis_file_info *info, int *by_parts)
{
    tool *t = &worker->tool;
    int32_t w, h;
    tamis_write_options options = options_of(t, file, info);
    tamis_plan_size(plan, &w, &h);
    tamis_status status =
        tamis_writer_check(t->ctx, file->out, &options, tamis_plan_format(plan), w, h, by_parts);
    *by_parts = *by_parts && tool_parts_wanted(t, plan, info);
    if (*by_parts)
        tool_detail(t, "%s: by parts, in about %zu MB of memory", file->in,
                    tool_parts_memory(t, plan) / 1000000);
    return status;
}

tamis_status tool_file_close(tamis_status status, tamis_writer **writer, tool_report *report)
{
    double start = tool_now();
    if (!status && tool_canceled())
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = tamis_writer_finish(*writer);
    tamis_writer_close(writer);
    report->write_s += tool_now() - start;
    return status;
}

static tamis_status write_file(tool_worker *worker, const tool_file *file, tamis_reader *reader,
                               const tamis_file_info *info, tool_report *report)
{
    tamis_writer *writer = NULL;
    tamis_status status = tool_file_open(worker, file, info, &writer);
    if (!status)
        status = tool_worker_pages(worker, reader, info, writer, report);
    return tool_file_close(status, &writer, report);
}

static void forget_choice(tool_worker *worker)
{
    tamis_graph_free(&worker->chosen);
    free(worker->chain);
    worker->chain = NULL;
}

/* Chooses what the chain leaves to the picture: the file's first page decides for all of it. */
static tamis_status choose(tool_worker *worker, const tool_file *file, tamis_reader *reader,
                           const tamis_file_info *info, tool_report *report)
{
    tool *t = &worker->tool;
    const tool_job *job = worker->job;
    forget_choice(worker);
    if (!tamis_graph_is_open(worker->graph))
        return TAMIS_OK;
    double start = tool_now();
    size_t whole = picture_bytes(info->image, info->w, info->h);
    tool_worker_hold(worker, tool_choose_by_parts(t, info) ? tool_parts_bytes(t) : 2 * whole);
    tamis_status status = tool_choose(t, worker->graph, reader, 0, info,
                                      job->has_guide ? &job->guide : NULL, &worker->chosen);
    report->choose_s = tool_now() - start;
    if (status)
        return status;
    worker->chain = tool_graph_text(worker->chosen);
    free(report->chain);
    report->chain = tool_copy_text(worker->chain);
    tool_detail(t, "%s: %s", file->in, worker->chain);
    return TAMIS_OK;
}

/* Plans, to know what memory it takes, and to find with a dry run what would be refused. *kept
 * becomes 1 when the file is to be filtered with others. */
static tamis_status do_pages(tool_worker *worker, const tool_file *file, tamis_reader *reader,
                             const tamis_file_info *info, tool_report *report, int *kept)
{
    tool_plan *plan = NULL;
    tamis_status status = choose(worker, file, reader, info, report);
    if (!status)
        status = tool_worker_plan(worker, info->image, info->w, info->h, &plan);
    if (status)
        return status;
    report->out = tamis_plan_format(plan->plan);
    tamis_plan_size(plan->plan, &report->out_w, &report->out_h);
    int by_parts = 0;
    status = check_result(worker, file, plan->plan, info, &by_parts);
    size_t bytes = by_parts ? tool_parts_bytes(&worker->tool) : bytes_of(plan->plan, info);
    int wanted = !by_parts && tool_group_wants(worker, file, plan, info, bytes);
    report->pages = info->pages;
    if (!status && !worker->tool.options.dry_run) {
        report->pages = 0;
        if (wanted && tool_group_is_full(worker, plan, bytes)) {
            give_room(worker);
            tool_group_finish(worker);
        }
        tool_worker_hold(worker, bytes);
        if (tool_canceled()) /* while it waited */
            status = TAMIS_ERR_CANCELED;
        else if (wanted)
            status = tool_group_add(worker, file, plan, reader, info, report, kept);
    }
    if (!*kept)
        tool_plans_put(&worker->job->plans, plan);
    return status || worker->tool.options.dry_run || *kept
               ? status
               : write_file(worker, file, reader, info, report);
}

static tamis_status do_file(tool_worker *worker, const tool_file *file, tool_report *report,
                            int *kept)
{
    tool *t = &worker->tool;
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_file_info info;
    double start = tool_now();
    t->error[0] = worker->device[0] = '\0';
    tool_worker_hold(worker, 1);
    if (tool_video_is(worker, file)) {
        tamis_status ended = tool_video_file(worker, file, report);
        give_room(worker);
        return ended;
    }
    tamis_status status = tamis_reader_open(t->ctx, file->in, &options, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, &info);
    report->read_s += tool_now() - start;
    if (!status) {
        report->in = info.image;
        report->in_w = info.w;
        report->in_h = info.h;
        status = do_pages(worker, file, reader, &info, report, kept);
    }
    tamis_reader_close(&reader);
    give_room(worker);
    return status;
}

/* Once more, when memory was lacking that other files may have had: alone, without plans for
 * others. */
static tamis_status do_file_alone(tool_worker *worker, const tool_file *file, tool_report *report)
{
    tool_job *job = worker->job;
    int kept = 0;
    tool_report_reset(report);
    tool_group_finish(worker);
    tamis_ctx_occupy(worker->tool.ctx, -1);
    worker->held = tool_gate_alone(&job->gate);
    tamis_ctx_occupy(worker->tool.ctx, 1);
    tool_plans_drop(&job->plans);
    worker->alone = 1;
    tamis_status status = do_file(worker, file, report, &kept);
    worker->alone = 0;
    return status;
}

/* Whether files to come would fail there, too: there is no room left to write to. */
static int lacks_room(tamis_status status, const char *error)
{
    return status == TAMIS_ERR_WRITE &&
           (strstr(error, strerror(ENOSPC)) || strstr(error, strerror(EDQUOT)));
}

/* Whether a text of the library begins with that name and a colon. */
static int is_about(const char *error, const char *name, const char *stream)
{
    const char *shown = strcmp(name, "-") == 0 ? stream : name;
    size_t length = strlen(shown);
    return strncmp(error, shown, length) == 0 && error[length] == ':';
}

static void report_failure(tool_worker *worker, const tool_file *file, tamis_status status,
                           tool_report *report)
{
    const char *error = worker->tool.error;
    report->outcome = TOOL_FAILED;
    report->code = tool_canceled() ? TOOL_INTERRUPTED : tool_exit_code(status);
    if (lacks_room(status, error))
        report->no_room = 1;
    /* The library's texts about files name the file; those about parameters do not know it. */
    int named = is_about(error, file->in, "standard input") ||
                is_about(error, file->out, "standard output");
    char hint[256] = "";
    if (status == TAMIS_ERR_UNSUPPORTED && !report->is_video)
        tool_type_hint(worker, report, hint, sizeof(hint));
    else if (status == TAMIS_ERR_MEMORY && worker->tool.options.max_memory)
        snprintf(hint, sizeof(hint), "; the limit is --max_memory %zu bytes",
                 worker->tool.options.max_memory);
    report->message = tool_print_text("%s%s%s%s", named ? "" : file->in, named ? "" : ": ",
                                      *error ? error : tamis_status_name(status), hint);
}

int tool_file_repeats(const tool_file *file)
{
    struct stat st;
    return strcmp(file->in, "-") != 0 && stat(file->in, &st) == 0 && S_ISREG(st.st_mode) &&
           strcmp(file->out, "-") != 0 && (stat(file->out, &st) != 0 || S_ISREG(st.st_mode));
}

/* Reads the pictures once more, for the index of --report. */
static void note_index(tool_worker *worker, const tool_file *file, tool_report *report)
{
    if (!worker->job->index || report->outcome != TOOL_DONE || report->is_video)
        return;
    tool_worker_hold(worker, picture_bytes(report->in, report->in_w, report->in_h) +
                                 picture_bytes(report->out, report->out_w, report->out_h));
    report->entry = tool_index_entry(worker->job->index, &worker->tool, file, report);
    give_room(worker);
}

/* What has been said since is the file's. */
static void keep_said(tool_worker *worker, tool_report *report)
{
    tool *t = &worker->tool;
    char *said = report->said ? tool_print_text("%s%s", report->said, t->held) : t->held;
    if (report->said) {
        free(report->said);
        free(t->held);
    }
    report->said = said;
    t->held = tool_copy_text("");
}

int tool_file_end(tool_worker *worker, const tool_file *file, tamis_status status,
                  tool_report *report)
{
    if ((status == TAMIS_ERR_LIMIT || status == TAMIS_ERR_MEMORY) && tool_file_repeats(file)) {
        status = do_file_alone(worker, file, report);
        snprintf(report->device, sizeof(report->device), "%s", worker->device);
    }
    if (status)
        report_failure(worker, file, status, report);
    else
        report->outcome = worker->tool.options.dry_run ? TOOL_PLANNED : TOOL_DONE;
    note_end(worker, file, report);
    note_index(worker, file, report);
    keep_said(worker, report);
    return worker->deliver(worker, file, report);
}

static void filter_file(tool_worker *worker, const tool_file *file, tool_report *report)
{
    int kept = 0;
    tamis_status status = do_file(worker, file, report, &kept);
    snprintf(report->device, sizeof(report->device), "%s", worker->device);
    if (kept)
        keep_said(worker, report);
    else
        tool_file_end(worker, file, status, report);
}

void tool_worker_file(tool_worker *worker, const tool_file *file)
{
    tool *t = &worker->tool;
    char text[sizeof(t->error)];
    tool_report *report = tool_alloc(sizeof(*report));
    int check = file->done ? TOOL_SKIP : tool_output_check(t, file, text, sizeof(text));
    if (!check) {
        filter_file(worker, file, report);
        return;
    }
    report->outcome = check == TOOL_SKIP ? TOOL_SKIPPED : TOOL_FAILED;
    report->code = check == TOOL_SKIP ? TOOL_OK : check;
    report->message = file->done           ? tool_copy_text("done already")
                      : check == TOOL_SKIP ? tool_print_text("%s exists", file->out)
                                           : tool_copy_text(text);
    if (!file->done)
        note_end(worker, file, report);
    keep_said(worker, report);
    worker->deliver(worker, file, report);
}
