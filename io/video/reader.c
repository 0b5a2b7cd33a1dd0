/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, one after the other. */
#include "reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pixels.h"

static tamis_status no_memory(const tamis_video_reader *reader)
{
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_MEMORY, "%s: no memory", reader->name);
}

/* ---- decoding */

static void feed(tamis_av_reader *r)
{
    int more = r->unfed || (!r->drained && tamis_priv_av_demux_next(r));
    int error = avcodec_send_packet(r->codec, more ? r->packet : NULL);
    /* It wants to give a frame first; not more than once, should it refuse for ever. */
    r->unfed = more && error == AVERROR(EAGAIN) && !r->unfed;
    if (r->unfed)
        return;
    r->lost += more && error < 0;
    av_packet_unref(r->packet);
}

/* Frames without a time follow the one before. */
static void set_time(tamis_av_reader *r)
{
    AVFrame *f = r->decoded;
    int64_t next = r->last == AV_NOPTS_VALUE ? r->zero : r->last + r->step;
    f->pts = tamis_priv_av_clip(
        f->best_effort_timestamp != AV_NOPTS_VALUE ? f->best_effort_timestamp : next);
    if (tamis_priv_av_duration(f) < 0 || tamis_priv_av_duration(f) > TAMIS_AV_TIME_MOST)
        tamis_priv_av_set_duration(f, 0);
    if (r->last != AV_NOPTS_VALUE && f->pts <= r->last)
        f->pts = r->last + 1;
    r->last = f->pts;
}

/* Hardware conceals what it cannot decode: whatever is noticed is left to software. */
static int is_at_fault(tamis_av_reader *r)
{
    char said[sizeof r->device.why];
    if (!r->device.number || r->device.failed)
        return r->device.failed;
    int errors = tamis_priv_av_note_read(&r->decoder, said, sizeof said);
    r->device.failed = errors > 0 || r->lost > 0 || r->damaged > 0;
    if (r->device.failed)
        snprintf(r->device.why, sizeof r->device.why, "%s", errors ? said : "damaged data");
    return r->device.failed;
}

/* The next frame of the decoder, in the order of showing: 1, or 0 at the end. */
static int decode(tamis_av_reader *r)
{
    while (!r->ended && !is_at_fault(r)) {
        int error = avcodec_receive_frame(r->codec, r->decoded);
        if (error == AVERROR_EOF)
            r->ended = 1;
        else if (error == 0) {
            r->seen++;
            r->damaged += r->decoded->decode_error_flags != 0 ||
                          (r->decoded->flags & AV_FRAME_FLAG_CORRUPT) != 0;
            set_time(r);
            if (is_at_fault(r))
                av_frame_unref(r->decoded);
            return !r->device.failed;
        } else {
            r->lost += error != AVERROR(EAGAIN);
            feed(r);
        }
    }
    return 0;
}

/* ---- which frames */

/* The next frame that is asked for: 1, or 0 when there is none. */
static int next_wanted(tamis_av_reader *r)
{
    while (decode(r)) {
        if (r->decoded->pts >= r->end)
            return 0;
        if (r->decoded->pts >= r->start && r->skip-- <= 0)
            return 1;
        tamis_priv_av_tap_skip(&r->tap, r->decoded->pts);
        av_frame_unref(r->decoded);
    }
    return 0;
}

/* Key frames before a time are found by a container's index, which may lead too far. */
static int find_first(tamis_av_reader *r)
{
    int64_t back = 0, second = tamis_priv_av_rescale(1, (AVRational){1, 1}, r->stream->time_base);
    if (r->start == INT64_MIN)
        return next_wanted(r);
    for (int i = 0; i < 6; i++, back = back ? back * 4 : 2 * second) {
        int64_t skip = r->skip;
        if (!tamis_priv_av_demux_seek(r, r->start - back))
            break;
        if (!decode(r))
            continue;
        if (r->decoded->pts > r->start)
            continue;
        if (r->decoded->pts == r->start && skip == 0)
            return 1;
        if (r->decoded->pts == r->start)
            r->skip--;
        av_frame_unref(r->decoded);
        return next_wanted(r);
    }
    tamis_priv_av_demux_seek(r, tamis_priv_av_bound(r->stream->start_time));
    return next_wanted(r);
}

static int64_t ticks(const tamis_av_reader *r, double seconds)
{
    double t = seconds / av_q2d(r->stream->time_base);
    return t < (double)TAMIS_AV_TIME_MOST ? (int64_t)ceil(t - 1e-3) + r->zero : INT64_MAX;
}

static void set_range(tamis_av_reader *r, const tamis_video_read_options *options)
{
    r->start = options->start > 0 ? ticks(r, options->start) : INT64_MIN;
    r->end = options->end > 0 ? ticks(r, options->end) : INT64_MAX;
    r->skip = options->first;
    r->count = options->count;
    r->left = options->count > 0 ? options->count : -1;
    r->trimmed = options->start > 0 || options->first > 0;
    r->last = AV_NOPTS_VALUE;
    if (r->trimmed)
        tamis_priv_av_tap_skip(&r->tap, r->start == INT64_MIN ? r->zero : r->start);
}

/* ---- frames as images */

/* Where the decoder's frame cannot be seen as it is, a copy in planes. */
static AVFrame *visible(tamis_ctx *ctx, tamis_av_reader *r)
{
    if (r->device.number) {
        AVFrame *there = tamis_priv_av_device_take(&r->device, ctx, r->decoded, r->pixels);
        av_frame_unref(r->decoded);
        return there;
    }
    AVFrame *out = av_frame_alloc();
    if (!out || tamis_priv_av_pixels_viewable(r->pixels)) {
        if (out)
            av_frame_move_ref(out, r->decoded);
        return out;
    }
    av_frame_free(&out);
    if (!r->copies.pool &&
        !tamis_priv_av_pool_open(&r->copies, tamis_priv_av_pixels_planar(&r->sight),
                                 r->decoded->width, r->decoded->height))
        return NULL;
    out = tamis_priv_av_pool_take(&r->copies);
    if (!out || av_frame_copy_props(out, r->decoded) < 0 ||
        !tamis_priv_av_pixels_copy(r->decoded, out))
        av_frame_free(&out);
    av_frame_unref(r->decoded);
    return out;
}

static tamis_status check_same(const tamis_video_reader *reader)
{
    const tamis_av_reader *r = reader->state;
    const AVFrame *f = r->decoded;
    enum AVPixelFormat pixels = tamis_priv_av_device_pixels(r->codec, f);
    if (f->width == r->like->width && f->height == r->like->height && pixels == r->like->format)
        return TAMIS_OK;
    return tamis_ctx_fail(
        reader->ctx, TAMIS_ERR_UNSUPPORTED,
        "%s: at %.3f s frames become %dx%d %s, after %dx%d %s; cut the video there", reader->name,
        (double)(f->pts - r->zero) * av_q2d(r->stream->time_base), f->width, f->height,
        av_get_pix_fmt_name(pixels), r->like->width, r->like->height,
        av_get_pix_fmt_name(r->like->format));
}

/* No more frames: the other tracks are read to where the video ends. */
static tamis_status end_reading(const tamis_video_reader *reader)
{
    tamis_av_reader *r = reader->state;
    if (r->over)
        return TAMIS_OK;
    if (!r->ended) { /* a frame beyond the range was seen */
        int64_t next = r->decoded->pts;
        tamis_priv_av_tap_end(&r->tap, r->end < next ? r->end : next);
    }
    av_frame_unref(r->decoded);
    r->over = 1;
    tamis_priv_av_demux_rest(r);
    return r->lacked ? no_memory(reader) : TAMIS_OK;
}

/* Whether another frame is to be delivered. The one behind the last is looked at, too: where it
 * begins, the last one ends. */
static int go_on(tamis_av_reader *r)
{
    if (r->over)
        return 0;
    if (r->left != 0)
        return next_wanted(r);
    decode(r);
    return 0;
}

/* Where memory that frames lie in is; out becomes the frame's. */
static tamis_status give(const tamis_video_reader *reader, AVFrame *out, double time,
                         tamis_video_frame *frame)
{
    tamis_av_reader *r = reader->state;
    if (!out || !tamis_priv_av_frame_wrap(out, r->sight.model, time, frame))
        return no_memory(reader);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        if (frame->part[i].format.channels)
            frame->part[i].device = r->device.number;
    r->device.delivered++;
    return TAMIS_OK;
}

/* ---- after hardware has failed: a decoder in software of its own, from the beginning */

/* Leaves out the frames that hardware has decoded. */
static tamis_status catch_up(const tamis_video_reader *reader)
{
    const tamis_av_reader *r = reader->state;
    tamis_video_frame frame;
    tamis_status status = TAMIS_OK;
    for (int64_t i = 0; i < r->device.delivered && !status; i++) {
        if (__atomic_load_n(&reader->stop, __ATOMIC_RELAXED))
            tamis_video_reader_cancel(r->device.again);
        status = tamis_video_reader_next(r->device.again, &frame);
        tamis_video_frame_release(&frame);
    }
    return status;
}

static tamis_status begin_again(tamis_video_reader *reader)
{
    tamis_av_reader *r = reader->state;
    snprintf(reader->info.decoder, sizeof reader->info.decoder,
             "cuda:%d, from frame %lld on software (%s)", r->device.number - 1,
             (long long)r->device.delivered, r->device.why);
    av_frame_unref(r->decoded);
    tamis_status status =
        tamis_video_reader_open(reader->ctx, reader->name, &r->options, &r->device.again);
    if (status != TAMIS_OK)
        return status;
    tamis_priv_av_tap_refuse(&tamis_priv_av_reader_of(r->device.again)->tap);
    return catch_up(reader);
}

/* The other tracks go on as before, a packet of the video for each frame. */
static tamis_status read_again(tamis_video_reader *reader, tamis_video_frame *frame)
{
    tamis_av_reader *r = reader->state;
    tamis_video_frame here;
    if (r->over)
        return TAMIS_OK;
    tamis_status status = tamis_video_reader_next(r->device.again, &here);
    if (status != TAMIS_OK)
        return status;
    if (here.owner) {
        if (tamis_priv_av_demux_next(r))
            av_packet_unref(r->packet);
        AVFrame *out =
            tamis_priv_av_device_bring(&r->device, reader->ctx, tamis_priv_av_frame_of(&here));
        status = give(reader, out, here.time, frame);
        tamis_video_frame_release(&here);
        return status;
    }
    tamis_priv_av_tap_end(&r->tap, tamis_priv_av_reader_of(r->device.again)->tap.until);
    r->over = 1;
    tamis_priv_av_demux_rest(r);
    return r->lacked ? no_memory(reader) : TAMIS_OK;
}

/* ---- frames for the caller */

static tamis_status read_frame(tamis_video_reader *reader, tamis_video_frame *frame)
{
    tamis_av_reader *r = reader->state;
    if (r->device.again)
        return read_again(reader, frame);
    if (r->first) {
        av_frame_move_ref(r->decoded, r->first);
        av_frame_free(&r->first);
    } else if (!go_on(r) && !r->device.failed) {
        return end_reading(reader);
    }
    if (r->lacked)
        return no_memory(reader);
    tamis_status status = r->device.failed ? TAMIS_OK : check_same(reader);
    if (status != TAMIS_OK)
        return status;
    double time = (double)(r->decoded->pts - r->zero) * av_q2d(r->stream->time_base);
    AVFrame *out = r->device.failed ? NULL : visible(reader->ctx, r);
    if (out || !r->device.number) {
        r->left -= r->left > 0;
        return give(reader, out, time, frame);
    }
    status = begin_again(reader);
    return status ? status : read_again(reader, frame);
}

/* What a canceled reader says and gives is of no meaning. */
static tamis_status settle(const tamis_video_reader *reader, tamis_status status)
{
    const tamis_av_reader *r = reader->state;
    if (r->bytes.error != ECANCELED)
        return status;
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_CANCELED, "%s: canceled", reader->name);
}

static tamis_status next_frame(tamis_video_reader *reader, tamis_video_frame *frame)
{
    tamis_status status = settle(reader, read_frame(reader, frame));
    if (status != TAMIS_OK)
        tamis_video_frame_release(frame);
    return status;
}

/* ---- opening and closing */

/* What is like all frames, without their samples. */
static AVFrame *properties(const AVFrame *frame)
{
    AVFrame *out = av_frame_alloc();
    if (!out)
        return NULL;
    out->width = frame->width;
    out->height = frame->height;
    out->format = frame->format;
    if (av_frame_copy_props(out, frame) < 0)
        av_frame_free(&out);
    return out;
}

static tamis_status open_first(tamis_video_reader *reader, const tamis_video_read_options *options)
{
    tamis_av_reader *r = reader->state;
    set_range(r, options);
    if (!find_first(r)) {
        if (r->seen > 0 || r->trimmed)
            return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ,
                                  "%s: no frame lies in the range that was asked for",
                                  reader->name);
        char said[160];
        tamis_priv_av_note_read(&r->decoder, said, sizeof said);
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: no frame can be decoded%s%s%s",
                              reader->name, *said ? " (" : "", said, *said ? ")" : "");
    }
    if (r->trimmed) { /* what was left out on the way is no loss */
        r->lost = r->damaged = 0;
        tamis_priv_av_note_clear(&r->decoder);
    }
    r->pixels = tamis_priv_av_device_pixels(r->codec, r->decoded);
    r->like = properties(r->decoded);
    if (!r->like)
        return no_memory(reader);
    r->like->format = r->pixels;
    if (!tamis_priv_av_format_of(r->like, &r->sight) ||
        tamis_priv_av_pixels_planar(&r->sight) == AV_PIX_FMT_NONE)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: pixels of kind %s cannot be filtered; convert the video first",
                              reader->name, av_get_pix_fmt_name(r->pixels));
    r->origin = r->trimmed ? r->decoded->pts : r->zero;
    tamis_priv_av_tap_start(&r->tap, r->trimmed ? r->decoded->pts : INT64_MIN);
    r->first = av_frame_alloc();
    if (!r->first)
        return no_memory(reader);
    av_frame_move_ref(r->first, r->decoded);
    return TAMIS_OK;
}

static const char *damage(const tamis_video_reader *reader)
{
    return tamis_priv_av_damage(reader);
}

static void close_reader(tamis_video_reader *reader)
{
    tamis_av_reader *r = reader->state;
    if (!r)
        return;
    tamis_priv_av_tap_close(&r->tap);
    av_frame_free(&r->first);
    av_frame_free(&r->like);
    av_frame_free(&r->decoded);
    av_packet_free(&r->packet);
    tamis_priv_av_device_close(&r->device);
    avcodec_free_context(&r->codec);
    avformat_close_input(&r->format);
    tamis_priv_av_bytes_close(&r->bytes);
    tamis_priv_av_pool_close(&r->copies);
    tamis_priv_av_note_close(&r->demuxer);
    tamis_priv_av_note_close(&r->decoder);
    free(r);
    reader->state = NULL;
}

static const tamis_video_reader_ops ops = {next_frame, damage, close_reader};

tamis_av_reader *tamis_priv_av_reader_of(const tamis_video_reader *reader)
{
    return reader && reader->ops == &ops ? reader->state : NULL;
}

static tamis_status open_with(tamis_video_reader *reader, const char *path,
                              const tamis_video_read_options *options, int device)
{
    tamis_av_reader *r = calloc(1, sizeof *r);
    reader->ops = &ops;
    reader->state = r;
    if (!r)
        return no_memory(reader);
    r->options = *options;
    r->options.device = 0;
    tamis_priv_av_note_open(&r->demuxer);
    tamis_priv_av_note_open(&r->decoder);
    tamis_priv_av_tap_open(&r->tap);
    tamis_status status = tamis_priv_av_demux_open(reader, path, options->threads, device);
    if (status == TAMIS_OK)
        status = open_first(reader, options);
    if (status == TAMIS_OK)
        tamis_priv_av_info_fill(reader, options);
    return settle(reader, status);
}

static int is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether frames come from a device's decoder: the first one does, and can be taken from it. */
static int is_there(const tamis_video_reader *reader)
{
    const tamis_av_reader *r = reader->state;
    return r && r->first && r->first->format == AV_PIX_FMT_CUDA && !r->first->crop_left &&
           !r->first->crop_top;
}

/* With a device that does not do all of it there is nothing on it. */
static tamis_status try_device(tamis_video_reader *reader, const char *path,
                               const tamis_video_read_options *options, char *why, size_t size)
{
    tamis_status status = open_with(reader, path, options, options->device);
    const tamis_av_reader *r = reader->state;
    if (!r || status == TAMIS_ERR_CANCELED || (status == TAMIS_OK && is_there(reader)))
        return status;
    snprintf(why, size, "%s", r->device.why);
    if (!r->device.number)
        return status;
    close_reader(reader);
    return open_with(reader, path, options, 0);
}

tamis_status tamis_priv_av_reader_open(tamis_video_reader *reader, const char *path,
                                       const tamis_video_read_options *options)
{
    char why[160] = "", *decoder = reader->info.decoder;
    size_t size = sizeof reader->info.decoder;
    tamis_status status;
    if (options->device && is_file(path)) {
        status = try_device(reader, path, options, why, sizeof why);
    } else {
        status = open_with(reader, path, options, 0);
        snprintf(why, sizeof why, "%s", options->device ? "it is no file" : "");
    }
    if (*why)
        snprintf(decoder, size, "software (not cuda:%d: %s)", options->device - 1, why);
    else if (options->device)
        snprintf(decoder, size, "cuda:%d", options->device - 1);
    else
        snprintf(decoder, size, "software");
    return status;
}
