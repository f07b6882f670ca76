/* Caches for tests of the block cache. */
#ifndef BB_TESTS_UNIT_SSTABLE_BLOCK_CACHE_FIXTURE_H
#define BB_TESTS_UNIT_SSTABLE_BLOCK_CACHE_FIXTURE_H

#include "tests/support/assert_status.h"

#include "sstable/block/block_cache.h"

static inline struct bb_block_cache *cache_of(uint64_t capacity_bytes)
{
    struct bb_block_cache *cache = NULL;
    assert_ok(bb_block_cache_create(capacity_bytes, &cache));
    return cache;
}

static inline struct bb_block_cache_stats stats_of(struct bb_block_cache *cache)
{
    struct bb_block_cache_stats stats;
    bb_block_cache_stats(cache, &stats);
    return stats;
}

/* Changes no order and counts nothing. */
static inline bool contains(struct bb_block_cache *cache, uint64_t owner, uint64_t offset)
{
    struct bb_cache_item *item = bb_block_cache_peek(cache, owner, offset);
    bb_block_cache_item_unref(item);
    return item != NULL;
}

#endif
