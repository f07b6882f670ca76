/* Open files of the file system in memory. */
#include <string.h>

#include "base/alloc.h"
#include "base/ram_system.h"
#include "base/status.h"

static struct bb_ram_file *file_of(struct bb_file *base)
{
    return (struct bb_ram_file *)base; /* base is the first member */
}

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct bb_ram_file *file = file_of(base);
    struct bb_ram_system *system = file->system;
    bb_mutex_lock(&system->mutex);
    const struct bb_buf *bytes = &file->node->bytes;
    size_t left = offset < bytes->size ? bytes->size - (size_t)offset : 0;
    size_t part = size < left ? size : left;
    if (part > 0)
        memcpy(buffer, bytes->data + offset, part);
    system->counters.reads += size > 0;
    system->counters.read_bytes += part;
    bb_mutex_unlock(&system->mutex);
    *ret_size = part;
    return BB_OK;
}

static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    size_t got = 0;
    return read_at(base, offset, buffer, size, &got) == BB_OK && got == size;
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    struct bb_ram_system *system = file_of(base)->system;
    (void)offset;
    (void)size;
    bb_mutex_lock(&system->mutex);
    system->counters.needs++;
    bb_mutex_unlock(&system->mutex);
}

static enum bb_status check_writable(const struct bb_ram_file *file, const char *operation)
{
    if (file->is_writable)
        return BB_OK;
    return bb_fail(BB_INVALID, "%s: %s: opened for reading", file->base.path, operation);
}

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    struct bb_ram_file *file = file_of(base);
    struct bb_ram_system *system = file->system;
    enum bb_status status = check_writable(file, "append");
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&system->mutex);
    status = bb_buf_append(&file->node->bytes, data, size);
    system->counters.appends += size > 0;
    system->counters.append_bytes += status == BB_OK ? size : 0;
    bb_mutex_unlock(&system->mutex);
    file->is_writable = status == BB_OK;
    return status;
}

static enum bb_status sync_file(struct bb_file *base)
{
    struct bb_ram_file *file = file_of(base);
    enum bb_status status = check_writable(file, "sync");
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&file->system->mutex);
    file->node->durable_size = file->node->bytes.size;
    file->system->counters.syncs++;
    bb_mutex_unlock(&file->system->mutex);
    return BB_OK;
}

static enum bb_status size_of(struct bb_file *base, uint64_t *ret_size)
{
    struct bb_ram_file *file = file_of(base);
    bb_mutex_lock(&file->system->mutex);
    *ret_size = file->node->bytes.size;
    bb_mutex_unlock(&file->system->mutex);
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *base)
{
    bb_ram_file_destroy(file_of(base));
    return BB_OK;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .append = append,
    .sync = sync_file,
    .size = size_of,
    .close = close_file,
};

struct bb_ram_file *bb_ram_file_create(struct bb_ram_system *system, struct bb_ram_node *node,
                                       const char *path, bool is_writable)
{
    struct bb_ram_file *file = bb_alloc_zeroed(1, sizeof(*file));
    char *copy = file != NULL ? bb_strdup(path) : NULL;
    if (copy == NULL) {
        bb_free(file);
        return NULL;
    }
    *file = (struct bb_ram_file){{&file_ops, copy}, system, node, is_writable};
    node->references++;
    system->open_files++;
    return file;
}

void bb_ram_file_destroy(struct bb_ram_file *file)
{
    bb_mutex_lock(&file->system->mutex);
    bb_ram_tree_node_unref(file->node);
    file->system->open_files--;
    bb_mutex_unlock(&file->system->mutex);
    bb_free((char *)(uintptr_t)file->base.path);
    bb_free(file);
}
