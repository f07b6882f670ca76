/* See cache.h. */
#include "leveldb/cache.h"

#include "leveldb/memory.h"

#define CAPACITY_DEFAULT (UINT64_C(8) << 20)
/* The limits of cache_bytes. */
#define CAPACITY_MIN (UINT64_C(64) << 10)
#define CAPACITY_MAX (UINT64_C(1) << 40)

struct leveldb_cache_t {
    size_t capacity;
};

leveldb_cache_t *leveldb_cache_create_lru(size_t capacity)
{
    leveldb_cache_t *cache = bb_leveldb_alloc(sizeof(*cache));
    if (cache != NULL)
        cache->capacity = capacity;
    return cache;
}

void leveldb_cache_destroy(leveldb_cache_t *cache)
{
    bb_leveldb_release(cache);
}

void bb_leveldb_cache_apply(const leveldb_cache_t *cache, struct bb_db_options *options)
{
    uint64_t capacity = cache == NULL ? CAPACITY_DEFAULT : cache->capacity;
    options->cache_off = capacity == 0;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    options->cache_bytes = capacity < CAPACITY_MAX ? capacity : CAPACITY_MAX;
}
