/* SPDX-License-Identifier: Apache-2.0 */
/* How a file format plugs into tamis_writer. */
#ifndef TAMIS_IO_WRITER_H
#define TAMIS_IO_WRITER_H

#include <tamis/io.h>

#include "sink.h"

#define TAMIS_TYPE_BIT(type) (1u << (type))

/* A page before its pixels are there. */
typedef struct tamis_page {
    tamis_format format;
    int32_t w, h;
} tamis_page;

typedef struct tamis_encoder {
    const char *name;       /* as in tamis_write_options.format */
    const char *extensions; /* without dots, separated by blanks */
    unsigned types;         /* TAMIS_TYPE_BIT()s that the format holds */
    unsigned channels;      /* bit c for c channels */
    int holds_alpha;
    int straight_alpha; /* premultiplied color must be divided by alpha first */
    int multi_page;
    int seeks;                                         /* goes back to correct what it wrote */
    tamis_status (*check)(const tamis_writer *writer); /* what else it needs; NULL = nothing */
    /* Formats that want a page whole; NULL for the others, which have begin() and part(). */
    tamis_status (*write)(tamis_writer *writer, const tamis_image *image, const tamis_meta *meta);
    /* Begins the page that writer->page describes. */
    tamis_status (*begin)(tamis_writer *writer, const tamis_meta *meta);
    /* The next part, already checked. */
    tamis_status (*part)(tamis_writer *writer, tamis_rect rect, const tamis_image *image);
    tamis_status (*end)(tamis_writer *writer); /* after the last part; NULL = nothing left to do */
    /* As tamis_writer_block(). */
    void (*block)(const tamis_writer *writer, const tamis_page *page, int32_t *w, int32_t *h);
    tamis_status (*finish)(tamis_writer *writer); /* NULL = nothing left to write */
    void (*close)(tamis_writer *writer);          /* NULL = no state */
} tamis_encoder;

struct tamis_writer {
    tamis_ctx *ctx;
    char *name; /* for messages */
    char *path; /* where the file goes; NULL for a device or pipe */
    char *temp; /* the temporary file while it exists */
    int out_fd; /* device or pipe that a spooled file is copied to; -1 for none */
    tamis_sink sink;
    const tamis_encoder *encoder;
    char *extension;                /* of the name, lower case, "" for none */
    void *state;                    /* of the encoder */
    int pages;                      /* written so far */
    tamis_page page;                /* being written */
    uint64_t left;                  /* pixels of it to come; 0 between pages */
    int32_t next_x, next_y, band_h; /* place of the next part; height of its band, once known */
    uint64_t data_at;               /* where a plain file's samples begin */
    int failed, finished;
    int level; /* of deflate; 0 = none was asked for */
    int overwrite, quality, lossless, tile, pyramid, expected_pages;
    char compression[16];
};

extern const tamis_encoder tamis_priv_encoder_png, tamis_priv_encoder_jpeg, tamis_priv_encoder_tiff,
    tamis_priv_encoder_pnm, tamis_priv_encoder_pam, tamis_priv_encoder_pfm, tamis_priv_encoder_npy,
    tamis_priv_encoder_raw, tamis_priv_encoder_webp, tamis_priv_encoder_avif,
    tamis_priv_encoder_heif, tamis_priv_encoder_jp2, tamis_priv_encoder_jxl;

/* A path's extension in lower case, "" for none; to be freed. NULL when there is no memory. */
char *tamis_priv_extension(const char *path);

/* Fails with "NAME: " and the text. */
tamis_status tamis_priv_writer_fail(const tamis_writer *writer, tamis_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fails with the sink's error. */
tamis_status tamis_priv_writer_sink_failed(const tamis_writer *writer);

/* Whether what was written can be gone back to. */
int tamis_priv_writer_seeks(const tamis_writer *writer);

/* Writes bytes. Errors: WRITE. */
tamis_status tamis_priv_writer_bytes(tamis_writer *writer, const void *data, size_t size);

/* Rows of an image as an encoder wants them: channels interleaved, alpha straight where the format
 * has no other. Zero-initialize before tamis_priv_rows_open(); errors: MEMORY. */
typedef struct tamis_rows {
    const tamis_image *image;
    size_t bytes; /* of a row */
    int straighten;
    uint8_t *packed, *straight;
} tamis_rows;

tamis_status tamis_priv_rows_open(const tamis_writer *writer, const tamis_image *image,
                                  tamis_rows *out);
const void *tamis_priv_rows_get(tamis_rows *rows, int32_t y);
void tamis_priv_rows_close(tamis_rows *rows);

#endif
