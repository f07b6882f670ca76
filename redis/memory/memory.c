/* The library's memory is the server's.
 *
 * This file replaces base/alloc.c and base/region_posix.c when the module is linked: it defines the
 * same symbols, so the linker leaves those out of the static library. So `used_memory` counts
 * buffers, caches, filters and indexes of stores, `maxmemory` limits them, and the other parts of
 * the library need not know. The server's look-up function is called first of all, so these
 * pointers are known before anything allocates.
 *
 * There are no regions, because the server could not count them. Little is lost: Redis switches off
 * large pages for its process (disable-thp) where the system gives them to every program.
 *
 * RedisModule_Realloc ends the server when there is no memory, so bb_realloc copies.
 *
 * Threads: any. The server counts with atomic operations. */
#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"
#include "base/region.h"
#include "redis/server/redis_module.h"

void *bb_alloc(size_t size)
{
    return size > PTRDIFF_MAX ? NULL : RedisModule_TryAlloc(size == 0 ? 1 : size);
}

void *bb_alloc_zeroed(size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *memory = bb_alloc(bytes);
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}

void *bb_realloc(void *memory, size_t size)
{
    if (memory == NULL)
        return bb_alloc(size);
    size_t present = RedisModule_MallocUsableSize(memory);
    if (size <= present && size >= present / 2)
        return memory;
    void *moved = bb_alloc(size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, size < present ? size : present);
    RedisModule_Free(memory);
    return moved;
}

void bb_free(void *memory)
{
    RedisModule_Free(memory);
}

/* The interface has no alignment:
 *
 *     | unused | address of the block | piece | unused | */
void *bb_alloc_aligned(size_t alignment, size_t size)
{
    size_t space = sizeof(void *) + alignment - 1;
    uint8_t *block = size > PTRDIFF_MAX ? NULL : bb_alloc(size + space);
    if (block == NULL)
        return NULL;
    size_t begin = (space + (uintptr_t)block) / alignment * alignment - (uintptr_t)block;
    memcpy(block + begin - sizeof(block), &block, sizeof(block));
    return block + begin;
}

void bb_free_aligned(void *piece)
{
    void *block = NULL;
    if (piece == NULL)
        return;
    memcpy(&block, (uint8_t *)piece - sizeof(block), sizeof(block));
    RedisModule_Free(block);
}

/* ---- regions ---- */

void *bb_region_map(size_t size)
{
    (void)size;
    return NULL;
}

void bb_region_unmap(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_enlarge(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_begin_large(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_reduce(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_discard(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}
