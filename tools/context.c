/* SPDX-License-Identifier: Apache-2.0 */
/* The context that the options ask for. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

/* Errors are kept for the command to report with its own words around them; the rest is shown as
 * far as -q and -v ask. */
static void on_log(void *user, tamis_log_level level, const char *text)
{
    tool *t = user;
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

static int check_device(tool *t)
{
    const char *device = t->options.device;
    if (strcmp(device, "auto") == 0 || strcmp(device, "cpu") == 0)
        return TOOL_OK;
    if (strncmp(device, "cuda", 4) == 0 && (device[4] == '\0' || device[4] == ':')) {
        tool_error(t,
                   "--device %s: this build of tamis has no CUDA backend; use --device cpu, or "
                   "auto, which takes the best device there is",
                   device);
        return TOOL_DEVICE;
    }
    return tool_usage_error(t, "--device: '%s' is not one of auto, cpu, cuda, cuda:I", device);
}

int tool_context_make(tool *t, int threads, tamis_ctx **out)
{
    tamis_ctx_options options = {.threads = threads,
                                 .cpu = t->options.cpu,
                                 .log = on_log,
                                 .log_user = t,
                                 .max_bytes = t->options.max_memory};
    tamis_status status = tamis_ctx_create(&options, out);
    return status ? tool_fail(t, status) : TOOL_OK;
}

int tool_context(tool *t)
{
    if (t->ctx)
        return TOOL_OK;
    int code = check_device(t);
    return code ? code : tool_context_make(t, t->options.threads, &t->ctx);
}
