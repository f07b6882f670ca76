/* Hashes in order, each once.
 *
 * Sorted hashes make a filter's bytes independent of the order in which keys came, bring the keys
 * of a shard together (shards are ranges of the hash), and show equal ones.
 */
#ifndef BB_BLOOMBLOCK_HASH_SORT_H
#define BB_BLOOMBLOCK_HASH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts in place and removes duplicates; returns the number of remaining hashes. For well-mixed
 * hashes: others are sorted too, but slowly if they have equal high bytes. */
size_t bb_hash_sort(uint64_t *hashes, size_t count);

#endif
