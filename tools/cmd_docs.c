/* SPDX-License-Identifier: Apache-2.0 */
/* tamis docs: the page of a filter in Markdown, from its header and its table; of presets, a table
 * that stands in a page. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

/* A '|' would end the cell. */
static void print_cell(const char *text)
{
    fputs("| ", stdout);
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
    putchar(' ');
}

static void print_row(const tamis_filter *filter, const tamis_param *param)
{
    char text[256];
    printf("| `%s` ", param->name);
    print_cell(tool_param_type(param, text, sizeof(text)));
    print_cell(tool_param_default(filter, param, text, sizeof(text)));
    print_cell(tool_param_range(param, NULL, text, sizeof(text)));
    print_cell(param->unit ? param->unit : "");
    print_cell(param->doc);
    puts("|");
}

static void print_borders(const tamis_param *params, int count)
{
    for (int i = 0; i < count; i++) {
        const char *const *names = params[i].choices;
        if (!names || !tool_border_picture(names[0]))
            continue;
        puts("\nBorders:\n\n```");
        for (; *names; names++)
            printf("%-11s %s\n", *names, tool_border_picture(*names));
        puts("```");
    }
}

static int print_presets(void)
{
    puts("| Preset | For | Chain |\n|---|---|---|");
    for (int i = 0; i < tamis_preset_count(NULL); i++) {
        const tamis_preset *preset = tamis_preset_at(NULL, i);
        printf("| `@%s` ", preset->name);
        print_cell(preset->about);
        printf("| `%s` |\n", preset->chain);
    }
    return TOOL_OK;
}

int cmd_docs(tool *t)
{
    if (t->arg_count != 1)
        return tool_usage_error(t, "docs takes the name of one filter, or presets");
    if (strcmp(t->args[0], "presets") == 0)
        return print_presets();
    const tamis_filter *filter = tool_filter_find(t, t->args[0]);
    if (!filter)
        return TOOL_USAGE;
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    char *prose = tool_filter_prose(filter);
    printf("<!-- Made by `tamis docs %s`. -->\n# %s\n\n", tamis_filter_name(filter),
           tamis_filter_name(filter));
    const char *brief = tamis_filter_brief(filter);
    printf("%c%s.\n\n", toupper((unsigned char)*brief), brief + 1);
    /* The prose is laid out by hand, formulas included. */
    printf("```text\n%s```\n\n", prose ? prose : "");
    free(prose);
    puts("| Parameter | Values | Default | Range | Unit | Meaning |\n|---|---|---|---|---|---|");
    for (int i = 0; i < count; i++)
        print_row(filter, &params[i]);
    print_borders(params, count);
    int guides = tamis_filter_max_inputs(filter) - 1, needed = tamis_filter_min_inputs(filter) > 1;
    printf(
        "\nUse: `tamis %s [--PARAMETER VALUE]... IN...%s -o OUT`, or `%s=KEY=VALUE:KEY=VALUE` in "
        "a chain%s.\n",
        tamis_filter_name(filter),
        !guides  ? ""
        : needed ? " --guide FILE"
                 : " [--guide FILE]",
        tamis_filter_name(filter), needed ? ", which then needs `--guide FILE`, too" : "");
    return TOOL_OK;
}
