/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Pictures of more bytes, with their results, keep a device busy by themselves. */
#define SMALL_BYTES ((size_t)4 << 20)
/* What one worker keeps. */
#define GROUP_BYTES ((size_t)256 << 20)
enum { MOST_FILES = 4096, MOST_PLANS = 8 };
/* What an interruption may cost. */
#define MOST_SECONDS 0.5

typedef struct group_item {
    const tool_file *file;
    tool_plan *plan;
    tool_report *report;
    tamis_file_info info;
    tamis_image src, dst;
    tamis_meta meta;
    size_t room;         /* inside the gate */
    int waits;           /* 1: it is still to be finished */
    tamis_status lacked; /* memory was lacking for it */
} group_item;

struct tool_group {
    group_item *items;
    size_t count, capacity;
    size_t bytes, most; /* of pictures and results */
    tool_plan *plans[MOST_PLANS];
    int plan_count;
    double since; /* when the first came */
};

tool_group *tool_group_new(size_t most)
{
    tool_group *group = tool_alloc(sizeof(*group));
    group->most = most < GROUP_BYTES ? most : GROUP_BYTES;
    return group;
}

int tool_worker_is_due(const tool_worker *worker, size_t share)
{
    const tool_group *group = worker->group;
    return group->count > 0 && (group->count >= share || tool_now() - group->since > MOST_SECONDS);
}

void tool_worker_rest(tool_worker *worker)
{
    tool_group_finish(worker);
}

/* ---- one picture */

/* Gives back all but its report. */
static void drop_picture(tool_worker *worker, group_item *item)
{
    tamis_image_unref(&item->src);
    tamis_image_unref(&item->dst);
    tamis_meta_clear(&item->meta);
    if (item->plan)
        tool_plans_put(&worker->job->plans, item->plan);
    item->plan = NULL;
    if (item->room)
        tool_gate_leave(&worker->job->gate, item->room);
    item->room = 0;
}

static void give_up(tool_worker *worker, group_item *item)
{
    drop_picture(worker, item);
    tool_report_free(item->report);
    item->waits = 0;
}

static tamis_status read_picture(const tool_worker *worker, group_item *item, tamis_reader *reader)
{
    double start = tool_now();
    int32_t w, h;
    tamis_status status = tamis_reader_read(reader, 0, &item->src, &item->meta);
    tamis_plan_size(item->plan->plan, &w, &h);
    if (!status)
        status = tamis_image_create(worker->tool.ctx, tamis_plan_format(item->plan->plan), w, h,
                                    &item->dst);
    item->report->read_s += tool_now() - start;
    return status;
}

static tamis_status write_picture(tool_worker *worker, group_item *item)
{
    tamis_writer *writer = NULL;
    double start = tool_now();
    tamis_status status = tool_file_open(worker, item->file, &item->info, &writer);
    if (!status)
        status =
            tamis_writer_write(writer, &item->dst, worker->tool.options.strip ? NULL : &item->meta);
    item->report->write_s += tool_now() - start;
    return tool_file_close(status, &writer, item->report);
}

/* ---- keeping them */

static int is_known(const tool_group *group, const tool_plan *plan)
{
    for (int i = 0; i < group->plan_count; i++) {
        if (group->plans[i] == plan)
            return 1;
    }
    return 0;
}

int tool_group_wants(const tool_worker *worker, const tool_file *file, const tool_plan *plan,
                     const tamis_file_info *info, size_t bytes)
{
    return strcmp(tamis_plan_device(plan->plan), "cpu") != 0 && bytes <= SMALL_BYTES &&
           bytes <= worker->group->most && info->pages == 1 && !tamis_plan_frames(plan->plan) &&
           !worker->alone && !worker->job->index && !worker->tool.options.dry_run &&
           tool_file_repeats(file);
}

int tool_group_is_full(const tool_worker *worker, const tool_plan *plan, size_t bytes)
{
    const tool_group *group = worker->group;
    return group->count == MOST_FILES || group->bytes + bytes > group->most ||
           (group->plan_count == MOST_PLANS && !is_known(group, plan));
}

static void append(tool_group *group, const group_item *item)
{
    if (group->count == group->capacity) {
        group->capacity = group->capacity ? 2 * group->capacity : 64;
        group->items = tool_grow(group->items, group->capacity * sizeof(*group->items));
    }
    if (group->count == 0)
        group->since = tool_now();
    group->items[group->count++] = *item;
    group->bytes += item->room;
    if (!is_known(group, item->plan))
        group->plans[group->plan_count++] = item->plan;
}

tamis_status tool_group_add(tool_worker *worker, const tool_file *file, tool_plan *plan,
                            tamis_reader *reader, const tamis_file_info *info, tool_report *report,
                            int *kept)
{
    group_item item = {.file = file, .plan = plan, .report = report, .info = *info, .waits = 1};
    tamis_status status = read_picture(worker, &item, reader);
    if (status) {
        item.plan = NULL; /* it stays the caller's, as the room does */
        drop_picture(worker, &item);
        return status;
    }
    item.room = worker->held;
    worker->held = 0;
    append(worker->group, &item);
    *kept = 1;
    return TAMIS_OK;
}

/* ---- finishing them */

/* The run counts its threads by itself. */
static tamis_status run(tool_worker *worker, const tool_plan *plan, const tamis_image *srcs,
                        const tamis_image *dsts, size_t count)
{
    const tool_job *job = worker->job;
    tamis_run_options options = {.cancel = tool_cancel_flag(),
                                 .guide = job->has_guide ? &job->guide : NULL};
    tamis_ctx_occupy(worker->tool.ctx, -1);
    tamis_status status = tamis_plan_run_many(plan->plan, srcs, dsts, count, &options);
    tamis_ctx_occupy(worker->tool.ctx, 1);
    return status;
}

/* Runs one plan's pictures together. */
static tamis_status run_together(tool_worker *worker, tool_group *group, const tool_plan *plan)
{
    tamis_image *images = tool_alloc(2 * group->count * sizeof(*images));
    size_t count = 0;
    double start = tool_now();
    for (size_t i = 0; i < group->count; i++) {
        if (group->items[i].plan == plan) {
            images[count] = group->items[i].src;
            images[group->count + count++] = group->items[i].dst;
        }
    }
    tamis_status status = run(worker, plan, images, images + group->count, count);
    double each = (tool_now() - start) / (double)count;
    for (size_t i = 0; i < group->count; i++) {
        if (group->items[i].plan == plan) {
            group->items[i].report->filter_s += each;
            group->items[i].report->together = status || count == 1 ? 0 : (int)count;
        }
    }
    free(images);
    return status;
}

/* Returns 1 when it is of no use to go on. */
static int finish_item(tool_worker *worker, group_item *item, int filtered)
{
    tamis_status status = TAMIS_OK;
    worker->tool.error[0] = '\0';
    if (!filtered)
        status = run(worker, item->plan, &item->src, &item->dst, 1);
    if (!status)
        status = write_picture(worker, item);
    item->report->pages = !status;
    drop_picture(worker, item);
    if (status == TAMIS_ERR_MEMORY || status == TAMIS_ERR_LIMIT) {
        item->lacked = status; /* once more when the others have gone */
        return 0;
    }
    item->waits = 0;
    return tool_file_end(worker, item->file, status, item->report);
}

static int finish_plan(tool_worker *worker, tool_group *group, const tool_plan *plan)
{
    int filtered = run_together(worker, group, plan) == TAMIS_OK, stopped = 0;
    for (size_t i = 0; i < group->count && !stopped && !tool_canceled(); i++) {
        if (group->items[i].plan == plan)
            stopped = finish_item(worker, &group->items[i], filtered);
    }
    return stopped;
}

static void finish_all(tool_worker *worker, tool_group *group)
{
    int stopped = 0;
    for (int i = 0; i < group->plan_count && !stopped && !tool_canceled(); i++)
        stopped = finish_plan(worker, group, group->plans[i]);
    for (size_t i = 0; i < group->count; i++) {
        if (group->items[i].waits && (stopped || tool_canceled() || !group->items[i].lacked))
            give_up(worker, &group->items[i]);
    }
    for (size_t i = 0; i < group->count; i++) {
        if (group->items[i].waits)
            tool_file_end(worker, group->items[i].file, group->items[i].lacked,
                          group->items[i].report);
    }
}

void tool_group_finish(tool_worker *worker)
{
    tool_group all = *worker->group;
    tool *t = &worker->tool;
    if (all.count == 0)
        return;
    *worker->group = (tool_group){.most = all.most};
    /* It may happen while another file is under way. */
    char *said = t->held, device[sizeof(worker->device)];
    memcpy(device, worker->device, sizeof(device));
    tamis_graph *chosen = worker->chosen;
    char *chain = worker->chain;
    t->held = tool_copy_text("");
    worker->chosen = NULL;
    worker->chain = NULL;
    finish_all(worker, &all);
    tamis_graph_free(&worker->chosen);
    free(worker->chain);
    worker->chosen = chosen;
    worker->chain = chain;
    free(all.items);
    free(t->held);
    t->held = said;
    t->error[0] = '\0';
    memcpy(worker->device, device, sizeof(device));
}

void tool_group_free(tool_worker *worker)
{
    tool_group *group = worker->group;
    if (!group)
        return;
    for (size_t i = 0; i < group->count; i++)
        give_up(worker, &group->items[i]);
    free(group->items);
    free(group);
    worker->group = NULL;
}
