/* SPDX-License-Identifier: Apache-2.0 */
/* From the names on the command line to pairs of an input and an output. */
#ifndef TOOL_INPUTS_H
#define TOOL_INPUTS_H

#include "tool.h"

typedef struct tool_file {
    char *in;
    char *out;
    char *sub;        /* where it lies below the folder that was given, such as "a/b/"; NULL when it
                         was not found in one */
    int found;        /* 1: in a folder or by a glob; 0: it was named */
    int done;         /* 1: a run before has done it */
    int ours;         /* 1: a run before has written, or begun to write, the output */
    int is_result;    /* 1: a run before has written it */
    int over_found;   /* 1: the output was found as an input, and left out for its name */
    int known;        /* 1: what follows can be said */
    uint64_t size;    /* of the input */
    int64_t mtime_ns; /* when the input was changed last */
} tool_file;

/* A folder that gave no inputs, which has been said. */
typedef struct tool_unread {
    char *folder, *why;
} tool_unread;

typedef struct tool_files {
    tool_file *items;
    size_t count, room;
    tool_unread *unread;
    size_t unread_count;
} tool_files;

/* Appends the inputs that the names stand for. "-" is standard input; a name that exists is taken
 * literally; a folder stands for the pictures in it, with --recursive also for those in folders
 * below; anything else with glob characters is a glob.
 * A name that is nothing of this is kept, so that reading it says what is wrong. Folders that
 * cannot be read, or hold no pictures, are said and noted in files->unread, and the rest goes on,
 * if there is any. Returns an exit code, having said what is wrong. */
int tool_files_expand(tool *t, char **names, int count, tool_files *files);

/* Adds a file; the pointer holds until the next one. */
tool_file *tool_files_append(tool_files *files, const char *name);
/* Adds the pictures of a folder, sorted, or notes that there are none. */
void tool_files_append_folder(tool *t, const char *folder, tool_files *files);

/* The folders that gave no inputs: [{"folder": "a/b", "error": "cannot read the folder: ..."}]. */
struct json_t *tool_files_unread_json(const tool_files *files);

/* Gives every file its output name from -o, --in_place and --format. Refuses what would write two
 * results to one name, or a result over another file's input; but what was found, not named, and is
 * the result of another is left out, and said.
 * Returns an exit code, having said what is wrong. */
int tool_files_assign(tool *t, tool_files *files);

/* Keeps this machine's share, of --shard. */
void tool_files_shard(tool *t, tool_files *files);
/* Reads "i/n", with 1 <= i <= n; 0 when it is something else. */
int tool_shard_parse(const char *text, int *index, int *count);

/* Makes the folders between the folder for results and the file's result. */
tamis_status tool_make_folders(tamis_ctx *ctx, const tool_file *file);

void tool_files_free(tool_files *files);
void tool_file_free(tool_file *file);

int tool_is_folder(const char *name);

/* 1 when both names are the same existing file. */
int tool_same_file(const char *a, const char *b);

/* 1 also when both are names of the same file that is yet to come, in a folder that exists. */
int tool_same_place(const char *a, const char *b);

/* A usage error where what an option writes ("--report r.html") would replace a file that is read;
 * read may be NULL. */
int tool_check_apart(tool *t, const char *option, const char *written, const char *read);
/* The same for what options name: the guide, the clean original, presets. */
int tool_check_apart_options(tool *t, const char *option, const char *written);
/* And for inputs and results as well. */
int tool_check_apart_files(tool *t, const char *option, const char *written,
                           const tool_files *files);

/* Usual extension of a format name of libtamis-io, with the dot; "" for names it does not know. */
const char *tool_format_extension(const char *format);

#endif
