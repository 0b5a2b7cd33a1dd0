/* SPDX-License-Identifier: Apache-2.0 */
/* One rule for all that is written: it replaces nothing that is read. Only a result may take the
 * place of its own input, with --overwrite or --in_place. */
#include <string.h>

#include "inputs.h"

int tool_check_apart(tool *t, const char *option, const char *written, const char *read)
{
    if (!read || strcmp(written, "-") == 0 || strcmp(read, "-") == 0 ||
        !tool_same_place(written, read))
        return TOOL_OK;
    return tool_usage_error(t, "%s %s: that is a file which is read, %s", option, written, read);
}

int tool_check_apart_options(tool *t, const char *option, const char *written)
{
    const tool_options *o = &t->options;
    const char *read[] = {o->guide, o->original, o->presets};
    int code = TOOL_OK;
    for (size_t i = 0; i < sizeof(read) / sizeof(*read) && !code; i++)
        code = tool_check_apart(t, option, written, read[i]);
    return code;
}

int tool_check_apart_files(tool *t, const char *option, const char *written,
                           const tool_files *files)
{
    int code = tool_check_apart_options(t, option, written);
    for (size_t i = 0; i < files->count && !code; i++) {
        code = tool_check_apart(t, option, written, files->items[i].in);
        if (!code && strcmp(files->items[i].out, "-") != 0 &&
            tool_same_place(written, files->items[i].out))
            code = tool_usage_error(t, "%s %s: that is the result of %s", option, written,
                                    files->items[i].in);
    }
    return code;
}
