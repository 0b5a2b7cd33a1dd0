/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "index.h"
#include "manifest.h"
#include "video.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

tamis_read_options tool_read_options(const tool *t)
{
    /* What is kept of a picture that is read by parts is the smaller part of what they take. */
    return (tamis_read_options){.raw = t->options.raw, .cache_bytes = t->options.max_memory / 8};
}

tamis_write_options tool_write_options(const tool *t)
{
    const tool_options *o = &t->options;
    return (tamis_write_options){.overwrite = o->overwrite || o->in_place,
                                 .quality = o->quality,
                                 .level = o->level,
                                 .compression = o->compression,
                                 .tile = o->tiff_tile,
                                 .pyramid = o->pyramid};
}

int tool_write_options_check(tool *t)
{
    tamis_write_options options = tool_write_options(t);
    /* A name that only videos know is right for them; pictures are refused one by one. */
    if (t->options.format && !tamis_video_container(t->options.format))
        options.format = t->options.format;
    tamis_status status = tamis_write_options_check(t->ctx, &options);
    return status ? tool_fail(t, status) : TOOL_OK;
}

const char *tool_output_format(const tool *t, const char *out, const char *in_format)
{
    if (t->options.format)
        return t->options.format;
    const char *slash = strrchr(out, '/');
    const char *base = slash ? slash + 1 : out;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? NULL : in_format;
}

int tool_output_check(const tool *t, const tool_file *file, char *message, size_t size)
{
    struct stat st;
    const tool_options *o = &t->options;
    if (strcmp(file->out, "-") == 0 || stat(file->out, &st) != 0 || !S_ISREG(st.st_mode))
        return TOOL_OK;
    if (o->skip_existing)
        return TOOL_SKIP;
    if (o->overwrite || o->in_place || file->ours)
        return TOOL_OK;
    if (tool_same_file(file->in, file->out))
        snprintf(message, size,
                 "%s: the output is the input %s itself; give --overwrite to "
                 "replace it",
                 file->out, file->in);
    else
        snprintf(message, size, "%s: exists; give --overwrite or --skip_existing", file->out);
    return TOOL_WRITE;
}

static tamis_status read_guide(tool_job *job)
{
    tool *t = job->tool;
    tamis_reader *reader = NULL;
    tamis_status status = tamis_reader_open(t->ctx, t->options.guide, NULL, &reader);
    if (!status)
        status = tamis_reader_read(reader, 0, &job->guide, NULL);
    tamis_reader_close(&reader);
    job->has_guide = !status;
    return status;
}

/* The first filter that cannot do without a guide, or NULL. */
static const tamis_filter *needs_guide(const tamis_graph *graph)
{
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        if (tamis_filter_min_inputs(tamis_graph_filter(graph, i)) > 1)
            return tamis_graph_filter(graph, i);
    }
    return NULL;
}

static int takes_guide(const tamis_graph *graph)
{
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        if (tamis_filter_max_inputs(tamis_graph_filter(graph, i)) > 1)
            return 1;
    }
    return 0;
}

int tool_job_start(tool_job *job, tool *t, const tamis_graph *graph)
{
    *job = (tool_job){.tool = t, .graph = graph};
    tool_gate_open(&job->gate, t->options.max_memory);
    tool_plans_open(&job->plans, &job->gate);
    pthread_mutex_init(&job->mutex, NULL);
    const tamis_filter *needy = needs_guide(graph);
    if (!t->options.guide && needy)
        return tool_usage_error(t,
                                "%s needs a second picture: give --guide FILE; see: tamis help %s",
                                tamis_filter_name(needy), tamis_filter_name(needy));
    if (!t->options.guide)
        return TOOL_OK;
    if (!takes_guide(graph))
        return tool_usage_error(t, "--guide: no filter of the chain takes a second input");
    tamis_status status = read_guide(job);
    return status ? tool_fail(t, status) : TOOL_OK;
}

void tool_job_end(tool_job *job)
{
    tool_plans_close(&job->plans);
    tool_gate_close(&job->gate);
    pthread_mutex_destroy(&job->mutex);
    tamis_image_unref(&job->guide);
}

int tool_worker_start(tool_worker *worker, tool_job *job, tool_share *share)
{
    *worker = (tool_worker){.tool = *job->tool, .job = job, .share = share};
    tool *t = &worker->tool;
    t->error[0] = '\0';
    t->held = tool_copy_text("");
    tamis_status status = tamis_graph_create(t->ctx, &worker->graph);
    for (int i = 0; !status && i < tamis_graph_size(job->graph); i++)
        status = tamis_graph_add(worker->graph, tamis_graph_filter(job->graph, i),
                                 tamis_graph_params(job->graph, i));
    return status ? tool_fail(job->tool, status) : TOOL_OK;
}

void tool_worker_end(tool_worker *worker)
{
    tamis_graph_free(&worker->graph);
    free(worker->tool.held);
}

void tool_report_free(tool_report *report)
{
    if (!report)
        return;
    free(report->message);
    free(report->said);
    free(report->stop);
    json_decref(report->entry);
    free(report->loss);
    free(report);
}

/* Says with -v where pictures are filtered from now on, and why that is not the device: the
 * library's newest text is then about a plan that did not come about. */
static void say_device(tool_worker *worker)
{
    tool_job *job = worker->job;
    tool *t = &worker->tool;
    tamis_device_info info;
    int index;
    pthread_mutex_lock(&job->mutex);
    int known = strcmp(worker->device, job->said) == 0;
    snprintf(job->said, sizeof(job->said), "%s", worker->device);
    pthread_mutex_unlock(&job->mutex);
    if (known)
        return;
    if (sscanf(worker->device, "cuda:%d", &index) == 1 && t->options.verbose &&
        !tamis_device_describe(t->ctx, index, &info))
        tool_detail(t, "filtering on %s (%s%s)", worker->device, info.name,
                    strchr(worker->device, ',') ? " and others" : "");
    else
        tool_detail(t, "filtering on the CPU (%s, %d threads)%s%s", tamis_ctx_cpu(t->ctx),
                    tamis_ctx_threads(t->ctx), t->error[0] ? ", for " : "", t->error);
}

tamis_status tool_worker_plan(tool_worker *worker, tamis_format format, int32_t w, int32_t h,
                              tool_plan **out)
{
    tool_job *job = worker->job;
    tool *t = &worker->tool;
    tamis_plan_options options = {.tile_w = t->options.tile.w,
                                  .tile_h = t->options.tile.h,
                                  .guide = job->has_guide ? &job->guide.format : NULL,
                                  .guide_w = job->guide.w,
                                  .guide_h = job->guide.h,
                                  .whole_bytes = job->gate.budget / 2};
    tamis_status status =
        tool_plans_get(&job->plans, t->ctx, worker->graph, format, w, h, &options, out);
    if (status)
        return status;
    snprintf(worker->device, sizeof(worker->device), "%s", tamis_plan_device((*out)->plan));
    say_device(worker);
    t->error[0] = '\0';
    return TAMIS_OK;
}

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

/* Waits for room for so many bytes in place of those held. A thread that waits leaves its CPU to
 * others. */
void tool_worker_hold(tool_worker *worker, size_t bytes)
{
    tool_gate *gate = &worker->job->gate;
    if (worker->alone)
        return;
    if (worker->held)
        tool_gate_leave(gate, worker->held);
    worker->held = bytes ? bytes : 1;
    if (tool_gate_try(gate, worker->held))
        return;
    tool_plans_drop(&worker->job->plans);
    tamis_ctx_occupy(worker->tool.ctx, -1);
    tool_gate_enter(gate, worker->held);
    tamis_ctx_occupy(worker->tool.ctx, 1);
}

void tool_worker_room(tool_worker *worker, const tamis_plan *plan, const tamis_file_info *info)
{
    size_t bytes = bytes_of(plan, info);
    if (bytes > worker->held)
        tool_worker_hold(worker, bytes);
}

static void give_room(tool_worker *worker)
{
    tool_gate_leave(&worker->job->gate, worker->held);
    worker->held = 0;
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

static tamis_status write_file(tool_worker *worker, const tool_file *file, tamis_reader *reader,
                               const tamis_file_info *info, tool_report *report)
{
    tool *t = &worker->tool;
    tamis_write_options options = tool_write_options(t);
    options.format = tool_output_format(t, file->out, info->format);
    options.pages = info->pages;
    options.overwrite = options.overwrite || file->ours;
    tamis_writer *writer = NULL;
    tamis_status status = tool_worker_begin(worker, file);
    if (!status)
        status = tamis_writer_open(t->ctx, file->out, &options, &writer);
    if (!status)
        status = tool_worker_pages(worker, reader, info, writer, report);
    double start = tool_now();
    if (!status && tool_canceled())
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = tamis_writer_finish(writer);
    tamis_writer_close(&writer);
    report->write_s += tool_now() - start;
    return status;
}

/* Plans, to know what memory it takes, and to find with a dry run what would be refused. */
static tamis_status do_pages(tool_worker *worker, const tool_file *file, tamis_reader *reader,
                             const tamis_file_info *info, tool_report *report)
{
    tool_plan *plan = NULL;
    tamis_status status = tool_worker_plan(worker, info->image, info->w, info->h, &plan);
    if (status)
        return status;
    report->out = tamis_plan_format(plan->plan);
    tamis_plan_size(plan->plan, &report->out_w, &report->out_h);
    size_t bytes = tool_parts_wanted(worker, plan->plan, info) ? tool_parts_bytes(worker)
                                                               : bytes_of(plan->plan, info);
    tool_plans_put(&worker->job->plans, plan);
    report->pages = info->pages;
    if (worker->tool.options.dry_run)
        return TAMIS_OK;
    report->pages = 0;
    tool_worker_hold(worker, bytes);
    if (tool_canceled()) /* while it waited */
        return TAMIS_ERR_CANCELED;
    return write_file(worker, file, reader, info, report);
}

static tamis_status do_file(tool_worker *worker, const tool_file *file, tool_report *report)
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
        status = do_pages(worker, file, reader, &info, report);
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
    *report = (tool_report){.outcome = TOOL_FAILED};
    tamis_ctx_occupy(worker->tool.ctx, -1);
    worker->held = tool_gate_alone(&job->gate);
    tamis_ctx_occupy(worker->tool.ctx, 1);
    tool_plans_drop(&job->plans);
    worker->alone = 1;
    tamis_status status = do_file(worker, file, report);
    worker->alone = 0;
    return status;
}

/* Whether all files to come would fail, too: there is no room left to write to. */
static int is_hopeless(tamis_status status, const char *error)
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
    if (is_hopeless(status, error))
        report->stop = tool_copy_text("there is no room left to write to");
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

/* Whether the file can be read and written once more: nothing of it is lost by the first time. */
static int can_repeat(const tool_file *file)
{
    struct stat st;
    return strcmp(file->in, "-") != 0 && stat(file->in, &st) == 0 && S_ISREG(st.st_mode) &&
           strcmp(file->out, "-") != 0 && (stat(file->out, &st) != 0 || S_ISREG(st.st_mode));
}

static void filter_file(tool_worker *worker, const tool_file *file, tool_report *report)
{
    tool *t = &worker->tool;
    char text[sizeof(t->error)];
    int check = tool_output_check(t, file, text, sizeof(text));
    if (check == TOOL_SKIP) {
        report->outcome = TOOL_SKIPPED;
        report->message = tool_print_text("%s exists", file->out);
        return;
    }
    if (check) {
        *report = (tool_report){TOOL_FAILED, .code = check, .message = tool_copy_text(text)};
        return;
    }
    tamis_status status = do_file(worker, file, report);
    if ((status == TAMIS_ERR_LIMIT || status == TAMIS_ERR_MEMORY) && can_repeat(file))
        status = do_file_alone(worker, file, report);
    snprintf(report->device, sizeof(report->device), "%s", worker->device);
    if (status)
        report_failure(worker, file, status, report);
    else
        report->outcome = t->options.dry_run ? TOOL_PLANNED : TOOL_DONE;
}

/* Reads the pictures once more, for the index of --report. */
static void note_index(tool_worker *worker, const tool_file *file, tool_report *report)
{
    if (!worker->job->index || report->outcome != TOOL_DONE)
        return;
    tool_worker_hold(worker, picture_bytes(report->in, report->in_w, report->in_h) +
                                 picture_bytes(report->out, report->out_w, report->out_h));
    report->entry = tool_index_entry(worker->job->index, &worker->tool, file, report);
    give_room(worker);
}

tool_report *tool_worker_file(tool_worker *worker, const tool_file *file)
{
    tool *t = &worker->tool;
    tool_report *report = tool_alloc(sizeof(*report));
    if (file->done) {
        report->outcome = TOOL_SKIPPED;
        report->message = tool_copy_text("done already");
        return report;
    }
    filter_file(worker, file, report);
    note_end(worker, file, report);
    note_index(worker, file, report);
    report->said = t->held;
    t->held = tool_copy_text("");
    return report;
}
