/* See path.h. */
#include "base/path.h"

#include <string.h>

#include "base/status.h"

enum bb_status bb_path_join(const char *directory, const char *name, struct bb_buf *ret_path)
{
    size_t directory_size = strlen(directory);
    size_t name_size = strlen(name);
    if (directory_size == 0 || name_size == 0)
        return bb_fail(BB_INVALID, "a path needs a directory and a name: \"%s\", \"%s\"", directory,
                       name);

    struct bb_buf path = {0};
    enum bb_status status = bb_buf_reserve(&path, directory_size + name_size + 2);
    if (status != BB_OK)
        return status;
    memcpy(path.data, directory, directory_size);
    if (directory[directory_size - 1] != '/')
        path.data[directory_size++] = '/';
    memcpy(path.data + directory_size, name, name_size + 1);
    path.size = directory_size + name_size;

    bb_buf_deinit(ret_path);
    *ret_path = path;
    return BB_OK;
}

enum bb_status bb_path_check(const char *path, const char *of_what)
{
    return path != NULL && path[0] != 0 ? BB_OK : bb_fail(BB_INVALID, "%s has no name", of_what);
}

enum bb_status bb_path_parent(const char *path, struct bb_buf *ret_parent)
{
    struct bb_buf parent = {0};
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    while (size > 1 && path[size - 1] == '/')
        size--;
    enum bb_status status =
        size == 0 ? bb_buf_append(&parent, ".", 1) : bb_buf_append(&parent, path, size);
    if (status == BB_OK)
        status = bb_buf_append(&parent, "", 1);
    if (status != BB_OK) {
        bb_buf_deinit(&parent);
        return status;
    }
    parent.size--; /* the terminator is not counted */
    bb_buf_deinit(ret_parent);
    *ret_parent = parent;
    return BB_OK;
}
