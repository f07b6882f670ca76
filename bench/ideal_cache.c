/* See ideal_cache.h. */
#include "bench/ideal_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bench/die.h"
#include "bench/large_memory.h"

#define LINE_SIZE 64

struct bucket {
    const uint8_t *block;
    uint64_t hashes; /* as in a cache that finds out misses here; not read */
};

struct ideal_cache {
    size_t key_size;
    size_t value_size;
    uint64_t entries_per_block;
    uint64_t block_count;
    struct bucket *buckets;
    uint8_t *blocks;
};

static size_t round_up(size_t size)
{
    return (size + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE;
}

static void fill_block(const struct ideal_cache *cache, struct bb_bytes entries, uint8_t *block)
{
    size_t directory_size = cache->entries_per_block * sizeof(uint32_t);
    size_t entry_size = cache->key_size + cache->value_size;
    for (uint64_t i = 0; i < cache->entries_per_block; i++) {
        uint32_t offset = (uint32_t)(directory_size + i * entry_size);
        memcpy(block + i * sizeof(offset), &offset, sizeof(offset));
    }
    memcpy(block + directory_size, entries.data, entries.size);
}

static void fill(struct ideal_cache *cache, struct ideal_store *store, size_t block_size)
{
    for (uint64_t i = 0; i < cache->block_count; i++) {
        uint8_t *block = cache->blocks + i * block_size;
        fill_block(cache, ideal_store_decode(store, ideal_store_read(store, i)), block);
        cache->buckets[i] = (struct bucket){.block = block};
    }
}

struct ideal_cache *ideal_cache_create(struct ideal_store *store, size_t key_size,
                                       size_t value_size)
{
    struct ideal_cache *cache = bench_allocate(sizeof(*cache));
    cache->key_size = key_size;
    cache->value_size = value_size;
    cache->entries_per_block = ideal_store_entries_per_block(store);
    cache->block_count = ideal_store_block_count(store);
    size_t entry_size = sizeof(uint32_t) + key_size + value_size;
    size_t block_size = round_up(cache->entries_per_block * entry_size);
    cache->buckets = (void *)large_memory_allocate(cache->block_count * sizeof(struct bucket));
    cache->blocks = large_memory_allocate(cache->block_count * block_size);
    fill(cache, store, block_size);
    return cache;
}

void ideal_cache_destroy(struct ideal_cache *cache)
{
    free(cache->buckets);
    free(cache->blocks);
    free(cache);
}

static const uint8_t *block_of(const struct ideal_cache *cache, uint64_t hash)
{
    return cache->buckets[bb_hash_range64(hash, cache->block_count)].block;
}

uint64_t ideal_cache_bucket(const struct ideal_cache *cache, uint64_t hash)
{
    return (uint64_t)(uintptr_t)block_of(cache, hash);
}

uint64_t ideal_cache_get(const struct ideal_cache *cache, uint64_t hash, uint8_t *value)
{
    const uint8_t *block = block_of(cache, hash);
    uint64_t entry = (hash & UINT32_MAX) * cache->entries_per_block >> 32;
    uint32_t offset = 0;
    uint64_t key = 0;
    memcpy(&offset, block + entry * sizeof(offset), sizeof(offset));
    memcpy(&key, block + offset, sizeof(key));
    memcpy(value, block + offset + cache->key_size, cache->value_size);
    return key;
}
