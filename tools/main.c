/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command and runs it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "presets.h"
#include "tool.h"

/* A number of arguments without a limit. */
#define ANY      (1 << 30)
#define COMPUTE  (TOOL_GROUP_COMPUTE | TOOL_GROUP_JSON)
#define PICTURES (COMPUTE | TOOL_GROUP_READ | TOOL_GROUP_WRITE)
#define FILTERS                                                                                    \
    (PICTURES | TOOL_GROUP_FILTER | TOOL_GROUP_GUIDE | TOOL_GROUP_DEVICE | TOOL_GROUP_CHAIN)

const tool_command tool_commands[] = {
    {"run", "filter pictures and videos with a chain of filters; an empty chain copies them",
     "CHAIN IN... -o OUT", ANY, FILTERS, cmd_run},
    {"explain", "show how a chain would be run", "CHAIN [FILE]", 2,
     COMPUTE | TOOL_GROUP_READ | TOOL_GROUP_SHAPE | TOOL_GROUP_DEVICE | TOOL_GROUP_CHAIN,
     cmd_explain},
    {"list", "list the filters", "", 0, TOOL_GROUP_JSON, cmd_list},
    {"presets", "list the presets, which stand for chains as @NAME, or print one's chain", "[NAME]",
     1, TOOL_GROUP_JSON | TOOL_GROUP_CHAIN, cmd_presets},
    {"help", "explain a command or a filter", "[NAME]", 1, 0, cmd_help},
    {"info", "say what picture files hold", "FILE...", ANY, COMPUTE | TOOL_GROUP_READ, cmd_info},
    {"estimate", "say how much noise is in pictures", "FILE...", ANY, COMPUTE | TOOL_GROUP_READ,
     cmd_estimate},
    {"compare", "measure how two pictures differ", "A B", 2,
     COMPUTE | TOOL_GROUP_READ | TOOL_GROUP_COMPARE, cmd_compare},
    {"report", "show two pictures, or a bench's JSON, in an HTML file",
     "BEFORE AFTER|BENCH.json -o OUT", 2, COMPUTE | TOOL_GROUP_REPORT, cmd_report},
    {"serve", "try filters on pictures in a browser of this machine", "[FILE|FOLDER]", 1,
     COMPUTE | TOOL_GROUP_READ | TOOL_GROUP_DEVICE | TOOL_GROUP_SERVE | TOOL_GROUP_CHAIN,
     cmd_serve},
    {"noise", "add noise to a picture", "IN -o OUT", 1, PICTURES | TOOL_GROUP_NOISE, cmd_noise},
    {"verify", "check the kernels of this CPU and GPU against the C reference", "", 0,
     COMPUTE | TOOL_GROUP_SHAPE | TOOL_GROUP_MEASURE | TOOL_GROUP_DEVICE, cmd_verify},
    {"bench", "measure the speed of the filters", "", 0,
     COMPUTE | TOOL_GROUP_SHAPE | TOOL_GROUP_MEASURE | TOOL_GROUP_REPEAT | TOOL_GROUP_DEVICE |
         TOOL_GROUP_CHAIN,
     cmd_bench},
    {"doctor", "describe this machine and this build", "", 0, COMPUTE, cmd_doctor},
    {"docs", "print the page of a filter in Markdown, or the table of presets", "FILTER|presets", 1,
     0, cmd_docs},
    {"man", "print the manual page", "", 0, 0, cmd_man},
    {"completion", "print the completion script of a shell", "bash", 1, 0, cmd_completion},
    {"version", "print the version", "", 0, TOOL_GROUP_JSON, cmd_version},
    {.name = NULL}};

const tool_command tool_filter_command = {
    "FILTER", "filter pictures and videos", "IN... -o OUT", ANY, FILTERS, cmd_filter};

/* Signal handlers can reach nothing else: the mutable globals of the command. */
static volatile int interrupted, at_once;
static struct timespec first_signal;

/* Some senders send a signal twice, to a process and to its group. */
#define SAME_SIGNAL_NS 300000000

static int64_t ns_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - then->tv_sec) * 1000000000 + (now.tv_nsec - then->tv_nsec);
}

/* The first signal asks for a clean end, a second one for one at once: a run that waits for its
 * input does not see the first. Only of terminals that close it is not a wish. */
static void on_signal(int number)
{
    static const char text[] = "tamis: error: interrupted\n";
    int error = errno;
    if (__atomic_load_n(&at_once, __ATOMIC_RELAXED)) {
        ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
        (void)written; /* nobody is left to be told */
        _exit(TOOL_INTERRUPTED);
    }
    if (!interrupted)
        clock_gettime(CLOCK_MONOTONIC, &first_signal);
    else if (number != SIGHUP && ns_since(&first_signal) > SAME_SIGNAL_NS) {
        signal(number, SIG_DFL);
        raise(number);
    }
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
    errno = error;
}

void tool_end_at_once(int on)
{
    __atomic_store_n(&at_once, on, __ATOMIC_RELAXED);
}

const volatile int *tool_cancel_flag(void)
{
    return &interrupted;
}

int tool_canceled(void)
{
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

/* Files are read by threads that block signals, so these interrupt no read. A terminal that closes
 * ends the run as cleanly as Ctrl-C does, unless nohup had the signal ignored. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, hangup;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

/* A closed pipe ends the command at once, as it ends other tools; but one that writes files first
 * tidies up. */
static void ignore_closed_pipes(const tool_command *command)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    if (command->groups &
        (TOOL_GROUP_WRITE | TOOL_GROUP_COMPARE | TOOL_GROUP_REPORT | TOOL_GROUP_SERVE))
        sigaction(SIGPIPE, &action, NULL);
}

/* Dies of SIGPIPE, unless it is blocked. */
static void end_of_pipe(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    raise(SIGPIPE);
}

const tool_command *tool_command_find(const char *name)
{
    for (const tool_command *c = tool_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

int tool_unknown_name(tool *t, const char *word)
{
    if (word[0] == '-')
        return tool_usage_error(t,
                                "the command comes first, then its options, such as: tamis "
                                "gaussian %s ...; see: tamis help",
                                word);
    if (word[0] == '@')
        return tool_usage_error(t, "a preset is a chain: tamis run %s IN... -o OUT", word);
    tool_nearest nearest = {0};
    for (const tool_command *c = tool_commands; c->name; c++)
        tool_nearest_offer(&nearest, word, c->name);
    for (int i = 0; i < tamis_filter_count(); i++)
        tool_nearest_offer(&nearest, word, tamis_filter_name(tamis_filter_at(i)));
    if (nearest.best)
        return tool_usage_error(t, "there is no command or filter '%s'; did you mean %s?", word,
                                nearest.best);
    return tool_usage_error(t, "there is no command or filter '%s'; see: tamis help", word);
}

static int find_command(tool *t, const char *word)
{
    t->name = word;
    t->command = tool_command_find(word);
    if (t->command)
        return TOOL_OK;
    t->filter = tamis_filter_find(word);
    t->command = &tool_filter_command;
    return t->filter ? TOOL_OK : tool_unknown_name(t, word);
}

static int dispatch(tool *t, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (argc < 2) {
        fputs("usage: tamis FILTER [--PARAMETER VALUE]... IN... -o OUT\n"
              "       tamis COMMAND ...\n"
              "See: tamis help\n",
              stderr);
        return TOOL_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        word = "version";
    int code = find_command(t, word);
    if (code)
        return code;
    ignore_closed_pipes(t->command);
    code = tool_options_parse(t, argc - 1, argv + 1);
    if (code)
        return code;
    if (t->options.help)
        return tool_help_print(t, t->command, t->filter);
    int most = t->command->max_args;
    if (t->arg_count > most)
        return tool_usage_error(t, "%s takes no argument '%s'; see: tamis help %s", t->name,
                                t->args[most], t->name);
    return t->command->run(t);
}

int main(int argc, char **argv)
{
    tool t = {0};
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    t.colors = isatty(STDERR_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
    if (pthread_key_create(&t.worker, NULL) != 0)
        return TOOL_MEMORY;
    catch_signals();
    int code = dispatch(&t, argc, argv);
    int lost = ferror(stdout); /* what was written earlier */
    if ((fflush(stdout) != 0 || lost) && code == TOOL_OK)
        code = tool_output_failed(&t, "cannot write to standard output");
    if (tool_canceled() && t.command && t.command->run != cmd_serve) { /* which ends that way */
        tool_error(&t, "interrupted");
        code = TOOL_INTERRUPTED;
    }
    free(t.settings);
    tool_presets_free(&t);
    tamis_ctx_free(&t.ctx);
    if (code == TOOL_CLOSED_PIPE)
        end_of_pipe();
    return code;
}

int cmd_version(tool *t)
{
    if (t->options.json)
        return tool_json_print(t, tool_json_new(t));
    printf("tamis %s\n", tamis_version());
    return TOOL_OK;
}
