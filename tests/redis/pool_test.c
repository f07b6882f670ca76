/* The pool of threads: long jobs leave a thread to short ones, and a save waits for none of them.
 *
 * Method: jobs that begin and then wait until the test releases them. Every wait is for an event,
 * so a broken pool is found by the time limit of tests. The pool is one per process, and the test
 * of its end is the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "redis/store/pool.h"
#include "redis/store/thread.h"

#define THREADS 3

static struct bb_redis_lock lock = BB_REDIS_LOCK_INITIALIZER;
static int begun_count; /* of all jobs */

struct held_job {
    struct bb_redis_job job; /* must be first */
    bool is_released;
    int begun; /* its place among the jobs that have begun, from 1 */
    bool is_done;
};

static void hold(struct bb_redis_job *job)
{
    struct held_job *held = (struct held_job *)job;
    bb_redis_lock_enter(&lock);
    held->begun = ++begun_count;
    bb_redis_lock_signal(&lock);
    while (!held->is_released)
        bb_redis_lock_wait(&lock);
    held->is_done = true;
    bb_redis_lock_signal(&lock);
    bb_redis_lock_leave(&lock);
}

static void add(struct held_job *jobs, size_t count, bool is_long, bool is_released)
{
    for (size_t i = 0; i < count; i++) {
        jobs[i] =
            (struct held_job){.job = {.run = hold, .is_long = is_long}, .is_released = is_released};
        bb_redis_pool_add(&jobs[i].job);
    }
}

static int begun_of(const struct held_job *jobs, size_t count)
{
    int begun = 0;
    for (size_t i = 0; i < count; i++)
        begun += jobs[i].begun > 0;
    return begun;
}

static void wait_until_begun(const struct held_job *jobs, size_t count, int wanted)
{
    bb_redis_lock_enter(&lock);
    while (begun_of(jobs, count) < wanted)
        bb_redis_lock_wait(&lock);
    bb_redis_lock_leave(&lock);
}

static void wait_until_done(const struct held_job *job)
{
    bb_redis_lock_enter(&lock);
    while (!job->is_done)
        bb_redis_lock_wait(&lock);
    bb_redis_lock_leave(&lock);
}

static void release(struct held_job *jobs, size_t count)
{
    bb_redis_lock_enter(&lock);
    for (size_t i = 0; i < count; i++)
        jobs[i].is_released = true;
    bb_redis_lock_signal(&lock);
    bb_redis_lock_leave(&lock);
    for (size_t i = 0; i < count; i++)
        wait_until_done(&jobs[i]);
}

static void pool__long_jobs_leave_a_thread_to_short_ones(void **state)
{
    (void)state;
    struct held_job longs[THREADS + 2];
    struct held_job shorts[5];
    add(longs, THREADS + 2, true, false);
    wait_until_begun(longs, THREADS + 2, THREADS - 1);
    for (int i = 0; i < 5; i++) {
        add(&shorts[i], 1, false, true);
        wait_until_done(&shorts[i]);
    }
    bb_redis_lock_enter(&lock);
    assert_int_equal(begun_of(longs, THREADS + 2), THREADS - 1);
    bb_redis_lock_leave(&lock);
    release(longs, THREADS + 2);
}

static void pool__long_jobs_begin_in_their_order(void **state)
{
    (void)state;
    struct held_job longs[2 * THREADS];
    add(longs, 2 * THREADS, true, false);
    for (int i = 0; i < 2 * THREADS; i++) {
        wait_until_begun(&longs[i], 1, 1);
        release(&longs[i], 1);
    }
    for (int i = THREADS; i < 2 * THREADS; i++)
        assert_true(longs[i].begun > longs[i - THREADS + 1].begun);
}

static void pool__a_long_job_is_not_overtaken_for_ever(void **state)
{
    (void)state;
    struct held_job holders[THREADS];
    struct held_job waiting;
    struct held_job later[THREADS];
    add(holders, THREADS, false, false);
    wait_until_begun(holders, THREADS, THREADS);
    add(&waiting, 1, true, false);
    add(later, THREADS, false, false);
    release(&holders[0], 1);
    wait_until_begun(&waiting, 1, 1);
    assert_int_equal(begun_of(later, THREADS), 0);
    release(&waiting, 1);
    release(holders + 1, THREADS - 1);
    release(later, THREADS);
}

static void pool__a_job_apart_waits_for_no_thread(void **state)
{
    (void)state;
    struct held_job holders[THREADS];
    struct held_job apart = {.job.run = hold, .is_released = true};
    add(holders, THREADS, false, false);
    wait_until_begun(holders, THREADS, THREADS);
    bb_redis_pool_add_apart(&apart.job);
    wait_until_done(&apart);
    release(holders, THREADS);
}

static void *stop(void *context)
{
    struct held_job *stopper = context;
    bb_redis_pool_stop();
    bb_redis_lock_enter(&lock);
    stopper->is_done = true;
    bb_redis_lock_signal(&lock);
    bb_redis_lock_leave(&lock);
    return NULL;
}

/* It waits for the short job and for the job apart, not for jobs that end with their store. Jobs
 * that have not begun are dropped. */
static void pool__stop_waits_for_jobs_that_have_begun(void **state)
{
    (void)state;
    static struct held_job unfinished = {
        .job = {.run = hold, .is_long = true, .ends_on_close = true}};
    static struct held_job running = {.job.run = hold};
    static struct held_job apart = {.job.run = hold};
    static struct held_job filler = {.job = {.run = hold, .ends_on_close = true}};
    static struct held_job dropped = {.job.run = hold};
    static struct held_job late = {.job.run = hold};
    static struct held_job stopper;
    bb_redis_pool_add(&unfinished.job);
    bb_redis_pool_add(&running.job);
    bb_redis_pool_add(&filler.job);
    wait_until_begun(&unfinished, 1, 1);
    wait_until_begun(&running, 1, 1);
    wait_until_begun(&filler, 1, 1);
    bb_redis_pool_add_apart(&apart.job);
    wait_until_begun(&apart, 1, 1);
    bb_redis_pool_add(&dropped.job);
    assert_false(bb_redis_pool_is_stopped());
    assert_true(bb_redis_thread_start(stop, &stopper));
    while (!bb_redis_pool_is_stopped())
        continue;
    assert_false(stopper.is_done);
    release(&running, 1);
    assert_false(stopper.is_done);
    release(&apart, 1);
    wait_until_done(&stopper);
    bb_redis_pool_add(&late.job);
    bb_redis_pool_add_apart(&late.job);
    release(&unfinished, 1);
    release(&filler, 1);
    assert_int_equal(dropped.begun, 0);
    assert_int_equal(late.begun, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool__long_jobs_leave_a_thread_to_short_ones),
        cmocka_unit_test(pool__long_jobs_begin_in_their_order),
        cmocka_unit_test(pool__a_long_job_is_not_overtaken_for_ever),
        cmocka_unit_test(pool__a_job_apart_waits_for_no_thread),
        cmocka_unit_test(pool__stop_waits_for_jobs_that_have_begun),
    };
    bb_redis_pool_set_threads(THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
