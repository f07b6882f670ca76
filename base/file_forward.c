/* See file_forward.h. */
#include "base/file_forward.h"

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

void bb_file_forward_init(struct bb_file_forward *forward, struct bb_file_system *inner)
{
    *forward = (struct bb_file_forward){.inner = inner, .ops = file_system_ops};
    if (inner->ops->open_files_max == NULL)
        forward->ops.open_files_max = NULL;
    forward->base.ops = &forward->ops;
}
