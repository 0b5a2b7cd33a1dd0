/* SPDX-License-Identifier: Apache-2.0 */
/* Small pictures for a device, kept until there are many of a format and size: one call filters
 * them all, and what a launch or a copy costs by itself is shared. A worker keeps pictures of its
 * own, while others filter and write theirs, so that decoding, copying, filtering and encoding
 * overlap.
 *
 * Nothing waits with pictures in its hands: before a worker waits for memory it finishes them.
 * Where a call for many fails each picture is filtered by itself, so that failures are those of one
 * file. */
#ifndef TOOL_GROUP_H
#define TOOL_GROUP_H

#include "job.h"

typedef struct tool_group tool_group;

/* most: bytes of pictures and their results that one group may take. */
tool_group *tool_group_new(size_t most);
/* Frees it; what has not been finished is given up. */
void tool_group_free(tool_worker *worker);

/* Whether the file, whose picture and result take so many bytes, is to be filtered with others. */
int tool_group_wants(const tool_worker *worker, const tool_file *file, const tool_plan *plan,
                     const tamis_file_info *info, size_t bytes);

/* Whether there is no place for one more. */
int tool_group_is_full(const tool_worker *worker, const tool_plan *plan, size_t bytes);

/* Reads the picture and keeps it, with its plan, its report and the room that the worker holds;
 * *kept becomes 1 when that went well. */
tamis_status tool_group_add(tool_worker *worker, const tool_file *file, tool_plan *plan,
                            tamis_reader *reader, const tamis_file_info *info, tool_report *report,
                            int *kept);

/* Filters and writes what is kept, and delivers the reports; the worker itself holds no room, for
 * it may have to wait until nobody does. After an interruption, and where it is of no use to go on,
 * it is as if the files had not been begun. */
void tool_group_finish(tool_worker *worker);

#endif
