/* See file_forward.h. */
#include "base/file_forward.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"

/* ---- file systems ---- */

static struct bb_file_system *inner_of(struct bb_file_system *fs)
{
    return bb_file_forward_inner(fs);
}

static enum bb_status open_for_reading(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_file)
{
    return inner_of(fs)->ops->open(inner_of(fs), path, ret_file);
}

static enum bb_status create(struct bb_file_system *fs, const char *path, struct bb_file **ret_file)
{
    return inner_of(fs)->ops->create(inner_of(fs), path, ret_file);
}

static enum bb_status rename_file(struct bb_file_system *fs, const char *from, const char *to)
{
    return inner_of(fs)->ops->rename(inner_of(fs), from, to);
}

static enum bb_status link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    return inner_of(fs)->ops->link(inner_of(fs), from, to);
}

static enum bb_status remove_file(struct bb_file_system *fs, const char *path)
{
    return inner_of(fs)->ops->remove(inner_of(fs), path);
}

static enum bb_status list(struct bb_file_system *fs, const char *directory,
                           struct bb_file_names *ret_list)
{
    return inner_of(fs)->ops->list(inner_of(fs), directory, ret_list);
}

static enum bb_status make_directory(struct bb_file_system *fs, const char *path)
{
    return inner_of(fs)->ops->make_directory(inner_of(fs), path);
}

static enum bb_status remove_directory(struct bb_file_system *fs, const char *path)
{
    return inner_of(fs)->ops->remove_directory(inner_of(fs), path);
}

static enum bb_status sync_directory(struct bb_file_system *fs, const char *path)
{
    return inner_of(fs)->ops->sync_directory(inner_of(fs), path);
}

static enum bb_status status_of(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                                uint64_t *ret_size)
{
    return inner_of(fs)->ops->status(inner_of(fs), path, ret_is_directory, ret_size);
}

static enum bb_status lock(struct bb_file_system *fs, const char *path, struct bb_file **ret_lock)
{
    return inner_of(fs)->ops->lock(inner_of(fs), path, ret_lock);
}

static enum bb_status lock_shared(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_lock)
{
    return inner_of(fs)->ops->lock_shared(inner_of(fs), path, ret_lock);
}

static enum bb_status unlock(struct bb_file_system *fs, struct bb_file *locked)
{
    return inner_of(fs)->ops->unlock(inner_of(fs), locked);
}

static enum bb_status free_space(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes)
{
    return inner_of(fs)->ops->free_space(inner_of(fs), path, ret_bytes);
}

static enum bb_status random_bytes(struct bb_file_system *fs, void *buffer, size_t size)
{
    return inner_of(fs)->ops->random(inner_of(fs), buffer, size);
}

static uint64_t now(struct bb_file_system *fs)
{
    return inner_of(fs)->ops->now(inner_of(fs));
}

static void sleep_for(struct bb_file_system *fs, uint64_t nanoseconds)
{
    inner_of(fs)->ops->sleep(inner_of(fs), nanoseconds);
}

static void counters(struct bb_file_system *fs, struct bb_file_counters *ret_counters)
{
    inner_of(fs)->ops->counters(inner_of(fs), ret_counters);
}

static uint64_t open_files_max(struct bb_file_system *fs)
{
    return inner_of(fs)->ops->open_files_max(inner_of(fs));
}

static const struct bb_file_system_ops file_system_ops = {
    .open = open_for_reading,
    .create = create,
    .rename = rename_file,
    .link = link_file,
    .remove = remove_file,
    .list = list,
    .make_directory = make_directory,
    .remove_directory = remove_directory,
    .sync_directory = sync_directory,
    .status = status_of,
    .lock = lock,
    .lock_shared = lock_shared,
    .unlock = unlock,
    .free_space = free_space,
    .random = random_bytes,
    .now = now,
    .sleep = sleep_for,
    .counters = counters,
    .open_files_max = open_files_max,
};

/* ---- files ---- */

static struct bb_file *inner_file(struct bb_file *file)
{
    return ((struct bb_file_forwarded *)file)->inner;
}

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    return bb_file_read_at(inner_file(file), offset, buffer, size, ret_size);
}

static bool read_now(struct bb_file *file, uint64_t offset, void *buffer, size_t size)
{
    return bb_file_read_now(inner_file(file), offset, buffer, size);
}

static void will_need(struct bb_file *file, uint64_t offset, uint64_t size)
{
    bb_file_will_need(inner_file(file), offset, size);
}

static enum bb_status append(struct bb_file *file, const void *data, size_t size)
{
    return bb_file_append(inner_file(file), bb_bytes_of(data, size));
}

static void write_back(struct bb_file *file)
{
    bb_file_write_back(inner_file(file));
}

static enum bb_status sync_file(struct bb_file *file)
{
    return bb_file_sync(inner_file(file));
}

static enum bb_status size_of_file(struct bb_file *file, uint64_t *ret_size)
{
    return bb_file_size(inner_file(file), ret_size);
}

static enum bb_status close_file(struct bb_file *file)
{
    enum bb_status status = bb_file_close(inner_file(file));
    bb_free(file);
    return status;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .append = append,
    .write_back = write_back,
    .sync = sync_file,
    .size = size_of_file,
    .close = close_file,
};

typedef enum bb_status opener(struct bb_file_system *fs, const char *path,
                              struct bb_file **ret_file);

static enum bb_status open_wrapped(struct bb_file_system *fs, const char *path, opener *open_inner,
                                   struct bb_file **ret_file)
{
    struct bb_file_forwarded *file = bb_alloc_zeroed(1, sizeof(*file));
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory for the open file", path);
    enum bb_status status = open_inner(inner_of(fs), path, &file->inner);
    if (status != BB_OK) {
        bb_free(file);
        return status;
    }
    file->fs = fs;
    file->base = (struct bb_file){.ops = &((struct bb_file_forward *)fs)->file_ops,
                                  .path = file->inner->path};
    *ret_file = &file->base;
    return BB_OK;
}

enum bb_status bb_file_forward_open(struct bb_file_system *fs, const char *path,
                                    struct bb_file **ret_file)
{
    return open_wrapped(fs, path, bb_file_open, ret_file);
}

enum bb_status bb_file_forward_create(struct bb_file_system *fs, const char *path,
                                      struct bb_file **ret_file)
{
    return open_wrapped(fs, path, bb_file_create, ret_file);
}

void bb_file_forward_init(struct bb_file_forward *forward, struct bb_file_system *inner)
{
    *forward =
        (struct bb_file_forward){.inner = inner, .ops = file_system_ops, .file_ops = file_ops};
    if (inner->ops->open_files_max == NULL)
        forward->ops.open_files_max = NULL;
    forward->base.ops = &forward->ops;
}
