/* Resolves paths while their directory is locked: to the locked directory, even if its name now
 * refers to something else.
 *
 *     /data/store/000007.wal     the name of a locked directory, one or more slashes, a name
 *
 * A store's directory may be moved while it is open, and another directory may get its name. By
 * name, the next log would be created there, among unrelated files, or would fail to be created.
 * The descriptor that holds the lock leads to the right directory. */
#include "base/file_posix.h"

#include <fcntl.h>
#include <string.h>

#include "base/process.h"

/* The length of a path without the slashes at its end; a path of only slashes is kept. */
static size_t without_slashes(const char *path, size_t size)
{
    while (size > 1 && path[size - 1] == '/')
        size--;
    return size;
}

/* -1: it is not held. */
static int find_held(struct bb_posix_file_system *fs, const char *path, size_t size)
{
    int fd = -1;
    size = without_slashes(path, size);
    /* After a fork a thread that is not here may hold the mutex, and the lock is not this
     * process's. */
    if (fs->process != bb_process_number())
        return -1;
    bb_mutex_lock(&fs->mutex);
    for (const struct bb_posix_hold *hold = fs->holds; hold != NULL && fd < 0; hold = hold->next) {
        if (hold->size == size && memcmp(hold->path, path, size) == 0)
            fd = hold->fd;
    }
    bb_mutex_unlock(&fs->mutex);
    return fd;
}

struct bb_posix_place bb_posix_place_of(struct bb_file_system *fs, const char *path)
{
    const char *slash = strrchr(path, '/');
    int fd = slash == NULL || slash == path
                 ? -1
                 : find_held(bb_posix_of(fs), path, (size_t)(slash - path));
    return fd < 0 ? (struct bb_posix_place){.fd = AT_FDCWD, .name = path}
                  : (struct bb_posix_place){.fd = fd, .name = slash + 1};
}

struct bb_posix_place bb_posix_place_of_directory(struct bb_file_system *fs, const char *path)
{
    int fd = find_held(bb_posix_of(fs), path, strlen(path));
    return fd < 0 ? (struct bb_posix_place){.fd = AT_FDCWD, .name = path}
                  : (struct bb_posix_place){.fd = fd, .name = "."};
}

void bb_posix_hold(struct bb_file_system *base, struct bb_posix_hold *hold)
{
    struct bb_posix_file_system *fs = bb_posix_of(base);
    const char *slash = strrchr(hold->path, '/');
    /* A bare name is in the working directory, and "/LOCK" in the root: neither is a store's. */
    if (hold->fd < 0 || slash == NULL || slash == hold->path)
        return;
    hold->size = without_slashes(hold->path, (size_t)(slash - hold->path));
    bb_mutex_lock(&fs->mutex);
    hold->next = fs->holds;
    fs->holds = hold;
    bb_mutex_unlock(&fs->mutex);
}

void bb_posix_let_go(struct bb_file_system *base, const struct bb_posix_hold *hold)
{
    struct bb_posix_file_system *fs = bb_posix_of(base);
    bb_mutex_lock(&fs->mutex);
    struct bb_posix_hold **link = &fs->holds;
    while (*link != NULL && *link != hold)
        link = &(*link)->next;
    if (*link != NULL)
        *link = hold->next;
    bb_mutex_unlock(&fs->mutex);
}
