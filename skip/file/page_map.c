/* See page_map.h. */
#include "skip/file/page_map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

#define PAGE_SIZE 4096u

/* Maps of the process, at most BB_PAGE_MAPS_MAX. */
static _Atomic uint32_t map_count;

static enum bb_status create_map(struct bb_file *file, uint64_t size, struct bb_file_map **ret_map)
{
    if (atomic_fetch_add(&map_count, 1) < BB_PAGE_MAPS_MAX &&
        bb_file_map_create(file, size, ret_map) == BB_OK)
        return BB_OK;
    atomic_fetch_sub(&map_count, 1);
    return BB_UNSUPPORTED;
}

void bb_page_map_init(struct bb_page_map *map, struct bb_file *file, uint64_t size)
{
    struct bb_error before = *bb_error_last();
    *map = (struct bb_page_map){0};
    if (size == 0)
        return;
    map->is_read = bb_alloc_zeroed((size_t)(size / PAGE_SIZE / 8 + 1), 1);
    if (map->is_read == NULL || create_map(file, size, &map->file) != BB_OK) {
        bb_page_map_deinit(map);
        (void)bb_error_restore(&before);
    }
}

void bb_page_map_deinit(struct bb_page_map *map)
{
    if (map->file != NULL)
        atomic_fetch_sub(&map_count, 1);
    bb_file_map_destroy(map->file);
    bb_free(map->is_read);
    *map = (struct bb_page_map){0};
}

static bool are_read(const struct bb_page_map *map, uint64_t offset, size_t size)
{
    for (uint64_t page = offset / PAGE_SIZE; page * PAGE_SIZE < offset + size; page++) {
        uint8_t bits = atomic_load_explicit(&map->is_read[page / 8], memory_order_relaxed);
        if ((bits >> page % 8 & 1) == 0)
            return false;
    }
    return true;
}

/* A page that is lost during the copy makes the map unsound, and gives zeros. */
bool bb_page_map_copy(const struct bb_page_map *map, uint64_t offset, void *bytes, size_t size)
{
    if (map->file == NULL || !are_read(map, offset, size) || !bb_file_map_is_sound(map->file))
        return false;
    BB_DEBUG_ASSERT(offset + size <= map->file->size);
    memcpy(bytes, map->file->bytes + offset, size);
    return bb_file_map_is_sound(map->file);
}

void bb_page_map_note(struct bb_page_map *map, uint64_t offset, size_t size)
{
    if (map->file == NULL)
        return;
    for (uint64_t page = offset / PAGE_SIZE; page * PAGE_SIZE < offset + size; page++)
        atomic_fetch_or_explicit(&map->is_read[page / 8], (uint8_t)(1u << page % 8),
                                 memory_order_relaxed);
}
