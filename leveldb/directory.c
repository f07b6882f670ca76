/* See directory.h.
 *
 *     LevelDB     000005.ldb  000005.sst  000003.log    MANIFEST-000002  CURRENT  LOCK  LOG
 *     bloomblock  000005.bbt  000003.wal                MANIFEST-000002  CURRENT  LOCK
 *
 * An open store of either always has a log, so the first three names distinguish them. Names that
 * both use are ignored. */
#include "leveldb/directory.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "leveldb/error.h"

#define DIGITS_MIN 6

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

struct bb_error bb_leveldb_directory_check(const char *directory)
{
    static const char *const theirs[] = {".ldb", ".sst", ".log", NULL};
    static const char *const ours[] = {".bbt", ".wal", NULL};
    bool has_theirs = false;
    bool has_ours = false;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return (struct bb_error){.status = BB_OK};
    for (struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        has_theirs = has_theirs || is_numbered(entry->d_name, theirs);
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

void bb_leveldb_directory_remove_empty(const char *directory)
{
    (void)rmdir(directory);
}
