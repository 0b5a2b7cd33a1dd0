/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file is a video, by its first bytes. */
#define _GNU_SOURCE /* tee */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "video_probe.h"
#include "y4m_header.h"

/* ---- signatures */

typedef struct signature {
    size_t at;
    const char *bytes;
    size_t size;
} signature;

static const signature signatures[] = {
    {0, TAMIS_Y4M_MAGIC, 9},
    {0, "\x1A\x45\xDF\xA3", 4}, /* Matroska, WebM */
    {4, "moov", 4},             /* old QuickTime; those with ftyp are below */
    {4, "mdat", 4},
    {4, "wide", 4},
    {8, "AVI ", 4},
    {0, "OggS", 4},
    {0, "FLV\x01", 4},
    {0, "\x00\x00\x01\xBA", 4},                 /* MPEG program stream */
    {0, "\x00\x00\x01\xB3", 4},                 /* MPEG video alone */
    {0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11", 8}, /* ASF, WMV */
    {0, "DKIF", 4},                             /* IVF */
    {0, "\x06\x0E\x2B\x34\x02\x05\x01\x01", 8}, /* MXF */
    {0, "nut/multimedia", 14},
    {0, "\x12\x00\x0A", 3}, /* AV1 alone */
};

/* Still pictures in the same boxes as MP4. */
static int is_still_brand(const uint8_t *brand)
{
    static const char *const stills[] = {"heic", "heix", "heim", "heis", "mif1",
                                         "avif", "jpx ", "jp2 ", "crx "};
    for (size_t i = 0; i < sizeof stills / sizeof *stills; i++)
        if (memcmp(brand, stills[i], 4) == 0)
            return 1;
    return 0;
}

/* MPEG transport streams: a mark each 188 bytes, or 192 with times before them. */
static int is_transport(const uint8_t *head, size_t size)
{
    if (size >= 377 && head[0] == 0x47 && head[188] == 0x47 && head[376] == 0x47)
        return 1;
    return size >= 389 && head[4] == 0x47 && head[196] == 0x47 && head[388] == 0x47;
}

/* H.264 and HEVC alone: a start code of three or four bytes, then what a stream may begin with:
 * parameters, supplemental information, a delimiter. */
static int is_bare(const uint8_t *head, size_t size)
{
    size_t at = size > 2 && head[2] == 0 ? 3 : 2;
    if (size < at + 3 || head[0] || head[1] || head[at] != 1 || head[at + 1] & 0x80)
        return 0;
    int avc = head[at + 1] & 31, hevc = head[at + 1] >> 1 & 63;
    return avc == 6 || avc == 7 || avc == 9 ||
           (((hevc >= 32 && hevc <= 35) || hevc == 39) && head[at + 2] == 1);
}

int tamis_priv_video_is(const uint8_t *head, size_t size)
{
    if (size >= 12 && memcmp(head + 4, "ftyp", 4) == 0)
        return !is_still_brand(head + 8);
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (size >= s->at + s->size && memcmp(head + s->at, s->bytes, s->size) == 0)
            return 1;
    }
    return is_transport(head, size) || is_bare(head, size);
}

/* ---- first bytes */

#ifdef __linux__
/* A pipe that programs which another thread starts do not inherit. */
static int open_pair(int pair[2])
{
    if (pipe(pair) != 0)
        return 0;
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    return 1;
}

/* Copies what waits in a pipe without taking it. Programs write headers at once, but nothing keeps
 * a pipe from giving a byte or two first. */
static size_t peek_pipe(tamis_ctx *ctx, int fd, uint8_t *head, size_t size)
{
    enum { ENOUGH = 16, TRIES = 2000, LOOK_MS = 100 };
    struct timespec wait = {0, 1000000};
    ssize_t n = 0;
    for (int i = 0; i < TRIES; i++) {
        int pair[2];
        struct pollfd state = {fd, POLLIN, 0};
        while (!tamis_ctx_canceled(ctx) && poll(&state, 1, LOOK_MS) <= 0) {
        }
        if (tamis_ctx_canceled(ctx))
            return 0;
        if (!open_pair(pair))
            return 0;
        n = tee(fd, pair[1], size, SPLICE_F_NONBLOCK);
        if (n > 0)
            n = read(pair[0], head, (size_t)n);
        close(pair[0]);
        close(pair[1]);
        if (n >= ENOUGH || (n < 0 && errno != EAGAIN && errno != EINTR) ||
            (n >= 0 && (state.revents & POLLHUP)))
            break;
        nanosleep(&wait, NULL);
    }
    return n > 0 ? (size_t)n : 0;
}
#else
static size_t peek_pipe(tamis_ctx *ctx, int fd, uint8_t *head, size_t size)
{
    (void)ctx;
    (void)fd;
    (void)head;
    (void)size;
    return 0;
}
#endif

static size_t peek(tamis_ctx *ctx, int fd, uint8_t *head, size_t size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return 0;
    if (S_ISFIFO(st.st_mode))
        return peek_pipe(ctx, fd, head, size);
    if (!S_ISREG(st.st_mode))
        return 0;
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t n = at < 0 ? 0 : pread(fd, head, size, at);
    return n > 0 ? (size_t)n : 0;
}

size_t tamis_priv_video_peek(tamis_ctx *ctx, const char *path, uint8_t *head, size_t size)
{
    if (strcmp(path, "-") == 0)
        return peek(ctx, STDIN_FILENO, head, size);
    struct stat st;
    /* Whoever opens a named pipe and leaves ends its writer. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = peek(ctx, fd, head, size);
    close(fd);
    return n;
}

/* A pipe that has a name. */
static int is_named_pipe(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

int tamis_video_probe(tamis_ctx *ctx, const char *path)
{
    uint8_t head[TAMIS_VIDEO_PROBE_BYTES];
    if (!path)
        return 0;
    if (is_named_pipe(path)) {
        char *extension = tamis_priv_extension(path);
        int is = extension && strcmp(extension, "y4m") == 0;
        free(extension);
        return is;
    }
    size_t n = tamis_priv_video_peek(ctx, path, head, sizeof head);
    return tamis_priv_video_is(head, n);
}
