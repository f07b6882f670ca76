/* See pool.h. */
#include "redis/store/pool.h"

#include <stddef.h>

#include "redis/store/thread.h"

static struct bb_redis_lock lock = BB_REDIS_LOCK_INITIALIZER;
static struct bb_redis_job *first;
static struct bb_redis_job *last;
static int threads_max = BB_REDIS_POOL_THREADS_DEFAULT;
static int threads;
static int running; /* that bb_redis_pool_stop waits for */
static bool is_stopped;

void bb_redis_pool_set_threads(int count)
{
    threads_max = count;
}

static struct bb_redis_job *take(void)
{
    struct bb_redis_job *job = first;
    first = job->next;
    if (first == NULL)
        last = NULL;
    return job;
}

static void *work(void *context)
{
    bb_redis_thread_yield_to_others();
    bb_redis_lock_enter(&lock);
    for (;;) {
        while (first == NULL)
            bb_redis_lock_wait(&lock);
        struct bb_redis_job *job = take();
        bool is_awaited = !job->ends_on_close; /* the job may not exist afterwards */
        running += is_awaited;
        bb_redis_lock_leave(&lock);
        job->run(job);
        bb_redis_lock_enter(&lock);
        running -= is_awaited;
        if (is_stopped)
            bb_redis_lock_signal(&lock);
    }
    return context;
}

/* REQUIRES: the lock is held. */
static void start_threads(void)
{
    while (threads < threads_max && bb_redis_thread_start(work, NULL))
        threads++;
}

void bb_redis_pool_add(struct bb_redis_job *job)
{
    job->next = NULL;
    bb_redis_lock_enter(&lock);
    if (is_stopped) {
        bb_redis_lock_leave(&lock);
        return;
    }
    start_threads();
    bool has_threads = threads > 0;
    if (has_threads) {
        if (last == NULL)
            first = job;
        else
            last->next = job;
        last = job;
        bb_redis_lock_signal(&lock);
    }
    bb_redis_lock_leave(&lock);
    if (!has_threads)
        job->run(job);
}

void bb_redis_pool_stop(void)
{
    bb_redis_lock_enter(&lock);
    is_stopped = true;
    first = NULL;
    last = NULL;
    while (running > 0)
        bb_redis_lock_wait(&lock);
    bb_redis_lock_leave(&lock);
}
