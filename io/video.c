/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls of tamis/video.h: to our own readers and writers, or to those of the module. */
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "target.h"
#include "video_pixels.h"
#include "video_probe.h"
#include "y4m_header.h"

static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* ---- reading */

/* Y4M by its first bytes; what cannot be looked at by its name, and standard input, too, since
 * whoever pipes something else has a container that the module asks for by seeking. */
static int is_plain(tamis_ctx *ctx, const char *path, const tamis_video_read_options *options)
{
    uint8_t head[TAMIS_VIDEO_PROBE_BYTES];
    if (options->raw)
        return 1;
    size_t n = tamis_priv_video_peek(ctx, path, head, sizeof head);
    size_t magic = strlen(TAMIS_Y4M_MAGIC);
    if (n == 0) {
        char *extension = tamis_priv_extension(path);
        int is = strcmp(path, "-") == 0 || (extension && strcmp(extension, "y4m") == 0);
        free(extension);
        return is;
    }
    return n >= magic && memcmp(head, TAMIS_Y4M_MAGIC, magic) == 0;
}

static tamis_status check_read_options(tamis_ctx *ctx, const char *name,
                                       const tamis_video_read_options *o)
{
    /* Written so that NaN is refused. */
    if (!(o->start >= 0) || !(o->end >= 0) || (o->end > 0 && o->end <= o->start))
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT,
                              "%s: start = %g and end = %g are not 0 <= start < end", name,
                              o->start, o->end);
    if (o->first < 0 || o->count < 0)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT,
                              "%s: first = %lld or count = %lld is below 0", name,
                              (long long)o->first, (long long)o->count);
    return TAMIS_OK;
}

static tamis_status open_reader(tamis_video_reader *reader, const char *path,
                                const tamis_video_read_options *options)
{
    char why[256];
    tamis_status status = check_read_options(reader->ctx, reader->name, options);
    if (status != TAMIS_OK)
        return status;
    if (is_plain(reader->ctx, path, options))
        return tamis_priv_plain_video_reader_open(reader, path, options);
    const tamis_video_module *module = tamis_priv_video_module(why, sizeof why);
    if (module)
        return module->reader_open(reader, path, options);
    return tamis_ctx_fail(reader->ctx, TAMIS_ERR_UNSUPPORTED,
                          "%s: video other than Y4M is read by FFmpeg's libraries, and %s",
                          reader->name, why);
}

tamis_status tamis_video_reader_open(tamis_ctx *ctx, const char *path,
                                     const tamis_video_read_options *options,
                                     tamis_video_reader **out)
{
    static const tamis_video_read_options defaults;
    TAMIS_IO_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, path);
    tamis_video_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", path);
    reader->ctx = ctx;
    reader->name = copy_text(strcmp(path, "-") == 0 ? "standard input" : path);
    tamis_status status = reader->name ? open_reader(reader, path, options ? options : &defaults)
                                       : tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "no memory");
    if (status != TAMIS_OK)
        tamis_video_reader_close(&reader);
    *out = reader;
    return status;
}

const tamis_video_info *tamis_video_reader_info(const tamis_video_reader *reader)
{
    return reader ? &reader->info : NULL;
}

tamis_status tamis_video_reader_next(tamis_video_reader *reader, tamis_video_frame *frame)
{
    if (frame)
        *frame = (tamis_video_frame){0};
    TAMIS_IO_REQUIRE(NULL, reader);
    TAMIS_IO_REQUIRE(reader->ctx, frame);
    return reader->ops->next(reader, frame);
}

const char *tamis_video_reader_damage(const tamis_video_reader *reader)
{
    return reader && reader->ops->damage ? reader->ops->damage(reader) : "";
}

void tamis_video_reader_cancel(tamis_video_reader *reader)
{
    if (reader)
        __atomic_store_n(&reader->stop, 1, __ATOMIC_RELAXED);
}

void tamis_video_reader_close(tamis_video_reader **reader)
{
    tamis_video_reader *r = reader ? *reader : NULL;
    if (!r)
        return;
    if (r->ops)
        r->ops->close(r);
    free(r->name);
    free(r);
    *reader = NULL;
}

void tamis_video_frame_release(tamis_video_frame *frame)
{
    if (!frame)
        return;
    tamis_video_owner *owner = frame->owner;
    if (owner)
        owner->release(frame);
    *frame = (tamis_video_frame){0};
}

/* ---- writing */

static int is_plain_container(const char *name)
{
    return strcmp(name, "y4m") == 0 || strcmp(name, "raw") == 0 || strcmp(name, "yuv") == 0 ||
           strcmp(name, "rgb") == 0;
}

int tamis_video_container(const char *name)
{
    char why[256];
    if (!name || !*name)
        return 0;
    if (is_plain_container(name))
        return 1;
    const tamis_video_module *module = tamis_priv_video_module(why, sizeof why);
    return module && module->holds(name);
}

/* Whether frames are to be as they are; else the module converts them. */
static int keeps_pixels(const tamis_video_format *format, const char *pixels)
{
    tamis_video_layout layout;
    char own[32];
    if (!pixels)
        return 1;
    tamis_priv_video_pixels_print(format, own, sizeof own);
    return strcmp(own, pixels) == 0 ||
           (tamis_priv_video_pixels_parse(pixels, &layout) && layout.packed <= 0 &&
            tamis_priv_video_pixels_alike(&layout.format, format));
}

/* Our own writers keep frames as they are; the module has all others. */
static tamis_status choose_writer(tamis_video_writer *writer,
                                  const tamis_video_write_options *options)
{
    char why[256];
    int is_raw = strcmp(options->codec ? options->codec : "rawvideo", "rawvideo") == 0;
    if (is_plain_container(options->format) && is_raw &&
        keeps_pixels(&writer->format, options->pixels))
        return tamis_priv_plain_video_writer_open(writer, options);
    const tamis_video_module *module = tamis_priv_video_module(why, sizeof why);
    if (!module)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: video other than Y4M and raw frames, unconverted, is written by "
                              "FFmpeg's libraries, and %s",
                              writer->name, why);
    if (!module->holds(options->format))
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: '%s' is not a container of video; such are mkv, mp4, mov, webm, "
                              "avi, ts, y4m, raw",
                              writer->name, options->format);
    return module->writer_open(writer, options);
}

static tamis_status check_write_options(tamis_video_writer *writer,
                                        const tamis_video_write_options *o)
{
    if (!o->format || !*o->format)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_UNSUPPORTED,
                              "%s: no extension tells the container; name the format, such as y4m "
                              "or mkv",
                              writer->name);
    if (!(o->quality >= 0 && o->quality <= 1e6) || !(o->rate >= 0 && o->rate <= 1e6))
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT,
                              "%s: quality = %g or rate = %g is outside 0 .. 1000000", writer->name,
                              o->quality, o->rate);
    return TAMIS_OK;
}

static tamis_status open_writer(tamis_video_writer *writer, const char *path,
                                const tamis_video_write_options *given)
{
    static const tamis_encoder place = {.name = "video"};
    tamis_video_write_options options = *given;
    if (!options.format)
        options.format = writer->file.extension;
    tamis_status status = check_write_options(writer, &options);
    writer->file.encoder = &place;
    writer->file.overwrite = options.overwrite;
    if (status == TAMIS_OK)
        status = tamis_priv_target_open(&writer->file, path);
    writer->seekable = writer->file.temp != NULL;
    return status == TAMIS_OK ? choose_writer(writer, &options) : status;
}

tamis_status tamis_video_writer_open(tamis_ctx *ctx, const char *path,
                                     const tamis_video_format *format, tamis_video_reader *source,
                                     const tamis_video_write_options *options,
                                     tamis_video_writer **out)
{
    static const tamis_video_write_options defaults;
    TAMIS_IO_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, path);
    TAMIS_IO_REQUIRE(ctx, format);
    if (format->w < 1 || format->h < 1)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: frames of %dx%d", path, format->w,
                              format->h);
    tamis_video_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", path);
    writer->ctx = writer->file.ctx = ctx;
    writer->file.sink.fd = -1;
    writer->file.out_fd = -1;
    writer->format = *format;
    writer->source = source;
    writer->name = writer->file.name = copy_text(strcmp(path, "-") == 0 ? "standard output" : path);
    writer->file.extension = tamis_priv_extension(path);
    tamis_status status = writer->name && writer->file.extension
                              ? open_writer(writer, path, options ? options : &defaults)
                              : tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", path);
    if (status != TAMIS_OK)
        tamis_video_writer_close(&writer);
    *out = writer;
    return status;
}

tamis_status tamis_video_writer_frame(tamis_video_writer *writer, const tamis_video_frame *like,
                                      tamis_video_frame *frame)
{
    if (frame)
        *frame = (tamis_video_frame){0};
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, frame);
    return writer->ops->frame(writer, like, frame);
}

/* What has failed is given up. */
static tamis_status settle(tamis_video_writer *writer, tamis_status status)
{
    if (status != TAMIS_OK) {
        writer->failed = 1;
        tamis_priv_target_discard(&writer->file);
    }
    return status;
}

tamis_status tamis_video_writer_write(tamis_video_writer *writer, tamis_video_frame *frame)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, frame);
    tamis_status status;
    if (writer->failed || writer->finished)
        status = tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: writing has already ended",
                                writer->name);
    else
        status = settle(writer, writer->ops->write(writer, frame));
    tamis_video_frame_release(frame);
    return status;
}

int64_t tamis_video_writer_kept(const tamis_video_writer *writer)
{
    return writer && writer->ops->kept ? writer->ops->kept(writer) : 0;
}

tamis_status tamis_video_writer_skip(tamis_video_writer *writer, const tamis_video_frame *like)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, like);
    if (writer->failed || writer->finished || !writer->ops->skip)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_ARGUMENT, "%s: no more frames were kept",
                              writer->name);
    return settle(writer, writer->ops->skip(writer, like));
}

const char *tamis_video_writer_dropped(const tamis_video_writer *writer)
{
    return writer && writer->ops->dropped ? writer->ops->dropped(writer) : "";
}

const char *tamis_video_writer_detail(const tamis_video_writer *writer)
{
    return writer ? writer->ops->detail(writer) : "";
}

tamis_status tamis_video_writer_finish(tamis_video_writer *writer)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    if (writer->failed || writer->finished)
        return tamis_ctx_fail(writer->ctx, TAMIS_ERR_WRITE, "%s: writing has already ended",
                              writer->name);
    writer->finished = 1;
    tamis_status status = writer->ops->finish ? writer->ops->finish(writer) : TAMIS_OK;
    if (status == TAMIS_OK)
        status = tamis_priv_target_commit(&writer->file);
    return settle(writer, status);
}

void tamis_video_writer_close(tamis_video_writer **writer)
{
    tamis_video_writer *w = writer ? *writer : NULL;
    if (!w)
        return;
    if (w->ops)
        w->ops->close(w);
    tamis_priv_target_discard(&w->file);
    free(w->file.path);
    free(w->file.extension);
    free(w->name);
    free(w);
    *writer = NULL;
}
