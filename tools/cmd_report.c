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

/* What tamis bench --json has printed, or bench/peers/run.py written. */
static int report_bench(tool *t, const char *name)
{
    json_error_t error;
    json_t *data = json_load_file(name, 0, &error);
    if (!data) {
        tool_error(t, "%s: %s", name, error.text);
        return TOOL_READ;
    }
    int code = TOOL_OK;
    if (!json_is_array(json_object_get(data, "results")) &&
        !json_is_array(json_object_get(data, "runs"))) {
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
