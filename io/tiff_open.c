/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff_open.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_START 16

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list args)
{
    tamis_tiff *t = user;
    (void)tif;
    (void)module;
    vsnprintf(t->message, sizeof t->message, format, args);
    return 1; /* handled: libtiff prints nothing */
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list args)
{
    tamis_tiff *t = user;
    char text[256];
    (void)tif;
    (void)module;
    vsnprintf(text, sizeof text, format, args);
    if (strstr(text, "orrupt JPEG data") || strstr(text, "remature end of JPEG")) {
        t->damaged = 1;
        snprintf(t->message, sizeof t->message, "%s", text);
    }
    tamis_ctx_log(t->ctx, TAMIS_LOG_DEBUG, "%s: %s", t->name, text);
    return 1;
}

int tamis_priv_piece_reserve(tamis_piece *piece, size_t size)
{
    if (size <= piece->capacity)
        return 1;
    size_t capacity = size + size / 4;
    uint8_t *data = realloc(piece->data, capacity);
    if (!data)
        return 0;
    piece->data = data;
    piece->capacity = capacity;
    return 1;
}

static int append(tamis_piece *piece, const void *data, size_t size)
{
    if (!piece)
        return 1;
    if (!tamis_priv_piece_reserve(piece, piece->used + size))
        return 0;
    memcpy(piece->data + piece->used, data, size);
    piece->used += size;
    return 1;
}

static tmsize_t read_proc(thandle_t handle, void *buf, tmsize_t size)
{
    tamis_tiff *t = handle;
    if (!t->source && !t->sink)
        return 0;
    if (t->sink)
        return (tmsize_t)tamis_priv_sink_read(t->sink, buf, (size_t)size);
    size_t n = tamis_priv_source_read(t->source, t->pos, buf, (size_t)size);
    t->pos += n;
    return (tmsize_t)n;
}

static tmsize_t write_proc(thandle_t handle, void *buf, tmsize_t size)
{
    tamis_tiff *t = handle;
    if (!t->source && !t->sink)
        return append(t->piece, buf, (size_t)size) ? size : -1;
    return t->sink && tamis_priv_sink_write(t->sink, buf, (size_t)size) ? size : -1;
}

static toff_t seek_source(tamis_tiff *t, toff_t offset, int whence)
{
    if (whence == SEEK_SET)
        t->pos = offset;
    else if (whence == SEEK_CUR)
        t->pos += offset;
    else
        t->pos = t->source->size + offset;
    return t->pos;
}

static toff_t seek_proc(thandle_t handle, toff_t offset, int whence)
{
    tamis_tiff *t = handle;
    uint64_t end;
    if (t->source)
        return seek_source(t, offset, whence);
    if (!t->sink) /* every piece begins right behind the header */
        return MEMORY_START;
    if (whence == SEEK_END) {
        if (!tamis_priv_sink_seek_end(t->sink, &end))
            return (toff_t)-1;
        offset += end;
    } else if (whence == SEEK_CUR) {
        offset += t->sink->pos;
    }
    return tamis_priv_sink_seek(t->sink, offset) ? offset : (toff_t)-1;
}

static int close_proc(thandle_t handle)
{
    (void)handle; /* source and sink have their own owners */
    return 0;
}

static toff_t size_proc(thandle_t handle)
{
    tamis_tiff *t = handle;
    if (t->source)
        return t->source->size;
    if (!t->sink)
        return 0;
    uint64_t pos = t->sink->pos, end = 0;
    if (!tamis_priv_sink_seek_end(t->sink, &end) || !tamis_priv_sink_seek(t->sink, pos))
        return 0;
    return end;
}

static int map_proc(thandle_t handle, void **base, toff_t *size)
{
    (void)handle;
    (void)base;
    (void)size;
    return 0;
}

static void unmap_proc(thandle_t handle, void *base, toff_t size)
{
    (void)handle;
    (void)base;
    (void)size;
}

int tamis_priv_tiff_open(tamis_tiff *t, const char *mode, size_t max_piece)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return 0;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, t);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)max_piece);
    t->tif = TIFFClientOpenExt(t->name, mode, t, read_proc, write_proc, seek_proc, close_proc,
                               size_proc, map_proc, unmap_proc, options);
    TIFFOpenOptionsFree(options);
    return t->tif != NULL;
}

void tamis_priv_tiff_close(tamis_tiff *t)
{
    if (t->tif)
        TIFFClose(t->tif);
    t->tif = NULL;
}
