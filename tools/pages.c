/* SPDX-License-Identifier: Apache-2.0 */
/* One file: pages from a reader through the plan to a writer. */
#include <string.h>

#include "parts.h"

/* What one file takes while it is worked on. */
typedef struct pages {
    tool_worker *worker;
    tool_plan *plan; /* of the page before */
    tool_stack stack;
    tamis_image result; /* reused while format and size stay */
} pages;

/* The plan for a page: mostly that of the page before. */
static tamis_status take_plan(pages *p, tamis_format format, int32_t w, int32_t h)
{
    tool_plans *plans = &p->worker->job->plans;
    tool_plan *old = p->plan;
    if (old && tamis_format_equal(old->format, format) && old->w == w && old->h == h)
        return TAMIS_OK;
    p->plan = NULL;
    if (old)
        tool_plans_put(plans, old);
    return tool_worker_plan(p->worker, format, w, h, &p->plan);
}

static int is_on_device(const pages *p)
{
    return strcmp(tamis_plan_device(p->plan->plan), "cpu") != 0;
}

static tamis_status prepare_result(pages *p)
{
    int32_t w, h;
    tamis_format format = tamis_plan_format(p->plan->plan);
    tamis_plan_size(p->plan->plan, &w, &h);
    tamis_image *result = &p->result;
    if (result->data[0] && tamis_format_equal(result->format, format) && result->w == w &&
        result->h == h)
        return TAMIS_OK;
    tamis_image_unref(result);
    if (is_on_device(p) && tool_pinned_take(p->worker, &p->worker->result, format, w, h, result))
        return TAMIS_OK;
    return tamis_image_create(p->worker->tool.ctx, format, w, h, result);
}

/* Reads a page, to where a device gets it fastest if the reader can write there. */
static tamis_status read_page(pages *p, int number, const tamis_file_info *info, tool_page **page)
{
    tamis_image image;
    tamis_meta meta = {0};
    if (info->block_w == 0 || !is_on_device(p) || tamis_plan_frames(p->plan->plan) ||
        !tool_pinned_take(p->worker, &p->worker->source, info->image, info->w, info->h, &image))
        return tool_stack_get(&p->stack, number, page);
    tamis_rect all = {0, 0, info->w, info->h};
    tamis_status status = tamis_reader_read_part(p->stack.reader, number, all, &image);
    if (!status)
        status = tamis_reader_meta(p->stack.reader, number, &meta);
    if (status)
        tamis_image_unref(&image);
    else
        tool_stack_put(&p->stack, number, &image, &meta, page);
    return status;
}

/* Filters one page; what temporal filters look at around it is read on the way. */
static tamis_status filter_page(pages *p, const tool_page *page)
{
    const tool_job *job = p->worker->job;
    const tamis_image *image = &page->image, *frames[TOOL_STACK_SLOTS];
    tamis_status status = take_plan(p, image->format, image->w, image->h);
    if (!status)
        status = prepare_result(p);
    if (!status)
        status =
            tool_stack_frames(&p->stack, page->number, tamis_plan_frames(p->plan->plan), frames);
    if (status)
        return status;
    tamis_run_options run = {.progress = tool_share_step,
                             .progress_user = p->worker->share,
                             .cancel = tool_cancel_flag(),
                             .guide = job->has_guide ? &job->guide : NULL,
                             .frames = frames};
    tool_stack_drop(&p->stack, page->number - tamis_plan_frames(p->plan->plan));
    /* The run counts its threads by itself. */
    tamis_ctx_occupy(p->worker->tool.ctx, -1);
    status = tamis_plan_run(p->plan->plan, image, &p->result, &run);
    tamis_ctx_occupy(p->worker->tool.ctx, 1);
    return status;
}

static tamis_status do_whole(pages *p, int number, const tamis_file_info *info,
                             tamis_writer *writer, tool_report *report)
{
    tool_page *page = NULL;
    double start = tool_now();
    tamis_status status = read_page(p, number, info, &page);
    double read = tool_now();
    report->read_s += read - start;
    if (!status && tool_canceled())
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = filter_page(p, page);
    double filtered = tool_now();
    report->filter_s += filtered - read;
    if (!status && tool_canceled())
        status = TAMIS_ERR_CANCELED;
    if (!status && number == 0) {
        report->out = p->result.format;
        report->out_w = p->result.w;
        report->out_h = p->result.h;
    }
    if (!status)
        status = tamis_writer_write(writer, &p->result,
                                    p->worker->tool.options.strip ? NULL : &page->meta);
    report->write_s += tool_now() - filtered;
    return status;
}

/* A large page by parts; *taken becomes 0 when it wants to be whole. */
static tamis_status do_parts(pages *p, int number, const tamis_file_info *info,
                             tamis_writer *writer, tool_report *report, int *taken)
{
    *taken = 0;
    tamis_status status = take_plan(p, info->image, info->w, info->h);
    if (status || !tool_parts_wanted(&p->worker->tool, p->plan->plan, info))
        return status;
    status = tool_parts_page(p->worker, p->plan->plan, p->stack.reader, number, info, writer,
                             report, taken);
    if (*taken && !status && number == 0) {
        report->out = tamis_plan_format(p->plan->plan);
        tamis_plan_size(p->plan->plan, &report->out_w, &report->out_h);
    }
    return status;
}

static tamis_status do_page(pages *p, int number, const tamis_file_info *info, tamis_writer *writer,
                            tool_report *report)
{
    int taken;
    tamis_status status = do_parts(p, number, info, writer, report, &taken);
    if (status || taken)
        return status;
    tool_worker_room(p->worker, p->plan->plan, info);
    return do_whole(p, number, info, writer, report);
}

/* A new pyramid replaces the old one, but not a page that is alone in being said to be a copy. */
static int has_whole_page(tamis_reader *reader, int count)
{
    tamis_file_info info;
    for (int page = 0; page < count; page++) {
        if (tamis_reader_info(reader, page, &info) == TAMIS_OK && !info.reduced)
            return 1;
    }
    return 0;
}

tamis_status tool_worker_pages(tool_worker *worker, tamis_reader *reader,
                               const tamis_file_info *info, tamis_writer *writer,
                               tool_report *report)
{
    tamis_status status = TAMIS_OK;
    pages p = {.worker = worker};
    int skip = worker->tool.options.pyramid && has_whole_page(reader, info->pages);
    tool_stack_open(&p.stack, reader, info->pages);
    for (int page = 0; !status && page < info->pages; page++) {
        tamis_file_info now;
        status = tamis_reader_info(reader, page, &now);
        if (status || (now.reduced && skip))
            continue;
        status = do_page(&p, page, &now, writer, report);
        report->pages += !status;
    }
    tool_stack_close(&p.stack);
    tamis_image_unref(&p.result);
    tool_pinned_rest(worker, &worker->source);
    tool_pinned_rest(worker, &worker->result);
    if (p.plan)
        tool_plans_put(&worker->job->plans, p.plan);
    return status;
}
