/* SPDX-License-Identifier: Apache-2.0 */
#include "video_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tamis_priv_video_input_open(tamis_video_input *in, const char *path)
{
    struct stat st;
    int is_stdin = strcmp(path, "-") == 0;
    in->error = 0;
    in->pos = in->at = in->used = 0;
    in->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
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

/* Reads until size bytes are there, the data ends, or it fails. */
static size_t read_fully(tamis_video_input *in, uint8_t *data, size_t size)
{
    size_t done = 0;
    while (done < size && !in->error) {
        ssize_t n = read(in->fd, data + done, size - done);
        if (n < 0 && errno != EINTR)
            in->error = errno;
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
    }
    return done;
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
    size_t more = n < size ? read_fully(in, (uint8_t *)data + n, size - n) : 0;
    in->pos += more;
    return n + more;
}

/* Fills the empty buffer with whatever there is. */
static int fill(tamis_video_input *in)
{
    ssize_t n;
    do
        n = read(in->fd, in->buf, sizeof in->buf);
    while (n < 0 && errno == EINTR);
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
        if (lseek(in->fd, (off_t)(in->pos + n), SEEK_SET) < 0) {
            in->error = errno;
            return done;
        }
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
