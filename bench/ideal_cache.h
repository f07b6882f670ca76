/* A cache that holds all blocks of an ideal store, and only does the steps that no cache of blocks
 * can avoid. Their times are lower limits for gets of stored keys whose blocks are all in a cache.
 *
 *     buckets   one for each block, of 16 bytes; a get reads the bucket that its hash chooses
 *     block     offset of each entry | entries: key and value
 *               the bucket has its address; a get reads the line with one offset, then the entry
 *
 * So each of the three reads waits for the previous read. A get does not search: the hash chooses
 * the block and the entry, because a stored key is as likely in each of them. Threads: one.
 */
#ifndef BB_BENCH_IDEAL_CACHE_H
#define BB_BENCH_IDEAL_CACHE_H

#include "bench/ideal_store.h"

struct ideal_cache;

/* The sizes: as in the workload of the ideal store. Ends the process when memory runs out. Owned:
 * ideal_cache_destroy. */
struct ideal_cache *ideal_cache_create(struct ideal_store *store, size_t key_size,
                                       size_t value_size);
void ideal_cache_destroy(struct ideal_cache *cache);

/* Reads the bucket. */
uint64_t ideal_cache_bucket(const struct ideal_cache *cache, uint64_t hash);
/* Reads bucket, block and entry, and copies the entry's value. Returns bytes of its key. */
uint64_t ideal_cache_get(const struct ideal_cache *cache, uint64_t hash, uint8_t *value);

#endif
