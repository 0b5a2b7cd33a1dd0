/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "meta.h"
#include "require.h"
#include "target.h"

#define DEFAULT_QUALITY 92
#define PYRAMID_TILE    256

static const tamis_encoder *const encoders[] = {
    &tamis_priv_encoder_png, &tamis_priv_encoder_jpeg, &tamis_priv_encoder_tiff,
    &tamis_priv_encoder_pnm, &tamis_priv_encoder_pam,  &tamis_priv_encoder_pfm,
    &tamis_priv_encoder_npy, &tamis_priv_encoder_raw,
};
#define ENCODER_COUNT (sizeof encoders / sizeof *encoders)

/* Those of libvips, which come last, and are named only to those who ask for them. */
static const tamis_encoder *const others[] = {&tamis_priv_encoder_webp, &tamis_priv_encoder_avif,
                                              &tamis_priv_encoder_heif, &tamis_priv_encoder_jp2,
                                              &tamis_priv_encoder_jxl};
#define OTHER_COUNT (sizeof others / sizeof *others)

tamis_status tamis_priv_writer_fail(const tamis_writer *writer, tamis_status status,
                                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tamis_priv_file_fail(writer->ctx, writer->name, status, format, args);
    va_end(args);
    return status;
}

tamis_status tamis_priv_writer_sink_failed(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "cannot write: %s",
                                  strerror(writer->sink.error));
}

tamis_status tamis_priv_writer_bytes(tamis_writer *writer, const void *data, size_t size)
{
    if (!tamis_priv_sink_write(&writer->sink, data, size))
        return tamis_priv_writer_sink_failed(writer);
    return TAMIS_OK;
}

tamis_status tamis_priv_rows_open(const tamis_writer *writer, const tamis_image *image,
                                  tamis_rows *out)
{
    *out = (tamis_rows){.image = image, .bytes = tamis_priv_row_bytes(image->format, image->w)};
    out->straighten =
        image->format.alpha == TAMIS_ALPHA_PREMULTIPLIED && writer->encoder->straight_alpha;
    if (image->format.layout == TAMIS_PLANAR)
        out->packed = malloc(out->bytes);
    if (out->straighten)
        out->straight = malloc(out->bytes);
    if ((image->format.layout == TAMIS_PLANAR && !out->packed) ||
        (out->straighten && !out->straight)) {
        tamis_priv_rows_close(out);
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    }
    return TAMIS_OK;
}

const void *tamis_priv_rows_get(tamis_rows *rows, int32_t y)
{
    tamis_format format = rows->image->format;
    const void *row = tamis_priv_packed_row(rows->image, y, rows->packed);
    if (!rows->straighten)
        return row;
    tamis_priv_unpremultiply(format.type, format.channels, row, rows->straight, rows->image->w);
    return rows->straight;
}

void tamis_priv_rows_close(tamis_rows *rows)
{
    free(rows->packed);
    free(rows->straight);
    *rows = (tamis_rows){0};
}

/* Whether word is one of the blank-separated words of list. */
static int has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if (n == length && memcmp(p, word, n) == 0)
            return 1;
        p += n + (p[n] == ' ');
    }
    return 0;
}

static const tamis_encoder *find_encoder(const char *format, const char *extension)
{
    for (size_t i = 0; i < ENCODER_COUNT; i++)
        if (format ? strcmp(encoders[i]->name, format) == 0
                   : has_word(encoders[i]->extensions, extension))
            return encoders[i];
    /* "pgm" or "jpg" as a format mean what they mean as extensions. */
    for (size_t i = 0; format && i < ENCODER_COUNT; i++)
        if (has_word(encoders[i]->extensions, format))
            return encoders[i];
    for (size_t i = 0; i < OTHER_COUNT; i++)
        if (has_word(others[i]->extensions, format ? format : extension))
            return others[i];
    return NULL;
}

/* In lower case, whatever the locale: Turkish has another i for TIF. */
char *tamis_priv_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const char *text = dot && dot > base ? dot + 1 : "";
    char *out = malloc(strlen(text) + 1);
    for (size_t i = 0; out && i <= strlen(text); i++)
        out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    return out;
}

/* Names of all formats, or all extensions. */
static const char *list_known(int extensions, char *buf, size_t size)
{
    *buf = '\0';
    for (size_t i = 0; i < ENCODER_COUNT; i++)
        snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", i ? ", " : "",
                 extensions ? encoders[i]->extensions : encoders[i]->name);
    return buf;
}

static tamis_status unknown_extension(const tamis_writer *writer)
{
    char known[256];
    list_known(1, known, sizeof known);
    if (!*writer->extension)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED,
                                      "no extension tells the format; name the format "
                                      "(known: %s)",
                                      known);
    return tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED,
                                  "unknown extension '.%s' (known: %s)", writer->extension, known);
}

static tamis_status check_options(tamis_ctx *ctx, const char *name, const tamis_write_options *o)
{
    char known[128];
    if (o->format && !find_encoder(o->format, NULL))
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: format = %.32s is none of %s", name,
                              o->format, list_known(0, known, sizeof known));
    if (o->quality < 0 || o->quality > 100)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: quality = %d is outside 0 .. 100", name,
                              o->quality);
    if (o->level < 0 || o->level > 9)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: level = %d is outside 0 .. 9", name,
                              o->level);
    if (o->tile < 0 || o->tile > 32768 || o->tile % 16)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT,
                              "%s: tile = %d is not a multiple of 16 within 0 .. 32768", name,
                              o->tile);
    if (o->compression && !has_word("none deflate lzw", o->compression))
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT,
                              "%s: compression = %.32s is none of none, deflate, lzw", name,
                              o->compression);
    return TAMIS_OK;
}

tamis_status tamis_write_options_check(tamis_ctx *ctx, const tamis_write_options *options)
{
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, options);
    return check_options(ctx, "output", options);
}

static void take_options(tamis_writer *writer, const tamis_write_options *o)
{
    writer->overwrite = o->overwrite;
    writer->quality = o->quality ? o->quality : DEFAULT_QUALITY;
    writer->lossless = o->lossless;
    writer->level = o->level;
    writer->tile = o->pyramid && o->tile == 0 ? PYRAMID_TILE : o->tile;
    writer->pyramid = o->pyramid;
    writer->expected_pages = o->pages;
    snprintf(writer->compression, sizeof writer->compression, "%s",
             o->compression ? o->compression : "deflate");
}

static tamis_status open_checked(tamis_writer *writer, const char *path,
                                 const tamis_write_options *options)
{
    tamis_status status = check_options(writer->ctx, writer->name, options);
    if (status != TAMIS_OK)
        return status;
    take_options(writer, options);
    writer->encoder = find_encoder(options->format, writer->extension);
    if (!writer->encoder)
        return unknown_extension(writer);
    if (writer->encoder->check && (status = writer->encoder->check(writer)) != TAMIS_OK)
        return status;
    if (path)
        return tamis_priv_target_open(writer, path);
    tamis_priv_sink_open_memory(&writer->sink);
    return TAMIS_OK;
}

/* path NULL = into memory. */
static tamis_status open_writer(tamis_ctx *ctx, const char *path, const char *name,
                                const tamis_write_options *options, tamis_writer **out)
{
    static const tamis_write_options defaults;
    tamis_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", name);
    writer->ctx = ctx;
    writer->sink.fd = -1;
    writer->out_fd = -1;
    writer->name = malloc(strlen(name) + 1);
    writer->extension = tamis_priv_extension(path ? path : "");
    tamis_status status;
    if (writer->name && writer->extension) {
        strcpy(writer->name, name);
        status = open_checked(writer, path, options ? options : &defaults);
    } else {
        status = tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", name);
    }
    if (status != TAMIS_OK)
        tamis_writer_close(&writer);
    *out = writer;
    return status;
}

tamis_status tamis_writer_open(tamis_ctx *ctx, const char *path, const tamis_write_options *options,
                               tamis_writer **out)
{
    TAMIS_IO_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, path);
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    return open_writer(ctx, path, name, options, out);
}

tamis_status tamis_writer_open_memory(tamis_ctx *ctx, const tamis_write_options *options,
                                      tamis_writer **out)
{
    TAMIS_IO_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_IO_REQUIRE(ctx, ctx);
    return open_writer(ctx, NULL, "memory", options, out);
}

const void *tamis_writer_bytes(const tamis_writer *writer, size_t *size)
{
    int there = writer && writer->finished && !writer->failed && writer->sink.in_memory;
    if (size)
        *size = there ? writer->sink.used : 0;
    return there ? writer->sink.buf : NULL;
}

static int can_hold(const tamis_encoder *encoder, tamis_format format)
{
    return (encoder->types & TAMIS_TYPE_BIT(format.type)) &&
           (encoder->channels & 1u << format.channels) &&
           (encoder->holds_alpha || format.alpha == TAMIS_ALPHA_NONE);
}

static tamis_status check_format(const tamis_writer *writer, tamis_format format)
{
    if (can_hold(writer->encoder, format))
        return TAMIS_OK;
    char able[128] = "";
    for (size_t i = 0; i < ENCODER_COUNT; i++)
        if (can_hold(encoders[i], format))
            snprintf(able + strlen(able), sizeof able - strlen(able), "%s%s", *able ? ", " : "",
                     encoders[i]->name);
    return tamis_priv_writer_fail(
        writer, TAMIS_ERR_UNSUPPORTED, "%s cannot hold %s samples in %d channel%s%s (%s can)",
        writer->encoder->name, tamis_type_name(format.type), format.channels,
        format.channels > 1 ? "s" : "", format.alpha != TAMIS_ALPHA_NONE ? " with alpha" : "",
        *able ? able : "no format");
}

int tamis_priv_writer_seeks(const tamis_writer *writer)
{
    return writer->temp != NULL || writer->out_fd >= 0 || writer->sink.in_memory;
}

static tamis_status one_page_only(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED,
                                  "%s holds one picture only (tiff holds several)",
                                  writer->encoder->name);
}

/* Checks that a page may begin and prepares its metadata, to be cleared. */
static tamis_status prepare_page(tamis_writer *writer, tamis_page page, const tamis_meta *meta,
                                 tamis_meta *ready)
{
    *ready = (tamis_meta){0};
    tamis_status status = check_format(writer, page.format);
    if (status != TAMIS_OK)
        return status;
    if (writer->pages > 0 && !writer->encoder->multi_page)
        return one_page_only(writer);
    status = tamis_priv_meta_for_file(meta, page.format, page.w, page.h, ready);
    return status == TAMIS_OK ? TAMIS_OK : tamis_priv_writer_fail(writer, status, "no memory");
}

static tamis_status begin_page(tamis_writer *writer, tamis_page page, const tamis_meta *meta)
{
    tamis_meta ready;
    tamis_status status = prepare_page(writer, page, meta, &ready);
    writer->page = page;
    writer->next_x = writer->next_y = 0;
    if (status == TAMIS_OK)
        status = writer->encoder->begin(writer, &ready);
    if (status == TAMIS_OK)
        writer->left = (uint64_t)page.w * (uint64_t)page.h;
    tamis_meta_clear(&ready);
    return status;
}

static tamis_status write_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    const tamis_encoder *encoder = writer->encoder;
    tamis_status status = encoder->part(writer, rect, image);
    if (status != TAMIS_OK)
        return status;
    writer->left -= (uint64_t)rect.w * (uint64_t)rect.h;
    writer->band_h = rect.h;
    writer->next_x = rect.x + rect.w;
    if (writer->next_x == writer->page.w) {
        writer->next_x = 0;
        writer->next_y += rect.h;
    }
    if (writer->left > 0)
        return TAMIS_OK;
    writer->pages++;
    return encoder->end ? encoder->end(writer) : TAMIS_OK;
}

static tamis_status check_image(const tamis_writer *writer, const tamis_image *image)
{
    tamis_status status = tamis_image_check(writer->ctx, image);
    if (status == TAMIS_OK && image->device)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_ARGUMENT,
                                      "pictures in a device's memory want tamis_image_transfer()");
    return status;
}

static tamis_status write_page(tamis_writer *writer, const tamis_image *image,
                               const tamis_meta *meta)
{
    tamis_page page = {image->format, image->w, image->h};
    tamis_status status = check_image(writer, image);
    if (status != TAMIS_OK)
        return status;
    if (!writer->encoder->write) {
        status = begin_page(writer, page, meta);
        tamis_rect all = {0, 0, image->w, image->h};
        return status == TAMIS_OK ? write_part(writer, all, image) : status;
    }
    tamis_meta ready;
    status = prepare_page(writer, page, meta, &ready);
    if (status == TAMIS_OK)
        status = writer->encoder->write(writer, image, &ready);
    tamis_meta_clear(&ready);
    writer->pages++;
    return status;
}

/* Whether a page may begin now. */
static tamis_status check_between(const tamis_writer *writer)
{
    if (writer->failed || writer->finished)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "writing has already ended");
    if (writer->left > 0)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_ARGUMENT,
                                      "the page before lacks %llu pixels",
                                      (unsigned long long)writer->left);
    return TAMIS_OK;
}

/* What has failed is given up. */
static tamis_status settle(tamis_writer *writer, tamis_status status)
{
    writer->failed = status != TAMIS_OK;
    if (writer->failed)
        tamis_priv_target_discard(writer);
    return status;
}

tamis_status tamis_writer_write(tamis_writer *writer, const tamis_image *image,
                                const tamis_meta *meta)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, image);
    tamis_status status = check_between(writer);
    return status == TAMIS_OK ? settle(writer, write_page(writer, image, meta)) : status;
}

static tamis_status check_page(const tamis_writer *writer, tamis_page page)
{
    if (page.w >= 1 && page.h >= 1 && page.format.channels >= 1 &&
        page.format.channels <= TAMIS_MAX_CHANNELS && (unsigned)page.format.type < TAMIS_TYPE_COUNT)
        return TAMIS_OK;
    return tamis_priv_writer_fail(writer, TAMIS_ERR_ARGUMENT,
                                  "a page of %dx%d pixels in %d channels", page.w, page.h,
                                  page.format.channels);
}

tamis_status tamis_writer_begin(tamis_writer *writer, tamis_format format, int32_t w, int32_t h,
                                const tamis_meta *meta)
{
    tamis_page page = {format, w, h};
    int32_t block_w, block_h;
    TAMIS_IO_REQUIRE(NULL, writer);
    tamis_status status = check_between(writer);
    if (status == TAMIS_OK)
        status = tamis_writer_block(writer, format, w, h, &block_w, &block_h);
    if (status == TAMIS_OK && block_w == 0)
        status = tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED, "%s wants a picture whole%s",
                                        writer->encoder->name,
                                        writer->encoder->write ? "" : " when it goes to a pipe");
    return status == TAMIS_OK ? settle(writer, begin_page(writer, page, meta)) : status;
}

/* ---- before anything is opened */

static tamis_status check_pages(const tamis_writer *writer, tamis_page page, int *parts)
{
    int32_t block_w = 0, block_h = 0;
    tamis_status status = check_page(writer, page);
    if (status == TAMIS_OK)
        status = check_format(writer, page.format);
    if (status == TAMIS_OK && writer->encoder->check)
        status = writer->encoder->check(writer);
    if (status == TAMIS_OK && writer->expected_pages > 1 && !writer->encoder->multi_page)
        status = one_page_only(writer);
    if (status == TAMIS_OK)
        status = tamis_writer_block(writer, page.format, page.w, page.h, &block_w, &block_h);
    if (parts)
        *parts = status == TAMIS_OK && block_w > 0;
    return status;
}

tamis_status tamis_writer_check(tamis_ctx *ctx, const char *path,
                                const tamis_write_options *options, tamis_format format, int32_t w,
                                int32_t h, int *parts)
{
    static const tamis_write_options defaults;
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, path);
    if (parts)
        *parts = 0;
    options = options ? options : &defaults;
    int is_pipe = strcmp(path, "-") == 0;
    tamis_writer writer = {.ctx = ctx, .name = (char *)(is_pipe ? "standard output" : path)};
    writer.sink.in_memory = !is_pipe; /* a file can be gone back to, as memory can */
    writer.extension = tamis_priv_extension(path);
    if (!writer.extension)
        return tamis_priv_writer_fail(&writer, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = check_options(ctx, writer.name, options);
    if (status == TAMIS_OK) {
        take_options(&writer, options);
        writer.encoder = find_encoder(options->format, writer.extension);
        status = writer.encoder ? check_pages(&writer, (tamis_page){format, w, h}, parts)
                                : unknown_extension(&writer);
    }
    free(writer.extension);
    return status;
}

/* ---- parts */

/* Whether the n pixels from x on are whole blocks, of an axis of so many. */
static int are_blocks(int32_t x, int32_t n, int32_t block, int32_t size)
{
    return x % block == 0 && (n % block == 0 || x + n == size);
}

static tamis_status check_part(const tamis_writer *writer, tamis_rect r, const tamis_image *image)
{
    const tamis_page *page = &writer->page;
    int32_t block_w, block_h;
    if (writer->left == 0)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_ARGUMENT, "a part without a page");
    if (r.x != writer->next_x || r.y != writer->next_y || r.w < 1 || r.h < 1 ||
        r.w > page->w - r.x || r.h > page->h - r.y || (r.x > 0 && r.h != writer->band_h))
        return tamis_priv_writer_fail(
            writer, TAMIS_ERR_ARGUMENT,
            "the part %dx%d at %d,%d of a page of %dx%d is not the one at %d,%d whose turn it is",
            r.w, r.h, r.x, r.y, page->w, page->h, writer->next_x, writer->next_y);
    tamis_status status = check_image(writer, image);
    if (status != TAMIS_OK)
        return status;
    tamis_format format = image->format;
    format.layout = page->format.layout;
    if (!tamis_format_equal(format, page->format) || image->w != r.w || image->h != r.h)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_ARGUMENT,
                                      "an image of %dx%d is not the part %dx%d of its page",
                                      image->w, image->h, r.w, r.h);
    writer->encoder->block(writer, page, &block_w, &block_h);
    if (r.w < page->w && (block_w >= page->w || !are_blocks(r.x, r.w, block_w, page->w) ||
                          !are_blocks(r.y, r.h, block_h, page->h)))
        return tamis_priv_writer_fail(
            writer, TAMIS_ERR_ARGUMENT,
            "the part %dx%d at %d,%d is neither of full width nor of whole blocks of %dx%d", r.w,
            r.h, r.x, r.y, block_w, block_h);
    return TAMIS_OK;
}

tamis_status tamis_writer_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, image);
    if (writer->failed || writer->finished)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "writing has already ended");
    tamis_status status = check_part(writer, rect, image);
    return status == TAMIS_OK ? settle(writer, write_part(writer, rect, image)) : status;
}

tamis_status tamis_writer_block(const tamis_writer *writer, tamis_format format, int32_t w,
                                int32_t h, int32_t *block_w, int32_t *block_h)
{
    tamis_page page = {format, w, h};
    TAMIS_IO_REQUIRE(NULL, writer);
    TAMIS_IO_REQUIRE(writer->ctx, block_w);
    TAMIS_IO_REQUIRE(writer->ctx, block_h);
    *block_w = *block_h = 0;
    tamis_status status = check_page(writer, page);
    if (status == TAMIS_OK && !writer->encoder->write)
        writer->encoder->block(writer, &page, block_w, block_h);
    return status;
}

tamis_status tamis_writer_finish(tamis_writer *writer)
{
    TAMIS_IO_REQUIRE(NULL, writer);
    if (writer->failed || writer->finished || writer->pages == 0 || writer->left > 0)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "nothing whole to finish");
    writer->finished = 1;
    tamis_status status = TAMIS_OK;
    if (writer->encoder->finish)
        status = writer->encoder->finish(writer);
    if (status == TAMIS_OK)
        status = tamis_priv_target_commit(writer);
    writer->failed = status != TAMIS_OK;
    if (writer->failed)
        tamis_priv_target_discard(writer);
    return status;
}

void tamis_writer_close(tamis_writer **writer)
{
    tamis_writer *w = writer ? *writer : NULL;
    if (!w)
        return;
    if (w->encoder && w->encoder->close)
        w->encoder->close(w);
    tamis_priv_target_discard(w);
    free(w->name);
    free(w->extension);
    free(w->path);
    free(w);
    *writer = NULL;
}

tamis_status tamis_image_save(tamis_ctx *ctx, const char *path, const tamis_image *image,
                              const tamis_meta *meta)
{
    tamis_write_options options = {.overwrite = 1};
    tamis_writer *writer;
    tamis_status status = tamis_writer_open(ctx, path, &options, &writer);
    if (status == TAMIS_OK)
        status = tamis_writer_write(writer, image, meta);
    if (status == TAMIS_OK)
        status = tamis_writer_finish(writer);
    tamis_writer_close(&writer);
    return status;
}
