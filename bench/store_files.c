/* See store_files.h. */
#include "bench/store_files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/die.h"

#define OPEN_FOLDERS_MAX 16
#define DROP_ATTEMPTS    1000
#define DROP_PAUSE       (&(struct timespec){.tv_nsec = 1000000})

/* nftw passes no context; the walks of this file are on one thread. */
static uint64_t size_sum;

static void walk(const char *directory, __nftw_func_t visit, int flags)
{
    if (nftw(directory, visit, OPEN_FOLDERS_MAX, FTW_PHYS | flags) != 0)
        bench_die("cannot walk %s: %s", directory, strerror(errno));
}

static int add_size(const char *path, const struct stat *information, int type, struct FTW *where)
{
    (void)path;
    (void)where;
    if (type == FTW_F)
        size_sum += (uint64_t)information->st_blocks * 512;
    return 0;
}

uint64_t store_files_size(const char *directory)
{
    size_sum = 0;
    walk(directory, add_size, 0);
    return size_sum;
}

static int open_to_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_die("cannot open %s: %s", path, strerror(errno));
    return fd;
}

/* Skips holes: the map of LMDB is far larger than its data. */
static void read_data(int fd, off_t begin, off_t end)
{
    static char buffer[1 << 20];
    for (off_t offset = begin; offset < end;) {
        size_t rest = (size_t)(end - offset);
        ssize_t length = pread(fd, buffer, rest < sizeof(buffer) ? rest : sizeof(buffer), offset);
        if (length <= 0)
            break;
        offset += length;
    }
}

static int warm_file(const char *path, const struct stat *information, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F)
        return 0;
    int fd = open_to_read(path);
    off_t end = 0;
    fdatasync(fd);
    for (off_t begin = lseek(fd, 0, SEEK_DATA); begin >= 0 && begin < information->st_size;
         begin = lseek(fd, end, SEEK_DATA)) {
        end = lseek(fd, begin, SEEK_HOLE);
        read_data(fd, begin, end);
    }
    close(fd);
    return 0;
}

void store_files_warm(const char *directory)
{
    walk(directory, warm_file, 0);
}

static uint64_t resident_pages(int fd, size_t size)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    size_t page_count = (size + page_size - 1) / page_size;
    uint64_t resident = 0;
    unsigned char *residency = malloc(page_count);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (residency == NULL || map == MAP_FAILED || mincore(map, size, residency) != 0)
        bench_die("mincore: %s", strerror(errno));
    for (size_t i = 0; i < page_count; i++)
        resident += residency[i] & 1;
    munmap(map, size);
    free(residency);
    return resident;
}

/* Returns the number of pages that stay. */
static uint64_t drop_pages(int fd, const char *path, size_t size)
{
    if (fdatasync(fd) != 0)
        bench_die("fdatasync %s: %s", path, strerror(errno));
    int error_number = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (error_number != 0)
        bench_die("posix_fadvise %s: %s", path, strerror(error_number));
    return resident_pages(fd, size);
}

/* WHY several attempts: the system skips pages that it uses itself at that moment. */
static int drop_file(const char *path, const struct stat *information, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F || information->st_size == 0)
        return 0;
    int fd = open_to_read(path);
    size_t size = (size_t)information->st_size;
    uint64_t resident = drop_pages(fd, path, size);
    for (int i = 1; i < DROP_ATTEMPTS && resident != 0; i++) {
        nanosleep(DROP_PAUSE, NULL);
        resident = drop_pages(fd, path, size);
    }
    if (resident != 0)
        bench_die("%s: %llu pages stay in the page cache: no cold measurement is possible here",
                  path, (unsigned long long)resident);
    close(fd);
    return 0;
}

void store_files_drop(const char *directory)
{
    walk(directory, drop_file, 0);
}

void store_files_make_directory(const char *directory)
{
    if (mkdir(directory, 0700) != 0)
        bench_die("cannot make %s: %s", directory, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *information, int type,
                        struct FTW *where)
{
    (void)information;
    (void)type;
    (void)where;
    if (remove(path) != 0)
        bench_die("cannot remove %s: %s", path, strerror(errno));
    return 0;
}

void store_files_remove(const char *directory)
{
    walk(directory, remove_entry, FTW_DEPTH);
}
