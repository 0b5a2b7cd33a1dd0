/* SPDX-License-Identifier: Apache-2.0 */
/* One chain over many files: read, plan, run, write. Plans and buffers are kept from file to file.
 */
#ifndef TOOL_JOB_H
#define TOOL_JOB_H

#include "inputs.h"
#include "progress.h"

enum { TOOL_PLANS = 8 };

/* A plan and what it was made for. */
typedef struct tool_plan {
    tamis_plan *plan;
    tamis_format format;
    int32_t w, h;
} tool_plan;

typedef struct tool_job {
    tool *tool;
    const tamis_graph *graph;
    tool_plan plans[TOOL_PLANS]; /* the oldest is replaced first */
    int next_plan;
    char device[64];   /* of the plan that ran last: "cpu", "cuda:0", "cuda:0,1" */
    char said[64];     /* the one that -v has named last */
    tamis_image guide; /* when has_guide */
    int has_guide;
    tamis_image result; /* reused while format and size stay */
    tool_progress progress;
} tool_job;

typedef enum tool_outcome { TOOL_DONE, TOOL_SKIPPED, TOOL_PLANNED, TOOL_FAILED } tool_outcome;

/* What became of one file. */
typedef struct tool_report {
    tool_outcome outcome;
    int code; /* exit code, TOOL_OK unless it failed */
    char message[1536];
    int pages;            /* written */
    tamis_format in, out; /* of the first page */
    int32_t in_w, in_h, out_w, out_h;
    double read_s, filter_s, write_s;
    char device[64]; /* where it was filtered; empty when it was not */
} tool_report;

/* Reads the guide, if there is one. Returns an exit code, having said what is wrong. */
int tool_job_start(tool_job *job, tool *t, const tamis_graph *graph);
void tool_job_end(tool_job *job);

/* Filters one file into another; all pages. Says nothing: the report does. */
tool_report tool_job_file(tool_job *job, const tool_file *file);

/* After a writer has refused the samples of a result: how the chain would give others, where a
 * filter of it chose them by itself; else empty. */
void tool_type_hint(const tool_job *job, const tool_report *report, char *buf, size_t size);

/* The options that go to the reader and the writer. */
tamis_read_options tool_read_options(const tool *t);
tamis_write_options tool_write_options(const tool *t);
/* Checks those for the writer before any work. Returns an exit code, having said what is wrong. */
int tool_write_options_check(tool *t);

/* Whether an output may be written: 0 yes, 1 it exists and is to be left out, else an exit code
 * with the reason in message. */
enum { TOOL_SKIP = 1 };
int tool_output_check(const tool *t, const tool_file *file, char *message, size_t size);

/* Format name for an output: --format, else NULL where the name has an extension to go by, else
 * that of the input. */
const char *tool_output_format(const tool *t, const char *out, const char *in_format);

/* Looks at one file, printing what it finds, or adding it to the JSON object when that is not
 * NULL. */
struct json_t;
typedef tamis_status (*tool_file_fn)(tool *t, const char *name, struct json_t *file);

/* A whole command: the files that its arguments name, one after the other, as text or, with --json,
 * as {"files": [...]}. Those that fail are named. Returns an exit code. */
int tool_for_files(tool *t, tool_file_fn do_file);

#endif
