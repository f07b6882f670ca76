/* One contiguous region that is filled from front to back and released or recycled as a whole.
 *
 * Memory is addressed by 32-bit offsets in units of BB_ARENA_UNIT bytes, so that structures inside
 * it stay small. Offset 0 is never allocated and can mean "none".
 *
 * An arena takes memory as it is filled. The first BB_REGION_SIZE bytes of one of 4 MiB or more are
 * in small pages, and all whole pieces of that size after them in large pages (base/region.h). So
 * it takes at most BB_REGION_SIZE bytes more than have been used since init. WHY large pages: data
 * in an arena is written and read at random places, and a load touches thousands of new pages a
 * second (docs/decisions/0050-large-pages-of-memtables.md).
 *
 * Threads: one thread allocates; any thread may read data published to it. */
#ifndef BB_BASE_ARENA_H
#define BB_BASE_ARENA_H

#include "bb/base.h"

#define BB_ARENA_UNIT 8

struct bb_arena {
    uint8_t *memory; /* 64-byte aligned */
    size_t capacity; /* bytes */
    size_t used;     /* bytes, a multiple of BB_ARENA_UNIT */
    bool is_mapped;  /* memory is from bb_region_map */
};

/* capacity_bytes up to 2^32 * BB_ARENA_UNIT - 1; rounded up to 64. */
BB_MUST_CHECK enum bb_status bb_arena_init(struct bb_arena *arena, size_t capacity_bytes);
void bb_arena_deinit(struct bb_arena *arena);
/* Discards all contents, keeps the memory. */
void bb_arena_reset(struct bb_arena *arena);
/* Returns the offset, in units, of size bytes aligned to alignment (8, 16, 32 or 64); 0 if they do
 * not fit. */
uint32_t bb_arena_alloc(struct bb_arena *arena, size_t size, size_t alignment);

static inline void *bb_arena_at(const struct bb_arena *arena, uint32_t offset)
{
    return arena->memory + (size_t)offset * BB_ARENA_UNIT;
}

static inline size_t bb_arena_left(const struct bb_arena *arena)
{
    return arena->capacity - arena->used;
}

#endif
