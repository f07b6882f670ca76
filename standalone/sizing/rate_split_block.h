/* Rates and sizes of split-block Bloom filters: one bit in each of a block's 8 words of 32. The
 * rules of bloomblock/sizing/rate.h hold.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_SIZING_RATE_SPLIT_BLOCK_H
#define BB_STANDALONE_SIZING_RATE_SPLIT_BLOCK_H

#include <stdint.h>

/* The mixture over the binomially distributed keys of a block. block_count is not 0. */
double bb_rate_split_block(uint64_t key_count, uint64_t block_count);
/* The smallest number of blocks that meets the target; at least 1. */
uint64_t bb_rate_split_block_count(uint64_t key_count, double target_rate);

#endif
