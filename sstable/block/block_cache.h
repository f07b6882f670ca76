/* The block cache: (table's cache id, file offset) -> a loaded block or index page.
 *
 * Sharded by a hash of the key; each shard has a mutex, a hash table with chains through the items,
 * and a list from most to least recently used. An item is alive while the cache or a pin refers to
 * it; a pinned item is not on the eviction list and may put a shard over its share (reported as
 * pinned_bytes). What is cached is opaque here: an item is the head of the caller's own structure.
 * Threads: any.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_CACHE_H
#define BB_SSTABLE_BLOCK_BLOCK_CACHE_H

#include <stdatomic.h>

#include "bb/table.h"

/* First member of everything that can be cached. The loader fills destroy and charge and passes one
 * reference to itself; `references` counts the cache's own and all pins. Works without a cache too
 * (a block read with caching off).
 */
struct bb_cache_item {
    void (*destroy)(struct bb_cache_item *item);
    uint64_t charge; /* bytes, all memory included */
    _Atomic uint32_t references;
    /* The cache's: */
    uint64_t owner;
    uint64_t offset;
    struct bb_cache_item *chain;
    struct bb_cache_item *newer;
    struct bb_cache_item *older;
    struct bb_block_cache *cache; /* NULL until it enters one */
};

/* One reference, no cache. */
void bb_cache_item_init(struct bb_cache_item *item, void (*destroy)(struct bb_cache_item *),
                        uint64_t charge);
/* Gives one reference back; the last one destroys. NULL is allowed. */
void bb_cache_item_unref(struct bb_cache_item *item);

/* A number that no other table has used in this cache. */
uint64_t bb_block_cache_new_owner(struct bb_block_cache *cache);
/* Pins and returns the item, or NULL. Counts a hit or a miss. */
struct bb_cache_item *bb_block_cache_find(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset);
/* The same for what may be read past the cache. When it is not there, *ret_is_wanted says whether it
 * should be inserted: while there is room for it without evicting anything, and when it was missed
 * not long before, within about as many misses as the cache has 4 KiB pieces. So a scan, or look-ups
 * that are spread over much more than the cache holds, leave what is used again in the cache, and
 * do not pay for taking in what goes unused. (The ghosts of 2Q and ARC: Johnson and Shasha, VLDB
 * 1994; Megiddo and Modha, FAST 2003.) */
struct bb_cache_item *bb_block_cache_find_or_judge(struct bb_block_cache *cache, uint64_t owner,
                                                   uint64_t offset, bool *ret_is_wanted);
/* For blocks that are read for tables that use the cache. */
struct bb_block_spares *bb_block_cache_spares(struct bb_block_cache *cache);
/* May something of this charge be inserted? What takes a large part of a shard would evict many
 * others. */
bool bb_block_cache_takes(const struct bb_block_cache *cache, uint64_t charge);
/* The same as find, and counts nothing: for accounts, not for reading. */
struct bb_cache_item *bb_block_cache_peek(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset);
/* Is it there? Changes no order and counts nothing. */
bool bb_block_cache_contains(struct bb_block_cache *cache, uint64_t owner, uint64_t offset);
/* Puts a freshly loaded item in and leaves it pinned by the caller. When another thread was
 * quicker, its item is pinned and returned instead, and the caller's is released. */
struct bb_cache_item *bb_block_cache_insert(struct bb_block_cache *cache, uint64_t owner,
                                            uint64_t offset, struct bb_cache_item *item);
/* Of a cache that was inherited over fork: was no thread changing it? */
bool bb_block_cache_is_free(struct bb_block_cache *cache);
/* Drops all items of a table that is being closed or deleted. */
void bb_block_cache_drop_owner(struct bb_block_cache *cache, uint64_t owner);

#endif
