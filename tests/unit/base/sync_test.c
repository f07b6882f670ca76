/* Goal: the mutex excludes, the condition wakes, the thread runs with the application's signals
 * blocked. Method: real threads that would show a lost update or hang; the thread sanitizer's build
 * of this test finds a missing lock. Assertions do not depend on durations, only on events that
 * must not be early. */
#include "tests/support/assert_status.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/sync.h"

#define THREADS    4
#define INCREMENTS 20000

struct counter {
    struct bb_mutex mutex;
    uint64_t value;
};

static void increment(void *argument)
{
    struct counter *counter = argument;
    for (int i = 0; i < INCREMENTS; i++) {
        bb_mutex_lock(&counter->mutex);
        counter->value++;
        bb_mutex_unlock(&counter->mutex);
    }
}

static void sync__mutex_excludes(void **state)
{
    (void)state;
    struct counter counter = {0};
    struct bb_thread threads[THREADS];
    bb_mutex_init(&counter.mutex);
    for (size_t i = 0; i < THREADS; i++)
        assert_ok(bb_thread_create(&threads[i], increment, &counter));
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(counter.value, THREADS * INCREMENTS);
    bb_mutex_deinit(&counter.mutex);
}

static void look_elsewhere(void *argument)
{
    struct counter *counter = argument;
    counter->value = bb_mutex_is_free(&counter->mutex);
}

static void sync__is_free_only_while_no_thread_holds_it(void **state)
{
    (void)state;
    struct counter counter = {.value = 9};
    struct bb_thread thread;
    bb_mutex_init(&counter.mutex);
    bb_mutex_lock(&counter.mutex);
    assert_ok(bb_thread_create(&thread, look_elsewhere, &counter));
    bb_thread_join(&thread);
    assert_int_equal(counter.value, 0);
    bb_mutex_unlock(&counter.mutex);

    assert_ok(bb_thread_create(&thread, look_elsewhere, &counter));
    bb_thread_join(&thread);
    assert_int_equal(counter.value, 1);
    bb_mutex_deinit(&counter.mutex);
}

static void look_at_holder(void *argument)
{
    struct counter *counter = argument;
    counter->value = bb_mutex_is_held(&counter->mutex);
}

static void sync__a_checked_mutex_knows_its_holder(void **state)
{
    (void)state;
    struct counter counter = {.value = 9};
    struct bb_condvar never;
    struct bb_thread thread;
    bb_mutex_init(&counter.mutex);
    bb_condvar_init(&never);
    assert_false(bb_mutex_is_held(&counter.mutex));
    bb_mutex_lock(&counter.mutex);
    assert_int_equal(bb_mutex_is_held(&counter.mutex), BB_IS_CHECKED);
    assert_ok(bb_thread_create(&thread, look_at_holder, &counter));
    bb_thread_join(&thread);
    assert_int_equal(counter.value, 0);
    assert_false(bb_condvar_wait_for(&never, &counter.mutex, 1));
    assert_int_equal(bb_mutex_is_held(&counter.mutex), BB_IS_CHECKED);
    bb_mutex_unlock(&counter.mutex);
    assert_false(bb_mutex_is_held(&counter.mutex));
    bb_condvar_deinit(&never);
    bb_mutex_deinit(&counter.mutex);
}

/* One place for a number, handed from thread to thread. */
struct mailbox {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    int turn; /* 0: the main thread's, 1: the other's */
    int value;
    int wrong;   /* values seen out of turn */
    int go;      /* broadcast test */
    int arrived; /* broadcast test */
};

static void mailbox_init(struct mailbox *box)
{
    *box = (struct mailbox){0};
    bb_mutex_init(&box->mutex);
    bb_condvar_init(&box->changed);
}

static void mailbox_deinit(struct mailbox *box)
{
    bb_condvar_deinit(&box->changed);
    bb_mutex_deinit(&box->mutex);
}

static void take_turns(struct mailbox *box, int me)
{
    for (int i = 0; i < 500; i++) {
        bb_mutex_lock(&box->mutex);
        while (box->turn != me)
            bb_condvar_wait(&box->changed, &box->mutex);
        box->wrong += box->value != 2 * i + me;
        box->value++;
        box->turn = 1 - me;
        bb_condvar_signal(&box->changed);
        bb_mutex_unlock(&box->mutex);
    }
}

static void take_second_turns(void *argument)
{
    take_turns(argument, 1);
}

static void sync__condition_hands_over(void **state)
{
    (void)state;
    struct mailbox box;
    struct bb_thread thread;
    mailbox_init(&box);
    assert_ok(bb_thread_create(&thread, take_second_turns, &box));
    take_turns(&box, 0);
    bb_thread_join(&thread);
    assert_int_equal(box.value, 1000);
    assert_int_equal(box.wrong, 0);
    mailbox_deinit(&box);
}

static void wait_for_go(void *argument)
{
    struct mailbox *box = argument;
    bb_mutex_lock(&box->mutex);
    box->arrived++;
    while (box->go == 0)
        bb_condvar_wait(&box->changed, &box->mutex);
    box->value++;
    bb_mutex_unlock(&box->mutex);
}

static void sync__broadcast_wakes_all(void **state)
{
    (void)state;
    struct mailbox box;
    struct bb_thread threads[THREADS];
    mailbox_init(&box);
    for (size_t i = 0; i < THREADS; i++)
        assert_ok(bb_thread_create(&threads[i], wait_for_go, &box));
    int arrived = 0;
    while (arrived < THREADS) { /* all of them wait: they gave the mutex back */
        bb_mutex_lock(&box.mutex);
        arrived = box.arrived;
        bb_mutex_unlock(&box.mutex);
        (void)sched_yield();
    }
    bb_mutex_lock(&box.mutex);
    box.go = 1;
    bb_condvar_broadcast(&box.changed);
    bb_mutex_unlock(&box.mutex);
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(box.value, THREADS);
    mailbox_deinit(&box);
}

static uint64_t monotonic_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sync__wait_for_ends_by_itself_but_not_early(void **state)
{
    (void)state;
    struct mailbox box;
    mailbox_init(&box);
    bb_mutex_lock(&box.mutex);
    uint64_t start = monotonic_nanoseconds();
    while (bb_condvar_wait_for(&box.changed, &box.mutex, 20000000))
        start = monotonic_nanoseconds(); /* woken for no reason, which is allowed: again */
    assert_true(monotonic_nanoseconds() - start >= 20000000);
    assert_false(bb_condvar_wait_for(&box.changed, &box.mutex, 0));
    bb_mutex_unlock(&box.mutex);
    mailbox_deinit(&box);
}

static void signal_soon(void *argument)
{
    struct mailbox *box = argument;
    bb_mutex_lock(&box->mutex);
    box->go = 1;
    bb_condvar_signal(&box->changed);
    bb_mutex_unlock(&box->mutex);
}

static void sync__wait_for_without_end_is_woken(void **state)
{
    (void)state;
    struct mailbox box;
    struct bb_thread thread;
    mailbox_init(&box);
    bb_mutex_lock(&box.mutex);
    assert_ok(bb_thread_create(&thread, signal_soon, &box));
    while (box.go == 0) /* a deadline that wrapped would be in the past */
        assert_true(bb_condvar_wait_for(&box.changed, &box.mutex, UINT64_MAX));
    bb_mutex_unlock(&box.mutex);
    bb_thread_join(&thread);
    mailbox_deinit(&box);
}

static void read_mask(void *argument)
{
    pthread_sigmask(SIG_SETMASK, NULL, argument);
}

static void sync__thread_blocks_signals_but_not_faults(void **state)
{
    (void)state;
    static const int blocked[] = {SIGINT,  SIGTERM, SIGHUP,  SIGALRM,
                                  SIGCHLD, SIGUSR1, SIGPIPE, SIGWINCH};
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t before;
    sigset_t after;
    sigset_t inside;
    struct bb_thread thread;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_ok(bb_thread_create(&thread, read_mask, &inside));
    bb_thread_join(&thread);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
        assert_int_equal(sigismember(&inside, blocked[i]), 1);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        assert_int_equal(sigismember(&inside, open[i]), 0);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
}

static void sync__misuse_ends_the_process(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* Unlocking a mutex of the error-checking kind that is not held. */
        struct bb_mutex mutex;
        pthread_mutexattr_t attributes;
        signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&mutex.handle, &attributes);
        bb_mutex_unlock(&mutex);
        _exit(0);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync__mutex_excludes),
        cmocka_unit_test(sync__is_free_only_while_no_thread_holds_it),
        cmocka_unit_test(sync__a_checked_mutex_knows_its_holder),
        cmocka_unit_test(sync__condition_hands_over),
        cmocka_unit_test(sync__broadcast_wakes_all),
        cmocka_unit_test(sync__wait_for_ends_by_itself_but_not_early),
        cmocka_unit_test(sync__wait_for_without_end_is_woken),
        cmocka_unit_test(sync__thread_blocks_signals_but_not_faults),
        cmocka_unit_test(sync__misuse_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
