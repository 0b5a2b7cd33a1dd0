/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that are matrices: "1,2,1;2,4,2;1,2,1", "1 2 1x1 2 1" or a name. */
#include <stdio.h>
#include <string.h>

#include "graph/param.h"

static void skip_space(const char **text)
{
    *text += strspn(*text, " \t\r\n");
}

/* Numbers with spaces or commas between, appended to the matrix; how many, or -1. */
static int read_row(const char **text, tamis_matrix *m, int used)
{
    int count = 0;
    do {
        const char *before = *text;
        skip_space(text);
        if (count > 0 && **text == ',') {
            (*text)++;
            skip_space(text);
        } else if (count > 0 && (*text == before || !**text || strchr(";x", **text))) {
            break;
        }
        if (used + count == TAMIS_MAX_MATRIX || !tamis_priv_param_number(text, &m->v[used + count]))
            return -1;
        count++;
    } while (**text);
    return count;
}

/* Rows of one length, with semicolons between. */
static int read_rows(const char *text, tamis_matrix *m)
{
    m->w = read_row(&text, m, 0);
    m->h = 1;
    while (m->w > 0 && *text == ';') {
        text++;
        if (read_row(&text, m, m->w * m->h) != m->w)
            return 0;
        m->h++;
    }
    if (m->w > 0 && m->h == 1 && *text == 'x') {
        text++;
        m->outer = 1;
        m->h = read_row(&text, m, m->w);
    }
    return m->w > 0 && m->h > 0 && *text == '\0';
}

int tamis_priv_matrix_read(const tamis_param *p, const char *text, tamis_matrix *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; p->words && p->words[i]; i++) {
        if (strcmp(p->words[i], text) == 0) {
            out->name = i;
            return 1;
        }
    }
    return read_rows(text, out) && tamis_priv_matrix_ok(p, out);
}

static int numbers_of(const tamis_matrix *m)
{
    return m->outer ? m->w + m->h : m->w * m->h;
}

int tamis_priv_matrix_ok(const tamis_param *p, const tamis_matrix *m)
{
    if (m->w == 0 && m->h == 0) {
        int names = 0;
        while (p->words && p->words[names])
            names++;
        return m->name >= 0 && m->name < names;
    }
    if (m->w < 1 || m->h < 1 || m->w > TAMIS_MAX_MATRIX || m->h > TAMIS_MAX_MATRIX ||
        numbers_of(m) > TAMIS_MAX_MATRIX)
        return 0;
    for (int i = 0; i < numbers_of(m); i++)
        if (!(m->v[i] >= p->min && m->v[i] <= p->max)) /* refuses NaN too */
            return 0;
    return 1;
}

size_t tamis_priv_matrix_print(const tamis_param *p, const tamis_matrix *m, char *buf, size_t size)
{
    size_t length = 0;
    if (size)
        *buf = '\0';
    if (m->w == 0 && tamis_priv_matrix_ok(p, m))
        return (size_t)snprintf(buf, size, "%s", p->words[m->name]);
    for (int i = 0; m->w > 0 && i < numbers_of(m) && i < TAMIS_MAX_MATRIX; i++) {
        char digits[32];
        const char *gap = i == 0 ? "" : i % m->w ? "," : m->outer ? "x" : ";";
        if (m->outer && i > m->w)
            gap = ",";
        tamis_priv_param_digits(m->v[i], digits, sizeof digits);
        size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? buf + length : NULL, room, "%s%s", gap, digits);
    }
    return length;
}
