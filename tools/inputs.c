/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

tool_file *tool_files_append(tool_files *files, const char *name)
{
    if (files->count == files->room) {
        files->room = files->room ? 2 * files->room : 16;
        files->items = tool_grow(files->items, files->room * sizeof(*files->items));
    }
    tool_file *file = &files->items[files->count++];
    *file = (tool_file){.in = tool_copy_text(name)};
    return file;
}

void tool_file_free(tool_file *file)
{
    free(file->in);
    free(file->out);
    free(file->sub);
}

void tool_files_free(tool_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        tool_file_free(&files->items[i]);
    for (size_t i = 0; i < files->unread_count; i++) {
        free(files->unread[i].folder);
        free(files->unread[i].why);
    }
    free(files->items);
    free(files->unread);
    *files = (tool_files){0};
}

static int append_glob(tool *t, const char *pattern, tool_files *files)
{
    glob_t found;
    int bad = glob(pattern, 0, NULL, &found);
    if (bad == GLOB_NOMATCH)
        tool_files_append(files, pattern);
    else if (bad)
        return tool_usage_error(t, "%s: cannot expand the pattern", pattern);
    for (size_t i = 0; !bad && i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i];
        if (tool_is_folder(name))
            tool_files_append_folder(t, name, files);
        else
            tool_files_append(files, name)->found = 1;
    }
    if (!bad)
        globfree(&found);
    return TOOL_OK;
}

int tool_files_expand(tool *t, char **names, int count, tool_files *files)
{
    for (int i = 0; i < count; i++) {
        struct stat st;
        int code = TOOL_OK;
        if (strcmp(names[i], "-") == 0 || (stat(names[i], &st) == 0 && !S_ISDIR(st.st_mode)))
            tool_files_append(files, names[i]);
        else if (tool_is_folder(names[i]))
            tool_files_append_folder(t, names[i], files);
        else if (strpbrk(names[i], "*?["))
            code = append_glob(t, names[i], files);
        else
            tool_files_append(files, names[i]);
        if (code)
            return code;
    }
    if (files->count)
        return TOOL_OK;
    return files->unread_count ? TOOL_READ
                               : tool_usage_error(t, "no input; see: tamis help %s", t->name);
}
