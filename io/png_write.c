/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "png_chunks.h"
#include "png_errors.h"
#include "png_level.h"
#include "writer.h"

typedef struct png_job {
    tamis_writer *writer;
    tamis_rows rows;
    int noisy; /* see png_level.h */
    tamis_png_errors errors;
} png_job;

static void on_write(png_structp png, png_bytep data, size_t size)
{
    png_job *job = png_get_io_ptr(png);
    if (!tamis_priv_sink_write(&job->writer->sink, data, size))
        png_error(png, "cannot write");
}

static void on_flush(png_structp png)
{
    (void)png; /* the sink is flushed once, at the end */
}

/* Collects chunks in memory first: png_write_chunk() may jump, and must not do so while the code
 * that makes chunks holds memory. */
typedef struct chunk_list {
    uint8_t *data; /* name, length, data; and so on */
    size_t size;
    int failed;
} chunk_list;

static void collect_chunk(void *user, const char *name, const uint8_t *data, size_t size)
{
    chunk_list *list = user;
    uint8_t *larger = size <= PNG_UINT_31_MAX ? realloc(list->data, list->size + 8 + size) : NULL;
    if (!larger) {
        list->failed = 1;
        return;
    }
    list->data = larger;
    memcpy(larger + list->size, name, 4);
    tamis_priv_put_be32(larger + list->size + 4, (uint32_t)size);
    if (size)
        memcpy(larger + list->size + 8, data, size);
    list->size += 8 + size;
}

static int color_type(int channels)
{
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    return types[channels];
}

static int level_of(const tamis_writer *writer)
{
    return writer->level ? writer->level : 6;
}

/* Returns 0 after an error. No local variable changes after setjmp(). */
static int encode(png_job *job, png_structp png, png_infop info, const tamis_image *image,
                  const chunk_list *chunks)
{
    if (setjmp(job->errors.jump))
        return 0;
    int deep = image->format.type == TAMIS_U16;
    png_set_write_fn(png, job, on_write, on_flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, job->noisy ? 1 : level_of(job->writer));
    if (job->noisy)
        png_set_compression_strategy(png, Z_RLE);
    png_set_IHDR(png, info, (png_uint_32)image->w, (png_uint_32)image->h, deep ? 16 : 8,
                 color_type(image->format.channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_write_info_before_PLTE(png, info);
    for (size_t at = 0; at < chunks->size;) {
        const uint8_t *c = chunks->data + at;
        png_write_chunk(png, c, c + 8, tamis_priv_be32(c + 4));
        at += 8 + (size_t)tamis_priv_be32(c + 4);
    }
    png_write_info(png, info);
    if (deep && !tamis_priv_host_is_big())
        png_set_swap(png);
    for (int32_t y = 0; y < image->h; y++)
        png_write_row(png, tamis_priv_rows_get(&job->rows, y));
    png_write_end(png, NULL);
    return 1;
}

static tamis_status run_encoder(png_job *job, const tamis_image *image, const chunk_list *chunks)
{
    job->errors.ctx = job->writer->ctx;
    job->errors.name = job->writer->name;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job->errors,
                                              tamis_priv_png_on_error, tamis_priv_png_on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    tamis_status status = TAMIS_OK;
    if (!info)
        status = tamis_priv_writer_fail(job->writer, TAMIS_ERR_MEMORY, "no memory");
    else if (!encode(job, png, info, image, chunks))
        status = job->writer->sink.error ? tamis_priv_writer_sink_failed(job->writer)
                                         : tamis_priv_writer_fail(job->writer, TAMIS_ERR_WRITE,
                                                                  "PNG: %s", job->errors.message);
    png_destroy_write_struct(&png, &info);
    return status;
}

static tamis_status png_write(tamis_writer *writer, const tamis_image *image,
                              const tamis_meta *meta)
{
    png_job *job = calloc(1, sizeof *job);
    chunk_list chunks = {0};
    if (!job || tamis_priv_png_emit_meta(meta, collect_chunk, &chunks) != TAMIS_OK ||
        chunks.failed) {
        free(chunks.data);
        free(job);
        return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
    }
    job->writer = writer;
    tamis_status status = tamis_priv_rows_open(writer, image, &job->rows);
    if (status == TAMIS_OK && writer->level == 0)
        job->noisy = tamis_priv_png_is_noisy(&job->rows);
    if (status == TAMIS_OK)
        status = run_encoder(job, image, &chunks);
    tamis_priv_rows_close(&job->rows);
    free(chunks.data);
    free(job);
    return status;
}

const tamis_encoder tamis_priv_encoder_png = {
    .name = "png",
    .extensions = "png",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16),
    .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
    .holds_alpha = 1,
    .straight_alpha = 1,
    .write = png_write,
};
