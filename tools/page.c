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

int tool_page_check(tool *t, const char *path)
{
    struct stat st;
    if (!t->options.overwrite && stat(path, &st) == 0) {
        tool_error(t, "%s: exists; give --overwrite", path);
        return TOOL_WRITE;
    }
    const char *slash = strrchr(path, '/');
    char *folder = slash ? tool_copy_text(path) : tool_copy_text(".");
    if (slash)
        folder[slash - path + 1] = '\0';
    int bad = access(folder, W_OK | X_OK) != 0;
    if (bad)
        tool_error(t, "%s: cannot write into its folder: %s", path, strerror(errno));
    free(folder);
    return bad ? TOOL_WRITE : TOOL_OK;
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
    char *temporary = NULL;
    tool_end_at_once(0);
    int code = tool_page_check(t, path);
    if (code)
        return code;
    FILE *file = create_beside(path, &temporary);
    int bad = !file;
    if (file) {
        put_page(file, name, title, data);
        bad = ferror(file);
        bad |= fclose(file);
    }
    if (bad || rename(temporary, path) != 0) {
        tool_error(t, "%s: cannot write: %s", path, strerror(errno));
        unlink(temporary);
        code = TOOL_WRITE;
    }
    free(temporary);
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
