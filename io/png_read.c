/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "png_chunks.h"
#include "png_errors.h"
#include "reader.h"

/* What deflate can reach at best: 258 bytes for 2 bits, with a little less in practice. */
#define MAX_EXPANSION 1032

typedef struct png_job {
    tamis_reader *reader;
    uint64_t pos;
    tamis_png_errors errors;
} png_job;

static int png_probe(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static tamis_status check_header(const tamis_reader *reader, const tamis_png_facts *f)
{
    int d = f->depth, narrow = d == 1 || d == 2 || d == 4, wide = d == 8 || d == 16;
    int ok = 0;
    if (f->color == TAMIS_PNG_GRAY)
        ok = narrow || wide;
    else if (f->color == TAMIS_PNG_PALETTE)
        ok = narrow || d == 8;
    else if (f->color == TAMIS_PNG_RGB || f->color == (TAMIS_PNG_RGB | TAMIS_PNG_ALPHA_BIT) ||
             f->color == TAMIS_PNG_ALPHA_BIT)
        ok = wide;
    if (!ok || f->interlace > 1)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                      "PNG with color type %d, %d bits, interlace method %d",
                                      f->color, d, f->interlace);
    return TAMIS_OK;
}

static tamis_status png_open(tamis_reader *reader)
{
    tamis_png_facts *facts = calloc(1, sizeof *facts);
    reader->state = facts;
    if (!facts)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = tamis_priv_png_scan(reader, facts);
    if (status == TAMIS_OK && facts->w == 0)
        status = tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "PNG without a header chunk");
    return status == TAMIS_OK ? check_header(reader, facts) : status;
}

static void png_close(tamis_reader *reader)
{
    free(reader->state);
}

static tamis_status png_info_page(tamis_reader *reader, int page, tamis_file_info *out)
{
    const tamis_png_facts *f = reader->state;
    (void)page;
    int stored = f->color == TAMIS_PNG_PALETTE ? 1 : (f->color & TAMIS_PNG_RGB) ? 3 : 1;
    int alpha = (f->color & TAMIS_PNG_ALPHA_BIT) || f->has_transparency;
    stored += (f->color & TAMIS_PNG_ALPHA_BIT) ? 1 : 0;
    uint64_t row = ((uint64_t)f->w * (unsigned)(stored * f->depth) + 7) / 8;
    tamis_status status = tamis_priv_reader_check_size(reader, f->w, f->h);
    if (status == TAMIS_OK)
        status = tamis_priv_reader_check_data(reader, row, f->h, f->idat_bytes, MAX_EXPANSION);
    if (status != TAMIS_OK)
        return status;
    int colors = (f->color & TAMIS_PNG_RGB) ? 3 : 1; /* a palette has the RGB bit as well */
    out->image = (tamis_format){f->depth == 16 ? TAMIS_U16 : TAMIS_U8, colors + (alpha ? 1 : 0),
                                TAMIS_PACKED, alpha ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE};
    out->w = (int32_t)f->w;
    out->h = (int32_t)f->h;
    out->file_bits = f->depth;
    out->orientation = f->orientation;
    out->palette = f->color == TAMIS_PNG_PALETTE;
    snprintf(out->detail, sizeof out->detail, "%s%s%s", out->palette ? "palette" : "deflate",
             f->interlace ? ", interlaced" : "", f->animated ? ", animated: first frame only" : "");
    return TAMIS_OK;
}

static void on_read(png_structp png, png_bytep data, size_t size)
{
    png_job *job = png_get_io_ptr(png);
    if (tamis_priv_source_read(&job->reader->source, job->pos, data, size) != size)
        png_error(png, "the file ends too early");
    job->pos += size;
}

static void read_rows(png_structp png, const tamis_image *image, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (int32_t y = 0; y < image->h; y++)
            png_read_row(png, tamis_image_row(image, 0, y), NULL);
}

/* Returns 0 after an error, whose text is in job->errors. No local variable changes after
 * setjmp(), so none is lost to longjmp(). */
static int decode(png_job *job, png_structp png, png_infop info, const tamis_image *image)
{
    if (setjmp(job->errors.jump))
        return 0;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(png, job, on_read);
    png_read_info(png, info);
    png_set_expand(png); /* palettes, 1 to 4 bit, and tRNS to alpha */
    if (!tamis_priv_host_is_big())
        png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != tamis_priv_row_bytes(image->format, image->w))
        png_error(png, "header and data disagree");
    read_rows(png, image, passes);
    png_read_end(png, NULL);
    return 1;
}

static tamis_status png_pixels(tamis_reader *reader, int page, const tamis_image *image,
                               tamis_meta *meta)
{
    (void)page;
    png_job *job = calloc(1, sizeof *job);
    if (!job)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    job->reader = reader;
    job->errors.ctx = reader->ctx;
    job->errors.name = reader->name;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job->errors,
                                             tamis_priv_png_on_error, tamis_priv_png_on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    tamis_status status = TAMIS_OK;
    if (!info)
        status = tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    else if (!decode(job, png, info, image))
        status = reader->source.error ? tamis_priv_reader_short(reader)
                                      : tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "PNG: %s",
                                                               job->errors.message);
    png_destroy_read_struct(&png, &info, NULL);
    free(job);
    return status == TAMIS_OK ? tamis_priv_png_meta(reader, meta) : status;
}

const tamis_decoder tamis_priv_decoder_png = {
    .name = "png",
    .probe = png_probe,
    .open = png_open,
    .info = png_info_page,
    .pixels = png_pixels,
    .close = png_close,
};
