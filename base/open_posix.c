/* Opens regular files, and refuses changes by a forked child. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_posix.h"
#include "base/process.h"
#include "base/status.h"

enum bb_status bb_posix_check_process(struct bb_file_system *fs, const char *path)
{
    if (__builtin_expect(bb_posix_of(fs)->process == bb_process_number(), 1))
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: was opened before a fork, by another process than this one (%ld), which "
                   "cannot change files through the inherited handle: open it again here",
                   path, bb_process_id());
}

static enum bb_status check_regular(int fd, const char *path)
{
    struct stat information;
    if (fstat(fd, &information) != 0)
        return bb_fail_errno(errno, "fstat", path);
    if (!S_ISREG(information.st_mode))
        return bb_fail(BB_INVALID, "%s: %s, expected a regular file", path,
                       S_ISDIR(information.st_mode)    ? "is a directory"
                       : S_ISFIFO(information.st_mode) ? "is a FIFO"
                                                       : "is a device");
    return BB_OK;
}

static enum bb_status fail_open(int error_number, const char *path)
{
    switch (error_number) {
    case ELOOP:
        return bb_fail(BB_INVALID, "%s: is a symbolic link, expected a regular file", path);
    case EISDIR:
        return bb_fail(BB_INVALID, "%s: is a directory, expected a regular file", path);
    case ENXIO:
        return bb_fail(BB_INVALID, "%s: is a socket or device, expected a regular file", path);
    default:
        return bb_fail_errno(error_number, "open", path);
    }
}

static int open_uninterrupted(const struct bb_posix_place *place, int flags)
{
    int fd = -1;
    do {
        fd = openat(place->fd, place->name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                    0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* A file that is only read keeps its time of access, which saves 7 % of a read from the page cache.
 * The system permits that to the owner of the file, and to root. */
static int open_without_time(const struct bb_posix_place *place, int flags)
{
#ifdef O_NOATIME
    if ((flags & O_ACCMODE) == O_RDONLY) {
        int fd = open_uninterrupted(place, flags | O_NOATIME);
        if (fd >= 0 || errno != EPERM)
            return fd;
    }
#endif
    return open_uninterrupted(place, flags);
}

enum bb_status bb_posix_open_regular(struct bb_file_system *fs, const char *path, int flags,
                                     int *ret_fd)
{
    enum bb_status status = bb_posix_check_process(fs, path);
    if (status != BB_OK)
        return status;
    struct bb_posix_place place = bb_posix_place_of(fs, path);
    int fd = open_without_time(&place, flags);
    /* Files cannot be created in a directory that was removed, even if a process has it open. */
    if (fd < 0 && errno == ENOENT && (flags & O_CREAT) != 0 && place.fd != AT_FDCWD)
        return bb_fail(BB_IO, "%s: cannot be created: its directory was removed", path);
    if (fd < 0)
        return fail_open(errno, path);
    status = check_regular(fd, path);
    if (status != BB_OK) {
        (void)close(fd); /* only for reading, so close cannot report a write error */
        return status;
    }
    *ret_fd = fd;
    return BB_OK;
}
