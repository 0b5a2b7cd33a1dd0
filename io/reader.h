/* SPDX-License-Identifier: Apache-2.0 */
/* How a file format plugs into tamis_reader. */
#ifndef TAMIS_IO_READER_H
#define TAMIS_IO_READER_H

#include <tamis/io.h>

#include "source.h"

/* Bytes of a file that probes see. */
#define TAMIS_PROBE_BYTES 512

typedef struct tamis_decoder {
    const char *name;
    /* Whether a file that starts with these bytes is of this format. */
    int (*probe)(const uint8_t *head, size_t size);
    /* Sets reader->state and reader->pages; on failure close() is called as well. */
    tamis_status (*open)(tamis_reader *reader);
    /* Facts about a page, with sizes as stored in the file. Checks the header against what the
     * file can hold. Blocks of 0 x 0 say that the page is read whole. */
    tamis_status (*info)(tamis_reader *reader, int page, tamis_file_info *out);
    /* Formats whose pixels and metadata come together: fills image, made as info() said, and meta
     * (not NULL, empty). NULL for the others, which have part(). */
    tamis_status (*pixels)(tamis_reader *reader, int page, const tamis_image *image,
                           tamis_meta *meta);
    /* Fills into with the part rect of the stored picture: any, or all of it where blocks are
     * 0 x 0. */
    tamis_status (*part)(tamis_reader *reader, int page, tamis_rect rect, const tamis_image *into);
    /* With part(): metadata, NULL where the format has none. */
    tamis_status (*meta)(tamis_reader *reader, int page, tamis_meta *meta);
    void (*close)(tamis_reader *reader);
} tamis_decoder;

struct tamis_reader {
    tamis_ctx *ctx;
    char *name; /* for messages */
    char *raw;  /* the raw spec, or NULL */
    tamis_source source;
    const tamis_decoder *decoder;
    void *state; /* of the decoder */
    int pages;
    uint64_t load_max; /* bytes of a pipe that are of use */
    uint64_t max_pixels;
    size_t cache_bytes; /* for pieces of one part that the next one needs, too */
    int keep_orientation;
};

extern const tamis_decoder tamis_priv_decoder_png, tamis_priv_decoder_jpeg, tamis_priv_decoder_tiff,
    tamis_priv_decoder_pnm, tamis_priv_decoder_pfm, tamis_priv_decoder_npy, tamis_priv_decoder_raw,
    tamis_priv_decoder_vips;

/* Opens what no decoder of our own knows by libvips. *foreign becomes 1, and why says why, when it
 * is not known there, either, or the module is not there. */
tamis_status tamis_priv_vips_try(tamis_reader *reader, int *foreign, char *why, size_t size);

/* Fails with "NAME: " and the text. */
tamis_status tamis_priv_reader_fail(const tamis_reader *reader, tamis_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fails since data ended early, or since reading gave an error. */
tamis_status tamis_priv_reader_short(const tamis_reader *reader);

/* Reads exactly size bytes. Errors: READ. */
tamis_status tamis_priv_reader_bytes(tamis_reader *reader, uint64_t offset, void *buf, size_t size);

/* The same all over the file: nothing around them is kept. */
tamis_status tamis_priv_reader_bytes_apart(tamis_reader *reader, uint64_t offset, void *buf,
                                           size_t size);

/* Rows that are best read together, of so many bytes each. */
int32_t tamis_priv_reader_rows(const tamis_file_info *info, uint64_t row_bytes);

/* Checks that a picture's size is one. The limit is checked after info(). Errors: READ. */
tamis_status tamis_priv_reader_check_size(const tamis_reader *reader, uint64_t w, uint64_t h);

/* Whether stored bytes can expand to rows of row_bytes at best; nothing overflows. */
int tamis_priv_reader_can_hold(uint64_t row_bytes, uint64_t rows, uint64_t stored,
                               uint64_t max_expansion);

/* Checks that, so that a small file with a boastful header costs nothing. Errors: READ. */
tamis_status tamis_priv_reader_check_data(const tamis_reader *reader, uint64_t row_bytes,
                                          uint64_t rows, uint64_t stored, uint64_t max_expansion);

/* The rect of the stored picture that becomes rect of the w x h picture upright. */
tamis_rect tamis_priv_rect_stored(tamis_rect rect, int32_t w, int32_t h, int orientation);

/* Turns the pixels as an EXIF orientation asks, replacing image where its size changes.
 * Errors: MEMORY, LIMIT. */
tamis_status tamis_priv_image_turn(tamis_ctx *ctx, tamis_image *image, int orientation);

#endif
