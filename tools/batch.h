/* SPDX-License-Identifier: Apache-2.0 */
/* A job's files, several at a time by threads, told about in order. */
#ifndef TOOL_BATCH_H
#define TOOL_BATCH_H

#include "job.h"

/* Is told what became of a file: on the thread that runs the batch, in the order of the files. */
typedef void (*tool_tell_fn)(void *user, const tool_file *file, const tool_report *report);

/* How many files are worked on at a time. */
int tool_batch_workers(const tool_job *job);

/* Filters all files of the job. Ends early when interrupted or where it is of no use to go on; then
 * *stopped says why, for the caller to free, else it is NULL. Returns an exit code, other than
 * TOOL_OK when nothing could be begun, which has been said. */
int tool_batch_run(tool_job *job, tool_tell_fn tell, void *user, char **stopped);

#endif
