/* SPDX-License-Identifier: Apache-2.0 */
#include "jpeg_common.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "meta.h"
#include "writer.h"

#define OUTPUT_BYTES 65536
/* From this quality on, color is not stored at half resolution. */
#define FULL_CHROMA_QUALITY 90

typedef struct jpeg_job {
    struct jpeg_compress_struct cinfo;
    tamis_jpeg_errors errors;
    struct jpeg_destination_mgr output;
    tamis_writer *writer;
    tamis_rows rows;
    tamis_meta meta;
    uint8_t buf[OUTPUT_BYTES];
} jpeg_job;

static void reset_buffer(jpeg_job *job)
{
    job->output.next_output_byte = job->buf;
    job->output.free_in_buffer = OUTPUT_BYTES;
}

static void on_init(j_compress_ptr cinfo)
{
    reset_buffer(cinfo->client_data);
}

static void put(j_compress_ptr cinfo, size_t size)
{
    jpeg_job *job = cinfo->client_data;
    if (!tamis_priv_sink_write(&job->writer->sink, job->buf, size))
        ERREXIT(cinfo, JERR_FILE_WRITE);
    reset_buffer(job);
}

static boolean on_empty(j_compress_ptr cinfo)
{
    put(cinfo, OUTPUT_BYTES);
    return TRUE;
}

static void on_term(j_compress_ptr cinfo)
{
    jpeg_job *job = cinfo->client_data;
    put(cinfo, OUTPUT_BYTES - job->output.free_in_buffer);
}

/* Returns 0 after an error. No local variable changes after setjmp(). */
static int encode(jpeg_job *job, const tamis_image *image)
{
    j_compress_ptr cinfo = &job->cinfo;
    if (setjmp(job->errors.jump))
        return 0;
    jpeg_create_compress(cinfo);
    cinfo->client_data = job;
    job->output.init_destination = on_init;
    job->output.empty_output_buffer = on_empty;
    job->output.term_destination = on_term;
    cinfo->dest = &job->output;
    cinfo->image_width = (JDIMENSION)image->w;
    cinfo->image_height = (JDIMENSION)image->h;
    cinfo->input_components = image->format.channels;
    cinfo->in_color_space = image->format.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, job->writer->quality, TRUE);
    cinfo->dct_method = JDCT_ISLOW;
    if (image->format.channels == 3 && job->writer->quality >= FULL_CHROMA_QUALITY)
        cinfo->comp_info[0].h_samp_factor = cinfo->comp_info[0].v_samp_factor = 1;
    tamis_priv_jpeg_set_density(cinfo, &job->meta);
    jpeg_start_compress(cinfo, TRUE);
    tamis_priv_jpeg_write_meta(cinfo, &job->meta);
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPROW row = (JSAMPROW)tamis_priv_rows_get(&job->rows, (int32_t)cinfo->next_scanline);
        jpeg_write_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_compress(cinfo);
    return 1;
}

static tamis_status run(jpeg_job *job, const tamis_image *image)
{
    tamis_writer *writer = job->writer;
    tamis_status status = tamis_priv_jpeg_fit_meta(writer->ctx, writer->name, &job->meta);
    if (status != TAMIS_OK)
        return tamis_priv_writer_fail(writer, status, "no memory");
    status = tamis_priv_rows_open(writer, image, &job->rows);
    if (status == TAMIS_OK && !encode(job, image))
        status = writer->sink.error ? tamis_priv_writer_sink_failed(writer)
                                    : tamis_priv_writer_fail(writer, job->errors.status, "JPEG: %s",
                                                             job->errors.message);
    jpeg_destroy_compress(&job->cinfo);
    tamis_priv_rows_close(&job->rows);
    return status;
}

static tamis_status jpeg_write(tamis_writer *writer, const tamis_image *image,
                               const tamis_meta *meta)
{
    if (image->w > JPEG_MAX_DIMENSION || image->h > JPEG_MAX_DIMENSION)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_UNSUPPORTED,
                                      "jpeg cannot hold %dx%d pixels, at most %ld each way (png "
                                      "and tiff can)",
                                      image->w, image->h, JPEG_MAX_DIMENSION);
    jpeg_job *job = calloc(1, sizeof *job);
    tamis_status status = TAMIS_ERR_MEMORY;
    if (job)
        status = tamis_priv_meta_for_file(meta, image->format, image->w, image->h, &job->meta);
    if (status != TAMIS_OK) {
        free(job);
        return tamis_priv_writer_fail(writer, status, "no memory");
    }
    job->writer = writer;
    job->cinfo.err =
        tamis_priv_jpeg_errors(&job->errors, writer->ctx, writer->name, TAMIS_ERR_WRITE);
    status = run(job, image);
    tamis_meta_clear(&job->meta);
    free(job);
    return status;
}

const tamis_encoder tamis_priv_encoder_jpeg = {
    .name = "jpeg",
    .extensions = "jpg jpeg jpe jfif",
    .types = TAMIS_TYPE_BIT(TAMIS_U8),
    .channels = 1u << 1 | 1u << 3,
    .write = jpeg_write,
};
