/* Parquet's filter: bits set, asked and counted. */
#include "standalone/bloom/split_block.h"

#include <math.h>
#include <string.h>

#include "base/coding.h"
#include "base/hash.h"
#include "bloomblock/bloom/bloom.h"

const uint32_t bb_split_block_salts[BB_SPLIT_BLOCK_WORDS] = {
    UINT32_C(0x47b6137b), UINT32_C(0x44974d91), UINT32_C(0x8824ad5b), UINT32_C(0xa2b7289d),
    UINT32_C(0x705495c7), UINT32_C(0x2df1424b), UINT32_C(0x9efc4947), UINT32_C(0x5c6bfb31)};

static inline size_t offset_of(uint64_t hash, uint32_t block_count)
{
    return (size_t)bb_hash_range(hash, block_count) * BB_SPLIT_BLOCK_SIZE;
}

static inline uint32_t bit_of(uint64_t hash, uint32_t word)
{
    return (uint32_t)hash * bb_split_block_salts[word] >> 27;
}

void bb_split_block_add(uint8_t *bitset, uint32_t block_count, uint64_t hash)
{
    uint8_t *block = bitset + offset_of(hash, block_count);
    for (uint32_t i = 0; i < BB_SPLIT_BLOCK_WORDS; i++) {
        uint32_t bit = bit_of(hash, i);
        block[i * 4 + bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

/* All words are tested, as in a line of blocked_bloom.c. */
bool bb_split_block_may_contain(const uint8_t *bitset, uint32_t block_count, uint64_t hash)
{
    const uint8_t *block = bitset + offset_of(hash, block_count);
    uint32_t all = 1;
    for (uint32_t i = 0; i < BB_SPLIT_BLOCK_WORDS; i++)
        all &= bb_load32(block + (size_t)i * 4) >> bit_of(hash, i);
    return (all & 1) != 0;
}

void bb_split_block_prefetch(const uint8_t *bitset, uint32_t block_count, uint64_t hash)
{
    __builtin_prefetch(bitset + offset_of(hash, block_count));
}

/* The rate of one block for non-member keys; of several, if these are folded. */
static double rate_of_blocks(const uint8_t *blocks, uint32_t count)
{
    double rate = 1;
    for (size_t word = 0; word < BB_SPLIT_BLOCK_WORDS; word++) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < count; i++)
            bits |= bb_load32(blocks + (size_t)i * BB_SPLIT_BLOCK_SIZE + word * 4);
        rate *= __builtin_popcount(bits) / 32.0;
    }
    return rate;
}

double bb_split_block_rate(const uint8_t *bitset, uint32_t block_count, uint32_t factor,
                           double limit)
{
    uint32_t count = block_count / factor;
    double sum = 0;
    for (uint32_t i = 0; i < count && sum <= limit * count; i++)
        sum += rate_of_blocks(bitset + (size_t)i * factor * BB_SPLIT_BLOCK_SIZE, factor);
    return sum / count;
}

/* j keys leave a bit unset with probability (31/32)^j. A full block is counted as half a bit short
 * of it. */
uint64_t bb_split_block_key_count(const uint8_t *bitset, uint32_t block_count)
{
    double sum = 0;
    for (uint32_t i = 0; i < block_count; i++) {
        const uint8_t *block = bitset + (size_t)i * BB_SPLIT_BLOCK_SIZE;
        double set = (double)bb_bloom_set_count(block, BB_SPLIT_BLOCK_SIZE);
        double fill = fmin(set, BB_SPLIT_BLOCK_BITS - 0.5) / BB_SPLIT_BLOCK_BITS;
        sum += log1p(-fill) / log1p(-1.0 / 32);
    }
    if (sum >= (double)BB_FILTER_KEY_COUNT_MAX)
        return BB_FILTER_KEY_COUNT_MAX;
    return sum > 0 && sum < 1 ? 1 : (uint64_t)(sum + 0.5);
}
