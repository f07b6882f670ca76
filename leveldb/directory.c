/* See directory.h.
 *
 *     LevelDB     000005.ldb  000005.sst  000003.log    MANIFEST-000002  CURRENT  LOCK  LOG
 *     bloomblock  000005.bbt  000003.wal                MANIFEST-000002  CURRENT  LOCK
 *
 * An open store of either always has a log, so the first three names distinguish them. A repair by
 * LevelDB of an empty store leaves none of the three: then the manifest's first bytes tell.
 *
 *     LevelDB's manifest    checksum 4, length 2, type 1 (a whole record), tag 1 (comparator) */
#include "leveldb/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "leveldb/error.h"

#define DIGITS_MIN 6
#define MANIFEST   "MANIFEST-"

static const char *const ours[] = {".bbt", ".wal", NULL};

/* Is it a number of at least six digits and one of the suffixes? */
static bool is_numbered(const char *name, const char *const *suffixes)
{
    size_t digits = strspn(name, "0123456789");
    if (digits < DIGITS_MIN)
        return false;
    for (; *suffixes != NULL; suffixes++) {
        if (strcmp(name + digits, *suffixes) == 0)
            return true;
    }
    return false;
}

static bool is_manifest(const char *name)
{
    return strncmp(name, MANIFEST, strlen(MANIFEST)) == 0;
}

static bool is_their_manifest(DIR *stream, const char *name)
{
    static const uint8_t whole_comparator[] = {1, 1};
    uint8_t start[8] = {0};
    if (!is_manifest(name))
        return false;
    int fd = openat(dirfd(stream), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, start, sizeof(start));
    close(fd);
    return size == (ssize_t)sizeof(start) &&
           memcmp(start + sizeof(start) - sizeof(whole_comparator), whole_comparator,
                  sizeof(whole_comparator)) == 0;
}

struct bb_error bb_leveldb_directory_check(const char *directory)
{
    static const char *const theirs[] = {".ldb", ".sst", ".log", NULL};
    bool has_theirs = false;
    bool has_ours = false;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return (struct bb_error){.status = BB_OK};
    for (struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        has_theirs = has_theirs || is_numbered(entry->d_name, theirs) ||
                     is_their_manifest(stream, entry->d_name);
        has_ours = has_ours || is_numbered(entry->d_name, ours);
    }
    closedir(stream);
    if (!has_theirs || has_ours)
        return (struct bb_error){.status = BB_OK};
    return bb_leveldb_error_make(
        BB_INVALID,
        "%s: holds a store of LevelDB, which bloomblock does not change; `bloomblock import "
        "leveldb %s NEW` reads it into a new one",
        directory, directory);
}

bool bb_leveldb_directory_has_store(const char *directory)
{
    bool has_store = false;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return false;
    for (struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        has_store = has_store || strcmp(entry->d_name, "CURRENT") == 0 ||
                    is_manifest(entry->d_name) || is_numbered(entry->d_name, ours);
    closedir(stream);
    return has_store;
}

void bb_leveldb_directory_remove_empty(const char *directory)
{
    (void)rmdir(directory);
}
