/* SPDX-License-Identifier: Apache-2.0 */
/* What a manifest says about the files of a batch. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "manifest.h"

/* A line, as far as it matters here. */
typedef struct entry {
    char *input, *output, *time;
    size_t line; /* its place among those read */
    uint64_t size;
    int64_t mtime_ns, output_size;
    int started, wrote; /* it has begun to write the result; has written it */
    int is_done;        /* with this chain, these options and this version */
} entry;

typedef struct entries {
    entry *items;
    size_t count, room, bad;
    size_t first; /* of the manifest that is read */
} entries;

/* ---- reading */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The name of that key, from its bytes where it has them; NULL when there is none. Owned. */
static char *read_name(const json_t *o, const char *key)
{
    char hex_key[32];
    snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    const char *text = json_string_value(json_object_get(o, key));
    const char *hex = json_string_value(json_object_get(o, hex_key));
    if (!hex)
        return text ? tool_copy_text(text) : NULL;
    char *name = tool_alloc(strlen(hex) / 2 + 1);
    for (size_t i = 0; hex[2 * i] && hex[2 * i + 1]; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        name[i] = (char)(high < 0 || low < 0 ? '?' : high * 16 + low);
    }
    return name;
}

static int is_text(const json_t *o, const char *key, const char *want)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && strcmp(text, want) == 0;
}

static int64_t number(const json_t *o, const char *key, int64_t missing)
{
    const json_t *value = json_object_get(o, key);
    return json_is_integer(value) ? json_integer_value(value) : missing;
}

/* 0 when the line says nothing about a file. */
static int read_entry(const json_t *o, const tool_recipe *recipe, entry *e)
{
    const char *time = json_string_value(json_object_get(o, "time"));
    *e = (entry){.input = read_name(o, "input"),
                 .output = read_name(o, "output"),
                 .time = tool_copy_text(time ? time : ""),
                 .size = (uint64_t)number(o, "size", 0),
                 .mtime_ns = number(o, "mtime_ns", 0),
                 .output_size = number(o, "output_size", -1)};
    int done = is_text(o, "outcome", "done");
    e->wrote = done;
    e->started = is_text(o, "outcome", "started");
    e->is_done = done && is_text(o, "chain", recipe->chain) &&
                 is_text(o, "options", recipe->options) && is_text(o, "version", tamis_version());
    return e->input && e->output;
}

static void free_entry(entry *e)
{
    free(e->input);
    free(e->output);
    free(e->time);
}

/* Clocks are set back, but later lines are newer: within a manifest time does not fall. */
static void keep_order(const entries *list, entry *e)
{
    const entry *before = list->count > list->first ? &list->items[list->count - 1] : NULL;
    if (!before || strcmp(before->time, e->time) <= 0)
        return;
    free(e->time);
    e->time = tool_copy_text(before->time);
}

static void read_line(entries *list, const char *text, const tool_recipe *recipe)
{
    entry e;
    json_t *o = json_loads(text, 0, NULL);
    if (!o) {
        list->bad++;
        return;
    }
    if (!read_entry(o, recipe, &e)) {
        free_entry(&e);
        list->bad++;
    } else {
        if (list->count == list->room) {
            list->room = list->room ? 2 * list->room : 256;
            list->items = tool_grow(list->items, list->room * sizeof(*list->items));
        }
        keep_order(list, &e);
        e.line = list->count;
        list->items[list->count++] = e;
    }
    json_decref(o);
}

/* A line that was cut off, or that somebody has spoiled, counts as not there. */
static void read_manifest(tool *t, const char *path, const tool_recipe *recipe, entries *list)
{
    char *line = NULL;
    size_t size = 0, bad = list->bad;
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    list->first = list->count;
    while (getline(&line, &size, file) > 0) {
        if (line[0] != '\n')
            read_line(list, line, recipe);
    }
    if (list->bad > bad)
        tool_detail(t, "%s: %zu lines that cannot be read are left out", path, list->bad - bad);
    free(line);
    fclose(file);
}

/* FILE.jsonl, and FILE.I-of-N.jsonl of all shares. */
static void read_all(tool *t, const char *path, const tool_recipe *recipe, entries *list)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    char *pattern = tool_alloc(2 * strlen(path) + 32), *to = pattern;
    for (const char *c = path; *c; c++) {
        if (c == dot)
            to += sprintf(to, ".[1-9]*-of-*");
        if (strchr("\\*?[", *c))
            *to++ = '\\';
        *to++ = *c;
    }
    if (!*dot)
        strcpy(to, ".[1-9]*-of-*");
    glob_t found;
    read_manifest(t, path, recipe, list);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            read_manifest(t, found.gl_pathv[i], recipe, list);
        globfree(&found);
    }
    free(pattern);
}

/* ---- looking up */

static int by_names(const entry *a, const entry *b)
{
    int order = strcmp(a->output, b->output);
    return order ? order : strcmp(a->input, b->input);
}

/* By result and input, the newest last. */
static int by_age(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = by_names(x, y);
    if (!order)
        order = strcmp(x->time, y->time);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The place behind the entries that come before key, or before it and equal to it. */
static size_t bound(const entries *list, const entry *key,
                    int (*order)(const entry *, const entry *), int behind)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&list->items[middle], key) < behind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_output(const entry *a, const entry *b)
{
    return strcmp(a->output, b->output);
}

/* Whether a name is that of a result: it was written, or was being written when a run was cut off,
 * since when nothing has been said of it. */
static int is_result(const entries *list, char *name)
{
    entry key = {.output = name};
    size_t i = bound(list, &key, by_output, 0);
    for (; i < list->count && strcmp(list->items[i].output, name) == 0; i++) {
        const entry *e = &list->items[i];
        int newest = i + 1 == list->count || by_names(e, e + 1) != 0;
        if (e->wrote || (e->started && newest))
            return 1;
    }
    return 0;
}

static int is_done(const entry *e, const tool_file *file)
{
    struct stat st;
    return e->is_done && file->known && e->size == file->size && e->mtime_ns == file->mtime_ns &&
           stat(file->out, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == e->output_size;
}

static void look_up(const entries *list, tool_file *file)
{
    char *in = tool_absolute(file->in), *out = tool_absolute(file->out);
    entry key = {.input = in, .output = out};
    size_t end = bound(list, &key, by_names, 1);
    file->ours = is_result(list, out);
    file->done = end > 0 && by_names(&list->items[end - 1], &key) == 0 &&
                 is_done(&list->items[end - 1], file);
    file->is_result = strcmp(in, out) != 0 && is_result(list, in);
    free(in);
    free(out);
}

/* ---- all */

static void leave_out_results(tool *t, tool_files *files)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        tool_file *file = &files->items[i];
        if (!file->is_result) {
            files->items[kept++] = *file;
            continue;
        }
        tool_note(t, "%s: left out, it is a result by the manifest", file->in);
        tool_file_free(file);
    }
    files->count = kept;
}

static void sweep(tool *t, const tool_files *files)
{
    char *last = NULL;
    for (size_t i = 0; i < files->count; i++) {
        const char *out = files->items[i].out, *slash = strrchr(out, '/');
        char *folder =
            slash ? tool_print_text("%.*s/", (int)(slash - out), out) : tool_copy_text("./");
        if (!last || strcmp(last, folder) != 0) {
            int count = tamis_folder_sweep(folder);
            if (count)
                tool_detail(t, "%s: %d unfinished files of a run before removed", folder, count);
        }
        free(last);
        last = folder;
    }
    free(last);
}

size_t tool_resume(tool *t, const tool_recipe *recipe, const char *path, tool_files *files)
{
    entries list = {0};
    size_t done = 0;
    read_all(t, path, recipe, &list);
    if (list.count)
        qsort(list.items, list.count, sizeof(*list.items), by_age);
    for (size_t i = 0; i < files->count; i++)
        look_up(&list, &files->items[i]);
    leave_out_results(t, files);
    for (size_t i = 0; i < files->count; i++)
        done += (size_t)files->items[i].done;
    if (!t->options.dry_run)
        sweep(t, files);
    for (size_t i = 0; i < list.count; i++)
        free_entry(&list.items[i]);
    free(list.items);
    return done;
}
