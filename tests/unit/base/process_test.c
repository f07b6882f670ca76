/* Goal: a process has one number, and each of its descendants another one. Method: real children,
 * one by the C library's fork, one by the bare system call. */
#include "tests/support/assert_status.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sync.h"

static void assert_child(pid_t child)
{
    int result = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void process__same_number_until_a_fork(void **state)
{
    (void)state;
    uint64_t own = bb_process_number();
    assert_int_not_equal(own, 0);
    assert_int_equal(bb_process_number(), own);
    for (int child_count = 0; child_count < 2; child_count++) {
        pid_t child = fork();
        if (child == 0) {
            uint64_t number = bb_process_number();
            pid_t grandchild = fork();
            if (grandchild == 0)
                _exit(bb_process_number() != number && bb_process_number() != own ? 0 : 1);
            int result = -1;
            bool is_well = waitpid(grandchild, &result, 0) == grandchild && result == 0;
            _exit(is_well && number != own && bb_process_number() == number ? 0 : 1);
        }
        assert_child(child);
        assert_int_equal(bb_process_number(), own);
    }
}

static void process__no_way_to_fork_goes_unnoticed(void **state)
{
    (void)state;
    uint64_t own = bb_process_number();
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(bb_process_number() != own ? 0 : 1);
    assert_child((pid_t)child);
}

static void process__child_waits_for_no_mutex_and_no_condition(void **state)
{
    (void)state;
    struct bb_mutex held;
    struct bb_mutex free_one;
    struct bb_condvar condition;
    bb_mutex_init(&held);
    bb_mutex_init(&free_one);
    bb_condvar_init(&condition);
    bb_mutex_lock(&held);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        bool is_well = bb_mutex_is_inherited(&held) && !bb_mutex_enter(&held) &&
                       !bb_mutex_is_free(&held) && bb_mutex_is_free(&free_one) &&
                       bb_mutex_enter(&free_one);
        bb_mutex_deinit(&held); /* held: of our own that would be a mistake */
        bb_condvar_deinit(&condition);
        _exit(is_well ? 0 : 1);
    }
    assert_child(child);
    assert_false(bb_mutex_is_inherited(&held));
    bb_mutex_unlock(&held);
    assert_true(bb_mutex_enter(&held));
    bb_mutex_unlock(&held);
    bb_condvar_deinit(&condition);
    bb_mutex_deinit(&free_one);
    bb_mutex_deinit(&held);
}

/* The last: it stays so. */
static void process__the_same_by_process_ids(void **state)
{
    bb_process_use_id();
    assert_int_equal(bb_process_number(), (uint64_t)getpid());
    process__same_number_until_a_fork(state);
    process__no_way_to_fork_goes_unnoticed(state);
    process__child_waits_for_no_mutex_and_no_condition(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process__same_number_until_a_fork),
        cmocka_unit_test(process__no_way_to_fork_goes_unnoticed),
        cmocka_unit_test(process__child_waits_for_no_mutex_and_no_condition),
        cmocka_unit_test(process__the_same_by_process_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
