/* SPDX-License-Identifier: Apache-2.0 */
/* "@FILE" as a value: the numbers of a text or CSV file, one row a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* What has been read of a file. */
typedef struct number_file {
    tool *t;
    const char *path;
    char *to;             /* where the next number goes: the text is joined in place */
    int line, first_line; /* the first that holds numbers; 0: none does so far */
    int in_line, in_first;
    int is_product; /* ROWxCOLUMN */
    long count;
} number_file;

/* The length of the decimal number that text begins with, 0 when it begins with none. */
static size_t number_length(const char *text)
{
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '+' || *text == '-');
    size_t whole = strspn(at, digits), part = 0;
    at += whole;
    if (*at == '.') {
        part = strspn(++at, digits);
        at += part;
    }
    if (whole + part == 0)
        return 0;
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1 + (at[1] == '+' || at[1] == '-');
        if (strspn(power, digits) == 0)
            return 0;
        at = power + strspn(power, digits);
    }
    return (size_t)(at - text);
}

/* A word of n characters: a number, or the end of a row, x and the first number of a column.
 * Anything else could end the value in a chain and go on as other parameters or filters. */
static int check_word(number_file *f, const char *word, size_t n)
{
    size_t used = number_length(word);
    f->in_line++;
    f->count++;
    if (used > 0 && used < n && word[used] == 'x' && !f->is_product) {
        size_t more = number_length(word + used + 1);
        f->is_product = more > 0;
        f->count++;
        used = more > 0 ? used + 1 + more : 0;
    }
    if (used == n)
        return 1;
    tool_error(f->t, "%s: cannot read numbers: line %d: \"%.*s\" is no number", f->path, f->line,
               (int)(n < 40 ? n : 40), word);
    return 0;
}

/* Rows are equally long; a product has its row and its column in one line. */
static int check_line(number_file *f)
{
    if (f->in_line == 0)
        return 1;
    if (f->first_line == 0) {
        f->first_line = f->line;
        f->in_first = f->in_line;
        return 1;
    }
    if (f->is_product) {
        tool_error(f->t,
                   "%s: cannot read numbers: line %d: a product ROWxCOLUMN is one line, without "
                   "others",
                   f->path, f->line);
        return 0;
    }
    if (f->in_line == f->in_first)
        return 1;
    tool_error(f->t, "%s: cannot read numbers: line %d has %d number%s, line %d has %d", f->path,
               f->line, f->in_line, f->in_line == 1 ? "" : "s", f->first_line, f->in_first);
    return 0;
}

static int join_line(number_file *f, char *line)
{
    f->in_line = 0;
    line[strcspn(line, "#\r")] = '\0';
    for (char *word = line; *(word += strspn(word, " \t,;"));) {
        size_t n = strcspn(word, " \t,;");
        if (!check_word(f, word, n))
            return 0;
        if (f->in_line > 1 || f->first_line > 0)
            *f->to++ = f->in_line > 1 ? ',' : ';';
        memmove(f->to, word, n);
        f->to += n;
        word += n;
    }
    return check_line(f);
}

/* Lines become rows, in place: numbers with commas between, rows with semicolons. Comments, from #
 * on, and empty lines go. */
static int join_lines(tool *t, const char *path, char *text)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as spreadsheets write it */
    number_file f = {.t = t, .path = path, .to = text};
    for (char *line = text + (strncmp(text, mark, 3) == 0 ? 3 : 0), *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        f.line++;
        if (!join_line(&f, line))
            return 0;
    }
    *f.to = '\0';
    if (f.count > 0 && f.count <= TAMIS_MAX_MATRIX)
        return 1;
    if (f.count > 0)
        tool_error(t, "%s: cannot read numbers: the file holds %ld; allowed: up to %d numbers",
                   path, f.count, TAMIS_MAX_MATRIX);
    else
        tool_error(t, "%s: cannot read numbers: the file holds none", path);
    return 0;
}

char *tool_numbers_read(tool *t, const char *path)
{
    if (!*path) {
        tool_error(t, "@ needs the name of a file with numbers behind it");
        return NULL;
    }
    char *text = tool_text_read(t, path, "numbers");
    if (text && join_lines(t, path, text))
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
