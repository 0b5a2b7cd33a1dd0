/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wait.h"

#define WINDOW_BYTES   ((size_t)64 << 10)
#define PIECE_BYTES    ((size_t)1 << 20)
#define PIPE_MAX_BYTES ((uint64_t)1 << 38)

static tamis_status fail_errno(tamis_source *source, const char *what)
{
    if (errno == ECANCELED)
        return tamis_ctx_fail(source->ctx, TAMIS_ERR_CANCELED, "%s: canceled", source->name);
    return tamis_ctx_fail(source->ctx, TAMIS_ERR_READ, "%s: %s: %s", source->name, what,
                          strerror(errno));
}

/* Reads until size bytes are there, the data ends, or it fails (then error is set). */
static size_t read_fully(tamis_source *source, void *buf, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        char *p = (char *)buf + done;
        tamis_waiting waiting = {source->ctx, NULL};
        ssize_t n = source->is_pipe ? tamis_priv_wait_read(&waiting, source->fd, 0, p, size - done)
                                    : pread(source->fd, p, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            source->error = errno;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Adds one piece to what is held of a pipe; *more tells whether it came whole. */
static tamis_status load_piece(tamis_source *source, int *more)
{
    tamis_image *pieces = realloc(source->pieces, (source->piece_count + 1) * sizeof *pieces);
    if (!pieces)
        return tamis_ctx_fail(source->ctx, TAMIS_ERR_MEMORY, "%s: no memory", source->name);
    source->pieces = pieces;
    tamis_image piece;
    tamis_format bytes = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_status status = tamis_image_create(source->ctx, bytes, (int32_t)PIECE_BYTES, 1, &piece);
    if (status != TAMIS_OK)
        return status;
    pieces[source->piece_count++] = piece;
    size_t n = read_fully(source, piece.data[0], PIECE_BYTES, 0);
    source->size += n;
    *more = n == PIECE_BYTES;
    if (source->error) {
        errno = source->error;
        return fail_errno(source, "cannot read");
    }
    return TAMIS_OK;
}

tamis_status tamis_priv_source_load(tamis_source *source, uint64_t max)
{
    if (max > PIPE_MAX_BYTES)
        max = PIPE_MAX_BYTES;
    int more = source->is_pipe && source->size % PIECE_BYTES == 0 && source->size > 0;
    while (more && source->size < max) {
        tamis_status status = load_piece(source, &more);
        if (status != TAMIS_OK)
            return status;
    }
    if (more && max == PIPE_MAX_BYTES)
        return tamis_ctx_fail(source->ctx, TAMIS_ERR_LIMIT, "%s: more than %llu bytes",
                              source->name, (unsigned long long)PIPE_MAX_BYTES);
    return TAMIS_OK;
}

static tamis_status open_whole(tamis_source *source, const char *path)
{
    int is_stdin = strcmp(path, "-") == 0;
    source->fd = tamis_priv_wait_open(path);
    struct stat st;
    if (source->fd < 0 || fstat(source->fd, &st) != 0)
        return fail_errno(source, "cannot open");
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail_errno(source, "cannot read");
    }
    /* Standard input may be a file that was read in part, so it counts as a pipe as well. */
    source->is_pipe = is_stdin || !S_ISREG(st.st_mode);
    if (source->is_pipe) {
        int more;
        return load_piece(source, &more);
    }
    source->size = (uint64_t)st.st_size;
    source->window = malloc(WINDOW_BYTES);
    if (!source->window)
        return tamis_ctx_fail(source->ctx, TAMIS_ERR_MEMORY, "%s: no memory", source->name);
    return TAMIS_OK;
}

tamis_status tamis_priv_source_open(tamis_ctx *ctx, const char *path, const char *name,
                                    tamis_source *out)
{
    *out = (tamis_source){.ctx = ctx, .name = name, .fd = -1};
    tamis_status status = open_whole(out, path);
    if (status != TAMIS_OK)
        tamis_priv_source_close(out);
    return status;
}

static size_t read_pieces(tamis_source *source, uint64_t offset, uint8_t *buf, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = offset + done;
        size_t in_piece = (size_t)(at % PIECE_BYTES);
        size_t n = size - done < PIECE_BYTES - in_piece ? size - done : PIECE_BYTES - in_piece;
        const uint8_t *piece = source->pieces[at / PIECE_BYTES].data[0];
        memcpy(buf + done, piece + in_piece, n);
        done += n;
    }
    return size;
}

size_t tamis_priv_source_read(tamis_source *source, uint64_t offset, void *buf, size_t size)
{
    if (offset >= source->size)
        return 0;
    if (size > source->size - offset)
        size = (size_t)(source->size - offset);
    if (source->is_pipe)
        return read_pieces(source, offset, buf, size);
    uint64_t end = source->window_start + source->window_len;
    if (offset >= source->window_start && offset + size <= end) {
        memcpy(buf, source->window + (offset - source->window_start), size);
        return size;
    }
    if (size >= WINDOW_BYTES)
        return read_fully(source, buf, size, offset);
    source->window_start = offset;
    source->window_len = read_fully(source, source->window, WINDOW_BYTES, offset);
    if (size > source->window_len)
        size = source->window_len;
    memcpy(buf, source->window, size);
    return size;
}

size_t tamis_priv_source_read_apart(tamis_source *source, uint64_t offset, void *buf, size_t size)
{
    if (source->is_pipe || offset >= source->size)
        return tamis_priv_source_read(source, offset, buf, size);
    if (size > source->size - offset)
        size = (size_t)(source->size - offset);
    return read_fully(source, buf, size, offset);
}

tamis_status tamis_priv_source_share(const tamis_source *source, tamis_source *out)
{
    *out = *source;
    out->shared = 1;
    out->window_start = 0;
    out->window_len = 0;
    out->window = source->is_pipe ? NULL : malloc(WINDOW_BYTES);
    if (source->is_pipe || out->window)
        return TAMIS_OK;
    *out = (tamis_source){.fd = -1};
    return tamis_ctx_fail(source->ctx, TAMIS_ERR_MEMORY, "%s: no memory", source->name);
}

void tamis_priv_source_close(tamis_source *source)
{
    if (source->shared) {
        free(source->window);
        *source = (tamis_source){.fd = -1};
        return;
    }
    for (size_t i = 0; i < source->piece_count; i++)
        tamis_image_unref(&source->pieces[i]);
    free(source->pieces);
    free(source->window);
    if (source->fd >= 0)
        close(source->fd);
    *source = (tamis_source){.fd = -1};
}
