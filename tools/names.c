/* SPDX-License-Identifier: Apache-2.0 */
/* Names of filters, formats and chains, and what a misspelt one may have meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Edit distance with insertion, deletion and replacement; '-' and '_' are the same. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            char x = a[i - 1] == '-' ? '_' : a[i - 1], y = b[j - 1] == '-' ? '_' : b[j - 1];
            int best = corner + (x != y);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

void tool_nearest_offer(tool_nearest *nearest, const char *word, const char *candidate)
{
    size_t length = strlen(word);
    int d = distance(word, candidate);
    /* A word and what it begins are near, too: "gauss" and "gaussian". */
    if (length >= 3 && strncmp(word, candidate, length) == 0)
        d = 1;
    if (d <= (int)(length + 2) / 3 && (!nearest->best || d < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = d;
    }
}

int tool_format_parse(const char *text, tamis_format *out)
{
    size_t length = strcspn(text, "x");
    for (int i = 0; i < TAMIS_TYPE_COUNT; i++) {
        const char *name = tamis_type_name((tamis_type)i);
        if (strlen(name) != length || strncmp(name, text, length) != 0)
            continue;
        int channels = 1;
        if (text[length] == 'x') {
            const char *digit = text + length + 1;
            if (digit[0] < '1' || digit[0] > '0' + TAMIS_MAX_CHANNELS || digit[1])
                return 0;
            channels = digit[0] - '0';
        }
        *out = (tamis_format){.type = (tamis_type)i, .channels = channels};
        out->alpha = channels % 2 == 0 ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE;
        return 1;
    }
    return 0;
}

const char *tool_format_name(tamis_format format, char *buf, size_t size)
{
    snprintf(buf, size, "%sx%d", tamis_type_name(format.type), format.channels);
    return buf;
}

const tamis_filter *tool_filter_find(tool *t, const char *name)
{
    const tamis_filter *filter = tamis_filter_find(name);
    if (filter)
        return filter;
    tool_nearest nearest = {0};
    for (int i = 0; i < tamis_filter_count(); i++)
        tool_nearest_offer(&nearest, name, tamis_filter_name(tamis_filter_at(i)));
    if (nearest.best)
        tool_error(t, "there is no filter '%s'; did you mean %s?", name, nearest.best);
    else
        tool_error(t, "there is no filter '%s'; see: tamis list", name);
    return NULL;
}

int tool_graph_parse(tool *t, const char *text, tamis_graph **out)
{
    int code = tool_context(t);
    if (code)
        return code;
    char *chain = tool_chain_expand(t, text);
    if (!chain)
        return TOOL_READ;
    tamis_status status = tamis_graph_parse(t->ctx, chain, out);
    free(chain);
    return status ? tool_fail(t, status) : TOOL_OK;
}

char *tool_graph_text(const tamis_graph *graph)
{
    size_t size = tamis_graph_print(graph, NULL, 0) + 1;
    char *text = tool_alloc(size);
    tamis_graph_print(graph, text, size);
    return text;
}
