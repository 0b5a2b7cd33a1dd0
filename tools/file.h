/* SPDX-License-Identifier: Apache-2.0 */
/* The end of one file's way, for those that are filtered with others: its result is opened, written
 * and closed, and told about. */
#ifndef TOOL_FILE_H
#define TOOL_FILE_H

#include "job.h"

/* Whether the file can be read and written once more: nothing of it is lost by the first time. */
int tool_file_repeats(const tool_file *file);

/* Opens the result, of an input of that kind, and notes that it begins. */
tamis_status tool_file_open(tool_worker *worker, const tool_file *file, const tamis_file_info *info,
                            tamis_writer **writer);
/* Gives it its name if all is well so far. */
tamis_status tool_file_close(tamis_status status, tamis_writer **writer, tool_report *report);

/* Tries once more, alone, when memory was lacking that others may have had; then delivers the
 * report. Returns 1 when it is of no use to go on with other files. */
int tool_file_end(tool_worker *worker, const tool_file *file, tamis_status status,
                  tool_report *report);

#endif
