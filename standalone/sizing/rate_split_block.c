/* Rates and sizes of Parquet's split-block Bloom filter. */
#include "standalone/sizing/rate_split_block.h"

#include <math.h>

#include "bloomblock/sizing/rate.h"

#define WORDS      8
#define WORD_BITS  32
#define BLOCK_BITS (WORDS * WORD_BITS)

/* The rate of a block with this many keys: its words fill independently. */
static double block_rate(double keys)
{
    return pow(-expm1(keys * log1p(-1.0 / WORD_BITS)), WORDS);
}

/* Keys per block beyond which the mixture is taken as 1: far above any target, and where the
 * binomial weights would underflow. */
#define BLOCK_KEYS_MEAN_MAX 600
/* Weights that add nothing to a double. */
#define WEIGHT_MIN 1e-24

double bb_rate_split_block(uint64_t key_count, uint64_t block_count)
{
    double keys = (double)key_count;
    double blocks = (double)block_count;
    if (block_count == 1)
        return block_rate(keys);
    if (keys > blocks * BLOCK_KEYS_MEAN_MAX)
        return 1;
    double weight = exp(keys * log1p(-1 / blocks)); /* of blocks with j keys */
    double rate = 0;
    for (double j = 0; j <= keys && (weight > WEIGHT_MIN || j < keys / blocks); j++) {
        rate += weight * block_rate(j);
        weight *= (keys - j) / ((j + 1) * (blocks - 1));
    }
    return rate;
}

uint64_t bb_rate_split_block_count(uint64_t key_count, double target_rate)
{
    /* No filter is smaller than the limit: low never meets the target. */
    uint64_t low = (uint64_t)((double)key_count * bb_rate_limit(target_rate) / BLOCK_BITS);
    uint64_t high = low + 1;
    for (; bb_rate_split_block(key_count, high) > target_rate; high += low + 1)
        low = high;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (bb_rate_split_block(key_count, middle) <= target_rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}
