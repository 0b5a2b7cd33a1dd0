/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what may keep one waiting: pipes, terminals, devices. The context's cancel flag ends it.
 */
#ifndef TAMIS_IO_WAIT_H
#define TAMIS_IO_WAIT_H

#include <stddef.h>
#include <sys/types.h>

#include <tamis/core.h>

/* Who may end waiting besides the context. */
typedef struct tamis_waiting {
    tamis_ctx *ctx;
    const int *stop; /* stored atomically; NULL = nobody else */
} tamis_waiting;

int tamis_priv_waiting_canceled(const tamis_waiting *w);

/* Opens a file for reading, "-" for standard input. A named pipe is opened whether or not somebody
 * writes into it: reading waits for that. Returns -1 with errno. */
int tamis_priv_wait_open(const char *path);
/* As open() of what is no regular file for writing, but a named pipe's reader is waited for. */
int tamis_priv_wait_open_output(const tamis_waiting *w, const char *path);
/* As read(), but goes on after signals, and fails with ECANCELED. is_file: nothing has to be waited
 * for. */
ssize_t tamis_priv_wait_read(const tamis_waiting *w, int fd, int is_file, void *buf, size_t size);

#endif
