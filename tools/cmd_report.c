/* SPDX-License-Identifier: Apache-2.0 */
/* tamis report: two pictures, or what a bench has measured, as a page for browsers. */
#include "page.h"
#include "report.h"

static int print_json(tool *t, json_t *data)
{
    json_object_set_new(data, "output", tool_json_text(t->options.out));
    return tool_json_print(t, data);
}

int cmd_report(tool *t)
{
    const char *out = t->options.out;
    json_t *data = NULL;
    if (t->arg_count != 2)
        return tool_usage_error(t, "report takes two pictures; got %d", t->arg_count);
    if (!out)
        return tool_usage_error(t, "-o OUT is missing, such as report.html");
    tool_story story = {.before = t->args[0], .after = t->args[1], .original = t->options.original};
    int code = tool_page_check(t, out);
    if (!code)
        code = tool_report_write(t, out, &story, t->options.json ? &data : NULL);
    return code || !data ? code : print_json(t, data);
}
