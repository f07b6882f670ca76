/* Which shard has a hash, and what is left of the hash inside of it.
 *
 * ON DISK: part of every set of more than 2,000 keys. Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_SHARD_HASH_H
#define BB_BLOOMBLOCK_SHARD_HASH_H

#include "base/hash.h"

/* The shard of a domain hash: shards are equal ranges of hashes, in order. */
static inline uint32_t bb_shard_of(uint64_t domain_hash, uint32_t shard_count)
{
    return bb_hash_range(domain_hash, shard_count);
}

/* The hash as a blocked Bloom filter takes it: the shard took the high half, so the line is chosen
 * by the low one. */
static inline uint64_t bb_shard_line_hash(uint64_t domain_hash)
{
    return domain_hash << 32 | domain_hash >> 32;
}

#endif
