/* SPDX-License-Identifier: Apache-2.0 */
/* One video: opened, planned, run, finished, reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "video_run.h"

#include <tamis/device.h>

int tool_video_is(const tool_worker *worker, const tool_file *file)
{
    const char *raw = worker->tool.options.raw;
    if (raw)
        return tamis_video_raw_is(raw);
    return tamis_video_probe(worker->tool.ctx, file->in);
}

/* "A-B", both included. */
static int parse_range(const char *text, int64_t *first, int64_t *count)
{
    long long a, b;
    char rest;
    if (sscanf(text, "%lld-%lld%c", &a, &b, &rest) != 2 || a < 0 || b < a)
        return 0;
    *first = a;
    *count = b - a + 1;
    return 1;
}

/* Frames that go to a device lie where it gets them fastest, unless memory is bounded. */
static int is_pinned(const tool *t)
{
    return !t->options.max_memory && strcmp(tool_device_wish(t), "cpu") != 0 &&
           tamis_device_count(t->ctx) > 0;
}

/* 1 + the device whose hardware shall decode; 0 = none. Several take turns with frames in host
 * memory. */
static int decoding_device(tool *t)
{
    const char *wish = tool_device_wish(t);
    int decoder = t->options.decoder, count, index = 0;
    if (decoder == TOOL_DECODER_SOFTWARE || strcmp(wish, "cpu") == 0)
        return 0;
    count = tamis_device_count(t->ctx);
    int several = strchr(wish, ',') || (strcmp(wish, "cuda:all") == 0 && count > 1);
    if (count == 0 || (several && decoder != TOOL_DECODER_CUDA))
        return 0;
    sscanf(wish, "cuda:%d", &index);
    return 1 + index;
}

tamis_status tool_video_read_options(tool *t, tamis_video_read_options *out)
{
    const tool_options *o = &t->options;
    *out = (tamis_video_read_options){
        .raw = o->raw, .threads = o->threads, .pinned = is_pinned(t), .device = decoding_device(t)};
    if (o->start > 0) /* NaN: not given */
        out->start = o->start;
    if (o->end > 0)
        out->end = o->end;
    if (o->frame_range && !parse_range(o->frame_range, &out->first, &out->count))
        return tamis_ctx_fail(t->ctx, TAMIS_ERR_ARGUMENT,
                              "--frame_range: '%s' is not A-B with 0 <= A <= B, such as 100-199",
                              o->frame_range);
    return TAMIS_OK;
}

static tamis_video_write_options write_options(const tool *t, const tool_file *file,
                                               const tamis_video_info *info)
{
    const tool_options *o = &t->options;
    tamis_video_write_options w = {.codec = o->codec,
                                   .preset = o->preset,
                                   .pixels = o->pix_fmt,
                                   .lossless = o->lossless,
                                   .strip = o->strip,
                                   .threads = o->threads,
                                   .pinned = is_pinned(t)};
    w.overwrite = o->overwrite || o->in_place || file->ours;
    w.format = tool_output_format(t, file->out, info->container);
    w.percent = o->crf == 0 ? 100 : o->quality;
    if (o->crf > 0) /* NaN: not given */
        w.quality = o->crf;
    return w;
}

static void fill_report(const tool_video_parts *parts, const tamis_video_info *info,
                        tool_report *report)
{
    report->is_video = 1;
    report->in =
        tamis_video_part_format(&parts->in, TAMIS_VIDEO_MAIN, &report->in_w, &report->in_h);
    report->out =
        tamis_video_part_format(&parts->out, TAMIS_VIDEO_MAIN, &report->out_w, &report->out_h);
    tamis_video_format_print(&parts->in, report->kind, sizeof(report->kind));
    tamis_video_format_print(&parts->out, report->out_kind, sizeof(report->out_kind));
    report->frames = info->frames;
    report->pages = 1;
}

/* Says what the container has no place for, a line each. */
static void tell_dropped(tool *t, const tool_file *file, const tamis_video_writer *writer)
{
    const char *text = tamis_video_writer_dropped(writer);
    while (*text) {
        int n = (int)strcspn(text, "\n");
        tool_warn(t, "%s: not kept: %.*s", file->out, n, text);
        text += n + (text[n] == '\n');
    }
    tool_detail(t, "%s: %s", file->out, tamis_video_writer_detail(writer));
}

/* With --resume, a file beside the result keeps what is encoded until it is whole. */
typedef struct journal {
    char *path, *recipe; /* NULL = none */
} journal;

static journal journal_for(const tool_worker *worker, const tool_file *file)
{
    if (!worker->tool.options.resume || !worker->job->manifest || strcmp(file->out, "-") == 0)
        return (journal){.path = NULL};
    return (journal){tool_path_beside(file->out, "tamis-journal"),
                     tool_manifest_recipe(worker->job->manifest, file)};
}

static void tell_kept(tool *t, const tool_file *file, const tamis_video_writer *writer)
{
    int64_t kept = tamis_video_writer_kept(writer);
    if (kept > 0)
        tool_note(t, "%s: goes on at frame %lld, where a run before was cut off", file->in,
                  (long long)kept);
}

static tamis_status write_video(tool_worker *worker, const tool_file *file,
                                tamis_video_reader *reader, tool_video_parts *parts,
                                tamis_video_frame *first, tool_report *report)
{
    tool *t = &worker->tool;
    tamis_video_write_options options = write_options(t, file, tamis_video_reader_info(reader));
    tamis_video_writer *writer = NULL;
    journal kept = journal_for(worker, file);
    options.journal = kept.path;
    options.recipe = kept.recipe;
    tamis_status status = tool_worker_begin(worker, file);
    if (!status)
        status = tamis_video_writer_open(t->ctx, file->out, &parts->out, reader, &options, &writer);
    free(kept.path);
    free(kept.recipe);
    if (!status)
        tell_kept(t, file, writer);
    if (!status)
        status = tool_video_run(worker, reader, writer, parts, first, report);
    if (!status && tool_canceled())
        status = TAMIS_ERR_CANCELED;
    if (!status)
        status = tamis_video_writer_finish(writer);
    if (!status)
        tell_dropped(t, file, writer);
    tamis_video_writer_close(&writer);
    return status;
}

/* Why no device was asked to decode; what a device refused is in the decoder's own words. */
static const char *why_software(tool *t, const char *decoder)
{
    if (strcmp(decoder, "software") != 0)
        return "";
    if (strcmp(tool_device_wish(t), "cpu") != 0 && tamis_device_count(t->ctx) == 0)
        return ", there is no GPU that can be used (tamis doctor tells more)";
    return ", since the filters run on the CPU";
}

/* Which decoder it was, aloud where it is not the one that was asked for. */
static void tell_decoder(tool *t, const tool_file *file, const tamis_video_info *info)
{
    const char *text = info->decoder;
    int failed = strstr(text, ", from frame ") != NULL;
    if (!*text) /* frames of Y4M are what they are */
        return;
    if (failed || (t->options.decoder == TOOL_DECODER_CUDA && strncmp(text, "cuda", 4) != 0))
        tool_warn(t, "%s: decoded by %s%s", file->in, text, why_software(t, text));
    else
        tool_detail(t, "%s: decoded by %s", file->in, text);
}

/* Frames in a device's memory are for plans that run there. */
static int is_misplaced(const tool_video_parts *parts, const tamis_video_frame *frame)
{
    int plans = 0;
    if (!frame->part[TAMIS_VIDEO_MAIN].device)
        return 0;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        const tamis_plan *plan = parts->part[i].plan;
        plans += plan != NULL;
        if (plan && strcmp(tamis_plan_device(plan), "cpu") == 0)
            return 1;
    }
    return plans == 0;
}

/* *misplaced becomes 1, and nothing is done, where frames must be in host memory and are not. */
static tamis_status filter_video(tool_worker *worker, const tool_file *file,
                                 tamis_video_reader *reader, tamis_video_frame *first,
                                 tool_report *report, int *misplaced)
{
    const tamis_video_info *info = tamis_video_reader_info(reader);
    tool_video_parts parts;
    tamis_status status = tool_video_parts_open(worker, &info->format, first, &parts);
    *misplaced = !status && is_misplaced(&parts, first);
    if (*misplaced) {
        tool_video_parts_close(&parts);
        return TAMIS_OK;
    }
    fill_report(&parts, info, report);
    const tamis_plan *plan = parts.part[TAMIS_VIDEO_MAIN].plan;
    plan = plan ? plan : parts.part[TAMIS_VIDEO_CHROMA].plan;
    snprintf(worker->device, sizeof(worker->device), "%s", plan ? tamis_plan_device(plan) : "cpu");
    if (!status && tamis_graph_is_open(worker->graph) && !report->chain)
        report->chain = tool_graph_text(parts.part[TAMIS_VIDEO_MAIN].graph);
    if (!status && info->interlaced && tamis_graph_size(worker->graph) > 0)
        tool_warn(&worker->tool,
                  "%s: interlaced: filters that look up and down mix the two fields of a frame",
                  file->in);
    if (!status && !worker->tool.options.dry_run) {
        tool_worker_hold(worker, tool_video_bytes(&parts));
        status = tool_canceled() ? TAMIS_ERR_CANCELED
                                 : write_video(worker, file, reader, &parts, first, report);
    }
    tool_video_parts_close(&parts);
    if (!status)
        tell_decoder(&worker->tool, file, info);
    const char *damage = tamis_video_reader_damage(reader);
    if (!status && *damage && !report->loss)
        report->loss = tool_print_text("%s: %s", file->in, damage);
    return status;
}

static tamis_status open_and_filter(tool_worker *worker, const tool_file *file,
                                    const tamis_video_read_options *options, tool_report *report,
                                    int *misplaced)
{
    tool *t = &worker->tool;
    tamis_video_reader *reader = NULL;
    tamis_video_frame first = {.owner = NULL};
    *misplaced = 0;
    tamis_status status = tamis_video_reader_open(t->ctx, file->in, options, &reader);
    if (!status)
        status = tamis_video_reader_next(reader, &first);
    if (!status && first.part[TAMIS_VIDEO_MAIN].format.channels == 0) {
        const char *damage = tamis_video_reader_damage(reader);
        status = tamis_ctx_fail(t->ctx, TAMIS_ERR_READ, "%s: no frame to filter%s%s",
                                strcmp(file->in, "-") == 0 ? "standard input" : file->in,
                                *damage ? ": " : "", damage);
    }
    if (!status)
        status = filter_video(worker, file, reader, &first, report, misplaced);
    tamis_video_frame_release(&first);
    tamis_video_reader_close(&reader);
    return status;
}

tamis_status tool_video_file(tool_worker *worker, const tool_file *file, tool_report *report)
{
    tamis_video_read_options options;
    int misplaced = 0;
    tamis_status status = tool_video_read_options(&worker->tool, &options);
    if (!status)
        status = open_and_filter(worker, file, &options, report, &misplaced);
    if (!misplaced)
        return status;
    options.device = 0;
    return open_and_filter(worker, file, &options, report, &misplaced);
}
