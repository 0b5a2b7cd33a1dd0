/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Y4M and raw frames. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "video_plain.h"

#define DEFAULT_RATE 25

typedef struct plain_writer {
    tamis_video_pool pool;
    int has_pool, is_y4m, is_stripped;
    int lines_kept; /* frames' own tags go with them: they came from a Y4M file */
    double last;    /* the time of the frame before */
    int64_t frames; /* written */
    int uneven;     /* the source's frames are not equally far apart, which was named */
    char dropped[256];
    char detail[64];
} plain_writer;

static void drop(plain_writer *s, const char *what, int count)
{
    size_t used = strlen(s->dropped);
    if (count > 0)
        snprintf(s->dropped + used, sizeof s->dropped - used, "%s%d %s%s", used ? "\n" : "", count,
                 what, count == 1 ? "" : "s");
}

static void drop_times(plain_writer *s)
{
    size_t used = strlen(s->dropped);
    snprintf(s->dropped + used, sizeof s->dropped - used, "%sthe times of frames",
             used ? "\n" : "");
    s->uneven = 1;
}

/* What a reader carries and bare frames have no place for. */
static void note_dropped(const tamis_video_writer *writer, int strip, plain_writer *s)
{
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    if (!info || strip)
        return;
    drop(s, "audio track", info->audio);
    drop(s, "subtitle track", info->subtitles);
    drop(s, "attachment", info->attachments);
    drop(s, "chapter", info->chapters);
    drop(s, "other track", info->other);
    if (info->variable_rate)
        drop_times(s);
}

/* Containers may tell a rate that their frames do not keep. */
static void check_step(const tamis_video_writer *writer, double time, plain_writer *s)
{
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    if (info && info->rate > 0 && s->frames > 0 && !s->uneven && !s->is_stripped &&
        fabs((time - s->last) * info->rate - 1) > 0.5)
        drop_times(s);
    s->last = time;
    s->frames++;
}

/* A fraction near a number of frames a second. */
static void set_rate(double rate, int *num, int *den)
{
    if (!(rate > 0))
        rate = DEFAULT_RATE;
    rate = rate < 1e6 ? rate : 1e6;
    double ntsc = rate * 1001 / 1000;
    *den = 1;
    *num = (int)(rate + 0.5);
    if (rate >= 1 && rate <= 1e6 && rate - *num < 1e-9 && *num - rate < 1e-9)
        return;
    *num = (int)(ntsc + 0.5);
    *den = 1001;
    double off = ntsc - *num;
    if (*num > 0 && *num < 2000000 && off < 1e-3 && off > -1e-3) {
        *num *= 1000;
        return;
    }
    *num = (int)(rate * 1000 + 0.5);
    *den = 1000;
}

static int make_header(const tamis_video_writer *writer, const tamis_video_write_options *options,
                       char *line, size_t size)
{
    const tamis_video_info *info = tamis_video_reader_info(writer->source);
    const tamis_plain_reader *plain = tamis_priv_plain_reader(writer->source);
    tamis_y4m_header header = {.format = writer->format, .interlace = '?'};
    char extra[TAMIS_Y4M_LINE_BYTES] = "";
    if (plain && *plain->line) {
        header = plain->header;
        header.format = writer->format;
        if (!tamis_priv_video_pixels_alike(&writer->format, &plain->header.format) ||
            writer->format.siting != plain->header.format.siting)
            header.sampling[0] = '\0';
        tamis_priv_y4m_extra(plain->line, extra, sizeof extra);
    } else if (info) {
        header.aspect_num = info->aspect_num;
        header.aspect_den = info->aspect_den;
        header.interlace = "ptb"[info->interlaced % 3];
        header.rate_num = info->rate_num;
        header.rate_den = info->rate_den;
    }
    if (header.rate_num == 0 && (!plain || !*plain->line || options->rate > 0))
        set_rate(options->rate > 0 ? options->rate
                 : info            ? info->rate
                                   : 0,
                 &header.rate_num, &header.rate_den);
    return tamis_priv_y4m_print(&header, options->strip ? NULL : extra, line, size);
}

/* The same header as the source's, letter for letter, where nothing has changed. */
static const char *kept_header(const tamis_video_writer *writer,
                               const tamis_video_write_options *options)
{
    const tamis_plain_reader *plain = tamis_priv_plain_reader(writer->source);
    if (!plain || !*plain->line || options->strip)
        return NULL;
    const tamis_video_format *a = &writer->format, *b = &plain->header.format;
    return a->w == b->w && a->h == b->h && tamis_priv_video_pixels_alike(a, b) &&
                   a->full_range == b->full_range && a->siting == b->siting
               ? plain->line
               : NULL;
}

static tamis_status write_header(tamis_video_writer *writer,
                                 const tamis_video_write_options *options)
{
    char line[2 * TAMIS_Y4M_LINE_BYTES], pixels[128];
    const char *kept = kept_header(writer, options);
    if (kept)
        snprintf(line, sizeof line, "%s\n", kept);
    else if (!make_header(writer, options, line, sizeof line))
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: Y4M has no frames of %s; other containers and raw frames do",
                              writer->name,
                              tamis_video_format_print(&writer->format, pixels, sizeof pixels));
    tamis_priv_sink_write(&writer->file.sink, line, strlen(line));
    return TAMIS_OK;
}

static tamis_status plain_frame(tamis_video_writer *writer, const tamis_video_frame *like,
                                tamis_video_frame *frame)
{
    plain_writer *s = writer->state;
    tamis_status status = tamis_priv_video_pool_take(&s->pool, writer->name, frame);
    if (status != TAMIS_OK)
        return status;
    const tamis_plain_frame *from = s->lines_kept ? tamis_priv_plain_frame(like) : NULL;
    if (from)
        strcpy(tamis_priv_plain_frame(frame)->tags, from->tags);
    if (like)
        frame->time = like->time;
    return TAMIS_OK;
}

static tamis_status plain_write(tamis_video_writer *writer, tamis_video_frame *frame)
{
    plain_writer *s = writer->state;
    tamis_plain_frame *own = tamis_priv_plain_frame(frame);
    tamis_sink *sink = &writer->file.sink;
    size_t size = tamis_type_size(writer->format.type);
    if (!own || own->pool != &s->pool)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: the frame is not one of this writer", writer->name);
    check_step(writer, frame->time, s);
    if (size > 1 && tamis_priv_host_is_big())
        tamis_priv_swap_samples(own->data, s->pool.bytes / size, size);
    if (s->is_y4m) {
        tamis_priv_sink_write(sink, "FRAME", 5);
        tamis_priv_sink_write(sink, own->tags, strlen(own->tags));
        tamis_priv_sink_write(sink, "\n", 1);
    }
    if (tamis_priv_sink_write(sink, own->data, s->pool.bytes))
        return TAMIS_OK;
    return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: cannot write: %s", writer->name,
                          strerror(sink->error));
}

static const char *plain_dropped(const tamis_video_writer *writer)
{
    const plain_writer *s = writer->state;
    return s->dropped;
}

static const char *plain_detail(const tamis_video_writer *writer)
{
    const plain_writer *s = writer->state;
    return s->detail;
}

static void plain_close(tamis_video_writer *writer)
{
    plain_writer *s = writer->state;
    if (s && s->has_pool)
        tamis_priv_video_pool_close(&s->pool);
    free(s);
}

static const tamis_video_writer_ops plain_ops = {
    .frame = plain_frame,
    .write = plain_write,
    .dropped = plain_dropped,
    .detail = plain_detail,
    .close = plain_close,
};

tamis_status tamis_priv_plain_video_writer_open(tamis_video_writer *writer,
                                                const tamis_video_write_options *options)
{
    plain_writer *s = calloc(1, sizeof *s);
    const tamis_plain_reader *plain = tamis_priv_plain_reader(writer->source);
    tamis_video_layout layout = {.format = writer->format};
    writer->ops = &plain_ops;
    writer->state = s;
    if (!s)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_MEMORY, "%s: no memory", writer->name);
    s->is_stripped = options->strip;
    s->is_y4m = strcmp(options->format, "y4m") == 0;
    s->lines_kept = plain && *plain->line && !options->strip;
    if (plain && !s->is_y4m) /* raw frames stay as they lie */
        layout.packed = plain->pool.layout.packed;
    else if (writer->format.model == TAMIS_VIDEO_RGB)
        layout.packed = -1;
    uint64_t bytes = tamis_priv_video_frame_bytes(&layout);
    if (bytes == 0 || bytes > SIZE_MAX)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_LIMIT, "%s: frames of %dx%d are too large",
                              writer->name, layout.format.w, layout.format.h);
    tamis_priv_video_pool_open(&s->pool, writer->ctx, &layout, options->pinned);
    s->has_pool = 1;
    char pixels[32];
    snprintf(s->detail, sizeof s->detail, "%s %s", options->format,
             tamis_priv_video_pixels_print(&writer->format, pixels, sizeof pixels));
    note_dropped(writer, options->strip, s);
    return s->is_y4m ? write_header(writer, options) : TAMIS_OK;
}
