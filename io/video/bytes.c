/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (256 << 10)

static int read_some(void *opaque, uint8_t *buf, int size)
{
    tamis_av_bytes *bytes = opaque;
    ssize_t n = -1;
    errno = ECANCELED;
    if (!tamis_priv_waiting_canceled(&bytes->waiting))
        n = tamis_priv_wait_read(&bytes->waiting, bytes->fd, bytes->is_file, buf, (size_t)size);
    if (n < 0) {
        bytes->error = errno;
        return AVERROR(bytes->error);
    }
    return n ? (int)n : AVERROR_EOF;
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static int write_all(void *opaque, const uint8_t *buf, int size)
#else
static int write_all(void *opaque, uint8_t *buf, int size)
#endif
{
    tamis_av_bytes *bytes = opaque;
    for (int done = 0; done < size && !bytes->error;) {
        ssize_t n =
            bytes->fd < 0 ? size - done : write(bytes->fd, buf + done, (size_t)(size - done));
        if (n < 0 && errno != EINTR)
            bytes->error = errno;
        done += n > 0 ? (int)n : 0;
    }
    return bytes->error ? AVERROR(bytes->error) : size;
}

static int64_t seek_to(void *opaque, int64_t offset, int whence)
{
    tamis_av_bytes *bytes = opaque;
    struct stat st;
    if (bytes->fd < 0) /* nowhere has no end */
        return whence == SEEK_SET ? offset : AVERROR(ENOSYS);
    if (whence == AVSEEK_SIZE)
        return fstat(bytes->fd, &st) == 0 ? st.st_size : AVERROR(errno);
    off_t at = lseek(bytes->fd, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : at;
}

static int make(tamis_av_bytes *bytes, int writes, int seekable)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    if (buffer)
        bytes->io =
            avio_alloc_context(buffer, BUFFER_BYTES, writes, bytes, writes ? NULL : read_some,
                               writes ? write_all : NULL, seekable ? seek_to : NULL);
    if (!bytes->io)
        av_free(buffer);
    return bytes->io ? 0 : ENOMEM;
}

int tamis_priv_av_bytes_read(tamis_waiting waiting, tamis_av_bytes *bytes, const char *path)
{
    struct stat st;
    *bytes = (tamis_av_bytes){.owned = 1, .waiting = waiting};
    bytes->fd = tamis_priv_wait_open(path);
    if (bytes->fd < 0 || fstat(bytes->fd, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    bytes->is_file = S_ISREG(st.st_mode);
    return make(bytes, 0, bytes->is_file && lseek(bytes->fd, 0, SEEK_CUR) == 0);
}

int tamis_priv_av_bytes_write(tamis_av_bytes *bytes, int fd, int seekable)
{
    *bytes = (tamis_av_bytes){.fd = fd};
    return make(bytes, 1, seekable);
}

int tamis_priv_av_bytes_null(tamis_av_bytes *bytes)
{
    *bytes = (tamis_av_bytes){.fd = -1};
    return make(bytes, 1, 1);
}

void tamis_priv_av_bytes_close(tamis_av_bytes *bytes)
{
    if (bytes->io)
        av_freep(&bytes->io->buffer);
    avio_context_free(&bytes->io);
    if (bytes->owned && bytes->fd >= 0)
        close(bytes->fd);
    bytes->owned = 0;
    bytes->fd = -1;
}
