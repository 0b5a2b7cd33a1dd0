/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "batch.h"
#include "group.h"
#include "json.h"
#include "video.h"

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
                                 .lossless = o->lossless,
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
    worker->group = tool_group_new(job->gate.budget / 2 / (size_t)tool_batch_workers(job));
    tamis_status status = tamis_graph_create(t->ctx, &worker->graph);
    for (int i = 0; !status && i < tamis_graph_size(job->graph); i++)
        status = tamis_graph_add(worker->graph, tamis_graph_filter(job->graph, i),
                                 tamis_graph_params(job->graph, i));
    return status ? tool_fail(job->tool, status) : TOOL_OK;
}

void tool_worker_end(tool_worker *worker)
{
    tool_group_free(worker);
    tool_pinned_drop(worker, &worker->source);
    tool_pinned_drop(worker, &worker->result);
    tamis_graph_free(&worker->graph);
    tamis_graph_free(&worker->chosen);
    free(worker->chain);
    free(worker->tool.held);
}

void tool_report_reset(tool_report *report)
{
    char *said = report->said;
    free(report->message);
    free(report->stop);
    free(report->chain);
    json_decref(report->entry);
    free(report->loss);
    *report = (tool_report){.outcome = TOOL_FAILED, .said = said};
}

void tool_report_free(tool_report *report)
{
    if (!report)
        return;
    tool_report_reset(report);
    free(report->said);
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

const tamis_graph *tool_worker_graph(const tool_worker *worker)
{
    return worker->chosen ? worker->chosen : worker->graph;
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
    tamis_status status = tool_plans_get(&job->plans, t->ctx, tool_worker_graph(worker),
                                         worker->chain, format, w, h, &options, out);
    if (status)
        return status;
    snprintf(worker->device, sizeof(worker->device), "%s", tamis_plan_device((*out)->plan));
    say_device(worker);
    t->error[0] = '\0';
    return TAMIS_OK;
}
