/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Files on their way to or from a device beside those that CPUs work on. */
#define ON_DEVICE 2

typedef struct batch {
    tool_job *job;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a report is there, or a worker has gone */
    /* The rest is guarded by the mutex. */
    size_t next;           /* file to be taken */
    tool_report **reports; /* by file: those made and not told yet */
    size_t told;
    int running;   /* workers */
    char *stopped; /* why; NULL = it goes on */
    dev_t *full;   /* file systems without room */
    size_t full_count;
} batch;

/* Stands for the report about a file that was left out, since its file system is full. */
static tool_report left_out;

/* A worker with its thread. */
typedef struct hand {
    tool_worker worker;
    pthread_t thread;
    batch *batch;
} hand;

static int has_devices(const tool *t)
{
    return strcmp(tool_device_wish(t), "cpu") != 0 && tamis_device_count(t->ctx) > 0;
}

int tool_batch_workers(const tool_job *job)
{
    const tool *t = job->tool;
    int workers = t->options.jobs;
    if (workers == 0)
        workers = tamis_ctx_threads(t->ctx) + (has_devices(t) ? ON_DEVICE : 0);
    return (size_t)workers < job->files->count ? workers : (int)job->files->count;
}

/* The file system that a result goes to, whose folders may have to be made yet. */
static dev_t system_of(const char *out)
{
    struct stat st = {0};
    char *path = tool_copy_text(out), *slash = strrchr(path, '/');
    for (; slash && slash > path; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (stat(path, &st) == 0)
            break;
    }
    if (!slash || slash == path)
        stat(slash ? "/" : ".", &st);
    free(path);
    return st.st_dev;
}

/* The next two want the mutex held. */
static int has_no_room(const batch *b, const tool_file *file)
{
    dev_t system = b->full_count ? system_of(file->out) : 0;
    for (size_t i = 0; i < b->full_count; i++) {
        if (b->full[i] == system)
            return 1;
    }
    return 0;
}

static void note_full(batch *b, const tool_file *file)
{
    if (has_no_room(b, file))
        return;
    b->full = tool_grow(b->full, (b->full_count + 1) * sizeof(*b->full));
    b->full[b->full_count++] = system_of(file->out);
}

/* The next file that there may be room for, or SIZE_MAX. */
static size_t take(batch *b)
{
    const tool_files *files = b->job->files;
    size_t file = SIZE_MAX;
    pthread_mutex_lock(&b->mutex);
    while (!tool_canceled() && !b->stopped && b->next < files->count && file == SIZE_MAX) {
        size_t next = b->next++;
        if (has_no_room(b, &files->items[next]))
            b->reports[next] = &left_out;
        else
            file = next;
    }
    pthread_mutex_unlock(&b->mutex);
    return file;
}

static int deliver(tool_worker *worker, const tool_file *file, tool_report *report)
{
    batch *b = worker->owner;
    size_t i = (size_t)(file - b->job->files->items);
    pthread_mutex_lock(&b->mutex);
    int failed = report->outcome == TOOL_FAILED;
    tool_share_begin(worker->share, 0);
    tool_progress_count(&b->job->progress, i, failed, report->outcome != TOOL_SKIPPED);
    if (report->stop && !b->stopped)
        b->stopped = tool_copy_text(report->stop);
    if (report->no_room)
        note_full(b, file);
    int stopped = b->stopped || report->no_room;
    b->reports[i] = report;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    return stopped;
}

/* Whether a worker is to finish what it keeps: with more than its share of the files that are left
 * others would have to wait for it in the end. */
static int is_due(batch *b, const tool_worker *worker)
{
    pthread_mutex_lock(&b->mutex);
    size_t left = b->job->files->count - b->next;
    pthread_mutex_unlock(&b->mutex);
    return tool_worker_is_due(worker, left / (size_t)tool_batch_workers(b->job));
}

static void *work(void *arg)
{
    hand *h = arg;
    batch *b = h->batch;
    tool *t = &h->worker.tool;
    pthread_setspecific(t->worker, t);
    tamis_ctx_occupy(t->ctx, 1);
    for (size_t i = take(b); i != SIZE_MAX; i = take(b)) {
        tool_share_begin(h->worker.share, i + 1);
        tool_worker_file(&h->worker, &b->job->files->items[i]);
        if (is_due(b, &h->worker))
            tool_worker_rest(&h->worker);
    }
    tool_worker_rest(&h->worker);
    tamis_ctx_occupy(t->ctx, -1);
    pthread_mutex_lock(&b->mutex);
    b->running--;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* Tells about the files that are done, as far as those before them are, or, gaps or not, all of
 * them. Called with the mutex held, which it gives away meanwhile. */
static void tell_done(batch *b, tool_tell_fn tell, void *user, int gaps)
{
    const tool_files *files = b->job->files;
    while (b->told < files->count && (b->reports[b->told] || gaps)) {
        size_t i = b->told++;
        tool_report *report = b->reports[i];
        b->reports[i] = NULL;
        if (!report || report == &left_out)
            continue;
        pthread_mutex_unlock(&b->mutex);
        tell(user, &files->items[i], report);
        tool_report_free(report);
        pthread_mutex_lock(&b->mutex);
    }
}

static void wait_for_change(batch *b)
{
    struct timespec until;
    if (b->job->progress.mode == TOOL_PROGRESS_NONE) {
        pthread_cond_wait(&b->changed, &b->mutex);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(1e9 * TOOL_PROGRESS_INTERVAL);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&b->changed, &b->mutex, &until);
    tool_progress_show(&b->job->progress);
}

static void open_batch(batch *b, tool_job *job)
{
    pthread_condattr_t clock;
    *b = (batch){.job = job};
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, &clock);
    pthread_condattr_destroy(&clock);
    b->reports = tool_alloc(job->files->count * sizeof(*b->reports));
}

static void close_batch(batch *b)
{
    pthread_mutex_destroy(&b->mutex);
    pthread_cond_destroy(&b->changed);
    free(b->reports);
    free(b->full);
}

/* Signals stay with the thread that waits. */
static int start_thread(hand *h)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int bad = pthread_create(&h->thread, NULL, work, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return bad;
}

/* Starts as many as go. */
static int start_workers(batch *b, hand *hands, int count, int *started)
{
    tool_job *job = b->job;
    int code = TOOL_OK;
    for (*started = 0; *started < count; ++*started) {
        hand *h = &hands[*started];
        h->batch = b;
        code = tool_worker_start(&h->worker, job, &job->progress.shares[*started]);
        h->worker.deliver = deliver;
        h->worker.owner = b;
        pthread_mutex_lock(&b->mutex);
        b->running++;
        pthread_mutex_unlock(&b->mutex);
        if (!code && start_thread(h) == 0)
            continue;
        pthread_mutex_lock(&b->mutex);
        b->running--;
        pthread_mutex_unlock(&b->mutex);
        tool_worker_end(&h->worker);
        break;
    }
    if (*started > 0)
        return TOOL_OK;
    if (!code)
        tool_error(job->tool, "no thread can be started");
    return code ? code : TOOL_MEMORY;
}

int tool_batch_run(tool_job *job, tool_tell_fn tell, void *user, char **stopped)
{
    batch b;
    *stopped = NULL;
    if (job->files->count == 0)
        return TOOL_OK;
    int count = tool_batch_workers(job), started;
    hand *hands = tool_alloc((size_t)count * sizeof(*hands));
    open_batch(&b, job);
    tool_progress_start(&job->progress, job->tool, job->files, count);
    int code = start_workers(&b, hands, count, &started);
    pthread_mutex_lock(&b.mutex);
    while (b.running > 0) {
        tell_done(&b, tell, user, 0);
        if (b.running > 0)
            wait_for_change(&b);
    }
    pthread_mutex_unlock(&b.mutex);
    for (int i = 0; i < started; i++) {
        pthread_join(hands[i].thread, NULL);
        tool_worker_end(&hands[i].worker);
    }
    tool_progress_finish(&job->progress);
    pthread_mutex_lock(&b.mutex);
    tell_done(&b, tell, user, 1);
    pthread_mutex_unlock(&b.mutex);
    tool_progress_end(&job->progress);
    *stopped = b.full_count && !b.stopped ? tool_copy_text("there is no room left to write to")
                                          : b.stopped;
    close_batch(&b);
    free(hands);
    return code;
}
