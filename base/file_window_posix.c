/* Windows of the operating system's files. See file_window.h. */
#include "base/file_window.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_posix.h"
#include "base/map_watch.h"
#include "base/status.h"

struct posix_window {
    struct bb_file_window base;
    size_t size;
    struct bb_map_watch *watch;
};

/* Checks the size against the limit of the process. WHY before the file exists: growing a file
 * beyond the limit raises SIGXFSZ, which by default ends the process. */
static enum bb_status check_limit(const char *path, size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        return bb_fail(BB_UNSUPPORTED, "%s: RLIMIT_FSIZE does not allow its %zu bytes", path, size);
    return BB_OK;
}

/* Reserves the space of the file. WHY: on a full disk, a write to a mapped page without space on
 * disk raises SIGBUS. */
static enum bb_status reserve(int fd, const char *path, size_t size)
{
    int error_number = posix_fallocate(fd, 0, (off_t)size);
    if (error_number == EOPNOTSUPP || error_number == EINVAL || error_number == ENODEV)
        return bb_fail(BB_UNSUPPORTED, "%s: its file system cannot reserve space", path);
    return error_number == 0 ? BB_OK : bb_fail_errno(error_number, "posix_fallocate", path);
}

static enum bb_status map_window(int fd, const char *path, struct posix_window *window)
{
    void *bytes = mmap(NULL, window->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return bb_fail_errno(errno, "mmap", path);
    enum bb_status status = bb_map_watch_begin(bytes, window->size, true, path, &window->watch);
    if (status == BB_OK)
        window->base.bytes = bytes;
    else
        (void)munmap(bytes, window->size);
    return status;
}

static enum bb_status create(struct bb_file_system *fs, const char *path,
                             struct posix_window *window)
{
    int fd = -1;
    enum bb_status status = check_limit(path, window->size);
    if (status == BB_OK)
        status = bb_posix_open_regular(fs, path, O_RDWR | O_CREAT | O_EXCL, &fd);
    if (status != BB_OK)
        return status;
    status = reserve(fd, path, window->size);
    if (status == BB_OK)
        status = map_window(fd, path, window);
    struct bb_error first = status == BB_OK ? (struct bb_error){.status = BB_OK} : *bb_error_last();
    (void)close(fd); /* the map keeps the file */
    if (status == BB_OK)
        return BB_OK;
    (void)!bb_posix_remove(fs, path);
    return bb_error_restore(&first);
}

static bool is_sound(const struct bb_file_window *base)
{
    return bb_map_watch_is_sound(((const struct posix_window *)base)->watch);
}

static void destroy(struct bb_file_window *base)
{
    struct posix_window *window = (struct posix_window *)base; /* base is the first member */
    bb_map_watch_end(window->watch);
    (void)munmap(window->base.bytes, window->size);
    bb_free(window);
}

static const struct bb_file_window_ops window_ops = {.is_sound = is_sound, .destroy = destroy};

static enum bb_status create_window(struct bb_file_system *fs, const char *path, size_t size,
                                    struct bb_file_window **ret_window)
{
    struct posix_window *window = bb_alloc_zeroed(1, sizeof(*window));
    if (window == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to create it", path);
    window->base.ops = &window_ops;
    window->size = size;
    enum bb_status status = create(fs, path, window);
    if (status == BB_OK)
        *ret_window = &window->base;
    else
        bb_free(window);
    return status;
}

void bb_posix_offer_windows(const struct bb_file_system_ops *ops)
{
    static struct bb_file_window_maker maker = {.create = create_window};
    maker.ops = ops;
    bb_file_window_offer(&maker);
}
