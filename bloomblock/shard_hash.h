/* Assigns a hash to a shard, and derives the hash used inside it.
 *
 * ON DISK: part of every set of more than 2,000 keys. Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_SHARD_HASH_H
#define BB_BLOOMBLOCK_SHARD_HASH_H

#include "base/hash.h"

/* The shard of a domain hash: shards are equal ranges of hashes, in order. shard_count: below 2^32;
 * a word, because probes have it in memory as one. */
static inline uint32_t bb_shard_hash_shard(uint64_t domain_hash, uint64_t shard_count)
{
    return (uint32_t)((domain_hash >> 32) * shard_count >> 32);
}

/* The hash as a blocked Bloom filter takes it: the shard took the high half, so the line is chosen
 * by the low one. */
static inline uint64_t bb_shard_hash_line(uint64_t domain_hash)
{
    return domain_hash << 32 | domain_hash >> 32;
}

#endif
