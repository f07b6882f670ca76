/* Probing blocks of Parquet's filter with vectors: the eight words of a block are eight lanes.
 * Returns the same results as bb_split_block_may_contain; reads only the block. Compiled for x86
 * only.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_BLOOM_SPLIT_BLOCK_AVX2_H
#define BB_STANDALONE_BLOOM_SPLIT_BLOCK_AVX2_H

#include <stdbool.h>
#include <stdint.h>

bool bb_split_block_avx2(const uint8_t *bitset, uint32_t block_count, uint64_t hash);

#endif
