/* SPDX-License-Identifier: Apache-2.0 */
#include "text_input.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tamis_priv_text_open(tamis_text_input *in, tamis_source *source, uint64_t offset)
{
    in->source = source;
    in->next = offset;
    in->at = in->size = 0;
    in->problem[0] = 0;
}

static int peek(tamis_text_input *in)
{
    if (in->at == in->size) {
        in->size = tamis_priv_source_read(in->source, in->next, in->buf, sizeof in->buf);
        in->next += in->size;
        in->at = 0;
        if (in->size == 0)
            return EOF;
    }
    return in->buf[in->at];
}

int tamis_priv_text_next(tamis_text_input *in)
{
    int c = peek(in);
    if (c != EOF)
        in->at++;
    return c;
}

uint64_t tamis_priv_text_position(const tamis_text_input *in)
{
    return in->next - (in->size - in->at);
}

int tamis_priv_text_skip_line(tamis_text_input *in)
{
    int c;
    do
        c = tamis_priv_text_next(in);
    while (c != EOF && c != '\n');
    return c == '\n';
}

/* Goes to the first byte of the next word and returns it, or EOF. */
static int skip_blanks(tamis_text_input *in)
{
    int c;
    while ((c = peek(in)) != EOF && (isspace(c) || c == '#')) {
        if (c == '#')
            tamis_priv_text_skip_line(in);
        else
            in->at++;
    }
    return c;
}

int tamis_priv_text_word(tamis_text_input *in, char *word, size_t size)
{
    size_t n = 0;
    skip_blanks(in);
    for (int c = peek(in); c != EOF && !isspace(c) && c != '#'; c = peek(in)) {
        if (n + 1 == size) {
            word[n] = 0;
            return 0;
        }
        word[n++] = (char)c;
        in->at++;
    }
    word[n] = 0;
    return n > 0;
}

int tamis_priv_text_complain(tamis_text_input *in, const char *name, const char *found)
{
    char shown[32];
    size_t n = 0;
    for (; found[n] && n + 1 < sizeof shown; n++)
        shown[n] = found[n] >= ' ' && found[n] <= '~' ? found[n] : '?';
    shown[n] = 0;
    if (n)
        snprintf(in->problem, sizeof in->problem, "%s is '%s'", name, shown);
    else
        snprintf(in->problem, sizeof in->problem, "it ends before %s", name);
    return 0;
}

int tamis_priv_text_field(tamis_text_input *in, const char *name, uint32_t max, uint32_t *out)
{
    char word[24];
    int whole = tamis_priv_text_word(in, word, sizeof word);
    size_t digits = strspn(word, "0123456789");
    /* Ten digits are enough for every uint32_t. */
    uint64_t v = whole && word[digits] == 0 && digits <= 10 ? strtoull(word, NULL, 10) : 0;
    if (v < 1 || v > max)
        return tamis_priv_text_complain(in, name, word);
    *out = (uint32_t)v;
    return 1;
}

int tamis_priv_text_end(tamis_text_input *in)
{
    int c = tamis_priv_text_next(in);
    if (isspace(c))
        return 1;
    return tamis_priv_text_complain(in, "the byte after the header",
                                    c == EOF ? "" : (char[2]){(char)c, 0});
}

int tamis_priv_text_number(tamis_text_input *in, uint32_t *out)
{
    uint32_t v = 0;
    if (!isdigit(skip_blanks(in)))
        return 0;
    for (int c = peek(in); c != EOF && isdigit(c); c = peek(in)) {
        if (v > (INT32_MAX - 9) / 10u)
            return 0;
        v = 10 * v + (uint32_t)(c - '0');
        in->at++;
    }
    *out = v;
    return 1;
}

int tamis_priv_text_bit(tamis_text_input *in, uint32_t *out)
{
    int c = skip_blanks(in);
    if (c != '0' && c != '1')
        return 0;
    *out = (uint32_t)(c - '0');
    in->at++;
    return 1;
}
