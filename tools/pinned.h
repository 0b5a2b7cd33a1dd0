/* SPDX-License-Identifier: Apache-2.0 */
/* A picture in memory that devices copy from and to directly. Such memory is dear to get, so a
 * worker keeps it from one file to the next of the same kind. */
#ifndef TOOL_PINNED_H
#define TOOL_PINNED_H

#include <tamis/tamis.h>

struct tool_worker;

typedef struct tool_pinned {
    tamis_image image;   /* data[0] NULL: none is kept */
    tamis_format format; /* what was asked for last */
    int32_t w, h;
    size_t held; /* bytes that the gate counts while no file does */
} tool_pinned;

/* A reference to the picture, from the second time on that one of its kind is asked for; 0 when
 * there is none, and ordinary memory is to be taken. */
int tool_pinned_take(struct tool_worker *worker, tool_pinned *pinned, tamis_format format,
                     int32_t w, int32_t h, tamis_image *out);

/* A file is done: the picture is kept unless others wait for memory. */
void tool_pinned_rest(struct tool_worker *worker, tool_pinned *pinned);

void tool_pinned_drop(struct tool_worker *worker, tool_pinned *pinned);

#endif
