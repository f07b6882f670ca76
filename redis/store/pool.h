/* Threads for work on stores that may wait for a disk.
 *
 *     short jobs   reads for blocked clients, creations, removals
 *     long jobs    commands that read or write a whole store. One thread never has one, so that
 *                  short jobs do not wait for them
 *     apart        a save: it has a separate thread, because a child process waits for it
 *
 * Jobs begin in the order in which they were added, except that a short job overtakes long jobs
 * that may not begin yet. The threads are started by the first job, so that a server without stores
 * starts no thread.
 *
 * Threads: any. */
#ifndef BB_REDIS_STORE_POOL_H
#define BB_REDIS_STORE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define BB_REDIS_POOL_THREADS_DEFAULT 4
#define BB_REDIS_POOL_THREADS_MAX     64

/* Embedded in the caller's own struct; unchanged until run is called. */
struct bb_redis_job {
    void (*run)(struct bb_redis_job *job);
    bool is_long;
    /* Closing the store ends it: bb_redis_pool_stop does not wait for it. */
    bool ends_on_close;
    struct bb_redis_job *next;
    uint64_t number; /* in the order of all jobs */
};

/* Before the first job: the number of threads, 2 ... BB_REDIS_POOL_THREADS_MAX. */
void bb_redis_pool_set_threads(int count);

/* If the system refuses all threads, the job runs in the calling one. */
void bb_redis_pool_add(struct bb_redis_job *job);

/* Runs the job in a new thread, which ends with the job. */
void bb_redis_pool_add_apart(struct bb_redis_job *job);

/* Drops the jobs that have not begun, and waits until the others have ended. A dropped job never
 * runs. Later jobs are dropped too. For the end of the process, before stores are closed. */
void bb_redis_pool_stop(void);

/* For long jobs that closing the store does not end. */
bool bb_redis_pool_is_stopped(void);

#endif
