/* SPDX-License-Identifier: Apache-2.0 */
/* tamis report: two pictures, or what a bench has measured, as a page for browsers. */
#include <string.h>

#include "inputs.h"
#include "page.h"
#include "report.h"

static int print_json(tool *t, json_t *data)
{
    json_object_set_new(data, "output", tool_json_text(t->options.out));
    return tool_json_print(t, data);
}

static int is_text(const json_t *o, const char *key)
{
    return json_is_string(json_object_get(o, key));
}

/* A time of a filter, as tamis bench takes it. */
static int is_time(const json_t *o, const char *key)
{
    return json_is_number(json_object_get(json_object_get(o, key), "best_seconds"));
}

/* Of the same kind as the first result, with the two times that are compared, or three or four
 * beside published ones. */
static int is_result(const json_t *o, const json_t *first)
{
    int gpu = json_object_get(first, "on_device") != NULL;
    int published = json_object_get(first, "published") != NULL;
    int ok = !gpu || (is_time(o, "on_device") && is_time(o, "with_copies"));
    if (!gpu || published)
        ok = ok && is_time(o, "one_thread") && is_time(o, "all_threads");
    return ok && (published ? is_text(o, "what") && json_is_object(json_object_get(o, "published"))
                            : is_text(o, "chain") && json_is_number(json_object_get(o, "speedup")));
}

/* A row without peers is left out of the page. */
static int is_row(const json_t *o)
{
    const char *key;
    json_t *peer, *peers = json_object_get(o, "peers");
    if (!peers)
        return json_is_object(o);
    int ok = json_is_object(peers) && is_text(o, "row") &&
             json_is_number(json_object_get(json_object_get(o, "tamis"), "min"));
    json_object_foreach(peers, key, peer)
    {
        ok = ok && json_is_number(json_object_get(peer, "min")) &&
             json_is_number(json_object_get(peer, "ratio"));
    }
    return ok;
}

static int is_run(const json_t *o)
{
    const json_t *rows = json_object_get(o, "rows");
    int ok = json_is_number(json_object_get(o, "threads")) && json_array_size(rows) > 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        ok = ok && is_row(json_array_get(rows, i));
    return ok;
}

/* What tamis bench --json has printed, or bench/peers/run.py written: all that the page draws. */
static int is_bench(const json_t *data)
{
    const json_t *runs = json_object_get(data, "runs");
    const json_t *list = runs ? runs : json_object_get(data, "results");
    const json_t *first = json_array_get(list, 0);
    int ok = json_array_size(list) > 0; /* 0 for what is no array */
    for (size_t i = 0; i < json_array_size(list); i++)
        ok = ok &&
             (runs ? is_run(json_array_get(list, i)) : is_result(json_array_get(list, i), first));
    return ok && (runs || json_object_get(first, "published") ||
                  json_is_object(json_object_get(data, "picture")));
}

static int report_bench(tool *t, const char *name)
{
    json_error_t error;
    json_t *data = json_load_file(name, 0, &error);
    if (!data) {
        tool_error(t, "%s: %s", name, error.text);
        return TOOL_READ;
    }
    int code = TOOL_OK;
    if (!is_bench(data)) {
        tool_error(t, "%s: no results of a bench, as of: tamis bench --json", name);
        code = TOOL_UNSUPPORTED;
    }
    if (!code)
        code = tool_page_write(t, t->options.out, "bench.html", "tamis bench", data);
    json_decref(data);
    return code;
}

static int is_json(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

int cmd_report(tool *t)
{
    const char *out = t->options.out;
    json_t *data = NULL;
    int bench = t->arg_count == 1 && is_json(t->args[0]);
    if (t->arg_count != 2 && !bench)
        return tool_usage_error(t, "report takes two pictures, or the JSON of a bench; got %d",
                                t->arg_count);
    if (!out)
        return tool_usage_error(t, "-o OUT is missing, such as report.html");
    tool_end_at_once(1); /* until the page is written */
    tool_story story = {.before = t->args[0], .after = t->args[1], .original = t->options.original};
    int code = tool_window_check(t, t->options.levels);
    for (int i = 0; i < t->arg_count && !code; i++)
        code = tool_check_apart(t, "-o", out, t->args[i]);
    if (!code)
        code = tool_check_apart_options(t, "-o", out);
    if (!code)
        code = tool_page_check(t, out);
    if (!code && bench)
        return report_bench(t, t->args[0]);
    if (!code)
        code = tool_report_write(t, out, &story, t->options.json ? &data : NULL);
    return code || !data ? code : print_json(t, data);
}
