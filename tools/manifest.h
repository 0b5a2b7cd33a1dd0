/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a batch: JSON lines that say what became of each file, written as soon as that is
 * known, so that a run that was cut off can go on where it was. */
#ifndef TOOL_MANIFEST_H
#define TOOL_MANIFEST_H

#include "job.h"

typedef struct tool_manifest tool_manifest;

/* Opens the manifest that --manifest and --resume ask for; *out is NULL when they ask for none, and
 * with --dry_run. With --resume marks the files that are done, and those whose results are this
 * batch's own, leaves out those that are results themselves, and removes temporary files that a run
 * before has left. Returns an exit code, having said what is wrong. */
int tool_manifest_open(tool *t, const tamis_graph *graph, tool_files *files, tool_manifest **out);
/* *manifest becomes NULL. NULL in it is fine. */
void tool_manifest_close(tool_manifest **manifest);

const char *tool_manifest_path(const tool_manifest *manifest);

/* What a result depends on: the input as it is now, the chain, options and this version. Owned. */
char *tool_manifest_recipe(const tool_manifest *manifest, const tool_file *file);

/* Writes that a file is begun, and what became of it. Return 0, or a number of errno. Any thread
 * may call them. A NULL manifest takes everything. */
int tool_manifest_begin(tool_manifest *manifest, const tool_file *file);
int tool_manifest_end(tool_manifest *manifest, const tool_file *file, const tool_report *report);

/* What results depend on beside the input: the chain, and options by names and values. Owned. */
typedef struct tool_recipe {
    char *chain, *options;
} tool_recipe;

/* Reads the manifest at path, and those of other shares beside it, and marks files as above.
 * Returns how many are done. */
size_t tool_resume(tool *t, const tool_recipe *recipe, const char *path, tool_files *files);

/* The name of a hidden file beside another, ".NAME.ENDING". Owned. */
char *tool_path_beside(const char *name, const char *ending);

/* A name from the root on, so that it means the same from any folder. Owned. */
char *tool_absolute(const char *name);

#endif
