/* The split-block Bloom filter of Parquet: all probes of a key are in one block of 32 bytes, one in
 * each of its 8 words. Bit for bit the filter of the Parquet specification (apache/parquet-format,
 * BloomFilter.md), which is based on Putze, Sanders, Singler, "Cache-, hash- and space-efficient
 * Bloom filters", 2007, and on Impala.
 *
 *     bitset     | block 0 | block 1 | ... | block z - 1 |        32 bytes each, 1 <= z < 2^31
 *     block      | word 0 | word 1 | ... | word 7 |               32 bits each, little-endian
 *     key        block:  high 32 bits of the hash, scaled to z
 *                word i: bit (low 32 bits of the hash * salt i mod 2^32) >> 27
 *
 * Parquet's hash is XXH64 with seed 0 of the value's plain encoding (bb_hash_xxh64). Hashes are
 * used unchanged, without a domain.
 *
 * Threads: one thread may add; the rest are pure. */
#ifndef BB_STANDALONE_BLOOM_SPLIT_BLOCK_H
#define BB_STANDALONE_BLOOM_SPLIT_BLOCK_H

#include <assert.h>

#include "bb/filter.h"

#define BB_SPLIT_BLOCK_WORDS     8
#define BB_SPLIT_BLOCK_WORD_BITS 32
#define BB_SPLIT_BLOCK_BITS      (BB_SPLIT_BLOCK_SIZE * 8)
static_assert(BB_SPLIT_BLOCK_WORDS * BB_SPLIT_BLOCK_WORD_BITS == BB_SPLIT_BLOCK_BITS,
              "a block consists of its words");

/* ON DISK: Parquet's. */
extern const uint32_t bb_split_block_salts[BB_SPLIT_BLOCK_WORDS];

/* block_count is not 0; the bitset may have any alignment. */
void bb_split_block_add(uint8_t *bitset, uint32_t block_count, uint64_t hash);
bool bb_split_block_may_contain(const uint8_t *bitset, uint32_t block_count, uint64_t hash);
/* The same with vectors: the eight words of a block are eight lanes. Compiled for x86 only. */
bool bb_split_block_avx2(const uint8_t *bitset, uint32_t block_count, uint64_t hash);
/* Fetches the hash's block into the cache. */
void bb_split_block_prefetch(const uint8_t *bitset, uint32_t block_count, uint64_t hash);

/* The rate for non-member keys, computed from the set bits, if every factor neighbouring blocks are
 * folded: the mean over blocks of the product of their words' fills. Stops once the mean exceeds
 * limit, and returns some number above limit. factor divides block_count. */
double bb_split_block_rate(const uint8_t *bitset, uint32_t block_count, uint32_t factor,
                           double limit);

/* Estimates the number of keys from the set bits: at least 1 if any bit is set. */
uint64_t bb_split_block_key_count(const uint8_t *bitset, uint32_t block_count);

#endif
