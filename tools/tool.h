/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the command share: exit codes, the session, messages.
 *
 * A tool is one run of the command: its options, its arguments and, once asked for, its context.
 * Data and JSON go to standard output, everything else to standard error. */
#ifndef TOOL_H
#define TOOL_H

#include <pthread.h>

#include <tamis/io.h>
#include <tamis/tamis.h>

#include "options.h"

/* Exit codes, documented in the man page. */
enum {
    TOOL_OK = 0,
    TOOL_SOME_FAILED = 1,
    TOOL_USAGE = 2,
    TOOL_READ = 3,
    TOOL_WRITE = 4,
    TOOL_UNSUPPORTED = 5,
    TOOL_DEVICE = 6,
    TOOL_THRESHOLD = 7,
    TOOL_MEMORY = 8,
    TOOL_INTERRUPTED = 130,
    TOOL_CLOSED_PIPE = 141 /* ends as SIGPIPE ends a process: 128 and its number, says a shell */
};

typedef struct tool tool;

/* A subcommand. */
typedef struct tool_command {
    const char *name;
    const char *brief;
    const char *usage; /* what follows the name and the options */
    int max_args;      /* how many arguments it takes besides options */
    unsigned groups;   /* TOOL_GROUP_*: the options it takes */
    int (*run)(tool *t);
} tool_command;

/* A filter parameter given on the command line, kept until there is a context to check it with. */
typedef struct tool_setting {
    const tamis_param *param;
    const char *text;
} tool_setting;

struct tool {
    const char *name; /* of the command, or of the filter */
    const tool_command *command;
    const tamis_filter *filter; /* when the command is a filter's name */
    tool_options options;
    char **args; /* what is left of argv after the options */
    int arg_count;
    tool_setting *settings;
    int setting_count;
    tamis_ctx *ctx;               /* from tool_context() */
    struct tool_presets *presets; /* the user's own; see presets.h */
    pthread_key_t worker;         /* a thread's own copy of this struct; NULL = this one */
    char error[1024];             /* newest error text of the library */
    char *held;                   /* messages go here instead of standard error, unless NULL */
    int colors;                   /* 1 when standard error may be colored */
    int bar_shown; /* 1 while a progress bar stands on the last line of standard error */
};

/* Commands in the order in which help lists them; ended by a NULL name. */
extern const tool_command tool_commands[];
/* What the name of a filter stands for. */
extern const tool_command tool_filter_command;
const tool_command *tool_command_find(const char *name);
/* Says that no command or filter has that name, and which is near. Returns TOOL_USAGE. */
int tool_unknown_name(tool *t, const char *word);

/* Makes the context on the first call. Returns an exit code, having said what is wrong. */
int tool_context(tool *t);

/* A context of its own with another number of threads, for a device as --device names them; the
 * caller frees it. */
int tool_context_make(tool *t, int threads, const char *device, tamis_ctx **out);

/* Where the command is to filter: "auto", "cpu", "cuda", "cuda:I", "cuda:I,J", "cuda:all". */
const char *tool_device_wish(const tool *t);

/* The exit code that stands for a library status. */
int tool_exit_code(tamis_status status);

/* Prints the library's newest error, and returns the exit code of status. */
int tool_fail(tool *t, tamis_status status);

/* Messages on standard error: errors always, notes unless -q, details with -v. */
void tool_error(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_warn(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_note(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_detail(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As tool_error(), and returns TOOL_USAGE. */
int tool_usage_error(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit code for a failure to write to standard output: TOOL_CLOSED_PIPE, and not a word, when
 * its reader has had enough (tamis help | head -1), else TOOL_WRITE with the message. */
int tool_output_failed(tool *t, const char *message);

/* The flag that SIGINT and SIGTERM set, for the library, and whether one has come. */
const volatile int *tool_cancel_flag(void);
int tool_canceled(void);
/* While a command has written nothing, the first signal may end it: then nothing has to look at the
 * flag, and what waits for its input does not matter. */
void tool_end_at_once(int on);

/* Seconds of a clock that only moves forward. */
double tool_now(void);

/* Memory that cannot be had ends the command. */
void *tool_alloc(size_t size);
void *tool_grow(void *ptr, size_t size);
char *tool_copy_text(const char *text);
char *tool_print_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All of a small text file, allocated. On failure says that what it holds (such as "numbers")
 * cannot be read, and returns NULL. */
char *tool_text_read(tool *t, const char *path, const char *what);

/* Collects names and finds the one nearest to a misspelt word: start with an empty struct, offer
 * every candidate, then read best, which is NULL when nothing is near. */
typedef struct tool_nearest {
    const char *best;
    int distance;
} tool_nearest;
void tool_nearest_offer(tool_nearest *nearest, const char *word, const char *candidate);

/* "u8x3" and the like; 2 and 4 channels mean that the last is straight alpha. Returns 0 when text
 * is no type. */
int tool_format_parse(const char *text, tamis_format *out);
/* Writes a format as tool_format_parse() reads it; returns buf. */
const char *tool_format_name(tamis_format format, char *buf, size_t size);

/* The filter of that name, or NULL with a message that suggests the nearest name. */
const tamis_filter *tool_filter_find(tool *t, const char *name);

/* Reads a chain with the library. On failure says why and returns its exit code. */
int tool_graph_parse(tool *t, const char *text, tamis_graph **out);

/* The numbers of a text or CSV file as a value, "1,2;3,4", and a chain in which every "=@FILE" is
 * replaced by them; allocated. NULL when a file cannot be read, which has been said. */
char *tool_numbers_read(tool *t, const char *path);
char *tool_chain_expand(tool *t, const char *chain);
/* The chain as text, owned by the caller. */
char *tool_graph_text(const tamis_graph *graph);

/* The subcommands, each in a file of its own. */
int cmd_filter(tool *t);
int cmd_run(tool *t);
int cmd_estimate(tool *t);
int cmd_explain(tool *t);
int cmd_list(tool *t);
int cmd_presets(tool *t);
int cmd_help(tool *t);
int cmd_info(tool *t);
int cmd_compare(tool *t);
int cmd_report(tool *t);
int cmd_serve(tool *t);
int cmd_noise(tool *t);
int cmd_verify(tool *t);
int cmd_bench(tool *t);
int cmd_doctor(tool *t);
int cmd_docs(tool *t);
int cmd_man(tool *t);
int cmd_completion(tool *t);
int cmd_version(tool *t);

/* Help of one command or filter on standard output. */
int tool_help_print(tool *t, const tool_command *command, const tamis_filter *filter);

#endif
