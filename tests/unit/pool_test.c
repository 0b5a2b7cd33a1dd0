/* SPDX-License-Identifier: Apache-2.0 */
/* The pool where jobs have no room for its threads at first. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "core/pool.h"
#include "unit.h"

enum { THREADS = 4, ITEMS = 400 };

/* What jobs have room for: their callers and, once one of these has left, all. */
typedef struct room {
    atomic_int left, refused, helped;
} room;

static void *enter(void *user, int is_caller)
{
    room *r = user;
    if (is_caller)
        return r;
    int has_room = atomic_load(&r->left) > 0;
    atomic_fetch_add(has_room ? &r->helped : &r->refused, 1);
    return has_room ? r : NULL;
}

static void leave(void *user, void *local)
{
    room *r = user;
    (void)local;
    atomic_fetch_add(&r->left, 1);
}

static void item(void *user, void *local, int64_t index)
{
    (void)user, (void)local, (void)index;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static int never(void *user)
{
    (void)user;
    return 0;
}

static int has_help(void *user)
{
    room *r = user;
    return atomic_load(&r->helped) > 0;
}

static tamis_job job_of(room *r, int64_t count, int (*stopped)(void *))
{
    return (tamis_job){.user = r,
                       .count = count,
                       .enter = enter,
                       .leave = leave,
                       .item = item,
                       .stopped = stopped};
}

/* Threads that are refused wait, instead of asking again and again. */
static void refused_threads_wait(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_pool *pool = tamis_priv_pool_create(ctx, THREADS);
    room r = {0, 0, 0};
    tamis_job job = job_of(&r, 20, never);
    (void)state;
    assert_non_null(pool);
    tamis_priv_pool_run(pool, &job);
    assert_in_range(atomic_load(&r.refused), 0, THREADS - 1);
    tamis_priv_pool_free(pool);
    tamis_ctx_free(&ctx);
}

typedef struct other {
    tamis_pool *pool;
    room *r;
    int64_t items;
} other;

static void *run_other(void *arg)
{
    other *o = arg;
    tamis_job job = job_of(o->r, o->items, never);
    tamis_priv_pool_run(o->pool, &job);
    return NULL;
}

static void come_back_after(int64_t items)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_pool *pool = tamis_priv_pool_create(ctx, THREADS);
    room r = {0, 0, 0};
    other o = {pool, &r, items};
    tamis_job job = job_of(&r, ITEMS, has_help);
    pthread_t thread;
    assert_non_null(pool);
    assert_int_equal(pthread_create(&thread, NULL, run_other, &o), 0);
    tamis_priv_pool_run(pool, &job);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&r.helped) > 0);
    tamis_priv_pool_free(pool);
    tamis_ctx_free(&ctx);
}

/* When a short job's caller leaves, whether it was shared or not, a thread that was refused by
 * another job helps there. */
static void refused_threads_come_back(void **state)
{
    (void)state;
    come_back_after(1);
    come_back_after(4);
}

/* ---- no more threads than the pool has */

typedef struct crowd {
    tamis_pool *pool;
    atomic_int inside, most;
    atomic_int helped, alone; /* alone: the most that were inside while all were occupied */
} crowd;

static void *crowd_enter(void *user, int is_caller)
{
    crowd *c = user;
    if (!is_caller)
        atomic_fetch_add(&c->helped, 1);
    return c;
}

static void crowd_leave(void *user, void *local)
{
    (void)user, (void)local;
}

static void crowd_item(void *user, void *local, int64_t index)
{
    crowd *c = user;
    int now = atomic_fetch_add(&c->inside, 1) + 1, most = atomic_load(&c->most);
    (void)local, (void)index;
    while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
        ;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    atomic_fetch_sub(&c->inside, 1);
}

static tamis_job crowd_job(crowd *c, int64_t count)
{
    return (tamis_job){.user = c,
                       .count = count,
                       .enter = crowd_enter,
                       .leave = crowd_leave,
                       .item = crowd_item,
                       .stopped = never};
}

typedef struct occupation {
    tamis_pool *pool;
    int count;
} occupation;

static void *occupy(void *arg)
{
    occupation *o = arg;
    tamis_priv_pool_occupy(o->pool, o->count);
    return NULL;
}

/* As if so many other threads did it. */
static void occupy_others(tamis_pool *pool, int count)
{
    occupation o = {pool, count};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, occupy, &o), 0);
    pthread_join(thread, NULL);
}

/* Threads that the program uses otherwise are not there to help; one that is free again is. */
static void occupied_threads_do_not_help(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_pool *pool = tamis_priv_pool_create(ctx, THREADS);
    crowd c = {.pool = pool};
    tamis_job job = crowd_job(&c, 20);
    (void)state;
    assert_non_null(pool);
    occupy_others(pool, THREADS - 1);
    tamis_priv_pool_run(pool, &job);
    assert_int_equal(atomic_load(&c.helped), 0);
    occupy_others(pool, -1);
    tamis_priv_pool_run(pool, &job);
    assert_int_equal(atomic_load(&c.most), 2);
    occupy_others(pool, -(THREADS - 2));
    tamis_priv_pool_run(pool, &job);
    assert_in_range(atomic_load(&c.most), 3, THREADS);
    tamis_priv_pool_free(pool);
    tamis_ctx_free(&ctx);
}

/* A thread that is counted in and then runs a job is one thread. */
static void nobody_counts_twice(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_pool *pool = tamis_priv_pool_create(ctx, 2);
    crowd c = {.pool = pool};
    tamis_job job = crowd_job(&c, 20);
    (void)state;
    assert_non_null(pool);
    tamis_priv_pool_occupy(pool, 1);
    tamis_priv_pool_run(pool, &job);
    assert_int_equal(atomic_load(&c.most), 2);
    tamis_priv_pool_occupy(pool, -1);
    occupy_others(pool, 1);
    atomic_store(&c.most, 0);
    tamis_priv_pool_run(pool, &job);
    assert_int_equal(atomic_load(&c.most), 1);
    tamis_priv_pool_free(pool);
    tamis_ctx_free(&ctx);
}

static void *occupy_later(void *arg)
{
    crowd *c = arg;
    while (!atomic_load(&c->helped))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    tamis_priv_pool_occupy(c->pool, THREADS);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_store(&c->most, 0);
    atomic_store(&c->helped, 0);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&c->alone, atomic_load(&c->most));
    tamis_priv_pool_occupy(c->pool, -THREADS);
    return NULL;
}

/* Helpers go when the program needs their CPUs, and come back in the middle of a job. */
static void helpers_go_and_come_back(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    tamis_pool *pool = tamis_priv_pool_create(ctx, THREADS);
    crowd c = {.pool = pool};
    tamis_job job = crowd_job(&c, 200);
    pthread_t thread;
    (void)state;
    assert_non_null(pool);
    assert_int_equal(pthread_create(&thread, NULL, occupy_later, &c), 0);
    tamis_priv_pool_run(pool, &job);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&c.alone), 1);
    assert_true(atomic_load(&c.helped) > 0);
    assert_true(atomic_load(&c.most) > 1);
    tamis_priv_pool_free(pool);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_threads_wait),         cmocka_unit_test(refused_threads_come_back),
        cmocka_unit_test(occupied_threads_do_not_help), cmocka_unit_test(nobody_counts_twice),
        cmocka_unit_test(helpers_go_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
