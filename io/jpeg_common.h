/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing JPEG share: libjpeg's error handling and the metadata segments. */
#ifndef TAMIS_IO_JPEG_COMMON_H
#define TAMIS_IO_JPEG_COMMON_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <tamis/io.h>

/* libjpeg ends an operation by calling error_exit(), which must not return: it jumps to jump. */
typedef struct tamis_jpeg_errors {
    struct jpeg_error_mgr base; /* first, so that libjpeg's pointer to it is one to this */
    tamis_ctx *ctx;
    const char *name;
    char message[JMSG_LENGTH_MAX];
    tamis_status status; /* that fits the message */
    jmp_buf jump;
} tamis_jpeg_errors;

/* Prepares errors for a struct's err field; failure is the status of unspecific errors. */
struct jpeg_error_mgr *tamis_priv_jpeg_errors(tamis_jpeg_errors *errors, tamis_ctx *ctx,
                                              const char *name, tamis_status failure);

/* Asks libjpeg to keep the segments that tamis_priv_jpeg_read_meta() looks at. May jump. */
void tamis_priv_jpeg_keep_segments(j_decompress_ptr cinfo);
/* Collects metadata after jpeg_read_header(). Never jumps. Errors: MEMORY. */
tamis_status tamis_priv_jpeg_read_meta(j_decompress_ptr cinfo, tamis_meta *meta);

/* Sets the density fields; before jpeg_start_compress(). */
void tamis_priv_jpeg_set_density(j_compress_ptr cinfo, const tamis_meta *meta);
/* Writes the segments of meta, whose EXIF block must fit; after jpeg_start_compress(). May jump;
 * holds nothing meanwhile. */
void tamis_priv_jpeg_write_meta(j_compress_ptr cinfo, const tamis_meta *meta);
/* Makes blocks fit into segments or removes them, with a warning. Errors: MEMORY. */
tamis_status tamis_priv_jpeg_fit_meta(tamis_ctx *ctx, const char *name, tamis_meta *meta);

#endif
