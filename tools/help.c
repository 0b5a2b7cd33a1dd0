/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <filter_texts.h>

const tool_exit_text tool_exit_texts[] = {
    {TOOL_OK, "everything was done"},
    {TOOL_SOME_FAILED, "some of several inputs failed; the others were done"},
    {TOOL_USAGE, "the command line is wrong"},
    {TOOL_READ, "the input cannot be read"},
    {TOOL_WRITE, "the output cannot be written, or the disk is full"},
    {TOOL_UNSUPPORTED, "understood, but not supported"},
    {TOOL_DEVICE, "the device asked for is not there, or it failed"},
    {TOOL_THRESHOLD, "verify found a fault, or compare passed a threshold"},
    {TOOL_MEMORY, "a memory limit would be exceeded"},
    {TOOL_INTERRUPTED, "interrupted; nothing half-written is left"},
    {0, NULL}};

/* The second block comment of a header: the first is its license line. */
static const char *find_comment(const char *text, const char **end)
{
    const char *start = strstr(text, "/*");
    if (start && strstr(start, "SPDX") && strstr(start, "SPDX") < strstr(start, "*/"))
        start = strstr(start + 2, "/*");
    *end = start ? strstr(start, "*/") : NULL;
    return *end ? start + 2 : NULL;
}

char *tool_filter_prose(const tamis_filter *filter)
{
    const char *text = NULL, *end;
    for (const filter_text *f = filter_texts; f->name; f++) {
        if (strcmp(f->name, tamis_filter_name(filter)) == 0)
            text = (const char *)f->text;
    }
    text = text ? find_comment(text, &end) : NULL;
    if (!text)
        return NULL;
    char *prose = tool_alloc((size_t)(end - text) + 2), *to = prose;
    while (text < end) {
        while (text < end && *text == ' ')
            text++;
        if (text < end && *text == '*')
            text++;
        if (text < end && *text == ' ')
            text++;
        while (text < end && *text != '\n')
            *to++ = *text++;
        while (to > prose && to[-1] == ' ')
            to--;
        *to++ = '\n';
        text++;
    }
    while (to - prose > 1 && to[-1] == '\n' && to[-2] == '\n')
        to--;
    *to = '\0';
    return prose;
}

const char *tool_param_type(const tamis_param *param, char *buf, size_t size)
{
    static const char *const names[] = {"whole number", "number",       "", "K or WxH", "X or X%",
                                        "X,X,...",      "X,X,..;X,X,.."};
    if (param->type != TAMIS_PARAM_CHOICE) {
        size_t n = (size_t)snprintf(buf, size, "%s", names[param->type]);
        for (int i = 0; param->words && param->words[i] && n < size; i++)
            n += (size_t)snprintf(buf + n, size - n, "|%s", param->words[i]);
        return buf;
    }
    size_t n = 0;
    for (int i = 0; param->choices[i] && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "|" : "", param->choices[i]);
    return buf;
}

const char *tool_param_default(const tamis_filter *filter, const tamis_param *param, char *buf,
                               size_t size)
{
    void *params = tool_alloc(tamis_filter_params_size(filter));
    tamis_filter_defaults(filter, params);
    tamis_filter_get(filter, params, param->name, buf, size);
    free(params);
    return buf;
}

const char *tool_param_range(const tamis_param *param, const char *unit, char *buf, size_t size)
{
    const char *odd = "", *space = unit && *unit ? " " : "";
    if (param->odd)
        odd = param->min <= 0 ? ", odd or 0" : ", odd";
    if (!unit)
        unit = "";
    if (param->type == TAMIS_PARAM_CHOICE)
        snprintf(buf, size, "%s", unit);
    else if (param->max >= 1e30) /* a range that is only there to keep out infinities */
        snprintf(buf, size, "any number%s%s", *space ? " of " : "", unit);
    else
        snprintf(buf, size, "%.6g to %.6g%s%s%s", param->min, param->max, space, unit, odd);
    return buf;
}

const char *tool_option_value(const tool_option *option, char *buf, size_t size)
{
    snprintf(buf, size, "%s", option->arg ? option->arg : "");
    size_t n = 0;
    for (int i = 0; option->choices && option->choices[i] && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "|" : "", option->choices[i]);
    return buf;
}

const char *tool_border_picture(const char *name)
{
    static const char *const table[][2] = {
        {"reflect101", "dcb|abcd|cba  mirrored about the center of the edge pixel"},
        {"reflect", "cba|abcd|dcb  mirrored about the outer side of the edge pixel"},
        {"replicate", "aaa|abcd|ddd  the edge pixel repeated"},
        {"wrap", "bcd|abcd|abc  the picture repeated"},
        {"constant", "vvv|abcd|vvv  the value of border_value"},
        {"valid", "   |abcd|     no outside: the result shrinks to where the window fits"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(table[i][0], name) == 0)
            return table[i][1];
    }
    return NULL;
}
