/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Y4M and raw frames. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "video_plain.h"

static tamis_status no_memory(const tamis_video_reader *reader)
{
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_MEMORY, "%s: no memory", reader->name);
}

/* ---- opening */

static tamis_status read_header(tamis_video_reader *reader, tamis_plain_reader *s)
{
    char problem[160];
    size_t magic = strlen(TAMIS_Y4M_MAGIC);
    int n = tamis_priv_video_input_line(&s->in, s->line, sizeof s->line);
    if (s->in.error == ECANCELED)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_CANCELED, "%s: canceled", reader->name);
    if (s->in.error)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: cannot read: %s", reader->name,
                              strerror(s->in.error));
    if (n < 0 && s->in.pos == 0)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: the file is empty", reader->name);
    if (n < (int)magic || memcmp(s->line, TAMIS_Y4M_MAGIC, magic) != 0 ||
        (s->line[magic] && s->line[magic] != ' '))
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ,
                              "%s: its first line is not a header of YUV4MPEG2", reader->name);
    if (!tamis_priv_y4m_parse(s->line, &s->header, problem, sizeof problem))
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: %s", reader->name, problem);
    return TAMIS_OK;
}

static tamis_status read_spec(tamis_video_reader *reader, const char *raw, tamis_plain_reader *s,
                              tamis_video_layout *layout)
{
    s->header.interlace = '?';
    if (!tamis_priv_video_raw_parse(raw, layout, &s->header.rate_num, &s->header.rate_den))
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: raw = '%s' is not WxH:PIXELS[:RATE] with PIXELS such as "
                              "yuv420p, yuv422p10, gray, nv12, gbrp or rgb24",
                              reader->name, raw);
    s->header.format = layout->format;
    return TAMIS_OK;
}

/* The bytes before a frame's samples, at least. */
static uint64_t prefix_bytes(const tamis_plain_reader *s)
{
    return *s->line ? strlen("FRAME\n") : 0;
}

static void fill_info(const tamis_plain_reader *s, tamis_video_info *info)
{
    const tamis_y4m_header *h = &s->header;
    info->format = h->format;
    snprintf(info->container, sizeof info->container, "%s", *s->line ? "y4m" : "raw");
    snprintf(info->codec, sizeof info->codec, "rawvideo");
    tamis_priv_video_pixels_print(&h->format, info->pixels, sizeof info->pixels);
    info->rate_num = h->rate_num;
    info->rate_den = h->rate_den;
    info->rate = h->rate_num ? (double)h->rate_num / h->rate_den : 0;
    info->aspect_num = h->aspect_num;
    info->aspect_den = h->aspect_den;
    info->interlaced = h->interlace == 't' || h->interlace == 'm' ? 1 : h->interlace == 'b' ? 2 : 0;
    snprintf(info->detail, sizeof info->detail, "%s",
             h->interlace == 'm' ? "mixed fields and frames" : "");
}

/* Frames that start before a time; never fewer than 0. */
static int64_t frames_before(double time, double rate)
{
    double n = ceil(time * rate - 1e-6);
    return n <= 0 ? 0 : n >= 9e18 ? INT64_MAX : (int64_t)n;
}

static tamis_status choose_range(tamis_video_reader *reader, const tamis_video_read_options *o,
                                 tamis_plain_reader *s)
{
    double rate = reader->info.rate;
    if ((o->start > 0 || o->end > 0) && rate <= 0)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: start and end need frames a second, which it does not tell",
                              reader->name);
    int64_t from = o->start > 0 ? frames_before(o->start, rate) : 0;
    s->end = o->end > 0 ? frames_before(o->end, rate) : INT64_MAX;
    s->first = o->first > INT64_MAX - from ? INT64_MAX : from + o->first;
    if (o->count > 0 && o->count < s->end - s->first)
        s->end = s->first + o->count;
    return TAMIS_OK;
}

static void estimate_frames(tamis_video_info *info, const tamis_plain_reader *s)
{
    if (!s->in.seekable)
        return;
    uint64_t header = s->in.pos < s->in.size ? s->in.pos : s->in.size;
    int64_t all = (int64_t)((s->in.size - header) / (prefix_bytes(s) + s->pool.bytes));
    int64_t end = all < s->end ? all : s->end;
    info->frames = end > s->first ? end - s->first : 0;
    info->duration = info->rate > 0 ? (double)info->frames / info->rate : 0;
}

static tamis_status open_content(tamis_video_reader *reader, const char *path,
                                 const tamis_video_read_options *options, tamis_plain_reader *s)
{
    tamis_video_layout layout = {.packed = 0};
    tamis_waiting waiting = {reader->ctx, &reader->stop};
    if (!tamis_priv_video_input_open(waiting, &s->in, path))
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_READ, "%s: cannot open: %s", reader->name,
                              strerror(errno));
    tamis_status status =
        options->raw ? read_spec(reader, options->raw, s, &layout) : read_header(reader, s);
    if (status != TAMIS_OK)
        return status;
    layout.format = s->header.format;
    uint64_t bytes = tamis_priv_video_frame_bytes(&layout);
    if (bytes == 0 || bytes > SIZE_MAX)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_LIMIT, "%s: frames of %dx%d are too large",
                              reader->name, layout.format.w, layout.format.h);
    /* A header alone must not cost memory. */
    if (s->in.seekable && s->in.size - s->in.pos < bytes)
        return tamis_ctx_fail(
            reader->ctx, TAMIS_ERR_READ, "%s: a frame takes %llu bytes, and the file has %llu",
            reader->name, (unsigned long long)bytes, (unsigned long long)(s->in.size - s->in.pos));
    tamis_priv_video_pool_open(&s->pool, reader->ctx, &layout, options->pinned);
    s->has_pool = 1;
    fill_info(s, &reader->info);
    status = choose_range(reader, options, s);
    if (status == TAMIS_OK)
        estimate_frames(&reader->info, s);
    return status;
}

tamis_status tamis_priv_plain_video_reader_open(tamis_video_reader *reader, const char *path,
                                                const tamis_video_read_options *options)
{
    tamis_plain_reader *s = calloc(1, sizeof *s);
    reader->ops = &tamis_priv_plain_video_reader_ops;
    reader->state = s;
    if (!s)
        return no_memory(reader);
    s->in.fd = -1;
    return open_content(reader, path, options, s);
}

/* ---- frames */

/* The rest cannot be read: says why, and ends. */
static int lose(tamis_plain_reader *s, const char *what)
{
    if (s->in.error)
        snprintf(s->damage, sizeof s->damage, "from frame %lld on it cannot be read: %s",
                 (long long)s->next, strerror(s->in.error));
    else
        snprintf(s->damage, sizeof s->damage, "%s frame %lld", what, (long long)s->next);
    s->ended = 1;
    return 0;
}

/* Goes behind a frame's own line, whose tags are kept; 0 at the end. */
static int read_prefix(tamis_plain_reader *s, char *tags)
{
    char line[TAMIS_Y4M_LINE_BYTES];
    if (!*s->line)
        return 1;
    uint64_t before = s->in.pos;
    int n = tamis_priv_video_input_line(&s->in, line, sizeof line);
    if (n < 0 && s->in.pos == before && !s->in.error) {
        s->ended = 1;
        return 0;
    }
    if (n < 0 && s->in.pos - before < sizeof line - 1)
        return lose(s, "the file ends in the middle of");
    if (n < 5 || memcmp(line, "FRAME", 5) != 0 || (line[5] && line[5] != ' '))
        return lose(s, "what follows does not begin with FRAME and is lost, from");
    if (tags)
        memcpy(tags, line + 5, (size_t)n - 4);
    return 1;
}

static int skip_frame(tamis_plain_reader *s)
{
    if (!read_prefix(s, NULL))
        return 0;
    uint64_t n = tamis_priv_video_input_skip(&s->in, s->pool.bytes);
    if (n == 0 && !*s->line && !s->in.error) {
        s->ended = 1;
        return 0;
    }
    if (n < s->pool.bytes)
        return lose(s, "the file ends in the middle of");
    s->next++;
    return 1;
}

/* Samples are little-endian in files. */
static void to_host(const tamis_plain_reader *s, uint8_t *data)
{
    size_t size = tamis_type_size(s->pool.layout.format.type);
    if (size > 1 && tamis_priv_host_is_big())
        tamis_priv_swap_samples(data, s->pool.bytes / size, size);
}

static int read_frame(tamis_plain_reader *s, tamis_plain_frame *own)
{
    if (!read_prefix(s, own->tags))
        return 0;
    size_t n = tamis_priv_video_input_read(&s->in, own->data, s->pool.bytes);
    if (n == 0 && !*s->line && !s->in.error) {
        s->ended = 1;
        return 0;
    }
    if (n < s->pool.bytes)
        return lose(s, "the file ends in the middle of");
    to_host(s, own->data);
    s->next++;
    return 1;
}

static tamis_status next_frame(tamis_video_reader *reader, tamis_video_frame *frame)
{
    tamis_plain_reader *s = reader->state;
    while (!s->ended && s->next < s->first && s->next < s->end && skip_frame(s)) {
    }
    if (s->ended || s->next >= s->end || s->next < s->first)
        return TAMIS_OK;
    double rate = reader->info.rate;
    double time = rate > 0 ? (double)s->next / rate : 0;
    tamis_status status = tamis_priv_video_pool_take(&s->pool, reader->name, frame);
    if (status != TAMIS_OK)
        return status;
    frame->time = time;
    if (!read_frame(s, frame->owner))
        tamis_video_frame_release(frame);
    return TAMIS_OK;
}

static tamis_status plain_next(tamis_video_reader *reader, tamis_video_frame *frame)
{
    tamis_plain_reader *s = reader->state;
    tamis_status status = next_frame(reader, frame);
    if (status == TAMIS_OK && s->in.error == ECANCELED)
        return tamis_ctx_fail(reader->ctx, TAMIS_ERR_CANCELED, "%s: canceled", reader->name);
    return status;
}

static const char *plain_damage(const tamis_video_reader *reader)
{
    const tamis_plain_reader *s = reader->state;
    return s->damage;
}

static void plain_close(tamis_video_reader *reader)
{
    tamis_plain_reader *s = reader->state;
    if (!s)
        return;
    tamis_priv_video_input_close(&s->in);
    if (s->has_pool)
        tamis_priv_video_pool_close(&s->pool);
    free(s);
}

const tamis_video_reader_ops tamis_priv_plain_video_reader_ops = {
    .next = plain_next,
    .damage = plain_damage,
    .close = plain_close,
};

const tamis_plain_reader *tamis_priv_plain_reader(const tamis_video_reader *reader)
{
    return reader && reader->ops == &tamis_priv_plain_video_reader_ops ? reader->state : NULL;
}
