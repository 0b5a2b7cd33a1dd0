/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "inputs.h"
#include "json.h"

/* Before that much of the time has passed nothing is said about the rest of it. */
#define SECONDS_TO_TELL 0.5

/* Files count by their size, for that is what their work grows with. */
static double weight(const tool_file *file)
{
    return (double)file->size + 1024;
}

void tool_progress_start(tool_progress *p, tool *t, const tool_files *files, int workers)
{
    *p = (tool_progress){.tool = t, .mode = t->options.progress, .files = files};
    if (p->mode == TOOL_PROGRESS_AUTO)
        p->mode = t->options.quiet ? TOOL_PROGRESS_NONE : TOOL_PROGRESS_BAR;
    if (p->mode == TOOL_PROGRESS_BAR && !isatty(STDERR_FILENO))
        p->mode = TOOL_PROGRESS_NONE;
    p->shares = tool_alloc((size_t)workers * sizeof(*p->shares));
    p->workers = workers;
    for (int i = 0; i < workers; i++)
        tool_share_begin(&p->shares[i], 0);
    for (size_t i = 0; i < files->count; i++)
        p->total += weight(&files->items[i]);
    p->started = p->shown = tool_now();
}

void tool_progress_end(tool_progress *p)
{
    free(p->shares);
    p->shares = NULL;
}

void tool_share_begin(tool_share *share, size_t file)
{
    atomic_store(&share->done, 0);
    atomic_store(&share->total, 0);
    atomic_store(&share->since, 0);
    atomic_store(&share->file, file);
}

void tool_share_step(void *user, int64_t done, int64_t total)
{
    tool_share *share = user;
    atomic_store(&share->total, total);
    atomic_store(&share->done, done);
}

void tool_share_frames(tool_share *share)
{
    atomic_store(&share->since, (int64_t)(1e3 * tool_now()) + 1);
}

void tool_progress_count(tool_progress *p, size_t file, int failed, int processed)
{
    double w = weight(&p->files->items[file]);
    p->finished++;
    p->failed += failed != 0;
    p->processed += processed != 0;
    if (processed)
        p->done += w;
    else
        p->total -= w; /* no work, so it says nothing about the time that the others take */
}

/* Where a batch is. */
typedef struct state {
    size_t file;                /* the first one that is worked on, from 0; SIZE_MAX = none */
    int64_t done, total;        /* of that */
    int is_video;               /* these are frames */
    double frame_rate;          /* of it; 0 = not known yet */
    double whole;               /* 0 to 1 */
    double seconds, rate, left; /* left < 0: not known yet */
} state;

static state look(tool_progress *p)
{
    state s = {.file = SIZE_MAX, .seconds = tool_now() - p->started, .left = -1};
    double done = p->done;
    for (int i = 0; i < p->workers; i++) {
        size_t file = atomic_load(&p->shares[i].file);
        int64_t part = atomic_load(&p->shares[i].done), all = atomic_load(&p->shares[i].total);
        if (file == 0)
            continue;
        if (all > 0 && part <= all)
            done += weight(&p->files->items[file - 1]) * (double)part / (double)all;
        if (file - 1 >= s.file)
            continue;
        s.file = file - 1;
        s.done = part;
        s.total = all;
        int64_t since = atomic_load(&p->shares[i].since);
        double seconds = tool_now() - 1e-3 * (double)since;
        s.is_video = since != 0;
        s.frame_rate = since && seconds > 0 ? (double)part / seconds : 0;
    }
    if (p->finished == p->files->count)
        s.done = s.total = 1;
    s.whole = p->total > 0 ? done / p->total : 1;
    s.whole = s.whole > 1 || p->finished == p->files->count ? 1 : s.whole;
    s.rate = s.seconds > 0 ? (double)p->processed / s.seconds : 0;
    if (s.whole > 0 && s.seconds >= SECONDS_TO_TELL)
        s.left = s.seconds * (1 - s.whole) / s.whole;
    return s;
}

static char *add(char *line, char *more)
{
    char *longer = tool_print_text("%s%s", line, more);
    free(line);
    free(more);
    return longer;
}

/* Columns of the terminal; a line that is longer could not be taken back. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Cuts a line to fit, between characters of UTF-8, and shows what would move the cursor as "?". */
static void fit(char *line, size_t room)
{
    size_t length = strlen(line);
    if (length > room) {
        length = room;
        while (length > 0 && ((unsigned char)line[length] & 0xC0) == 0x80)
            length--;
        line[length] = '\0';
    }
    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    }
}

/* What does not fit is cut off: the name stands last. */
static void show_bar(tool_progress *p, const state *s)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < (int)(s->whole * WIDTH) ? '#' : '.';
    bar[WIDTH] = '\0';
    char *line = tool_print_text("[%s] %3.0f%%", bar, 100 * s->whole);
    if (p->files->count > 1)
        line =
            add(line, tool_print_text(" %zu/%zu, %.3g/s", p->finished, p->files->count, s->rate));
    if (s->is_video && s->total > 0)
        line = add(line, tool_print_text(" %lld/%lld frames, %.3g/s", (long long)s->done,
                                         (long long)s->total, s->frame_rate));
    else if (s->is_video)
        line =
            add(line, tool_print_text(" %lld frames, %.3g/s", (long long)s->done, s->frame_rate));
    if (s->left >= 0)
        line =
            add(line, tool_print_text(", %ld:%02ld left", (long)s->left / 60, (long)s->left % 60));
    if (s->file != SIZE_MAX)
        line = add(line, tool_print_text(" %s", p->files->items[s->file].in));
    fit(line, (size_t)columns() - 1);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    free(line);
    p->tool->bar_shown = 1;
}

static void show_json(tool_progress *p, const state *s)
{
    json_t *o = json_object();
    size_t last = p->files->count - 1;
    size_t file = s->file != SIZE_MAX ? s->file : p->finished < last ? p->finished : last;
    json_object_set_new(o, "file", tool_json_text(p->files->items[file].in));
    json_object_set_new(o, "index", json_integer((json_int_t)file));
    json_object_set_new(o, "done", json_integer(s->done));
    json_object_set_new(o, "total", json_integer(s->total));
    json_object_set_new(o, "files", json_integer((json_int_t)p->files->count));
    json_object_set_new(o, "finished", json_integer((json_int_t)p->finished));
    json_object_set_new(o, "failed", json_integer((json_int_t)p->failed));
    json_object_set_new(o, "share", json_real(s->whole));
    json_object_set_new(o, "seconds", json_real(s->seconds));
    if (s->is_video)
        json_object_set_new(o, "frames_per_second", json_real(s->frame_rate));
    json_object_set_new(o, "files_per_second", json_real(s->rate));
    json_object_set_new(o, "seconds_left", s->left < 0 ? json_null() : json_real(s->left));
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(o);
}

static void show(tool_progress *p)
{
    state s = look(p);
    p->shown = tool_now();
    if (p->mode == TOOL_PROGRESS_BAR)
        show_bar(p, &s);
    else
        show_json(p, &s);
}

void tool_progress_show(tool_progress *p)
{
    if (p->mode != TOOL_PROGRESS_NONE && tool_now() - p->shown >= TOOL_PROGRESS_INTERVAL)
        show(p);
}

void tool_progress_finish(tool_progress *p)
{
    tool_progress_hide(p->tool);
    if (p->mode == TOOL_PROGRESS_JSON)
        show(p);
}

void tool_progress_hide(tool *t)
{
    if (t->bar_shown)
        fputs("\r\033[K", stderr);
    t->bar_shown = 0;
}
