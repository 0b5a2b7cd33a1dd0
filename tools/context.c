/* SPDX-License-Identifier: Apache-2.0 */
/* The context that the options ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets.h"

/* Errors are kept for the command to report with its own words around them; the rest is shown as
 * far as -q and -v ask. What a worker's file is about goes to the worker. */
static void on_log(void *user, tamis_log_level level, const char *text)
{
    tool *t = user, *mine = pthread_getspecific(t->worker);
    if (mine)
        t = mine;
    switch (level) {
    case TAMIS_LOG_ERROR:
        snprintf(t->error, sizeof(t->error), "%s", text);
        break;
    case TAMIS_LOG_WARNING:
        tool_warn(t, "%s", text);
        break;
    case TAMIS_LOG_INFO:
        tool_detail(t, "%s", text);
        break;
    case TAMIS_LOG_DEBUG:
        if (t->options.verbose > 1)
            tool_detail(t, "%s", text);
        break;
    }
}

const char *tool_device_wish(const tool *t)
{
    if (!(t->command->groups & TOOL_GROUP_DEVICE))
        return "cpu";
    const char *wish = t->options.device ? t->options.device : getenv("TAMIS_DEVICE");
    return wish && *wish ? wish : "auto";
}

static int check_device(tool *t)
{
    const char *wish = tool_device_wish(t), *index = wish + 5;
    if (strcmp(wish, "auto") == 0 || strcmp(wish, "cpu") == 0 || strcmp(wish, "cuda") == 0)
        return TOOL_OK;
    if (strcmp(wish, "cuda:all") == 0)
        return TOOL_OK;
    if (strncmp(wish, "cuda:", 5) == 0 && *index && strspn(index, "0123456789,") == strlen(index))
        return TOOL_OK; /* the library says what is wrong with a list */
    return tool_usage_error(t, "%s: '%s' is not one of auto, cpu, cuda, cuda:I, cuda:I,J, cuda:all",
                            t->options.device ? "--device" : "TAMIS_DEVICE", wish);
}

/* Whether the command needs the user's presets: a fault in their file stops nothing else. */
static int want_presets(const tool *t)
{
    int (*run)(tool *) = t->command->run;
    int takes_chain = run == cmd_run || run == cmd_explain;
    return t->options.presets || run == cmd_presets || run == cmd_serve || run == cmd_help ||
           (takes_chain && t->arg_count > 0 && tool_presets_named(t->args[0])) ||
           tool_presets_named(t->options.chroma) || tool_presets_named(t->options.filter);
}

int tool_context_make(tool *t, int threads, const char *device, tamis_ctx **out)
{
    static const tool_presets none = {0};
    const tool_presets *presets = &none;
    int code = want_presets(t) ? tool_presets_read(t, &presets) : TOOL_OK;
    if (code)
        return code;
    tamis_ctx_options options = {.threads = threads,
                                 .cpu = t->options.cpu,
                                 .device = device,
                                 .log = on_log,
                                 .log_user = t,
                                 .cancel = tool_cancel_flag(),
                                 .max_bytes = t->options.max_memory,
                                 .presets = presets->items,
                                 .preset_count = presets->count};
    t->error[0] = '\0';
    tamis_status status = tamis_ctx_create(&options, out);
    if (status && status != TAMIS_ERR_DEVICE)
        return tool_fail(t, status);
    if (!status) {
        code = tool_presets_check(t, *out);
        if (code)
            tamis_ctx_free(out);
        return code;
    }
    tool_error(t, "%s%s: %s; use --device cpu, or auto, which takes the best device there is",
               t->options.device ? "--device " : "TAMIS_DEVICE=", options.device, t->error);
    return TOOL_DEVICE;
}

int tool_context(tool *t)
{
    if (t->ctx)
        return TOOL_OK;
    int code = check_device(t);
    return code ? code : tool_context_make(t, t->options.threads, tool_device_wish(t), &t->ctx);
}
