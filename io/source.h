/* SPDX-License-Identifier: Apache-2.0 */
/* Where input bytes come from: a file, read at any offset, or a pipe, kept whole in memory. */
#ifndef TAMIS_IO_SOURCE_H
#define TAMIS_IO_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <tamis/image.h>

typedef struct tamis_source {
    tamis_ctx *ctx;
    const char *name; /* for messages; belongs to the reader */
    int fd;           /* -1 for none */
    uint64_t size;
    uint8_t *window; /* file: the newest piece read, so that small reads are cheap */
    uint64_t window_start;
    size_t window_len;
    int is_pipe;
    tamis_image *pieces; /* pipe: equal pieces of its content, counted by the context */
    size_t piece_count;
    int error;  /* errno of a failed read, 0 when data simply ended */
    int shared; /* descriptor and pieces belong to another source */
} tamis_source;

/* Opens path ("-" is standard input). Of a pipe only the first piece is read, so that it can be
 * probed; tamis_priv_source_load() fetches the rest. Errors: READ, MEMORY, LIMIT. */
tamis_status tamis_priv_source_open(tamis_ctx *ctx, const char *path, const char *name,
                                    tamis_source *out);

/* Reads a pipe to its end, or until there are at least max bytes. A no-op for files.
 * Errors: READ, MEMORY, LIMIT. */
tamis_status tamis_priv_source_load(tamis_source *source, uint64_t max);

/* Copies up to size bytes from offset into buf; returns how many there were. */
size_t tamis_priv_source_read(tamis_source *source, uint64_t offset, void *buf, size_t size);

/* The same without keeping what lies around it, for reads all over the file. */
size_t tamis_priv_source_read_apart(tamis_source *source, uint64_t offset, void *buf, size_t size);

/* A second source of the same bytes, for another thread; the first must outlive it.
 * Errors: MEMORY. */
tamis_status tamis_priv_source_share(const tamis_source *source, tamis_source *out);

void tamis_priv_source_close(tamis_source *source);

#endif
