/* Wrappers of POSIX threads. A lock call fails only if it is misused, so a failure ends the process
 * with the name of the call. Conditions wait by the monotonic clock, so setting the clock does not
 * lengthen a wait. */
#include "base/sync.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/process.h"
#include "base/status.h"

#define NAP_NANOSECONDS        50000
#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)
/* A wait longer than this is cut to it (about 31 years), so that no deadline overflows. */
#define WAIT_MAX_NANOSECONDS (UINT64_C(1000000000) * NANOSECONDS_PER_SECOND)

static void must_succeed(int error_number, const char *call)
{
    if (error_number == 0)
        return;
    fprintf(stderr, "bloomblock bug: %s: %s\n", call, strerror(error_number));
    abort();
}

void bb_mutex_init(struct bb_mutex *mutex)
{
    must_succeed(pthread_mutex_init(&mutex->handle, NULL), "pthread_mutex_init");
    mutex->process = bb_process_number();
    atomic_init(&mutex->holder, 0);
}

void bb_mutex_deinit(struct bb_mutex *mutex)
{
    if (!bb_mutex_is_inherited(mutex))
        must_succeed(pthread_mutex_destroy(&mutex->handle), "pthread_mutex_destroy");
}

bool bb_mutex_is_held(const struct bb_mutex *mutex)
{
    return atomic_load_explicit(&mutex->holder, memory_order_relaxed) == (uintptr_t)pthread_self();
}

/* After a lock, before an unlock. */
static void note(struct bb_mutex *mutex, bool is_locked)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(mutex) != is_locked);
    if (BB_IS_CHECKED)
        atomic_store_explicit(&mutex->holder, is_locked ? (uintptr_t)pthread_self() : 0,
                              memory_order_relaxed);
}

void bb_mutex_lock(struct bb_mutex *mutex)
{
    BB_DEBUG_ASSERT(!bb_mutex_is_held(mutex));
    must_succeed(pthread_mutex_lock(&mutex->handle), "pthread_mutex_lock");
    note(mutex, true);
}

static bool try_lock(struct bb_mutex *mutex)
{
    int error_number = pthread_mutex_trylock(&mutex->handle);
    if (error_number == EBUSY)
        return false;
    must_succeed(error_number, "pthread_mutex_trylock");
    note(mutex, true);
    return true;
}

void bb_mutex_unlock(struct bb_mutex *mutex)
{
    note(mutex, false);
    must_succeed(pthread_mutex_unlock(&mutex->handle), "pthread_mutex_unlock");
}

bool bb_mutex_is_inherited(const struct bb_mutex *mutex)
{
    return mutex->process != bb_process_number();
}

bool bb_mutex_enter(struct bb_mutex *mutex)
{
    if (bb_mutex_is_inherited(mutex))
        return try_lock(mutex);
    bb_mutex_lock(mutex);
    return true;
}

bool bb_mutex_is_free(struct bb_mutex *mutex)
{
    bool is_free = try_lock(mutex);
    if (is_free)
        bb_mutex_unlock(mutex);
    return is_free;
}

void bb_condvar_init(struct bb_condvar *condition)
{
    pthread_condattr_t attributes;
    must_succeed(pthread_condattr_init(&attributes), "pthread_condattr_init");
    must_succeed(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
                 "pthread_condattr_setclock");
    must_succeed(pthread_cond_init(&condition->handle, &attributes), "pthread_cond_init");
    must_succeed(pthread_condattr_destroy(&attributes), "pthread_condattr_destroy");
    condition->process = bb_process_number();
}

void bb_condvar_deinit(struct bb_condvar *condition)
{
    if (condition->process == bb_process_number())
        must_succeed(pthread_cond_destroy(&condition->handle), "pthread_cond_destroy");
}

void bb_condvar_wait(struct bb_condvar *condition, struct bb_mutex *mutex)
{
    note(mutex, false);
    must_succeed(pthread_cond_wait(&condition->handle, &mutex->handle), "pthread_cond_wait");
    note(mutex, true);
}

static struct timespec deadline_after(uint64_t nanoseconds)
{
    struct timespec now;
    must_succeed(clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? 0 : errno, "clock_gettime");
    if (nanoseconds > WAIT_MAX_NANOSECONDS)
        nanoseconds = WAIT_MAX_NANOSECONDS;
    uint64_t sum = (uint64_t)now.tv_nsec + nanoseconds;
    return (struct timespec){
        .tv_sec = now.tv_sec + (time_t)(sum / NANOSECONDS_PER_SECOND),
        .tv_nsec = (long)(sum % NANOSECONDS_PER_SECOND),
    };
}

bool bb_condvar_wait_for(struct bb_condvar *condition, struct bb_mutex *mutex, uint64_t nanoseconds)
{
    struct timespec deadline = deadline_after(nanoseconds);
    note(mutex, false);
    int error_number = pthread_cond_timedwait(&condition->handle, &mutex->handle, &deadline);
    note(mutex, true);
    if (error_number == ETIMEDOUT)
        return false;
    must_succeed(error_number, "pthread_cond_timedwait");
    return true;
}

/* Only the end of the time ends this wait: no other thread has the condition. */
void bb_thread_nap(void)
{
    struct bb_mutex mutex;
    struct bb_condvar never;
    bb_mutex_init(&mutex);
    bb_condvar_init(&never);
    bb_mutex_lock(&mutex);
    (void)bb_condvar_wait_for(&never, &mutex, NAP_NANOSECONDS);
    bb_mutex_unlock(&mutex);
    bb_condvar_deinit(&never);
    bb_mutex_deinit(&mutex);
}

void bb_condvar_signal(struct bb_condvar *condition)
{
    must_succeed(pthread_cond_signal(&condition->handle), "pthread_cond_signal");
}

void bb_condvar_broadcast(struct bb_condvar *condition)
{
    must_succeed(pthread_cond_broadcast(&condition->handle), "pthread_cond_broadcast");
}

struct thread_start {
    void (*run)(void *);
    void *argument;
};

static void *start_thread(void *memory)
{
    struct thread_start start = *(struct thread_start *)memory;
    bb_free(memory);
    start.run(start.argument);
    return NULL;
}

/* Signals belong to the application: its handlers must not run on our threads. Signals that report
 * a fault of the thread itself are not blocked, because the kernel kills a process that blocks
 * them, without running a crash handler. */
static void block_signals(sigset_t *ret_before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(faults); i++)
        sigdelset(&blocked, faults[i]);
    must_succeed(pthread_sigmask(SIG_SETMASK, &blocked, ret_before), "pthread_sigmask");
}

enum bb_status bb_thread_create(struct bb_thread *thread, void (*run)(void *), void *argument)
{
    struct thread_start *start = bb_alloc(sizeof(*start));
    if (start == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to start a thread");
    *start = (struct thread_start){.run = run, .argument = argument};

    /* A thread inherits the mask of its creator. */
    sigset_t before;
    block_signals(&before);
    pthread_t handle;
    int error_number = pthread_create(&handle, NULL, start_thread, start);
    must_succeed(pthread_sigmask(SIG_SETMASK, &before, NULL), "pthread_sigmask");
    if (error_number != 0) {
        bb_free(start);
        return bb_fail_errno(error_number, "pthread_create", "a new thread");
    }
    thread->handle = handle;
    return BB_OK;
}

void bb_thread_join(struct bb_thread *thread)
{
    must_succeed(pthread_join(thread->handle, NULL), "pthread_join");
}

void bb_thread_yield(void)
{
    (void)sched_yield();
}

void bb_once_run(struct bb_once *once, void (*run)(void))
{
    must_succeed(pthread_once(&once->handle, run), "pthread_once");
}

enum bb_status bb_fork_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    int error_number = pthread_atfork(before, in_parent, in_child);
    return error_number == 0 ? BB_OK
                             : bb_fail_errno(error_number, "pthread_atfork", "this process");
}
