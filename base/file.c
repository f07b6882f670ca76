/* Calls through the tables of base/file.h, and the few things that are the same for every file
 * system. */
#include "base/file.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/status.h"

void bb_file_names_deinit(struct bb_file_names *list)
{
    for (size_t i = 0; i < list->count; i++)
        bb_free(list->names[i]);
    bb_free(list->names);
    *list = (struct bb_file_names){0};
}

enum bb_status bb_file_open(struct bb_file_system *fs, const char *path, struct bb_file **ret_file)
{
    return fs->ops->open(fs, path, ret_file);
}

enum bb_status bb_file_create(struct bb_file_system *fs, const char *path,
                              struct bb_file **ret_file)
{
    return fs->ops->create(fs, path, ret_file);
}

enum bb_status bb_file_read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                               size_t *ret_size)
{
    return file->ops->read_at(file, offset, buffer, size, ret_size);
}

enum bb_status bb_file_read_exactly(struct bb_file *file, uint64_t offset, void *buffer,
                                    size_t size)
{
    size_t read = 0;
    enum bb_status status = file->ops->read_at(file, offset, buffer, size, &read);
    if (status != BB_OK)
        return status;
    if (read == size)
        return BB_OK;
    struct bb_place place = {.file = file->path, .offset = offset};
    return bb_corrupt(place, read, "file ends here, expected %zu more bytes", size - read);
}

bool bb_file_read_now(struct bb_file *file, uint64_t offset, void *buffer, size_t size)
{
    return file->ops->read_now != NULL && file->ops->read_now(file, offset, buffer, size);
}

void bb_file_will_need(struct bb_file *file, uint64_t offset, uint64_t size)
{
    if (file->ops->will_need != NULL)
        file->ops->will_need(file, offset, size);
}

void bb_file_forget(struct bb_file *file)
{
    if (file->ops->forget != NULL)
        file->ops->forget(file);
}

enum bb_status bb_file_map_create(struct bb_file *file, uint64_t size, struct bb_file_map **ret_map)
{
    BB_ASSERT(size > 0);
    if (file->ops->map == NULL)
        return bb_fail(BB_UNSUPPORTED, "%s: this file system does not map files", file->path);
    return file->ops->map(file, size, ret_map);
}

void bb_file_map_destroy(struct bb_file_map *map)
{
    if (map != NULL)
        map->ops->destroy(map);
}

enum bb_status bb_file_append(struct bb_file *file, struct bb_bytes data)
{
    return file->ops->append(file, data.data, data.size);
}

void bb_file_write_back(struct bb_file *file)
{
    if (file->ops->write_back != NULL)
        file->ops->write_back(file);
}

enum bb_status bb_file_sync(struct bb_file *file)
{
    return file->ops->sync(file);
}

enum bb_status bb_file_size(struct bb_file *file, uint64_t *ret_size)
{
    return file->ops->size(file, ret_size);
}

enum bb_status bb_file_modified(struct bb_file *file, int64_t *ret_nanoseconds)
{
    if (file->ops->modified != NULL)
        return file->ops->modified(file, ret_nanoseconds);
    *ret_nanoseconds = 0;
    return BB_OK;
}

enum bb_status bb_file_close(struct bb_file *file)
{
    return file == NULL ? BB_OK : file->ops->close(file);
}

enum bb_status bb_file_close_after(struct bb_file *file, enum bb_status status)
{
    struct bb_error first = *bb_error_last();
    enum bb_status closed = bb_file_close(file);
    return status == BB_OK ? closed : bb_error_restore(&first);
}

static enum bb_status read_contents(struct bb_file *file, uint64_t size_max, struct bb_buf *buf)
{
    uint64_t size = 0;
    enum bb_status status = bb_file_size(file, &size);
    if (status != BB_OK)
        return status;
    if (size > size_max || size > SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: has %" PRIu64 " bytes, the limit is %" PRIu64, file->path,
                       size, size_max);
    status = bb_buf_reserve(buf, (size_t)size);
    if (status != BB_OK || size == 0)
        return status;
    status = bb_file_read_exactly(file, 0, buf->data, (size_t)size);
    if (status == BB_OK)
        buf->size = (size_t)size;
    return status;
}

enum bb_status bb_file_read_whole(struct bb_file_system *fs, const char *path, uint64_t size_max,
                                  struct bb_buf *buf)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_open(fs, path, &file);
    if (status != BB_OK)
        return status;

    struct bb_buf contents = {0};
    status = bb_file_close_after(file, read_contents(file, size_max, &contents));
    if (status != BB_OK) {
        bb_buf_deinit(&contents);
        return status;
    }
    bb_buf_deinit(buf);
    *buf = contents;
    return BB_OK;
}

#define COPY_SIZE ((size_t)256 * 1024)

static enum bb_status copy_bytes(struct bb_file *from, struct bb_file *to)
{
    uint8_t *buffer = bb_alloc(COPY_SIZE);
    uint64_t offset = 0;
    size_t size = COPY_SIZE;
    enum bb_status status =
        buffer == NULL ? bb_fail(BB_NO_MEMORY, "%s: no memory to copy it", from->path) : BB_OK;
    while (status == BB_OK && size == COPY_SIZE) {
        status = bb_file_read_at(from, offset, buffer, COPY_SIZE, &size);
        if (status == BB_OK && size > 0)
            status = bb_file_append(to, (struct bb_bytes){.data = buffer, .size = size});
        offset += size;
    }
    bb_free(buffer);
    return status;
}

static enum bb_status copy_open(struct bb_file_system *fs, struct bb_file *from, const char *to)
{
    struct bb_file *copy = NULL;
    enum bb_status status = bb_file_create(fs, to, &copy);
    if (status == BB_OK)
        status = copy_bytes(from, copy);
    if (status == BB_OK)
        status = bb_file_sync(copy);
    return bb_file_close_after(copy, status);
}

enum bb_status bb_file_copy_synced(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_open(fs, from, &file);
    return status == BB_OK ? bb_file_close_after(file, copy_open(fs, file, to)) : status;
}

enum bb_status bb_file_sync_parent(struct bb_file_system *fs, const char *path)
{
    char parent[BB_PATH_SIZE_MAX];
    bb_path_parent(path, parent);
    return fs->ops->sync_directory(fs, parent);
}
