/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/number.h"
#include "core/status.h"

/* Where large temporary files belong: /tmp is in memory on many systems. */
static const char *folder(void)
{
    const char *given = getenv("TMPDIR");
    if (given && *given)
        return given;
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

static tamis_status fail(tamis_ctx *ctx, const char *what, size_t size, int error)
{
    char need[TAMIS_BYTES_TEXT];
    return tamis_priv_fail(ctx, TAMIS_ERR_WRITE,
                           "%s: cannot make a temporary file of %s in %s: %s; TMPDIR names another "
                           "folder",
                           what, tamis_priv_bytes_print(size, need), folder(), strerror(error));
}

/* A file that is gone from its folder; -1 and errno when there is none. */
static int open_unnamed(void)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/tamis-XXXXXX", folder());
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkstemp(path);
    if (file >= 0) {
        unlink(path);
        fcntl(file, F_SETFD, FD_CLOEXEC);
    }
    return file;
}

tamis_status tamis_priv_spill_map(tamis_ctx *ctx, const char *what, size_t size, void **out)
{
    *out = NULL;
    if ((uint64_t)size > INT64_MAX)
        return fail(ctx, what, size, EFBIG);
    int file = open_unnamed();
    if (file < 0)
        return fail(ctx, what, size, errno);
    /* Without its room on the disk a write to memory could end the program. */
    int error;
    do
        error = posix_fallocate(file, 0, (off_t)size);
    while (error == EINTR);
    if (error) {
        close(file);
        return fail(ctx, what, size, error);
    }
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = errno;
    close(file);
    if (data == MAP_FAILED)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "%s: cannot map a temporary file: %s", what,
                               strerror(error));
    *out = data;
    return TAMIS_OK;
}

void tamis_priv_spill_unmap(void *data, size_t size)
{
    if (data)
        munmap(data, size);
}
