/* SPDX-License-Identifier: Apache-2.0 */
/* Large pages: read, filtered and written part by part, so that no picture is in memory whole. */
#ifndef TOOL_PARTS_H
#define TOOL_PARTS_H

#include "job.h"

/* Whether a page of that kind is to go by parts, where its output allows it: when it is large, or
 * when --max_memory is too small for the whole. */
int tool_parts_wanted(const tool *t, const tamis_plan *plan, const tamis_file_info *info);

/* Memory that a page takes when it goes by parts. */
size_t tool_parts_bytes(const tool *t);

/* The same with what the plan holds, for people. */
size_t tool_parts_memory(const tool *t, const tamis_plan *plan);

/* Filters a page from reader into writer. *taken becomes 0, and nothing has happened, when the
 * output wants pages whole. */
tamis_status tool_parts_page(tool_worker *worker, const tamis_plan *plan, tamis_reader *reader,
                             int page, const tamis_file_info *info, tamis_writer *writer,
                             tool_report *report, int *taken);

#endif
