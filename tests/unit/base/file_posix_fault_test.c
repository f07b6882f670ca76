/* Goal: interrupted, short and failing system calls are handled as documented in base/file_posix.c:
 * reads and writes continue where they stopped, a failed write or sync is never retried, no data is
 * lost or written twice. Method: this program replaces the C library's system calls, so that a plan
 * can change the n-th one; all others go to the kernel. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/random.h"
#include "tests/support/temp_dir.h"

/* What happens to the calls of one kind. */
struct bend {
    unsigned calls;   /* number of calls so far */
    unsigned failing; /* this one fails, 1 being the first; 0 for none */
    int error_number; /* with this errno; 0: it returns 0 */
    size_t at_most;   /* maximum number of bytes moved by one call; 0 for no limit */
};

static struct {
    struct bend pread;
    struct bend write;
    struct bend fsync;
    struct bend fdatasync;
    struct bend close;
    struct bend getrandom;
} bends;

/* Counts a call; true when it is over with *ret_result. */
static bool is_bent(struct bend *bend, size_t *size, long *ret_result)
{
    bend->calls++;
    if (size != NULL && bend->at_most != 0 && *size > bend->at_most)
        *size = bend->at_most;
    if (bend->calls != bend->failing)
        return false;
    errno = bend->error_number;
    *ret_result = bend->error_number == 0 ? 0 : -1;
    return true;
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    long result = 0;
    return is_bent(&bends.pread, &size, &result) ? result
                                                 : syscall(SYS_pread64, fd, buffer, size, offset);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    long result = 0;
    return is_bent(&bends.write, &size, &result) ? result : syscall(SYS_write, fd, buffer, size);
}

int fsync(int fd)
{
    long result = 0;
    return (int)(is_bent(&bends.fsync, NULL, &result) ? result : syscall(SYS_fsync, fd));
}

int fdatasync(int fd)
{
    long result = 0;
    return (int)(is_bent(&bends.fdatasync, NULL, &result) ? result : syscall(SYS_fdatasync, fd));
}

/* Linux closes the descriptor even when it reports a failure. */
int close(int fd)
{
    long result = 0;
    long closed = syscall(SYS_close, fd);
    return (int)(is_bent(&bends.close, NULL, &result) ? result : closed);
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    long result = 0;
    return is_bent(&bends.getrandom, &size, &result) ? result
                                                     : syscall(SYS_getrandom, buffer, size, flags);
}

struct place {
    struct bb_temp_dir dir;
    struct bb_file_system *fs;
    struct bb_file *file; /* new and empty */
    char path[PATH_MAX];
};

static void assert_contents(struct place *place, const char *text)
{
    struct bb_buf buf = {0};
    assert_ok(bb_file_read_whole(place->fs, place->path, 1000, &buf));
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text(text)));
    bb_buf_deinit(&buf);
}

static void file_posix__reading_goes_on_after_interruptions_and_short_reads(void **state)
{
    struct place *place = *state;
    char buffer[20] = "";
    struct bb_file_counters counters;
    assert_ok(bb_file_append(place->file, bb_bytes_of_text("0123456789")));
    bends.pread = (struct bend){.failing = 2, .error_number = EINTR, .at_most = 4};
    assert_ok(bb_file_read_exactly(place->file, 0, buffer, 10)); /* 4, interrupted, 4, 2 */
    assert_string_equal(buffer, "0123456789");
    assert_int_equal(bends.pread.calls, 4);
    place->fs->ops->counters(place->fs, &counters);
    assert_int_equal(counters.reads, 4);
    assert_int_equal(counters.read_bytes, 10);
}

static void file_posix__failed_read_is_reported_and_may_be_repeated(void **state)
{
    struct place *place = *state;
    char buffer[10];
    size_t got = 77;
    assert_ok(bb_file_append(place->file, bb_bytes_of_text("0123456789")));
    bends.pread = (struct bend){.failing = 2, .error_number = EIO, .at_most = 4};
    assert_status(bb_file_read_at(place->file, 0, buffer, 10, &got), BB_IO);
    assert_errno_message("/f: pread: ", EIO);
    assert_int_equal(got, 77);
    assert_ok(bb_file_read_at(place->file, 0, buffer, 10, &got));
    assert_int_equal(got, 10);
}

static void file_posix__writing_goes_on_after_interruptions_and_short_writes(void **state)
{
    struct place *place = *state;
    struct bb_file_counters counters;
    bends.write = (struct bend){.failing = 2, .error_number = EINTR, .at_most = 3};
    assert_ok(
        bb_file_append(place->file, bb_bytes_of_text("0123456789"))); /* 3, interrupted, 3, 3, 1 */
    assert_int_equal(bends.write.calls, 5);
    assert_contents(place, "0123456789");
    place->fs->ops->counters(place->fs, &counters);
    assert_int_equal(counters.appends, 5);
    assert_int_equal(counters.append_bytes, 10);
}

static void file_posix__whole_append_is_one_write(void **state)
{
    struct place *place = *state;
    assert_ok(bb_file_append(place->file, bb_bytes_of_text("0123456789")));
    assert_int_equal(bends.write.calls, 1);
    assert_ok(bb_file_append(place->file, (struct bb_bytes){0}));
    assert_int_equal(bends.write.calls, 1);
}

static void file_posix__failed_write_sticks(void **state)
{
    struct place *place = *state;
    bends.write = (struct bend){.failing = 2, .error_number = ENOSPC, .at_most = 3};
    assert_status(bb_file_append(place->file, bb_bytes_of_text("0123456789")), BB_NO_SPACE);
    assert_message("/f: write: No space left on device");
    assert_status(bb_file_append(place->file, bb_bytes_of_text("x")), BB_IO);
    assert_status(bb_file_sync(place->file), BB_IO);
    assert_message("an earlier append or sync of this file failed");
    assert_int_equal(bends.write.calls, 2);
    assert_int_equal(bends.fsync.calls, 0);
    assert_contents(place, "012");
}

static void file_posix__write_of_nothing_is_a_failure(void **state)
{
    struct place *place = *state;
    bends.write = (struct bend){.failing = 1};
    assert_status(bb_file_append(place->file, bb_bytes_of_text("x")), BB_IO);
    assert_errno_message("/f: write: ", EIO);
    assert_int_equal(bends.write.calls, 1);
}

static void file_posix__first_sync_is_of_the_inode_later_ones_of_the_data(void **state)
{
    struct place *place = *state;
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(bb_file_append(place->file, bb_bytes_of_text("x")));
        assert_ok(bb_file_sync(place->file));
        assert_int_equal(bends.fsync.calls, 1);
        assert_int_equal(bends.fdatasync.calls, i);
    }
}

/* Fails the sync that is bent and shows that the file is done for. */
static void check_failed_sync(struct place *place, const struct bend *bend)
{
    assert_status(bb_file_sync(place->file), BB_IO);
    unsigned calls = bend->calls;
    assert_status(bb_file_sync(place->file), BB_IO);
    assert_message("an earlier append or sync of this file failed");
    assert_status(bb_file_append(place->file, bb_bytes_of_text("x")), BB_IO);
    assert_int_equal(bend->calls, calls);
    assert_int_equal(bends.write.calls, 0);
}

static void file_posix__failed_fsync_sticks(void **state)
{
    bends.fsync = (struct bend){.failing = 1, .error_number = EIO};
    check_failed_sync(*state, &bends.fsync);
    assert_int_equal(bends.fsync.calls, 1);
}

static void file_posix__interrupted_fsync_is_not_repeated(void **state)
{
    bends.fsync = (struct bend){.failing = 1, .error_number = EINTR};
    check_failed_sync(*state, &bends.fsync);
    assert_int_equal(bends.fsync.calls, 1);
}

static void file_posix__failed_fdatasync_sticks(void **state)
{
    struct place *place = *state;
    assert_ok(bb_file_sync(place->file));
    bends.fdatasync = (struct bend){.failing = 1, .error_number = EIO};
    check_failed_sync(place, &bends.fdatasync);
    assert_int_equal(bends.fdatasync.calls, 1);
}

static void file_posix__failed_sync_of_a_directory_is_reported(void **state)
{
    struct place *place = *state;
    bends.fsync = (struct bend){.failing = 1, .error_number = EIO};
    assert_status(place->fs->ops->sync_directory(place->fs, place->dir.path), BB_IO);
    assert_errno_message("fsync: ", EIO);
    assert_int_equal(bends.close.calls, 1); /* its descriptor does not leak */
    assert_ok(place->fs->ops->sync_directory(place->fs, place->dir.path));
}

static void file_posix__failed_close_is_reported_and_releases(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    bends.close = (struct bend){.failing = 1, .error_number = EIO};
    assert_ok(bb_file_open(place->fs, place->path, &file));
    assert_status(bb_file_close(file), BB_IO); /* the sanitizer sees a file that was not released */
    assert_errno_message("/f: close: ", EIO);
    assert_int_equal(bends.close.calls, 1);

    bends.close = (struct bend){.failing = 1, .error_number = EINTR};
    assert_ok(bb_file_open(place->fs, place->path, &file));
    assert_ok(bb_file_close(file)); /* closed all the same */
    assert_int_equal(bends.close.calls, 1);
}

static void random__goes_on_after_interruptions_and_short_answers(void **state)
{
    (void)state;
    uint8_t bytes[100] = {0};
    unsigned zeros = 0;
    bends.getrandom = (struct bend){.failing = 3, .error_number = EINTR, .at_most = 7};
    assert_ok(bb_random_fill(bytes, sizeof(bytes)));
    assert_int_equal(bends.getrandom.calls, 16);
    for (size_t i = 0; i < sizeof(bytes); i++)
        zeros += bytes[i] == 0;
    assert_true(zeros < 15);
}

static void random__failure_gives_no_secret(void **state)
{
    (void)state;
    struct bb_hash_secret secret = {{7}};
    bends.getrandom = (struct bend){.failing = 2, .error_number = ENOSYS, .at_most = 100};
    assert_status(bb_hash_secret_random(&secret), BB_IO);
    assert_message("random bytes: getrandom: Function not implemented");
    assert_int_equal(secret.bytes[0], 7); /* untouched */
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    bb_temp_dir_init(&place->dir, "file_posix_fault");
    bb_temp_dir_path(&place->dir, "f", place->path);
    assert_ok(bb_file_system_posix_create(&place->fs));
    assert_ok(bb_file_create(place->fs, place->path, &place->file));
    memset(&bends, 0, sizeof(bends));
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    memset(&bends, 0, sizeof(bends));
    assert_ok(bb_file_close(place->file));
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->dir);
    free(place);
    return 0;
}

#define fault_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fault_test(file_posix__reading_goes_on_after_interruptions_and_short_reads),
        fault_test(file_posix__failed_read_is_reported_and_may_be_repeated),
        fault_test(file_posix__writing_goes_on_after_interruptions_and_short_writes),
        fault_test(file_posix__whole_append_is_one_write),
        fault_test(file_posix__failed_write_sticks),
        fault_test(file_posix__write_of_nothing_is_a_failure),
        fault_test(file_posix__first_sync_is_of_the_inode_later_ones_of_the_data),
        fault_test(file_posix__failed_fsync_sticks),
        fault_test(file_posix__interrupted_fsync_is_not_repeated),
        fault_test(file_posix__failed_fdatasync_sticks),
        fault_test(file_posix__failed_sync_of_a_directory_is_reported),
        fault_test(file_posix__failed_close_is_reported_and_releases),
        fault_test(random__goes_on_after_interruptions_and_short_answers),
        fault_test(random__failure_gives_no_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
