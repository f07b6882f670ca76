/* The block cache: (cache id of the table, file offset) -> a loaded block or index page.
 *
 * It is sharded by a hash of the key. Each shard has a mutex, a hash table chained through the
 * items, and a ring from the newest to the oldest. A use saves an item once from its eviction. An
 * item lives while the cache or a pin refers to it. A pinned item is not evicted, and may push a
 * shard over its capacity. The cache does not look inside its items: each is the first member of
 * the caller's own struct.
 * Threads: any.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_CACHE_H
#define BB_SSTABLE_BLOCK_BLOCK_CACHE_H

#include <stdatomic.h>

#include "bb/table.h"

/* The first member of everything that can be cached. The loader sets destroy and charge and hands
 * over one reference. `references` counts the cache's own and all pins. An item also works without
 * a cache (a block read with caching off). */
struct bb_cache_item {
    void (*destroy)(struct bb_cache_item *item);
    uint64_t charge; /* bytes, all memory included */
    _Atomic uint32_t references;
    /* Private to the cache: */
    bool is_used; /* since it was inserted, or passed by an eviction */
    uint64_t owner;
    uint64_t offset;
    uint64_t hash;
    struct bb_cache_item *chain;
    struct bb_cache_item *newer;
    struct bb_cache_item *older;
    struct bb_block_cache *cache; /* NULL until it enters one */
};

/* Starts with one reference and no cache. */
void bb_block_cache_item_init(struct bb_cache_item *item, void (*destroy)(struct bb_cache_item *),
                              uint64_t charge);
/* Drops one reference; the last one destroys the item. NULL is allowed. */
void bb_block_cache_item_unref(struct bb_cache_item *item);

/* Returns a cache id that no other table has used in this cache. */
uint64_t bb_block_cache_new_owner(struct bb_block_cache *cache);
/* Returns the item, pinned, or NULL. Counts a hit or a miss. */
struct bb_cache_item *bb_block_cache_find(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset);
/* Like find, for blocks that may bypass the cache. On a miss, *ret_is_wanted tells whether to
 * insert the block. It is true while the cache has space left, and for a block that was missed
 * recently: about as many misses ago as blocks of this size, or of 4 KiB if it is at most 8 KiB,
 * fit into half of the cache. size: about the charge of the block. So a scan, or lookups spread
 * over much more data than the cache has, do not evict blocks that are used again, and do not pay
 * for inserting others. (This is the ghost list of 2Q and ARC: Johnson and Shasha, VLDB 1994;
 * Megiddo and Modha, FAST 2003.) */
struct bb_cache_item *bb_block_cache_find_or_judge(struct bb_block_cache *cache, uint64_t owner,
                                                   uint64_t offset, uint64_t size,
                                                   bool *ret_is_wanted);
/* Prefetches the memory that find reads. Takes no lock and changes nothing. */
void bb_block_cache_prefetch(struct bb_block_cache *cache, uint64_t owner, uint64_t offset);
/* Spare memory for blocks read for tables that use this cache. */
struct bb_block_spares *bb_block_cache_spares(struct bb_block_cache *cache);
/* True when an item of this charge may be inserted. An item that takes a large part of a shard
 * would evict many others. */
bool bb_block_cache_takes(const struct bb_block_cache *cache, uint64_t charge);
/* Like find, but changes no order and counts nothing. For statistics, not for reading. */
struct bb_cache_item *bb_block_cache_peek(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset);
/* Inserts a freshly loaded item, which stays pinned by the caller. If another thread has inserted
 * the same item first, that one is pinned and returned instead, and the caller's is released. */
struct bb_cache_item *bb_block_cache_insert(struct bb_block_cache *cache, uint64_t owner,
                                            uint64_t offset, struct bb_cache_item *item);
/* For a cache inherited over fork: true when no thread was changing it at that time. */
bool bb_block_cache_is_free(struct bb_block_cache *cache);
/* Drops all items of a table that is being closed or deleted. */
void bb_block_cache_drop_owner(struct bb_block_cache *cache, uint64_t owner);

#endif
