/* SPDX-License-Identifier: Apache-2.0 */
/* From the names on the command line to pairs of an input and an output. */
#ifndef TOOL_INPUTS_H
#define TOOL_INPUTS_H

#include "tool.h"

typedef struct tool_file {
    char *in;
    char *out;
    uint64_t size;    /* of the input, 0 when that cannot be said */
    int64_t mtime_ns; /* when the input was changed last */
} tool_file;

typedef struct tool_files {
    tool_file *items;
    size_t count;
} tool_files;

/* Appends the inputs that the names stand for. "-" is standard input; a name that exists is taken
 * literally; a folder stands for the pictures in it; anything else with glob characters is a glob.
 * A name that is nothing of this is kept, so that reading it says what is wrong.
 * Returns an exit code, having said what is wrong. */
int tool_files_expand(tool *t, char **names, int count, tool_files *files);

/* Gives every file its output name from -o, --in_place and --format. Refuses what would write two
 * results to one name, or a result over another file's input.
 * Returns an exit code, having said what is wrong. */
int tool_files_assign(tool *t, tool_files *files);

void tool_files_free(tool_files *files);

/* 1 when both names are the same existing file. */
int tool_same_file(const char *a, const char *b);

/* Usual extension of a format name of libtamis-io, with the dot; "" for names it does not know. */
const char *tool_format_extension(const char *format);

#endif
