/* See table_map.h. */
#include "sstable/table/table_map.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block/stored_block.h"

void bb_table_map_init(struct bb_table_map *map, struct bb_file *file, uint64_t size,
                       uint64_t block_count)
{
    struct bb_error before = *bb_error_last();
    size_t bytes = (size_t)(block_count / 8 + 1);
    *map = (struct bb_table_map){0};
    if (size == 0)
        return;
    map->verified = bb_alloc_zeroed(bytes, 1);
    if (map->verified == NULL || bb_file_map_create(file, size, &map->file) != BB_OK) {
        bb_table_map_deinit(map);
        (void)bb_error_restore(&before);
        return;
    }
    map->memory_size = bytes;
}

void bb_table_map_deinit(struct bb_table_map *map)
{
    bb_file_map_destroy(map->file);
    bb_free(map->verified);
    *map = (struct bb_table_map){0};
}

static bool is_verified(const struct bb_table_map *map, uint64_t number)
{
    uint8_t bits = atomic_load_explicit(&map->verified[number / 8], memory_order_relaxed);
    return (bits >> number % 8 & 1) != 0;
}

/* The zeros of a lost page are not damage: the map is unsound then. */
static bool verify(struct bb_table_map *map, const uint8_t *stored, struct bb_table_id table,
                   uint64_t offset, uint32_t size, uint64_t number)
{
    if (!bb_stored_block_is_whole(stored, size, table, offset))
        return false;
    atomic_fetch_or_explicit(&map->verified[number / 8], (uint8_t)(1u << number % 8),
                             memory_order_relaxed);
    return true;
}

const uint8_t *bb_table_map_stored(struct bb_table_map *map, struct bb_table_id table,
                                   uint64_t offset, uint32_t size, uint64_t number)
{
    if (map->file == NULL || !bb_table_map_is_sound(map))
        return NULL;
    BB_DEBUG_ASSERT(offset + size <= map->file->size);
    const uint8_t *stored = map->file->bytes + offset;
    return is_verified(map, number) || verify(map, stored, table, offset, size, number) ? stored
                                                                                        : NULL;
}

void bb_table_map_forget(struct bb_table_map *map)
{
    if (map->file == NULL)
        return;
    for (uint64_t i = 0; i < map->memory_size; i++)
        atomic_store_explicit(&map->verified[i], 0, memory_order_relaxed);
    bb_file_map_forget(map->file);
}

enum bb_status bb_table_map_fail(struct bb_place place)
{
    return bb_fail(BB_IO,
                   "%s: a block at %llu was lost while it was read from a map: the file was "
                   "truncated, or its device failed; later reads use the file",
                   place.file, (unsigned long long)place.offset);
}
