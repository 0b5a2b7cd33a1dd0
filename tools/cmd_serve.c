/* SPDX-License-Identifier: Apache-2.0 */
/* tamis serve: filters tried on pictures in a browser of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inputs.h"
#include "serve.h"

#ifndef TOOL_HAS_SERVE
int cmd_serve(tool *t)
{
    tool_error(t, "this build has no live page: libmicrohttpd was not there when it was made "
                  "(Debian: libmicrohttpd-dev; then: make)");
    return TOOL_UNSUPPORTED;
}
#else

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file, or the pictures of the folder. */
static int add_files(tool *t, live_store *store)
{
    tool_files files = {0};
    if (t->arg_count == 0)
        return TOOL_OK;
    if (strcmp(t->args[0], "-") == 0)
        return tool_usage_error(t, "serve takes a file or a folder, not standard input");
    int code = tool_files_expand(t, t->args, 1, &files);
    for (size_t i = 0; i < files.count && !code; i++)
        live_store_add(store, files.items[i].in, base_name(files.items[i].in), 0);
    if (!code && files.count == 1 && access(files.items[0].in, R_OK) != 0) {
        tool_error(t, "%s: cannot be read", files.items[0].in);
        code = TOOL_READ;
    }
    tool_files_free(&files);
    return code;
}

/* The browser goes its own way, without our terminal's output. It is given a page that leads to the
 * address: what is said to programs, others of this machine can read. */
static void open_browser(tool *t, const char *page)
{
    pid_t child = page ? fork() : -1;
    if (child < 0)
        tool_warn(t, "no browser could be started");
    if (child > 0)
        waitpid(child, NULL, 0); /* which ends at once */
    if (child != 0)
        return;
    if (fork() == 0) {
        int ours = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        setsid();
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execlp("xdg-open", "xdg-open", page, (char *)NULL);
        dprintf(ours, "tamis: warning: no browser could be started: xdg-open: %s\n",
                strerror(errno));
    }
    _exit(0);
}

static void wait_for_end(live_runner *runner)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    while (!tool_canceled()) {
        nanosleep(&pause, NULL);
        live_runner_look(runner);
    }
}

static int print_address(tool *t, const char *url)
{
    int code = TOOL_OK;
    if (t->options.json) {
        json_t *o = tool_json_new(t);
        json_object_set_new(o, "address", json_string(url));
        code = tool_json_print(t, o);
    } else {
        printf("%s\n", url);
    }
    if (!code && (fflush(stdout) != 0 || ferror(stdout)))
        code = tool_output_failed(t, "cannot write the address to standard output");
    return code;
}

/* Says where the page is, and waits for the end. */
static int attend(tool *t, live_runner *runner, const char *url)
{
    int code = print_address(t, url);
    if (code)
        return code;
    tool_note(t, "open this address in a browser of this machine; Ctrl-C ends it");
    if (t->options.open)
        open_browser(t, live_store_page(runner->store, url));
    wait_for_end(runner);
    return TOOL_OK;
}

static int serve(tool *t, live_store *store)
{
    live_runner runner;
    live_server *server = NULL;
    char *url = NULL;
    live_runner_open(&runner, store);
    int code = live_server_start(t, store, &runner, &server, &url);
    if (!code) {
        code = attend(t, &runner, url);
        live_runner_stop(&runner);
        live_server_stop(server);
    }
    live_runner_close(&runner);
    free(url);
    return code;
}

int cmd_serve(tool *t)
{
    live_store store;
    int code = tool_context(t);
    if (code)
        return code;
    live_store_open(&store, t);
    code = add_files(t, &store);
    if (!code)
        code = serve(t, &store);
    live_store_close(&store);
    return code;
}
#endif
