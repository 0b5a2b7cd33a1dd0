/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on standard error: a bar on a terminal, or JSON lines. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct tool;

typedef struct tool_progress {
    struct tool *tool;
    int mode; /* TOOL_PROGRESS_BAR, _JSON or _NONE */
    size_t file, files;
    const char *name; /* of the file at work */
    double shown;     /* when something was last shown */
} tool_progress;

/* Settles the mode: a bar only when standard error is a terminal. */
void tool_progress_start(tool_progress *p, struct tool *t, size_t files);

/* File number `file` (from 0) begins. */
void tool_progress_file(tool_progress *p, size_t file, const char *name);

/* A tamis_progress_fn; user is the tool_progress. */
void tool_progress_step(void *user, int64_t done, int64_t total);

/* Removes the bar, if one is shown, so that a message can take its line. */
void tool_progress_hide(struct tool *t);

#endif
