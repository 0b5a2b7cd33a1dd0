/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that are matrices: "1,2,1;2,4,2;1,2,1", "1 2 1x1 2 1" or a name. */
#include <stdio.h>
#include <string.h>

#include "graph/param.h"

static void skip_space(const char **text)
{
    *text += strspn(*text, " \t\r\n");
}

/* A text's numbers while they are read: checked, and where v is not NULL kept. */
struct numbers {
    const tamis_param *p;
    const char *at;
    double *v;
    int used;
};

static int in_range(const tamis_param *p, double v)
{
    return v >= p->min && v <= p->max; /* refuses NaN too */
}

/* Numbers with spaces or commas between; how many, or -1. */
static int read_row(struct numbers *n)
{
    int count = 0;
    double v;
    do {
        const char *before = n->at;
        skip_space(&n->at);
        if (count > 0 && *n->at == ',') {
            n->at++;
            skip_space(&n->at);
        } else if (count > 0 && (n->at == before || !*n->at || strchr(";x", *n->at))) {
            break;
        }
        if (n->used == TAMIS_MAX_MATRIX || !tamis_priv_param_number(&n->at, &v) ||
            !in_range(n->p, v))
            return -1;
        if (n->v)
            n->v[n->used] = v;
        n->used++;
        count++;
    } while (*n->at);
    return count;
}

/* Rows of one length, with semicolons between; the shape is returned by its parts. */
static int read_rows(struct numbers *n, int *w, int *h, int *outer)
{
    *w = read_row(n);
    *h = 1;
    *outer = 0;
    while (*w > 0 && *n->at == ';') {
        n->at++;
        if (read_row(n) != *w)
            return 0;
        ++*h;
    }
    if (*w > 0 && *h == 1 && *n->at == 'x') {
        n->at++;
        *outer = 1;
        *h = read_row(n);
    }
    return *w > 0 && *h > 0 && *n->at == '\0';
}

/* Reads twice, since a matrix is too large for a copy on the stack and *out is to stay as it is
 * when the text is refused. */
int tamis_priv_matrix_read(const tamis_param *p, const char *text, tamis_matrix *out)
{
    int w, h, outer;
    for (int i = 0; p->words && p->words[i]; i++) {
        if (strcmp(p->words[i], text) == 0) {
            memset(out, 0, sizeof *out);
            out->name = i;
            return 1;
        }
    }
    if (!read_rows(&(struct numbers){p, text, NULL, 0}, &w, &h, &outer))
        return 0;
    memset(out, 0, sizeof *out);
    return read_rows(&(struct numbers){p, text, out->v, 0}, &out->w, &out->h, &out->outer);
}

/* Of a matrix with sides up to the limit. */
static int64_t numbers_of(const tamis_matrix *m)
{
    return m->outer ? (int64_t)m->w + m->h : (int64_t)m->w * m->h;
}

int tamis_priv_matrix_ok(const tamis_param *p, const tamis_matrix *m)
{
    if (m->w == 0 && m->h == 0) {
        int names = 0;
        while (p->words && p->words[names])
            names++;
        return m->name >= 0 && m->name < names;
    }
    if (m->w < 1 || m->h < 1 || numbers_of(m) > TAMIS_MAX_MATRIX)
        return 0;
    for (int i = 0; i < numbers_of(m); i++)
        if (!in_range(p, m->v[i]))
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
