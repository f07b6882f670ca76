/* Goal: a failure's message is complete, belongs to its thread, and never explains another failure.
 * Method: every way to make a failure, with messages that are too long, that quote the record
 * itself, and from two concurrent threads; a process that reports BB_OK as a failure must end. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/sync.h"

#define MESSAGE_SIZE sizeof(bb_error_last()->message)

static void status__names_are_stable(void **state)
{
    (void)state;
    assert_string_equal(bb_status_name(BB_OK), "ok");
    assert_string_equal(bb_status_name(BB_NOT_FOUND), "not found");
    assert_string_equal(bb_status_name(BB_CORRUPT), "corrupt");
    assert_string_equal(bb_status_name(BB_IO), "io");
    assert_string_equal(bb_status_name(BB_NO_SPACE), "no space");
    assert_string_equal(bb_status_name(BB_NO_MEMORY), "no memory");
    assert_string_equal(bb_status_name(BB_INVALID), "invalid");
    assert_string_equal(bb_status_name(BB_TOO_LARGE), "too large");
    assert_string_equal(bb_status_name(BB_BUSY), "busy");
    assert_string_equal(bb_status_name(BB_UNSUPPORTED), "unsupported");
    assert_string_equal(bb_status_name(BB_EXISTS), "exists");
    assert_string_equal(bb_status_name(BB_READ_ONLY), "read only");
    assert_string_equal(bb_status_name(BB_WOULD_WAIT), "would wait");
    assert_string_equal(bb_status_name((enum bb_status)13), "unknown");
    assert_string_equal(bb_status_name((enum bb_status) - 1), "unknown");
}

static void status__values_are_part_of_the_abi(void **state)
{
    (void)state;
    assert_int_equal(BB_OK, 0);
    assert_int_equal(BB_CORRUPT, 2);
    assert_int_equal(BB_READ_ONLY, 11);
    assert_int_equal(BB_WOULD_WAIT, 12);
}

static void status__fail_records_and_returns(void **state)
{
    (void)state;
    assert_int_equal(bb_fail(BB_TOO_LARGE, "key of %d bytes, the limit is %d", 70000, 65536),
                     BB_TOO_LARGE);
    assert_int_equal(bb_error_last()->status, BB_TOO_LARGE);
    assert_string_equal(bb_error_last()->message, "key of 70000 bytes, the limit is 65536");
}

static void status__fail_may_quote_the_last_message(void **state)
{
    (void)state;
    (void)bb_fail(BB_IO, "inner");
    (void)bb_fail(BB_CORRUPT, "outer (%s)", bb_error_last()->message);
    assert_string_equal(bb_error_last()->message, "outer (inner)");
}

static void status__long_message_is_cut_with_dots(void **state)
{
    (void)state;
    char text[2 * MESSAGE_SIZE];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    (void)bb_fail(BB_IO, "%s", text);
    assert_int_equal(strlen(bb_error_last()->message), MESSAGE_SIZE - 1);
    assert_string_equal(bb_error_last()->message + MESSAGE_SIZE - 5, "x...");

    text[MESSAGE_SIZE - 1] = '\0'; /* the longest that fits */
    (void)bb_fail(BB_IO, "%s", text);
    assert_string_equal(bb_error_last()->message, text);
}

static void status__corrupt_names_file_and_offset(void **state)
{
    (void)state;
    struct bb_place place = {.file = "/db/000007.tbl", .offset = 4096};
    assert_int_equal(bb_corrupt(place, 12, "length %u, expected %u", 9U, 8U), BB_CORRUPT);
    assert_string_equal(bb_error_last()->message,
                        "/db/000007.tbl: at offset 4108: length 9, expected 8");

    struct bb_place memory = {.offset = 1};
    (void)bb_corrupt(memory, 2, "bad");
    assert_string_equal(bb_error_last()->message, "(memory): at offset 3: bad");
}

static void status__corrupt_survives_a_path_longer_than_the_message(void **state)
{
    (void)state;
    char path[2 * MESSAGE_SIZE];
    memset(path, 'p', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    struct bb_place place = {.file = path};
    assert_int_equal(bb_corrupt(place, 0, "bad"), BB_CORRUPT);
    assert_int_equal(strlen(bb_error_last()->message), MESSAGE_SIZE - 1);
    assert_string_equal(bb_error_last()->message + MESSAGE_SIZE - 4, "...");
}

static void status__errno_is_mapped_and_spelled_out(void **state)
{
    (void)state;
    static const struct {
        int error_number;
        enum bb_status status;
    } cases[] = {
        {ENOSPC, BB_NO_SPACE}, {EDQUOT, BB_NO_SPACE},  {ENOENT, BB_NOT_FOUND},
        {EEXIST, BB_EXISTS},   {ENOMEM, BB_NO_MEMORY}, {EROFS, BB_READ_ONLY},
        {EIO, BB_IO},          {EACCES, BB_IO},        {EMFILE, BB_IO},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(bb_fail_errno(cases[i].error_number, "pread", "f"), cases[i].status);
        assert_int_equal(bb_error_last()->status, cases[i].status);
        assert_message(strerror(cases[i].error_number));
    }
    (void)bb_fail_errno(EIO, "pread", "/db/x");
    assert_errno_message("/db/x: pread: ", EIO);
    assert_ptr_equal(strstr(bb_error_last()->message, "/db/x"), bb_error_last()->message);
}

static void status__context_goes_before_the_message(void **state)
{
    (void)state;
    enum bb_status status = bb_fail(BB_IO, "f: write: it broke");
    assert_int_equal(bb_fail_context(status, "flush of memtable %d", 3), BB_IO);
    assert_string_equal(bb_error_last()->message, "flush of memtable 3: f: write: it broke");
}

static void status__context_ignores_a_message_of_another_failure(void **state)
{
    (void)state;
    (void)bb_fail(BB_IO, "long ago");
    assert_int_equal(bb_fail_context(BB_NOT_FOUND, "key %s", "k"), BB_NOT_FOUND);
    assert_string_equal(bb_error_last()->message, "key k: not found");
}

static void status__restore_brings_a_saved_failure_back(void **state)
{
    (void)state;
    (void)bb_fail(BB_NO_SPACE, "disk full");
    struct bb_error saved = *bb_error_last();
    (void)bb_fail(BB_IO, "something else");
    assert_int_equal(bb_error_restore(&saved), BB_NO_SPACE);
    assert_string_equal(bb_error_last()->message, "disk full");
    assert_int_equal(bb_error_restore(bb_error_last()), BB_NO_SPACE);
    assert_string_equal(bb_error_last()->message, "disk full");
}

struct other_thread {
    struct bb_error at_start;
    struct bb_error at_end;
};

static void fail_in_thread(void *argument)
{
    struct other_thread *other = argument;
    other->at_start = *bb_error_last();
    (void)bb_fail(BB_BUSY, "in the thread");
    other->at_end = *bb_error_last();
}

static void status__record_belongs_to_the_thread(void **state)
{
    (void)state;
    (void)bb_fail(BB_CORRUPT, "in the main thread");
    struct other_thread other = {0};
    struct bb_thread thread;
    assert_ok(bb_thread_create(&thread, fail_in_thread, &other));
    bb_thread_join(&thread);

    assert_int_equal(other.at_start.status, BB_OK);
    assert_string_equal(other.at_start.message, "");
    assert_string_equal(other.at_end.message, "in the thread");
    assert_string_equal(bb_error_last()->message, "in the main thread");
}

static void status__settle_forgets_failures_of_a_call_that_succeeds(void **state)
{
    (void)state;
    struct bb_error before;
    (void)bb_fail(BB_CORRUPT, "before the call");
    bb_error_save(&before);
    (void)bb_fail(BB_NO_SPACE, "an expected failure, with a longer message");
    assert_int_equal(bb_error_settle(BB_IO, &before), BB_IO);
    assert_int_equal(bb_error_last()->status, BB_NO_SPACE);
    assert_int_equal(bb_error_settle(BB_OK, &before), BB_OK);
    assert_int_equal(bb_error_last()->status, BB_CORRUPT);
    assert_string_equal(bb_error_last()->message, "before the call");
}

static void status__ok_is_no_failure(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        (void)bb_fail(BB_OK, "no");
        _exit(0);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status__names_are_stable),
        cmocka_unit_test(status__values_are_part_of_the_abi),
        cmocka_unit_test(status__fail_records_and_returns),
        cmocka_unit_test(status__fail_may_quote_the_last_message),
        cmocka_unit_test(status__long_message_is_cut_with_dots),
        cmocka_unit_test(status__corrupt_names_file_and_offset),
        cmocka_unit_test(status__corrupt_survives_a_path_longer_than_the_message),
        cmocka_unit_test(status__errno_is_mapped_and_spelled_out),
        cmocka_unit_test(status__context_goes_before_the_message),
        cmocka_unit_test(status__context_ignores_a_message_of_another_failure),
        cmocka_unit_test(status__restore_brings_a_saved_failure_back),
        cmocka_unit_test(status__settle_forgets_failures_of_a_call_that_succeeds),
        cmocka_unit_test(status__record_belongs_to_the_thread),
        cmocka_unit_test(status__ok_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
