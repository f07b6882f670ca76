/* One contiguous region, filled front to back.
 *
 * The first unit is never handed out, so that offset 0 can mean "none". capacity is a multiple of
 * 64 and at most 2^32 units, hence every offset inside it fits 32 bits. The memory is not touched
 * before it is handed out: a large arena costs address space until it is filled.
 */
#include "base/arena.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/region.h"
#include "base/status.h"

#define ALIGNMENT_MAX 64
#define CAPACITY_MAX  ((uint64_t)BB_ARENA_UNIT << 32)

static size_t round_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* The size of the mapping for a capacity. */
static size_t mapped_size_of(size_t capacity)
{
    return round_up(capacity, BB_REGION_PAGE_SIZE);
}

/* Sets memory and is_mapped; memory is NULL if there is none. */
static void find_memory(struct bb_arena *arena)
{
    size_t large = arena->capacity / BB_REGION_SIZE;
    arena->memory = large < 2 ? NULL : bb_region_map(mapped_size_of(arena->capacity));
    arena->is_mapped = arena->memory != NULL;
    if (arena->is_mapped)
        bb_region_begin_large(arena->memory + BB_REGION_SIZE, (large - 1) * BB_REGION_SIZE);
    else
        arena->memory = bb_alloc_aligned(ALIGNMENT_MAX, arena->capacity);
}

enum bb_status bb_arena_init(struct bb_arena *arena, size_t capacity_bytes)
{
    if (capacity_bytes > CAPACITY_MAX - 1)
        return bb_fail(BB_TOO_LARGE, "an arena of %zu bytes; the limit is %zu", capacity_bytes,
                       (size_t)(CAPACITY_MAX - 1));
    size_t capacity = capacity_bytes == 0 ? ALIGNMENT_MAX : round_up(capacity_bytes, ALIGNMENT_MAX);
    *arena = (struct bb_arena){.capacity = capacity, .used = BB_ARENA_UNIT};
    find_memory(arena);
    if (arena->memory == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an arena of %zu bytes", capacity);
    return BB_OK;
}

void bb_arena_deinit(struct bb_arena *arena)
{
    if (arena->is_mapped)
        bb_region_unmap(arena->memory, mapped_size_of(arena->capacity));
    else
        bb_free_aligned(arena->memory);
    *arena = (struct bb_arena){0};
}

void bb_arena_reset(struct bb_arena *arena)
{
    arena->used = BB_ARENA_UNIT;
}

uint32_t bb_arena_alloc(struct bb_arena *arena, size_t size, size_t alignment)
{
    BB_DEBUG_ASSERT(alignment >= BB_ARENA_UNIT && alignment <= ALIGNMENT_MAX &&
                    (alignment & (alignment - 1)) == 0);
    /* start <= capacity, because capacity is a multiple of every alignment. */
    size_t start = round_up(arena->used, alignment);
    size_t wanted = size == 0 ? 1 : size; /* every allocation has a unique offset */
    if (wanted > arena->capacity - start)
        return 0;
    arena->used = round_up(start + wanted, BB_ARENA_UNIT);
    return (uint32_t)(start / BB_ARENA_UNIT);
}
