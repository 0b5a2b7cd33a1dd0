/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <errno.h>
#include <page_texts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *find_text(const char *name, size_t length)
{
    for (const page_text *p = page_texts; p->name; p++) {
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0)
            return (const char *)p->text;
    }
    return "";
}

static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*text, to);
        }
    }
}

/* Inside a script element no "<" may stand, which begins the end of it; in JSON there are some in
 * texts only. */
static int put_json(const char *buffer, size_t size, void *user)
{
    FILE *to = user;
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] == '<')
            fputs("\\u003c", to);
        else
            fputc(buffer[i], to);
    }
    return 0;
}

static void expand(FILE *to, const char *text, const char *title, const json_t *data)
{
    for (const char *open; (open = strstr(text, "@@")) != NULL;) {
        const char *name = open + 2, *close = strstr(name, "@@");
        size_t length = close ? (size_t)(close - name) : strlen(name);
        fwrite(text, 1, (size_t)(open - text), to);
        if (length == 5 && strncmp(name, "title", 5) == 0)
            put_text(to, title);
        else if (length == 4 && strncmp(name, "data", 4) == 0)
            json_dump_callback(data, put_json, to, JSON_COMPACT | JSON_REAL_PRECISION(12));
        else
            expand(to, find_text(name, length), title, data);
        text = name + length + (close ? 2 : 0);
    }
    fputs(text, to);
}

static void put_page(FILE *to, const char *name, const char *title, const json_t *data)
{
    expand(to, find_text(name, strlen(name)), title, data);
}

/* Standard output, a device or a pipe, into which a page is written as it comes. */
static int is_stream(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static FILE *open_stream(const char *path)
{
    if (strcmp(path, "-") != 0)
        return fopen(path, "wb");
    int fd = dup(STDOUT_FILENO);
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

/* The name to replace: a link to a file stays a link. To be freed. */
static char *name_behind(const char *path)
{
    char *name = realpath(path, NULL);
    return name ? name : tool_copy_text(path);
}

static int check_folder(tool *t, const char *path)
{
    char *folder = name_behind(path), *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
    int bad = access(slash ? folder : ".", W_OK | X_OK) != 0;
    if (bad)
        tool_error(t, "%s: cannot write into its folder: %s", path, strerror(errno));
    free(folder);
    return bad ? TOOL_WRITE : TOOL_OK;
}

int tool_page_check(tool *t, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 && t->options.json)
        return tool_usage_error(t, "a report to standard output has no place beside --json");
    if (is_stream(path))
        return TOOL_OK;
    if (stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || !t->options.overwrite)) {
        tool_error(t, "%s: %s", path,
                   S_ISDIR(st.st_mode) ? "is a folder" : "exists; give --overwrite");
        return TOOL_WRITE;
    }
    return check_folder(t, path);
}

/* A new file like path with a random ending, open for writing. mkstemp() makes it private; the page
 * gets the permissions that any new file would have. */
static FILE *create_beside(const char *path, char **name)
{
    *name = tool_print_text("%s.XXXXXX", path);
    int fd = mkstemp(*name);
    if (fd < 0)
        return NULL;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fdopen(fd, "wb");
}

int tool_page_write(tool *t, const char *path, const char *name, const char *title,
                    const json_t *data)
{
    int stream = is_stream(path);
    if (!stream)
        tool_end_at_once(0);
    int code = tool_page_check(t, path);
    if (code)
        return code;
    char *temporary = NULL, *place = name_behind(path);
    FILE *file = stream ? open_stream(path) : create_beside(place, &temporary);
    int bad = !file;
    if (file) {
        put_page(file, name, title, data);
        bad = ferror(file);
        bad |= fclose(file);
    }
    if (bad || (temporary && rename(temporary, place) != 0)) {
        tool_error(t, "%s: cannot write: %s", path, strerror(errno));
        if (temporary)
            unlink(temporary);
        code = TOOL_WRITE;
    }
    free(temporary);
    free(place);
    return code;
}

char *tool_page_text(const char *name, const char *title, const json_t *data, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (file)
        put_page(file, name, title, data);
    if (!file || fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Four digits for three bytes; '=' where there are none left. */
static void encode(const unsigned char *bytes, size_t size, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < size; at += 3) {
        size_t n = size - at < 3 ? size - at : 3;
        unsigned bits = (unsigned)bytes[at] << 16;
        bits |= n > 1 ? (unsigned)bytes[at + 1] << 8 : 0;
        bits |= n > 2 ? bytes[at + 2] : 0;
        for (size_t i = 0; i < 4; i++)
            *out++ = i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    *out = '\0';
}

json_t *tool_json_url(const char *mime, const void *data, size_t size)
{
    size_t head = strlen(mime) + strlen("data:;base64,");
    char *text = tool_alloc(head + (size + 2) / 3 * 4 + 1);
    sprintf(text, "data:%s;base64,", mime);
    encode(data, size, text + head);
    json_t *json = json_string_nocheck(text);
    free(text);
    return json;
}
