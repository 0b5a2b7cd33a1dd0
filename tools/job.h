/* SPDX-License-Identifier: Apache-2.0 */
/* One chain over many files: what all workers share, and how one of them filters one file. */
#ifndef TOOL_JOB_H
#define TOOL_JOB_H

#include <pthread.h>

#include "gate.h"
#include "inputs.h"
#include "pinned.h"
#include "plans.h"
#include "progress.h"
#include "stack.h"

struct tool_manifest;
struct tool_group;
struct tool_index;
struct tool_report;
struct tool_worker;
struct json_t;

/* What the workers share. */
typedef struct tool_job {
    tool *tool;
    const tamis_graph *graph;
    const tool_files *files;
    tamis_image guide; /* when has_guide */
    int has_guide;
    tool_plans plans;
    tool_gate gate;
    tool_progress progress;
    struct tool_manifest *manifest; /* NULL = none is written */
    struct tool_index *index;       /* NULL = no report is asked for */
    pthread_mutex_t mutex;          /* guards what follows */
    char said[64];                  /* the device that -v has named last */
} tool_job;

/* Takes the report about a file, on the worker's thread. Returns 1 when it is of no use to go on
 * with others. */
typedef int (*tool_deliver_fn)(struct tool_worker *worker, const tool_file *file,
                               struct tool_report *report);

/* A thread that takes files. */
typedef struct tool_worker {
    tool tool; /* a copy, with an error text and held messages of its own */
    tool_job *job;
    tamis_graph *graph;         /* a copy, since chains are for one thread at a time */
    tamis_graph *chosen;        /* the same with what was chosen for the file, and its text; NULL */
    char *chain;                /* where nothing had to be */
    char device[64];            /* of the plan that ran last: "cpu", "cuda:0", "cuda:0,1" */
    tool_share *share;          /* how much of its file is done */
    size_t held;                /* bytes it is inside the gate with; 0 = it is outside */
    int alone;                  /* 1: nobody else is inside */
    tool_pinned source, result; /* for pictures on a device */
    struct tool_group *group;   /* pictures to be filtered together, once there are enough */
    tool_deliver_fn deliver;
    void *owner; /* whoever gets what is delivered */
} tool_worker;

typedef enum tool_outcome { TOOL_DONE, TOOL_SKIPPED, TOOL_PLANNED, TOOL_FAILED } tool_outcome;

/* What became of one file. */
typedef struct tool_report {
    tool_outcome outcome;
    int code;      /* exit code, TOOL_OK unless it failed */
    char *message; /* why it failed or was skipped; owned, may be NULL */
    char *said;    /* what is to be printed before; owned, may be NULL */
    char *stop;    /* why it is of no use to go on with other files; owned, mostly NULL */
    int no_room;   /* 1: it failed since the file system of its output is full */
    int pages;     /* written */
    int is_video;
    int64_t frames; /* of a video: written */
    char kind[96];  /* of a video's frames, in words; that of the result in out_kind */
    char out_kind[96];
    char *loss;           /* what of a video could not be read; owned, mostly NULL */
    tamis_format in, out; /* of the first page */
    int32_t in_w, in_h, out_w, out_h;
    double choose_s;                  /* for what the chain leaves to the picture, and reading it
                                         for that */
    double read_s, filter_s, write_s; /* with by_parts all at the same time */
    int by_parts;                     /* 1: a page was never in memory whole */
    int together;                     /* pictures that were filtered in one call with it; or 0 */
    char device[64];                  /* where it was filtered; empty when it was not */
    struct json_t *entry;             /* for the index of --report; owned, may be NULL */
    char *chain; /* with what was chosen for the file; owned, NULL where nothing had to be */
} tool_report;

/* Reads the guide, if there is one. Returns an exit code, having said what is wrong. End it in any
 * case. */
int tool_job_start(tool_job *job, tool *t, const tamis_graph *graph);
void tool_job_end(tool_job *job);

/* Returns an exit code, having said what is wrong. End it in any case. */
int tool_worker_start(tool_worker *worker, tool_job *job, tool_share *share);
void tool_worker_end(tool_worker *worker);

/* Filters one file into another; all pages. Says nothing: the report does, which is delivered, at
 * once or, for a picture that is filtered with others, by the end of tool_worker_rest(); the taker
 * frees it. */
void tool_worker_file(tool_worker *worker, const tool_file *file);
/* Finishes the pictures that wait for others. */
void tool_worker_rest(tool_worker *worker);
/* Whether it is time to: they are so many, or the first of them has waited for half a second. */
int tool_worker_is_due(const tool_worker *worker, size_t share);
void tool_report_free(tool_report *report);
/* As a new one, but for what has been said. */
void tool_report_reset(tool_report *report);

/* Filters all pages of an open input into an open output. The plan is that of the first page. */
tamis_status tool_worker_pages(tool_worker *worker, tamis_reader *reader,
                               const tamis_file_info *info, tamis_writer *writer,
                               tool_report *report);

/* Waits until so many bytes may be in memory, in place of those held. */
void tool_worker_hold(tool_worker *worker, size_t bytes);

/* Notes in the manifest that the file is begun, and makes the folders of its result. */
tamis_status tool_worker_begin(tool_worker *worker, const tool_file *file);

/* Waits until the page may be in memory whole, where less had been asked for. */
void tool_worker_room(tool_worker *worker, const tamis_plan *plan, const tamis_file_info *info);

/* The chain that the worker's file is filtered with. */
const tamis_graph *tool_worker_graph(const tool_worker *worker);

/* The plan for pictures of this kind, to be given back with tool_plans_put(). */
tamis_status tool_worker_plan(tool_worker *worker, tamis_format format, int32_t w, int32_t h,
                              tool_plan **out);

/* After a writer has refused the samples of a result: how the chain would give others, where a
 * filter of it chose them by itself; else empty. */
void tool_type_hint(tool_worker *worker, const tool_report *report, char *buf, size_t size);

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
typedef tamis_status (*tool_file_fn)(tool *t, const char *name, struct json_t *file);

/* A whole command: the files that its arguments name, one after the other, as text or, with --json,
 * as {"files": [...]}. Those that fail are named. Returns an exit code. */
int tool_for_files(tool *t, tool_file_fn do_file);

#endif
