/* Goal: a lock that the system cannot grant is a failure with its cause, and is not taken for a
 * lock of another process. Method: this program replaces fcntl, fstat and pthread_atfork of the C
 * library; a test makes the call for the lock file fail. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/temp_dir.h"

static struct {
    int lock;      /* errno of fcntl(F_OFD_SETLK); 0: it goes to the kernel */
    int stat;      /* errno of fstat of a locked file; 0: it goes to the kernel */
    int watch;     /* error of pthread_atfork; 0: it succeeds, without effect: no test forks */
    int locked_fd; /* the last file locked; -1: none */
    const char
        *replaced; /* a file that another process replaces just before the lock; NULL: none */
} errors;

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_OFD_SETLK && errors.lock != 0) {
        errno = errors.lock;
        return -1;
    }
    if (command == F_OFD_SETLK && errors.replaced != NULL) {
        assert_int_equal(unlink(errors.replaced), 0);
        int created = open(errors.replaced, O_RDWR | O_CREAT, 0600);
        assert_true(created >= 0);
        close(created);
        errors.replaced = NULL;
    }
    long result = syscall(SYS_fcntl, fd, command, argument);
    if (command == F_OFD_SETLK && result == 0)
        errors.locked_fd = fd;
    return (int)result;
}

int fstat(int fd, struct stat *ret_stat)
{
    if (errors.stat != 0 && fd == errors.locked_fd) {
        errno = errors.stat;
        return -1;
    }
    return fstatat(fd, "", ret_stat, AT_EMPTY_PATH);
}

int pthread_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return errors.watch;
}

struct place {
    struct bb_temp_dir dir;
    struct bb_file_system *fs;
    char path[PATH_MAX];
};

static void place_init(struct place *place)
{
    errors.lock = 0;
    errors.stat = 0;
    errors.watch = 0;
    errors.locked_fd = -1;
    errors.replaced = NULL;
    bb_temp_dir_init(&place->dir, "lock_posix_fault");
    bb_temp_dir_path(&place->dir, "LOCK", place->path);
    assert_ok(bb_file_system_posix_create(&place->fs));
}

static void place_deinit(struct place *place)
{
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->dir);
}

/* Locks and unlocks, to show that a failed call left nothing locked. */
static void assert_lockable(struct place *place)
{
    struct bb_file *held = NULL;
    assert_ok(place->fs->ops->lock(place->fs, place->path, &held));
    assert_ok(place->fs->ops->unlock(place->fs, held));
}

static void lock_posix__without_lock_support_the_cause_is_reported(void **state)
{
    (void)state;
    struct place place;
    place_init(&place);
    struct bb_file *held = NULL;
    errors.lock = ENOLCK;
    assert_status(place.fs->ops->lock(place.fs, place.path, &held), BB_IO);
    assert_message("LOCK: lock: No locks available");
    assert_null(held);
    errors.lock = EAGAIN;
    assert_status(place.fs->ops->lock(place.fs, place.path, &held), BB_BUSY);
    errors.lock = EACCES;
    assert_status(place.fs->ops->lock(place.fs, place.path, &held), BB_BUSY);
    errors.lock = 0;
    assert_lockable(&place);
    place_deinit(&place);
}

static void lock_posix__lock_file_that_cannot_be_examined_is_not_locked(void **state)
{
    (void)state;
    struct place place;
    place_init(&place);
    struct bb_file *held = NULL;
    errors.stat = EIO;
    assert_status(place.fs->ops->lock(place.fs, place.path, &held), BB_IO);
    assert_errno_message("LOCK: fstat: ", EIO);
    assert_null(held);
    errors.stat = 0;
    assert_lockable(&place);
    place_deinit(&place);
}

/* A lock of the old file would not exclude locks of the new one. */
static void lock_posix__a_lock_file_that_was_replaced_is_busy(void **state)
{
    (void)state;
    struct place place;
    place_init(&place);
    struct bb_file *held = NULL;
    errors.replaced = place.path;
    assert_status(place.fs->ops->lock(place.fs, place.path, &held), BB_BUSY);
    assert_message("LOCK: was removed or replaced while it was being locked");
    assert_null(held);
    assert_lockable(&place);
    place_deinit(&place);
}

/* A child would release the lock of its parent. The first lock of the process: later ones do not
 * call pthread_atfork again. */
static void lock_posix__without_handlers_of_forks_there_is_no_lock(void **state)
{
    (void)state;
    struct place place;
    place_init(&place);
    struct bb_file *held = NULL;
    errors.watch = ENOMEM;
    assert_int_not_equal(place.fs->ops->lock(place.fs, place.path, &held), BB_OK);
    assert_errno_message("pthread_atfork: ", ENOMEM);
    assert_null(held);
    errors.watch = 0;
    assert_lockable(&place);
    place_deinit(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_posix__without_handlers_of_forks_there_is_no_lock),
        cmocka_unit_test(lock_posix__without_lock_support_the_cause_is_reported),
        cmocka_unit_test(lock_posix__a_lock_file_that_was_replaced_is_busy),
        cmocka_unit_test(lock_posix__lock_file_that_cannot_be_examined_is_not_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
