/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that look at one file after the other and write none. */
#include "job.h"
#include "json.h"

static int report_failure(tool *t, tamis_status status, json_t *file)
{
    if (file)
        json_object_set_new(file, "error", tool_json_text(t->error));
    return tool_fail(t, status);
}

static int do_files(tool *t, const tool_files *files, tool_file_fn do_file)
{
    json_t *list = json_array();
    size_t failed = 0;
    int code = TOOL_OK;
    for (size_t i = 0; i < files->count && !tool_canceled(); i++) {
        json_t *file = t->options.json ? json_object() : NULL;
        if (file)
            json_object_set_new(file, "file", tool_json_text(files->items[i].in));
        tamis_status status = do_file(t, files->items[i].in, file);
        if (status) {
            failed++;
            code = report_failure(t, status, file);
        }
        if (file)
            json_array_append_new(list, file);
    }
    if (files->unread_count || (failed && files->count > 1))
        code = TOOL_SOME_FAILED;
    if (!t->options.json) {
        json_decref(list);
        return code;
    }
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "unread", tool_files_unread_json(files));
    json_object_set_new(o, "files", list);
    int bad = tool_json_print(t, o);
    return code ? code : bad;
}

int tool_for_files(tool *t, tool_file_fn do_file)
{
    tool_files files = {0};
    int code = tool_context(t);
    if (!code)
        code = tool_files_expand(t, t->args, t->arg_count, &files);
    if (!code)
        code = do_files(t, &files, do_file);
    tool_files_free(&files);
    return code;
}
