/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

/* Pictures of more bytes, with their results, go by parts: reading, filtering and writing then
 * overlap, and memory is bounded. Smaller ones gain little. */
#define WHOLE_BYTES ((uint64_t)48 << 20)
/* What a run by parts takes when nothing bounds it. */
#define PARTS_BYTES ((size_t)64 << 20)

/* One page on its way. Its reader and its writer are each used by one thread at a time. */
typedef struct parts_page {
    tool_worker *worker;
    tamis_reader *reader;
    tamis_writer *writer;
    int page;
    double read_s, write_s;
} parts_page;

static uint64_t picture_bytes(tamis_format format, int32_t w, int32_t h)
{
    return (uint64_t)w * (uint64_t)h * (uint64_t)format.channels * tamis_type_size(format.type);
}

int tool_parts_wanted(const tool *t, const tamis_plan *plan, const tamis_file_info *info)
{
    int32_t w, h;
    size_t limit = t->options.max_memory;
    tamis_plan_size(plan, &w, &h);
    uint64_t bytes =
        picture_bytes(info->image, info->w, info->h) + picture_bytes(tamis_plan_format(plan), w, h);
    int large = bytes > WHOLE_BYTES || (limit && bytes > limit / 2);
    return large && info->block_w > 0 && tamis_plan_frames(plan) == 0;
}

size_t tool_parts_bytes(const tool *t)
{
    size_t limit = t->options.max_memory;
    return limit && limit / 2 < PARTS_BYTES ? limit / 2 : PARTS_BYTES;
}

size_t tool_parts_memory(const tool *t, const tamis_plan *plan)
{
    return tool_parts_bytes(t) + tamis_plan_bytes(plan);
}

/* Errors on the run's own threads belong to this worker, too. */
static void enter(const parts_page *p)
{
    pthread_setspecific(p->worker->tool.worker, &p->worker->tool);
}

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    parts_page *p = user;
    enter(p);
    double start = tool_now();
    tamis_status status = tamis_reader_read_part(p->reader, p->page, part, into);
    p->read_s += tool_now() - start;
    return status;
}

static tamis_status write_part(void *user, tamis_rect part, const tamis_image *from)
{
    parts_page *p = user;
    enter(p);
    double start = tool_now();
    tamis_status status = tamis_writer_part(p->writer, part, from);
    p->write_s += tool_now() - start;
    return status;
}

static tamis_status begin(const parts_page *p, const tamis_plan *plan)
{
    tamis_meta meta = {0};
    int32_t w, h;
    int strip = p->worker->tool.options.strip;
    tamis_plan_size(plan, &w, &h);
    tamis_status status = strip ? TAMIS_OK : tamis_reader_meta(p->reader, p->page, &meta);
    if (!status)
        status = tamis_writer_begin(p->writer, tamis_plan_format(plan), w, h, strip ? NULL : &meta);
    tamis_meta_clear(&meta);
    return status;
}

/* A run is bound to what it has asked for beside others, of which a writer that makes smaller
 * copies wants a share; one that is alone may have what there is. */
static size_t bound_of(const tool_worker *worker)
{
    const tool_options *o = &worker->tool.options;
    if (!o->max_memory)
        return 0;
    if (o->pyramid)
        return tool_parts_bytes(&worker->tool) / 2;
    return worker->alone || worker->job->files->count == 1 ? 0 : tool_parts_bytes(&worker->tool);
}

/* Runs the plan between reader and writer. */
static tamis_status run(parts_page *p, const tamis_plan *plan, const tamis_file_info *info,
                        int32_t block_w, int32_t block_h)
{
    const tool_job *job = p->worker->job;
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    tamis_parts parts = {
        .src = {read_part, p, info->block_w < info->w ? info->block_w : 0, info->block_h},
        .dst = {write_part, p, block_w < w ? block_w : 0, block_h},
        .max_bytes = bound_of(p->worker)};
    tamis_run_options options = {.progress = tool_share_step,
                                 .progress_user = p->worker->share,
                                 .cancel = tool_cancel_flag(),
                                 .guide = job->has_guide ? &job->guide : NULL};
    /* The run counts its threads by itself. */
    tamis_ctx_occupy(p->worker->tool.ctx, -1);
    tamis_status status = tamis_plan_run_parts(plan, &parts, &options);
    tamis_ctx_occupy(p->worker->tool.ctx, 1);
    return status;
}

tamis_status tool_parts_page(tool_worker *worker, const tamis_plan *plan, tamis_reader *reader,
                             int page, const tamis_file_info *info, tamis_writer *writer,
                             tool_report *report, int *taken)
{
    parts_page p = {.worker = worker, .reader = reader, .writer = writer, .page = page};
    int32_t w, h, block_w, block_h;
    tamis_format format = tamis_plan_format(plan);
    tamis_plan_size(plan, &w, &h);
    tamis_status status = tamis_writer_block(writer, format, w, h, &block_w, &block_h);
    *taken = !status && block_w > 0;
    if (!*taken)
        return status;
    double start = tool_now();
    status = begin(&p, plan);
    if (!status)
        status = run(&p, plan, info, block_w, block_h);
    report->by_parts = 1;
    report->read_s += p.read_s;
    report->write_s += p.write_s;
    report->filter_s += tool_now() - start;
    return status;
}
