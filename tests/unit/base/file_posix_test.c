/* Goal: the operating system's files are opened, written, locked and closed safely: against links,
 * FIFOs, inherited descriptors, full disks, two processes. Method: a real directory with real
 * FIFOs, links and children. A file size limit of the process makes write(2) stop half-way, like a
 * full disk; /proc/self/io counts the reads. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/temp_dir.h"

#define NOBODY 65534

struct place {
    struct bb_temp_dir dir;
    struct bb_file_system *fs;
    char path[PATH_MAX]; /* dir/x */
    char other[PATH_MAX];
};

static void write_text(struct place *place, const char *path, const char *text)
{
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(place->fs, path, &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text(text)));
    assert_ok(bb_file_close(file));
}

static void file_posix__modes_are_private(void **state)
{
    struct place *place = *state;
    struct stat information;
    mode_t before = umask(0);
    write_text(place, place->path, "x");
    assert_ok(place->fs->ops->make_directory(place->fs, place->other));
    umask(before);
    assert_int_equal(stat(place->path, &information), 0);
    assert_int_equal(information.st_mode & 07777, 0600);
    assert_int_equal(stat(place->other, &information), 0);
    assert_int_equal(information.st_mode & 07777, 0700);
}

static void file_posix__symbolic_link_is_refused(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    write_text(place, place->other, "secret");
    assert_int_equal(symlink(place->other, place->path), 0);
    assert_status(bb_file_open(place->fs, place->path, &file), BB_INVALID);
    assert_message("is a symbolic link, expected a regular file");
    assert_message(place->path);
    assert_status(bb_file_create(place->fs, place->path, &file), BB_EXISTS);
    assert_status(place->fs->ops->lock(place->fs, place->path, &file), BB_INVALID);
    assert_null(file);
}

static void file_posix__dangling_link_has_a_name(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    bool is_directory = true;
    uint64_t size = 9;
    assert_int_equal(symlink("/nowhere/at/all", place->path), 0);
    assert_ok(place->fs->ops->status(place->fs, place->path, &is_directory, &size));
    assert_false(is_directory);
    assert_int_equal(size, 0);
    assert_status(bb_file_create(place->fs, place->path, &file), BB_EXISTS);
}

static void file_posix__directory_after_a_link_is_fine(void **state)
{
    struct place *place = *state;
    bool is_directory = false;
    uint64_t size = 0;
    struct bb_file_names list = {0};
    assert_int_equal(symlink(place->dir.path, place->path), 0);
    assert_ok(place->fs->ops->status(place->fs, place->path, &is_directory, &size));
    assert_true(is_directory);
    assert_ok(place->fs->ops->list(place->fs, place->path, &list));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.names[0], "x");
    bb_file_names_deinit(&list);
    assert_ok(place->fs->ops->sync_directory(place->fs, place->path));
}

static void file_posix__fifo_is_refused_and_not_waited_for(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    assert_int_equal(mkfifo(place->path, 0600), 0);
    (void)alarm(30); /* an open that waits for a writer ends the test */
    assert_status(bb_file_open(place->fs, place->path, &file), BB_INVALID);
    assert_message("is a FIFO, expected a regular file");
    assert_status(place->fs->ops->lock(place->fs, place->path, &file), BB_INVALID);
    (void)alarm(0);
    assert_null(file);
}

static void file_posix__device_and_socket_are_refused(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    assert_status(bb_file_open(place->fs, "/dev/null", &file), BB_INVALID);
    assert_message("/dev/null: is a device");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(place->path) < sizeof(address.sun_path));
    strcpy(address.sun_path, place->path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_status(bb_file_open(place->fs, place->path, &file), BB_INVALID);
    assert_int_equal(close(fd), 0);
    assert_null(file);
}

/* The flags of every descriptor above stderr; the test opens none itself. */
static void assert_all_close_on_exec(size_t expected_count)
{
    size_t count = 0;
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
        struct stat information;
        if (fstat(fd, &information) != 0 || !S_ISREG(information.st_mode))
            continue;
        char link[64];
        char target[PATH_MAX] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof(target) - 1) < 0 ||
            strstr(target, "bb-file_posix-") == NULL)
            continue;
        assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
        count++;
    }
    assert_int_equal(count, expected_count);
}

static void file_posix__descriptors_are_not_inherited(void **state)
{
    struct place *place = *state;
    struct bb_file *writer = NULL;
    struct bb_file *reader = NULL;
    struct bb_file *lock = NULL;
    assert_ok(bb_file_create(place->fs, place->path, &writer));
    assert_ok(bb_file_open(place->fs, place->path, &reader));
    assert_ok(place->fs->ops->lock(place->fs, place->other, &lock));
    assert_all_close_on_exec(3);
    assert_ok(bb_file_close(writer));
    assert_ok(bb_file_close(reader));
    assert_ok(place->fs->ops->unlock(place->fs, lock));
    assert_all_close_on_exec(0);
}

static void file_posix__errors_carry_path_and_words(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file *file = NULL;
    char expected[PATH_MAX + 64];
    snprintf(expected, sizeof(expected), "%s: open: No such file or directory", place->path);
    assert_status(bb_file_open(fs, place->path, &file), BB_NOT_FOUND);
    assert_string_equal(bb_error_last()->message, expected);
    snprintf(expected, sizeof(expected), "%s: unlink: No such file or directory", place->path);
    assert_status(fs->ops->remove(fs, place->path), BB_NOT_FOUND);
    assert_string_equal(bb_error_last()->message, expected);
    char name[600];
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_status(bb_file_create(fs, name, &file), BB_IO);
    assert_errno_message("nnn: open: ", ENAMETOOLONG);
    assert_status(bb_file_create(fs, "", &file), BB_NOT_FOUND);
}

/* Limits the size of files. */
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void file_posix__short_write_is_continued_until_it_fails_and_the_failure_sticks(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    struct bb_file_counters counters;
    uint64_t size = 0;
    static uint8_t data[10000];
    assert_ok(bb_file_create(place->fs, place->path, &file));
    (void)signal(SIGXFSZ, SIG_IGN);
    limit_file_size(15000);
    assert_ok(bb_file_append(file, bb_bytes_of(data, sizeof(data))));
    assert_status(bb_file_append(file, bb_bytes_of(data, sizeof(data))), BB_IO);
    assert_message("write: File too large");
    limit_file_size(RLIM_INFINITY);
    (void)signal(SIGXFSZ, SIG_DFL);

    assert_ok(bb_file_size(file, &size));
    assert_int_equal(size, 15000); /* the possible part was written */
    place->fs->ops->counters(place->fs, &counters);
    assert_int_equal(counters.appends, 3); /* whole, short, failed */
    assert_int_equal(counters.append_bytes, 15000);
    assert_status(bb_file_append(file, bb_bytes_of(data, 1)), BB_IO);
    assert_message("an earlier append or sync of this file failed");
    assert_status(bb_file_sync(file), BB_IO);
    assert_ok(bb_file_size(file, &size));
    assert_int_equal(size, 15000);
    assert_ok(bb_file_close(file));
}

static void file_posix__created_file_can_be_read(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    char buffer[3];
    assert_ok(bb_file_create(place->fs, place->path, &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text("abc")));
    assert_ok(bb_file_read_exactly(file, 0, buffer, 3)); /* and does not move the end */
    assert_ok(bb_file_append(file, bb_bytes_of_text("def")));
    assert_ok(bb_file_read_exactly(file, 3, buffer, 3));
    assert_memory_equal(buffer, "def", 3);
    assert_ok(bb_file_close(file));
}

/* The system's count of read calls of this process. False if it is not available. */
static bool read_system_reads(uint64_t *ret_reads)
{
    char text[512] = "";
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    const char *line = got > 0 ? strstr(text, "syscr: ") : NULL;
    return line != NULL && sscanf(line, "syscr: %" SCNu64, ret_reads) == 1;
}

static void file_posix__reads_are_those_of_the_system(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    uint64_t marks[4] = {0};
    char buffer[100];
    size_t got = 0;
    write_text(place, place->path, "0123456789");
    assert_ok(bb_file_open(place->fs, place->path, &file));
    struct bb_file_counters before;
    struct bb_file_counters after;
    if (!read_system_reads(&marks[0]) || !read_system_reads(&marks[1])) {
        assert_ok(bb_file_close(file));
        print_message("no /proc/self/io here\n");
        skip();
    }
    place->fs->ops->counters(place->fs, &before);
    for (size_t i = 0; i < 100; i++) {
        assert_ok(bb_file_read_at(file, i % 10, buffer, 1, &got));
        assert_ok(bb_file_read_at(file, 5, buffer, sizeof(buffer), &got)); /* short: reads twice */
    }
    place->fs->ops->counters(place->fs, &after);
    assert_true(read_system_reads(&marks[2]));
    uint64_t asking = marks[1] - marks[0]; /* the cost of reading the count */
    assert_int_equal(marks[2] - marks[1] - asking, after.reads - before.reads);
    assert_int_equal(after.reads - before.reads, 300);
    assert_ok(bb_file_close(file));
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    bb_temp_dir_init(&place->dir, "file_posix");
    bb_temp_dir_path(&place->dir, "x", place->path);
    bb_temp_dir_path(&place->dir, "y", place->other);
    assert_ok(bb_file_system_posix_create(&place->fs));
    *state = place;
    return 0;
}

/* Only the process that created a file system may use it. */
static void file_posix__a_child_cannot_change_directories(void **state)
{
    struct place *place = *state;
    struct stat information;
    int result = 0;
    assert_ok(place->fs->ops->make_directory(place->fs, place->other));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct bb_file_system *fs = place->fs;
        bool is_refused = fs->ops->remove_directory(fs, place->other) == BB_INVALID &&
                          fs->ops->make_directory(fs, place->path) == BB_INVALID &&
                          fs->ops->rename(fs, place->other, place->path) == BB_INVALID;
        _exit(is_refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(stat(place->other, &information), 0);
    assert_int_equal(stat(place->path, &information), -1);
}

static bool become_nobody(void)
{
    bool has_changed_group = setgroups(0, NULL) == 0 && setgid(NOBODY) == 0;
    return has_changed_group && setuid(NOBODY) == 0;
}

static bool reads_x(struct bb_file_system *fs, const char *path)
{
    char byte = 0;
    struct bb_file *file = NULL;
    if (bb_file_open(fs, path, &file) != BB_OK)
        return false;
    bool is_read = bb_file_read_exactly(file, 0, &byte, 1) == BB_OK && byte == 'x';
    return bb_file_close(file) == BB_OK && is_read;
}

static bool reads_plainly(const char *path)
{
    char byte = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0;
}

static time_t time_of_access(const char *path)
{
    struct stat information;
    assert_int_equal(stat(path, &information), 0);
    return information.st_atim.tv_sec;
}

/* The times are those after which a system with `relatime` changes the time of access. Skipped
 * where no read changes it. */
static void file_posix__a_read_keeps_the_time_of_access(void **state)
{
    struct place *place = *state;
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    write_text(place, place->path, "x");
    assert_int_equal(utimensat(AT_FDCWD, place->path, times, 0), 0);
    assert_true(reads_x(place->fs, place->path));
    assert_int_equal(time_of_access(place->path), 1000);
    assert_true(reads_plainly(place->path));
    if (time_of_access(place->path) == 1000)
        skip();
}

/* 99: this is not possible here, because of a namespace of users or the parents of the file. */
static int read_as_nobody(const char *path)
{
    struct bb_file_system *fs = NULL;
    if (!become_nobody() || !reads_plainly(path))
        return 99;
    return bb_file_system_posix_create(&fs) == BB_OK && reads_x(fs, path) ? 0 : 1;
}

/* For such a file the system refuses the flag that keeps the time of access. */
static void file_posix__reads_a_file_of_another_user(void **state)
{
    struct place *place = *state;
    int result = 0;
    if (geteuid() != 0)
        skip();
    write_text(place, place->path, "x");
    assert_int_equal(chmod(place->dir.path, 0755), 0);
    assert_int_equal(chmod(place->path, 0644), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read_as_nobody(place->path));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 99)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* A directory that may be changed and not read cannot be opened for its sync. 0: as expected. */
static int sync_unreadable(struct place *place)
{
    struct bb_file_system *fs = NULL;
    if (geteuid() == 0 && !become_nobody())
        return 99;
    if (bb_file_system_posix_create(&fs) != BB_OK)
        return 98;
    int result = fs->ops->sync_directory(fs, place->other) == BB_READ_ONLY ? 0 : 1;
    bb_file_system_posix_destroy(fs);
    return result;
}

static void file_posix__an_unreadable_directory_is_read_only(void **state)
{
    struct place *place = *state;
    int result = 0;
    assert_ok(place->fs->ops->make_directory(place->fs, place->other));
    assert_int_equal(chmod(place->dir.path, 0755), 0);
    assert_int_equal(chmod(place->other, 0333), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(sync_unreadable(place));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(chmod(place->other, 0700), 0);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 99)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
}

static int tear_down(void **state)
{
    struct place *place = *state;
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->dir);
    free(place);
    return 0;
}

#define posix_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        posix_test(file_posix__modes_are_private),
        posix_test(file_posix__symbolic_link_is_refused),
        posix_test(file_posix__dangling_link_has_a_name),
        posix_test(file_posix__directory_after_a_link_is_fine),
        posix_test(file_posix__a_child_cannot_change_directories),
        posix_test(file_posix__an_unreadable_directory_is_read_only),
        posix_test(file_posix__fifo_is_refused_and_not_waited_for),
        posix_test(file_posix__device_and_socket_are_refused),
        posix_test(file_posix__descriptors_are_not_inherited),
        posix_test(file_posix__errors_carry_path_and_words),
        posix_test(file_posix__short_write_is_continued_until_it_fails_and_the_failure_sticks),
        posix_test(file_posix__created_file_can_be_read),
        posix_test(file_posix__reads_are_those_of_the_system),
        posix_test(file_posix__a_read_keeps_the_time_of_access),
        posix_test(file_posix__reads_a_file_of_another_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
