/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "temp_name.h"
#include "wait.h"

static tamis_status fail_errno(const tamis_writer *writer, const char *what)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "%s: %s", what, strerror(errno));
}

static tamis_status no_memory(const tamis_writer *writer)
{
    return tamis_priv_writer_fail(writer, TAMIS_ERR_MEMORY, "no memory");
}

static tamis_status open_sink(tamis_writer *writer, int fd)
{
    if (fd < 0)
        return fail_errno(writer, "cannot write");
    return tamis_priv_sink_open(&writer->sink, fd) ? TAMIS_OK : no_memory(writer);
}

/* A nameless file in a folder, whose name ends with a slash. */
static int open_nameless(const char *folder)
{
    char name[4096];
    int n = snprintf(name, sizeof name, "%s.tamis-XXXXXX", folder);
    if (n < 0 || n >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(name);
    if (fd >= 0) {
        unlink(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

/* For formats that go back in what they wrote, when the target is a pipe. /tmp is in memory on many
 * systems, and files may be large. */
static int open_spool(void)
{
    const char *folder = getenv("TMPDIR");
    char name[1024];
    if (!folder || !*folder)
        folder = access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
    int n = snprintf(name, sizeof name, "%s/", folder);
    if (n < 0 || n >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open_nameless(name);
}

static tamis_status open_stream(tamis_writer *writer, int fd)
{
    if (fd < 0)
        return fail_errno(writer, "cannot write");
    if (!writer->encoder->seeks)
        return open_sink(writer, fd);
    writer->out_fd = fd;
    return open_sink(writer, open_spool());
}

/* The folder part of a path, with its slash; "./" when there is none. To be freed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *from = slash ? path : "./";
    size_t n = slash ? (size_t)(slash - path) + 1 : 2;
    char *out = malloc(n + 1);
    if (out) {
        memcpy(out, from, n);
        out[n] = 0;
    }
    return out;
}

/* Creates a file that did not exist in the folder; the name is independent of the final one, whose
 * length may be at the limit. The kernel applies the umask. */
static int create_temp(tamis_writer *writer, const char *folder)
{
    enum { TRIES = 100 };
    size_t size = strlen(folder) + TAMIS_TEMP_NAME_BYTES;
    writer->temp = malloc(size);
    if (!writer->temp) {
        errno = ENOMEM;
        return -1;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long stamp = (unsigned long)now.tv_nsec ^ (unsigned long)now.tv_sec << 30;
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        tamis_priv_temp_name(writer->temp, size, folder, stamp + (unsigned long)i);
        fd = open(writer->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        int error = errno;
        free(writer->temp);
        writer->temp = NULL;
        errno = error;
    }
    return fd;
}

/* Gives the new file the old one's permissions, and its owner where that is allowed. */
static void follow(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0) {
        /* Someone else's file: the copy belongs to who writes it. */
    }
    (void)fchmod(fd, old->st_mode & 07777);
}

int tamis_priv_target_scratch(const tamis_writer *writer)
{
    char *folder = writer->path ? folder_of(writer->path) : NULL;
    int fd = folder ? open_nameless(folder) : open_spool();
    free(folder);
    return fd;
}

static tamis_status open_beside(tamis_writer *writer, const struct stat *old)
{
    char *folder = folder_of(writer->path);
    if (!folder)
        return no_memory(writer);
    int fd = create_temp(writer, folder);
    free(folder);
    if (fd < 0)
        return fail_errno(writer, "cannot write into its folder");
    if (old)
        follow(fd, old);
    return open_sink(writer, fd);
}

static tamis_status open_place(tamis_writer *writer, const char *path)
{
    tamis_waiting waiting = {writer->ctx, NULL};
    int fd = tamis_priv_wait_open_output(&waiting, path);
    if (fd < 0 && errno == ECANCELED)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_CANCELED, "canceled");
    return open_stream(writer, fd);
}

tamis_status tamis_priv_target_open(tamis_writer *writer, const char *path)
{
    if (strcmp(path, "-") == 0)
        return open_stream(writer, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    struct stat st;
    int exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail_errno(writer, "cannot write");
    }
    if (exists && !S_ISREG(st.st_mode))
        return open_place(writer, path);
    if (exists && !writer->overwrite)
        return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "the file exists already");
    if (exists && access(path, W_OK) != 0)
        return fail_errno(writer, "cannot replace");
    if (!exists && errno != ENOENT)
        return fail_errno(writer, "cannot write");
    /* A link to a file stays a link: the file it names is replaced. */
    writer->path = exists ? realpath(path, NULL) : malloc(strlen(path) + 1);
    if (!writer->path)
        return no_memory(writer);
    if (!exists)
        strcpy(writer->path, path);
    return open_beside(writer, exists ? &st : NULL);
}

/* Copies the spooled file to the device or pipe. */
static tamis_status copy_spool(tamis_writer *writer)
{
    tamis_sink *spool = &writer->sink;
    tamis_sink out;
    int fd = writer->out_fd;
    writer->out_fd = -1;
    if (!tamis_priv_sink_open(&out, fd)) {
        close(fd);
        return no_memory(writer);
    }
    uint8_t buf[16384];
    size_t n;
    int ok = tamis_priv_sink_flush(spool) && lseek(spool->fd, 0, SEEK_SET) == 0;
    while (ok && (n = tamis_priv_sink_read(spool, buf, sizeof buf)) > 0)
        ok = tamis_priv_sink_write(&out, buf, n);
    if (!tamis_priv_sink_close(&out) && !spool->error)
        spool->error = out.error;
    if (spool->error)
        return tamis_priv_writer_sink_failed(writer);
    return ok ? TAMIS_OK : fail_errno(writer, "cannot write");
}

/* Gives the temporary file its final name; without overwrite, only if that name is still free. */
static tamis_status put_into_place(tamis_writer *writer)
{
    int done = 0;
    if (!writer->overwrite) {
        done = link(writer->temp, writer->path) == 0;
        if (!done && errno == EEXIST)
            return tamis_priv_writer_fail(writer, TAMIS_ERR_WRITE, "the file exists already");
        if (done)
            unlink(writer->temp);
    }
    /* Not every file system has links. */
    if (!done && rename(writer->temp, writer->path) != 0)
        return fail_errno(writer, "cannot write");
    free(writer->temp);
    writer->temp = NULL;
    return TAMIS_OK;
}

tamis_status tamis_priv_target_commit(tamis_writer *writer)
{
    if (writer->out_fd >= 0) {
        tamis_status status = copy_spool(writer);
        if (status != TAMIS_OK)
            return status;
    }
    if (writer->sink.in_memory)
        return writer->sink.error ? tamis_priv_writer_sink_failed(writer) : TAMIS_OK;
    if (!tamis_priv_sink_close(&writer->sink))
        return tamis_priv_writer_sink_failed(writer);
    return writer->temp ? put_into_place(writer) : TAMIS_OK;
}

void tamis_priv_target_discard(tamis_writer *writer)
{
    tamis_priv_sink_abandon(&writer->sink);
    if (writer->out_fd >= 0)
        close(writer->out_fd);
    writer->out_fd = -1;
    if (writer->temp) {
        unlink(writer->temp);
        free(writer->temp);
        writer->temp = NULL;
    }
}
