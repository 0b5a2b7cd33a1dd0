/* SPDX-License-Identifier: Apache-2.0 */
/* A file or pipe of bare frames, read from front to back; large pieces of files by the context's
 * idle threads, since one thread copies slower than filters on a GPU take frames. */
#ifndef TAMIS_IO_VIDEO_INPUT_H
#define TAMIS_IO_VIDEO_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <tamis/threads.h>

#include "wait.h"

typedef struct tamis_video_input {
    tamis_waiting waiting; /* its context's threads help */
    int fd;                /* -1 for none */
    int error;             /* errno of a failed read (ECANCELED, too), 0 when data simply ended */
    int seekable;          /* a regular file */
    uint64_t size, pos;    /* of the file, where seekable; of the next byte */
    size_t at, used;       /* of what lies in buf */
    uint8_t buf[4096];
} tamis_video_input;

/* Opens path, "-" for standard input. Returns 0 with errno set when that fails. */
int tamis_priv_video_input_open(tamis_waiting waiting, tamis_video_input *in, const char *path);
void tamis_priv_video_input_close(tamis_video_input *in);
/* Reads up to size bytes; fewer at the end or after an error. */
size_t tamis_priv_video_input_read(tamis_video_input *in, void *data, size_t size);
/* Leaves out up to size bytes; returns how many there were. */
uint64_t tamis_priv_video_input_skip(tamis_video_input *in, uint64_t size);
/* Reads a line without its newline into buf. Returns its length, or -1 when the data ends before
 * the newline or the line does not fit. */
int tamis_priv_video_input_line(tamis_video_input *in, char *buf, size_t size);

#endif
