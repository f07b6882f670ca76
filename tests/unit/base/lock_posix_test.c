/* Goal: one process at a time holds a lock, for any way in which the holder ends, and the message
 * names the holder. Method: real children. A child reports by its exit status; pipes make it wait,
 * never time. */
#include "tests/support/assert_status.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/buf.h"
#include "base/file.h"
#include "tests/support/temp_dir.h"

struct place {
    struct bb_temp_dir dir;
    struct bb_file_system *fs;
    char path[PATH_MAX];
};

static enum bb_status lock(struct place *place, struct bb_file **ret_lock)
{
    return place->fs->ops->lock(place->fs, place->path, ret_lock);
}

static enum bb_status unlock(struct place *place, struct bb_file *held)
{
    return place->fs->ops->unlock(place->fs, held);
}

/* A child has a separate file system, because it must not change anything through the inherited
 * one. */
static void take_own_system(struct place *place)
{
    if (bb_file_system_posix_create(&place->fs) != BB_OK)
        _exit(9);
}

/* Runs body in a child; 0 when the child reports success. */
static int in_child(struct place *place, struct bb_file *held,
                    int (*body)(struct place *, struct bb_file *))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(body(place, held));
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

static int child_finds_parent_holding(struct place *place, struct bb_file *held)
{
    (void)held;
    take_own_system(place);
    struct bb_file *mine = NULL;
    char expected[64];
    snprintf(expected, sizeof(expected), "locked by process %ld", (long)getppid());
    if (lock(place, &mine) != BB_BUSY)
        return 1;
    return strstr(bb_error_last()->message, expected) == NULL ? 2 : 0;
}

static int child_gets_the_lock(struct place *place, struct bb_file *held)
{
    (void)held;
    take_own_system(place);
    struct bb_file *mine = NULL;
    return lock(place, &mine) == BB_OK && unlock(place, mine) == BB_OK ? 0 : 1;
}

static int child_releases_what_it_inherited(struct place *place, struct bb_file *held)
{
    return unlock(place, held) == BB_OK ? 0 : 1;
}

static void lock_posix__child_is_refused_and_told_the_holder(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    assert_ok(lock(place, &held));
    assert_int_equal(in_child(place, held, child_finds_parent_holding), 0);
    /* The child's end closed its copies of our descriptors; the lock holds all the same. */
    assert_int_equal(in_child(place, held, child_finds_parent_holding), 0);
    assert_ok(unlock(place, held));
    assert_int_equal(in_child(place, NULL, child_gets_the_lock), 0);
}

static void lock_posix__child_cannot_release_it(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    assert_ok(lock(place, &held));
    assert_int_equal(in_child(place, held, child_releases_what_it_inherited), 0);
    assert_int_equal(in_child(place, held, child_finds_parent_holding), 0);
    struct bb_file *second = NULL;
    assert_status(lock(place, &second), BB_BUSY);
    assert_ok(unlock(place, held));
}

/* A child that waits until the pipe is closed, with everything it inherited. */
static pid_t fork_waiting(int pipe_ends[2])
{
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte = 0;
        (void)close(pipe_ends[1]);
        ssize_t got = read(pipe_ends[0], &byte, 1);
        _exit(got == 0 ? 0 : 1);
    }
    (void)close(pipe_ends[0]);
    return child;
}

static void lock_posix__unlock_counts_while_a_child_still_has_the_descriptor(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_file *again = NULL;
    int pipe_ends[2];
    assert_ok(lock(place, &held));
    pid_t child = fork_waiting(pipe_ends);
    assert_ok(unlock(place, held));
    assert_ok(lock(place, &again));
    assert_ok(unlock(place, again));
    (void)close(pipe_ends[1]);
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* A child that takes the lock, reports it, and then waits for its end. */
static pid_t fork_holder(struct place *place)
{
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        take_own_system(place);
        struct bb_file *mine = NULL;
        char byte = lock(place, &mine) == BB_OK ? 'y' : 'n';
        if (write(pipe_ends[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    char byte = 0;
    (void)close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    (void)close(pipe_ends[0]);
    return child;
}

/* A holder with a child, both of which live until the pipe is closed. The child writes when it
 * runs. */
static pid_t fork_holder_with_child(struct place *place, int pipe_ends[2], pid_t *ret_grandchild)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct bb_file *mine = NULL;
        take_own_system(place);
        if (lock(place, &mine) != BB_OK)
            _exit(1);
        (void)close(pipe_ends[1]);
        pid_t grandchild = fork();
        pid_t self = grandchild == 0 ? getpid() : 0;
        char byte = 0;
        if (grandchild == 0 && write(ready[1], &self, sizeof(self)) != sizeof(self))
            _exit(1);
        ssize_t got = read(pipe_ends[0], &byte, 1);
        _exit(got == 0 ? 0 : 1);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], ret_grandchild, sizeof(*ret_grandchild)),
                     sizeof(*ret_grandchild));
    (void)close(ready[0]);
    return child;
}

/* It did: the description of the lock was the child's too. */
static void lock_posix__living_child_does_not_keep_a_dead_holders_lock(void **state)
{
    struct place *place = *state;
    struct bb_file *mine = NULL;
    int pipe_ends[2];
    pid_t grandchild = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t holder = fork_holder_with_child(place, pipe_ends, &grandchild);
    assert_status(lock(place, &mine), BB_BUSY);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(kill(grandchild, 0), 0);
    assert_ok(lock(place, &mine));
    assert_ok(unlock(place, mine));
    assert_int_equal(close(pipe_ends[0]), 0);
    assert_int_equal(close(pipe_ends[1]), 0);
}

static void lock_posix__killed_holder_leaves_it_free(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    char expected[64];
    pid_t child = fork_holder(place);
    assert_status(lock(place, &held), BB_BUSY);
    snprintf(expected, sizeof(expected), "locked by process %ld", (long)child);
    assert_message(expected);
    assert_message(place->path);

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_ok(lock(place, &held)); /* its id is still in the file, which has no meaning */
    assert_ok(unlock(place, held));
}

static void lock_posix__file_holds_the_process_id_while_it_is_held(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_buf buf = {0};
    char expected[32];
    int length = snprintf(expected, sizeof(expected), "%ld\n", (long)getpid());
    assert_ok(lock(place, &held));
    assert_ok(bb_file_read_whole(place->fs, place->path, 100, &buf));
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of(expected, (size_t)length)));
    assert_ok(unlock(place, held));
    assert_ok(bb_file_read_whole(place->fs, place->path, 100, &buf));
    assert_int_equal(buf.size, 0);
    bb_buf_deinit(&buf);
}

/* Reading the file of a lock that the same process holds must not drop it, as it would with
 * F_SETLK. */
static void lock_posix__closing_another_descriptor_keeps_it(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_file *reader = NULL;
    assert_ok(lock(place, &held));
    assert_ok(bb_file_open(place->fs, place->path, &reader));
    assert_ok(bb_file_close(reader));
    assert_int_equal(in_child(place, held, child_finds_parent_holding), 0);
    assert_ok(unlock(place, held));
}

static void lock_posix__foreign_contents_give_no_id(void **state)
{
    struct place *place = *state;
    static const char *const contents[] = {
        "", "abc", "-5\n", "12", "99999999999999999999999999\n", "0\n"};
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        struct bb_file *held = NULL;
        struct bb_file *second = NULL;
        assert_ok(lock(place, &held));
        FILE *file = fopen(place->path, "w");
        assert_non_null(file);
        assert_true(fputs(contents[i], file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_status(lock(place, &second), BB_BUSY);
        assert_message("locked by a process without an id");
        assert_ok(unlock(place, held));
    }
}

/* The forbidden result of a removal of the lock file by its holder: two holders of one name. */
struct removers {
    struct place *place;
    _Atomic int holders;
    _Atomic int locked;
    _Atomic bool met;
};

static void *lock_and_remove(void *argument)
{
    struct removers *removers = argument;
    struct place *place = removers->place;
    for (int i = 0; i < 20000; i++) {
        struct bb_file *held = NULL;
        enum bb_status status = lock(place, &held);
        if (status != BB_OK)
            continue;
        atomic_fetch_add(&removers->locked, 1);
        if (atomic_fetch_add(&removers->holders, 1) != 0)
            atomic_store(&removers->met, true);
        (void)sched_yield();
        atomic_fetch_sub(&removers->holders, 1);
        if (place->fs->ops->remove(place->fs, place->path) != BB_OK || unlock(place, held) != BB_OK)
            atomic_store(&removers->met, true);
    }
    return NULL;
}

static void lock_posix__removed_by_its_holder_is_nobodys(void **state)
{
    struct removers removers = {.place = *state};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, lock_and_remove, &removers), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(atomic_load(&removers.met));
    assert_true(atomic_load(&removers.locked) > 0);
}

static int child_finds_the_directory_held(struct place *place, struct bb_file *held)
{
    (void)held;
    take_own_system(place);
    struct bb_file *mine = NULL;
    if (lock(place, &mine) != BB_BUSY)
        return 1;
    return strstr(bb_error_last()->message, "the directory is locked") == NULL ? 2 : 0;
}

/* Removed by a person who considered it the leftover of a dead holder. */
static void lock_posix__removed_by_hand_still_excludes(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_file *second = NULL;
    assert_ok(lock(place, &held));
    for (int again = 0; again < 2; again++) {
        assert_ok(place->fs->ops->remove(place->fs, place->path));
        assert_status(lock(place, &second), BB_BUSY);
        assert_message(place->path);
        assert_message("the directory is locked");
        assert_int_equal(in_child(place, held, child_finds_the_directory_held), 0);
    }
    assert_int_equal(in_child(place, held, child_releases_what_it_inherited), 0);
    assert_status(lock(place, &second), BB_BUSY);
    assert_ok(unlock(place, held));
    assert_int_equal(in_child(place, NULL, child_gets_the_lock), 0);
}

static int ready[2]; /* a byte in it: the last process runs */
static int gate[2];  /* its reader waits until the test closes it */

/* Locks, starts a process that waits at the gate, and ends without unlocking. */
static int child_dies_before_its_child(struct place *place, struct bb_file *unused)
{
    (void)unused;
    take_own_system(place);
    struct bb_file *mine = NULL;
    char byte = 0;
    if (lock(place, &mine) != BB_OK)
        return 1;
    pid_t grandchild = fork();
    if (grandchild != 0)
        return grandchild < 0 ? 2 : 0;
    (void)close(gate[1]);
    (void)!write(ready[1], &byte, 1);
    (void)!read(gate[0], &byte, 1);
    return 0;
}

/* The kernel releases the lock with the last descriptor: a fork must not keep one. */
static void lock_posix__is_free_once_its_holder_died_whatever_a_child_does(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    char byte = 0;
    assert_true(pipe(gate) == 0 && pipe(ready) == 0);
    assert_int_equal(in_child(place, NULL, child_dies_before_its_child), 0);
    (void)close(ready[1]); /* so that the read ends if the last process does */
    assert_int_equal(read(ready[0], &byte, 1), 1);
    enum bb_status status = lock(place, &held);
    (void)close(ready[0]);
    (void)close(gate[0]);
    (void)close(gate[1]);
    assert_status(status, BB_OK);
    assert_ok(unlock(place, held));
}

/* By a name without a slash. */
static void lock_posix__in_the_working_directory(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_file *second = NULL;
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(before >= 0);
    assert_int_equal(chdir(place->dir.path), 0);
    assert_ok(place->fs->ops->lock(place->fs, "LOCK", &held));
    assert_status(lock(place, &second), BB_BUSY);
    assert_ok(place->fs->ops->remove(place->fs, "LOCK"));
    assert_status(lock(place, &second), BB_BUSY);
    assert_message("the directory is locked");
    assert_ok(unlock(place, held));
    assert_int_equal(fchdir(before), 0);
    assert_int_equal(close(before), 0);
}

/* As flock(1) does around a command. */
static void lock_posix__a_directory_locked_by_others_is_named(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    int directory = open(place->dir.path, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0);
    assert_int_equal(flock(directory, LOCK_SH), 0);
    assert_status(lock(place, &held), BB_BUSY);
    assert_message("flock(2) locks the directory for another purpose");
    assert_int_equal(close(directory), 0);
    assert_ok(lock(place, &held));
    assert_ok(unlock(place, held));
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    bb_temp_dir_init(&place->dir, "lock_posix");
    bb_temp_dir_path(&place->dir, "LOCK", place->path);
    assert_ok(bb_file_system_posix_create(&place->fs));
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->dir);
    free(place);
    return 0;
}

/* Read-only holders: several at a time, never together with a writer, and without a file. */
static void lock_posix__shared(void **state)
{
    struct place *place = *state;
    struct bb_file *held = NULL;
    struct bb_file *first = NULL;
    struct bb_file *second = NULL;
    for (int has_file = 0; has_file < 2; has_file++) {
        assert_ok(place->fs->ops->lock_shared(place->fs, place->path, &first));
        assert_int_equal(access(place->path, F_OK) == 0, has_file);
        assert_ok(place->fs->ops->lock_shared(place->fs, place->path, &second));
        assert_status(lock(place, &held), BB_BUSY);
        assert_ok(unlock(place, first));
        assert_status(lock(place, &held), BB_BUSY);
        assert_null(held);
        assert_ok(unlock(place, second));
        second = NULL;
        assert_ok(lock(place, &held));
        assert_status(place->fs->ops->lock_shared(place->fs, place->path, &second), BB_BUSY);
        assert_message("already locked by this process");
        assert_null(second);
        assert_ok(unlock(place, held));
        held = NULL;
    }
}

#define lock_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lock_test(lock_posix__child_is_refused_and_told_the_holder),
        lock_test(lock_posix__child_cannot_release_it),
        lock_test(lock_posix__is_free_once_its_holder_died_whatever_a_child_does),
        lock_test(lock_posix__unlock_counts_while_a_child_still_has_the_descriptor),
        lock_test(lock_posix__living_child_does_not_keep_a_dead_holders_lock),
        lock_test(lock_posix__killed_holder_leaves_it_free),
        lock_test(lock_posix__file_holds_the_process_id_while_it_is_held),
        lock_test(lock_posix__closing_another_descriptor_keeps_it),
        lock_test(lock_posix__foreign_contents_give_no_id),
        lock_test(lock_posix__removed_by_its_holder_is_nobodys),
        lock_test(lock_posix__removed_by_hand_still_excludes),
        lock_test(lock_posix__in_the_working_directory),
        lock_test(lock_posix__a_directory_locked_by_others_is_named),
        lock_test(lock_posix__shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
