/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/mem.h"

/* A job while it is worked on; lives on its caller's stack. */
struct active {
    const tamis_job *job;
    atomic_int_fast64_t next, done;
    atomic_int helpers; /* pool threads inside; changed under the pool's mutex */
    int full; /* a pool thread was refused, and nobody has left a job since; guarded by it */
    pthread_cond_t idle; /* signaled when helpers falls to 0 */
    struct active *link;
};

struct tamis_pool {
    tamis_ctx *ctx;
    int threads; /* the caller's included */
    pthread_t *workers;
    int started;    /* workers that run */
    atomic_int pid; /* of the process they run in */
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct active *head;
    atomic_uint jobs; /* how many there have been */
    atomic_int busy;  /* threads inside jobs, and those that the program has counted in */
    int patience;     /* how often a thread looks for what it waits for before it sleeps */
    unsigned left;    /* how often a thread has left a job */
    int quit;
    atomic_int has_key; /* since the first thread that the program has counted in */
    pthread_key_t key;  /* such a thread's count */
};

/* Going to sleep and waking up take as long as a small picture. */
#define PATIENCE 1000

static void init_locks(tamis_pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
}

tamis_pool *tamis_priv_pool_create(tamis_ctx *ctx, int threads)
{
    tamis_pool *pool = tamis_priv_mem_zalloc(ctx, sizeof *pool);
    if (!pool)
        return NULL;
    pool->ctx = ctx;
    pool->threads = threads;
    /* Where threads share CPUs, one that looks around keeps another from working. */
    pool->patience = sysconf(_SC_NPROCESSORS_ONLN) >= threads ? PATIENCE : 0;
    atomic_init(&pool->pid, (int)getpid());
    atomic_init(&pool->jobs, 0);
    atomic_init(&pool->busy, 0);
    atomic_init(&pool->has_key, 0);
    init_locks(pool);
    pool->workers = tamis_priv_mem_zalloc(ctx, (size_t)threads * sizeof *pool->workers);
    if (!pool->workers) {
        tamis_priv_pool_free(pool);
        return NULL;
    }
    return pool;
}

void tamis_priv_pool_free(tamis_pool *pool)
{
    if (!pool)
        return;
    if (atomic_load(&pool->pid) == (int)getpid()) { /* a forked child has no workers to join */
        pthread_mutex_lock(&pool->mutex);
        pool->quit = 1;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->workers[i], NULL);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->mutex);
    }
    if (atomic_load(&pool->has_key))
        pthread_key_delete(pool->key);
    tamis_priv_mem_free(pool->ctx, pool->workers);
    tamis_priv_mem_free(pool->ctx, pool);
}

int tamis_priv_pool_threads(const tamis_pool *pool)
{
    return pool->threads;
}

static int has_items(struct active *a)
{
    return atomic_load(&a->next) < a->job->count && !a->job->stopped(a->job->user);
}

/* How a thread came out of a job. */
enum { REFUSED, WORKED, SENT_AWAY };

/* Whether more threads are busy than the pool has; then the one that asks counts no more. */
static int is_surplus(tamis_pool *pool)
{
    int busy = atomic_load(&pool->busy);
    while (busy > pool->threads)
        if (atomic_compare_exchange_weak(&pool->busy, &busy, busy - 1))
            return 1;
    return 0;
}

static int take_items(tamis_pool *pool, struct active *a, int is_caller)
{
    const tamis_job *job = a->job;
    int how = WORKED;
    void *local = job->enter(job->user, is_caller);
    if (!local)
        return REFUSED;
    while (!job->stopped(job->user)) {
        if (!is_caller && is_surplus(pool)) {
            how = SENT_AWAY;
            break;
        }
        int64_t i = atomic_fetch_add(&a->next, 1);
        if (i >= job->count)
            break;
        job->item(job->user, local, i);
        int64_t done = atomic_fetch_add(&a->done, 1) + 1;
        if (is_caller && job->progress)
            job->progress(job->user, done);
    }
    job->leave(job->user, local);
    return how;
}

static struct active *find_work(tamis_pool *pool)
{
    if (atomic_load(&pool->busy) >= pool->threads)
        return NULL;
    for (struct active *a = pool->head; a; a = a->link)
        if (!a->full && has_items(a))
            return a;
    return NULL;
}

/* Called with the mutex held, after a thread has left a job: what it worked with may be what others
 * lacked. */
static void look_again(tamis_pool *pool)
{
    int waited = 0;
    pool->left++;
    for (struct active *a = pool->head; a; a = a->link) {
        waited |= a->full;
        a->full = 0;
    }
    if (waited)
        pthread_cond_broadcast(&pool->work);
}

/* One thread less is busy: another may help. Called with the mutex held. */
static void count_out(tamis_pool *pool)
{
    atomic_fetch_sub(&pool->busy, 1);
    if (find_work(pool))
        pthread_cond_signal(&pool->work);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits a moment for another job than the last. Called with the mutex held, which it gives away. */
static void look_out(tamis_pool *pool)
{
    unsigned last = atomic_load(&pool->jobs);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->patience && atomic_load(&pool->jobs) == last; i++)
        relax();
    pthread_mutex_lock(&pool->mutex);
}

/* The same for the helpers of a job to be done. */
static void wait_a_moment(tamis_pool *pool, struct active *a)
{
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->patience && atomic_load(&a->helpers) > 0; i++)
        relax();
    pthread_mutex_lock(&pool->mutex);
}

/* The job to work on next, or NULL after sleeping. looked: whether the thread has looked out since
 * it last had work. */
static struct active *wait_for_work(tamis_pool *pool, int *looked)
{
    struct active *a = find_work(pool);
    if (!a && !*looked) {
        look_out(pool);
        a = find_work(pool);
    }
    *looked = !a;
    if (!a && !pool->quit)
        pthread_cond_wait(&pool->work, &pool->mutex);
    return a;
}

static void *worker(void *arg)
{
    tamis_pool *pool = arg;
    int looked = 0;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->quit) {
        struct active *a = wait_for_work(pool, &looked);
        if (!a)
            continue;
        unsigned left = pool->left;
        atomic_fetch_add(&a->helpers, 1);
        atomic_fetch_add(&pool->busy, 1);
        pthread_mutex_unlock(&pool->mutex);
        int how = take_items(pool, a, 0);
        pthread_mutex_lock(&pool->mutex);
        if (how == REFUSED)
            a->full = left == pool->left;
        else
            look_again(pool);
        if (how != SENT_AWAY)
            atomic_fetch_sub(&pool->busy, 1); /* this thread itself looks for more work */
        if (atomic_fetch_sub(&a->helpers, 1) == 1)
            pthread_cond_signal(&a->idle);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Called with the mutex held. A thread that cannot be started is done without. */
static void start_workers(tamis_pool *pool)
{
    sigset_t all, old;
    sigfillset(&all); /* signals stay with the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->started < pool->threads - 1 &&
           pthread_create(&pool->workers[pool->started], NULL, worker, pool) == 0)
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* In the child of a fork the parent's threads do not exist and its locks may be held by them. The
 * first thread that comes here in the child makes new ones, while others wait: the negative number
 * of the process says that it is at work. */
static void renew_after_fork(tamis_pool *pool)
{
    int me = (int)getpid(), seen = atomic_load(&pool->pid);
    if (seen == me)
        return;
    if (seen != -me && atomic_compare_exchange_strong(&pool->pid, &seen, -me)) {
        pool->started = 0;
        pool->head = NULL;
        atomic_store(&pool->busy, 0);
        if (atomic_load(&pool->has_key))
            pthread_setspecific(pool->key, NULL);
        init_locks(pool);
        atomic_store(&pool->pid, me);
    }
    while (atomic_load(&pool->pid) != me)
        sched_yield();
}

static void push(tamis_pool *pool, struct active *a)
{
    pthread_mutex_lock(&pool->mutex);
    start_workers(pool);
    a->link = pool->head;
    pool->head = a;
    atomic_fetch_add(&pool->jobs, 1);
    if (find_work(pool))
        pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

static void pull(tamis_pool *pool, struct active *a)
{
    pthread_mutex_lock(&pool->mutex);
    struct active **at = &pool->head;
    while (*at != a)
        at = &(*at)->link;
    *at = a->link;
    look_again(pool);
    if (atomic_load(&a->helpers) > 0)
        wait_a_moment(pool, a);
    while (atomic_load(&a->helpers) > 0)
        pthread_cond_wait(&a->idle, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- threads that count as busy */

/* Whether the program has counted this thread in. */
static int is_counted(tamis_pool *pool)
{
    return atomic_load(&pool->has_key) && pthread_getspecific(pool->key);
}

/* Without a key, of which a process has about a thousand, a thread may count twice. */
static void note_count(tamis_pool *pool, int count)
{
    if (!atomic_load(&pool->has_key)) {
        pthread_mutex_lock(&pool->mutex);
        if (!atomic_load(&pool->has_key) && pthread_key_create(&pool->key, NULL) == 0)
            atomic_store(&pool->has_key, 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    if (!atomic_load(&pool->has_key))
        return;
    intptr_t old = (intptr_t)pthread_getspecific(pool->key);
    pthread_setspecific(pool->key, (void *)(old + count));
}

static void count_out_one(tamis_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    count_out(pool);
    pthread_mutex_unlock(&pool->mutex);
}

void tamis_priv_pool_occupy(tamis_pool *pool, int count)
{
    if (pool->threads == 1)
        return;
    renew_after_fork(pool);
    note_count(pool, count);
    if (count > 0)
        atomic_fetch_add(&pool->busy, count);
    for (; count < 0; count++)
        count_out_one(pool);
}

/* ---- jobs */

void tamis_priv_pool_run(tamis_pool *pool, const tamis_job *job)
{
    struct active a = {.job = job};
    atomic_init(&a.helpers, 0);
    int alone = pool->threads == 1, shared = !alone && job->count > 1;
    if (!alone)
        renew_after_fork(pool);
    int counts = !alone && !is_counted(pool);
    if (counts)
        atomic_fetch_add(&pool->busy, 1);
    if (shared) {
        pthread_cond_init(&a.idle, NULL);
        push(pool, &a);
    }
    take_items(pool, &a, 1);
    if (shared) {
        pull(pool, &a);
        pthread_cond_destroy(&a.idle);
    } else if (!alone) {
        pthread_mutex_lock(&pool->mutex);
        look_again(pool);
        pthread_mutex_unlock(&pool->mutex);
    }
    if (counts)
        count_out_one(pool);
}

/* ---- items and nothing else */

struct each {
    void (*item)(void *user, int64_t index);
    void *user;
};

static void *each_enter(void *user, int is_caller)
{
    (void)is_caller;
    return user;
}

static void each_leave(void *user, void *local)
{
    (void)user;
    (void)local;
}

static void each_item(void *user, void *local, int64_t index)
{
    const struct each *e = user;
    (void)local;
    e->item(e->user, index);
}

static int each_stopped(void *user)
{
    (void)user;
    return 0;
}

void tamis_priv_pool_each(tamis_pool *pool, int64_t count, void (*item)(void *user, int64_t index),
                          void *user)
{
    struct each e = {item, user};
    tamis_job job = {.user = &e,
                     .count = count,
                     .enter = each_enter,
                     .leave = each_leave,
                     .item = each_item,
                     .stopped = each_stopped};
    tamis_priv_pool_run(pool, &job);
}
