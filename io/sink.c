/* SPDX-License-Identifier: Apache-2.0 */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)

int tamis_priv_sink_open(tamis_sink *sink, int fd)
{
    *sink = (tamis_sink){.fd = fd, .buf = malloc(BUFFER_BYTES)};
    return sink->buf != NULL;
}

void tamis_priv_sink_open_memory(tamis_sink *sink)
{
    *sink = (tamis_sink){.fd = -1, .in_memory = 1};
}

/* Room for size bytes in all, in steps that grow with what is there. */
static int reserve(tamis_sink *sink, uint64_t size)
{
    if (size <= sink->room)
        return 1;
    uint64_t room = size + size / 2 + 4096;
    uint8_t *larger = room <= SIZE_MAX ? realloc(sink->buf, (size_t)room) : NULL;
    if (!larger) {
        sink->error = ENOMEM;
        return 0;
    }
    sink->buf = larger;
    sink->room = (size_t)room;
    return 1;
}

/* A gap behind what was written before reads as zeros, as in files. */
static int write_memory(tamis_sink *sink, const void *data, size_t size)
{
    if (size > UINT64_MAX - sink->pos || !reserve(sink, sink->pos + size))
        return 0;
    size_t at = (size_t)sink->pos;
    if (at > sink->used)
        memset(sink->buf + sink->used, 0, at - sink->used);
    if (size)
        memcpy(sink->buf + at, data, size);
    sink->pos += size;
    if (at + size > sink->used)
        sink->used = at + size;
    return 1;
}

static size_t read_memory(tamis_sink *sink, void *buf, size_t size)
{
    if (sink->pos >= sink->used)
        return 0;
    size_t left = sink->used - (size_t)sink->pos, n = size < left ? size : left;
    memcpy(buf, sink->buf + sink->pos, n);
    sink->pos += n;
    return n;
}

static int write_fully(tamis_sink *sink, const uint8_t *data, size_t size)
{
    while (size > 0 && !sink->error) {
        ssize_t n = write(sink->fd, data, size);
        if (n < 0 && errno != EINTR)
            sink->error = errno;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return !sink->error;
}

int tamis_priv_sink_flush(tamis_sink *sink)
{
    size_t used = sink->used;
    if (sink->in_memory)
        return !sink->error;
    sink->used = 0;
    return write_fully(sink, sink->buf, used);
}

int tamis_priv_sink_write(tamis_sink *sink, const void *data, size_t size)
{
    if (sink->error)
        return 0;
    if (sink->in_memory)
        return write_memory(sink, data, size);
    sink->pos += size;
    if (size > BUFFER_BYTES - sink->used && !tamis_priv_sink_flush(sink))
        return 0;
    if (size >= BUFFER_BYTES)
        return write_fully(sink, data, size);
    memcpy(sink->buf + sink->used, data, size);
    sink->used += size;
    return 1;
}

int tamis_priv_sink_seek(tamis_sink *sink, uint64_t pos)
{
    if (sink->error)
        return 0;
    if (pos == sink->pos)
        return 1;
    if (!tamis_priv_sink_flush(sink))
        return 0;
    if (!sink->in_memory && lseek(sink->fd, (off_t)pos, SEEK_SET) < 0) {
        sink->error = errno;
        return 0;
    }
    sink->pos = pos;
    return 1;
}

int tamis_priv_sink_seek_end(tamis_sink *sink, uint64_t *end)
{
    if (sink->error || !tamis_priv_sink_flush(sink))
        return 0;
    off_t pos = sink->in_memory ? (off_t)sink->used : lseek(sink->fd, 0, SEEK_END);
    if (pos < 0) {
        sink->error = errno;
        return 0;
    }
    sink->pos = *end = (uint64_t)pos;
    return 1;
}

size_t tamis_priv_sink_read(tamis_sink *sink, void *buf, size_t size)
{
    if (sink->error || !tamis_priv_sink_flush(sink))
        return 0;
    if (sink->in_memory)
        return read_memory(sink, buf, size);
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(sink->fd, (char *)buf + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            sink->error = errno;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    sink->pos += done;
    return done;
}

int tamis_priv_sink_close(tamis_sink *sink)
{
    if (sink->fd >= 0) {
        tamis_priv_sink_flush(sink);
        /* Network file systems report a full disk only now. */
        if (close(sink->fd) != 0 && !sink->error)
            sink->error = errno;
        sink->fd = -1;
    }
    free(sink->buf);
    sink->buf = NULL;
    return !sink->error;
}

void tamis_priv_sink_abandon(tamis_sink *sink)
{
    if (sink->fd >= 0)
        close(sink->fd);
    free(sink->buf);
    /* Whatever an encoder still wants to write when it closes goes nowhere. */
    *sink = (tamis_sink){.fd = -1, .error = EBADF};
}
