/* See pool.h. */
#include "redis/store/pool.h"

#include <stddef.h>

#include "redis/store/thread.h"

struct queue {
    struct bb_redis_job *first;
    struct bb_redis_job *last;
};

static struct bb_redis_lock lock = BB_REDIS_LOCK_INITIALIZER;
static struct queue short_jobs;
static struct queue long_jobs;
static uint64_t job_count;
static int threads_max = BB_REDIS_POOL_THREADS_DEFAULT;
static int threads;
static int long_running;
static int running; /* that bb_redis_pool_stop waits for */
static bool is_stopped;

void bb_redis_pool_set_threads(int count)
{
    threads_max = count;
}

static void enter_queue(struct queue *queue, struct bb_redis_job *job)
{
    job->next = NULL;
    job->number = job_count++;
    if (queue->last == NULL)
        queue->first = job;
    else
        queue->last->next = job;
    queue->last = job;
}

static struct bb_redis_job *leave_queue(struct queue *queue)
{
    struct bb_redis_job *job = queue->first;
    queue->first = job->next;
    if (queue->first == NULL)
        queue->last = NULL;
    return job;
}

/* A single thread, where the system refuses more, has to do everything. */
static bool may_begin_long(void)
{
    return long_jobs.first != NULL && (long_running + 1 < threads || threads == 1);
}

/* The next job; NULL: none may begin. */
static struct bb_redis_job *take(void)
{
    bool takes_long = may_begin_long();
    if (short_jobs.first == NULL)
        return takes_long ? leave_queue(&long_jobs) : NULL;
    if (takes_long && long_jobs.first->number < short_jobs.first->number)
        return leave_queue(&long_jobs);
    return leave_queue(&short_jobs);
}

/* Runs the job without the lock. REQUIRES: the lock is held. */
static void run(struct bb_redis_job *job)
{
    bool is_awaited = !job->ends_on_close; /* the job may not exist afterwards */
    bool is_long = job->is_long;
    running += is_awaited;
    long_running += is_long;
    bb_redis_lock_leave(&lock);
    job->run(job);
    bb_redis_lock_enter(&lock);
    running -= is_awaited;
    long_running -= is_long;
    if (is_stopped)
        bb_redis_lock_signal(&lock);
}

static void *work(void *context)
{
    bb_redis_thread_yield_to_others();
    bb_redis_lock_enter(&lock);
    for (;;) {
        struct bb_redis_job *job = take();
        if (job == NULL)
            bb_redis_lock_wait(&lock);
        else
            run(job);
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
    bb_redis_lock_enter(&lock);
    if (is_stopped) {
        bb_redis_lock_leave(&lock);
        return;
    }
    start_threads();
    bool has_threads = threads > 0;
    if (has_threads) {
        enter_queue(job->is_long ? &long_jobs : &short_jobs, job);
        bb_redis_lock_signal(&lock);
    }
    bb_redis_lock_leave(&lock);
    if (!has_threads)
        job->run(job);
}

static void *work_apart(void *context)
{
    struct bb_redis_job *job = context;
    bb_redis_thread_yield_to_others();
    job->run(job);
    bb_redis_lock_enter(&lock);
    running--;
    bb_redis_lock_signal(&lock);
    bb_redis_lock_leave(&lock);
    return NULL;
}

void bb_redis_pool_add_apart(struct bb_redis_job *job)
{
    bb_redis_lock_enter(&lock);
    bool is_dropped = is_stopped;
    bool is_started = !is_dropped && bb_redis_thread_start(work_apart, job);
    running += is_started;
    bb_redis_lock_leave(&lock);
    if (!is_dropped && !is_started)
        bb_redis_pool_add(job);
}

void bb_redis_pool_stop(void)
{
    bb_redis_lock_enter(&lock);
    is_stopped = true;
    short_jobs = (struct queue){0};
    long_jobs = (struct queue){0};
    while (running > 0)
        bb_redis_lock_wait(&lock);
    bb_redis_lock_leave(&lock);
}

bool bb_redis_pool_is_stopped(void)
{
    bb_redis_lock_enter(&lock);
    bool result = is_stopped;
    bb_redis_lock_leave(&lock);
    return result;
}
