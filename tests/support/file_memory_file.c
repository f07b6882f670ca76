/* Open files of the file system in memory. */
#include <errno.h>

#include "base/status.h"
#include "tests/support/file_memory_private.h"
#include "tests/support/must_alloc.h"

static struct bb_memory_file *memory_file_of(struct bb_file *file)
{
    return (struct bb_memory_file *)file; /* base is the first member */
}

void bb_memory_file_destroy(struct bb_memory_file *file)
{
    struct bb_file_memory *memory = file->memory;
    bb_mutex_lock(&memory->mutex);
    file->inode->handles--;
    bb_memory_release(&memory->tree, file->inode);
    memory->open_files--;
    bb_mutex_unlock(&memory->mutex);
    free((char *)(uintptr_t)file->base.path);
    free(file);
}

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct bb_memory_file *file = memory_file_of(base);
    struct bb_file_memory *memory = file->memory;
    bb_mutex_lock(&memory->mutex);
    uint64_t left = offset < file->inode->size ? file->inode->size - offset : 0;
    size_t part = size < left ? size : (size_t)left;
    if (part > 0)
        memcpy(buffer, file->inode->bytes + offset, part);
    memory->counters.reads += size > 0;
    memory->counters.read_bytes += part;
    bb_mutex_unlock(&memory->mutex);
    *ret_size = part;
    return BB_OK;
}

static bool has_to_wait(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    bool has_to = memory->cold_one_in > 0 && ++memory->cold_turn % memory->cold_one_in == 0;
    bb_mutex_unlock(&memory->mutex);
    return has_to;
}

static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    size_t got = 0;
    return !has_to_wait(memory_file_of(base)->memory) &&
           read_at(base, offset, buffer, size, &got) == BB_OK && got == size;
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    struct bb_file_memory *memory = memory_file_of(base)->memory;
    (void)offset;
    (void)size;
    bb_mutex_lock(&memory->mutex);
    memory->counters.needs++;
    bb_mutex_unlock(&memory->mutex);
}

/* A copy: the file's bytes are never changed, except by tests that damage them. */
struct memory_map {
    struct bb_file_map base;
    struct bb_file_memory *memory;
    uint8_t *copy;
    bool is_lost;
};

static bool is_sound(const struct bb_file_map *base)
{
    struct memory_map *map = (struct memory_map *)(uintptr_t)base;
    bb_mutex_lock(&map->memory->mutex);
    bool is_sound = !map->is_lost;
    if (is_sound && map->memory->lost_after > 0 && --map->memory->lost_after == 0) {
        memset(map->copy, 0, base->size);
        map->is_lost = true;
    }
    bb_mutex_unlock(&map->memory->mutex);
    return is_sound;
}

static void forget_map(struct bb_file_map *base)
{
    struct memory_map *map = (struct memory_map *)base;
    bb_mutex_lock(&map->memory->mutex);
    map->memory->maps_forgotten++;
    bb_mutex_unlock(&map->memory->mutex);
}

static void destroy_map(struct bb_file_map *base)
{
    struct memory_map *map = (struct memory_map *)base;
    free(map->copy);
    free(map);
}

static const struct bb_file_map_ops map_ops = {
    .is_sound = is_sound, .forget = forget_map, .destroy = destroy_map};

static enum bb_status map_file(struct bb_file *base, uint64_t size, struct bb_file_map **ret_map)
{
    size_t got = 0;
    struct memory_map *map = bb_must_alloc_zeroed(sizeof(*map));
    map->memory = memory_file_of(base)->memory;
    map->copy = bb_must_alloc_zeroed((size_t)size);
    map->base = (struct bb_file_map){.ops = &map_ops, .bytes = map->copy, .size = size};
    enum bb_status status = read_at(base, 0, map->copy, (size_t)size, &got);
    *ret_map = &map->base;
    return status;
}

static enum bb_status check_writable(const struct bb_memory_file *file, const char *operation)
{
    if (!file->writable)
        return bb_fail(BB_INVALID, "%s: %s: opened for reading", file->base.path, operation);
    if (file->failed)
        return bb_fail(BB_IO,
                       "%s: %s: refused, because an earlier append or sync of this file failed",
                       file->base.path, operation);
    return BB_OK;
}

/* Checks and announces an append or a sync; a refusal sticks as a failure of the device would. */
static enum bb_status prepare_change(struct bb_memory_file *file, enum bb_file_call call)
{
    enum bb_status status = check_writable(file, bb_file_call_name(call));
    if (status != BB_OK)
        return status;
    status = bb_memory_announce(file->memory, call, file->base.path);
    file->failed = status != BB_OK;
    return status;
}

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    struct bb_memory_file *file = memory_file_of(base);
    struct bb_file_memory *memory = file->memory;
    enum bb_status status = prepare_change(file, BB_FILE_CALL_APPEND);
    if (status != BB_OK)
        return status;

    bb_mutex_lock(&memory->mutex);
    uint64_t left = bb_memory_space_left(memory);
    size_t part = memory->space == 0 || size <= left ? size : (size_t)left;
    bb_memory_append(file->inode, data, part);
    memory->counters.appends += size > 0;
    memory->counters.append_bytes += part;
    bb_mutex_unlock(&memory->mutex);
    file->failed = part < size;
    return bb_memory_done(part < size ? ENOSPC : 0, "write", base->path);
}

static void write_back(struct bb_file *base)
{
    struct bb_file_memory *memory = memory_file_of(base)->memory;
    bb_mutex_lock(&memory->mutex);
    memory->write_backs++;
    bb_mutex_unlock(&memory->mutex);
}

static enum bb_status sync_file(struct bb_file *base)
{
    struct bb_memory_file *file = memory_file_of(base);
    enum bb_status status = prepare_change(file, BB_FILE_CALL_SYNC);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&file->memory->mutex);
    bb_memory_sync_bytes(file->inode);
    file->memory->counters.syncs++;
    bb_mutex_unlock(&file->memory->mutex);
    return BB_OK;
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    struct bb_memory_file *file = memory_file_of(base);
    bb_mutex_lock(&file->memory->mutex);
    *ret_size = file->inode->size;
    bb_mutex_unlock(&file->memory->mutex);
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *base)
{
    bb_memory_file_destroy(memory_file_of(base));
    return BB_OK;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .map = map_file,
    .append = append,
    .write_back = write_back,
    .sync = sync_file,
    .size = size_of_file,
    .close = close_file,
};

struct bb_memory_file *bb_memory_file_create(struct bb_file_memory *memory,
                                             struct bb_memory_inode *inode, const char *path,
                                             bool writable)
{
    struct bb_memory_file *file = bb_must_alloc_zeroed(sizeof(*file));
    file->base.ops = &file_ops;
    file->base.path = bb_must_strdup(path);
    file->memory = memory;
    file->inode = inode;
    file->writable = writable;
    inode->handles++;
    bb_memory_acquire(inode);
    memory->open_files++;
    return file;
}
