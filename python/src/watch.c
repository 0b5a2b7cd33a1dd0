/* SPDX-License-Identifier: Apache-2.0 */
/* Long runs and Ctrl-C: the interpreter's handlers run when it is asked to, on the main thread. */
#include "core.h"

#include <time.h>

enum { EVERY_NS = 50000000 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether the thread is in a run: handlers run inside of it, and may not begin another. */
static _Thread_local int inside;

/* On the thread that runs the plan. */
static void look(void *user, int64_t done, int64_t total)
{
    core_watch *watch = user;
    (void)done;
    (void)total;
    if (watch->cancel || now() < watch->next)
        return;
    PyEval_RestoreThread(watch->state);
    if (PyErr_CheckSignals())
        __atomic_store_n(&watch->cancel, 1, __ATOMIC_RELAXED); /* others read it */
    watch->state = PyEval_SaveThread();
    watch->next = now() + EVERY_NS;
}

int core_watch_begin(core_watch *watch, tamis_run_options *options, int *running)
{
    if (inside) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a signal's handler called a filter while one was at work on this thread: "
                        "set a flag there and filter afterwards");
        return -1;
    }
    inside = 1;
    watch->running = running;
    if (running)
        (*running)++;
    watch->cancel = 0;
    watch->next = now() + EVERY_NS;
    options->progress = look;
    options->progress_user = watch;
    options->cancel = &watch->cancel;
    watch->state = PyEval_SaveThread();
    return 0;
}

int core_watch_end(core_watch *watch)
{
    PyEval_RestoreThread(watch->state);
    inside = 0;
    if (watch->running)
        (*watch->running)--;
    return PyErr_Occurred() ? -1 : 0;
}
