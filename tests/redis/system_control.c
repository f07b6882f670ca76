/* Preloaded into a server by save_test.py: forks that fail, children that wait, syncs that are
 * listed, pipes that are interrupted.
 *
 * The variable BB_SYSTEM_CONTROL names a directory. While it has a file `fail`, fork fails with
 * EAGAIN; the handlers of pthread_atfork run, as in every failed fork. While it has a file `hold`,
 * a new child waits. While it has a file `syncs`, each fsync and fdatasync appends its path to that
 * file. While it has a file `interrupt`, a read or write of 8 bytes at a pipe fails with EINTR or
 * transfers half of them, by turns. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 4096

struct path {
    char text[PATH_SIZE];
};

static struct path path_of(const char *name)
{
    const char *directory = getenv("BB_SYSTEM_CONTROL");
    struct path path;
    snprintf(path.text, sizeof(path.text), "%s/%s", directory == NULL ? "/nowhere" : directory,
             name);
    return path;
}

static bool has_file(const char *name)
{
    struct path path = path_of(name);
    return access(path.text, F_OK) == 0;
}

/* Sets a pointer to a function of the C library. */
static void find(void *pointer, size_t size, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(pointer, &found, size);
}

static void wait_in_child(pid_t parent)
{
    while (has_file("hold") && getppid() == parent)
        usleep(1000);
}

__attribute__((visibility("default"))) pid_t fork(void)
{
    pid_t (*real_fork)(void) = NULL;
    find(&real_fork, sizeof(real_fork), "fork");
    pid_t parent = getpid();
    bool fails = has_file("fail");
    pid_t child = real_fork();
    if (child == 0 && fails)
        _exit(0);
    if (child == 0)
        wait_in_child(parent);
    if (child > 0 && fails) {
        (void)waitpid(child, NULL, 0);
        errno = EAGAIN;
        return -1;
    }
    return child;
}

/* One write, so that lines of threads do not mix. */
static void note_sync(int handle)
{
    char link[64];
    char line[PATH_SIZE];
    struct path list = path_of("syncs");
    int output = open(list.text, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (output < 0)
        return;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, line, sizeof(line) - 1);
    if (size > 0) {
        line[size] = '\n';
        (void)!write(output, line, (size_t)size + 1);
    }
    (void)close(output);
}

static int sync_noted(int handle, const char *name)
{
    int (*real_sync)(int) = NULL;
    find(&real_sync, sizeof(real_sync), name);
    note_sync(handle);
    return real_sync(handle);
}

__attribute__((visibility("default"))) int fsync(int handle)
{
    return sync_noted(handle, "fsync");
}

__attribute__((visibility("default"))) int fdatasync(int handle)
{
    return sync_noted(handle, "fdatasync");
}

static bool is_report(int handle, size_t size)
{
    struct stat info;
    return size == 8 && fstat(handle, &info) == 0 && S_ISFIFO(info.st_mode) &&
           has_file("interrupt");
}

/* number: of the system call. */
static ssize_t transfer(long number, int handle, const void *bytes, size_t size)
{
    static atomic_uint reports;
    if (!is_report(handle, size))
        return syscall(number, handle, bytes, size);
    if (atomic_fetch_add(&reports, 1) % 2 == 1)
        return syscall(number, handle, bytes, size / 2);
    errno = EINTR;
    return -1;
}

__attribute__((visibility("default"))) ssize_t read(int handle, void *bytes, size_t size)
{
    return transfer(SYS_read, handle, bytes, size);
}

__attribute__((visibility("default"))) ssize_t write(int handle, const void *bytes, size_t size)
{
    return transfer(SYS_write, handle, bytes, size);
}
