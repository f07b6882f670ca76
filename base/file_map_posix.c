/* Maps of files for reading. map_watch.h has the rules of lost pages. Threads: any. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/file_posix.h"
#include "base/map_watch.h"
#include "base/status.h"

struct posix_map {
    struct bb_file_map base; /* must be first */
    struct bb_map_watch *watch;
};

static bool is_sound(const struct bb_file_map *base)
{
    return bb_map_watch_is_sound(((const struct posix_map *)base)->watch);
}

/* Of a page of zeros, which replaces a lost one, another one follows. */
static void forget(struct bb_file_map *map)
{
    (void)madvise((void *)(uintptr_t)map->bytes, (size_t)map->size, MADV_DONTNEED);
}

static void destroy(struct bb_file_map *base)
{
    struct posix_map *map = (struct posix_map *)base;
    bb_map_watch_end(map->watch);
    (void)munmap((void *)(uintptr_t)base->bytes, (size_t)base->size);
    bb_free(map);
}

static const struct bb_file_map_ops map_ops = {
    .is_sound = is_sound, .forget = forget, .destroy = destroy};

/* A map takes from a limited address space, and memory would be refused later. */
static enum bb_status check_address_space(const char *path)
{
    struct rlimit limit;
    bool is_limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? bb_fail(BB_UNSUPPORTED,
                                "%s: not mapped: the address space of the process is limited", path)
                      : BB_OK;
}

/* Makes the bytes readable. WHY not mmap: after mlockall(MCL_FUTURE) it would read the whole file
 * and lock it in memory. WHY random: a fault of normal advice reads 128 KiB from the device for a
 * block of 4. */
static enum bb_status open_bytes(void *bytes, const char *path, uint64_t size,
                                 struct posix_map *map)
{
    (void)munlock(bytes, (size_t)size);
    if (mprotect(bytes, (size_t)size, PROT_READ) != 0)
        return bb_fail_errno(errno, "mprotect", path);
    (void)posix_madvise(bytes, (size_t)size, POSIX_MADV_RANDOM);
    return bb_map_watch_begin(bytes, size, false, path, &map->watch);
}

static enum bb_status map_bytes(int fd, const char *path, uint64_t size, struct posix_map *map)
{
    enum bb_status status = check_address_space(path);
    if (status != BB_OK)
        return status;
    void *bytes = mmap(NULL, (size_t)size, PROT_NONE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return bb_fail_errno(errno, "mmap", path);
    status = open_bytes(bytes, path, size, map);
    if (status != BB_OK) {
        (void)munmap(bytes, (size_t)size);
        return status;
    }
    map->base = (struct bb_file_map){.ops = &map_ops, .bytes = bytes, .size = size};
    return BB_OK;
}

enum bb_status bb_posix_map(int fd, const char *path, uint64_t size, struct bb_file_map **ret_map)
{
    struct posix_map *map = bb_alloc_zeroed(1, sizeof(*map));
    if (map == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to map it", path);
    enum bb_status status = map_bytes(fd, path, size, map);
    if (status == BB_OK)
        *ret_map = &map->base;
    else
        bb_free(map);
    return status;
}
