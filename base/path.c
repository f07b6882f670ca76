/* See path.h. */
#include "base/path.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"

enum bb_status bb_path_join(const char *directory, const char *name,
                            char ret_path[BB_PATH_SIZE_MAX])
{
    size_t directory_size = strlen(directory);
    if (directory_size == 0 || name[0] == 0)
        return bb_fail(BB_INVALID, "a path needs a directory and a name: \"%s\", \"%s\"", directory,
                       name);
    const char *slash = directory[directory_size - 1] == '/' ? "" : "/";
    int size = snprintf(ret_path, BB_PATH_SIZE_MAX, "%s%s%s", directory, slash, name);
    if (size < 0 || size >= BB_PATH_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: the path of a file in it has %d bytes or more", directory,
                       BB_PATH_SIZE_MAX);
    return BB_OK;
}

static enum bb_status check(const char *path, const char *of_what, size_t size_max)
{
    if (path == NULL || path[0] == 0)
        return bb_fail(BB_INVALID, "%s has no name", of_what);
    if (strlen(path) > size_max)
        return bb_fail(BB_INVALID, "%s has a path of %zu bytes, the limit is %zu", of_what,
                       strlen(path), size_max);
    return BB_OK;
}

enum bb_status bb_path_check_file(const char *path, const char *of_what)
{
    return check(path, of_what, BB_PATH_FILE_SIZE_MAX);
}

enum bb_status bb_path_check_directory(const char *path, const char *of_what)
{
    return check(path, of_what, BB_PATH_DIRECTORY_SIZE_MAX);
}

void bb_path_parent(const char *path, char ret_parent[BB_PATH_SIZE_MAX])
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    while (size > 1 && path[size - 1] == '/')
        size--;
    BB_ASSERT(size < BB_PATH_SIZE_MAX);
    memcpy(ret_parent, size == 0 ? "." : path, size == 0 ? 1 : size);
    ret_parent[size == 0 ? 1 : size] = 0;
}
