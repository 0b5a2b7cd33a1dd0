/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of Y4M and raw frames, as far as writers look into them. */
#ifndef TAMIS_IO_VIDEO_PLAIN_H
#define TAMIS_IO_VIDEO_PLAIN_H

#include "video_input.h"
#include "video_pool.h"

typedef struct tamis_plain_reader {
    tamis_video_input in;
    tamis_video_pool pool;
    int has_pool;
    tamis_y4m_header header;
    char line[TAMIS_Y4M_LINE_BYTES]; /* a Y4M file's header; empty for raw frames */
    int64_t next;                    /* number of the frame that comes next in the file */
    int64_t first, end;              /* those to be delivered; end is INT64_MAX for all */
    int ended;
    char damage[160];
} tamis_plain_reader;

extern const tamis_video_reader_ops tamis_priv_plain_video_reader_ops;

/* The state of such a reader; NULL for others and for NULL. */
const tamis_plain_reader *tamis_priv_plain_reader(const tamis_video_reader *reader);

#endif
