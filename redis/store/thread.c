/* See thread.h. */
#include "redis/store/thread.h"

#include <signal.h>
#include <sys/resource.h>

/* The thread then gets a third of the share that a thread of normal priority gets of a busy
 * processor. */
#define NICENESS 5

static pthread_t server;

void bb_redis_lock_enter(struct bb_redis_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

void bb_redis_lock_leave(struct bb_redis_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

void bb_redis_lock_wait(struct bb_redis_lock *lock)
{
    (void)pthread_cond_wait(&lock->changed, &lock->mutex);
}

void bb_redis_lock_signal(struct bb_redis_lock *lock)
{
    (void)pthread_cond_broadcast(&lock->changed);
}

bool bb_redis_thread_start(void *(*run)(void *context), void *context)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&thread, NULL, run, context) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started)
        (void)pthread_detach(thread);
    return is_started;
}

/* Linux applies setpriority to the calling thread alone. */
void bb_redis_thread_yield_to_others(void)
{
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
}

void bb_redis_thread_note_server(void)
{
    server = pthread_self();
}

bool bb_redis_thread_is_server(void)
{
    return pthread_equal(pthread_self(), server) != 0;
}
