/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long somebody who cancels waits at most, in milliseconds. */
enum { LOOK_MS = 100, OUTPUT_MS = 10 };

int tamis_priv_waiting_canceled(const tamis_waiting *w)
{
    return tamis_ctx_canceled(w->ctx) || (w->stop && __atomic_load_n(w->stop, __ATOMIC_RELAXED));
}

/* Opened so that it does not wait, then as usual again. */
static int open_now(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    int now = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (now >= 0)
        fcntl(fd, F_SETFL, now & ~O_NONBLOCK);
    return fd;
}

int tamis_priv_wait_open(const char *path)
{
    return strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                  : open_now(path, O_RDONLY);
}

int tamis_priv_wait_open_output(const tamis_waiting *w, const char *path)
{
    struct timespec a_moment = {0, OUTPUT_MS * 1000000};
    int fd;
    while ((fd = open_now(path, O_WRONLY)) < 0 && errno == ENXIO) {
        if (tamis_priv_waiting_canceled(w)) {
            errno = ECANCELED;
            return -1;
        }
        nanosleep(&a_moment, NULL);
    }
    return fd;
}

/* 1 when there is something to read, or an end or an error to be told. */
static int wait_for_data(const tamis_waiting *w, int fd)
{
    struct pollfd state = {fd, POLLIN, 0};
    for (;;) {
        if (tamis_priv_waiting_canceled(w)) {
            errno = ECANCELED;
            return 0;
        }
        int n = poll(&state, 1, LOOK_MS);
        if (n > 0)
            return 1;
        if (n < 0 && errno != EINTR)
            return 0;
    }
}

ssize_t tamis_priv_wait_read(const tamis_waiting *w, int fd, int is_file, void *buf, size_t size)
{
    ssize_t n;
    do {
        if (!is_file && !wait_for_data(w, fd))
            return -1;
        n = read(fd, buf, size);
    } while (n < 0 && (errno == EINTR || (errno == EAGAIN && !is_file)));
    return n;
}
