/* SPDX-License-Identifier: Apache-2.0 */
#include "video_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a thread reads of a large piece. */
#define SHARE_BYTES ((size_t)1 << 20)

int tamis_priv_video_input_open(tamis_waiting waiting, tamis_video_input *in, const char *path)
{
    struct stat st;
    int is_stdin = strcmp(path, "-") == 0;
    in->waiting = waiting;
    in->error = 0;
    in->pos = in->at = in->used = 0;
    in->fd = tamis_priv_wait_open(path);
    if (in->fd < 0 || fstat(in->fd, &st) != 0)
        return 0;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return 0;
    }
    /* Standard input may be a file that was read in part. */
    in->seekable = !is_stdin && S_ISREG(st.st_mode);
    in->size = in->seekable ? (uint64_t)st.st_size : 0;
    return 1;
}

void tamis_priv_video_input_close(tamis_video_input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}

/* Files are read by position, so that it does not matter who reads what first. */
static ssize_t read_some(const tamis_video_input *in, uint64_t pos, void *data, size_t size)
{
    ssize_t n;
    if (!in->seekable)
        return tamis_priv_wait_read(&in->waiting, in->fd, 0, data, size);
    do
        n = pread(in->fd, data, size, (off_t)pos);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Reads until size bytes are there, the data ends, or it fails, which *error tells. */
static size_t read_fully(const tamis_video_input *in, uint64_t pos, uint8_t *data, size_t size,
                         int *error)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read_some(in, pos + done, data + done, size - done);
        if (n < 0)
            *error = errno;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* A large piece of a file. What is behind the first gap counts as not read. */
struct piece {
    const tamis_video_input *in;
    uint8_t *data;
    size_t size;
    atomic_size_t end; /* of what is whole */
    atomic_int error;  /* of some share that failed */
};

static void read_share(void *user, int64_t index)
{
    struct piece *p = user;
    size_t at = (size_t)index * SHARE_BYTES, left = p->size - at, end = atomic_load(&p->end);
    size_t size = left < SHARE_BYTES ? left : SHARE_BYTES;
    int error = 0;
    size_t n = read_fully(p->in, p->in->pos + at, p->data + at, size, &error);
    if (error)
        atomic_store(&p->error, error);
    while (n < size && at + n < end && !atomic_compare_exchange_weak(&p->end, &end, at + n)) {
    }
}

static size_t read_piece(tamis_video_input *in, uint8_t *data, size_t size)
{
    if (!in->seekable || size < 2 * SHARE_BYTES)
        return read_fully(in, in->pos, data, size, &in->error);
    struct piece p = {.in = in, .data = data, .size = size};
    atomic_init(&p.end, size);
    atomic_init(&p.error, 0);
    tamis_ctx_each(in->waiting.ctx, (int64_t)((size - 1) / SHARE_BYTES + 1), read_share, &p);
    in->error = atomic_load(&p.error);
    return atomic_load(&p.end);
}

static size_t take(tamis_video_input *in, void *data, size_t size)
{
    size_t n = in->used - in->at < size ? in->used - in->at : size;
    if (data)
        memcpy(data, in->buf + in->at, n);
    in->at += n;
    in->pos += n;
    return n;
}

size_t tamis_priv_video_input_read(tamis_video_input *in, void *data, size_t size)
{
    size_t n = take(in, data, size);
    size_t more = n < size && !in->error ? read_piece(in, (uint8_t *)data + n, size - n) : 0;
    in->pos += more;
    return n + more;
}

/* Fills the empty buffer with whatever there is. */
static int fill(tamis_video_input *in)
{
    ssize_t n = read_some(in, in->pos, in->buf, sizeof in->buf);
    if (n < 0)
        in->error = errno;
    in->at = 0;
    in->used = n > 0 ? (size_t)n : 0;
    return n > 0;
}

uint64_t tamis_priv_video_input_skip(tamis_video_input *in, uint64_t size)
{
    uint64_t done = take(in, NULL, size < sizeof in->buf ? (size_t)size : sizeof in->buf);
    if (in->seekable && done < size) {
        uint64_t left = in->size > in->pos ? in->size - in->pos : 0;
        uint64_t n = size - done < left ? size - done : left;
        in->pos += n;
        return done + n;
    }
    while (done < size && !in->error && fill(in)) {
        uint64_t left = size - done;
        done += take(in, NULL, left < sizeof in->buf ? (size_t)left : sizeof in->buf);
    }
    return done;
}

int tamis_priv_video_input_line(tamis_video_input *in, char *buf, size_t size)
{
    size_t n = 0;
    while (n + 1 < size) {
        if (in->at == in->used && !fill(in))
            return -1;
        char c = (char)in->buf[in->at++];
        in->pos++;
        if (c == '\n') {
            buf[n] = '\0';
            return (int)n;
        }
        buf[n++] = c;
    }
    return -1;
}
