/* Rates and sizes of Parquet's split-block Bloom filter. */
#include "standalone/sizing/rate_split_block.h"

#include <math.h>

#include "bloomblock/sizing/rate.h"
#include "standalone/bloom/split_block.h"

/* The rate of a block with this many keys: its words fill independently. */
static double block_rate(double keys)
{
    return pow(-expm1(keys * log1p(-1.0 / BB_SPLIT_BLOCK_WORD_BITS)), BB_SPLIT_BLOCK_WORDS);
}

/* The blocks are lines of other rates: otherwise the filter is a blocked Bloom filter. */
static void block_init(struct bb_rate_line *block)
{
    block->filled = BB_RATE_LINE_KEYS;
    for (uint32_t keys = 0; keys < block->filled; keys++)
        block->rate[keys] = block_rate(keys);
}

double bb_rate_split_block(uint64_t key_count, uint64_t block_count)
{
    struct bb_rate_line block;
    block_init(&block);
    return bb_rate_blocked_bloom(&block, key_count, block_count);
}

uint64_t bb_rate_split_block_count(uint64_t key_count, double target_rate)
{
    struct bb_rate_line block;
    block_init(&block);
    return bb_rate_blocked_bloom_lines(&block, key_count, target_rate);
}
