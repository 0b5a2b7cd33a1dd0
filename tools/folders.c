/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures in folders, and folders for results. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "inputs.h"
#include "json.h"

static int is_one_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++) {
        if (strcasecmp(word, list[i]) == 0)
            return 1;
    }
    return 0;
}

static int has_vips(void)
{
    char text[256];
    return strncmp(tamis_vips_libraries(text, sizeof(text)), "libvips", 7) == 0;
}

/* A folder's files count as pictures and videos by their extension; what they are is found by
 * content. */
static int looks_like_picture(const char *name)
{
    static const char *const extensions[] = {
        "png",  "jpg", "jpeg", "jpe",  "tif", "tiff", "pgm", "ppm",  "pbm", "pnm",  "pam",  "pfm",
        "npy",  "y4m", "mkv",  "webm", "mp4", "m4v",  "mov", "avi",  "ts",  "m2ts", "mts",  "mpg",
        "mpeg", "wmv", "flv",  "ogv",  "mxf", "ivf",  "264", "h264", "265", "h265", "hevc", NULL};
    /* These where libvips is there to read them. */
    static const char *const others[] = {"webp", "avif", "heic", "heif", "jxl", "jp2", "j2k",
                                         "gif",  "exr",  "hdr",  "fits", "fit", "bmp", NULL};
    const char *dot = strrchr(name, '.');
    return dot && (is_one_of(dot + 1, extensions) || (is_one_of(dot + 1, others) && has_vips()));
}

int tool_is_folder(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Reading a pipe or a device might never end. */
static int is_irregular(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && !S_ISREG(st.st_mode);
}

static int is_link(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Why the walk does not go into a folder that it has met, or NULL. */
static const char *why_not_into(const tool *t, const char *name)
{
    if (!t->options.recursive)
        return "a folder; --recursive goes into it";
    if (is_link(name))
        return "a link to a folder";
    if (t->options.out && tool_same_file(name, t->options.out))
        return "the folder for the results";
    return NULL;
}

static void note_unread(tool *t, tool_files *files, const char *folder, const char *why)
{
    tool_error(t, "%s: %s", folder, why);
    files->unread = tool_grow(files->unread, (files->unread_count + 1) * sizeof(*files->unread));
    files->unread[files->unread_count++] =
        (tool_unread){tool_copy_text(folder), tool_copy_text(why)};
}

static void walk(tool *t, const char *folder, const char *sub, tool_files *files);

/* One entry of a folder; sub is where that folder lies below the one that was given. */
static void take_entry(tool *t, const char *path, const char *base, const char *sub,
                       tool_files *files)
{
    int folder = tool_is_folder(path);
    const char *why = NULL;
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return;
    if (base[0] == '.')
        why = "hidden";
    else if (folder)
        why = why_not_into(t, path);
    else if (!looks_like_picture(base))
        why = "neither a picture nor a video by its name";
    else if (is_irregular(path))
        why = "no regular file";
    if (why) {
        tool_detail(t, "%s: left out, %s", path, why);
    } else if (folder) {
        char *below = tool_print_text("%s%s/", sub, base);
        walk(t, path, below, files);
        free(below);
    } else {
        tool_file *file = tool_files_append(files, path);
        file->sub = tool_copy_text(sub);
        file->found = 1;
    }
}

static void walk(tool *t, const char *folder, const char *sub, tool_files *files)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        char *why = tool_print_text("cannot read the folder: %s", strerror(errno));
        note_unread(t, files, folder, why);
        free(why);
        return;
    }
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        char *path = tool_print_text("%s%s%s", folder, slash, entries[i]->d_name);
        take_entry(t, path, entries[i]->d_name, sub, files);
        free(path);
        free(entries[i]);
    }
    free(entries);
}

void tool_files_append_folder(tool *t, const char *folder, tool_files *files)
{
    size_t before = files->count, unread = files->unread_count;
    walk(t, folder, "", files);
    if (files->count == before && files->unread_count == unread)
        note_unread(t, files, folder,
                    t->options.recursive
                        ? "the folder holds no pictures"
                        : "the folder holds no pictures; --recursive looks into those below it");
}

json_t *tool_files_unread_json(const tool_files *files)
{
    json_t *list = json_array();
    for (size_t i = 0; i < files->unread_count; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "folder", tool_json_text(files->unread[i].folder));
        json_object_set_new(o, "error", tool_json_text(files->unread[i].why));
        json_array_append_new(list, o);
    }
    return list;
}

tamis_status tool_make_folders(tamis_ctx *ctx, const tool_file *file)
{
    size_t base = strlen(file->out) - strlen(strrchr(file->out, '/'));
    char *path = tool_copy_text(file->out);
    tamis_status status = TAMIS_OK;
    for (size_t i = base + 1 - strlen(file->sub); !status && i <= base; i++) {
        if (path[i] != '/')
            continue;
        path[i] = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = tamis_ctx_fail(ctx, TAMIS_ERR_WRITE, "%s: cannot make the folder: %s", path,
                                    strerror(errno));
        path[i] = '/';
    }
    free(path);
    return status;
}
