/* See module_memory.h. */
#include "tests/redis/module_memory.h"

#include <malloc.h>
#include <stdlib.h>

#include "redis/server/redis_module.h"

static long live;
static long left;
static bool is_failing;

static void *try_alloc(size_t size)
{
    if (is_failing && --left <= 0)
        return NULL;
    live++;
    return malloc(size == 0 ? 1 : size);
}

static void release(void *memory)
{
    if (memory != NULL)
        live--;
    free(memory);
}

static size_t size_of(void *memory)
{
    return malloc_usable_size(memory);
}

void module_memory_use(void)
{
    RedisModule_TryAlloc = try_alloc;
    RedisModule_Free = release;
    RedisModule_MallocSize = size_of;
    RedisModule_MallocUsableSize = size_of;
}

long module_memory_live(void)
{
    return live;
}

void module_memory_fail(long n)
{
    is_failing = n != 0;
    left = n;
}
