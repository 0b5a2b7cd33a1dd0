/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that work through numbered items together with their caller.
 *
 * Threads start at the first job, so a context costs nothing until it filters, and start anew in
 * the child of a fork. Which thread takes which item is left to chance; results must not depend on
 * it.
 *
 * No thread of the pool helps while as many threads are busy as the pool has, callers included. */
#ifndef TAMIS_CORE_POOL_H
#define TAMIS_CORE_POOL_H

#include <stdint.h>
#include <tamis/core.h>

typedef struct tamis_pool tamis_pool;

/* What the pool shall do. Callbacks get user. */
typedef struct tamis_job {
    void *user;
    int64_t count; /* items 0 .. count-1 */
    /* Gives a thread what it needs to work on this job; is_caller says that it is the thread that
     * called tamis_priv_pool_run(), which may wait here. Others get NULL when there is nothing to
     * be had, and go away until a thread has left a job. */
    void *(*enter)(void *user, int is_caller);
    void (*leave)(void *user, void *local);
    void (*item)(void *user, void *local, int64_t index);
    int (*stopped)(void *user);                 /* non-zero: take no more items */
    void (*progress)(void *user, int64_t done); /* on the caller's thread; may be NULL */
} tamis_job;

/* A pool of so many threads, the caller's included. NULL when out of memory. */
tamis_pool *tamis_priv_pool_create(tamis_ctx *ctx, int threads);
void tamis_priv_pool_free(tamis_pool *pool);
int tamis_priv_pool_threads(const tamis_pool *pool);

/* Works through the job with the caller's thread and those of the pool that are idle, and returns
 * when all items are done or, after stopped(), when nobody works on the job any more. May be called
 * from many threads at once, but not from inside an item. */
void tamis_priv_pool_run(tamis_pool *pool, const tamis_job *job);

/* Counts the calling thread in, which is busy outside of jobs, or, negative, out again. In between
 * it does not count once more when it runs a job. */
void tamis_priv_pool_occupy(tamis_pool *pool, int count);

/* Calls item(user, 0) .. item(user, count - 1), in any order and at the same time, and returns when
 * all are done. */
void tamis_priv_pool_each(tamis_pool *pool, int64_t count, void (*item)(void *user, int64_t index),
                          void *user);

#endif
