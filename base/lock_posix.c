/* The lock file that excludes a second opener.
 *
 *   content   decimal process id of the holder, then a newline; empty without a holder
 *
 * The lock belongs to an open file description (F_OFD_SETLK). A process-wide lock (F_SETLK) is not
 * sufficient: the same process would get it twice, and closing any other descriptor of the file
 * would silently drop it. This lock conflicts with every other open of the file, in this process,
 * in a child, or elsewhere, and ends with the description.
 *
 * A child made by fork would share the description. If the parent exited, the child would keep the
 * store locked as long as it runs. So the process has a list of its locks, and a child starts by
 * closing their descriptors (pthread_atfork). The parent keeps the lock until it unlocks or exits.
 * A child made without the C library's fork keeps the lock until its next exec. That is safe: the
 * store is locked too long, not too briefly.
 *
 * Users sometimes remove the lock file because they think that it prevents opening. The next opener
 * would create and lock a new file, and share the directory with the holder of the old one. So the
 * directory is locked too (flock, which needs no write permission) if the file system supports it;
 * a lack of support is not a failure. While the directory is locked, operations in it use its
 * descriptor (place_posix.c), so the store still works if the directory is moved. A program that
 * locks the directory for another purpose, such as flock(1) around a command, prevents opening the
 * store.
 *
 * Readers take shared locks of the file and of the directory. They open the file for reading, and
 * only if it exists. They create and write no file, so a store can be verified without write
 * permission or on a read-only file system. */
#include "base/file_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "base/status.h"

struct posix_lock {
    struct bb_file base;
    int fd;                         /* -1: closed by a child that inherited it */
    struct bb_posix_hold directory; /* fd -1: the directory is not locked */
    uint64_t process;               /* the process that took the lock: base/process.h */
    struct posix_lock *next;        /* in the list below */
    bool is_shared;
    bool has_file; /* false: there is no lock file; fd is a second descriptor of the directory */
    char path[];
};

/* The locks that this process holds. WHY global: a fork copies all descriptors of the process. */
static struct {
    struct bb_mutex mutex;
    bool is_watching; /* a fork calls the functions below */
    struct posix_lock *first;
} held = {.mutex = BB_MUTEX_STATIC};

/* ---- forks ---- */

static void close_once(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* only the process id was written through it */
    *fd = -1;
}

/* Waits until no thread is taking a lock. So at the fork, every lock with a descriptor is in the
 * list. */
static void before_fork(void)
{
    bb_mutex_lock(&held.mutex);
}

static void after_fork(void)
{
    bb_mutex_unlock(&held.mutex);
}

static void after_fork_in_child(void)
{
    for (struct posix_lock *lock = held.first; lock != NULL; lock = lock->next) {
        close_once(&lock->fd);
        close_once(&lock->directory.fd);
    }
    held.first = NULL;
    bb_mutex_unlock(&held.mutex);
}

/* The mutex is held. */
static enum bb_status watch_forks(void)
{
    if (held.is_watching)
        return BB_OK;
    enum bb_status status = bb_fork_watch(before_fork, after_fork, after_fork_in_child);
    held.is_watching = status == BB_OK;
    return status;
}

static void list_lock(struct posix_lock *lock)
{
    lock->next = held.first;
    held.first = lock;
}

static void unlist_lock(const struct posix_lock *lock)
{
    struct posix_lock **link = &held.first;
    while (*link != NULL && *link != lock)
        link = &(*link)->next;
    if (*link != NULL)
        *link = lock->next;
}

/* ---- locking ---- */

static int set_lock(int fd, short type)
{
    struct flock request = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &request);
}

/* The process id in the file; 0: the file has no process id. */
static long read_holder(int fd)
{
    char text[32] = "";
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
    if (got <= 0)
        return 0;
    char *end = NULL;
    errno = 0;
    long holder = strtol(text, &end, 10);
    bool is_number = errno == 0 && end != text && *end == '\n' && holder > 0;
    return is_number ? holder : 0;
}

/* Writes the process id, which only the error message of another opener uses. WHY a failure is
 * ignored: a store on a full disk must still be opened, so that its keys can be deleted. */
static void write_holder(int fd, long holder)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%ld\n", holder);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
        return;
}

static enum bb_status fail_lock(int error_number, int fd, const char *path)
{
    if (error_number != EAGAIN && error_number != EACCES)
        return bb_fail_errno(error_number, "lock", path);
    long holder = read_holder(fd);
    if (holder == 0)
        return bb_fail(BB_BUSY,
                       "%s: locked by a process without an id, such as a verification of the store",
                       path);
    if (holder == bb_process_id())
        return bb_fail(BB_BUSY, "%s: already locked by this process (%ld)", path, holder);
    return bb_fail(BB_BUSY, "%s: locked by process %ld", path, holder);
}

/* Checks that the path still names the locked file. WHY: a holder may remove the lock file before
 * it unlocks (kv/admin/store_destroy.c). A process that opened the old file could then lock it, and
 * share the directory with a process that creates a new file. place: the current location of the
 * path. */
static enum bb_status check_named(int fd, const struct bb_posix_place *place, const char *path)
{
    struct stat opened;
    struct stat named;
    if (fstat(fd, &opened) != 0)
        return bb_fail_errno(errno, "fstat", path);
    if (fstatat(place->fd, place->name, &named, 0) == 0 && named.st_dev == opened.st_dev &&
        named.st_ino == opened.st_ino)
        return BB_OK;
    return bb_fail(BB_BUSY, "%s: was removed or replaced while it was being locked", path);
}

static enum bb_status open_and_lock(struct bb_file_system *fs, const char *path, bool is_shared,
                                    int *ret_fd)
{
    const struct bb_posix_place place = {.fd = AT_FDCWD, .name = path};
    int fd = -1;
    enum bb_status status =
        bb_posix_open_regular(fs, path, is_shared ? O_RDONLY : O_RDWR | O_CREAT, &fd);
    if (status != BB_OK)
        return status;
    status = set_lock(fd, is_shared ? F_RDLCK : F_WRLCK) == 0 ? check_named(fd, &place, path)
                                                              : fail_lock(errno, fd, path);
    if (status != BB_OK) {
        (void)close(fd);
        return status;
    }
    *ret_fd = fd;
    return BB_OK;
}

/* Opens the directory of a lock file. directory: space for its path. */
static int open_directory_of(const char *path, char *directory)
{
    const char *slash = strrchr(path, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    memcpy(directory, path, size);
    /* "." is the directory of a name without a slash, and "DIR/." is DIR itself. */
    memcpy(directory + size, ".", 2);
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static enum bb_status lock_directory(struct posix_lock *lock, char *scratch)
{
    int operation = (lock->is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    lock->directory.fd = open_directory_of(lock->path, scratch);
    if (lock->directory.fd < 0 || flock(lock->directory.fd, operation) == 0)
        return BB_OK;
    bool is_held = errno == EWOULDBLOCK;
    (void)close(lock->directory.fd);
    lock->directory.fd = -1;
    if (!is_held)
        return BB_OK;
    return bb_fail(BB_BUSY,
                   "%s: the directory is locked, though this file is not: it was removed while the "
                   "store was open, the store is being verified, or flock(2) locks the directory "
                   "for another purpose",
                   lock->path);
}

/* Must precede the unlocking of the file: the file's next holder must find the directory
 * unlocked. */
static void unlock_directory(struct posix_lock *lock)
{
    if (lock->directory.fd < 0)
        return;
    /* WHY not only close: a child may share the description. */
    (void)flock(lock->directory.fd, LOCK_UN);
    close_once(&lock->directory.fd);
}

/* Checks that the locked file is in the locked directory. WHY: the file and the directory were
 * opened by path, one after the other, and the path may have changed in between. All later
 * operations use the directory's descriptor. */
static enum bb_status check_directory(const struct posix_lock *lock)
{
    const char *slash = strrchr(lock->path, '/');
    struct bb_posix_place place = {.fd = lock->directory.fd,
                                   .name = slash == NULL ? lock->path : slash + 1};
    return place.fd < 0 || !lock->has_file ? BB_OK : check_named(lock->fd, &place, lock->path);
}

/* Locks the file. A reader does not create the file; if it does not exist, the lock of the
 * directory is sufficient. */
static enum bb_status lock_file(struct bb_file_system *fs, struct posix_lock *lock, char *scratch)
{
    enum bb_status status = open_and_lock(fs, lock->path, lock->is_shared, &lock->fd);
    lock->has_file = status == BB_OK;
    if (status != BB_NOT_FOUND || !lock->is_shared)
        return status;
    lock->fd = open_directory_of(lock->path, scratch);
    return lock->fd < 0 ? bb_fail_errno(errno, "open", scratch) : BB_OK;
}

static enum bb_status lock_both(struct bb_file_system *fs, struct posix_lock *lock, char *scratch)
{
    enum bb_status status = lock_file(fs, lock, scratch);
    if (status != BB_OK)
        return status;
    status = lock_directory(lock, scratch);
    if (status == BB_OK) {
        status = check_directory(lock);
        if (status != BB_OK)
            unlock_directory(lock);
    }
    if (status != BB_OK)
        (void)close(lock->fd);
    return status;
}

/* Takes both locks and adds them to the list. The mutex prevents a fork in between. */
static enum bb_status take_lock(struct bb_file_system *fs, struct posix_lock *lock, char *scratch)
{
    bb_mutex_lock(&held.mutex);
    enum bb_status status = watch_forks();
    if (status == BB_OK)
        status = lock_both(fs, lock, scratch);
    if (status == BB_OK)
        list_lock(lock);
    bb_mutex_unlock(&held.mutex);
    return status;
}

static enum bb_status create_lock(struct bb_file_system *fs, const char *path, bool is_shared,
                                  struct bb_file **ret_lock)
{
    size_t path_size = strlen(path) + 1;
    /* Space for the path, and for the path of its directory. */
    struct posix_lock *lock = bb_alloc(sizeof(*lock) + 2 * path_size + 1);
    if (lock == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to lock it", path);

    *lock = (struct posix_lock){
        .base = {.path = lock->path}, .process = bb_process_number(), .is_shared = is_shared};
    memcpy(lock->path, path, path_size);
    enum bb_status status = take_lock(fs, lock, lock->path + path_size);
    if (status != BB_OK) {
        bb_free(lock);
        return status;
    }
    if (!is_shared)
        write_holder(lock->fd, bb_process_id());
    lock->directory.path = lock->path;
    bb_posix_hold(fs, &lock->directory);
    *ret_lock = &lock->base;
    return BB_OK;
}

/* Releases a child's copies of the descriptors, and the memory. After a fork without the handlers
 * above, the memory is still in the list, so it is not released. */
static void leave_inherited(struct posix_lock *lock)
{
    bool is_listed = lock->fd >= 0;
    close_once(&lock->directory.fd);
    close_once(&lock->fd);
    if (!is_listed)
        bb_free(lock);
}

enum bb_status bb_posix_lock(struct bb_file_system *fs, const char *path, struct bb_file **ret_lock)
{
    return create_lock(fs, path, false, ret_lock);
}

enum bb_status bb_posix_lock_shared(struct bb_file_system *fs, const char *path,
                                    struct bb_file **ret_lock)
{
    return create_lock(fs, path, true, ret_lock);
}

/* Unlocks explicitly instead of relying on close, because a child may still share the
 * description. */
static enum bb_status unlock_file(const struct posix_lock *lock)
{
    int failure = lock->is_shared || ftruncate(lock->fd, 0) == 0 ? 0 : errno;
    if (lock->has_file && set_lock(lock->fd, F_UNLCK) != 0)
        failure = errno;
    return lock->has_file && failure != 0 ? bb_fail_errno(failure, "unlock", lock->path) : BB_OK;
}

enum bb_status bb_posix_unlock(struct bb_file_system *fs, struct bb_file *base)
{
    struct posix_lock *lock = (struct posix_lock *)base; /* base is the first member */
    enum bb_status status = BB_OK;
    if (lock->process != bb_process_number()) {
        leave_inherited(lock);
        return BB_OK;
    }
    bb_posix_let_go(fs, &lock->directory);
    bb_mutex_lock(&held.mutex);
    unlist_lock(lock);
    unlock_directory(lock);
    status = unlock_file(lock);
    if (close(lock->fd) != 0 && errno != EINTR && status == BB_OK)
        status = bb_fail_errno(errno, "close", lock->path);
    bb_mutex_unlock(&held.mutex);
    bb_free(lock);
    return status;
}
