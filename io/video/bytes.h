/* SPDX-License-Identifier: Apache-2.0 */
/* FFmpeg's AVIO on a file descriptor. */
#ifndef TAMIS_VIDEO_BYTES_H
#define TAMIS_VIDEO_BYTES_H

#include "av.h"
#include "wait.h"

typedef struct tamis_av_bytes {
    AVIOContext *io;
    int fd, owned;
    int is_file;           /* nothing keeps readers waiting */
    tamis_waiting waiting; /* for reading */
    int error; /* errno of the first failure, also ECANCELED; later calls fail at once */
} tamis_av_bytes;

/* Opens path, "-" for standard input. Returns 0, or an errno. */
int tamis_priv_av_bytes_read(tamis_waiting waiting, tamis_av_bytes *bytes, const char *path);
/* For writing to a descriptor that stays the caller's. Returns 0, or an errno. */
int tamis_priv_av_bytes_write(tamis_av_bytes *bytes, int fd, int seekable);
/* For writing to nowhere. */
int tamis_priv_av_bytes_null(tamis_av_bytes *bytes);
/* What is still buffered is lost. */
void tamis_priv_av_bytes_close(tamis_av_bytes *bytes);

#endif
