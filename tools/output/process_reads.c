/* See process_reads.h. */
#include "tools/output/process_reads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

bool process_reads(uint64_t *ret_bytes)
{
    FILE *file = fopen("/proc/self/io", "re");
    unsigned long long bytes = 0;
    if (file == NULL)
        return false;
    bool is_known = fscanf(file, "rchar: %llu", &bytes) == 1;
    (void)fclose(file);
    *ret_bytes = bytes;
    return is_known;
}

static uint64_t size_of_entries(DIR *directory)
{
    uint64_t size = 0;
    struct dirent *entry = NULL;
    struct stat state;
    while ((entry = readdir(directory)) != NULL)
        if (fstatat(dirfd(directory), entry->d_name, &state, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(state.st_mode))
            size += (uint64_t)state.st_size;
    return size;
}

uint64_t process_reads_expected(const char *path)
{
    struct stat state;
    if (stat(path, &state) != 0)
        return 0;
    if (S_ISREG(state.st_mode))
        return (uint64_t)state.st_size;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return 0;
    uint64_t size = size_of_entries(directory);
    (void)closedir(directory);
    return size;
}
