/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind tamis/video.h: readers and writers of our own, and those of a module. */
#ifndef TAMIS_IO_VIDEO_OPS_H
#define TAMIS_IO_VIDEO_OPS_H

#include <tamis/video.h>

#include "writer.h"

/* Changes whenever something in this header or in tamis/video.h does: a module of another version
 * is not used. */
#define TAMIS_VIDEO_ABI 4u

/* Bytes of a file that probes see. */
#define TAMIS_VIDEO_PROBE_BYTES 512

typedef struct tamis_video_reader_ops {
    tamis_status (*next)(tamis_video_reader *reader, tamis_video_frame *frame);
    const char *(*damage)(const tamis_video_reader *reader); /* NULL = there is never any */
    void (*close)(tamis_video_reader *reader); /* frees state; also after a failed open */
} tamis_video_reader_ops;

struct tamis_video_reader {
    const tamis_video_reader_ops *ops;
    tamis_ctx *ctx;
    char *name; /* for messages: the path, or "standard input" */
    tamis_video_info info;
    int stop;    /* 1: tamis_video_reader_cancel() was called; atomic */
    void *state; /* of the ops; that of readers of our own is known by the ops' address */
};

typedef struct tamis_video_writer_ops {
    tamis_status (*frame)(tamis_video_writer *writer, const tamis_video_frame *like,
                          tamis_video_frame *frame);
    /* The frame is released by whoever called. */
    tamis_status (*write)(tamis_video_writer *writer, tamis_video_frame *frame);
    /* NULL = nothing is kept. */
    int64_t (*kept)(const tamis_video_writer *writer);
    tamis_status (*skip)(tamis_video_writer *writer, const tamis_video_frame *like);
    const char *(*dropped)(const tamis_video_writer *writer); /* NULL = nothing */
    const char *(*detail)(const tamis_video_writer *writer);
    /* Everything into the file, which is then closed and named by the caller. NULL = nothing left
     * to do. */
    tamis_status (*finish)(tamis_video_writer *writer);
    void (*close)(tamis_video_writer *writer); /* frees state; also after a failed open */
} tamis_video_writer_ops;

struct tamis_video_writer {
    const tamis_video_writer_ops *ops;
    tamis_ctx *ctx;
    char *name; /* for messages: the path, or "standard output" */
    tamis_video_format format;
    tamis_video_reader *source; /* NULL = none */
    /* The place: the file beside its final name, or a device or pipe. file.sink.fd is open for
     * reading and writing; what is written to it directly does not mix with the sink's buffer.
     * file.extension is the name's, in lower case. */
    tamis_writer file;
    int seekable; /* 1: the place can be gone back to */
    void *state;  /* of the ops */
    int failed, finished;
};

/* What every frame's owner begins with. */
typedef struct tamis_video_owner {
    void (*release)(tamis_video_frame *frame); /* the frame is cleared by the caller */
} tamis_video_owner;

/* What a module offers. Its functions set ops before anything else that can fail; texts go to
 * tamis_ctx_fail() and begin with the name and a colon. */
typedef struct tamis_video_module {
    unsigned abi;
    tamis_status (*reader_open)(tamis_video_reader *reader, const char *path,
                                const tamis_video_read_options *options);
    /* 1 when a container has that name or extension (without a dot). */
    int (*holds)(const char *container);
    /* options->format is never NULL: it is the extension when the caller gave none. */
    tamis_status (*writer_open)(tamis_video_writer *writer,
                                const tamis_video_write_options *options);
    const char *(*libraries)(char *buf, size_t size);
    /* As tamis_video_device(). */
    int (*device)(int index, char *buf, size_t size);
} tamis_video_module;

/* The one symbol of a module: gives its table, in static storage. */
#define TAMIS_VIDEO_ENTRY "tamis_video_module_entry"
typedef const tamis_video_module *(*tamis_video_entry)(void);

/* The module, opened on the first call and kept open; NULL with why, at most size bytes, when there
 * is none. TAMIS_VIDEO_MODULE names its file; else it lies beside this library, in its folder
 * tamis, or where the system looks. */
const tamis_video_module *tamis_priv_video_module(char *why, size_t size);

/* Y4M and raw frames. options as in the public calls. */
tamis_status tamis_priv_plain_video_reader_open(tamis_video_reader *reader, const char *path,
                                                const tamis_video_read_options *options);
tamis_status tamis_priv_plain_video_writer_open(tamis_video_writer *writer,
                                                const tamis_video_write_options *options);

#endif
