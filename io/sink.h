/* SPDX-License-Identifier: Apache-2.0 */
/* Where output bytes go: a buffered file descriptor, or memory, that remembers its first error. */
#ifndef TAMIS_IO_SINK_H
#define TAMIS_IO_SINK_H

#include <stddef.h>
#include <stdint.h>

typedef struct tamis_sink {
    int fd;        /* -1 for memory */
    int in_memory; /* 1: buf is all that was written */
    int error;     /* errno of the first failure; later calls do nothing */
    uint8_t *buf;
    size_t used;
    size_t room;  /* memory: bytes that buf has */
    uint64_t pos; /* of the next byte */
} tamis_sink;

/* Takes the descriptor over. Returns 0 when there is no memory. */
int tamis_priv_sink_open(tamis_sink *sink, int fd);
/* Collects what is written in memory, which closing the sink frees. */
void tamis_priv_sink_open_memory(tamis_sink *sink);

/* Each returns 1, or 0 once anything failed. */
int tamis_priv_sink_write(tamis_sink *sink, const void *data, size_t size);
int tamis_priv_sink_flush(tamis_sink *sink);
int tamis_priv_sink_seek(tamis_sink *sink, uint64_t pos);
/* Flushes and goes to the end, whose position becomes *end. */
int tamis_priv_sink_seek_end(tamis_sink *sink, uint64_t *end);
/* Bytes at pos, for writers that read back; the return value counts them. */
size_t tamis_priv_sink_read(tamis_sink *sink, void *buf, size_t size);
/* Flushes and closes. Further calls are no-ops that repeat the verdict. */
int tamis_priv_sink_close(tamis_sink *sink);
/* Closes without flushing. */
void tamis_priv_sink_abandon(tamis_sink *sink);

#endif
