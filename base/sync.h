/* Mutex, condition, thread: POSIX threads behind our names, so that misuse ends in one place.
 * Failures of a lock call are bugs and abort. */
#ifndef BB_BASE_SYNC_H
#define BB_BASE_SYNC_H

#include <pthread.h>

#include "bb/base.h"

struct bb_mutex {
    pthread_mutex_t handle;
};

struct bb_condition {
    pthread_cond_t handle;
};

struct bb_thread {
    pthread_t handle;
};

void bb_mutex_init(struct bb_mutex *mutex);
void bb_mutex_deinit(struct bb_mutex *mutex);
void bb_mutex_lock(struct bb_mutex *mutex);
bool bb_mutex_try_lock(struct bb_mutex *mutex);
void bb_mutex_unlock(struct bb_mutex *mutex);

void bb_condition_init(struct bb_condition *condition);
void bb_condition_deinit(struct bb_condition *condition);
void bb_condition_wait(struct bb_condition *condition, struct bb_mutex *mutex);
/* False when the time passed without a signal. Monotonic clock. */
bool bb_condition_wait_for(struct bb_condition *condition, struct bb_mutex *mutex,
                           uint64_t nanoseconds);
void bb_condition_signal(struct bb_condition *condition);
void bb_condition_broadcast(struct bb_condition *condition);

/* Runs run(argument) on a new thread with all signals blocked. */
BB_MUST_CHECK enum bb_status bb_thread_create(struct bb_thread *thread, void (*run)(void *),
                                              void *argument);
void bb_thread_join(struct bb_thread *thread);

#endif
