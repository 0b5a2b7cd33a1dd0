/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static void append(tool_files *files, const char *name)
{
    files->items = tool_grow(files->items, (files->count + 1) * sizeof(*files->items));
    files->items[files->count++] = (tool_file){.in = tool_copy_text(name)};
}

void tool_files_free(tool_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].in);
        free(files->items[i].out);
    }
    free(files->items);
    *files = (tool_files){0};
}

/* A folder's files count as pictures by their extension; what they are is found by content. */
static int looks_like_picture(const char *name)
{
    static const char *const extensions[] = {"png", "jpg", "jpeg", "jpe", "tif", "tiff", "pgm",
                                             "ppm", "pbm", "pnm",  "pam", "pfm", "npy",  NULL};
    const char *dot = strrchr(name, '.');
    if (name[0] == '.' || !dot)
        return 0;
    for (int i = 0; extensions[i]; i++) {
        if (strcasecmp(dot + 1, extensions[i]) == 0)
            return 1;
    }
    return 0;
}

static int is_folder(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

static int append_folder(tool *t, const char *folder, tool_files *files)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        tool_error(t, "%s: cannot read the folder", folder);
        return TOOL_READ;
    }
    size_t before = files->count, length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        char *name = tool_print_text("%s%s%s", folder, slash, entries[i]->d_name);
        if (looks_like_picture(entries[i]->d_name) && !is_folder(name))
            append(files, name);
        else if (entries[i]->d_name[0] != '.')
            tool_detail(t, "%s: left out, not a picture by its name", name);
        free(name);
        free(entries[i]);
    }
    free(entries);
    if (files->count > before)
        return TOOL_OK;
    tool_error(t, "%s: the folder holds no pictures", folder);
    return TOOL_READ;
}

static int append_glob(tool *t, const char *pattern, tool_files *files)
{
    glob_t found;
    int bad = glob(pattern, 0, NULL, &found);
    if (bad == GLOB_NOMATCH)
        append(files, pattern);
    else if (bad)
        return tool_usage_error(t, "%s: cannot expand the pattern", pattern);
    int code = TOOL_OK;
    for (size_t i = 0; !bad && code == TOOL_OK && i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i];
        if (is_folder(name))
            code = append_folder(t, name, files);
        else
            append(files, name);
    }
    if (!bad)
        globfree(&found);
    return code;
}

int tool_files_expand(tool *t, char **names, int count, tool_files *files)
{
    for (int i = 0; i < count; i++) {
        struct stat st;
        int code = TOOL_OK;
        if (strcmp(names[i], "-") == 0 || (stat(names[i], &st) == 0 && !S_ISDIR(st.st_mode)))
            append(files, names[i]);
        else if (is_folder(names[i]))
            code = append_folder(t, names[i], files);
        else if (strpbrk(names[i], "*?["))
            code = append_glob(t, names[i], files);
        else
            append(files, names[i]);
        if (code)
            return code;
    }
    return files->count ? TOOL_OK : tool_usage_error(t, "no input; see: tamis help %s", t->name);
}
