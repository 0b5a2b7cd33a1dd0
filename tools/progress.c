/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "json.h"
#include "tool.h"

/* Seconds between two updates. */
#define INTERVAL 0.1

void tool_progress_start(tool_progress *p, tool *t, size_t files)
{
    *p = (tool_progress){.tool = t, .mode = t->options.progress, .files = files};
    if (p->mode == TOOL_PROGRESS_AUTO)
        p->mode = t->options.quiet ? TOOL_PROGRESS_NONE : TOOL_PROGRESS_BAR;
    if (p->mode == TOOL_PROGRESS_BAR && !isatty(STDERR_FILENO))
        p->mode = TOOL_PROGRESS_NONE;
    p->shown = tool_now();
}

void tool_progress_file(tool_progress *p, size_t file, const char *name)
{
    p->file = file;
    p->name = name;
}

static void show_bar(tool_progress *p, double share)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    double whole = ((double)p->file + share) / (double)p->files;
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < (int)(whole * WIDTH) ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f%%", bar, 100 * whole);
    if (p->files > 1)
        fprintf(stderr, " %zu/%zu", p->file + 1, p->files);
    fprintf(stderr, " %.40s\033[K", p->name);
    fflush(stderr);
    p->tool->bar_shown = 1;
}

static void show_json(tool_progress *p, int64_t done, int64_t total)
{
    json_t *o = json_object();
    json_object_set_new(o, "file", tool_json_text(p->name));
    json_object_set_new(o, "index", json_integer((json_int_t)p->file));
    json_object_set_new(o, "files", json_integer((json_int_t)p->files));
    json_object_set_new(o, "done", json_integer(done));
    json_object_set_new(o, "total", json_integer(total));
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(o);
}

void tool_progress_step(void *user, int64_t done, int64_t total)
{
    tool_progress *p = user;
    if (p->mode == TOOL_PROGRESS_NONE)
        return;
    double now = tool_now();
    int last = done == total && p->mode == TOOL_PROGRESS_JSON;
    if (now - p->shown < INTERVAL && !last)
        return;
    p->shown = now;
    if (p->mode == TOOL_PROGRESS_BAR)
        show_bar(p, total ? (double)done / (double)total : 1);
    else
        show_json(p, done, total);
}

void tool_progress_hide(tool *t)
{
    if (t->bar_shown)
        fputs("\r\033[K", stderr);
    t->bar_shown = 0;
}
