/* Preloaded into a server by save_test.py: forks that fail, and children that wait.
 *
 * The variable BB_FORK_CONTROL names a directory. While it has a file `fail`, fork fails with
 * EAGAIN; the handlers of pthread_atfork run, as in every failed fork. While it has a file `hold`,
 * a new child waits. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 4096

static bool has_file(const char *name)
{
    const char *directory = getenv("BB_FORK_CONTROL");
    char path[PATH_SIZE];
    if (directory == NULL)
        return false;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void wait_in_child(pid_t parent)
{
    while (has_file("hold") && getppid() == parent)
        usleep(1000);
}

__attribute__((visibility("default"))) pid_t fork(void)
{
    pid_t (*real_fork)(void) = NULL;
    void *found = dlsym(RTLD_NEXT, "fork");
    memcpy(&real_fork, &found, sizeof(found));
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
