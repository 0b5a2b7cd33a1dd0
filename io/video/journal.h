/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded packets that outlive the process: a file beside the output, from which a run that was cut
 * off goes on. Packets come in segments, each of an encoder of its own; what is behind the last
 * whole segment is cut off when the file is opened again. */
#ifndef TAMIS_VIDEO_JOURNAL_H
#define TAMIS_VIDEO_JOURNAL_H

#include "av.h"

typedef struct tamis_av_journal {
    int fd;         /* -1 = there is none */
    char *path;     /* owned */
    int64_t kept;   /* frames in whole segments that were there */
    int64_t whole;  /* those, and what has been added */
    int64_t end;    /* of the segment that is replayed next, in frames */
    int64_t at;     /* where its packets begin, in bytes */
    int64_t size;   /* of what was there, in bytes */
    uint32_t check; /* of the segment that is written */
    int locked;     /* no other run is at it */
    int error;      /* errno of the first failure */
} tamis_av_journal;

/* A check sum of more bytes; data may be NULL where size is 0. */
uint32_t tamis_priv_av_journal_check(uint32_t check, const void *data, size_t size);
/* Opens it or makes it; one that another text begins is emptied. Returns 0, or an errno. */
int tamis_priv_av_journal_open(tamis_av_journal *j, const char *path, const char *text);
/* Adds a packet. Failures are kept in error. */
void tamis_priv_av_journal_put(tamis_av_journal *j, const AVPacket *packet);
/* Ends a segment: so many frames are whole, from the first one on, also when the machine fails. */
void tamis_priv_av_journal_end(tamis_av_journal *j, int64_t frames);
/* The next packet of the segment that is replayed: 1, or 0 at its end, after which the next segment
 * begins; -1 when it cannot be read. */
int tamis_priv_av_journal_next(tamis_av_journal *j, AVPacket *packet);
/* With remove, the output is whole and the file goes; so does one of no use. */
void tamis_priv_av_journal_close(tamis_av_journal *j, int remove);

#endif
