/* SPDX-License-Identifier: Apache-2.0 */
/* The result as a file, by the whole way of tamis run. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "inputs.h"
#include "job.h"
#include "serve.h"

static int keep_report(tool_worker *worker, const tool_file *file, tool_report *report)
{
    (void)file;
    *(tool_report **)worker->owner = report;
    return 0;
}

static int run_file(tool *t, tool_worker *worker, const tool_file *file)
{
    tool_report *report = NULL;
    pthread_setspecific(t->worker, &worker->tool);
    worker->deliver = keep_report;
    worker->owner = &report;
    tool_worker_file(worker, file);
    tool_worker_rest(worker);
    pthread_setspecific(t->worker, t);
    int code = !report                        ? TOOL_INTERRUPTED /* given up */
               : report->outcome == TOOL_DONE ? TOOL_OK
                                              : report->code;
    if (code)
        snprintf(t->error, sizeof(t->error), "%s",
                 report && report->message ? report->message : "interrupted");
    tool_report_free(report);
    return code;
}

/* The whole way of tamis run, so that the bytes are those that it writes. */
static int filter_file(tool *t, const tamis_graph *graph, const tool_file *file)
{
    tool_job job;
    tool_worker worker;
    tool_share share = {0};
    tool_files files = {.items = (tool_file *)file, .count = 1};
    int code = tool_job_start(&job, t, graph);
    job.files = &files;
    if (!code) {
        code = tool_worker_start(&worker, &job, &share);
        if (!code)
            code = run_file(t, &worker, file);
        tool_worker_end(&worker);
    }
    tool_job_end(&job);
    return code;
}

int live_save(live_store *store, tool *t, live_picture *p, const char *chain, const char *format,
              int *fd)
{
    tamis_graph *graph = NULL;
    char *path = NULL;
    FILE *place = live_store_upload(store, &path);
    if (!place) {
        snprintf(t->error, sizeof(t->error), "no room for a temporary file");
        return TOOL_WRITE;
    }
    fclose(place);
    tool own = *t;
    own.held = tool_copy_text("");
    own.options.overwrite = 1;
    own.options.format = format;
    tool_file file = {.in = p->path, .out = path};
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    int code = status ? tool_exit_code(status) : TOOL_OK;
    if (!code) {
        code = filter_file(&own, graph, &file);
        pthread_setspecific(t->worker, t);
        snprintf(t->error, sizeof(t->error), "%s", *own.error ? own.error : own.held);
    }
    free(own.held);
    tamis_graph_free(&graph);
    *fd = code ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    free(path);
    return code ? code : *fd < 0 ? TOOL_WRITE : TOOL_OK;
}
