/* SPDX-License-Identifier: Apache-2.0 */
/* What --report makes of a run: a report of one file, an index of several. */
#ifndef TOOL_INDEX_H
#define TOOL_INDEX_H

#include "job.h"
#include "json.h"

typedef struct tool_index tool_index;

/* Opens what --report asks for; *out is NULL when it does not, and with --dry_run. Refuses what
 * could not be reported on. Returns an exit code, having said what is wrong. */
int tool_index_open(tool *t, const tamis_graph *graph, const tool_files *files, tool_index **out);
/* *index becomes NULL. NULL in it is fine. */
void tool_index_close(tool_index **index);

/* A line of the index, with pictures of what was read and written; for files of a batch, by any
 * thread. What cannot be shown is left out. NULL when there is no index, or one file only. */
json_t *tool_index_entry(tool_index *index, tool *t, const tool_file *file,
                         const tool_report *report);
/* Adds what became of a file; takes the entry, which may be NULL. One thread only. */
void tool_index_add(tool_index *index, const tool_file *file, const tool_report *report);

/* Writes the page. Returns an exit code, having said what is wrong. */
int tool_index_write(tool_index *index);

#endif
