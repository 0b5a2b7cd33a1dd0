/* SPDX-License-Identifier: Apache-2.0 */
/* tamis completion: a script for the shell, from the tables. */
#include <stdio.h>
#include <string.h>

#include "help.h"

static void print_options(const tool_command *command, const tamis_filter *filter)
{
    int count = 0;
    const tamis_param *params = filter ? tamis_filter_params(filter, &count) : NULL;
    for (int i = 0; i < count; i++)
        printf("--%s ", params[i].name);
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (tool_option_applies(o, command->groups, filter))
            printf("--%s ", o->name);
    }
}

static void print_command_cases(void)
{
    for (const tool_command *c = tool_commands; c->name; c++) {
        printf("        %s) options='", c->name);
        print_options(c, NULL);
        printf("' ;;\n");
    }
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *filter = tamis_filter_at(i);
        printf("        %s) options='", tamis_filter_name(filter));
        print_options(&tool_filter_command, filter);
        printf("' ;;\n");
    }
}

static void print_choices(const char *const *choices)
{
    for (int i = 0; choices[i]; i++)
        printf("%s%s", i ? " " : "", choices[i]);
}

/* Values of choice parameters depend on the filter, those of options do not. */
static void print_value_cases(void)
{
    for (int i = 0; i < tamis_filter_count(); i++) {
        int count;
        const tamis_filter *filter = tamis_filter_at(i);
        const tamis_param *params = tamis_filter_params(filter, &count);
        for (int j = 0; j < count; j++) {
            if (!params[j].choices)
                continue;
            printf("        %s:--%s) values='", tamis_filter_name(filter), params[j].name);
            print_choices(params[j].choices);
            printf("' ;;\n");
        }
    }
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (!o->choices)
            continue;
        printf("        *:--%s) values='", o->name);
        print_choices(o->choices);
        printf("' ;;\n");
    }
    printf("        *:--device) values='auto cpu cuda cuda:all' ;;\n"
           "        *:--cpu) values='c base avx2 avx512 neon' ;;\n"
           "        *:--format) values='png jpeg tiff pnm pam pfm npy raw' ;;\n"
           "        *:--compression) values='none deflate lzw' ;;\n");
}

static void print_names(void)
{
    for (int i = 0; i < tamis_filter_count(); i++)
        printf("%s ", tamis_filter_name(tamis_filter_at(i)));
}

/* The user's own, too. What is completed begins at the @, unless bash does not take that for a
 * new word, as in quotes. */
static void print_presets(void)
{
    printf(
        "        values=$(\"${COMP_WORDS[0]}\" presets 2>/dev/null | sed 's/ .*//')\n"
        "        word=${word#[\\'\\\"]}\n"
        "        if [[ $COMP_WORDBREAKS == *@* && ${COMP_WORDS[COMP_CWORD]} != [\\'\\\"]* ]]; "
        "then\n"
        "            word=$last\n"
        "        fi\n"
        "        COMPREPLY=($(compgen -P \"${word%%\"$last\"}\" -W \"$values\" -- \"$last\"))\n");
}

int cmd_completion(tool *t)
{
    if (t->arg_count == 1 && strcmp(t->args[0], "bash") != 0)
        return tool_usage_error(t, "completion knows one shell: bash");
    printf("# bash completion of tamis; made by: tamis completion bash\n"
           "_tamis()\n{\n"
           "    local word=$2 before=$3 command=${COMP_WORDS[1]} options= values=\n"
           "    local last=${COMP_LINE:0:COMP_POINT}\n"
           "    last=${last##*[ ,\\'\\\"]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W '");
    print_names();
    for (const tool_command *c = tool_commands; c->name; c++)
        printf("%s ", c->name);
    printf("' -- \"$word\"))\n        return\n    fi\n    case $command:$before in\n");
    print_value_cases();
    printf("    esac\n"
           "    if [ -n \"$values\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n        return\n    fi\n"
           "    case $command in\n");
    print_command_cases();
    printf("    esac\n"
           "    if [ \"$command\" = help ] || [ \"$command\" = docs ]; then\n"
           "        COMPREPLY=($(compgen -W '");
    print_names();
    printf("' -- \"$word\"))\n"
           "    elif [[ $last == @* ]] && [[ $command == run || $command == explain ]]; then\n");
    print_presets();
    printf("    elif [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    fi\n}\n"
           "complete -o default -F _tamis tamis\n");
    return TOOL_OK;
}
