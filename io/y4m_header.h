/* SPDX-License-Identifier: Apache-2.0 */
/* The one line that a YUV4MPEG2 file begins with. */
#ifndef TAMIS_IO_Y4M_HEADER_H
#define TAMIS_IO_Y4M_HEADER_H

#include "video_pixels.h"

#define TAMIS_Y4M_MAGIC      "YUV4MPEG2"
#define TAMIS_Y4M_LINE_BYTES 1024 /* the longest header line or frame line, with its newline */

typedef struct tamis_y4m_header {
    tamis_video_format format;
    int rate_num, rate_den;     /* 0/0 = unknown */
    int aspect_num, aspect_den; /* 0/0 = unknown */
    char interlace;             /* p, t, b, m or ? */
    char sampling[32];          /* what stood behind C, "" for nothing */
} tamis_y4m_header;

/* Reads a line, whose newline is already cut off. On failure returns 0 with what is wrong in
 * problem. */
int tamis_priv_y4m_parse(const char *line, tamis_y4m_header *out, char *problem, size_t size);

/* Writes a line with its newline. sampling is chosen from the format where header->sampling is
 * empty; extra is put behind all, with a blank before it, unless NULL. Returns 0 when Y4M has no
 * such frames, or the line would be too long. */
int tamis_priv_y4m_print(const tamis_y4m_header *header, const char *extra, char *buf, size_t size);

/* Tags of a line that tamis does not interpret (X...), but for the range and the sampling, with
 * blanks between them. */
void tamis_priv_y4m_extra(const char *line, char *buf, size_t size);

#endif
