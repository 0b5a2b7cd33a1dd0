/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: from text into their fields. */
#include "option_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

static int parse_seed(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return end != text && *end == '\0' && errno == 0 && *out <= INT64_MAX &&
           strchr(text, '-') == NULL;
}

static int parse_bytes(const char *text, size_t *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return 0;
    static const char units[] = "KMGT";
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end != '\0' || value < 1 || value >= 18e18)
        return 0;
    *out = (size_t)value;
    return 1;
}

static int parse_size(const char *text, tamis_size *out)
{
    char *end;
    long w = strtol(text, &end, 10), h = w;
    if (end == text)
        return 0;
    if (*end == 'x' || *end == 'X') {
        const char *second = end + 1;
        h = strtol(second, &end, 10);
        if (end == second)
            return 0;
    }
    if (*end != '\0' || w < 0 || h < 0 || w > 1 << 30 || h > 1 << 30)
        return 0;
    *out = (tamis_size){(int)w, (int)h};
    return 1;
}

static int parse_choice(const char *text, const char *const *choices, int *out)
{
    for (int i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

static int in_range(const tool_option *option, double value)
{
    return value >= option->min && value <= option->max;
}

int tool_option_store(const tool_option *option, tool_options *options, const char *text)
{
    void *field = (char *)options + option->offset;
    double number;
    switch (option->kind) {
    case TOOL_FLAG:
        *(int *)field += 1;
        return 1;
    case TOOL_INT:
        if (!parse_number(text, &number) || number != floor(number) || !in_range(option, number))
            return 0;
        *(int *)field = (int)number;
        return 1;
    case TOOL_NUMBER:
        if (!parse_number(text, &number) || !in_range(option, number))
            return 0;
        *(double *)field = number;
        return 1;
    case TOOL_SEED:
        return parse_seed(text, field);
    case TOOL_BYTES:
        return parse_bytes(text, field);
    case TOOL_SIZE: {
        tamis_size *size = field;
        return parse_size(text, size) && in_range(option, size->w) && in_range(option, size->h);
    }
    case TOOL_CHOICE:
        return parse_choice(text, option->choices, field);
    case TOOL_TEXT:
        *(const char **)field = text;
        return 1;
    }
    return 0;
}

void tool_options_reset(tool_options *options)
{
    *options = (tool_options){0};
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (o->def)
            tool_option_store(o, options, o->def);
        else if (o->kind == TOOL_NUMBER)
            *(double *)((char *)options + o->offset) = NAN;
    }
}

char *tool_option_text(const tool_option *option, const tool_options *options)
{
    const void *field = (const char *)options + option->offset;
    switch (option->kind) {
    case TOOL_FLAG:
    case TOOL_INT:
        return *(const int *)field ? tool_print_text("%d", *(const int *)field) : NULL;
    case TOOL_TEXT: {
        const char *text = *(const char *const *)field;
        return text ? tool_copy_text(text) : NULL;
    }
    default:
        return NULL;
    }
}

int tool_option_refuse(tool *t, const tool_option *option, const char *text)
{
    switch (option->kind) {
    case TOOL_INT:
    case TOOL_NUMBER:
        return tool_usage_error(t, "--%s: '%s' is not a%s number from %.10g to %.10g", option->name,
                                text, option->kind == TOOL_INT ? " whole" : "", option->min,
                                option->max);
    case TOOL_SIZE:
        return tool_usage_error(t,
                                "--%s: '%s' is not a size such as 640x480, each side %.0f to "
                                "%.0f",
                                option->name, text, option->min, option->max);
    case TOOL_BYTES:
        return tool_usage_error(t, "--%s: '%s' is not an amount of memory such as 512M or 4G",
                                option->name, text);
    case TOOL_CHOICE: {
        char list[256] = "";
        for (int i = 0; option->choices[i]; i++) {
            strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
            strncat(list, option->choices[i], sizeof(list) - strlen(list) - 1);
        }
        return tool_usage_error(t, "--%s: '%s' is not one of %s", option->name, text, list);
    }
    default:
        return tool_usage_error(t, "--%s: '%s' is not a whole number from 0 to 2^63-1",
                                option->name, text);
    }
}
