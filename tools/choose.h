/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing what a chain leaves to the picture: h=auto and the like. */
#ifndef TOOL_CHOOSE_H
#define TOOL_CHOOSE_H

#include <tamis/io.h>

#include "tool.h"

/* A page that is read by parts, as the user of a tamis_part_source. */
typedef struct tool_page_source {
    tamis_reader *reader;
    int page;
} tool_page_source;
tamis_part_source tool_page_parts(tool_page_source *source, const tamis_file_info *info);

/* Whether that page would be looked at by parts. */
int tool_choose_by_parts(const tool *t, const tamis_file_info *info);

/* The chain with everything chosen for that page; the caller owns it. Large pages are read by parts
 * where the file allows it. guide may be NULL. */
tamis_status tool_choose(tool *t, const tamis_graph *graph, tamis_reader *reader, int page,
                         const tamis_file_info *info, const tamis_image *guide, tamis_graph **out);

#endif
