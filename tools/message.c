/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on standard error, and the exit codes that go with them. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "tool.h"

/* The text with its control characters written out, as \x1b: names of files may hold any, and a
 * terminal would obey them. */
static char *without_controls(const char *text)
{
    char *plain = tool_alloc(4 * strlen(text) + 1), *to = plain;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == 127)
            to += snprintf(to, 5, "\\x%02x", c);
        else
            *to++ = (char)c;
    }
    return plain;
}

/* In one piece, so that lines of several threads do not mix. */
static void say(tool *t, const char *color, const char *kind, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    char *text = tool_alloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    char *plain = without_controls(text);
    char *line = t->colors ? tool_print_text("tamis: \033[%sm%s\033[0m%s\n", color, kind, plain)
                           : tool_print_text("tamis: %s%s\n", kind, plain);
    free(text);
    free(plain);
    if (t->held) {
        text = tool_print_text("%s%s", t->held, line);
        free(t->held);
        t->held = text;
    } else {
        tool_progress_hide(t);
        fputs(line, stderr);
    }
    free(line);
}

void tool_error(tool *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(t, "1;31", "error: ", format, list);
    va_end(list);
}

int tool_usage_error(tool *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(t, "1;31", "error: ", format, list);
    va_end(list);
    return TOOL_USAGE;
}

void tool_warn(tool *t, const char *format, ...)
{
    if (t->options.quiet)
        return;
    va_list list;
    va_start(list, format);
    say(t, "1;33", "warning: ", format, list);
    va_end(list);
}

void tool_note(tool *t, const char *format, ...)
{
    if (t->options.quiet)
        return;
    va_list list;
    va_start(list, format);
    say(t, "0", "", format, list);
    va_end(list);
}

void tool_detail(tool *t, const char *format, ...)
{
    if (!t->options.verbose)
        return;
    va_list list;
    va_start(list, format);
    say(t, "0", "", format, list);
    va_end(list);
}

int tool_exit_code(tamis_status status)
{
    switch (status) {
    case TAMIS_OK:
        return TOOL_OK;
    case TAMIS_ERR_ARGUMENT:
        return TOOL_USAGE;
    case TAMIS_ERR_UNSUPPORTED:
        return TOOL_UNSUPPORTED;
    case TAMIS_ERR_MEMORY:
    case TAMIS_ERR_LIMIT:
        return TOOL_MEMORY;
    case TAMIS_ERR_READ:
        return TOOL_READ;
    case TAMIS_ERR_WRITE:
        return TOOL_WRITE;
    case TAMIS_ERR_DEVICE:
        return TOOL_DEVICE;
    case TAMIS_ERR_CANCELED:
        return TOOL_INTERRUPTED;
    case TAMIS_ERR_AGAIN: /* which ends no command */
        break;
    }
    return TOOL_SOME_FAILED;
}

/* Whether the other end of standard output, a pipe or socket, has been closed. */
static int reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

int tool_output_failed(tool *t, const char *message)
{
    if (reader_is_gone())
        return TOOL_CLOSED_PIPE;
    tool_error(t, "%s", message);
    return TOOL_WRITE;
}

int tool_fail(tool *t, tamis_status status)
{
    const char *out = t->options.out;
    if (tool_canceled())
        return TOOL_INTERRUPTED;
    if (status == TAMIS_ERR_WRITE && out && strcmp(out, "-") == 0)
        return tool_output_failed(t, t->error);
    tool_error(t, "%s", t->error[0] ? t->error : tamis_status_name(status));
    return tool_exit_code(status);
}
