/* SPDX-License-Identifier: Apache-2.0 */
#include "video_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/device.h>

#include "video_cuts.h"
#include "video_queue.h"

/* Frames under way in streams at most: what streams ask for is cut to this. */
enum { DEPTH_MOST = 16 };

/* A thread that reads or writes, with error texts of its own. */
typedef struct hand {
    tool tool;
    tool *worker;
    struct run *run;
    pthread_t thread;
    int started;
    tamis_status status;
    double seconds; /* at work, without waiting */
} hand;

typedef struct run {
    tool_worker *worker;
    tamis_video_reader *reader;
    tamis_video_writer *writer;
    const tool_video_parts *parts;
    tamis_stream *streams[TAMIS_VIDEO_PARTS];
    tool_queue in, out;
    hand reads, writes;
    tool_cuts cuts;
    tamis_image rows;       /* what is looked at for cuts, of frames on a device */
    tool_frame **under_way; /* a ring of `room` frames: submitted, and those that others look at */
    int room, first, count; /* all that are there; of them */
    int finished;           /* so many, the oldest, have their results */
    unsigned taken;         /* parts of the frame after those whose results have been taken */
    int limit;              /* frames without results at most */
    int64_t frames, total;  /* given to the writer; 0 = not known */
    int64_t taken_in, kept; /* frames that have come; those whose results a run before has made */
} run;

/* ---- threads */

static void *read_frames(void *arg)
{
    hand *h = arg;
    run *r = h->run;
    pthread_setspecific(h->tool.worker, &h->tool);
    while (!tool_canceled()) {
        tool_frame *frame = tool_alloc(sizeof(*frame));
        double start = tool_now();
        h->status = tamis_video_reader_next(r->reader, &frame->src);
        h->seconds += tool_now() - start;
        if (h->status || frame->src.part[TAMIS_VIDEO_MAIN].format.channels == 0) {
            tool_frame_free(frame);
            break;
        }
        if (!tool_queue_push(&r->in, frame))
            break;
    }
    tool_queue_end(&r->in);
    return NULL;
}

/* No more frames are wanted by anybody, however long the next one would take to come. */
static void stop(run *r)
{
    tamis_video_reader_cancel(r->reader);
    tool_queue_close(&r->in);
    tool_queue_close(&r->out);
}

/* What is left to do to a frame that was filtered. */
static tamis_status complete(run *r, tool_frame *frame)
{
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < TAMIS_VIDEO_PARTS && !status; i++) {
        const tool_video_part *part = &r->parts->part[i];
        if (part->way != TOOL_PART_FILTER)
            continue;
        if (frame->own[i].buffer)
            status = tamis_image_copy(r->worker->tool.ctx, &frame->own[i], &frame->dst.part[i]);
        tool_video_levels(&frame->dst.part[i], part->offset, part->highest);
    }
    return status;
}

/* What was kept of a frame stands for what has been made of it here. */
static tamis_status write_frame(run *r, tool_frame *frame)
{
    if (frame->is_kept)
        return tamis_video_writer_skip(r->writer, frame->dst.owner ? &frame->dst : &frame->src);
    tamis_status status = complete(r, frame);
    return status ? status : tamis_video_writer_write(r->writer, &frame->dst);
}

static void *write_frames(void *arg)
{
    hand *h = arg;
    run *r = h->run;
    pthread_setspecific(h->tool.worker, &h->tool);
    for (;;) {
        tool_frame *frame = tool_queue_pop(&r->out);
        if (!frame)
            break;
        double start = tool_now();
        h->status = write_frame(r, frame);
        h->seconds += tool_now() - start;
        tool_frame_free(frame);
        if (h->status) {
            stop(r);
            break;
        }
        tool_share_step(r->worker->share, ++r->frames, r->total);
    }
    return NULL;
}

/* Signals stay with the thread that waits for them. */
static tamis_status start(run *r, hand *h, void *(*work)(void *))
{
    sigset_t all, old;
    h->run = r;
    h->worker = &r->worker->tool;
    h->tool = r->worker->tool;
    h->tool.held = tool_copy_text("");
    h->tool.error[0] = '\0';
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int bad = pthread_create(&h->thread, NULL, work, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    h->started = !bad;
    if (!bad)
        return TAMIS_OK;
    return tamis_ctx_fail(r->worker->tool.ctx, TAMIS_ERR_MEMORY, "no thread can be started");
}

/* Its messages become the worker's, and its error, unless there was one before. */
static tamis_status join(hand *h, tamis_status status)
{
    tool *t = h->worker;
    if (h->started)
        pthread_join(h->thread, NULL);
    if (h->tool.held && *h->tool.held) {
        char *both = tool_print_text("%s%s", t->held ? t->held : "", h->tool.held);
        free(t->held);
        t->held = both;
    }
    free(h->tool.held);
    if (status || !h->status)
        return status;
    memcpy(t->error, h->tool.error, sizeof(t->error));
    return h->status;
}

/* ---- filtering */

static tool_frame *at(const run *r, int i)
{
    return r->under_way[(r->first + i) % r->room];
}

/* The place for a part's result: in the frame to be written, or apart where that has another
 * layout. */
static tamis_status result_place(run *r, tool_frame *frame, int part, tamis_image **out)
{
    const tool_video_part *p = &r->parts->part[part];
    tamis_format format = tamis_plan_format(p->plan);
    *out = &frame->dst.part[part];
    if (tamis_format_equal((*out)->format, format))
        return TAMIS_OK;
    *out = &frame->own[part];
    return tamis_image_create(r->worker->tool.ctx, format, p->w, p->h, *out);
}

/* Without a filter. */
static tamis_status copy_part(run *r, const tamis_image *src, const tamis_image *dst)
{
    tamis_ctx *ctx = r->worker->tool.ctx;
    tamis_image here;
    if (!src->device)
        return tamis_image_copy(ctx, src, dst);
    if (tamis_format_equal(src->format, dst->format))
        return tamis_image_transfer(ctx, src, dst);
    tamis_status status = tamis_image_create(ctx, src->format, src->w, src->h, &here);
    if (!status)
        status = tamis_image_transfer(ctx, src, &here);
    if (!status)
        status = tamis_image_copy(ctx, &here, dst);
    tamis_image_unref(&here);
    return status;
}

static tamis_status submit_part(run *r, tool_frame *frame, int part)
{
    const tool_video_part *p = &r->parts->part[part];
    tamis_image *dst = NULL;
    switch (p->way) {
    case TOOL_PART_NONE:
        return TAMIS_OK;
    case TOOL_PART_COPY:
        return copy_part(r, &frame->src.part[part], &frame->dst.part[part]);
    case TOOL_PART_NEUTRAL:
        tool_video_fill(&frame->dst.part[part], p->level);
        return TAMIS_OK;
    case TOOL_PART_FILTER:
        break;
    }
    tamis_status status = result_place(r, frame, part, &dst);
    return status ? status
                  : tamis_stream_submit(r->streams[part], &frame->src.part[part], dst, frame, 0);
}

static void cut(run *r)
{
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        if (r->streams[i])
            tamis_stream_cut(r->streams[i]);
}

/* Whether a scene begins with the frame, where that matters. */
static tamis_status look(run *r, const tool_frame *frame, int *begins)
{
    tamis_ctx *ctx = r->worker->tool.ctx;
    tamis_image rows = tool_cuts_rows(&frame->src.part[TAMIS_VIDEO_MAIN]);
    *begins = 0;
    if (!r->parts->around || r->cuts.threshold <= 0)
        return TAMIS_OK;
    if (rows.device) {
        tamis_status status =
            r->rows.w ? TAMIS_OK
                      : tamis_image_create_pinned(ctx, rows.format, rows.w, rows.h, &r->rows);
        if (!status)
            status = tamis_image_transfer(ctx, &rows, &r->rows);
        if (status)
            return status;
        rows = r->rows;
    }
    *begins = tool_cuts_step(&r->cuts, &rows);
    return TAMIS_OK;
}

/* Before frames that others after them look at, nothing has to be made again. */
static tamis_status pass_on(run *r, tool_frame *frame)
{
    int begins;
    tamis_status status = look(r, frame, &begins);
    if (status) {
        tool_frame_free(frame);
        return status;
    }
    /* The writing thread says why. */
    return tool_queue_push(&r->out, frame) ? TAMIS_OK : TAMIS_ERR_WRITE;
}

static tamis_status submit(run *r, tool_frame *frame)
{
    int64_t number = r->taken_in++;
    frame->is_kept = number < r->kept;
    if (number + r->parts->around < r->kept)
        return pass_on(r, frame);
    r->under_way[(r->first + r->count++) % r->room] = frame;
    int begins;
    tamis_status status = look(r, frame, &begins);
    if (begins) {
        tool_detail(&r->worker->tool, "a scene begins at %.3f s", frame->src.time);
        cut(r);
    }
    if (!status)
        status = tamis_video_writer_frame(r->writer, &frame->src, &frame->dst);
    for (int i = 0; i < TAMIS_VIDEO_PARTS && !status; i++)
        status = submit_part(r, frame, i);
    return status;
}

/* The oldest frame without a result gets it; *got is 0 when it is not there and is not waited for.
 * Parts come in the order of frames in each stream. */
static tamis_status collect(run *r, int wait, int *got)
{
    tool *t = &r->worker->tool;
    *got = 0;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        tamis_stream_result result;
        if (!r->streams[i] || (r->taken >> i & 1))
            continue;
        tamis_status status = wait ? tamis_stream_wait(r->streams[i], -1, &result)
                                   : tamis_stream_poll(r->streams[i], &result);
        if (status == TAMIS_ERR_AGAIN && !wait)
            return TAMIS_OK;
        if (status)
            return status;
        r->taken |= 1u << i;
        if (result.status) {
            snprintf(t->error, sizeof(t->error), "%s", result.text);
            return result.status;
        }
    }
    r->taken = 0;
    *got = 1;
    return TAMIS_OK;
}

/* Gives a result to the writer; what it was made of stays while others look at it. */
static int hand_over(run *r)
{
    tool_frame *frame = at(r, r->finished++), *done = tool_alloc(sizeof(*done));
    done->dst = frame->dst;
    done->is_kept = frame->is_kept;
    frame->dst = (tamis_video_frame){.owner = NULL};
    memcpy(done->own, frame->own, sizeof(done->own));
    memset(frame->own, 0, sizeof(frame->own));
    while (r->finished > r->parts->around) {
        tool_frame_free(at(r, 0));
        r->first = (r->first + 1) % r->room;
        r->count--;
        r->finished--;
    }
    return tool_queue_push(&r->out, done);
}

/* Takes results: while there are more than most under way, by waiting. */
static tamis_status drain(run *r, int most)
{
    tamis_status status = TAMIS_OK;
    while (!status && r->count > r->finished) {
        int got;
        status = collect(r, r->count - r->finished > most, &got);
        if (status || !got)
            break;
        if (!hand_over(r))
            return TAMIS_ERR_WRITE; /* the writing thread says why */
    }
    return status;
}

/* Where frames come slowly, results do not wait for the next one. */
static tamis_status next_frame(run *r, tool_frame **out)
{
    enum { LOOK_MS = 5 };
    tamis_status status = TAMIS_OK;
    *out = NULL;
    while (!status && r->count > r->finished && !tool_queue_wait(&r->in, LOOK_MS))
        status = drain(r, r->limit);
    if (!status)
        *out = tool_queue_pop(&r->in);
    return status;
}

static tamis_status filter_frames(run *r, tool_frame *frame)
{
    tamis_status status = TAMIS_OK;
    while (frame && !status) {
        if (tool_canceled()) {
            tool_frame_free(frame);
            return TAMIS_ERR_CANCELED;
        }
        status = submit(r, frame);
        if (!status)
            status = drain(r, r->limit);
        if (!status)
            status = next_frame(r, &frame);
    }
    cut(r);
    return status ? status : drain(r, 0);
}

/* ---- the whole */

static double range_of(const tamis_video_format *f)
{
    return f->type == TAMIS_F32 ? 1 : (double)((1 << f->bits) - 1);
}

static tamis_status open_streams(run *r)
{
    tamis_status status = TAMIS_OK;
    int depth = 1;
    for (int i = 0; i < TAMIS_VIDEO_PARTS && !status; i++) {
        const tool_video_part *part = &r->parts->part[i];
        tamis_stream_options options = {.guide = part->guide.w ? &part->guide : NULL};
        if (!part->plan)
            continue;
        status = tamis_stream_create(part->plan, &options, &r->streams[i]);
        int own = status ? 0 : tamis_stream_depth(r->streams[i]);
        depth = own > depth ? own : depth;
    }
    depth = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    r->limit = depth + r->parts->around;
    r->room = r->limit + r->parts->around + 2;
    r->under_way = tool_alloc((size_t)r->room * sizeof(tool_frame *));
    return status;
}

/* Nothing of a frame may be in use when its memory goes. */
static void give_up(run *r)
{
    stop(r);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        if (r->streams[i])
            tamis_stream_cancel(r->streams[i]);
}

static void clean(run *r)
{
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        tamis_stream_free(&r->streams[i]);
    for (int i = 0; i < r->count; i++)
        tool_frame_free(at(r, i));
    free(r->under_way);
    tamis_image_unref(&r->rows);
    tool_queue_free(&r->in);
    tool_queue_free(&r->out);
}

static void tell_seconds(const run *r, double begun, tool_report *report)
{
    report->frames = r->frames;
    report->read_s += r->reads.seconds;
    report->write_s += r->writes.seconds;
    report->filter_s += tool_now() - begun;
    report->by_parts = 1;
}

tamis_status tool_video_run(tool_worker *worker, tamis_video_reader *reader,
                            tamis_video_writer *writer, const tool_video_parts *parts,
                            tamis_video_frame *first, tool_report *report)
{
    run r = {.worker = worker, .reader = reader, .writer = writer, .parts = parts};
    tool_frame *frame = tool_alloc(sizeof(*frame));
    double begun = tool_now();
    frame->src = *first;
    *first = (tamis_video_frame){.owner = NULL};
    tool_share_frames(worker->share);
    r.total = tamis_video_reader_info(reader)->frames;
    r.kept = tamis_video_writer_kept(writer);
    tool_queue_open(&r.in);
    tool_queue_open(&r.out);
    tool_cuts_open(&r.cuts, worker->tool.options.scene_cut, range_of(&parts->in));
    /* It waits for others nearly all the time. */
    tamis_ctx_occupy(worker->tool.ctx, -1);
    tamis_status status = open_streams(&r);
    if (!status)
        status = start(&r, &r.reads, read_frames);
    if (!status)
        status = start(&r, &r.writes, write_frames);
    if (status)
        tool_frame_free(frame);
    else
        status = filter_frames(&r, frame);
    if (status)
        give_up(&r);
    tool_queue_end(&r.out);
    /* Where the writer has refused, it says why; of other failures the first one counts. */
    status = join(&r.writes, status == TAMIS_ERR_WRITE ? TAMIS_OK : status);
    status = join(&r.reads, status);
    if (status == TAMIS_ERR_READ && r.reads.status == status && r.frames > 0) {
        report->loss = tool_copy_text(worker->tool.error); /* the frames before it are whole */
        status = TAMIS_OK;
    }
    tamis_ctx_occupy(worker->tool.ctx, 1);
    tell_seconds(&r, begun, report);
    clean(&r);
    return status;
}

static size_t frame_bytes(const tamis_video_format *format)
{
    size_t sum = 0;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        int32_t w, h;
        tamis_format f = tamis_video_part_format(format, i, &w, &h);
        sum += (size_t)w * (size_t)h * (size_t)f.channels * tamis_type_size(f.type);
    }
    return sum;
}

/* Results that lie apart until the frame is complete: where a plan's format is not the frame's. */
static size_t apart_bytes(const tool_video_parts *parts)
{
    size_t sum = 0;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        const tool_video_part *p = &parts->part[i];
        if (p->way != TOOL_PART_FILTER)
            continue;
        int32_t w, h;
        tamis_format f = tamis_plan_format(p->plan);
        if (tamis_format_equal(f, tamis_video_part_format(&parts->out, i, &w, &h)))
            continue;
        sum += (size_t)p->w * (size_t)p->h * (size_t)f.channels * tamis_type_size(f.type);
    }
    return sum;
}

/* Frames under way with their results, in both queues, and in the hands of both threads. */
size_t tool_video_bytes(const tool_video_parts *parts)
{
    size_t room = (size_t)(DEPTH_MOST + 2 * parts->around + 2), queued = TOOL_QUEUE_ROOM + 1;
    size_t result = frame_bytes(&parts->out) + apart_bytes(parts);
    return (room + queued) * (frame_bytes(&parts->in) + result);
}
