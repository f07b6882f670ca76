/* The operating system's files.
 *
 * Opening    O_CLOEXEC, so that no child inherits a descriptor; O_NOFOLLOW, so that a planted link
 *            is rejected instead of followed; O_NONBLOCK and then fstat, so that a FIFO instead of
 *            a file is rejected without waiting for it. This protects only the last component: the
 *            path of a store may contain links. O_NOATIME where permitted: open_posix.c.
 * Reading    pread loops over interruptions and short reads; every call is counted, because the
 *            engine guarantees that its counts equal the operating system's. Reads that must not
 *            wait use RWF_NOWAIT; if a file system does not support it, this is remembered.
 * Syncing    The first sync of a created file is an fsync: it makes the whole inode durable,
 *            including owner and mode. Later syncs are fdatasync, which on Linux still writes a
 *            changed size, but avoids the journal commit for a changed time at every commit of a
 *            log. Before a sync the writes may be started, with sync_file_range on Linux, which
 *            does not wait for their end.
 * Forking    A child shares its parent's descriptors and offsets, and may be a copy of a thread in
 *            the middle of a call. Through an inherited file system it can change neither files nor
 *            names: bb_posix_check_process.
 * Failing    After a failed write or sync the kernel may drop the pages and mark them clean; a
 *            second sync would then succeed without an effect. So the failure is sticky: the file
 *            rejects every later append and sync.
 *
 * Threads: read_at from any; append, sync and close of a file from one at a time. */
#include "base/file_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "base/random.h"
#include "base/status.h"

/* Linux transfers no more than this with one call. */
#define TRANSFER_MAX ((size_t)0x7ffff000)

struct posix_file {
    struct bb_file base;
    struct bb_posix_file_system *fs;
    int fd;
    bool writable;
    _Atomic bool always_waits; /* no read is possible without waiting */
    bool failed;               /* an append or a sync failed: never written again */
    bool inode_synced;         /* fsync was done, fdatasync is enough from here on */
    char path[];
};

static struct posix_file *posix_file_of(struct bb_file *file)
{
    return (struct posix_file *)file; /* base is the first member */
}

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct posix_file *file = posix_file_of(base);
    size_t done = 0;
    /* No file extends past INT64_MAX, and the kernel rejects such offsets. */
    uint64_t reachable = offset > INT64_MAX ? 0 : INT64_MAX - offset;
    if (size > reachable)
        size = (size_t)reachable;
    while (done < size) {
        size_t wanted = size - done < TRANSFER_MAX ? size - done : TRANSFER_MAX;
        ssize_t got = pread(file->fd, (uint8_t *)buffer + done, wanted, (off_t)(offset + done));
        int error_number = errno;
        bb_posix_count(&file->fs->reads, 1);
        if (got < 0 && error_number == EINTR)
            continue;
        if (got < 0)
            return bb_fail_errno(error_number, "pread", file->path);
        if (got == 0)
            break;
        bb_posix_count(&file->fs->read_bytes, (uint64_t)got);
        done += (size_t)got;
    }
    *ret_size = done;
    return BB_OK;
}

static ssize_t read_without_waiting(struct posix_file *file, uint64_t offset, void *buffer,
                                    size_t size)
{
#ifdef RWF_NOWAIT
    struct iovec where = {.iov_base = buffer, .iov_len = size};
    return preadv2(file->fd, &where, 1, (off_t)offset, RWF_NOWAIT);
#else
    (void)file, (void)offset, (void)buffer, (void)size;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    struct posix_file *file = posix_file_of(base);
    if (atomic_load_explicit(&file->always_waits, memory_order_relaxed) || offset > INT64_MAX)
        return false;
    ssize_t got = read_without_waiting(file, offset, buffer, size);
    bb_posix_count(&file->fs->reads, 1);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        atomic_store_explicit(&file->always_waits, true, memory_order_relaxed);
    if (got > 0)
        bb_posix_count(&file->fs->read_bytes, (uint64_t)got);
    return got >= 0 && (size_t)got == size;
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    struct posix_file *file = posix_file_of(base);
    if (offset > INT64_MAX || size > INT64_MAX - offset)
        return;
    bb_posix_count(&file->fs->needs, 1);
    (void)posix_fadvise(file->fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

static void forget(struct bb_file *base)
{
    (void)posix_fadvise(posix_file_of(base)->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static enum bb_status map_file(struct bb_file *base, uint64_t size, struct bb_file_map **ret_map)
{
    return bb_posix_map(posix_file_of(base)->fd, base->path, size, ret_map);
}

static enum bb_status check_writable(const struct posix_file *file, const char *operation)
{
    if (!file->writable)
        return bb_fail(BB_INVALID, "%s: %s: opened for reading", file->path, operation);
    if (file->failed)
        return bb_fail(BB_IO,
                       "%s: %s: refused, because an earlier append or sync of this file failed",
                       file->path, operation);
    return bb_posix_check_process(&file->fs->base, file->path);
}

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    struct posix_file *file = posix_file_of(base);
    enum bb_status status = check_writable(file, "append");
    if (status != BB_OK)
        return status;

    const uint8_t *position = data;
    while (size > 0) {
        ssize_t put = write(file->fd, position, size < TRANSFER_MAX ? size : TRANSFER_MAX);
        int error_number = put == 0 ? EIO : errno;
        bb_posix_count(&file->fs->appends, 1);
        if (put < 0 && error_number == EINTR)
            continue;
        if (put <= 0) {
            file->failed = true;
            return bb_fail_errno(error_number, "write", file->path);
        }
        bb_posix_count(&file->fs->append_bytes, (uint64_t)put);
        position += put;
        size -= (size_t)put;
    }
    return BB_OK;
}

/* WHY the result is ignored: the sync that follows reports the failure again. */
static void write_back(struct bb_file *base)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(posix_file_of(base)->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)base;
#endif
}

static enum bb_status sync_file(struct bb_file *base)
{
    struct posix_file *file = posix_file_of(base);
    enum bb_status status = check_writable(file, "sync");
    if (status != BB_OK)
        return status;

    bool whole_inode = !file->inode_synced;
    int result = whole_inode ? fsync(file->fd) : fdatasync(file->fd);
    int error_number = errno;
    bb_posix_count(&file->fs->syncs, 1);
    if (result !=
        0) { /* EINTR too: it is then unknown how much was synced, and a retry would not show it */
        file->failed = true;
        return bb_fail_errno(error_number, whole_inode ? "fsync" : "fdatasync", file->path);
    }
    file->inode_synced = true;
    return BB_OK;
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    struct posix_file *file = posix_file_of(base);
    struct stat information;
    if (fstat(file->fd, &information) != 0)
        return bb_fail_errno(errno, "fstat", file->path);
    *ret_size = (uint64_t)information.st_size;
    return BB_OK;
}

static enum bb_status modified_of_file(struct bb_file *base, int64_t *ret_nanoseconds)
{
    struct posix_file *file = posix_file_of(base);
    struct stat information;
    if (fstat(file->fd, &information) != 0)
        return bb_fail_errno(errno, "fstat", file->path);
    *ret_nanoseconds = (int64_t)((uint64_t)information.st_mtim.tv_sec * UINT64_C(1000000000) +
                                 (uint64_t)information.st_mtim.tv_nsec);
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *base)
{
    struct posix_file *file = posix_file_of(base);
    enum bb_status status = BB_OK;
    /* Linux frees the descriptor even if close fails; after EINTR there is no error to report. */
    if (close(file->fd) != 0 && errno != EINTR)
        status = bb_fail_errno(errno, "close", file->path);
    bb_free(file);
    return status;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .forget = forget,
    .map = map_file,
    .append = append,
    .write_back = write_back,
    .sync = sync_file,
    .size = size_of_file,
    .modified = modified_of_file,
    .close = close_file,
};

static enum bb_status open_with(struct bb_file_system *fs, const char *path, int flags,
                                struct bb_file **ret_file)
{
    /* Allocate first: after a failure following O_CREAT the file would remain. */
    size_t path_size = strlen(path) + 1;
    struct posix_file *file = bb_alloc(sizeof(*file) + path_size);
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to open it", path);

    *file =
        (struct posix_file){.base = {.ops = &file_ops, .path = file->path}, .fs = bb_posix_of(fs)};
    file->writable = (flags & O_ACCMODE) != O_RDONLY;
    memcpy(file->path, path, path_size);
    enum bb_status status = bb_posix_open_regular(fs, path, flags, &file->fd);
    if (status != BB_OK) {
        bb_free(file);
        return status;
    }
    *ret_file = &file->base;
    return BB_OK;
}

static enum bb_status open_for_reading(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_file)
{
    return open_with(fs, path, O_RDONLY, ret_file);
}

static enum bb_status create(struct bb_file_system *fs, const char *path, struct bb_file **ret_file)
{
    return open_with(fs, path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, ret_file);
}

static enum bb_status random_bytes(struct bb_file_system *fs, void *buffer, size_t size_bytes)
{
    (void)fs;
    return bb_random_fill(buffer, size_bytes);
}

static uint64_t now(struct bb_file_system *fs)
{
    (void)fs;
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC,
                        &time); /* cannot fail: the clock exists and time is ours */
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void sleep_for(struct bb_file_system *fs, uint64_t nanoseconds)
{
    (void)fs;
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / UINT64_C(1000000000)),
                            .tv_nsec = (long)(nanoseconds % UINT64_C(1000000000))};
    (void)nanosleep(&time, NULL); /* a signal may end it early */
}

static uint64_t counted(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void counters(struct bb_file_system *base, struct bb_file_counters *ret_counters)
{
    struct bb_posix_file_system *fs = bb_posix_of(base);
    *ret_counters = (struct bb_file_counters){
        .reads = counted(&fs->reads),
        .read_bytes = counted(&fs->read_bytes),
        .needs = counted(&fs->needs),
        .appends = counted(&fs->appends),
        .append_bytes = counted(&fs->append_bytes),
        .syncs = counted(&fs->syncs),
        .directory_syncs = counted(&fs->directory_syncs),
    };
}

static uint64_t open_files_max(struct bb_file_system *base)
{
    struct rlimit limit;
    (void)base;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

static const struct bb_file_system_ops file_system_ops = {
    .open = open_for_reading,
    .create = create,
    .rename = bb_posix_rename,
    .link = bb_posix_link,
    .remove = bb_posix_remove,
    .list = bb_posix_list,
    .make_directory = bb_posix_make_directory,
    .remove_directory = bb_posix_remove_directory,
    .sync_directory = bb_posix_sync_directory,
    .status = bb_posix_status,
    .lock = bb_posix_lock,
    .lock_shared = bb_posix_lock_shared,
    .unlock = bb_posix_unlock,
    .free_space = bb_posix_free_space,
    .random = random_bytes,
    .now = now,
    .sleep = sleep_for,
    .counters = counters,
    .open_files_max = open_files_max,
};

static struct bb_once offering = BB_ONCE_STATIC;

static void offer_windows(void)
{
    bb_posix_offer_windows(&file_system_ops);
}

enum bb_status bb_file_system_posix_create(struct bb_file_system **ret_fs)
{
    struct bb_posix_file_system *fs = bb_alloc_zeroed(1, sizeof(*fs));
    if (fs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a file system");
    bb_once_run(&offering, offer_windows);
    fs->base.ops = &file_system_ops;
    fs->process = bb_process_number();
    bb_mutex_init(&fs->mutex);
    *ret_fs = &fs->base;
    return BB_OK;
}

void bb_file_system_posix_destroy(struct bb_file_system *fs)
{
    if (fs == NULL)
        return;
    bb_mutex_deinit(&bb_posix_of(fs)->mutex);
    bb_free(fs);
}

enum bb_status bb_file_system_posix_default(struct bb_file_system *given,
                                            struct bb_file_system **ret_own,
                                            struct bb_file_system **ret_fs)
{
    struct bb_file_system *own = NULL;
    enum bb_status status = given == NULL ? bb_file_system_posix_create(&own) : BB_OK;
    *ret_own = own;
    *ret_fs = given == NULL ? own : given;
    return status;
}
