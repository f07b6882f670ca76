/* Mutex, condition, thread, once: wrappers of POSIX threads. A failing lock call is a bug and
 * aborts.
 *
 * A child made by fork inherits mutexes held by threads of its parent, and conditions that these
 * wait for; the threads do not exist in it. So deinit does not touch objects of another process:
 * pthread_cond_destroy would wait forever for the waiters. */
#ifndef BB_BASE_SYNC_H
#define BB_BASE_SYNC_H

#include <pthread.h>
#include <stdatomic.h>

#include "bb/base.h"

struct bb_mutex {
    pthread_mutex_t handle;
    uint64_t process; /* its creator: base/process.h */
    /* The thread that holds it, 0: none. Kept only in checked builds (base/assert.h). */
    _Atomic uintptr_t holder;
};

struct bb_condvar {
    pthread_cond_t handle;
    uint64_t process;
};

/* For a mutex that is never deinitialised. */
#define BB_MUTEX_STATIC                                                                            \
    {                                                                                              \
        .handle = PTHREAD_MUTEX_INITIALIZER                                                        \
    }

struct bb_thread {
    pthread_t handle;
};

void bb_mutex_init(struct bb_mutex *mutex);
void bb_mutex_deinit(struct bb_mutex *mutex);
void bb_mutex_lock(struct bb_mutex *mutex);
void bb_mutex_unlock(struct bb_mutex *mutex);
/* For assertions: true if the calling thread holds the mutex. Always false in unchecked builds. */
bool bb_mutex_is_held(const struct bb_mutex *mutex);
/* Locks a mutex that a child made by fork may try to lock too. False, without waiting, in a child
 * that inherited the mutex while it is held, perhaps by a thread that the child does not have. */
BB_MUST_CHECK bool bb_mutex_enter(struct bb_mutex *mutex);
bool bb_mutex_is_inherited(const struct bb_mutex *mutex);
/* For a mutex inherited by fork: true if no thread held it at the fork. */
bool bb_mutex_is_free(struct bb_mutex *mutex);

void bb_condvar_init(struct bb_condvar *condition);
void bb_condvar_deinit(struct bb_condvar *condition);
void bb_condvar_wait(struct bb_condvar *condition, struct bb_mutex *mutex);
/* Returns false if the time passes without a signal. Monotonic clock. */
bool bb_condvar_wait_for(struct bb_condvar *condition, struct bb_mutex *mutex,
                         uint64_t nanoseconds);
void bb_condvar_signal(struct bb_condvar *condition);
void bb_condvar_broadcast(struct bb_condvar *condition);

/* Runs run(argument) on a new thread with all signals blocked. */
BB_MUST_CHECK enum bb_status bb_thread_create(struct bb_thread *thread, void (*run)(void *),
                                              void *argument);
void bb_thread_join(struct bb_thread *thread);
/* Lets other threads run. */
void bb_thread_yield(void);
/* Sleeps for some dozens of microseconds. */
void bb_thread_nap(void);
/* For a loop that waits for another processor: a few dozen cycles. */
static inline void bb_thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Runs a function once per process: later and concurrent calls return after the first one ended. */
struct bb_once {
    pthread_once_t handle;
};
#define BB_ONCE_STATIC                                                                             \
    {                                                                                              \
        .handle = PTHREAD_ONCE_INIT                                                                \
    }
void bb_once_run(struct bb_once *once, void (*run)(void));

/* Registers functions that every later fork calls, in the forking thread: before the fork, and
 * after it in the parent and the child. They cannot be unregistered. in_child may only call
 * functions that are safe in a signal handler. */
BB_MUST_CHECK enum bb_status bb_fork_watch(void (*before)(void), void (*in_parent)(void),
                                           void (*in_child)(void));

#endif
