/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a batch on standard error: a bar on a terminal, or JSON lines. Workers tell their
 * share of a file, one thread shows all of it. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct tool;
struct tool_files;

/* What a worker is at. */
typedef struct tool_share {
    atomic_size_t file; /* number of the file, counted from 1; 0 = none */
    atomic_int_fast64_t done, total;
    atomic_int_fast64_t since; /* of a video, whose done are frames: when it began, in ms; else 0 */
} tool_share;

typedef struct tool_progress {
    struct tool *tool;
    int mode; /* TOOL_PROGRESS_BAR, _JSON or _NONE */
    const struct tool_files *files;
    tool_share *shares; /* one a worker */
    int workers;
    size_t finished, failed; /* files */
    size_t processed;        /* those of them that workers have had */
    double done, total;      /* weights: of files finished, of all */
    double started, shown;   /* when */
} tool_progress;

/* Settles the mode: a bar only when standard error is a terminal. */
void tool_progress_start(tool_progress *p, struct tool *t, const struct tool_files *files,
                         int workers);
void tool_progress_end(tool_progress *p);

/* A file is finished; processed: it took a worker's time. */
void tool_progress_count(tool_progress *p, size_t file, int failed, int processed);

/* Shows how far it is, if that was long ago. */
void tool_progress_show(tool_progress *p);
/* All is done: removes the bar, or prints the last line. */
void tool_progress_finish(tool_progress *p);

/* A worker begins with a file. */
void tool_share_begin(tool_share *share, size_t file);
/* A tamis_progress_fn; user is the tool_share. */
void tool_share_step(void *user, int64_t done, int64_t total);

/* What is counted from now on are frames of a video. */
void tool_share_frames(tool_share *share);

/* Removes the bar, if one is shown, so that a message can take its line. */
void tool_progress_hide(struct tool *t);

/* Seconds between two updates. */
#define TOOL_PROGRESS_INTERVAL 0.1

#endif
