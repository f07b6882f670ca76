/* See page_map.h. */
#include "base/page_map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

#define PAGE_SIZE 4096u

/* A copy that takes longer than WAIT_NS waited for the device. From memory it takes less than a
 * microsecond, and some microseconds if the process has not used the page yet. */
#define TIMED_PART 16
#define WAIT_NS    20000

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

static size_t byte_count(const struct bb_page_map *map)
{
    return (size_t)(map->page_count / 8 + 1);
}

void bb_page_map_init(struct bb_page_map *map, struct bb_file_system *files, struct bb_file *file,
                      uint64_t size)
{
    struct bb_error before = *bb_error_last();
    *map = (struct bb_page_map){.files = files, .page_count = (size + PAGE_SIZE - 1) / PAGE_SIZE};
    if (size == 0)
        return;
    map->in_memory = bb_alloc_zeroed(byte_count(map), 1);
    if (map->in_memory == NULL || create_map(file, size, &map->file) != BB_OK) {
        bb_page_map_deinit(map);
        (void)bb_error_restore(&before);
    }
}

void bb_page_map_deinit(struct bb_page_map *map)
{
    if (map->file != NULL)
        atomic_fetch_sub(&map_count, 1);
    bb_file_map_destroy(map->file);
    bb_free(map->in_memory);
    *map = (struct bb_page_map){0};
}

static void set_all(struct bb_page_map *map, uint8_t bits)
{
    for (size_t i = 0; i < byte_count(map); i++)
        atomic_store_explicit(&map->in_memory[i], bits, memory_order_relaxed);
}

/* rest: the number of calls that set no bit. */
static void clear(struct bb_page_map *map, uint64_t rest)
{
    atomic_store_explicit(&map->rest, rest, memory_order_relaxed);
    set_all(map, 0);
}

bool bb_page_map_has(const struct bb_page_map *map, uint64_t offset, size_t size)
{
    if (map->file == NULL)
        return false;
    for (uint64_t page = offset / PAGE_SIZE; page * PAGE_SIZE < offset + size; page++) {
        uint8_t bits = atomic_load_explicit(&map->in_memory[page / 8], memory_order_relaxed);
        if ((bits >> page % 8 & 1) == 0)
            return false;
    }
    return true;
}

static void copy_timed(struct bb_page_map *map, uint64_t offset, void *bytes, size_t size)
{
    uint64_t begin = map->files->ops->now(map->files);
    memcpy(bytes, map->file->bytes + offset, size);
    if (bb_file_elapsed(map->files, begin) > WAIT_NS)
        clear(map, map->page_count);
}

/* A page that is lost during the copy makes the map unsound, and gives zeros. */
bool bb_page_map_copy(struct bb_page_map *map, uint64_t offset, void *bytes, size_t size)
{
    if (!bb_page_map_has(map, offset, size))
        return false;
    BB_DEBUG_ASSERT(offset + size <= map->file->size);
    if (offset / PAGE_SIZE % TIMED_PART == 0)
        copy_timed(map, offset, bytes, size);
    else
        memcpy(bytes, map->file->bytes + offset, size);
    if (bb_file_map_is_sound(map->file))
        return true;
    clear(map, UINT64_MAX);
    return false;
}

/* WHY no exchange: where threads change the rest together, some calls are not counted. */
void bb_page_map_note(struct bb_page_map *map, uint64_t offset, size_t size)
{
    if (map->file == NULL)
        return;
    uint64_t rest = atomic_load_explicit(&map->rest, memory_order_relaxed);
    if (rest > 0) {
        atomic_store_explicit(&map->rest, rest - 1, memory_order_relaxed);
        return;
    }
    for (uint64_t page = offset / PAGE_SIZE; page * PAGE_SIZE < offset + size; page++)
        atomic_fetch_or_explicit(&map->in_memory[page / 8], (uint8_t)(1u << page % 8),
                                 memory_order_relaxed);
}

void bb_page_map_drop(struct bb_page_map *map, uint64_t offset, size_t size)
{
    for (uint64_t page = offset / PAGE_SIZE; map->file != NULL && page * PAGE_SIZE < offset + size;
         page++)
        atomic_fetch_and_explicit(&map->in_memory[page / 8], (uint8_t) ~(1u << page % 8),
                                  memory_order_relaxed);
}

void bb_page_map_note_all(struct bb_page_map *map)
{
    if (map->file != NULL)
        set_all(map, UINT8_MAX);
}

void bb_page_map_forget(struct bb_page_map *map)
{
    if (map->file == NULL)
        return;
    clear(map, map->page_count);
    bb_file_map_forget(map->file);
}
