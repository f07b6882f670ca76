/* Test controls of a file system in memory, in addition to the calls of the seam. */
#include "tests/support/file_memory.h"

#include "base/assert.h"
#include "tests/support/file_memory_private.h"

struct bb_file_system *bb_file_memory_system(struct bb_file_memory *memory)
{
    return &memory->base;
}

void bb_file_memory_set_hook(struct bb_file_memory *memory, bb_file_memory_hook *hook,
                             void *context)
{
    bb_mutex_lock(&memory->mutex);
    memory->hook = hook;
    memory->hook_context = context;
    bb_mutex_unlock(&memory->mutex);
}

uint64_t bb_file_memory_calls(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    uint64_t calls = memory->calls;
    bb_mutex_unlock(&memory->mutex);
    return calls;
}

bool bb_file_memory_has_removed(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    bool has = bb_memory_tree_has_removed(&memory->tree);
    bb_mutex_unlock(&memory->mutex);
    return has;
}

void bb_file_memory_set_space(struct bb_file_memory *memory, uint64_t bytes)
{
    bb_mutex_lock(&memory->mutex);
    memory->space = bytes;
    bb_mutex_unlock(&memory->mutex);
}

void bb_file_memory_set_links(struct bb_file_memory *memory, bool has_links)
{
    bb_mutex_lock(&memory->mutex);
    memory->has_links = has_links;
    bb_mutex_unlock(&memory->mutex);
}

void bb_file_memory_set_cold(struct bb_file_memory *memory, uint32_t one_in)
{
    bb_mutex_lock(&memory->mutex);
    memory->cold_one_in = one_in;
    memory->cold_turn = 0;
    bb_mutex_unlock(&memory->mutex);
}

void bb_file_memory_lose_map(struct bb_file_memory *memory, uint64_t nth)
{
    bb_mutex_lock(&memory->mutex);
    memory->lost_after = nth;
    bb_mutex_unlock(&memory->mutex);
}

uint64_t bb_file_memory_maps_forgotten(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    uint64_t count = memory->maps_forgotten;
    bb_mutex_unlock(&memory->mutex);
    return count;
}

uint64_t bb_file_memory_write_backs(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    uint64_t count = memory->write_backs;
    bb_mutex_unlock(&memory->mutex);
    return count;
}

size_t bb_file_memory_open_files(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    size_t open_files = memory->open_files;
    bb_mutex_unlock(&memory->mutex);
    return open_files;
}

void bb_file_memory_advance(struct bb_file_memory *memory, uint64_t nanoseconds)
{
    bb_mutex_lock(&memory->mutex);
    memory->clock += nanoseconds;
    bb_mutex_unlock(&memory->mutex);
}

void bb_file_memory_put(struct bb_file_memory *memory, const char *path, struct bb_bytes bytes)
{
    struct bb_memory_inode *directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_walk(&memory->tree, path, &directory, name);
    BB_ASSERT(error_number == 0 && name[0] != '\0' && directory != NULL);
    if (bb_memory_lookup(directory, name) != NULL)
        bb_memory_unlink(&memory->tree, directory, name);
    struct bb_memory_inode *inode = bb_memory_make(&memory->tree, directory, name, false);
    bb_memory_append(inode, bytes.data, bytes.size);
    bb_memory_sync_bytes(inode);
    bb_memory_sync_names(&memory->tree, directory);
    bb_mutex_unlock(&memory->mutex);
}

uint8_t *bb_file_memory_bytes(struct bb_file_memory *memory, const char *path, size_t *ret_size)
{
    static uint8_t nothing; /* an address for the bytes of an empty file */
    struct bb_memory_inode *inode = NULL;
    uint8_t *bytes = NULL;
    bb_mutex_lock(&memory->mutex);
    if (bb_memory_find(&memory->tree, path, &inode) == 0 && !inode->is_directory) {
        bytes = inode->bytes == NULL ? &nothing : inode->bytes;
        *ret_size = inode->size;
    }
    bb_mutex_unlock(&memory->mutex);
    return bytes;
}

size_t bb_file_memory_pending_names(struct bb_file_memory *memory)
{
    size_t count = 0;
    bb_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < memory->tree.count; i++)
        count += memory->tree.inodes[i]->change_count;
    bb_mutex_unlock(&memory->mutex);
    return count;
}

uint64_t bb_file_memory_pending_bytes(struct bb_file_memory *memory)
{
    uint64_t bytes = 0;
    bb_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < memory->tree.count; i++)
        bytes += memory->tree.inodes[i]->size - memory->tree.inodes[i]->durable_size;
    bb_mutex_unlock(&memory->mutex);
    return bytes;
}
