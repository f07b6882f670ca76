/* Goal: a fork does not harm the store, for any use of the handle in the child and any moment of
 * the fork, and no process hangs. Regressions: a child's exit closed the handle, which wrote the
 * end of the parent's log and manifest, and every later write of the parent was lost; a child that
 * wrote hung after some thousand puts, because it has no threads; a living child kept a dead
 * parent's store locked. Method: real processes on real files. Named cases, then random ones,
 * BB_TEST_FORKS of them; each prints its seed when it fails. */
#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fork/fork_run.h"

/* Small, and with everything open; the rest is the case's. */
static struct fork_plan plan_of(enum fork_child child)
{
    struct fork_plan plan;
    fork_plan_draw(&plan, 1);
    plan.children[0] = child;
    plan.children[1] = FORK_CHILD_CLOSES;
    plan.puts_before = 100;
    plan.puts_after = 100;
    plan.is_open = true;
    return plan;
}

static void assert_runs(struct fork_plan plan)
{
    for (int is_killed = 0; is_killed < 2; is_killed++) {
        for (int is_open = 0; is_open < 2; is_open++) {
            plan.is_killed = is_killed != 0;
            plan.is_open = is_open != 0;
            assert_true(fork_run(&plan));
        }
    }
}

static void fork__child_that_closes_ends_no_log_of_its_parent(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_CLOSES));
}

static void fork__child_that_exits_with_finalizers_ends_no_log_of_its_parent(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_EXITS));
}

/* The log and the manifest of a store without writes. */
static void fork__before_the_first_put(void **state)
{
    (void)state;
    struct fork_plan plan = plan_of(FORK_CHILD_EXITS);
    plan.puts_before = 0;
    assert_runs(plan);
}

static void fork__every_call_of_a_child_is_refused_and_none_hangs(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_USES));
}

static void fork__child_is_told_who_holds_the_store(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_OPENS));
}

static void fork__living_child_does_not_keep_a_dead_parents_store(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_LINGERS));
}

/* A program that opens its store, and makes itself a daemon. */
static void fork__child_opens_anew_once_its_parent_is_gone(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_SUCCEEDS));
}

static void fork__child_of_a_child(void **state)
{
    (void)state;
    assert_runs(plan_of(FORK_CHILD_FORKS));
}

static uint64_t run_count(void)
{
    const char *text = getenv("BB_TEST_FORKS");
    return text == NULL ? 300 : strtoull(text, NULL, 10);
}

static void fork__drawn_runs_lose_nothing_and_hang_nowhere(void **state)
{
    (void)state;
    uint64_t first = bb_rng_seed("fork_store", 1);
    uint64_t count = run_count();
    uint64_t failed = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct fork_plan plan;
        fork_plan_draw(&plan, first + i);
        failed += !fork_run(&plan);
    }
    printf("%" PRIu64 " of %" PRIu64 " lost a write or hung\n", failed, count);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__child_that_closes_ends_no_log_of_its_parent),
        cmocka_unit_test(fork__child_that_exits_with_finalizers_ends_no_log_of_its_parent),
        cmocka_unit_test(fork__before_the_first_put),
        cmocka_unit_test(fork__every_call_of_a_child_is_refused_and_none_hangs),
        cmocka_unit_test(fork__child_is_told_who_holds_the_store),
        cmocka_unit_test(fork__living_child_does_not_keep_a_dead_parents_store),
        cmocka_unit_test(fork__child_opens_anew_once_its_parent_is_gone),
        cmocka_unit_test(fork__child_of_a_child),
        cmocka_unit_test(fork__drawn_runs_lose_nothing_and_hang_nowhere),
    };
    /* The cost of a sync does not matter here. */
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
