/* SPDX-License-Identifier: Apache-2.0 */
/* "@FILE" as a value: the numbers of a text or CSV file, one row a line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { MOST_BYTES = 1 << 22 };

static char *read_text(tool *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = tool_alloc(MOST_BYTES + 1);
    size_t size = f ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    int error = !f || ferror(f) ? errno : 0;
    if (f)
        fclose(f);
    if (!error && size > 0 && size <= MOST_BYTES && !memchr(text, '\0', size)) {
        text[size] = '\0';
        return text;
    }
    tool_error(t, "%s: cannot read numbers: %s", path,
               error               ? strerror(error)
               : size > MOST_BYTES ? "the file is too large"
               : size > 0          ? "it is no text"
                                   : "the file is empty");
    free(text);
    return NULL;
}

/* Lines become rows, in place: numbers with commas between, rows with semicolons. Comments, from #
 * on, and empty lines go. */
static void join_lines(char *text)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as spreadsheets write it */
    char *to = text, *first_line = text + (strncmp(text, mark, 3) == 0 ? 3 : 0);
    for (char *line = first_line, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "#\r")] = '\0';
        int first = 1;
        for (char *word = line; *(word += strspn(word, " \t,;"));) {
            size_t n = strcspn(word, " \t,;");
            if (to > text)
                *to++ = first ? ';' : ',';
            memmove(to, word, n);
            to += n;
            word += n;
            first = 0;
        }
    }
    *to = '\0';
}

/* Whether there is nothing but numbers, and products of them. Anything else could end the value in
 * a chain and go on as other parameters or filters. */
static int is_numbers(tool *t, const char *path, const char *text)
{
    const char *bad = text + strspn(text, "0123456789+-.eExX,;");
    if (*text && !*bad)
        return 1;
    while (bad > text && !strchr(",;", bad[-1]))
        bad--;
    size_t n = strcspn(bad, ",;");
    if (*text)
        tool_error(t, "%s: cannot read numbers: \"%.*s\" is no number", path,
                   (int)(n < 40 ? n : 40), bad);
    else
        tool_error(t, "%s: cannot read numbers: the file holds none", path);
    return 0;
}

char *tool_numbers_read(tool *t, const char *path)
{
    char *text = read_text(t, path);
    if (!text)
        return NULL;
    join_lines(text);
    if (is_numbers(t, path, text))
        return text;
    free(text);
    return NULL;
}

/* In a chain a file's name ends where the value does, at a colon or a comma. What a file holds is
 * not looked at for further names. */
char *tool_chain_expand(tool *t, const char *chain)
{
    char *text = tool_copy_text(chain);
    for (char *at = strstr(text, "=@"); at;) {
        size_t n = strcspn(at + 2, ":,");
        char *path = tool_print_text("%.*s", (int)n, at + 2);
        char *numbers = tool_numbers_read(t, path);
        free(path);
        if (!numbers) {
            free(text);
            return NULL;
        }
        size_t before = (size_t)(at + 1 - text), behind = before + strlen(numbers);
        char *grown = tool_print_text("%.*s%s%s", (int)before, text, numbers, at + 2 + n);
        free(numbers);
        free(text);
        text = grown;
        at = strstr(text + behind, "=@");
    }
    return text;
}
