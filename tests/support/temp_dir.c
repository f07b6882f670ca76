/* A temporary directory for a test. */
#include "tests/support/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The number of directories that nftw keeps open; deeper trees reopen them. */
#define OPEN_DIRECTORIES_MAX 16

static void give_up(const char *operation, const char *path)
{
    fprintf(stderr, "temporary directory: %s: %s: %s\n", path, operation, strerror(errno));
    exit(2);
}

void bb_temp_dir_init(struct bb_temp_dir *dir, const char *name)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    int length = snprintf(dir->path, sizeof(dir->path), "%s/bb-%s-XXXXXX", parent, name);
    if (length < 0 || (size_t)length >= sizeof(dir->path)) {
        errno = ENAMETOOLONG;
        give_up("mkdtemp", parent);
    }
    if (mkdtemp(dir->path) == NULL)
        give_up("mkdtemp", dir->path);
}

static int remove_entry(const char *path, const struct stat *information, int type,
                        struct FTW *place)
{
    (void)information;
    (void)type;
    (void)place;
    return remove(path);
}

void bb_temp_dir_deinit(struct bb_temp_dir *dir)
{
    /* FTW_DEPTH: the contents of a directory precede it. FTW_PHYS: a link is removed, not
     * followed. */
    if (nftw(dir->path, remove_entry, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS) != 0)
        give_up("remove", dir->path);
    dir->path[0] = '\0';
}

char *bb_temp_dir_path(const struct bb_temp_dir *dir, const char *name, char *buffer)
{
    int length = snprintf(buffer, PATH_MAX, "%s/%s", dir->path, name);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        give_up("path", name);
    }
    return buffer;
}
