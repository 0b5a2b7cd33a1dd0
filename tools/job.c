/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "stack.h"

tamis_read_options tool_read_options(const tool *t)
{
    return (tamis_read_options){.raw = t->options.raw};
}

tamis_write_options tool_write_options(const tool *t)
{
    const tool_options *o = &t->options;
    return (tamis_write_options){.overwrite = o->overwrite || o->in_place,
                                 .quality = o->quality,
                                 .level = o->level,
                                 .compression = o->compression,
                                 .tile = o->tiff_tile};
}

int tool_write_options_check(tool *t)
{
    tamis_write_options options = tool_write_options(t);
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
    if (o->overwrite || o->in_place)
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
    for (int i = 0; i < TOOL_PLANS; i++)
        tamis_plan_free(&job->plans[i].plan);
    tamis_image_unref(&job->guide);
    tamis_image_unref(&job->result);
}

/* Says with -v where pictures are filtered from now on, and why that is not the device: the
 * library's newest text is then about a plan that did not come about. */
static void say_device(tool_job *job)
{
    tool *t = job->tool;
    tamis_device_info info;
    int index;
    if (strcmp(job->device, job->said) == 0)
        return;
    snprintf(job->said, sizeof(job->said), "%s", job->device);
    if (sscanf(job->device, "cuda:%d", &index) == 1 && t->options.verbose &&
        !tamis_device_describe(t->ctx, index, &info))
        tool_detail(t, "filtering on %s (%s%s)", job->device, info.name,
                    strchr(job->device, ',') ? " and others" : "");
    else
        tool_detail(t, "filtering on the CPU (%s, %d threads)%s%s", tamis_ctx_cpu(t->ctx),
                    tamis_ctx_threads(t->ctx), t->error[0] ? ", for " : "", t->error);
}

static tamis_status make_plan(tool_job *job, tamis_format format, int32_t w, int32_t h,
                              const tamis_plan **out)
{
    tool *t = job->tool;
    tamis_plan_options options = {.tile_w = t->options.tile.w,
                                  .tile_h = t->options.tile.h,
                                  .guide = job->has_guide ? &job->guide.format : NULL,
                                  .guide_w = job->guide.w,
                                  .guide_h = job->guide.h};
    tamis_plan *plan;
    tamis_status status = tamis_plan_create(t->ctx, job->graph, format, w, h, &options, &plan);
    if (status)
        return status;
    tool_plan *slot = &job->plans[job->next_plan];
    job->next_plan = (job->next_plan + 1) % TOOL_PLANS;
    tamis_plan_free(&slot->plan);
    *slot = (tool_plan){plan, format, w, h};
    *out = plan;
    return TAMIS_OK;
}

static tamis_status find_plan(tool_job *job, tamis_format format, int32_t w, int32_t h,
                              const tamis_plan **out)
{
    tamis_status status = TAMIS_OK;
    *out = NULL;
    for (int i = 0; i < TOOL_PLANS && !*out; i++) {
        tool_plan *p = &job->plans[i];
        if (p->plan && tamis_format_equal(p->format, format) && p->w == w && p->h == h)
            *out = p->plan;
    }
    if (!*out)
        status = make_plan(job, format, w, h, out);
    if (status)
        return status;
    snprintf(job->device, sizeof(job->device), "%s", tamis_plan_device(*out));
    say_device(job);
    job->tool->error[0] = '\0';
    return TAMIS_OK;
}

static tamis_status prepare_result(tool_job *job, const tamis_plan *plan)
{
    int32_t w, h;
    tamis_format format = tamis_plan_format(plan);
    tamis_plan_size(plan, &w, &h);
    tamis_image *result = &job->result;
    if (result->data[0] && tamis_format_equal(result->format, format) && result->w == w &&
        result->h == h)
        return TAMIS_OK;
    tamis_image_unref(result);
    return tamis_image_create(job->tool->ctx, format, w, h, result);
}

/* Filters one page; what temporal filters look at around it is read on the way. */
static tamis_status filter_page(tool_job *job, tool_stack *stack, const tool_page *page)
{
    const tamis_image *image = &page->image, *frames[TOOL_STACK_SLOTS];
    const tamis_plan *plan = NULL;
    tamis_status status = find_plan(job, image->format, image->w, image->h, &plan);
    if (!status)
        status = prepare_result(job, plan);
    if (!status)
        status = tool_stack_frames(stack, page->number, tamis_plan_frames(plan), frames);
    if (status)
        return status;
    tamis_run_options run = {.progress = tool_progress_step,
                             .progress_user = &job->progress,
                             .cancel = tool_cancel_flag(),
                             .guide = job->has_guide ? &job->guide : NULL,
                             .frames = frames};
    tool_stack_drop(stack, page->number - tamis_plan_frames(plan));
    return tamis_plan_run(plan, image, &job->result, &run);
}

static tamis_status do_page(tool_job *job, tool_stack *stack, int number, tamis_writer *writer,
                            tool_report *report)
{
    const volatile int *cancel = tool_cancel_flag();
    tool_page *page = NULL;
    double start = tool_now();
    tamis_status status = tool_stack_get(stack, number, &page);
    double read = tool_now();
    report->read_s += read - start;
    if (!status && *cancel)
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = filter_page(job, stack, page);
    double filtered = tool_now();
    report->filter_s += filtered - read;
    if (!status && *cancel)
        status = TAMIS_ERR_CANCELED;
    if (!status && number == 0) {
        report->out = job->result.format;
        report->out_w = job->result.w;
        report->out_h = job->result.h;
    }
    if (!status)
        status =
            tamis_writer_write(writer, &job->result, job->tool->options.strip ? NULL : &page->meta);
    report->write_s += tool_now() - filtered;
    return status;
}

static tamis_status do_pages(tool_job *job, const tool_file *file, tamis_reader *reader,
                             const tamis_file_info *info, tool_report *report)
{
    tamis_write_options options = tool_write_options(job->tool);
    options.format = tool_output_format(job->tool, file->out, info->format);
    options.pages = info->pages;
    tamis_writer *writer = NULL;
    tool_stack stack;
    tool_stack_open(&stack, reader, info->pages);
    tamis_status status = tamis_writer_open(job->tool->ctx, file->out, &options, &writer);
    for (int page = 0; !status && page < info->pages; page++) {
        status = do_page(job, &stack, page, writer, report);
        report->pages += !status;
    }
    tool_stack_close(&stack);
    double start = tool_now();
    if (!status && *tool_cancel_flag())
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = tamis_writer_finish(writer);
    tamis_writer_close(&writer);
    report->write_s += tool_now() - start;
    return status;
}

/* Plans without running, so that a dry run finds what would be refused. */
static tamis_status plan_only(tool_job *job, const tamis_file_info *info, tool_report *report)
{
    const tamis_plan *plan = NULL;
    tamis_status status = find_plan(job, info->image, info->w, info->h, &plan);
    if (status)
        return status;
    report->out = tamis_plan_format(plan);
    tamis_plan_size(plan, &report->out_w, &report->out_h);
    report->pages = info->pages;
    return TAMIS_OK;
}

static tamis_status do_file(tool_job *job, const tool_file *file, tool_report *report)
{
    tool *t = job->tool;
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_file_info info;
    double start = tool_now();
    tamis_status status = tamis_reader_open(t->ctx, file->in, &options, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, &info);
    report->read_s += tool_now() - start;
    if (!status) {
        report->in = info.image;
        report->in_w = info.w;
        report->in_h = info.h;
        report->outcome = t->options.dry_run ? TOOL_PLANNED : TOOL_DONE;
        status = t->options.dry_run ? plan_only(job, &info, report)
                                    : do_pages(job, file, reader, &info, report);
    }
    tamis_reader_close(&reader);
    return status;
}

tool_report tool_job_file(tool_job *job, const tool_file *file)
{
    tool *t = job->tool;
    tool_report report = {.outcome = TOOL_FAILED};
    int check = tool_output_check(t, file, report.message, sizeof(report.message));
    if (check == TOOL_SKIP) {
        report.outcome = TOOL_SKIPPED;
        return report;
    }
    if (check) {
        report.code = check;
        return report;
    }
    t->error[0] = job->device[0] = '\0';
    tamis_status status = do_file(job, file, &report);
    snprintf(report.device, sizeof(report.device), "%s", job->device);
    if (!status)
        return report;
    report.outcome = TOOL_FAILED;
    report.code = *tool_cancel_flag() ? TOOL_INTERRUPTED : tool_exit_code(status);
    /* The library's texts about files name the file; those about parameters do not know it. */
    int named = strstr(t->error, file->in) || strstr(t->error, file->out);
    char hint[256] = "";
    if (status == TAMIS_ERR_UNSUPPORTED)
        tool_type_hint(job, &report, hint, sizeof(hint));
    snprintf(report.message, sizeof(report.message), "%s%s%s%s", named ? "" : file->in,
             named ? "" : ": ", t->error[0] ? t->error : tamis_status_name(status), hint);
    return report;
}
