/* Locks and threads of the module. The library's own are not public.
 *
 * Threads: any. A child made by fork uses none of these. */
#ifndef BB_REDIS_STORE_THREAD_H
#define BB_REDIS_STORE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct bb_redis_lock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

/* For static locks. */
#define BB_REDIS_LOCK_INITIALIZER                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER                                        \
    }

void bb_redis_lock_enter(struct bb_redis_lock *lock);
void bb_redis_lock_leave(struct bb_redis_lock *lock);
/* Releases the lock until bb_redis_lock_signal; may return earlier. REQUIRES: it is held. */
void bb_redis_lock_wait(struct bb_redis_lock *lock);
/* Wakes all waiting threads. REQUIRES: it is held. */
void bb_redis_lock_signal(struct bb_redis_lock *lock);

/* Starts a thread that is never joined, and gets no signals of the process. False: the system
 * refuses another thread. */
bool bb_redis_thread_start(void *(*run)(void *context), void *context);

/* Gives the calling thread a lower priority than the server's, for which clients wait. */
void bb_redis_thread_yield_to_others(void);

/* Notes that the calling thread is the server's, which executes commands. Once. */
void bb_redis_thread_note_server(void);
/* In a child made by fork: whether the server's thread forked. */
bool bb_redis_thread_is_server(void);

#endif
