/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a command, read with getopt_long(). */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "option_value.h"
#include "tool.h"

/* What getopt_long() needs, made from the two tables. Values: OPTION_BASE + index into the option
 * table, PARAM_BASE + index into the filter's. */
enum { OPTION_BASE = 1000, PARAM_BASE = 2000 };

typedef struct long_options {
    struct option *rows;
    char **spellings; /* names with '-' instead of '_', allocated */
    int count;
    char *given; /* 1 for each option of the table that has been given */
    char letters[64];
} long_options;

static void add_row(long_options *l, const char *name, int has_arg, int value)
{
    l->rows[l->count] = (struct option){name, has_arg, NULL, value};
    l->spellings[l->count++] = NULL;
    if (!strchr(name, '_'))
        return;
    char *other = tool_copy_text(name);
    for (char *c = other; *c; c++) {
        if (*c == '_')
            *c = '-';
    }
    l->rows[l->count] = (struct option){other, has_arg, NULL, value};
    l->spellings[l->count++] = other;
}

static void make_rows(const tool *t, long_options *l)
{
    int params = 0, options = 0;
    const tamis_param *param = t->filter ? tamis_filter_params(t->filter, &params) : NULL;
    while (tool_option_table[options].name)
        options++;
    size_t rows = 2 * (size_t)(params + options) + 1;
    l->rows = tool_alloc(rows * sizeof(*l->rows));
    l->spellings = tool_alloc(rows * sizeof(*l->spellings));
    l->given = tool_alloc((size_t)options);
    for (int i = 0; i < params; i++)
        add_row(l, param[i].name, required_argument, PARAM_BASE + i);
    size_t n = 0;
    l->letters[n++] = ':';
    for (int i = 0; i < options; i++) {
        const tool_option *o = &tool_option_table[i];
        if (!tool_option_applies(o, t->command->groups, t->filter))
            continue;
        int has_arg = o->kind == TOOL_FLAG ? no_argument : required_argument;
        add_row(l, o->name, has_arg, OPTION_BASE + i);
        if (o->letter) {
            l->letters[n++] = o->letter;
            if (has_arg)
                l->letters[n++] = ':';
        }
    }
    l->letters[n] = '\0';
    l->rows[l->count] = (struct option){NULL, 0, NULL, 0};
}

static void free_rows(long_options *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->spellings[i]);
    free(l->spellings);
    free(l->given);
    free(l->rows);
}

static int say_unknown(tool *t, const long_options *l, const char *word)
{
    char name[64];
    size_t length = strcspn(word + 2, "=");
    if (length >= sizeof(name))
        length = sizeof(name) - 1;
    memcpy(name, word + 2, length);
    name[length] = '\0';
    tool_nearest nearest = {0};
    for (int i = 0; i < l->count; i++)
        tool_nearest_offer(&nearest, name, l->rows[i].name);
    if (nearest.best)
        return tool_usage_error(t, "%s has no option '--%s'; did you mean --%s?", t->name, name,
                                nearest.best);
    return tool_usage_error(t, "%s has no option '--%s'; see: tamis help %s", t->name, name,
                            t->name);
}

/* getopt_long() has just returned '?': a short option is named by optopt, a long option that got a
 * value it does not take by the value of its row, and a long option unknown to it not at all. */
static int say_refused(tool *t, const long_options *l, const char *word)
{
    if (optopt >= OPTION_BASE)
        return tool_usage_error(t, "option '%.*s' takes no value", (int)strcspn(word, "="), word);
    if (optopt)
        return tool_usage_error(t,
                                "%s has no option '-%c'; a file whose name begins with - is "
                                "given as ./-NAME or after --",
                                t->name, optopt);
    return say_unknown(t, l, word);
}

static const tool_option *option_of(int code)
{
    if (code >= OPTION_BASE)
        return &tool_option_table[code - OPTION_BASE];
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (o->letter == code)
            return o;
    }
    return NULL;
}

static int say_repeated(tool *t, const char *name)
{
    return tool_usage_error(t, "--%s is given twice", name);
}

static int keep_setting(tool *t, int index, const char *text)
{
    int count;
    const tamis_param *params = tamis_filter_params(t->filter, &count);
    for (int i = 0; i < t->setting_count; i++) {
        if (t->settings[i].param == &params[index])
            return say_repeated(t, params[index].name);
    }
    size_t size = (size_t)(t->setting_count + 1) * sizeof(*t->settings);
    t->settings = tool_grow(t->settings, size);
    t->settings[t->setting_count++] = (tool_setting){&params[index], text};
    return TOOL_OK;
}

/* A value that would silently replace another is a mistake; a flag says the same again, or more. */
static int keep_option(tool *t, long_options *l, const tool_option *option, const char *text)
{
    char *given = &l->given[option - tool_option_table];
    if (*given && option->kind != TOOL_FLAG)
        return say_repeated(t, option->name);
    *given = 1;
    if (!tool_option_store(option, &t->options, text))
        return tool_option_refuse(t, option, text);
    return TOOL_OK;
}

static int parse_all(tool *t, long_options *l, int argc, char **argv)
{
    opterr = 0;
    for (;;) {
        int said;
        int code = getopt_long(argc, argv, l->letters, l->rows, NULL);
        if (code == -1)
            return TOOL_OK;
        if (code == '?')
            return say_refused(t, l, argv[optind - 1]);
        if (code == ':')
            return tool_usage_error(t, "option '%s' needs a value", argv[optind - 1]);
        if (code >= PARAM_BASE)
            said = keep_setting(t, code - PARAM_BASE, optarg);
        else
            said = keep_option(t, l, option_of(code), optarg);
        if (said)
            return said;
    }
}

int tool_options_parse(tool *t, int argc, char **argv)
{
    long_options l = {0};
    tool_options_reset(&t->options);
    make_rows(t, &l);
    optind = 1;
    int code = parse_all(t, &l, argc, argv);
    free_rows(&l);
    t->args = argv + optind;
    t->arg_count = argc - optind;
    return code;
}
