/* Sorts hashes and removes duplicates.
 *
 * With sorted hashes a filter's bytes do not depend on the order of its keys, the keys of a shard
 * are together (shards are ranges of the hash), and equal hashes are next to each other.
 */
#ifndef BB_BLOOMBLOCK_HASH_SORT_H
#define BB_BLOOMBLOCK_HASH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts in place and removes duplicates. Returns the number of remaining hashes. It is fast for
 * well-mixed hashes, and slow for hashes with equal high bytes. */
size_t bb_hash_sort(uint64_t *hashes, size_t count);

#endif
