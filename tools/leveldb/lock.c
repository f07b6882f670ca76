/* See lock.h. */
#include "tools/leveldb/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"
#include "base/status.h"

/* LevelDB takes a write lock on the whole file. A read lock conflicts with it, and needs no write
 * permission. */
static enum bb_status take(const char *path, int *ret_fd)
{
    struct flock request = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *ret_fd = -1;
        return BB_OK;
    }
    if (fd < 0)
        return bb_fail_errno(errno, "open", path);
    if (fcntl(fd, F_OFD_SETLK, &request) == 0) {
        *ret_fd = fd;
        return BB_OK;
    }
    int error = errno;
    (void)close(fd);
    if (error == EAGAIN || error == EACCES)
        return bb_fail(BB_BUSY, "%s: the LevelDB is open in another process", path);
    return bb_fail_errno(error, "lock", path);
}

enum bb_status lock_take(const char *directory, int *ret_fd)
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_path_join(directory, "LOCK", path);
    if (status == BB_OK)
        status = take(path, ret_fd);
    return status;
}

void lock_release(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}
