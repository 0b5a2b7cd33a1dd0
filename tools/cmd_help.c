/* SPDX-License-Identifier: Apache-2.0 */
/* tamis help: overview, commands and filters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "presets.h"

enum { WIDTH = 80, INDENT = 6 };

/* Prints text as a paragraph of at most WIDTH columns, indented. */
static void print_wrapped(const char *text)
{
    int column = 0;
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column)
            column += printf(" %.*s", word, text);
        else
            column = printf("%*s%.*s", INDENT, "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(const tool_option *option)
{
    char value[128], letter[8] = "";
    tool_option_value(option, value, sizeof(value));
    if (option->letter)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    printf("  %s--%s%s%s\n", letter, option->name, value[0] ? " " : "", value);
    char *doc = option->def && option->kind != TOOL_FLAG
                    ? tool_print_text("%s; default %s", option->doc, option->def)
                    : tool_copy_text(option->doc);
    print_wrapped(doc);
    free(doc);
}

static void print_options(const tool_command *command, const tamis_filter *filter)
{
    printf("\nOptions:\n");
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (tool_option_applies(o, command->groups, filter))
            print_option(o);
    }
}

static void print_borders(const tamis_param *param)
{
    for (int i = 0; param->choices && param->choices[i]; i++) {
        const char *picture = tool_border_picture(param->choices[i]);
        if (picture)
            printf("%*s%-11s %s\n", INDENT + 2, "", param->choices[i], picture);
    }
}

static void print_param(const tamis_filter *filter, const tamis_param *param)
{
    char type[256], range[96], def[64];
    tool_param_type(param, type, sizeof(type));
    tool_param_range(param, param->unit, range, sizeof(range));
    tool_param_default(filter, param, def, sizeof(def));
    printf("  --%s %s\n", param->name, type);
    char *doc = tool_print_text("%s; default %s%s%s", param->doc, def, *range ? "; " : "", range);
    print_wrapped(doc);
    free(doc);
    if (param->type == TAMIS_PARAM_CHOICE)
        print_borders(param);
}

static void print_filter(const tamis_filter *filter)
{
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    char *prose = tool_filter_prose(filter);
    if (prose)
        printf("\n%s", prose);
    free(prose);
    printf("\nParameters (%s=KEY=VALUE:KEY=VALUE in chains):\n", tamis_filter_name(filter));
    for (int i = 0; i < count; i++)
        print_param(filter, &params[i]);
}

int tool_help_print(tool *t, const tool_command *command, const tamis_filter *filter)
{
    (void)t;
    const char *name = filter ? tamis_filter_name(filter) : command->name;
    printf("tamis %s - %s\n\n", name, filter ? tamis_filter_brief(filter) : command->brief);
    printf("Usage: tamis %s [OPTION]... %s%s\n", name,
           filter && tamis_filter_min_inputs(filter) > 1 ? "--guide FILE " : "", command->usage);
    if (filter)
        print_filter(filter);
    print_options(command, filter);
    return TOOL_OK;
}

static int print_overview(void)
{
    printf("tamis %s - image filtering\n\n", tamis_version());
    printf("Usage: tamis FILTER [--PARAMETER VALUE]... IN... -o OUT\n"
           "       tamis run 'FILTER=KEY=VALUE:KEY=VALUE,FILTER2=...' IN... -o OUT\n"
           "       tamis COMMAND ...\n\n"
           "IN is a file, a folder, a glob or - for standard input. OUT is a file, a folder, a\n"
           "template such as '{dir}/{stem}_clean{ext}', or - for standard output.\n\nFilters:\n");
    for (int i = 0; i < tamis_filter_count(); i++)
        printf("  %-12s %s\n", tamis_filter_name(tamis_filter_at(i)),
               tamis_filter_brief(tamis_filter_at(i)));
    printf("\nPresets, chains with a name for tamis run (tamis help presets):\n");
    tool_presets_print(NULL, "  ", 0);
    printf("\nCommands:\n");
    for (const tool_command *c = tool_commands; c->name; c++)
        printf("  %-12s %s\n", c->name, c->brief);
    printf("\nExit codes:\n");
    for (const tool_exit_text *e = tool_exit_texts; e->text; e++)
        printf("  %-4d %s\n", e->code, e->text);
    printf("\nMore: tamis help NAME, for a filter, a command or a @PRESET.\n");
    return TOOL_OK;
}

static int print_preset(tool *t, const char *name)
{
    int code = tool_context(t);
    const tamis_preset *preset = code ? NULL : tool_preset_find(t, name);
    if (!preset)
        return code ? code : TOOL_USAGE;
    printf("@%s%s%s\n\nIt stands for\n    %s\n\n", preset->name, preset->about ? " - " : "",
           preset->about ? preset->about : "", preset->chain);
    printf("Usage: tamis run @%s IN... -o OUT, or among filters: @%s,unsharp\n", preset->name,
           preset->name);
    return TOOL_OK;
}

int cmd_help(tool *t)
{
    if (t->arg_count < 1)
        return print_overview();
    const char *name = t->args[0];
    if (*name == '@')
        return print_preset(t, name);
    const tool_command *command = tool_command_find(name);
    if (command)
        return tool_help_print(t, command, NULL);
    const tamis_filter *filter = tamis_filter_find(name);
    return filter ? tool_help_print(t, &tool_filter_command, filter) : tool_unknown_name(t, name);
}
