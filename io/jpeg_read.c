/* SPDX-License-Identifier: Apache-2.0 */
#include "jpeg_common.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

#include "exif.h"
#include "meta.h"
#include "reader.h"

#define INPUT_BYTES 65536
/* Best cases of the codes: a bit for each block, and next to nothing in arithmetic coding. */
#define HUFFMAN_EXPANSION    2048
#define ARITHMETIC_EXPANSION ((uint64_t)1 << 20)
/* Scans of a progressive file; more than this is an attempt to keep us busy. */
#define MAX_SCANS 500

typedef struct jpeg_job {
    struct jpeg_decompress_struct cinfo;
    tamis_jpeg_errors errors;
    struct jpeg_source_mgr input;
    struct jpeg_progress_mgr progress;
    tamis_reader *reader;
    uint64_t pos;
    int ended; /* the file ended before the picture */
    uint8_t buf[INPUT_BYTES];
} jpeg_job;

/* Facts from the header. */
typedef struct jpeg_state {
    uint32_t w, h;
    int components, is_arithmetic, is_progressive;
    int h_sampling, v_sampling; /* of the first component relative to the second */
    int orientation;
    tamis_meta meta;
} jpeg_state;

static int jpeg_probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 0xFF && head[1] == 0xD8 && head[2] == 0xFF;
}

static void on_init(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean on_fill(j_decompress_ptr cinfo)
{
    jpeg_job *job = cinfo->client_data;
    size_t n = tamis_priv_source_read(&job->reader->source, job->pos, job->buf, INPUT_BYTES);
    job->pos += n;
    if (n == 0) {
        job->ended = 1;
        ERREXIT(cinfo, JERR_INPUT_EOF);
    }
    job->input.next_input_byte = job->buf;
    job->input.bytes_in_buffer = n;
    return TRUE;
}

static void on_skip(j_decompress_ptr cinfo, long count)
{
    jpeg_job *job = cinfo->client_data;
    if (count <= 0)
        return;
    size_t n = (size_t)count;
    if (n <= job->input.bytes_in_buffer) {
        job->input.next_input_byte += n;
        job->input.bytes_in_buffer -= n;
        return;
    }
    job->pos += n - job->input.bytes_in_buffer;
    job->input.bytes_in_buffer = 0;
}

static void on_progress(j_common_ptr common)
{
    j_decompress_ptr cinfo = (j_decompress_ptr)common;
    if (cinfo->input_scan_number > MAX_SCANS)
        ERREXIT(cinfo, JERR_CANT_SUSPEND);
}

/* Creates a decompressor and reads the header. May jump. */
static void begin(jpeg_job *job)
{
    j_decompress_ptr cinfo = &job->cinfo;
    jpeg_create_decompress(cinfo);
    cinfo->client_data = job;
    job->input.init_source = on_init;
    job->input.fill_input_buffer = on_fill;
    job->input.skip_input_data = on_skip;
    job->input.resync_to_restart = jpeg_resync_to_restart;
    job->input.term_source = on_init;
    cinfo->src = &job->input;
    job->progress.progress_monitor = on_progress;
    cinfo->progress = &job->progress;
    tamis_priv_jpeg_keep_segments(cinfo);
    jpeg_read_header(cinfo, TRUE);
}

static jpeg_job *new_job(tamis_reader *reader)
{
    jpeg_job *job = calloc(1, sizeof *job);
    if (job) {
        job->reader = reader;
        job->cinfo.err =
            tamis_priv_jpeg_errors(&job->errors, reader->ctx, reader->name, TAMIS_ERR_READ);
    }
    return job;
}

static void free_job(jpeg_job *job)
{
    jpeg_destroy_decompress(&job->cinfo);
    free(job);
}

static tamis_status fail_jpeg(const jpeg_job *job)
{
    if (job->reader->source.error || job->ended)
        return tamis_priv_reader_short(job->reader);
    const char *text = job->errors.message;
    if (job->errors.base.msg_code == JERR_CANT_SUSPEND)
        text = "too many scans";
    return tamis_priv_reader_fail(job->reader, job->errors.status, "JPEG: %s", text);
}

static int read_header(jpeg_job *job)
{
    if (setjmp(job->errors.jump))
        return 0;
    begin(job);
    return 1;
}

static tamis_status take_facts(tamis_reader *reader, jpeg_job *job, jpeg_state *s)
{
    j_decompress_ptr cinfo = &job->cinfo;
    s->w = cinfo->image_width;
    s->h = cinfo->image_height;
    s->components = cinfo->num_components;
    s->is_arithmetic = cinfo->arith_code;
    s->is_progressive = cinfo->progressive_mode;
    s->h_sampling = s->v_sampling = 1;
    if (s->components == 3 && cinfo->comp_info[1].h_samp_factor &&
        cinfo->comp_info[1].v_samp_factor) {
        s->h_sampling = cinfo->comp_info[0].h_samp_factor / cinfo->comp_info[1].h_samp_factor;
        s->v_sampling = cinfo->comp_info[0].v_samp_factor / cinfo->comp_info[1].v_samp_factor;
    }
    if (tamis_priv_jpeg_read_meta(cinfo, &s->meta) != TAMIS_OK)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    const tamis_meta_entry *exif = tamis_meta_find(&s->meta, "exif");
    s->orientation = exif ? tamis_priv_exif_orientation(exif->data, exif->size) : 0;
    return TAMIS_OK;
}

static tamis_status jpeg_open(tamis_reader *reader)
{
    jpeg_state *s = calloc(1, sizeof *s);
    jpeg_job *job = s ? new_job(reader) : NULL;
    reader->state = s;
    if (!job)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = read_header(job) ? take_facts(reader, job, s) : fail_jpeg(job);
    free_job(job);
    return status;
}

static void jpeg_close(tamis_reader *reader)
{
    jpeg_state *s = reader->state;
    if (s)
        tamis_meta_clear(&s->meta);
    free(s);
}

static tamis_status jpeg_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const jpeg_state *s = reader->state;
    (void)page;
    if (s->components != 1 && s->components != 3)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "JPEG with %d components%s is not supported (gray and "
                                      "RGB are)",
                                      s->components, s->components == 4 ? " (CMYK)" : "");
    tamis_status status = tamis_priv_reader_check_size(reader, s->w, s->h);
    if (status == TAMIS_OK)
        status = tamis_priv_reader_check_data(
            reader, (uint64_t)s->w * (unsigned)s->components, s->h, reader->source.size,
            s->is_arithmetic ? ARITHMETIC_EXPANSION : HUFFMAN_EXPANSION);
    if (status != TAMIS_OK)
        return status;
    out->image = (tamis_format){TAMIS_U8, s->components, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    out->w = (int32_t)s->w;
    out->h = (int32_t)s->h;
    out->file_bits = 8;
    if (s->orientation)
        out->orientation = s->orientation;
    char sampling[32] = "";
    if (s->components == 3)
        snprintf(sampling, sizeof sampling, ", chroma %dx%d", s->h_sampling, s->v_sampling);
    snprintf(out->detail, sizeof out->detail, "%s%s%s",
             s->is_progressive ? "progressive" : "baseline", s->is_arithmetic ? ", arithmetic" : "",
             sampling);
    return TAMIS_OK;
}

/* Returns 0 after an error. No local variable changes after setjmp(). */
static int decode(jpeg_job *job, const tamis_image *image)
{
    j_decompress_ptr cinfo = &job->cinfo;
    if (setjmp(job->errors.jump))
        return 0;
    begin(job);
    if (cinfo->image_width != (JDIMENSION)image->w || cinfo->image_height != (JDIMENSION)image->h ||
        cinfo->num_components != image->format.channels)
        ERREXIT(cinfo, JERR_BAD_STATE); /* the file has changed since it was opened */
    cinfo->out_color_space = image->format.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    cinfo->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(cinfo);
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW row = tamis_image_row(image, 0, (int32_t)cinfo->output_scanline);
        jpeg_read_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_decompress(cinfo);
    return 1;
}

static tamis_status copy_meta(tamis_reader *reader, const tamis_meta *from, tamis_meta *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const tamis_meta_entry *e = &from->entries[i];
        uint8_t *data = malloc(e->size ? e->size : 1);
        if (data && e->size)
            memcpy(data, e->data, e->size);
        if (!data || tamis_priv_meta_append(to, e->name, data, e->size) != TAMIS_OK)
            return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    }
    to->dpi_x = from->dpi_x;
    to->dpi_y = from->dpi_y;
    return TAMIS_OK;
}

static tamis_status jpeg_pixels(tamis_reader *reader, int page, const tamis_image *image,
                                tamis_meta *meta)
{
    const jpeg_state *s = reader->state;
    (void)page;
    jpeg_job *job = new_job(reader);
    if (!job)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_status status = TAMIS_OK;
    if (!decode(job, image))
        status = fail_jpeg(job);
    free_job(job);
    return status == TAMIS_OK ? copy_meta(reader, &s->meta, meta) : status;
}

const tamis_decoder tamis_priv_decoder_jpeg = {
    .name = "jpeg",
    .probe = jpeg_probe,
    .open = jpeg_open,
    .info = jpeg_info,
    .pixels = jpeg_pixels,
    .close = jpeg_close,
};
