/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "meta.h"
#include "require.h"

#define DEFAULT_MAX_PIXELS  ((uint64_t)1 << 34)
#define ROWS_BYTES          ((uint64_t)64 << 10) /* worth a read of its own */
#define DEFAULT_CACHE_BYTES ((size_t)16 << 20)
#define MAX_PIXELS          ((uint64_t)1 << 58) /* so that byte counts fit into 64 bits */

static const tamis_decoder *const decoders[] = {
    &tamis_priv_decoder_png, &tamis_priv_decoder_jpeg, &tamis_priv_decoder_tiff,
    &tamis_priv_decoder_pnm, &tamis_priv_decoder_pfm,  &tamis_priv_decoder_npy,
};
#define DECODER_COUNT (sizeof decoders / sizeof *decoders)

tamis_status tamis_priv_reader_fail(const tamis_reader *reader, tamis_status status,
                                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tamis_priv_file_fail(reader->ctx, reader->name, status, format, args);
    va_end(args);
    return status;
}

tamis_status tamis_priv_reader_short(const tamis_reader *reader)
{
    if (reader->source.error)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "cannot read: %s",
                                      strerror(reader->source.error));
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "the file ends too early (%llu bytes)",
                                  (unsigned long long)reader->source.size);
}

tamis_status tamis_priv_reader_bytes(tamis_reader *reader, uint64_t offset, void *buf, size_t size)
{
    if (tamis_priv_source_read(&reader->source, offset, buf, size) != size)
        return tamis_priv_reader_short(reader);
    return TAMIS_OK;
}

tamis_status tamis_priv_reader_bytes_apart(tamis_reader *reader, uint64_t offset, void *buf,
                                           size_t size)
{
    if (tamis_priv_source_read_apart(&reader->source, offset, buf, size) != size)
        return tamis_priv_reader_short(reader);
    return TAMIS_OK;
}

int32_t tamis_priv_reader_rows(const tamis_file_info *info, uint64_t row_bytes)
{
    uint64_t rows = ROWS_BYTES / (row_bytes ? row_bytes : 1);
    return rows < 1 ? 1 : rows < (uint64_t)info->h ? (int32_t)rows : info->h;
}

tamis_status tamis_priv_reader_check_size(const tamis_reader *reader, uint64_t w, uint64_t h)
{
    if (w < 1 || h < 1 || w > INT32_MAX || h > INT32_MAX)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                      "size %llux%llu is outside 1 .. 2147483647",
                                      (unsigned long long)w, (unsigned long long)h);
    return TAMIS_OK;
}

int tamis_priv_reader_can_hold(uint64_t row_bytes, uint64_t rows, uint64_t stored,
                               uint64_t max_expansion)
{
    uint64_t most = stored > UINT64_MAX / max_expansion ? UINT64_MAX : stored * max_expansion;
    return row_bytes == 0 || rows <= most / row_bytes;
}

tamis_status tamis_priv_reader_check_data(const tamis_reader *reader, uint64_t row_bytes,
                                          uint64_t rows, uint64_t stored, uint64_t max_expansion)
{
    if (tamis_priv_reader_can_hold(row_bytes, rows, stored, max_expansion))
        return TAMIS_OK;
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                  "%llu bytes of data cannot hold the %llu rows of %llu bytes "
                                  "that the header promises",
                                  (unsigned long long)stored, (unsigned long long)rows,
                                  (unsigned long long)row_bytes);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static tamis_status choose_decoder(tamis_reader *reader)
{
    uint8_t head[TAMIS_PROBE_BYTES];
    size_t n = tamis_priv_source_read(&reader->source, 0, head, sizeof head);
    if (reader->source.error)
        return tamis_priv_reader_short(reader);
    if (n == 0)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "the file is empty");
    for (size_t i = 0; i < DECODER_COUNT && !reader->decoder; i++)
        if (decoders[i]->probe(head, n))
            reader->decoder = decoders[i];
    if (reader->decoder)
        return TAMIS_OK;
    int foreign;
    char known[128] = "", why[320];
    tamis_status status = tamis_priv_vips_try(reader, &foreign, why, sizeof why);
    if (status != TAMIS_OK || !foreign)
        return status;
    for (size_t i = 0; i < DECODER_COUNT; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 decoders[i]->name);
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                  "not a picture of a known format (%s; %s)", known, why);
}

static tamis_status check_limit(const tamis_reader *reader, int32_t w, int32_t h)
{
    if ((uint64_t)w * (uint64_t)h <= reader->max_pixels)
        return TAMIS_OK;
    return tamis_priv_reader_fail(reader, TAMIS_ERR_LIMIT,
                                  "%dx%d pixels are more than the limit of %llu", w, h,
                                  (unsigned long long)reader->max_pixels);
}

/* Facts of a page as stored, checked against the limits. */
static tamis_status stored_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    *out = (tamis_file_info){0};
    if (page < 0 || page >= reader->pages)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_ARGUMENT, "page %d is outside 0 .. %d",
                                      page, reader->pages - 1);
    snprintf(out->format, sizeof out->format, "%s", reader->decoder->name);
    out->pages = reader->pages;
    out->orientation = 1;
    tamis_status status = reader->decoder->info(reader, page, out);
    /* Only now: a header that promises more than its file holds is a broken file, however much. */
    return status == TAMIS_OK ? check_limit(reader, out->w, out->h) : status;
}

static tamis_status open_content(tamis_reader *reader, const char *path)
{
    tamis_status status = tamis_priv_source_open(reader->ctx, path, reader->name, &reader->source);
    if (status == TAMIS_OK && !reader->raw)
        status = choose_decoder(reader);
    if (status == TAMIS_OK && reader->raw) {
        reader->decoder = &tamis_priv_decoder_raw;
        status = reader->decoder->open(reader);
    }
    if (status == TAMIS_OK)
        status = tamis_priv_source_load(&reader->source, reader->load_max);
    if (status == TAMIS_OK && !reader->raw)
        status = reader->decoder->open(reader);
    tamis_file_info info;
    return status == TAMIS_OK ? stored_info(reader, 0, &info) : status;
}

tamis_status tamis_reader_open(tamis_ctx *ctx, const char *path, const tamis_read_options *options,
                               tamis_reader **out)
{
    TAMIS_IO_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_IO_REQUIRE(ctx, ctx);
    TAMIS_IO_REQUIRE(ctx, path);
    tamis_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", path);
    reader->ctx = ctx;
    reader->source.fd = -1;
    reader->pages = 1;
    reader->max_pixels = options && options->max_pixels ? options->max_pixels : DEFAULT_MAX_PIXELS;
    if (reader->max_pixels > MAX_PIXELS)
        reader->max_pixels = MAX_PIXELS;
    reader->keep_orientation = options && options->keep_orientation;
    reader->cache_bytes =
        options && options->cache_bytes ? options->cache_bytes : DEFAULT_CACHE_BYTES;
    reader->name = copy_text(strcmp(path, "-") == 0 ? "standard input" : path);
    reader->load_max = UINT64_MAX;
    if (options && options->raw)
        reader->raw = copy_text(options->raw);
    tamis_status status = TAMIS_OK;
    if (!reader->name || (options && options->raw && !reader->raw))
        status = tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", path);
    if (status == TAMIS_OK)
        status = open_content(reader, path);
    if (status != TAMIS_OK)
        tamis_reader_close(&reader);
    *out = reader;
    return status;
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t t = *a;
    *a = *b;
    *b = t;
}

/* Facts of a page as it is delivered; *orientation is what turns it so. */
static tamis_status upright_info(tamis_reader *reader, int page, tamis_file_info *out,
                                 int *orientation)
{
    tamis_status status = stored_info(reader, page, out);
    *orientation = reader->keep_orientation ? 1 : out->orientation;
    if (*orientation >= 5) {
        swap(&out->w, &out->h);
        /* A strip turned is a column: rows across all of them would expand each for every part. */
        if (out->block_w == out->h)
            out->block_w = out->block_h = 0;
        swap(&out->block_w, &out->block_h);
    }
    return status;
}

tamis_status tamis_reader_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    int orientation;
    TAMIS_IO_REQUIRE(NULL, reader);
    TAMIS_IO_REQUIRE(reader->ctx, out);
    return upright_info(reader, page, out, &orientation);
}

static tamis_status read_stored(tamis_reader *reader, int page, const tamis_image *image,
                                tamis_meta *meta)
{
    const tamis_decoder *decoder = reader->decoder;
    if (decoder->pixels)
        return decoder->pixels(reader, page, image, meta);
    tamis_rect all = {0, 0, image->w, image->h};
    tamis_status status = decoder->part(reader, page, all, image);
    return status == TAMIS_OK && decoder->meta ? decoder->meta(reader, page, meta) : status;
}

static void turn_meta(tamis_meta *meta, int orientation)
{
    tamis_priv_meta_mark_upright(meta);
    if (orientation >= 5) {
        double dpi_x = meta->dpi_x;
        meta->dpi_x = meta->dpi_y;
        meta->dpi_y = dpi_x;
    }
}

static tamis_status read_upright(tamis_reader *reader, int page, tamis_image *image,
                                 tamis_meta *meta)
{
    tamis_file_info info;
    tamis_status status = stored_info(reader, page, &info);
    if (status == TAMIS_OK)
        status = tamis_image_create(reader->ctx, info.image, info.w, info.h, image);
    if (status == TAMIS_OK)
        status = read_stored(reader, page, image, meta);
    meta->orientation = info.orientation;
    if (status != TAMIS_OK || info.orientation == 1 || reader->keep_orientation)
        return status;
    status = tamis_priv_image_turn(reader->ctx, image, info.orientation);
    turn_meta(meta, info.orientation);
    return status;
}

/* Metadata of a format that has it apart from the pixels. */
static tamis_status meta_upright(tamis_reader *reader, int page, tamis_meta *meta)
{
    tamis_file_info info;
    int orientation;
    tamis_status status = upright_info(reader, page, &info, &orientation);
    if (status == TAMIS_OK && reader->decoder->meta)
        status = reader->decoder->meta(reader, page, meta);
    meta->orientation = info.orientation;
    if (status == TAMIS_OK && orientation != 1)
        turn_meta(meta, orientation);
    return status;
}

tamis_status tamis_reader_meta(tamis_reader *reader, int page, tamis_meta *meta)
{
    tamis_image image;
    if (meta)
        *meta = (tamis_meta){0};
    TAMIS_IO_REQUIRE(NULL, reader);
    TAMIS_IO_REQUIRE(reader->ctx, meta);
    if (!reader->decoder->part) {
        tamis_status status = tamis_reader_read(reader, page, &image, meta);
        tamis_image_unref(&image);
        return status;
    }
    tamis_status status = meta_upright(reader, page, meta);
    if (status != TAMIS_OK)
        tamis_meta_clear(meta);
    return status;
}

static tamis_status check_part(const tamis_reader *reader, const tamis_file_info *info,
                               tamis_rect r, const tamis_image *into)
{
    char have[64], want[64];
    if (info->block_w == 0)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "this picture can be read whole only");
    if (r.x < 0 || r.y < 0 || r.w < 1 || r.h < 1 || r.w > info->w || r.h > info->h ||
        r.x > info->w - r.w || r.y > info->h - r.h)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_ARGUMENT,
                                      "the part %dx%d at %d,%d is not inside %dx%d", r.w, r.h, r.x,
                                      r.y, info->w, info->h);
    tamis_status status = tamis_image_check(reader->ctx, into);
    if (status != TAMIS_OK)
        return status;
    if (into->device)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_ARGUMENT,
                                      "pictures in a device's memory want tamis_image_transfer()");
    if (tamis_format_equal(into->format, info->image) && into->w == r.w && into->h == r.h)
        return TAMIS_OK;
    return tamis_priv_reader_fail(reader, TAMIS_ERR_ARGUMENT,
                                  "a part of %dx%d %s does not go into an image of %dx%d %s", r.w,
                                  r.h, tamis_format_print(info->image, want, sizeof want), into->w,
                                  into->h, tamis_format_print(into->format, have, sizeof have));
}

/* Reads what becomes the part, turns it and copies it. */
static tamis_status read_turned(tamis_reader *reader, int page, tamis_rect stored, int orientation,
                                const tamis_image *into)
{
    tamis_image image;
    tamis_status status = tamis_image_create(reader->ctx, into->format, stored.w, stored.h, &image);
    if (status != TAMIS_OK)
        return status;
    status = reader->decoder->part(reader, page, stored, &image);
    if (status == TAMIS_OK)
        status = tamis_priv_image_turn(reader->ctx, &image, orientation);
    if (status == TAMIS_OK)
        status = tamis_image_copy(reader->ctx, &image, into);
    tamis_image_unref(&image);
    return status;
}

tamis_status tamis_reader_read_part(tamis_reader *reader, int page, tamis_rect rect,
                                    const tamis_image *into)
{
    tamis_file_info info;
    int orientation;
    TAMIS_IO_REQUIRE(NULL, reader);
    TAMIS_IO_REQUIRE(reader->ctx, into);
    tamis_status status = upright_info(reader, page, &info, &orientation);
    if (status == TAMIS_OK)
        status = check_part(reader, &info, rect, into);
    if (status != TAMIS_OK)
        return status;
    tamis_rect stored = tamis_priv_rect_stored(rect, info.w, info.h, orientation);
    if (orientation == 1)
        return reader->decoder->part(reader, page, stored, into);
    return read_turned(reader, page, stored, orientation, into);
}

tamis_status tamis_reader_read(tamis_reader *reader, int page, tamis_image *image, tamis_meta *meta)
{
    tamis_meta own = {0};
    if (image)
        *image = (tamis_image){0};
    if (meta)
        *meta = own;
    TAMIS_IO_REQUIRE(NULL, reader);
    TAMIS_IO_REQUIRE(reader->ctx, image);
    tamis_status status = read_upright(reader, page, image, &own);
    if (status != TAMIS_OK)
        tamis_image_unref(image);
    if (status != TAMIS_OK || !meta)
        tamis_meta_clear(&own);
    if (meta)
        *meta = own;
    return status;
}

void tamis_reader_close(tamis_reader **reader)
{
    tamis_reader *r = reader ? *reader : NULL;
    if (!r)
        return;
    if (r->decoder)
        r->decoder->close(r);
    tamis_priv_source_close(&r->source);
    free(r->name);
    free(r->raw);
    free(r);
    *reader = NULL;
}

tamis_status tamis_image_load(tamis_ctx *ctx, const char *path, tamis_image *image,
                              tamis_meta *meta)
{
    tamis_reader *reader;
    TAMIS_IO_REQUIRE(ctx, image);
    *image = (tamis_image){0};
    if (meta)
        *meta = (tamis_meta){0};
    tamis_status status = tamis_reader_open(ctx, path, NULL, &reader);
    if (status == TAMIS_OK)
        status = tamis_reader_read(reader, 0, image, meta);
    tamis_reader_close(&reader);
    return status;
}
