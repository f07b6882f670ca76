/* See page_cache.h. */
#include "tools/measure/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"

enum bb_status page_cache_drop(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bb_fail_errno(errno, "open", path);
    enum bb_status status = BB_OK;
    /* Dirty pages would not be dropped. */
    if (fsync(fd) != 0)
        status = bb_fail_errno(errno, "fsync", path);
    int error_number = status == BB_OK ? posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) : 0;
    if (error_number != 0)
        status = bb_fail_errno(error_number, "posix_fadvise", path);
    close(fd);
    return status;
}

static enum bb_status count_mapped(const char *path, void *address, size_t size,
                                   struct page_cache_state *state)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    size_t page_count = (size + page_size - 1) / page_size;
    unsigned char *residency = bb_alloc(page_count);
    if (residency == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the pages of %s", path);
    enum bb_status status =
        mincore(address, size, residency) == 0 ? BB_OK : bb_fail_errno(errno, "mincore", path);
    for (size_t i = 0; i < page_count && status == BB_OK; i++)
        state->resident += residency[i] & 1;
    if (status == BB_OK)
        state->pages += page_count;
    bb_free(residency);
    return status;
}

enum bb_status page_cache_count(const char *path, struct page_cache_state *state)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bb_fail_errno(errno, "open", path);
    struct stat file;
    enum bb_status status = fstat(fd, &file) == 0 ? BB_OK : bb_fail_errno(errno, "fstat", path);
    size_t size = status == BB_OK ? (size_t)file.st_size : 0;
    if (size > 0) {
        /* Mapping loads no page: pages are loaded when they are read. */
        void *address = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        status = address == MAP_FAILED ? bb_fail_errno(errno, "mmap", path)
                                       : count_mapped(path, address, size, state);
        if (address != MAP_FAILED)
            munmap(address, size);
    }
    close(fd);
    return status;
}
